//! Branch and bound over what blocks take, where they cannot be put together to one.
//!
//! ```text
//!   every block may take from .. to ──▶ all as slow as they may: a plan, if it keeps within the limit
//!          ▲                                  │ its longest way
//!          │                                  ▼
//!   two halves of what one block may ◀── the least that this way could take for the money (or cost in the time), with parts of machines
//! ```
//!
//! A way has to share the money that is left with all others, so what it could take if it had all of it is a bound. If machines could be had in
//! parts, that is found by buying where a unit of time costs least until the money is gone: at most one block on the way then has a part, and
//! that is the one to divide.

use super::super::graph::Graph;
use super::menu::Menu;

/// What is looked for, within which limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// The least time for so much money.
    LeastTime { budget: u64 },
    /// The least money in so much time.
    LeastCost { deadline: u64 },
}

/// A plan that was found: for each block its choice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) choices: Vec<u32>,
    pub(super) makespan: u64,
    pub(super) cost: u64,
}

/// The end of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Searched {
    /// The best plan, if there is any better than what was known.
    pub(super) best: Option<Found>,
    /// Whether nothing was left to look at.
    pub(super) is_proven: bool,
    /// What no plan can be better than: a time or a cost, by the goal.
    pub(super) bound: u64,
}

struct Search<'a> {
    graph: &'a Graph,
    menus: &'a [Menu],
    goal: Goal,
    /// What each block may take: from its slowest choice to its fastest.
    from: Vec<u32>,
    to: Vec<u32>,
    best: Option<Found>,
    /// Only what is less than this is of interest.
    below: u64,
    may_go_on: &'a mut dyn FnMut() -> bool,
    is_over: bool,
    /// The least bound of what was left out when time was up.
    left_out: u64,
}

/// A part that is still to be looked at.
struct Open {
    /// What no plan in it is better than.
    bound: u64,
    /// What makes it a part of the whole.
    limits: Vec<Limit>,
}

/// A block takes one of these choices.
#[derive(Clone, Copy)]
struct Limit {
    block: u32,
    from: u32,
    to: u32,
}

/// Time that can be bought: so much for so much, by going from one choice of a block to another.
struct Sale {
    time: u64,
    cost: u64,
    block: u32,
    from: u32,
    to: u32,
}

impl Sale {
    /// More time for the money first.
    fn cmp_worth(&self, other: &Sale) -> std::cmp::Ordering {
        let own = u128::from(self.time) * u128::from(other.cost);
        let others = u128::from(other.time) * u128::from(self.cost);
        others.cmp(&own).then((self.block, self.from).cmp(&(other.block, other.from)))
    }
}

/// Where a way is divided.
struct Divided {
    bound: u64,
    block: u32,
    /// The fastest choice of the slower half.
    slow_to: u32,
}

/// What there is to be said of a part of the search.
enum Look {
    /// Nothing better than what is known can be there.
    Nothing,
    /// There may be.
    Divide(Divided),
}

/// Looks for a plan that is better than what is known already: a time or a cost, by the goal.
pub(super) fn search(
    graph: &Graph,
    menus: &[Menu],
    goal: Goal,
    known: u64,
    may_go_on: &mut dyn FnMut() -> bool,
) -> Searched {
    let mut search = Search {
        graph,
        menus,
        goal,
        from: vec![0; menus.len()],
        to: menus.iter().map(|menu| menu.len() as u32 - 1).collect(),
        best: None,
        below: known,
        may_go_on,
        is_over: false,
        left_out: u64::MAX,
    };
    search.go();
    let best = search.below;
    Searched { best: search.best, is_proven: !search.is_over, bound: search.left_out.min(best) }
}

