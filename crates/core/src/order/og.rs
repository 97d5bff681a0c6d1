//! Greedy by distance: the ready task whose start adds least to a measure of how far apart uses of data are.
//!
//! Meng and Golab's OG, with their metrics and without their cost: they work the measure out anew for every candidate. Here
//! something is known of all of them all the time that is not more than what they would add, for distances only grow until an
//! item is used again. Candidates stand in a heap by that, and whoever comes to its top is looked at. Those whose items were all
//! used at the same moments would always have to be looked at together; they are one entry, a group. Using an item brings its other readers
//! forward, which is as much work as there are. An item that very many read would make that too much, so its readers stand in a
//! heap of their own, without what they have in common.
//!
//! It loses because it knows nothing of the cache: distances say what was used recently, not what is still there. And it counts
//! nothing for what has never been used, so it likes to begin new things.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};
use std::sync::Arc;

use super::Order;
use crate::ids::{ClassId, TaskId};
use crate::locality::{Items, Metric, Recency};
use crate::lookup::Lookup;
use crate::node::ReadyTask;
use crate::rng::Rng;

/// An item that more tasks read than these has a heap of its own for them.
const HUB_READERS: usize = 256;

/// Which heap a task is in: by its priority, its class, and the hub that it reads.
type LineKey = (Reverse<i32>, ClassId, Option<u32>);

/// A task that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    ready: ReadyTask,
    group: u32,
    /// Its items' own part of their distances.
    discount: i128,
}

/// What a member of a group stands by: the largest discount first.
type Member = (i128, TaskId, u32);

/// Tasks of one line whose items were used at the same moments: they differ only in their discounts.
#[derive(Clone, Debug)]
struct Group {
    line: LineKey,
    /// Stands for the moments: equal ones have the same.
    signature: u64,
    /// What was read since these moments, or less: it was that much when somebody last looked.
    reach: i128,
    best: Member,
    others: BTreeSet<Member>,
    /// What it stands in the heap with.
    entry: (i128, TaskId),
}

/// Groups by what their best would add, or less.
type Heap = BinaryHeap<Reverse<(i128, TaskId, u32)>>;

/// The order of one queue of one node.
pub struct Greedy {
    recency: Recency,
    metric: Metric,
    /// An item that more tasks read has a heap of its own for them.
    hub_readers: usize,
    waiting: Vec<Option<Waiting>>,
    free: Vec<u32>,
    by_task: BTreeMap<TaskId, u32>,
    groups: Vec<Option<Group>>,
    free_groups: Vec<u32>,
    by_signature: Lookup<u32>,
    lines: BTreeMap<LineKey, Heap>,
    /// Where those wait that read an item, unless it is their hub.
    readers: Lookup<Vec<u32>>,
}

/// The order.
pub fn order(items: Arc<Items>, metric: Metric) -> Greedy {
    with_hubs(items, metric, HUB_READERS)
}

/// The same, where a hub is an item that more tasks read than these: it chooses alike whatever that is.
pub(crate) fn with_hubs(items: Arc<Items>, metric: Metric, hub_readers: usize) -> Greedy {
    Greedy {
        hub_readers,
        recency: Recency::new(items, metric),
        metric,
        waiting: Vec::new(),
        free: Vec::new(),
        by_task: BTreeMap::new(),
        groups: Vec::new(),
        free_groups: Vec::new(),
        by_signature: Lookup::default(),
        lines: BTreeMap::new(),
        readers: Lookup::default(),
    }
}

/// How a moment counts in a signature.
fn stamp(mark: Option<u32>) -> u64 {
    mark.map_or(0, |mark| Rng::new(mark.into()).next())
}

/// How a waiting task changes because its items have been used.
#[derive(Clone, Copy, Debug)]
struct Change {
    at: u32,
    signature: u64,
    reach: i128,
    discount: i128,
}

impl Greedy {
    /// What has been used so far.
    pub(super) fn recency(&self) -> &Recency {
        &self.recency
    }

    /// The waiting tasks, in ascending order.
    pub(super) fn waiting(&self) -> impl DoubleEndedIterator<Item = &ReadyTask> {
        let waiting = self.by_task.values().filter_map(|at| self.waiting[*at as usize].as_ref());
        waiting.map(|waiting| &waiting.ready)
    }

    /// In the order of accesses, what an item adds depends on the others.
    fn is_of_accesses(&self) -> bool {
        matches!(self.metric, Metric::Lru | Metric::Wlru)
    }

    /// The one item of a task that has a heap of its own for its readers, if there is such an item.
    fn hub(&self, task: TaskId) -> Option<u32> {
        let items = self.recency.items();
        let most_read = items.inputs(task).iter().copied().max_by_key(|item| (items.readers(*item).len(), *item))?;
        Some(most_read).filter(|item| !self.is_of_accesses() && items.readers(*item).len() > self.hub_readers)
    }

