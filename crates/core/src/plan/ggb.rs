//! Global Greedy Budget (Wang and Shi, "Budget-driven scheduling algorithms for batches of MapReduce jobs in heterogeneous clouds", 2014): the slowest task of
//! whichever stage it pays most for gets the next faster machine.
//!
//! Made for stages that stand in a row, where all of them count. Elsewhere it loses, because it also pays for stages that nobody waits for.

use super::climb::{Climbed, Step, climb};
use super::greedy::OneTask;
use super::planner::{Asked, Decided, Plan, Planned};
use super::stages::Stages;

/// Plans, as long as whoever is told of the steps wants to go on; the cheapest plan costs no more than the budget.
pub fn ggb(stages: &Stages, budget: u64, told: impl FnMut(&Step<'_>) -> bool) -> Climbed {
    climb(stages, &mut OneTask::<false>::new(stages), budget, told)
}

/// Wang and Shi's planner.
#[derive(Clone, Copy, Debug)]
pub struct Ggb;

impl Plan for Ggb {
    fn for_budget(&self, asked: &Asked<'_>, budget: u64) -> Planned {
        Planned::unproven(Decided::Types(ggb(asked.stages(), budget, |_| (asked.may_go_on)()).best))
    }
}
