//! When not all data can stay: what makes the least demand on the cache, then what lacks an item that many others lack, then what belongs together; but while
//! there is room, what has the longest way before it.
//!
//! A task's demand is what has to be brought for it, and what it makes that others will read, without what it is the last to
//! read: that lets go. So what is in the cache is used, what is used up makes room, and new things are begun only when nothing else is left to do.
//! Among tasks whose demands are about equal, those come first that lack a single item which many others lack as well, and nothing else: once it is
//! here, all of them can use it. In a grid of pairs that makes the difference between bringing one item for each task and one for as many tasks as
//! there are items in the cache. Among tasks that are equal in that, those come together whose results meet: tasks are numbered from the ends of the workflow
//! backwards, each after all that it needs, so that going by these numbers finishes one thing before it begins the next.
//!
//! The demand changes for all waiting readers of an item when it comes or goes, and for a task that becomes an item's last reader. Whoever gains by that gets a new place in a heap; whoever loses is put back when it comes to the top.
//!
//! While half of the cache is free or holds what nobody needs, a demand does no harm, and the order minds the end instead: tasks with a long
//! way to it come first, by steps of about a fifth, so that among ways that are about as long the demand still decides. When it is full,
//! demands that differ by less than a factor of two count as one, and the way decides among them.
//!
//! It loses to orders that mind only the longest way to the end when data costs next to nothing.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::sync::Arc;

use crate::ids::{ClassId, ObjectId, TaskId};
use crate::locality::Items;
use crate::lookup::Lookup;
use crate::node::ReadyTask;
use crate::order::{CLASSES_LOOKED_AT, Order, Seat};

use super::Together;

/// The less, the sooner: the demand to within a factor of two, how many lack only what it lacks, by the same measure, the demand in bytes, and the place
/// among all tasks.
type Key = (i64, Reverse<u32>, i64, u32);

/// A task that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    ready: ReadyTask,
    demand: i64,
    /// How many of its items are not here; and if it is just one, which.
    missing: u32,
    lacks: Option<u32>,
    place: u32,
    /// What it stands in the heap with: what is true, or better than that.
    entered: Key,
}

impl Waiting {
    /// What it ranks by, where so many lack only what it lacks.
    fn key(&self, lack_it: u32) -> Key {
        (roughly(self.demand), Reverse(u32::BITS - lack_it.leading_zeros()), self.demand, self.place)
    }
}

/// Which heap a task is in: by its priority, the length of the way before it, and its class.
type LineKey = (Reverse<i32>, Reverse<u8>, ClassId);

/// The cache counts as full when so much of it holds what is needed, and as roomy again at half of that.
const FULL_PART: u64 = 2;

/// The best so far: of which line, why, and where it waits.
type Choice = (LineKey, (i64, Reverse<u8>, Key), u32);

/// The waiting tasks of one line.
#[derive(Debug, Default)]
struct Line {
    heap: BinaryHeap<Reverse<(Key, u32)>>,
    count: usize,
}

/// What is known of an item.
#[derive(Debug, Default)]
struct Use {
    is_here: bool,
    /// How many readers have begun; a second attempt counts once more, which does little harm.
    begun: u32,
    /// How many that wait lack nothing else.
    lack_only_it: u32,
    /// Where those wait that will, and who they are: of an item that many read, those that have gone are still in it.
    waiting: Vec<(u32, TaskId)>,
}

/// Of an item that more tasks read than this, whoever stops waiting stays in the list until it is next gone through, or is twice too long.
const MANY_READERS: usize = 64;

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
    lines: BTreeMap<LineKey, Line>,
    /// For each task, how long the way before it is.
    ways: Arc<Vec<u8>>,
    /// What is known of items that anybody has waited for, all in one place: a decision looks at each of a task's several times.
    uses: Lookup<Use>,
    cache_bytes: u64,
    /// What is here and will be read again.
    needed_bytes: u64,
    /// Where what nobody needs any more takes room like anything, there is never room to count on; where one task runs after the other, there is
    /// nothing to be gained by it.
    is_always_full: bool,
    is_full: bool,
}

