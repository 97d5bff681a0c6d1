//! Planners by their names, and what all of them are asked: the fastest plan for a budget, the cheapest for a deadline, or one that keeps both.

use super::b_rate::BRate;
use super::b_swap::BSwap;
use super::critical_greedy::CriticalGreedy;
use super::exchange::{Gain, Loss, Weights};
use super::extremes::Extreme;
use super::fit::{Effort, Explored, Fit};
use super::frontier::Curve;
use super::ggb::Ggb;
use super::greedy::Greedy;
use super::greedy_stage::GreedyStage;
use super::ic_pcp::IcPcp;
use super::instances::{Problem, Run, Schedule};
use super::layout::Layout;
use super::optimal::Optimum;
use super::progress::{ByProgress, Priority};
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

impl Limits {
    /// Whether the cheapest plan is wanted, and not the fastest: who only says by when wants no more than that.
    pub fn is_for_cost(&self) -> bool {
        self.budget.is_none() && self.deadline.is_some()
    }

    /// Whether something that costs and takes so much keeps them.
    pub fn keeps(&self, cost: u64, makespan: u64) -> bool {
        self.budget.is_none_or(|budget| cost <= budget) && self.deadline.is_none_or(|deadline| makespan <= deadline)
    }
}

/// What no plan within limits is better than.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bound {
    /// None is faster.
    Time(u64),
    /// None is cheaper.
    Cost(u64),
}

/// What a planner is given.
#[derive(Clone, Copy)]
pub struct Asked<'a> {
    /// Tasks in stages, with their tables.
    pub layout: &'a Layout,
    /// The same tasks, for whoever puts them on instances.
    pub problem: &'a Problem<'a>,
    /// What was found out on the way to earlier plans.
    pub explored: &'a Explored,
    /// How many tasks can run at once, for whoever minds that.
    pub slots: u64,
    /// Is asked now and then by who may take long.
    pub may_go_on: &'a dyn Fn() -> bool,
}

impl<'a> Asked<'a> {
    /// The stages.
    pub fn stages(&self) -> &'a Stages {
        &self.layout.stages
    }
}

/// What was decided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decided {
    /// A type of machine for each task: as many machines as anyone could wish, each charged for as long as a task runs.
    Types(Assigned),
    /// Instances that are rented, and when each task runs on which of them.
    Instances(Schedule),
}

/// A plan, as far as one is better than others.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// What was decided.
    pub decided: Decided,
    /// Whether nothing better keeps the limits.
    pub is_proven: bool,
    /// What no plan that keeps the limits is better than, if that was found out on the way.
    pub bound: Option<Bound>,
}

impl Planned {
    /// A plan of which nobody knows how good it is.
    pub fn unproven(decided: Decided) -> Planned {
        Planned { decided, is_proven: false, bound: None }
    }

    /// How long it takes.
    pub fn makespan(&self) -> u64 {
        match &self.decided {
            Decided::Types(assigned) => assigned.makespan,
            Decided::Instances(schedule) => schedule.makespan,
        }
    }

    /// What it costs.
    pub fn cost(&self) -> u64 {
        match &self.decided {
            Decided::Types(assigned) => assigned.cost,
            Decided::Instances(schedule) => schedule.cost.0,
        }
    }

