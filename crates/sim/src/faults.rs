//! What breaks, and when.

use std::time::Duration;

use throng_core::rng::Rng;
use throng_core::time::Time;

use crate::lengths::times;

/// A node dies, and perhaps comes back, having forgotten everything.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crash {
    /// Which node.
    pub node: u32,
    /// When.
    pub at: Duration,
    /// After how long it comes back.
    pub back_after: Option<Duration>,
}

/// Nodes die by chance, each on its own.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Crashes {
    /// How long a node lives on average; how long in each case follows from the seed, whatever else happens.
    pub every: Duration,
    /// After how long it comes back.
    pub back_after: Option<Duration>,
}

impl Crashes {
    /// How long a node lives, for the how-manieth time it does.
    pub(crate) fn life(&self, seed: u64, node: u32, number: u32) -> Duration {
        let mut dice = Rng::new(Rng::named(seed, "crashes").next() ^ (u64::from(node) << 32) ^ u64::from(number));
        // Lives without memory: a node that has lived for long is not more likely to die soon.
        times(self.every, -(1.0 - dice.unit()).ln())
    }
}

/// A node is to be taken out: it finishes what runs there, and starts nothing else.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drain {
    /// Which node.
    pub node: u32,
    /// When.
    pub at: Duration,
}

/// Somebody does not want a task any more, nor whatever waits for it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cancel {
    /// Which task, by its number.
    pub task: u32,
    /// Which node is told; the next one that is alive if it is not.
    pub node: u32,
    /// When.
    pub at: Duration,
}

/// A node computes slowly for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Slow {
    /// Which node.
    pub node: u32,
    /// From when.
    pub from: Duration,
    /// Until when.
    pub until: Duration,
    /// How many times as long everything takes.
    pub factor: f64,
}

/// Some nodes can reach neither the others nor the store for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Partition {
    /// All nodes from this one on.
    pub first: u32,
    /// From when.
    pub from: Duration,
    /// Until when.
    pub until: Duration,
}

/// A part of the store fails over to a copy that is behind.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Failover {
    /// Which shard.
    pub shard: u32,
    /// When.
    pub at: Duration,
    /// How far the copy is behind.
    pub behind: Duration,
}

/// A node's disk is full for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FullDisk {
    /// Which node.
    pub node: u32,
    /// From when.
    pub from: Duration,
    /// Until when.
    pub until: Duration,
}

/// For faults that last as long as the run.
pub const FOREVER: Duration = Duration::MAX;

/// All that goes wrong in a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Faults {
    /// Nodes that die.
    pub crashes: Vec<Crash>,
    /// Nodes that die by chance.
    pub crashes_by_chance: Vec<Crashes>,
    /// Nodes that are taken out.
    pub drains: Vec<Drain>,
    /// Tasks that nobody wants any more.
    pub cancels: Vec<Cancel>,
    /// Nodes that are slow.
    pub slow: Vec<Slow>,
    /// Nodes that cannot be reached.
    pub partitions: Vec<Partition>,
    /// Stores that lose what they had acknowledged.
    pub failovers: Vec<Failover>,
    /// Disks that are full.
    pub full_disks: Vec<FullDisk>,
    /// How many of all messages are lost. Whoever asks for an object and is not heard gives up after a while.
    pub lost: f64,
    /// How many are delivered twice.
    pub doubled: f64,
    /// How many are late, and by how much at most.
    pub late: (f64, Duration),
    /// How many of all attempts fail.
    pub failing: f64,
    /// How many of all tasks kill the node that runs them.
    pub deadly: f64,
}

impl Faults {
    /// Whether nodes may have to step in for each other.
    pub fn needs_leases(&self) -> bool {
        self.has_crashes() || !self.partitions.is_empty() || !self.failovers.is_empty()
    }

    /// Whether nodes may die.
    pub fn has_crashes(&self) -> bool {
        !self.crashes.is_empty() || !self.crashes_by_chance.is_empty() || self.deadly > 0.0
    }

    /// Whether two nodes can reach each other.
    pub(crate) fn connects(&self, now: Time, one: u32, other: u32) -> bool {
        let now = now.since(Time::START);
        !self.partitions.iter().any(|it| it.from <= now && now < it.until && (one < it.first) != (other < it.first))
    }

    /// Until when a node cannot reach the store, if it cannot now.
    pub(crate) fn cut_off_until(&self, now: Time, node: u32) -> Option<Time> {
        let since = now.since(Time::START);
        let cut = self.partitions.iter().filter(|it| it.from <= since && since < it.until && node >= it.first);
        cut.map(|it| Time::START + it.until).max()
    }

    /// Until when something is broken that was broken now and will be mended.
    pub(crate) fn mended_at(&self, now: Time) -> Option<Time> {
        let since = now.since(Time::START);
        let partitions = self.partitions.iter().map(|it| (it.from, it.until));
        let disks = self.full_disks.iter().map(|it| (it.from, it.until));
        let broken = partitions.chain(disks).filter(|(from, until)| *from <= since && *until != FOREVER);
        broken.map(|(_, until)| Time::START + until).max()
    }

    /// How many times as long everything takes on a node now.
    pub(crate) fn slowness(&self, now: Time, node: u32) -> f64 {
        let now = now.since(Time::START);
        let slow = self.slow.iter().filter(|it| it.node == node && it.from <= now && now < it.until);
        slow.map(|it| it.factor).fold(1.0, f64::max)
    }

    /// Whether a task kills the node that runs it.
    pub(crate) fn is_deadly(&self, seed: u64, task: u32) -> bool {
        self.deadly > 0.0 && Rng::new(seed ^ 0xDEAD ^ (u64::from(task) << 24)).unit() < self.deadly
    }
}
