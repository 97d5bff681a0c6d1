//! Optimal: the fastest plan for a budget, of these the cheapest, of these the one that leaves the first tasks on the cheapest machines.
//!
//! ```text
//!   stages ─▶ menus (time, cost) ─▶ put together what can be (blocks) ─▶ one block: read off
//!                                                                     └▶ several: branch and bound (search)
//! ```
//!
//! Wylie's Algorithm 4 tries every assignment of machines to tasks. It is enough to try a time for each stage; and stages that stand in a row or side by
//! side can be put together without loss, so that for the published workflows nothing has to be searched at all. Where that is not enough
//! and time runs out, the best plan so far comes with what no plan could beat.

mod blocks;
mod menu;
mod search;

pub use menu::Choice;

use blocks::{Blocks, Priced, Within};
pub(in crate::plan) use menu::menu;
use menu::{Menu, ranks};
use search::{Goal, search};

use super::frontier::{Curve, Point};
use super::greedy_stage::greedy_stage;
use super::planner::{Asked, Bound, Decided, Infeasible, Plan, Planned};
use super::stages::{Assigned, Stages};

/// The best plan that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Optimal {
    /// The plan.
    pub assigned: Assigned,
    /// What no plan within the limit is better than: a makespan for a budget, a cost for a deadline.
    pub bound: u64,
    /// Whether it was shown that there is no better one.
    pub is_proven: bool,
}

/// More stages than this are not put together to blocks: then there is only the search.
const MOST_STAGES: usize = 4_000;
/// With more stages than this, of plans that are equally good any is taken.
const MOST_TOLD_APART: usize = 300;

/// The fastest plan for a budget, if there is any; `may_go_on` is asked now and then.
pub fn for_budget(stages: &Stages, budget: u64, may_go_on: &mut dyn FnMut() -> bool) -> Option<Optimal> {
    let cheapest = stages.cheapest();
    if stages.cost(&cheapest) > budget {
        return None;
    }
    let exact = Exact::new(stages);
    if let Some(assigned) = exact.read_off(stages, Goal::LeastTime { budget }) {
        let assigned = exact.first_of_equals(stages, assigned, may_go_on);
        return Some(Optimal { bound: assigned.makespan, assigned, is_proven: true });
    }
    // Where a search begins is soon found, but for many stages: its patience is for what comes after.
    let start = greedy_stage(stages, budget, |_| stages.len() <= MOST_STAGES || may_go_on()).best;
    let (fastest, bound, is_fastest) =
        exact.searched(stages, Goal::LeastTime { budget }, start.makespan, Some(start), may_go_on)?;
    if !is_fastest {
        return Some(Optimal { assigned: fastest, bound, is_proven: false });
    }
    let deadline = fastest.makespan;
    let (cheapest, _, is_cheapest) =
        exact.searched(stages, Goal::LeastCost { deadline }, fastest.cost, Some(fastest), may_go_on)?;
    let assigned = if is_cheapest { exact.first_of_equals(stages, cheapest, may_go_on) } else { cheapest };
    Some(Optimal { assigned, bound, is_proven: is_cheapest })
}

/// The cheapest plan for a deadline, if there is any; of these the fastest.
pub fn for_deadline(stages: &Stages, deadline: u64, may_go_on: &mut dyn FnMut() -> bool) -> Option<Optimal> {
    let fastest = stages.figures(stages.fastest());
    if fastest.makespan > deadline {
        return None;
    }
    let exact = Exact::new(stages);
    let goal = Goal::LeastCost { deadline };
    if let Some(assigned) = exact.read_off(stages, goal) {
        return Some(Optimal { bound: assigned.cost, assigned, is_proven: true });
    }
    let known = fastest.cost;
    let (assigned, bound, is_proven) = exact.searched(stages, goal, known, Some(fastest), may_go_on)?;
    Some(Optimal { assigned, bound, is_proven })
}

/// Every plan that is worth it, from the cheapest to the fastest, if they can be read off.
pub fn all(stages: &Stages) -> Option<Vec<Choice>> {
    Exact::new(stages).priced(u64::MAX, u64::MAX)?.map(|priced| priced.menu)
}

/// What making a stage faster by one step would save and cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextChoice {
    /// Which stage.
    pub stage: u32,
    /// By how much the whole becomes faster.
    pub saves: u64,
    /// What that costs.
    pub costs: u64,
}