/// The order.
pub(super) fn order(known: &Together, turn: u32, seat: &Seat) -> Tight {
    let Together { items, places, ways } = known.clone();
    let Seat { cache_bytes, drops_unneeded, is_serial, .. } = *seat;
    // Where nobody waits for another, no way is longer than others.
    let ways = if is_serial { Arc::new(Vec::new()) } else { ways };
    let is_always_full = is_serial || !drops_unneeded;
    Tight {
        items,
        places,
        ways,
        turn,
        cache_bytes,
        needed_bytes: 0,
        is_always_full,
        is_full: is_always_full,
        waiting: Vec::new(),
        free: Vec::new(),
        by_place: BTreeMap::new(),
        lines: BTreeMap::new(),
        uses: Lookup::default(),
    }
}

impl Tight {
    /// Puts a task into its heap, with what is true of it now.
    fn enter(&mut self, at: u32) {
        let Some(waiting) = &mut self.waiting[at as usize] else { return };
        waiting.entered = waiting.key(lacking(&self.uses, waiting.lacks));
        let line_key = line_of(&self.ways, &waiting.ready);
        let line = self.lines.entry(line_key).or_default();
        line.heap.push(Reverse((waiting.entered, at)));
        if line.heap.len() > 64 + 2 * line.count {
            // Another attempt may be of another line.
            let (waiting, ways) = (&self.waiting, &self.ways);
            line.heap.retain(|Reverse((key, at))| {
                let found = waiting[*at as usize].as_ref();
                found.is_some_and(|found| found.entered == *key && line_of(ways, &found.ready) == line_key)
            });
        }
    }

    /// The best of a line.
    fn best(
        waiting: &mut [Option<Waiting>],
        uses: &Lookup<Use>,
        line: &mut Line,
        is_of_line: impl Fn(&ReadyTask) -> bool,
    ) -> Option<(Key, u32)> {
        while let Some(Reverse((key, at))) = line.heap.peek().copied() {
            let is_current = |found: &&mut Waiting| found.entered == key && is_of_line(&found.ready);
            let Some(found) = waiting[at as usize].as_mut().filter(is_current) else {
                line.heap.pop();
                continue;
            };
            let now = found.key(lacking(uses, found.lacks));
            if now == key {
                return Some((key, at));
            }
            // It has lost since.
            found.entered = now;
            line.heap.pop();
            line.heap.push(Reverse((found.entered, at)));
        }
        None
    }

    fn take(&mut self, at: u32) -> Option<ReadyTask> {
        let waiting = self.waiting[at as usize].take()?;
        self.free.push(at);
        self.by_place.remove(&waiting.place);
        if let Some(item) = waiting.lacks {
            self.uses.entry(item.into()).lack_only_it -= 1;
        }
        for item in self.items.inputs(waiting.ready.task) {
            let waiting = &mut self.uses.entry(u64::from(*item)).waiting;
            if waiting.len() > MANY_READERS {
                continue;
            }
            if let Some(place) = waiting.iter().position(|(reader, _)| *reader == at) {
                waiting.swap_remove(place);
            }
        }
        let line = line_of(&self.ways, &waiting.ready);
        if let Some(found) = self.lines.get_mut(&line) {
            found.count -= 1;
            if found.count == 0 {
                self.lines.remove(&line);
            }
        }
        Some(waiting.ready)
    }

    /// More or less of what is here will be read again.
    fn needs(&mut self, change: i64) {
        self.needed_bytes = self.needed_bytes.saturating_add_signed(change);
        let full = self.cache_bytes / FULL_PART;
        let is_full = self.needed_bytes > full || self.is_full && self.needed_bytes > full / 2;
        self.is_full = is_full || self.is_always_full;
    }

