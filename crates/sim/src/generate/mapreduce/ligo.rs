//! LIGO as the thesis has it: two graphs that have nothing to do with each other, of five and of four stretches of data.
//!
//! ```text
//!   tmpItBank-n ─▶ inspiral-a-n ─▶ thinca-a ─▶ trigBank-n ─▶ inspiral-b-n ─▶ thinca-b
//! ```
//!
//! The first type is TmpltBank, misspelt in the program, whose names a file of times has to match.

use std::ops::RangeInclusive;

use super::Job;

/// The stretches of each graph.
const GRAPHS: [RangeInclusive<u64>; 2] = [1..=5, 6..=9];

pub(super) fn jobs() -> Vec<Job> {
    let mut jobs = Vec::new();
    for (graph, stretches) in (1..).zip(GRAPHS) {
        // Hadoop was asked for four map tasks, and made five.
        jobs.extend(stretches.clone().map(|number| Job::new(format!("tmpItBank-{number}"), 5, 18.14)));
        jobs.extend(round("a", "tmpItBank", graph, &stretches));
        let trigger = |number| Job::new(format!("trigBank-{number}"), 1, 5.11).after([format!("thinca-a-{graph}")]);
        jobs.extend(stretches.clone().map(trigger));
        jobs.extend(round("b", "trigBank", graph, &stretches));
    }
    jobs
}

/// Each bank of a graph is matched against its stretch of data, and what was found is brought together: a map task for each stretch.
fn round(name: &str, bank: &str, graph: u64, stretches: &RangeInclusive<u64>) -> Vec<Job> {
    let inspiral = |number: u64| format!("inspiral-{name}-{number}");
    let matched = |number| Job::new(inspiral(number), 1, 460.21).after([format!("{bank}-{number}")]);
    let mut jobs: Vec<Job> = stretches.clone().map(matched).collect();
    let together = Job::new(format!("thinca-{name}-{graph}"), jobs.len() as u64, 5.37);
    jobs.push(together.after(stretches.clone().map(inspiral)));
    jobs
}