    /// For each task of the workflow, the number of its type of machine.
    pub fn machine_of(&self, layout: &Layout) -> Vec<u16> {
        match &self.decided {
            Decided::Types(assigned) => layout.machine_of(&assigned.ranks),
            Decided::Instances(schedule) => {
                let instance = |run: &Run| schedule.instances[run.instance as usize].machine;
                schedule.runs.iter().map(instance).collect()
            }
        }
    }
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

/// A planner. Those that plan for budgets only are asked again and again for a deadline, by halves.
pub trait Plan {
    /// The fastest plan that it finds for a budget that is enough for the cheapest.
    fn for_budget(&self, asked: &Asked<'_>, budget: u64) -> Planned;

    /// The cheapest plan that it finds for a deadline that the fastest keeps.
    fn for_deadline(&self, asked: &Asked<'_>, deadline: u64) -> Result<Planned, Infeasible> {
        by_halves(asked, deadline, |budget| self.for_budget(asked, budget))
    }

    /// Plans, within limits.
    fn plan(&self, asked: &Asked<'_>, limits: Limits) -> Result<Planned, Infeasible> {
        within(self, asked, limits)
    }

    /// Who plans instead, if tasks are so many that it would take too long.
    fn instead(&self, _asked: &Asked<'_>) -> Option<&'static str> {
        None
    }

    /// The curve of all plans that are worth it, if it can be read off.
    fn curve(&self, _asked: &Asked<'_>) -> Option<Curve> {
        None
    }
}

/// The names that [`by_name`] knows, the default first.
pub const NAMES: [&str; 14] = [
    "fit",
    "optimal",
    "greedy-stage",
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
    "ic-pcp",
];

/// The planner with a name.
pub fn by_name(policy: &Policy) -> Result<Box<dyn Plan>, BadPolicy> {
    let parameters: &[&str] = match policy.name.as_str() {
        "loss" | "gain" => &["weights"],
        "progress" => &["first"],
        "fit" => &["schedules"],
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
        "fit" => Box::new(Fit(Effort::of_policy(policy)?)),
        "cheapest" => Box::new(Extreme::Cheapest),
        "fastest" => Box::new(Extreme::Fastest),
        "optimal" => Box::new(Optimum),
        "greedy" => Box::new(Greedy),
        "greedy-stage" => Box::new(GreedyStage),
        "progress" => Box::new(ByProgress(first()?)),
        "loss" => Box::new(Loss(weights()?)),
        "gain" => Box::new(Gain(weights()?)),
        "critical-greedy" => Box::new(CriticalGreedy),
        "ggb" => Box::new(Ggb),
        "b-rate" => Box::new(BRate),
        "b-swap" => Box::new(BSwap),
        "ic-pcp" => Box::new(IcPcp),
        _ => return Err(policy.unknown("plan", &NAMES)),
    })
}

/// Whether it rents instances by itself.
pub fn rents(policy: &Policy) -> bool {
    policy.name == "fit"
}

/// Plans within limits with a planner that knows one limit at a time.
fn within<P: Plan + ?Sized>(planner: &P, asked: &Asked<'_>, limits: Limits) -> Result<Planned, Infeasible> {
    let stages = asked.stages();
    let least = stages.cost(&stages.cheapest());
    if limits.budget.is_some_and(|budget| budget < least) {
        return Err(Infeasible::Budget { least });
    }
    let fastest = stages.makespan(&stages.fastest());
    if limits.deadline.is_some_and(|deadline| deadline < fastest) {
        return Err(Infeasible::Deadline { least: fastest });
    }
    let Some(deadline) = limits.deadline else {
        let planned = planner.for_budget(asked, limits.budget.unwrap_or(u64::MAX));
        return match limits.budget {
            Some(budget) if planned.cost() > budget => Err(Infeasible::Budget { least: planned.cost() }),
            _ => Ok(planned),
        };
    };
    let Some(budget) = limits.budget else { return planner.for_deadline(asked, deadline) };
    // The fastest for the money, if that is early enough; some planners do better when they are asked for a time.
    let fastest = planner.for_budget(asked, budget);
    if limits.keeps(fastest.cost(), fastest.makespan()) {
        return Ok(fastest);
    }
    let cheapest = planner.for_deadline(asked, deadline)?;
    if limits.keeps(cheapest.cost(), cheapest.makespan()) {
        return Ok(Planned { bound: None, is_proven: false, ..cheapest });
    }
    Err(Infeasible::Both { cost_in_time: cheapest.cost(), time_for_budget: fastest.makespan() })
}

/// So often a budget is halved to find the least that keeps a deadline: then it is known to a millionth of a millionth.
const HALVES: u32 = 40;

/// So many budgets are tried if the greatest is not enough for a deadline: as many as a curve has points.
const TRIED: u64 = 24;

/// The cheapest plan for a deadline, of somebody who plans for budgets.
fn by_halves(asked: &Asked<'_>, deadline: u64, for_budget: impl Fn(u64) -> Planned) -> Result<Planned, Infeasible> {
    let stages = asked.stages();
    let [least, most] = [stages.cheapest(), stages.fastest()].map(|ranks| stages.cost(&ranks));
    let mut kept = for_budget(most);
    if kept.makespan() > deadline && !(asked.may_go_on)() {
        // Whoever had no time to plan has not found out that nothing is early enough.
        kept = Planned::unproven(Decided::Types(stages.figures(stages.fastest())));
    }
    if kept.makespan() > deadline {
        // Some are no faster for more money, and faster for less.
        let budget = |at: u64| most - (u128::from(most - least) * u128::from(at) / u128::from(TRIED)) as u64;
        let others = (1..=TRIED).take_while(|_| (asked.may_go_on)()).map(|at| for_budget(budget(at)));
        let fastest = others.chain([kept]).min_by_key(|planned| (planned.makespan(), planned.cost()));
        kept = fastest.expect("there is the one for all of the money");
    }
    if kept.makespan() > deadline {
        return Err(Infeasible::Deadline { least: kept.makespan() });
    }
    let (mut too_little, mut enough) = (least, kept.cost());
    let cheapest = for_budget(too_little);
    if cheapest.makespan() <= deadline {
        return Ok(cheapest);
    }
    for _ in 0..HALVES {
        if enough.saturating_sub(too_little) <= 1 || !(asked.may_go_on)() {
            break;
        }
        let middle = too_little + (enough - too_little) / 2;
        let planned = for_budget(middle);
        if planned.makespan() <= deadline {
            enough = planned.cost().min(middle);
            kept = planned;
        } else {
            too_little = middle;
        }
    }
    Ok(kept)
}

#[cfg(test)]
mod tests {
    use super::super::prepared::{Prepared, with};
    use super::*;
    use crate::plan::catalogue::read_machines;
    use crate::workflow::{Format, NoFiles, Workflow};

