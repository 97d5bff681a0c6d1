//! What the store holds for a task, and the one function that changes it.
//!
//! ```text
//!            parents close        started           done
//!  Waiting ───────────────▶ Ready ───────▶ Running ───────▶ Done
//!     │                      ▲  │              │               ▲
//!     │                      │  └─ found up to date ───────────┘
//!     │                      └──── interrupted ┤
//!     └── a parent failed ▶ Skipped            └── failed ▶ Failed
//! ```
//!
//! `Outside` is a task that this run was not asked for. A change that does not fit the state is refused and
//! changes nothing: a late or doubled result is not an error, it just no longer counts.

use thiserror::Error;

/// How far a task has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// Some parent is not done.
    Waiting,
    /// May start.
    Ready,
    /// An attempt is under way.
    Running,
    /// Its effects count.
    Done,
    /// Tried as often as allowed, in vain.
    Failed,
    /// Will not be tried because a task before it failed.
    Skipped,
    /// Not part of this run.
    Outside,
}

impl State {
    /// Whether nothing more will happen to the task in this run.
    pub fn is_settled(self) -> bool {
        !matches!(self, State::Waiting | State::Ready | State::Running)
    }
}

/// Something that happened to a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A parent is done.
    ParentClosed,
    /// An attempt begins.
    Started {
        /// Which one, from one.
        attempt: u16,
    },
    /// That attempt succeeded.
    Finished {
        /// Which one.
        attempt: u16,
    },
    /// That attempt failed and was the last.
    Failed {
        /// Which one.
        attempt: u16,
    },
    /// That attempt ended without a verdict and there may be another.
    Interrupted {
        /// Which one.
        attempt: u16,
    },
    /// Nothing has to be done: what an earlier run made still stands.
    FoundUpToDate,
    /// A task before it failed.
    Skipped,
}

/// What follows from a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Nothing beyond the record itself.
    None,
    /// That was the last open parent.
    BecameReady,
}

/// A change that does not fit the record.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("{change:?} does not apply to a task that is {state:?}")]
pub struct Refused {
    /// What the task is.
    pub state: State,
    /// What was to happen.
    pub change: Change,
}

/// The record of one task: eight bytes, for there may be ten million.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Parents that are not done.
    pub open_parents: u32,
    /// The last attempt begun, from one.
    pub attempt: u16,
    /// How far it has come.
    pub state: State,
}

impl Record {
    /// A task with this many parents that are not done.
    pub fn new(open_parents: u32) -> Self {
        let state = if open_parents == 0 { State::Ready } else { State::Waiting };
        Record { open_parents, attempt: 0, state }
    }

    /// The record of a task in a state that needs no history.
    pub fn settled(state: State) -> Self {
        Record { open_parents: 0, attempt: 0, state }
    }

    /// Applies a change, or refuses it and stays as it is.
    pub fn apply(&mut self, change: Change) -> Result<Effect, Refused> {
        use State::{Done, Failed, Outside, Ready, Running, Skipped, Waiting};
        let refused = Err(Refused { state: self.state, change });
        let next = match (self.state, change) {
            (Waiting, Change::ParentClosed) => {
                self.open_parents -= 1;
                if self.open_parents > 0 {
                    return Ok(Effect::None);
                }
                self.state = Ready;
                return Ok(Effect::BecameReady);
            }
            // A skipped task still hears of its other parents, one outside the run of all of them, and one that
            // was up to date from the beginning of those it only comes after.
            (Skipped | Outside | Done, Change::ParentClosed) => return Ok(Effect::None),
            (Ready, Change::Started { attempt }) if attempt > self.attempt => {
                self.attempt = attempt;
                Running
            }
            (Running, Change::Finished { attempt }) if attempt == self.attempt => Done,
            (Running, Change::Failed { attempt }) if attempt == self.attempt => Failed,
            (Running, Change::Interrupted { attempt }) if attempt == self.attempt => Ready,
            (Ready, Change::FoundUpToDate) => Done,
            (Waiting, Change::Skipped) => Skipped,
            _ => return refused,
        };
        self.state = next;
        Ok(Effect::None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn eight_bytes() {
        assert_eq!(size_of::<Record>(), 8);
    }

    #[test]
    fn the_last_parent_makes_ready() {
        let mut record = Record::new(2);
        assert_eq!(record.apply(Change::ParentClosed), Ok(Effect::None));
        assert_eq!(record.apply(Change::ParentClosed), Ok(Effect::BecameReady));
        assert_eq!(record.state, State::Ready);
    }

    #[test]
    fn a_late_or_doubled_result_changes_nothing() {
        let mut record = Record::new(0);
        record.apply(Change::Started { attempt: 1 }).unwrap();
        record.apply(Change::Interrupted { attempt: 1 }).unwrap();
        record.apply(Change::Started { attempt: 2 }).unwrap();
        assert!(record.apply(Change::Finished { attempt: 1 }).is_err());
        assert_eq!(record.state, State::Running);
        record.apply(Change::Finished { attempt: 2 }).unwrap();
        assert!(record.apply(Change::Finished { attempt: 2 }).is_err());
        assert_eq!(record.state, State::Done);
    }
}
