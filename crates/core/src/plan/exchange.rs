//! LOSS and GAIN (Sakellariou, Zhao, Tsiakkouri and Dikaiakos, "Scheduling workflows with budget constraints", 2007): tasks change machines one by one, those
//! first for which that is worth most.
//!
//! LOSS begins with everything as fast as can be and gives up speed, as little as possible for the money, until the budget is kept; GAIN begins with the
//! cheapest plan and buys speed. Each pair of a task and a machine is tried once. What an exchange is worth is worked out once, or for the makespan instead
//! of the task, or anew after every exchange. They lose because a task that is not on a longest way is worth as much to them as one that is.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use super::planner::{Asked, Decided, Plan, Planned};
use super::stages::{Assigned, Ranks, Stages};
use super::table::Table;

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

/// More pairs of tasks and machines, times stages and edges, than this are weighed by the times of tasks instead: it would take seconds.
const MOST_LOOKED_AT: usize = 200_000_000;

impl Weights {
    /// Whether there are few enough tasks for that.
    fn can_be_minded(self, stages: &Stages) -> bool {
        let pairs: usize = (0..stages.task_count() as u32).map(|task| stages.table(task).rows().len() - 1).sum();
        let each = stages.len() + stages.graph().edge_count();
        self != Weights::Makespan || pairs.saturating_mul(each) <= MOST_LOOKED_AT
    }
}

/// Which way a planner goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Way {
    /// From the fastest plan down.
    Down,
    /// From the cheapest plan up.
    Up,
}

impl Way {
    /// The ranks that a task may get.
    fn onwards(self, rank: u8, fastest: u8) -> std::ops::Range<u8> {
        match self {
            Way::Down => 0..rank,
            Way::Up => rank + 1..fastest + 1,
        }
    }
}

/// A task that gets another row: the time that is lost or won, and the money that is saved or paid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Exchange {
    task: u32,
    from: u8,
    to: u8,
    time: u64,
    money: u64,
    way: Way,
}

impl Ord for Exchange {
    /// Whoever is worth more is greater: less time for the money on the way down, more on the way up.
    fn cmp(&self, other: &Exchange) -> Ordering {
        let worth = |own: &Exchange, other: &Exchange| u128::from(own.time) * u128::from(other.money);
        let more_time = worth(self, other).cmp(&worth(other, self));
        let more = if self.way == Way::Up { more_time } else { more_time.reverse() };
        more.then_with(|| (other.task, other.to).cmp(&(self.task, self.to)))
    }
}

impl PartialOrd for Exchange {
    fn partial_cmp(&self, other: &Exchange) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Exchanges, the best first.
struct Line<'a> {
    stages: &'a Stages,
    weights: Weights,
    way: Way,
    open: BinaryHeap<Exchange>,
}

