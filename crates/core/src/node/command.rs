//! What a node wants done.

use crate::ids::{ObjectId, SlotId, TaskId};
use crate::pack::Change;
use crate::time::Time;

/// Why a running attempt has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillReason {
    /// It takes longer than it may.
    Timeout,
    /// Somebody wants the run to stop.
    Stop,
    /// Memory is needed that it holds; it runs again when there is room for it.
    Memory,
    /// It holds more memory than there is, and nobody else holds any.
    TooLarge,
}

/// Something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// Record that a task is done, and make ready what waited for it alone.
    Complete {
        /// Which task.
        task: TaskId,
        /// Which attempt.
        attempt: u16,
    },
    /// Record that a task has failed for good, and skip what depends on it.
    Fail {
        /// Which task.
        task: TaskId,
        /// Which attempt.
        attempt: u16,
    },
    /// Record that an attempt ended without a verdict.
    Interrupt {
        /// Which task.
        task: TaskId,
        /// Which attempt.
        attempt: u16,
        /// When the node will try it again, unless the run is stopping.
        retry_at: Option<Time>,
    },
    /// Show that from now on so many tasks of a kind run at once.
    Width(Change),
    /// Find out whether an object exists, and how large it is.
    Locate {
        /// Which object.
        object: ObjectId,
    },
    /// Bring an object here: there is room for it.
    Fetch {
        /// Which object.
        object: ObjectId,
        /// How large it is.
        bytes: u64,
    },
    /// Ask whether a copy may go.
    Drop {
        /// Of which object.
        object: ObjectId,
    },
    /// Delete an object that nobody needs any more.
    Evict {
        /// Which object.
        object: ObjectId,
    },
    /// A task cannot go on because an object that it reads does not exist any more; it is off the node's hands.
    Lost {
        /// Which task.
        task: TaskId,
        /// Which object.
        object: ObjectId,
    },
    /// A task needs more room for its files than the node has in all; it is off the node's hands.
    NeverFits {
        /// Which task.
        task: TaskId,
        /// How much it needs.
        needed_bytes: u64,
    },
}
