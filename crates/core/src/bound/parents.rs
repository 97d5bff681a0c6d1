//! Who waits for whom, and for how many bytes: the parents of every task in flat arrays.

use thiserror::Error;

use crate::ids::{ObjectId, TaskId};
use crate::workflow::Workflow;

/// One task waits for another.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The task that comes first.
    pub parent: TaskId,
    /// The task that waits.
    pub child: TaskId,
    /// What the child reads of what the parent made; parts of bytes are for made-up workflows.
    pub bytes: f64,
}

/// Tasks that wait for each other in a circle.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("the tasks wait for each other in a circle")]
pub struct Circular;

/// The parents of every task, each once, and an order in which they come first.
#[derive(Clone, Debug, Default)]
pub struct Parents {
    /// Where in `parents` those of a task begin; one more for the end.
    start: Vec<usize>,
    parents: Vec<(TaskId, f64)>,
    order: Vec<TaskId>,
}

impl Parents {
    /// From edges between tasks numbered below `task_count`, in any order. Bytes of edges between the same two tasks
    /// are added up.
    pub fn of_edges(task_count: usize, mut edges: Vec<Edge>) -> Result<Parents, Circular> {
        let parents = Parents::gathered(task_count, &mut edges);
        let order = sorted(task_count, edges).ok_or(Circular)?;
        Ok(Parents { order, ..parents })
    }

    /// From a workflow whose objects have these sizes.
    pub fn of_workflow(flow: &Workflow, bytes: impl Fn(ObjectId) -> u64) -> Parents {
        let mut edges = Vec::new();
        for child in flow.tasks() {
            let read = flow.inputs(child).filter_map(|object| Some((flow.producer(object)?, bytes(object) as f64)));
            edges.extend(read.map(|(parent, bytes)| Edge { parent, child, bytes }));
            // What a task is waited for without data is noted only with the parent.
            edges.extend(flow.children(child).map(|after| Edge { parent: child, child: after, bytes: 0.0 }));
        }
        let parents = Parents::gathered(flow.task_count(), &mut edges);
        Parents { order: flow.topological(), ..parents }
    }

    /// Leaves every edge once in `edges`, too.
    fn gathered(task_count: usize, edges: &mut Vec<Edge>) -> Parents {
        edges.sort_unstable_by_key(|edge| (edge.child, edge.parent));
        edges.dedup_by(|next, kept| {
            let is_same = (next.child, next.parent) == (kept.child, kept.parent);
            kept.bytes += if is_same { next.bytes } else { 0.0 };
            is_same
        });
        let mut start = vec![0; task_count + 1];
        for edge in edges.iter() {
            start[edge.child.index() + 1] += 1;
        }
        for task in 0..task_count {
            start[task + 1] += start[task];
        }
        let parents = edges.iter().map(|edge| (edge.parent, edge.bytes)).collect();
        Parents { start, parents, order: Vec::new() }
    }

    /// How many tasks there are.
    pub fn task_count(&self) -> usize {
        self.order.len()
    }

    /// The parents of a task, ascending, with what it reads from each.
    pub fn of(&self, task: TaskId) -> impl Iterator<Item = (TaskId, f64)> + '_ {
        self.parents[self.start[task.index()]..self.start[task.index() + 1]].iter().copied()
    }

    /// All tasks, each after its parents.
    pub fn order(&self) -> impl ExactSizeIterator<Item = TaskId> + '_ {
        self.order.iter().copied()
    }
}

/// All tasks, each after its parents, if there is no circle.
fn sorted(task_count: usize, mut edges: Vec<Edge>) -> Option<Vec<TaskId>> {
    let mut open = vec![0u32; task_count];
    for edge in &edges {
        open[edge.child.index()] += 1;
    }
    edges.sort_unstable_by_key(|edge| (edge.parent, edge.child));
    let mut order: Vec<TaskId> = (0..task_count).map(TaskId::at).filter(|task| open[task.index()] == 0).collect();
    let mut at = 0;
    while let Some(&task) = order.get(at) {
        at += 1;
        let first = edges.partition_point(|edge| edge.parent < task);
        for edge in edges[first..].iter().take_while(|edge| edge.parent == task) {
            let left = &mut open[edge.child.index()];
            *left -= 1;
            if *left == 0 {
                order.push(edge.child);
            }
        }
    }
    (order.len() == task_count).then_some(order)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::{Format, NoFiles};

    fn edge(parent: u32, child: u32, bytes: f64) -> Edge {
        Edge { parent: TaskId(parent), child: TaskId(child), bytes }
    }

    #[test]
    fn edges_in_any_order() {
        let parents =
            Parents::of_edges(4, vec![edge(3, 0, 1.0), edge(1, 0, 2.0), edge(0, 2, 4.0), edge(3, 0, 8.0)]).unwrap();
        assert_eq!(parents.of(TaskId(0)).collect::<Vec<_>>(), [(TaskId(1), 2.0), (TaskId(3), 9.0)]);
        assert_eq!(parents.of(TaskId(1)).count(), 0);
        assert_eq!(parents.order().map(|task| task.0).collect::<Vec<_>>(), [1, 3, 0, 2]);
    }

    #[test]
    fn a_circle_is_refused() {
        assert_eq!(Parents::of_edges(3, vec![edge(0, 1, 0.0), edge(1, 2, 0.0), edge(2, 1, 0.0)]).err(), Some(Circular));
        assert_eq!(Parents::of_edges(1, vec![edge(0, 0, 0.0)]).err(), Some(Circular));
        assert_eq!(Parents::of_edges(0, vec![]).unwrap().task_count(), 0);
    }

    #[test]
    fn of_a_workflow_by_files_and_by_after() {
        let text = "tasks:
            both: { run: touch x y, out: [x, y] }
            quiet: { noop: true }
            join: { run: cat x y, in: [x, y], after: [quiet, both] }";
        let flow = Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap();
        let named = |name: &str| flow.tasks().find(|task| flow.name(*task) == name).unwrap();
        let parents = Parents::of_workflow(&flow, |object| if flow.object_name(object) == "x" { 10 } else { 7 });
        let mut expected = vec![(named("both"), 17.0), (named("quiet"), 0.0)];
        expected.sort_by_key(|(parent, _)| *parent);
        assert_eq!(parents.of(named("join")).collect::<Vec<_>>(), expected);
        assert_eq!(parents.task_count(), 3);
    }
}
