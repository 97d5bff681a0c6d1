//! What a node keeps of the run's data, and what has to be brought.

use std::sync::Arc;

use crate::evict::{Evict, Lru};
use crate::ids::{ObjectId, TaskId};
use crate::workflow::Workflow;

/// Which objects are not here by themselves.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Brought {
    /// Whatever a task reads, unless it was made here.
    All,
    /// What tasks make; what comes from outside is everywhere.
    Made,
    /// These from outside, from which number to which, without the last, in ascending order. All else is in place, and takes no room
    /// here; tasks that read nothing of these do not wait behind those that do.
    Outside(Arc<[(u32, u32)]>),
}

/// The objects that have to be brought, by their numbers.
#[derive(Debug)]
pub(super) struct Wanted {
    ranges: Arc<[(u32, u32)]>,
}

impl Wanted {
    pub(super) fn new(brought: &Brought, flow: &Workflow) -> Wanted {
        let ranges = match brought {
            Brought::All => Arc::from([(0, u32::MAX)]),
            Brought::Made => Arc::from([(0, flow.made_count() as u32)]),
            Brought::Outside(ranges) => ranges.clone(),
        };
        Wanted { ranges }
    }

    fn has(&self, object: ObjectId) -> bool {
        let after = self.ranges.partition_point(|(from, _)| *from <= object.0);
        after > 0 && object.0 < self.ranges[after - 1].1
    }

    /// What a task reads that has to be here.
    pub(super) fn of<'a>(&'a self, flow: &'a Workflow, task: TaskId) -> impl Iterator<Item = ObjectId> + 'a {
        flow.inputs(task).filter(|object| self.has(*object))
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
