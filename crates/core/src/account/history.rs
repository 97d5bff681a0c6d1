//! One pass over the trace: every stint, every task's fate, and what idle slots were waiting for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use super::stint::{Fate, Stint, TaskAccount};
use super::utilisation::{Part, Utilisation};
use super::{Period, Setup};
use crate::ids::{SlotId, TaskId};
use crate::node::{Command, End, Event};
use crate::time::Time;
use crate::trace::{Attempt, Entry, Outcome, Usage};
use crate::workflow::{Action, Conditions, Workflow};

/// What one pass finds out.
pub struct History {
    pub stints: Vec<Stint>,
    pub tasks: Vec<TaskAccount>,
    pub utilisation: Utilisation,
    pub failed: Vec<TaskId>,
}

/// Reads the trace of a run.
pub fn read(
    flow: &Workflow,
    setup: Setup,
    period: Period,
    entries: impl Iterator<Item = (Time, Entry)> + Clone,
) -> History {
    let mut pass = Pass::new(flow, setup, period, says_who_takes_part(entries.clone()));
    for (now, entry) in entries {
        pass.advance(now);
        pass.take(now, &entry);
    }
    pass.finish(period.end)
}

/// A run that begins with nothing on record does not say of each task that it is part of it: all are.
fn says_who_takes_part(entries: impl Iterator<Item = (Time, Entry)>) -> bool {
    let mut before = entries.map(|(_, entry)| entry).take_while(|entry| !matches!(entry, Entry::Event(_)));
    before.any(|entry| matches!(entry, Entry::Pending(..) | Entry::UpToDate(_)))
}

/// How many tasks stand where, as far as idle slots are concerned.
#[derive(Default)]
struct Counts {
    waiting: u64,
    ready: u64,
    pausing: u64,
}

struct Pass<'a> {
    flow: &'a Workflow,
    setup: Setup,
    stints: Vec<Stint>,
    tasks: Vec<TaskAccount>,
    utilisation: Utilisation,
    failed: Vec<TaskId>,
    counts: Counts,
    busy: u64,
    is_stopping: bool,
    /// Until when idle slots have been accounted for.
    now: Time,
    /// The latest stint in each slot.
    latest: Vec<Option<u32>>,
    /// Whether it has not ended.
    is_open: Vec<bool>,
    /// The stint whose end made a task ready, or would have if it had been the last to end.
    causes: Vec<Option<u32>>,
    /// When tasks will be tried again.
    retries: BinaryHeap<Reverse<(Time, TaskId)>>,
    /// Since when tasks have been ready for their next attempt.
    ready: Vec<Time>,
}

impl<'a> Pass<'a> {
    fn new(flow: &'a Workflow, setup: Setup, period: Period, says_who_takes_part: bool) -> Self {
        let (fate, waiting) = match says_who_takes_part {
            true => (Fate::Outside, 0),
            false => (Fate::Waiting, flow.task_count() as u64),
        };
        let (tasks, slots) = (flow.task_count(), setup.slots as usize);
        Pass {
            flow,
            setup,
            stints: Vec::new(),
            tasks: vec![TaskAccount { fate, ready: None, last_stint: None }; tasks],
            utilisation: Utilisation::new(period),
            failed: Vec::new(),
            counts: Counts { waiting, ..Counts::default() },
            busy: 0,
            is_stopping: false,
            now: period.begin,
            latest: vec![None; slots],
            is_open: vec![false; slots],
            causes: vec![None; tasks],
            retries: BinaryHeap::new(),
            ready: vec![Time::START; tasks],
        }
    }

    /// Puts down what idle slots have been waiting for until now.
    fn advance(&mut self, now: Time) {
        if now <= self.now {
            return;
        }
        let Counts { waiting, ready, pausing } = self.counts;
        let wanting = match self.is_stopping {
            true => [(Part::Stopping, waiting + ready + pausing), (Part::Pause, 0), (Part::Inputs, 0)],
            false => [(Part::NotStarted, ready), (Part::Pause, pausing), (Part::Inputs, waiting)],
        };
        let mut idle = u64::from(self.setup.slots) - self.busy;
        for (part, tasks) in wanting {
            self.utilisation.add(part, self.now, now, idle.min(tasks));
            idle -= idle.min(tasks);
        }
        self.utilisation.add(Part::Tail, self.now, now, idle);
        self.now = now;
    }

