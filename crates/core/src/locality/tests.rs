//! The sums against the sets of the definitions.

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;

use super::*;
use crate::ids::{ClassId, TaskId};
use crate::node::ReadyTask;
use crate::order::{Order, og};
use crate::rng::Rng;

/// A measure as it is defined: for each item, the set of what was read since its last, or first, use.
#[derive(Clone)]
struct Defined {
    items: Arc<Items>,
    metric: Metric,
    since: Vec<Option<BTreeSet<u32>>>,
    counted: Vec<i128>,
    total: i128,
}

impl Defined {
    fn new(items: Arc<Items>, metric: Metric) -> Defined {
        let (since, counted) = (vec![None; items.count()], vec![0; items.count()]);
        Defined { items, metric, since, counted, total: 0 }
    }

    fn weigh(&self, set: &BTreeSet<u32>) -> i128 {
        let weighs = matches!(self.metric, Metric::Wsd | Metric::Wtmb | Metric::Wlru);
        set.iter().map(|item| if weighs { i128::from(self.items.weight(*item)) } else { 1 }).sum()
    }

    fn access(&mut self, item: u32, also_first: bool) {
        let at = item as usize;
        if let Some(since) = &self.since[at] {
            self.total += self.weigh(since);
        }
        if self.since[at].is_some() || also_first {
            self.since.iter_mut().flatten().for_each(|set| {
                set.insert(item);
            });
            self.since[at] = Some(BTreeSet::new());
        }
    }

    fn start(&mut self, task: TaskId) {
        let items = self.items.clone();
        let inputs = items.inputs(task);
        if matches!(self.metric, Metric::Lru | Metric::Wlru) {
            inputs.iter().chain(items.outputs(task)).for_each(|item| self.access(*item, true));
            return;
        }
        let from_first = matches!(self.metric, Metric::Tmb | Metric::Wtmb);
        for item in inputs {
            let at = *item as usize;
            let Some(since) = &self.since[at] else { continue };
            let value = self.weigh(since);
            self.total += value - if from_first { self.counted[at] } else { 0 };
            self.counted[at] = value;
        }
        let all: BTreeSet<u32> = inputs.iter().copied().collect();
        let without = |item: u32| all.iter().copied().filter(|other| *other != item).collect::<BTreeSet<u32>>();
        for item in 0..items.count() as u32 {
            let is_read = all.contains(&item);
            let since = &mut self.since[item as usize];
            match since {
                Some(set) if from_first || !is_read => set.extend(without(item)),
                _ if is_read => *since = Some(without(item)),
                _ => {}
            }
        }
        for item in items.outputs(task) {
            self.since[*item as usize] = Some(BTreeSet::new());
        }
    }

    fn added_by(&self, task: TaskId) -> i128 {
        let mut then = self.clone();
        then.start(task);
        then.total - self.total
    }
}

/// A random graph: some items from outside, tasks that read some of what there is before them.
fn random_items(rng: &mut Rng, tasks: usize, outside: usize) -> (Arc<Items>, Vec<Vec<TaskId>>) {
    let mut builder = ItemsBuilder::default();
    let mut made: Vec<(u32, Option<TaskId>)> = (0..outside).map(|_| (builder.item(1 + rng.below(9)), None)).collect();
    let mut parents = Vec::new();
    for at in 0..tasks {
        let reads = if made.is_empty() { 0 } else { rng.below(4) };
        let read: Vec<(u32, Option<TaskId>)> =
            (0..reads).map(|_| made[rng.below(made.len() as u64) as usize]).collect();
        let outputs: Vec<u32> = (0..rng.below(3)).map(|_| builder.item(1 + rng.below(9))).collect();
        made.extend(outputs.iter().map(|item| (*item, Some(TaskId::at(at)))));
        let mut of: Vec<TaskId> = read.iter().filter_map(|(_, maker)| *maker).collect();
        of.sort_unstable();
        of.dedup();
        parents.push(of);
        builder.task(read.into_iter().map(|(item, _)| item).collect(), outputs);
    }
    (Arc::new(builder.build()), parents)
}

fn as_ready(task: TaskId) -> ReadyTask {
    ReadyTask::first(task, ClassId(0))
}

proptest! {
    /// What `og` starts is what the definition would start, under every metric, whatever else has begun in between.
    #[test]
    fn the_choice_is_that_of_the_definition(seed in any::<u64>(), tasks in 1usize..60, outside in 0usize..20, hub in 1usize..8) {
        let mut rng = Rng::new(seed);
        let (items, parents) = random_items(&mut rng, tasks, outside);
        for (name, metric) in Metric::NAMES {
            let (mut defined, mut order) = (Defined::new(items.clone(), metric), og::with_hubs(items.clone(), metric, hub));
            let mut recency = Recency::new(items.clone(), metric);
            let (mut done, mut ready) = (BTreeSet::new(), BTreeSet::new());
            for step in 0..tasks {
                for task in (0..tasks).map(TaskId::at) {
                    if !done.contains(&task) && parents[task.index()].iter().all(|parent| done.contains(parent)) && ready.insert(task) {
                        order.push(as_ready(task));
                    }
                }
                let expected = ready.iter().copied().min_by_key(|task| (defined.added_by(*task), *task)).unwrap();
                for task in &ready {
                    prop_assert_eq!(recency.added_by(*task), defined.added_by(*task), "{} of {:?} at step {}", name, task, step);
                }
                let task = if rng.below(4) > 0 {
                    let popped = order.pop(&|_| true).unwrap().task;
                    prop_assert_eq!(popped, expected, "{} at step {}", name, step);
                    popped
                } else {
                    // Somebody else has it, from the same node.
                    let other = *ready.iter().nth(rng.below(ready.len() as u64) as usize).unwrap();
                    prop_assert!(order.remove(other).is_some());
                    order.began(other);
                    other
                };
                defined.start(task);
                recency.start(task);
                prop_assert_eq!(recency.total(), defined.total);
                ready.remove(&task);
                done.insert(task);
            }
            prop_assert_eq!(order.len(), 0);
        }
    }
}
