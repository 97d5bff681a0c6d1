//! All-pairs (figures 6, 7 and 8): every file of one set is compared with every file of another. Few files, many tasks: who keeps tasks near
//! their files, and who helps in the end?

use throng_sim::{Cluster, Inputs, Later, Outcome};

use super::super::chart::{Chart, Line};
use super::super::runner::Recipe;
use super::super::section::{Section, Table};
use super::{Case, OWN, Results, Setting, cluster, curve, hits, known_shape, makespan, percent, policy, seconds};

/// Cores in all.
const MOST: u32 = 200;
/// Pairs that read from the shared file system: each waits for it equally, so that these tell enough.
const UNCACHED_SIDE: u64 = 60;

/// Policies that are compared, as people call them and as they are written; Throng's own stands last, since it is not in the paper.
const POLICIES: [(&str, &str); 6] = [
    ("MLB", "mlb"),
    ("MDL", "mdl"),
    ("FLDS, tt from 80 %", EARLY),
    ("FLDS throughout", LATE),
    ("adaptive", "adaptive:t=0.5,tt=20s"),
    OWN,
];
/// How the published policy begins: local queues of any length.
const EARLY: &str = "rlds:t=0.5";
/// And how it goes on when 80 % are done.
const LATE: &str = "flds:t=0.5,tt=20s";
/// The policy of the publication, by its name in [`POLICIES`], and as it is written.
const PUBLISHED_POLICY: &str = POLICIES[2].0;
const PUBLISHED_PLACE: &str = POLICIES[2].1;

fn side(setting: &Setting) -> u64 {
    if setting.quick { 120 } else { 500 }
}

fn scales(setting: &Setting) -> &'static [u32] {
    if setting.quick { &[2, 32, 200] } else { &[1, 2, 8, 32, 64, 128, 200] }
}

/// Pairs whose files nobody else reads: the second of each, or both. Nothing of such a file can be found in a cache.
fn apart(side: u64, both: bool) -> Recipe {
    let first = if both { "a/{a}.{b}" } else { "a/{a}" };
    let text = format!(
        "name: all-pairs without caching
tasks:
  compare:
    foreach: {{ a: 1..{side}, b: 1..{side} }}
    sleep: 100ms
    estimate: {{ time: 100ms }}
    in: [{{ path: '{first}', size: 12MB }}, {{ path: 'b/{{b}}.{{a}}', size: 12MB }}]
    out: [{{ path: 'out/{{a}}.{{b}}', size: 1kB, optional: true }}]
"
    );
    Recipe::Text(text, side * side)
}

fn pairs(setting: &Setting) -> Recipe {
    let side = side(setting).to_string();
    known_shape(setting, "all-pairs", &[("a", side.clone()), ("b", side)])
}

fn placed(setting: &Setting, cores: u32, place: &str) -> Cluster {
    let later = (place == EARLY).then(|| Later { share_done: 0.8, place: policy(LATE) });
    Cluster { later, ..cluster(setting, cores, place) }
}

fn label(name: &str, cores: u32) -> String {
    format!("{name}, {cores} cores")
}

const DIFFUSION: &str = "data diffusion";
const ACTIVE: &str = "active storage";
const FILE_SYSTEM: &str = "parallel file system";
const UNCACHED: &str = "FLDS without caching";
const SHUFFLED: &str = "FLDS, tt from 80 %, random order";

pub(super) fn cases(setting: &Setting) -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |label: String, recipe: Recipe, cluster: Cluster| {
        let wants_curve = cluster.nodes * cluster.cores == MOST;
        cases.push(Case { label, recipe, cluster, wants_curve });
    };
    for cores in scales(setting) {
        for (name, place) in POLICIES {
            // A single core is a cluster without neighbours: all policies are one.
            add(label(name, *cores), pairs(setting), placed(setting, *cores, place));
        }
    }
    let shuffled = Cluster { order: policy("random"), ..placed(setting, MOST, EARLY) };
    add(SHUFFLED.to_owned(), pairs(setting), shuffled);
    let central = Cluster { inputs: Inputs::Shared, ..placed(setting, MOST, "central") };
    add(DIFFUSION.to_owned(), pairs(setting), central);
    let cache_bytes = 1 << 40;
    let active = Cluster { inputs: Inputs::Everywhere, cache_bytes, ..placed(setting, MOST, LATE) };
    add(ACTIVE.to_owned(), pairs(setting), active);
    let shared = Cluster { inputs: Inputs::Shared, ..placed(setting, MOST, "mlb") };
    add(FILE_SYSTEM.to_owned(), apart(UNCACHED_SIDE, true), shared);
    // The copies have to lie somewhere, and are more than any node's memory holds.
    let uncached = Cluster { cache_bytes, ..placed(setting, MOST, EARLY) };
    add(UNCACHED.to_owned(), apart(side(setting), false), uncached);
    cases
}

pub(super) fn tell(setting: &Setting, results: &Results) -> Section {
    let side = side(setting);
    Section {
        title: "All-pairs",
        about: format!(
            "{side} × {side} pairs of files of 12 MB, 100 ms each; the published workload is 500 × 500. FLDS begins without a limit for local queues and \
             gets one of 20 s (tt) when 80 % of the tasks are done, as published. Efficiency is the work divided by what all cores \
             could have done in the time."
        ),
        tables: vec![systems(results), policies(setting, results)],
        charts: charts(setting, results),
        assumptions: assumptions(setting),
        differences: differences(setting),
    }
}

