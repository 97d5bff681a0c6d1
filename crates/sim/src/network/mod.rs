//! Moving data: flows between nodes, from the file system that they share, and to and from disks.
//!
//! ```text
//!   sender's disk ─▶ sender's card ─▶ core of the network ─▶ receiver's card
//!                 shared file system ─┘
//! ```
//!
//! * Cards and disks are shared nearly max-min fairly by the flows that pass them (`share`).
//! * The core of the network and the shared file system carry flows of all nodes. When one of them is asked for more than it can
//!   carry, all flows through it become slower by the same factor: a clock of theirs goes slower (`clock`).
//! * How many flows a node has at a time is for `throng_core` to decide: few enough that sharing a card costs little.
//!
//! So the cost of a flow depends neither on the size of the cluster nor on how many flows there are.

mod clock;
mod share;

use throng_core::ids::NodeId;
use throng_core::time::Time;

use self::clock::Clock;
use self::share::{FlowId, Flows, NONE, SIDES, SideId};

/// Flows that have nothing but cards or disks to share.
const PEERS: u8 = 0;
/// Flows from the shared file system.
const SHARED: u8 = 1;
/// Flows that do not leave their node.
const DISKS: u8 = 2;

/// A flow from the shared file system is not given more than so many times an equal share: what it could not use anyway is better
/// given to other flows of the receiver's card.
const SHARED_MOST: f64 = 8.0;

/// The way that something takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
    /// From node to node.
    Peers { from: NodeId, to: NodeId, is_on_disk: bool },
    /// From the shared file system.
    Shared { to: NodeId },
    /// To the shared file system.
    ToShared { from: NodeId },
    /// To or from a node's own disk.
    Disk { node: NodeId },
}

/// What a cluster has to move data with, in bytes a second.
pub(crate) struct Capacities<'a> {
    pub card: &'a dyn Fn(NodeId) -> u64,
    pub disk: Option<u64>,
    pub shared: u64,
    pub core: Option<u64>,
}

/// All that is on its way.
pub(crate) struct Network<T> {
    nodes: u32,
    flows: Flows,
    /// What each flow is about.
    cargo: Vec<Option<T>>,
    clocks: [Clock; 3],
    shared: f64,
    core: Option<f64>,
    /// How many flows from the shared file system there were, roughly, when they were last told what they may have at most.
    shared_flows: usize,
}

/// In bytes a nanosecond.
fn rate(bytes_per_second: u64) -> f64 {
    bytes_per_second.max(1) as f64 / 1e9
}

impl<T> Network<T> {
    pub(crate) fn new(nodes: u32, capacities: &Capacities<'_>) -> Network<T> {
        let cards = || (0..nodes).map(|node| rate((capacities.card)(NodeId(node))));
        let disks = capacities.disk.into_iter().flat_map(|disk| (0..nodes).map(move |_| rate(disk)));
        Network {
            nodes,
            flows: Flows::new(cards().chain(cards()).chain(disks)),
            cargo: Vec::new(),
            clocks: [Clock::new(), Clock::new(), Clock::new()],
            shared: rate(capacities.shared),
            core: capacities.core.map(rate),
            shared_flows: 1,
        }
    }

    /// Whether nothing is on its way.
    pub(crate) fn is_idle(&self) -> bool {
        self.flows.counts == [0; 3]
    }

    fn card_out(&self, node: NodeId) -> SideId {
        node.0
    }

    fn card_in(&self, node: NodeId) -> SideId {
        self.nodes + node.0
    }

    fn disk(&self, node: NodeId) -> SideId {
        2 * self.nodes + node.0
    }

    fn path(&self, route: Route) -> ([SideId; SIDES], u8) {
        match route {
            Route::Peers { from, to, is_on_disk } => {
                let disk = if is_on_disk { self.disk(from) } else { NONE };
                ([self.card_out(from), self.card_in(to), disk], PEERS)
            }
            Route::Shared { to } => ([self.card_in(to), NONE, NONE], SHARED),
            Route::ToShared { from } => ([self.card_out(from), NONE, NONE], SHARED),
            Route::Disk { node } => ([self.disk(node), NONE, NONE], DISKS),
        }
    }

