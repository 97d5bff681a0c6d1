//! Who makes and who reads what, for data that is used more than once.
//!
//! What a task makes is an item if anybody reads it; what comes from outside is one if at least two do. Of other data no order
//! makes a difference: it has to be brought once, whenever that is.

use super::Wanted;
use crate::ids::{ObjectId, TaskId};
use crate::workflow::Workflow;

/// Lists of numbers, one list for each of many, in one piece.
#[derive(Clone, Debug, Default)]
struct Lists {
    ends: Vec<u32>,
    entries: Vec<u32>,
}

impl Lists {
    fn push(&mut self, list: impl IntoIterator<Item = u32>) {
        self.entries.extend(list);
        self.ends.push(self.entries.len() as u32);
    }

    fn get(&self, at: usize) -> &[u32] {
        let start = at.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[start as usize..self.ends[at] as usize]
    }
}

/// The items of a workflow, counted from 0.
#[derive(Clone, Debug, Default)]
pub struct Items {
    inputs: Lists,
    outputs: Lists,
    readers: Lists,
    weights: Vec<u64>,
    /// For each item the task that makes it, or none.
    makers: Vec<u32>,
    /// For each item the object that it is, in ascending order.
    objects: Vec<u32>,
    /// For each item how many tasks in a row there are from its last reader to an end; empty if nobody has said it.
    tails: Vec<u32>,
}

/// Collects items task by task.
#[derive(Debug, Default)]
pub struct ItemsBuilder {
    items: Items,
}

impl ItemsBuilder {
    /// Another item with its size; says its number.
    pub fn item(&mut self, weight: u64) -> u32 {
        self.items.weights.push(weight);
        self.items.weights.len() as u32 - 1
    }

    /// Another task, with the items that it reads and makes.
    pub fn task(&mut self, mut inputs: Vec<u32>, outputs: Vec<u32>) {
        inputs.sort_unstable();
        inputs.dedup();
        self.items.inputs.push(inputs);
        self.items.outputs.push(outputs);
    }

    /// All of it.
    pub fn build(mut self) -> Items {
        let items = &mut self.items;
        let tasks = items.inputs.ends.len();
        // So that the sum of all can be counted whatever sizes people write: larger files do not exist.
        let most = i64::MAX as u64 / (items.weights.len() as u64 + 1);
        items.weights.iter_mut().for_each(|weight| *weight = (*weight).min(most));
        let mut ends = vec![0u32; items.weights.len()];
        items.inputs.entries.iter().for_each(|item| ends[*item as usize] += 1);
        let mut sum = 0;
        for end in &mut ends {
            sum += *end;
            *end = sum;
        }
        // From the last task to the first, each list is filled from its end to its beginning.
        let (mut next, mut entries) = (ends.clone(), vec![0; sum as usize]);
        for task in (0..tasks).rev() {
            for item in items.inputs.get(task) {
                next[*item as usize] -= 1;
                entries[next[*item as usize] as usize] = task as u32;
            }
        }
        items.readers = Lists { ends, entries };
        items.makers = vec![u32::MAX; items.weights.len()];
        for task in 0..tasks {
            for item in items.outputs.get(task) {
                items.makers[*item as usize] = task as u32;
            }
        }
        self.items
    }
}

/// What an object weighs of which nobody has said how large it is: it still has to be asked for.
const UNKNOWN_WEIGHT: u64 = 1;

impl Items {
    /// The items of a workflow among those that have to be brought, with the sizes that are declared.
    pub fn of(flow: &Workflow, wanted: &Wanted) -> Items {
        let mut uses = vec![0u8; flow.object_count()];
        for object in flow.tasks().flat_map(|task| wanted.of(flow, task)) {
            uses[object.index()] = uses[object.index()].saturating_add(1);
        }
        let mut builder = ItemsBuilder::default();
        let mut numbers = vec![u32::MAX; flow.object_count()];
        for (at, uses) in uses.iter().enumerate() {
            if *uses > u8::from(at >= flow.made_count()) {
                let object = ObjectId::at(at);
                numbers[at] = builder.item(flow.expected_size(object).unwrap_or(UNKNOWN_WEIGHT).max(1));
                builder.items.objects.push(object.0);
            }
        }
        let known = |object: ObjectId| Some(numbers[object.index()]).filter(|number| *number != u32::MAX);
        for task in flow.tasks() {
            let (inputs, outputs) = (flow.inputs(task), flow.outputs(task));
            builder.task(inputs.filter_map(known).collect(), outputs.filter_map(known).collect());
        }
        builder.build().with_steps(&crate::order::steps_to_end(flow))
    }

    /// The same, knowing for each task how many there are in a row from it to an end.
    pub fn with_steps(mut self, steps: &[u32]) -> Items {
        let tail = |item| self.readers(item).map(|reader| steps[reader.index()]).min().unwrap_or(0);
        self.tails = (0..self.count() as u32).map(tail).collect();
        self
    }

    /// How many tasks in a row there are from the last reader of an item to an end: the fewer, the later it is needed.
    pub fn tail(&self, item: u32) -> u32 {
        self.tails.get(item as usize).copied().unwrap_or(0)
    }

    /// How many tasks there are.
    pub fn task_count(&self) -> usize {
        self.inputs.ends.len()
    }

    /// How many items there are.
    pub fn count(&self) -> usize {
        self.weights.len()
    }

    /// What a task reads, in ascending order.
    pub fn inputs(&self, task: TaskId) -> &[u32] {
        self.inputs.get(task.index())
    }

    /// What a task makes.
    pub fn outputs(&self, task: TaskId) -> &[u32] {
        self.outputs.get(task.index())
    }

    /// The tasks that read an item, in ascending order.
    pub fn readers(&self, item: u32) -> impl ExactSizeIterator<Item = TaskId> + '_ {
        self.readers.get(item as usize).iter().map(|task| TaskId(*task))
    }

    /// The task that makes an item, if it does not come from outside.
    pub fn maker(&self, item: u32) -> Option<TaskId> {
        Some(TaskId(self.makers[item as usize])).filter(|maker| maker.0 != u32::MAX)
    }

    /// How large an item is.
    pub fn weight(&self, item: u32) -> u64 {
        self.weights[item as usize]
    }

    /// The item that an object is, if it is one.
    pub fn of_object(&self, object: ObjectId) -> Option<u32> {
        self.objects.binary_search(&object.0).ok().map(|at| at as u32)
    }

    /// The object that an item is.
    pub fn object(&self, item: u32) -> ObjectId {
        ObjectId(self.objects[item as usize])
    }
}
