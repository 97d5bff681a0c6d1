//! Handing tasks over.
//!
//! A task changes hands in three steps: the store agrees that it is the receiver's; the receiver is told; the receiver
//! says that it knows. If the second or third goes missing, it is told again.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use super::{Command, Held, Hunter, Load, Member, Message, Purpose, Terms};
use crate::ids::{NodeId, TaskId};
use crate::node::ReadyTask;
use crate::store::{BUCKETS, Holding, Inputs, Owner, Verb, bucket};
use crate::time::Time;

/// Whom tasks are for, why, and on what terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Address {
    pub to: Owner,
    /// The wish that they answer, if any.
    pub serial: u64,
    pub terms: Terms,
}

/// A task whose receiver the store has still to agree to.
#[derive(Clone, Debug)]
pub(super) struct Leaving {
    load: Load,
    address: Address,
}

/// Tasks that have been sent.
#[derive(Clone, Debug)]
struct Parcel {
    address: Address,
    tasks: Vec<Load>,
    resend_at: Time,
}

/// What has been sent, or will be next, and has not been acknowledged.
#[derive(Clone, Debug, Default)]
pub(super) struct Parcels {
    /// What goes out next.
    gathered: BTreeMap<Address, Vec<Load>>,
    sent: BTreeMap<u64, Parcel>,
    /// When which has to be sent again.
    due: BTreeSet<(Time, u64)>,
}

impl Parcels {
    pub(super) fn is_empty(&self) -> bool {
        self.gathered.is_empty() && self.sent.is_empty()
    }

    pub(super) fn next_wake(&self) -> Option<Time> {
        self.due.first().map(|(time, _)| *time)
    }

    /// A node has got a parcel.
    pub(super) fn acknowledge(&mut self, by: NodeId, number: u64) {
        if self.sent.get(&number).is_some_and(|parcel| parcel.address.to.node == by)
            && let Some(parcel) = self.sent.remove(&number)
        {
            self.due.remove(&(parcel.resend_at, number));
        }
    }
}

/// What has come from a node: the parcels of its present life that it may send again.
#[derive(Clone, Debug, Default)]
pub(super) struct Received {
    sender: u32,
    oldest: u64,
    parcels: BTreeSet<u64>,
}

/// Parts of the store in which this member has found tasks that it did not know of. A message about such a task may still be on its way,
/// and out of date when it comes: one bit for each part, because the tasks themselves would be more and more.
#[derive(Clone, Debug, Default)]
pub(super) struct Inquiries {
    buckets: [u64; BUCKETS as usize / 64],
}

impl Inquiries {
    pub(super) fn note(&mut self, task: TaskId) {
        let bucket = bucket(task);
        self.buckets[bucket as usize / 64] |= 1 << (bucket % 64);
    }

    fn concern(&self, task: TaskId) -> bool {
        let bucket = bucket(task);
        self.buckets[bucket as usize / 64] >> (bucket % 64) & 1 == 1
    }
}

impl Member {
    /// Where tasks go that nobody has asked for.
    pub(super) fn address(&self, node: NodeId, terms: Terms) -> Address {
        Address { to: Owner { node, boot: self.lease.boot_of(node) }, serial: 0, terms }
    }

    /// Asks the store to make a task another node's.
    pub(super) fn hand_over(&mut self, ready: ReadyTask, inputs: Inputs, address: Address) {
        let (task, from, to) = (ready.task, self.setup.me, address.to);
        let tenure = self.held.get(task).map_or(0, |held| held.tenure);
        let load = Load { ready, inputs, tenure: tenure.wrapping_add(1) };
        self.leaving.insert(task, Leaving { load, address });
        self.ask(Verb::HandOver { task, from, to, tenure }, Purpose::HandOver(task));
    }

    /// The store has agreed, or knows that the task is not ours to give.
    pub(super) fn handed_over(&mut self, task: TaskId, is_agreed: bool) {
        self.let_go(task);
        let Some(Leaving { load, address }) = self.leaving.remove(&task) else { return };
        if is_agreed {
            self.parcels.gathered.entry(address).or_default().push(load);
        } else if self.setup.has_leases {
            // A store that has lost writes may think that it is in an earlier tenure here.
            let owned = Verb::Owned { bucket: bucket(task), owner: self.setup.me };
            self.ask(owned, Purpose::Owned { round: None });
        }
    }

