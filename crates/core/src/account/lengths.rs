//! How long each task ran, and nothing else: for bounds right after a run, when nobody wants to wait for a whole account.
//!
//! One pass, a few numbers for each slot and eight bytes for each task. What it finds is what [`super::Account`] finds; a test
//! holds the two against each other.

use super::history::built_in_length;
use crate::bound::{LowerBound, expected_at_hand_seconds};
use crate::ids::TaskId;
use crate::node::{Command, Event};
use crate::time::Time;
use crate::trace::{Entry, Outcome};
use crate::workflow::Workflow;

/// Stands for a task that did not run. No task takes 584 years.
const NEVER: u64 = u64::MAX;

/// What is in a slot.
#[derive(Clone, Copy, Debug)]
struct Open {
    task: TaskId,
    attempt: u16,
    decided: Time,
    /// How long it ran, if that was said.
    length_ns: Option<u64>,
}

/// The lengths of the tasks of a run that is over: of each task's last attempt.
#[derive(Debug)]
pub struct Lengths<'a> {
    flow: &'a Workflow,
    ns: Vec<u64>,
    open: Vec<Option<Open>>,
    /// How many slots were ever used, and whether it was learnt how many are worth using: then the others do not count.
    slots_used: u32,
    is_learnt: bool,
    /// How much tasks computed that ended well, and on how many cores, if that is known.
    core_us: u128,
    cores: u32,
}

impl<'a> Lengths<'a> {
    /// Nothing has run in any slot yet, on so many cores (none if that is not known).
    pub fn new(flow: &'a Workflow, slots: u32, cores: u32) -> Lengths<'a> {
        let (ns, open) = (vec![NEVER; flow.task_count()], vec![None; slots as usize]);
        Lengths { flow, ns, open, slots_used: 0, is_learnt: false, core_us: 0, cores }
    }

    /// Takes in the next entry of the trace; one that does not fit those before it changes nothing.
    pub fn take(&mut self, now: Time, entry: &Entry) {
        match *entry {
            Entry::Command(Command::Start { task, attempt, slot }) if task.index() < self.ns.len() => {
                if let Some(open) = self.open.get_mut(slot.index()) {
                    *open = Some(Open { task, attempt, decided: now, length_ns: None });
                    self.slots_used = self.slots_used.max(slot.0 + 1);
                }
            }
            Entry::Event(Event::Measured(_)) => self.is_learnt = true,
            Entry::Attempt(attempt) => {
                if attempt.outcome == Outcome::Done {
                    self.core_us += u128::from(attempt.usage.core_us());
                }
                let open = self.open.get_mut(attempt.slot.index()).and_then(Option::as_mut);
                if let Some(open) = open.filter(|open| open.task == attempt.task) {
                    // Times of a damaged trace are brought into order.
                    let started = attempt.started.clamp(attempt.staged.clamp(open.decided, now), now);
                    open.length_ns = Some(attempt.ended.clamp(started, now).0 - started.0);
                }
            }
            Entry::Event(Event::Finished { slot, .. }) => {
                if let Some(open) = self.open.get_mut(slot.index()).and_then(Option::take) {
                    let whole_ns = now.0.saturating_sub(open.decided.0);
                    let built_in = || built_in_length(self.flow, open.task, open.attempt).as_nanos();
                    let length_ns = open.length_ns.unwrap_or_else(|| built_in().min(whole_ns.into()) as u64);
                    self.ns[open.task.index()] = length_ns;
                }
            }
            _ => {}
        }
    }

    /// How long a task ran; nothing if it did not.
    pub fn of(&self, task: TaskId) -> Option<u64> {
        Some(self.ns[task.index()]).filter(|ns| *ns != NEVER)
    }

    /// How many slots count.
    fn slots(&self) -> u32 {
        let slots = self.open.len() as u32;
        if self.is_learnt { self.slots_used.clamp(1, slots.max(1)) } else { slots }
    }

    /// What the tasks that ran could not have been faster than in these slots.
    pub fn bound(&self) -> LowerBound {
        LowerBound::of(self.flow, self.slots(), |task| self.of(task).unwrap_or(0)).computing(self.core_us, self.cores)
    }

    /// What the literature would have expected them to take, with data at hand: the analytic bound.
    pub fn expected_seconds(&self) -> f64 {
        let seconds = |task| self.of(task).map(|ns| ns as f64 / 1e9);
        expected_at_hand_seconds(self.flow, self.slots(), seconds)
    }
}
