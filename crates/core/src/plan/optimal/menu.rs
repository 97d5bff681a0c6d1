//! What can be chosen for a stage: a time that it is to take, each of its tasks on the cheapest machine with which it takes no longer.
//!
//! Nothing else has to be looked at: a task that is faster than its stage has to be is dearer for nothing.

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
    let table = |number: u32| stages.table_by_number(number);
    let mut times: Vec<u64> =
        tables.iter().flat_map(|(number, _)| table(*number).rows().iter().map(|row| row.time)).collect();
    times.sort_unstable_by(|one, other| other.cmp(one));
    times.dedup();
    let mut menu: Menu = Vec::new();
    for time in times {
        let (mut slowest, mut cost, mut can_all) = (0, 0, true);
        for (number, count) in &tables {
            match table(*number).within(time).map(|rank| table(*number).row(rank)) {
                Some(row) => {
                    slowest = row.time.max(slowest);
                    cost += row.price * count;
                }
                None => can_all = false,
            }
        }
        if can_all && slowest == time {
            menu.push(Choice { time, cost });
        }
    }
    if menu.is_empty() {
        menu.push(Choice { time: 0, cost: 0 });
    }
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
