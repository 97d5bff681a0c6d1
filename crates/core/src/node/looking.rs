//! What others may know of a node: members, drivers, simulations and tests.

use std::sync::Arc;
use std::time::Duration;

use super::pressing::Pressing;
use super::stage::Stage;
use super::{CacheTally, Conditions, Node, Stopping, Taker, Timetable};
use crate::ids::{KindId, ObjectId, SlotId, TaskId};
use crate::pack::Found;
use crate::time::Time;

impl Node {
    /// How many attempts are under way.
    pub fn running(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// How many tasks an order has handed out: those that run, and those whose data is brought or that have it.
    pub fn handed_out(&self) -> usize {
        self.running() + self.waiting_for_memory() + self.stage.as_ref().map_or(0, Stage::len)
    }

    /// How many tasks were stopped because memory was short, and wait for it.
    pub fn waiting_for_memory(&self) -> usize {
        self.pressing.as_ref().map_or(0, Pressing::waiting)
    }

    /// Whether it holds to a plan.
    pub fn has_timetable(&self) -> bool {
        self.timetable.is_some()
    }

    /// The tasks that were planned for it and may still begin here, as far as it knows: those that are to begin first come first.
    pub fn expected(&self) -> impl Iterator<Item = TaskId> + '_ {
        self.timetable.iter().flat_map(Timetable::waiting)
    }

    /// How many tasks wait for a slot or for their next attempt.
    pub fn waiting(&self) -> usize {
        let staged = self.stage.as_ref().map_or(0, Stage::len);
        self.policies.local.len() + self.policies.shared.len() + self.retries.len() + staged + self.waiting_for_memory()
    }

    /// How many of them wait for data that is being brought, or for room for it.
    pub fn waiting_for_data(&self) -> usize {
        self.stage.as_ref().map_or(0, Stage::waiting_for_data)
    }

    /// How many slots there are.
    pub fn slot_count(&self) -> usize {
        self.slots.len()
    }

    /// How many slots are free.
    pub fn free_slots(&self) -> usize {
        self.free.len()
    }

    /// How many tasks wait that nobody else may have.
    pub fn local_len(&self) -> usize {
        self.policies.local.len()
    }

    /// How many tasks wait that others may have: those that are shared, with those of them for whose data there is no room here.
    pub fn shared_len(&self) -> usize {
        self.policies.shared.len() + self.stage.as_ref().map_or(0, |stage| stage.parked(false, &|_| true).count())
    }

    /// How many of those somebody else may have.
    pub fn shared_with(&self, taker: &Taker<'_>) -> usize {
        let parked = self.stage.as_ref().map_or(0, |stage| stage.parked(taker.also_kept, taker.can_run).count());
        self.policies.shared.count(taker.can_run) + parked
    }

    /// Whether there are slots for which there is nothing to do. Where one task has found no room, more of them would only do the same: they would
    /// go round among nodes that are all full.
    pub fn wants_work(&self) -> bool {
        let staged = self.stage.as_ref().map_or(0, Stage::len);
        let will_change = |stage: &Stage| self.running() + staged > 0 || !stage.cache.is_settled();
        let is_cramped = self.stage.as_ref().is_some_and(|stage| stage.is_cramped() && will_change(stage));
        let has_memory = || self.pressing.as_ref().is_none_or(|pressing| pressing.headroom().has_any_room());
        !self.is_stopping()
            && !is_cramped
            && staged < self.free.len()
            && self.waiting_for_memory() == 0
            && has_memory()
            && (self.has_empty_queues() || !self.policies.pack.idle_kinds().is_empty())
    }

    fn has_empty_queues(&self) -> bool {
        self.policies.local.is_empty() && self.policies.shared.is_empty()
    }

    /// The kinds that work is wanted of, if not of any.
    pub fn wanted_kinds(&self) -> Option<Arc<[KindId]>> {
        (!self.has_empty_queues()).then(|| self.policies.pack.idle_kinds().into())
    }

    /// How many tasks to ask for.
    pub fn appetite(&self) -> u32 {
        self.policies.pack.appetite().min(self.free.len() as u32)
    }

