//! Towards 128 Ki cores (figure 12): the publication computes, we simulate.

use throng_sim::Outcome;
use throng_sim::cluster::Variation;

use super::super::chart::{Chart, Line};
use super::super::repeated::Repeated;
use super::super::runner::Recipe;
use super::super::section::{Section, Table};
use super::{Case, Results, Setting, TABLE_3_POLICY, cluster, percent};
use crate::words;

/// Cores in all: 1 Ki, 4 Ki and 16 Ki.
const SCALES: [u32; 3] = [1 << 10, 1 << 12, 1 << 14];
/// Where the publication ends.
const LARGEST: u32 = 1 << 17;
/// As many for each core as published, and 128 Mi in all: at less than a hundred bytes each, they fit into 14 GB.
const LARGEST_TASKS: u32 = 1024;
/// The mean length of a task, in seconds.
const LENGTH: f64 = 0.05;

/// Shapes other than the bag are large graphs: they are tried at the smallest scale.
const OTHERS: [&str; 3] = ["pipeline", "fan-out", "fan-in"];

fn largest_tasks(setting: &Setting) -> u32 {
    if setting.quick { 32 } else { LARGEST_TASKS }
}

fn tasks_for_each_core(setting: &Setting) -> u32 {
    if setting.quick { 100 } else { 1000 }
}

fn scales(setting: &Setting) -> &'static [u32] {
    // Even a hundred tasks for each of 16 Ki cores are more than a minute's work.
    if setting.quick { &SCALES[..2] } else { &SCALES }
}

fn label(shape: &str, cores: u32) -> String {
    format!("{shape}, {cores} cores")
}

fn case(setting: &Setting, name: &'static str, cores: u32, for_each_core: u32) -> Case {
    let tasks = (cores * for_each_core).to_string();
    let options = vec![("tasks", tasks)];
    let cluster = cluster(setting, cores, TABLE_3_POLICY);
    Case {
        label: label(name, cores),
        recipe: Recipe::Shape { name, options, seed: setting.seed, means: true, estimates: false },
        // Lengths and sizes are drawn during the run, from nothing to twice the mean, as in Table 3.
        cluster: throng_sim::Cluster { variation: Variation { time: 1.0, size: 1.0 }, ..cluster },
        wants_curve: false,
    }
}

pub(super) fn cases(setting: &Setting) -> Vec<Case> {
    let each = tasks_for_each_core(setting);
    let bags = scales(setting).iter().map(|cores| case(setting, "bot", *cores, each));
    let others = OTHERS.iter().filter(|_| !setting.quick).map(|name| case(setting, name, SCALES[0], each));
    bags.chain(others).collect()
}

pub(super) fn largest_cases(setting: &Setting) -> Vec<Case> {
    vec![case(setting, "bot", LARGEST, largest_tasks(setting))]
}

/// Tasks a second that the analytic bound allows for a bag: a task waits for half of those before it.
fn analytic_rate(cores: u32, for_each_core: u32) -> f64 {
    let (cores, each) = (f64::from(cores), f64::from(for_each_core));
    cores * each / (LENGTH + (each - 1.0) * LENGTH / 2.0)
}

fn row(name: &str, cores: u32, for_each_core: u32, runs: Option<&Repeated<'_, Outcome>>) -> Vec<String> {
    let bound = f64::from(cores) / LENGTH;
    let figure = |figure: fn(&Outcome) -> f64, in_words: fn(f64) -> String| {
        runs.map_or("-".to_owned(), |runs| runs.figure(figure).words(in_words))
    };
    let analytic = match runs.map(Repeated::first) {
        Some(run) if run.analytic_seconds > 0.0 => run.done as f64 / run.analytic_seconds,
        _ => analytic_rate(cores, for_each_core),
    };
    vec![
        format!("{name}, {} Ki", cores >> 10),
        words::rate(analytic),
        words::rate(bound),
        figure(Outcome::throughput, words::rate),
        figure(Outcome::of_bound, percent),
        figure(Outcome::of_analytic, percent),
    ]
}

