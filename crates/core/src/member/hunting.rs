//! Looking for work, and sending tasks to others.
//!
//! A task changes hands in three steps: the store agrees that it is the receiver's; the receiver is told; the receiver
//! says that it knows. If the second or third goes missing, it is told again.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Command, Held, Load, Member, Message, Offer, Purpose, Terms};
use crate::ids::{NodeId, TaskId};
use crate::node::ReadyTask;
use crate::place::{Hunt, View, daws};
use crate::store::{Inputs, Owner, Verb};
use crate::time::Time;

/// What an idle node is about.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Hunter {
    /// Not hunting before this; not at all if it does not say.
    Resting(Option<Time>),
    /// Waits to hear how much these have.
    Polling { serial: u64, asked: Vec<NodeId>, loads: Vec<Option<u32>>, until: Time },
    /// Waits for tasks.
    Asking { serial: u64, until: Time },
}

impl Default for Hunter {
    fn default() -> Self {
        Hunter::Resting(Some(Time::START))
    }
}

impl Hunter {
    pub(super) fn next_wake(&self) -> Option<Time> {
        match self {
            // A rest that is over ends when there is nothing to do, which an event will tell.
            Hunter::Resting(until) => *until,
            Hunter::Polling { until, .. } | Hunter::Asking { until, .. } => Some(*until),
        }
    }

    pub(super) fn rest_until(&mut self, time: Time) {
        *self = Hunter::Resting(Some(time));
    }
}

/// A task whose receiver the store has still to agree to.
#[derive(Clone, Debug)]
pub(super) struct Leaving {
    load: Load,
    to: Owner,
    serial: u64,
    terms: Terms,
}

/// Tasks that have been sent.
#[derive(Clone, Debug)]
pub(super) struct Parcel {
    to: Owner,
    serial: u64,
    terms: Terms,
    tasks: Vec<Load>,
    pub resend_at: Time,
}

/// What has come from a node: the parcels of its present life that it may send again.
#[derive(Clone, Debug, Default)]
pub(super) struct Received {
    sender: u32,
    oldest: u64,
    parcels: BTreeSet<u64>,
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
    /// Looks for work if there is none.
    pub(super) fn consider_hunting(&mut self, now: Time, out: &mut Vec<Command>) {
        let Hunter::Resting(Some(until)) = self.hunter else { return };
        if !self.node.wants_work() {
            // The next time there is nothing to do, it may begin at once.
            if until <= now {
                self.hunter = Hunter::Resting(Some(Time::START));
            }
            return;
        }
        if until > now {
            return;
        }
        let me = self.setup.me;
        let mut view = View {
            me: me.node,
            nodes: self.setup.nodes,
            estimated: Duration::ZERO,
            bandwidth: self.setup.bandwidth,
            has_largest: false,
            rng: &mut self.rng,
        };
        let hunt = self.place.hunt(&mut view);
        self.serial += 1;
        let (serial, until) = (self.serial, now + self.setup.patience);
        match hunt {
            Hunt::Wait => self.hunter = Hunter::Resting(None),
            Hunt::Steal(peers) => {
                self.tally.hunts += 1;
                let asked: Vec<NodeId> = peers.into_iter().filter(|peer| !self.is_gone(*peer)).collect();
                for peer in &asked {
                    self.send(*peer, Message::Poll { serial }, out);
                }
                let loads = vec![None; asked.len()];
                if asked.is_empty() {
                    self.hunt_failed(now);
                } else {
                    self.hunter = Hunter::Polling { serial, asked, loads, until };
                }
            }
            Hunt::Pull { host, one } => {
                self.tally.hunts += 1;
                let count = if one { 1 } else { self.node.free_slots() as u32 };
                self.hunter = Hunter::Asking { serial, until };
                if host == me.node {
                    self.pulled(now, me.node, serial, me.boot, count, out);
                } else if self.is_gone(host) {
                    self.hunt_failed(now);
                } else {
                    self.send(host, Message::Pull { serial, boot: me.boot, count }, out);
                }
            }
        }
    }

    pub(super) fn hunt_failed(&mut self, now: Time) {
        self.hunter = Hunter::Resting(self.place.hunted(false).map(|wait| now + wait));
    }