    /// Changes the demand of all that wait for an item, and how many items they miss.
    fn change_readers(&mut self, item: u32, change: i64, missing: i32) {
        let mut readers = std::mem::take(&mut self.uses.entry(item.into()).waiting);
        leave_out_gone(&self.waiting, &mut readers);
        let mut grown = Vec::new();
        for (at, _) in &readers {
            let Some(waiting) = &mut self.waiting[*at as usize] else { continue };
            waiting.demand += change;
            waiting.missing = waiting.missing.saturating_add_signed(missing);
            if missing != 0 {
                let lacks = self.find_lacking(*at);
                grown.extend(self.set_lacks(*at, lacks));
            }
        }
        for (at, _) in &readers {
            self.enter_if_better(*at);
        }
        self.uses.entry(item.into()).waiting = readers;
        for item in grown {
            self.enter_lacking(item);
        }
    }

    /// What a task lacks, if it is just one item.
    fn find_lacking(&self, at: u32) -> Option<u32> {
        let waiting = self.waiting[at as usize].as_ref().filter(|waiting| waiting.missing == 1)?;
        let mut inputs = self.items.inputs(waiting.ready.task).iter().copied();
        inputs.find(|item| self.uses.get(u64::from(*item)).is_none_or(|known| !known.is_here))
    }

    /// Notes what a task lacks; says of which item so many more lack it now that it matters.
    fn set_lacks(&mut self, at: u32, lacks: Option<u32>) -> Option<u32> {
        let before = std::mem::replace(&mut self.waiting[at as usize].as_mut()?.lacks, lacks);
        if before == lacks {
            return None;
        }
        if let Some(item) = before {
            self.uses.entry(item.into()).lack_only_it -= 1;
        }
        let known = self.uses.entry(lacks?.into());
        known.lack_only_it += 1;
        lacks.filter(|_| known.lack_only_it > 1 && known.lack_only_it.is_power_of_two())
    }

    /// More tasks than before lack only this item: they all rank higher.
    fn enter_lacking(&mut self, item: u32) {
        let readers = std::mem::take(&mut self.uses.entry(item.into()).waiting);
        for (at, task) in &readers {
            let found = self.waiting[*at as usize].as_ref();
            if found.is_some_and(|found| found.ready.task == *task && found.lacks == Some(item)) {
                self.enter_if_better(*at);
            }
        }
        self.uses.entry(item.into()).waiting = readers;
    }

    fn enter_if_better(&mut self, at: u32) {
        let Some(waiting) = &self.waiting[at as usize] else { return };
        if waiting.key(lacking(&self.uses, waiting.lacks)) < waiting.entered {
            self.enter(at);
        }
    }
}

impl Use {
    /// How many readers have not begun. What happens at other nodes is not known here: to this one, their readers are still to come.
    fn left(&self, items: &Items, item: u32) -> u32 {
        (items.readers(item).len() as u32).saturating_sub(self.begun)
    }
}

/// Leaves those out of a list that do not wait any more, and those that are in it twice because they have come again.
fn leave_out_gone(waiting: &[Option<Waiting>], readers: &mut Vec<(u32, TaskId)>) {
    if readers.len() <= MANY_READERS {
        return;
    }
    readers.retain(|(at, task)| waiting[*at as usize].is_some_and(|found| found.ready.task == *task));
    readers.sort_unstable();
    readers.dedup();
}

/// How many lack only what a task lacks.
fn lacking(uses: &Lookup<Use>, lacks: Option<u32>) -> u32 {
    lacks.and_then(|item| uses.get(item.into())).map_or(0, |known| known.lack_only_it)
}

/// A demand to within a factor of two; what lets go is exact.
fn roughly(demand: i64) -> i64 {
    if demand <= 0 { demand } else { i64::from(64 - demand.leading_zeros()) }
}

