//! Greedy by distance: the ready task whose start adds least to a measure of how far apart uses of data are.
//!
//! Meng and Golab's OG, with their metrics and without their cost: they work the measure out anew for every candidate. Here what a
//! start adds is known of all of them all the time, or rather something that is not more than it: distances only grow until
//! an item is used again. So candidates stand in a heap by what they would have added when they were last looked at, and
//! whoever comes to its top is looked at again. Those whose items were all used at the same moments would always have to be looked at
//! together; they are one entry. Using an item brings its other readers forward, which is as much work as there are. An item
//! that very many read would make that too much, so its readers stand in a heap of their own, without what they have in common.
//!
//! It loses because it knows nothing of the cache: distances say what was used recently, not what is still there. And it counts
//! nothing for what has never been used, so it likes to begin new things.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::Arc;

use super::Order;
use crate::ids::{ClassId, TaskId};
use crate::locality::{Items, Metric, Recency};
use crate::node::ReadyTask;
use crate::rng::Rng;

/// An item that so many tasks read has a heap of its own for them.
const HUB_READERS: usize = 256;

/// Which heap a task is in: by its priority, its class, and the hub that it reads.
type LineKey = (Reverse<i32>, ClassId, Option<u32>);

/// A task that waits.
#[derive(Clone, Debug)]
struct Waiting {
    ready: ReadyTask,
    line: LineKey,
    group: u32,
    /// Its items' own part of their distances.
    discount: i128,
}

/// Tasks of one line whose items were used at the same moments: they differ only in their discounts.
#[derive(Clone, Debug)]
struct Group {
    line: LineKey,
    signature: u64,
    /// The largest discount first.
    members: BTreeSet<(i128, TaskId)>,
    /// What it stands in the heap with.
    entry: (i128, TaskId),
}

type Heap = BinaryHeap<Reverse<(i128, TaskId, u32)>>;

/// The order of one queue of one node.
pub struct Greedy {
    recency: Recency,
    metric: Metric,
    waiting: BTreeMap<TaskId, Waiting>,
    groups: Vec<Option<Group>>,
    free_groups: Vec<u32>,
    by_signature: BTreeMap<(LineKey, u64), u32>,
    lines: BTreeMap<LineKey, Heap>,
    /// The waiting tasks that read an item, unless it is their hub.
    readers: BTreeMap<u32, Vec<TaskId>>,
}

/// The order.
pub fn order(items: Arc<Items>, metric: Metric) -> Greedy {
    Greedy {
        recency: Recency::new(items, metric),
        metric,
        waiting: BTreeMap::new(),
        groups: Vec::new(),
        free_groups: Vec::new(),
        by_signature: BTreeMap::new(),
        lines: BTreeMap::new(),
        readers: BTreeMap::new(),
    }
}

impl Greedy {
    /// What has been used so far.
    pub(super) fn recency(&self) -> &Recency {
        &self.recency
    }