fn assumptions(setting: &Setting) -> Vec<String> {
    let staged = cluster(setting, MOST, PUBLISHED_PLACE).staged_per_core;
    vec![
        "A network of 1 Gbit/s: a file takes 96 ms alone, as long as a task. The paper does not name the rate.".to_owned(),
        "The shared file system delivers 1 GB/s in all, which is a lower rate than 100 nodes could take in.".to_owned(),
        "Files are dealt out to the nodes in the order of their numbers; in which order tasks are submitted is not published: here row by row, to each node a \
         run of neighbours. Nodes know that tasks take 100 ms."
            .to_owned(),
        "Not to cache is modelled as a copy of its second file for each pair (of both, for the parallel file system), so that nothing can be found again. \
         The parallel file system gets 3,600 pairs: its rate does not change with their number."
            .to_owned(),
        format!("A core need not stand still for a transfer: for each core, up to {staged} tasks have their data fetched while others run."),
    ]
}

fn differences(setting: &Setting) -> Vec<String> {
    let mut differences = vec![
        "FLDS comes out higher than published, since a cluster on paper decides and makes processes in no time. A limit for local queues from the beginning is a little \
         better than one that is set late; published is only the latter.",
        "All nodes follow one order, and want the same file at the same time from the one node that holds it. Whoever has got it passes it on, so that an order of its \
         own for each node makes little difference.",
        "Without caching, the network sets the limit: a file takes 96 ms, and two cores need one every 50 ms, which makes 52 %.",
        "On a single node of the published size, 1000 files of 12 MB are more than its 8 GB of memory. What lies there from the beginning takes no part of that here.",
        "Data diffusion reads every file at least once for each node that needs it through one file system; that, and not its single scheduler, limits it here.",
        "Active storage costs nothing here but messages, hence nearly 100 %; the published 91 % include the making of processes.",
    ];
    if setting.quick {
        differences = vec![
            "So few pairs are too few for 200 cores: a node has hardly more than one for each file that it has to fetch, so that at 200 cores the network limits all policies, \
             and they do not stand in the order of the full version.",
        ];
    }
    differences.into_iter().map(str::to_owned).collect()
}

fn systems(results: &Results) -> Table {
    let head = [
        "",
        "published efficiency",
        "efficiency",
        "published at hand",
        "inputs at hand",
        "makespan",
        "of lower bound",
        "of analytic",
    ];
    let mut table = Table::new("Efficiency at 200 cores, and how many inputs were at hand", &head);
    let (daws, own) = (label(PUBLISHED_POLICY, MOST), label(OWN.0, MOST));
    for (name, published, published_hits, run) in [
        ("MATRIX: FLDS, tt from 80 %", "85.9 %", "> 80 %", daws.as_str()),
        ("the same, each node in an order of its own", "-", "-", SHUFFLED),
        ("MATRIX without caching", "< 50 %", "-", UNCACHED),
        ("data diffusion: central, shared file system", "75 %", "-", DIFFUSION),
        ("active storage: all files everywhere", "91 %", "-", ACTIVE),
        ("parallel file system, nothing kept", "< 20 %", "-", FILE_SYSTEM),
        (OWN.0, "-", "-", own.as_str()),
    ] {
        let runs = results.get(run);
        table.rows.push(vec![
            name.to_owned(),
            published.to_owned(),
            runs.figure(Outcome::efficiency).words(percent),
            published_hits.to_owned(),
            runs.figure(hits).words(percent),
            runs.figure(makespan).words(seconds),
            runs.figure(Outcome::of_bound).words(percent),
            runs.figure(Outcome::of_analytic).words(percent),
        ]);
    }
    table
}

fn policies(setting: &Setting, results: &Results) -> Table {
    let mut head = vec!["cores"];
    head.extend(POLICIES.iter().map(|(name, _)| *name));
    let mut table =
        Table::new("Efficiency by policy; published are only curves: FLDS best, then MDL, MLB worst", &head);
    for cores in scales(setting) {
        let efficiency =
            |(name, _): &(&str, &str)| results.get(&label(name, *cores)).figure(Outcome::efficiency).words(percent);
        let figures = POLICIES.iter().map(efficiency);
        table.rows.push(std::iter::once(cores.to_string()).chain(figures).collect());
    }
    table
}

fn charts(setting: &Setting, results: &Results) -> Vec<Chart> {
    let of_policy = |(name, _): &(&str, &str)| {
        let point =
            |cores: &u32| (f64::from(*cores), results.get(&label(name, *cores)).mean(Outcome::efficiency) * 100.0);
        Line::ours(*name, scales(setting).iter().map(point).collect())
    };
    let mut lines: Vec<Line> = POLICIES.iter().map(of_policy).collect();
    lines.push(Line::published("published, FLDS at 200 cores", vec![(190.0, 85.9), (200.0, 85.9)]));
    let busy = POLICIES.iter().map(|(name, _)| Line::ours(*name, curve(results.get(&label(name, MOST)).first())));
    vec![
        Chart {
            title: "Efficiency by policy".to_owned(),
            across: "cores",
            upwards: "percent",
            is_logarithmic: true,
            is_steep: false,
            lines,
        },
        Chart {
            title: "Busy cores, 200 cores".to_owned(),
            across: "seconds",
            upwards: "percent",
            is_logarithmic: false,
            is_steep: false,
            lines: busy.collect(),
        },
    ]
}
