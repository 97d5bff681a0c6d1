//! What was used longest ago goes first.

use std::collections::BTreeMap;

use super::Evict;
use crate::lookup::Lookup;

/// The policy.
#[derive(Debug, Default)]
pub struct Lru {
    by_use: BTreeMap<u64, u32>,
    last_used: Lookup<u64>,
    uses: u64,
}

impl Evict for Lru {
    fn used(&mut self, item: u32) {
        self.gone(item);
        self.uses += 1;
        self.by_use.insert(self.uses, item);
        self.last_used.insert(item.into(), self.uses);
    }

    fn gone(&mut self, item: u32) {
        if let Some(used) = self.last_used.remove(item.into()) {
            self.by_use.remove(&used);
        }
    }

    fn has(&self, item: u32) -> bool {
        self.last_used.get(item.into()).is_some()
    }

    fn victims(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        Box::new(self.by_use.values().copied())
    }
}
