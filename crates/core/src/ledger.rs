//! All records of a run, and what a change of one means for the others.
//!
//! Nobody polls waiting tasks: the completion that closes a task's last open parent returns it as ready.

use crate::ids::TaskId;
use crate::node::ReadyTask;
use crate::record::{Change, Effect, Record, Refused, State};
use crate::workflow::Workflow;

/// Where a task stands when a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Not asked for.
    Outside,
    /// What an earlier run made still stands.
    UpToDate,
    /// Has to run, or at least to be looked at again when its parents are done.
    Pending,
}

/// How many tasks are in which state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Waiting, ready or running.
    pub open: u64,
    /// Ran in this run and succeeded.
    pub done: u64,
    /// Did not have to run.
    pub up_to_date: u64,
    /// Failed for good.
    pub failed: u64,
    /// Not tried because a task before them failed.
    pub skipped: u64,
}

impl Tally {
    /// All tasks of the run.
    pub fn total(&self) -> u64 {
        self.open + self.done + self.up_to_date + self.failed + self.skipped
    }
}

/// The records of a run.
#[derive(Clone, Debug)]
pub struct Ledger {
    records: Vec<Record>,
    tally: Tally,
}

impl Ledger {
    /// Opens the ledger of a run.
    pub fn new(flow: &Workflow, standing: impl Fn(TaskId) -> Standing) -> Self {
        let mut tally = Tally::default();
        let mut records: Vec<Record> = flow
            .tasks()
            .map(|task| match standing(task) {
                Standing::Outside => Record::settled(State::Outside),
                Standing::UpToDate => {
                    tally.up_to_date += 1;
                    Record::settled(State::Done)
                }
                Standing::Pending => {
                    tally.open += 1;
                    Record::new(flow.parent_count(task))
                }
            })
            .collect();
        if tally.up_to_date > 0 {
            for task in flow.tasks().filter(|task| records[task.index()].state == State::Done).collect::<Vec<_>>() {
                for child in flow.children(task) {
                    // Those that become ready by this are found by `roots`.
                    if records[child.index()].state == State::Waiting {
                        let closed = records[child.index()].apply(Change::ParentClosed);
                        closed.expect("a waiting task hears of its parents");
                    }
                }
            }
        }
        Ledger { records, tally }
    }

    /// Tasks that may start at once.
    pub fn roots(&self) -> impl Iterator<Item = TaskId> + '_ {
        let ready = self.records.iter().enumerate().filter(|(_, record)| record.state == State::Ready);
        ready.map(|(index, _)| TaskId::at(index))
    }

    /// The record of a task.
    pub fn record(&self, task: TaskId) -> &Record {
        &self.records[task.index()]
    }

    /// What a node has to know of a ready task that reads this much.
    pub fn ready_task(&self, flow: &Workflow, task: TaskId, input_bytes: u64) -> ReadyTask {
        let attempt = self.record(task).attempt + 1;
        ReadyTask {
            priority: flow.priority(task),
            attempt,
            input_bytes,
            ..ReadyTask::first(task, flow.class(task, attempt))
        }
    }

    /// How many tasks are in which state.
    pub fn tally(&self) -> Tally {
        self.tally
    }

    /// An attempt begins.
    pub fn start(&mut self, task: TaskId, attempt: u16) -> Result<(), Refused> {
        self.records[task.index()].apply(Change::Started { attempt }).map(|_| ())
    }

    /// An attempt ended without a verdict.
    pub fn interrupt(&mut self, task: TaskId, attempt: u16) -> Result<(), Refused> {
        self.records[task.index()].apply(Change::Interrupted { attempt }).map(|_| ())
    }

    /// An attempt succeeded: tasks that are ready now go into `ready`.
    pub fn complete(
        &mut self,
        flow: &Workflow,
        task: TaskId,
        attempt: u16,
        ready: &mut Vec<TaskId>,
    ) -> Result<(), Refused> {
        self.records[task.index()].apply(Change::Finished { attempt })?;
        self.tally.open -= 1;
        self.tally.done += 1;
        self.close(flow, task, ready);
        Ok(())
    }

    /// A ready task turns out to be up to date: tasks that are ready now go into `ready`.
    pub fn found_up_to_date(&mut self, flow: &Workflow, task: TaskId, ready: &mut Vec<TaskId>) -> Result<(), Refused> {
        self.records[task.index()].apply(Change::FoundUpToDate)?;
        self.tally.open -= 1;
        self.tally.up_to_date += 1;
        self.close(flow, task, ready);
        Ok(())
    }

    /// A task failed for good: whatever depends on it is skipped, and goes into `skipped`.
    pub fn fail(
        &mut self,
        flow: &Workflow,
        task: TaskId,
        attempt: u16,
        skipped: &mut Vec<TaskId>,
    ) -> Result<(), Refused> {
        self.records[task.index()].apply(Change::Failed { attempt })?;
        self.tally.open -= 1;
        self.tally.failed += 1;
        let mut at = skipped.len();
        let mut parent = task;
        loop {
            for child in flow.children(parent) {
                // Refused by those that are skipped already or not part of the run.
                if self.records[child.index()].apply(Change::Skipped).is_ok() {
                    self.tally.open -= 1;
                    self.tally.skipped += 1;
                    skipped.push(child);
                }
            }
            match skipped.get(at) {
                Some(next) => parent = *next,
                None => return Ok(()),
            }
            at += 1;
        }
    }

    fn close(&mut self, flow: &Workflow, task: TaskId, ready: &mut Vec<TaskId>) {
        for child in flow.children(task) {
            let effect = self.records[child.index()].apply(Change::ParentClosed);
            if effect.expect("nothing runs before its parents are done") == Effect::BecameReady {
                ready.push(child);
            }
        }
    }
}
