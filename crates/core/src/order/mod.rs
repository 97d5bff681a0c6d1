//! Order: which ready task runs next.
//!
//! An order owns its queue. Inside, there is one line per resource class, so that a task too big for the
//! room that is left does not keep smaller ones behind it from running: [`Order::pop`] takes the best head
//! among the classes that may start now. A decision costs as many looks as there are better classes that may not start,
//! however many tasks wait. A task's `priority` comes before whatever the order itself prefers.

pub mod aware;
mod batched;
mod critical_path;
mod deques;
mod fifo;
pub mod gcs;
pub mod heft;
mod largest;
mod lifo;
mod maker;
pub mod og;
mod planned;
mod ps;
pub mod random;

use crate::ids::{ClassId, ObjectId, TaskId};
use crate::node::ReadyTask;
use std::collections::{BTreeMap, BTreeSet};

pub(crate) use critical_path::steps_to_end;
pub(crate) use maker::serial_by;
pub use maker::{Maker, NAMES, Seat, by_name, check, uses_sizes};

/// A queue of ready tasks that knows which comes next.
pub trait Order: Send {
    /// Takes a task in.
    fn push(&mut self, task: ReadyTask);
    /// Hands out the next task of a class that is admitted, if there is any.
    fn pop(&mut self, admits: &dyn Fn(ClassId) -> bool) -> Option<ReadyTask>;
    /// Gives up to `count` tasks away to somebody who can run these classes: about those that it would run last. Where there is a line for each
    /// class, half of one goes before any of the next, so that nobody is left with all tasks of one kind.
    fn give(&mut self, count: usize, admits: &dyn Fn(ClassId) -> bool) -> Vec<ReadyTask>;
    /// Whether the order wants to hear of [`Order::data`].
    fn follows_data(&self) -> bool {
        false
    }
    /// An object is here or on its way, or is not any more.
    fn data(&mut self, _object: ObjectId, _is_here: bool) {}
    /// An item is in the cache, or is not any more: the same, for those who know data by the numbers of items.
    fn item(&mut self, _item: u32, _is_here: bool) {}
    /// Another queue of the same node has handed out a task.
    fn began(&mut self, _task: TaskId) {}
    /// A task that a queue of this node handed out has ended.
    fn ended(&mut self, _task: TaskId) {}
    /// How many tasks of these classes wait.
    fn count(&self, admits: &dyn Fn(ClassId) -> bool) -> usize;
    /// How many tasks wait.
    fn len(&self) -> usize;
    /// Whether none waits.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
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
    /// With their lengths, and only those of classes that are here: a workflow may have as many classes as tasks, and a cluster has many nodes.
    lines: BTreeMap<usize, (L, usize)>,
    /// The best of each line that has any, in order.
    heads: BTreeSet<(Key, usize)>,
    arrivals: u64,
    waiting: usize,
    /// The order's preference and place of a task, given its number of arrival.
    prefer: P,
}

impl<L: Line, P: FnMut(&ReadyTask, u64) -> (u64, u64) + Send> ByClass<L, P> {
    fn new(prefer: P) -> Self {
        ByClass { lines: BTreeMap::new(), heads: BTreeSet::new(), arrivals: 0, waiting: 0, prefer }
    }
}

impl<L: Line, P: FnMut(&ReadyTask, u64) -> (u64, u64) + Send> ByClass<L, P> {
    /// Notes that another task is now the best of a line.
    fn move_head(&mut self, class: usize, before: Option<Key>, after: Option<Key>) {
        if before == after {
            return;
        }
        before.map(|key| self.heads.remove(&(key, class)));
        self.heads.extend(after.map(|key| (key, class)));
    }

    /// Changes a line, and whatever has to be known of it.
    fn change<T>(&mut self, class: usize, change: impl FnOnce(&mut L, &mut usize) -> T) -> T {
        let (line, length) = self.lines.entry(class).or_default();
        let (before, length_before) = (line.best(), *length);
        let told = change(line, length);
        let (after, is_empty) = (line.best(), *length == 0);
        self.waiting = self.waiting + *length - length_before;
        self.move_head(class, before, after);
        if is_empty {
            self.lines.remove(&class);
        }
        told
    }

    /// Gives so many tasks of a class away.
    fn give_of(&mut self, class: usize, count: usize, given: &mut Vec<ReadyTask>) {
        self.change(class, |line, length| {
            let before = given.len();
            given.extend((0..count).map_while(|_| line.pop_worst()));
            *length -= given.len() - before;
        });
    }
}

/// A choice looks at so many classes that may not start now, and then leaves it for the next time: a workflow may have as many
/// classes as tasks. If nothing runs, the first one may start.
const CLASSES_LOOKED_AT: usize = 1000;

impl<L: Line, P: FnMut(&ReadyTask, u64) -> (u64, u64) + Send> Order for ByClass<L, P> {
    fn push(&mut self, task: ReadyTask) {
        self.arrivals += 1;
        let (preference, place) = (self.prefer)(&task, self.arrivals);
        self.change(task.class.index(), |line, length| {
            line.push((task.priority, preference, place), task);
            *length += 1;
        });
    }

    fn pop(&mut self, admits: &dyn Fn(ClassId) -> bool) -> Option<ReadyTask> {
        let heads = self.heads.iter().rev().take(CLASSES_LOOKED_AT);
        let (_, class) = heads.copied().find(|(_, class)| admits(ClassId::at(*class)))?;
        self.change(class, |line, length| {
            let task = line.pop_best();
            *length -= usize::from(task.is_some());
            task
        })
    }

    fn give(&mut self, count: usize, admits: &dyn Fn(ClassId) -> bool) -> Vec<ReadyTask> {
        let mut given = Vec::new();
        while given.len() < count {
            let classes = self.heads.iter().take(CLASSES_LOOKED_AT).map(|(_, class)| *class);
            let classes: Vec<usize> = classes.filter(|class| admits(ClassId::at(*class))).collect();
            if classes.is_empty() {
                break;
            }
            for class in classes {
                let of_class = self.lines.get(&class).map_or(0, |(_, length)| length.div_ceil(2));
                self.give_of(class, of_class.min(count - given.len()), &mut given);
            }
        }
        given
    }

    fn count(&self, admits: &dyn Fn(ClassId) -> bool) -> usize {
        let lines = self.lines.iter().take(CLASSES_LOOKED_AT);
        lines.filter(|(class, _)| admits(ClassId::at(**class))).map(|(_, (_, length))| length).sum()
    }

    fn len(&self) -> usize {
        self.waiting
    }
}

/// A line sorted by preference, with both ends at hand.
#[derive(Default)]
struct Sorted {
    tasks: BTreeMap<Key, ReadyTask>,
}

impl Line for Sorted {
    fn push(&mut self, key: Key, task: ReadyTask) {
        self.tasks.insert(key, task);
    }

    fn best(&self) -> Option<Key> {
        self.tasks.last_key_value().map(|(key, _)| *key)
    }

    fn pop_best(&mut self) -> Option<ReadyTask> {
        self.tasks.pop_last().map(|(_, task)| task)
    }

    fn pop_worst(&mut self) -> Option<ReadyTask> {
        self.tasks.pop_first().map(|(_, task)| task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::TaskId;

    fn ready(task: u32, class: u32, priority: i32, input_bytes: u64) -> ReadyTask {
        ReadyTask { priority, input_bytes, ..ReadyTask::first(TaskId(task), ClassId(class)) }
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
