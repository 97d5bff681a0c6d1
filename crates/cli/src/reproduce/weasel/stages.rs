//! The two stages, with every fixed number at once and with what learns it.

use std::time::Instant;

use throng_core::pack::dominant::Resource;
use throng_core::policy::Policy;
use throng_sim::crowd::{Needs, NeedsOf};
use throng_sim::{Cluster, Crowd};

use super::super::chart::{Chart, Line};
use super::super::runner::Recipe;
use super::super::section::{Section, Table};
use super::super::setting::Setting;
use super::Results;
use super::case::{Case, Where};
use super::real::{Does, Real};
use super::server::Rates;

/// A stage of Montage.
#[derive(Clone, Copy)]
struct Stage {
    name: &'static str,
    /// What one of its tasks needs alone.
    needs: Needs,
    /// What it needs most.
    most: Resource,
}

const NOTHING: Needs = Needs { cores: 0.0, network: 0.0, disk: 0.0, remote: 0.0, memory_bytes: 0, memory_spread: 0.0 };

const PROJECT: Stage = Stage { name: "mProjectPP", needs: Needs { cores: 1.0, ..NOTHING }, most: Resource::Cpu };
const DIFF: Stage =
    Stage { name: "mDiffFit", needs: Needs { cores: 0.02, network: 0.05, ..NOTHING }, most: Resource::Network };
const STAGES: [Stage; 2] = [PROJECT, DIFF];

/// The part of the network that the second stage can use in the end.
const NETWORK_STOPS_AT: f64 = 0.6;
/// The nodes that are modelled, by their cores.
const NODES: [u32; 2] = [8, 16];
/// How long a task takes alone, in seconds, and by what part tasks differ.
const TASK_S: f64 = 2.0;
const DIFFER: f64 = 0.3;
/// A run takes so many measuring intervals at the best number.
const INTERVALS: f64 = 40.0;
const INTERVAL_S: f64 = 5.0;

/// What learns: its name in tables, and the policy.
const LEARNERS: [(&str, &str); 3] =
    [("weasel", "weasel"), ("Throng (weasel, every 0.5 s)", "weasel:interval=500ms"), ("Throng (learn)", "learn")];

/// Fixed numbers from one to four times the cores.
fn widths(cores: u32, setting: &Setting) -> Vec<u32> {
    let most = cores * 4;
    let step = if setting.quick { cores / 2 } else { (cores / 8).max(1) };
    let mut widths = vec![1];
    widths.extend((1..=most).filter(|width| width.is_multiple_of(step.max(1)) && *width > 1));
    widths
}

/// How many tasks at once are enough.
fn enough(stage: &Stage, cores: u32) -> f64 {
    let by_network = if stage.needs.network > 0.0 { NETWORK_STOPS_AT / stage.needs.network } else { f64::INFINITY };
    (f64::from(cores) / stage.needs.cores).min(by_network)
}

fn fixed(width: u32) -> String {
    format!("{width} at once")
}

fn label(stage: &Stage, place: &str, way: &str) -> String {
    format!("{}, {place}, {way}", stage.name)
}

fn node(cores: u32) -> String {
    format!("{cores} cores")
}

fn policy(text: &str) -> Policy {
    text.parse().expect("experiments name policies that there are")
}

