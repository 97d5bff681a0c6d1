//! Event in, exact commands out; and what must hold for any graph.

use proptest::prelude::*;

use super::*;
use crate::ledger::{Ledger, Standing};
use crate::pack::Capacity;
use crate::policy::Policy;
use crate::pools::Pools;
use crate::record::State;
use crate::workflow::{Format, NoFiles, Resources};
use crate::{order, pack};

const GRACE: Duration = Duration::from_secs(5);

pub(super) fn node_for(text: &str, slots: u32, order_name: &str) -> (Arc<Workflow>, Node) {
    let flow = Arc::new(Workflow::parse(text, Format::Yaml, "test", &NoFiles).unwrap());
    let order = || order::by_name(&order_name.parse().unwrap(), &flow, 4).unwrap();
    let resources = Resources { memory_bytes: 1000, cpus_milli: 4000 };
    let capacity = Capacity { width: slots, resources };
    let requests: Policy = "requests".parse().unwrap();
    let policies =
        Policies { local: order(), shared: order(), pack: pack::by_name(&requests, capacity, &flow).unwrap() };
    let limits = Limits { slots, grace: GRACE, fail_fast: false };
    (flow.clone(), Node::new(flow.clone(), limits, policies, Pools::new(Vec::new(), &flow)))
}

pub(super) fn ready(flow: &Workflow, task: u32) -> Event {
    let task = TaskId(task);
    Event::Ready(ReadyTask::first(task, flow.class(task, 1)))
}

pub(super) fn step(node: &mut Node, seconds: u64, events: &[Event]) -> Vec<Command> {
    let now = Time(seconds * 1_000_000_000);
    let mut out = Vec::new();
    for event in events {
        node.handle(now, *event, &mut out);
    }
    node.decide(now, &mut out);
    out
}

pub(super) const fn start(task: u32, attempt: u16, slot: u32) -> Command {
    Command::Start { task: TaskId(task), attempt, slot: SlotId(slot) }
}

#[test]
fn slots_are_filled_in_order_and_used_again() {
    let (flow, mut node) = node_for("tasks: { t: { foreach: { i: 1..3 }, noop: true } }", 2, "fifo");
    let events: Vec<Event> = (0..3).map(|task| ready(&flow, task)).collect();
    assert_eq!(step(&mut node, 0, &events), [start(0, 1, 0), start(1, 1, 1)]);
    let end = Event::Finished { slot: SlotId(0), end: End::Done };
    let complete = Command::Complete { task: TaskId(0), attempt: 1 };
    assert_eq!(step(&mut node, 1, &[end]), [complete, start(2, 1, 0)]);
}

/// A policy that would rather wait.
struct Hesitant;

impl pack::Pack for Hesitant {
    fn admits(&self, _: DemandId) -> bool {
        false
    }

    fn started(&mut self, _: DemandId) {}

    fn ended(&mut self, _: DemandId) {}

    fn could_ever_admit(&self, _: DemandId) -> bool {
        true
    }
}

#[test]
fn a_node_does_not_idle_with_work_at_hand_whatever_its_policy_waits_for() {
    let (flow, mut node) = node_for("tasks: { t: { foreach: { i: 1..3 }, noop: true } }", 2, "fifo");
    node.policies.pack = Box::new(Hesitant);
    let events: Vec<Event> = (0..2).map(|task| ready(&flow, task)).collect();
    assert_eq!(step(&mut node, 0, &events), [start(0, 1, 0)]);
    assert_eq!(step(&mut node, 1, &[ready(&flow, 2)]), []);
    let end = Event::Finished { slot: SlotId(0), end: End::Done };
    let complete = Command::Complete { task: TaskId(0), attempt: 1 };
    assert_eq!(step(&mut node, 2, &[end]), [complete, start(1, 1, 0)]);
}

#[test]
fn a_failed_task_is_tried_again_after_its_back_off_and_then_given_up() {
    let (flow, mut node) = node_for("tasks: { t: { run: x, retries: 1 } }", 1, "fifo");
    step(&mut node, 0, &[ready(&flow, 0)]);
    let failed = Event::Finished { slot: SlotId(0), end: End::Failed { code: 1 } };
    let retry_at = Some(Time(1_500_000_000));
    assert_eq!(step(&mut node, 1, &[failed]), [Command::Interrupt { task: TaskId(0), attempt: 1, retry_at }]);
    assert_eq!(node.next_wake(), retry_at);
    assert!(!node.is_idle());
    assert_eq!(step(&mut node, 1, &[Event::Wake]), []);
    assert_eq!(step(&mut node, 2, &[Event::Wake]), [start(0, 2, 0)]);
    assert_eq!(step(&mut node, 3, &[failed]), [Command::Fail { task: TaskId(0), attempt: 2 }]);
    assert!(node.is_idle());
}

