//! Tasks that share what their node has: how they get on, what is measured of that, and what they hold.

use std::collections::BTreeMap;
use std::time::Duration;

use throng_core::ids::{NodeId, SlotId};
use throng_core::member::{Event, Member};
use throng_core::node::{self, End};
use throng_core::pack::dominant::{Resource, Use};
use throng_core::pack::sample::WHOLE;
use throng_core::pack::{Sample, Spent, Uses};
use throng_core::rng::Rng;
use throng_core::time::Time;
use throng_core::trace::{self, Entry};

use super::disks::AtDisk;
use super::{Happening, World};
use crate::crowd::{Crowd, Demand, Needs, Paces};

/// A task grows for so much of its life, and then holds what it holds.
const GROWS_FOR: f64 = 0.3;
/// A node is told what a task has computed when it is twice as old as that, and each time that it is twice as old again.
const FIRST_TOLD: Duration = Duration::from_millis(300);
/// What a node's network, disks and share of the shared file system each carry, for whoever wants to know in bytes.
const NETWORK_BYTES_PER_S: f64 = 125e6;
/// Less than this is left of a task by rounding only.
const NOTHING_S: f64 = 1e-9;

/// A task that gets on.
#[derive(Clone, Copy)]
struct Job {
    attempt: AtDisk,
    needs: Needs,
    begun: Time,
    /// How long it would take alone, and how much of that is left, in seconds.
    alone_s: f64,
    left_s: f64,
    peak_bytes: f64,
    /// How old it was when its node was told what it has computed.
    told_at: Duration,
}

impl Job {
    fn held_bytes(&self) -> f64 {
        let grown = (1.0 - self.left_s / self.alone_s.max(NOTHING_S)) / GROWS_FOR;
        self.peak_bytes * grown.clamp(0.0, 1.0)
    }
}

/// What happens on one node.
#[derive(Default)]
struct Place {
    jobs: BTreeMap<SlotId, Job>,
    demand: Demand,
    paces: Option<Paces>,
    /// How many cores others have wanted since then.
    strangers: f64,
    /// Until when everything has got on.
    at: Time,
    /// Whoever was to end next may not be any more.
    version: u64,
    /// What has been used since it was measured, in seconds of the whole.
    used_s: [f64; Resource::ALL.len()],
    runnable_s: f64,
    measured_at: Time,
    /// What has been used in all.
    whole_s: [f64; Resource::ALL.len()],
}

/// What happens on all nodes.
pub(super) struct Crowding {
    crowd: Crowd,
    places: Vec<Place>,
    /// What all nodes together want of the shared file system.
    remote: f64,
}

impl Crowding {
    pub(super) fn new(crowd: Crowd, nodes: u32) -> Crowding {
        let places = std::iter::repeat_with(Place::default).take(nodes as usize).collect();
        Crowding { crowd, places, remote: 0.0 }
    }
}

impl World {
    /// How much of each resource nodes have used, on average, in so long.
    pub(super) fn used_in(&self, length: Duration) -> Use {
        let places = self.crowding.iter().flat_map(|crowding| &crowding.places);
        let whole = f64::from(self.cluster.nodes) * length.as_secs_f64().max(NOTHING_S);
        places.fold(Use::default(), |mut sum, place| {
            sum.iter_mut().zip(place.whole_s).for_each(|(sum, used)| *sum += used / whole);
            sum
        })
    }

    /// When something is to happen by itself.
    pub(super) fn plan_crowd(&mut self) {
        let Some(crowding) = &self.crowding else { return };
        for time in crowding.crowd.changes() {
            self.agenda.plan(Time::START + time, Happening::Crowded);
        }
    }

    /// Has a node measured from now on, if it wants to know.
    pub(super) fn plan_measuring(&mut self, node: NodeId) {
        let machine = &self.machines[node.index()];
        let every = machine.member.as_ref().map(Member::node).and_then(node::Node::measures_every);
        let (Some(every), Some(crowding)) = (every, &mut self.crowding) else { return };
        let place = &mut crowding.places[node.index()];
        (place.measured_at, place.used_s, place.runnable_s) = (self.now, Default::default(), 0.0);
        self.agenda.plan(self.now + every, Happening::Measure { node, boot: machine.boot });
    }

