//! Holding tasks for whoever asks: what the nodes of a distributed queue do, and the one node that sees all.

use std::collections::{BTreeMap, VecDeque};

use super::handing::Address;
use super::{Command, Load, Member, Message, Terms};
use crate::ids::{NodeId, ObjectId, TaskId};
use crate::node::ReadyTask;
use crate::store::{Inputs, Owner};
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

    /// Nobody wants a task any more; says whether it was held here.
    pub(super) fn forget(&mut self, task: TaskId) -> bool {
        let at = self.pool.iter().position(|(ready, _)| ready.task == task);
        at.is_some_and(|at| self.pool.remove(at).is_some())
    }

    /// All that is held: nobody will ask for it any more.
    pub(super) fn close(&mut self) -> VecDeque<(ReadyTask, Inputs)> {
        self.hungry.clear();
        std::mem::take(&mut self.pool)
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
        let (hungry, abilities) = (self.host.hungry.iter().enumerate(), &self.setup.abilities);
        let hungry = hungry.filter(|(_, hungry)| abilities.can_run(hungry.node, ready.class));
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
        let abilities = &self.setup.abilities;
        let pool = self.host.pool.iter().enumerate();
        let mut pool = pool.filter(|(_, (ready, _))| abilities.can_run(node, ready.class)).take(TASKS_COMPARED);
        let best = if self.place.remembers_hungry() {
            pool.max_by_key(|(at, entry)| (self.host.fit(&self.flow, entry, node), usize::MAX - at))
        } else {
            pool.next()
        };
        let (at, _) = best?;
        self.host.pool.remove(at)
    }

    fn dispatch(&mut self, now: Time, (ready, inputs): (ReadyTask, Inputs), to: Hungry, out: &mut Vec<Command>) {
        if self.place.remembers_hungry() {
            self.host.note(&self.flow, &ready, to.node);
        }
        if to.node == self.setup.me.node {
            let tenure = self.held.remove(ready.task).map_or(0, |held| held.tenure);
            self.take(now, to.serial, Terms::Keep, vec![Load { ready, inputs, tenure }], out);
        } else {
            let owner = Owner { node: to.node, boot: to.boot };
            self.hand_over(ready, inputs, Address { to: owner, serial: to.serial, terms: Terms::Keep });
        }
    }
}
