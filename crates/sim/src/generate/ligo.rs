//! LIGO Inspiral: the search for gravitational waves of binary stars. A bank of templates is made for each stretch of data,
//! matched against it, and what several stretches have in common is matched a second time.
//!
//! ```text
//!   TmpltBank ─▶ Inspiral ─▶ Thinca ─▶ TrigBank ─▶ Inspiral ─▶ Thinca
//! ```
//!
//! Counts, edges, distributions and sizes are those of the Pegasus workflow generator. Each Thinca has a block of
//! Inspirals in a row; blocks are laid end to end, and those that would go beyond the end are moved back, so that some
//! overlap. Reconstructed: blocks are of equal length, and two frame files belong to each stretch of data, whoever reads
//! it, which makes as many files as published for 30, 50 and 100 tasks, and four more for 1000.

use super::job::{JOBS_LIMIT, Job};
use super::options::{Options, Wrong};
use super::source::Source;
use super::spread::Spread;
use super::{Make, PEGASUS_TIMES, Shape, parameter};

pub(super) const SHAPE: Shape = Shape {
    name: "ligo",
    summary: "a search for gravitational waves, in two rounds",
    origin: "numbers of tasks and edges, times and sizes are those of the Pegasus workflow generator; for 30, 50, 100 and 1000 tasks, \
             blocks as in the published files, else drawn, as there. That blocks are of equal length, and which tasks share \
             frame files, is ours",
    takes: &[parameter("tasks", "1000"), PEGASUS_TIMES[0], PEGASUS_TIMES[1]],
    make: Make::Jobs(jobs),
};

/// The generator makes no smaller ones.
const LEAST: u64 = 22;
/// Files from outside that are the same for all tasks.
const CALIBRATIONS: [(&str, u64); 2] = [("calibration.1", 8_415_922), ("calibration.2", 902_334)];
const INJECTIONS_BYTES: u64 = 2_421_423;

/// How many tasks of which type there are.
#[derive(Clone, Copy)]
struct Counts {
    /// Blocks, each with a Thinca in either round.
    blocks: u64,
    /// Stretches of data in the first round, and in the second.
    first: u64,
    second: u64,
    /// Edges between the tasks of a round and the Thinca of their block.
    edges: u64,
}

/// Numbers of tasks for which files were published, and the counts there.
const PUBLISHED: [(u64, Counts); 4] = [
    (30, Counts { blocks: 1, first: 7, second: 7, edges: 7 }),
    (50, Counts { blocks: 1, first: 12, second: 12, edges: 12 }),
    (100, Counts { blocks: 3, first: 23, second: 24, edges: 24 }),
    (1000, Counts { blocks: 20, first: 229, second: 251, edges: 251 }),
];

fn counts(tasks: u64, source: &mut Source) -> Counts {
    if let Some((_, counts)) = PUBLISHED.iter().find(|(known, _)| *known == tasks) {
        return *counts;
    }
    let drawn = source.choose(1, (tasks / 20).max(3));
    // A single block has all of either round, which then have to be equally long.
    let blocks = if drawn == 1 && !(tasks - 2).is_multiple_of(4) { 2 } else { drawn };
    let both = (tasks - 2 * blocks) / 2;
    let less = if blocks == 1 { 0 } else { source.choose(0, both / 20 + 1) };
    let first = both / 2 - less;
    let second = both - first;
    let edges = source.choose(second, second * 21 / 20).min(blocks * first);
    Counts { blocks, first, second, edges }
}

/// The blocks of a round: where each begins and ends.
fn blocks(counts: Counts, length: u64) -> Vec<(u64, u64)> {
    let mut begin = 0;
    let block = |number| {
        let size = counts.edges * (number + 1) / counts.blocks - counts.edges * number / counts.blocks;
        let from = begin.min(length - size);
        begin += size;
        (from, from + size)
    };
    (0..counts.blocks).map(block).collect()
}

fn jobs(options: &Options, source: &mut Source) -> Result<Vec<Job>, Wrong> {
    // Everything is there in pairs.
    let tasks = options.count("tasks", LEAST, JOBS_LIMIT)? / 2 * 2;
    let counts = counts(tasks, source);
    let (firsts, seconds) = (blocks(counts, counts.first), blocks(counts, counts.second));
    let frames: Vec<[u64; 2]> = (0..counts.second)
        .map(|_| [(); 2].map(|()| source.size_outside(Spread::bytes(15_595_958.08, 3.3e8, 1.0))))
        .collect();
    let with_data = |mut job: Job, stretch: u64| {
        for (half, size) in (1..).zip(frames[stretch as usize]) {
            job = job.reads_outside(format!("frames/{stretch}.{half}"), size);
        }
        CALIBRATIONS.iter().fold(job, |job, (path, size)| job.reads_outside(*path, *size))
    };
    let mut jobs = Vec::with_capacity(tasks as usize);
    for stretch in 0..counts.first {
        let job = Job::numbered("TmpltBank", stretch, source.time(Spread::seconds(18.14, 0.18, 1.0)));
        let size = source.size(Spread::bytes(986_917.26, 3.6e8, 1.0));
        jobs.push(with_data(job, stretch).writes(format!("banks/1.{stretch}"), size));
    }
    for (round, length, own) in [(1, counts.first, &firsts), (2, counts.second, &seconds)] {
        for stretch in 0..length {
            let name = format!("{round}.{stretch}");
            let job = Job::numbered("Inspiral", &name, source.time(Spread::seconds(460.21, 297_397.45, 1.0)));
            jobs.push(
                with_data(job, stretch)
                    .reads_outside("injections", INJECTIONS_BYTES)
                    .reads(format!("banks/{name}"))
                    .writes(format!("matches/{name}"), source.size(Spread::bytes(312_935.68, 3.4e11, 1.0))),
            );
        }
        for (number, (from, to)) in own.iter().enumerate() {
            let name = format!("{round}.{number}");
            jobs.push(
                Job::numbered("Thinca", &name, source.time(Spread::seconds(5.37, 0.06, 1.0)))
                    .reads_each((*from..*to).map(|stretch| format!("matches/{round}.{stretch}")))
                    .writes(format!("common/{name}"), source.size(Spread::bytes(33_820.71, 1.9e9, 1.0))),
            );
        }
        for stretch in 0..if round == 1 { counts.second } else { 0 } {
            let of = seconds.iter().enumerate().filter(|(_, (from, to))| (*from..*to).contains(&stretch));
            jobs.push(
                Job::numbered("TrigBank", stretch, source.time(Spread::seconds(5.11, 0.1, 1.0)))
                    .reads_each(of.map(|(number, _)| format!("common/1.{number}")))
                    .writes(format!("banks/2.{stretch}"), source.size(Spread::bytes(12_779.67, 1.4e8, 1.0))),
            );
        }
    }
    Ok(jobs)
}
