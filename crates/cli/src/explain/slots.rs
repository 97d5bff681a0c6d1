//! Who held the slots while a task was ready to start.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use throng_core::ids::{DemandId, SlotId, TaskId};
use throng_core::pack::Change;
use throng_core::time::Time;
use throng_core::workflow::Workflow;
use throng_runtime::state::NodeSetup;

use super::facts::{Holder, Queue};

/// Kinds that are named; the others share what is left.
const HOLDERS_SHOWN: usize = 4;

/// Follows what runs, and adds up who held the slots while somebody waited.
pub struct Slots<'a> {
    flow: &'a Workflow,
    setup: &'a NodeSetup,
    /// The task in question, and the attempt to come.
    task: TaskId,
    attempt: u16,
    running: BTreeMap<SlotId, (TaskId, DemandId)>,
    by_kind: BTreeMap<u32, u64>,
    /// What running tasks have been given: cores, memory, and what has another name.
    reserved: BTreeMap<&'a str, u64>,
    /// How many of the task's kind are worth running at once, as far as that has been learnt.
    at_once: Option<u32>,
    now: Time,
    watch: Option<Watch>,
}

/// Under these names, cores and memory are looked at like everything else.
const CORES: &str = "cores";
const MEMORY: &str = "memory";

#[derive(Default)]
struct Watch {
    since: Time,
    held_ns: BTreeMap<u32, u128>,
    started: u64,
    /// When something came that the task reads.
    came: Option<Time>,
    misfit: Duration,
    lacking: BTreeSet<String>,
}

impl<'a> Slots<'a> {
    /// Nothing runs yet; what the task in question asks for will be held against what is free.
    pub fn new(flow: &'a Workflow, setup: &'a NodeSetup, task: TaskId) -> Self {
        Slots {
            flow,
            setup,
            task,
            attempt: 1,
            running: BTreeMap::new(),
            by_kind: BTreeMap::new(),
            reserved: BTreeMap::new(),
            at_once: None,
            now: Time::START,
            watch: None,
        }
    }

    /// From now on, another number of tasks of a kind is to run at once.
    pub fn width(&mut self, change: &Change) {
        if change.kind == self.flow.kind(self.task) {
            self.at_once = Some(change.width);
        }
    }

    /// The task becomes ready; nothing if it already was.
    pub fn begin(&mut self, now: Time) {
        self.advance(now);
        self.watch.get_or_insert(Watch { since: now, ..Watch::default() });
    }

    /// The task starts, or the recording ends.
    pub fn end(&mut self, now: Time) -> Option<(Time, Queue)> {
        self.advance(now);
        let watch = self.watch.take()?;
        let waited = now.since(watch.since);
        let all_ns = waited.as_nanos() * u128::from(self.setup.width);
        let share = |ns: u128| if all_ns == 0 { 0.0 } else { ns as f64 / all_ns as f64 };
        let name = |kind: u32| self.flow.kind_name(throng_core::ids::KindId(kind)).to_owned();
        let mut held_by: Vec<Holder> =
            watch.held_ns.iter().map(|(kind, ns)| Holder { kind: name(*kind), share: share(*ns) }).collect();
        held_by.sort_by(|left, right| right.share.total_cmp(&left.share));
        held_by.truncate(HOLDERS_SHOWN);
        let own_ns = watch.held_ns.get(&self.flow.kind(self.task).0).copied().unwrap_or(0);
        let queue = Queue {
            seconds: waited.as_secs_f64(),
            inputs_came_s: watch.came.map_or(0.0, |came| came.since(watch.since).as_secs_f64()),
            slots: self.setup.width,
            started_meanwhile: watch.started,
            held_by,
            did_not_fit_s: watch.misfit.as_secs_f64(),
            lacking: watch.lacking.into_iter().collect(),
            is_for_memory: false,
            at_once: self.at_once,
            of_its_kind: share(own_ns) * f64::from(self.setup.width),
        };
        Some((watch.since, queue))
    }

    /// Something was brought that the task reads.
    pub fn came(&mut self, now: Time) {
        if let Some(watch) = &mut self.watch {
            watch.came = Some(now);
        }
    }

