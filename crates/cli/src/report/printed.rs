//! What failed tasks printed last: whoever is sent a page has no logs to look into.

use std::collections::BTreeMap;

use throng_core::ids::TaskId;
use throng_core::trace::Entry;
use throng_runtime::log;
use throng_runtime::recording::Recording;
use throng_runtime::state::{RunDirectory, StateDirectory};

/// Enough to see what went wrong; the rest is in the log.
const LINES: usize = 8;

/// The last lines that tasks printed in their last attempts, into the log or into a file for complaints.
pub fn last_lines(
    state: &StateDirectory,
    run: &RunDirectory,
    recording: &Recording,
    tasks: &[TaskId],
) -> BTreeMap<TaskId, String> {
    let mut places: BTreeMap<TaskId, (u64, u64)> = tasks.iter().map(|task| (*task, (0, 0))).collect();
    for (_, entry) in recording.entries() {
        if let Entry::Attempt(attempt) = entry
            && let Some(place) = places.get_mut(&attempt.task)
        {
            *place = attempt.log;
        }
    }
    let lines = |(task, place): (TaskId, (u64, u64))| {
        let printed = log::last_lines(&run.log(), place, LINES).unwrap_or_default();
        let [_, _, complaints] = recording.flow.streams(task);
        // Of an attempt that failed, they have been set aside.
        let complaints = complaints.map(|file| state.aside(run.number).join(file));
        let complaints =
            complaints.and_then(|path| log::last_lines(&path, (0, path.metadata().ok()?.len()), LINES).ok());
        (task, complaints.filter(|text| !text.is_empty()).unwrap_or(printed))
    };
    places.into_iter().map(lines).collect()
}
