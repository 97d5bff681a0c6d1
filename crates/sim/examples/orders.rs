//! How well orders do with a cache that does not hold everything: the figures of benches/RESULTS.md, "Orders".
//!
//! ```sh
//! cargo run --release -p throng-sim --example orders                  # a line for each order
//! cargo run --release -p throng-sim --example orders -- --cases aware/aware heft/aware
//! cargo run --release -p throng-sim --example orders -- --in-place  # nothing has to be brought, as in `throng run` without a tier
//! ```
//!
//! Every workflow runs on the machine of `throng_core::predict`: 1, 4 and 8 units that share a cache of 3, 10 and 30 % of the data. Loading
//! all that tasks read would take ten times as long as computing, as in the first example of Meng and Golab. Workflows that are generated are
//! so with seeds 1 to 3; traces are those in the directory that THRONG_TRACES names. Everything is held against `og` with `lru`. A
//! ratio of misses has one added to both sides, because there may be none.

use std::collections::BTreeMap;
use std::sync::Arc;

use throng_core::locality::{Brought, Knowledge};
use throng_core::policy::Policy;
use throng_core::predict::{self, Machine, Model, Outcome};
use throng_core::workflow::{Format, NoFiles, Workflow};
use throng_sim::generate::{Options, Shape};

/// What is compared if nobody says it: an order and an eviction.
const COMPARED: [&str; 13] = [
    "aware/aware",
    "aware/lru",
    "og/aware",
    "og:metric=sd/lru",
    "og:metric=wtmb/lru",
    "og:metric=lru/lru",
    "heft/aware",
    "critical-path/aware",
    "lifo/aware",
    "fifo/aware",
    "largest/aware",
    "random/aware",
    "random/lru",
];

const UNITS: [usize; 3] = [1, 4, 8];
const PERCENT: [u64; 3] = [3, 10, 30];
/// How much longer loading would take than computing.
const LOADING: f64 = 10.0;

/// A workflow, and where it comes from.
struct Case {
    name: String,
    known: Arc<Knowledge>,
    model: Model,
    data: u64,
}

impl Case {
    fn new(name: String, flow: Workflow, brought: &Brought) -> Case {
        let reads = flow.tasks().flat_map(|task| flow.inputs(task).collect::<Vec<_>>());
        let bytes: f64 = reads.map(|object| flow.declared_size(object).unwrap_or(0) as f64).sum();
        let times = flow.tasks().map(|task| flow.sleep_time(task).or(flow.estimated_time(task)).unwrap_or_default());
        let computing: f64 = times.map(|time| time.as_secs_f64()).sum();
        let known = Knowledge::of(&Arc::new(flow), brought);
        let model = Model::of(&known, (bytes / (LOADING * computing)).ceil() as u64);
        let data = (0..model.items().count() as u32).map(|item| model.items().weight(item)).sum();
        Case { name, known, model, data }
    }

    fn run(&self, machine: Machine, compared: &str, seed: u64) -> Outcome {
        let (order, evict) = compared.split_once('/').unwrap_or((compared, "aware"));
        let policy: Policy = order.parse().expect("a policy");
        let evict: Policy = evict.parse().expect("a policy");
        predict::by_name(&policy, &evict, &self.known, &self.model, machine, seed).expect("a known policy")
    }
}

