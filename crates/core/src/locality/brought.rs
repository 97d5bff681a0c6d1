//! Which of a workflow's objects have to be brought to where they are read.

use std::sync::Arc;

use crate::ids::{ObjectId, TaskId};
use crate::workflow::Workflow;

/// Which objects are not here by themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Brought {
    /// Whatever a task reads, unless it was made here.
    #[default]
    All,
    /// What tasks make; what comes from outside is everywhere.
    Made,
    /// These from outside, from which number to which, without the last, in ascending order. All else is in place, and takes no room
    /// here; tasks that read nothing of these do not wait behind those that do.
    Outside(Arc<[(u32, u32)]>),
}

/// The objects that have to be brought, by their numbers.
#[derive(Clone, Debug)]
pub struct Wanted {
    ranges: Arc<[(u32, u32)]>,
}

impl Wanted {
    /// Those of a workflow.
    pub fn new(brought: &Brought, flow: &Workflow) -> Wanted {
        let ranges = match brought {
            Brought::All => Arc::from([(0, u32::MAX)]),
            Brought::Made => Arc::from([(0, flow.made_count() as u32)]),
            Brought::Outside(ranges) => ranges.clone(),
        };
        Wanted { ranges }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// Whether an object is one of them.
    pub fn has(&self, object: ObjectId) -> bool {
        let after = self.ranges.partition_point(|(from, _)| *from <= object.0);
        after > 0 && object.0 < self.ranges[after - 1].1
    }

    /// What a task reads that has to be brought.
    pub fn of<'a>(&'a self, flow: &'a Workflow, task: TaskId) -> impl Iterator<Item = ObjectId> + 'a {
        flow.inputs(task).filter(|object| self.has(*object))
    }
}
