//! A workflow as stages: tasks that wait for the same tasks, and for which the same tasks wait, are one.
//!
//! Nothing is lost by that: such tasks begin together, and whoever waits for one of them waits for the slowest. The map tasks of a job become a stage, and
//! so do the files of a directory that one task gathers; a task like no other is a stage of its own.

use std::collections::BTreeMap;

use super::stages::{BadStages, Stages};
use super::table::Table;
use crate::ids::TaskId;
use crate::workflow::Workflow;

/// Stages, and which task of the workflow is which of theirs.
#[derive(Clone, Debug)]
pub struct Layout {
    /// The stages.
    pub stages: Stages,
    /// For each task of a stage, that of the workflow.
    pub tasks: Vec<TaskId>,
    /// For each task of the workflow, that of a stage.
    pub place_of: Vec<u32>,
}

impl Layout {
    /// A workflow whose tasks have these tables.
    pub fn of(flow: &Workflow, tables: Vec<Table>, table_of: impl Fn(TaskId) -> u32) -> Result<Layout, BadStages> {
        let parents = numbers_of_parents(flow);
        let mut stages: BTreeMap<(u128, u128), u32> = BTreeMap::new();
        let mut members: Vec<Vec<TaskId>> = Vec::new();
        let mut stage_of = Vec::with_capacity(flow.task_count());
        for task in flow.tasks() {
            let alike = (parents[task.index()], number_of(flow.children(task)));
            let stage = *stages.entry(alike).or_insert(members.len() as u32);
            if stage as usize == members.len() {
                members.push(Vec::new());
            }
            members[stage as usize].push(task);
            stage_of.push(stage);
        }
        let children = |(stage, tasks): (usize, &Vec<TaskId>)| {
            let children = flow.children(tasks[0]).map(|child| stage_of[child.index()]);
            children.map(|child| (stage as u32, child)).collect::<Vec<_>>()
        };
        let edges = members.iter().enumerate().flat_map(children).collect();
        let tasks: Vec<TaskId> = members.iter().flatten().copied().collect();
        let mut place_of = vec![0; flow.task_count()];
        tasks.iter().enumerate().for_each(|(place, task)| place_of[task.index()] = place as u32);
        let tables_of = members.iter().map(|tasks| tasks.iter().map(|task| table_of(*task)).collect());
        Ok(Layout { stages: Stages::new(tables, tables_of, edges)?, tasks, place_of })
    }

    /// For each task of the workflow the number of its type of machine, if tasks have these ranks.
    pub fn machine_of(&self, ranks: &[u8]) -> Vec<u16> {
        self.place_of.iter().map(|place| self.stages.row(ranks, *place).machine).collect()
    }
}

/// For each task a number for those that it waits for: the same for the same tasks, and for no others.
fn numbers_of_parents(flow: &Workflow) -> Vec<u128> {
    let mut numbers = vec![0u128; flow.task_count()];
    for task in flow.tasks() {
        for child in flow.children(task) {
            let number = &mut numbers[child.index()];
            let mut bytes = [0; 20];
            bytes[..16].copy_from_slice(&number.to_le_bytes());
            bytes[16..].copy_from_slice(&task.0.to_le_bytes());
            *number = xxhash_rust::xxh3::xxh3_128(&bytes);
        }
    }
    numbers
}

/// A number for a set of tasks: the same for the same set, and for no other.
fn number_of(tasks: impl Iterator<Item = TaskId>) -> u128 {
    let mut tasks: Vec<u32> = tasks.map(|task| task.0).collect();
    tasks.sort_unstable();
    xxhash_rust::xxh3::xxh3_128(bytemuck::cast_slice(&tasks))
}

#[cfg(test)]
mod tests {
    use super::super::table::Row;
    use super::*;
    use crate::workflow::{Format, NoFiles};

    #[test]
    fn map_and_reduce_tasks_are_stages() {
        let text = "tasks:\n  map: { noop: true, foreach: { i: 1..3 }, in: a, out: 'm{i}' }\n  \
                    reduce: { noop: true, foreach: { i: 1..2 }, in: [{ all: map }], out: 'r{i}' }\n  \
                    one: { noop: true, in: r1, out: o }\n  two: { noop: true, in: r2, out: p }\n";
        let flow = Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap();
        let table = Table::of([Row { time: 1, price: 1, machine: 0 }]).unwrap();
        let layout = Layout::of(&flow, vec![table], |_| 0).unwrap();
        let names: Vec<Vec<String>> = (0..layout.stages.len() as u32)
            .map(|stage| layout.stages.tasks(stage).map(|task| flow.name(layout.tasks[task as usize])).collect())
            .collect();
        assert_eq!(names[0], ["map:1", "map:2", "map:3"]);
        assert_eq!((names.len(), layout.stages.makespan(&layout.stages.cheapest())), (5, 3));
        assert_eq!(layout.tasks[layout.place_of[4] as usize], TaskId(4));
    }
}
