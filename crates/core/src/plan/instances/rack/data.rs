//! Data that comes to instances: from outside, or from whoever has it, when both cards have time.

use super::super::problem::OUTSIDE;
use super::super::schedule::{Moved, Schedule};
use super::{Here, LOOKED_AT, Rack, Sent, Wish};
use crate::plan::Money;

/// So many of those who have an object are asked when they could send it.
const ASKED: usize = 8;

/// So often it is looked from a sender to a receiver and back for a time that suits both.
const LOOKS: u32 = 4;

/// When data could be somewhere, and how much has to be moved for that.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) begun: u64,
    pub(super) there: u64,
    into_bytes: u64,
    between_bytes: u64,
}

impl Rack<'_> {
    pub(super) fn price_of_data(&self, arrival: &Arrival) -> Money {
        let moved = Moved { into_bytes: arrival.into_bytes, between_bytes: arrival.between_bytes, out_bytes: 0 };
        Schedule::charge_for_data(self.problem, &moved)
    }

    /// When all that a task reads could be on an instance, or on a new one.
    pub(super) fn arrival(&self, wish: &Wish, instance: Option<u32>, machine: u16) -> Arrival {
        // Nothing can be there before the machine itself is.
        let ready = wish.ready.max(self.start(machine));
        let inputs = self.problem.inputs(wish.task);
        let here = instance.map_or(Here::default(), |instance| wish.here[instance as usize]);
        let missing = wish.reads.without(here.has);
        let (into_bytes, between_bytes) = (missing.outside_bytes, missing.made_bytes);
        if inputs.len() > LOOKED_AT {
            let length = self.problem.moving(missing.bytes(), machine);
            let begun = instance.map_or(ready, |instance| self.open[instance as usize].receives.free(ready, length));
            let there = ready.max(here.since).max(begun.saturating_add(length));
            return Arrival { begun, there, into_bytes, between_bytes };
        }
        let mut arrival = Arrival { begun: ready, there: ready.max(here.since), into_bytes, between_bytes };
        let mut has_begun = false;
        let is_here = |object| instance.is_some_and(|instance| self.has(object, instance).is_some());
        for &object in inputs.iter().filter(|object| !is_here(**object)) {
            let (begin, end, _) = self.sent(object, instance, machine, if has_begun { arrival.there } else { ready });
            if !has_begun {
                (arrival.begun, has_begun) = (begin, true);
            }
            arrival.there = arrival.there.max(end);
        }
        arrival
    }

    /// Since when an instance has an object, if it does.
    fn has(&self, object: u32, instance: u32) -> Option<u64> {
        self.holders[object as usize].since(instance)
    }

    /// When an object could come to an instance, from some time on, and from whom.
    fn sent(&self, object: u32, to: Option<u32>, machine: u16, from: u64) -> (u64, u64, u32) {
        let what = self.problem.objects[object as usize];
        let received = |begin: u64, length: u64| match to {
            Some(to) => self.open[to as usize].receives.free(begin, length),
            None => begin,
        };
        let own = self.problem.moving(what.bytes, machine);
        if what.maker == OUTSIDE {
            let begin = received(from, own);
            return (begin, begin.saturating_add(own), OUTSIDE);
        }
        let holders = self.holders[object as usize].first().iter().take(ASKED);
        let sent = holders.map(|&(holder, since)| {
            let sender = &self.open[holder as usize];
            let length = own.max(self.problem.moving(what.bytes, sender.machine));
            // Both have to have time; a few looks from one to the other come near enough.
            let mut begin = sender.sends.free(from.max(since), length);
            for _ in 0..LOOKS {
                let both = received(begin, length);
                if both == begin {
                    break;
                }
                begin = sender.sends.free(both, length);
            }
            (begin, begin.saturating_add(length), holder)
        });
        // Who would have to be kept for it is asked only if everybody else is late by as long as it takes; of several, whoever is there for the longest time.
        let key = |&(begin, end, holder): &(u64, u64, u32)| {
            let last = self.open[holder as usize].last;
            (if end > last { end.saturating_add(end - begin) } else { end }, std::cmp::Reverse(last), holder)
        };
        sent.min_by_key(key).unwrap_or((from, from.saturating_add(own), OUTSIDE))
    }

    /// Brings all that a task reads to an instance; says when that begins, and when all is there.
    pub(super) fn bring(&mut self, task: u32, instance: u32) -> (u64, u64) {
        let problem = self.problem;
        let machine = self.open[instance as usize].machine;
        let ready = self.ready(task).max(self.open[instance as usize].there);
        let (mut begun, mut there, mut from) = (u64::MAX, ready, ready);
        for &object in problem.inputs(task) {
            if let Some(since) = self.has(object, instance) {
                there = there.max(since);
                continue;
            }
            let (begin, end, sender) = self.sent(object, Some(instance), machine, from);
            let what = problem.objects[object as usize];
            self.open[instance as usize].receives.take(begin, end - begin);
            if sender == OUTSIDE {
                self.moved.into_bytes = self.moved.into_bytes.saturating_add(what.bytes);
            } else {
                self.moved.between_bytes = self.moved.between_bytes.saturating_add(what.bytes);
                self.sent.push(Sent { end, begin, object, sender, to: instance });
                let from_whom = sender;
                let sender = &mut self.open[from_whom as usize];
                sender.sends.take(begin, end - begin);
                sender.last = sender.last.max(end);
                self.reckon(from_whom);
            }
            self.holders[object as usize].add(instance, end);
            (begun, there, from) = (begun.min(begin), there.max(end), begin);
        }
        (begun.min(there), there)
    }

    /// Until when each instance is needed, if nobody is kept to send what somebody else can send who is there anyway. From the last sending back, that is whoever is there
    /// for the longest time of those who have it.
    pub(super) fn last_uses(&mut self) -> Vec<u64> {
        let mut until = vec![0u64; self.open.len()];
        for run in &self.runs {
            let until = &mut until[run.instance as usize];
            *until = run.end.max(*until);
        }
        let mut sent = std::mem::take(&mut self.sent);
        sent.sort_unstable_by_key(|sent| (std::cmp::Reverse(sent.end), sent.object, sent.to));
        for Sent { end, begin, object, sender, to } in sent {
            let others = self.holders[object as usize].first().iter();
            let can_send = others.filter(|(holder, since)| *holder != to && *since <= begin).map(|(holder, _)| *holder);
            let longest = can_send.chain([sender]).max_by_key(|holder| (until[*holder as usize], *holder));
            let until = &mut until[longest.expect("the one who was to send it") as usize];
            *until = end.max(*until);
        }
        until
    }
}
