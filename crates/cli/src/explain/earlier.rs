//! Earlier runs of the same workflow: when a task was last done, tried, or its inputs made again.

use std::collections::BTreeMap;

use throng_core::ids::TaskId;
use throng_core::node::Command;
use throng_core::trace::{Entry, Outcome};
use throng_runtime::recording::Recording;

use super::facts::LastTime;
use super::gather::Scene;
use crate::words;

/// How many runs back to look: further back, nobody remembers either.
const LOOKED_BACK: usize = 100;

/// What earlier runs did with a task.
#[derive(Default)]
pub struct Earlier {
    /// The last run that did it.
    pub done: Option<DoneBefore>,
    /// The last run after that which tried.
    pub tried: Option<LastTime>,
    /// Tasks of the present workflow that were done in runs after that, and the last such run.
    pub made_since: BTreeMap<TaskId, u64>,
}

/// A run that did the task.
pub struct DoneBefore {
    /// When.
    pub time: LastTime,
    /// The whole of it.
    pub recording: Recording,
    /// The task there.
    pub task: TaskId,
}

/// Looks through earlier runs, the latest first, until one has done the task. `watched` are tasks whose own
/// completions matter.
pub fn look_back(scene: &Scene<'_>, watched: &[TaskId]) -> Earlier {
    let mut earlier = Earlier::default();
    let Scene { state, run, recording, task } = *scene;
    let flow = &recording.flow;
    let numbers = state.runs().unwrap_or_default();
    for number in numbers.into_iter().rev().filter(|number| *number < run.number).take(LOOKED_BACK) {
        let directory = state.run(number);
        let is_same = directory.read_about().is_ok_and(|about| about.is_real_run_of(&recording.about.workflow));
        let Some(then) = is_same.then(|| Recording::read(&directory).ok()).flatten() else { continue };
        let find = |wanted: TaskId| {
            let found = then.flow.find(&flow.name(wanted)).ok()?;
            let [found] = found[..] else { return None };
            (then.flow.name_key(found) == flow.name_key(wanted)).then_some(found)
        };
        let own = find(task);
        let watched: BTreeMap<TaskId, TaskId> =
            watched.iter().filter_map(|wanted| Some((find(*wanted)?, *wanted))).collect();
        if own.is_none() && watched.is_empty() {
            continue;
        }
        let mut last = None;
        let mut outcome = None;
        for (time, entry) in then.entries() {
            match entry {
                Entry::Command(Command::Complete { task, .. }) => {
                    if let Some(wanted) = watched.get(&task) {
                        earlier.made_since.entry(*wanted).or_insert(number);
                    }
                    if own == Some(task) {
                        last = Some((time, true));
                    }
                }
                Entry::Command(Command::Start { task, .. }) if own == Some(task) => last = Some((time, false)),
                Entry::Attempt(attempt) if own == Some(attempt.task) => {
                    outcome = Some(attempt.outcome);
                    if attempt.outcome != Outcome::Done {
                        last = Some((attempt.ended, false));
                    }
                }
                _ => {}
            }
        }
        let (Some(own), Some((time, is_done))) = (own, last) else { continue };
        let time = LastTime {
            run: number,
            ended_unix_ms: then.zero_unix_ms() + time.0 / 1_000_000,
            outcome: match (is_done, outcome) {
                (true, _) => "done".to_owned(),
                (false, Some(outcome)) => words::outcome(outcome),
                (false, None) => "not finished".to_owned(),
            },
        };
        if is_done {
            earlier.done = Some(DoneBefore { time, recording: then, task: own });
            return earlier;
        }
        earlier.tried.get_or_insert(time);
    }
    // Without a time to compare with, nothing has been made since.
    earlier.made_since.clear();
    earlier
}
