//! As planned: the task that was to begin first comes first.
//!
//! For runs that hold to a plan. It has no name: without a plan there is nothing to hold to. It loses where tasks take other times than was planned, for it
//! waits for nobody but prefers nobody either.

use std::sync::Arc;

use super::{ByClass, Order, Sorted};

/// The order, with the times at which tasks are to begin.
pub(super) fn order(begins: Arc<Vec<u64>>) -> impl Order {
    ByClass::<Sorted, _>::new(move |task, _| (u64::MAX - begins[task.task.index()], u64::MAX - u64::from(task.task.0)))
}
