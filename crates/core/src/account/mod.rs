//! The account of a run: from its workflow and its trace to the figures that a report shows.
//!
//! ```text
//!   trace ──▶ Period ──▶ history (one pass) ──▶ stints, fates ──▶ kinds, path, bound, slowest
//!                              └──▶ Utilisation: every slot's every nanosecond in one Part
//! ```
//!
//! All times are whole nanoseconds, so that parts add up to the whole exactly. Whatever the trace holds,
//! whether it was cut off by a kill or is damaged, there is an account of what can be read: an entry that does not
//! fit those before it changes as little as possible.

mod distribution;
mod history;
mod kinds;
mod learning;
mod lengths;
mod path;
mod period;
mod stint;
#[cfg(test)]
mod tests;
mod utilisation;

pub use distribution::Distribution;
pub use kinds::{KindAccount, Memory};
pub use learning::{Learning, Learnt, Seen};
pub use lengths::Lengths;
pub use path::{Because, Path, PathTotals, Step};
pub use period::Period;
pub use stint::{Fate, Stint, TaskAccount};
pub use utilisation::{Part, Parts, Utilisation};

use crate::bound::{LowerBound, expected_at_hand_seconds};
use crate::ids::TaskId;
use crate::time::Time;
use crate::trace::{Entry, Outcome};
use crate::workflow::Workflow;

/// How many of the slowest attempts are named.
const SLOWEST: usize = 50;

/// How the run was set up, and whether it still goes on.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// How many slots there were.
    pub slots: u32,
    /// On how many cores; none if that is not known.
    pub cores: u32,
    /// Whether nothing more was to start after a failure.
    pub fail_fast: bool,
    /// The present, if the run still goes on: what runs has run until now.
    pub until: Option<Time>,
}

/// How many tasks came to which end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Tasks of the run.
    pub tasks: u64,
    /// Ran and succeeded.
    pub done: u64,
    /// Did not have to run.
    pub up_to_date: u64,
    /// Failed for good.
    pub failed: u64,
    /// Did not run because one before them failed.
    pub skipped: u64,
    /// Were running when the record ends.
    pub running: u64,
    /// Had not begun, or were interrupted.
    pub left: u64,
    /// Attempts that were begun.
    pub attempts: u64,
    /// Those of them that were not their task's first.
    pub retries: u64,
}

/// What there is to say about a run.
#[derive(Clone, Debug)]
pub struct Account {
    /// How many slots there were.
    pub slots: u32,
    /// From the first start of a task to the last end.
    pub period: Period,
    /// How many tasks came to which end.
    pub totals: Totals,
    /// By kind.
    pub kinds: Vec<KindAccount>,
    /// What slots did, over time.
    pub utilisation: Utilisation,
    /// Where the time of all slots went.
    pub parts: Parts,
    /// What led to the last end.
    pub path: Path,
    /// What the run could not have been faster than.
    pub bound: LowerBound,
    /// What the literature would have expected it to take, with data at hand: the analytic bound.
    pub expected_seconds: f64,
    /// Attempts, by number, that took longest, the longest first.
    pub slowest: Vec<u32>,
    /// Tasks that failed for good, in the order in which they did.
    pub failed: Vec<TaskId>,
    /// What the node learnt, if it did.
    pub learning: Option<Learning>,
    /// Every attempt, in the order in which they were begun.
    pub stints: Vec<Stint>,
    /// Every task of the workflow.
    pub tasks: Vec<TaskAccount>,
}

impl Account {
    /// Draws up the account of a run. The entries are read three times.
    pub fn of(flow: &Workflow, setup: Setup, entries: impl Iterator<Item = (Time, Entry)> + Clone) -> Account {
        let period = Period::of(setup, entries.clone());
        let learning = Learning::of(flow, period, entries.clone());
        // Where it is learnt how many tasks run at once, nobody wanted to use all slots that there may be.
        let used = learning.as_ref().map_or(setup.slots, |learning| learning.slots_used.clamp(1, setup.slots.max(1)));
        let setup = Setup { slots: used, ..setup };
        let history::History { stints, tasks, utilisation, failed } = history::read(flow, setup, period, entries);
        let length_ns = |task: TaskId| Some(stints.get(tasks[task.index()].last_stint? as usize)?.compute_ns());
        let length_seconds = |task| length_ns(task).map(|ns| ns as f64 / 1e9);
        let well = stints.iter().filter(|stint| stint.outcome == Some(Outcome::Done));
        let core_us = well.map(|stint| u128::from(stint.usage.core_us())).sum();
        Account {
            slots: setup.slots,
            period,
            totals: totals(&tasks, &stints),
            kinds: kinds::account(flow, &tasks, &stints),
            parts: utilisation.total(),
            utilisation,
            path: Path::back_from_the_end(&stints, period),
            bound: LowerBound::of(flow, setup.slots, |task| length_ns(task).unwrap_or(0))
                .computing(core_us, setup.cores),
            expected_seconds: expected_at_hand_seconds(flow, setup.slots, length_seconds),
            slowest: slowest(&stints),
            failed,
            learning,
            stints,
            tasks,
        }
    }

    /// The attempt that settled a task, or the latest one.
    pub fn last_stint(&self, task: TaskId) -> Option<&Stint> {
        self.stints.get(self.tasks[task.index()].last_stint? as usize)
    }

    /// What was expected, as a part of what the run took; nothing if it took nothing.
    pub fn of_expected(&self) -> Option<f64> {
        let length = self.period.length_ns();
        (length > 0).then(|| self.expected_seconds / (length as f64 / 1e9))
    }

    /// What the run could not have been faster than, as a part of what it took; nothing if it took nothing.
    pub fn of_bound(&self) -> Option<f64> {
        let length = self.period.length_ns();
        (length > 0).then(|| self.bound.ns() as f64 / length as f64)
    }

    /// How much longer the run took than its bound, as a part of the bound; nothing if the bound is nothing.
    pub fn above_bound(&self) -> Option<f64> {
        let bound = self.bound.ns();
        (bound > 0).then(|| self.period.length_ns() as f64 / bound as f64 - 1.0)
    }
}

fn totals(tasks: &[TaskAccount], stints: &[Stint]) -> Totals {
    let mut totals = Totals { attempts: stints.len() as u64, ..Totals::default() };
    for task in tasks {
        let number = match task.fate {
            Fate::Outside => continue,
            Fate::Done => &mut totals.done,
            Fate::UpToDate => &mut totals.up_to_date,
            Fate::Failed => &mut totals.failed,
            Fate::Skipped => &mut totals.skipped,
            Fate::Running => &mut totals.running,
            Fate::Waiting | Fate::Ready | Fate::Pausing | Fate::Interrupted => &mut totals.left,
        };
        *number += 1;
        totals.tasks += 1;
    }
    totals.retries = stints.iter().filter(|stint| stint.attempt > 1).count() as u64;
    totals
}

fn slowest(stints: &[Stint]) -> Vec<u32> {
    let slower = |number: &u32| {
        let stint = &stints[*number as usize];
        (std::cmp::Reverse(stint.compute_ns()), stint.task, stint.attempt)
    };
    let mut numbers: Vec<u32> = (0..stints.len() as u32).collect();
    if numbers.len() > SLOWEST {
        numbers.select_nth_unstable_by_key(SLOWEST, slower);
        numbers.truncate(SLOWEST);
    }
    numbers.sort_unstable_by_key(slower);
    numbers
}