    /// A task that has failed waits for its next attempt: whoever has to step in here must not think that it runs.
    pub(super) fn rest(&mut self, task: TaskId) {
        let Some(held) = self.held.get(task) else { return };
        let (from, to, tenure) = (self.setup.me, self.setup.me, held.tenure);
        self.held.insert(task, Held { tenure: tenure.wrapping_add(1), ..held });
        self.tell(Verb::HandOver { task, from, to, tenure });
    }

    /// Somebody who is dead gave a task to a node that may not have heard of it.
    pub(super) fn remind(&mut self, to: Owner, holding: &Holding) {
        let Holding { task, tries, generation, tenure, inputs, .. } = *holding;
        let load = self.load_of(task, tries, generation, tenure, inputs);
        let address = Address { to, serial: 0, terms: Terms::Verify };
        self.parcels.gathered.entry(address).or_default().push(load);
    }

    /// Sends what has gathered.
    pub(super) fn send_parcels(&mut self, now: Time, out: &mut Vec<Command>) {
        while let Some((address, tasks)) = self.parcels.gathered.pop_first() {
            self.serial += 1;
            self.send_parcel(now, self.serial, Parcel { address, tasks, resend_at: now }, out);
        }
    }

    /// Sends what has not been acknowledged for too long.
    pub(super) fn resend_parcels(&mut self, now: Time, out: &mut Vec<Command>) {
        while let Some((_, number)) = self.parcels.due.first().copied().filter(|(time, _)| *time <= now) {
            self.parcels.due.pop_first();
            if let Some(parcel) = self.parcels.sent.remove(&number) {
                self.send_parcel(now, number, parcel, out);
            }
        }
    }

    fn send_parcel(&mut self, now: Time, number: u64, parcel: Parcel, out: &mut Vec<Command>) {
        let Parcel { address, tasks, .. } = parcel;
        let Address { to, serial, terms } = address;
        let known = self.lease.boot_of(to.node);
        if known > to.boot || (known == to.boot && self.is_gone(to.node)) {
            // Nobody will take them. Unless somebody has claimed them already, they come back.
            for load in tasks {
                let (task, tenure) = (load.ready.task, load.tenure);
                let retake = Verb::HandOver { task, from: to, to: self.setup.me, tenure };
                self.ask(retake, Purpose::Retake(Load { tenure: tenure.wrapping_add(1), ..load }));
            }
            return;
        }
        let resend_at = now + self.setup.patience.max(Duration::from_nanos(1));
        self.parcels.due.insert((resend_at, number));
        self.parcels.sent.insert(number, Parcel { address, tasks: tasks.clone(), resend_at });
        let oldest = self.parcels.sent.keys().next().copied().unwrap_or(number);
        let (boot, sender) = (to.boot, self.setup.me.boot);
        self.send(to.node, Message::Take { parcel: number, sender, oldest, boot, serial, terms, tasks }, out);
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
            let task = load.ready.task;
            if terms == Terms::Verify {
                self.inquiries.note(task);
            }
            if self.inquiries.concern(task) {
                // It may have come and gone since this was sent: only the store knows.
                let verify = Verb::Verify { task, owner: self.setup.me, tenure: load.tenure };
                self.ask(verify, Purpose::Verify(load, terms));
            } else {
                self.take_one(now, load, terms, out);
            }
        }
    }

    pub(super) fn take_one(&mut self, now: Time, load: Load, terms: Terms, out: &mut Vec<Command>) {
        let Load { ready, inputs, tenure } = load;
        if self.knows(ready.task) {
            return;
        }
        self.held.insert(ready.task, Held { generation: ready.generation, tenure });
        match terms {
            // Whoever sent it may have done so under another policy: perhaps nobody asks here any more.
            Terms::Host => self.place_task(now, ready, inputs, out),
            _ => self.enqueue(now, ready, inputs, terms, out),
        }
    }
}
