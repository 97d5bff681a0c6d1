//! What a node is told.

use crate::ids::{ClassId, SlotId, TaskId};

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
}

/// Something that happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// A task may start.
    Ready(ReadyTask),
    /// An attempt has ended and its slot is free.
    Finished {
        /// Where it ran.
        slot: SlotId,
        /// How it ended.
        end: End,
    },
    /// Somebody wants the run to stop: the first time kindly, after that at once.
    Stop,
    /// It is the time that [`crate::node::Node::next_wake`] named, or later.
    Wake,
}
