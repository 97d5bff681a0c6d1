//! What a run has come to, entry by entry: counts, and what runs in which slot. Nothing is kept that grows with what
//! has happened.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use throng_core::ids::{SlotId, TaskId};
use throng_core::node::{Command, End, Event};
use throng_core::time::Time;
use throng_core::trace::{Entry, Outcome};
use throng_core::workflow::Workflow;
use throng_runtime::progress::KindProgress;

use super::rate::Recent;

/// Failures that are remembered: the last ones.
const FAILURES_KEPT: usize = 20;

/// What runs in a slot.
#[derive(Clone, Copy, Debug)]
pub struct Running {
    /// The task.
    pub task: TaskId,
    /// Which attempt.
    pub attempt: u16,
    /// Since when.
    pub since: Time,
}

/// An attempt that did not succeed.
#[derive(Clone, Copy, Debug)]
pub struct Failure {
    /// The task.
    pub task: TaskId,
    /// When.
    pub at: Time,
    /// Which attempt.
    pub attempt: u16,
    /// How it ended.
    pub outcome: Outcome,
    /// Whether it will not be tried again.
    pub is_final: bool,
}

/// What the tasks of a kind have come to.
#[derive(Clone, Debug, Default)]
pub struct KindBoard {
    /// Counts.
    pub progress: KindProgress,
    /// Ends of the last seconds.
    pub recent: Recent,
    /// Time that those which are done have taken, together.
    pub done_ns: u128,
}

/// What a run has come to.
pub struct Board {
    /// The workflow.
    pub flow: Workflow,
    /// By kind.
    pub kinds: Vec<KindBoard>,
    /// By slot.
    pub running: BTreeMap<SlotId, Running>,
    /// The last failures, the latest at the end.
    pub failures: VecDeque<Failure>,
    /// Ends of the last seconds.
    pub recent: Recent,
    /// The same with tasks that turned out not to have to run: what an estimate goes by.
    pub settled: Recent,
    /// Tasks that wait for their next attempt.
    pub put_off: u64,
    /// Tasks that were stopped because memory was short, and wait for it.
    pub for_memory: BTreeSet<TaskId>,
    /// When the first entry was written, and the first task started.
    pub first: Option<Time>,
    /// When the first task started.
    pub first_start: Option<Time>,
    /// When the last entry was written.
    pub last: Time,
    /// Somebody asked the run to stop.
    pub is_stopping: bool,
    /// Tasks that were said to be pending when the run began.
    is_pending: Vec<bool>,
    has_verdicts: bool,
    has_begun: bool,
    last_outcome: Option<(TaskId, Outcome)>,
}

impl Board {
    /// Nothing has happened.
    pub fn new(flow: Workflow) -> Board {
        let kinds = (0..flow.kind_count())
            .map(|kind| {
                let name = flow.kind_name(throng_core::ids::KindId::at(kind)).to_owned();
                KindBoard { progress: KindProgress { name, ..KindProgress::default() }, ..KindBoard::default() }
            })
            .collect();
        Board {
            kinds,
            running: BTreeMap::new(),
            failures: VecDeque::new(),
            recent: Recent::default(),
            settled: Recent::default(),
            put_off: 0,
            for_memory: BTreeSet::new(),
            first: None,
            first_start: None,
            last: Time::START,
            is_stopping: false,
            is_pending: vec![false; flow.task_count()],
            has_verdicts: false,
            has_begun: false,
            last_outcome: None,
            flow,
        }
    }

    /// Takes in an entry.
    pub fn take(&mut self, now: Time, entry: &Entry) {
        self.first.get_or_insert(now);
        self.last = now;
        match *entry {
            Entry::Pending(task, _) => {
                if let Some(is_pending) = self.is_pending.get_mut(task.index()) {
                    *is_pending = true;
                    self.has_verdicts = true;
                    self.kind(task).progress.total += 1;
                }
            }
            Entry::UpToDate(task) if task.index() < self.is_pending.len() => {
                self.has_verdicts = true;
                let was_counted = self.is_pending[task.index()];
                let progress = &mut self.kind(task).progress;
                progress.total += u64::from(!was_counted);
                progress.up_to_date += 1;
                if self.has_begun {
                    self.settled.add(now);
                }
            }
            Entry::Skipped(task) if task.index() < self.is_pending.len() => {
                self.kind(task).progress.skipped += 1;
                self.settled.add(now);
            }
            Entry::Event(event) => {
                self.begin();
                self.event(now, event);
            }
            Entry::Decide => self.begin(),
            Entry::Attempt(attempt) => self.last_outcome = Some((attempt.task, attempt.outcome)),
            Entry::Command(command) => self.command(now, command),
            Entry::UpToDate(_) | Entry::Skipped(_) => {}
        }
    }

    /// A run that begins with nothing on record does not say of each task that it has not been done.
    fn begin(&mut self) {
        if self.has_begun {
            return;
        }
        self.has_begun = true;
        if !self.has_verdicts {
            for task in self.flow.tasks() {
                self.kinds[self.flow.kind(task).index()].progress.total += 1;
            }
        }
    }

    fn event(&mut self, now: Time, event: Event) {
        match event {
            Event::Finished { slot, end } => {
                let Some(ended) = self.running.remove(&slot) else { return };
                let kind = self.kind(ended.task);
                kind.progress.running = kind.progress.running.saturating_sub(1);
                if end == End::Done {
                    kind.done_ns += now.since(ended.since).as_nanos();
                }
            }
            Event::Stop => self.is_stopping = true,
            _ => {}
        }
    }

