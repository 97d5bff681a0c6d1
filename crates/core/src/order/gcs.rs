//! Greedy by what would follow: for each ready task the rest of the workflow is played through, and the one after which the measure
//! ends lowest starts. Meng and Golab's GCS.
//!
//! It is exact for what it is, and costs as much: for workflows of hundreds of tasks at most. A decision that would take too many steps is made
//! as `og` makes it. It often loses to `og`, its authors say, because nobody knows in which order tasks will end.

use std::sync::Arc;

use super::{Order, og};
use crate::ids::{ClassId, TaskId};
use crate::locality::{Items, Metric, Precedence, Search, Situation, scores};
use crate::node::ReadyTask;

/// So many starts may be considered for one decision: some milliseconds.
pub const GCS_STEPS: u64 = 100_000;

/// The order of one queue of one node.
struct Complete {
    greedy: og::Greedy,
    graph: Arc<dyn Precedence + Send + Sync>,
    open: Vec<u32>,
    running: Vec<TaskId>,
    units: usize,
    search: Search,
}

/// The order.
pub fn order(
    items: Arc<Items>,
    graph: Arc<dyn Precedence + Send + Sync>,
    metric: Metric,
    units: usize,
    search: Search,
) -> impl Order {
    let open = (0..items.task_count()).map(|at| graph.parent_count(TaskId::at(at))).collect();
    Complete { greedy: og::order(items, metric), graph, open, running: Vec::new(), units, search }
}

impl Complete {
    /// The task with the least score among those of the highest priority that are admitted.
    fn best(&self, admits: &dyn Fn(ClassId) -> bool) -> Option<TaskId> {
        let admitted = || self.greedy.waiting().filter(|ready| admits(ready.class));
        let highest = admitted().map(|ready| ready.priority).max()?;
        let ready = admitted().filter(|ready| ready.priority == highest).map(|ready| ready.task).collect();
        let running = self.running.clone();
        let situation =
            Situation { recency: self.greedy.recency(), open: &self.open, ready, running, units: self.units };
        let scores = scores(&situation, self.graph.as_ref(), self.search)?;
        scores.into_iter().min_by_key(|(task, score)| (*score, *task)).map(|(task, _)| task)
    }
}

impl Order for Complete {
    fn push(&mut self, task: ReadyTask) {
        self.open[task.task.index()] = 0;
        self.greedy.push(task);
    }

    fn pop(&mut self, admits: &dyn Fn(ClassId) -> bool) -> Option<ReadyTask> {
        let task = self.best(admits).or_else(|| self.greedy.next(admits))?;
        self.running.push(task);
        self.greedy.start(task)
    }

    fn give(&mut self, count: usize, admits: &dyn Fn(ClassId) -> bool) -> Vec<ReadyTask> {
        self.greedy.give(count, admits)
    }

    fn began(&mut self, task: TaskId) {
        self.running.push(task);
        self.greedy.began(task);
    }

    fn ended(&mut self, task: TaskId) {
        self.running.retain(|running| *running != task);
        for child in self.graph.children(task) {
            let open = &mut self.open[child.index()];
            *open = open.saturating_sub(1);
        }
    }

    fn count(&self, admits: &dyn Fn(ClassId) -> bool) -> usize {
        self.greedy.count(admits)
    }

    fn len(&self) -> usize {
        self.greedy.len()
    }
}