fn line_of(ways: &[u8], ready: &ReadyTask) -> LineKey {
    (Reverse(ready.priority), Reverse(ways.get(ready.task.index()).copied().unwrap_or(0)), ready.class)
}

impl Order for Tight {
    fn push(&mut self, ready: ReadyTask) {
        let weight = |item: &u32| self.items.weight(*item) as i64;
        let mut demand: i64 = self.items.outputs(ready.task).iter().map(weight).sum();
        let at = self.free.pop().unwrap_or(self.waiting.len() as u32);
        let mut missing = 0;
        for item in self.items.inputs(ready.task) {
            let known = self.uses.entry(u64::from(*item));
            if !known.is_here {
                demand += weight(item);
                missing += 1;
            } else if known.left(&self.items, *item) <= 1 {
                demand -= weight(item);
            }
            known.waiting.push((at, ready.task));
            if known.waiting.len() > 2 * self.items.readers(*item).len() {
                leave_out_gone(&self.waiting, &mut known.waiting);
            }
        }
        let place = self.places[ready.task.index()].wrapping_add(self.turn) % self.places.len() as u32;
        if at as usize == self.waiting.len() {
            self.waiting.push(None);
        }
        let entered = (0, Reverse(0), demand, place);
        self.waiting[at as usize] = Some(Waiting { ready, demand, missing, lacks: None, place, entered });
        let lacks = self.find_lacking(at);
        let grown = self.set_lacks(at, lacks);
        self.by_place.insert(place, at);
        self.lines.entry(line_of(&self.ways, &ready)).or_default().count += 1;
        self.enter(at);
        if let Some(item) = grown {
            self.enter_lacking(item);
        }
    }

    fn pop(&mut self, admits: &dyn Fn(ClassId) -> bool) -> Option<ReadyTask> {
        let mut best: Option<Choice> = None;
        for (line_key, line) in self.lines.iter_mut().take(CLASSES_LOOKED_AT) {
            let is_over = |found: &LineKey| found.0 < line_key.0 || !self.is_full && found.1 < line_key.1;
            if best.as_ref().is_some_and(|(found, ..)| is_over(found)) {
                break;
            }
            if admits(line_key.2)
                && let Some((key, at)) =
                    Self::best(&mut self.waiting, &self.uses, line, |ready| line_of(&self.ways, ready) == *line_key)
            {
                let key = (if self.is_full { key.0 } else { 0 }, line_key.1, key);
                if best.as_ref().is_none_or(|best| (key, at) < (best.1, best.2)) {
                    best = Some((*line_key, key, at));
                }
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
        let known = self.uses.entry(item.into());
        if std::mem::replace(&mut known.is_here, is_here) == is_here {
            return;
        }
        let (weight, left) = (self.items.weight(item) as i64, known.left(&self.items, item));
        let change = if left <= 1 { 2 * weight } else { weight };
        if left > 0 {
            self.needs(if is_here { weight } else { -weight });
        }
        self.change_readers(item, if is_here { -change } else { change }, if is_here { -1 } else { 1 });
    }

    fn began(&mut self, task: TaskId) {
        let items = self.items.clone();
        for item in items.inputs(task) {
            let known = self.uses.entry(u64::from(*item));
            let before = known.left(&items, *item);
            known.begun += 1;
            let weight = items.weight(*item) as i64;
            match before {
                // Whoever reads it last lets it go.
                2 if known.is_here => self.change_readers(*item, -weight, 0),
                1 if known.is_here => self.needs(-weight),
                _ => {}
            }
        }
    }

    fn count(&self, admits: &dyn Fn(ClassId) -> bool) -> usize {
        let lines = self.lines.iter().take(CLASSES_LOOKED_AT);
        lines.filter(|((.., class), _)| admits(*class)).map(|(_, line)| line.count).sum()
    }

    fn len(&self) -> usize {
        self.by_place.len()
    }
}