    /// A task gets on that would take so long alone. Says whether it shares anything with others.
    pub(super) fn enter(&mut self, attempt: AtDisk, length: Duration) -> bool {
        let Some(crowding) = &self.crowding else { return false };
        let AtDisk { node, slot, task, .. } = attempt;
        let asked = self.flow.resources(self.flow.first_demand(task)).cpus_milli as f64 / 1000.0;
        let needs = crowding.crowd.needs_of(self.flow.kind_name(self.flow.kind(task)), asked);
        let mut rng = Rng::new(self.cluster.seed ^ 0x4E3D ^ (u64::from(task.0) << 16));
        let differs = 1.0 + needs.memory_spread * (2.0 * rng.unit() - 1.0);
        let alone_s = length.as_secs_f64();
        let peak_bytes = needs.memory_bytes as f64 * differs;
        self.get_on(node);
        let job = Job { attempt, needs, begun: self.now, alone_s, left_s: alone_s, peak_bytes, told_at: FIRST_TOLD };
        if let Some(crowding) = &mut self.crowding {
            let place = &mut crowding.places[node.index()];
            place.jobs.insert(slot, job);
            place.demand.add(&needs, 1.0);
        }
        self.pace_again(node, needs.remote);
        true
    }

    /// A task does not get on any more.
    pub(super) fn leave(&mut self, node: NodeId, slot: SlotId) {
        self.get_on(node);
        let Some(crowding) = &mut self.crowding else { return };
        let place = &mut crowding.places[node.index()];
        let Some(job) = place.jobs.remove(&slot) else { return };
        place.demand.add(&job.needs, -1.0);
        self.pace_again(node, -job.needs.remote);
    }

    /// Nobody is on a node any more.
    pub(super) fn leave_all(&mut self, node: NodeId) {
        let Some(crowding) = &self.crowding else { return };
        let slots: Vec<SlotId> = crowding.places[node.index()].jobs.keys().copied().collect();
        slots.into_iter().for_each(|slot| self.leave(node, slot));
    }

    /// Something has changed by itself.
    pub(super) fn crowded(&mut self) {
        (0..self.cluster.nodes).for_each(|at| self.get_on(NodeId(at)));
        (0..self.cluster.nodes).for_each(|at| self.pace(NodeId(at)));
    }

    /// Lets tasks get on until now.
    fn get_on(&mut self, node: NodeId) {
        let (cores, now) = (f64::from(self.cluster.machine(node).0.cores), self.now);
        let Some(crowding) = &mut self.crowding else { return };
        let place = &mut crowding.places[node.index()];
        let seconds = now.since(place.at).as_secs_f64();
        place.at = now;
        let Some(paces) = place.paces.filter(|_| seconds > 0.0) else { return };
        let mut used = [0.0; Resource::ALL.len()];
        let mut wants_core = place.strangers;
        for job in place.jobs.values_mut() {
            let pace = paces.of(&job.needs);
            job.left_s -= pace * seconds;
            used[Resource::Cpu as usize] += pace * job.needs.cores / cores;
            used[Resource::Network as usize] += pace * job.needs.network;
            used[Resource::Disk as usize] += pace * job.needs.disk;
            used[Resource::Remote as usize] += pace * job.needs.remote;
            wants_core += pace * job.needs.cores / paces.cores;
        }
        used[Resource::Cpu as usize] += place.strangers * paces.cores / cores;
        place.used_s.iter_mut().zip(used).for_each(|(sum, used)| *sum += used.min(1.0) * seconds);
        place.whole_s.iter_mut().zip(used).for_each(|(sum, used)| *sum += used.min(1.0) * seconds);
        place.runnable_s += wants_core * seconds;
    }

