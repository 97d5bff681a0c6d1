//! What nobody may do, whatever breaks: looked at as it happens, for the swarm.

use throng_core::ids::{NodeId, ObjectId, SlotId, TaskId};
use throng_core::member::{Member, Message};
use throng_core::store::{LEASE, Memory, Owner, Phase, Verdict};
use throng_core::time::Time;
use throng_core::workflow::Resources;

use super::World;
use super::unwanted::Unwanted;

impl World {
    /// What the store knows.
    pub(crate) fn memory(&self) -> &Memory {
        &self.storage.memory
    }

    /// The nodes that are alive.
    pub(crate) fn members(&self) -> impl Iterator<Item = &Member> {
        self.machines.iter().filter_map(|machine| machine.member.as_ref())
    }

    /// The nodes that something happened to in the last event, as far as they are alive: nothing has changed on any other.
    pub(crate) fn touched(&self) -> impl Iterator<Item = &Member> {
        self.touched.iter().filter_map(|node| self.member(*node))
    }

    /// A node, if it is alive.
    pub(crate) fn member(&self, node: NodeId) -> Option<&Member> {
        self.machines[node.index()].member.as_ref()
    }

    /// What was cancelled.
    pub(crate) fn unwanted(&self) -> &Unwanted {
        &self.unwanted
    }

    /// What time it is.
    pub(crate) fn now(&self) -> Time {
        self.now
    }

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
        let is_owned = record.owner == (Owner { node, boot }) && record.phase < Phase::Settled;
        // Whoever holds a task that somebody else cancels does not hear of it: it may do it in vain.
        let member = self.machines[node.index()].member.as_ref();
        let is_in_vain = record.verdict == Verdict::Cancelled && member.is_some_and(|member| member.holds(task));
        let is_lawful = is_owned || is_in_vain;
        if self.is_checked && !is_lawful && self.cluster.faults.failovers.is_empty() {
            self.violation = Some(format!("node {} starts {task:?}, which is {record:?}", node.0));
        }
        let machine = self.machines[node.index()].machine_type;
        let planned = self.flow.planned_type(self.flow.class(task, 1));
        if self.is_checked && planned.is_some_and(|planned| usize::from(planned) != machine) {
            self.violation = Some(format!("node {} starts {task:?}, which a plan holds to another type", node.0));
        }
        self.check_held(&[task]);
    }

    /// The tasks of a message after which nobody else may hold them.
    pub(super) fn tasks_to_check(&self, message: &Message) -> Vec<TaskId> {
        match message {
            Message::Take { tasks, .. } if self.is_checked => tasks.iter().map(|load| load.ready.task).collect(),
            _ => Vec::new(),
        }
    }

    /// No two nodes hold a task. Where nodes may die, whoever is given one may learn that from the store before whoever gave it away has
    /// heard that the store agrees; there, only what is started counts.
    pub(super) fn check_held(&mut self, tasks: &[TaskId]) {
        if !self.is_checked || self.cluster.faults.needs_leases() {
            return;
        }
        for task in tasks {
            let holders = self.members().filter(|it| it.holds(*task));
            let holders: Vec<Owner> = holders.map(Member::me).collect();
            if holders.len() > 1 {
                self.violation =
                    Some(format!("{holders:?} hold {task:?}, which is {:?}", self.storage.memory.record(*task)));
                return;
            }
        }
    }

    /// What runs in slots is what nodes think, and asks for no more than there is if nodes reserve what is asked for.
    pub(crate) fn check_slots(&self, reserves: bool) -> Result<(), String> {
        for member in self.touched() {
            let node = member.me().node;
            let machine = &self.machines[node.index()];
            let mut asked = Resources { cpus_milli: 0, memory_bytes: 0 };
            for (slot, running) in (0..).map(SlotId).zip(&machine.slots) {
                if let Some(running) = running
                    && member.node().task_in(slot) != Some(running.task)
                {
                    return Err(format!(
                        "{slot:?} of node {} runs {:?}, of which it does not know",
                        node.0, running.task
                    ));
                }
                if let Some(conditions) = member.node().conditions(slot) {
                    let demand = self.flow.resources(conditions.demand);
                    asked.cpus_milli += demand.cpus_milli;
                    asked.memory_bytes += demand.memory_bytes;
                }
            }
            let (has, _) = self.cluster.machine(node);
            let is_too_much = asked.cpus_milli > u64::from(has.cores) * 1000 || asked.memory_bytes > has.memory_bytes;
            if reserves && is_too_much {
                return Err(format!("what runs on node {} asks for {asked:?}, and it has {has:?}", node.0));
            }
        }
        Ok(())
    }

    /// Nobody deletes the last copy of what somebody needs. Copies of the dead do not count once everybody can have heard of their death,
    /// which those who are cut off cannot. What nobody needed until a reader had to be done again may be on its way out, and is made again.
    pub(super) fn check_evicted(&mut self, node: NodeId, object: ObjectId) {
        let faults = &self.cluster.faults;
        let may_be_wrong = !faults.partitions.is_empty() || !faults.failovers.is_empty();
        if !self.is_checked || may_be_wrong || !self.storage.memory.is_needed(object) {
            return;
        }
        // What was made after its task was cancelled does not count.
        let maker = self.flow.producer(object).map(|maker| self.storage.memory.record(maker));
        if maker.is_some_and(|maker| maker.phase >= Phase::Settled && maker.verdict == Verdict::Cancelled) {
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
        // The store may have agreed before it was noticed that somebody else who had a copy had died.
        let has_just_died = self.died_with.get(&object).is_some_and(|died| self.now.since(*died) < LEASE * 2);
        if !has_just_died && !self.storage.memory.copies(object).any(counts) {
            let name = self.flow.object_name(object);
            self.violation = Some(format!("node {} deletes the last copy of {object:?}, `{name}`", node.0));
        }
    }
}