/// So many steps are tried: each means going through all stages once.
const MOST_TRIED: usize = 200;

/// Next steps of single stages that make a plan faster, the best for its money first. One stage alone may not help anywhere, if several ways are as long.
pub fn next_choices(stages: &Stages, plan: &[u8]) -> Vec<NextChoice> {
    let mut times = stages.times(plan);
    let makespan = stages.graph().makespan(&times);
    let next = |stage: u32| {
        let time = times[stage as usize];
        let cost: u64 = stages.tasks(stage).map(|task| stages.row(plan, task).price).sum();
        let choice = menu(stages, stage).into_iter().find(|choice| choice.time < time)?;
        Some(NextChoice { stage, saves: time - choice.time, costs: choice.cost.saturating_sub(cost) })
    };
    // Whoever makes all longest ways shorter is on each of them.
    let mut choices: Vec<NextChoice> = stages.graph().longest_way(&times).into_iter().filter_map(next).collect();
    let by_worth = |one: &NextChoice, other: &NextChoice| {
        let worth = u128::from(other.saves) * u128::from(one.costs);
        worth.cmp(&(u128::from(one.saves) * u128::from(other.costs))).then(one.stage.cmp(&other.stage))
    };
    choices.sort_by(by_worth);
    choices.truncate(MOST_TRIED);
    for choice in &mut choices {
        let before = times[choice.stage as usize];
        times[choice.stage as usize] = before - choice.saves;
        choice.saves = makespan - stages.graph().makespan(&times);
        times[choice.stage as usize] = before;
    }
    choices.retain(|choice| choice.saves > 0);
    choices.sort_by(by_worth);
    choices
}

/// What there is to choose from.
struct Exact {
    menus: Vec<Menu>,
    blocks: Option<Blocks>,
}

impl Exact {
    fn new(stages: &Stages) -> Exact {
        let menus = (0..stages.len() as u32).map(|stage| menu(stages, stage)).collect();
        Exact { menus, blocks: (stages.len() <= MOST_STAGES).then(|| Blocks::of(stages.graph())) }
    }

    fn least_cost(&self) -> u64 {
        self.menus.iter().map(|menu| menu[0].cost).sum()
    }

