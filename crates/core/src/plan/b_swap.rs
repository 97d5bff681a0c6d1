//! B-SWAP (Cao, Zhu and Ding, "Distributed workflow scheduling under throughput and budget constraints in grid environments", 2014).
//!
//! It begins as fast as can be and swaps where throughput, the inverse of the makespan, falls least for the money. Each swap is the best of all that can be made, so it is slow:
//! where tasks are many, `loss` plans instead, which goes the same way by what single tasks lose.

use std::cmp::Ordering;

use super::exchange::{Weights, loss};
use super::planner::{Asked, Decided, Plan, Planned};
use super::stages::{Assigned, Stages};

/// With more tasks than this, swaps are chosen by what tasks lose instead of all of it.
const MOST_SWAPPED: usize = 3_000;

/// How much throughput is lost for the money: the fall of the makespan's inverse is this much longer by this long, but for what is the same for all swaps.
#[derive(Clone, Copy)]
struct Loss {
    longer: u64,
    /// The makespan after it, times the money.
    by: u128,
}

impl Loss {
    /// The product of what is longer and another's denominator: its upper and its lower part.
    fn times(self, by: u128) -> (u128, u64) {
        const HALF: u32 = u64::BITS;
        let low = u128::from(self.longer) * (by & u128::from(u64::MAX));
        let high = u128::from(self.longer) * (by >> HALF) + (low >> HALF);
        (high, low as u64)
    }

    fn compare(self, other: Loss) -> Ordering {
        self.times(other.by).cmp(&other.times(self.by))
    }
}

/// Swaps until the budget is kept; the cheapest plan keeps it. Whoever has no time any more is quick about what is left.
pub fn b_swap(stages: &Stages, budget: u64, may_go_on: &dyn Fn() -> bool) -> Assigned {
    let mut ranks = stages.fastest();
    let stage_of = stages.stage_of_tasks();
    loop {
        let cost = stages.cost(&ranks);
        if cost <= budget {
            return stages.figures(ranks);
        }
        if !may_go_on() {
            return loss(stages, budget, Weights::Once, may_go_on);
        }
        let times = stages.times(&ranks);
        let through = stages.graph().through(&times);
        let makespan = through.iter().copied().max().unwrap_or(0).max(1);
        let swaps =
            (0..stages.task_count() as u32).flat_map(|task| (0..ranks[task as usize]).map(move |to| (task, to)));
        let lost = |&(task, to): &(u32, u8)| {
            let (table, stage) = (stages.table(task), stage_of[task as usize]);
            let (now, then) = (table.row(ranks[task as usize]), table.row(to));
            let longer = then.time.saturating_sub(times[stage as usize]);
            let after = (through[stage as usize] + longer).max(makespan);
            Loss { longer: after - makespan, by: u128::from(after) * u128::from(now.price - then.price) }
        };
        let compare = |one: &(u32, u8), other: &(u32, u8)| lost(one).compare(lost(other)).then(one.cmp(other));
        let (task, to) = swaps.min_by(compare).expect("what costs more than the cheapest plan can be cheaper");
        ranks[task as usize] = to;
    }
}

/// The planner that swaps by throughput.
#[derive(Clone, Copy, Debug)]
pub struct BSwap;

impl Plan for BSwap {
    fn for_budget(&self, asked: &Asked<'_>, budget: u64) -> Planned {
        let stages = asked.stages();
        let assigned = match self.instead(asked) {
            None => b_swap(stages, budget, asked.may_go_on),
            Some(_) => loss(stages, budget, Weights::Once, asked.may_go_on),
        };
        Planned::unproven(Decided::Types(assigned))
    }

    fn instead(&self, asked: &Asked<'_>) -> Option<&'static str> {
        (asked.stages().task_count() > MOST_SWAPPED).then_some("loss")
    }
}
