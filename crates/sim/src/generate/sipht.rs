//! SIPHT: the search for small RNAs in the genomes of bacteria. Each genome is a graph of its own; what they have in
//! common is about 900 genomes of partners, against which each of them is compared twice.
//!
//! ```text
//!   Findterm, RNAMotif, Transterm, Blast ─▶ SRNA ─┬─▶ Blast_candidate, Blast_QRNA, Blast_paralogues ─┬─▶ SRNA_annotate
//!                                                 ├─▶ FFN_Parse ─▶ Blast_synteny ──────────────────┤
//!   Patser ─▶ Patser_concate ─────────────────────┴──────────────────────────────────────────────────┘
//! ```
//!
//! Counts, edges and times are those of the Pegasus workflow generator, which makes a thirty-first fewer tasks than are
//! wanted; so does this. So are how many partners a genome has and how large they are, how many files each type reads
//! and writes, and how large these are together. Reconstructed: which files these are, one size for all that a task
//! writes, and that files other than the genome's own are the same for all.

use super::job::{JOBS_LIMIT, Job};
use super::options::{Options, Wrong};
use super::source::Source;
use super::spread::Spread;
use super::{Make, PEGASUS_TIMES, Shape, parameter};

pub(super) const SHAPE: Shape = Shape {
    name: "sipht",
    summary: "the search for small RNAs in genomes, each compared with 900 others",
    origin: "numbers of tasks and edges, times, and the numbers of files and bytes by type are those of the Pegasus workflow \
             generator, which makes 968 tasks if 1000 are wanted. Which files these are, and which are shared, is reconstructed but \
             for the 900 partners",
    takes: &[parameter("tasks", "1000"), PEGASUS_TIMES[0], PEGASUS_TIMES[1]],
    make: Make::Jobs(jobs),
};

/// The generator makes no smaller ones.
const LEAST: u64 = 30;
/// A genome stands for so many tasks, of which so many are not Patsers; one of these is never made.
const PER_GENOME: f64 = 31.0;
const OTHERS: u64 = 13;
/// How many partners a genome has, the last number excluded.
const PARTNERS: (u64, u64) = (842, 936);

/// Files of a genome from outside, with their sizes.
const SEQUENCE: (&str, u64) = ("sequence", 5_300_000);
const PROTEINS: (&str, u64) = ("proteins", 650_000);
const COORDINATES: (&str, u64) = ("coordinates", 400_000);
const BETWEEN_GENES: (&str, u64) = ("between-genes", 2_200_000);
const ANNOTATED: (&str, u64) = ("annotated", 10_950_000);
const GENES: (&str, u64) = ("genes", 4_200_000);

/// A type of task of which a genome has one.
struct Type {
    kind: &'static str,
    /// Mean and variance in seconds.
    time: (f64, f64),
    /// Files of the genome.
    own: &'static [(&'static str, u64)],
    /// Files from outside that are the same for all genomes: how many, and how large each.
    common: (u64, u64),
    /// Whether it reads the partners.
    partners: bool,
    /// Whose outputs it reads, from which of them on, and how many.
    from: &'static [(&'static str, u64, u64)],
    /// How many files it writes, and how large each.
    writes: (u64, u64),
}

