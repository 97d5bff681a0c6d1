//! Order: which ready task runs next.
//!
//! An order owns its queue. Inside, there is one line per resource class, so that a task too big for the
//! room that is left does not keep smaller ones behind it from running: [`Order::pop`] takes the best head
//! among the classes that may start now. A decision costs as many looks as there are better classes that may not start,
//! however many tasks wait. A task's `priority` comes before whatever the order itself prefers.

mod critical_path;
mod fifo;
mod largest;
mod lifo;

use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};

use crate::ids::ClassId;
use crate::node::ReadyTask;
use crate::policy::{BadPolicy, Policy};
use crate::workflow::Workflow;

/// A queue of ready tasks that knows which comes next.
pub trait Order: Send {
    /// Takes a task in.
    fn push(&mut self, task: ReadyTask);
    /// Hands out the next task of a class that is admitted, if there is any.
    fn pop(&mut self, admits: &dyn Fn(ClassId) -> bool) -> Option<ReadyTask>;
    /// Gives up to `count` tasks away to somebody who can run these classes: class by class, those it would run last.
    fn give(&mut self, count: usize, admits: &dyn Fn(ClassId) -> bool) -> Vec<ReadyTask>;
    /// How many tasks wait.
    fn len(&self) -> usize;
    /// Whether none waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The names that [`by_name`] knows, the default first.
pub const NAMES: [&str; 4] = ["fifo", "lifo", "largest", "critical-path"];

/// The order with a name.
pub fn by_name(policy: &Policy, flow: &Workflow) -> Result<Box<dyn Order>, BadPolicy> {
    policy.takes_none()?;
    match policy.name.as_str() {
        "fifo" => Ok(Box::new(fifo::order())),
        "lifo" => Ok(Box::new(lifo::order())),
        "largest" => Ok(Box::new(largest::order())),
        "critical-path" => Ok(Box::new(critical_path::order(flow))),
        _ => Err(policy.unknown("order", &NAMES)),
    }
}

/// Whether an order goes by the size of what tasks read, so that somebody has to look at files that are there.
pub fn uses_sizes(policy: &Policy) -> bool {
    policy.name == "largest"
}

/// What a line compares: the task's priority, then the order's own preference, then the time of arrival.
type Key = (i32, u64, u64);

/// The waiting tasks of one class.
trait Line: Default + Send {
    fn push(&mut self, key: Key, task: ReadyTask);
    /// The key of the task that comes next: the greatest.
    fn best(&self) -> Option<Key>;
    fn pop_best(&mut self) -> Option<ReadyTask>;
    fn pop_worst(&mut self) -> Option<ReadyTask>;
}

/// An order made of a line per class and a preference.
struct ByClass<L, P> {
    lines: Vec<L>,
    /// The best of each line that has any, in order.
    heads: BTreeSet<(Key, usize)>,
    arrivals: u64,
    waiting: usize,
    /// The order's preference and place of a task, given its number of arrival.
    prefer: P,
}

impl<L: Line, P: Fn(&ReadyTask, u64) -> (u64, u64) + Send> ByClass<L, P> {
    fn new(prefer: P) -> Self {
        ByClass { lines: Vec::new(), heads: BTreeSet::new(), arrivals: 0, waiting: 0, prefer }
    }
}

impl<L: Line, P: Fn(&ReadyTask, u64) -> (u64, u64) + Send> ByClass<L, P> {
    /// Notes that another task is now the best of a line.
    fn move_head(&mut self, class: usize, before: Option<Key>, after: Option<Key>) {
        if before == after {
            return;
        }
        before.map(|key| self.heads.remove(&(key, class)));
        self.heads.extend(after.map(|key| (key, class)));
    }
}

/// A choice looks at so many classes that may not start now, and then leaves it for the next time: a workflow may have as many
/// classes as tasks. If nothing runs, the first one may start.
const CLASSES_LOOKED_AT: usize = 1000;

impl<L: Line, P: Fn(&ReadyTask, u64) -> (u64, u64) + Send> Order for ByClass<L, P> {
    fn push(&mut self, task: ReadyTask) {
        let class = task.class.index();
        if class >= self.lines.len() {
            self.lines.resize_with(class + 1, L::default);
        }
        self.arrivals += 1;
        let (preference, place) = (self.prefer)(&task, self.arrivals);
        let line = &mut self.lines[class];
        let before = line.best();
        line.push((task.priority, preference, place), task);
        let after = line.best();
        self.move_head(class, before, after);
        self.waiting += 1;
    }

    fn pop(&mut self, admits: &dyn Fn(ClassId) -> bool) -> Option<ReadyTask> {
        let heads = self.heads.iter().rev().take(CLASSES_LOOKED_AT);
        let (key, class) = heads.copied().find(|(_, class)| admits(ClassId::at(*class)))?;
        let task = self.lines[class].pop_best();
        let after = self.lines[class].best();
        self.move_head(class, Some(key), after);
        self.waiting -= 1;
        task
    }

