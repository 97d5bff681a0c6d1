//! Montage: pictures of the sky are brought into one projection, made equally bright where they overlap, and laid side
//! by side.
//!
//! ```text
//!   mProjectPP ─┬─▶ mDiffFit ─▶ mConcatFit ─▶ mBgModel ─▶ mBackground ─▶ mImgTbl ─▶ mAdd ─▶ mShrink ─▶ mJPEG
//!               └─────────────────────────────────────────────▲
//! ```
//!
//! Counts, edges, distributions and sizes are those of the Pegasus workflow generator (Bharathi and others, 2008), whose
//! runs were on hardware of its time. As there, two pictures that overlap are drawn at random, and may be the same
//! one. Reconstructed: a corrected picture is as large as the projected one; every mDiffFit writes files of its own, and
//! mConcatFit reads all fits, where the published files have one name for all of them. As published, mAdd has only the
//! table of pictures among its inputs.

use super::job::{JOBS_LIMIT, Job};
use super::options::{Options, Wrong};
use super::source::Source;
use super::spread::{Spread, rounded};
use super::{Make, PEGASUS_TIMES, Shape, parameter};

pub(super) const SHAPE: Shape = Shape {
    name: "montage",
    summary: "pictures of the sky, made into one",
    origin: "numbers of tasks and edges, times and sizes are those of the Pegasus workflow generator; for 25, 50, 100 and 1000 tasks, as \
             many edges as in the published files. Which pictures overlap is drawn, as there. That a corrected picture is as large \
             as the projected one, and that every mDiffFit has files of its own, is ours",
    takes: &[parameter("tasks", "1000"), PEGASUS_TIMES[0], PEGASUS_TIMES[1]],
    make: Make::Jobs(jobs),
};

/// Below this, there are not enough pairs of pictures.
const LEAST: u64 = 15;
/// Numbers of tasks for which files were published, and in how many mDiffFit a picture overlaps with itself there.
const PUBLISHED: [(u64, u64); 4] = [(25, 1), (50, 6), (100, 5), (1000, 3)];
/// A square degree of sky has about so many pictures.
const PICTURES_PER_DEGREE: f64 = 50.0;
const HEADER_BYTES: u64 = 304;
const RAW_BYTES: u64 = 4_222_080;
const MOSAIC_BYTES: f64 = 173_465_280.0;

/// How many pictures there are, and how many pairs of them that overlap.
fn counts(tasks: u64) -> (u64, u64) {
    // Six tasks are there once, and for each picture there are two.
    let rest = tasks - 6;
    let enough = |pictures: &u64| pictures * (pictures - 1) / 2 + 2 * pictures >= rest;
    let pictures = (((rest as f64) / 6.0).round() as u64..).find(enough).expect("pairs grow faster than tasks");
    (pictures, rest - 2 * pictures)
}

/// The pictures of each mDiffFit.
fn overlaps(tasks: u64, pictures: u64, pairs: u64, source: &mut Source) -> Vec<[u64; 2]> {
    let Some((_, with_itself)) = PUBLISHED.iter().find(|(known, _)| *known == tasks) else {
        return (0..pairs).map(|_| [(); 2].map(|()| source.choose(0, pictures))).collect();
    };
    let alone = source.different(*with_itself, pairs);
    let pair = |number| {
        let first = source.choose(0, pictures);
        let step = if alone.contains(&number) { 0 } else { source.choose(1, pictures) };
        [first, (first + step) % pictures]
    };
    (0..pairs).map(pair).collect()
}

