//! What a node keeps of the run's data, and what has to be brought.

use crate::evict::{Evict, Lru};
use crate::workflow::Workflow;

/// Which objects are not here by themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Brought {
    /// Whatever a task reads, unless it was made here.
    All,
    /// What tasks make; what comes from outside is everywhere.
    Made,
    /// What comes from outside; what tasks make is where all of them look for it.
    Outside,
}

impl Brought {
    /// From which number to which, without the last, they go.
    pub(super) fn objects(self, flow: &Workflow) -> (usize, usize) {
        match self {
            Brought::All => (0, usize::MAX),
            Brought::Made => (0, flow.made_count()),
            Brought::Outside => (flow.made_count(), usize::MAX),
        }
    }
}

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