impl<'a> Line<'a> {
    /// All that can be done from here on.
    fn new(stages: &'a Stages, ranks: &Ranks, weights: Weights, way: Way, may_go_on: &dyn Fn() -> bool) -> Line<'a> {
        let mut open: Vec<Exchange> = (0..stages.task_count() as u32)
            .flat_map(|task| of_task(stages.table(task), task, ranks[task as usize], way))
            .collect();
        if weights.can_be_minded(stages) && weights == Weights::Makespan {
            let weighed = weigh_by_makespan(stages, ranks, &open, may_go_on);
            open = weighed.unwrap_or(open);
        }
        Line { stages, weights, way, open: open.into() }
    }

    /// The best that can still be done.
    fn next(&mut self, ranks: &Ranks) -> Option<Exchange> {
        loop {
            let exchange = self.open.pop()?;
            let now = ranks[exchange.task as usize];
            let is_open = match (self.weights, self.way) {
                (Weights::Again, _) => exchange.from == now,
                (_, Way::Down) => exchange.to < now,
                (_, Way::Up) => exchange.to > now,
            };
            if is_open {
                return Some(exchange);
            }
        }
    }

    /// An exchange has been made: what else its task could have is worth something else now.
    fn made(&mut self, Exchange { task, to, .. }: Exchange) {
        if self.weights == Weights::Again {
            self.open.extend(of_task(self.stages.table(task), task, to, self.way));
        }
    }
}

/// Gives up speed until the budget is kept; the cheapest plan keeps it.
pub fn loss(stages: &Stages, budget: u64, weights: Weights, may_go_on: &dyn Fn() -> bool) -> Assigned {
    let mut ranks = stages.fastest();
    let mut cost = stages.cost(&ranks);
    let mut line = Line::new(stages, &ranks, weights, Way::Down, may_go_on);
    while cost > budget {
        let exchange = line.next(&ranks).expect("the cheapest plan keeps the budget");
        let table = stages.table(exchange.task);
        cost -= table.row(ranks[exchange.task as usize]).price - table.row(exchange.to).price;
        ranks[exchange.task as usize] = exchange.to;
        line.made(exchange);
    }
    stages.figures(ranks)
}

/// Buys speed as long as the money lasts; the cheapest plan costs no more than the budget.
pub fn gain(stages: &Stages, budget: u64, weights: Weights, may_go_on: &dyn Fn() -> bool) -> Assigned {
    let mut ranks = stages.cheapest();
    let mut cost = stages.cost(&ranks);
    let mut line = Line::new(stages, &ranks, weights, Way::Up, may_go_on);
    // What there is no money for now, there will be none for later.
    while let Some(exchange) = line.next(&ranks) {
        let table = stages.table(exchange.task);
        let price = table.row(exchange.to).price - table.row(ranks[exchange.task as usize]).price;
        if price <= budget - cost {
            cost += price;
            ranks[exchange.task as usize] = exchange.to;
            line.made(exchange);
        }
    }
    stages.figures(ranks)
}

/// What a task could have instead, by its own times.
fn of_task(table: &Table, task: u32, from: u8, way: Way) -> impl Iterator<Item = Exchange> + '_ {
    let now = table.row(from);
    way.onwards(from, table.fastest()).map(move |to| {
        let then = table.row(to);
        let (time, money) = (then.time.abs_diff(now.time), then.price.abs_diff(now.price));
        Exchange { task, from, to, time, money, way }
    })
}

/// The same by the makespan that each exchange alone would lead to. Nothing if there is no time for all of them.
fn weigh_by_makespan(
    stages: &Stages,
    ranks: &Ranks,
    exchanges: &[Exchange],
    may_go_on: &dyn Fn() -> bool,
) -> Option<Vec<Exchange>> {
    let stage_of = stages.stage_of_tasks();
    let mut times = stages.times(ranks);
    let makespan = stages.graph().makespan(&times);
    // Of each stage its slowest task, and how long the slowest of all others takes.
    let slowest_two = |stage: u32| {
        stages.tasks(stage).fold((u32::MAX, 0, 0), |(slowest, first, second), task| {
            let time = stages.row(ranks, task).time;
            if time > first { (task, time, first) } else { (slowest, first, second.max(time)) }
        })
    };
    let slowest: Vec<(u32, u64, u64)> = (0..stages.len() as u32).map(slowest_two).collect();
    let mut weighed = exchanges.to_vec();
    for exchange in &mut weighed {
        may_go_on().then_some(())?;
        let stage = stage_of[exchange.task as usize];
        let (task, first, second) = slowest[stage as usize];
        let slowest = if exchange.task == task { second } else { first };
        let then = stages.table(exchange.task).row(exchange.to).time;
        let before = std::mem::replace(&mut times[stage as usize], slowest.max(then));
        exchange.time = stages.graph().makespan(&times).abs_diff(makespan);
        times[stage as usize] = before;
    }
    Some(weighed)
}

/// The planner that gives up speed.
#[derive(Clone, Copy, Debug)]
pub struct Loss(pub Weights);

impl Plan for Loss {
    fn for_budget(&self, asked: &Asked<'_>, budget: u64) -> Planned {
        Planned::unproven(Decided::Types(loss(asked.stages(), budget, self.0, asked.may_go_on)))
    }

    fn instead(&self, asked: &Asked<'_>) -> Option<&'static str> {
        (!self.0.can_be_minded(asked.stages())).then_some("loss")
    }
}

/// The planner that buys speed.
#[derive(Clone, Copy, Debug)]
pub struct Gain(pub Weights);

impl Plan for Gain {
    fn for_budget(&self, asked: &Asked<'_>, budget: u64) -> Planned {
        Planned::unproven(Decided::Types(gain(asked.stages(), budget, self.0, asked.may_go_on)))
    }

    fn instead(&self, asked: &Asked<'_>) -> Option<&'static str> {
        (!self.0.can_be_minded(asked.stages())).then_some("gain")
    }
}
