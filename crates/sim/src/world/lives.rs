//! How long nodes live: what is planned to break, dying, and coming back.

use std::time::Duration;

use throng_core::ids::{NodeId, SlotId, TaskId};
use throng_core::member::Event;
use throng_core::store::Owner;
use throng_core::time::Time;

use super::making::make_member;
use super::{Happening, World};

impl World {
    pub(super) fn plan_faults(&mut self) {
        let faults = self.cluster.faults.clone();
        let at = |time: Duration| Time::START + time;
        for crash in &faults.crashes {
            let node = NodeId(crash.node);
            self.agenda.plan(at(crash.at), Happening::Crash { node, boot: None, back_after: crash.back_after });
        }
        for cause in 0..faults.crashes_by_chance.len() {
            for at in 0..self.cluster.nodes {
                self.plan_crash(NodeId(at), cause, 0);
            }
        }
        for drain in &faults.drains {
            self.agenda.plan(at(drain.at), Happening::Drain { node: NodeId(drain.node) });
        }
        for cancel in faults.cancels.iter().filter(|cancel| (cancel.task as usize) < self.flow.task_count()) {
            let (node, task) = (NodeId(cancel.node), TaskId(cancel.task));
            self.agenda.plan(at(cancel.at), Happening::Cancel { node, task });
        }
        for disk in &faults.full_disks {
            let node = NodeId(disk.node);
            self.agenda.plan(at(disk.from), Happening::Room { node, is_full: true });
            self.agenda.plan(at(disk.until), Happening::Room { node, is_full: false });
        }
        for (number, failover) in faults.failovers.iter().enumerate() {
            let behind = at(failover.at.saturating_sub(failover.behind));
            self.agenda.plan(behind, Happening::Snapshot { failover: number });
            self.agenda.plan(at(failover.at), Happening::Failover { failover: number });
        }
    }

    /// Plans when a node dies by chance next, counted from now.
    pub(super) fn plan_crash(&mut self, node: NodeId, cause: usize, number: u32) {
        let life = self.cluster.faults.crashes_by_chance[cause].life(self.cluster.seed, node.0, number);
        self.agenda.plan(self.now + life, Happening::CrashByChance { node, cause, number });
    }

    pub(super) fn lives(&self, node: NodeId, boot: u32) -> bool {
        let machine = &self.machines[node.index()];
        machine.boot == boot && machine.member.is_some()
    }

    /// A node dies, and comes back after a while if somebody says so.
    pub(super) fn crash(&mut self, node: NodeId, back_after: Option<Duration>) {
        self.outcome.crashes += u64::from(self.machines[node.index()].member.is_some());
        self.deaths_in_vain += 1;
        self.end_life(node);
        if let Some(after) = back_after {
            let time = self.now + after;
            self.last_return = self.last_return.max(time);
            self.agenda.plan(time, Happening::Return { node });
        }
    }

    /// The life of a node is over: what it ran and had is gone, and what others fetched from it does not come.
    pub(super) fn end_life(&mut self, node: NodeId) {
        let machine = &mut self.machines[node.index()];
        let Some(member) = machine.member.take() else { return };
        self.leave_all(node);
        self.add_up(&member);
        if self.is_checked {
            self.died_with.extend(member.node().objects().into_iter().map(|(object, _)| (object, self.now)));
        }
        let machine = &mut self.machines[node.index()];
        (machine.wake_at, machine.died) = (None, self.now);
        for slot in 0..machine.slots.len() {
            if let Some(attempt) = self.machines[node.index()].slots[slot].take() {
                self.end_in_vain(attempt);
                self.outcome.killed_attempts += 1;
                self.record_died(node, SlotId::at(slot), attempt);
            }
        }
        self.cut_off(node);
    }

    pub(super) fn come_back(&mut self, node: NodeId) {
        let machine = &mut self.machines[node.index()];
        if machine.member.is_some() {
            return;
        }
        machine.boot += 1;
        machine.room_bytes = self.cluster.cache_bytes;
        let me = Owner { node, boot: machine.boot };
        let member = make_member(&self.flow, &self.kin, &self.cluster, &self.common, me, self.now);
        self.machines[node.index()].member = member.ok();
        self.tell_and_decide(node, Event::Join);
        self.plan_measuring(node);
    }
}
