//! Shapes of applications against what was published of them: the files of the Pegasus workflow gallery, and the
//! distributions of the generator that made them.

use std::collections::BTreeMap;

use super::*;
use throng_core::ids::ObjectId;
use throng_core::workflow::{Format, NoFiles, Workflow};

fn flow(shape: &str, tasks: u64, seed: u64) -> Workflow {
    let mut options = Options::default();
    options.seed = seed;
    options.set("tasks", tasks.to_string());
    let mut out = Vec::new();
    Shape::find(shape).unwrap().plan(&options).unwrap().write(Format::Json, &mut out).unwrap();
    Workflow::parse(&String::from_utf8(out).unwrap(), Format::Json, "x", &NoFiles).unwrap()
}

fn edges(flow: &Workflow) -> u64 {
    flow.tasks().map(|task| flow.children(task).len() as u64).sum()
}

/// How many tasks there are at each depth, and how many without children.
fn levels(flow: &Workflow) -> (Vec<u64>, u64) {
    let mut depth = vec![0; flow.task_count()];
    let mut waits = vec![0; flow.task_count()];
    for child in flow.tasks().flat_map(|task| flow.children(task)) {
        waits[child.0 as usize] += 1;
    }
    let mut ready: Vec<_> = flow.tasks().filter(|task| waits[task.0 as usize] == 0).collect();
    let mut widths = Vec::new();
    while let Some(task) = ready.pop() {
        let own = depth[task.0 as usize];
        widths.resize(widths.len().max(own + 1), 0);
        widths[own] += 1;
        for child in flow.children(task) {
            let number = child.0 as usize;
            depth[number] = depth[number].max(own + 1);
            waits[number] -= 1;
            if waits[number] == 0 {
                ready.push(child);
            }
        }
    }
    (widths, flow.tasks().filter(|task| flow.children(*task).len() == 0).count() as u64)
}

