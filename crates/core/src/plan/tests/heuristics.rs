//! Planners against their algorithms as they are written down, which go through everything at every step.

use super::super::b_rate::b_rate;
use super::super::b_swap::b_swap;
use super::super::exchange::{Weights, gain, loss};
use super::super::stages::{Assigned, Ranks, Stages};
use super::super::table::{Row, Table};
use super::problem;

/// Budgets from the least to the most that anything costs.
fn budgets(stages: &Stages) -> impl Iterator<Item = u64> {
    let [least, most] = [stages.cheapest(), stages.fastest()].map(|ranks| stages.cost(&ranks));
    (0..=4).map(move |part| least + (most - least) * part / 4)
}

/// Pairs of a task and a row that it may get.
fn pairs(stages: &Stages, ranks: &Ranks, is_up: bool) -> Vec<(u32, u8)> {
    let onwards = |task: u32| {
        let now = ranks[task as usize];
        if is_up { now + 1..stages.table(task).fastest() + 1 } else { 0..now }
    };
    (0..stages.task_count() as u32).flat_map(|task| onwards(task).map(move |to| (task, to))).collect()
}

fn with(ranks: &Ranks, task: u32, to: u8) -> Ranks {
    let mut then = ranks.clone();
    then[task as usize] = to;
    then
}

/// LOSS1 and LOSS2 (down), GAIN1 and GAIN2 (up): all pairs are weighed once, and each is tried once.
fn exchanged_once(stages: &Stages, budget: u64, is_up: bool, by_makespan: bool) -> Assigned {
    let mut ranks = if is_up { stages.cheapest() } else { stages.fastest() };
    let weight = |(task, to): (u32, u8)| {
        let (now, then) = (stages.row(&ranks, task), stages.table(task).row(to));
        let time = match by_makespan {
            true => stages.makespan(&ranks).abs_diff(stages.makespan(&with(&ranks, task, to))),
            false => now.time.abs_diff(then.time),
        };
        time as f64 / now.price.abs_diff(then.price) as f64
    };
    let mut open: Vec<(f64, (u32, u8))> =
        pairs(stages, &ranks, is_up).into_iter().map(|pair| (weight(pair), pair)).collect();
    let sign = if is_up { -1.0 } else { 1.0 };
    open.sort_by(|(one, pair), (other, place)| (one * sign).total_cmp(&(other * sign)).then(pair.cmp(place)));
    for (_, (task, to)) in open {
        let now = ranks[task as usize];
        let then = with(&ranks, task, to);
        let is_wanted = if is_up { to > now } else { to < now && stages.cost(&ranks) > budget };
        if is_wanted && (!is_up || stages.cost(&then) <= budget) {
            ranks = then;
        }
    }
    stages.figures(ranks)
}

#[test]
fn exchanges_that_are_weighed_once_are_those_that_are_written_down() {
    for seed in 1..=300 {
        let stages = problem(seed, seed % 4 == 0);
        for budget in budgets(&stages) {
            for (weights, by_makespan) in [(Weights::Once, false), (Weights::Makespan, true)] {
                let told = format!("seed {seed}, budget {budget}, {weights:?}");
                let [down, up] = [false, true].map(|is_up| exchanged_once(&stages, budget, is_up, by_makespan));
                assert_eq!(loss(&stages, budget, weights, &|| true), down, "{told}");
                assert_eq!(gain(&stages, budget, weights, &|| true), up, "{told}");
            }
        }
    }
}

/// B-SWAP: the swap that costs least throughput for its money, again and again.
fn swapped(stages: &Stages, budget: u64) -> Assigned {
    let mut ranks = stages.fastest();
    while stages.cost(&ranks) > budget {
        // As a fraction: what throughput falls by, for each unit of money.
        let weight = |&(task, to): &(u32, u8)| {
            let then = with(&ranks, task, to);
            let [before, after] = [&ranks, &then].map(|ranks| u128::from(stages.makespan(ranks).max(1)));
            (after - before, before * after * u128::from(stages.cost(&ranks) - stages.cost(&then)))
        };
        let swaps = pairs(stages, &ranks, false);
        let by_weight = |one: &&(u32, u8), other: &&(u32, u8)| {
            let [(over, under), (other_over, other_under)] = [weight(one), weight(other)];
            (over * other_under).cmp(&(other_over * under)).then(one.cmp(other))
        };
        let best = swaps.iter().min_by(by_weight).unwrap();
        ranks[best.0 as usize] = best.1;
    }
    stages.figures(ranks)
}

#[test]
fn swaps_are_those_that_are_written_down() {
    for seed in 1..=300 {
        let stages = problem(seed, seed % 4 == 0);
        for budget in budgets(&stages) {
            assert_eq!(b_swap(&stages, budget, &|| true), swapped(&stages, budget), "seed {seed}, budget {budget}");
        }
    }
}

/// Two tasks, and a third that waits for both; each has a slow row and a fast one.
fn two_layers(rows: [[(u64, u64); 2]; 3]) -> Stages {
    let table = |rows: [(u64, u64); 2]| {
        let row = |(machine, (time, price)): (usize, (u64, u64))| Row { time, price, machine: machine as u16 };
        Table::of(rows.into_iter().enumerate().map(row)).unwrap()
    };
    Stages::new(rows.map(table).to_vec(), (0..3).map(|at| vec![at]), vec![(0, 2), (1, 2)]).unwrap()
}

#[test]
fn each_layer_has_its_share_of_the_money() {
    let stages = two_layers([[(10, 10), (5, 20)], [(8, 10), (4, 14)], [(10, 20), (5, 30)]]);
    let planned = |budget| b_rate(&stages, budget).ranks;
    // Of 20 that can be spent, half is for each layer; the slower of the first two comes first.
    assert_eq!(planned(60), [1, 0, 1]);
    // Half of 10 is enough for nobody in the first layer who makes it faster, and the second has what is left.
    assert_eq!(planned(50), [0, 0, 1]);
    // With money for both, the first layer is as fast as it can be.
    assert_eq!(planned(68), [1, 1, 1]);
    let free = two_layers([[(10, 0), (5, 20)], [(8, 0), (4, 14)], [(10, 0), (5, 30)]]);
    assert_eq!(
        b_rate(&free, 34).ranks,
        [1, 1, 0],
        "where the cheapest plan costs nothing, money is spent all the same"
    );
}
