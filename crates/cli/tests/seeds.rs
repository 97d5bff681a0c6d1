//! What fuzzing began with, and what it found, stays read without a panic.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;

use throng_core::trace::Reader;
use throng_core::workflow::{Format, NoFiles, Workflow};

fn seeds(target: &str) -> Vec<Vec<u8>> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds").join(target);
    let entries = std::fs::read_dir(&directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display()));
    entries.map(|entry| std::fs::read(entry.unwrap().path()).unwrap()).collect()
}

#[test]
fn seeds_of_workflows() {
    let seeds = seeds("workflow");
    let mut workflows = 0;
    for seed in &seeds {
        let Some((first, text)) = seed.split_first() else { continue };
        let format = if first % 2 == 0 { Format::Yaml } else { Format::Json };
        let Ok(flow) = Workflow::parse(std::str::from_utf8(text).unwrap(), format, "seed", &NoFiles) else { continue };
        workflows += 1;
        let bytes = flow.to_bytes();
        assert_eq!(Workflow::from_bytes(&bytes).unwrap().to_bytes(), bytes);
        for task in flow.tasks().take(50) {
            assert!(flow.find(&flow.name(task)).unwrap().contains(&task));
        }
    }
    assert!(seeds.len() > 100 && workflows > 10, "{workflows} of {} are workflows", seeds.len());
}

#[test]
fn seeds_of_wfformat() {
    let seeds = seeds("wfformat");
    let mut traces = 0;
    for seed in &seeds {
        let Ok(flow) = Workflow::parse(std::str::from_utf8(seed).unwrap(), Format::Json, "seed", &NoFiles) else {
            continue;
        };
        traces += u32::from(flow.is_trace());
        assert_eq!(flow.topological().len(), flow.task_count());
    }
    assert!(seeds.len() >= 4 && traces >= 3, "{traces} of {} are traces", seeds.len());
}

#[test]
fn seeds_of_traces() {
    for seed in seeds("trace") {
        assert!(Reader::new(&seed).unwrap().count() > 10);
    }
}
