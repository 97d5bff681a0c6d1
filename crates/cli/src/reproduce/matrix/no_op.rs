//! Tasks that do nothing (figure 13): how many a second can each way of scheduling hand out?

use throng_sim::Outcome;

use super::super::chart::{Chart, Line};
use super::super::section::{Section, Table};
use super::{CORES, Case, OWN, Results, Setting, TABLE_3_POLICY, cluster, shape};
use crate::words;

/// Systems, how each is modelled, and its published throughput at 64 instances; Throng's own way was not there.
const SYSTEMS: [(&str, &str, &str); 4] = [
    ("MATRIX", TABLE_3_POLICY, "67k/s"),
    ("Sparrow (sampled)", "sampled:d=2", "7.3k/s"),
    ("CloudKon (queue)", "queue", "13k/s"),
    (OWN.0, OWN.1, "-"),
];

/// How long a task takes: nothing, and what starting a process may.
const LENGTHS: [&str; 2] = ["0ms", "1ms"];

fn scales(setting: &Setting) -> &'static [u32] {
    if setting.quick { &[1, 16, 64] } else { &[1, 2, 4, 8, 16, 32, 64] }
}

fn tasks_for_each_node(setting: &Setting) -> u32 {
    if setting.quick { 250 } else { 16_384 }
}

fn label(system: &str, length: &str, nodes: u32) -> String {
    format!("{system}, {length}, {nodes} nodes")
}

pub(super) fn cases(setting: &Setting) -> Vec<Case> {
    let mut cases = Vec::new();
    for nodes in scales(setting) {
        for length in LENGTHS {
            let tasks = (nodes * tasks_for_each_node(setting)).to_string();
            let recipe =
                shape(setting, "bot", &[("tasks", tasks), ("times", length.to_owned()), ("sizes", "0B".to_owned())]);
            for (system, place, _) in SYSTEMS {
                cases.push(Case {
                    label: label(system, length, *nodes),
                    recipe: recipe.clone(),
                    cluster: cluster(setting, nodes * CORES, place),
                    wants_curve: false,
                });
            }
        }
    }
    cases
}

pub(super) fn tell(setting: &Setting, results: &Results) -> Section {
    let rate = |system, length, nodes| {
        results.get(&label(system, length, nodes)).figure(Outcome::throughput).words(words::rate)
    };
    let last = *scales(setting).last().expect("some scale is tried");
    let mut against = Table::new(
        format!("Tasks a second at {last} nodes"),
        &[
            "",
            "published",
            "tasks of no time",
            "tasks of 1 ms",
            "messages for each task",
            "store operations for each task",
        ],
    );
    for (system, _, published) in SYSTEMS {
        let run = results.get(&label(system, LENGTHS[0], last));
        let each = |count: fn(&Outcome) -> u64| {
            let for_each_task = |run: &Outcome| count(run) as f64 / run.done.max(1) as f64;
            run.figure(for_each_task).words(|number| format!("{number:.1}"))
        };
        against.rows.push(vec![
            system.to_owned(),
            published.to_owned(),
            rate(system, LENGTHS[0], last),
            rate(system, LENGTHS[1], last),
            each(|run| run.messages),
            each(|run| run.store_verbs),
        ]);
    }
    let mut growth = Table::new(
        "Tasks a second as nodes are added, tasks of 1 ms",
        &["nodes", SYSTEMS[0].0, SYSTEMS[1].0, SYSTEMS[2].0, SYSTEMS[3].0],
    );
    for nodes in scales(setting) {
        let rates = SYSTEMS.iter().map(|(system, _, _)| rate(system, LENGTHS[1], *nodes));
        growth.rows.push(std::iter::once(nodes.to_string()).chain(rates).collect());
    }
    Section {
        title: "Tasks that do nothing",
        about: format!(
            "{} tasks for each node of 2 cores (published: 16K `sleep 0` for each instance), from 1 to 64 nodes. What is compared is how work is handed out: stolen in batches \
             (MATRIX), pushed to the less loaded of two that are asked (Sparrow), or pulled one by one from a queue that lies on all nodes (CloudKon). \
             Throng's own nodes steal as MATRIX's do, and call those that found nothing as soon as there is something.",
            words::thousands(tasks_for_each_node(setting).into())
        ),
        tables: vec![against, growth],
        charts: vec![chart(setting, results)],
        assumptions: [
            "A message takes 100 µs and costs nobody any computing, and neither does a decision. Where nothing takes time, what is left is waiting for messages and for the store.",
            "The store carries out 100,000 operations a second on each node, and answers after 100 µs. All use it.",
            "A process that does nothing is taken to need 1 ms of a core in the second column. That is a round number, not a measured one, and bounds everybody to \
             1000 tasks a second for each core.",
            "CloudKon's queue was Amazon's SQS, which answers after many milliseconds; here it answers as fast as any node. Sparrow's and CloudKon's Java is not modelled.",
        ]
        .map(str::to_owned)
        .to_vec(),
        differences: [
            "The published figures measure three programs in two languages on virtual machines; these measure three ways to hand out work, and so are much higher. Only their order \
             and how they grow can be compared.",
            "MATRIX is ahead of both, as published, but by little of Sparrow's way: pushing costs six messages a task, which nobody pays for here and nobody waits \
             for, while whoever pulls waits for every task. So Sparrow and CloudKon stand in the other order than published.",
        ]
        .map(str::to_owned)
        .to_vec(),
    }
}

fn chart(setting: &Setting, results: &Results) -> Chart {
    let line = |(system, _, _): &(&str, &str, &str)| {
        let rate = |nodes: &u32| results.get(&label(system, LENGTHS[1], *nodes)).mean(Outcome::throughput);
        Line::ours(*system, scales(setting).iter().map(|nodes| (f64::from(*nodes), rate(nodes))).collect())
    };
    let published =
        |name: &str, rate: f64| Line::published(format!("published, {name}"), vec![(60.0, rate), (64.0, rate)]);
    let mut lines: Vec<Line> = SYSTEMS.iter().map(line).collect();
    lines.extend([published("MATRIX", 67e3), published("Sparrow", 7.3e3), published("CloudKon", 13e3)]);
    Chart {
        title: "Throughput, tasks of 1 ms".to_owned(),
        across: "nodes",
        upwards: "tasks a second",
        is_logarithmic: true,
        is_steep: true,
        lines,
    }
}
