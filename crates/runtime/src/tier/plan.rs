//! What a run with a tier will bring, found out before it begins, and the node that goes with it.

use std::cmp::Reverse;
use std::path::PathBuf;
use std::sync::Arc;

use throng_core::evict;
use throng_core::fingerprint::Stamp;
use throng_core::ids::{ObjectId, TaskId};
use throng_core::locality::{Brought, Knowledge};
use throng_core::node::{Keeping, Node};
use throng_core::order::Seat;
use throng_core::policy::{BadPolicy, Policy};
use throng_core::predict::{self, Machine};
use throng_core::workflow::Workflow;

use super::survey::{Found, Trouble, ranges, survey};
use super::{Options, TierError};
use crate::files::Workplace;
use crate::state::{ExpectedData, NodeSetup, TierSetup};
use crate::storage;

/// Data is brought for so many tasks for each that may run, before they have a slot: the next one's comes while this one computes. With
/// more of them, more tasks would have lost their place in the order.
const WINDOW_PER_SLOT: u32 = 2;

/// What will be brought.
pub(crate) struct Plan {
    pub(crate) options: Options,
    /// In ascending order, each with what lies in the storage.
    pub(crate) staged: Vec<(ObjectId, Stamp)>,
    /// Links that dead runs have left, and where they lead.
    pub(crate) left: Vec<(String, PathBuf)>,
}

impl Plan {
    /// Looks at all inputs.
    pub(crate) fn new(flow: &Workflow, place: &Workplace, options: &Options) -> Result<Plan, TierError> {
        let name = |object| flow.object_name(object).to_owned();
        let Found { staged, left } =
            survey(flow, place, options.storage.as_ref()).map_err(|trouble| match trouble {
                Trouble::Unclear { object, error } => {
                    let place = options.storage.place(flow.object_name(object));
                    TierError::Unclear { name: name(object), place, error }
                }
                Trouble::Held { object, tier } => TierError::Held { name: name(object), tier },
                Trouble::Inside { object, directory } => TierError::Inside { name: name(object), directory },
                Trouble::NoPlace { object, directory, error } => {
                    TierError::NoPlace { name: name(object), directory, error }
                }
            })?;
        let left = left.into_iter().map(|(object, tier)| (name(object), tier)).collect();
        Ok(Plan { options: options.clone(), staged, left })
    }

    /// What lies in the storage, if an object is brought from there.
    pub(crate) fn found(&self, object: ObjectId) -> Option<Stamp> {
        let at = self.staged.binary_search_by_key(&object, |(staged, _)| *staged).ok()?;
        Some(self.staged[at].1)
    }

    /// A hash of what lies in the storage.
    pub(crate) fn content(&self, name: &str) -> u64 {
        storage::content(self.options.storage.as_ref(), name)
    }

    /// How large everything is that is brought.
    pub(crate) fn sizes(&self) -> impl Iterator<Item = (ObjectId, u64)> + '_ {
        self.staged.iter().map(|(object, stamp)| (*object, stamp.size))
    }

    /// Nothing starts if what a task reads could never be there at once.
    pub(crate) fn check_fit(&self, flow: &Workflow, may_run: impl Fn(TaskId) -> bool) -> Result<(), TierError> {
        let capacity_bytes = self.options.capacity_bytes;
        if self.is_roomy() {
            return Ok(());
        }
        let needed = |task: TaskId| {
            let sizes = flow.inputs(task).filter_map(|object| self.found(object)).map(|stamp| stamp.size);
            sizes.fold(0, u64::saturating_add)
        };
        // The one that needs most: what is enough for it is enough for all.
        let most = flow.tasks().filter(|task| may_run(*task)).map(|task| (needed(task), Reverse(task))).max();
        match most.filter(|(needed_bytes, _)| *needed_bytes > capacity_bytes) {
            Some((needed_bytes, Reverse(task))) => {
                Err(TierError::NeverFits { task: flow.name(task), needed_bytes, capacity_bytes })
            }
            None => Ok(()),
        }
    }

    fn is_roomy(&self) -> bool {
        let all = self.sizes().map(|(_, bytes)| bytes).fold(0, u64::saturating_add);
        all <= self.options.capacity_bytes
    }

    /// For the record.
    pub(crate) fn setup(&self, width: u32) -> TierSetup {
        TierSetup {
            capacity_bytes: self.options.capacity_bytes,
            window: width.saturating_mul(WINDOW_PER_SLOT),
            evict: self.options.evict.to_string(),
            is_roomy: self.is_roomy(),
            brought: ranges(&self.staged),
        }
    }
}

/// What has to be brought: without a tier, everything is in place.
pub(crate) fn brought(setup: Option<&TierSetup>) -> Brought {
    Brought::Outside(setup.map_or_else(Default::default, |setup| setup.brought.as_slice().into()))
}

/// The seat of an order beside a tier. Whether there is room for everything is known: what the workflow says of sizes does not matter.
pub(crate) fn seat(setup: Option<&TierSetup>, width: u32) -> Seat {
    let Some(setup) = setup else { return Seat::roomy(width as usize) };
    let roomy = Seat::roomy(width as usize + setup.window as usize);
    Seat {
        cache_bytes: setup.capacity_bytes,
        room_bytes: room_bytes(setup),
        drops_unneeded: setup.evict == evict::NAMES[0],
        is_serial: width == 1,
        ..roomy
    }
}

fn room_bytes(setup: &TierSetup) -> u64 {
    if setup.is_roomy { u64::MAX } else { 0 }
}

/// What a run with a tier has to bring if all of its tasks run, and one slot is as fast as another.
pub(crate) fn expected(flow: &Arc<Workflow>, setup: &NodeSetup) -> Option<ExpectedData> {
    let tier = setup.tier.as_ref().filter(|_| flow.task_count() <= predict::TASKS_LIMIT)?;
    let known = Knowledge::of(flow, &brought(Some(tier)));
    let (order, evict): (Policy, Policy) = (setup.order.parse().ok()?, tier.evict.parse().ok()?);
    let machine = Machine { units: setup.width as usize, cache: tier.capacity_bytes };
    let seat = seat(Some(tier), setup.width);
    let expected = predict::expect(&order, &evict, &known, seat.bytes_per_second, machine, seat.seed).ok()?;
    Some(ExpectedData { misses: expected.misses, bytes: expected.bytes })
}

/// Gives a node its tier.
pub(crate) fn furnish(node: Node, known: &Arc<Knowledge>, setup: &TierSetup, width: u32) -> Result<Node, BadPolicy> {
    let policy: Policy = setup.evict.parse()?;
    let mut node = node.with_cache(Keeping {
        brought: brought(Some(setup)),
        evict: evict::Maker::new(&policy, known, room_bytes(setup))?.make(),
        ..Keeping::new(setup.capacity_bytes, setup.window as usize)
    });
    node.set_most_prepared(width as usize);
    Ok(node)
}
