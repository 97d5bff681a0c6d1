//! A run as it was recorded: its workflow and its trace.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use thiserror::Error;
use throng_core::ids::TaskId;
use throng_core::node::{Command, Event};
use throng_core::policy::BadPolicy;
use throng_core::time::Time;
use throng_core::trace::{BadTrace, Entry, Reader};
use throng_core::workflow::{BadFile, Workflow};

use crate::run::make_node;
use crate::state::{About, RunDirectory, StateError, io_error};

/// A recording that cannot be used.
#[derive(Debug, Error)]
pub enum RecordingError {
    /// A file of it.
    #[error(transparent)]
    State(#[from] StateError),
    /// The workflow.
    #[error("the workflow of run {run} cannot be read: {error}")]
    Workflow {
        /// Which run.
        run: u64,
        /// Why not.
        error: BadFile,
    },
    /// The trace.
    #[error("the trace of run {run} cannot be read: {error}")]
    Trace {
        /// Which run.
        run: u64,
        /// Why not.
        error: BadTrace,
    },
}

/// How far a run has come.
#[derive(Clone, Debug, Default)]
pub struct RunStanding {
    /// Tasks that ran and succeeded.
    pub done: u64,
    /// Tasks that did not have to run.
    pub up_to_date: u64,
    /// Tasks that will not run because one before them failed.
    pub skipped: u64,
    /// Tasks that failed for good.
    pub failed: Vec<TaskId>,
    /// Tasks that had begun and not ended.
    pub running: Vec<TaskId>,
}

/// What the clock of a run that is going on shows now. `first` is the time of its first entry, which is written right after
/// its start was noted.
pub fn time_now(about: &About, first: Time) -> Time {
    let started = UNIX_EPOCH + Duration::from_millis(about.started_unix_ms);
    first + SystemTime::now().duration_since(started).unwrap_or_default()
}

/// A recorded run.
pub struct Recording {
    /// What it was about.
    pub about: About,
    /// The workflow as it was then.
    pub flow: Arc<Workflow>,
    trace: Vec<u8>,
}

impl Recording {
    /// Reads a run's recording.
    pub fn read(run: &RunDirectory) -> Result<Recording, RecordingError> {
        let about = run.read_about()?;
        let bytes = std::fs::read(run.workflow()).map_err(io_error("read", &run.workflow()))?;
        let flow = Workflow::from_bytes(&bytes);
        let flow = Arc::new(flow.map_err(|error| RecordingError::Workflow { run: run.number, error })?);
        let trace = std::fs::read(run.trace()).map_err(io_error("read", &run.trace()))?;
        Reader::new(&trace).map_err(|error| RecordingError::Trace { run: run.number, error })?;
        Ok(Recording { about, flow, trace })
    }

    /// Everything that happened, in order; what cannot be read any more is left out.
    pub fn entries(&self) -> impl Iterator<Item = (Time, Entry)> + Clone + '_ {
        let count = self.flow.task_count();
        let entries = Reader::new(&self.trace).into_iter().flatten().map_while(Result::ok);
        entries.filter(move |(_, entry)| subject(entry).is_none_or(|task| task.index() < count))
    }

    /// Why the trace cannot be read to its end, if it cannot.
    pub fn damage(&self) -> Option<BadTrace> {
        Reader::new(&self.trace).into_iter().flatten().find_map(Result::err)
    }

    /// The time of the first entry.
    pub fn first_time(&self) -> Time {
        self.entries().next().map_or(Time::START, |(time, _)| time)
    }

    /// When the run's clock began, in milliseconds since 1970.
    pub fn zero_unix_ms(&self) -> u64 {
        self.about.started_unix_ms.saturating_sub(self.first_time().0 / 1_000_000)
    }

    /// How far the run has come, by what has been written of it.
    pub fn standing(&self) -> RunStanding {
        let mut standing = RunStanding::default();
        let mut running = BTreeSet::new();
        for (_, entry) in self.entries() {
            match entry {
                Entry::Command(Command::Start { task, .. }) => drop(running.insert(task)),
                Entry::Command(Command::Complete { task, .. }) => {
                    running.remove(&task);
                    standing.done += 1;
                }
                Entry::Command(Command::Fail { task, .. }) => {
                    running.remove(&task);
                    standing.failed.push(task);
                }
                Entry::Command(Command::Interrupt { task, .. }) => drop(running.remove(&task)),
                Entry::UpToDate(_) => standing.up_to_date += 1,
                Entry::Skipped(_) => standing.skipped += 1,
                _ => {}
            }
        }
        standing.running = running.into_iter().collect();
        standing
    }

    /// What happened to one task.
    pub fn history(&self, task: TaskId) -> impl Iterator<Item = (Time, Entry)> + '_ {
        self.entries().filter(move |(_, entry)| subject(entry) == Some(task))
    }

    /// Feeds the recorded events to a fresh node; an error says where it wants something else than was recorded.
    pub fn replay(&self) -> Result<usize, ReplayError> {
        let mut node = make_node(&self.flow, &self.about.node)?;
        let mut expected: Vec<Command> = Vec::new();
        let mut commands: Vec<Command> = Vec::new();
        let mut checked = 0;
        for (now, entry) in self.entries() {
            if let Entry::Command(command) = entry {
                expected.push(command);
                continue;
            }
            if matches!(entry, Entry::Event(_) | Entry::Decide) {
                if commands != expected {
                    return Err(ReplayError::Differs { at: checked, recorded: expected, replayed: commands });
                }
                checked += commands.len();
                commands.clear();
                expected.clear();
            }
            match entry {
                Entry::Event(event) => node.handle(now, event, &mut commands),
                Entry::Decide => node.decide(now, &mut commands),
                _ => {}
            }
        }
        // The recording of a killed run may end between two commands.
        if !commands.starts_with(&expected) {
            return Err(ReplayError::Differs { at: checked, recorded: expected, replayed: commands });
        }
        Ok(checked + expected.len())
    }
}

/// Why a recorded run cannot be replayed.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// The node of the recording cannot be made.
    #[error(transparent)]
    Policy(#[from] BadPolicy),
    /// The fresh node wants something else.
    #[error("after {at} equal commands, the recording has {recorded:?} and the replay {replayed:?}")]
    Differs {
        /// Commands that were equal.
        at: usize,
        /// What was recorded next.
        recorded: Vec<Command>,
        /// What the fresh node wants.
        replayed: Vec<Command>,
    },
}

fn subject(entry: &Entry) -> Option<TaskId> {
    match entry {
        Entry::Event(Event::Ready(ready) | Event::Offered(ready)) => Some(ready.task),
        Entry::Command(
            Command::Start { task, .. }
            | Command::Complete { task, .. }
            | Command::Fail { task, .. }
            | Command::Interrupt { task, .. }
            | Command::Lost { task, .. }
            | Command::NeverFits { task, .. },
        ) => Some(*task),
        Entry::Attempt(attempt) => Some(attempt.task),
        Entry::Pending(task, _) | Entry::UpToDate(task) | Entry::Skipped(task) => Some(*task),
        Entry::Event(_) | Entry::Decide | Entry::Command(_) => None,
    }
}