    fn take(&mut self, now: Time, entry: &Entry) {
        match *entry {
            Entry::Pending(task, _) => self.set_fate(task, Fate::Waiting),
            Entry::UpToDate(task) => {
                self.set_fate(task, Fate::UpToDate);
                if let Some(cause) = self.causes[task.index()] {
                    self.pass_on(task, cause);
                }
            }
            Entry::Skipped(task) => self.set_fate(task, Fate::Skipped),
            Entry::Event(Event::Ready(ready) | Event::Offered(ready)) => self.make_ready(now, ready.task),
            Entry::Event(Event::Wake) => {
                while let Some(&Reverse((_, task))) = self.retries.peek().filter(|Reverse((time, _))| *time <= now) {
                    self.retries.pop();
                    if self.tasks[task.index()].fate == Fate::Pausing {
                        self.make_ready(now, task);
                    }
                }
            }
            Entry::Event(Event::Stop) => self.is_stopping = true,
            Entry::Command(Command::Start { task, attempt, slot }) => self.start(now, task, attempt, slot),
            Entry::Attempt(attempt) => self.describe(now, &attempt),
            Entry::Event(Event::Finished { slot, end }) => self.finish_stint(now, slot, end),
            Entry::Command(Command::Complete { task, .. }) => {
                self.set_fate(task, Fate::Done);
                if let Some(last) = self.tasks[task.index()].last_stint {
                    self.pass_on(task, last);
                }
            }
            Entry::Command(Command::Fail { task, .. }) => {
                self.set_fate(task, Fate::Failed);
                self.failed.push(task);
                self.is_stopping |= self.setup.fail_fast;
            }
            Entry::Command(Command::Interrupt { task, retry_at, .. }) => {
                self.causes[task.index()] = self.tasks[task.index()].last_stint;
                self.set_fate(task, if retry_at.is_some() { Fate::Pausing } else { Fate::Interrupted });
                self.retries.extend(retry_at.map(|time| Reverse((time, task))));
            }
            // It could have run, and waits again until somebody has made what it reads.
            Entry::Command(Command::Lost { task, .. }) => self.set_fate(task, Fate::Waiting),
            Entry::Decide | Entry::Event(_) | Entry::Command(_) => {}
        }
    }

    fn set_fate(&mut self, task: TaskId, fate: Fate) {
        let old = std::mem::replace(&mut self.tasks[task.index()].fate, fate);
        if let Some(count) = self.counts.of(old) {
            *count -= 1;
        }
        if let Some(count) = self.counts.of(fate) {
            *count += 1;
        }
    }

    fn make_ready(&mut self, now: Time, task: TaskId) {
        self.set_fate(task, Fate::Ready);
        self.ready[task.index()] = now;
        self.tasks[task.index()].ready.get_or_insert(now);
    }

    /// Tells those behind a task which stint they have waited for; the last to end stays.
    fn pass_on(&mut self, task: TaskId, stint: u32) {
        for child in self.flow.children(task) {
            self.causes[child.index()] = Some(stint);
        }
    }

    fn start(&mut self, now: Time, task: TaskId, attempt: u16, slot: SlotId) {
        if slot.index() >= self.is_open.len() {
            return;
        }
        // Only in a damaged trace: what was there before cannot be there any more.
        self.close(now, slot);
        // What was never said to be ready, in such a trace, is ready when it starts.
        let ready = if self.tasks[task.index()].fate == Fate::Ready { self.ready[task.index()] } else { now };
        self.set_fate(task, Fate::Running);
        let number = self.stints.len() as u32;
        let previous = self.latest[slot.index()].replace(number);
        self.tasks[task.index()].last_stint = Some(number);
        self.is_open[slot.index()] = true;
        self.busy += 1;
        self.stints.push(Stint {
            task,
            attempt,
            slot,
            ready,
            decided: now,
            staged: now,
            started: now,
            ended: Time(u64::MAX),
            finished: now,
            outcome: None,
            is_in_vain: false,
            usage: Usage::default(),
            printed_bytes: 0,
            previous,
            cause: self.causes[task.index()],
        });
    }

