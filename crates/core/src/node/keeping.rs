//! How a node keeps the run's data.

use crate::evict::{Evict, Lru};
use crate::locality::Brought;

/// How a node keeps data.
pub struct Keeping {
    /// How much room there is.
    pub capacity_bytes: u64,
    /// For how many tasks data may be brought before they have a slot.
    pub window: usize,
    /// Which objects have to be brought.
    pub brought: Brought,
    /// Whether results are also where all can read them, so that the node's own may go like any other copy.
    pub shares_results: bool,
    /// Who goes when there is no room.
    pub evict: Box<dyn Evict>,
}

impl Keeping {
    /// Room for so many bytes, for whatever tasks read; what was used longest ago goes first.
    pub fn new(capacity_bytes: u64, window: usize) -> Keeping {
        let evict = Box::new(Lru::default());
        Keeping { capacity_bytes, window, brought: Brought::All, shares_results: false, evict }
    }
}
