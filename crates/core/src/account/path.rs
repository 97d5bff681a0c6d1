//! The critical path of what happened: what led, step by step, to the end of the last task.
//!
//! From the attempt that ended last, the walk goes back to whatever it had waited for: if its slot was still taken
//! when it was ready, the attempt that had it; otherwise the parent that was done last, or, for a second attempt, the
//! first. Making anything off this path faster would not have ended the run sooner.
//!
//! ```text
//!   slot 0   [a]──────[c]▓▓▓▓▓▓▓▓         c waited for its parent b
//!   slot 1   [b]▓▓▓▓▓▓▓▓[d]               d waited for slot 1, that is for b, but is not on the path
//! ```
//!
//! The steps follow each other without a gap from the beginning of the period to its end.

use std::cmp::Reverse;
use std::ops::AddAssign;

use super::Period;
use super::stint::Stint;

/// What a step on the path had waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Because {
    /// Nothing: it is the first.
    First,
    /// The end of a parent.
    Inputs,
    /// The end of whatever had its slot.
    Slot,
    /// The end of the attempt before, and the pause after it.
    Retry,
}

/// One step of the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Which attempt it is, among all.
    pub stint: u32,
    /// What it had waited for.
    pub because: Because,
    /// What its time, from the end of the step before to its own, was spent on.
    pub times: PathTotals,
}

/// What the time on a path was spent on, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathTotals {
    /// Processes of attempts that succeeded or still run.
    pub compute_ns: u64,
    /// Processes of attempts that did not succeed.
    pub in_vain_ns: u64,
    /// The engine.
    pub engine_ns: u64,
    /// Pauses before another attempt.
    pub pause_ns: u64,
    /// Ready, with a slot free, and not started.
    pub not_started_ns: u64,
}

impl PathTotals {
    /// All together.
    pub fn total_ns(&self) -> u64 {
        self.compute_ns + self.in_vain_ns + self.engine_ns + self.pause_ns + self.not_started_ns
    }
}

impl AddAssign for PathTotals {
    fn add_assign(&mut self, other: PathTotals) {
        self.compute_ns += other.compute_ns;
        self.in_vain_ns += other.in_vain_ns;
        self.engine_ns += other.engine_ns;
        self.pause_ns += other.pause_ns;
        self.not_started_ns += other.not_started_ns;
    }
}

/// The path, from its beginning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Path {
    /// Its steps.
    pub steps: Vec<Step>,
    /// All their times.
    pub totals: PathTotals,
}

impl Path {
    /// Walks back from the attempt that ended last; of several, from the one that began first.
    pub(super) fn back_from_the_end(stints: &[Stint], period: Period) -> Path {
        let ends = stints.iter().enumerate().map(|(number, stint)| (stint.finished, Reverse(stint.decided), number));
        let mut path = Path::default();
        let mut next = ends.max().map(|(.., number)| number as u32);
        while let Some(number) = next {
            let stint = &stints[number as usize];
            let step = Step::of(number, stint, stints, period);
            path.totals += step.times;
            path.steps.push(step);
            // Both were begun before, so this comes to an end.
            next = match step.because {
                Because::First => None,
                Because::Slot => stint.previous,
                Because::Inputs | Because::Retry => stint.cause,
            };
        }
        path.steps.reverse();
        path
    }
}

impl Step {
    fn of(number: u32, stint: &Stint, stints: &[Stint], period: Period) -> Step {
        let earlier = |number: Option<u32>| number.and_then(|number| stints.get(number as usize));
        let waited_for = earlier(stint.previous).filter(|previous| previous.finished > stint.ready);
        // Only a damaged trace has a cause after its effect.
        let cause = earlier(stint.cause).filter(|cause| cause.finished <= stint.decided);
        let (because, since) = match (waited_for, cause) {
            (Some(previous), _) => (Because::Slot, previous.finished),
            (None, Some(cause)) if cause.task == stint.task => (Because::Retry, cause.finished),
            (None, Some(cause)) => (Because::Inputs, cause.finished),
            (None, None) => (Because::First, period.begin),
        };
        let ready = stint.ready.max(since).0;
        let mut times =
            PathTotals { engine_ns: stint.engine_ns(), not_started_ns: stint.decided.0 - ready, ..Default::default() };
        *(if because == Because::Retry { &mut times.pause_ns } else { &mut times.engine_ns }) += ready - since.0;
        *(if stint.is_in_vain { &mut times.in_vain_ns } else { &mut times.compute_ns }) += stint.compute_ns();
        // A slot that has just become free is filled by the engine; whatever waited for it did not fit before.
        if because == Because::Slot {
            times.engine_ns += std::mem::take(&mut times.not_started_ns);
        }
        Step { stint: number, because, times }
    }
}
