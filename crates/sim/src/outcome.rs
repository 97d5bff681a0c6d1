//! What came out of a simulated run.

use std::time::Duration;
use throng_core::pack::dominant::Use;

use throng_core::bound::LowerBound;

/// The figures of a simulated run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Outcome {
    /// When the last task had its verdict.
    pub makespan: Duration,
    /// Why the run did not end, if it did not.
    pub stuck: Option<String>,
    /// Tasks that succeeded.
    pub done: u64,
    /// Tasks that did not: they failed, were skipped, or have no verdict.
    pub not_done: u64,
    /// Those of them that failed for good.
    pub failed: u64,
    /// Those of them that nobody tries any more, because too many nodes died while they ran them.
    pub quarantined: u64,
    /// Those of them that did not run because one before them failed.
    pub skipped: u64,
    /// Slots in all.
    pub slots: u64,
    /// Time that slots were busy, all together.
    pub busy_ns: u128,
    /// Time that slots were busy with attempts that counted.
    pub useful_ns: u128,
    /// The lengths of all tasks together, on cores of ordinary speed.
    pub work_ns: u128,
    /// What no schedule can beat, with the work as it takes on cores of the cluster's mean speed.
    pub bound: LowerBound,
    /// The least time in which the shared file system can give out what it has.
    pub shared_ns: u64,
    /// The analytic bound of the literature, in seconds.
    pub analytic_seconds: f64,
    /// Bytes moved between nodes or from the shared file system.
    pub moved_bytes: u64,
    /// Those of them that came from the shared file system.
    pub brought_bytes: u64,
    /// Objects moved.
    pub moves: u64,
    /// Bytes read from the nodes' disks.
    pub disk_read_bytes: u64,
    /// Bytes written there.
    pub disk_written_bytes: u64,
    /// Inputs that were where they were needed.
    pub hits: u64,
    /// Inputs that had to be brought.
    pub misses: u64,
    /// The size of those.
    pub missed_bytes: u64,
    /// Steals and pulls begun.
    pub hunts: u64,
    /// Those that brought something.
    pub hunts_won: u64,
    /// Tasks that came by them.
    pub stolen: u64,
    /// Tasks pushed to other nodes.
    pub pushed: u64,
    /// Tasks moved from local to shared queues.
    pub migrated: u64,
    /// Tasks done again because what they had made was lost.
    pub reopened: u64,
    /// Tasks claimed from dead nodes.
    pub claimed: u64,
    /// Times that a node died.
    pub crashes: u64,
    /// Times that a node that others thought dead had to begin anew.
    pub restarts: u64,
    /// Attempts that failed or took too long.
    pub failed_attempts: u64,
    /// Attempts that were stopped because others needed memory.
    pub made_room: u64,
    /// Attempts that a node whose memory had run out killed.
    pub out_of_memory: u64,
    /// How much of each resource of nodes was used, on average, where that is modelled.
    pub used: Use,
    /// Attempts that ended with their node.
    pub killed_attempts: u64,
    /// Time that slots were busy with attempts that did not count, all together.
    pub lost_ns: u128,
    /// Objects from outside that somebody still wanted to read, and that died with the nodes that had them.
    pub lost_inputs: u64,
    /// Tasks that failed because what they read and write is more than a node has room for.
    pub never_fitted: u64,
    /// Messages and words to the store that did not arrive, or whose answer did not.
    pub lost_messages: u64,
    /// Verbs that the store carried out.
    pub store_verbs: u64,
    /// Batches that they came in.
    pub store_batches: u64,
    /// Messages between nodes.
    pub messages: u64,
    /// Things that happened in all.
    pub events: u64,
    /// From when until when each node was had, in a run that is held to a plan; nothing for those that were not.
    pub rented: Vec<Option<(Duration, Duration)>>,
    /// When each task was done, in a run that is held to a plan; nothing for those that were not.
    pub ends: Vec<Option<Duration>>,
    /// Busy slots over time: the time from which, and how many.
    pub busy_curve: Vec<(Duration, u32)>,
}

impl Outcome {
    /// How much of the slots' time was work that counted.
    pub fn efficiency(&self) -> f64 {
        let all = self.slots as f64 * self.makespan.as_nanos() as f64;
        if all > 0.0 { self.useful_ns as f64 / all } else { self.nothing() }
    }

    /// How much of the slots' time they were busy.
    pub fn utilisation(&self) -> f64 {
        let all = self.slots as f64 * self.makespan.as_nanos() as f64;
        if all > 0.0 { self.busy_ns as f64 / all } else { self.nothing() }
    }

    /// A part of no time at all: all of it if everything was done in it, else none.
    fn nothing(&self) -> f64 {
        f64::from(u8::from(self.not_done == 0))
    }

    /// Tasks a second.
    pub fn throughput(&self) -> f64 {
        let seconds = self.makespan.as_secs_f64();
        if seconds > 0.0 { self.done as f64 / seconds } else { 0.0 }
    }

    /// Seconds of a slot for each task.
    pub fn seconds_per_task(&self) -> f64 {
        if self.done == 0 { 0.0 } else { self.makespan.as_secs_f64() * self.slots as f64 / self.done as f64 }
    }

    /// What no run could beat.
    pub fn bound_ns(&self) -> u64 {
        self.bound.ns().max(self.shared_ns)
    }

    /// The lower bound as a part of what was needed: 1 is perfect.
    pub fn of_bound(&self) -> f64 {
        let needed = self.makespan.as_nanos() as f64;
        if needed > 0.0 { self.bound_ns() as f64 / needed } else { 1.0 }
    }

    /// The analytic bound as a part of what was needed; it may exceed 1, for it is none.
    pub fn of_analytic(&self) -> f64 {
        let needed = self.makespan.as_secs_f64();
        if needed > 0.0 { self.analytic_seconds / needed } else { 1.0 }
    }
}
