//! First come, first served: fair, free, and as good as any other order on a bag of like tasks.
//!
//! It loses on wide graphs of long chains, where it runs all beginnings before the first end.

use super::deques::Deques;
use super::{ByClass, Order};

/// The order.
pub(super) fn order() -> impl Order {
    ByClass::<Deques<false>, _>::new(|_, arrival| (0, u64::MAX - arrival))
}
