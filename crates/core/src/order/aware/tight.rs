//! When not all data can stay: what needs the least brought, then what lets the most go, then what belongs together.
//!
//! A task whose items are all in the cache costs nothing to bring, and every item that it is the last to read is room for
//! others. Among tasks that are equal in both, those come together whose results meet: tasks are numbered from the ends of the workflow
//! backwards, each after all that it needs, so that going by these numbers finishes one thing before it begins the next.
//!
//! What is missing changes for all waiting readers of an item when it comes or goes; what a task lets go changes when it
//! becomes the last reader. Whoever gains by that gets a new place in a heap; whoever loses is put back when it comes to the top.
//!
//! It loses to orders that mind the longest way to the end when data costs next to nothing.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use crate::ids::{ClassId, ObjectId, TaskId};
use crate::locality::{Items, Readers};
use crate::lookup::Lookup;
use crate::node::ReadyTask;
use crate::order::{CLASSES_LOOKED_AT, Order};

/// The less, the sooner: bytes to bring, bytes that stay, and the place among all tasks.
type Key = (u64, Reverse<u64>, u32);

/// A task that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    ready: ReadyTask,
    missing: u64,
    /// What nobody needs after it.
    frees: u64,
    place: u32,
    /// What it stands in the heap with: what is true, or better than that.
    entered: Key,
}

impl Waiting {
    fn key(&self) -> Key {
        (self.missing, Reverse(self.frees), self.place)
    }
}

/// The waiting tasks of one class and priority.
#[derive(Debug, Default)]
struct Line {
    heap: BinaryHeap<Reverse<(Key, u32)>>,
    count: usize,
}

/// The order of one queue of one node.
pub(super) struct Tight {
    items: Arc<Items>,
    /// For each task, which it is when one thing is finished after the other.
    places: Arc<Vec<u32>>,
    /// What is added to places, so that nodes begin at different ones.
    turn: u32,
    waiting: Vec<Option<Waiting>>,
    free: Vec<u32>,
    by_place: BTreeMap<u32, u32>,
    lines: BTreeMap<(Reverse<i32>, ClassId), Line>,
    /// Where those wait that read an item.
    readers: Lookup<Vec<u32>>,
    here: Vec<u64>,
    left: Readers,
}

/// The order.
pub(super) fn order(items: Arc<Items>, places: Arc<Vec<u32>>, turn: u32) -> Tight {
    Tight {
        here: vec![0; items.count().div_ceil(64)],
        left: Readers::new(items.clone()),
        items,
        places,
        turn,
        waiting: Vec::new(),
        free: Vec::new(),
        by_place: BTreeMap::new(),
        lines: BTreeMap::new(),
        readers: Lookup::default(),
    }
}

impl Tight {
    fn is_here(&self, item: u32) -> bool {
        self.here[item as usize / 64] >> (item % 64) & 1 == 1
    }

    /// Puts a task into its heap, with what is true of it now.
    fn enter(&mut self, at: u32) {
        let Some(waiting) = &mut self.waiting[at as usize] else { return };
        waiting.entered = waiting.key();
        let line = self.lines.entry((Reverse(waiting.ready.priority), waiting.ready.class)).or_default();
        line.heap.push(Reverse((waiting.entered, at)));
        if line.heap.len() > 64 + 2 * line.count {
            let waiting = &self.waiting;
            line.heap.retain(|Reverse((key, at))| is_entered(waiting, *key, *at));
        }
    }

    /// The best of a line.
    fn best(waiting: &mut [Option<Waiting>], line: &mut Line) -> Option<(Key, u32)> {
        while let Some(Reverse((key, at))) = line.heap.peek().copied() {
            let Some(found) = waiting[at as usize].as_mut().filter(|found| found.entered == key) else {
                line.heap.pop();
                continue;
            };
            if found.key() == key {
                return Some((key, at));
            }
            // It has lost since.
            found.entered = found.key();
            line.heap.pop();
            line.heap.push(Reverse((found.entered, at)));
        }
        None
    }

    fn take(&mut self, at: u32) -> Option<ReadyTask> {
        let waiting = self.waiting[at as usize].take()?;
        self.free.push(at);
        self.by_place.remove(&waiting.place);
        for item in self.items.inputs(waiting.ready.task) {
            if let Some(readers) = self.readers.get_mut(u64::from(*item)) {
                if let Some(place) = readers.iter().position(|reader| *reader == at) {
                    readers.swap_remove(place);
                }
                if readers.is_empty() {
                    self.readers.remove(u64::from(*item));
                }
            }
        }
        let line = (Reverse(waiting.ready.priority), waiting.ready.class);
        if let Some(found) = self.lines.get_mut(&line) {
            found.count -= 1;
            if found.count == 0 {
                self.lines.remove(&line);
            }
        }
        Some(waiting.ready)
    }

