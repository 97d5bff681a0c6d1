//! What is planned: tasks with their tables, in stages that wait for each other.
//!
//! A stage is a set of tasks that begin together and of which the slowest counts: the map tasks of a job, or any tasks that wait for the same
//! tasks and for which the same tasks wait. A task that is like no other is a stage of its own.

use thiserror::Error;

use super::graph::Graph;
use super::table::{Row, Table};

/// For each task the rank of its row.
pub type Ranks = Vec<u8>;

/// What cannot be planned.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum BadStages {
    /// Stages wait for each other in a circle.
    #[error("stages wait for each other in a circle")]
    Circle,
    /// The tasks take longer or cost more than can be counted.
    #[error(
        "all tasks together take longer than five hundred years or cost more than eighteen million: are times and prices right?"
    )]
    TooMuch,
}

/// Stages of tasks.
#[derive(Clone, Debug)]
pub struct Stages {
    tables: Vec<Table>,
    /// The table of each task; tasks of a stage stand together.
    table_of: Vec<u32>,
    /// The first task of each stage, and one more than the last.
    first: Vec<u32>,
    graph: Graph,
}

impl Stages {
    /// Stages with so many tasks each, which have these tables, and edges from whom others wait for to those who do.
    pub fn new(
        tables: Vec<Table>,
        tasks: impl IntoIterator<Item = Vec<u32>>,
        edges: Vec<(u32, u32)>,
    ) -> Result<Stages, BadStages> {
        let (mut table_of, mut first) = (Vec::new(), vec![0]);
        for tasks in tasks {
            table_of.extend(tasks);
            first.push(table_of.len() as u32);
        }
        let graph = Graph::new(first.len() - 1, edges).ok_or(BadStages::Circle)?;
        let stages = Stages { tables, table_of, first, graph };
        let all = |of: fn(&Table) -> u64| {
            (0..stages.task_count() as u32).try_fold(0u64, |sum, task| sum.checked_add(of(stages.table(task))))
        };
        all(|table| table.row(0).time).ok_or(BadStages::TooMuch)?;
        all(|table| table.row(table.fastest()).price).ok_or(BadStages::TooMuch)?;
        Ok(stages)
    }

    /// How many stages there are.
    pub fn len(&self) -> usize {
        self.first.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many tasks there are.
    pub fn task_count(&self) -> usize {
        self.table_of.len()
    }

    /// The tasks of a stage.
    pub fn tasks(&self, stage: u32) -> std::ops::Range<u32> {
        self.first[stage as usize]..self.first[stage as usize + 1]
    }

    /// The stage of each task.
    pub fn stage_of_tasks(&self) -> Vec<u32> {
        let stages = 0..self.len() as u32;
        stages.flat_map(|stage| std::iter::repeat_n(stage, self.tasks(stage).len())).collect()
    }

    /// The table of a task.
    pub fn table(&self, task: u32) -> &Table {
        &self.tables[self.table_of[task as usize] as usize]
    }

    /// The number of a task's table: tasks with the same number have the same.
    pub(super) fn table_number(&self, task: u32) -> u32 {
        self.table_of[task as usize]
    }

    /// A table by its number.
    pub(super) fn table_by_number(&self, number: u32) -> &Table {
        &self.tables[number as usize]
    }

    /// The row of a task.
    pub fn row(&self, ranks: &[u8], task: u32) -> Row {
        self.table(task).row(ranks[task as usize])
    }

    /// Who waits for whom.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }

    /// Everything as cheap as it can be.
    pub fn cheapest(&self) -> Ranks {
        vec![0; self.task_count()]
    }

    /// Everything as fast as it can be.
    pub fn fastest(&self) -> Ranks {
        (0..self.task_count() as u32).map(|task| self.table(task).fastest()).collect()
    }

    /// What all tasks cost.
    pub fn cost(&self, ranks: &[u8]) -> u64 {
        (0..self.task_count() as u32).map(|task| self.row(ranks, task).price).sum()
    }

    /// How long a stage takes: as long as its slowest task, or no time.
    pub fn time(&self, ranks: &[u8], stage: u32) -> u64 {
        self.tasks(stage).map(|task| self.row(ranks, task).time).max().unwrap_or(0)
    }

    /// How long each stage takes.
    pub fn times(&self, ranks: &[u8]) -> Vec<u64> {
        (0..self.len() as u32).map(|stage| self.time(ranks, stage)).collect()
    }

    /// How long all of it takes, on as many machines as anyone could wish.
    pub fn makespan(&self, ranks: &[u8]) -> u64 {
        self.graph.makespan(&self.times(ranks))
    }

    /// What it takes and costs.
    pub fn figures(&self, ranks: Ranks) -> Assigned {
        Assigned { makespan: self.makespan(&ranks), cost: self.cost(&ranks), ranks }
    }
}

/// Every task has a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Assigned {
    /// How long all of it takes.
    pub makespan: u64,
    /// What it costs.
    pub cost: u64,
    /// For each task its rank.
    pub ranks: Ranks,
}
