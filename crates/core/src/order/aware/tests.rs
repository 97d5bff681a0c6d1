//! The order against what it says of itself, worked out anew for every choice.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;

use super::{Items, Together, tight};
use crate::evict::{self, Evict};
use crate::ids::{ClassId, TaskId};
use crate::locality::ItemsBuilder;
use crate::node::ReadyTask;
use crate::order::{Order, Seat};
use crate::rng::Rng;

fn ready(task: TaskId, class: u32, priority: i32) -> ReadyTask {
    ReadyTask { priority, ..ReadyTask::first(task, ClassId(class)) }
}

/// Tasks that read some of a few items.
fn random_items(rng: &mut Rng, tasks: usize, count: u64) -> Arc<Items> {
    let mut builder = ItemsBuilder::default();
    (0..count).for_each(|_| {
        builder.item(1 + rng.below(5));
    });
    for _ in 0..tasks {
        let outputs = (0..rng.below(2)).map(|_| builder.item(1 + rng.below(5))).collect();
        builder.task((0..rng.below(4)).map(|_| rng.below(count) as u32).collect(), outputs);
    }
    let steps: Vec<u32> = (0..tasks).map(|_| rng.below(5) as u32).collect();
    Arc::new(builder.build().with_steps(&steps))
}

proptest! {
    #[test]
    fn choices_are_what_they_are_said_to_be(
        seed in any::<u64>(),
        // With many tasks, items have many readers.
        tasks in prop_oneof![1usize..40, 100usize..250],
        count in 1u64..12,
    ) {
        let mut rng = Rng::new(seed);
        let items = random_items(&mut rng, tasks, count);
        let places: Vec<u32> = (0..tasks as u32).rev().collect();
        let ways: Vec<u8> = (0..tasks).map(|_| rng.below(3) as u8).collect();
        let known = Together { items: items.clone(), places: Arc::new(places.clone()), ways: Arc::new(ways.clone()) };
        let cache_bytes = rng.below(30);
        let (drops_unneeded, is_serial) = (rng.below(3) > 0, rng.below(4) == 0);
        let is_always_full = is_serial || !drops_unneeded;
        let mut is_full = is_always_full;
        let seat = Seat { cache_bytes, drops_unneeded, is_serial, ..Seat::roomy(2) };
        let mut order = tight::order(&known, 0, &seat);
        let (mut here, mut starts) = (BTreeSet::new(), vec![0; tasks]);
        let left = |starts: &[usize], item: u32| {
            let begun: usize = items.readers(item).map(|reader| starts[reader.index()]).sum();
            items.readers(item).len().saturating_sub(begun)
        };
        let mut waiting: Vec<ReadyTask> = Vec::new();
        let mut next = 0;
        for _ in 0..4 * tasks {
            // Most come before most go, so that many wait.
            match if rng.below(3) > 0 && next < tasks { 0 } else { rng.below(4) } {
                0 if next < tasks => {
                    let task = ready(TaskId::at(next), rng.below(2) as u32, rng.below(2) as i32);
                    next += 1;
                    waiting.push(task);
                    order.push(task);
                }
                // Another attempt.
                0 if rng.below(3) == 0 => {
                    let task = TaskId::at(rng.below(tasks as u64) as usize);
                    if starts[task.index()] > 0 && waiting.iter().all(|other| other.task != task) {
                        let task = ready(task, 0, 0);
                        waiting.push(task);
                        order.push(task);
                    }
                }
                1 => {
                    let (item, is_here) = (rng.below(count) as u32, rng.below(2) == 0);
                    if is_here { here.insert(item); } else { here.remove(&item); }
                    order.item(item, is_here);
                }
                2 if rng.below(3) == 0 => {
                    let most = rng.below(3) as usize;
                    let given = order.give(most, &|class| class.0 == 0);
                    let mut expected: Vec<ReadyTask> = waiting.iter().filter(|task| task.class.0 == 0).copied().collect();
                    expected.sort_by_key(|task| Reverse(places[task.task.index()]));
                    expected.truncate(most);
                    prop_assert_eq!(&given, &expected);
                    waiting.retain(|task| !given.contains(task));
                }
                _ => {
                    let admitted = rng.below(3) as u32;
                    let admits = |class: ClassId| admitted == 2 || class.0 == admitted;
                    let lacks = |task: &ReadyTask| {
                        let mut missing = items.inputs(task.task).iter().filter(|item| !here.contains(item));
                        missing.next().filter(|_| missing.next().is_none()).copied()
                    };
                    let mut lacking = std::collections::BTreeMap::new();
                    waiting.iter().filter_map(lacks).for_each(|item| *lacking.entry(item).or_insert(0u32) += 1);
                    let key = |task: &ReadyTask| {
                        let inputs = || items.inputs(task.task).iter().copied();
                        let weight = |item: u32| items.weight(item) as i64;
                        let missing: i64 = inputs().filter(|item| !here.contains(item)).map(weight).sum();
                        let makes: i64 = items.outputs(task.task).iter().copied().map(weight).sum();
                        let last = inputs().filter(|item| here.contains(item) && left(&starts, *item) <= 1);
                        let frees: i64 = last.map(weight).sum();
                        let (demand, way) = (missing + makes - frees, Reverse(if is_serial { 0 } else { ways[task.task.index()] }));
                        let bits = if demand <= 0 { demand } else { i64::from(demand.ilog2()) + 1 };
                        let rough = if is_full { bits } else { 0 };
                        let others = lacks(task).map_or(0, |item| lacking[&item].ilog2() + 1);
                        (Reverse(task.priority), rough, way, bits, Reverse(others), demand, places[task.task.index()])
                    };
                    let expected = waiting.iter().filter(|task| admits(task.class)).min_by_key(|task| key(task)).copied();
                    prop_assert_eq!(order.pop(&admits), expected);
                    if let Some(task) = expected {
                        starts[task.task.index()] += 1;
                        waiting.retain(|other| *other != task);
                    }
                }
            }
            let is_needed = |item: &&u32| left(&starts, **item) > 0;
            let needed: u64 = here.iter().filter(is_needed).map(|item| items.weight(*item)).sum();
            is_full = is_always_full || needed > cache_bytes / 2 || is_full && needed > cache_bytes / 4;
            prop_assert_eq!(order.len(), waiting.len());
            prop_assert_eq!(order.count(&|class| class.0 == 1), waiting.iter().filter(|task| task.class.0 == 1).count());
        }
    }

    #[test]
    fn what_goes_is_what_is_said_to_go(seed in any::<u64>(), tasks in 1usize..40, count in 1u64..12) {
        let mut rng = Rng::new(seed);
        let items = random_items(&mut rng, tasks, count);
        let mut aware = evict::Aware::new(items.clone());
        let (mut here, mut unread): (Vec<u32>, BTreeSet<u32>) = Default::default();
        let (mut waiting, mut begun): (BTreeSet<TaskId>, BTreeSet<TaskId>) = Default::default();
        for _ in 0..4 * tasks {
            let item = rng.below(count) as u32;
            let task = TaskId::at(rng.below(tasks as u64) as usize);
            match rng.below(5) {
                0 => {
                    here.retain(|other| *other != item);
                    here.push(item);
                    unread.remove(&item);
                    aware.used(item);
                }
                1 => {
                    here.retain(|other| *other != item);
                    aware.gone(item);
                }
                2 if !begun.contains(&task) && waiting.insert(task) => aware.ready(task),
                3 if waiting.remove(&task) => aware.withdrawn(task),
                4 if waiting.remove(&task) => {
                    begun.insert(task);
                    unread = items.inputs(task).iter().copied().collect();
                    aware.started(task);
                }
                _ => {}
            }
            let rank = |item: u32| {
                let readers = || items.readers(item);
                let is_needed = readers().any(|reader| !begun.contains(&reader));
                let is_soon = is_needed && readers().any(|reader| waiting.contains(&reader));
                let is_now = unread.contains(&item);
                (is_now, is_now || is_needed, is_now || is_soon, items.tail(item))
            };
            // The sort keeps the order of uses.
            let mut expected = here.clone();
            expected.sort_by_key(|item| rank(*item));
            prop_assert_eq!(aware.victims().collect::<Vec<u32>>(), expected);
        }
    }
}
