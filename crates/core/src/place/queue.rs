//! CloudKon's way: one queue, spread over the nodes; whoever is idle asks parts of it at random for one task.

use std::time::Duration;

use super::{Hunt, Place, Placement, View};
use crate::ids::NodeId;
use crate::node::ReadyTask;
use crate::policy::{BadPolicy, Policy};
use crate::store::Inputs;

/// The policy of one node.
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

    fn hosts(&self) -> bool {
        true
    }

    fn name(&self) -> &'static str {
        "queue"
    }
}
