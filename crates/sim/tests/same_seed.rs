//! The same seed gives the same run, byte for byte: whoever reports a run can be shown it again.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use throng_core::trace::Writer;
use throng_sim::swarm::Case;

/// All that is recorded of a run, as it would be written to disk.
fn trace(case: &Case, seed: u64) -> Vec<u8> {
    let writer = Arc::new(Mutex::new(Writer::new()));
    let entries = writer.clone();
    let told = case.run_recorded(Some(Box::new(move |now, entry| {
        entries.lock().expect("nobody panics while it writes").write(now, entry)
    })));
    assert!(told.is_ok(), "seed {seed}: {told:?}");
    let mut bytes = Vec::new();
    writer.lock().expect("nobody panics while it writes").take(&mut bytes);
    bytes
}

/// Sixty runs under all policies, most of them with faults.
#[test]
fn the_same_seed_gives_the_same_trace() {
    let (mut policies, mut with_faults, mut traces) = (BTreeSet::new(), 0, BTreeSet::new());
    for seed in 1..=60 {
        let case = Case::draw(seed);
        let first = trace(&case, seed);
        assert!(!first.is_empty(), "seed {seed}");
        assert!(first == trace(&Case::draw(seed), seed), "seed {seed}");
        policies.insert(case.cluster.place.name);
        with_faults += usize::from(case.cluster.faults != Default::default());
        traces.insert(first);
    }
    assert_eq!((policies.len(), traces.len()), (throng_core::place::NAMES.len(), 60));
    assert!(with_faults > 30, "{with_faults}");
}

/// Nobody who watches a run changes it.
#[test]
fn being_recorded_changes_nothing() {
    for seed in 1..=40 {
        let case = Case::draw(seed);
        assert_eq!(case.run(), case.run_recorded(Some(Box::new(|_, _| ()))), "seed {seed}");
    }
}
