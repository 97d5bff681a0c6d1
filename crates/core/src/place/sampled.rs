//! Sparrow's way: ask `d` nodes how loaded they are, push to the least loaded, and never think again.

use std::time::Duration;

use super::{Hunt, Place, Placement, View, daws};
use crate::node::ReadyTask;
use crate::policy::{BadPolicy, Policy};
use crate::store::Inputs;

/// The policy of one node.
pub(super) struct Sampled {
    probes: u32,
}

impl Sampled {
    pub(super) fn new(policy: &Policy) -> Result<Sampled, BadPolicy> {
        policy.takes(&["d"])?;
        Ok(Sampled { probes: policy.count("d", 2)? })
    }
}

impl Place for Sampled {
    fn ready(&mut self, _: &ReadyTask, _: &Inputs, view: &mut View<'_>) -> Placement {
        if view.nodes < 2 {
            return Placement::Keep;
        }
        Placement::Probe(daws::drawn(view.rng, view.me, view.nodes, self.probes))
    }

    fn hunt(&mut self, _: &mut View<'_>) -> Hunt {
        Hunt::Wait
    }

    fn hunted(&mut self, _: bool) -> Option<Duration> {
        None
    }

    fn name(&self) -> &'static str {
        "sampled"
    }
}
