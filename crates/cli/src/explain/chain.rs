//! Chains of tasks: how a failure reached a task, and which tasks the end of the run hung on.

use throng_core::ids::TaskId;
use throng_core::workflow::Workflow;

/// No task.
const NONE: u32 = u32::MAX;
/// A task that has not been done.
pub const NEVER: u64 = u64::MAX;

/// The shortest way from one task to another, both included; empty if there is none.
pub fn between(flow: &Workflow, from: TaskId, to: TaskId) -> Vec<TaskId> {
    let mut came_from = vec![NONE; flow.task_count()];
    came_from[from.index()] = from.0;
    let mut found = vec![from];
    let mut at = 0;
    while let Some(&task) = found.get(at).filter(|_| came_from[to.index()] == NONE) {
        at += 1;
        for child in flow.children(task).filter(|child| came_from[child.index()] == NONE).collect::<Vec<_>>() {
            came_from[child.index()] = task.0;
            found.push(child);
        }
    }
    walk_back(&came_from, to)
}

/// What is known of all parents of a task, and the chain that the end of the run hung on. `done_ns` says when each task
/// was done; every edge is looked at once.
pub struct Ways {
    /// The tasks before the one in question.
    pub parents: Vec<TaskId>,
    /// For each task, the last one that it waited for.
    last_parent: Vec<u32>,
}

impl Ways {
    /// Looks at every edge.
    pub fn new(flow: &Workflow, task: TaskId, done_ns: &[u64]) -> Ways {
        let mut last_parent = vec![NONE; flow.task_count()];
        let mut parents = Vec::new();
        for parent in flow.tasks() {
            let own = done_ns[parent.index()];
            for child in flow.children(parent) {
                if child == task {
                    parents.push(parent);
                }
                let last = &mut last_parent[child.index()];
                if own != NEVER && (*last == NONE || done_ns[*last as usize] < own) {
                    *last = parent.0;
                }
            }
        }
        Ways { parents, last_parent }
    }

    /// The parent of a task that was done last.
    pub fn last_parent(&self, task: TaskId) -> Option<TaskId> {
        Some(TaskId(self.last_parent[task.index()])).filter(|parent| parent.0 != NONE)
    }

    /// From a beginning to a task, each the last one that the next waited for. `was_awaited` says which tasks had to be
    /// waited for at all.
    pub fn chain_to(&self, task: TaskId, was_awaited: impl Fn(TaskId) -> bool) -> Vec<TaskId> {
        let mut chain = vec![task];
        while let Some(parent) = self.last_parent(chain[chain.len() - 1]).filter(|parent| was_awaited(*parent)) {
            chain.push(parent);
        }
        chain.reverse();
        chain
    }
}

fn walk_back(came_from: &[u32], to: TaskId) -> Vec<TaskId> {
    if came_from[to.index()] == NONE {
        return Vec::new();
    }
    let mut chain = vec![to];
    loop {
        let last = chain[chain.len() - 1];
        let before = TaskId(came_from[last.index()]);
        if before == last {
            chain.reverse();
            return chain;
        }
        chain.push(before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_core::workflow::{Format, NoFiles};

    #[test]
    fn chains_are_found() {
        let text = "tasks:
          a: { noop: true }
          b: { noop: true, after: a }
          c: { noop: true, after: b }
          d: { noop: true, after: [a, c] }
          e: { noop: true }";
        let flow = Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap();
        assert_eq!(between(&flow, TaskId(0), TaskId(3)), [TaskId(0), TaskId(3)]);
        assert_eq!(between(&flow, TaskId(1), TaskId(3)), [TaskId(1), TaskId(2), TaskId(3)]);
        assert_eq!(between(&flow, TaskId(4), TaskId(3)), []);
        let ways = Ways::new(&flow, TaskId(3), &[1, 2, 3, NEVER, NEVER]);
        assert_eq!(ways.parents, [TaskId(0), TaskId(2)]);
        assert_eq!(ways.last_parent(TaskId(3)), Some(TaskId(2)));
        assert_eq!(ways.chain_to(TaskId(3), |_| true).len(), 4);
        assert_eq!(ways.chain_to(TaskId(3), |task| task != TaskId(0)).len(), 3);
    }
}
