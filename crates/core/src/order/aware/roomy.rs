//! What all will have to wait for first, and of that what needs the least data brought: tasks whose inputs are here, or on their way for
//! others.
//!
//! First come tasks with the most tasks in a row behind them. A task that gathers what hundreds have made has to bring much; if it
//! waited until all that needs less is done, those that wait for it would begin only then. Among tasks with equally many behind
//! them, as in a bag or a grid, data decides. Of those that need the same amount, tasks that need the same object come together, so that
//! what is brought for one serves the others while it is there; which object comes first differs from node to node. If all
//! nodes went through their tasks in the same order, they would all want the same object at the same time, from the one
//! node that has it.
//!
//! It loses when what tasks hand on to each other does not fit into the room that nodes have: it begins many rows of tasks before it
//! ends any. It also loses when steps differ widely in length, for they are only counted.
//!
//! A task costs as many steps as it has inputs, and an object that comes or goes as many as there are tasks waiting here
//! that read it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::ids::{ClassId, ObjectId, TaskId};
use crate::locality::Knowledge;
use crate::node::ReadyTask;
use crate::order::{ByClass, Key, Line, Order, Sorted};
use crate::rng::Rng;

/// Steps and bytes share a number: what needs more than this counts as equally much, and rows of more tasks as equally long.
const BYTES_BITS: u32 = 48;
const MOST_BYTES: u64 = (1 << BYTES_BITS) - 1;
const MOST_STEPS: u32 = 0xFFFF;

type Unused = fn(&ReadyTask, u64) -> (u64, u64);

/// A line in which those that come first are also the first to be given away.
#[derive(Default)]
struct Rows(Sorted);

impl Line for Rows {
    fn push(&mut self, key: Key, task: ReadyTask) {
        self.0.push(key, task);
    }

    fn best(&self) -> Option<Key> {
        self.0.best()
    }

    fn pop_best(&mut self) -> Option<ReadyTask> {
        self.0.pop_best()
    }

    /// One of those that come first, so that whoever takes it has something to do for long; but of them that which needs the most, for the
    /// least of it is here.
    fn pop_worst(&mut self) -> Option<ReadyTask> {
        let (priority, preference, _) = self.best()?;
        let (first, _) = self.0.tasks.range((priority, preference >> BYTES_BITS << BYTES_BITS, 0)..).next()?;
        let first = *first;
        self.0.tasks.remove(&first)
    }
}

/// The order of one queue of one node.
struct Aware {
    known: Arc<Knowledge>,
    /// For each task, how many there are in a row from it to an end.
    steps: Arc<Vec<u32>>,
    seed: u64,
    queue: ByClass<Rows, Unused>,
    /// Where each waiting task stands that reads something.
    keys: BTreeMap<TaskId, (ClassId, Key)>,
    /// The waiting tasks that read an object.
    readers: BTreeSet<(ObjectId, TaskId)>,
    here: BTreeSet<ObjectId>,
    arrivals: u64,
}

impl ByClass<Rows, Unused> {
    /// Takes a task in under a key that somebody else has worked out, and that no other has.
    fn push_as(&mut self, key: Key, task: ReadyTask) {
        self.change(task.class.index(), |line, length| {
            line.push(key, task);
            *length += 1;
        });
    }

    /// Takes a task out from wherever it stands.
    fn take(&mut self, class: ClassId, key: Key) -> Option<ReadyTask> {
        self.change(class.index(), |line, length| {
            let task = line.0.tasks.remove(&key);
            *length -= usize::from(task.is_some());
            task
        })
    }

    fn has(&self, class: ClassId, key: Key) -> bool {
        self.lines.get(&class.index()).is_some_and(|(line, _)| line.0.tasks.contains_key(&key))
    }
}

/// The order.
pub(super) fn order(known: Arc<Knowledge>, steps: Arc<Vec<u32>>, seed: u64) -> impl Order {
    let queue = ByClass::new((|_, _| (0, 0)) as Unused);
    let (keys, readers, here) = (BTreeMap::new(), BTreeSet::new(), BTreeSet::new());
    Aware { known, steps, seed, queue, keys, readers, here, arrivals: 0 }
}

impl Aware {
    /// How a task ranks: the less has to be brought, the better.
    fn key(&self, ready: &ReadyTask, arrival: u64) -> Key {
        let inputs = self.known.inputs(ready.task);
        let share = ready.input_bytes / self.known.flow().inputs(ready.task).len().max(1) as u64;
        let mut missing = 0u64;
        let mut first = None;
        for object in inputs.filter(|object| !self.here.contains(object)) {
            // What has no known size still has to be asked for.
            missing = missing.saturating_add(self.known.flow().expected_size(object).unwrap_or(share).max(1));
            first = first.or(Some(object));
        }
        let steps = u64::from(self.steps[ready.task.index()].min(MOST_STEPS)) << BYTES_BITS;
        let together = first.map_or(0, |object| Rng::new(self.seed ^ u64::from(object.0)).next() >> 24 << 24);
        let present = MOST_BYTES - missing.min(MOST_BYTES);
        (ready.priority, steps | present, together | (0xFF_FFFF - (arrival & 0xFF_FFFF)))
    }

