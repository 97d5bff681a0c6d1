//! What a member is told, and what it wants done.

use crate::ids::{NodeId, ObjectId, SlotId, TaskId};
use crate::member::Message;
use crate::node::{End, KillReason, ReadyTask};
use crate::pack::{Change, Sample, Spent, Uses};
use crate::place::Place;
use crate::store::{Answer, Inputs, Verb};
use crate::time::Time;

/// On which terms a node asks another for an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asking {
    /// Whether it may be told who else has it.
    pub may_redirect: bool,
    /// When it is to be there, if that was planned: whoever needs it first is served first. Without a plan, everybody needs it at once.
    pub due: Time,
}

/// Something that happened.
pub enum Event {
    /// The member takes part from now on.
    Join,
    /// A task that the store has made this member's when the run was submitted.
    Ready(ReadyTask, Inputs),
    /// An object lies here from the beginning.
    Kept {
        /// Which object.
        object: ObjectId,
        /// How large it is.
        bytes: u64,
    },
    /// The store has answered.
    Answered {
        /// Which question.
        batch: u64,
        /// Its answers, one for each verb.
        answers: Vec<Answer>,
    },
    /// Another node says something.
    Message {
        /// Which one.
        from: NodeId,
        /// What.
        message: Message,
    },
    /// An attempt has ended and its slot is free.
    Finished {
        /// Where it ran.
        slot: SlotId,
        /// How it ended.
        end: End,
        /// What it made, with sizes.
        outputs: Vec<(ObjectId, u64)>,
    },
    /// What an attempt has taken that is about to end.
    Spent {
        /// Where it ran.
        slot: SlotId,
        /// What it took.
        spent: Spent,
    },
    /// What an attempt uses that goes on.
    Uses {
        /// Where it runs.
        slot: SlotId,
        /// What it uses.
        uses: Uses,
    },
    /// The node has been measured.
    Measured(Sample),
    /// An object has come.
    Fetched {
        /// Which object.
        object: ObjectId,
        /// How large it is.
        bytes: u64,
    },
    /// An object was not to be had there.
    FetchFailed {
        /// Which object.
        object: ObjectId,
        /// From where.
        from: Source,
        /// Whether somebody there has said that it is not there.
        is_missing: bool,
    },
    /// A node wants an object.
    Wanted {
        /// Which object.
        object: ObjectId,
        /// Which node.
        by: NodeId,
        /// On which terms.
        asking: Asking,
    },
    /// An object has been sent.
    Sent {
        /// Which object.
        object: ObjectId,
        /// To whom.
        to: NodeId,
        /// Whether it has got there.
        is_there: bool,
    },
    /// Whoever was asked for an object says who else has it.
    Redirected {
        /// Which object.
        object: ObjectId,
        /// Who has it.
        holder: NodeId,
    },
    /// Another policy from now on.
    Place(Box<dyn Place>),
    /// There is more or less room for objects from now on.
    Capacity {
        /// How much.
        bytes: u64,
    },
    /// A task, and whatever waits for it, is not wanted any more.
    Cancel(TaskId),
    /// The member is to finish what runs and start nothing else. What waits goes to others, as long as there are any that start things.
    Drain,
    /// It is the time that [`crate::member::Member::next_wake`] named, or later.
    Wake,
}

/// Where an object is fetched from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// Another node.
    Node(NodeId),
    /// The file system that all nodes share.
    Shared,
}

/// Something to do.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Begin an attempt.
    Start {
        /// At which task.
        task: TaskId,
        /// Which attempt, from one.
        attempt: u16,
        /// In which slot.
        slot: SlotId,
    },
    /// End what runs in a slot.
    Kill {
        /// Which slot.
        slot: SlotId,
        /// Not asking, but forcing.
        hard: bool,
        /// Why.
        why: KillReason,
    },
    /// Bring an object here.
    Fetch {
        /// Which object.
        object: ObjectId,
        /// How large it is.
        bytes: u64,
        /// From where.
        from: Source,
        /// On which terms.
        asking: Asking,
    },
    /// Send an object to a node that wants it.
    Serve {
        /// Which object.
        object: ObjectId,
        /// Which node.
        to: NodeId,
    },
    /// Tell a node that wants an object who else has it.
    Redirect {
        /// Which object.
        object: ObjectId,
        /// Which node.
        to: NodeId,
        /// Who has it.
        holder: NodeId,
    },
    /// Delete an object.
    Evict {
        /// Which object.
        object: ObjectId,
    },
    /// Ask the store, again and again until it answers. Verbs may be repeated, but not change their order.
    Store {
        /// Which question this is.
        batch: u64,
        /// What to do.
        verbs: Vec<Verb>,
        /// Whether anybody waits for the answers.
        wants_answers: bool,
    },
    /// Say something to another node; it may get lost.
    Send {
        /// Whom.
        to: NodeId,
        /// What.
        message: Message,
    },
    /// Show that from now on so many tasks of a kind run at once.
    Width(Change),
    /// The others think that this life of the member is over: everything here has to end, and it may join again.
    Restart,
}