    pub(super) fn wake_hunter(&mut self, now: Time, out: &mut Vec<Command>) {
        match &self.hunter {
            Hunter::Polling { until, .. } if *until <= now => self.rob_the_richest(now, out),
            // An answer that comes later will be welcome all the same.
            Hunter::Asking { until, .. } if *until <= now => self.hunt_failed(now),
            _ => {}
        }
        let late: Vec<u64> = self.probes.iter().filter(|(_, probe)| probe.until <= now).map(|(at, _)| *at).collect();
        for serial in late {
            self.push_probed(now, serial, out);
        }
        let due: Vec<u64> = self.parcels.iter().filter(|(_, it)| it.resend_at <= now).map(|(at, _)| *at).collect();
        for number in due {
            self.send_parcel(now, number, out);
        }
    }

    pub(super) fn heard_load(
        &mut self,
        now: Time,
        from: NodeId,
        serial: u64,
        shared: u32,
        waiting: u32,
        out: &mut Vec<Command>,
    ) {
        if let Some(probe) = self.probes.get_mut(&serial) {
            probe.offers.push(Offer { node: from, load: waiting });
            probe.left = probe.left.saturating_sub(1);
            if probe.left == 0 {
                self.push_probed(now, serial, out);
            }
            return;
        }
        let Hunter::Polling { serial: expected, asked, loads, .. } = &mut self.hunter else { return };
        if *expected != serial {
            return;
        }
        if let Some(at) = asked.iter().position(|node| *node == from) {
            loads[at] = Some(shared);
        }
        if loads.iter().all(Option::is_some) {
            self.rob_the_richest(now, out);
        }
    }

    fn rob_the_richest(&mut self, now: Time, out: &mut Vec<Command>) {
        let Hunter::Polling { serial, asked, loads, .. } = std::mem::take(&mut self.hunter) else { return };
        let lengths = asked.into_iter().zip(loads).filter_map(|(node, load)| Some((node, load? as usize)));
        match daws::victim(lengths) {
            Some((victim, _)) if self.node.wants_work() => {
                self.send(victim, Message::Steal { serial, boot: self.setup.me.boot }, out);
                self.hunter = Hunter::Asking { serial, until: now + self.setup.patience };
            }
            Some(_) => self.hunter.rest_until(now),
            None => self.hunt_failed(now),
        }
    }

    pub(super) fn got_nothing(&mut self, now: Time, serial: u64) {
        if matches!(self.hunter, Hunter::Asking { serial: expected, .. } if expected == serial) {
            self.hunt_failed(now);
        }
    }

    /// All that waits or runs here.
    pub(super) fn load(&self) -> u32 {
        (self.node.waiting() + self.node.running()) as u32
    }

    /// Asks the store to make a task another node's.
    pub(super) fn hand_over(
        &mut self,
        ready: ReadyTask,
        inputs: Inputs,
        to: NodeId,
        boot: Option<u32>,
        serial: u64,
        terms: Terms,
    ) {
        let to = Owner { node: to, boot: boot.unwrap_or_else(|| self.lease.boot_of(to)) };
        let (task, from) = (ready.task, self.setup.me);
        let tenure = self.held.get(task).map_or(0, |held| held.tenure);
        let load = Load { ready, inputs, tenure: tenure.wrapping_add(1) };
        self.leaving.insert(task, Leaving { load, to, serial, terms });
        self.ask(Verb::HandOver { task, from, to, tenure }, Purpose::HandOver(task));
    }

    /// The store has agreed, or knows that the task is not ours to give.
    pub(super) fn handed_over(&mut self, task: TaskId, is_agreed: bool) {
        self.let_go(task);
        let Some(Leaving { load, to, serial, terms }) = self.leaving.remove(&task) else { return };
        if !is_agreed {
            return;
        }
        let is_next = |parcel: &&mut Parcel| {
            let same = parcel.to == to && parcel.serial == serial && parcel.terms == terms;
            same && parcel.resend_at == Time::START
        };
        match self.parcels.values_mut().next_back().filter(is_next) {
            Some(parcel) => parcel.tasks.push(load),
            None => {
                self.serial += 1;
                let parcel = Parcel { to, serial, terms, tasks: vec![load], resend_at: Time::START };
                self.parcels.insert(self.serial, parcel);
            }
        }
    }

    /// Sends what has gathered.
    pub(super) fn send_parcels(&mut self, now: Time, out: &mut Vec<Command>) {
        let new = self.parcels.iter().rev().take_while(|(_, parcel)| parcel.resend_at == Time::START);
        let new: Vec<u64> = new.map(|(number, _)| *number).collect();
        for number in new {
            self.send_parcel(now, number, out);
        }
    }

