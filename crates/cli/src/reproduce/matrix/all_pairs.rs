//! All-pairs (figures 6, 7 and 8): every file of one set is compared with every file of another. Few files, many tasks: who keeps tasks near
//! their files, and who helps in the end?

use throng_sim::{Cluster, Inputs, Later, Outcome};

use super::super::chart::{Chart, Line};
use super::super::runner::{Case, Recipe, Results};
use super::super::section::{Section, Table};
use super::{Setting, cell, cluster, curve, hits, known_shape, percent, policy};

/// Cores in all.
const MOST: u32 = 200;
/// Pairs that read from the shared file system: each waits for it equally, so that these tell enough.
const UNCACHED_SIDE: u64 = 60;

/// Policies that are compared, as people call them and as they are written.
const POLICIES: [(&str, &str); 5] = [
    ("MLB", "mlb"),
    ("MDL", "mdl"),
    ("FLDS, tt from 80 %", EARLY),
    ("FLDS throughout", LATE),
    ("adaptive", "adaptive:t=0.5,tt=20s"),
];
/// How the published policy begins: local queues of any length.
const EARLY: &str = "rlds:t=0.5";
/// And how it goes on when 80 % are done.
const LATE: &str = "flds:t=0.5,tt=20s";
/// The policy of the publication, by its name in [`POLICIES`].
const PUBLISHED_POLICY: &str = POLICIES[2].0;

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
        assumptions: [
            "A network of 1 Gbit/s: a file takes 96 ms alone, as long as a task. The paper does not name the rate.",
            "The shared file system delivers 1 GB/s in all, which is a lower rate than 100 nodes could take in.",
            "Files lie evenly over the nodes, in the order of their numbers; in which order tasks are submitted is not published: here row \
             by row, to all nodes in turn. Nodes know that tasks take 100 ms.",
            "Not to cache is modelled as a copy of its second file for each pair (of both, for the parallel file system), so that nothing can be found again. \
             The parallel file system gets 3,600 pairs: its rate does not change with their number.",
            "A core stands still for no transfer: two tasks for each core have their data fetched while others run.",
        ]
        .map(str::to_owned)
        .to_vec(),
        differences: vec![
            "At 200 cores the network sets a limit. A node compares its five files with all 500 others, row by row: each task of its first row needs \
             another file, which takes 96 ms to fetch, while two cores need one every 50 ms. The first row takes 48 s instead of 25 s, so no policy gets above 84 % in this order, \
             which is about what was published."
                .to_owned(),
            "The rest is lost because all nodes follow one order: they want the same file at the same time from the one node that holds it. In an order of its own for each \
             node, part of that loss is gone."
                .to_owned(),
            "MLB is not the worst here: with caching, few files and many tasks, each node soon has what it needs wherever tasks go, and a thief brings \
             its loot to files that it has."
                .to_owned(),
            "Each time that a node shares tasks, its limit tt doubles. The node with most tasks shares most often, until its limit is above what \
             it has left: then it works on alone, whether the limit is set at 80 % or from the beginning."
                .to_owned(),
            "On a single node of the published size, 1000 files of 12 MB are more than its 8 GB of memory; what does not fit is not modelled as slow but as waiting: one task \
             at a time, so that 2 cores reach 50 %."
                .to_owned(),
            "Data diffusion reads every file at least once for each node that needs it through one file system; that, and not its single scheduler, limits it here.".to_owned(),
            "Active storage costs nothing here but messages, hence nearly 100 %; the published 91 % include the making of processes.".to_owned(),
        ],
    }
}

fn systems(results: &Results) -> Table {
    let head = ["", "published efficiency", "efficiency", "published at hand", "inputs at hand", "makespan"];
    let mut table = Table::new("Efficiency at 200 cores, and how many inputs were at hand", &head);
    let daws = label(PUBLISHED_POLICY, MOST);
    for (name, published, published_hits, run) in [
        ("MATRIX: FLDS, tt from 80 %", "85.9 %", "> 80 %", daws.as_str()),
        ("the same, each node in an order of its own", "-", "-", SHUFFLED),
        ("MATRIX without caching", "< 50 %", "-", UNCACHED),
        ("data diffusion: central, shared file system", "75 %", "-", DIFFUSION),
        ("active storage: all files everywhere", "91 %", "-", ACTIVE),
        ("parallel file system, nothing kept", "< 20 %", "-", FILE_SYSTEM),
    ] {
        let outcome = results.get(run);
        let figure = |figure: &dyn Fn(&Outcome) -> String| cell(outcome, |outcome| figure(outcome));
        table.rows.push(vec![
            name.to_owned(),
            published.to_owned(),
            figure(&|outcome| percent(outcome.efficiency())),
            published_hits.to_owned(),
            figure(&|outcome| percent(hits(outcome))),
            figure(&|outcome| format!("{:.1} s", outcome.makespan.as_secs_f64())),
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
            |(name, _): &(&str, &str)| cell(results.get(&label(name, *cores)), |outcome| percent(outcome.efficiency()));
        let figures = POLICIES.iter().map(efficiency);
        table.rows.push(std::iter::once(cores.to_string()).chain(figures).collect());
    }
    table
}

fn charts(setting: &Setting, results: &Results) -> Vec<Chart> {
    let of_policy = |(name, _): &(&str, &str)| {
        let point = |cores: &u32| (f64::from(*cores), results.get(&label(name, *cores)).efficiency() * 100.0);
        Line::ours(*name, scales(setting).iter().map(point).collect())
    };
    let mut lines: Vec<Line> = POLICIES.iter().map(of_policy).collect();
    lines.push(Line::published("published, FLDS at 200 cores", vec![(190.0, 85.9), (200.0, 85.9)]));
    let busy = POLICIES.iter().map(|(name, _)| Line::ours(*name, curve(results.get(&label(name, MOST)))));
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
