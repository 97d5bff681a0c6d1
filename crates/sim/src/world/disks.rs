//! Nodes with disks: what is not in memory any more has to be read, and what makes room for others has to be written.
//!
//! A task reads in its slot before it computes, and writes there before it ends, as a program does; what is fetched is here when
//! there is room for it in memory. What a peer wants from here comes through the disk if it is not in memory. Who wants what
//! somebody else is reading already waits for that.

use std::collections::{BTreeMap, BTreeSet};

use throng_core::ids::{NodeId, ObjectId, SlotId, TaskId};
use throng_core::time::Time;

use super::moving::Errand;
use super::{Running, World};
use crate::network::Route;
use crate::outcome::Outcome;
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

/// A node's disk, and the memory in front of it.
#[derive(Default)]
pub(super) struct Disk {
    pub tier: Tier,
    /// What is being read, and by which reading.
    incoming: BTreeMap<ObjectId, u64>,
    /// Who waits for a reading.
    waiting: BTreeMap<u64, Vec<AtDisk>>,
    /// For how many readings an attempt waits.
    open: BTreeMap<(SlotId, Time), usize>,
    readings: u64,
}

impl Disk {
    /// A reading is done; says whose last one it was.
    fn has_read(&mut self, reading: u64) -> Vec<AtDisk> {
        self.incoming.retain(|_, other| *other != reading);
        let mut waiting = self.waiting.remove(&reading).unwrap_or_default();
        waiting.retain(|attempt| {
            let key = (attempt.slot, attempt.started);
            let left = self.open.remove(&key).unwrap_or(1) - 1;
            if left > 0 {
                self.open.insert(key, left);
            }
            left == 0
        });
        waiting
    }
}

impl World {
    /// The disk of a node that has just been started, if disks are modelled: nothing is in memory.
    pub(super) fn fresh_disk(&self) -> Option<Box<Disk>> {
        let tier = self.cluster.disk_bandwidth.map(|_| Tier::new(self.cluster.memory_tier_bytes))?;
        Some(Box::new(Disk { tier, ..Disk::default() }))
    }

    /// Whether a task that has been started has to read from disk; it computes when that is done.
    pub(super) fn reads_first(&mut self, attempt: AtDisk) -> bool {
        let Some(disk) = &mut self.machines[attempt.node.index()].disk else { return false };
        disk.readings += 1;
        let (reading, mut traffic, mut awaited) = (disk.readings, Traffic::default(), BTreeSet::new());
        for object in self.flow.inputs(attempt.task) {
            let read = disk.tier.read(object, self.storage.memory.bytes(object));
            if read.read > 0 {
                disk.incoming.insert(object, reading);
            }
            awaited.extend(disk.incoming.get(&object));
            traffic += read;
        }
        if traffic.bytes() > 0 {
            awaited.insert(reading);
        }
        if awaited.is_empty() {
            return false;
        }
        disk.open.insert((attempt.slot, attempt.started), awaited.len());
        for reading in awaited {
            disk.waiting.entry(reading).or_default().push(attempt);
        }
        let AtDisk { node, boot, .. } = attempt;
        self.uses_disk(node, traffic, Errand::Read { node, boot, reading });
        true
    }

    /// Something has been read: whoever has all that he wants computes.
    pub(super) fn has_read(&mut self, node: NodeId, reading: u64) {
        let Some(disk) = &mut self.machines[node.index()].disk else { return };
        for attempt in disk.has_read(reading) {
            if self.still_runs(&attempt) {
                self.compute(attempt);
            }
        }
    }

    /// Whether what a task has made has to wait for the disk; it ends when that is done. An attempt that fails has written, too.
    pub(super) fn writes_first(&mut self, attempt: AtDisk) -> bool {
        let Some(Disk { tier, .. }) = self.machines[attempt.node.index()].disk.as_deref_mut() else { return false };
        let work = Work::new(&self.flow, self.cluster.variation, self.cluster.seed);
        let mut traffic = Traffic::default();
        for object in self.flow.outputs(attempt.task) {
            traffic += tier.write(object, work.bytes(object));
        }
        self.uses_disk(attempt.node, traffic, Errand::Write(attempt))
    }

    /// Whether something that has come has to wait for room in memory.
    pub(super) fn settles_first(&mut self, node: NodeId, boot: u32, object: ObjectId, bytes: u64) -> bool {
        let Some(Disk { tier, .. }) = self.machines[node.index()].disk.as_deref_mut() else { return false };
        let traffic = tier.write(object, bytes);
        self.uses_disk(node, traffic, Errand::Keep { node, boot, object, bytes })
    }

    /// Whether what a peer wants has to be read from disk. Nobody waits for what is written to make room for it.
    pub(super) fn serves_from_disk(&mut self, node: NodeId, object: ObjectId, bytes: u64) -> bool {
        let Some(disk) = &mut self.machines[node.index()].disk else { return false };
        let traffic = disk.tier.read(object, bytes);
        let is_incoming = disk.incoming.contains_key(&object);
        self.count_disk(Traffic { written: 0, ..traffic });
        self.uses_disk(node, Traffic { read: 0, ..traffic }, Errand::Nobodys);
        traffic.read > 0 || is_incoming
    }

    fn uses_disk(&mut self, node: NodeId, traffic: Traffic, errand: Errand) -> bool {
        self.count_disk(traffic);
        if traffic.bytes() == 0 {
            return false;
        }
        self.network.begin(self.now, Route::Disk { node }, traffic.bytes(), errand);
        self.watch_network();
        true
    }

    fn count_disk(&mut self, traffic: Traffic) {
        let Outcome { disk_read_bytes, disk_written_bytes, .. } = &mut self.outcome;
        *disk_read_bytes = disk_read_bytes.saturating_add(traffic.read);
        *disk_written_bytes = disk_written_bytes.saturating_add(traffic.written);
    }

    /// Whether an attempt that used the disk still runs.
    pub(super) fn still_runs(&self, attempt: &AtDisk) -> bool {
        let AtDisk { node, boot, slot, task, attempt, started } = *attempt;
        self.lives(node, boot)
            && self.machines[node.index()].slots[slot.index()] == Some(Running { task, attempt, started })
    }
}
