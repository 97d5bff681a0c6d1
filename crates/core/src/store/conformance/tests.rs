use std::collections::BTreeSet;

use super::*;

#[test]
fn the_store_in_memory_does_all_of_it() {
    let failed: Vec<String> = cases()
        .filter_map(|case| {
            let outcome = (case.run)(&mut |submission| Box::new(Memory::from(submission)));
            outcome.err().map(|problem| format!("{}: {problem}", case.name))
        })
        .collect();
    assert!(failed.is_empty(), "\n{}", failed.join("\n"));
}

#[test]
fn every_case_has_its_own_name() {
    let names: BTreeSet<&str> = cases().map(|case| case.name).collect();
    assert_eq!(names.len(), cases().count());
}
