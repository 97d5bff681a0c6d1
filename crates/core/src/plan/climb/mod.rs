//! Climbing: from the cheapest plan up, one stage at a time, for as long as the money lasts.
//!
//! What `greedy`, `greedy-stage`, `ggb` and `critical-greedy` have in common. They differ in which stages come into question, in what raising a
//! stage means, and in what it is worth: that is a [`Climber`].
//!
//! Every step raises a rank, so it ends. No step goes through the workflow: every row of stages keeps what its stages offer in a heap, and the best
//! of each critical row stands in another. A row that is no longer critical is left there until it comes up, and is put back once it is critical again.
//! Which rows are critical is what [`segments`] and [`paths`] keep up to date.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use self::segments::Segments;
use super::stages::{Assigned, Ranks, Stages};

mod crowds;
mod members;
mod paths;
mod segments;

#[cfg(test)]
mod tests;

/// What raising a stage would bring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Offer {
    /// What it is worth, as a fraction: the first by the second.
    pub worth: (u64, u64),
    /// What it costs.
    pub price: u64,
}

impl Offer {
    fn cmp_worth(&self, other: &Offer) -> Ordering {
        let [(over, under), (other_over, other_under)] = [self.worth, other.worth];
        (u128::from(over) * u128::from(other_under)).cmp(&(u128::from(other_over) * u128::from(under)))
    }
}

/// A task that gets another rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Raised {
    /// Which task.
    pub task: u32,
    /// Its rank before.
    pub from: u8,
    /// Its rank from now on.
    pub to: u8,
}

/// How stages are raised.
pub(super) trait Climber {
    /// Whether any stage may be raised, or only one on a longest way.
    const ONLY_CRITICAL: bool;
    /// The best that can be done about a stage with so much money, if anything can.
    fn offer(&mut self, stage: u32, ranks: &[u8], money: u64) -> Option<Offer>;
    /// Does what was offered last, and says which tasks have which ranks now.
    fn raise(&mut self, stage: u32, ranks: &[u8], raised: &mut Vec<Raised>);
    /// How long a stage takes.
    fn time(&mut self, stage: u32, ranks: &[u8]) -> u64;
}

/// A step on the way up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step<'a> {
    /// Which stage was raised.
    pub stage: u32,
    /// Its tasks that were.
    pub raised: &'a [Raised],
    /// What that was thought to be worth, for which price.
    pub offer: Offer,
    /// How long all takes now.
    pub makespan: u64,
    /// What all costs now.
    pub cost: u64,
}

/// Where the way up led.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Climbed {
    /// What there was when no step was possible any more.
    pub last: Assigned,
    /// The first of the fastest plans on the way: steps after it cost money and brought nothing.
    pub best: Assigned,
}

/// An offer of a stage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Standing {
    offer: Offer,
    stage: u32,
}

impl Ord for Standing {
    fn cmp(&self, other: &Standing) -> Ordering {
        self.offer.cmp_worth(&other.offer).then(other.stage.cmp(&self.stage))
    }
}

impl PartialOrd for Standing {
    fn partial_cmp(&self, other: &Standing) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// What is offered.
struct Offers {
    /// What each row's stages offer.
    of_row: Vec<BinaryHeap<Standing>>,
    /// The best that each critical row offers, and what some offered when they were critical.
    standing: BinaryHeap<Standing>,
    /// Whether something that a row offers stands there.
    is_standing: Vec<bool>,
}

impl Offers {
    /// The best that a row offers counts.
    fn stand(&mut self, row: u32) {
        let best = self.of_row[row as usize].peek().filter(|_| !self.is_standing[row as usize]);
        self.is_standing[row as usize] |= best.is_some();
        self.standing.extend(best);
    }
}

/// Climbs from the cheapest plan, which costs no more than the budget, as long as whoever is told of the steps wants to go on.
pub(super) fn climb<C: Climber>(
    stages: &Stages,
    climber: &mut C,
    budget: u64,
    mut told: impl FnMut(&Step<'_>) -> bool,
) -> Climbed {
    let mut ranks = stages.cheapest();
    let mut times = stages.times(&ranks);
    let (row_of, rows) = stages.graph().rows();
    let mut row_times = vec![0; rows.len()];
    times.iter().zip(&row_of).for_each(|(time, row)| row_times[*row as usize] += time);
    let mut paths = Segments::new(&rows, &row_times);
    let mut cost = stages.cost(&ranks);
    let mut offers = Offers {
        of_row: vec![BinaryHeap::new(); rows.len()],
        is_standing: vec![false; rows.len()],
        standing: BinaryHeap::new(),
    };
    for stage in 0..stages.len() as u32 {
        let offer = climber.offer(stage, &ranks, budget - cost);
        offers.of_row[row_of[stage as usize] as usize].extend(offer.map(|offer| Standing { offer, stage }));
    }
    for row in (0..rows.len() as u32).filter(|row| !C::ONLY_CRITICAL || paths.is_critical(*row)) {
        offers.stand(row);
    }
    // What was done since the makespan last became less, to be undone.
    let (mut raised, mut in_vain): (Vec<Raised>, Vec<Raised>) = (Vec::new(), Vec::new());
    let mut best_cost = cost;
    let mut became = Vec::new();
    while let Some(Standing { offer, stage }) = offers.standing.pop() {
        let row = row_of[stage as usize];
        offers.is_standing[row as usize] = false;
        if C::ONLY_CRITICAL && !paths.is_critical(row) {
            continue;
        }
        offers.of_row[row as usize].pop();
        became.clear();
        if offer.price <= budget - cost {
            raised.clear();
            climber.raise(stage, &ranks, &mut raised);
            raised.iter().for_each(|raised| ranks[raised.task as usize] = raised.to);
            cost += offer.price;
            in_vain.extend(&raised);
            let (before, time) = (paths.makespan(), climber.time(stage, &ranks));
            paths.shorten(row, std::mem::replace(&mut times[stage as usize], time) - time, &mut became);
            let makespan = paths.makespan();
            if makespan < before {
                in_vain.clear();
                best_cost = cost;
            }
            if !told(&Step { stage, raised: &raised, offer, makespan, cost }) {
                break;
            }
        }
        // If there was too little money, perhaps there is something less for less.
        let next = climber.offer(stage, &ranks, budget - cost);
        offers.of_row[row as usize].extend(next.map(|offer| Standing { offer, stage }));
        if !C::ONLY_CRITICAL || paths.is_critical(row) {
            offers.stand(row);
        }
        became.iter().for_each(|row| offers.stand(*row));
    }
    let makespan = paths.makespan();
    let mut best: Ranks = ranks.clone();
    in_vain.iter().rev().for_each(|raised| best[raised.task as usize] = raised.from);
    Climbed { last: Assigned { makespan, cost, ranks }, best: Assigned { makespan, cost: best_cost, ranks: best } }
}
