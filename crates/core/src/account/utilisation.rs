//! Where the time of all slots went, as a whole and over time.
//!
//! At every instant, every slot is in exactly one part. A busy slot computes, or the engine has it. An idle
//! slot is put down to a task that could have been in it, the nearest to starting first: one that was ready, one that
//! paused before its next attempt, one that waited for its inputs. Where fewer tasks are left than slots, the
//! rest is the tail.

use super::Period;
use crate::time::Time;

/// What a slot's time was spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// Processes of attempts that succeeded, or still run.
    Compute,
    /// Processes of attempts that failed or were lost.
    InVain,
    /// The engine, with a task already in the slot: looking at files, starting, taking in the end.
    Engine,
    /// Idle though a task was ready: it did not fit into cores or memory, or the engine was late.
    NotStarted,
    /// Idle; a task waited out the pause before its next attempt.
    Pause,
    /// Idle; a task waited for others to finish.
    Inputs,
    /// Idle; the run was stopping and started nothing more.
    Stopping,
    /// Idle; fewer tasks were left than slots.
    Tail,
}

impl Part {
    /// All of them, in the order in which they are shown.
    pub const ALL: [Part; 8] = [
        Part::Compute,
        Part::InVain,
        Part::Engine,
        Part::NotStarted,
        Part::Pause,
        Part::Inputs,
        Part::Stopping,
        Part::Tail,
    ];
}

/// Slot-nanoseconds by part.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Parts([u128; Part::ALL.len()]);

impl Parts {
    /// The time spent on one part.
    pub fn of(&self, part: Part) -> u128 {
        self.0[part as usize]
    }

    /// All parts together: slots times the length of the period.
    pub fn total(&self) -> u128 {
        self.0.iter().sum()
    }
}

/// Bins that the period is cut into: as many as can be told apart on a screen.
const BINS: u64 = 600;

/// What slots did, over time.
#[derive(Clone, Debug, Default)]
pub struct Utilisation {
    /// When the first bin begins.
    pub begin: Time,
    /// When the last bin ends.
    pub end: Time,
    /// How long a bin is; the last may be shorter.
    pub bin_ns: u64,
    /// Slot-nanoseconds in each bin, by part.
    pub bins: Vec<[u64; Part::ALL.len()]>,
}

impl Utilisation {
    /// Empty bins for a period.
    pub(super) fn new(period: Period) -> Utilisation {
        let bin_ns = period.length_ns().div_ceil(BINS).max(1);
        let count = period.length_ns().div_ceil(bin_ns) as usize;
        Utilisation { begin: period.begin, end: period.end, bin_ns, bins: vec![Default::default(); count] }
    }

    /// Puts so many slots' time from one moment to another down to a part.
    pub(super) fn add(&mut self, part: Part, from: Time, to: Time, slots: u64) {
        let (mut at, to) = (from.max(self.begin).0 - self.begin.0, to.min(self.end).0.saturating_sub(self.begin.0));
        if slots == 0 {
            return;
        }
        while at < to {
            let bin = at / self.bin_ns;
            let edge = to.min((bin + 1) * self.bin_ns);
            self.bins[bin as usize][part as usize] += slots * (edge - at);
            at = edge;
        }
    }

    /// The whole period's parts.
    pub fn total(&self) -> Parts {
        let mut parts = Parts::default();
        for bin in &self.bins {
            for (sum, value) in parts.0.iter_mut().zip(bin) {
                *sum += u128::from(*value);
            }
        }
        parts
    }
}
