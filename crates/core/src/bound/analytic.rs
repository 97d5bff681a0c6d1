//! The analytic bound of MATRIX: when each task could end at the earliest if data have to be moved.
//!
//! A task starts either away from its parents, once everything they made has come to it; or near one of them, once
//! the others' data and its own specification have come there. It takes the better way, then waits in a queue, and
//! runs. Machines are never short: that there are fewer of them than tasks shows only in the wait, which is put in and
//! not worked out. So with a wait of 0 nothing is faster than this, while with [`queue_wait`] it is an expectation.

use crate::ids::TaskId;

/// The mean wait of `tasks` that queue for one core and take `length_seconds` each: half of what the others take.
pub fn queue_wait(tasks: f64, length_seconds: f64) -> f64 {
    (tasks - 1.0) * length_seconds / 2.0
}

/// What a task takes by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Running it.
    pub execution_seconds: f64,
    /// Waiting for a core.
    pub wait_seconds: f64,
    /// What has to be sent to start it near its data.
    pub specification_bytes: f64,
}

/// Where a task starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// It has no parents.
    Root,
    /// Away from its parents: all data come to it.
    Away,
    /// Near one of its parents: it goes there, as do the others' data. Preferred when both are as good.
    Near,
}

/// The earliest end of every task.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Analytic {
    /// When each task ends, in seconds.
    pub finish: Vec<f64>,
    /// Where each task starts.
    pub case: Vec<Case>,
    /// When the last one ends.
    pub timespan: f64,
}

impl Analytic {
    /// Works through tasks in an `order` in which parents come first; the tasks are numbered from 0 without a gap.
    ///
    /// `parents` names the parents of a task, each once, with the bytes read from each.
    /// [`super::Parents`] has both for graphs that are not as regular as a formula.
    ///
    /// ```
    /// use throng_core::bound::{Analytic, Cost};
    /// use throng_core::ids::TaskId;
    ///
    /// let chain = (0..3).map(TaskId);
    /// let parent = |task: TaskId| task.0.checked_sub(1).map(|parent| (TaskId(parent), 500.0));
    /// let cost = |_| Cost { execution_seconds: 1.0, wait_seconds: 0.0, specification_bytes: 100.0 };
    /// let bound = Analytic::of(chain, 1000.0, parent, cost);
    /// assert!((bound.timespan - 3.2).abs() < 1e-9);
    /// ```
    pub fn of<P: IntoIterator<Item = (TaskId, f64)>>(
        order: impl ExactSizeIterator<Item = TaskId>,
        bytes_per_second: f64,
        parents: impl Fn(TaskId) -> P,
        cost: impl Fn(TaskId) -> Cost,
    ) -> Analytic {
        let task_count = order.len();
        let mut bound = Analytic { finish: vec![0.0; task_count], case: vec![Case::Root; task_count], timespan: 0.0 };
        // Nothing is moved in no time, however slow the network.
        let transfer = |bytes: f64| if bytes > 0.0 { bytes / bytes_per_second } else { 0.0 };
        for task in order {
            let cost = cost(task);
            let mut arrivals: Option<Arrivals> = None;
            for (parent, bytes) in parents(task) {
                let finish = bound.finish[parent.index()];
                arrivals.get_or_insert_default().add(finish, finish + transfer(bytes));
            }
            let (start, case) = arrivals.map_or((0.0, Case::Root), |arrivals| {
                let (away, near) = (arrivals.last, arrivals.near() + transfer(cost.specification_bytes));
                if near <= away { (near, Case::Near) } else { (away, Case::Away) }
            });
            let finish = cost.execution_seconds + cost.wait_seconds + start;
            bound.finish[task.index()] = finish;
            bound.case[task.index()] = case;
            bound.timespan = bound.timespan.max(finish);
        }
        bound
    }

    /// Tasks per second.
    pub fn throughput(&self) -> f64 {
        self.finish.len() as f64 / self.timespan
    }
}

/// What has to be known of a task's parents, however many they are.
#[derive(Clone, Copy, Debug, Default)]
struct Arrivals {
    /// When the last of them ends.
    finish: f64,
    /// When the last and the last but one of their data come in.
    last: f64,
    last_but_one: f64,
}

impl Arrivals {
    fn add(&mut self, finish: f64, arrival: f64) {
        self.finish = self.finish.max(finish);
        self.last_but_one = self.last_but_one.max(arrival.min(self.last));
        self.last = self.last.max(arrival);
    }