    fn open_stint(&mut self, slot: SlotId) -> Option<&mut Stint> {
        let is_open = self.is_open.get(slot.index()).copied().unwrap_or(false);
        let number = self.latest.get(slot.index()).copied().flatten().filter(|_| is_open)?;
        self.stints.get_mut(number as usize)
    }

    fn describe(&mut self, now: Time, attempt: &Attempt) {
        let Some(stint) = self.open_stint(attempt.slot).filter(|stint| stint.task == attempt.task) else { return };
        let within = |time: Time, from: Time| time.clamp(from, now);
        stint.staged = within(attempt.staged, stint.decided);
        stint.started = within(attempt.started, stint.staged);
        stint.ended = within(attempt.ended, stint.started);
        stint.outcome = Some(attempt.outcome);
        stint.usage = attempt.usage;
        stint.printed_bytes = attempt.log.1;
    }

    fn finish_stint(&mut self, now: Time, slot: SlotId, end: End) {
        let flow = self.flow;
        let Some(stint) = self.open_stint(slot) else { return };
        if stint.outcome.is_none() {
            // Built-in tasks without files are not described: they succeed, and take no longer than they say.
            stint.ended = now.min(stint.decided + built_in_length(flow, stint.task, stint.attempt));
            stint.outcome = Some(match end {
                End::Done => Outcome::Done,
                End::Failed { code } => Outcome::Exited(code.into()),
                End::Killed => Outcome::Cancelled,
                End::OutOfMemory => Outcome::OutOfMemory,
            });
        }
        self.close(now, slot);
    }

    /// Ends what is in a slot, if anything is, and puts its time down.
    fn close(&mut self, now: Time, slot: SlotId) {
        let is_over = self.setup.until.is_none();
        let Some(stint) = self.open_stint(slot) else { return };
        stint.ended = stint.ended.min(now);
        stint.finished = now;
        // What had not ended when a run was killed has to be done again.
        stint.is_in_vain = stint.is_failure() || stint.outcome.is_none() && is_over;
        let stint = *stint;
        self.is_open[slot.index()] = false;
        self.busy -= 1;
        self.utilisation.add(Part::Engine, stint.decided, stint.started, 1);
        self.utilisation.add(
            if stint.is_in_vain { Part::InVain } else { Part::Compute },
            stint.started,
            stint.ended,
            1,
        );
        self.utilisation.add(Part::Engine, stint.ended, stint.finished, 1);
    }

    fn finish(mut self, end: Time) -> History {
        self.advance(end);
        for slot in 0..self.is_open.len() {
            self.close(end, SlotId::at(slot));
        }
        History { stints: self.stints, tasks: self.tasks, utilisation: self.utilisation, failed: self.failed }
    }
}

impl Counts {
    fn of(&mut self, fate: Fate) -> Option<&mut u64> {
        match fate {
            Fate::Waiting => Some(&mut self.waiting),
            // Nobody will start an interrupted one any more, but only because the run is stopping.
            Fate::Ready | Fate::Interrupted => Some(&mut self.ready),
            Fate::Pausing => Some(&mut self.pausing),
            Fate::Outside | Fate::Running | Fate::Done | Fate::UpToDate | Fate::Failed | Fate::Skipped => None,
        }
    }
}

/// How long a task without a process takes.
pub fn built_in_length(flow: &Workflow, task: TaskId, attempt: u16) -> Duration {
    let conditions = || Conditions { attempt, demand: flow.first_demand(task) };
    match flow.is_builtin(task).then(|| flow.action(task, conditions())) {
        Some(Action::Noop) => Duration::ZERO,
        Some(Action::Sleep(length)) => length,
        // Only in a damaged trace: everything counts as its own.
        _ => Duration::MAX,
    }
}
