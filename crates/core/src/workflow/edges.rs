//! The edges between tasks, which follow from files and `after`, and the proof that they close no circle.

use super::Workflow;
use crate::ids::{ObjectId, TaskId};

/// Fills in children and parent counts, if there are any; `after` holds edges without data as (child, parent).
pub(super) fn connect(flow: &mut Workflow, mut after: Vec<(TaskId, TaskId)>) {
    if after.is_empty() && flow.inputs.iter().all(|object| flow.producer(ObjectId(*object)).is_none()) {
        return;
    }
    after.sort_unstable();
    let task_count = flow.task_count();
    let mut parent_count = vec![0u32; task_count];
    let mut child_start = vec![0u32; task_count + 1];
    for_each_child(flow, &after, |child, parents| {
        parent_count[child.index()] = parents.len() as u32;
        for parent in parents {
            child_start[parent.index() + 1] += 1;
        }
    });
    for task in 0..task_count {
        child_start[task + 1] += child_start[task];
    }
    let mut next = child_start.clone();
    let mut children = vec![0u32; child_start[task_count] as usize];
    for_each_child(flow, &after, |child, parents| {
        for parent in parents {
            let place = &mut next[parent.index()];
            children[*place as usize] = child.0;
            *place += 1;
        }
    });
    flow.parent_count = parent_count;
    flow.child_start = child_start;
    flow.children = children;
}

/// Visits each task that has parents, with these parents, each once.
fn for_each_child(flow: &Workflow, after: &[(TaskId, TaskId)], mut visit: impl FnMut(TaskId, &[TaskId])) {
    let mut parents: Vec<TaskId> = Vec::new();
    let mut after = after.iter().peekable();
    for task in flow.tasks() {
        parents.clear();
        parents.extend(flow.inputs(task).filter_map(|object| flow.producer(object)));
        while let Some((_, parent)) = after.next_if(|(child, _)| *child == task) {
            parents.push(*parent);
        }
        if parents.len() > 1 {
            parents.sort_unstable();
            parents.dedup();
        }
        if !parents.is_empty() {
            visit(task, &parents);
        }
    }
}

impl Workflow {
    /// All tasks, each after those it waits for.
    pub fn topological(&self) -> Vec<TaskId> {
        if self.parent_count.is_empty() {
            return self.tasks().collect();
        }
        let mut open = self.parent_count.clone();
        let mut sorted: Vec<TaskId> = Vec::with_capacity(self.task_count());
        sorted.extend(self.tasks().filter(|task| open[task.index()] == 0));
        let mut at = 0;
        while let Some(&task) = sorted.get(at) {
            at += 1;
            for child in self.children(task) {
                open[child.index()] -= 1;
                if open[child.index()] == 0 {
                    sorted.push(child);
                }
            }
        }
        sorted
    }
}

/// One circle of tasks, if there is any, in the direction in which files flow.
pub(super) fn find_cycle(flow: &Workflow) -> Option<Vec<TaskId>> {
    let sorted = flow.topological();
    if sorted.len() == flow.task_count() {
        return None;
    }
    let mut is_left_over = vec![true; flow.task_count()];
    for task in sorted {
        is_left_over[task.index()] = false;
    }
    // Every task left over has a parent left over; noting one for each and walking back must come round.
    let mut parent_of = vec![None; flow.task_count()];
    for task in flow.tasks().filter(|task| is_left_over[task.index()]) {
        for child in flow.children(task).filter(|child| is_left_over[child.index()]) {
            parent_of[child.index()] = Some(task);
        }
    }
    let mut order = vec![usize::MAX; flow.task_count()];
    let mut walk = Vec::new();
    let mut task = flow.tasks().find(|task| parent_of[task.index()].is_some())?;
    while order[task.index()] == usize::MAX {
        order[task.index()] = walk.len();
        walk.push(task);
        task = parent_of[task.index()].expect("a task left over has a parent left over");
    }
    let mut cycle = walk.split_off(order[task.index()]);
    cycle.reverse();
    let least = cycle.iter().enumerate().min_by_key(|(_, task)| **task).map_or(0, |(at, _)| at);
    cycle.rotate_left(least);
    Some(cycle)
}