    fn give(&mut self, count: usize, admits: &dyn Fn(ClassId) -> bool) -> Vec<ReadyTask> {
        let mut given = Vec::new();
        for (class, line) in self.lines.iter_mut().enumerate() {
            if !admits(ClassId::at(class)) {
                continue;
            }
            let before = line.best();
            while given.len() < count {
                let Some(task) = line.pop_worst() else { break };
                given.push(task);
            }
            let after = line.best();
            if before != after {
                before.map(|key| self.heads.remove(&(key, class)));
                self.heads.extend(after.map(|key| (key, class)));
            }
        }
        self.waiting -= given.len();
        given
    }

    fn len(&self) -> usize {
        self.waiting
    }
}

/// A line in which a later arrival never comes before an earlier one of the same priority, or always does:
/// both ends are at hand, and nothing has to be compared.
#[derive(Default)]
struct Deques<const NEWEST_FIRST: bool> {
    by_priority: BTreeMap<i32, VecDeque<(u64, ReadyTask)>>,
}

impl<const NEWEST_FIRST: bool> Deques<NEWEST_FIRST> {
    fn pop(&mut self, priority: i32, newest: bool) -> Option<ReadyTask> {
        let deque = self.by_priority.get_mut(&priority)?;
        let task = if newest { deque.pop_back() } else { deque.pop_front() };
        if deque.is_empty() {
            self.by_priority.remove(&priority);
        }
        task.map(|(_, task)| task)
    }
}

impl<const NEWEST_FIRST: bool> Line for Deques<NEWEST_FIRST> {
    fn push(&mut self, (priority, _, place): Key, task: ReadyTask) {
        self.by_priority.entry(priority).or_default().push_back((place, task));
    }

    fn best(&self) -> Option<Key> {
        let (priority, deque) = self.by_priority.last_key_value()?;
        let (place, _) = if NEWEST_FIRST { deque.back()? } else { deque.front()? };
        Some((*priority, 0, *place))
    }

    fn pop_best(&mut self) -> Option<ReadyTask> {
        let priority = *self.by_priority.last_key_value()?.0;
        self.pop(priority, NEWEST_FIRST)
    }

    fn pop_worst(&mut self) -> Option<ReadyTask> {
        let priority = *self.by_priority.first_key_value()?.0;
        self.pop(priority, !NEWEST_FIRST)
    }
}

/// A line sorted by preference.
#[derive(Default)]
struct Heap {
    heap: BinaryHeap<Ranked>,
}

struct Ranked {
    key: Key,
    task: ReadyTask,
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

impl Line for Heap {
    fn push(&mut self, key: Key, task: ReadyTask) {
        self.heap.push(Ranked { key, task });
    }

    fn best(&self) -> Option<Key> {
        self.heap.peek().map(|ranked| ranked.key)
    }

    fn pop_best(&mut self) -> Option<ReadyTask> {
        self.heap.pop().map(|ranked| ranked.task)
    }

    /// Looks at every task of the line: giving away is rare, and choosing next is not.
    fn pop_worst(&mut self) -> Option<ReadyTask> {
        let mut all = std::mem::take(&mut self.heap).into_vec();
        let worst = all.iter().enumerate().min_by_key(|(_, ranked)| ranked.key).map(|(at, _)| at);
        let given = worst.map(|at| all.swap_remove(at).task);
        self.heap = all.into();
        given
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::TaskId;

    fn ready(task: u32, class: u32, priority: i32, input_bytes: u64) -> ReadyTask {
        ReadyTask { task: TaskId(task), class: ClassId(class), priority, attempt: 1, input_bytes }
    }

    fn drained(mut order: impl Order) -> Vec<u32> {
        std::iter::from_fn(|| order.pop(&|_| true)).map(|ready| ready.task.0).collect()
    }

    fn filled(mut order: impl Order) -> impl Order {
        for task in [ready(0, 0, 0, 5), ready(1, 1, 0, 9), ready(2, 0, 7, 1), ready(3, 0, 0, 9)] {
            order.push(task);
        }
        order
    }

    #[test]
    fn each_order_by_its_name() {
        assert_eq!(drained(filled(fifo::order())), [2, 0, 1, 3]);
        assert_eq!(drained(filled(lifo::order())), [2, 3, 1, 0]);
        assert_eq!(drained(filled(largest::order())), [2, 1, 3, 0]);
    }

    #[test]
    fn a_class_without_room_does_not_block_the_others() {
        let mut order = filled(fifo::order());
        let next = order.pop(&|class| class == ClassId(1)).unwrap();
        assert_eq!(next.task, TaskId(1));
        assert_eq!(order.pop(&|class| class == ClassId(1)), None);
        assert_eq!(order.len(), 3);
    }

    #[test]
    fn the_last_in_line_is_given_away() {
        let mut order = filled(fifo::order());
        let given: Vec<u32> = order.give(2, &|class| class == ClassId(0)).iter().map(|ready| ready.task.0).collect();
        assert_eq!(given, [3, 0]);
        assert_eq!(drained(order), [2, 1]);
    }
}
