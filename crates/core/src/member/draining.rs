//! Finishing what runs and starting nothing else: whatever waits goes to others.

use super::{Command, Member, Message, Terms};
use crate::ids::NodeId;
use crate::store::Inputs;
use crate::time::Time;

impl Member {
    pub(super) fn drain(&mut self, out: &mut Vec<Command>) {
        self.is_draining = true;
        for node in (0..self.setup.nodes).map(NodeId).filter(|node| *node != self.setup.me.node) {
            self.send(node, Message::Draining { boot: self.setup.me.boot }, out);
        }
    }

    /// Whether a node would run a task that it is given.
    pub(super) fn takes_tasks(&self, node: NodeId) -> bool {
        !self.is_gone(node) && !self.draining.contains(&node)
    }

    /// A member that drains starts nothing: whatever waits here goes to others, now and when it comes later. If nobody is
    /// left who would start it, it stays: whoever drains all nodes wants the run to pause, not to go round.
    pub(super) fn hand_over_waiting(&mut self, now: Time, out: &mut Vec<Command>) {
        if self.node.waiting() == 0 {
            return;
        }
        let all = (0..self.setup.nodes).map(NodeId);
        let peers: Vec<NodeId> = all.filter(|node| *node != self.setup.me.node && self.takes_tasks(*node)).collect();
        if peers.is_empty() {
            return;
        }
        let waiting = self.with_node(now, out, |node, commands| node.take_waiting(commands));
        let first = self.rng.below(peers.len() as u64) as usize;
        let abilities = self.setup.abilities.clone();
        for (at, ready) in waiting.into_iter().enumerate() {
            let (from, until) = ((first + at) % peers.len(), peers.len());
            let mut turn = peers[from..until].iter().chain(&peers[..from]);
            match turn.find(|peer| abilities.can_run(**peer, ready.class)) {
                Some(peer) => self.hand_over(ready, Inputs::default(), self.address(*peer, Terms::Share)),
                None => self.put_off(now, ready.task),
            }
        }
    }
}