    /// All stages as one block, if they are one: then, what can be chosen within limits, if anything can.
    fn priced(&self, budget: u64, time: u64) -> Option<Option<Priced<'_>>> {
        let [block] = self.blocks.as_ref()?.blocks.as_slice() else { return None };
        let Some(spare) = budget.checked_sub(self.least_cost()) else { return Some(None) };
        Some(Priced::of(block, &self.menus, Within { spare, time }))
    }

    /// The best plan, if it can be read off.
    fn read_off(&self, stages: &Stages, goal: Goal) -> Option<Assigned> {
        let (priced, choice) = match goal {
            Goal::LeastTime { budget } => {
                let priced = self.priced(budget, u64::MAX)??;
                let fastest = priced.menu.len() - 1;
                (priced, fastest)
            }
            Goal::LeastCost { deadline } => (self.priced(u64::MAX, deadline)??, 0),
        };
        let mut times = vec![0; stages.len()];
        priced.times(choice, &mut times);
        Some(stages.figures(ranks(stages, &times)))
    }

    /// The best plan that a search finds, what none can beat, and whether that was shown.
    fn searched(
        &self,
        stages: &Stages,
        goal: Goal,
        known: u64,
        start: Option<Assigned>,
        may_go_on: &mut dyn FnMut() -> bool,
    ) -> Option<(Assigned, u64, bool)> {
        let budget = match goal {
            Goal::LeastTime { budget } => budget,
            Goal::LeastCost { .. } => known,
        };
        let within = Within { spare: budget.checked_sub(self.least_cost())?, time: u64::MAX };
        let priced: Option<Vec<Priced<'_>>> = self
            .blocks
            .as_ref()
            .and_then(|blocks| blocks.blocks.iter().map(|block| Priced::of(block, &self.menus, within)).collect());
        let (searched, times) = match (&self.blocks, priced) {
            (Some(blocks), Some(priced)) => {
                let menus: Vec<Menu> = priced.iter().map(|priced| priced.menu.clone()).collect();
                let searched = search(&blocks.graph, &menus, goal, known, may_go_on);
                let times = searched.best.as_ref().map(|best| {
                    let mut times = vec![0; stages.len()];
                    let choices = priced.iter().zip(&best.choices);
                    choices.for_each(|(priced, choice)| priced.times(*choice as usize, &mut times));
                    times
                });
                (searched, times)
            }
            _ => {
                let searched = search(stages.graph(), &self.menus, goal, known, may_go_on);
                let chosen = |(menu, choice): (&Menu, &u32)| menu[*choice as usize].time;
                let times =
                    searched.best.as_ref().map(|best| self.menus.iter().zip(&best.choices).map(chosen).collect());
                (searched, times)
            }
        };
        let best = times.map(|times: Vec<u64>| stages.figures(ranks(stages, &times))).or(start)?;
        Some((best, searched.bound, searched.is_proven))
    }

    /// Of all plans that take and cost the same, the one that leaves the first stages as slow as can be.
    fn first_of_equals(&self, stages: &Stages, best: Assigned, may_go_on: &mut dyn FnMut() -> bool) -> Assigned {
        if stages.len() > MOST_TOLD_APART {
            return best;
        }
        let mut best = best;
        let mut fixed = Exact { menus: self.menus.clone(), blocks: self.blocks.clone() };
        for stage in 0..stages.len() {
            let now = stages.time(&best.ranks, stage as u32);
            let slower = self.menus[stage].iter().filter(|choice| choice.time > now);
            for choice in slower {
                if !may_go_on() {
                    return best;
                }
                fixed.menus[stage] = vec![*choice];
                if let Some(equal) = fixed.as_good(stages, &best, may_go_on) {
                    best = equal;
                    break;
                }
            }
            let now = stages.time(&best.ranks, stage as u32);
            fixed.menus[stage] = self.menus[stage].iter().copied().filter(|choice| choice.time == now).collect();
        }
        best
    }

    /// A plan that takes and costs no more.
    fn as_good(&self, stages: &Stages, best: &Assigned, may_go_on: &mut dyn FnMut() -> bool) -> Option<Assigned> {
        if self.least_cost() > best.cost {
            return None;
        }
        let fastest: Vec<u64> = self.menus.iter().map(|menu| menu[menu.len() - 1].time).collect();
        if stages.graph().makespan(&fastest) > best.makespan {
            return None;
        }
        match self.priced(best.cost, best.makespan) {
            Some(priced) => {
                let mut times = vec![0; stages.len()];
                priced?.times(0, &mut times);
                let found = stages.figures(ranks(stages, &times));
                // Spare money is counted from the least that blocks cost in time, which may be more than the least that they cost at all:
                // together they may then cost too much.
                (found.cost <= best.cost).then_some(found)
            }
            None => {
                let goal = Goal::LeastCost { deadline: best.makespan };
                let (found, ..) = self.searched(stages, goal, best.cost + 1, None, may_go_on)?;
                (found.cost <= best.cost).then_some(found)
            }
        }
    }
}

/// The planner.
#[derive(Clone, Copy, Debug)]
pub struct Optimum;

impl Plan for Optimum {
    fn for_budget(&self, asked: &Asked<'_>, budget: u64) -> Planned {
        let best = for_budget(asked.stages(), budget, &mut || (asked.may_go_on)());
        planned(best.expect("the cheapest plan keeps the budget"), Bound::Time)
    }

    fn for_deadline(&self, asked: &Asked<'_>, deadline: u64) -> Result<Planned, Infeasible> {
        let best = for_deadline(asked.stages(), deadline, &mut || (asked.may_go_on)());
        Ok(planned(best.expect("the fastest plan keeps the deadline"), Bound::Cost))
    }

    fn curve(&self, asked: &Asked<'_>) -> Option<Curve> {
        let choices = all(asked.stages())?;
        let points = choices.iter().map(|choice| Point { cost: choice.cost, makespan: choice.time }).collect();
        Some(Curve { points, is_exact: true })
    }
}

fn planned(best: Optimal, bound: impl Fn(u64) -> Bound) -> Planned {
    Planned { decided: Decided::Types(best.assigned), is_proven: best.is_proven, bound: Some(bound(best.bound)) }
}
