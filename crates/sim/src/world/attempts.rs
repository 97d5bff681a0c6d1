//! Attempts at tasks: how they begin, how long they compute, and how they end.

use std::time::Duration;

use throng_core::ids::{NodeId, ObjectId, SlotId, TaskId};
use throng_core::member::Event;
use throng_core::node::{self, End, KillReason};
use throng_core::rng::Rng;
use throng_core::trace::{self, Entry};

use super::disks::AtDisk;
use super::{Happening, Running, World};
use crate::lengths::times;
use crate::work::Work;

impl World {
    /// How long tasks take on a node.
    pub(super) fn work_on(&self, node: NodeId) -> Work<'_> {
        let machine = &self.machines[node.index()];
        Work::on(&self.flow, &self.cluster, machine.machine_type, machine.speed)
    }

    pub(super) fn start(&mut self, node: NodeId, task: TaskId, slot: SlotId, attempt: u16) {
        self.set_busy(1);
        self.check_start(node, task);
        self.record(|world| {
            let slot = world.slot_of_all(node, slot);
            Entry::Command(node::Command::Start { task, attempt, slot })
        });
        let machine = &mut self.machines[node.index()];
        let (boot, started) = (machine.boot, self.now);
        machine.slots[slot.index()] = Some(Running { task, attempt, started });
        let attempt = AtDisk { node, boot, slot, task, attempt, started };
        if !self.reads_first(attempt) {
            self.compute(attempt);
        }
    }

    /// An attempt has what it reads, and computes.
    pub(super) fn compute(&mut self, attempt: AtDisk) {
        let AtDisk { node, boot, slot, task, attempt, started } = attempt;
        let work = self.work_on(node);
        let slowness = self.cluster.faults.slowness(self.now, node.0);
        let length = work.length(task);
        let length = if slowness == 1.0 { length } else { times(length, slowness) };
        if self.cluster.faults.is_deadly(self.cluster.seed, task.0) {
            let back_after = Some(Duration::from_secs(5));
            self.agenda.plan(self.now + length / 2, Happening::Crash { node, boot: Some(boot), back_after });
        }
        let attempt_there = AtDisk { node, boot, slot, task, attempt, started };
        if self.enter(attempt_there, length) {
            return;
        }
        self.agenda.plan(self.now + length, Happening::Finished { node, boot, slot, task, attempt, started });
    }

    /// What is asked to end ends at once.
    pub(super) fn kill(&mut self, node: NodeId, slot: SlotId, why: KillReason) {
        self.leave(node, slot);
        let machine = &mut self.machines[node.index()];
        if let Some(attempt) = machine.slots[slot.index()].take() {
            let boot = machine.boot;
            self.agenda.plan(self.now, Happening::Killed { node, boot, slot, attempt, why });
        }
    }

    pub(super) fn finish(&mut self, attempt: AtDisk) {
        let AtDisk { node, slot, task, attempt, started, .. } = attempt;
        let running = Running { task, attempt, started };
        self.machines[node.index()].slots[slot.index()] = None;
        // However long it took, a run in which an attempt ends is not stuck.
        self.last_progress = self.now;
        let faults = &self.cluster.faults;
        let dice = self.cluster.seed ^ 0xFA11 ^ (u64::from(task.0) << 24) ^ (u64::from(attempt) << 56);
        if faults.failing > 0.0 && Rng::new(dice).unit() < faults.failing {
            self.end_in_vain(running);
            self.outcome.failed_attempts += 1;
            let end = End::Failed { code: 1 };
            self.record_end(node, slot, running, trace::Outcome::Exited(1), end);
            self.tell_and_decide(node, Event::Finished { slot, end, outputs: Vec::new() });
            self.record_pause(node, running);
            return;
        }
        self.set_busy(-1);
        self.used(node);
        let took = self.now.since(started).as_nanos();
        self.outcome.busy_ns += took;
        if self.cluster.faults.needs_leases() {
            // Only the last one counts.
            let earlier = self.ended_well_ns.insert(task, took as u64);
            self.outcome.lost_ns += u128::from(earlier.unwrap_or(0));
        }
        let work = Work::new(&self.flow, self.cluster.variation, self.cluster.seed);
        let outputs: Vec<(ObjectId, u64)> =
            self.flow.outputs(task).map(|object| (object, work.bytes(object))).collect();
        if self.cluster.shares_results {
            self.write_through(node, outputs.iter().map(|(_, bytes)| *bytes).fold(0, u64::saturating_add));
        }
        self.record_end(node, slot, running, trace::Outcome::Done, End::Done);
        self.tell_and_decide(node, Event::Finished { slot, end: End::Done, outputs });
    }

    /// An attempt is over that did not come to a good end.
    pub(super) fn end_in_vain(&mut self, attempt: Running) {
        self.set_busy(-1);
        let took = self.now.since(attempt.started).as_nanos();
        self.outcome.busy_ns += took;
        self.outcome.lost_ns += took;
    }
}
