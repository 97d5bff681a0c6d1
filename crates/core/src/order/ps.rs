//! One order of all tasks that was worked out beforehand, and held to: Meng and Golab's PS.
//!
//! Whoever has a free slot claims the next task of that order, and waits for it if it is not ready, while others go on
//! claiming. It keeps data together as the order does, and loses in that waiting. A node that is not alone does not wait: what it
//! waits for may be with another. Nor does one wait for ever: if nothing runs and nothing claimed is ready, it goes on with the first that is.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound::{Excluded, Unbounded};
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

    /// The first that waits.
    fn first(&self, admits: &dyn Fn(ClassId) -> bool) -> Option<(std::cmp::Reverse<i32>, u32)> {
        self.waiting.iter().find(|(_, ready)| admits(ready.class)).map(|(key, _)| *key)
    }

    /// The first that waits and stands before a place: of each priority, only those are looked at.
    fn first_before(&self, admits: &dyn Fn(ClassId) -> bool, place: u32) -> Option<(std::cmp::Reverse<i32>, u32)> {
        let mut next = self.waiting.first_key_value().map(|((priority, _), _)| *priority);
        while let Some(priority) = next {
            let mut before = self.waiting.range((priority, 0)..(priority, place));
            if let Some((key, _)) = before.find(|(_, ready)| admits(ready.class)) {
                return Some(*key);
            }
            let after = (Excluded((priority, u32::MAX)), Unbounded);
            next = self.waiting.range(after).next().map(|((priority, _), _)| *priority);
        }
        None
    }

    /// Claims until all slots have something, and says who may start then.
    fn claimed(&mut self, admits: &dyn Fn(ClassId) -> bool) -> Option<(std::cmp::Reverse<i32>, u32)> {
        while self.claimed.len() + self.running.len() < self.units && (self.next as usize) < self.places.len() {
            self.claimed.insert(self.next);
            self.next += 1;
        }
        // What has been passed over may start whenever it comes.
        let ready = self.first_before(admits, self.next);
        if ready.is_some() || !self.running.is_empty() {
            return ready;
        }
        let first = self.first(admits)?;
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
        let key = if self.units == 0 { self.first(admits) } else { self.claimed(admits) }?;
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::evict::Lru;
    use crate::locality::ItemsBuilder;
    use crate::predict::{self, Follower, InOrder, Machine, Model, ModelBuilder};
    use crate::rng::Rng;

    /// Tasks of which each makes an item, and reads some of those before it.
    fn random_model(rng: &mut Rng, tasks: u32) -> Model {
        let (mut builder, mut edges) = (ItemsBuilder::default(), Vec::new());
        (0..tasks).for_each(|_| {
            builder.item(1 + rng.below(5));
        });
        for task in 0..tasks {
            let parents: Vec<u32> = (0..task).filter(|_| rng.below(4) == 0).collect();
            edges.extend(parents.iter().map(|parent| (TaskId(*parent), TaskId(task))));
            builder.task(parents, vec![task]);
        }
        let mut times = || (0..tasks).map(|_| rng.below(6)).collect();
        let (compute, outside, load) = (times(), times(), times());
        ModelBuilder { items: Arc::new(builder.build()), edges, compute, outside, load }.build()
    }

    /// Any order in which everybody comes after those that it waits for.
    fn random_order(rng: &mut Rng, model: &Model) -> Vec<TaskId> {
        let mut open: Vec<u32> = model.tasks().map(|task| model.parent_count(task)).collect();
        let mut ready: Vec<TaskId> = model.tasks().filter(|task| open[task.index()] == 0).collect();
        let mut order = Vec::new();
        while !ready.is_empty() {
            let task = ready.swap_remove(rng.below(ready.len() as u64) as usize);
            order.push(task);
            for child in model.children(task) {
                open[child.index()] -= 1;
                ready.extend(Some(*child).filter(|child| open[child.index()] == 0));
            }
        }
        order
    }

    proptest! {
        /// The paper's units take the next task of the list and wait for it; this order starts the same tasks at the same times.
        #[test]
        fn it_does_what_the_units_of_the_paper_do(seed in any::<u64>(), tasks in 1u32..30, units in 1usize..5, cache in 0u64..40) {
            let mut rng = Rng::new(seed);
            let model = random_model(&mut rng, tasks);
            let serial = random_order(&mut rng, &model);
            let mut places = vec![0; tasks as usize];
            serial.iter().enumerate().for_each(|(place, task)| places[task.index()] = place as u32);
            let as_ready = |task| ReadyTask::first(task, ClassId(0));
            let run = |chooser: &mut dyn predict::Chooser| {
                let outcome = predict::run(&model, Machine { units, cache }, chooser, Box::new(Lru::default()));
                let starts: Vec<_> = outcome.tasks.into_iter().map(|ran| (ran.start, ran.task, ran.missed)).collect();
                (starts, outcome.makespan, outcome.misses, outcome.idle)
            };
            let followed = run(&mut Follower::new(serial));
            prop_assert_eq!(followed.0.len(), tasks as usize);
            let claimed = run(&mut InOrder::new(Box::new(order(Arc::new(places), units)), as_ready));
            prop_assert_eq!(followed, claimed);
        }
    }
}
