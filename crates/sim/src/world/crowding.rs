//! Tasks that share what their node has: how they come, get on and go.
//!
//! Whoever comes or goes changes the pace of others: on its node, and on all that share a file system that is short. That is thought about once
//! after each thing that happens (`settle`), because mostly one task goes and the next one comes, and nothing has changed for the others.

mod measuring;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use throng_core::ids::{NodeId, SlotId};
use throng_core::member::Event;
use throng_core::pack::Spent;
use throng_core::pack::dominant::{Resource, Use};
use throng_core::rng::Rng;
use throng_core::time::Time;

use super::disks::AtDisk;
use super::{Happening, World};
use crate::crowd::{Crowd, Groups, NOTHING_S, Needs, Paces};
use measuring::FIRST_TOLD;

/// A task that gets on.
#[derive(Clone, Copy)]
struct Job {
    attempt: AtDisk,
    needs: Needs,
    begun: Time,
    /// How long it would take alone, in seconds, and what the clock of its group shows when it is done.
    alone_s: f64,
    end_s: f64,
    peak_bytes: f64,
    /// How old it was when its node was told what it has computed.
    told_at: Duration,
}

/// What happens on one node.
#[derive(Default)]
struct Place {
    jobs: BTreeMap<SlotId, Job>,
    groups: Groups,
    /// Unknown from when something changes until that is settled.
    paces: Option<Paces>,
    /// How many cores others have wanted since then.
    strangers: f64,
    /// Until when everything has got on.
    at: Time,
    /// When it will be looked whether somebody is done, as far as that is planned: never after the first one is.
    ripe_at: Option<Time>,
    /// What has been used since it was measured, in seconds of the whole.
    used_s: [f64; Resource::ALL.len()],
    runnable_s: f64,
    /// What strangers have used of the cores since then, in seconds of all of them.
    strangers_s: f64,
    measured_at: Time,
    /// When it will be measured again, and how often that was done since something changed.
    measure_at: Option<Time>,
    calm: u32,
    /// What has been used in all.
    whole_s: [f64; Resource::ALL.len()],
}

/// What happens on all nodes.
pub(super) struct Crowding {
    crowd: Crowd,
    places: Vec<Place>,
    /// What tasks of all nodes want of the shared file system, as bits, and how many want that: counted, so that rounding leaves nothing behind.
    remote: BTreeMap<u64, u32>,
    /// The part of it that everybody gets.
    share: f64,
    /// Nodes with tasks that want something of it.
    sharing: BTreeSet<NodeId>,
    /// Nodes of which something has changed.
    unsettled: BTreeSet<NodeId>,
}

impl Crowding {
    pub(super) fn new(crowd: Crowd, nodes: u32) -> Crowding {
        let places = std::iter::repeat_with(Place::default).take(nodes as usize).collect();
        let (sharing, unsettled) = (BTreeSet::new(), BTreeSet::new());
        Crowding { crowd, places, remote: BTreeMap::new(), share: 1.0, sharing, unsettled }
    }

    fn share_at(&self, since: Duration) -> f64 {
        let wanted: f64 = self.remote.iter().map(|(wants, tasks)| f64::from_bits(*wants) * f64::from(*tasks)).sum();
        let serves = self.crowd.serves(since);
        if wanted > serves { serves / wanted } else { 1.0 }
    }

    fn enter(&mut self, node: NodeId, slot: SlotId, mut job: Job) {
        let place = &mut self.places[node.index()];
        job.end_s = place.groups.enter(&job.needs, slot, job.alone_s);
        place.jobs.insert(slot, job);
        if job.needs.remote > 0.0 {
            *self.remote.entry(job.needs.remote.to_bits()).or_default() += 1;
        }
    }

