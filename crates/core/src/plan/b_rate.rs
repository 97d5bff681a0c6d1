//! B-RATE (Cao, Zhu and Ding, "Distributed workflow scheduling under throughput and budget constraints in grid environments", 2014).
//!
//! Each layer gets its share of the money, and layers are gone through in order: a task gets the row that adds least to its layer, of these the
//! cheapest. It loses where one layer needs more than its share.

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

/// The planner that shares money among layers.
#[derive(Clone, Copy, Debug)]
pub struct BRate;

impl Plan for BRate {
    fn for_budget(&self, asked: &Asked<'_>, budget: u64) -> Planned {
        Planned::unproven(Decided::Types(b_rate(asked.stages(), budget)))
    }
}
