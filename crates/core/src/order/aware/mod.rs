//! Throng's own order, which knows the node's cache and who still needs what.
//!
//! There are two of it. Where all data has room, nothing that is brought is lost again, and what matters is what everybody will wait
//! for: [`roomy`]. Where it has not, what is in the cache should be used before it goes, and what nobody needs any more should make
//! room soon: [`tight`]. Which of them it is follows from the sizes of the workflow's data and the room that nodes have.

mod roomy;
mod tight;

use std::sync::{Arc, OnceLock};

use super::{Order, Seat};
use crate::ids::ObjectId;
use crate::locality::{Items, places};
use crate::rng::Rng;
use crate::workflow::Workflow;

/// All data has room if it takes no more than this part of it: copies take room, too, and nodes do not fill evenly.
pub(crate) const ROOMY_PART: u128 = 4;

/// What they need to know of a workflow, each worked out when the first node asks.
#[derive(Clone, Debug)]
pub(super) struct Knowledge {
    flow: Arc<Workflow>,
    data_bytes: u128,
    steps: OnceLock<Arc<Vec<u32>>>,
    together: OnceLock<(Arc<Items>, Arc<Vec<u32>>)>,
}

impl Knowledge {
    pub(super) fn of(flow: &Arc<Workflow>) -> Knowledge {
        let objects = (0..flow.object_count()).map(ObjectId::at);
        let data_bytes = objects.filter_map(|object| flow.declared_size(object)).map(u128::from).sum();
        Knowledge { flow: flow.clone(), data_bytes, steps: OnceLock::new(), together: OnceLock::new() }
    }

    fn steps(&self) -> &Arc<Vec<u32>> {
        self.steps.get_or_init(|| Arc::new(super::critical_path::steps_to_end(&self.flow)))
    }

    fn together(&self) -> &(Arc<Items>, Arc<Vec<u32>>) {
        let flow = &self.flow;
        self.together.get_or_init(|| (Arc::new(Items::of(flow)), Arc::new(places(flow.as_ref(), flow.task_count()))))
    }
}

/// The order.
pub(super) fn order(known: &Knowledge, seat: Seat) -> Box<dyn Order> {
    if known.data_bytes.saturating_mul(ROOMY_PART) <= u128::from(seat.room_bytes) {
        return Box::new(roomy::order(known.flow.clone(), known.steps().clone(), seat.seed));
    }
    let turn = if seat.is_alone { 0 } else { Rng::new(seat.seed >> 1).next() as u32 >> 1 };
    let (items, places) = known.together();
    Box::new(tight::order(items.clone(), places.clone(), turn))
}

/// The order of a place where not all data can stay, over items that somebody has put together.
pub fn tight(items: Arc<Items>, places: Arc<Vec<u32>>) -> impl Order {
    tight::order(items, places, 0)
}

#[cfg(test)]
mod tests;