    const FLOW: &str = "tasks:\n  cut: { noop: true, foreach: { i: 1..3 }, out: 'c{i}', estimate: { time: 60s } }\n  \
                        join: { noop: true, in: [{ all: cut }], out: j, estimate: { time: 120s } }\n";
    const MACHINES: &str = "machines: { small: { price: 0.60 }, large: { price: 1.80, speed: 2 } }";
    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn who_has_no_time_to_plan_does_not_call_a_deadline_too_early() {
        let flow = Workflow::parse(FLOW, Format::Yaml, "f", &NoFiles).unwrap();
        let catalogue = read_machines(MACHINES, "m.yaml").unwrap();
        let prepared = Prepared::by_speed(&flow, &catalogue, false).unwrap();
        let asked = prepared.asked(&|| false);
        for name in NAMES.into_iter().filter(|name| *name != "cheapest") {
            let planner = by_name(&name.parse().unwrap()).unwrap();
            let in_time = planner.plan(&asked, Limits { budget: None, deadline: Some(90 * SECOND) });
            assert!(in_time.as_ref().is_ok_and(|planned| planned.makespan() <= 90 * SECOND), "{name}: {in_time:?}");
        }
    }

    #[test]
    fn the_least_budget_for_a_deadline_is_found_by_halves() {
        with(FLOW, MACHINES, false, |asked| {
            for (seconds, cost) in [(90, 75), (119, 75), (120, 60), (179, 60), (180, 50)] {
                let planned = GreedyStage.for_deadline(asked, seconds * SECOND).unwrap();
                assert_eq!(planned.cost(), cost * 1_000_000_000, "{seconds}");
            }
            assert_eq!(
                Extreme::Cheapest.for_deadline(asked, 90 * SECOND),
                Err(Infeasible::Deadline { least: 180 * SECOND })
            );
        });
    }
}
