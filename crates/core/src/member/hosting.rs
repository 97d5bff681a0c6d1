//! Holding tasks for whoever asks: what the nodes of a distributed queue do, and the one node that sees all.

use std::collections::{BTreeMap, VecDeque};

use super::{Command, Load, Member, Message, Terms};
use crate::ids::{NodeId, ObjectId};
use crate::node::ReadyTask;
use crate::store::Inputs;
use crate::time::Time;
use crate::workflow::Workflow;

/// How many waiting tasks are compared before one is sent to an idle node.
const TASKS_COMPARED: usize = 1000;

/// A node that has asked in vain.
#[derive(Clone, Copy, Debug)]
struct Hungry {
    node: NodeId,
    serial: u64,
    boot: u32,
    count: u32,
}

/// Tasks that are held for others.
#[derive(Clone, Debug, Default)]
pub(super) struct Host {
    pool: VecDeque<(ReadyTask, Inputs)>,
    hungry: VecDeque<Hungry>,
    /// Where objects are, as far as this node has had them sent there.
    places: BTreeMap<ObjectId, Vec<NodeId>>,
}

impl Host {
    /// How much of what a task reads a node has: a number of objects, the largest counting most.
    fn fit(&self, flow: &Workflow, (ready, inputs): &(ReadyTask, Inputs), node: NodeId) -> u64 {
        let largest = if inputs.at == Some(node) { inputs.largest_bytes.max(1) } else { 0 };
        let known = flow
            .inputs(ready.task)
            .filter(|object| self.places.get(object).is_some_and(|places| places.contains(&node)));
        largest.saturating_add(known.count() as u64 * inputs.total_bytes.max(1))
    }

    fn note(&mut self, flow: &Workflow, ready: &ReadyTask, node: NodeId) {
        for object in flow.inputs(ready.task) {
            let places = self.places.entry(object).or_default();
            if !places.contains(&node) {
                places.push(node);
            }
        }
    }
}

impl Member {
    /// A task has come to be held.
    pub(super) fn take_in(&mut self, now: Time, ready: ReadyTask, inputs: Inputs, out: &mut Vec<Command>) {
        let entry = (ready, inputs);
        let hungry = self.host.hungry.iter().enumerate();
        let best = hungry.max_by_key(|(at, hungry)| (self.host.fit(&self.flow, &entry, hungry.node), usize::MAX - at));
        let Some((at, _)) = best else {
            self.host.pool.push_back(entry);
            return;
        };
        let hungry = &mut self.host.hungry[at];
        let to = *hungry;
        hungry.count -= 1;
        if hungry.count == 0 {
            self.host.hungry.remove(at);
        }
        self.dispatch(now, entry, to, out);
    }

    /// Another policy has begun: what is held for whoever asks goes where that one says, for perhaps nobody asks any more.
    pub(super) fn place_held_again(&mut self, now: Time, out: &mut Vec<Command>) {
        for (ready, inputs) in std::mem::take(&mut self.host.pool) {
            let tenure = self.held.remove(ready.task).map_or(0, |held| held.tenure);
            self.accept(now, Load { ready, inputs, tenure }, out);
        }
    }

    /// Somebody asks for tasks that are held here.
    pub(super) fn pulled(
        &mut self,
        now: Time,
        from: NodeId,
        serial: u64,
        boot: u32,
        count: u32,
        out: &mut Vec<Command>,
    ) {
        let mut hungry = Hungry { node: from, serial, boot, count };
        self.host.hungry.retain(|other| other.node != from);
        while hungry.count > 0 {
            let Some(entry) = self.best_for(from) else { break };
            hungry.count -= 1;
            self.dispatch(now, entry, hungry, out);
        }
        if hungry.count == 0 {
            return;
        }
        if self.place.remembers_hungry() {
            self.host.hungry.push_back(hungry);
        } else if hungry.count == count {
            if from == self.setup.me.node {
                self.got_nothing(now, serial);
            } else {
                self.send(from, Message::Nothing { serial }, out);
            }
        }
    }

    /// The held task that suits a node best: the first, unless somebody keeps an account of data.
    fn best_for(&mut self, node: NodeId) -> Option<(ReadyTask, Inputs)> {
        let mut best = 0;
        if self.place.remembers_hungry() {
            let mut most = 0;
            for (at, entry) in self.host.pool.iter().enumerate().take(TASKS_COMPARED) {
                let fit = self.host.fit(&self.flow, entry, node);
                if fit > most {
                    (best, most) = (at, fit);
                }
            }
        }
        self.host.pool.remove(best)
    }

    fn dispatch(&mut self, now: Time, (ready, inputs): (ReadyTask, Inputs), to: Hungry, out: &mut Vec<Command>) {
        if self.place.remembers_hungry() {
            self.host.note(&self.flow, &ready, to.node);
        }
        if to.node == self.setup.me.node {
            let tenure = self.held.remove(ready.task).map_or(0, |held| held.tenure);
            self.take(now, to.serial, Terms::Keep, vec![Load { ready, inputs, tenure }], out);
        } else {
            self.hand_over(ready, inputs, to.node, Some(to.boot), to.serial, Terms::Keep);
        }
    }
}
