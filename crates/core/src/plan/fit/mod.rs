//! `fit`: a plan for machines of which there are only so many, that are charged by the hour, minute or second, that have to start, and to which data has to be brought.
//!
//! ```text
//!   drafts: how many instances of each type at most, where a task is best off, perhaps what a planner of types says
//!      │
//!      ▼   the packer makes a schedule of each, with its cost and its makespan, and takes a second look at it
//!   the most promising draft for the limits ──▶ drafts beside it: one instance more, one less, another type, an earlier or a later target ──▶ the first that is better ──▶ …
//! ```
//!
//! The thesis leaves it for later. Whoever is charged by the hour does not pay for tasks but for fleets, so fleets are what is searched, and the packer
//! decides the rest: that is why it wins where hours count. What other planners would do with the same packer is among the drafts, so it is not behind them: all that are quick up to 2,000 tasks, some up to 20,000. It loses where
//! nobody limits machines and every second is charged for itself: there, `optimal` proves what this only finds.
//!
//! The search ends after so many schedules, not after so much time: the same workflow has the same plan on every machine.

mod drafts;
mod search;

pub use search::{Entry, Known, Search};

use std::cell::RefCell;
use std::collections::BTreeSet;

use self::drafts::part_of;
use super::b_rate::BRate;
use super::b_swap::BSwap;
use super::catalogue::Catalogue;
use super::critical_greedy::CriticalGreedy;
use super::exchange::{Gain, Loss, Weights};
use super::extremes::Extreme;
use super::frontier::{Curve, Point};
use super::ggb::Ggb;
use super::greedy::Greedy;
use super::greedy_stage::GreedyStage;
use super::ic_pcp::IcPcp;
use super::instances::{Problem, Schedule};
use super::planner::{Asked, Decided, Infeasible, Limits, Plan, Planned};
use super::rented::{BUDGETS, guesses};
use crate::policy::{BadPolicy, Policy};

/// How much is tried along the curve. What a schedule takes is how many places are looked at for its tasks, a tenth of a microsecond each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effort {
    /// Schedules at most.
    pub schedules: usize,
    /// Places that are looked at for tasks, in all schedules together.
    pub looks: usize,
}

/// So many schedules are enough that more hardly ever help, and so many places are looked at in some twenty seconds.
const USUAL: Effort = Effort { schedules: 10_000, looks: 250_000_000 };

/// Fifths of the effort: for all of the curve, for each of its three ends, and once more for what is asked for.
const FOR_THE_CURVE: usize = 2;
const FOR_AN_END: usize = 1;
const FOR_A_GOAL: usize = 2;

impl Effort {
    const NO_END: Effort = Effort { schedules: usize::MAX, looks: usize::MAX };

    fn fifths(self, count: usize) -> Effort {
        Effort { schedules: self.schedules.saturating_mul(count).div_ceil(5), looks: self.looks / 5 * count }
    }

    /// So many schedules, or as many as is usual.
    pub fn of(schedules: usize) -> Effort {
        if schedules == 0 { USUAL } else { Effort { schedules, looks: usize::MAX } }
    }

    /// As much as the name of a planner says: `fit:schedules=500`.
    pub fn of_policy(policy: &Policy) -> Result<Effort, BadPolicy> {
        Ok(Effort::of(policy.count("schedules", 0)? as usize))
    }
}

/// What is known of a curve, and by how much effort: kept for whoever asks next.
pub type Explored = RefCell<Option<(Effort, Known)>>;

/// The planner.
#[derive(Clone, Copy, Debug)]
pub struct Fit(pub Effort);

impl Plan for Fit {
    fn for_budget(&self, asked: &Asked<'_>, budget: u64) -> Planned {
        let limits = Limits { budget: Some(budget), deadline: None };
        let planned = self.plan(asked, limits).or_else(|_| self.plan(asked, Limits::default()));
        planned.unwrap_or_else(|_| GreedyStage.for_budget(asked, budget))
    }

    fn plan(&self, asked: &Asked<'_>, limits: Limits) -> Result<Planned, Infeasible> {
        let schedule = found(asked, limits, self.0).best_for(limits)?;
        Ok(Planned::unproven(Decided::Instances(schedule)))
    }

