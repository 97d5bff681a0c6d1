//! Where memory is short: who is stopped, and when it runs again.
//!
//! A task that was stopped waits apart until there is room for what it turned out to need. At first others that need less go before it; once
//! it has waited for long, nobody does. Its queue takes it for one that is under way all the time.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use super::ways::Ways;
use super::{Command, KillReason, Node, ReadyTask};
use crate::headroom::{Headroom, Relief};
use crate::ids::{DemandId, SlotId, TaskId};
use crate::pack::{Spent, Uses};
use crate::time::Time;

/// Nobody waits longer than this, and four times the time for which it had run, while others start.
const LEAST_PATIENCE: Duration = Duration::from_secs(5);

/// Whom the kernel kills more often than this fails, whatever room there is.
const MOST_KILLS: u32 = 5;

/// A task that was stopped.
#[derive(Clone, Copy, Debug)]
struct Aside {
    ready: ReadyTask,
    is_shared: bool,
    /// What it turned out to need.
    bytes: u64,
    /// From then on, nobody else starts.
    patient_until: Time,
}

/// The memory of a node, and who waits for it.
pub(super) struct Pressing {
    headroom: Headroom,
    aside: VecDeque<Aside>,
    /// What tasks need that were stopped, or are about to be.
    known: BTreeMap<TaskId, u64>,
    /// How often the kernel has killed a task.
    kills: BTreeMap<TaskId, u32>,
}

impl Pressing {
    pub(super) fn new(headroom: Headroom) -> Pressing {
        Pressing { headroom, aside: VecDeque::new(), known: BTreeMap::new(), kills: BTreeMap::new() }
    }

    pub(super) fn headroom(&self) -> &Headroom {
        &self.headroom
    }

    pub(super) fn started(&mut self, now: Time, slot: SlotId, demand: DemandId, task: TaskId) {
        let known = self.known.remove(&task).unwrap_or(0);
        self.headroom.started(now, slot, demand, known);
    }

    pub(super) fn ended(&mut self, now: Time, slot: SlotId, peak_bytes: Option<u64>) {
        self.headroom.ended(now, slot, peak_bytes);
    }

    /// What a task turned out to need that was stopped, and has not started again.
    pub(super) fn known_bytes(&self, task: TaskId) -> Option<u64> {
        self.known.get(&task).copied()
    }

    /// How many wait.
    pub(super) fn waiting(&self) -> usize {
        self.aside.len()
    }

    /// Lets all go that wait.
    fn take_all(&mut self) -> Vec<ReadyTask> {
        self.aside.drain(..).map(|aside| aside.ready).collect()
    }

    /// Lets one go; says whether it waited here.
    fn forget(&mut self, task: TaskId) -> bool {
        self.known.remove(&task);
        let before = self.aside.len();
        self.aside.retain(|aside| aside.ready.task != task);
        self.aside.len() < before
    }
}

impl Node {
    /// Lets all tasks go that wait for memory.
    pub(super) fn take_aside(&mut self) -> Vec<ReadyTask> {
        let tasks = self.pressing.as_mut().map(Pressing::take_all).unwrap_or_default();
        for task in &tasks {
            self.policies.pack.unqueued(self.flow.kind(task.task));
        }
        tasks
    }

    /// Lets a task go; says whether it waited for memory.
    pub(super) fn forget_aside(&mut self, task: TaskId) -> bool {
        let was_there = self.pressing.as_mut().is_some_and(|pressing| pressing.forget(task));
        if was_there {
            self.policies.pack.unqueued(self.flow.kind(task));
        }
        was_there
    }

    /// Takes in what an attempt uses.
    pub(super) fn uses(&mut self, now: Time, slot: SlotId, uses: &Uses) {
        let Some(running) = &self.slots[slot.index()] else { return };
        self.policies.pack.uses(now, running.demand, now.since(running.started), uses);
        if let Some(pressing) = &mut self.pressing {
            pressing.headroom.uses(now, slot, uses);
        }
    }

