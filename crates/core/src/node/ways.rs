//! In which of its ways a task can run now: whether there is room for it beside those that run.
//!
//! A policy that learns may want to see one kind first while only tasks of others are at hand, or more classes may wait than anybody looks at. A
//! node with nothing to do does not wait for better times: then whatever could run at all may.

use super::ReadyTask;
use super::pressing::Pressing;
use crate::ids::{ClassId, DemandId};
use crate::pack::Pack;
use crate::pools::Pools;
use crate::workflow::Workflow;

/// Whatever has a say in that.
pub(super) struct Ways<'a> {
    pub(super) flow: &'a Workflow,
    pub(super) pack: &'a dyn Pack,
    pub(super) pools: &'a Pools,
    pub(super) pressing: Option<&'a Pressing>,
    /// Whether nothing runs, and nothing would by the policy.
    pub(super) is_stuck: bool,
}

impl Ways<'_> {
    /// The first way to run tasks of a class for which there is room.
    pub(super) fn of_class(&self, class: ClassId) -> Option<DemandId> {
        let has_room = |demand| self.pressing.is_none_or(|pressing| pressing.headroom().has_room(demand));
        self.but_for_memory(class).find(|demand| has_room(*demand))
    }

    /// The same for a task, which may be known to need more memory than others.
    pub(super) fn of_task(&self, ready: &ReadyTask) -> Option<DemandId> {
        match self.pressing.and_then(|pressing| Some((pressing, pressing.known_bytes(ready.task)?))) {
            Some((pressing, bytes)) => {
                self.but_for_memory(ready.class).next().filter(|_| pressing.headroom().has_room_for(bytes))
            }
            None => self.of_class(ready.class),
        }
    }

    /// Those for which there is room if memory is not looked at.
    pub(super) fn but_for_memory(&self, class: ClassId) -> impl Iterator<Item = DemandId> {
        let may = |demand| self.pack.admits(demand) || self.is_stuck && self.pack.could_ever_admit(demand);
        self.flow.alternatives(class).filter(move |demand| may(*demand) && self.pools.can_meet(*demand))
    }
}