const TYPES: [Type; 11] = [
    Type {
        kind: "Findterm",
        time: (1349.47, 635_206.0),
        own: &[SEQUENCE, PROTEINS],
        common: (0, 0),
        partners: false,
        from: &[],
        writes: (8, 4_175_000),
    },
    Type {
        kind: "RNAMotif",
        time: (36.42, 78.15),
        own: &[SEQUENCE],
        common: (1, 80_000),
        partners: false,
        from: &[],
        writes: (2, 535_000),
    },
    Type {
        kind: "Transterm",
        time: (55.78, 2356.0),
        own: &[SEQUENCE, COORDINATES],
        common: (1, 50_000),
        partners: false,
        from: &[],
        writes: (2, 217_000),
    },
    Type {
        kind: "Blast",
        time: (2350.58, 1_033_835.0),
        own: &[BETWEEN_GENES],
        common: (0, 0),
        partners: true,
        from: &[],
        writes: (3, 1_750_000),
    },
    Type {
        kind: "SRNA",
        time: (361.33, 117_451.0),
        own: &[SEQUENCE, PROTEINS, COORDINATES, BETWEEN_GENES, ANNOTATED],
        common: (0, 0),
        partners: false,
        from: &[("Findterm", 0, 8), ("RNAMotif", 0, 2), ("Transterm", 0, 2), ("Blast", 0, 3)],
        writes: (14, 493_000),
    },
    Type {
        kind: "FFN_Parse",
        time: (1.64, 0.06),
        own: &[GENES],
        common: (1, 57_000),
        partners: false,
        from: &[("SRNA", 0, 1)],
        writes: (1, 749_000),
    },
    Type {
        kind: "Blast_candidate",
        time: (5.18, 0.99),
        own: &[],
        common: (3, 151_000),
        partners: false,
        from: &[("SRNA", 1, 2)],
        writes: (3, 5_500),
    },
    Type {
        kind: "Blast_QRNA",
        time: (1412.09, 9702.0),
        own: &[],
        common: (0, 0),
        partners: true,
        from: &[("SRNA", 3, 1)],
        writes: (8, 455_000),
    },
    Type {
        kind: "Blast_synteny",
        time: (33.0, 0.0),
        own: &[],
        common: (3, 565_000),
        partners: false,
        from: &[("SRNA", 4, 2), ("FFN_Parse", 0, 1)],
        writes: (1, 900_000),
    },
    Type {
        kind: "Blast_paralogues",
        time: (4.99, 1.32),
        own: &[],
        common: (2, 137_000),
        partners: false,
        from: &[("SRNA", 6, 2)],
        writes: (1, 799_000),
    },
    Type {
        kind: "SRNA_annotate",
        time: (1.68, 0.92),
        own: &[],
        common: (3, 10_000),
        partners: false,
        from: &[
            ("Patser_concate", 0, 1),
            ("Blast_candidate", 0, 3),
            ("Blast_QRNA", 0, 1),
            ("Blast_synteny", 0, 1),
            ("Blast_paralogues", 0, 1),
            ("SRNA", 8, 1),
        ],
        writes: (7, 196_000),
    },
];

/// What a Patser reads beside the sequence: a matrix of its own, and two files that are the same for all.
const MATRIX_BYTES: u64 = 100_000;
const PATSER_COMMON: [(&str, u64); 2] = [("common/Patser.0", 30_000), ("common/Patser.1", 100_000)];
const PATSER_BYTES: u64 = 90_800;

fn jobs(options: &Options, source: &mut Source) -> Result<Vec<Job>, Wrong> {
    let tasks = options.count("tasks", LEAST, JOBS_LIMIT)?;
    let genomes = (tasks as f64 / PER_GENOME).round() as u64;
    let patsers = source.shared_out(tasks - OTHERS * genomes, genomes, 0.2);
    let partners: Vec<u64> =
        (0..PARTNERS.1).map(|_| source.size_outside(Spread::bytes(288_565.0, 1.1e11, 1.0))).collect();
    let mut jobs = Vec::with_capacity(tasks as usize);
    for (genome, patsers) in patsers.into_iter().enumerate() {
        let own = |name: &str| format!("genomes/{genome}/{name}");
        let made = |kind: &str, number: u64| format!("made/{genome}/{kind}.{number}");
        for number in 0..patsers {
            let time = source.time(Spread::seconds(1.27, 0.11, 1.0));
            let job = Job::numbered("Patser", format!("{genome}.{number}"), time)
                .reads_outside(own(SEQUENCE.0), SEQUENCE.1)
                .reads_outside(format!("matrices/{number}"), MATRIX_BYTES);
            let job = PATSER_COMMON.iter().fold(job, |job, (path, size)| job.reads_outside(*path, *size));
            jobs.push(job.writes(made("Patser", number), source.size(Spread::Fixed(PATSER_BYTES))));
        }
        let time = source.time(Spread::seconds(0.08, 0.01, 1.0));
        jobs.push(
            Job::numbered("Patser_concate", genome, time)
                .reads_each((0..patsers).map(|number| made("Patser", number)))
                .writes(made("Patser_concate", 0), source.size(Spread::Fixed(PATSER_BYTES * patsers))),
        );
        let compared = source.choose(PARTNERS.0, PARTNERS.1) as usize;
        for Type { kind, time, own: files, common, partners: compares, from, writes } in &TYPES {
            let mut job = Job::numbered(kind, genome, source.time(Spread::seconds(time.0, time.1, 1.0)));
            for (name, size) in *files {
                job = job.reads_outside(own(name), *size);
            }
            for number in 0..common.0 {
                job = job.reads_outside(format!("common/{kind}.{number}"), common.1);
            }
            for (number, size) in partners[..if *compares { compared } else { 0 }].iter().enumerate() {
                job = job.reads_outside(format!("partners/{number}"), *size);
            }
            for (of, first, count) in *from {
                job = job.reads_each((*first..first + count).map(|number| made(of, number)));
            }
            for number in 0..writes.0 {
                job = job.writes(made(kind, number), source.size(Spread::Fixed(writes.1)));
            }
            jobs.push(job);
        }
    }
    Ok(jobs)
}