#[test]
fn an_attempt_that_is_excused_does_not_use_up_retries() {
    let (flow, mut node) = node_for("tasks: { t: { run: x, retries: 1 } }", 1, "fifo");
    let Event::Ready(first) = ready(&flow, 0) else { unreachable!() };
    step(&mut node, 0, &[Event::Ready(ReadyTask { attempt: 3, excused: 2, ..first })]);
    let failed = Event::Finished { slot: SlotId(0), end: End::Failed { code: 1 } };
    assert!(matches!(step(&mut node, 1, &[failed])[..], [Command::Interrupt { retry_at: Some(_), .. }]));
    assert_eq!(step(&mut node, 9, &[Event::Wake]), [start(0, 4, 0)]);
    assert_eq!(step(&mut node, 10, &[failed]), [Command::Fail { task: TaskId(0), attempt: 4 }]);
}

#[test]
fn a_task_over_its_time_is_asked_and_then_forced() {
    let (flow, mut node) = node_for("tasks: { t: { run: x, timeout: 10s } }", 1, "fifo");
    step(&mut node, 0, &[ready(&flow, 0)]);
    assert_eq!(node.next_wake(), Some(Time(10_000_000_000)));
    let kill = |hard| Command::Kill { slot: SlotId(0), hard, why: KillReason::Timeout };
    assert_eq!(step(&mut node, 10, &[Event::Wake]), [kill(false)]);
    assert_eq!(step(&mut node, 15, &[Event::Wake]), [kill(true)]);
    let killed = Event::Finished { slot: SlotId(0), end: End::Killed };
    assert_eq!(step(&mut node, 16, &[killed]), [Command::Fail { task: TaskId(0), attempt: 1 }]);
    assert_eq!(node.next_wake(), None);
}

#[test]
fn stopping_starts_nothing_asks_first_and_forces_the_second_time() {
    let (flow, mut node) = node_for("tasks: { t: { foreach: { i: 1..3 }, run: 'x {i}', retries: 5 } }", 2, "fifo");
    let events: Vec<Event> = (0..3).map(|task| ready(&flow, task)).collect();
    step(&mut node, 0, &events);
    let kill = |slot, hard| Command::Kill { slot: SlotId(slot), hard, why: KillReason::Stop };
    assert_eq!(step(&mut node, 1, &[Event::Stop]), [kill(0, false), kill(1, false)]);
    let killed = |slot| Event::Finished { slot: SlotId(slot), end: End::Killed };
    let interrupt = |task| Command::Interrupt { task: TaskId(task), attempt: 1, retry_at: None };
    assert_eq!(step(&mut node, 2, &[killed(0)]), [interrupt(0)]);
    assert_eq!(step(&mut node, 3, &[Event::Stop]), [kill(1, true)]);
    assert_eq!(step(&mut node, 3, &[killed(1)]), [interrupt(1)]);
    assert!(node.is_idle());
}

#[test]
fn a_grace_time_that_ends_while_stopping_forces() {
    let (flow, mut node) = node_for("tasks: { t: { run: x } }", 1, "fifo");
    step(&mut node, 0, &[ready(&flow, 0)]);
    step(&mut node, 1, &[Event::Stop]);
    assert_eq!(node.next_wake(), Some(Time(6_000_000_000)));
    let kill = Command::Kill { slot: SlotId(0), hard: true, why: KillReason::Stop };
    assert_eq!(step(&mut node, 6, &[Event::Wake]), [kill]);
}

#[test]
fn waits_double_up_to_a_bound() {
    assert_eq!(back_off(1), FIRST_BACK_OFF);
    assert_eq!(back_off(3), FIRST_BACK_OFF * 4);
    assert_eq!(back_off(u16::MAX), LONGEST_BACK_OFF);
}