    fn curve(&self, asked: &Asked<'_>) -> Option<Curve> {
        Some(Curve { points: explored(asked, self.0).points(), is_exact: false })
    }
}

/// More tasks than the first are not planned by others as well, more than the second by some of them, and no more than the third also by those that take long.
const MOST_TASKS: usize = 20_000;
const MANY_TASKS: usize = 2_000;
const FEW_TASKS: usize = 300;
/// With so many budgets each of some is asked.
const FEW_BUDGETS: u64 = 8;

/// What others would do: planners of types that are quick, those that are good first.
fn others(asked: &Asked<'_>) -> Vec<Vec<u16>> {
    let tasks = asked.problem.task_count();
    let some: [&dyn Plan; 3] = [&GreedyStage, &IcPcp, &Ggb];
    let rest: [&dyn Plan; 9] = [
        &BSwap,
        &Loss(Weights::Once),
        &Loss(Weights::Makespan),
        &Greedy,
        &CriticalGreedy,
        &BRate,
        &Gain(Weights::Once),
        &Extreme::Cheapest,
        &Extreme::Fastest,
    ];
    if tasks > MOST_TASKS {
        return Vec::new();
    }
    let slow: [&dyn Plan; 3] = [&Gain(Weights::Makespan), &Gain(Weights::Again), &Loss(Weights::Again)];
    let rest = rest.iter().filter(|_| tasks <= MANY_TASKS);
    let slow = slow.iter().filter(|_| tasks <= FEW_TASKS);
    let planners = some.iter().chain(rest).chain(slow);
    let budgets = if tasks > MANY_TASKS { FEW_BUDGETS } else { BUDGETS };
    let mut known = BTreeSet::new();
    let mut all: Vec<Vec<u16>> = planners.flat_map(|planner| guesses(*planner, asked, budgets)).collect();
    all.retain(|types| known.insert(types.clone()));
    all
}

/// So many instances of a type at most, and so many at least, if there are as many tasks.
const MOST_INSTANCES: u32 = 4096;
const MANY_INSTANCES: u32 = 16;
/// A single schedule looks at no more places than this, if that leaves many instances: it is to take seconds.
const LOOKS_OF_ONE: usize = 200_000_000;

/// How many instances of each type there may be: no machine is of use to more tasks than there are, and where tasks are many, not all of many machines can be looked at for each.
pub fn most(catalogue: &Catalogue, tasks: usize) -> Vec<u32> {
    let in_time = LOOKS_OF_ONE / tasks.saturating_mul(catalogue.machines.len()).max(1);
    let in_time = u32::try_from(in_time).unwrap_or(u32::MAX).clamp(MANY_INSTANCES, MOST_INSTANCES);
    let sensible = u32::try_from(tasks).unwrap_or(u32::MAX).clamp(1, in_time);
    catalogue.machines.iter().map(|machine| machine.count.unwrap_or(u32::MAX).min(sensible)).collect()
}

/// All that a search comes across on the way along the curve. Whoever asks for a limit knows all of it: what the curve shows can be had.
fn explored<'p>(asked: &Asked<'p>, effort: Effort) -> Search<'p> {
    if let Some((_, known)) = asked.explored.borrow().as_ref().filter(|(other, _)| *other == effort) {
        return Search::again(asked.problem, known.clone());
    }
    let mut may_go_on = || (asked.may_go_on)();
    let mut search = Search::new(asked.problem, &others(asked));
    search.allow(effort.fifths(FOR_THE_CURVE));
    search.seed(&mut may_go_on);
    search.climb(Limits::default(), &mut may_go_on);
    // The ends are what people ask for first. Whoever has money for the fastest plan of all is not to pay more for it than has to be, and likewise for the cheapest.
    let ends: [fn(&Search<'_>) -> Limits; 3] = [
        |search| Limits { budget: None, deadline: Some(search.least_time()) },
        |search| Limits { budget: None, deadline: Some(search.any_time()) },
        |search| Limits { budget: Some(search.least_cost()), deadline: None },
    ];
    for end in ends {
        let goal = end(&search);
        pursue(&mut search, goal, effort.fifths(FOR_AN_END), &mut may_go_on);
    }
    if may_go_on() {
        asked.explored.replace(Some((effort, search.known().clone())));
    }
    search
}

