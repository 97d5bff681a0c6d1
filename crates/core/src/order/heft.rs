//! Most data on the way to the end first: Meng and Golab's second baseline, a HEFT that knows sizes instead of times.
//!
//! A task ranks by what it reads and the highest rank of those that wait for it. It keeps the longest chain of data going, and
//! loses whatever the cache holds on the way.

use std::sync::Arc;

use super::{ByClass, Order, Sorted};
use crate::ids::TaskId;
use crate::locality::Precedence;

/// The order.
pub fn order(ranks: Arc<Vec<u64>>) -> impl Order {
    ByClass::<Sorted, _>::new(move |task, _| (ranks[task.task.index()], u64::MAX - u64::from(task.task.0)))
}

/// For each task, the bytes read on the way from it to an end where these are most.
pub fn ranks(graph: &impl Precedence, tasks: usize, reads: impl Fn(TaskId) -> u64) -> Vec<u64> {
    let mut open: Vec<u32> = (0..tasks).map(|task| graph.parent_count(TaskId::at(task))).collect();
    // In an order in which everybody comes after those that it waits for, from the end.
    let mut order: Vec<TaskId> = (0..tasks).filter(|task| open[*task] == 0).map(TaskId::at).collect();
    let mut at = 0;
    while let Some(task) = order.get(at).copied() {
        at += 1;
        for child in graph.children(task) {
            open[child.index()] -= 1;
            order.extend(Some(child).filter(|child| open[child.index()] == 0));
        }
    }
    let mut ranks = vec![0u64; tasks];
    for task in order.into_iter().rev() {
        let behind = graph.children(task).into_iter().map(|child| ranks[child.index()]).max().unwrap_or(0);
        ranks[task.index()] = reads(task).saturating_add(behind);
    }
    ranks
}
