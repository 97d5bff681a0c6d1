//! The store, as a service that takes time: latency on the way, and so many verbs a second for each shard.

use std::time::Duration;

use throng_core::ids::{ObjectId, TaskId};
use throng_core::store::{Answer, Memory, Verb, bucket};
use throng_core::time::Time;
use throng_core::workflow::Workflow;

/// The store and how busy its machines are.
pub(crate) struct Storage {
    pub memory: Memory,
    busy_until: Vec<Time>,
    nanos_per_verb: u64,
    /// How many verbs have been carried out.
    pub verbs: u64,
    /// How many batches they came in.
    pub batches: u64,
}

impl Storage {
    pub(crate) fn new(memory: Memory, shards: u32, rate: u64) -> Storage {
        let nanos_per_verb = 1_000_000_000 / rate.max(1);
        Storage { memory, busy_until: vec![Time::START; shards.max(1) as usize], nanos_per_verb, verbs: 0, batches: 0 }
    }

    /// Carries out a batch that has just come, and says when its answers can leave.
    pub(crate) fn carry_out(&mut self, now: Time, flow: &Workflow, verbs: &[Verb]) -> (Vec<Answer>, Time) {
        self.batches += 1;
        self.verbs += verbs.len() as u64;
        let mut done = now;
        let mut answers = Vec::with_capacity(verbs.len());
        for verb in verbs {
            let shard = home(flow, verb) as usize % self.busy_until.len();
            let until = self.busy_until[shard].max(now) + Duration::from_nanos(self.nanos_per_verb);
            self.busy_until[shard] = until;
            done = done.max(until);
            answers.push(self.memory.apply(now, verb));
        }
        (answers, done)
    }
}

/// The bucket that a verb is about.
fn home(flow: &Workflow, verb: &Verb) -> u32 {
    let of_object = |object: &ObjectId| flow.producer(*object).unwrap_or(TaskId(object.0));
    match verb {
        Verb::Start { task, .. }
        | Verb::Settle { task, .. }
        | Verb::Close { child: task, .. }
        | Verb::Deliver { task, .. }
        | Verb::HandOver { task, .. }
        | Verb::Verify { task, .. }
        | Verb::Await { task, .. }
        | Verb::Reopen { task, .. }
        | Verb::Cancel { task, .. } => bucket(*task),
        Verb::Release { object, .. }
        | Verb::Retain { object, .. }
        | Verb::Locate { object, .. }
        | Verb::Copied { object, .. }
        | Verb::Missing { object, .. }
        | Verb::Drop { object, .. } => bucket(of_object(object)),
        Verb::Owned { bucket, .. } | Verb::Claim { bucket, .. } | Verb::Settled { bucket } => *bucket,
        Verb::Join { .. } | Verb::Renew { .. } | Verb::Bury { .. } => 0,
    }
}
