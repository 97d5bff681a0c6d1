//! LOSS and GAIN (Sakellariou, Zhao, Tsiakkouri and Dikaiakos, "Scheduling workflows with budget constraints", 2007): tasks change machines one by one, those
//! first for which that is worth most.
//!
//! LOSS begins with everything as fast as can be and gives up speed, as little as possible for the money, until the budget is kept; GAIN begins with the
//! cheapest plan and buys speed. Each pair of a task and a machine is tried once. What an exchange is worth is worked out once, or for the makespan instead
//! of the task, or anew after every exchange. They lose because a task that is not on a longest way is worth as much to them as one that is.

use std::cmp::Ordering;

use super::planner::{Asked, Decided, Plan, Planned};
use super::stages::{Assigned, Ranks, Stages};

/// What an exchange is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Weights {
    /// By the times of the task, worked out once: LOSS1, GAIN1.
    #[default]
    Once,
    /// By the makespan, worked out once: LOSS2, GAIN2.
    Makespan,
    /// By the times of the task, anew after each exchange: LOSS3, GAIN3.
    Again,
}

/// What is worked out for more than so many pairs of tasks and machines, times stages, is worked out by the times of tasks instead.
const MOST_LOOKED_AT: usize = 200_000_000;

/// A task that gets another row: the time that is lost or won, and the money that is saved or paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Exchange {
    task: u32,
    to: u8,
    time: u64,
    money: u64,
}

impl Exchange {
    /// Less time for more money first.
    fn cmp_loss(&self, other: &Exchange) -> Ordering {
        let (own, others) =
            (u128::from(self.time) * u128::from(other.money), u128::from(other.time) * u128::from(self.money));
        own.cmp(&others).then_with(|| (self.task, self.to).cmp(&(other.task, other.to)))
    }

    /// More time for less money first.
    fn cmp_gain(&self, other: &Exchange) -> Ordering {
        let (own, others) =
            (u128::from(self.time) * u128::from(other.money), u128::from(other.time) * u128::from(self.money));
        others.cmp(&own).then_with(|| (self.task, self.to).cmp(&(other.task, other.to)))
    }
}

/// Gives up speed until the budget is kept; the cheapest plan keeps it.
pub fn loss(stages: &Stages, budget: u64, weights: Weights) -> Assigned {
    let mut ranks = stages.fastest();
    let mut cost = stages.cost(&ranks);
    while cost > budget {
        let mut exchanges = exchanges(stages, &ranks, weights, |rank, _| 0..rank);
        exchanges.sort_unstable_by(Exchange::cmp_loss);
        for Exchange { task, to, .. } in exchanges {
            if cost <= budget {
                break;
            }
            if to < ranks[task as usize] {
                let table = stages.table(task);
                cost -= table.row(ranks[task as usize]).price - table.row(to).price;
                ranks[task as usize] = to;
                if weights == Weights::Again {
                    break;
                }
            }
        }
    }
    stages.figures(ranks)
}

/// Buys speed as long as the money lasts; the cheapest plan costs no more than the budget.
pub fn gain(stages: &Stages, budget: u64, weights: Weights) -> Assigned {
    let mut ranks = stages.cheapest();
    let mut cost = stages.cost(&ranks);
    loop {
        let mut exchanges = exchanges(stages, &ranks, weights, |rank, fastest| rank + 1..fastest + 1);
        exchanges.sort_unstable_by(Exchange::cmp_gain);
        let mut has_changed = false;
        for Exchange { task, to, .. } in exchanges {
            let (table, now) = (stages.table(task), ranks[task as usize]);
            if to <= now {
                continue;
            }
            let price = table.row(to).price - table.row(now).price;
            if price <= budget - cost {
                cost += price;
                ranks[task as usize] = to;
                has_changed = true;
                if weights == Weights::Again {
                    break;
                }
            }
        }
        if !has_changed || weights != Weights::Again {
            return stages.figures(ranks);
        }
    }
}

/// All exchanges to ranks among these.
fn exchanges(
    stages: &Stages,
    ranks: &Ranks,
    weights: Weights,
    among: impl Fn(u8, u8) -> std::ops::Range<u8>,
) -> Vec<Exchange> {
    let stage_of = stages.stage_of_tasks();
    let pairs: usize = (0..stages.task_count() as u32).map(|task| stages.table(task).rows().len() - 1).sum();
    let by_makespan = weights == Weights::Makespan && pairs.saturating_mul(stages.len()) <= MOST_LOOKED_AT;
    let mut times = if by_makespan { stages.times(ranks) } else { Vec::new() };
    let makespan = if by_makespan { stages.graph().makespan(&times) } else { 0 };
    let mut found = Vec::with_capacity(pairs);
    for task in 0..stages.task_count() as u32 {
        let table = stages.table(task);
        let rank = ranks[task as usize];
        let now = table.row(rank);
        for to in among(rank, table.fastest()) {
            let then = table.row(to);
            let time = if by_makespan {
                let stage = stage_of[task as usize];
                let others = stages.tasks(stage).filter(|other| *other != task);
                let slowest = others.map(|other| stages.row(ranks, other).time).max().unwrap_or(0);
                let before = std::mem::replace(&mut times[stage as usize], slowest.max(then.time));
                let after = stages.graph().makespan(&times);
                times[stage as usize] = before;
                after.abs_diff(makespan)
            } else {
                then.time.abs_diff(now.time)
            };
            found.push(Exchange { task, to, time, money: then.price.abs_diff(now.price) });
        }
    }
    found
}

/// The planner that gives up speed.
#[derive(Clone, Copy, Debug)]
pub struct Loss(pub Weights);

impl Plan for Loss {
    fn for_budget(&self, asked: &Asked<'_>, budget: u64) -> Planned {
        Planned::unproven(Decided::Types(loss(asked.stages(), budget, self.0)))
    }
}

/// The planner that buys speed.
#[derive(Clone, Copy, Debug)]
pub struct Gain(pub Weights);

impl Plan for Gain {
    fn for_budget(&self, asked: &Asked<'_>, budget: u64) -> Planned {
        Planned::unproven(Decided::Types(gain(asked.stages(), budget, self.0)))
    }
}
