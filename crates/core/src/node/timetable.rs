//! When tasks are to begin, for a node that holds to a plan.
//!
//! A slot that is free for a moment is tempting, and whoever takes it is in the way of the task that was to have it. So a task begins when its time has come, or sooner if all
//! that were to begin before it on this node have begun: a run that is faster than its plan keeps its order, and one that is slower leaves nobody waiting for those who are late.

use std::sync::Arc;

use crate::ids::TaskId;
use crate::time::Time;

/// The tasks of a node, and their times.
#[derive(Clone, Debug)]
pub struct Timetable {
    /// For each task of the workflow when it is to begin.
    begins: Arc<Vec<u64>>,
    /// The node's own, the first one first.
    line: Vec<TaskId>,
    /// How many of those at the front have begun.
    begun: usize,
    /// Of the rest, those that have begun.
    has_begun: Vec<bool>,
    /// When to look again.
    pub(super) wake: Option<Time>,
}

impl Timetable {
    /// Of a node with these tasks.
    pub fn new(begins: Arc<Vec<u64>>, tasks: impl IntoIterator<Item = TaskId>) -> Timetable {
        let mut line: Vec<TaskId> = tasks.into_iter().collect();
        line.sort_by_key(|task| (begins[task.index()], *task));
        Timetable { begins, has_begun: vec![false; line.len()], line, begun: 0, wake: None }
    }

    /// When a task is to begin.
    pub(super) fn begin(&self, task: TaskId) -> Time {
        Time(self.begins[task.index()])
    }

    /// Whether a task may begin.
    pub(super) fn may_begin(&self, task: TaskId, now: Time) -> bool {
        self.begin(task) <= now || self.line.get(self.begun) == Some(&task) || self.place(task).is_none()
    }

    /// A task begins.
    pub(super) fn began(&mut self, task: TaskId) {
        if let Some(place) = self.place(task) {
            self.has_begun[place] = true;
        }
        while self.has_begun.get(self.begun) == Some(&true) {
            self.begun += 1;
        }
    }

    fn place(&self, task: TaskId) -> Option<usize> {
        let key = |task: &TaskId| (self.begins[task.index()], *task);
        self.line.binary_search_by_key(&key(&task), key).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_its_time_or_in_its_turn() {
        let [first, second, third, stranger] = [2, 0, 1, 3].map(TaskId);
        let mut table = Timetable::new(Arc::new(vec![20, 30, 10, 40]), [second, third, first]);
        let may = |table: &Timetable, now| [first, second, third].map(|task| table.may_begin(task, Time(now)));
        assert_eq!(may(&table, 0), [true, false, false]);
        assert_eq!(may(&table, 20), [true, true, false], "who is late keeps nobody waiting");
        table.began(second);
        assert_eq!(may(&table, 5), [true, false, false]);
        table.began(first);
        assert!(table.may_begin(third, Time(5)), "all before it have begun");
        assert!(table.may_begin(stranger, Time(0)), "nobody has planned it here");
    }
}