pub fn simulated(setting: &Setting) -> Vec<Case> {
    let mut cases = Vec::new();
    let length = if setting.quick { 0.25 } else { 1.0 };
    for (stage, cores) in STAGES.iter().flat_map(|stage| NODES.map(|cores| (stage, cores))) {
        let tasks = (enough(stage, cores) * INTERVALS * INTERVAL_S / TASK_S * length).round() as u64;
        let text = format!(
            "tasks: {{ stage: {{ foreach: {{ i: 1..{tasks} }}, run: 'x {{i}}', cpus: 0.001, estimate: {{ time: {TASK_S}s }} }} }}"
        );
        let crowd = Crowd {
            needs: vec![NeedsOf { kind: None, needs: stage.needs }],
            network_stops_at: NETWORK_STOPS_AT,
            ..Crowd::default()
        };
        let mut cluster = Cluster::new(1, cores);
        (cluster.crowd, cluster.variation.time, cluster.seed) = (Some(crowd), DIFFER, setting.seed);
        let mut add = |way: &str, pack: &str, width: Option<u32>| {
            let cluster = Cluster { pack: policy(pack), width, ..cluster.clone() };
            cases.push(Case {
                label: label(stage, &node(cores), way),
                recipe: Recipe::Text(text.clone(), tasks),
                place: Where::Modelled(Box::new(cluster)),
            });
        };
        for width in widths(cores, setting) {
            add(&fixed(width), "fixed", Some(width));
        }
        for (name, pack) in LEARNERS {
            add(name, pack, None);
        }
    }
    cases
}

/// The table and the pictures of a stage somewhere.
fn tell_stage(results: &Results, (stage, place): (&Stage, &str), widths: &[u32], section: &mut Section) {
    let figure = |way: &str| results.get(&label(stage, place, way));
    let best = widths
        .iter()
        .map(|width| (*width, figure(&fixed(*width)).mean(|run| run.makespan_s())))
        .min_by(|one, other| one.1.total_cmp(&other.1))
        .expect("there are numbers");
    let caption = format!(
        "{}, {place}: what a fixed number or a policy takes, and how much more than the best fixed number",
        stage.name
    );
    let used_head = format!("{} used", stage.most.name());
    let mut table = Table::new(caption, &["at once", "makespan", "beside the best", &used_head]);
    let ways = widths.iter().map(|width| fixed(*width)).chain(LEARNERS.map(|(name, _)| name.to_owned()));
    for way in ways {
        let (makespan, used) =
            (figure(&way).mean(|run| run.makespan_s()), figure(&way).mean(|run| run.used(stage.most)));
        table.rows.push(vec![
            way,
            format!("{makespan:.1} s"),
            format!("{:+.1} %", (makespan / best.1 - 1.0) * 100.0),
            format!("{:.0} %", used * 100.0),
        ]);
    }
    section.tables.push(table);
    let curve = |resource: Resource| {
        let point = |width: &u32| (f64::from(*width), figure(&fixed(*width)).mean(|run| run.used(resource)) * 100.0);
        Line::ours(resource.name(), widths.iter().map(point).collect())
    };
    section.charts.push(Chart {
        title: format!("{}, {place}: what is used of the node", stage.name),
        across: "tasks at once",
        upwards: "% used",
        is_logarithmic: false,
        is_steep: false,
        lines: vec![curve(Resource::Cpu), curve(Resource::Network)],
    });
    let makespans = widths.iter().map(|width| (f64::from(*width), figure(&fixed(*width)).mean(|run| run.makespan_s())));
    let mut lines = vec![Line::ours("fixed", makespans.collect())];
    let across = [1.0, f64::from(widths.last().copied().unwrap_or(1))];
    for (name, _) in LEARNERS {
        let makespan = figure(name).mean(|run| run.makespan_s());
        lines.push(Line::ours(name, across.map(|width| (width, makespan)).to_vec()));
    }
    section.charts.push(Chart {
        title: format!("{}, {place}: how long it takes", stage.name),
        across: "tasks at once",
        upwards: "makespan, s",
        is_logarithmic: false,
        is_steep: false,
        lines,
    });
}