/// All that a search comes across that looks for the best for some limits. Who has two knows all that is found for either of them.
fn found<'p>(asked: &Asked<'p>, limits: Limits, effort: Effort) -> Search<'p> {
    let mut search = explored(asked, effort);
    let has_both = limits.budget.is_some() && limits.deadline.is_some();
    let parts = [Limits { deadline: None, ..limits }, Limits { budget: None, ..limits }];
    for goal in parts.into_iter().filter(|_| has_both).chain([limits]).filter(|goal| *goal != Limits::default()) {
        pursue(&mut search, goal, effort.fifths(FOR_A_GOAL), &mut || (asked.may_go_on)());
    }
    search
}

/// Looks for the best for some limits.
fn pursue(search: &mut Search<'_>, goal: Limits, effort: Effort, may_go_on: &mut dyn FnMut() -> bool) {
    search.allow(effort);
    search.aim(goal, may_go_on);
    search.climb(goal, may_go_on);
}

/// The best schedule for some limits of those in which each task is on the type that a planner has given it: `guesses` are its plans for many budgets.
pub(super) fn packed(
    problem: &Problem<'_>,
    guesses: &[Vec<u16>],
    limits: Limits,
    may_go_on: &mut dyn FnMut() -> bool,
) -> Result<Schedule, Infeasible> {
    let mut search = Search::new(problem, guesses);
    search.pack_guesses(limits.deadline, may_go_on);
    search.best_for(limits)
}

/// The curve of all that such a planner comes across.
pub(super) fn packed_curve(problem: &Problem<'_>, guesses: &[Vec<u16>], may_go_on: &mut dyn FnMut() -> bool) -> Curve {
    let mut search = Search::new(problem, guesses);
    search.pack_guesses(None, may_go_on);
    Curve { points: search.points(), is_exact: false }
}

/// Who wants it faster wants this much of it at least, in hundredths.
const FASTER: u64 = 2;

/// Where more money would go: a few schedules that are faster than one for more money, the cheapest first.
pub fn faster(asked: &Asked<'_>, than: &Schedule, effort: Effort, most: usize) -> Vec<Schedule> {
    let limits = Limits { budget: None, deadline: Some(part_of(than.makespan, 100 - FASTER)) };
    let search = found(asked, limits, effort);
    let worth_it = search.points().into_iter();
    let worth_it = worth_it.filter(|point| point.cost > than.cost.0 && Some(point.makespan) <= limits.deadline);
    let schedule = |point: Point| search.best_for(Limits { budget: Some(point.cost), deadline: None }).ok();
    worth_it.take(most).filter_map(schedule).collect()
}

#[cfg(test)]
mod tests {
    use super::super::prepared;
    use super::*;

