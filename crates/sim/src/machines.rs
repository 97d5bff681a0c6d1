//! Machine types: a cluster need not be of one piece.
//!
//! Nodes are numbered type by type, in the order in which the types are given, and the slots of all nodes are counted through.

use throng_core::bound::LowerBound;
use throng_core::ids::{NodeId, SlotId};
use throng_core::pack;

use crate::cluster::Cluster;

/// So many machines that are alike.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MachineType {
    /// How many there are.
    pub count: u32,
    /// How many cores each has.
    pub cores: u32,
    /// How much memory each has.
    pub memory_bytes: u64,
    /// How many times as fast as an ordinary one each core is: a task of 3 s takes 2 s if this is 1.5.
    pub speed: f64,
    /// How many bytes a second each can send, and receive.
    pub bandwidth: u64,
}

impl Cluster {
    /// The same cluster, made of these machines instead of ones that are alike, if there are any.
    pub fn of_types(mut self, types: Vec<MachineType>) -> Cluster {
        if !types.is_empty() {
            self.nodes = types.iter().map(|machine| machine.count).sum();
        }
        self.types = types;
        self
    }

    /// What its nodes are, the first ones first.
    pub fn machine_types(&self) -> impl Iterator<Item = MachineType> + '_ {
        let alike = self.types.is_empty().then_some(MachineType {
            count: self.nodes,
            cores: self.cores,
            memory_bytes: self.memory_bytes,
            speed: 1.0,
            bandwidth: self.bandwidth,
        });
        self.types.iter().copied().chain(alike)
    }

    /// What a node is, and the number of its first slot among those of all nodes.
    pub(crate) fn machine(&self, node: NodeId) -> (MachineType, u32) {
        let (mut before, mut slots) = (0, 0);
        for machine in self.machine_types() {
            let place = node.0 - before;
            if place < machine.count {
                let first = slots + place * self.width(&machine);
                return (machine, first);
            }
            before += machine.count;
            slots += machine.count * self.width(&machine);
        }
        unreachable!("there is no node {}", node.0)
    }

    /// The number of a node's type.
    pub(crate) fn type_of(&self, node: NodeId) -> usize {
        let mut before = 0;
        let is_past = |machine: &MachineType| {
            before += machine.count;
            before <= node.0
        };
        self.machine_types().take_while(is_past).count()
    }

    /// How many tasks a machine runs at once, at most.
    pub fn width(&self, machine: &MachineType) -> u32 {
        self.width.unwrap_or_else(|| pack::usual_width(&self.pack, machine.cores)).max(1)
    }

    /// What each node can do, in thousandths of an ordinary core.
    pub(crate) fn capacities(&self) -> impl Iterator<Item = u64> + '_ {
        let capacity = |machine: &MachineType| (f64::from(machine.cores) * machine.speed * 1000.0).max(1.0) as u64;
        self.machine_types().flat_map(move |machine| std::iter::repeat_n(capacity(&machine), machine.count as usize))
    }

    /// The number of a node's first slot among those of all nodes.
    pub fn first_slot(&self, node: NodeId) -> u32 {
        self.machine(node).1
    }

    /// How many slots there are in all.
    pub fn slots(&self) -> u32 {
        self.machine_types().map(|machine| machine.count * self.width(&machine)).sum()
    }

    /// The node of one of all slots, and its number there.
    pub fn node_of(&self, slot: SlotId) -> (NodeId, u32) {
        let (mut before, mut slots) = (0, 0);
        for machine in self.machine_types() {
            let place = slot.0 - slots;
            let width = self.width(&machine);
            if place < machine.count * width {
                return (NodeId(before + place / width), place % width);
            }
            before += machine.count;
            slots += machine.count * width;
        }
        unreachable!("there is no slot {}", slot.0)
    }

    /// How many times as fast as an ordinary core those of this cluster are: on average, and at best.
    pub(crate) fn speeds(&self) -> (f64, f64) {
        if self.plan.is_some() {
            // How long tasks take is known for each type, and the least of it is what bounds are made of.
            return (1.0, 1.0);
        }
        let all: f64 =
            self.machine_types().map(|machine| f64::from(machine.count * machine.cores) * machine.speed).sum();
        let best = self.machine_types().map(|machine| machine.speed).fold(0.0, f64::max);
        let cores: u32 = self.machine_types().map(|machine| machine.count * machine.cores).sum();
        (all / f64::from(cores.max(1)), best)
    }
}

/// A bound for ordinary cores, as it is for these: the work is shared by cores of the mean speed, and the longest chain may run on the
/// fastest ones.
pub(crate) fn at_speeds(bound: LowerBound, (mean, fastest): (f64, f64)) -> LowerBound {
    if (mean, fastest) == (1.0, 1.0) {
        return bound;
    }
    // A little less, so that no rounding makes more of it than is true.
    let scaled = |ns: f64, speed: f64| ns / speed * (1.0 - 1e-12);
    let work_ns = scaled(bound.work_ns as f64, mean) as u128;
    let cores_ns = scaled(bound.cores_ns as f64, mean) as u64;
    LowerBound { work_ns, chain_ns: scaled(bound.chain_ns as f64, fastest) as u64, cores_ns, ..bound }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_and_slots_are_counted_type_by_type() {
        let machine = |count, cores, speed| MachineType { count, cores, memory_bytes: 1, speed, bandwidth: 1 };
        let cluster = Cluster::new(9, 9).of_types(vec![machine(2, 3, 1.0), machine(3, 2, 2.0)]);
        assert_eq!((cluster.nodes, cluster.slots(), cluster.speeds()), (5, 12, (1.5, 2.0)));
        assert_eq!((cluster.machine(NodeId(1)).0.cores, cluster.machine(NodeId(2)).0.speed), (3, 2.0));
        for slot in 0..12 {
            let (node, place) = cluster.node_of(SlotId(slot));
            assert_eq!(cluster.machine(node).1 + place, slot);
        }
        let alike = Cluster::new(4, 2);
        assert_eq!((alike.slots(), alike.speeds(), alike.node_of(SlotId(5))), (8, (1.0, 1.0), (NodeId(2), 1)));
    }
}
