//! Where tasks stand after the last run, for a picture that shows it.

use std::collections::HashMap;

use throng_core::ids::TaskId;
use throng_core::node::Command;
use throng_core::trace::Entry;
use throng_core::workflow::Workflow;
use throng_runtime::recording::Recording;
use throng_runtime::state::StateDirectory;

use crate::words;

/// Where a task stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    /// Not done.
    #[default]
    Open,
    /// Running now, or when the engine was killed.
    Running,
    /// Done in the run.
    Done,
    /// Did not have to run.
    UpToDate,
    /// Failed for good.
    Failed,
    /// Behind one that failed.
    Skipped,
}

impl Standing {
    /// All, in the order in which they are told.
    pub const ALL: [Standing; 6] =
        [Standing::Done, Standing::UpToDate, Standing::Running, Standing::Failed, Standing::Skipped, Standing::Open];

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Standing::Open => "not done",
            Standing::Running => "running",
            Standing::Done => "done",
            Standing::UpToDate => "up to date",
            Standing::Failed => "failed",
            Standing::Skipped => "skipped",
        }
    }

    /// As a name in style sheets.
    pub fn class(self) -> &'static str {
        match self {
            Standing::Open => "open",
            Standing::Running => "running",
            Standing::Done => "done",
            Standing::UpToDate => "current",
            Standing::Failed => "failed",
            Standing::Skipped => "skipped",
        }
    }
}

/// How many tasks stand where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    counts: [u64; 6],
}

impl Tally {
    /// Counts.
    pub fn of(tasks: impl Iterator<Item = Standing>) -> Tally {
        let mut tally = Tally::default();
        tasks.for_each(|standing| tally.counts[standing as usize] += 1);
        tally
    }

    /// How many stand there.
    pub fn count(&self, standing: Standing) -> u64 {
        self.counts[standing as usize]
    }

    /// All.
    pub fn total(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Both together.
    pub fn plus(mut self, other: &Tally) -> Tally {
        self.counts.iter_mut().zip(other.counts).for_each(|(own, other)| *own += other);
        self
    }

    /// In words.
    pub fn words(&self) -> String {
        let present: Vec<Standing> = Standing::ALL.into_iter().filter(|standing| self.count(*standing) > 0).collect();
        match present[..] {
            [only] if self.total() == 1 => only.words().to_owned(),
            [only] => format!("all {}", only.words()),
            _ => {
                let part =
                    |standing: &Standing| format!("{} {}", words::thousands(self.count(*standing)), standing.words());
                present.iter().map(part).collect::<Vec<_>>().join(", ")
            }
        }
    }
}

/// Where the tasks of a workflow stand by the last run of it that is on record, and which run that is.
pub fn of_last_run(flow: &Workflow, state: &StateDirectory) -> Option<(u64, Vec<Standing>)> {
    let runs = state.runs().ok()?;
    let is_of_flow =
        |number: &u64| state.run(*number).read_about().is_ok_and(|about| about.is_real_run_of(flow.title()));
    let number = runs.into_iter().rev().find(is_of_flow)?;
    let recording = Recording::read(&state.run(number)).ok()?;
    let then = of_recording(&recording);
    Some((number, carried_over(flow, &recording.flow, &then)))
}

/// Where the tasks of a recorded run stand, by what has been written of it.
pub fn of_recording(recording: &Recording) -> Vec<Standing> {
    let mut standing = vec![Standing::Open; recording.flow.task_count()];
    for (_, entry) in recording.entries() {
        let (task, now) = match entry {
            Entry::Command(Command::Start { task, .. }) => (task, Standing::Running),
            Entry::Command(Command::Complete { task, .. }) => (task, Standing::Done),
            Entry::Command(Command::Fail { task, .. }) => (task, Standing::Failed),
            Entry::Command(Command::Interrupt { task, .. }) => (task, Standing::Open),
            Entry::UpToDate(task) => (task, Standing::UpToDate),
            Entry::Skipped(task) => (task, Standing::Skipped),
            _ => continue,
        };
        standing[task.index()] = now;
    }
    standing
}

/// The same for a workflow that may have changed since: tasks are found by their names.
fn carried_over(flow: &Workflow, then: &Workflow, standing: &[Standing]) -> Vec<Standing> {
    let mut by_key: Option<HashMap<u64, TaskId>> = None;
    let find = |task: TaskId, key: u64| {
        if task.index() < then.task_count() && then.name_key(task) == key {
            return Some(task);
        }
        let by_key = by_key.get_or_insert_with(|| then.tasks().map(|task| (then.name_key(task), task)).collect());
        by_key.get(&key).copied()
    };
    let mut find = find;
    flow.tasks()
        .map(|task| find(task, flow.name_key(task)).map_or(Standing::Open, |found| standing[found.index()]))
        .collect()
}
