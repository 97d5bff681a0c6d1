//! Falkon's way: the first node sees all and sends each task to an idle node, one that has its data if there is any.

use std::time::Duration;

use super::{Hunt, Place, Placement, View};
use crate::ids::NodeId;
use crate::node::ReadyTask;
use crate::policy::{BadPolicy, Policy};
use crate::store::Inputs;

/// The policy.
pub(super) struct Central;

impl Central {
    pub(super) fn new(policy: &Policy) -> Result<Central, BadPolicy> {
        policy.takes(&[]).map(|()| Central)
    }
}

/// The node that sees all.
const MASTER: NodeId = NodeId(0);

impl Place for Central {
    fn ready(&mut self, _: &ReadyTask, _: &Inputs, _: &mut View<'_>) -> Placement {
        Placement::Host(MASTER)
    }

    fn hunt(&mut self, _: &mut View<'_>) -> Hunt {
        Hunt::Pull { host: MASTER, one: false }
    }

    fn hunted(&mut self, won: bool) -> Option<Duration> {
        // It has been noted that this node is idle; asking again is for the case that the note is lost.
        Some(if won { Duration::ZERO } else { Duration::from_secs(1) })
    }

    fn hosts(&self) -> bool {
        true
    }

    fn remembers_hungry(&self) -> bool {
        true
    }

    fn name(&self) -> &'static str {
        "central"
    }
}
