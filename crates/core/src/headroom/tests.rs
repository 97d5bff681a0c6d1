//! Nodes whose tasks need memory that nobody has told them of, beside one that knows.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use super::*;
use crate::ids::TaskId;
use crate::node::{Command, End, Event, Limits, Node, Policies, ReadyTask};
use crate::pack::{Capacity, Sample, Spent};
use crate::pools::Pools;
use crate::rng::Rng;
use crate::workflow::{Format, NoFiles, Resources, Workflow};
use crate::{order, pack};

const ALL: u64 = 2_000_000_000;
const SLOTS: u32 = 256;
/// A part of a second in which everybody grows, and after which somebody may end.
const STEP: Duration = Duration::from_millis(20);

/// What a task will do.
#[derive(Clone, Copy, Debug)]
struct Plan {
    peak: f64,
    seconds: f64,
    /// The part of its time in which it grows.
    grows_for: f64,
}

impl Plan {
    fn held(&self, after: f64) -> f64 {
        self.peak * (after / (self.seconds * self.grows_for).max(1e-9)).min(1.0)
    }
}

/// What came of a run.
#[derive(Clone, Copy, Debug, Default)]
struct Outcome {
    seconds: f64,
    /// The most that was held at once.
    most: f64,
    stopped: u32,
    failed: u32,
}

fn flow(text: &str) -> Arc<Workflow> {
    let mut flow = Workflow::parse(text, Format::Yaml, "test", &NoFiles).unwrap();
    flow.tell_kinds_apart();
    Arc::new(flow)
}

/// A node that learns what tasks hold, with this policy for how many there may be.
fn node(flow: &Arc<Workflow>, pack: &str) -> Node {
    let capacity = Capacity { width: SLOTS, resources: Resources { memory_bytes: ALL, cpus_milli: 4000 } };
    let order = || order::by_name(&"fifo".parse().unwrap(), flow, 4).unwrap();
    let pack = pack::by_name(&pack.parse().unwrap(), capacity, flow).unwrap();
    let limits = Limits { slots: SLOTS, grace: Duration::from_secs(1), fail_fast: false };
    let policies = Policies { local: order(), shared: order(), pack };
    let node = Node::new(flow.clone(), limits, policies, Pools::new(Vec::new(), flow));
    node.with_headroom(Headroom::new(ALL, 4, SLOTS, Kinds::new(flow)))
}

/// Runs tasks on a node that has to find out what they need.
fn learn(plans: &[Plan]) -> Outcome {
    let text = format!("tasks: {{ t: {{ foreach: {{ i: 1..{} }}, run: 'x {{i}}', cpus: 0 }} }}", plans.len());
    let flow = flow(&text);
    let mut node = node(&flow, "fixed");
    let (mut now, mut outcome, mut out) = (Time::START, Outcome::default(), Vec::new());
    let mut running: BTreeMap<SlotId, (TaskId, Time)> = BTreeMap::new();
    for task in flow.tasks() {
        node.handle(now, Event::Ready(ReadyTask::first(task, flow.class(task, 1))), &mut out);
    }
    for step in 0u32.. {
        node.decide(now, &mut out);
        let mut killed = Vec::new();
        for command in out.drain(..) {
            match command {
                Command::Start { task, slot, .. } => {
                    running.insert(slot, (task, now));
                }
                Command::Kill { slot, .. } => killed.push(slot),
                Command::Fail { .. } => outcome.failed += 1,
                Command::Interrupt { .. } => outcome.stopped += 1,
                _ => {}
            }
        }
        for slot in killed {
            running.remove(&slot);
            node.handle(now, Event::Finished { slot, end: End::Killed }, &mut out);
        }
        if node.is_idle() && out.is_empty() {
            break;
        }
        now = now + STEP;
        let age = |started: Time| now.since(started).as_secs_f64();
        let ends: Vec<SlotId> = running
            .iter()
            .filter(|(_, (task, started))| age(*started) >= plans[task.index()].seconds)
            .map(|(slot, _)| *slot)
            .collect();
        for slot in ends {
            let (task, started) = running.remove(&slot).unwrap();
            let peak_bytes = plans[task.index()].peak as u64;
            let spent = Spent { time_us: now.since(started).as_micros() as u64, computing_us: 0, peak_bytes };
            node.handle(now, Event::Spent { slot, spent }, &mut out);
            node.handle(now, Event::Finished { slot, end: End::Done }, &mut out);
        }
        let held: f64 = running.values().map(|(task, started)| plans[task.index()].held(age(*started))).sum();
        outcome.most = outcome.most.max(held);
        let free_memory_bytes = (ALL as f64 - held).max(0.0) as u64;
        if step % 15 == 14 {
            for (slot, (task, started)) in &running {
                let uses = Uses { bytes: plans[task.index()].held(age(*started)) as u64, computing_us: 0 };
                node.handle(now, Event::Uses { slot: *slot, uses }, &mut out);
            }
        }
        if step % 5 == 4 {
            node.handle(now, Event::Measured(Sample { free_memory_bytes, ..Sample::default() }), &mut out);
        } else if free_memory_bytes < ALL / 6 {
            node.handle(now, Event::FreeMemory { bytes: free_memory_bytes }, &mut out);
        }
        assert!(now < Time(3_600_000_000_000), "it does not come to an end");
    }
    Outcome { seconds: now.as_secs_f64(), ..outcome }
}

