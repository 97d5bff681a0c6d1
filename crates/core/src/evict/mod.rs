//! Evict: what goes when there is no room.
//!
//! A policy keeps track of what is in a cache, and names who goes next. Whoever has the cache decides whether that can go.

mod lru;

pub use lru::Lru;

use crate::ids::TaskId;

/// Says what goes.
pub trait Evict: Send {
    /// An item has come, or has been used again.
    fn used(&mut self, item: u32);
    /// An item is not here any more.
    fn gone(&mut self, item: u32);
    /// Whoever is here and should go next.
    fn victim(&mut self) -> Option<u32>;
    /// A task may start.
    fn ready(&mut self, _task: TaskId) {}
    /// A task has started: it needs what it reads once less.
    fn started(&mut self, _task: TaskId) {}
}
