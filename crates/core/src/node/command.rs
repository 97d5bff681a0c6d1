//! What a node wants done.

use crate::ids::{SlotId, TaskId};
use crate::time::Time;

/// Why a running attempt has to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KillReason {
    /// It takes longer than it may.
    Timeout,
    /// Somebody wants the run to stop.
    Stop,
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
}
