//! What nobody needs any more goes first, then what nobody waits for now, and of that what is needed latest.
//!
//! Whoever waits with all its parents done is about to read; what only tasks read that cannot start yet has time. Of these, an item is needed
//! the later the fewer tasks there are behind its last reader; of equals, what was used longest ago goes. A task that starts reads its items
//! one by one: what it has not come to yet stays.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Evict;
use crate::ids::TaskId;
use crate::locality::Items;
use crate::lookup::Lookup;

/// How soon an item will be wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Wanted {
    NeverAgain,
    Later,
    Soon,
    Now,
}

/// The first goes first: when it is wanted, how many tasks are behind its last reader, and when it was last used.
type Rank = (Wanted, u32, u64);

/// The policy.
#[derive(Debug)]
pub struct Aware {
    items: Arc<Items>,
    /// What is known of items that anybody has waited for, all in one place: a decision looks at each of a task's several times.
    uses: Lookup<Use>,
    /// The task that has started last.
    started: Option<TaskId>,
    order: BTreeSet<(Rank, u32)>,
    clock: u64,
}

/// What is known of an item.
#[derive(Clone, Copy, Debug, Default)]
struct Use {
    /// How many readers have begun. A second attempt counts once more, which does little harm: the item goes somewhat sooner.
    begun: u32,
    /// How many that may start will read it.
    waiting: u32,
    /// Whether the task that has started last has not come to it yet.
    is_unread: bool,
    /// Where it stands in the order of those that are here.
    rank: Option<Rank>,
}

impl Aware {
    /// Before anything has begun.
    pub fn new(items: Arc<Items>) -> Aware {
        Aware { items, uses: Lookup::default(), started: None, order: BTreeSet::new(), clock: 0 }
    }

    /// Notes something of an item, and looks again how soon it will be wanted.
    fn change(&mut self, item: u32, change: impl FnOnce(&mut Use)) {
        let readers = self.items.readers(item).len() as u32;
        let known = self.uses.entry(item.into());
        change(known);
        let wanted = known.wanted(readers);
        if let Some(rank) = known.rank.as_mut().filter(|rank| rank.0 != wanted) {
            self.order.remove(&(*rank, item));
            rank.0 = wanted;
            self.order.insert((*rank, item));
        }
    }

    fn change_inputs(&mut self, task: TaskId, change: impl Fn(&mut Use)) {
        let items = self.items.clone();
        items.inputs(task).iter().for_each(|item| self.change(*item, &change));
    }
}

impl Use {
    fn wanted(&self, readers: u32) -> Wanted {
        if self.is_unread {
            Wanted::Now
        } else if self.begun >= readers {
            Wanted::NeverAgain
        } else if self.waiting > 0 {
            Wanted::Soon
        } else {
            Wanted::Later
        }
    }
}

impl Evict for Aware {
    fn used(&mut self, item: u32) {
        self.clock += 1;
        let readers = self.items.readers(item).len() as u32;
        let known = self.uses.entry(item.into());
        known.is_unread = false;
        let rank = (known.wanted(readers), self.items.tail(item), self.clock);
        if let Some(before) = known.rank.replace(rank) {
            self.order.remove(&(before, item));
        }
        self.order.insert((rank, item));
    }

    fn gone(&mut self, item: u32) {
        if let Some(rank) = self.uses.get_mut(item.into()).and_then(|known| known.rank.take()) {
            self.order.remove(&(rank, item));
        }
    }

    fn has(&self, item: u32) -> bool {
        self.uses.get(item.into()).is_some_and(|known| known.rank.is_some())
    }

    fn victims(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        Box::new(self.order.iter().map(|(.., item)| *item))
    }

    fn is_wanted(&self, item: u32) -> bool {
        self.uses.get(item.into()).map_or(0, |known| known.begun) < self.items.readers(item).len() as u32
    }

    fn ready(&mut self, task: TaskId) {
        self.change_inputs(task, |known| known.waiting += 1);
    }

    fn withdrawn(&mut self, task: TaskId) {
        self.change_inputs(task, |known| known.waiting = known.waiting.saturating_sub(1));
    }

    fn started(&mut self, task: TaskId) {
        // What another had not come to is not here for him alone.
        if let Some(before) = self.started.replace(task) {
            self.change_inputs(before, |known| known.is_unread = false);
        }
        self.change_inputs(task, |known| {
            known.is_unread = true;
            known.begun += 1;
            known.waiting = known.waiting.saturating_sub(1);
        });
    }
}
