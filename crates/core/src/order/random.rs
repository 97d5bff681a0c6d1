//! Any ready task: what every order that claims to be clever has to beat.
//!
//! It is not as bad as it sounds. Nodes that all follow one order want the same data at the same time; these do not.

use super::{ByClass, Order, Sorted};
use crate::rng::Rng;

/// The order.
pub(super) fn order(seed: u64) -> impl Order {
    let mut rng = Rng::new(seed);
    ByClass::<Sorted, _>::new(move |_, arrival| (rng.next(), arrival))
}
