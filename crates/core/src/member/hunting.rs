//! Looking for work when there is none here.

use std::time::Duration;

use super::{Command, Member, Message};
use crate::ids::NodeId;
use crate::place::{Hunt, View, daws};
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
            home: None,
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
                let kinds = self.node.wanted_kinds();
                for peer in &asked {
                    self.send(*peer, Message::Poll { serial, kinds: kinds.clone() }, out);
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
                let count = if one { 1 } else { self.node.appetite() };
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
        if self.heard_offer(now, from, serial, waiting, out) {
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
                let kinds = self.node.wanted_kinds();
                self.send(victim, Message::Steal { serial, boot: self.setup.me.boot, kinds }, out);
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
}
