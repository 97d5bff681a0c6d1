//! Who held the slots while a task was ready to start.

use std::collections::BTreeMap;
use std::time::Duration;

use throng_core::ids::{SlotId, TaskId};
use throng_core::time::Time;
use throng_core::workflow::{Resources, Workflow};
use throng_runtime::state::NodeSetup;

use super::facts::{Holder, Queue};

/// Kinds that are named; the others share what is left.
const HOLDERS_SHOWN: usize = 4;

/// Follows what runs, and adds up who held the slots while somebody waited.
pub struct Slots<'a> {
    flow: &'a Workflow,
    setup: &'a NodeSetup,
    asks: Resources,
    running: BTreeMap<SlotId, TaskId>,
    by_kind: BTreeMap<u32, u64>,
    reserved: Resources,
    now: Time,
    watch: Option<Watch>,
}

#[derive(Default)]
struct Watch {
    since: Time,
    held_ns: BTreeMap<u32, u128>,
    started: u64,
    misfit: Duration,
    lacks_cores: bool,
    lacks_memory: bool,
}

impl<'a> Slots<'a> {
    /// Nothing runs; what is asked for by the task in question is held against what is free.
    pub fn new(flow: &'a Workflow, setup: &'a NodeSetup, task: TaskId) -> Self {
        Slots {
            flow,
            setup,
            asks: flow.classes()[flow.class(task).index()],
            running: BTreeMap::new(),
            by_kind: BTreeMap::new(),
            reserved: Resources { memory_bytes: 0, cpus_milli: 0 },
            now: Time::START,
            watch: None,
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
        let mut lacking = Vec::new();
        lacking.extend(watch.lacks_cores.then_some("cores"));
        lacking.extend(watch.lacks_memory.then_some("memory"));
        let queue = Queue {
            seconds: waited.as_secs_f64(),
            slots: self.setup.width,
            started_meanwhile: watch.started,
            held_by,
            did_not_fit_s: watch.misfit.as_secs_f64(),
            lacking,
        };
        Some((watch.since, queue))
    }

    /// A task takes a slot.
    pub fn start(&mut self, now: Time, slot: SlotId, task: TaskId) {
        self.advance(now);
        self.running.insert(slot, task);
        self.count(task, true);
        if let Some(watch) = &mut self.watch {
            watch.started += 1;
        }
    }

    /// A slot becomes free.
    pub fn finish(&mut self, now: Time, slot: SlotId) {
        self.advance(now);
        if let Some(task) = self.running.remove(&slot) {
            self.count(task, false);
        }
    }

    fn count(&mut self, task: TaskId, is_start: bool) {
        let request = self.flow.classes()[self.flow.class(task).index()];
        let kind = self.by_kind.entry(self.flow.kind(task).0).or_default();
        let Resources { memory_bytes, cpus_milli } = &mut self.reserved;
        if is_start {
            *kind += 1;
            *memory_bytes += request.memory_bytes;
            *cpus_milli += request.cpus_milli;
        } else {
            *kind -= 1;
            *memory_bytes -= request.memory_bytes;
            *cpus_milli -= request.cpus_milli;
        }
    }

    fn advance(&mut self, now: Time) {
        let passed = now.since(self.now);
        self.now = self.now.max(now);
        let Some(watch) = self.watch.as_mut().filter(|_| !passed.is_zero()) else { return };
        for (kind, count) in self.by_kind.iter().filter(|(_, count)| **count > 0) {
            *watch.held_ns.entry(*kind).or_default() += passed.as_nanos() * u128::from(*count);
        }
        let goes_by_requests = self.setup.pack.starts_with("requests");
        if goes_by_requests && (self.running.len() as u64) < u64::from(self.setup.width) {
            let lacks_cores = self.reserved.cpus_milli + self.asks.cpus_milli > self.setup.cpus_milli;
            let lacks_memory = self.reserved.memory_bytes + self.asks.memory_bytes > self.setup.memory_bytes;
            if lacks_cores || lacks_memory {
                watch.misfit += passed;
                watch.lacks_cores |= lacks_cores;
                watch.lacks_memory |= lacks_memory;
            }
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
            grace_ms: 0,
            fail_fast: false,
        };
        let mut slots = Slots::new(&flow, &setup, TaskId(0));
        slots.start(Time(0), SlotId(0), TaskId(1));
        slots.start(Time(0), SlotId(1), TaskId(2));
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
