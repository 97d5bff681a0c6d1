//! Any text as a trace in WfFormat: it is refused with a place and a remedy, or becomes a workflow that holds together.
#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use throng_core::ids::ObjectId;
use throng_core::workflow::path::{is_inside, normalize};
use throng_core::workflow::{Format, NoFiles, Replay, Request, Workflow};

fuzz_target!(|data: &[u8]| {
    let Ok(text) = std::str::from_utf8(data) else { return };
    for replay in [None, Some(Replay { times: 0.01, sizes: 0.5, spins: false })] {
        let request =
            Request { text, format: Format::Json, default_name: "fuzz", settings: &[], param_files: &[], replay };
        match Workflow::read(&request, &NoFiles) {
            Err(problems) => {
                assert!(!problems.shown.is_empty());
                assert!(problems.shown.iter().all(|problem| !problem.message.is_empty() && !problem.remedy.is_empty()));
            }
            Ok(reading) => holds_together(&reading.flow),
        }
    }
});

fn holds_together(flow: &Workflow) {
    let bytes = flow.to_bytes();
    assert_eq!(Workflow::from_bytes(&bytes).expect("just written").to_bytes(), bytes);
    assert_eq!(flow.topological().len(), flow.task_count());
    if !flow.is_trace() {
        return;
    }
    let mut paths = BTreeSet::new();
    for object in (0..flow.object_count()).map(ObjectId::at) {
        let path = flow.object_name(object);
        assert!(is_inside(path) && normalize(path) == path, "{path}");
        assert!(paths.insert(path), "{path} twice");
        let _ = flow.file_id(object);
    }
    // No file lies inside another.
    for path in &paths {
        assert!(path.match_indices('/').all(|(at, _)| !paths.contains(&path[..at])), "{path}");
    }
    for task in flow.tasks() {
        assert!(flow.find(&flow.name(task)).expect("a task is found by its name").contains(&task));
        let _ = (flow.definition_hash(task), flow.recorded_command(task), flow.command_text(task));
    }
}
