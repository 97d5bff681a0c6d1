//! What the policies of a run know of a workflow's data. It is worked out once, however many nodes and policies there are, and only what
//! somebody asks for.

use std::sync::{Arc, OnceLock};

use super::{Brought, Items, Wanted};
use crate::ids::{ObjectId, TaskId};
use crate::workflow::Workflow;

/// All data has room if it takes no more than this part of it: copies take room, too, and nodes do not fill evenly.
const ROOMY_PART: u128 = 4;

/// What is known of a workflow's data.
#[derive(Debug)]
pub struct Knowledge {
    flow: Arc<Workflow>,
    wanted: Wanted,
    data_bytes: u128,
    items: OnceLock<Arc<Items>>,
}

impl Knowledge {
    /// Of a workflow of which this has to be brought. What is in place by itself costs nothing, and counts for nobody.
    pub fn of(flow: &Arc<Workflow>, brought: &Brought) -> Arc<Knowledge> {
        let wanted = Wanted::new(brought, flow);
        let objects = (0..flow.object_count()).map(ObjectId::at).filter(|object| wanted.has(*object));
        let data_bytes = objects.filter_map(|object| flow.expected_size(object)).map(u128::from).sum();
        Arc::new(Knowledge { flow: flow.clone(), wanted, data_bytes, items: OnceLock::new() })
    }

    /// The workflow.
    pub fn flow(&self) -> &Arc<Workflow> {
        &self.flow
    }

    /// Whether anything has to be brought for any task.
    pub fn has_data(&self) -> bool {
        self.flow.has_inputs() && !self.wanted.is_empty()
    }

    /// What is used more than once, and by whom.
    pub fn items(&self) -> &Arc<Items> {
        self.items.get_or_init(|| Arc::new(Items::of(&self.flow, &self.wanted)))
    }

    /// What a task reads that has to be brought.
    pub fn inputs(&self, task: TaskId) -> impl Iterator<Item = ObjectId> + '_ {
        self.wanted.of(&self.flow, task)
    }

    /// Whether everything can stay where all nodes together have so much room, so that nothing that is brought will be lost again.
    pub fn has_room(&self, room_bytes: u64) -> bool {
        self.data_bytes.saturating_mul(ROOMY_PART) <= u128::from(room_bytes)
    }
}
