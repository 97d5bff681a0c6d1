//! What nobody may do, whatever breaks: looked at as it happens, for the swarm.

use throng_core::ids::{NodeId, ObjectId, TaskId};
use throng_core::store::{LEASE, Owner, Phase};

use super::World;

impl World {
    /// Each task's effects count once.
    pub(super) fn check_settled(&mut self, task: TaskId, generation: u16, owner: Owner) {
        if self.is_checked && self.cluster.faults.failovers.is_empty() {
            let first = *self.settled_by.entry((task, generation)).or_insert(owner);
            if first != owner {
                self.violation = Some(format!("{task:?} was settled by {first:?} and then by {owner:?}"));
            }
        }
    }

    /// Whoever starts a task owns it.
    pub(super) fn check_start(&mut self, node: NodeId, task: TaskId) {
        let record = self.storage.memory.record(task);
        let boot = self.machines[node.index()].boot;
        let is_lawful = record.owner == (Owner { node, boot }) && record.phase < Phase::Settled;
        if self.is_checked && !is_lawful && self.cluster.faults.failovers.is_empty() {
            self.violation = Some(format!("node {} starts {task:?}, which is {record:?}", node.0));
        }
    }

    /// Nobody deletes the last copy of what somebody needs. Copies of the dead do not count once everybody can have heard of their death,
    /// which those who are cut off cannot. What nobody needed until a reader had to be done again may be on its way out, and is made again.
    pub(super) fn check_evicted(&mut self, node: NodeId, object: ObjectId) {
        let faults = &self.cluster.faults;
        let may_be_wrong = !faults.partitions.is_empty() || !faults.failovers.is_empty();
        if !self.is_checked || may_be_wrong || !self.storage.memory.is_needed(object) {
            return;
        }
        let is_done_again = |reader| self.storage.memory.record(reader).generation > 0;
        if self.kin.readers(object).any(is_done_again) {
            return;
        }
        let counts = |place: Owner| {
            let Some(machine) = self.machines.get(place.node.index()) else { return true };
            let is_alive = machine.member.is_some() && machine.boot == place.boot;
            place.node != node && (is_alive || self.now.since(machine.died) < LEASE * 2)
        };
        if !self.storage.memory.copies(object).any(counts) {
            self.violation = Some(format!("node {} deletes the last copy of {object:?}", node.0));
        }
    }
}
