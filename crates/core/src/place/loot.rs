//! What stealing policies have in common: whom a thief asks, how much it gets, and what data says about a single task.

use super::daws::{self, Choice, Terms};
use super::{Placement, View};
use crate::ids::NodeId;
use crate::policy::{BadPolicy, Policy};
use crate::store::Inputs;

/// How many tasks a thief gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Loot {
    Half,
    One,
}

impl Loot {
    pub(super) fn of(policy: &Policy) -> Result<Loot, BadPolicy> {
        policy.value("steal", Loot::Half, "half or one", |text| match text {
            "half" => Some(Loot::Half),
            "one" => Some(Loot::One),
            _ => None,
        })
    }

    /// How many of so many tasks.
    pub(super) fn of_queue(self, length: usize) -> usize {
        match self {
            Loot::Half => daws::share(length),
            Loot::One => length.min(1),
        }
    }
}

/// How many nodes a thief asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Neighbours {
    SquareRoot,
    Count(u32),
}

impl Neighbours {
    pub(super) fn of(policy: &Policy, default: Neighbours) -> Result<Neighbours, BadPolicy> {
        policy.value("neighbours", default, "a whole number from 1, or sqrt", |text| match text {
            "sqrt" => Some(Neighbours::SquareRoot),
            _ => text.parse().ok().filter(|number: &u32| *number > 0).map(Neighbours::Count),
        })
    }

    /// So many others, whoever they are.
    pub(super) fn drawn(self, view: &mut View<'_>) -> Vec<NodeId> {
        let count = match self {
            Neighbours::SquareRoot => daws::neighbour_count(view.nodes),
            Neighbours::Count(count) => count,
        };
        daws::drawn(view.rng, view.me, view.nodes, count)
    }
}

/// Where a task belongs by its data: moving it may take up to so much of the task's length.
pub(super) fn placed(inputs: &Inputs, view: &View<'_>, threshold: f64) -> Placement {
    let inputs = daws::Inputs {
        total_bytes: inputs.total_bytes,
        largest_bytes: inputs.largest_bytes,
        holder: inputs.at,
        is_cached: view.has_largest,
    };
    let terms =
        Terms { threshold, bytes_per_second: view.bandwidth as f64, length_seconds: view.estimated.as_secs_f64() };
    match daws::decide(view.me, &inputs, &terms) {
        Choice::Shared => Placement::Share,
        Choice::Local => Placement::Keep,
        Choice::Push(node) => Placement::Push(node),
    }
}
