//! How long tasks really take and how much they really write: what no node knows beforehand.

use std::time::Duration;

use throng_core::ids::{ObjectId, TaskId};
use throng_core::rng::Rng;
use throng_core::workflow::Workflow;

use crate::cluster::Cluster;
use crate::cluster::Variation;
use crate::lengths::times;
use crate::planned::Lengths;

/// How long a task takes of which nothing is said at all.
pub const UNSAID: Duration = Duration::from_secs(1);

/// The truth about a workflow's tasks.
#[derive(Clone, Copy, Debug)]
pub struct Work<'a> {
    flow: &'a Workflow,
    variation: Variation,
    seed: u64,
    speed: f64,
    /// What is known of each type of machine, and which one this is; the fastest, if nobody says.
    on: Option<(&'a Lengths, Option<usize>)>,
}

impl<'a> Work<'a> {
    /// The truth that a seed gives.
    pub fn new(flow: &'a Workflow, variation: Variation, seed: u64) -> Work<'a> {
        Work { flow, variation, seed, speed: 1.0, on: None }
    }

    /// The truth in a cluster.
    pub(crate) fn of(flow: &'a Workflow, cluster: &'a Cluster) -> Work<'a> {
        let on = cluster.plan.as_ref().map(|plan| (&plan.lengths, None));
        Work { on, ..Work::new(flow, cluster.variation, cluster.seed) }
    }

    /// The truth on one of its nodes.
    pub(crate) fn on(flow: &'a Workflow, cluster: &'a Cluster, machine: usize, speed: f64) -> Work<'a> {
        match cluster.plan.as_ref() {
            Some(plan) => Work { on: Some((&plan.lengths, Some(machine))), ..Work::of(flow, cluster) },
            None => Work::of(flow, cluster).at_speed(speed),
        }
    }

    /// On cores that are so many times as fast as ordinary ones.
    pub fn at_speed(self, speed: f64) -> Work<'a> {
        Work { speed, ..self }
    }

    /// Whether anybody says how long a task takes.
    pub fn is_said(flow: &Workflow, task: TaskId) -> bool {
        flow.is_noop(task) || flow.sleep_time(task).is_some() || flow.estimated_time(task).is_some()
    }

    fn factor(&self, spread: f64, salt: u64, number: u32) -> f64 {
        if spread == 0.0 {
            return 1.0;
        }
        let mut rng = Rng::new(self.seed ^ salt ^ (u64::from(number) << 20));
        (1.0 - spread + 2.0 * spread * rng.unit()).max(0.0)
    }

    /// How long a task takes.
    pub fn length(&self, task: TaskId) -> Duration {
        let said = self.flow.sleep_time(task).or_else(|| self.flow.estimated_time(task));
        let planned = self.on.and_then(|(lengths, machine)| lengths.length(task, machine));
        let said = planned.or(said).unwrap_or_else(|| if self.flow.is_noop(task) { Duration::ZERO } else { UNSAID });
        let length = times(said, self.factor(self.variation.time, 0x7174, task.0));
        // Never shorter than it should be, so that bounds stay bounds.
        let at_speed = || Duration::from_nanos((length.as_nanos() as f64 / self.speed).ceil() as u64);
        if self.speed == 1.0 { length } else { at_speed() }
    }

    /// How large an object is.
    pub fn bytes(&self, object: ObjectId) -> u64 {
        let said = self.flow.expected_size(object);
        (said.unwrap_or(0) as f64 * self.factor(self.variation.size, 0x517E, object.0)) as u64
    }
}
