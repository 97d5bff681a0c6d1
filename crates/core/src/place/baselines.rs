//! What others do, for comparison: they push once and for good, or keep everything in one place.

use std::time::Duration;

use super::{Hunt, Place, Placement, View, daws};
use crate::ids::NodeId;
use crate::node::ReadyTask;
use crate::policy::{BadPolicy, Policy};
use crate::store::Inputs;

/// A random node, for good: no work for the scheduler, and the imbalance of chance.
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

/// Sparrow's way: ask `d` nodes how loaded they are, push to the least loaded, and never think again.
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

/// CloudKon's way: one queue, spread over the nodes; whoever is idle asks parts of it at random for one task.
pub(super) struct Queue {
    pause: Duration,
    first_pause: Duration,
}

/// No pull waits longer than this for the next.
const LONGEST_PAUSE: Duration = Duration::from_millis(100);

impl Queue {
    pub(super) fn new(policy: &Policy) -> Result<Queue, BadPolicy> {
        policy.takes(&["poll"])?;
        let first_pause = policy.time("poll", Duration::from_millis(1))?;
        Ok(Queue { pause: first_pause, first_pause })
    }
}

impl Place for Queue {
    fn ready(&mut self, task: &ReadyTask, _: &Inputs, view: &mut View<'_>) -> Placement {
        Placement::Host(NodeId(task.task.0 % view.nodes))
    }

    fn hunt(&mut self, view: &mut View<'_>) -> Hunt {
        Hunt::Pull { host: NodeId(view.rng.below(view.nodes.into()) as u32), one: true }
    }

    fn hunted(&mut self, won: bool) -> Option<Duration> {
        if won {
            self.pause = self.first_pause;
            return Some(Duration::ZERO);
        }
        let pause = self.pause;
        self.pause = (pause * 2).min(LONGEST_PAUSE);
        Some(pause)
    }

    fn name(&self) -> &'static str {
        "queue"
    }
}

/// Falkon's way: the first node sees all and sends each task to an idle node, one that has its data if there is any.
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

    fn remembers_hungry(&self) -> bool {
        true
    }

    fn name(&self) -> &'static str {
        "central"
    }
}
