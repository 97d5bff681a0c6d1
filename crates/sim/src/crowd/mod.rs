//! What tasks on one machine do to each other: who needs what of it, what it has, and how fast each gets on.
//!
//! Without this, a simulated task takes as long as it does alone, and a node runs as many as it has cores. With it, a task gets on at the pace
//! of whatever it has to share: cores with the others on its node and with strangers, a network that may stop before its end, a file system
//! with all other nodes. That is what a node has to find out that learns how many tasks to run.

mod groups;
mod pace;

pub use groups::{Groups, NOTHING_S};
pub use pace::{Demand, Paces};

use std::time::Duration;

/// What a task needs while it gets on at full speed.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Needs {
    /// Cores; less than one is the part of its time in which it computes.
    pub cores: f64,
    /// A part of its node's network.
    pub network: f64,
    /// A part of its node's disks.
    pub disk: f64,
    /// A part of its node's network, for what comes from a file system that all nodes share.
    pub remote: f64,
    /// The most memory that it comes to hold.
    pub memory_bytes: u64,
    /// By what part tasks differ in that from each other.
    pub memory_spread: f64,
}

impl Needs {
    /// Whether tasks with these needs get on as fast as those with others, wherever they are: what they hold makes nobody slower.
    pub fn has_pace_of(&self, other: &Needs) -> bool {
        let wants = |needs: &Needs| [needs.cores, needs.network, needs.disk, needs.remote];
        wants(self) == wants(other)
    }
}

/// The needs of a kind, or of all of which nothing else is said.
#[derive(Clone, Debug, PartialEq)]
pub struct NeedsOf {
    /// Which kind.
    pub kind: Option<String>,
    /// What its tasks need.
    pub needs: Needs,
}

/// From some time on, the shared file system gives so much: as many nodes' networks as it can fill.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Remote {
    /// From when.
    pub from: Duration,
    /// How much.
    pub serves: f64,
}

/// Strangers who compute on a node for a while.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Neighbour {
    /// On which node, if not on all.
    pub node: Option<u32>,
    /// How many cores they want.
    pub cores: f64,
    /// From when.
    pub from: Duration,
    /// Until when.
    pub until: Duration,
}

/// What is modelled of machines beyond slots.
#[derive(Clone, Debug, PartialEq)]
pub struct Crowd {
    /// What tasks need; who is not named needs the cores it asks for.
    pub needs: Vec<NeedsOf>,
    /// The part of a node's network that can be used in the end.
    pub network_stops_at: f64,
    /// With more tasks than this on a node, each of them beyond slows all down by this part.
    pub thrashing: Option<(u32, f64)>,
    /// How much the shared file system gives, the earliest first; without any, enough for all.
    pub remote: Vec<Remote>,
    /// Who else is there.
    pub neighbours: Vec<Neighbour>,
}

impl Default for Crowd {
    fn default() -> Crowd {
        Crowd { needs: Vec::new(), network_stops_at: 1.0, thrashing: None, remote: Vec::new(), neighbours: Vec::new() }
    }
}

impl Crowd {
    /// What a task of a kind needs that asks for so many cores.
    pub fn needs_of(&self, kind: &str, asked_cores: f64) -> Needs {
        let named = self.needs.iter().rfind(|needs| needs.kind.as_deref() == Some(kind));
        let any = || self.needs.iter().rfind(|needs| needs.kind.is_none());
        named.or_else(any).map_or(Needs { cores: asked_cores, ..Needs::default() }, |found| found.needs)
    }

    /// How much the shared file system gives at a time.
    pub fn serves(&self, at: Duration) -> f64 {
        self.remote.iter().rfind(|remote| remote.from <= at).map_or(f64::INFINITY, |remote| remote.serves)
    }

    /// How many cores strangers want on a node at a time.
    pub fn strangers(&self, node: u32, at: Duration) -> f64 {
        let there = self.neighbours.iter().filter(|one| one.node.is_none_or(|on| on == node));
        there.filter(|one| one.from <= at && at < one.until).map(|one| one.cores).sum()
    }

    /// When something changes by itself.
    pub fn changes(&self) -> Vec<Duration> {
        let mut times: Vec<Duration> = self.remote.iter().map(|remote| remote.from).collect();
        times.extend(self.neighbours.iter().flat_map(|one| [one.from, one.until]));
        times.retain(|time| !time.is_zero());
        times.sort_unstable();
        times.dedup();
        times
    }
}