    /// Takes in how much memory is free, and stops whoever has to go.
    pub(super) fn press(&mut self, now: Time, free_bytes: u64, is_stalled: bool, out: &mut Vec<Command>) {
        let Some(pressing) = &mut self.pressing else { return };
        for (slot, relief) in pressing.headroom.measured(now, free_bytes, is_stalled) {
            let why = match relief {
                Relief::Later { bytes } => {
                    let running = self.slots[slot.index()].as_ref().expect("who is to go is there");
                    let pressing = self.pressing.as_mut().expect("it has just spoken");
                    pressing.known.insert(running.ready.task, bytes);
                    KillReason::Memory
                }
                Relief::Never => KillReason::TooLarge,
            };
            // There is no time to ask.
            self.kill(now, slot, why, true, out);
        }
    }

    /// Whether a task that the kernel has killed for want of memory can run when there is room for what it needs.
    pub(super) fn can_wait_for_room(&mut self, slot: SlotId, task: TaskId, spent: Option<Spent>) -> bool {
        let Some(pressing) = &mut self.pressing else { return false };
        let Some(bytes) = pressing.headroom.ran_out(slot, spent.map(|spent| spent.peak_bytes)) else { return false };
        let kills = pressing.kills.entry(task).or_default();
        *kills += 1;
        if *kills > MOST_KILLS {
            return false;
        }
        pressing.known.insert(task, bytes);
        true
    }

    /// Keeps a task that was stopped until there is room for it.
    pub(super) fn set_aside(&mut self, now: Time, ran_for: Duration, ready: ReadyTask, is_shared: bool) {
        let Some(pressing) = &mut self.pressing else { return };
        let bytes = pressing.known.get(&ready.task).copied().unwrap_or(0);
        let patient_until = now + LEAST_PATIENCE + ran_for * 4;
        pressing.aside.push_back(Aside { ready, is_shared, bytes, patient_until });
        self.policies.pack.queued(self.flow.kind(ready.task));
    }

    /// Starts one of those that wait apart, if there is room; says whether it did.
    pub(super) fn start_aside(&mut self, now: Time, is_stuck: bool, out: &mut Vec<Command>) -> bool {
        let Some(pressing) = &self.pressing else { return false };
        let ways = self.ways(is_stuck);
        let way = |aside: &Aside| {
            let has_place = !self.is_staged_first(aside.ready.task)
                || self.stage.as_ref().is_some_and(|stage| stage.has_window(true));
            let way = ways.but_for_memory(aside.ready.class).next()?;
            (has_place && pressing.headroom.has_room_for(aside.bytes)).then_some(way)
        };
        let first = pressing.aside.iter().enumerate().find_map(|(at, aside)| Some((at, way(aside)?)));
        let Some((at, demand)) = first else { return false };
        let aside = self.pressing.as_mut().and_then(|pressing| pressing.aside.remove(at));
        let Aside { ready, is_shared, .. } = aside.expect("it has just been found");
        self.policies.pack.unqueued(self.flow.kind(ready.task));
        let (is_staged, output_bytes) = (self.is_staged_first(ready.task), self.expected_output_bytes(ready.task));
        match &mut self.stage {
            Some(stage) if is_staged => stage.admit(&self.flow, ready, is_shared, output_bytes, out),
            _ => self.start(now, Some(demand), ready, is_shared, 0, out),
        }
        true
    }

    /// Whether what a task reads has to be brought before it starts, or room to be kept for what it makes.
    fn is_staged_first(&self, task: TaskId) -> bool {
        self.stage.is_some() && (self.flow.inputs(task).len() > 0 || self.expected_output_bytes(task) > 0)
    }

    fn ways(&self, is_stuck: bool) -> Ways<'_> {
        let (pack, pressing) = (self.policies.pack.as_ref(), self.pressing.as_ref());
        Ways { flow: &self.flow, pack, pools: &self.pools, pressing, is_stuck }
    }

    /// Whether one of those has waited for so long, and for nothing but memory, that nobody else may start: who has to wait for something else as
    /// well might wait for one of the others.
    pub(super) fn is_kept_free(&self, now: Time) -> bool {
        // Where nothing runs, memory is not what they wait for.
        if self.free.len() == self.slots.len() {
            return false;
        }
        let ways = self.ways(false);
        let mut aside = self.pressing.iter().flat_map(|pressing| &pressing.aside);
        aside.any(|aside| now >= aside.patient_until && ways.but_for_memory(aside.ready.class).next().is_some())
    }
}
