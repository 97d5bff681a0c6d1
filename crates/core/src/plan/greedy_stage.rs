//! Greedy by stages: as `greedy`, but all tasks of a stage that are equally slow are raised together, for what that brings the stage.
//!
//! An extension of the thesis's algorithm, which raises tasks that are alike one by one and sees no gain until the last. It loses where money
//! is left for some of them only, since then it does not raise any.

use super::climb::{Climbed, Climber, Offer, Raised, Step, climb};
use super::greedy::Slowest;
use super::planner::{Asked, Decided, Plan, Planned};
use super::stages::Stages;

struct Tied<'a> {
    slowest: Slowest<'a>,
    /// Of each stage how many tasks are equally slow, and what raising them all brings and costs: found once, until the stage is raised.
    found: Vec<Option<Found>>,
    tied: Vec<u32>,
}

#[derive(Clone, Copy)]
enum Found {
    /// One of them is on its fastest machine.
    Nothing,
    Offer(Offer),
}

impl Climber for Tied<'_> {
    const ONLY_CRITICAL: bool = true;

    fn offer(&mut self, stage: u32, ranks: &[u8], money: u64) -> Option<Offer> {
        let found = match self.found[stage as usize] {
            Some(found) => found,
            None => {
                let found = self.look(stage, ranks);
                *self.found[stage as usize].insert(found)
            }
        };
        match found {
            Found::Offer(offer) if offer.price <= money => Some(offer),
            Found::Offer(_) | Found::Nothing => None,
        }
    }

    fn raise(&mut self, stage: u32, ranks: &[u8], raised: &mut Vec<Raised>) {
        self.found[stage as usize] = None;
        self.tied.clear();
        self.slowest.take_tied(stage, &mut self.tied);
        for task in &self.tied {
            let from = ranks[*task as usize];
            self.slowest.put(stage, *task, self.slowest.stages.table(*task).row(from + 1).time);
            raised.push(Raised { task: *task, from, to: from + 1 });
        }
    }

    fn time(&mut self, stage: u32, _: &[u8]) -> u64 {
        self.slowest.time(stage)
    }
}

impl Tied<'_> {
    fn look(&mut self, stage: u32, ranks: &[u8]) -> Found {
        let before = self.slowest.time(stage);
        self.tied.clear();
        self.slowest.take_tied(stage, &mut self.tied);
        // Whoever is left is faster; those who were taken may not become as fast as that.
        let (mut after, mut price, mut can_all) = (self.slowest.time(stage), 0, !self.tied.is_empty());
        for task in &self.tied {
            let table = self.slowest.stages.table(*task);
            let rank = ranks[*task as usize];
            can_all &= rank < table.fastest();
            if can_all {
                let (now, next) = (table.row(rank), table.row(rank + 1));
                after = after.max(next.time);
                price += next.price - now.price;
            }
        }
        for task in &self.tied {
            self.slowest.put(stage, *task, before);
        }
        if can_all { Found::Offer(Offer { worth: (before - after, price), price }) } else { Found::Nothing }
    }
}

/// Plans, as long as whoever is told of the steps wants to go on; the cheapest plan costs no more than the budget.
pub fn greedy_stage(stages: &Stages, budget: u64, told: impl FnMut(&Step<'_>) -> bool) -> Climbed {
    let slowest = Slowest::new(stages, &stages.cheapest());
    let mut tied = Tied { slowest, found: vec![None; stages.len()], tied: Vec::new() };
    climb(stages, &mut tied, budget, told)
}

/// The planner.
#[derive(Clone, Copy, Debug)]
pub struct GreedyStage;

impl Plan for GreedyStage {
    fn for_budget(&self, asked: &Asked<'_>, budget: u64) -> Planned {
        Planned::unproven(Decided::Types(greedy_stage(asked.stages(), budget, |_| (asked.may_go_on)()).best))
    }
}