    /// The task that runs in a slot.
    pub fn task_in(&self, slot: SlotId) -> Option<TaskId> {
        self.slots[slot.index()].as_ref().map(|running| running.ready.task)
    }

    /// What the task in a slot reads.
    pub fn input_bytes(&self, slot: SlotId) -> u64 {
        self.slots[slot.index()].as_ref().map_or(0, |running| running.ready.input_bytes)
    }

    /// Whether an object can be read here now.
    pub fn has_object(&self, object: ObjectId) -> bool {
        self.stage.as_ref().is_some_and(|stage| stage.cache.has(object))
    }

    /// How large an object is that is here.
    pub fn object_bytes(&self, object: ObjectId) -> Option<u64> {
        self.stage.as_ref()?.cache.bytes(object)
    }

    /// When an object is to be here, if that was planned: at the latest when the first of those begins that wait for it.
    pub fn due(&self, object: ObjectId) -> Time {
        self.stage.as_ref().map_or(Time::START, |stage| stage.due(object))
    }

    /// How often tasks found what they read.
    pub fn cache_tally(&self) -> CacheTally {
        self.stage.as_ref().map_or_else(CacheTally::default, |stage| stage.tally)
    }

    /// How much of the cache is used, and how large it is.
    pub fn cache_room(&self) -> (u64, u64) {
        self.stage.as_ref().map_or((0, u64::MAX), |stage| (stage.cache.used(), stage.cache.capacity()))
    }

    /// All objects that are here, with sizes.
    pub fn objects(&self) -> Vec<(ObjectId, u64)> {
        self.stage.as_ref().map_or_else(Vec::new, |stage| stage.cache.objects().collect())
    }

    /// Checks what must hold whatever happens: for tests and simulations.
    pub fn check(&self) -> Result<(), String> {
        let running = self.slots.iter().flatten().map(|running| (running.ready.task, running.output_bytes));
        let running: Vec<(TaskId, u64)> = running.collect();
        if running.len() + self.free.len() != self.slots.len() {
            return Err(format!(
                "{} of {} slots run, and {} are free",
                running.len(),
                self.slots.len(),
                self.free.len()
            ));
        }
        self.stage.as_ref().map_or(Ok(()), |stage| stage.check(&self.flow, &running))
    }

    /// Whether something waits that could start now.
    pub fn could_start(&self) -> bool {
        let waits = !self.policies.local.is_empty() || !self.policies.shared.is_empty();
        waits
            && !self.free.is_empty()
            && self.stage.as_ref().is_none_or(|stage| stage.has_window(true) || !stage.is_used())
    }

    /// How often it wants to be measured, if at all.
    pub fn measures_every(&self) -> Option<Duration> {
        self.policies.pack.measures_every()
    }

    /// What was found out about a kind, if anything is learnt.
    pub fn found(&self, kind: KindId) -> Found {
        self.policies.pack.found(kind)
    }

    /// How much memory there is for tasks, where what they need of it is learnt.
    pub fn learnt_memory_bytes(&self) -> Option<u64> {
        self.pressing.as_ref().map(|pressing| pressing.headroom().all_bytes())
    }

    /// When a task that has failed will be tried again, if it waits for that.
    pub fn tried_again_at(&self, task: TaskId) -> Option<Time> {
        self.retries.keys().find(|(_, waiting)| *waiting == task).map(|(time, _)| *time)
    }

    /// Under what conditions the attempt in a slot runs.
    pub fn conditions(&self, slot: SlotId) -> Option<Conditions> {
        let running = self.slots[slot.index()].as_ref()?;
        Some(Conditions { attempt: running.ready.attempt, demand: running.demand })
    }

    /// What the attempt in a slot holds of GPUs and the like: names, ids, and thousandths.
    pub fn holdings(&self, slot: SlotId) -> Vec<(&str, Vec<&str>, u64)> {
        self.slots[slot.index()].as_ref().map_or_else(Vec::new, |running| self.pools.describe(&running.grant))
    }

    /// Whether nothing will start any more.
    pub fn is_stopping(&self) -> bool {
        self.stopping != Stopping::No
    }

    /// Whether nothing is under way and nothing will start by itself.
    pub fn is_idle(&self) -> bool {
        self.running() == 0 && (self.is_stopping() || self.waiting() == 0)
    }
}