fn generated(shape: &str, options: &[(&'static str, &str)], seed: u64, brought: &Brought) -> Case {
    let mut wanted = Options::default();
    wanted.seed = seed;
    options.iter().for_each(|(name, value)| wanted.set(name, *value));
    let plan = Shape::find(shape).expect("a shape").plan(&wanted).expect("options that it takes");
    let mut text = Vec::new();
    plan.write(Format::Yaml, &mut text).expect("memory does not fail");
    let text = String::from_utf8(text).expect("text");
    let flow = Workflow::parse(&text, Format::Yaml, shape, &NoFiles).expect("what is generated is right");
    Case::new(format!("{shape} {seed}"), flow, brought)
}

fn cases(brought: &Brought) -> Vec<Case> {
    let mut cases = Vec::new();
    for seed in 1..=3 {
        cases.push(generated("dag1", &[], seed, brought));
        cases.push(generated("dag1-v2", &[], seed, brought));
        cases.push(generated("all-pairs", &[("a", "30"), ("b", "30")], seed, brought));
        cases.push(generated("montage", &[("tasks", "1000")], seed, brought));
        cases.push(generated("cybershake", &[("tasks", "1000")], seed, brought));
        cases.push(generated("pipeline", &[("tasks", "1000")], seed, brought));
        cases.push(generated("random", &[("tasks", "1000")], seed, brought));
    }
    let Ok(directory) = std::env::var("THRONG_TRACES") else {
        println!("no traces: THRONG_TRACES is not set");
        return cases;
    };
    let files = std::fs::read_dir(directory).expect("a directory").flatten().map(|entry| entry.path());
    let mut files: Vec<_> = files.filter(|file| !file.ends_with("index.json")).collect();
    files.sort();
    for file in files {
        let name = file.file_stem().and_then(|stem| stem.to_str()).and_then(|stem| stem.split('-').next());
        let name = name.unwrap_or("trace").to_owned();
        let text = std::fs::read_to_string(&file).expect("a trace");
        let flow = Workflow::parse(&text, Format::Json, &name, &NoFiles).expect("a trace that can be read");
        cases.push(Case::new(name, flow, brought));
    }
    cases
}

/// What becomes of a way over all cases, against `og` with `lru`.
#[derive(Default)]
struct Sum {
    misses: f64,
    time: f64,
    worst: f64,
    worst_case: String,
    behind: f64,
    behind_case: String,
    count: f64,
}

fn main() {
    let is_given = |flag: &str| std::env::args().any(|argument| argument == flag);
    let mut compared: Vec<String> = std::env::args().skip(1).filter(|argument| !argument.starts_with("--")).collect();
    let (tells_cases, is_in_place) = (is_given("--cases"), is_given("--in-place"));
    let brought = if is_in_place { Brought::Outside(Arc::default()) } else { Brought::All };
    if compared.is_empty() {
        compared = COMPARED.map(str::to_owned).to_vec();
    }
    let mut sums: BTreeMap<&str, Sum> = BTreeMap::new();
    let mut best = 0.0;
    for case in cases(&brought) {
        for (units, percent) in UNITS.into_iter().flat_map(|units| PERCENT.map(|percent| (units, percent))) {
            let machine = Machine { units, cache: case.data * percent / 100 };
            let base = case.run(machine, "og/lru", 1);
            let outcomes: Vec<Outcome> = compared.iter().map(|way| case.run(machine, way, 1)).collect();
            let fastest = outcomes.iter().map(|outcome| outcome.makespan).min().unwrap_or(1) as f64;
            best += (fastest / base.makespan as f64).ln();
            let of_case = format!("{}, {units} units, {percent} %", case.name);
            let mut line = format!("{of_case:<36} og/lru {:>6} {:>9.0} s", base.misses, base.makespan as f64 / 1e9);
            for (way, outcome) in compared.iter().zip(&outcomes) {
                let misses = (outcome.misses + 1) as f64 / (base.misses + 1) as f64;
                let time = outcome.makespan as f64 / base.makespan as f64;
                line += &format!(" | {way} {:>6} {misses:5.2} {time:6.3}", outcome.misses);
                let sum = sums.entry(way).or_default();
                (sum.misses, sum.time, sum.count) = (sum.misses + misses.ln(), sum.time + time.ln(), sum.count + 1.0);
                if time > sum.worst {
                    (sum.worst, sum.worst_case) = (time, of_case.clone());
                }
                let behind = outcome.makespan as f64 / fastest;
                if behind > sum.behind {
                    (sum.behind, sum.behind_case) = (behind, of_case.clone());
                }
            }
            if tells_cases {
                println!("{line}");
            }
        }
    }
    println!("{:<22} {:>7} {:>7}  {:<44} behind the best of all", "against og/lru", "misses", "time", "at worst");
    for way in &compared {
        let sum = &sums[way.as_str()];
        println!(
            "{way:<22} {:>7.3} {:>7.3}  {:<44} {:.3} on average, {:.3} at worst: {}",
            (sum.misses / sum.count).exp(),
            (sum.time / sum.count).exp(),
            format!("{:.3}: {}", sum.worst, sum.worst_case),
            ((sum.time - best) / sum.count).exp(),
            sum.behind,
            sum.behind_case,
        );
    }
}