/// How long it takes who knows what each needs: the first that fits is next.
fn know(plans: &[Plan]) -> f64 {
    let (mut waiting, mut now, mut free): (Vec<Plan>, f64, f64) = (plans.to_vec(), 0.0, ALL as f64);
    let mut running: Vec<(f64, f64)> = Vec::new();
    while !waiting.is_empty() || !running.is_empty() {
        while let Some(at) =
            waiting.iter().position(|plan| plan.peak <= free).filter(|_| running.len() < SLOTS as usize)
        {
            let plan = waiting.remove(at);
            free -= plan.peak;
            running.push((now + plan.seconds, plan.peak));
        }
        let first = (0..running.len()).min_by(|a, b| running[*a].0.total_cmp(&running[*b].0)).unwrap();
        let (end, peak) = running.swap_remove(first);
        (now, free) = (end, free + peak);
    }
    now
}

fn plans(count: usize, seed: u64, plan: impl Fn(&mut Rng) -> Plan) -> Vec<Plan> {
    let mut rng = Rng::new(seed);
    (0..count).map(|_| plan(&mut rng)).collect()
}

/// Five hundred tasks, four times as much as there is.
fn check(name: &str, most_over: f64, plan: impl Fn(&mut Rng) -> Plan) {
    let (mut learnt, mut known) = (0.0, 0.0);
    for seed in 1..=5 {
        let plans = plans(500, seed, &plan);
        let outcome = learn(&plans);
        assert_eq!(outcome.failed, 0, "{name}, seed {seed}");
        assert!(outcome.most <= ALL as f64, "{name}, seed {seed}: {outcome:?}");
        learnt += outcome.seconds;
        known += know(&plans);
    }
    assert!(learnt <= known * most_over, "{name}: {learnt} against {known}");
}

/// A tenth of the memory at most, at random.
fn peak(rng: &mut Rng) -> f64 {
    (0.01 + 0.09 * rng.unit()) * ALL as f64
}

#[test]
fn nothing_overflows_and_little_is_left_unused() {
    check("grow at once", 1.25, |rng| Plan { peak: peak(rng), seconds: 1.0 + 2.0 * rng.unit(), grows_for: 0.1 });
    check("grow for long", 1.25, |rng| Plan { peak: peak(rng), seconds: 1.0 + 2.0 * rng.unit(), grows_for: 0.5 });
    check("grow all the time", 1.0, |rng| Plan { peak: peak(rng), seconds: 1.0 + 2.0 * rng.unit(), grows_for: 1.0 });
    check("a few are large", 1.5, |rng| {
        let peak = if rng.below(20) == 0 { 0.4 } else { 0.02 } * ALL as f64;
        Plan { peak, seconds: 1.0 + 2.0 * rng.unit(), grows_for: 0.3 }
    });
}

#[test]
fn no_more_large_tasks_start_than_fit_when_all_are_grown() {
    let flow = flow("tasks: { a: { foreach: { i: 1..9 }, run: 'x {i}', cpus: 0 } }");
    let mut headroom = Headroom::new(ALL, 4, SLOTS, Kinds::new(&flow));
    let figure = |mean| Figure { mean, spread: 0.0 };
    let past = Past { tasks: 40, time_s: figure(2.0), peak_bytes: figure(0.3 * ALL as f64), ..Past::default() };
    headroom.recall(KindId(0), &past);
    let demand = flow.first_demand(TaskId(0));
    let mut started = 0;
    while headroom.has_room(demand) {
        headroom.started(Time::START, SlotId(started), demand, 0);
        started += 1;
    }
    assert_eq!(started, 3);
}