fn jobs(options: &Options, source: &mut Source) -> Result<Vec<Job>, Wrong> {
    let tasks = options.count("tasks", LEAST, JOBS_LIMIT)?;
    let (pictures, pairs) = counts(tasks);
    let degree = (pictures as f64 / PICTURES_PER_DEGREE).sqrt();
    let (for_pairs, for_pictures) = (pairs as f64, pictures as f64);
    let fixed = |bytes: f64| Spread::Fixed(rounded(bytes));
    let mut jobs = Vec::with_capacity(tasks as usize);

    let mut projected = Vec::new();
    for number in 0..pictures {
        let size = source.size(Spread::bytes(4_162_432.0, 1.14e8, 1.0));
        projected.push(size);
        jobs.push(
            Job::numbered("mProjectPP", number, source.time(Spread::seconds(13.59, 0.06, 1.0)))
                .reads_outside("region.hdr", HEADER_BYTES)
                .reads_outside(format!("raw/{number}.fits"), RAW_BYTES)
                .writes(format!("projected/{number}.fits"), size)
                .writes(format!("projected/{number}.area"), size),
        );
    }
    for (number, [one, other]) in overlaps(tasks, pictures, pairs, source).into_iter().enumerate() {
        let mut job = Job::numbered("mDiffFit", number, source.time(Spread::seconds(10.59, 0.01, 1.0)))
            .reads_outside("region.hdr", HEADER_BYTES);
        for picture in [Some(one), (other != one).then_some(other)].into_iter().flatten() {
            job = job.reads(format!("projected/{picture}.fits")).reads(format!("projected/{picture}.area"));
        }
        let (fit, difference) = (Spread::bytes(273.74, 98.96, 1.0), Spread::bytes(284_097.0, 2.18e10, 1.0));
        jobs.push(
            job.writes(format!("fits/{number}.txt"), source.size(fit))
                .writes(format!("differences/{number}.fits"), source.size(difference)),
        );
    }
    jobs.push(
        Job::new("mConcatFit", source.time(Spread::seconds(0.08, 0.0, for_pairs)))
            .reads_outside("fits_list.tbl", rounded(27.2617 * for_pairs))
            .reads_each((0..pairs).map(|number| format!("fits/{number}.txt")))
            .writes("fits.tbl", source.size(fixed(209.953 * for_pairs))),
    );
    jobs.push(
        Job::new("mBgModel", source.time(Spread::seconds(0.13, 0.01, for_pairs)))
            .reads("fits.tbl")
            .reads_outside("pimages.tbl", rounded(167.556 * for_pictures))
            .writes("corrections.tbl", source.size(fixed(53.1778 * for_pictures))),
    );
    for (number, size) in (0..pictures).zip(projected) {
        jobs.push(
            Job::numbered("mBackground", number, source.time(Spread::seconds(10.74, 0.03, 1.0)))
                .reads(format!("projected/{number}.fits"))
                .reads(format!("projected/{number}.area"))
                .reads("corrections.tbl")
                .writes(format!("corrected/{number}.fits"), size)
                .writes(format!("corrected/{number}.area"), size),
        );
    }
    let corrected = |number| ["fits", "area"].map(|ending| format!("corrected/{number}.{ending}"));
    jobs.push(
        Job::new("mImgTbl", source.time(Spread::seconds(0.37, 0.01, for_pictures)))
            .reads_outside("cimages.tbl", rounded(167.556 * for_pictures))
            .reads_each((0..pictures).flat_map(corrected))
            .writes("newcimages.tbl", source.size(Spread::bytes(352.24, 2309.84, for_pictures))),
    );
    let mosaic = source.size(Spread::within(0.1, MOSAIC_BYTES * degree));
    jobs.push(
        Job::new("mAdd", source.time(Spread::seconds(30.11, 0.05, degree * degree)))
            .reads("newcimages.tbl")
            .reads_outside("region.hdr", HEADER_BYTES)
            .writes("mosaic.fits", mosaic)
            .writes("mosaic.area", mosaic),
    );
    let shrunken = source.size(fixed(mosaic as f64 / 24.99));
    jobs.push(
        Job::new("mShrink", source.time(Spread::seconds(12.21, 0.0, degree)))
            .reads("mosaic.fits")
            .reads("mosaic.area")
            .writes("shrunken.fits", shrunken),
    );
    let picture = source.size(Spread::within(0.25, shrunken as f64 / 4.0));
    let rate = source.rate(549_291.0, 3.9e9_f64.sqrt());
    let job = Job::new("mJPEG", source.time(Spread::Fixed(rounded(picture as f64 / rate * 1e9))));
    jobs.push(job.reads("shrunken.fits").writes("mosaic.jpg", picture));
    Ok(jobs)
}