    fn leave(&mut self, node: NodeId, slot: SlotId) {
        let place = &mut self.places[node.index()];
        let Some(Job { needs, end_s, .. }) = place.jobs.remove(&slot) else { return };
        place.groups.leave(&needs, slot, end_s);
        let wants = needs.remote.to_bits();
        if let Some(tasks) = self.remote.get_mut(&wants) {
            *tasks -= 1;
            if *tasks == 0 {
                self.remote.remove(&wants);
            }
        }
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

    /// When something is to happen by itself. Who was there before the first task counts from the beginning.
    pub(super) fn plan_crowd(&mut self) {
        self.crowded();
        let Some(crowding) = &self.crowding else { return };
        for time in crowding.crowd.changes() {
            self.agenda.plan(Time::START + time, Happening::Crowded);
        }
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
        let job = Job { attempt, needs, begun: self.now, alone_s, end_s: 0.0, peak_bytes, told_at: FIRST_TOLD };
        self.unsettle(node);
        if let Some(crowding) = &mut self.crowding {
            crowding.enter(node, slot, job);
        }
        true
    }

    /// A task does not get on any more, if it did.
    pub(super) fn leave(&mut self, node: NodeId, slot: SlotId) {
        let is_there = |crowding: &Crowding| crowding.places[node.index()].jobs.contains_key(&slot);
        if !self.crowding.as_ref().is_some_and(is_there) {
            return;
        }
        self.unsettle(node);
        if let Some(crowding) = &mut self.crowding {
            crowding.leave(node, slot);
        }
    }

    /// Nobody is on a node any more.
    pub(super) fn leave_all(&mut self, node: NodeId) {
        let Some(crowding) = &self.crowding else { return };
        let slots: Vec<SlotId> = crowding.places[node.index()].jobs.keys().copied().collect();
        slots.into_iter().for_each(|slot| self.leave(node, slot));
    }

    /// Something has changed by itself.
    pub(super) fn crowded(&mut self) {
        (0..self.cluster.nodes).for_each(|at| self.unsettle(NodeId(at)));
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
        for (needs, tasks) in place.groups.each() {
            let pace = paces.of(needs) * f64::from(tasks);
            used[Resource::Cpu as usize] += pace * needs.cores / cores;
            used[Resource::Network as usize] += pace * needs.network;
            used[Resource::Disk as usize] += pace * needs.disk;
            used[Resource::Remote as usize] += pace * needs.remote;
            wants_core += pace * needs.cores / paces.cores;
        }
        place.groups.get_on(&paces, seconds);
        let strangers = place.strangers * paces.cores / cores;
        used[Resource::Cpu as usize] += strangers;
        place.used_s.iter_mut().zip(used).for_each(|(sum, used)| *sum += used.min(1.0) * seconds);
        place.whole_s.iter_mut().zip(used).for_each(|(sum, used)| *sum += used.min(1.0) * seconds);
        place.runnable_s += wants_core * seconds;
        place.strangers_s += strangers * seconds;
    }

    /// Tasks of a node get on until now, and from now on at another pace.
    fn unsettle(&mut self, node: NodeId) {
        self.stir(node);
        self.get_on(node);
        let Some(crowding) = &mut self.crowding else { return };
        crowding.places[node.index()].paces = None;
        crowding.unsettled.insert(node);
    }

    /// Thinks again about how fast tasks get on, where something has changed: on some nodes, and on all that share a file system if everybody gets
    /// another part of it.
    pub(super) fn settle(&mut self) {
        let Some(crowding) = self.crowding.as_mut().filter(|crowding| !crowding.unsettled.is_empty()) else { return };
        let mut nodes = std::mem::take(&mut crowding.unsettled);
        let share = crowding.share_at(self.now.since(Time::START));
        if share != crowding.share {
            crowding.share = share;
            nodes.extend(&crowding.sharing);
        }
        for node in nodes {
            self.get_on(node);
            self.pace(node);
        }
    }

    fn pace(&mut self, node: NodeId) {
        let (cores, since) = (f64::from(self.cluster.machine(node).0.cores), self.now.since(Time::START));
        let Some(Crowding { crowd, places, share, sharing, .. }) = &mut self.crowding else { return };
        let place = &mut places[node.index()];
        if place.paces.is_none() {
            let demand = place.groups.demand();
            if demand.remote > 0.0 {
                sharing.insert(node)
            } else {
                sharing.remove(&node)
            };
            place.strangers = crowd.strangers(node.0, since);
            place.paces = Some(Paces::new(crowd, &demand, cores, place.strangers, *share));
        }
        let Some(paces) = &mut place.paces else { return };
        paces.remote = *share;
        let Some(next) = place.groups.next_end(paces) else { return };
        // Not before it is over, by rounding.
        let time = self.now + Duration::try_from_secs_f64(next).unwrap_or(Duration::MAX) + Duration::from_nanos(1);
        // Who is looked at too early is looked at again: cheaper than to plan anew whenever something becomes slower.
        if place.ripe_at.is_none_or(|planned| time < planned) {
            place.ripe_at = Some(time);
            self.agenda.plan(time, Happening::Ripe { node });
        }
    }

    /// The next task of a node is done, unless others have come or gone since.
    pub(super) fn ripe(&mut self, node: NodeId) {
        let now = self.now;
        let place = self.crowding.as_mut().map(|crowding| &mut crowding.places[node.index()]);
        if place.and_then(|place| place.ripe_at.take_if(|planned| *planned == now)).is_none() {
            return;
        }
        // Whoever is left by rounding is looked at again.
        self.unsettle(node);
        let Some(crowding) = &self.crowding else { return };
        let place = &crowding.places[node.index()];
        let ripe: Vec<Job> = place.groups.ripe().iter().map(|slot| place.jobs[slot]).collect();
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
    }
}
