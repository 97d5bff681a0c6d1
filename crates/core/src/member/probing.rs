//! Asking a few nodes how loaded they are, and pushing a task to the least loaded of them.

use super::{Command, Member, Message, Terms};
use crate::ids::{NodeId, TaskId};
use crate::node::ReadyTask;
use crate::store::Inputs;
use crate::time::Time;

/// Who answers how loaded he is, as far as somebody knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Offer {
    node: NodeId,
    load: u32,
}

/// A task that will go to the least loaded of some nodes.
#[derive(Clone, Debug)]
pub(super) struct Probe {
    ready: ReadyTask,
    inputs: Inputs,
    offers: Vec<Offer>,
    left: u32,
    pub until: Time,
}

impl Member {
    /// Asks some nodes how loaded they are.
    pub(super) fn probe(
        &mut self,
        now: Time,
        ready: ReadyTask,
        inputs: Inputs,
        nodes: Vec<NodeId>,
        out: &mut Vec<Command>,
    ) {
        self.serial += 1;
        let serial = self.serial;
        let asked: Vec<NodeId> = nodes.into_iter().filter(|node| !self.is_gone(*node)).collect();
        for node in &asked {
            self.send(*node, Message::Poll { serial, kinds: None }, out);
        }
        let until = now + self.setup.patience;
        let probe = Probe { ready, inputs, offers: Vec::new(), left: asked.len() as u32, until };
        self.probes.insert(serial, probe);
        if asked.is_empty() {
            self.push_probed(now, serial, out);
        }
    }

    /// A node has answered; says whether it was asked for this reason.
    pub(super) fn heard_offer(
        &mut self,
        now: Time,
        node: NodeId,
        serial: u64,
        load: u32,
        out: &mut Vec<Command>,
    ) -> bool {
        let Some(probe) = self.probes.get_mut(&serial) else { return false };
        probe.offers.push(Offer { node, load });
        probe.left = probe.left.saturating_sub(1);
        if probe.left == 0 {
            self.push_probed(now, serial, out);
        }
        true
    }

    /// Nobody waits longer for an answer than this.
    pub(super) fn wake_probes(&mut self, now: Time, out: &mut Vec<Command>) {
        // All wait equally long: the first is the first to end.
        while let Some((serial, _)) = self.probes.first_key_value().filter(|(_, probe)| probe.until <= now) {
            self.push_probed(now, *serial, out);
        }
    }

    /// Nobody wants a task any more that was to go to somebody.
    pub(super) fn forget_probe(&mut self, task: TaskId) -> bool {
        let found = self.probes.iter().find(|(_, probe)| probe.ready.task == task).map(|(serial, _)| *serial);
        found.is_some_and(|serial| self.probes.remove(&serial).is_some())
    }

    /// Pushes a task to the least loaded node that has answered; keeps it if none has.
    fn push_probed(&mut self, now: Time, serial: u64, out: &mut Vec<Command>) {
        let Some(Probe { ready, inputs, offers, .. }) = self.probes.remove(&serial) else { return };
        let best = offers.iter().min_by_key(|offer| offer.load).map_or(self.setup.me.node, |offer| offer.node);
        if best == self.setup.me.node {
            self.enqueue(now, ready, inputs, Terms::Keep, out);
        } else {
            self.tally.pushed += 1;
            self.hand_over(ready, inputs, self.address(best, Terms::Keep));
        }
    }
}