    /// The waiting tasks, in ascending order.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &ReadyTask> {
        self.waiting.values().map(|waiting| &waiting.ready)
    }

    /// The one item of a task that has a heap of its own for its readers, if there is such an item.
    fn hub(&self, task: TaskId) -> Option<u32> {
        // In the order of accesses, what an item adds depends on the others.
        if matches!(self.metric, Metric::Lru | Metric::Wlru) {
            return None;
        }
        let items = self.recency.items();
        let most_read = items.inputs(task).iter().copied().max_by_key(|item| (items.readers(*item).len(), *item))?;
        Some(most_read).filter(|item| items.readers(*item).len() > HUB_READERS)
    }

    /// What a task reads besides its hub.
    fn own_items(&self, task: TaskId, hub: Option<u32>) -> impl Iterator<Item = u32> + '_ {
        self.recency.items().inputs(task).iter().copied().filter(move |item| Some(*item) != hub)
    }

    /// What its items would add but for their discounts.
    fn reach(&self, task: TaskId, hub: Option<u32>) -> i128 {
        let marks = self.own_items(task, hub).filter_map(|item| self.recency.mark(item));
        marks.map(|mark| self.recency.reach(mark)).sum()
    }

    /// Puts a task into the group where it belongs now.
    fn place(&mut self, ready: ReadyTask, line: LineKey) {
        let (task, hub) = (ready.task, line.2);
        let marks = self.own_items(task, hub).filter_map(|item| self.recency.mark(item));
        let signature = marks.fold(0u64, |sum, mark| sum.wrapping_add(Rng::new(mark.into()).next()));
        let hub_discount = hub.map_or(0, |hub| self.recency.counted(hub));
        let discount = self.recency.discount(task) - hub_discount;
        let group = match self.by_signature.get(&(line, signature)) {
            Some(group) => *group,
            None => self.new_group(line, signature),
        };
        self.waiting.insert(task, Waiting { ready, line, group, discount });
        let Some(found) = &mut self.groups[group as usize] else { return };
        found.members.insert((-discount, task));
        if found.members.first() == Some(&(-discount, task)) {
            self.enter(group);
        }
    }

    fn new_group(&mut self, line: LineKey, signature: u64) -> u32 {
        let group = Group { line, signature, members: BTreeSet::new(), entry: (0, TaskId(0)) };
        let at = self.free_groups.pop().unwrap_or(self.groups.len() as u32);
        if at as usize == self.groups.len() {
            self.groups.push(None);
        }
        self.groups[at as usize] = Some(group);
        self.by_signature.insert((line, signature), at);
        at
    }

    /// Puts a group into its heap with what its best member would add now.
    fn enter(&mut self, at: u32) {
        let Some((discount, best, line)) = self.groups[at as usize]
            .as_ref()
            .and_then(|group| group.members.first().map(|(discount, best)| (*discount, *best, group.line)))
        else {
            return;
        };
        let entry = (self.reach(best, line.2) + discount, best);
        if let Some(group) = &mut self.groups[at as usize] {
            group.entry = entry;
        }
        self.lines.entry(line).or_default().push(Reverse((entry.0, entry.1, at)));
    }

    /// Takes a task out of its group.
    fn leave(&mut self, task: TaskId) -> Option<Waiting> {
        let waiting = self.waiting.remove(&task)?;
        let at = waiting.group;
        let group = self.groups[at as usize].as_mut()?;
        let was_best = group.members.first() == Some(&(-waiting.discount, task));
        group.members.remove(&(-waiting.discount, task));
        if group.members.is_empty() {
            self.by_signature.remove(&(group.line, group.signature));
            self.groups[at as usize] = None;
            self.free_groups.push(at);
        } else if was_best {
            self.enter(at);
        }
        Some(waiting)
    }

    /// Takes a task out for good.
    pub(crate) fn remove(&mut self, task: TaskId) -> Option<ReadyTask> {
        let waiting = self.leave(task)?;
        let items: Vec<u32> = self.own_items(task, waiting.line.2).collect();
        for item in items {
            if let Some(readers) = self.readers.get_mut(&item) {
                if let Some(at) = readers.iter().position(|reader| *reader == task) {
                    readers.swap_remove(at);
                }
                if readers.is_empty() {
                    self.readers.remove(&item);
                }
            }
        }
        self.tidy(waiting.line);
        Some(waiting.ready)
    }

    /// Forgets a heap of which nothing counts any more, or most does not.
    fn tidy(&mut self, line: LineKey) {
        let Some(heap) = self.lines.get_mut(&line) else { return };
        if heap.len() < 64 || heap.len() < 4 * self.waiting.len() {
            return;
        }
        let groups = &self.groups;
        heap.retain(|Reverse(entry)| is_current(groups, line, *entry));
    }

    /// The best of a line, and what it adds.
    fn best(&mut self, line: LineKey) -> Option<(i128, TaskId)> {
        loop {
            let Reverse(entry) = *self.lines.get(&line)?.peek()?;
            let (known, task, at) = entry;
            if !is_current(&self.groups, line, entry) {
                self.lines.get_mut(&line)?.pop();
                continue;
            }
            let discount = self.waiting.get(&task)?.discount;
            let adds = self.reach(task, line.2) - discount;
            if adds == known {
                let shared = line.2.and_then(|hub| self.recency.distance(hub)).unwrap_or(0);
                return Some((adds + shared, task));
            }
            self.lines.get_mut(&line)?.pop();
            self.enter(at);
        }
    }

    /// The next task of a class that is admitted, without taking it.
    pub(super) fn next(&mut self, admits: &dyn Fn(ClassId) -> bool) -> Option<TaskId> {
        let lines: Vec<LineKey> = self.lines.keys().copied().collect();
        let mut best: Option<(Reverse<i32>, i128, TaskId)> = None;
        for line in lines {
            if best.is_some_and(|(priority, ..)| priority < line.0) {
                break;
            }
            if !admits(line.1) {
                continue;
            }
            match self.best(line) {
                Some((adds, task)) => {
                    if best.is_none_or(|best| (line.0, adds, task) < best) {
                        best = Some((line.0, adds, task));
                    }
                }
                None => {
                    self.lines.remove(&line);
                }
            }
        }
        best.map(|(.., task)| task)
    }

    /// Takes a task and starts it.
    pub(super) fn start(&mut self, task: TaskId) -> Option<ReadyTask> {
        let ready = self.remove(task);
        self.began(task);
        ready
    }
}

fn is_current(groups: &[Option<Group>], line: LineKey, (adds, task, at): (i128, TaskId, u32)) -> bool {
    groups[at as usize].as_ref().is_some_and(|group| {
        group.line == line
            && group.entry == (adds, task)
            && group.members.first().is_some_and(|(_, best)| *best == task)
    })
}

impl Order for Greedy {
    fn push(&mut self, task: ReadyTask) {
        let line = (Reverse(task.priority), task.class, self.hub(task.task));
        let items: Vec<u32> = self.own_items(task.task, line.2).collect();
        for item in items {
            self.readers.entry(item).or_default().push(task.task);
        }
        self.place(task, line);
    }

    fn pop(&mut self, admits: &dyn Fn(ClassId) -> bool) -> Option<ReadyTask> {
        let task = self.next(admits)?;
        self.start(task)
    }

    fn give(&mut self, count: usize, admits: &dyn Fn(ClassId) -> bool) -> Vec<ReadyTask> {
        let last = self.waiting.values().rev().map(|waiting| waiting.ready);
        let given: Vec<ReadyTask> = last.filter(|ready| admits(ready.class)).take(count).collect();
        for ready in &given {
            self.remove(ready.task);
        }
        given
    }

    fn began(&mut self, task: TaskId) {
        self.recency.start(task);
        let items = self.recency.items().clone();
        let readers = items.inputs(task).iter().filter_map(|item| self.readers.get(item)).flatten();
        let mut moved: Vec<TaskId> = readers.copied().collect();
        moved.sort_unstable();
        moved.dedup();
        for task in moved {
            if let Some(waiting) = self.leave(task) {
                self.place(waiting.ready, waiting.line);
            }
        }
    }

    fn count(&self, admits: &dyn Fn(ClassId) -> bool) -> usize {
        self.waiting.values().filter(|waiting| admits(waiting.ready.class)).count()
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }
}
