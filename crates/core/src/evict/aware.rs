//! What nobody needs any more goes first, then what nobody waits for now, and of that what is needed latest.
//!
//! Whoever waits with all its parents done is about to read; what only tasks read that cannot start yet has time. Of these, an item is needed
//! the later the fewer tasks there are behind its last reader; of equals, what was used longest ago goes. A task that starts reads its items
//! one by one: what it has not come to yet stays.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::Evict;
use crate::ids::TaskId;
use crate::locality::{Items, Readers};
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
    left: Readers,
    /// How many that may start will read an item.
    waiting: Lookup<u32>,
    /// What a task that has started has not read yet.
    unread: BTreeSet<u32>,
    here: Lookup<Rank>,
    order: BTreeSet<(Rank, u32)>,
    uses: u64,
}

impl Aware {
    /// Before anything has begun.
    pub fn new(items: Arc<Items>) -> Aware {
        let left = Readers::new(items.clone());
        let (unread, order) = (BTreeSet::new(), BTreeSet::new());
        Aware { items, left, waiting: Lookup::default(), unread, here: Lookup::default(), order, uses: 0 }
    }

    fn wanted(&self, item: u32) -> Wanted {
        if self.unread.contains(&item) {
            Wanted::Now
        } else if self.left.count(item) == 0 {
            Wanted::NeverAgain
        } else if self.waiting.get(item.into()).is_some() {
            Wanted::Soon
        } else {
            Wanted::Later
        }
    }

    /// Looks again how soon an item will be wanted.
    fn look(&mut self, item: u32) {
        let wanted = self.wanted(item);
        if let Some(rank) = self.here.get_mut(item.into())
            && rank.0 != wanted
        {
            self.order.remove(&(*rank, item));
            rank.0 = wanted;
            self.order.insert((*rank, item));
        }
    }

    fn count(&mut self, task: TaskId, change: i64) {
        let items = self.items.clone();
        for item in items.inputs(task) {
            let waiting = self.waiting.entry(u64::from(*item));
            *waiting = waiting.saturating_add_signed(change as i32);
            if *waiting == 0 {
                self.waiting.remove(u64::from(*item));
            }
            self.look(*item);
        }
    }
}

impl Evict for Aware {
    fn used(&mut self, item: u32) {
        self.gone(item);
        self.unread.remove(&item);
        self.uses += 1;
        let rank = (self.wanted(item), self.items.tail(item), self.uses);
        self.here.insert(item.into(), rank);
        self.order.insert((rank, item));
    }

    fn gone(&mut self, item: u32) {
        if let Some(rank) = self.here.remove(item.into()) {
            self.order.remove(&(rank, item));
        }
    }

    fn has(&self, item: u32) -> bool {
        self.here.get(item.into()).is_some()
    }

    fn victims(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        Box::new(self.order.iter().map(|(.., item)| *item))
    }

    fn is_wanted(&self, item: u32) -> bool {
        self.left.count(item) > 0
    }

    fn ready(&mut self, task: TaskId) {
        self.count(task, 1);
    }

    fn withdrawn(&mut self, task: TaskId) {
        self.count(task, -1);
    }

    fn started(&mut self, task: TaskId) {
        let items = self.items.clone();
        // What another had not come to is not here for him alone.
        let before = std::mem::replace(&mut self.unread, items.inputs(task).iter().copied().collect());
        before.into_iter().for_each(|item| self.look(item));
        for item in items.inputs(task) {
            self.left.began(task, *item);
        }
        self.count(task, -1);
    }
}
