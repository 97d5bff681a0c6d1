//! When tasks are to begin, for a node that holds to a plan.
//!
//! A slot that is free for a moment is tempting, and whoever takes it is in the way of the task that was to have it. So a task begins when its time has come, or sooner if all
//! that were to begin before it on this node have begun: a run that is faster than its plan keeps its order.
//!
//! A run that is slower keeps it as far as that is worth it. A task whose time has come leaves room for those that were to begin before it and are late: if it takes five
//! minutes, and what is late takes a second, the second is not to wait for the minutes. But it waits no longer than it would have run, so that nobody is kept waiting for ever
//! by somebody who does not come.
//!
//! Not all that was planned for a node begins there: a life before this one may have done it, somebody else may have stepped in, or nobody wants it any more. Whoever hears
//! of that says so, and nobody waits for it. A task that comes after all, or once more, has its turn like any other.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::ids::{NodeId, TaskId};
use crate::time::Time;

/// From when until when tasks of a workflow are to run.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// For each task when it is to begin.
    pub begins: Arc<Vec<u64>>,
    /// For each task when it is to have ended.
    pub ends: Arc<Vec<u64>>,
}

/// The tasks of each node, gathered once for all of them: a node that looked for its own among all would look at as many as there are, and so
/// would the next one.
#[derive(Clone, Debug, Default)]
pub struct Homes {
    /// All tasks, those of the first node first.
    tasks: Vec<TaskId>,
    /// Where each node's begin, and where the last one's end.
    firsts: Vec<u32>,
}

impl Homes {
    /// For each task its node, of so many.
    pub fn of(homes: &[u32], nodes: u32) -> Homes {
        let mut firsts = vec![0u32; nodes as usize + 1];
        homes.iter().for_each(|home| firsts[*home as usize + 1] += 1);
        for node in 0..nodes as usize {
            firsts[node + 1] += firsts[node];
        }
        let (mut next, mut tasks) = (firsts.clone(), vec![TaskId(0); homes.len()]);
        for (task, home) in homes.iter().enumerate() {
            let place = &mut next[*home as usize];
            tasks[*place as usize] = TaskId::at(task);
            *place += 1;
        }
        Homes { tasks, firsts }
    }

    /// The tasks of a node, by their numbers.
    pub fn tasks(&self, node: NodeId) -> &[TaskId] {
        &self.tasks[self.firsts[node.index()] as usize..self.firsts[node.index() + 1] as usize]
    }
}

/// The tasks of a node, and their times.
#[derive(Clone, Debug)]
pub struct Timetable {
    times: Times,
    /// The node's own tasks, the first one first, and how many cores each takes.
    line: Vec<(TaskId, u32)>,
    /// The places in it of those that are to begin here, as far as is known, and have not.
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
        self.place(task).is_none_or(|place| self.is_turn_of(place))
    }

    fn is_turn_of(&self, place: usize) -> bool {
        self.waiting.first().is_none_or(|first| *first >= place)
    }

    /// Whether a task may begin, with so many cores free.
    pub(super) fn may_begin(&self, task: TaskId, now: Time, free_cores: u32) -> bool {
        let Some(place) = self.place(task) else { return true };
        if self.is_turn_of(place) || now >= self.patience(task) {
            return true;
        }
        if now < self.begin(task) {
            return false;
        }
        let late = self.waiting.range(..place).map(|before| self.line[*before].1);
        // Each takes a core at least, so this looks at no more tasks than there are cores.
        late.into_iter().try_fold(free_cores.saturating_sub(self.line[place].1), u32::checked_sub).is_some()
    }

    /// A task is here, and is to begin: perhaps once more.
    pub(super) fn came(&mut self, task: TaskId) {
        if let Some(place) = self.place(task) {
            self.waiting.insert(place);
        }
    }

    /// A task begins, or nobody has to wait for it any more.
    pub(super) fn strike(&mut self, task: TaskId) {
        if let Some(place) = self.place(task) {
            self.waiting.remove(&place);
        }
    }

    /// The tasks that are to begin here and have not.
    pub(super) fn waiting(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.waiting.iter().map(|place| self.line[*place].0)
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
        table.strike(second);
        assert_eq!(may(&table, 5, 1), [true, false, false]);
        table.strike(first);
        assert!(table.may_begin(third, Time(5), 1), "all before it have begun");
        assert!(table.may_begin(stranger, Time(0), 1), "nobody has planned it here");
    }

    #[test]
    fn each_node_has_its_own() {
        let homes = Homes::of(&[2, 0, 2, 3, 0, 2], 5);
        let tasks = |node| homes.tasks(NodeId(node)).iter().map(|task| task.0).collect::<Vec<_>>();
        assert_eq!([0, 1, 2, 3, 4].map(tasks), [vec![1, 4], vec![], vec![0, 2, 5], vec![3], vec![]]);
        assert_eq!(Homes::of(&[], 1).tasks(NodeId(0)), []);
    }

    #[test]
    fn who_comes_once_more_has_its_turn_again() {
        let [first, second, third] = [0, 1, 2].map(TaskId);
        let times = Times { begins: Arc::new(vec![10, 20, 30]), ends: Arc::new(vec![20, 30, 40]) };
        let mut table = Timetable::new(times, [first, second, third].map(|task| (task, 1)));
        let turns = |table: &Timetable| [first, second, third].map(|task| table.is_its_turn(task));
        table.strike(first);
        assert_eq!(turns(&table), [true, true, false], "whoever was before all that wait need not wait for them");
        table.came(first);
        assert_eq!(turns(&table), [true, false, false]);
        assert!(
            !table.may_begin(second, Time(20), 1) && table.may_begin(second, Time(20), 2),
            "there is room for both"
        );
        table.strike(second);
        assert_eq!(table.waiting().collect::<Vec<_>>(), [first, third]);
        table.strike(first);
        assert_eq!(turns(&table), [true, true, true]);
    }

    #[test]
    fn who_is_late_and_large_has_as_much_room_kept_for_it_as_it_takes() {
        let times = Times { begins: Arc::new(vec![10, 20]), ends: Arc::new(vec![11, 90]) };
        let table = Timetable::new(times, [(TaskId(0), 3), (TaskId(1), 1)]);
        assert_eq!([3, 4].map(|free| table.may_begin(TaskId(1), Time(20), free)), [false, true]);
    }
}