    fn forget(&mut self, ready: &ReadyTask) {
        if self.keys.remove(&ready.task).is_none() {
            return;
        }
        for object in self.known.inputs(ready.task) {
            self.readers.remove(&(object, ready.task));
        }
    }
}

impl Order for Aware {
    fn push(&mut self, task: ReadyTask) {
        self.arrivals += 1;
        let key = self.unique(task.class, self.key(&task, self.arrivals));
        // What reads nothing stays where it is.
        if self.known.inputs(task.task).next().is_some() {
            self.keys.insert(task.task, (task.class, key));
        }
        for object in self.known.inputs(task.task) {
            self.readers.insert((object, task.task));
        }
        self.queue.push_as(key, task);
    }

    fn pop(&mut self, admits: &dyn Fn(ClassId) -> bool) -> Option<ReadyTask> {
        let task = self.queue.pop(admits)?;
        self.forget(&task);
        Some(task)
    }

    fn give(&mut self, count: usize, admits: &dyn Fn(ClassId) -> bool) -> Vec<ReadyTask> {
        let given = self.queue.give(count, admits);
        given.iter().for_each(|task| self.forget(task));
        given
    }

    fn count(&self, admits: &dyn Fn(ClassId) -> bool) -> usize {
        self.queue.count(admits)
    }

    fn len(&self) -> usize {
        self.queue.len()
    }

    fn follows_data(&self) -> bool {
        true
    }

    fn data(&mut self, object: ObjectId, is_here: bool) {
        let is_new = if is_here { self.here.insert(object) } else { self.here.remove(&object) };
        if !is_new {
            return;
        }
        let readers = self.readers.range((object, TaskId(0))..=(object, TaskId(u32::MAX)));
        let readers: Vec<TaskId> = readers.map(|(_, task)| *task).collect();
        for task in readers {
            let Some((class, key)) = self.keys.get(&task).copied() else { continue };
            let Some(ready) = self.queue.take(class, key) else { continue };
            self.arrivals += 1;
            let key = self.unique(class, self.key(&ready, self.arrivals));
            self.keys.insert(task, (class, key));
            self.queue.push_as(key, ready);
        }
    }
}

impl Aware {
    /// A key that nobody has: arrivals are told apart by their last digits only.
    fn unique(&self, class: ClassId, mut key: Key) -> Key {
        while self.queue.has(class, key) {
            key.2 = key.2.wrapping_sub(1);
        }
        key
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locality::Brought;
    use crate::order::critical_path::steps_to_end;
    use crate::workflow::{Format, NoFiles, Workflow};

    /// Six tasks that read one of two files and one of three others, all of the same size.
    fn filled(seed: u64) -> (Arc<Workflow>, impl Order) {
        let text = "tasks: { t: { foreach: { i: 1..2, j: 1..3 }, run: 'x {i} {j}', in: [{ path: 'a{i}', size: 10MB }, { path: 'b{j}', size: 10MB }] } }";
        let flow = Arc::new(Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap());
        let mut order = order(Knowledge::of(&flow, &Brought::All), Arc::new(steps_to_end(&flow)), seed);
        for task in flow.tasks() {
            let class = flow.class(task, 1);
            order.push(ReadyTask { input_bytes: 20_000_000, ..ReadyTask::first(task, class) });
        }
        (flow, order)
    }

    fn object(flow: &Workflow, name: &str) -> ObjectId {
        (0..flow.object_count()).map(ObjectId::at).find(|object| flow.object_name(*object) == name).unwrap()
    }

    fn names(flow: &Workflow, order: &mut impl Order, count: usize) -> Vec<String> {
        (0..count).map_while(|_| order.pop(&|_| true)).map(|ready| flow.name(ready.task)).collect()
    }

    #[test]
    fn what_is_here_is_used_first_and_what_has_gone_last() {
        let (flow, mut order) = filled(1);
        order.data(object(&flow, "b2"), true);
        order.data(object(&flow, "a2"), true);
        assert_eq!(names(&flow, &mut order, 1), ["t:2,2"]);
        order.data(object(&flow, "b2"), false);
        let mut next = names(&flow, &mut order, 2);
        next.sort();
        assert_eq!(next, ["t:2,1", "t:2,3"]);
        assert_eq!(order.len(), 3);
        let given = order.give(1, &|_| true);
        assert_eq!((given.len(), order.len()), (1, 2));
    }

    #[test]
    fn tasks_that_need_the_same_object_come_together_and_nodes_begin_differently() {
        let firsts: BTreeSet<Vec<String>> = (0..20)
            .map(|seed| {
                let (flow, mut order) = filled(seed);
                ["b1", "b2", "b3"].iter().for_each(|name| order.data(object(&flow, name), true));
                let first = names(&flow, &mut order, 3);
                assert!(first.iter().all(|name| name[..3] == first[0][..3]), "{first:?}");
                first
            })
            .collect();
        assert_eq!(firsts.len(), 2);
    }
}