    /// Changes what is known of all that wait for an item.
    fn change_readers(&mut self, item: u32, change: impl Fn(&mut Waiting)) {
        let readers = self.readers.get(item.into()).cloned().unwrap_or_default();
        for at in readers {
            let Some(waiting) = &mut self.waiting[at as usize] else { continue };
            change(waiting);
            if waiting.key() < waiting.entered {
                self.enter(at);
            }
        }
    }
}

fn is_entered(waiting: &[Option<Waiting>], key: Key, at: u32) -> bool {
    waiting[at as usize].as_ref().is_some_and(|waiting| waiting.entered == key)
}

impl Order for Tight {
    fn push(&mut self, ready: ReadyTask) {
        let (mut missing, mut frees) = (0u64, 0u64);
        let at = self.free.pop().unwrap_or(self.waiting.len() as u32);
        for item in self.items.inputs(ready.task) {
            let weight = self.items.weight(*item);
            if !self.is_here(*item) {
                missing = missing.saturating_add(weight);
            } else if self.left.count(*item) <= 1 {
                frees = frees.saturating_add(weight);
            }
            self.readers.entry(u64::from(*item)).push(at);
        }
        let place = self.places[ready.task.index()].wrapping_add(self.turn) % self.places.len() as u32;
        if at as usize == self.waiting.len() {
            self.waiting.push(None);
        }
        self.waiting[at as usize] =
            Some(Waiting { ready, missing, frees, place, entered: (missing, Reverse(frees), place) });
        self.by_place.insert(place, at);
        self.lines.entry((Reverse(ready.priority), ready.class)).or_default().count += 1;
        self.enter(at);
    }

    fn pop(&mut self, admits: &dyn Fn(ClassId) -> bool) -> Option<ReadyTask> {
        let mut best: Option<(Reverse<i32>, Key, u32)> = None;
        for ((priority, class), line) in self.lines.iter_mut().take(CLASSES_LOOKED_AT) {
            if best.as_ref().is_some_and(|best| best.0 < *priority) {
                break;
            }
            if admits(*class)
                && let Some((key, at)) = Self::best(&mut self.waiting, line)
                && best.as_ref().is_none_or(|best| (*priority, key, at) < *best)
            {
                best = Some((*priority, key, at));
            }
        }
        let ready = self.take(best?.2)?;
        self.began(ready.task);
        Some(ready)
    }

    /// From the far end: what belongs together stays together, here and there.
    fn give(&mut self, count: usize, admits: &dyn Fn(ClassId) -> bool) -> Vec<ReadyTask> {
        let looked_at = self.by_place.values().rev().copied().take(count.saturating_add(CLASSES_LOOKED_AT));
        let suits = |at: &u32| self.waiting[*at as usize].as_ref().is_some_and(|waiting| admits(waiting.ready.class));
        let given: Vec<u32> = looked_at.filter(suits).take(count).collect();
        given.into_iter().filter_map(|at| self.take(at)).collect()
    }

    fn follows_data(&self) -> bool {
        true
    }

    fn data(&mut self, object: ObjectId, is_here: bool) {
        if let Some(item) = self.items.of_object(object) {
            self.item(item, is_here);
        }
    }

    fn item(&mut self, item: u32, is_here: bool) {
        if self.is_here(item) == is_here {
            return;
        }
        self.here[item as usize / 64] ^= 1 << (item % 64);
        let (weight, is_last) = (self.items.weight(item), self.left.count(item) <= 1);
        self.change_readers(item, |waiting| {
            let freed = if is_last { weight } else { 0 };
            if is_here {
                waiting.missing = waiting.missing.saturating_sub(weight);
                waiting.frees = waiting.frees.saturating_add(freed);
            } else {
                waiting.missing = waiting.missing.saturating_add(weight);
                waiting.frees = waiting.frees.saturating_sub(freed);
            }
        });
    }

    fn began(&mut self, task: TaskId) {
        let items = self.items.clone();
        for item in items.inputs(task) {
            // Whoever reads it last lets it go.
            if self.left.began(task, *item) == 1 && self.is_here(*item) {
                let weight = items.weight(*item);
                self.change_readers(*item, |waiting| waiting.frees = waiting.frees.saturating_add(weight));
            }
        }
    }

    fn count(&self, admits: &dyn Fn(ClassId) -> bool) -> usize {
        let lines = self.lines.iter().take(CLASSES_LOOKED_AT);
        lines.filter(|((_, class), _)| admits(*class)).map(|(_, line)| line.count).sum()
    }

    fn len(&self) -> usize {
        self.by_place.len()
    }
}
