//! What a modelled cluster is made of.

use std::sync::Arc;
use std::time::Duration;

use throng_core::locality::Brought;
use throng_core::policy::Policy;

use crate::crowd::Crowd;
use crate::faults::Faults;
use crate::machines::MachineType;
use crate::planned::Held;

/// Where objects from outside lie when a run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inputs {
    /// Evenly over all nodes, one copy each.
    Spread,
    /// Each on a node that chance picks, so that some have more than others.
    Scattered,
    /// On a file system that all nodes share.
    Shared,
    /// On every node.
    Everywhere,
    /// On one node.
    Node(u32),
}

/// To whom tasks are given that may start at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Submission {
    /// As many to each node, and neighbours together: tasks that stand beside each other tend to share data.
    Spread,
    /// To the first node.
    One,
}

/// Another way to place tasks, from some point of a run on.
#[derive(Clone, Debug, PartialEq)]
pub struct Later {
    /// From when so much of all tasks is done: 0.8 is four fifths.
    pub share_done: f64,
    /// Which node then runs a task.
    pub place: Policy,
}

/// A modelled cluster, and how it is used.
#[derive(Clone, Debug)]
pub struct Cluster {
    /// How many nodes.
    pub nodes: u32,
    /// How many cores each has.
    pub cores: u32,
    /// What nodes are if they are not all alike; then the numbers of cores, memory and bandwidth for each node are these.
    /// See [`Cluster::of_types`].
    pub types: Vec<MachineType>,
    /// How many tasks each runs at once at most, if not as many as it has cores.
    pub width: Option<u32>,
    /// What tasks on one node do to each other, if that is modelled.
    pub crowd: Option<Crowd>,
    /// How much memory each has.
    pub memory_bytes: u64,
    /// How many bytes a second each can send, and receive.
    pub bandwidth: u64,
    /// How many bytes a second all of them together can exchange, if that is limited.
    pub core_bandwidth: Option<u64>,
    /// How long a message takes.
    pub latency: Duration,
    /// How much room each node has for objects, beside what lies there from the beginning.
    pub cache_bytes: u64,
    /// How many tasks may wait for their data at a time, for each core.
    pub staged_per_core: u32,
    /// How many bytes a second the shared file system delivers in all.
    pub shared_bandwidth: u64,
    /// How many bytes a second a node's disk reads and writes, if that matters: else everything is in memory.
    pub disk_bandwidth: Option<u64>,
    /// How much of a node's memory holds objects, in front of its disk.
    pub memory_tier_bytes: u64,
    /// How long the store takes to hear, and to be heard.
    pub store_latency: Duration,
    /// How many machines share the store's work.
    pub store_shards: u32,
    /// How many verbs a second each of them carries out.
    pub store_rate: u64,
    /// Where objects from outside lie.
    pub inputs: Inputs,
    /// Whether what tasks make is written to that file system as well, so that nodes need not keep it.
    pub shares_results: bool,
    /// What goes when a node has no room for data.
    pub evict: Policy,
    /// To whom tasks are given.
    pub submission: Submission,
    /// Which node runs a task.
    pub place: Policy,
    /// How that changes during the run, if it does: published experiments turn their knobs before the end.
    pub later: Option<Later>,
    /// Which ready task is next.
    pub order: Policy,
    /// What may run at once.
    pub pack: Policy,
    /// How long tasks really take and how much they write, by chance.
    pub variation: Variation,
    /// What a plan holds the run to, if there is one.
    pub plan: Option<Arc<Held>>,
    /// What breaks.
    pub faults: Faults,
    /// What chance is made of.
    pub seed: u64,
}

/// How much tasks differ from what is written of them: factors are drawn evenly from one less this to one more this.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Variation {
    /// Of the time they take; 1 is anything from nothing to twice as long.
    pub time: f64,
    /// Of what they write.
    pub size: f64,
}

impl Cluster {
    /// How much room for data all nodes together have.
    pub fn room_bytes(&self) -> u64 {
        self.cache_bytes.saturating_mul(self.nodes.into())
    }

    /// What has to be brought to nodes.
    pub fn brought(&self) -> Brought {
        if self.inputs == Inputs::Everywhere { Brought::Made } else { Brought::All }
    }

    /// A cluster of so many nodes and cores, with a network of 1 Gbit/s.
    pub fn new(nodes: u32, cores: u32) -> Cluster {
        let named = |name: &str| Policy { name: name.to_owned(), parameters: Vec::new() };
        Cluster {
            nodes,
            cores,
            types: Vec::new(),
            width: None,
            crowd: None,
            memory_bytes: 8_000_000_000,
            bandwidth: 125_000_000,
            core_bandwidth: None,
            latency: Duration::from_micros(100),
            cache_bytes: 8_000_000_000,
            staged_per_core: 4,
            shared_bandwidth: 1_000_000_000,
            disk_bandwidth: None,
            memory_tier_bytes: 4_000_000_000,
            store_latency: Duration::from_micros(100),
            store_shards: nodes,
            store_rate: 100_000,
            inputs: Inputs::Spread,
            shares_results: false,
            evict: named("aware"),
            submission: Submission::Spread,
            place: named("fair"),
            later: None,
            order: named("aware"),
            pack: named("requests"),
            variation: Variation::default(),
            plan: None,
            faults: Faults::default(),
            seed: 1,
        }
    }
}
