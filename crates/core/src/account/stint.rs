//! One attempt's stay in a slot, and what became of a task.

use crate::ids::{SlotId, TaskId};
use crate::time::Time;
use crate::trace::{Outcome, Usage};

/// An attempt's stay in a slot, from the decision to the moment in which the slot was free again.
///
/// ```text
///   ready ─ waits ─▶ decided ─ engine ─▶ staged ─ engine ─▶ started ─ compute ─▶ ended ─ engine ─▶ finished
/// ```
///
/// These are always in order. Of an attempt that had not ended when the record did, only the decision is known: it
/// counts as started then, and as ended with the period.
#[derive(Clone, Copy, Debug)]
pub struct Stint {
    /// At which task.
    pub task: TaskId,
    /// Which attempt, from one.
    pub attempt: u16,
    /// In which slot.
    pub slot: SlotId,
    /// When this attempt might have begun.
    pub ready: Time,
    /// When it was chosen for its slot.
    pub decided: Time,
    /// When its inputs had been looked at.
    pub staged: Time,
    /// When its process was about to be started.
    pub started: Time,
    /// When its process had ended.
    pub ended: Time,
    /// When its slot was free again.
    pub finished: Time,
    /// How it ended; nothing if the record ends before.
    pub outcome: Option<Outcome>,
    /// Whether it has to be done again: it failed, or was lost when the run was killed.
    pub is_in_vain: bool,
    /// What it used; all zero for built-in tasks.
    pub usage: Usage,
    /// How much it printed.
    pub printed_bytes: u64,
    /// The attempt before it in its slot.
    pub(super) previous: Option<u32>,
    /// The attempt whose end made it ready: its last parent's, or the one before it at the same task.
    pub(super) cause: Option<u32>,
}

impl Stint {
    /// How long its process, or whatever stands for it, ran.
    pub fn compute_ns(&self) -> u64 {
        self.ended.0 - self.started.0
    }

    /// How long it was held up by the engine while it had its slot.
    pub fn engine_ns(&self) -> u64 {
        self.finished.0 - self.decided.0 - self.compute_ns()
    }

    /// How long it was ready before it was chosen.
    pub fn waited_ns(&self) -> u64 {
        self.decided.0 - self.ready.0
    }

    /// Whether it ended, and not well.
    pub fn is_failure(&self) -> bool {
        !matches!(self.outcome, None | Some(Outcome::Done))
    }
}

/// Where a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Not part of the run.
    Outside,
    /// Waits for others.
    Waiting,
    /// May start.
    Ready,
    /// Has a slot.
    Running,
    /// Has failed and waits before it is tried again.
    Pausing,
    /// Was ended with the run, and will run again in the next.
    Interrupted,
    /// Ran and succeeded.
    Done,
    /// Did not have to run.
    UpToDate,
    /// Failed for good.
    Failed,
    /// Did not run because one before it failed.
    Skipped,
}

/// What became of a task.
#[derive(Clone, Copy, Debug)]
pub struct TaskAccount {
    /// Where it stands.
    pub fate: Fate,
    /// When it first could have started.
    pub ready: Option<Time>,
    /// The number of its latest attempt among all.
    pub last_stint: Option<u32>,
}
