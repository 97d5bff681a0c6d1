//! The cache of the machine: what is in it, and who has to go.

use crate::evict::Evict;
use crate::locality::Items;

/// Items and the room that they take. Nothing is pinned: an item that is being loaded counts as present, and may be gone before it is
/// read again.
pub struct Cached<'a> {
    items: &'a Items,
    capacity: u64,
    used: u64,
    is_here: Vec<bool>,
    /// Who says what goes.
    pub(super) evict: Box<dyn Evict>,
    /// What has come and gone since somebody looked.
    pub(super) changes: Vec<(u32, bool)>,
}

impl<'a> Cached<'a> {
    /// An empty one.
    pub(super) fn new(items: &'a Items, capacity: u64, evict: Box<dyn Evict>) -> Cached<'a> {
        Cached { items, capacity, used: 0, is_here: vec![false; items.count()], evict, changes: Vec::new() }
    }

    /// Reads an item; says whether it was here. If not, it is now, unless it is too large.
    pub(super) fn read(&mut self, item: u32) -> bool {
        if self.is_here[item as usize] {
            self.evict.used(item);
            return true;
        }
        self.insert(item);
        false
    }

    /// Puts an item in, for which others may have to go; unless whoever says what goes would rather have it pass by.
    pub(super) fn insert(&mut self, item: u32) {
        let weight = self.items.weight(item);
        if self.is_here[item as usize] {
            self.evict.used(item);
            return;
        }
        if weight > self.capacity || !self.evict.is_wanted(item) {
            return;
        }
        let (mut free, mut going) = (self.capacity - self.used, Vec::new());
        for victim in self.evict.victims() {
            if free >= weight {
                break;
            }
            free += self.items.weight(victim);
            going.push(victim);
        }
        if free < weight {
            return;
        }
        for gone in going {
            self.evict.gone(gone);
            self.is_here[gone as usize] = false;
            self.used -= self.items.weight(gone);
            self.changes.push((gone, false));
        }
        self.used += weight;
        self.is_here[item as usize] = true;
        self.evict.used(item);
        self.changes.push((item, true));
    }
}
