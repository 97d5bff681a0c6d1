//! What was measured of every task when it was done: in the run that is meant, or in an earlier one if it was up to date then.

use std::collections::BTreeMap;
use std::sync::Arc;

use throng_core::account::{Account, Fate, Setup};
use throng_core::ids::TaskId;
use throng_core::trace::Usage;
use throng_core::workflow::Workflow;
use throng_runtime::recording::Recording;
use throng_runtime::state::{About, StateDirectory};

use super::document::Execution;
use crate::exit::Failure;

/// What was measured of a task.
#[derive(Clone, Debug)]
pub struct Measured {
    pub seconds: f64,
    pub started_unix_ms: u64,
    pub usage: Usage,
    /// The name of the machine, if it is known.
    pub machine: String,
}

/// A run, and what was measured in it.
pub struct Run {
    /// The workflow as it was then.
    pub flow: Arc<Workflow>,
    pub about: About,
    pub makespan_seconds: f64,
    pub started_unix_ms: u64,
    /// By task.
    pub tasks: Vec<Option<Measured>>,
}

impl Run {
    /// Reads a run, and earlier ones as far as they are needed.
    pub fn read(state: &StateDirectory, number: u64) -> Result<Run, Failure> {
        let read = |number| Recording::read(&state.run(number));
        let recording = read(number)
            .map_err(|error| Failure::bad_input(error, "choose another run with --run: see `throng runs`"))?;
        let account = account(&recording);
        let flow = recording.flow.clone();
        let mut tasks: Vec<Option<Measured>> = flow.tasks().map(|task| measured(&recording, &account, task)).collect();
        let is_open = |task: &TaskId| account.tasks[task.index()].fate == Fate::UpToDate;
        let mut open: BTreeMap<u64, TaskId> =
            flow.tasks().filter(is_open).map(|task| (flow.name_key(task), task)).collect();
        let earlier = state.runs().unwrap_or_default().into_iter().rev().filter(|earlier| *earlier < number);
        for number in earlier {
            if open.is_empty() {
                break;
            }
            let is_ours = state.run(number).read_about().is_ok_and(|about| about.is_real_run_of(flow.title()));
            let Some(recording) = is_ours.then(|| read(number).ok()).flatten() else { continue };
            let account = self::account(&recording);
            for then in recording.flow.tasks() {
                let Some(own) = open.get(&recording.flow.name_key(then)).copied() else { continue };
                if let Some(found) = measured(&recording, &account, then) {
                    tasks[own.index()] = Some(found);
                    open.remove(&recording.flow.name_key(then));
                }
            }
        }
        let period = account.period;
        Ok(Run {
            flow,
            makespan_seconds: period.length_ns() as f64 / 1e9,
            started_unix_ms: recording.zero_unix_ms() + period.begin.0 / 1_000_000,
            about: recording.about,
            tasks,
        })
    }

    /// What is written of it; nothing if no task was done at all.
    pub fn execution(&self) -> Option<Execution<'_>> {
        self.tasks.iter().any(Option::is_some).then_some(Execution::Measured(self))
    }
}

fn account(recording: &Recording) -> Account {
    let node = &recording.about.node;
    let setup = Setup { slots: node.width, cores: recording.about.host.cores, fail_fast: node.fail_fast, until: None };
    Account::of(&recording.flow, setup, recording.entries())
}

fn measured(recording: &Recording, account: &Account, task: TaskId) -> Option<Measured> {
    let stint = account.last_stint(task).filter(|_| account.tasks[task.index()].fate == Fate::Done)?;
    Some(Measured {
        seconds: stint.compute_ns() as f64 / 1e9,
        started_unix_ms: recording.zero_unix_ms() + stint.started.0 / 1_000_000,
        usage: stint.usage,
        // A simulated machine has no name.
        machine: if recording.about.simulated.is_none() { recording.about.host.name.clone() } else { String::new() },
    })
}
