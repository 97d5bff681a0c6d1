//! One order of all tasks, one after the other, with a small measure: what `ps` follows.
//!
//! For a few tasks every order is tried, or rather every situation that an order can lead to. For more, one is built greedily from each
//! task that can be first, and the best of them is improved by taking single tasks out and putting them back elsewhere. How
//! much that may cost is bounded; what has been found by then is what there is, and that may be nothing.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::items::Items;
use super::recency::{Metric, Recency};
use crate::ids::TaskId;

/// Up to so many tasks, the best order is found.
pub const EXACT_UP_TO: usize = 12;

/// So often a task is tried in a place, before an order is taken as it is: about a second.
pub const SERIAL_STEPS: u64 = 10_000_000;

/// How to look for an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The best there is, which takes exponential time.
    Exact,
    /// A good one, with at most so many steps.
    Heuristic {
        /// How often a task may be tried in a place.
        steps: u64,
    },
}

/// An order and its measure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Serial {
    /// All tasks.
    pub order: Vec<TaskId>,
    /// What they add up to.
    pub cost: i128,
}

/// Who waits for whom, without data.
pub trait Precedence {
    /// The tasks that wait for a task.
    fn children(&self, task: TaskId) -> Vec<TaskId>;
    /// How many tasks a task waits for.
    fn parent_count(&self, task: TaskId) -> u32;
}

/// An order of all tasks with a small measure, in which parents come before their children; none if there was no time for a single one.
pub fn serial_order(items: &Arc<Items>, graph: &dyn Precedence, metric: Metric, method: Method) -> Option<Serial> {
    let recency = Recency::new(items.clone(), metric);
    match method {
        Method::Exact => Some(exact(&recency, graph)),
        Method::Heuristic { steps } => heuristic(&recency, graph, steps),
    }
}

/// Tasks that have started, and those that may.
#[derive(Clone)]
struct Progress<'a> {
    graph: &'a dyn Precedence,
    open: Vec<u32>,
    ready: Vec<TaskId>,
}

impl<'a> Progress<'a> {
    fn new(graph: &'a dyn Precedence, tasks: usize) -> Progress<'a> {
        let open: Vec<u32> = (0..tasks).map(|at| graph.parent_count(TaskId::at(at))).collect();
        let ready = (0..tasks).filter(|at| open[*at] == 0).map(TaskId::at).collect();
        Progress { graph, open, ready }
    }

    /// Takes a ready task, and lets those follow that waited for it.
    fn take(&mut self, task: TaskId) {
        self.ready.retain(|ready| *ready != task);
        for child in self.graph.children(task) {
            self.open[child.index()] -= 1;
            if self.open[child.index()] == 0 {
                let at = self.ready.partition_point(|ready| *ready < child);
                self.ready.insert(at, child);
            }
        }
    }
}

fn exact(recency: &Recency, graph: &dyn Precedence) -> Serial {
    let progress = Progress::new(graph, recency.items().task_count());
    let mut known = BTreeMap::new();
    let (cost, order) = best_from(recency, &progress, 0, &mut known);
    Serial { order, cost }
}

/// What is done, and what lies in between for all items that will be used again: the future depends on nothing else.
type Seen = (u64, Vec<(u32, Vec<u32>, i64)>);

/// The least that can be added from here, and the first of the orders that add no more.
fn best_from(
    recency: &Recency,
    progress: &Progress<'_>,
    done: u64,
    known: &mut BTreeMap<Seen, (i128, Vec<TaskId>)>,
) -> (i128, Vec<TaskId>) {
    if progress.ready.is_empty() {
        return (0, Vec::new());
    }
    let seen = (done, recency.between(done));
    if let Some(best) = known.get(&seen) {
        return best.clone();
    }
    let mut best: Option<(i128, Vec<TaskId>)> = None;
    for task in progress.ready.clone() {
        let (mut recency, mut progress) = (recency.clone(), progress.clone());
        let added = recency.added_by(task);
        recency.start(task);
        progress.take(task);
        let (rest, mut order) = best_from(&recency, &progress, done | 1 << task.0, known);
        order.insert(0, task);
        if best.as_ref().is_none_or(|(cost, _)| added + rest < *cost) {
            best = Some((added + rest, order));
        }
    }
    let best = best.unwrap_or_default();
    known.insert(seen, best.clone());
    best
}

/// From each task that can be first, always what adds least; none if there was no time for that.
fn greedy(recency: &Recency, graph: &dyn Precedence, steps: &mut u64) -> Option<Serial> {
    let beginning = Progress::new(graph, recency.items().task_count());
    let mut best = beginning.ready.is_empty().then(|| Serial { order: Vec::new(), cost: 0 });
    for first in beginning.ready.clone() {
        let (mut recency, mut progress, mut order) = (recency.clone(), beginning.clone(), Vec::new());
        let mut next = Some(first);
        while let Some(task) = next {
            recency.start(task);
            progress.take(task);
            order.push(task);
            let Some(left) = steps.checked_sub(1 + progress.ready.len() as u64) else { return best };
            *steps = left;
            next = progress.ready.iter().copied().min_by_key(|ready| (recency.added_by(*ready), *ready));
        }
        let cost = recency.total();
        if best.as_ref().is_none_or(|best| (cost, &order) < (best.cost, &best.order)) {
            best = Some(Serial { order, cost });
        }
    }
    best
}

fn heuristic(recency: &Recency, graph: &dyn Precedence, mut steps: u64) -> Option<Serial> {
    let mut best = greedy(recency, graph, &mut steps)?;
    for _ in 0..best.order.len() {
        let Some(better) = best_reinsertion(recency, graph, &best, &mut steps) else { break };
        best = better;
    }
    Some(best)
}

/// The best order that differs in the place of one task; the first of equals; none if it is no better. When there is no time left, of
/// those that were tried.
fn best_reinsertion(recency: &Recency, graph: &dyn Precedence, from: &Serial, steps: &mut u64) -> Option<Serial> {
    let tasks = from.order.len();
    let mut place = vec![0; tasks];
    from.order.iter().enumerate().for_each(|(at, task)| place[task.index()] = at);
    // Behind its parents and before its children, there a task may stand.
    let mut earliest = vec![0; tasks];
    let mut latest = vec![tasks; tasks];
    for task in &from.order {
        for child in graph.children(*task) {
            let (parent_at, child_at) = (place[task.index()], place[child.index()]);
            earliest[child.index()] = earliest[child.index()].max(parent_at + 1);
            latest[task.index()] = latest[task.index()].min(child_at);
        }
    }
    let mut best: Option<Serial> = None;
    let mut before = recency.clone();
    for at in 0..tasks {
        let task = from.order[at];
        for to in earliest[task.index()]..latest[task.index()] {
            if to == at {
                continue;
            }
            if *steps < tasks as u64 {
                return best;
            }
            *steps -= tasks as u64;
            let mut order = from.order.clone();
            order.remove(at);
            order.insert(to, task);
            let least = best.as_ref().map_or(from.cost, |best| best.cost);
            let cost = if to < at {
                cost_below(recency.clone(), &order, least)
            } else {
                cost_below(before.clone(), &order[at..], least)
            };
            if let Some(cost) = cost {
                best = Some(Serial { order, cost });
            }
        }
        before.start(task);
    }
    best
}

/// The measure of an order that goes on from here, if it is below a limit.
fn cost_below(mut recency: Recency, order: &[TaskId], limit: i128) -> Option<i128> {
    for task in order {
        recency.start(*task);
        if recency.total() >= limit {
            return None;
        }
    }
    Some(recency.total())
}