pub fn tell_simulated(setting: &Setting, results: &Results) -> Section {
    let mut section = Section {
        title: "Modelled nodes (figure 2)",
        about: format!(
            "One node with 8 and one with 16 cores. Tasks take {TASK_S} s alone, give or take {:.0} %; a task of mProjectPP keeps a core busy, one of \
             mDiffFit uses 5 % of a network of which 60 % can be used.",
            DIFFER * 100.0
        ),
        tables: Vec::new(),
        charts: Vec::new(),
        assumptions: vec![
            "How long tasks take and how much of the network one of them uses is not published; with 5 %, twelve are enough.".to_owned(),
            "More tasks than are enough do no harm here: what they share is shared without loss.".to_owned(),
        ],
        differences: vec![
            "Weasel is as Throng reads it: its threshold is half of what a single task uses, and what it knows is forgotten when as many tasks use something else; with \
             the fixed threshold of the paper it never gets beyond two tasks."
                .to_owned(),
        ],
    };
    for (stage, cores) in STAGES.iter().flat_map(|stage| NODES.map(|cores| (stage, cores))) {
        tell_stage(results, (stage, &node(cores)), &widths(cores, setting), &mut section);
    }
    section
}

/// What a task reads from the server, and how fast: five are enough.
const REAL_EACH_PER_S: f64 = 15e6;
const REAL_ALL_PER_S: f64 = 75e6;
const REAL_TASK_S: f64 = 0.25;

fn cores_here() -> u32 {
    std::thread::available_parallelism().map_or(1, |cores| cores.get() as u32)
}

const HERE: &str = "this machine";

/// Turns of the shell's loop that take about as long as a task is to take.
fn turns() -> u64 {
    const TRIED: u64 = 200_000;
    let begun = Instant::now();
    let script = format!("i=0; while [ $i -lt {TRIED} ]; do i=$((i+1)); done");
    let status = std::process::Command::new("/bin/sh").args(["-c", &script]).status();
    let seconds = begun.elapsed().as_secs_f64();
    if status.is_ok_and(|status| status.success()) { (TRIED as f64 * REAL_TASK_S / seconds) as u64 } else { TRIED }
}

pub fn real(setting: &Setting) -> Vec<Case> {
    let (cores, turns) = (cores_here(), turns());
    let seconds = if setting.quick { 6.0 } else { INTERVALS * 0.5 };
    let rates = Rates {
        bytes: (REAL_EACH_PER_S * REAL_TASK_S) as usize,
        each_per_s: REAL_EACH_PER_S,
        all_per_s: REAL_ALL_PER_S,
    };
    let stages = [
        (PROJECT, Does::Computes(turns), f64::from(cores)),
        (DIFF, Does::Reads(rates), REAL_ALL_PER_S / REAL_EACH_PER_S),
    ];
    let mut cases = Vec::new();
    for (stage, does, enough) in stages {
        let tasks = (enough * seconds / REAL_TASK_S).round() as u32;
        let mut add = |way: &str, pack: &str, width: Option<u32>| {
            cases.push(Case {
                label: label(&stage, HERE, way),
                // What is measured for real is alone.
                recipe: Recipe::Text("tasks: { x: { noop: true } }".to_owned(), u64::from(u32::MAX)),
                place: Where::Here(Real { does, tasks, pack: pack.to_owned(), width }),
            });
        };
        for width in real_widths(cores, setting) {
            add(&fixed(width), "fixed", Some(width));
        }
        for (name, pack) in LEARNERS {
            add(name, pack, None);
        }
    }
    cases
}

fn real_widths(cores: u32, setting: &Setting) -> Vec<u32> {
    if setting.quick { vec![1, cores, cores * 4] } else { (1..=cores * 4).collect() }
}

pub fn tell_real(setting: &Setting, results: &Results) -> Section {
    let mut section = Section {
        title: "For real, on the machine that this was run on",
        about: format!(
            "Real processes: of mProjectPP, a loop of the shell that takes {REAL_TASK_S} s alone; of mDiffFit, a program that reads as long from a server on this \
             machine, which gives each reader 15 MB/s and all together 75 MB/s, 60 % of a gigabit network. These figures depend on the \
             machine."
        ),
        tables: Vec::new(),
        charts: Vec::new(),
        assumptions: Vec::new(),
        differences: Vec::new(),
    };
    for stage in STAGES {
        tell_stage(results, (&stage, HERE), &real_widths(cores_here(), setting), &mut section);
    }
    section
}
