//! How good planners are, and how fast: figures of benches/RESULTS.md, "Plans".
//!
//!     cargo run --release -p throng-core --example plans -- distance    # from the optimum, on 1,000 made-up problems
//!     cargo run --release -p throng-core --example plans -- speed       # 100,000 tasks, 8 types of machines
//!     cargo run --release -p throng-core --example plans -- speed "100 wide"    # only shapes with such names
#![allow(
    clippy::disallowed_types,
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    reason = "it measures and prints"
)]

mod instance;

use std::time::Instant;

use instance::{instance, table};
use throng_core::plan::b_rate::b_rate;
use throng_core::plan::b_swap::b_swap;
use throng_core::plan::critical_greedy::critical_greedy;
use throng_core::plan::exchange::{Weights, gain, loss};
use throng_core::plan::ggb::ggb;
use throng_core::plan::greedy::greedy;
use throng_core::plan::greedy_stage::greedy_stage;

use throng_core::plan::optimal;
use throng_core::plan::stages::{Assigned, Stages};
use throng_core::rng::Rng;

type Planner = fn(&Stages, u64) -> Assigned;

const PLANNERS: [(&str, Planner); 12] = [
    ("greedy", |stages, budget| greedy(stages, budget, |_| true).best),
    ("greedy-stage", |stages, budget| greedy_stage(stages, budget, |_| true).best),
    ("critical-greedy", |stages, budget| critical_greedy(stages, budget, |_| true).best),
    ("ggb", |stages, budget| ggb(stages, budget, |_| true).best),
    ("loss", |stages, budget| loss(stages, budget, Weights::Once, &|| true)),
    ("loss, makespan", |stages, budget| loss(stages, budget, Weights::Makespan, &|| true)),
    ("loss, again", |stages, budget| loss(stages, budget, Weights::Again, &|| true)),
    ("gain", |stages, budget| gain(stages, budget, Weights::Once, &|| true)),
    ("gain, makespan", |stages, budget| gain(stages, budget, Weights::Makespan, &|| true)),
    ("gain, again", |stages, budget| gain(stages, budget, Weights::Again, &|| true)),
    ("b-rate", b_rate),
    ("b-swap", |stages, budget| b_swap(stages, budget, &|| true)),
];

fn main() {
    match std::env::args().nth(1).as_deref() {
        Some("distance") => distance(),
        Some("speed") => speed(std::env::args().nth(2).as_deref().unwrap_or("")),
        _ => eprintln!("say distance or speed"),
    }
}

fn distance() {
    let mut apart = vec![Vec::new(); PLANNERS.len()];
    let (mut longest, mut unproven) = (0.0f64, 0);
    for seed in 1..=1000 {
        let (stages, budget) = instance(seed, 12);
        let begun = Instant::now();
        let best =
            optimal::for_budget(&stages, budget, &mut || begun.elapsed().as_secs() < 60).expect("it is affordable");
        longest = longest.max(begun.elapsed().as_secs_f64());
        unproven += u32::from(!best.is_proven);
        for (planner, apart) in PLANNERS.iter().zip(&mut apart) {
            let planned = (planner.1)(&stages, budget);
            assert!(planned.cost <= budget, "{} seed {seed}", planner.0);
            assert!(planned.makespan >= best.assigned.makespan, "{} seed {seed}", planner.0);
            apart.push((planned.makespan as f64 / best.assigned.makespan as f64 - 1.0, seed));
        }
    }
    println!(
        "optimal: at most {longest:.3} s, {unproven} not proven\n\n| planner | mean | optimal | worst | its seed |\n|---|---|---|---|---|"
    );
    for ((name, _), apart) in PLANNERS.iter().zip(apart) {
        let mean = apart.iter().map(|(apart, _)| apart).sum::<f64>() / apart.len() as f64;
        let exact = apart.iter().filter(|(apart, _)| *apart == 0.0).count();
        let (worst, seed) = apart.into_iter().max_by(|one, other| one.0.total_cmp(&other.0)).expect("there are seeds");
        println!("| {name} | {:.2} % | {exact} | {:.1} % | {seed} |", mean * 100.0, worst * 100.0);
    }
}

/// Shapes of 100,000 tasks.
fn shapes() -> Vec<(&'static str, Stages)> {
    const TASKS: u32 = 100_000;
    let make = |seed: u64, width: u32, in_stage: u32, degree: u64| {
        let mut rng = Rng::new(seed);
        let count = TASKS / in_stage;
        let tables: Vec<_> = (0..1000).map(|_| table(&mut rng, 8)).collect();
        let tasks: Vec<Vec<u32>> =
            (0..count).map(|_| (0..in_stage).map(|_| rng.below(1000) as u32).collect()).collect();
        let mut edges = Vec::new();
        for stage in width..count {
            let before = stage / width * width - width;
            edges.extend((0..degree).map(|_| (before + rng.below(width.into()) as u32, stage)));
        }
        Stages::new(tables, tasks, edges).expect("edges lead forward")
    };
    let joined = {
        let mut rng = Rng::new(9);
        let tables: Vec<_> = (0..1000).map(|_| table(&mut rng, 8)).collect();
        let tasks: Vec<Vec<u32>> = (0..TASKS).map(|_| vec![rng.below(1000) as u32]).collect();
        let edges = (0..TASKS - 1).map(|stage| (stage, TASKS - 1)).collect();
        Stages::new(tables, tasks, edges).expect("edges lead forward")
    };
    vec![
        ("1,000 stages of 100, 10 wide", make(1, 10, 100, 2)),
        ("1,000 stages of 100 in a row", make(2, 1, 100, 1)),
        ("100,000 in a row", make(3, 1, 1, 1)),
        ("100,000, 1,000 wide", make(4, 1000, 1, 2)),
        ("100,000, 100 wide", make(5, 100, 1, 2)),
        ("100,000, 10 wide", make(6, 10, 1, 2)),
        ("99,999 and one that waits for all", joined),
    ]
}

fn speed(only: &str) {
    println!("| tasks | spare money used | greedy | greedy-stage |\n|---|---|---|---|");
    for (name, stages) in shapes().into_iter().filter(|(name, _)| name.contains(only)) {
        let [least, most] = [stages.cheapest(), stages.fastest()].map(|ranks| stages.cost(&ranks));
        for part in [10, 50, 100] {
            let budget = least + (most - least) / 100 * part;
            let timed = |planner: Planner| {
                let begun = Instant::now();
                let planned = planner(&stages, budget);
                (begun.elapsed().as_secs_f64(), planned.makespan)
            };
            let [one, other] = [PLANNERS[0].1, PLANNERS[1].1].map(timed);
            println!("| {name} | {part} % | {:.2} s | {:.2} s |", one.0, other.0);
        }
    }
}
