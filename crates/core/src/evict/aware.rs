//! What nobody needs any more goes first, then what nobody waits for now, then what was used longest ago.
//!
//! Whoever waits with all its parents done is about to read; what only tasks read that cannot start yet has time. Which of these comes
//! first nobody knows for certain, and guesses by the workflow's shape were worse than the time of the last use.

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
}

/// The policy.
#[derive(Debug)]
pub struct Aware {
    items: Arc<Items>,
    left: Readers,
    /// How many that may start will read an item.
    waiting: Lookup<u32>,
    here: Lookup<(Wanted, u64)>,
    order: BTreeSet<(Wanted, u64, u32)>,
    uses: u64,
}

impl Aware {
    /// Before anything has begun.
    pub fn new(items: Arc<Items>) -> Aware {
        let left = Readers::new(items.clone());
        Aware { items, left, waiting: Lookup::default(), here: Lookup::default(), order: BTreeSet::new(), uses: 0 }
    }

    fn wanted(&self, item: u32) -> Wanted {
        if self.left.count(item) == 0 {
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
        if let Some((known, used)) = self.here.get_mut(item.into())
            && *known != wanted
        {
            self.order.remove(&(*known, *used, item));
            self.order.insert((wanted, *used, item));
            *known = wanted;
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
        self.uses += 1;
        let wanted = self.wanted(item);
        self.here.insert(item.into(), (wanted, self.uses));
        self.order.insert((wanted, self.uses, item));
    }

    fn gone(&mut self, item: u32) {
        if let Some((wanted, used)) = self.here.remove(item.into()) {
            self.order.remove(&(wanted, used, item));
        }
    }

    fn has(&self, item: u32) -> bool {
        self.here.get(item.into()).is_some()
    }

    fn victims(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        Box::new(self.order.iter().map(|(.., item)| *item))
    }

    fn ready(&mut self, task: TaskId) {
        self.count(task, 1);
    }

    fn withdrawn(&mut self, task: TaskId) {
        self.count(task, -1);
    }

    fn started(&mut self, task: TaskId) {
        let items = self.items.clone();
        for item in items.inputs(task) {
            self.left.began(task, *item);
        }
        self.count(task, -1);
    }
}