/// What somebody wants, and what there is then: tasks, edges, files, levels, the widest, roots and sinks. Files are none
/// where ours differ on purpose.
type Numbers = (&'static str, u64, [u64; 2], Option<usize>, [u64; 4]);

const FILES: [Numbers; 19] = [
    ("montage", 25, [25, 45], None, [9, 9, 5, 1]),
    ("montage", 50, [50, 106], None, [9, 28, 8, 1]),
    ("montage", 100, [100, 233], None, [9, 62, 16, 1]),
    ("montage", 1000, [1000, 2485], None, [9, 662, 166, 1]),
    ("cybershake", 30, [30, 52], Some(49), [4, 14, 2, 2]),
    ("cybershake", 50, [50, 88], Some(84), [4, 23, 4, 2]),
    ("cybershake", 100, [100, 180], Some(169), [4, 46, 8, 2]),
    ("cybershake", 1000, [1000, 1988], Some(1509), [4, 498, 4, 2]),
    ("ligo", 30, [30, 35], Some(47), [6, 7, 7, 1]),
    ("ligo", 50, [50, 60], Some(77), [6, 12, 12, 1]),
    ("ligo", 100, [100, 119], Some(151), [6, 24, 23, 3]),
    ("ligo", 1000, [1000, 1233], None, [6, 251, 229, 20]),
    ("sipht", 30, [29, 33], None, [5, 21, 21, 1]),
    ("sipht", 60, [58, 66], None, [5, 42, 42, 2]),
    ("sipht", 100, [97, 109], None, [5, 73, 73, 3]),
    ("epigenomics", 24, [24, 27], Some(38), [8, 5, 1, 1]),
    ("epigenomics", 46, [47, 54], Some(71), [9, 10, 2, 1]),
    ("epigenomics", 100, [100, 122], Some(152), [8, 24, 1, 1]),
    ("epigenomics", 997, [997, 1234], Some(1491), [9, 245, 7, 1]),
];

#[test]
fn sizes_that_were_published_have_the_published_numbers_whatever_the_seed() {
    for (shape, wanted, numbers, files, structure) in FILES {
        for seed in 1..=3 {
            let flow = flow(shape, wanted, seed);
            assert_eq!([flow.task_count() as u64, edges(&flow)], numbers, "{shape} {wanted}");
            let (widths, sinks) = levels(&flow);
            let widest = widths.iter().max().copied().unwrap();
            assert_eq!([widths.len() as u64, widest, widths[0], sinks], structure, "{shape} {wanted}");
            assert!(
                files.is_none_or(|files| files == flow.object_count()),
                "{shape} {wanted}: {}",
                flow.object_count()
            );
        }
    }
}

#[test]
fn where_files_differ_from_the_published_it_is_by_what_is_said() {
    for (tasks, pairs, published) in [(25, 9, 38), (50, 28, 53), (100, 62, 93), (1000, 662, 843)] {
        // Every mDiffFit has its own two files, instead of two for all.
        assert_eq!(flow("montage", tasks, 1).object_count(), published + 2 * (pairs - 1));
    }
    assert_eq!(flow("ligo", 1000, 1).object_count(), 1501 + 4);
}

/// The types of the instances of a thousand tasks: how many, and their mean time in seconds.
type Types = (&'static str, &'static [(&'static str, usize, f64)]);

const THOUSANDS: [Types; 5] = [
    (
        "montage",
        &[
            ("mProjectPP", 166, 13.59),
            ("mDiffFit", 662, 10.59),
            ("mConcatFit", 1, 52.96),
            ("mBgModel", 1, 86.06),
            ("mBackground", 166, 10.74),
            ("mImgTbl", 1, 61.42),
            ("mAdd", 1, 99.97),
            ("mShrink", 1, 22.25),
            ("mJPEG", 1, 5.755),
        ],
    ),
    (
        "cybershake",
        &[
            ("ExtractSGT", 4, 137.45),
            ("SeismogramSynthesis", 497, 43.4),
            ("PeakValCalcOkaya", 497, 1.09),
            ("ZipSeis", 1, 8.71),
            ("ZipPSA", 1, 6.43),
        ],
    ),
    ("ligo", &[("TmpltBank", 229, 18.14), ("Inspiral", 480, 460.21), ("Thinca", 40, 5.37), ("TrigBank", 251, 5.11)]),
    (
        "sipht",
        &[
            ("Patser", 584, 1.27),
            ("Patser_concate", 32, 0.08),
            ("Findterm", 32, 1349.47),
            ("RNAMotif", 32, 36.42),
            ("Transterm", 32, 55.78),
            ("Blast", 32, 2350.58),
            ("SRNA", 32, 361.33),
            ("FFN_Parse", 32, 1.64),
            ("Blast_candidate", 32, 5.18),
            ("Blast_QRNA", 32, 1412.09),
            ("Blast_synteny", 32, 33.0),
            ("Blast_paralogues", 32, 4.99),
            ("SRNA_annotate", 32, 1.68),
        ],
    ),
    (
        "epigenomics",
        &[
            // Of 35 parts of a lane of 351 MB.
            ("fastqSplit", 7, 45.8),
            ("filterContams", 245, 1.184),
            ("sol2sanger", 245, 0.332),
            ("fastq2bfq", 245, 0.559),
            ("map", 245, 11_622.0),
            ("mapMerge", 8, 25.7),
            ("maqindex", 1, 0.187),
            ("pileup", 1, 4873.0),
        ],
    ),
];

#[test]
fn types_have_their_counts_and_their_mean_times() {
    const SEEDS: u64 = 20;
    for (shape, types) in THOUSANDS {
        let mut found: BTreeMap<String, (usize, f64)> = BTreeMap::new();
        for seed in 1..=SEEDS {
            let flow = flow(shape, 1000, seed);
            for task in flow.tasks() {
                let of_kind = found.entry(flow.kind_name(flow.kind(task)).to_owned()).or_default();
                *of_kind = (of_kind.0 + 1, of_kind.1 + flow.sleep_time(task).unwrap().as_secs_f64());
            }
        }
        assert_eq!(found.len(), types.len(), "{shape}");
        for (kind, count, mean) in types {
            let (tasks, sum) = found[*kind];
            assert_eq!(tasks, count * SEEDS as usize, "{shape}: {kind}");
            // Rates that are drawn make tasks longer by what the mean of an inverse is more than the inverse of the mean.
            let (low, high) = if shape == "epigenomics" { (0.9, 1.25) } else { (0.85, 1.15) };
            let ratio = sum / tasks as f64 / mean;
            assert!((low..high).contains(&ratio), "{shape}: {kind} takes {ratio} of what it should");
            assert!(tasks < 2000 || shape == "epigenomics" || (ratio - 1.0).abs() < 0.03, "{shape}: {kind} {ratio}");
        }
    }
}

#[test]
fn files_have_their_mean_sizes() {
    // By the beginning of paths: how large files are on average, all in one run.
    let cases: [(&str, &[(&str, f64)]); 5] = [
        (
            "montage",
            &[
                ("region.hdr", 304.0),
                ("raw/", 4_222_080.0),
                ("projected/", 4_162_432.0),
                ("corrected/", 4_162_432.0),
                ("fits/", 273.74),
                ("differences/", 284_097.0),
                ("fits.tbl", 209.953 * 662.0),
            ],
        ),
        (
            "cybershake",
            &[
                ("tensors/", 19_958_666_972.0),
                ("variations/", 3_708_598.53),
                ("seismograms/", 24_000.0),
                ("peaks/", 216.0),
            ],
        ),
        (
            "ligo",
            &[
                ("frames/", 15_595_958.08),
                ("injections", 2_421_423.0),
                ("banks/1.", 986_917.26),
                ("banks/2.", 12_779.67),
                ("matches/", 312_935.68),
            ],
        ),
        ("sipht", &[("partners/", 288_565.0)]),
        ("epigenomics", &[("maps/", 975_000.0), ("clean/", 5_014_000.0)]),
    ];
    for (shape, files) in cases {
        let flow = flow(shape, 1000, 1);
        for (begins, mean) in files {
            let of_kind = (0..flow.object_count() as u32)
                .map(ObjectId)
                .filter(|object| flow.object_name(*object).starts_with(begins));
            let sizes: Vec<u64> = of_kind.filter_map(|object| flow.declared_size(object)).collect();
            let found = sizes.iter().sum::<u64>() as f64 / sizes.len() as f64;
            let within = if shape == "epigenomics" { 0.25 } else { 0.06 };
            assert!((found / mean - 1.0).abs() < within, "{shape}: {begins} {found} instead of {mean}");
        }
    }
}

#[test]
fn everybody_reads_what_is_shared() {
    let readers = |shape, path: &str| {
        let flow = flow(shape, 1000, 1);
        let reads = |task: &_| flow.inputs(*task).any(|object| flow.object_name(object) == path);
        flow.tasks().filter(reads).count()
    };
    assert_eq!(readers("montage", "region.hdr"), 166 + 662 + 1);
    assert_eq!(readers("ligo", "injections"), 480);
    assert_eq!(readers("sipht", "partners/0"), 64);
    assert_eq!(readers("epigenomics", "reference"), 245);
    assert_eq!(readers("cybershake", "tensors/0.x"), 1);
}

#[test]
fn any_number_of_tasks_is_met_as_nearly_as_the_generator_does() {
    for seed in 1..=2 {
        for tasks in (30..60).chain([127, 1001]) {
            for (shape, depth) in [("montage", 9), ("cybershake", 4), ("ligo", 6), ("sipht", 5), ("epigenomics", 8)] {
                let flow = flow(shape, tasks, seed);
                let found = flow.task_count() as u64;
                let expected = match shape {
                    "ligo" => tasks / 2 * 2,
                    "sipht" => tasks - (tasks as f64 / 31.0).round() as u64,
                    "epigenomics" if (tasks - 3..=tasks).contains(&found) || tasks == 46 => found,
                    _ => tasks,
                };
                assert_eq!(found, expected, "{shape} {tasks}");
                let (widths, _) = levels(&flow);
                let more = u64::from(shape == "epigenomics" && widths[0] > 1);
                assert_eq!(widths.len() as u64, depth + more, "{shape} {tasks}");
                let of =
                    |kind: &str| flow.tasks().filter(|task| flow.kind_name(flow.kind(*task)) == kind).count() as u64;
                let expected = match shape {
                    "montage" => {
                        let diffs: u64 = flow
                            .tasks()
                            .filter(|task| flow.kind_name(flow.kind(*task)) == "mDiffFit")
                            .map(|task| flow.inputs(task).len() as u64 / 2)
                            .sum();
                        diffs + of("mDiffFit") + 3 * of("mProjectPP") + 4
                    }
                    "cybershake" => 4 * of("SeismogramSynthesis"),
                    "sipht" => of("Patser") + 16 * of("SRNA"),
                    "epigenomics" => 5 * of("map") + 2 + more * of("fastqSplit"),
                    _ => edges(&flow),
                };
                assert_eq!(edges(&flow), expected, "{shape} {tasks}");
            }
        }
    }
}
