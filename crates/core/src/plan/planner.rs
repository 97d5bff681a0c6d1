//! Planners by their names, and what all of them are asked: the fastest plan for a budget, the cheapest for a deadline, or one that keeps both.
//!
//! Whoever plans for budgets only is asked again and again for a deadline: the least budget with which it is kept is looked for by halves.

use super::critical_greedy::critical_greedy;
use super::exchange::{Weights, gain, loss};
use super::ggb::ggb;
use super::greedy::greedy;
use super::greedy_stage::greedy_stage;
use super::layers::{b_rate, b_swap};
use super::optimal;
use super::progress::{Job, Priority, Slots, progress};
use super::stages::{Assigned, Stages};
use crate::policy::{BadPolicy, Policy};

/// What a plan has to keep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// The most that it may cost.
    pub budget: Option<u64>,
    /// The longest that it may take.
    pub deadline: Option<u64>,
}

/// A plan, as far as one is better than others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// For each task its row.
    pub assigned: Assigned,
    /// Whether nothing better keeps the limits.
    pub is_proven: bool,
    /// What no plan that keeps the limits is better than, if that was found out on the way: a time, or with a deadline only a cost.
    pub bound: Option<u64>,
}

/// No plan keeps the limits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Infeasible {
    /// Even the cheapest plan costs more: this much.
    Budget {
        /// What it costs.
        least: u64,
    },
    /// Even the fastest plan takes longer: this long.
    Deadline {
        /// How long it takes.
        least: u64,
    },
    /// Either limit can be kept, but this planner knows no plan that keeps both.
    Both {
        /// What it costs to keep the deadline.
        cost_in_time: u64,
        /// How long it takes for the budget.
        time_for_budget: u64,
    },
}

/// A planner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Planner {
    /// Everything on the cheapest machine.
    Cheapest,
    /// Everything on the fastest machine.
    Fastest,
    /// The best plan there is.
    Optimal,
    /// Wylie's.
    Greedy,
    /// The same for whole stages.
    GreedyStage,
    /// WOHA's.
    Progress(Priority),
    /// Sakellariou and others'.
    Loss(Weights),
    /// The same from the other end.
    Gain(Weights),
    /// Lin and Wu's.
    CriticalGreedy,
    /// Wang and Shi's.
    Ggb,
    /// Cao and others'.
    BRate,
    /// The same from the other end.
    BSwap,
}

/// The names that [`by_name`] knows, the default first.
pub const NAMES: [&str; 12] = [
    "greedy-stage",
    "optimal",
    "greedy",
    "cheapest",
    "fastest",
    "progress",
    "loss",
    "gain",
    "critical-greedy",
    "ggb",
    "b-rate",
    "b-swap",
];

/// The planner with a name.
pub fn by_name(policy: &Policy) -> Result<Planner, BadPolicy> {
    let parameters: &[&str] = match policy.name.as_str() {
        "loss" | "gain" => &["weights"],
        "progress" => &["first"],
        _ => &[],
    };
    policy.takes(parameters)?;
    let weights = || {
        let read = |text: &str| match text {
            "once" => Some(Weights::Once),
            "makespan" => Some(Weights::Makespan),
            "again" => Some(Weights::Again),
            _ => None,
        };
        policy.value("weights", Weights::Once, "once, makespan or again", read)
    };
    let first = || {
        let read = |text: &str| match text {
            "level" => Some(Priority::Level),
            "longest" => Some(Priority::LongestWay),
            "descendants" => Some(Priority::Descendants),
            _ => None,
        };
        policy.value("first", Priority::Level, "level, longest or descendants", read)
    };
    Ok(match policy.name.as_str() {
        "cheapest" => Planner::Cheapest,
        "fastest" => Planner::Fastest,
        "optimal" => Planner::Optimal,
        "greedy" => Planner::Greedy,
        "greedy-stage" => Planner::GreedyStage,
        "progress" => Planner::Progress(first()?),
        "loss" => Planner::Loss(weights()?),
        "gain" => Planner::Gain(weights()?),
        "critical-greedy" => Planner::CriticalGreedy,
        "ggb" => Planner::Ggb,
        "b-rate" => Planner::BRate,
        "b-swap" => Planner::BSwap,
        _ => return Err(policy.unknown("plan", &NAMES)),
    })
}

/// So often a budget is halved to find the least that keeps a deadline: then it is known to a millionth of a millionth.
const HALVES: u32 = 40;

