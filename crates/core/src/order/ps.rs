//! One order of all tasks that was worked out beforehand, and held to: Meng and Golab's PS.
//!
//! Whoever has a free slot claims the next task of that order, and waits for it if it is not ready, while others go on
//! claiming. It keeps data together as the order does, and loses in that waiting. A node that is not alone does not wait: what it
//! waits for may be with another. Nor does one wait for ever: if nothing runs and nothing claimed is ready, it goes on with the first that is.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::Order;
use crate::ids::{ClassId, TaskId};
use crate::node::ReadyTask;

/// The order of one queue of one node.
struct Claims {
    /// For each task, which it is in the order.
    places: Arc<Vec<u32>>,
    /// How many tasks may be claimed or run at once; none if nobody waits.
    units: usize,
    waiting: BTreeMap<(std::cmp::Reverse<i32>, u32), ReadyTask>,
    claimed: BTreeSet<u32>,
    /// What is claimed next.
    next: u32,
    running: BTreeSet<TaskId>,
}

/// The order.
pub(super) fn order(places: Arc<Vec<u32>>, units: usize) -> impl Order {
    Claims { places, units, waiting: BTreeMap::new(), claimed: BTreeSet::new(), next: 0, running: BTreeSet::new() }
}

impl Claims {
    fn key(&self, ready: &ReadyTask) -> (std::cmp::Reverse<i32>, u32) {
        (std::cmp::Reverse(ready.priority), self.places[ready.task.index()])
    }

    /// The first that waits and meets a condition.
    fn first(
        &self,
        admits: &dyn Fn(ClassId) -> bool,
        may: impl Fn(u32) -> bool,
    ) -> Option<(std::cmp::Reverse<i32>, u32)> {
        let found = self.waiting.iter().find(|((_, place), ready)| may(*place) && admits(ready.class));
        found.map(|(key, _)| *key)
    }

    /// Claims until all slots have something, and says who may start then.
    fn claimed(&mut self, admits: &dyn Fn(ClassId) -> bool) -> Option<(std::cmp::Reverse<i32>, u32)> {
        while self.claimed.len() + self.running.len() < self.units && (self.next as usize) < self.places.len() {
            self.claimed.insert(self.next);
            self.next += 1;
        }
        // What has been passed over may start whenever it comes.
        let next = self.next;
        let ready = self.first(admits, |place| place < next);
        if ready.is_some() || !self.running.is_empty() {
            return ready;
        }
        let first = self.first(admits, |_| true)?;
        self.claimed.clear();
        self.next = self.next.max(first.1 + 1);
        Some(first)
    }
}

impl Order for Claims {
    fn push(&mut self, task: ReadyTask) {
        self.waiting.insert(self.key(&task), task);
    }

    fn pop(&mut self, admits: &dyn Fn(ClassId) -> bool) -> Option<ReadyTask> {
        let key = if self.units == 0 { self.first(admits, |_| true) } else { self.claimed(admits) }?;
        let ready = self.waiting.remove(&key)?;
        self.claimed.remove(&key.1);
        self.running.insert(ready.task);
        Some(ready)
    }

    fn give(&mut self, count: usize, admits: &dyn Fn(ClassId) -> bool) -> Vec<ReadyTask> {
        let last = self.waiting.iter().rev().filter(|(_, ready)| admits(ready.class)).take(count);
        let keys: Vec<_> = last.map(|(key, _)| *key).collect();
        keys.iter().filter_map(|key| self.waiting.remove(key)).collect()
    }

    fn ended(&mut self, task: TaskId) {
        self.running.remove(&task);
    }

    fn count(&self, admits: &dyn Fn(ClassId) -> bool) -> usize {
        self.waiting.values().filter(|ready| admits(ready.class)).count()
    }

    fn len(&self) -> usize {
        self.waiting.len()
    }
}