    /// A task takes a slot.
    pub fn start(&mut self, now: Time, slot: SlotId, task: TaskId, attempt: u16) {
        self.advance(now);
        // Which way to run was chosen is not on record, but how: the first for which there is room.
        let ways: Vec<DemandId> = self.flow.alternatives(self.flow.class(task, attempt)).collect();
        let fitting = ways.iter().find(|demand| self.lacking(**demand).is_empty());
        let Some(&demand) = fitting.or(ways.first()) else { return };
        self.running.insert(slot, (task, demand));
        *self.by_kind.entry(self.flow.kind(task).0).or_default() += 1;
        for (name, amount) in self.amounts(demand) {
            *self.reserved.entry(name).or_default() += amount;
        }
        if task == self.task {
            self.attempt = attempt + 1;
        }
        if let Some(watch) = &mut self.watch {
            watch.started += 1;
        }
    }

    /// A slot becomes free.
    pub fn finish(&mut self, now: Time, slot: SlotId) {
        self.advance(now);
        let Some((task, demand)) = self.running.remove(&slot) else { return };
        *self.by_kind.entry(self.flow.kind(task).0).or_default() -= 1;
        for (name, amount) in self.amounts(demand) {
            *self.reserved.entry(name).or_default() -= amount;
        }
    }

    /// What a demand reserves. Only with `requests`, cores are; with `fixed`, memory is anybody's, too; the rest never is.
    fn amounts(&self, demand: DemandId) -> Vec<(&'a str, u64)> {
        let demand = self.flow.demand(demand);
        let mut amounts = demand.named;
        if self.setup.pack.starts_with("requests") {
            amounts.push((CORES, demand.cpus_milli));
        }
        if !self.setup.pack.starts_with("fixed") {
            amounts.push((MEMORY, demand.memory_bytes));
        }
        amounts
    }

    /// What there is too little of just now for a demand.
    fn lacking(&self, demand: DemandId) -> Vec<&'a str> {
        let there_is = |name: &str| match name {
            CORES => self.setup.cpus_milli,
            MEMORY => self.setup.memory_bytes,
            name => self.setup.pools.iter().find(|pool| pool.name == name).map_or(0, |pool| pool.amount_milli),
        };
        let reserved = |name: &str| self.reserved.get(name).copied().unwrap_or(0);
        let amounts = self.amounts(demand).into_iter();
        amounts.filter(|(name, amount)| reserved(name) + amount > there_is(name)).map(|(name, _)| name).collect()
    }

    fn advance(&mut self, now: Time) {
        let passed = now.since(self.now);
        self.now = self.now.max(now);
        if self.watch.is_none() || passed.is_zero() {
            return;
        }
        let has_free_slot = (self.running.len() as u64) < u64::from(self.setup.width);
        let ways = self.flow.alternatives(self.flow.class(self.task, self.attempt));
        let lacking: Vec<Vec<&str>> = ways.map(|demand| self.lacking(demand)).collect();
        let is_misfit = has_free_slot && lacking.iter().all(|lacking| !lacking.is_empty());
        let Some(watch) = &mut self.watch else { return };
        for (kind, count) in self.by_kind.iter().filter(|(_, count)| **count > 0) {
            *watch.held_ns.entry(*kind).or_default() += passed.as_nanos() * u128::from(*count);
        }
        if is_misfit {
            watch.misfit += passed;
            watch.lacking.extend(lacking.into_iter().flatten().map(str::to_owned));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use throng_core::workflow::{Format, NoFiles};

    #[test]
    fn shares_and_misfits_are_added_up() {
        let text = "tasks: { big: { run: x, cpus: 2 }, a: { run: x }, b: { run: x } }";
        let flow = Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap();
        let setup = NodeSetup {
            place: "here".into(),
            order: "fifo".into(),
            pack: "requests".into(),
            width: 2,
            cpus_milli: 2000,
            memory_bytes: 0,
            all_memory_bytes: 0,
            grace_ms: 0,
            fail_fast: false,
            pools: Vec::new(),
            tier: None,
            learnt: Vec::new(),
        };
        let mut slots = Slots::new(&flow, &setup, TaskId(0));
        slots.start(Time(0), SlotId(0), TaskId(1), 1);
        slots.start(Time(0), SlotId(1), TaskId(2), 1);
        slots.begin(Time(10));
        slots.finish(Time(20), SlotId(1));
        slots.finish(Time(50), SlotId(0));
        let (since, queue) = slots.end(Time(50)).unwrap();
        assert_eq!(since, Time(10));
        assert_eq!((queue.held_by[0].kind.as_str(), queue.held_by[0].share), ("a", 0.5));
        assert_eq!((queue.held_by[1].kind.as_str(), queue.held_by[1].share), ("b", 0.125));
        assert_eq!(queue.did_not_fit_s, 30e-9);
        assert_eq!(queue.lacking, ["cores"]);
        assert!(slots.end(Time(60)).is_none());
    }
}
