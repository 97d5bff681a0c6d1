//! Evict: what goes when there is no room.
//!
//! A policy keeps track of what is in a cache, and names who goes next. Whoever has the cache decides whether that can go.

mod aware;
mod lru;
mod maker;

pub use aware::Aware;
pub use lru::Lru;
pub use maker::{Maker, NAMES, check, drops_unneeded};

use crate::ids::TaskId;

/// Says what goes.
pub trait Evict: Send {
    /// An item has come, or has been used again.
    fn used(&mut self, item: u32);
    /// An item is not here any more.
    fn gone(&mut self, item: u32);
    /// Whether an item is here.
    fn has(&self, item: u32) -> bool;
    /// Whatever is here, in the order in which it should go.
    fn victims(&self) -> Box<dyn Iterator<Item = u32> + '_>;
    /// Whether anybody will read an item again once it is here.
    fn is_wanted(&self, _item: u32) -> bool {
        true
    }
    /// A task may start.
    fn ready(&mut self, _task: TaskId) {}
    /// A task that could have started is not here any more.
    fn withdrawn(&mut self, _task: TaskId) {}
    /// A task has started: it needs what it reads once less.
    fn started(&mut self, _task: TaskId) {}
}