    fn send_parcel(&mut self, now: Time, number: u64, out: &mut Vec<Command>) {
        let Some(parcel) = self.parcels.get_mut(&number) else { return };
        let Parcel { to, serial, terms, tasks, .. } = parcel.clone();
        parcel.resend_at = now + self.setup.patience.max(Duration::from_nanos(1));
        let known = self.lease.boot_of(to.node);
        if known > to.boot || (known == to.boot && self.gone.contains(&to.node)) {
            // Nobody will take them. Unless somebody has claimed them already, they come back.
            self.parcels.remove(&number);
            for load in tasks {
                let (task, tenure) = (load.ready.task, load.tenure);
                let retake = Verb::HandOver { task, from: to, to: self.setup.me, tenure };
                self.ask(retake, Purpose::Retake(Load { tenure: tenure.wrapping_add(1), ..load }));
            }
            return;
        }
        let (sender, oldest) = (self.setup.me.boot, self.parcels.keys().next().copied().unwrap_or(number));
        let take = Message::Take { parcel: number, sender, oldest, boot: to.boot, serial, terms, tasks };
        self.send(to.node, take, out);
    }

    /// Whether a parcel has not come before: what is late or doubled must not be taken twice.
    pub(super) fn is_new_parcel(&mut self, from: NodeId, sender: u32, oldest: u64, parcel: u64) -> bool {
        let seen = self.received.entry(from).or_default();
        if sender != seen.sender {
            if sender < seen.sender {
                return false;
            }
            *seen = Received { sender, ..Received::default() };
        }
        seen.oldest = seen.oldest.max(oldest);
        seen.parcels = seen.parcels.split_off(&seen.oldest);
        parcel >= seen.oldest && seen.parcels.insert(parcel)
    }

    /// Tasks have come.
    pub(super) fn take(&mut self, now: Time, serial: u64, terms: Terms, tasks: Vec<Load>, out: &mut Vec<Command>) {
        let is_loot = matches!(self.hunter, Hunter::Asking { serial: expected, .. } if expected == serial);
        if is_loot {
            self.tally.hunts_won += 1;
            self.tally.stolen += tasks.len() as u64;
            let rest = self.place.hunted(true);
            self.hunter = Hunter::Resting(rest.map(|wait| now + wait));
        } else if self.hunter == Hunter::Resting(None) {
            // Whoever had given up has something to do again, and may hunt when that is done.
            self.hunter.rest_until(now);
        }
        for load in tasks {
            if self.by_inquiry.contains(&load.ready.task) {
                // It may have come and gone since this was sent: only the store knows.
                let verify = Verb::Verify { task: load.ready.task, owner: self.setup.me, tenure: load.tenure };
                self.ask(verify, Purpose::Verify(load, terms));
            } else {
                self.take_one(now, load, terms, out);
            }
        }
    }

    pub(super) fn take_one(&mut self, now: Time, load: Load, terms: Terms, out: &mut Vec<Command>) {
        if terms == Terms::Host {
            // Whoever sent it may have done so under another policy: nobody may ask here for it any more.
            return self.accept(now, load, out);
        }
        let Load { ready, inputs, tenure } = load;
        let is_known = self.held.contains(ready.task) || self.leaving.contains_key(&ready.task);
        if is_known || self.is_out_of_date(ready.task) {
            return;
        }
        self.held.insert(ready.task, Held { generation: ready.generation, tenure });
        self.enqueue(now, ready, inputs, terms, out);
    }

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
        let own = Offer { node: self.setup.me.node, load: self.load() };
        let asked: Vec<NodeId> = nodes.into_iter().filter(|node| !self.is_gone(*node)).collect();
        for node in &asked {
            self.send(*node, Message::Poll { serial }, out);
        }
        let offers = if asked.is_empty() { vec![own] } else { Vec::new() };
        let until = now + self.setup.patience;
        self.probes.insert(serial, Probe { ready, inputs, offers, left: asked.len() as u32, until });
        if asked.is_empty() {
            self.push_probed(now, serial, out);
        }
    }

    /// Pushes a task to the least loaded node that has answered; keeps it if none has.
    fn push_probed(&mut self, now: Time, serial: u64, out: &mut Vec<Command>) {
        let Some(Probe { ready, inputs, offers, .. }) = self.probes.remove(&serial) else { return };
        let best = offers.iter().min_by_key(|offer| offer.load).map_or(self.setup.me.node, |offer| offer.node);
        if best == self.setup.me.node {
            self.enqueue(now, ready, inputs, Terms::Keep, out);
        } else {
            self.tally.pushed += 1;
            self.hand_over(ready, inputs, best, None, 0, Terms::Keep);
        }
    }
}
