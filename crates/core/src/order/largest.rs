//! Largest input first, then the earlier arrival: MATRIX's order of both its queues.
//!
//! Big inputs tend to mean long tasks, and long tasks should not come last. It loses when size says nothing
//! about time.

use super::{ByClass, Order, Sorted};

/// The order.
pub(super) fn order() -> impl Order {
    ByClass::<Sorted, _>::new(|task, arrival| (task.input_bytes, u64::MAX - arrival))
}
