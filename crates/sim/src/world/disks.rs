//! Nodes with disks: what is not in memory any more has to be read, and what makes room for others has to be written.
//!
//! A task reads in its slot before it computes, and writes there before it ends, as a program does; what is fetched is here when
//! there is room for it in memory. What a peer wants from here comes through the disk if it is not in memory.

use throng_core::ids::{NodeId, ObjectId, SlotId, TaskId};
use throng_core::time::Time;

use super::moving::Errand;
use super::{Running, World};
use crate::network::Route;
use crate::tier::{Tier, Traffic};
use crate::work::Work;

/// An attempt that waits for a disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct AtDisk {
    pub node: NodeId,
    pub boot: u32,
    pub slot: SlotId,
    pub task: TaskId,
    pub attempt: u16,
    pub started: Time,
}

impl World {
    /// The memory of a node that has just been started, if disks are modelled.
    pub(super) fn empty_tier(&self) -> Option<Tier> {
        self.cluster.disk_bandwidth.map(|_| Tier::new(self.cluster.memory_tier_bytes))
    }

    /// Whether a task that has been started has to read from disk; it computes when that is done.
    pub(super) fn reads_first(&mut self, attempt: AtDisk) -> bool {
        let Some(tier) = &mut self.machines[attempt.node.index()].tier else { return false };
        let mut traffic = Traffic::default();
        for object in self.flow.inputs(attempt.task) {
            traffic += tier.read(object, self.storage.memory.bytes(object));
        }
        self.uses_disk(attempt.node, traffic, Errand::Read(attempt))
    }

    /// Whether what a task has made has to wait for the disk; it ends when that is done. An attempt that fails has written, too.
    pub(super) fn writes_first(&mut self, attempt: AtDisk) -> bool {
        let Some(tier) = &mut self.machines[attempt.node.index()].tier else { return false };
        let work = Work::new(&self.flow, self.cluster.variation, self.cluster.seed);
        let mut traffic = Traffic::default();
        for object in self.flow.outputs(attempt.task) {
            traffic += tier.write(object, work.bytes(object));
        }
        self.uses_disk(attempt.node, traffic, Errand::Write(attempt))
    }

    /// Whether something that has come has to wait for room in memory.
    pub(super) fn settles_first(&mut self, node: NodeId, boot: u32, object: ObjectId, bytes: u64) -> bool {
        let Some(tier) = &mut self.machines[node.index()].tier else { return false };
        let traffic = tier.write(object, bytes);
        self.uses_disk(node, traffic, Errand::Keep { node, boot, object, bytes })
    }

    /// Whether what a peer wants has to be read from disk. Nobody waits for what is written to make room for it.
    pub(super) fn serves_from_disk(&mut self, node: NodeId, object: ObjectId, bytes: u64) -> bool {
        let Some(tier) = &mut self.machines[node.index()].tier else { return false };
        let traffic = tier.read(object, bytes);
        self.outcome.disk_read_bytes += traffic.read;
        self.uses_disk(node, Traffic { read: 0, ..traffic }, Errand::Nobodys);
        traffic.read > 0
    }

    fn uses_disk(&mut self, node: NodeId, traffic: Traffic, errand: Errand) -> bool {
        self.outcome.disk_read_bytes += traffic.read;
        self.outcome.disk_written_bytes += traffic.written;
        if traffic.bytes() == 0 {
            return false;
        }
        self.network.begin(self.now, Route::Disk { node }, traffic.bytes(), errand);
        self.watch_network();
        true
    }

    /// Whether an attempt that used the disk still runs.
    pub(super) fn still_runs(&self, attempt: &AtDisk) -> bool {
        let AtDisk { node, boot, slot, task, attempt, started } = *attempt;
        self.lives(node, boot)
            && self.machines[node.index()].slots[slot.index()] == Some(Running { task, attempt, started })
    }
}