#[test]
fn a_task_that_does_not_fit_even_alone_is_given_up() {
    let plans = plans(10, 1, |rng| Plan { peak: peak(rng), seconds: 1.0, grows_for: 0.5 });
    let large = Plan { peak: 1.5 * ALL as f64, seconds: 3.0, grows_for: 0.9 };
    let outcome = learn(&[plans, vec![large]].concat());
    assert_eq!(outcome.failed, 1, "{outcome:?}");
}

#[test]
fn a_task_that_fits_only_alone_is_done() {
    let plans = plans(40, 1, |rng| Plan { peak: peak(rng), seconds: 1.0, grows_for: 0.5 });
    let large = Plan { peak: 0.95 * ALL as f64, seconds: 3.0, grows_for: 0.5 };
    let outcome = learn(&[vec![large], plans].concat());
    assert!(outcome.failed == 0 && outcome.stopped > 0, "{outcome:?}");
}

#[test]
fn what_is_declared_is_kept_free() {
    let text = "tasks: { a: { run: x, memory: 800MB, cpus: 0 }, b: { run: y, cpus: 0 } }";
    let flow = flow(text);
    let demand = |task| flow.first_demand(TaskId(task));
    let mut headroom = Headroom::new(ALL, 4, SLOTS, Kinds::new(&flow));
    let now = Time(1_000_000_000);
    headroom.started(now, SlotId(0), demand(0), 0);
    assert!(headroom.has_room(demand(0)) && headroom.has_room(demand(1)));
    headroom.started(now, SlotId(1), demand(0), 0);
    assert!(!headroom.has_room(demand(0)) && headroom.has_room(demand(1)));
    // Others may need what is free.
    assert_eq!(headroom.measured(now, 1_900_000_000, false), []);
    assert!(!headroom.has_room(demand(1)));
    for slot in [0, 1] {
        headroom.uses(now, SlotId(slot), &Uses { bytes: 10, computing_us: 0 });
        headroom.ended(now, SlotId(slot), Some(10));
    }
    // That they held less does not matter: the next one may not.
    headroom.started(now, SlotId(0), demand(0), 0);
    headroom.started(now, SlotId(1), demand(0), 0);
    assert!(!headroom.has_room(demand(0)));
}

#[test]
fn where_everybody_waits_for_memory_one_goes_at_a_time() {
    let flow = flow("tasks: { a: { run: x, cpus: 0 } }");
    let mut headroom = Headroom::new(ALL, 4, SLOTS, Kinds::new(&flow));
    let second = |seconds: u64| Time(seconds * 1_000_000_000);
    for slot in 0..3 {
        headroom.started(second(slot.into()), SlotId(slot), flow.first_demand(TaskId(0)), 0);
        headroom.uses(second(3), SlotId(slot), &Uses { bytes: 200_000_000, computing_us: 0 });
    }
    assert_eq!(headroom.measured(second(4), ALL / 10, false), []);
    assert_eq!(headroom.measured(second(4), ALL / 2, true), [], "with half of it free, somebody else waits");
    let told = headroom.measured(second(4), ALL / 10, true);
    assert!(matches!(told[..], [(SlotId(2), Relief::Later { .. })]), "{told:?}");
    assert_eq!(headroom.measured(second(4), ALL / 10, true), []);
    let told = headroom.measured(second(6), ALL / 10, true);
    assert!(matches!(told[..], [(SlotId(1), Relief::Later { .. })]), "{told:?}");
    assert_eq!(headroom.measured(second(8), ALL / 10, true), [], "the last one stays");
}

#[test]
fn a_task_may_have_all_that_it_is_allowed_where_there_is_more() {
    let flow = flow("tasks: { a: { run: x, cpus: 0 } }");
    let nearly_all = Uses { bytes: ALL / 100 * 99, computing_us: 0 };
    let more = Uses { bytes: ALL + 1, computing_us: 0 };
    let told = |headroom: Headroom, uses: &Uses| {
        let (mut headroom, now) = (headroom, Time(1_000_000_000));
        headroom.started(now, SlotId(0), flow.first_demand(TaskId(0)), 0);
        headroom.uses(now, SlotId(0), uses);
        headroom.measured(now, 0, false)
    };
    let new = || Headroom::new(ALL, 4, SLOTS, Kinds::new(&flow));
    let goes = [(SlotId(0), Relief::Never)];
    assert_eq!(told(new(), &nearly_all), goes, "before the kernel has to do it");
    assert_eq!(told(new().of_more(), &nearly_all), []);
    assert_eq!(told(new().of_more(), &more), goes);
}

fn step(node: &mut Node, seconds: u64, events: &[Event]) -> Vec<Command> {
    let (now, mut out) = (Time(seconds * 1_000_000_000), Vec::new());
    events.iter().for_each(|event| node.handle(now, *event, &mut out));
    node.decide(now, &mut out);
    out
}

