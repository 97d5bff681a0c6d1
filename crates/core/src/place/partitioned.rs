//! A part of the workflow for each node, for good: tasks that share data are together, and nobody looks for work.
//!
//! Parts are worked out before the run ([`parts`]), with what is known then of times and sizes. What is shared by nothing but the network
//! (shared-nothing) moves least this way, and a guess that was wrong is never put right: it loses when tasks take other times than
//! was said, or nodes are slower than they should be.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{Hunt, Place, Placement, View};
use crate::ids::TaskId;
use crate::locality::{Brought, Items, Wanted, places};
use crate::node::ReadyTask;
use crate::policy::{BadPolicy, Policy};
use crate::store::Inputs;
use crate::workflow::Workflow;

/// The policy.
pub(super) struct Partitioned;

impl Partitioned {
    pub(super) fn new(policy: &Policy) -> Result<Partitioned, BadPolicy> {
        policy.takes(&[]).map(|()| Partitioned)
    }
}

impl Place for Partitioned {
    fn ready(&mut self, _: &ReadyTask, _: &Inputs, view: &mut View<'_>) -> Placement {
        match view.home {
            Some(node) if node != view.me => Placement::Push(node),
            _ => Placement::Keep,
        }
    }

    fn hunt(&mut self, _: &mut View<'_>) -> Hunt {
        Hunt::Wait
    }

    fn hunted(&mut self, _: bool) -> Option<Duration> {
        None
    }

    fn name(&self) -> &'static str {
        "partitioned"
    }
}

/// How often every task is looked at again.
const PASSES: usize = 4;
/// A part may have so much more work than its share: 1 in so many.
const SLACK: u128 = 20;
/// What more tasks than this read belongs to nobody in particular.
const READERS_MOST: usize = 64;

/// For each task the node that runs it: to each as much work as it can do, and tasks that share data together, as far as that goes.
///
/// Tasks are put in an order in which those stand together whose results meet, and the order is cut into parts. Then
/// every task goes, while there is room, to the part with which it shares most.
pub fn parts(flow: &Workflow, capacities: &[u64]) -> Vec<u32> {
    let work: Vec<u64> = flow.tasks().map(|task| work(flow, task)).collect();
    let all_work = work.iter().map(|work| u128::from(*work)).sum::<u128>().max(1);
    let all_capacity = capacities.iter().sum::<u64>().max(1);
    let mut order: Vec<(u32, TaskId)> = places(flow, flow.task_count()).into_iter().zip(flow.tasks()).collect();
    order.sort_unstable();
    let (mut parts, mut load) = (vec![0; flow.task_count()], vec![0u128; capacities.len()]);
    let (mut done, mut part, mut capacity) = (0u128, 0, capacities.first().copied().unwrap_or(1));
    for (_, task) in &order {
        let place = done * u128::from(all_capacity) / all_work;
        while place >= u128::from(capacity) && part + 1 < capacities.len() {
            part += 1;
            capacity += capacities[part];
        }
        parts[task.index()] = part as u32;
        load[part] += u128::from(work[task.index()]);
        done += u128::from(work[task.index()]);
    }
    let most: Vec<u128> = capacities
        .iter()
        .map(|capacity| {
            let share = all_work * u128::from(*capacity) / u128::from(all_capacity);
            share + share / SLACK
        })
        .collect();
    let items = Items::of(flow, &Wanted::new(&Brought::All, flow));
    for _ in 0..PASSES {
        let mut has_moved = false;
        for task in flow.tasks() {
            let (own, from) = (u128::from(work[task.index()]), parts[task.index()]);
            let Some(to) = best(&items, &parts, task) else { continue };
            if to != from && load[to as usize] + own <= most[to as usize] {
                load[from as usize] -= own;
                load[to as usize] += own;
                parts[task.index()] = to;
                has_moved = true;
            }
        }
        if !has_moved {
            break;
        }
    }
    parts
}

/// What a task takes, as far as anybody knows: nanoseconds, or one.
fn work(flow: &Workflow, task: TaskId) -> u64 {
    let known = flow.sleep_time(task).or_else(|| flow.estimated_time(task));
    // So that whatever people write, it can be multiplied.
    known.map_or(1, |time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)).clamp(1, 1 << 40)
}

/// The part with which a task shares most: its own if there is none with more.
fn best(items: &Items, parts: &[u32], task: TaskId) -> Option<u32> {
    let mut shared: BTreeMap<u32, u64> = BTreeMap::new();
    for item in items.inputs(task).iter().chain(items.outputs(task)) {
        let others = items.readers(*item).chain(items.maker(*item));
        if items.readers(*item).len() > READERS_MOST {
            continue;
        }
        // It has to be in a part once, however many read it there.
        let mut there: Vec<u32> = others.filter(|other| *other != task).map(|other| parts[other.index()]).collect();
        there.sort_unstable();
        there.dedup();
        there.into_iter().for_each(|part| *shared.entry(part).or_default() += items.weight(*item));
    }
    let own = shared.get(&parts[task.index()]).copied().unwrap_or(0);
    let (part, most) = shared.into_iter().max_by_key(|(part, bytes)| (*bytes, std::cmp::Reverse(*part)))?;
    (most > own).then_some(part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::{Format, NoFiles};

    #[test]
    fn pipes_stay_together_and_nodes_have_what_they_can_do() {
        let text = "
tasks:
  make: { foreach: { i: 1..12 }, sleep: 1s, out: [{ path: 'm/{i}', size: 1GB }] }
  use: { foreach: { i: 1..12 }, sleep: 1s, in: ['m/{i}'], out: [{ path: 'u/{i}', size: 1GB }] }
  end: { foreach: { i: 1..12 }, sleep: 1s, in: ['u/{i}'], out: ['e/{i}'] }
";
        let flow = Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap();
        let parts = parts(&flow, &[2, 1, 1]);
        for pipe in 0..12 {
            assert_eq!(parts[pipe], parts[12 + pipe]);
            assert_eq!(parts[pipe], parts[24 + pipe]);
        }
        let of = |node: u32| parts.iter().filter(|part| **part == node).count();
        assert_eq!([of(0), of(1), of(2)], [18, 9, 9]);
    }
}