const HEAD: [&str; 6] =
    ["shape, cores", "analytic bound", "no data, no waiting", "simulated", "of lower bound", "of analytic"];

fn assumptions() -> Vec<String> {
    [
        "Table 3 as for the smaller clusters, FLDS; lengths and sizes are drawn during the run instead of being written down, so that millions of tasks take no room.",
        "Two cores to a node, 1 Gbit/s, messages of 100 µs, and a store that grows with the cluster.",
        "The analytic bound for a bag is exact: the length of a task and half the lengths of those before it.",
    ]
    .map(str::to_owned)
    .to_vec()
}

fn differences() -> Vec<String> {
    vec![
        "Published at 128 Ki cores: 2.33M tasks a second for a bag, 1.85M for pipes, 1.16M for fan-out, 852k for fan-in. They follow from no formula in the paper: \
         its own equations allow nearly 5.2M for a bag, and 131,072 cores can do no more than 2.62M tasks of 50 ms. So they are no targets, and nothing was tuned \
         towards them."
            .to_owned(),
    ]
}

pub(super) fn tell(setting: &Setting, results: &Results) -> Section {
    let each = tasks_for_each_core(setting);
    let mut table = Table::new(format!("Tasks a second, {each} tasks for each core"), &HEAD);
    for cores in scales(setting) {
        table.rows.push(row("bag", *cores, each, Some(&results.get(&label("bot", *cores)))));
    }
    table.rows.push(row("bag", LARGEST, each, None));
    for name in OTHERS.iter().filter(|_| !setting.quick) {
        table.rows.push(row(name, SCALES[0], each, Some(&results.get(&label(name, SCALES[0])))));
    }
    let point = |cores: &u32| (f64::from(*cores), results.get(&label("bot", *cores)).mean(Outcome::throughput));
    let simulated: Vec<_> = scales(setting).iter().map(point).collect();
    let to_the_end = |rate: &dyn Fn(u32) -> f64| {
        [SCALES[0], LARGEST].iter().map(|cores| (f64::from(*cores), rate(*cores))).collect()
    };
    let chart = Chart {
        title: "A bag of tasks".to_owned(),
        across: "cores",
        upwards: "tasks a second",
        is_logarithmic: true,
        is_steep: true,
        lines: vec![
            Line::ours("simulated", simulated),
            Line::ours("cores divided by 50 ms", to_the_end(&|cores| f64::from(cores) / LENGTH)),
            Line::ours("analytic bound", to_the_end(&|cores| analytic_rate(cores, each))),
            Line::published("published at 128 Ki", vec![(120_000.0, 2.33e6), (f64::from(LARGEST), 2.33e6)]),
        ],
    };
    Section {
        title: "Towards 128 Ki cores",
        about: format!(
            "The publication computes its analytic bound up to 128 Ki cores and runs nothing there. Here, runs of {each} tasks for each core are simulated{}; \
             128 Ki cores are only computed, unless asked for with --only scale-128k.",
            if setting.quick { " up to 4 Ki cores" } else { " up to 16 Ki cores" },
        ),
        tables: vec![table],
        charts: vec![chart],
        assumptions: assumptions(),
        differences: differences(),
    }
}

pub(super) fn tell_largest(setting: &Setting, results: &Results) -> Section {
    let each = largest_tasks(setting);
    let mut table = Table::new(format!("Tasks a second, {each} tasks for each core"), &HEAD);
    table.rows.push(row("bag", LARGEST, each, Some(&results.get(&label("bot", LARGEST)))));
    Section {
        title: "128 Ki cores",
        about: format!("A bag of {each} tasks for each of 131,072 cores, simulated."),
        tables: vec![table],
        charts: Vec::new(),
        assumptions: assumptions(),
        differences: differences(),
    }
}
