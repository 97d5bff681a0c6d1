//! A random node, for good: no work for the scheduler, and the imbalance of chance.

use std::time::Duration;

use super::{Hunt, Place, Placement, View};
use crate::ids::NodeId;
use crate::node::ReadyTask;
use crate::policy::{BadPolicy, Policy};
use crate::store::Inputs;

/// The policy.
pub(super) struct Random;

impl Random {
    pub(super) fn new(policy: &Policy) -> Result<Random, BadPolicy> {
        policy.takes(&[]).map(|()| Random)
    }
}

impl Place for Random {
    fn ready(&mut self, _: &ReadyTask, _: &Inputs, view: &mut View<'_>) -> Placement {
        let node = NodeId(view.rng.below(view.nodes.into()) as u32);
        if node == view.me { Placement::Keep } else { Placement::Push(node) }
    }

    fn hunt(&mut self, _: &mut View<'_>) -> Hunt {
        Hunt::Wait
    }

    fn hunted(&mut self, _: bool) -> Option<Duration> {
        None
    }

    fn name(&self) -> &'static str {
        "random"
    }
}
