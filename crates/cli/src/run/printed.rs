//! What tasks printed in earlier runs: those that need not run again are still part of the result.

use std::collections::BTreeMap;
use std::path::PathBuf;

use throng_core::ids::TaskId;
use throng_core::trace::{Entry, Outcome};
use throng_core::workflow::Workflow;
use throng_runtime::recording::Recording;
use throng_runtime::state::StateDirectory;

/// Where something that was printed lies.
#[derive(Clone, Debug)]
pub struct Printed {
    log: PathBuf,
    start: u64,
    length: u64,
}

impl Printed {
    /// Copies it.
    pub fn copy(&self, out: &mut dyn std::io::Write) -> std::io::Result<()> {
        throng_runtime::log::copy(&self.log, self.start, self.length, out)
    }
}

/// Looks for what tasks printed when they were done last, from the latest run to the first.
pub fn find(state: &StateDirectory, flow: &Workflow, tasks: impl Iterator<Item = TaskId>) -> BTreeMap<TaskId, Printed> {
    let mut wanted: BTreeMap<u64, TaskId> = tasks.map(|task| (flow.name_key(task), task)).collect();
    let mut found = BTreeMap::new();
    for number in state.runs().unwrap_or_default().into_iter().rev() {
        if wanted.is_empty() {
            break;
        }
        let run = state.run(number);
        let is_ours = run.read_about().is_ok_and(|about| about.is_real_run_of(flow.title()));
        let Some(recording) = is_ours.then(|| Recording::read(&run).ok()).flatten() else { continue };
        for (_, entry) in recording.entries() {
            let Entry::Attempt(attempt) = entry else { continue };
            if attempt.outcome != Outcome::Done {
                continue;
            }
            if let Some(task) = wanted.remove(&recording.flow.name_key(attempt.task)) {
                let (start, length) = attempt.log;
                found.insert(task, Printed { log: run.log(), start, length });
            }
        }
    }
    found
}