    /// When everything is at the best of the parents. That is the one whose data would come last: near any other, one
    /// would wait for just those. It still has to end; the others end before their own data have come.
    fn near(&self) -> f64 {
        self.finish.max(self.last_but_one)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Edge, Parents};
    use super::*;

    /// The bound as it is defined, with every parent tried.
    fn defined(parents: &Parents, bytes_per_second: f64, cost: impl Fn(TaskId) -> Cost) -> (Vec<f64>, Vec<Case>) {
        let mut finish = vec![0.0; parents.task_count()];
        let mut case = vec![Case::Root; parents.task_count()];
        for task in parents.order() {
            let arrival = |(parent, bytes): (TaskId, f64)| finish[parent.index()] + bytes / bytes_per_second;
            let away = parents.of(task).map(arrival).reduce(f64::max);
            let near_one = |(near, _): (TaskId, f64)| {
                let others = parents.of(task).filter(|(other, _)| *other != near).map(arrival);
                others.fold(finish[near.index()], f64::max) + cost(task).specification_bytes / bytes_per_second
            };
            let near = parents.of(task).map(near_one).reduce(f64::min);
            let start = away.zip(near).map_or(0.0, |(away, near)| away.min(near));
            case[task.index()] = match away.zip(near) {
                None => Case::Root,
                Some((away, near)) if near <= away => Case::Near,
                Some(_) => Case::Away,
            };
            finish[task.index()] = cost(task).execution_seconds + cost(task).wait_seconds + start;
        }
        (finish, case)
    }

    #[test]
    fn nothing_and_a_single_task() {
        let cost = |_| Cost { execution_seconds: 2.0, wait_seconds: 1.0, specification_bytes: 9.0 };
        let none = Analytic::of([].into_iter(), 1.0, |_| [], cost);
        assert_eq!(none, Analytic::default());
        let one = Analytic::of([TaskId(0)].into_iter(), 1.0, |_| [], cost);
        assert_eq!((one.timespan, one.case[0], one.throughput()), (3.0, Case::Root, 1.0 / 3.0));
    }

    #[test]
    fn a_network_without_limit_and_one_that_carries_nothing() {
        let parent = |task: TaskId| task.0.checked_sub(1).map(|parent| (TaskId(parent), 5.0));
        let cost = |_| Cost { execution_seconds: 1.0, ..Cost::default() };
        for bytes_per_second in [f64::INFINITY, 0.0] {
            let bound = Analytic::of((0..4).map(TaskId), bytes_per_second, parent, cost);
            assert_eq!((bound.timespan, bound.case[3]), (4.0, Case::Near));
        }
    }

    #[test]
    fn a_wait_is_that_of_the_mean_task() {
        assert_eq!(queue_wait(1.0, 5.0), 0.0);
        assert_eq!(queue_wait(1000.0, 0.05), 24.975);
    }

    proptest! {
        #[test]
        fn as_defined(
            tasks in prop::collection::vec((0u32..50, 0u32..3, 0u32..3), 1..14),
            links in prop::collection::vec((0usize..14, 0usize..14, 0u32..40), 0..60),
            shift in 0usize..14,
        ) {
            // Edges go up in one numbering; the tasks have another.
            let number = |at: usize| TaskId::at((at + shift) % tasks.len());
            let edges = links.iter().map(|(a, b, bytes)| (a % tasks.len(), b % tasks.len(), *bytes));
            let edges = edges.filter(|(a, b, _)| a != b).map(|(a, b, bytes)| Edge {
                parent: number(a.min(b)),
                child: number(a.max(b)),
                bytes: f64::from(bytes),
            });
            let parents = Parents::of_edges(tasks.len(), edges.collect()).unwrap();
            let cost = |task: TaskId| {
                let (execution, wait, specification) = tasks[task.index()];
                Cost {
                    execution_seconds: f64::from(execution) / 7.0,
                    wait_seconds: f64::from(wait),
                    specification_bytes: f64::from(specification),
                }
            };
            let bound = Analytic::of(parents.order(), 3.0, |task| parents.of(task), cost);
            let (finish, case) = defined(&parents, 3.0, cost);
            prop_assert_eq!(&bound.finish, &finish);
            prop_assert_eq!(&bound.case, &case);
            prop_assert_eq!(bound.timespan, bound.finish.iter().copied().fold(0.0, f64::max));
        }
    }
}
