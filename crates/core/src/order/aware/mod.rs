//! Throng's own order, which knows the node's cache and who still needs what.
//!
//! There are two of it. Where all data has room, nothing that is brought is lost again, and what matters is what everybody will wait
//! for (`roomy.rs`). Where it has not, what is in the cache should be used before it goes, and what nobody needs any more should make
//! room soon (`tight.rs`). Which of them it is follows from the sizes of the workflow's data and the room that nodes have. A node that is
//! alone and has everything in place goes by the longest way to the end.

mod roomy;
mod tight;

use std::sync::{Arc, OnceLock};

use super::{Order, Seat};
use crate::locality::{Items, Knowledge, places};
use crate::rng::Rng;

/// What they need to know of a workflow, each worked out when the first node asks.
#[derive(Clone, Debug)]
pub(super) struct Needs {
    known: Arc<Knowledge>,
    steps: OnceLock<Arc<Vec<u32>>>,
    together: OnceLock<Together>,
}

/// What a workflow's tasks have in common.
#[derive(Clone, Debug)]
pub struct Together {
    /// Who makes and reads what.
    pub items: Arc<Items>,
    /// For each task, which it is when one thing is finished after the other.
    pub places: Arc<Vec<u32>>,
    /// For each task, how long the way from its start to an end is; a step is about a fifth more.
    pub ways: Arc<Vec<u8>>,
}

impl Together {
    /// Of a workflow, as far as its times are known, where data comes at so many bytes a second.
    fn of(known: &Knowledge, bytes_per_second: u64) -> Together {
        let places = places(known.flow().as_ref(), known.flow().task_count());
        let ways = ways(known, bytes_per_second.max(1) as f64);
        Together { items: known.items().clone(), places: Arc::new(places), ways: Arc::new(ways) }
    }
}

/// Steps for each time that a way is e times as long.
const STEPS: f64 = 5.0;

/// For each task, how long the way from its start to an end is if everything on it has to be brought. Where no times are known, each task
/// counts as a second.
fn ways(known: &Knowledge, bytes_per_second: f64) -> Vec<u8> {
    let flow = known.flow();
    let time = |task| flow.sleep_time(task).or_else(|| flow.estimated_time(task));
    let is_known = flow.tasks().any(|task| time(task).is_some_and(|time| !time.is_zero()));
    let seconds = |task| {
        let bytes: f64 = known.inputs(task).map(|object| flow.expected_size(object).unwrap_or(0) as f64).sum();
        let computing = if is_known { time(task).unwrap_or_default().as_secs_f64() } else { 1.0 };
        computing + bytes / bytes_per_second
    };
    let mut ways = vec![0f64; flow.task_count()];
    for task in flow.topological().into_iter().rev() {
        let behind = flow.children(task).map(|child| ways[child.index()]).fold(0.0, f64::max);
        ways[task.index()] = seconds(task) + behind;
    }
    let longest = ways.iter().copied().fold(0.0, f64::max).max(f64::MIN_POSITIVE);
    // From the longest down, so that the scale does not matter.
    ways.into_iter().map(|way| 255 - ((longest / way.max(f64::MIN_POSITIVE)).ln() * STEPS).min(255.0) as u8).collect()
}

impl Needs {
    pub(super) fn of(known: &Arc<Knowledge>) -> Needs {
        Needs { known: known.clone(), steps: OnceLock::new(), together: OnceLock::new() }
    }

    fn steps(&self) -> &Arc<Vec<u32>> {
        self.steps.get_or_init(|| Arc::new(super::critical_path::steps_to_end(self.known.flow())))
    }

    fn together(&self, bytes_per_second: u64) -> &Together {
        self.together.get_or_init(|| Together::of(&self.known, bytes_per_second))
    }
}

/// The order.
pub(super) fn order(needs: &Needs, seat: Seat) -> Box<dyn Order> {
    if seat.is_alone && !needs.known.has_data() {
        return Box::new(super::critical_path::order(needs.steps().clone()));
    }
    if needs.known.has_room(seat.room_bytes) {
        return Box::new(roomy::order(needs.known.clone(), needs.steps().clone(), seat.seed));
    }
    let turn = if seat.is_alone { 0 } else { Rng::new(seat.seed >> 1).next() as u32 >> 1 };
    Box::new(tight::order(needs.together(seat.bytes_per_second), turn, &seat))
}

/// The order of a node whose cache cannot hold all data.
pub fn tight(known: &Together, seat: &Seat) -> impl Order {
    tight::order(known, 0, seat)
}

#[cfg(test)]
mod tests;
