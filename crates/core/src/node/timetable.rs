//! When tasks are to begin, for a node that holds to a plan.
//!
//! A slot that is free for a moment is tempting, and whoever takes it is in the way of the task that was to have it. So a task begins when its time has come, or sooner if all
//! that were to begin before it on this node have begun: a run that is faster than its plan keeps its order.
//!
//! A run that is slower keeps it as far as that is worth it. A task whose time has come leaves room for those that were to begin before it and are late: if it takes five
//! minutes, and what is late takes a second, the second is not to wait for the minutes. But it waits no longer than it would have run, so that nobody is kept waiting for ever
//! by somebody who does not come.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::ids::TaskId;
use crate::time::Time;

/// From when until when tasks of a workflow are to run.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// For each task when it is to begin.
    pub begins: Arc<Vec<u64>>,
    /// For each task when it is to have ended.
    pub ends: Arc<Vec<u64>>,
}

/// The tasks of a node, and their times.
#[derive(Clone, Debug)]
pub struct Timetable {
    times: Times,
    /// The node's own tasks, the first one first, and how many cores each takes.
    line: Vec<(TaskId, u32)>,
    /// The places in it of those that have not begun.
    waiting: BTreeSet<usize>,
    /// When to look again.
    pub(super) wake: Option<Time>,
}

impl Timetable {
    /// Of a node with these tasks, each of which takes so many cores.
    pub fn new(times: Times, tasks: impl IntoIterator<Item = (TaskId, u32)>) -> Timetable {
        let mut line: Vec<(TaskId, u32)> = tasks.into_iter().collect();
        line.sort_by_key(|(task, _)| (times.begins[task.index()], *task));
        Timetable { waiting: (0..line.len()).collect(), times, line, wake: None }
    }

    /// When each task of the workflow is to begin.
    pub(super) fn begins(&self) -> Arc<Vec<u64>> {
        self.times.begins.clone()
    }

    /// When a task is to begin.
    pub(super) fn begin(&self, task: TaskId) -> Time {
        Time(self.times.begins[task.index()])
    }

    /// Until when a task whose time has come may have to wait for others.
    pub(super) fn patience(&self, task: TaskId) -> Time {
        Time(self.times.ends[task.index()])
    }

    /// Whether nobody of this node was to begin before a task and has not.
    pub(super) fn is_its_turn(&self, task: TaskId) -> bool {
        self.place(task).is_none_or(|place| self.waiting.first() == Some(&place))
    }

    /// Whether a task may begin, with so many cores free.
    pub(super) fn may_begin(&self, task: TaskId, now: Time, free_cores: u32) -> bool {
        let Some(place) = self.place(task) else { return true };
        if self.waiting.first() == Some(&place) || now >= self.patience(task) {
            return true;
        }
        if now < self.begin(task) {
            return false;
        }
        let late = self.waiting.range(..place).map(|before| self.line[*before].1);
        // Each takes a core at least, so this looks at no more tasks than there are cores.
        late.into_iter().try_fold(free_cores.saturating_sub(self.line[place].1), u32::checked_sub).is_some()
    }

    /// A task begins.
    pub(super) fn began(&mut self, task: TaskId) {
        if let Some(place) = self.place(task) {
            self.waiting.remove(&place);
        }
    }

    fn place(&self, task: TaskId) -> Option<usize> {
        let key = |task: TaskId| (self.times.begins[task.index()], task);
        self.line.binary_search_by_key(&key(task), |(other, _)| key(*other)).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_its_time_or_in_its_turn() {
        let [first, second, third, stranger] = [2, 0, 1, 3].map(TaskId);
        let times = Times { begins: Arc::new(vec![20, 30, 10, 40]), ends: Arc::new(vec![70, 80, 11, 90]) };
        let mut table = Timetable::new(times, [(second, 1), (third, 1), (first, 1)]);
        let may =
            |table: &Timetable, now, free| [first, second, third].map(|task| table.may_begin(task, Time(now), free));
        assert_eq!(may(&table, 0, 4), [true, false, false]);
        assert_eq!(may(&table, 20, 1), [true, false, false], "the only core is for who is late");
        assert_eq!(may(&table, 20, 2), [true, true, false], "there is room for both");
        assert_eq!(may(&table, 30, 2), [true, true, false]);
        assert_eq!(may(&table, 70, 1), [true, true, false], "nobody waits longer than it would have run");
        table.began(second);
        assert_eq!(may(&table, 5, 1), [true, false, false]);
        table.began(first);
        assert!(table.may_begin(third, Time(5), 1), "all before it have begun");
        assert!(table.may_begin(stranger, Time(0), 1), "nobody has planned it here");
    }

    #[test]
    fn who_is_late_and_large_has_as_much_room_kept_for_it_as_it_takes() {
        let times = Times { begins: Arc::new(vec![10, 20]), ends: Arc::new(vec![11, 90]) };
        let table = Timetable::new(times, [(TaskId(0), 3), (TaskId(1), 1)]);
        assert_eq!([3, 4].map(|free| table.may_begin(TaskId(1), Time(20), free)), [false, true]);
    }
}
