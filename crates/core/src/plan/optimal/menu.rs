//! What can be chosen for a stage: a time that it is to take, each of its tasks on the cheapest machine with which it takes no longer.
//!
//! Nothing else has to be looked at: a task that is faster than its stage has to be is dearer for nothing.

use std::collections::BinaryHeap;

use super::super::stages::Stages;

/// A time, and the least that it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// How long it takes.
    pub time: u64,
    /// What it costs.
    pub cost: u64,
}

/// Every choice that may be worth it, the slowest and cheapest first.
pub(in crate::plan) type Menu = Vec<Choice>;

/// What can be chosen for a stage. One without tasks takes nothing and costs nothing.
pub(in crate::plan) fn menu(stages: &Stages, stage: u32) -> Menu {
    // Many tasks share a table: each is worked out once.
    let mut tables: Vec<(u32, u64)> = Vec::new();
    let mut numbers: Vec<u32> = stages.tasks(stage).map(|task| stages.table_number(task)).collect();
    numbers.sort_unstable();
    for number in numbers {
        match tables.last_mut() {
            Some((last, count)) if *last == number => *count += 1,
            _ => tables.push((number, 1)),
        }
    }
    // The slowest first: whoever is slowest says how long the stage takes, and has to be faster next.
    let row = |number: u32, rank: u8| stages.table_by_number(number).row(rank);
    let mut slowest: BinaryHeap<(u64, u32, u64, u8)> =
        tables.iter().map(|(number, count)| (row(*number, 0).time, *number, *count, 0)).collect();
    let mut cost: u64 = tables.iter().map(|(number, count)| row(*number, 0).price * count).sum();
    let mut menu: Menu = Vec::new();
    while let Some(&(time, ..)) = slowest.peek() {
        menu.push(Choice { time, cost });
        while slowest.peek().is_some_and(|top| top.0 == time) {
            let Some((_, number, count, rank)) = slowest.pop() else { break };
            if rank == stages.table_by_number(number).fastest() {
                return menu;
            }
            cost += (row(number, rank + 1).price - row(number, rank).price) * count;
            slowest.push((row(number, rank + 1).time, number, count, rank + 1));
        }
    }
    menu.push(Choice { time: 0, cost: 0 });
    menu
}

/// The rank of each task if each stage takes so long at most.
pub(super) fn ranks(stages: &Stages, times: &[u64]) -> Vec<u8> {
    let of_stage = |stage: u32| stages.tasks(stage).map(move |task| (stage, task));
    let tasks = (0..stages.len() as u32).flat_map(of_stage);
    tasks
        .map(|(stage, task)| {
            stages.table(task).within(times[stage as usize]).expect("it was chosen from what there is")
        })
        .collect()
}
