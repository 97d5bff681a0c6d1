//! Epigenomics: where DNA is methylated. The reads of each lane of a sequencing machine are split, each part is cleaned,
//! converted and mapped to the reference genome, and all are put together again.
//!
//! ```text
//!   fastqSplit ─▶ filterContams ─▶ sol2sanger ─▶ fastq2bfq ─▶ map ─▶ mapMerge ─▶ mapMerge ─▶ maqindex ─▶ pileup
//! ```
//!
//! With a single lane, there is only one mapMerge. Counts, edges, sizes and rates are those of the Pegasus workflow
//! generator: tasks take the longer the more they read, and mapping, which reads the whole reference, takes nearly all
//! of the time. Reconstructed: how far rates are spread, the two small files beside the last merged one, a reference
//! that is within a quarter of 4 GiB (as it was meant to be; published files have 1.2 to 5.3 GB), and a copy of it for
//! pileup, without which there would be a file less than published.

use super::job::{JOBS_LIMIT, Job};
use super::options::{Options, Wrong};
use super::source::Source;
use super::spread::{Spread, rounded};
use super::{Make, PEGASUS_TIMES, Shape, parameter};

pub(super) const SHAPE: Shape = Shape {
    name: "epigenomics",
    summary: "lanes of a sequencing machine, split, mapped to a genome and merged",
    origin: "numbers of tasks, edges and files, sizes and rates are those of the Pegasus workflow generator, which makes 997 tasks if 1000 are wanted. How far rates are spread, \
             and that pileup has a copy of the reference genome, is ours",
    takes: &[parameter("tasks", "1000"), PEGASUS_TIMES[0], PEGASUS_TIMES[1]],
    make: Make::Jobs(jobs),
};

/// One lane with one part.
const LEAST: u64 = 8;
/// Published files have the number of tasks that they came out with in their name, not the number that was wanted: their
/// lanes, and the parts of each.
const PUBLISHED: [(u64, (u64, u64)); 2] = [(46, (2, 5)), (997, (7, 35))];
/// How many parts a lane has at least, if there are several lanes, and how many tasks may be missing.
const PARTS: u64 = 5;
const MISSING: u64 = 3;

const REFERENCE_BYTES: f64 = 4_294_967_296.0;
/// What stands beside the last merged file.
const NOTE_BYTES: u64 = 350_000;
/// How far rates are spread, as a share of their mean.
const RATES_SPREAD: f64 = 0.25;

/// How many lanes there are, and how many parts each has.
fn counts(tasks: u64) -> (u64, u64) {
    if let Some((_, counts)) = PUBLISHED.iter().find(|(known, _)| *known == tasks) {
        return *counts;
    }
    let several = (2..=tasks / 4).rev().find_map(|lanes| {
        let parts = tasks.checked_sub(2 * lanes + 3)? / (4 * lanes);
        let made = (4 * parts + 2) * lanes + 3;
        (parts >= PARTS && tasks - made <= MISSING).then_some((lanes, parts))
    });
    several.unwrap_or((1, (tasks - 4) / 4))
}

/// Something that is read, at a rate in bytes per second that is drawn.
fn reading(bytes: f64, rate: f64, source: &mut Source) -> u64 {
    let rate = source.rate(rate, rate * RATES_SPREAD);
    source.time(Spread::Fixed(rounded(bytes / rate * 1e9)))
}