impl Search<'_> {
    /// Goes through all parts, the more promising half of each first. What is to be looked at later stands on a stack, not on that of the
    /// program: menus may be long.
    fn go(&mut self) {
        let mut open = vec![Open { bound: 0, limits: Vec::new() }];
        while let Some(Open { bound, limits }) = open.pop() {
            if bound >= self.below {
                continue;
            }
            if self.is_over || !(self.may_go_on)() {
                self.is_over = true;
                self.left_out = bound.min(self.left_out);
                continue;
            }
            for block in 0..self.menus.len() {
                (self.from[block], self.to[block]) = (0, self.menus[block].len() as u32 - 1);
            }
            for Limit { block, from, to } in &limits {
                let block = *block as usize;
                (self.from[block], self.to[block]) = (self.from[block].max(*from), self.to[block].min(*to));
            }
            if let Look::Divide(Divided { bound, block, slow_to }) = self.look() {
                let limited = |from, to| {
                    let mut limits = limits.clone();
                    limits.push(Limit { block, from, to });
                    Open { bound, limits }
                };
                open.push(limited(0, slow_to));
                open.push(limited(slow_to + 1, u32::MAX));
            }
        }
    }

    fn look(&mut self) -> Look {
        let times: Vec<u64> = self.at(&self.from).map(|choice| choice.time).collect();
        let cost: u64 = self.at(&self.from).map(|choice| choice.cost).sum();
        let ends = self.graph.ends(&times);
        let makespan = ends.iter().copied().max().unwrap_or(0);
        let spare = match self.goal {
            Goal::LeastTime { budget } if cost > budget => return Look::Nothing,
            Goal::LeastTime { budget } => budget - cost,
            Goal::LeastCost { .. } if cost >= self.below => return Look::Nothing,
            Goal::LeastCost { .. } => self.below - 1 - cost,
        };
        self.keep_affordable(spare);
        let fastest: Vec<u64> = self.at(&self.to).map(|choice| choice.time).collect();
        let least_time = self.graph.makespan(&fastest);
        match self.goal {
            Goal::LeastTime { .. } => {
                if makespan < self.below {
                    self.found(makespan, cost);
                }
                if least_time >= self.below {
                    return Look::Nothing;
                }
            }
            Goal::LeastCost { deadline } => {
                if makespan <= deadline {
                    self.found(makespan, cost);
                    return Look::Nothing;
                }
                if least_time > deadline {
                    return Look::Nothing;
                }
            }
        }
        let way = self.longest_way(&ends, makespan);
        let divided = match self.goal {
            Goal::LeastTime { .. } => self.divide(&way, spare, u64::MAX, |saved, _| makespan - saved),
            Goal::LeastCost { deadline } => self.divide(&way, u64::MAX, makespan - deadline, |_, paid| cost + paid),
        };
        match divided {
            Some(divided) => {
                let bound = match self.goal {
                    Goal::LeastTime { .. } => divided.bound.max(least_time),
                    Goal::LeastCost { .. } => divided.bound,
                };
                if bound >= self.below { Look::Nothing } else { Look::Divide(Divided { bound, ..divided }) }
            }
            None => Look::Nothing,
        }
    }

    fn at(&self, choices: &[u32]) -> impl Iterator<Item = super::menu::Choice> {
        self.menus.iter().zip(choices).map(|(menu, choice)| menu[*choice as usize])
    }

    /// No block may take a choice for which there is no money.
    fn keep_affordable(&mut self, spare: u64) {
        for (block, menu) in self.menus.iter().enumerate() {
            let most = menu[self.from[block] as usize].cost.saturating_add(spare);
            let affordable = menu.partition_point(|choice| choice.cost <= most) as u32;
            self.to[block] = self.to[block].min(affordable.saturating_sub(1)).max(self.from[block]);
        }
    }

    fn found(&mut self, makespan: u64, cost: u64) {
        self.below = match self.goal {
            Goal::LeastTime { .. } => makespan,
            Goal::LeastCost { .. } => cost,
        };
        self.best = Some(Found { choices: self.from.clone(), makespan, cost });
    }

    /// One of the longest ways, back from its end.
    fn longest_way(&self, ends: &[u64], makespan: u64) -> Vec<u32> {
        let mut at = (0..ends.len() as u32).find(|node| ends[*node as usize] == makespan);
        let mut way = Vec::new();
        while let Some(node) = at {
            way.push(node);
            at = self.graph.parents(node).iter().copied().max_by_key(|parent| (ends[*parent as usize], *parent));
        }
        way
    }

    /// Buys time on a way where it costs least, for so much money or until so much is saved; says what comes of it and where to divide.
    /// Nothing if all that can be bought does not save enough, or if there is nothing to buy.
    fn divide(&self, way: &[u32], mut money: u64, mut wanted: u64, bound: impl Fn(u64, u64) -> u64) -> Option<Divided> {
        let mut sales = Vec::new();
        for block in way {
            self.hull(*block, &mut sales);
        }
        sales.sort_unstable_by(Sale::cmp_worth);
        let (mut saved, mut paid) = (0u64, 0u64);
        let mut last = None;
        for Sale { time, cost, block, from, to } in sales {
            if cost <= money && time <= wanted {
                (saved, paid, money, wanted) = (saved + time, paid + cost, money - cost, wanted - time);
                last = Some((block, to - 1));
                if wanted == 0 {
                    break;
                }
                continue;
            }
            // A part of it.
            if cost > money {
                saved += (u128::from(time) * u128::from(money) / u128::from(cost)) as u64;
            } else {
                paid += (u128::from(cost) * u128::from(wanted)).div_ceil(u128::from(time)) as u64;
                wanted = 0;
            }
            last = Some((block, from + (to - from - 1) / 2));
            break;
        }
        if wanted > 0 && wanted != u64::MAX && matches!(self.goal, Goal::LeastCost { .. }) {
            return None;
        }
        last.map(|(block, slow_to)| Divided { bound: bound(saved, paid), block, slow_to })
    }

    /// What a block's time costs if machines could be had in parts: steps of so much time for so much money, from one choice to another, the
    /// best first.
    fn hull(&self, block: u32, sales: &mut Vec<Sale>) {
        let menu = &self.menus[block as usize];
        let (mut at, to) = (self.from[block as usize], self.to[block as usize]);
        while at < to {
            let now = menu[at as usize];
            let step = |next: u32| {
                let then = menu[next as usize];
                (now.time - then.time, then.cost - now.cost)
            };
            let better = |one: &u32, other: &u32| {
                let [(time, cost), (other_time, other_cost)] = [step(*one), step(*other)];
                let worth = u128::from(time) * u128::from(other_cost);
                worth.cmp(&(u128::from(other_time) * u128::from(cost))).then(one.cmp(other))
            };
            let next = (at + 1..=to).max_by(better).expect("there is one more");
            let (time, cost) = step(next);
            sales.push(Sale { time, cost, block, from: at, to: next });
            at = next;
        }
    }
}
