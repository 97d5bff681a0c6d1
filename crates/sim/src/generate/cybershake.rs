//! CyberShake: how hard the ground may shake at a site. Tensors of the whole region are cut down to those of a rupture,
//! seismograms are made of them for every variation of it, and the strongest shaking is read from each.
//!
//! ```text
//!   ExtractSGT ─▶ SeismogramSynthesis ─┬─▶ PeakValCalcOkaya ─▶ ZipPSA
//!                                      └─▶ ZipSeis
//! ```
//!
//! Counts, edges, distributions and sizes are those of the Pegasus workflow generator. Two tensors of 20 GB for each
//! ExtractSGT are nearly all of its data. The published files have no inputs for the two tasks that zip; here they read what
//! they gather, which makes the same edges.

use super::job::{JOBS_LIMIT, Job};
use super::options::{Options, Wrong};
use super::source::Source;
use super::spread::{Spread, rounded};
use super::{Make, PEGASUS_TIMES, Shape, parameter};

pub(super) const SHAPE: Shape = Shape {
    name: "cybershake",
    summary: "seismograms of many ruptures, from tensors of 20 GB",
    origin: "numbers of tasks, edges and files, times and sizes are those of the Pegasus workflow generator; for 30, 50, 100 and 1000 \
             tasks, as many roots as in the published files, else drawn, as there. That tasks that zip read what they gather is ours",
    takes: &[parameter("tasks", "1000"), PEGASUS_TIMES[0], PEGASUS_TIMES[1]],
    make: Make::Jobs(jobs),
};

/// Below this, an ExtractSGT might have no seismogram.
const LEAST: u64 = 10;
/// Numbers of tasks for which files were published, and how many ExtractSGT these have.
const PUBLISHED: [(u64, u64); 4] = [(30, 2), (50, 4), (100, 8), (1000, 4)];
const SEISMOGRAM_BYTES: u64 = 24_000;
const PEAKS_BYTES: u64 = 216;
/// What zipping leaves of the bytes, and how fast the two tasks write, in bytes per second.
const ZIPPED: f64 = 1.0 / 6.0;
const SEISMOGRAMS_RATE: f64 = 228_180.52;
const PEAKS_RATE: f64 = 2782.0;

/// How many ExtractSGT and how many seismograms there are.
fn counts(tasks: u64, source: &mut Source) -> (u64, u64) {
    let rest = tasks - 2;
    let known = PUBLISHED.iter().find(|(known, _)| *known == tasks).map(|(_, extracts)| *extracts);
    let extracts = known.unwrap_or_else(|| {
        let usual = (0.0081 * rest as f64).floor();
        let extracts = source.choose((0.5 * usual) as u64, (1.5 * usual) as u64).max(2);
        extracts - (rest - extracts) % 2
    });
    (extracts, (rest - extracts) / 2)
}

fn jobs(options: &Options, source: &mut Source) -> Result<Vec<Job>, Wrong> {
    let tasks = options.count("tasks", LEAST, JOBS_LIMIT)?;
    let (extracts, seismograms) = counts(tasks, source);
    let shares = source.shared_out(seismograms, extracts, 0.25);
    let mut jobs = Vec::with_capacity(tasks as usize);
    let mut peaks = Vec::new();
    let mut last = 0;
    for (extract, share) in shares.into_iter().enumerate() {
        let own: Vec<(u64, u64)> = (last..last + share)
            .map(|number| (number, source.size_outside(Spread::bytes(3_708_598.53, 1.0e13, 1.0))))
            .collect();
        last += share;
        let mut job = Job::numbered("ExtractSGT", extract, source.time(Spread::seconds(137.45, 42_681.27, 1.0)));
        for axis in ["x", "y"] {
            let tensor = source.size_outside(Spread::bytes(19_958_666_972.0, 9.4e16, 1.0));
            job = job.reads_outside(format!("tensors/{extract}.{axis}"), tensor);
        }
        if let Some((number, size)) = own.last() {
            job = job.reads_outside(format!("variations/{number}"), *size);
        }
        for axis in ["x", "y"] {
            let part = source.size(Spread::bytes(231_720_131.58, 2.7e16, 1.0));
            job = job.writes(format!("parts/{extract}.{axis}"), part);
        }
        jobs.push(job);
        for (number, size) in own {
            let time = source.time(Spread::seconds(43.4, 984.36, 1.0));
            jobs.push(
                Job::numbered("SeismogramSynthesis", number, time)
                    .reads(format!("parts/{extract}.x"))
                    .reads(format!("parts/{extract}.y"))
                    .reads_outside(format!("variations/{number}"), size)
                    .writes(format!("seismograms/{number}"), source.size(Spread::Fixed(SEISMOGRAM_BYTES))),
            );
            let time = source.time(Spread::seconds(1.09, 3.71, 1.0));
            peaks.push(
                Job::numbered("PeakValCalcOkaya", number, time)
                    .reads(format!("seismograms/{number}"))
                    .writes(format!("peaks/{number}"), source.size(Spread::Fixed(PEAKS_BYTES))),
            );
        }
    }
    jobs.append(&mut peaks);
    for (kind, folder, bytes, rate) in
        [("ZipSeis", "seismograms", SEISMOGRAM_BYTES, SEISMOGRAMS_RATE), ("ZipPSA", "peaks", PEAKS_BYTES, PEAKS_RATE)]
    {
        let zipped = source.size(Spread::within(0.25, (seismograms * bytes) as f64 * ZIPPED));
        jobs.push(
            Job::new(kind, source.time(Spread::Fixed(rounded(zipped as f64 / rate * 1e9))))
                .reads_each((0..seismograms).map(|number| format!("{folder}/{number}")))
                .writes(format!("{folder}.zip"), zipped),
        );
    }
    Ok(jobs)
}
