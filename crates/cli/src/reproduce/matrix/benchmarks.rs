//! Bags, trees and pipes (figures 9 and 11, tables 3 and 4): how near does FLDS come to what is possible, as the cluster grows with the work?

use throng_sim::Outcome;

use super::super::chart::{Chart, Line};
use super::super::repeated::{Figure, least, mean};
use super::super::section::{Section, Table};
use super::{Case, OWN, Results, Setting, TABLE_3_POLICY, cluster, curve, makespan, percent, seconds, shape};
use crate::words;

/// Shapes, how they are called, and the published average of their ratio to the analytic bound.
const SHAPES: [(&str, &str, f64); 4] = [
    ("bot", "bag of tasks", 0.991_396),
    ("pipeline", "pipeline", 0.882_381),
    ("fan-out", "fan-out", 0.856_903),
    ("fan-in", "fan-in", 0.906_052),
];
/// The published policy, one that adapts, and Throng's own.
const POLICIES: [(&str, &str); 3] = [(FLDS, TABLE_3_POLICY), (ADAPTIVE, "adaptive:t=0.5,tt=10s,cap=50s"), OWN];
const FLDS: &str = "FLDS";
/// Only tried on the largest cluster.
const ADAPTIVE: &str = "adaptive";

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
                if policy == ADAPTIVE && !is_last {
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

/// How many seconds the network needs at least for what was moved, if every node took in as much as it can all the time.
fn network(outcome: &Outcome) -> f64 {
    let nodes = (outcome.slots as f64 / 2.0).max(1.0);
    outcome.moved_bytes as f64 / (nodes * 125e6)
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
            "The lower bound is the work on all cores, or the longest chain of tasks with the data that has to be moved wherever they run. No schedule beats \
             it; but it takes the network to be free for each task, so that where many tasks move data at the same time it is out of reach.",
            "Tasks without parents are given to all nodes, to each a run of neighbours; those with parents become ready where their last parent ended.",
        ]
        .map(str::to_owned)
        .to_vec(),
        differences: [
            "The paper's analytic bound is not one: with equation 1 a task waits for half of the tasks before it, which is the mean, while a run ends \
             with the last. A perfect bag of tasks therefore reaches 50 % of it, not 99 %. Against the lower bound it is as published.",
            "Fan-in is as good as published against the lower bound only because tasks beside each other, which the same task reads, are given to the same node: little has to \
             be moved, and the column `network` says how long that takes at least.",
            "Fan-out begins at one node. Its children stay with their data until a local queue is longer than tt; each sharing doubles tt, so that \
             the first nodes keep more and more to themselves while others are idle. The published run was far better balanced than these rules explain.",
        ]
        .map(str::to_owned)
        .to_vec(),
    }
}

/// What a row is called: those of FLDS, which reproduce the paper, by their shape alone.
fn row_name(called: &str, policy: &str) -> String {
    if policy == FLDS { called.to_owned() } else { format!("{policy}, {called}") }
}

fn averages(setting: &Setting, results: &Results) -> Table {
    let scales = scales(setting);
    let mut table = Table::new(
        format!("Averages from {} to {} cores, FLDS", scales[0], scales[scales.len() - 1]),
        &["", "published of analytic", "of analytic", "of lower bound", "least of lower bound"],
    );
    for policy in [FLDS, OWN.0] {
        for (name, called, published) in SHAPES {
            let over_scales = |figure: fn(&Outcome) -> f64, join: fn(&[f64]) -> f64| {
                let of_scale = |cores: &u32| results.get(&label(name, policy, *cores)).figure(figure);
                Figure::together(&scales.iter().map(of_scale).collect::<Vec<_>>(), join).words(percent)
            };
            table.rows.push(vec![
                row_name(called, policy),
                if policy == FLDS { percent(published) } else { "-".to_owned() },
                over_scales(Outcome::of_analytic, mean),
                over_scales(Outcome::of_bound, mean),
                over_scales(Outcome::of_bound, least),
            ]);
        }
    }
    table
}

fn largest(cores: u32, results: &Results) -> Table {
    let head = ["", "makespan", "lower bound", "network", "throughput", "of lower bound", "of analytic", "data moved"];
    let mut table = Table::new(format!("At {cores} cores, FLDS"), &head);
    for (policy, _) in POLICIES {
        for (name, called, _) in SHAPES {
            let runs = results.get(&label(name, policy, cores));
            table.rows.push(vec![
                row_name(called, policy),
                runs.figure(makespan).words(seconds),
                runs.figure(|run| run.bound_ns() as f64 / 1e9).words(seconds),
                runs.figure(network).words(seconds),
                runs.figure(Outcome::throughput).words(words::rate),
                runs.figure(Outcome::of_bound).words(percent),
                runs.figure(Outcome::of_analytic).words(percent),
                runs.figure(|run| run.moved_bytes as f64).words(|count| words::bytes(count as u64)),
            ]);
        }
    }
    table
}

fn charts(setting: &Setting, last: u32, results: &Results) -> Vec<Chart> {
    let of_shape = |figure: fn(&Outcome) -> f64| {
        let line = move |(name, called, _): &(&str, &str, f64)| {
            let point = |cores: &u32| (f64::from(*cores), results.get(&label(name, FLDS, *cores)).mean(figure));
            Line::ours(*called, scales(setting).iter().map(point).collect())
        };
        SHAPES.iter().map(line).collect::<Vec<_>>()
    };
    let busy = SHAPES
        .iter()
        .map(|(name, called, _)| Line::ours(*called, curve(results.get(&label(name, FLDS, last)).first())));
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
            "Lower bound, as a part of the makespan, FLDS",
            ("cores", "percent"),
            true,
            false,
            of_shape(|run| run.of_bound() * 100.0),
        ),
        chart(&format!("Busy cores, FLDS, {last} cores"), ("seconds", "percent"), false, false, busy.collect()),
    ]
}