#[test]
fn who_waits_for_memory_does_not_hold_up_those_it_has_to_wait_for_as_well() {
    // Under `weasel`, a kind that nobody knows runs alone, and before all others: also before one that was stopped long ago.
    let text = "tasks: { a: { foreach: { i: 1..2 }, run: 'x {i}' }, b: { foreach: { i: 1..2 }, run: 'y {i}' }, new: { run: z } }";
    let flow = flow(text);
    let mut node = node(&flow, "weasel:profiled=1");
    let mut step = |seconds: u64, events: &[Event]| step(&mut node, seconds, events);
    let started = |commands: &[Command]| -> Vec<(TaskId, SlotId)> {
        let start = |command: &Command| match command {
            Command::Start { task, slot, .. } => Some((*task, *slot)),
            _ => None,
        };
        commands.iter().filter_map(start).collect()
    };
    let task = |name: &str| flow.find(name).unwrap()[0];
    let ready = |name: &str| Event::Ready(ReadyTask::first(task(name), flow.class(task(name), 1)));
    let measured = |used, free_memory_bytes| Event::Measured(Sample { used, free_memory_bytes, ..Sample::default() });
    // Each of two kinds runs alone; one needs cores, the other the network.
    for (at, name, used) in [(0, "a:1", [500_000, 0, 0, 0, 0]), (2, "b:1", [0, 500_000, 0, 0, 0])] {
        let [(_, slot)] = started(&step(at, &[ready(name)]))[..] else { panic!("{name} does not start") };
        step(at + 1, &[measured(used, ALL), Event::Finished { slot, end: End::Done }]);
    }
    // Then both run beside each other, and one has to go.
    let both = started(&step(4, &[ready("a:2"), ready("b:2")]));
    assert_eq!(both.len(), 2);
    let uses =
        both.iter().map(|(_, slot)| Event::Uses { slot: *slot, uses: Uses { bytes: ALL * 49 / 100, computing_us: 0 } });
    let commands = step(5, &[uses.collect(), vec![measured([0; 5], ALL / 50)]].concat());
    let [.., Command::Kill { slot: stopped, .. }] = commands[..] else { panic!("{commands:?}") };
    let (_, other) = both.into_iter().find(|(_, slot)| *slot != stopped).unwrap();
    step(5, &[ready("new"), Event::Finished { slot: stopped, end: End::Killed }]);
    // Long after, the other one ends.
    let [(next, _)] = started(&step(1000, &[Event::Finished { slot: other, end: End::Done }]))[..] else {
        panic!("nothing starts any more")
    };
    assert_eq!(next, task("new"));
}

#[test]
fn whom_the_kernel_kills_runs_again_when_there_is_room_unless_it_was_alone() {
    let text = "tasks: { a: { foreach: { i: 1..2 }, run: 'x {i}' } }";
    let flow = flow(text);
    let mut node = node(&flow, "fixed");
    let mut step = |seconds: u64, events: &[Event]| step(&mut node, seconds, events);
    let ready: Vec<Event> =
        flow.tasks().map(|task| Event::Ready(ReadyTask::first(task, flow.class(task, 1)))).collect();
    assert_eq!(step(0, &ready).len(), 2);
    let spent = Spent { time_us: 1, computing_us: 0, peak_bytes: ALL * 6 / 10 };
    let free = |bytes| Event::FreeMemory { bytes };
    // The other one holds so much that there is no room beside it.
    let uses = Event::Uses { slot: SlotId(0), uses: Uses { bytes: ALL * 6 / 10, computing_us: 0 } };
    let killed = [Event::Spent { slot: SlotId(1), spent }, Event::Finished { slot: SlotId(1), end: End::OutOfMemory }];
    let out = step(1, &[&[uses, free(ALL * 4 / 10)], &killed[..]].concat());
    assert!(matches!(out[..], [Command::Interrupt { attempt: 1, retry_at: Some(_), .. }]), "{out:?}");
    let out = step(2, &[Event::Finished { slot: SlotId(0), end: End::Done }, free(ALL)]);
    let [Command::Complete { .. }, Command::Start { attempt: 2, slot, .. }] = out[..] else { panic!("{out:?}") };
    // Where nobody else runs, there will never be more room.
    let out = step(3, &[Event::Spent { slot, spent }, Event::Finished { slot, end: End::OutOfMemory }]);
    assert!(matches!(out[..], [Command::Fail { attempt: 2, .. }]), "{out:?}");
}
