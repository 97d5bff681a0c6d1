//! Who has still to read what, as far as one node knows.

use std::sync::Arc;

use super::items::Items;
use crate::ids::TaskId;
use crate::lookup::Lookup;

/// Counts readers that have not begun. What happens at other nodes is not known here: to this one, their readers are still to come.
#[derive(Clone, Debug)]
pub struct Readers {
    items: Arc<Items>,
    /// How many have begun, of items of which any has.
    begun: Lookup<u32>,
}

impl Readers {
    /// Before anything has begun.
    pub fn new(items: Arc<Items>) -> Readers {
        Readers { items, begun: Lookup::default() }
    }

    /// How many have not begun.
    pub fn count(&self, item: u32) -> u32 {
        let begun = self.begun.get(item.into()).copied().unwrap_or(0);
        (self.items.readers(item).len() as u32).saturating_sub(begun)
    }

    /// One has begun; says how many are left. A second attempt counts once more, which does little harm: the item goes somewhat sooner.
    pub fn began(&mut self, _reader: TaskId, item: u32) -> u32 {
        *self.begun.entry(item.into()) += 1;
        self.count(item)
    }
}
