//! What a node is told.

use crate::ids::{ClassId, ObjectId, SlotId, TaskId};
use crate::pack::{Sample, Spent, Uses};

/// A task that may start, with what the policies need to know of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadyTask {
    /// Size of all that it reads.
    pub input_bytes: u64,
    /// Which task.
    pub task: TaskId,
    /// What it asks for.
    pub class: ClassId,
    /// How much it matters.
    pub priority: i32,
    /// The attempt to come, from one.
    pub attempt: u16,
    /// How many attempts before it do not use up what the task is allowed: their node died, or what they made was lost.
    pub excused: u16,
    /// How often the task had to be done again because what it made was lost.
    pub generation: u16,
}

impl ReadyTask {
    /// The first attempt at a task of a class, with nothing else to be said of it.
    pub fn first(task: TaskId, class: ClassId) -> ReadyTask {
        ReadyTask { input_bytes: 0, task, class, priority: 0, attempt: 1, excused: 0, generation: 0 }
    }
}

/// How an attempt ended, as far as the node cares; the trace has the details.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It succeeded and made what it had to make.
    Done,
    /// It failed by itself, with this code as a shell would tell it: zero if there is none.
    Failed {
        /// An exit code, or 128 and the number of a signal.
        code: u8,
    },
    /// The node had it killed.
    Killed,
    /// The kernel killed it, because memory had run out.
    OutOfMemory,
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A task may start, and stays here.
    Ready(ReadyTask),
    /// A task may start, here or wherever somebody asks for it.
    Offered(ReadyTask),
    /// An attempt has ended and its slot is free.
    Finished {
        /// Where it ran.
        slot: SlotId,
        /// How it ended.
        end: End,
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
    /// So much memory could be had, between two times that the node was measured: when there is little of it.
    FreeMemory {
        /// How much.
        bytes: u64,
    },
    /// An object has been found, or does not exist.
    Located {
        /// Which object.
        object: ObjectId,
        /// How large it is.
        bytes: Option<u64>,
    },
    /// An object that was fetched is here.
    Fetched {
        /// Which object.
        object: ObjectId,
    },
    /// An object was not where it was said to be.
    FetchFailed {
        /// Which object.
        object: ObjectId,
    },
    /// An object was made here, or lies here from the beginning.
    Kept {
        /// Which object.
        object: ObjectId,
        /// How large it is.
        bytes: u64,
    },
    /// There is more or less room for objects from now on.
    Capacity {
        /// How much in all.
        bytes: u64,
    },
    /// A copy that was to go is gone, or has to stay because it is the last.
    Dropped {
        /// Of which object.
        object: ObjectId,
        /// Whether it is gone.
        is_gone: bool,
    },
    /// Nobody will read an object any more.
    Unneeded {
        /// Which object.
        object: ObjectId,
    },
    /// Somebody wants the run to stop: the first time kindly, after that at once.
    Stop,
    /// It is the time that [`crate::node::Node::next_wake`] named, or later.
    Wake,
}
