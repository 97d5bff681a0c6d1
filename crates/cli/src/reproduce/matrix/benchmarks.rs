//! Bags, trees and pipes (figures 9 and 11, tables 3 and 4): how near does FLDS come to what is possible, as the cluster grows with the work?

use std::time::Duration;

use throng_sim::Outcome;

use super::super::chart::{Chart, Line};
use super::super::runner::{Case, Results};
use super::super::section::{Section, Table};
use super::{Setting, TABLE_3_POLICY, cell, cluster, curve, percent, shape};

/// Shapes, how they are called, and the published average of their ratio to the analytic bound.
const SHAPES: [(&str, &str, f64); 4] = [
    ("bot", "bag of tasks", 0.991_396),
    ("pipeline", "pipeline", 0.882_381),
    ("fan-out", "fan-out", 0.856_903),
    ("fan-in", "fan-in", 0.906_052),
];
const POLICIES: [(&str, &str); 2] = [("FLDS", TABLE_3_POLICY), ("adaptive", "adaptive:t=0.5,tt=10s,cap=50s")];

fn scales(setting: &Setting) -> &'static [u32] {
    if setting.quick { &[2, 32, 200] } else { &[2, 4, 8, 16, 32, 64, 128, 200] }
}

fn tasks_for_each_core(setting: &Setting) -> u32 {
    if setting.quick { 100 } else { 1000 }
}

fn label(shape: &str, policy: &str, cores: u32) -> String {
    format!("{shape}, {policy}, {cores} cores")
}

pub(super) fn cases(setting: &Setting) -> Vec<Case> {
    let mut cases = Vec::new();
    for (name, _, _) in SHAPES {
        for cores in scales(setting) {
            let tasks = (cores * tasks_for_each_core(setting)).to_string();
            let recipe = shape(setting, name, &[("tasks", tasks)]);
            for (policy, place) in POLICIES {
                let is_last = Some(cores) == scales(setting).last();
                if policy != "FLDS" && !is_last {
                    continue;
                }
                cases.push(Case {
                    label: label(name, policy, *cores),
                    recipe: recipe.clone(),
                    cluster: cluster(setting, *cores, place),
                    wants_curve: is_last,
                });
            }
        }
    }
    cases
}

/// How long the network needs at least for what was moved, if every node took in as much as it can all the time.
fn network(outcome: &Outcome) -> Duration {
    let nodes = (outcome.slots as f64 / 2.0).max(1.0);
    Duration::from_secs_f64(outcome.moved_bytes as f64 / (nodes * 125e6))
}

pub(super) fn tell(setting: &Setting, results: &Results) -> Section {
    let last = *scales(setting).last().expect("some scale is tried");
    Section {
        title: "Bags, pipes and trees",
        about: format!(
            "{} tasks for each core (published: 1000), 0 to 100 ms long, writing 0 to 10 MB; pipes of 10 tasks, trees of degree 10; FLDS \
             with t = 0.5, tt = 10 s, thieves that give up at 50 s. A ratio of 100 % would be as fast as the bound.",
            tasks_for_each_core(setting)
        ),
        tables: vec![averages(setting, results), largest(last, results)],
        charts: charts(setting, last, results),
        assumptions: [
            "A network of 1 Gbit/s. At this rate the data of a task take 40 ms in the mean, and the ten inputs of a task in fan-in take 400 ms.",
            "The analytic bound follows the paper's equations, with as many tasks waiting for a core as its level of the graph has for each core. Lengths are \
             learned from tasks that are done; nothing is known beforehand.",
            "The lower bound knows nothing of data: work on all cores, or the longest chain. No schedule beats it.",
            "Tasks without parents are given to all nodes in turn; those with parents become ready where their last parent ended.",
        ]
        .map(str::to_owned)
        .to_vec(),
        differences: [
            "The paper's analytic bound is not one: with equation 1 a task waits for half of the tasks before it, which is the mean, while a run ends \
             with the last. A perfect bag of tasks therefore reaches 50 % of it, not 99 %. Against the lower bound it is as published.",
            "Fan-in at 1 Gbit/s is limited by the network: the column `network` says what the moved data take at least. The published ratio \
             needs a faster network, or a bound that counts the data too.",
            "Fan-out begins at one node. Its children stay with their data until a local queue is longer than tt; each sharing doubles tt, so that \
             the first nodes keep more and more to themselves while others are idle. The published run was far better balanced than these rules explain.",
        ]
        .map(str::to_owned)
        .to_vec(),
    }
}

