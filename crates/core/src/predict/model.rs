//! A workflow as the machine sees it: who waits for whom, what is read, and how long things take.

use std::sync::Arc;

use crate::ids::TaskId;
use crate::locality::{Items, Precedence};

/// A workflow with times.
#[derive(Clone, Debug, Default)]
pub struct Model {
    items: Arc<Items>,
    children: Vec<Vec<TaskId>>,
    parent_counts: Vec<u32>,
    compute: Vec<u64>,
    outside: Vec<u64>,
    load: Vec<u64>,
}

/// What a model is made of.
#[derive(Debug)]
pub struct ModelBuilder {
    /// The items.
    pub items: Arc<Items>,
    /// Who waits for whom: parent and child.
    pub edges: Vec<(TaskId, TaskId)>,
    /// How long each task computes.
    pub compute: Vec<u64>,
    /// How long each task takes to bring what is not an item.
    pub outside: Vec<u64>,
    /// How long each item takes to load.
    pub load: Vec<u64>,
}

impl ModelBuilder {
    /// The model.
    pub fn build(self) -> Model {
        let ModelBuilder { items, mut edges, compute, outside, load } = self;
        let (mut children, mut parent_counts) = (vec![Vec::new(); compute.len()], vec![0; compute.len()]);
        edges.sort_unstable();
        edges.dedup();
        for (parent, child) in edges {
            children[parent.index()].push(child);
            parent_counts[child.index()] += 1;
        }
        Model { items, children, parent_counts, compute, outside, load }
    }
}

impl Model {
    /// All tasks.
    pub fn tasks(&self) -> impl Iterator<Item = TaskId> + use<> {
        (0..self.compute.len()).map(TaskId::at)
    }

    /// The items.
    pub fn items(&self) -> &Arc<Items> {
        &self.items
    }

    /// The tasks that wait for one.
    pub fn children(&self, task: TaskId) -> &[TaskId] {
        &self.children[task.index()]
    }

    /// How many tasks one waits for.
    pub fn parent_count(&self, task: TaskId) -> u32 {
        self.parent_counts[task.index()]
    }

    /// How long a task computes.
    pub fn compute(&self, task: TaskId) -> u64 {
        self.compute[task.index()]
    }

    /// How long a task takes to bring what no other reads.
    pub fn outside(&self, task: TaskId) -> u64 {
        self.outside[task.index()]
    }

    /// How long an item takes to load.
    pub fn load(&self, item: u32) -> u64 {
        self.load[item as usize]
    }
}

impl Precedence for Model {
    fn children(&self, task: TaskId) -> Vec<TaskId> {
        self.children[task.index()].clone()
    }

    fn parent_count(&self, task: TaskId) -> u32 {
        self.parent_counts[task.index()]
    }
}
