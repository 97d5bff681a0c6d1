//! What a node is told of itself: how much of it is used, what its tasks hold, and that one of them was killed because memory had run out.

use std::time::Duration;

use throng_core::ids::{NodeId, SlotId};
use throng_core::member::{Event, Member};
use throng_core::node::{self, End};
use throng_core::pack::dominant::Resource;
use throng_core::pack::sample::WHOLE;
use throng_core::pack::{Sample, Uses};
use throng_core::trace::{self, Entry};

use super::{Crowding, Happening, Job, World};
use crate::crowd::NOTHING_S;

/// A task grows for so much of its life, and then holds what it holds.
const GROWS_FOR: f64 = 0.3;
/// A node is told what a task has computed when it is twice as old as that, and each time that it is twice as old again.
pub(super) const FIRST_TOLD: Duration = Duration::from_millis(300);
/// What a node's network, disks and share of the shared file system each carry, for whoever wants to know in bytes.
const NETWORK_BYTES_PER_S: f64 = 125e6;

/// A node on which nothing changes is measured half as often after so many times, and so on, up to so many times: a real one has the time, but nobody
/// wants to wait for a simulated hour to be measured ten times a second.
const STILL_NEWS: u32 = 32;
const MOST_DOUBLINGS: u32 = 6;

impl Job {
    /// What it holds when so much of it is done.
    fn held_bytes(&self, done_s: f64) -> f64 {
        let grown = done_s / self.alone_s.max(NOTHING_S) / GROWS_FOR;
        self.peak_bytes * grown.clamp(0.0, 1.0)
    }
}

impl World {
    /// Has a node measured from now on, if it wants to know.
    pub(in crate::world) fn plan_measuring(&mut self, node: NodeId) {
        let machine = &self.machines[node.index()];
        let every = machine.member.as_ref().map(Member::node).and_then(node::Node::measures_every);
        let (Some(every), Some(crowding)) = (every, &mut self.crowding) else { return };
        let place = &mut crowding.places[node.index()];
        (place.measured_at, place.used_s) = (self.now, Default::default());
        (place.runnable_s, place.strangers_s) = (0.0, 0.0);
        let at = self.now + every * 2u32.pow((place.calm / STILL_NEWS).min(MOST_DOUBLINGS));
        place.calm = place.calm.saturating_add(1);
        place.measure_at = Some(at);
        self.agenda.plan(at, Happening::Measure { node, boot: machine.boot });
    }

    /// Something has changed on a node: it is measured as often as it wants again.
    pub(super) fn stir(&mut self, node: NodeId) {
        let machine = &self.machines[node.index()];
        let every = machine.member.as_ref().map(Member::node).and_then(node::Node::measures_every);
        let (Some(every), Some(crowding)) = (every, &mut self.crowding) else { return };
        let place = &mut crowding.places[node.index()];
        let (at, was_calm) = (self.now + every, place.calm >= STILL_NEWS);
        place.calm = 0;
        if was_calm && place.measure_at.is_some_and(|planned| at < planned) {
            place.measure_at = Some(at);
            self.agenda.plan(at, Happening::Measure { node, boot: machine.boot });
        }
    }

    /// Measures a node, and tells it.
    pub(in crate::world) fn measure(&mut self, node: NodeId, boot: u32) {
        let is_now = |crowding: &Crowding| crowding.places[node.index()].measure_at == Some(self.now);
        if !self.lives(node, boot) || !self.crowding.as_ref().is_some_and(is_now) {
            return;
        }
        self.get_on(node);
        let memory_bytes = self.cluster.machine(node).0.memory_bytes;
        let Some(crowding) = &mut self.crowding else { return };
        let place = &mut crowding.places[node.index()];
        let seconds = self.now.since(place.measured_at).as_secs_f64().max(NOTHING_S);
        let mut seen: Vec<(SlotId, Uses)> = Vec::new();
        let mut held: Vec<(SlotId, u64)> = Vec::new();
        for (slot, job) in &mut place.jobs {
            let done_s = job.alone_s - place.groups.left_s(&job.needs, job.end_s);
            let (bytes, age) = (job.held_bytes(done_s) as u64, self.now.since(job.begun));
            let is_older = age >= job.told_at * 2;
            if is_older {
                job.told_at = age;
            }
            if bytes > 0 || is_older {
                let computing_us = (done_s * job.needs.cores * 1e6) as u64;
                seen.push((*slot, Uses { bytes, computing_us }));
            }
            held.push((*slot, bytes));
        }
        let all_held: u64 = held.iter().map(|(_, held)| held).sum();
        let moved: f64 = [Resource::Network, Resource::Disk, Resource::Remote]
            .map(|resource| place.used_s[resource as usize])
            .into_iter()
            .sum();
        let held_share = all_held as f64 / memory_bytes.max(1) as f64;
        place.used_s[Resource::Memory as usize] += held_share * seconds;
        place.whole_s[Resource::Memory as usize] += held_share * seconds;
        let millionths = |used_s: f64| ((used_s / seconds).min(1.0) * f64::from(WHOLE)) as u32;
        let sample = Sample {
            used: place.used_s.map(millionths),
            moved_bytes_per_s: (moved / seconds * NETWORK_BYTES_PER_S) as u64,
            free_memory_bytes: memory_bytes.saturating_sub(all_held),
            memory_stalls: 0,
            runnable: (place.runnable_s / seconds).round() as u32,
            strangers: millionths(place.strangers_s),
        };
        for (slot, uses) in seen {
            self.tell(node, Event::Uses { slot, uses });
        }
        if all_held > memory_bytes
            && let Some((slot, _)) = held.iter().copied().max_by_key(|(_, held)| *held)
        {
            self.kill_for_memory(node, slot);
        }
        self.plan_measuring(node);
        self.record(|_| Entry::Event(node::Event::Measured(sample)));
        self.tell_and_decide(node, Event::Measured(sample));
    }

    /// What a kernel does whose memory has run out.
    fn kill_for_memory(&mut self, node: NodeId, slot: SlotId) {
        self.leave(node, slot);
        let machine = &mut self.machines[node.index()];
        let Some(running) = machine.slots[slot.index()].take() else { return };
        self.outcome.out_of_memory += 1;
        self.end_in_vain(running);
        let end = End::OutOfMemory;
        self.record_end(node, slot, running, trace::Outcome::OutOfMemory, end);
        self.tell_and_decide(node, Event::Finished { slot, end, outputs: Vec::new() });
        self.record_pause(node, running);
    }
}