    fn with<T>(flow: &str, machines: &str, ask: impl FnOnce(&Asked<'_>) -> T) -> T {
        prepared::with(flow, machines, true, ask)
    }

    const FLOW: &str = "tasks:\n  cut: { noop: true, foreach: { i: 1..9 }, out: [{ path: 'c{i}', size: 1GB }], estimate: { time: 700s } }\n  \
                        join: { noop: true, in: [{ all: cut }], out: j, estimate: { time: 900s } }\n";
    const MACHINES: &str = "billing: hour\nmachines: { one: { price: 0.10, cpus: 2, count: 4, start: 1m }, two: { price: 0.35, cpus: 4, speed: 2, count: 2, start: 1m } }";

    #[test]
    fn a_type_on_which_nothing_ever_ends_is_no_reason_to_fail() {
        let slow = "machines: { slow: { price: 0.2, speed: 0.001, count: 1 }, fast: { price: 0.1, count: 3 } }";
        let long = FLOW.replace("700s", "20d").replace("1..9", "1..61");
        let planned = with(&long, slow, |asked| Fit(Effort::of(60)).plan(asked, Limits::default()));
        assert!(planned.is_ok(), "{planned:?}");
    }

    #[test]
    fn what_is_known_for_one_limit_is_known_for_others() {
        let plan = |budget, deadline| {
            with(FLOW, MACHINES, |asked| Fit(Effort::of(400)).plan(asked, Limits { budget, deadline }))
        };
        let times: Vec<u64> = (15..60).step_by(5).map(|minutes| minutes * 60_000_000_000).collect();
        let mut before = u64::MAX;
        for deadline in times {
            let Ok(in_time) = plan(None, Some(deadline)) else { continue };
            assert!(in_time.cost() <= before, "a later deadline costs more");
            before = in_time.cost();
            let for_money = plan(Some(in_time.cost()), None).unwrap();
            assert!(for_money.makespan() <= in_time.makespan(), "{deadline}: for that money it can be done sooner");
            let both = plan(Some(in_time.cost()), Some(deadline)).unwrap();
            assert!(both.makespan() <= in_time.makespan(), "{deadline}");
        }
        assert!(before < u64::MAX);
    }

    #[test]
    fn who_has_more_money_than_is_needed_does_not_pay_more() {
        let plan = |budget, deadline| {
            with(FLOW, MACHINES, |asked| Fit(Effort::of(400)).plan(asked, Limits { budget, deadline }).unwrap())
        };
        let fastest = plan(None, None);
        let least = plan(None, Some(fastest.makespan())).cost();
        for rich in [None, Some(1_000_000_000_000_000)] {
            let planned = plan(rich, None);
            assert_eq!((planned.makespan(), planned.cost()), (fastest.makespan(), least), "{rich:?}");
        }
    }

    #[test]
    fn what_the_curve_shows_can_be_had() {
        const HOUR: u64 = 3_600_000_000_000;
        for billing in ["hour", "minute", "second"] {
            let machines = MACHINES.replace("hour", billing);
            with(FLOW, &machines, |asked| {
                let fit = Fit(Effort::of(300));
                let Curve { points, .. } = fit.curve(asked).unwrap();
                let plan = |budget, deadline| fit.plan(asked, Limits { budget, deadline }).unwrap();
                for point in &points {
                    let fast = plan(Some(point.cost), None);
                    assert!(fast.makespan() <= point.makespan, "{billing}: {point:?}");
                    let cheap = plan(None, Some(point.makespan));
                    assert!(cheap.cost() <= point.cost, "{billing}: {point:?}");
                }
                // Whoever has any time pays as little as whoever begins with the money.
                let least = points[0].cost;
                assert!((1..200).step_by(20).all(|hours| plan(None, Some(hours * HOUR)).cost() >= least), "{billing}");
            });
        }
    }

    #[test]
    fn who_has_no_time_to_plan_does_not_call_a_budget_too_small() {
        let flow = FLOW.replace("1..9", "1..60");
        let machines =
            "billing: hour\nmachines: { one: { price: 0.10, cpus: 8 }, two: { price: 3, cpus: 8, speed: 2 } }";
        prepared::with_patience(&flow, machines, &|| false, |asked| {
            let earliest = Fit(Effort::of(400)).plan(asked, Limits::default()).unwrap();
            let budget = earliest.cost() / 2;
            let planned = Fit(Effort::of(400)).plan(asked, Limits { budget: Some(budget), deadline: None });
            assert!(planned.as_ref().is_ok_and(|planned| planned.cost() <= budget), "{budget}: {planned:?}");
        });
    }

    #[test]
    fn what_is_planned_can_be_carried_out() {
        with(FLOW, MACHINES, |asked| {
            let Curve { points, .. } = Fit(Effort::of(200)).curve(asked).unwrap();
            assert!(points.len() > 2 && points.is_sorted_by(|one, other| one.makespan > other.makespan));
            for point in points {
                let limits = Limits { budget: Some(point.cost), deadline: None };
                let planned = Fit(Effort::of(200)).plan(asked, limits).unwrap();
                let Decided::Instances(schedule) = planned.decided else { panic!("fit rents") };
                assert_eq!(schedule.fault(asked.problem), None);
                assert!(schedule.cost.0 <= point.cost);
            }
        });
    }
}