    /// Begins to move something.
    pub(crate) fn begin(&mut self, now: Time, route: Route, bytes: u64, what: T) {
        self.read_clocks(now);
        let (path, clock) = self.path(route);
        let most = if clock == SHARED { self.most_shared() } else { f64::INFINITY };
        let id = self.flows.begin(bytes, path, clock, most) as usize;
        if id >= self.cargo.len() {
            self.cargo.resize_with(id + 1, || None);
        }
        self.cargo[id] = Some(what);
        self.settle(now);
    }

    /// Something that has come, if anything has.
    pub(crate) fn take_ended(&mut self, now: Time) -> Option<T> {
        let id = self.clocks.iter_mut().find_map(|clock| clock.ended(now, &mut self.flows))?;
        self.read_clocks(now);
        let what = self.stop(id);
        self.settle(now);
        Some(what)
    }

    fn stop(&mut self, id: FlowId) -> T {
        self.flows.remove(id);
        self.cargo[id as usize].take().expect("a flow is about something")
    }

    /// Ends all flows from, to and on a node, and says which.
    pub(crate) fn cut(&mut self, now: Time, node: NodeId) -> Vec<T> {
        let mut cut = Vec::new();
        self.read_clocks(now);
        let mut sides = vec![self.card_out(node), self.card_in(node)];
        sides.extend(Some(self.disk(node)).filter(|side| self.flows.has_side(*side)));
        for side in sides {
            while let Some(id) = self.flows.at(side).first().copied() {
                cut.push(self.stop(id));
            }
        }
        self.settle(now);
        cut
    }

    /// When the next flow ends, as far as is known now.
    pub(crate) fn next_end(&mut self, now: Time) -> Option<Time> {
        self.clocks.iter_mut().filter_map(|clock| clock.next_end(now, &mut self.flows)).min()
    }

    fn read_clocks(&mut self, now: Time) {
        for (clock, shows) in self.clocks.iter_mut().zip(&mut self.flows.clocks) {
            *shows = clock.read(now);
        }
    }

    /// After a change: what all flows have in common, and ends that come sooner.
    fn settle(&mut self, now: Time) {
        self.tell_shared();
        let part = |capacity: f64, wanted: f64| if wanted > capacity { capacity / wanted } else { 1.0 };
        let shared = part(self.shared, self.flows.used[usize::from(SHARED)]);
        let wanted = self.flows.used[usize::from(PEERS)] + shared * self.flows.used[usize::from(SHARED)];
        let core = self.core.map_or(1.0, |core| part(core, wanted));
        self.clocks[usize::from(PEERS)].set_speed(now, core);
        self.clocks[usize::from(SHARED)].set_speed(now, core * shared);
        for (clock, end, id) in self.flows.sooner.drain(..) {
            self.clocks[usize::from(clock)].plan(end, id);
        }
    }

    fn most_shared(&self) -> f64 {
        SHARED_MOST * self.shared / self.shared_flows as f64
    }

    /// Tells flows from the shared file system what they may have at most, whenever there are twice as many or far fewer: so seldom
    /// that it costs each of them little.
    fn tell_shared(&mut self) {
        let count = self.flows.counts[usize::from(SHARED)];
        let before = self.shared_flows;
        if count > before {
            self.shared_flows *= 2;
        } else if count < before / 4 {
            self.shared_flows /= 2;
        } else {
            return;
        }
        let most = self.most_shared();
        for (id, cargo) in (0..).zip(&self.cargo) {
            if cargo.is_some() && self.flows.clock(id) == SHARED {
                self.flows.set_most(id, most);
            }
        }
    }
}

#[cfg(test)]
mod tests;
