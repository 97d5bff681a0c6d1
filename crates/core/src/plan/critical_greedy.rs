//! Critical-Greedy (Lin and Wu, "On scientific workflow scheduling in clouds under budget constraint", 2013): from the cheapest plan
//! on, the critical stage that can be made faster by most for the money that is left is made as fast as that.
//!
//! It looks at what is gained and not at what that costs, so it loses where a little less would have cost much less.

use super::climb::{Climbed, Climber, Offer, Raised, Step, climb};
use super::optimal::{Choice, menu};
use super::planner::{Asked, Decided, Plan, Planned};
use super::stages::Stages;

struct Leaps<'a> {
    stages: &'a Stages,
    /// What can be chosen for each stage, and what is.
    menus: Vec<Vec<Choice>>,
    chosen: Vec<usize>,
    /// What was offered last.
    offered: Vec<usize>,
}

impl Climber for Leaps<'_> {
    const ONLY_CRITICAL: bool = true;

    fn offer(&mut self, stage: u32, _: &[u8], money: u64) -> Option<Offer> {
        let stage = stage as usize;
        let (menu, now) = (&self.menus[stage], self.chosen[stage]);
        let most = menu[now].cost.saturating_add(money);
        let best = menu.partition_point(|choice| choice.cost <= most) - 1;
        if best <= now {
            return None;
        }
        self.offered[stage] = best;
        let gain = menu[now].time - menu[best].time;
        Some(Offer { worth: (gain, 1), price: menu[best].cost - menu[now].cost })
    }

    fn raise(&mut self, stage: u32, ranks: &[u8], raised: &mut Vec<Raised>) {
        let best = self.offered[stage as usize];
        self.chosen[stage as usize] = best;
        let time = self.menus[stage as usize][best].time;
        for task in self.stages.tasks(stage) {
            let from = ranks[task as usize];
            let to = self.stages.table(task).within(time).expect("a choice can be had");
            if to != from {
                raised.push(Raised { task, from, to });
            }
        }
    }

    fn time(&mut self, stage: u32, _: &[u8]) -> u64 {
        self.menus[stage as usize][self.chosen[stage as usize]].time
    }
}

/// Plans, as long as whoever is told of the steps wants to go on; the cheapest plan costs no more than the budget.
pub fn critical_greedy(stages: &Stages, budget: u64, told: impl FnMut(&Step<'_>) -> bool) -> Climbed {
    let menus = (0..stages.len() as u32).map(|stage| menu(stages, stage)).collect();
    let count = stages.len();
    climb(stages, &mut Leaps { stages, menus, chosen: vec![0; count], offered: vec![0; count] }, budget, told)
}

/// Lin and Wu's planner.
#[derive(Clone, Copy, Debug)]
pub struct CriticalGreedy;

impl Plan for CriticalGreedy {
    fn for_budget(&self, asked: &Asked<'_>, budget: u64) -> Planned {
        Planned::unproven(Decided::Types(critical_greedy(asked.stages(), budget, |_| (asked.may_go_on)()).best))
    }
}
