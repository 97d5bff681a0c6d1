//! Objects from outside: where they lie when a run begins.

use throng_core::bound::Lies;
use throng_core::ids::{NodeId, ObjectId};
use throng_core::member::FIRST_BOOT;
use throng_core::rng::Rng;
use throng_core::store::{Memory, Owner};
use throng_core::workflow::Workflow;

use crate::cluster::{Cluster, Inputs};
use crate::work::Work;

/// Where each of them lies, in the order of their numbers.
pub(crate) fn places(flow: &Workflow, cluster: &Cluster) -> Vec<Lies> {
    let mut dice = Rng::named(cluster.seed, "inputs");
    let count = flow.object_count() - flow.made_count();
    let place = |number: usize| match cluster.inputs {
        Inputs::Spread => Lies::On(NodeId(number as u32 % cluster.nodes)),
        Inputs::Scattered => Lies::On(NodeId(dice.below(cluster.nodes.into()) as u32)),
        Inputs::Node(node) => Lies::On(NodeId(node % cluster.nodes)),
        Inputs::Shared => Lies::Elsewhere,
        Inputs::Everywhere => Lies::Everywhere,
    };
    (0..count).map(place).collect()
}

/// Tells the store where they lie, and returns those that lie with nodes.
pub(crate) fn bring(flow: &Workflow, cluster: &Cluster, memory: &mut Memory) -> Vec<(ObjectId, u64, NodeId)> {
    let work = Work::new(flow, cluster.variation, cluster.seed);
    let mut lying = Vec::new();
    for (place, at) in places(flow, cluster).into_iter().zip(flow.made_count()..) {
        let object = ObjectId::at(at);
        let bytes = work.bytes(object);
        // No node is nearer than another to what is everywhere, just as with a shared file system.
        let owner = if let Lies::On(node) = place { Some(Owner { node, boot: FIRST_BOOT }) } else { None };
        memory.bring(object, bytes, owner);
        match place {
            Lies::On(node) => lying.push((object, bytes, node)),
            Lies::Everywhere => lying.extend((0..cluster.nodes).map(|node| (object, bytes, NodeId(node)))),
            Lies::Elsewhere => {}
        }
    }
    lying
}