/// A random graph: each task waits for some earlier ones, asks for some cores and has some priority.
fn graph() -> impl Strategy<Value = String> {
    let parents = proptest::collection::vec(any::<proptest::sample::Index>(), 0..4);
    let task = (1..4u32, parents, 0..3u32, -2..3i32);
    proptest::collection::vec(task, 1..40).prop_map(|tasks| {
        let mut text = "tasks:\n".to_owned();
        for (number, (cpus, parents, retries, priority)) in tasks.iter().enumerate() {
            text += &format!("  t{number}: {{ run: x, cpus: {cpus}, retries: {retries}, priority: {priority}");
            if number > 0 && !parents.is_empty() {
                let parents: Vec<String> = parents.iter().map(|parent| format!("t{}", parent.index(number))).collect();
                text += &format!(", after: [{}]", parents.join(", "));
            }
            text += " }\n";
        }
        text
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// Drives a random graph to its end, with random ends of attempts, and checks after every step that
    /// effects happen once, edges are respected, and nothing that could run waits.
    #[test]
    fn any_graph_runs_to_its_end(
        text in graph(),
        slots in 1..5u32,
        order in proptest::sample::select(&order::NAMES),
        draws in proptest::collection::vec((any::<proptest::sample::Index>(), 0..10u8), 400),
    ) {
        let (flow, mut node) = node_for(&text, slots, order);
        let mut ledger = Ledger::new(&flow, |_| Standing::Pending);
        let mut done = vec![0; flow.task_count()];
        let mut running: Vec<(SlotId, TaskId, u16)> = Vec::new();
        let mut draws = draws.into_iter().cycle();
        let mut now = Time::START;
        let mut events: Vec<Event> = ledger.roots().map(|task| Event::Ready(ledger.ready_task(&flow, task, 0))).collect();
        let mut steps = 0;
        loop {
            steps += 1;
            prop_assert!(steps < 10_000, "the run does not end");
            let mut out = Vec::new();
            let mut queue: std::collections::VecDeque<Event> = events.drain(..).collect();
            while let Some(event) = queue.pop_front() {
                let mut commands = Vec::new();
                node.handle(now, event, &mut commands);
                for command in &commands {
                    match *command {
                        Command::Complete { task, attempt } => {
                            let mut became_ready = Vec::new();
                            ledger.complete(&flow, task, attempt, &mut became_ready).unwrap();
                            done[task.index()] += 1;
                            queue.extend(became_ready.iter().map(|task| Event::Ready(ledger.ready_task(&flow, *task, 0))));
                        }
                        Command::Fail { task, attempt } => ledger.fail(&flow, task, attempt, &mut Vec::new()).unwrap(),
                        Command::Interrupt { task, attempt, .. } => ledger.interrupt(task, attempt).unwrap(),
                        _ => prop_assert!(false, "unexpected {command:?}"),
                    }
                }
            }
            node.decide(now, &mut out);
            for command in out {
                let Command::Start { task, attempt, slot } = command else { unreachable!("decide only starts") };
                ledger.start(task, attempt).unwrap();
                for parent in flow.tasks().filter(|parent| flow.children(*parent).any(|child| child == task)) {
                    prop_assert_eq!(ledger.record(parent).state, State::Done);
                }
                running.push((slot, task, attempt));
            }
            let cores: u64 = running.iter().map(|(_, task, _)| flow.demand(flow.first_demand(*task)).cpus_milli).sum();
            prop_assert!(cores <= 4000);
            // Whoever holds to one order waits for the next in it, but only while something runs that may make it ready.
            if running.len() < slots as usize && (order != "ps" || running.is_empty()) {
                for task in flow.tasks().filter(|task| ledger.record(*task).state == State::Ready) {
                    let waits_for_retry = ledger.record(task).attempt > 0;
                    let needs = flow.demand(flow.first_demand(task)).cpus_milli;
                    prop_assert!(waits_for_retry || cores + needs > 4000, "{task:?} could run");
                }
            }
            if running.is_empty() {
                match node.next_wake() {
                    Some(time) => { now = time; events.push(Event::Wake); continue; }
                    None => break,
                }
            }
            let (which, luck) = draws.next().expect("cycles");
            let (slot, ..) = running.swap_remove(which.index(running.len()));
            now = now + Duration::from_millis(10);
            events.push(Event::Finished { slot, end: if luck == 0 { End::Failed { code: 1 } } else { End::Done } });
        }
        prop_assert!(node.is_idle());
        for task in flow.tasks() {
            let state = ledger.record(task).state;
            prop_assert!(matches!(state, State::Done | State::Failed | State::Skipped), "{state:?}");
            prop_assert_eq!(done[task.index()], u32::from(state == State::Done));
        }
        prop_assert_eq!(ledger.tally().open, 0);
    }
}