impl Planner {
    /// Plans, within limits; `slots` tasks can run at once, for whoever minds that, and `may_go_on` is asked now and then by who may take long.
    pub fn plan(
        self,
        stages: &Stages,
        limits: Limits,
        slots: u64,
        may_go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Planned, Infeasible> {
        let least = stages.cost(&stages.cheapest());
        if limits.budget.is_some_and(|budget| budget < least) {
            return Err(Infeasible::Budget { least });
        }
        let fastest = stages.makespan(&stages.fastest());
        if limits.deadline.is_some_and(|deadline| deadline < fastest) {
            return Err(Infeasible::Deadline { least: fastest });
        }
        match limits {
            Limits { deadline: None, budget } => {
                let planned = self.for_budget(stages, budget.unwrap_or(u64::MAX), slots, may_go_on);
                let cost = planned.assigned.cost;
                match budget {
                    Some(budget) if cost > budget => Err(Infeasible::Budget { least: cost }),
                    _ => Ok(planned),
                }
            }
            Limits { deadline: Some(deadline), budget } => {
                let planned = self.for_deadline(stages, deadline, slots, may_go_on)?;
                match budget {
                    Some(budget) if planned.assigned.cost > budget => {
                        let other = self.for_budget(stages, budget, slots, may_go_on);
                        let time_for_budget = other.assigned.makespan;
                        if time_for_budget <= deadline && other.assigned.cost <= budget {
                            return Ok(other);
                        }
                        Err(Infeasible::Both { cost_in_time: planned.assigned.cost, time_for_budget })
                    }
                    _ => Ok(planned),
                }
            }
        }
    }

    /// The fastest plan that it finds for a budget that is enough for the cheapest.
    fn for_budget(self, stages: &Stages, budget: u64, slots: u64, may_go_on: &mut dyn FnMut() -> bool) -> Planned {
        let assigned = match self {
            Planner::Optimal => {
                let best = optimal::for_budget(stages, budget, may_go_on).expect("the cheapest plan keeps the budget");
                return Planned { assigned: best.assigned, is_proven: best.is_proven, bound: Some(best.bound) };
            }
            Planner::Cheapest => stages.figures(stages.cheapest()),
            Planner::Fastest => stages.figures(stages.fastest()),
            Planner::Progress(by) => progressed(stages, slots, by),
            Planner::Greedy => greedy(stages, budget, |_| {}).best,
            Planner::GreedyStage => greedy_stage(stages, budget, |_| {}).best,
            Planner::Loss(weights) => loss(stages, budget, weights),
            Planner::Gain(weights) => gain(stages, budget, weights),
            Planner::CriticalGreedy => critical_greedy(stages, budget, |_| {}).best,
            Planner::Ggb => ggb(stages, budget, |_| {}).best,
            Planner::BRate => b_rate(stages, budget),
            Planner::BSwap => b_swap(stages, budget),
        };
        Planned { assigned, is_proven: false, bound: None }
    }

    /// The cheapest plan that it finds for a deadline that the fastest keeps.
    fn for_deadline(
        self,
        stages: &Stages,
        deadline: u64,
        slots: u64,
        may_go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Planned, Infeasible> {
        if self == Planner::Optimal {
            let best = optimal::for_deadline(stages, deadline, may_go_on).expect("the fastest plan keeps the deadline");
            return Ok(Planned { assigned: best.assigned, is_proven: best.is_proven, bound: Some(best.bound) });
        }
        let most = stages.cost(&stages.fastest());
        let mut kept = self.for_budget(stages, most, slots, may_go_on);
        if kept.assigned.makespan > deadline {
            return Err(Infeasible::Deadline { least: kept.assigned.makespan });
        }
        let (mut too_little, mut enough) = (stages.cost(&stages.cheapest()), kept.assigned.cost);
        let cheapest = self.for_budget(stages, too_little, slots, may_go_on);
        if cheapest.assigned.makespan <= deadline {
            return Ok(cheapest);
        }
        for _ in 0..HALVES {
            if enough.saturating_sub(too_little) <= 1 || !may_go_on() {
                break;
            }
            let middle = too_little + (enough - too_little) / 2;
            let planned = self.for_budget(stages, middle, slots, may_go_on);
            if planned.assigned.makespan <= deadline {
                enough = planned.assigned.cost.min(middle);
                kept = planned;
            } else {
                too_little = middle;
            }
        }
        Ok(kept)
    }
}

/// All tasks on their fastest machines, with as long as that takes if so many run at once.
fn progressed(stages: &Stages, slots: u64, by: Priority) -> Assigned {
    let fastest = stages.figures(stages.fastest());
    let times = |stage| stages.tasks(stage).map(|task| stages.row(&fastest.ranks, task).time).collect();
    let jobs: Vec<Job> =
        (0..stages.len() as u32).map(|stage| Job { maps: times(stage), reduces: Vec::new() }).collect();
    let plan = progress(stages.graph(), &jobs, Slots { map: slots, reduce: 1 }, by);
    Assigned { makespan: plan.makespan, ..fastest }
}