    fn command(&mut self, now: Time, command: Command) {
        match command {
            Command::Start { task, attempt, slot } if task.index() < self.is_pending.len() => {
                self.first_start.get_or_insert(now);
                self.running.insert(slot, Running { task, attempt, since: now });
                self.kind(task).progress.running += 1;
                // Only what was put off is tried again.
                if !self.for_memory.remove(&task) {
                    self.put_off = self.put_off.saturating_sub(u64::from(attempt > 1));
                }
            }
            Command::Complete { task, .. } if task.index() < self.is_pending.len() => {
                self.recent.add(now);
                self.settled.add(now);
                let kind = self.kind(task);
                kind.progress.done += 1;
                kind.recent.add(now);
            }
            Command::Fail { task, attempt } if task.index() < self.is_pending.len() => {
                self.recent.add(now);
                self.settled.add(now);
                let kind = self.kind(task);
                kind.progress.failed += 1;
                kind.recent.add(now);
                self.note_failure(now, task, attempt, true);
            }
            Command::Interrupt { task, attempt, retry_at } if task.index() < self.is_pending.len() => {
                let was_stopped = self.outcome(task).is_some_and(|outcome| outcome.waits_for_memory(now, retry_at));
                match retry_at {
                    Some(_) if was_stopped => drop(self.for_memory.insert(task)),
                    Some(_) => {
                        self.put_off += 1;
                        self.note_failure(now, task, attempt, false);
                    }
                    None => {}
                }
            }
            Command::Width(change) => {
                if let Some(kind) = self.kinds.get_mut(change.kind.index()) {
                    (kind.progress.width, kind.progress.why) = (Some(change.width), Some(change.why));
                }
            }
            _ => {}
        }
    }

    /// How the last attempt has ended, if it was one at this task.
    fn outcome(&self, task: TaskId) -> Option<Outcome> {
        self.last_outcome.filter(|(of, _)| *of == task).map(|(_, outcome)| outcome)
    }

    fn note_failure(&mut self, at: Time, task: TaskId, attempt: u16, is_final: bool) {
        let outcome = self.outcome(task).unwrap_or(Outcome::Cancelled);
        self.failures.push_back(Failure { task, at, attempt, outcome, is_final });
        if self.failures.len() > FAILURES_KEPT {
            self.failures.pop_front();
        }
    }

    fn kind(&mut self, task: TaskId) -> &mut KindBoard {
        &mut self.kinds[self.flow.kind(task).index()]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_core::node::ReadyTask;
    use throng_core::stale::Reason;
    use throng_core::workflow::{Format, NoFiles};

    fn board() -> Board {
        let text = "tasks: { a: { foreach: { i: 1..3 }, noop: true }, b: { noop: true, after: a } }";
        Board::new(Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap())
    }

    fn totals(board: &Board) -> Vec<u64> {
        board.kinds.iter().map(|kind| kind.progress.total).collect()
    }

    #[test]
    fn with_nothing_on_record_everything_counts() {
        let mut board = board();
        assert_eq!(totals(&board), [0, 0]);
        board.take(Time(1), &Entry::Decide);
        board.take(Time(1), &Entry::Decide);
        assert_eq!(totals(&board), [3, 1]);
    }

    #[test]
    fn otherwise_what_was_noted_counts_once() {
        let mut board = board();
        board.take(Time(1), &Entry::UpToDate(TaskId(0)));
        board.take(Time(1), &Entry::Pending(TaskId(1), Reason::Asked));
        board.take(Time(1), &Entry::Pending(TaskId(3), Reason::ParentRuns));
        board.take(Time(1), &Entry::Decide);
        board.take(Time(1), &Entry::UpToDate(TaskId(3)));
        assert_eq!(totals(&board), [2, 1]);
        assert_eq!(board.kinds[1].progress.up_to_date, 1);
    }

    #[test]
    fn a_slot_is_taken_and_given_back() {
        let mut board = board();
        let ready = ReadyTask::first(TaskId(0), throng_core::ids::ClassId(0));
        let (slot, task) = (SlotId(0), TaskId(0));
        board.take(Time(0), &Entry::Event(Event::Ready(ready)));
        board.take(Time(5), &Entry::Command(Command::Start { task, attempt: 1, slot }));
        assert_eq!((board.running.len(), board.kinds[0].progress.running), (1, 1));
        board.take(Time(9), &Entry::Event(Event::Finished { slot, end: End::Failed { code: 1 } }));
        board.take(Time(9), &Entry::Command(Command::Interrupt { task, attempt: 1, retry_at: Some(Time(20)) }));
        assert_eq!((board.running.len(), board.put_off, board.failures.len()), (0, 1, 1));
        board.take(Time(20), &Entry::Command(Command::Start { task, attempt: 2, slot }));
        board.take(Time(30), &Entry::Event(Event::Finished { slot, end: End::Done }));
        board.take(Time(30), &Entry::Command(Command::Complete { task, attempt: 2 }));
        let kind = &board.kinds[0];
        assert_eq!((kind.progress.done, kind.progress.running, kind.done_ns, board.put_off), (1, 0, 10, 0));
    }
}
