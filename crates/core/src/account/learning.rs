//! What a node that learns found out in the course of a run: how many tasks of each kind, why, and what the machine did meanwhile.

use crate::ids::KindId;
use crate::node::{Command, End, Event};
use crate::pack::dominant::Use;
use crate::pack::{Change, Why};
use crate::time::Time;
use crate::trace::{Entry, Outcome};
use crate::workflow::Workflow;

use super::Period;

/// Into how many parts the run is divided to show what was used when.
const PARTS: usize = 300;

/// Another number of tasks of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Learnt {
    /// When.
    pub at: Time,
    /// Of which kind.
    pub kind: KindId,
    /// How many at once.
    pub width: u32,
    /// Why.
    pub why: Why,
}

/// What was seen in a part of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Seen {
    /// How often the machine was measured.
    pub samples: u32,
    /// How much of each resource was used, on average, if it was measured.
    pub used: Use,
    /// How many tasks came to an end.
    pub ends: u32,
}

/// What was learnt in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Learning {
    /// Every change, in the order in which they came.
    pub changes: Vec<Learnt>,
    /// What was seen, in parts of the same length.
    pub seen: Vec<Seen>,
    /// How many attempts were stopped because memory was short.
    pub made_room: u64,
    /// How many slots were ever used: there are always more than are worth it.
    pub slots_used: u32,
}

impl Learning {
    /// What was learnt in a period; nothing if the machine was not even measured.
    pub fn of(flow: &Workflow, period: Period, entries: impl Iterator<Item = (Time, Entry)>) -> Option<Learning> {
        let mut learning = Learning { seen: vec![Seen::default(); PARTS], ..Learning::default() };
        let mut is_measured = false;
        for (time, entry) in entries {
            match entry {
                Entry::Command(Command::Width(Change { kind, width, why })) if kind.index() < flow.kind_count() => {
                    learning.changes.push(Learnt { at: time, kind, width, why });
                }
                Entry::Event(Event::Measured(sample)) => {
                    is_measured = true;
                    let part = learning.part(period, time);
                    part.samples += 1;
                    part.used.iter_mut().zip(sample.shares()).for_each(|(sum, used)| *sum += used);
                }
                Entry::Event(Event::Finished { end: End::Done, .. }) => learning.part(period, time).ends += 1,
                Entry::Command(Command::Start { slot, .. }) => {
                    learning.slots_used = learning.slots_used.max(slot.0 + 1);
                }
                Entry::Attempt(attempt) if matches!(attempt.outcome, Outcome::MadeRoom | Outcome::OutOfMemory) => {
                    learning.made_room += 1;
                }
                _ => {}
            }
        }
        for part in &mut learning.seen {
            let samples = f64::from(part.samples.max(1));
            part.used.iter_mut().for_each(|used| *used /= samples);
        }
        is_measured.then_some(learning)
    }

    fn part(&mut self, period: Period, time: Time) -> &mut Seen {
        let length = period.length_ns().max(1);
        let since = time.0.saturating_sub(period.begin.0).min(length - 1);
        let at = u128::from(since) * PARTS as u128 / u128::from(length);
        &mut self.seen[at as usize]
    }
}