fn jobs(options: &Options, source: &mut Source) -> Result<Vec<Job>, Wrong> {
    let tasks = options.count("tasks", LEAST, JOBS_LIMIT)?;
    let (lanes, parts) = counts(tasks);
    let reference = source.size_outside(Spread::within(0.25, REFERENCE_BYTES));
    let mut jobs = Vec::with_capacity(tasks as usize);
    let mut merged = Vec::new();
    for lane in 0..lanes {
        let maps = lane_jobs(lane, parts, reference, source, &mut jobs);
        let paths = (0..parts).map(|part| format!("maps/{lane}.{part}")).collect();
        if lanes == 1 {
            jobs.push(merge("mapMerge".to_owned(), paths, maps, source, "merged"));
        } else {
            let path = format!("merged.{lane}");
            let job = merge(format!("mapMerge-{lane}"), paths, maps, source, &path);
            merged.push((path, job.written_bytes()));
            jobs.push(job);
        }
    }
    if lanes > 1 {
        let bytes = merged.iter().map(|(_, bytes)| *bytes).fold(0, u64::saturating_add);
        jobs.push(merge(
            "mapMerge".to_owned(),
            merged.into_iter().map(|(path, _)| path).collect(),
            bytes,
            source,
            "merged",
        ));
    }
    let last = jobs.pop().expect("something is merged last");
    let all = last.written_bytes();
    let [log, list] = [(); 2].map(|()| source.size(Spread::Fixed(NOTE_BYTES)));
    jobs.push(last.writes("merged.log", log).writes("merged.list", list));

    let index = all as f64 / source.ratio(64.25, 645.0_f64.sqrt());
    let index = source.size(Spread::Fixed(rounded(index)));
    let job = Job::new("maqindex", source.time(Spread::Fixed(rounded(index as f64 / 1.77e7 * 1e9))));
    jobs.push(job.reads("merged").writes("index", index));
    let pile = source.size(Spread::Even { low: 0, high: index.saturating_mul(10) });
    let job = Job::new("pileup", reading(reference as f64, 881_356.45, source));
    jobs.push(job.reads("index").reads_outside("reference.copy", reference).writes("pileup", pile));
    Ok(jobs)
}

/// Everything that is done for each part of a lane; returns how much is mapped.
fn lane_jobs(lane: u64, parts: u64, reference: u64, source: &mut Source, jobs: &mut Vec<Job>) -> u64 {
    let reads = source.size_outside(Spread::bytes(351_024_865.91, 2.2e16, 1.0));
    let mut split = Job::numbered("fastqSplit", lane, reading(reads as f64, 7.66e6, source))
        .reads_outside(format!("lanes/{lane}"), reads);
    let mut rest = Vec::new();
    let mut mapped = 0;
    for part in 0..parts {
        let name = format!("{lane}.{part}");
        let bytes = source.size(Spread::Fixed(rounded(reads as f64 / parts as f64)));
        split = split.writes(format!("parts/{name}"), bytes);
        let clean = source.size(Spread::within(0.1, bytes as f64 / 2.0));
        let dirty = source.size(Spread::Fixed(bytes.saturating_sub(clean)));
        rest.push(
            Job::numbered("filterContams", &name, reading(bytes as f64, 8.47e6, source))
                .reads(format!("parts/{name}"))
                .writes(format!("clean/{name}"), clean)
                .writes(format!("dirty/{name}"), dirty),
        );
        let ratio = source.ratio(1.32, 0.1_f64.sqrt());
        let standard = source.size(Spread::Fixed(rounded(clean as f64 / ratio)));
        rest.push(
            Job::numbered("sol2sanger", &name, reading(clean as f64, 1.51e7, source))
                .reads(format!("clean/{name}"))
                .writes(format!("standard/{name}"), standard),
        );
        let ratio = source.ratio(4.24, 0.16_f64.sqrt());
        let binary = source.size(Spread::Fixed(rounded(standard as f64 / ratio)));
        rest.push(
            Job::numbered("fastq2bfq", &name, reading(standard as f64, 6.8e6, source))
                .reads(format!("standard/{name}"))
                .writes(format!("binary/{name}"), binary),
        );
        let map = source.size(Spread::Fixed(rounded(binary as f64 / 0.92)));
        mapped = map.saturating_add(mapped);
        rest.push(
            Job::numbered("map", &name, reading(reference as f64, 369_551.55, source))
                .reads(format!("binary/{name}"))
                .reads_outside("reference", reference)
                .writes(format!("maps/{name}"), map),
        );
    }
    jobs.push(split);
    jobs.append(&mut rest);
    mapped
}

/// Puts files together that are so large.
fn merge(name: String, paths: Vec<String>, bytes: u64, source: &mut Source, path: &str) -> Job {
    let job = Job { name, ..Job::new("mapMerge", reading(bytes as f64, 2.27e6, source)) };
    job.reads_each(paths).writes(path, source.size(Spread::Fixed(rounded(bytes as f64 / 1.06))))
}