    /// Thinks again about how fast tasks get on: of this node, and of all if what it wants of the shared file system is not what it was.
    fn pace_again(&mut self, node: NodeId, remote: f64) {
        let Some(crowding) = &mut self.crowding else { return };
        let before = crowding.remote;
        crowding.remote = (before + remote).max(0.0);
        // Where it serves all of them anyway, nobody else is affected.
        let is_enough = before.max(crowding.remote) <= crowding.crowd.serves(self.now.since(Time::START));
        if remote == 0.0 || is_enough {
            self.pace(node);
        } else {
            self.crowded();
        }
    }

    fn pace(&mut self, node: NodeId) {
        let (cores, since) = (f64::from(self.cluster.machine(node).0.cores), self.now.since(Time::START));
        let Some(Crowding { crowd, places, remote }) = &mut self.crowding else { return };
        let place = &mut places[node.index()];
        let serves = crowd.serves(since);
        let share = if *remote > serves { serves / *remote } else { 1.0 };
        place.strangers = crowd.strangers(node.0, since);
        let paces = Paces::new(crowd, &place.demand, cores, place.strangers, share);
        place.paces = Some(paces);
        place.version += 1;
        let left = place.jobs.values().map(|job| job.left_s.max(0.0) / paces.of(&job.needs).max(1e-12));
        let Some(next) = left.min_by(f64::total_cmp) else { return };
        let version = place.version;
        // Not before it is over, by rounding.
        let time = self.now + Duration::try_from_secs_f64(next).unwrap_or(Duration::MAX) + Duration::from_nanos(1);
        self.agenda.plan(time, Happening::Ripe { node, version });
    }

    /// The next task of a node is done, unless others have come or gone since.
    pub(super) fn ripe(&mut self, node: NodeId, version: u64) {
        let current = self.crowding.as_ref().map(|crowding| crowding.places[node.index()].version);
        if current != Some(version) {
            return;
        }
        self.get_on(node);
        let Some(crowding) = &self.crowding else { return };
        let jobs = crowding.places[node.index()].jobs.values().copied();
        let ripe: Vec<Job> = jobs.filter(|job| job.left_s <= NOTHING_S).collect();
        for job in &ripe {
            let AtDisk { node, slot, .. } = job.attempt;
            self.leave(node, slot);
            let spent = Spent {
                time_us: self.now.since(job.begun).as_micros() as u64,
                computing_us: (job.alone_s * job.needs.cores * 1e6) as u64,
                peak_bytes: job.peak_bytes as u64,
            };
            self.tell(node, Event::Spent { slot, spent });
        }
        for Job { attempt, .. } in ripe {
            if self.still_runs(&attempt) && !self.writes_first(attempt) {
                self.finish(attempt);
            }
        }
        // Whoever is left by rounding is looked at again.
        self.pace(node);
    }

    /// Measures a node, and tells it.
    pub(super) fn measure(&mut self, node: NodeId, boot: u32) {
        if !self.lives(node, boot) {
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
            let (bytes, age) = (job.held_bytes() as u64, self.now.since(job.begun));
            let is_older = age >= job.told_at * 2;
            if is_older {
                job.told_at = age;
            }
            if bytes > 0 || is_older {
                let computing_us = ((job.alone_s - job.left_s) * job.needs.cores * 1e6) as u64;
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
        let sample = Sample {
            used: place.used_s.map(|used| ((used / seconds).min(1.0) * f64::from(WHOLE)) as u32),
            moved_bytes_per_s: (moved / seconds * NETWORK_BYTES_PER_S) as u64,
            free_memory_bytes: memory_bytes.saturating_sub(all_held),
            memory_stalls: 0,
            runnable: (place.runnable_s / seconds).round() as u32,
            strangers: 0,
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

    /// Records that a node runs another number of tasks.
    pub(super) fn record_width(&mut self, change: throng_core::pack::Change) {
        self.record(|_| Entry::Command(node::Command::Width(change)));
    }
}
