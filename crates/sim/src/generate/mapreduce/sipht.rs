//! SIPHT as the thesis has it: one genome with 18 patser jobs, and `last-transfer`, which the Pegasus workflow generator never makes.
//!
//! ```text
//!   patser-1 … patser-18 ─▶ patser-concat ────────────────────────────────────────────────────┐
//!   transterm, findterm, rna-motif, blast ─▶ srna ─┬─▶ blast-candidate, -qrna, -paralogues ─▶ srna-annotate ─▶ last-transfer
//!                                                  ├─▶ ffn-parse ─▶ blast-synteny ────────────┤
//!                                                  └──────────────────────────────────────────┘
//! ```

use super::Job;

const PATSERS: u64 = 18;
/// Patser jobs have an input of their own.
const PATSER_INPUT: &str = "input/patser";

/// All other jobs: name, map tasks, seconds of its type, and what it depends on. Hadoop was asked for 2 map tasks of `blast-synteny` and 6 of
/// `srna-annotate`, and made more. The generator has no time for `last-transfer`: it is as short as can be.
const OTHERS: [(&str, u64, f64, &[&str]); 12] = [
    ("transterm", 2, 55.78, &[]),
    ("findterm", 2, 1349.47, &[]),
    ("rna-motif", 2, 36.42, &[]),
    ("blast", 2, 2350.58, &[]),
    ("srna", 4, 361.33, &["transterm", "findterm", "rna-motif", "blast"]),
    ("ffn-parse", 1, 1.64, &["srna"]),
    ("blast-synteny", 3, 33.0, &["srna", "ffn-parse"]),
    ("blast-candidate", 1, 5.18, &["srna"]),
    ("blast-qrna", 1, 1412.09, &["srna"]),
    ("blast-paralogues", 1, 4.99, &["srna"]),
    (
        "srna-annotate",
        9,
        1.68,
        &["srna", "patser-concat", "blast-synteny", "blast-candidate", "blast-qrna", "blast-paralogues"],
    ),
    ("last-transfer", 1, 0.0, &["srna-annotate"]),
];

pub(super) fn jobs() -> Vec<Job> {
    let patser = |number: u64| format!("patser-{number}");
    let mut jobs: Vec<Job> =
        (1..=PATSERS).map(|number| Job { input: PATSER_INPUT, ..Job::new(patser(number), 3, 1.27) }).collect();
    jobs.push(Job::new("patser-concat", 18, 0.08).after((1..=PATSERS).map(patser)));
    jobs.extend(
        OTHERS.iter().map(|(name, maps, seconds, after)| Job::new(*name, *maps, *seconds).after(after.iter().copied())),
    );
    jobs
}
