//! What nobody may do, whatever breaks: looked at as it happens, for the swarm.

use throng_core::ids::{NodeId, ObjectId, TaskId};
use throng_core::store::{Owner, Phase};

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

    /// Nobody deletes the last copy of what somebody needs.
    pub(super) fn check_evicted(&mut self, node: NodeId, object: ObjectId) {
        let faults = &self.cluster.faults;
        if !self.is_checked || faults.needs_leases() || !self.storage.memory.is_needed(object) {
            return;
        }
        let has_other = self.storage.memory.places(object).any(|place| place != node);
        if !has_other {
            self.violation = Some(format!("node {} deletes the last copy of {object:?}", node.0));
        }
    }
}
