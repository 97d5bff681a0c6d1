//! Last come, first served: runs each chain to its end before it begins the next, while its data is warm.
//!
//! It loses when the task that everything waits for came first.

use super::deques::Deques;
use super::{ByClass, Order};

/// The order.
pub(super) fn order() -> impl Order {
    ByClass::<Deques<true>, _>::new(|_, arrival| (0, arrival))
}