fn averages(setting: &Setting, results: &Results) -> Table {
    let scales = scales(setting);
    let mut table = Table::new(
        format!("Averages from {} to {} cores, FLDS", scales[0], scales[scales.len() - 1]),
        &["", "published of analytic", "of analytic", "of lower bound", "least of lower bound"],
    );
    for (name, called, published) in SHAPES {
        let runs: Vec<&Outcome> = scales.iter().map(|cores| results.get(&label(name, "FLDS", *cores))).collect();
        let mean = |figure: fn(&Outcome) -> f64| runs.iter().map(|run| figure(run)).sum::<f64>() / runs.len() as f64;
        let least = runs.iter().map(|run| run.of_bound()).fold(f64::INFINITY, f64::min);
        table.rows.push(vec![
            called.to_owned(),
            percent(published),
            percent(mean(Outcome::of_analytic)),
            percent(mean(Outcome::of_bound)),
            percent(least),
        ]);
    }
    table
}

fn largest(cores: u32, results: &Results) -> Table {
    let head = [
        "",
        "makespan",
        "lower bound",
        "network",
        "throughput",
        "of lower bound",
        "data moved",
        "adaptive, of lower bound",
    ];
    let mut table = Table::new(format!("At {cores} cores"), &head);
    for (name, called, _) in SHAPES {
        let run = results.get(&label(name, "FLDS", cores));
        let seconds = |length: Duration| format!("{:.1} s", length.as_secs_f64());
        table.rows.push(vec![
            called.to_owned(),
            cell(run, |run| seconds(run.makespan)),
            seconds(Duration::from_nanos(run.bound.ns())),
            seconds(network(run)),
            cell(run, |run| crate::words::rate(run.throughput())),
            cell(run, |run| percent(run.of_bound())),
            crate::words::bytes(run.moved_bytes),
            cell(results.get(&label(name, "adaptive", cores)), |run| percent(run.of_bound())),
        ]);
    }
    table
}

fn charts(setting: &Setting, last: u32, results: &Results) -> Vec<Chart> {
    let of_shape = |figure: fn(&Outcome) -> f64| {
        let line = move |(name, called, _): &(&str, &str, f64)| {
            let point = |cores: &u32| (f64::from(*cores), figure(results.get(&label(name, "FLDS", *cores))));
            Line::ours(*called, scales(setting).iter().map(point).collect())
        };
        SHAPES.iter().map(line).collect::<Vec<_>>()
    };
    let busy =
        SHAPES.iter().map(|(name, called, _)| Line::ours(*called, curve(results.get(&label(name, "FLDS", last)))));
    let chart = |title: &str, (across, upwards): (&'static str, &'static str), is_logarithmic, is_steep, lines| Chart {
        title: title.to_owned(),
        across,
        upwards,
        is_logarithmic,
        is_steep,
        lines,
    };
    vec![
        chart("Throughput, FLDS", ("cores", "tasks a second"), true, true, of_shape(Outcome::throughput)),
        chart(
            "Lower bound, as a part of the makespan",
            ("cores", "percent"),
            true,
            false,
            of_shape(|run| run.of_bound() * 100.0),
        ),
        chart(&format!("Busy cores, FLDS, {last} cores"), ("seconds", "percent"), false, false, busy.collect()),
    ]
}
