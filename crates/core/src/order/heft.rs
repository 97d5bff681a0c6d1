//! Most data on the way to the end first: Meng and Golab's second baseline, a HEFT that knows sizes instead of times.
//!
//! A task ranks by what it reads and the highest rank of those that wait for it. It keeps the longest chain of data going, and
//! loses whatever the cache holds on the way.

use std::sync::Arc;

use super::{ByClass, Order, Sorted};
use crate::workflow::Workflow;

/// The order.
pub fn order(ranks: Arc<Vec<u64>>) -> impl Order {
    ByClass::<Sorted, _>::new(move |task, _| (ranks[task.task.index()], u64::MAX - u64::from(task.task.0)))
}

/// For each task, the bytes read on the way from it to an end where these are most.
pub(super) fn ranks(flow: &Workflow) -> Vec<u64> {
    let mut ranks = vec![0u64; flow.task_count()];
    for task in flow.topological().into_iter().rev() {
        let reads =
            flow.inputs(task).map(|object| flow.declared_size(object).unwrap_or(0)).fold(0, u64::saturating_add);
        let behind = flow.children(task).map(|child| ranks[child.index()]).max().unwrap_or(0);
        ranks[task.index()] = reads.saturating_add(behind);
    }
    ranks
}
