//! B-RATE and B-SWAP (Cao, Zhu and Ding, "Distributed workflow scheduling under throughput and budget constraints in grid environments", 2014).
//!
//! B-RATE gives each layer its share of the money and goes through the layers in order: a task gets the row that adds least to the layer, of these the
//! cheapest. It loses where one layer needs more than its share. B-SWAP begins as fast as can be and swaps where throughput, the inverse of
//! the makespan, falls least for the money.

use super::exchange::{Weights, loss};
use super::planner::{Asked, Decided, Plan, Planned};
use super::stages::{Assigned, Stages};

/// Plans layer by layer; the cheapest plan costs no more than the budget.
pub fn b_rate(stages: &Stages, budget: u64) -> Assigned {
    let mut ranks = stages.cheapest();
    let least = stages.cost(&ranks);
    let mut layer_of = vec![0usize; stages.len()];
    let mut layers: Vec<Vec<u32>> = Vec::new();
    for &stage in stages.graph().order() {
        let parents = stages.graph().parents(stage).iter();
        let layer = parents.map(|parent| layer_of[*parent as usize] + 1).max().unwrap_or(0);
        layer_of[stage as usize] = layer;
        if layers.len() <= layer {
            layers.push(Vec::new());
        }
        layers[layer].push(stage);
    }
    // Where the cheapest plan costs nothing, no layer has a share, and what there is goes to the first that wants it.
    let mut unspent = if least == 0 { budget } else { 0 };
    for layer in layers {
        let mut tasks: Vec<u32> = layer.iter().flat_map(|stage| stages.tasks(*stage)).collect();
        let cheapest: u64 = tasks.iter().map(|task| stages.table(*task).row(0).price).sum();
        let share = u128::from(budget - least) * u128::from(cheapest) / u128::from(least.max(1));
        let mut money = share as u64 + unspent;
        // The slowest first: what they take, nobody else in the layer has to be faster than.
        tasks.sort_by_key(|task| (std::cmp::Reverse(stages.table(*task).row(0).time), *task));
        let mut end = 0;
        for task in tasks {
            let table = stages.table(task);
            let affordable = table.rows().iter().take_while(|row| row.price - table.row(0).price <= money);
            let (rank, row) = affordable
                .enumerate()
                .min_by_key(|(rank, row)| (row.time.max(end), *rank))
                .expect("the cheapest row costs nothing more");
            money -= row.price - table.row(0).price;
            end = end.max(row.time);
            ranks[task as usize] = rank as u8;
        }
        unspent = money;
    }
    stages.figures(ranks)
}

/// With more tasks than this, swaps are chosen by what tasks lose instead of all of it.
const MOST_SWAPPED: usize = 3_000;

/// Swaps until the budget is kept; the cheapest plan keeps it.
pub fn b_swap(stages: &Stages, budget: u64) -> Assigned {
    if stages.task_count() > MOST_SWAPPED {
        return loss(stages, budget, Weights::Once);
    }
    let mut ranks = stages.fastest();
    let stage_of = stages.stage_of_tasks();
    loop {
        let cost = stages.cost(&ranks);
        if cost <= budget {
            return stages.figures(ranks);
        }
        let times = stages.times(&ranks);
        let through = stages.graph().through(&times);
        let makespan = through.iter().copied().max().unwrap_or(0).max(1);
        let swaps =
            (0..stages.task_count() as u32).flat_map(|task| (0..ranks[task as usize]).map(move |to| (task, to)));
        let worth = |(task, to): &(u32, u8)| {
            let (table, stage) = (stages.table(*task), stage_of[*task as usize]);
            let (now, then) = (table.row(ranks[*task as usize]), table.row(*to));
            let longer = then.time.saturating_sub(times[stage as usize]);
            let after = (through[stage as usize] + longer).max(makespan);
            let lost = 1.0 / makespan as f64 - 1.0 / after as f64;
            lost / (now.price - then.price) as f64
        };
        let compare = |one: &(u32, u8), other: &(u32, u8)| worth(one).total_cmp(&worth(other)).then(one.cmp(other));
        let (task, to) = swaps.min_by(compare).expect("what costs more than the cheapest plan can be cheaper");
        ranks[task as usize] = to;
    }
}

/// The planner that shares money among layers.
#[derive(Clone, Copy, Debug)]
pub struct BRate;

impl Plan for BRate {
    fn for_budget(&self, asked: &Asked<'_>, budget: u64) -> Planned {
        Planned::unproven(Decided::Types(b_rate(asked.stages(), budget)))
    }
}

/// The planner that swaps by throughput.
#[derive(Clone, Copy, Debug)]
pub struct BSwap;

impl Plan for BSwap {
    fn for_budget(&self, asked: &Asked<'_>, budget: u64) -> Planned {
        Planned::unproven(Decided::Types(b_swap(asked.stages(), budget)))
    }
}
