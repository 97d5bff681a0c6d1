//! What nodes say to each other. Any message may be lost, doubled or late.

use std::sync::Arc;

use crate::ids::{KindId, ObjectId, TaskId};
use crate::node::ReadyTask;
use crate::store::Inputs;

/// Kinds of tasks that somebody has room for; any, if he does not say.
pub type WantedKinds = Option<Arc<[KindId]>>;

/// A message from one node to another.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// How much could I have?
    Poll {
        /// Which question this is.
        serial: u64,
        /// Of which kinds.
        kinds: WantedKinds,
    },
    /// So much.
    Load {
        /// The question.
        serial: u64,
        /// Tasks that others may have.
        shared: u32,
        /// Tasks that wait in all, running ones included.
        waiting: u32,
    },
    /// Give me some of it.
    Steal {
        /// Which wish this is.
        serial: u64,
        /// Which life of the asker wants to own them.
        boot: u32,
        /// Of which kinds.
        kinds: WantedKinds,
    },
    /// Give me this many, of what you keep for everybody.
    Pull {
        /// Which wish this is.
        serial: u64,
        /// Which life of the asker wants to own them.
        boot: u32,
        /// How many.
        count: u32,
    },
    /// There is nothing.
    Nothing {
        /// The wish.
        serial: u64,
    },
    /// These tasks are yours: the store knows.
    Take {
        /// To be acknowledged.
        parcel: u64,
        /// Which life of the sender this is.
        sender: u32,
        /// All parcels of this life before that one have been acknowledged.
        oldest: u64,
        /// The life of the receiver that owns them.
        boot: u32,
        /// The wish that this answers, if any.
        serial: u64,
        /// What to do with them.
        terms: Terms,
        /// The tasks.
        tasks: Vec<Load>,
    },
    /// I have them.
    Taken {
        /// What was sent.
        parcel: u64,
        /// By which life of the sender.
        sender: u32,
    },
    /// I have more than I can do: ask somebody.
    Work,
    /// I start nothing any more: send tasks to others.
    Draining {
        /// Which life of the sender says so: the next one may start things again.
        boot: u32,
    },
    /// Nobody needs these any more. If it is lost, they stay until somebody needs their room.
    Unneeded(Vec<ObjectId>),
    /// These begin elsewhere than where they were planned, or not at all. If it is lost, others may wait for them until their own time has come.
    Elsewhere(Vec<TaskId>),
    /// Nobody wants this task any more. If it is lost, the task runs in vain.
    Cancelled(TaskId),
}

/// A task that somebody is given.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Load {
    /// The task.
    pub ready: ReadyTask,
    /// What is known of its inputs.
    pub inputs: Inputs,
    /// Which tenure begins with it.
    pub tenure: u16,
}

/// On what terms a task changes hands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Terms {
    /// Keep it: your data is why.
    Keep,
    /// Anybody may have it.
    Share,
    /// Hold it for whoever asks.
    Host,
    /// It may have been yours for long: ask the store. Then anybody may have it.
    Verify,
}