    /// What a task reads besides its hub.
    fn own_items(items: &Items, task: TaskId, hub: Option<u32>) -> impl Iterator<Item = u32> + '_ {
        items.inputs(task).iter().copied().filter(move |item| Some(*item) != hub)
    }

    /// What its items would add but for their discounts.
    fn reach(&self, task: TaskId, hub: Option<u32>) -> i128 {
        let marks = Self::own_items(self.recency.items(), task, hub).filter_map(|item| self.recency.mark(item));
        marks.map(|mark| i128::from(self.recency.reach(mark))).sum()
    }

    /// Puts a task into the group where it belongs; `reach` is what is known of it if the group is new.
    fn join(&mut self, at: u32, line: LineKey, signature: u64, reach: i128) {
        let Some(waiting) = self.waiting[at as usize] else { return };
        let member = (-waiting.discount, waiting.ready.task, at);
        let key = signature_key(&line, signature);
        let found = self.by_signature.get(key).copied().filter(|group| {
            let group = self.groups[*group as usize].as_ref();
            group.is_some_and(|group| group.line == line && group.signature == signature)
        });
        let number = match found {
            Some(number) => number,
            None => {
                let group =
                    Group { line, signature, reach, best: member, others: BTreeSet::new(), entry: (0, TaskId(0)) };
                let number = self.free_groups.pop().unwrap_or(self.groups.len() as u32);
                if number as usize == self.groups.len() {
                    self.groups.push(None);
                }
                self.groups[number as usize] = Some(group);
                self.by_signature.insert(key, number);
                number
            }
        };
        if let Some(waiting) = &mut self.waiting[at as usize] {
            waiting.group = number;
        }
        let Some(group) = &mut self.groups[number as usize] else { return };
        if found.is_some() {
            let better = member < group.best;
            let other = if better { std::mem::replace(&mut group.best, member) } else { member };
            group.others.insert(other);
            if !better {
                return;
            }
        }
        self.enter(number);
    }

    /// Puts a group into its heap with what is known of its best member.
    fn enter(&mut self, number: u32) {
        let Some(group) = &mut self.groups[number as usize] else { return };
        group.entry = (group.reach + group.best.0, group.best.1);
        let heap = self.lines.entry(group.line).or_default();
        heap.push(Reverse((group.entry.0, group.entry.1, number)));
        let (line, most) = (group.line, 64 + 4 * self.by_task.len());
        if heap.len() > most {
            let groups = &self.groups;
            heap.retain(|Reverse(entry)| is_current(groups, line, *entry));
        }
    }

    /// Takes a task out of its group; says which line it was in, the group's signature, and what was known of it.
    fn leave(&mut self, at: u32) -> Option<(LineKey, u64, i128)> {
        let Waiting { ready, group: number, discount } = self.waiting[at as usize]?;
        let group = self.groups[number as usize].as_mut()?;
        let known = (group.line, group.signature, group.reach);
        if group.best.2 != at {
            group.others.remove(&(-discount, ready.task, at));
        } else if let Some(next) = group.others.pop_first() {
            group.best = next;
            self.enter(number);
        } else {
            let key = signature_key(&known.0, known.1);
            if self.by_signature.get(key) == Some(&number) {
                self.by_signature.remove(key);
            }
            self.groups[number as usize] = None;
            self.free_groups.push(number);
        }
        Some(known)
    }

    /// Takes a task out for good.
    pub(crate) fn remove(&mut self, task: TaskId) -> Option<ReadyTask> {
        let at = self.by_task.remove(&task)?;
        let (line, ..) = self.leave(at)?;
        let items = self.recency.items().clone();
        for item in Self::own_items(&items, task, line.2) {
            if let Some(readers) = self.readers.get_mut(item.into()) {
                if let Some(place) = readers.iter().position(|reader| *reader == at) {
                    readers.swap_remove(place);
                }
                if readers.is_empty() {
                    self.readers.remove(item.into());
                }
            }
        }
        self.free.push(at);
        self.waiting[at as usize].take().map(|waiting| waiting.ready)
    }

    /// The best of a line, and what it adds.
    fn best(&mut self, line: LineKey) -> Option<(i128, TaskId)> {
        loop {
            let Reverse(entry) = *self.lines.get(&line)?.peek()?;
            let number = entry.2;
            if !is_current(&self.groups, line, entry) {
                self.lines.get_mut(&line)?.pop();
                continue;
            }
            let reach = self.reach(entry.1, line.2);
            let group = self.groups[number as usize].as_mut()?;
            if group.reach == reach {
                let shared = line.2.and_then(|hub| self.recency.distance(hub)).unwrap_or(0);
                return Some((entry.0 + i128::from(shared), entry.1));
            }
            group.reach = reach;
            self.lines.get_mut(&line)?.pop();
            self.enter(number);
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

    /// What a start changes for those that wait for the same items, each once and in order.
    fn changes(&mut self, task: TaskId) -> Vec<Change> {
        let items = self.recency.items().clone();
        let inputs = items.inputs(task);
        let before: Vec<(Option<u32>, i64)> =
            inputs.iter().map(|item| (self.recency.mark(*item), self.recency.counted(*item))).collect();
        self.recency.start(task);
        let mut changes: Vec<Change> = Vec::new();
        for (item, (mark, counted)) in inputs.iter().zip(before) {
            let Some(readers) = self.readers.get(u64::from(*item)) else { continue };
            let reach = |mark: Option<u32>| mark.map_or(0, |mark| self.recency.reach(mark));
            let now = self.recency.mark(*item);
            let change = Change {
                at: 0,
                signature: stamp(now).wrapping_sub(stamp(mark)),
                reach: i128::from(reach(now)) - i128::from(reach(mark)),
                discount: i128::from(self.recency.counted(*item)) - i128::from(counted),
            };
            changes.extend(readers.iter().map(|at| Change { at: *at, ..change }));
        }
        changes.sort_unstable_by_key(|change| change.at);
        changes.dedup_by(|next, kept| {
            let is_same = next.at == kept.at;
            if is_same {
                kept.signature = kept.signature.wrapping_add(next.signature);
                kept.reach += next.reach;
                kept.discount += next.discount;
            }
            is_same
        });
        changes
    }
}

fn signature_key(line: &LineKey, signature: u64) -> u64 {
    let (Reverse(priority), class, hub) = line;
    let of_line =
        u64::from(*priority as u32) << 32 ^ u64::from(class.0) << 16 ^ hub.map_or(0, |hub| u64::from(hub) + 1);
    signature ^ Rng::new(of_line).next()
}

fn is_current(groups: &[Option<Group>], line: LineKey, (adds, task, at): (i128, TaskId, u32)) -> bool {
    let group = groups[at as usize].as_ref();
    group.is_some_and(|group| group.line == line && group.entry == (adds, task) && group.best.1 == task)
}

impl Order for Greedy {
    fn push(&mut self, ready: ReadyTask) {
        let hub = self.hub(ready.task);
        let line = (Reverse(ready.priority), ready.class, hub);
        let at = self.free.pop().unwrap_or(self.waiting.len() as u32);
        if at as usize == self.waiting.len() {
            self.waiting.push(None);
        }
        let items = self.recency.items().clone();
        let mut signature = 0u64;
        for item in Self::own_items(&items, ready.task, hub) {
            self.readers.entry(item.into()).push(at);
            signature = signature.wrapping_add(stamp(self.recency.mark(item)));
        }
        let of_hub = hub.map_or(0, |hub| i128::from(self.recency.counted(hub)));
        let discount = self.recency.discount(ready.task) - of_hub;
        self.waiting[at as usize] = Some(Waiting { ready, group: 0, discount });
        self.by_task.insert(ready.task, at);
        let reach = self.reach(ready.task, hub);
        self.join(at, line, signature, reach);
    }

    fn pop(&mut self, admits: &dyn Fn(ClassId) -> bool) -> Option<ReadyTask> {
        let task = self.next(admits)?;
        self.start(task)
    }

    fn give(&mut self, count: usize, admits: &dyn Fn(ClassId) -> bool) -> Vec<ReadyTask> {
        let given: Vec<ReadyTask> =
            self.waiting().rev().filter(|ready| admits(ready.class)).take(count).copied().collect();
        for ready in &given {
            self.remove(ready.task);
        }
        given
    }

    fn began(&mut self, task: TaskId) {
        for Change { at, signature, reach, discount } in self.changes(task) {
            let Some((line, old_signature, old_reach)) = self.leave(at) else { continue };
            let is_of_accesses = self.is_of_accesses();
            if let Some(waiting) = &mut self.waiting[at as usize] {
                if is_of_accesses {
                    waiting.discount = self.recency.discount(waiting.ready.task);
                } else {
                    waiting.discount += discount;
                }
            }
            self.join(at, line, old_signature.wrapping_add(signature), old_reach + reach);
        }
    }

    fn count(&self, admits: &dyn Fn(ClassId) -> bool) -> usize {
        self.waiting().filter(|ready| admits(ready.class)).count()
    }

    fn len(&self) -> usize {
        self.by_task.len()
    }
}
