//! Greedy (Wylie, Algorithm 5): the slowest task of a critical stage gets the next faster machine, wherever that brings most for its price.
//!
//! What it brings is what the stage gains: no more than up to its second slowest task. So of tasks that are alike all but the last are raised for
//! nothing, which can waste money: the best plan on the way is kept beside the last one. It loses where a stage of many equal tasks would
//! pay as a whole but its single steps do not; `greedy-stage` is for these.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::climb::{Climbed, Climber, Offer, Raised, Step, climb};
use super::planner::{Asked, Decided, Plan, Planned};
use super::stages::Stages;

/// The tasks of each stage, the slowest first, and of those that are equally slow the first.
#[derive(Debug)]
pub(super) struct Slowest<'a> {
    pub(super) stages: &'a Stages,
    heaps: Vec<BinaryHeap<(u64, Reverse<u32>)>>,
}

impl<'a> Slowest<'a> {
    pub(super) fn new(stages: &'a Stages, ranks: &[u8]) -> Slowest<'a> {
        let heap = |stage| {
            let tasks: Vec<u32> = stages.tasks(stage).collect();
            tasks.into_iter().map(|task| (stages.row(ranks, task).time, Reverse(task))).collect()
        };
        Slowest { stages, heaps: (0..stages.len() as u32).map(heap).collect() }
    }

    /// How long a stage takes.
    pub(super) fn time(&self, stage: u32) -> u64 {
        self.heaps[stage as usize].peek().map_or(0, |(time, _)| *time)
    }

    /// The slowest task of a stage.
    fn first(&self, stage: u32) -> Option<u32> {
        self.heaps[stage as usize].peek().map(|(_, Reverse(task))| *task)
    }

    /// How long the slowest but one takes, if there are two.
    fn second_time(&mut self, stage: u32) -> Option<u64> {
        let heap = &mut self.heaps[stage as usize];
        let first = heap.pop()?;
        let second = heap.peek().map(|(time, _)| *time);
        heap.push(first);
        second
    }

    /// The slowest task takes less time.
    fn replace_first(&mut self, stage: u32, time: u64) {
        if let Some(mut first) = self.heaps[stage as usize].peek_mut() {
            first.0 = time;
        }
    }

    /// Takes out all that are equally slow.
    pub(super) fn take_tied(&mut self, stage: u32, tied: &mut Vec<u32>) {
        let heap = &mut self.heaps[stage as usize];
        let Some(&(slowest, _)) = heap.peek() else { return };
        while let Some(&(_, Reverse(task))) = heap.peek().filter(|(time, _)| *time == slowest) {
            heap.pop();
            tied.push(task);
        }
    }

    /// Puts a task back, as it is now.
    pub(super) fn put(&mut self, stage: u32, task: u32, time: u64) {
        self.heaps[stage as usize].push((time, Reverse(task)));
    }
}

/// One task at a time.
pub(super) struct OneTask<'a, const ONLY_CRITICAL: bool> {
    slowest: Slowest<'a>,
}

impl<'a, const ONLY_CRITICAL: bool> OneTask<'a, ONLY_CRITICAL> {
    pub(super) fn new(stages: &'a Stages) -> Self {
        OneTask { slowest: Slowest::new(stages, &stages.cheapest()) }
    }
}

impl<const ONLY_CRITICAL: bool> Climber for OneTask<'_, ONLY_CRITICAL> {
    const ONLY_CRITICAL: bool = ONLY_CRITICAL;

    fn offer(&mut self, stage: u32, ranks: &[u8], money: u64) -> Option<Offer> {
        let task = self.slowest.first(stage)?;
        let table = self.slowest.stages.table(task);
        let rank = ranks[task as usize];
        if rank == table.fastest() {
            return None;
        }
        let (now, next) = (table.row(rank), table.row(rank + 1));
        let price = next.price - now.price;
        if price > money {
            return None;
        }
        let gain = now.time - next.time;
        let gain = self.slowest.second_time(stage).map_or(gain, |second| gain.min(now.time - second));
        Some(Offer { worth: (gain, price), price })
    }

    fn raise(&mut self, stage: u32, ranks: &[u8], raised: &mut Vec<Raised>) {
        let task = self.slowest.first(stage).expect("what was offered is there");
        let from = ranks[task as usize];
        self.slowest.replace_first(stage, self.slowest.stages.table(task).row(from + 1).time);
        raised.push(Raised { task, from, to: from + 1 });
    }

    fn time(&mut self, stage: u32, _: &[u8]) -> u64 {
        self.slowest.time(stage)
    }
}

/// Plans, as long as whoever is told of the steps wants to go on; the cheapest plan costs no more than the budget.
pub fn greedy(stages: &Stages, budget: u64, told: impl FnMut(&Step<'_>) -> bool) -> Climbed {
    climb(stages, &mut OneTask::<true>::new(stages), budget, told)
}

/// Wylie's planner.
#[derive(Clone, Copy, Debug)]
pub struct Greedy;

impl Plan for Greedy {
    fn for_budget(&self, asked: &Asked<'_>, budget: u64) -> Planned {
        Planned::unproven(Decided::Types(greedy(asked.stages(), budget, |_| (asked.may_go_on)()).best))
    }
}
