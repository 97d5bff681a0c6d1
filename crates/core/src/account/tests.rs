//! Exact figures of small traces made by hand, and what must hold for the trace of any run.

use std::sync::Arc;
use std::time::Duration;

use proptest::prelude::*;

use super::*;
use crate::ids::SlotId;
use crate::ledger::{Ledger, Standing};
use crate::node::{Command, End, Event, Limits, Node, Policies, ReadyTask};
use crate::pack::Capacity;
use crate::pools::Pools;
use crate::stale::Reason;
use crate::trace::{Attempt, Outcome, Usage};
use crate::workflow::{Format, NoFiles, Resources};
use crate::{order, pack};

fn flow(text: &str) -> Workflow {
    Workflow::parse(text, Format::Yaml, "test", &NoFiles).unwrap()
}

fn setup(slots: u32) -> Setup {
    Setup { slots, cores: 0, fail_fast: false, until: None }
}

fn account(flow: &Workflow, slots: u32, trace: &[(u64, Entry)]) -> Account {
    Account::of(flow, setup(slots), trace.iter().map(|(time, entry)| (Time(*time), *entry)))
}

fn ready(task: u32) -> Entry {
    let class = crate::ids::ClassId(0);
    Entry::Event(Event::Ready(ReadyTask::first(TaskId(task), class)))
}

fn start(task: u32, attempt: u16, slot: u32) -> Entry {
    Entry::Command(Command::Start { task: TaskId(task), attempt, slot: SlotId(slot) })
}

fn finished(slot: u32, end: End) -> Entry {
    Entry::Event(Event::Finished { slot: SlotId(slot), end })
}

fn complete(task: u32) -> Entry {
    Entry::Command(Command::Complete { task: TaskId(task), attempt: 1 })
}

fn attempt(task: u32, number: u16, slot: u32, times: [u64; 3], outcome: Outcome) -> Entry {
    let [staged, started, ended] = times.map(Time);
    let usage =
        Usage { user_us: 7, system_us: 2, peak_memory_bytes: 1500, blocks_in: 1, blocks_out: 3, ..Usage::default() };
    let (task, slot) = (TaskId(task), SlotId(slot));
    Entry::Attempt(Attempt { task, attempt: number, slot, staged, started, ended, outcome, usage, log: (0, 11) })
}

fn parts(account: &Account) -> Vec<(Part, u128)> {
    let parts = Part::ALL.into_iter().map(|part| (part, account.parts.of(part)));
    parts.filter(|(_, time)| *time > 0).collect()
}

/// Two tasks and one that waits for both, in two slots: a runs for 30, b for 70, then c for 20.
const TRIANGLE: &str = "tasks: { a: { run: x }, b: { run: x }, c: { run: x, after: [a, b] } }";

fn triangle() -> Vec<(u64, Entry)> {
    vec![
        (90, ready(0)),
        (90, ready(1)),
        (100, start(0, 1, 0)),
        (100, start(1, 1, 1)),
        (150, attempt(0, 1, 0, [105, 110, 140], Outcome::Done)),
        (150, finished(0, End::Done)),
        (150, complete(0)),
        (190, attempt(1, 1, 1, [105, 110, 180], Outcome::Done)),
        (190, finished(1, End::Done)),
        (190, complete(1)),
        (190, ready(2)),
        (200, start(2, 1, 0)),
        (240, attempt(2, 1, 0, [205, 210, 230], Outcome::Done)),
        (240, finished(0, End::Done)),
        (240, complete(2)),
    ]
}

#[test]
fn the_time_of_slots_adds_up() {
    let flow = flow(TRIANGLE);
    let account = account(&flow, 2, &triangle());
    assert_eq!(account.period, Period { begin: Time(100), end: Time(240) });
    // Slot 0 waits for inputs from 150 to 190; then c is ready and not started for 10, in one of two free slots.
    let expected = [
        (Part::Compute, 120),
        (Part::Engine, 20 + 20 + 20),
        (Part::NotStarted, 10),
        (Part::Inputs, 40),
        (Part::Tail, 50),
    ];
    assert_eq!(parts(&account), expected);
    assert_eq!(account.parts.total(), 2 * 140);
    assert_eq!(account.bound, LowerBound { work_ns: 120, slots: 2, chain_ns: 90, cores_ns: 0 });
    assert_eq!(account.above_bound(), Some(140.0 / 90.0 - 1.0));
    assert_eq!(account.totals, Totals { tasks: 3, done: 3, attempts: 3, ..Totals::default() });
    assert_eq!(account.slowest, [1, 0, 2]);
    assert_eq!(account.last_stint(TaskId(2)).unwrap().waited_ns(), 10);
}

#[test]
fn the_path_goes_through_the_last_parent() {
    let account = account(&flow(TRIANGLE), 2, &triangle());
    let first = PathTotals { compute_ns: 70, engine_ns: 20, ..PathTotals::default() };
    let second = PathTotals { compute_ns: 20, engine_ns: 20, not_started_ns: 10, ..PathTotals::default() };
    let steps = [
        Step { stint: 1, because: Because::First, times: first },
        Step { stint: 2, because: Because::Inputs, times: second },
    ];
    assert_eq!(account.path.steps, steps);
    assert_eq!(account.path.totals.total_ns(), account.period.length_ns());
}

#[test]
fn the_path_goes_through_a_slot_that_was_taken() {
    let flow = flow("tasks: { t: { foreach: { i: 1..3 }, sleep: 1s } }");
    let second = 1_000_000_000;
    let trace = [
        (0, ready(0)),
        (0, ready(1)),
        (5, start(0, 1, 0)),
        (5 + second + 3, finished(0, End::Done)),
        (5 + second + 3, complete(0)),
        (5 + second + 4, start(1, 1, 0)),
        (5 + 2 * second + 4, finished(0, End::Done)),
        (5 + 2 * second + 4, complete(1)),
    ];
    let account = account(&flow, 1, &trace);
    let reasons: Vec<Because> = account.path.steps.iter().map(|step| step.because).collect();
    assert_eq!(reasons, [Because::First, Because::Slot]);
    assert_eq!(account.path.totals, PathTotals { compute_ns: 2 * second, engine_ns: 4, ..PathTotals::default() });
    // A timer that rings late is the engine's fault, and so is a slot that is not filled at once.
    assert_eq!(parts(&account), [(Part::Compute, 2 * u128::from(second)), (Part::Engine, 3), (Part::NotStarted, 1)]);
    assert_eq!(account.totals.left, 1);
}

#[test]
fn a_parent_in_the_same_slot_is_a_parent() {
    let flow = flow("tasks: { a: { run: x }, b: { run: x, after: a } }");
    let trace = [
        (0, ready(0)),
        (0, start(0, 1, 0)),
        (10, attempt(0, 1, 0, [0, 0, 10], Outcome::Done)),
        (10, finished(0, End::Done)),
        (10, complete(0)),
        (10, ready(1)),
        (10, start(1, 1, 0)),
        (30, attempt(1, 1, 0, [10, 10, 30], Outcome::Done)),
        (30, finished(0, End::Done)),
        (30, complete(1)),
    ];
    let account = account(&flow, 1, &trace);
    assert_eq!(account.path.steps[1].because, Because::Inputs);
    assert_eq!(account.path.totals, PathTotals { compute_ns: 30, ..PathTotals::default() });
}

fn failing() -> Vec<(u64, Entry)> {
    let interrupt = Command::Interrupt { task: TaskId(0), attempt: 1, retry_at: Some(Time(150)) };
    vec![
        (0, ready(0)),
        (0, start(0, 1, 0)),
        (50, attempt(0, 1, 0, [0, 0, 40], Outcome::Exited(3))),
        (50, finished(0, End::Failed { code: 1 })),
        (50, Entry::Command(interrupt)),
        (160, Entry::Event(Event::Wake)),
        (170, start(0, 2, 0)),
        (200, attempt(0, 2, 0, [170, 180, 200], Outcome::TimedOut)),
        (200, finished(0, End::Killed)),
        (200, Entry::Command(Command::Fail { task: TaskId(0), attempt: 2 })),
        (200, Entry::Skipped(TaskId(1))),
    ]
}

#[test]
fn failures_pauses_and_what_is_skipped() {
    let flow = flow("tasks: { a: { run: x, retries: 1, memory: '1kB * attempt' }, b: { run: x, after: a } }");
    let account = account(&flow, 2, &failing());
    // While a runs or pauses, b, which waits for it, could be in the other slot.
    let expected =
        [(Part::InVain, 60), (Part::Engine, 20), (Part::NotStarted, 10), (Part::Pause, 110), (Part::Inputs, 200)];
    assert_eq!(parts(&account), expected);
    let reasons: Vec<Because> = account.path.steps.iter().map(|step| step.because).collect();
    assert_eq!(reasons, [Because::First, Because::Retry]);
    assert_eq!(account.path.totals.pause_ns, 110);
    assert_eq!(account.path.totals.total_ns(), 200);
    assert_eq!(account.failed, [TaskId(0)]);
    let kind = &account.kinds[0];
    assert_eq!((kind.tasks, kind.failed, kind.attempts, kind.retries), (1, 1, 2, 1));
    assert_eq!(kind.failures, [(Outcome::Exited(3), 1), (Outcome::TimedOut, 1)]);
    assert_eq!((kind.time.count, kind.in_vain_ns, kind.waited_ns), (0, 60, 10));
    assert_eq!((kind.cpu_us, kind.read_bytes, kind.written_bytes, kind.printed_bytes), ((14, 4), 1024, 3072, 22));
    // The first attempt had less than it used, the second twice as much.
    let memory = Memory { request_bytes: (1000, 2000), peak_bytes: 1500, peak_is_bound: false, over_request: 1 };
    assert_eq!(kind.memory, memory);
    assert_eq!(account.kinds[1].skipped, 1);
}

#[test]
fn a_run_that_was_cut_off() {
    let flow = flow(TRIANGLE);
    let cut = &triangle()[..7];
    let killed = account(&flow, 2, cut);
    assert_eq!(killed.period.end, Time(150));
    assert_eq!(parts(&killed), [(Part::Compute, 30), (Part::InVain, 50), (Part::Engine, 20)]);
    assert_eq!((killed.totals.done, killed.totals.running, killed.totals.left), (1, 1, 1));
    // The same while it goes on: what runs is not lost.
    let going = Setup { until: Some(Time(175)), ..setup(2) };
    let going = Account::of(&flow, going, cut.iter().map(|(time, entry)| (Time(*time), *entry)));
    assert_eq!(parts(&going), [(Part::Compute, 30 + 75), (Part::Engine, 20), (Part::Inputs, 25)]);
    assert_eq!(going.path.steps.last().unwrap().times.compute_ns, 75);
}

#[test]
fn a_run_that_was_stopped() {
    let mut trace = triangle()[..7].to_vec();
    trace.push((150, Entry::Event(Event::Stop)));
    trace.push((170, attempt(1, 1, 1, [100, 100, 170], Outcome::Cancelled)));
    trace.push((170, finished(1, End::Killed)));
    trace.push((170, Entry::Command(Command::Interrupt { task: TaskId(1), attempt: 1, retry_at: None })));
    let account = account(&flow(TRIANGLE), 2, &trace);
    assert_eq!(parts(&account), [(Part::Compute, 30), (Part::InVain, 70), (Part::Engine, 20), (Part::Stopping, 20)]);
    assert_eq!((account.totals.done, account.totals.left), (1, 2));
}

#[test]
fn what_was_interrupted_is_not_the_tail() {
    let flow = flow("tasks: { a: { run: x }, b: { run: x } }");
    let interrupt = |task: u32| Command::Interrupt { task: TaskId(task), attempt: 1, retry_at: None };
    let trace = [
        (0, ready(0)),
        (0, ready(1)),
        (0, start(0, 1, 0)),
        (0, start(1, 1, 1)),
        (40, Entry::Event(Event::Stop)),
        (50, attempt(0, 1, 0, [0, 0, 50], Outcome::Cancelled)),
        (50, finished(0, End::Killed)),
        (50, Entry::Command(interrupt(0))),
        (60, attempt(1, 1, 1, [0, 0, 60], Outcome::Cancelled)),
        (60, finished(1, End::Killed)),
        (60, Entry::Command(interrupt(1))),
    ];
    assert_eq!(parts(&account(&flow, 2, &trace)), [(Part::InVain, 110), (Part::Stopping, 10)]);
}

#[test]
fn after_a_failure_a_run_may_be_stopping() {
    let mut trace = failing();
    trace.truncate(10);
    trace[8] = (200, finished(0, End::Failed { code: 1 }));
    // A third task is ready and stays so while a fourth runs on.
    trace.insert(1, (0, ready(2)));
    trace.insert(1, (0, ready(3)));
    trace.insert(1, (0, start(3, 1, 1)));
    trace.push((250, attempt(3, 1, 1, [0, 0, 250], Outcome::Done)));
    trace.push((250, finished(1, End::Done)));
    let flow = flow("tasks: { a: { run: x, retries: 1 }, b: { run: x }, c: { run: x }, d: { run: x } }");
    let entries = || trace.iter().map(|(time, entry)| (Time(*time), *entry));
    let stopping = Account::of(&flow, Setup { fail_fast: true, ..setup(2) }, entries());
    assert_eq!(stopping.parts.of(Part::Stopping), 50);
    assert_eq!(account(&flow, 2, &trace).parts.of(Part::Stopping), 0);
}

#[test]
fn the_path_goes_through_what_was_found_up_to_date() {
    let flow = flow("tasks: { a: { run: x }, b: { run: x, after: a }, c: { run: x, after: b } }");
    let mut trace: Vec<_> = (0..3).map(|task| (0, Entry::Pending(TaskId(task), Reason::ParentRuns))).collect();
    trace.extend([
        (0, ready(0)),
        (0, start(0, 1, 0)),
        (10, attempt(0, 1, 0, [0, 0, 10], Outcome::Done)),
        (10, finished(0, End::Done)),
        (10, complete(0)),
        (10, Entry::UpToDate(TaskId(1))),
        (10, ready(2)),
        (12, start(2, 1, 1)),
        (30, attempt(2, 1, 1, [12, 12, 30], Outcome::Done)),
        (30, finished(1, End::Done)),
        (30, complete(2)),
    ]);
    let account = account(&flow, 2, &trace);
    let steps: Vec<(u32, Because)> = account.path.steps.iter().map(|step| (step.stint, step.because)).collect();
    assert_eq!(steps, [(0, Because::First), (1, Because::Inputs)]);
    assert_eq!((account.totals.done, account.totals.up_to_date), (2, 1));
}

#[test]
fn runs_in_which_nothing_happened() {
    let flow = flow(TRIANGLE);
    for trace in [vec![], (0..3).map(|task| (9, Entry::UpToDate(TaskId(task)))).collect()] {
        let account = account(&flow, 2, &trace);
        assert_eq!((account.period.length_ns(), account.parts.total()), (0, 0));
        assert_eq!(account.above_bound(), None);
        assert!(account.path.steps.is_empty() && account.slowest.is_empty());
        assert_eq!(account.totals.up_to_date + account.totals.left, 3);
    }
}

#[test]
fn tasks_that_nobody_asked_for_are_left_out() {
    let trace = [(9, Entry::Pending(TaskId(1), Reason::NeverDone)), (9, Entry::UpToDate(TaskId(0)))];
    let account = account(&flow(TRIANGLE), 2, &trace);
    assert_eq!(account.totals, Totals { tasks: 2, up_to_date: 1, left: 1, ..Totals::default() });
    assert_eq!(account.kinds.len(), 2);
}

#[test]
fn bins_hold_what_the_whole_does() {
    let flow = flow(TRIANGLE);
    let stretched: Vec<_> = triangle().into_iter().map(|(time, entry)| (time * 7919, stretch(entry))).collect();
    let account = account(&flow, 2, &stretched);
    let bins = &account.utilisation;
    assert!(bins.bins.len() <= 600 && bins.bins.len() > 590, "{}", bins.bins.len());
    for (number, bin) in bins.bins.iter().enumerate() {
        let begin = number as u64 * bins.bin_ns;
        let length = bins.bin_ns.min(account.period.length_ns() - begin);
        assert_eq!(bin.iter().sum::<u64>(), 2 * length);
    }
}

#[test]
fn what_tasks_computed_bounds_a_run_however_many_slots_it_has() {
    let flow = flow(TRIANGLE);
    let mut trace = triangle();
    // What did not end well does not count.
    trace.insert(4, (120, attempt(0, 1, 0, [105, 110, 115], Outcome::Exited(1))));
    let entries = || trace.iter().map(|(time, entry)| (Time(*time), *entry));
    let account = Account::of(&flow, Setup { cores: 2, ..setup(2) }, entries());
    // Three that computed 9 µs each, on two cores: 13 whole ones.
    assert_eq!((account.bound.cores_ns, account.bound.ns()), (13_000, 13_000));
    let mut lengths = Lengths::new(&flow, 2, 2);
    entries().for_each(|(time, entry)| lengths.take(time, &entry));
    assert_eq!(lengths.bound(), account.bound);
}

#[test]
fn lengths_of_tasks_without_a_process_are_what_they_say() {
    let flow = flow("tasks: { a: { noop: true }, b: { sleep: 50ns }, c: { sleep: 1s }, d: { noop: true } }");
    let mut lengths = Lengths::new(&flow, 2, 0);
    for (time, entry) in [
        (100, start(0, 1, 0)),
        (100, start(1, 1, 1)),
        (110, finished(0, End::Done)),
        (170, finished(1, End::Done)),
        (170, start(2, 1, 1)),
        (190, finished(1, End::Killed)),
    ] {
        lengths.take(Time(time), &entry);
    }
    let found: Vec<_> = flow.tasks().map(|task| lengths.of(task)).collect();
    assert_eq!(found, [Some(0), Some(50), Some(20), None]);
    assert_eq!(lengths.bound().ns(), 50);
}

fn stretch(entry: Entry) -> Entry {
    let times = |time: Time| Time(time.0 * 7919);
    match entry {
        Entry::Attempt(attempt) => {
            let (staged, started, ended) = (times(attempt.staged), times(attempt.started), times(attempt.ended));
            Entry::Attempt(Attempt { staged, started, ended, ..attempt })
        }
        other => other,
    }
}

/// A task of a random workflow: the earlier tasks it waits for, and for each attempt how long it takes and whether it fails.
type RandomTask = (Vec<prop::sample::Index>, Vec<(u64, bool)>);

/// Runs a random workflow on a real node with made-up lengths, and writes the trace that the engine would.
fn record(tasks: &[RandomTask], slots: u32) -> (Arc<Workflow>, Vec<(Time, Entry)>) {
    let mut text = "tasks:\n".to_owned();
    for (number, (after, attempts)) in tasks.iter().enumerate() {
        let after: Vec<String> =
            after.iter().filter(|_| number > 0).map(|index| format!("t{}", index.index(number))).collect();
        let (cpus, retries) = (1 + number % 2, attempts.len() - 1);
        text +=
            &format!("  t{number}: {{ run: x, cpus: {cpus}, retries: {retries}, after: [{}] }}\n", after.join(", "));
    }
    let flow = Arc::new(flow(&text));
    let resources = Resources { memory_bytes: 0, cpus_milli: u64::from(slots.max(2)) * 1000 };
    let order = || order::by_name(&"fifo".parse().unwrap(), &flow, 4).unwrap();
    let pack = pack::by_name(&"requests".parse().unwrap(), Capacity { width: slots, resources }, &flow).unwrap();
    let policies = Policies { local: order(), shared: order(), pack };
    let limits = Limits { slots, grace: Duration::from_secs(1), fail_fast: false };
    let mut node = Node::new(flow.clone(), limits, policies, Pools::new(Vec::new(), &flow));
    let mut ledger = Ledger::new(&flow, |_| Standing::Pending);
    let mut trace = Vec::new();
    let mut now = Time(17);
    let mut running: std::collections::BTreeMap<(Time, u32), (Entry, End)> = Default::default();
    let mut events: Vec<Event> = ledger.roots().map(|task| Event::Ready(ledger.ready_task(&flow, task, 0))).collect();
    loop {
        let mut commands = Vec::new();
        while !events.is_empty() {
            let event = events.remove(0);
            trace.push((now, Entry::Event(event)));
            node.handle(now, event, &mut commands);
            for command in commands.drain(..) {
                trace.push((now, Entry::Command(command)));
                let mut opened = Vec::new();
                match command {
                    Command::Complete { task, attempt } => {
                        ledger.complete(&flow, task, attempt, &mut opened).unwrap();
                    }
                    Command::Fail { task, attempt } => {
                        let mut skipped = Vec::new();
                        ledger.fail(&flow, task, attempt, &mut skipped).unwrap();
                        trace.extend(skipped.into_iter().map(|task| (now, Entry::Skipped(task))));
                    }
                    Command::Interrupt { task, attempt, .. } => ledger.interrupt(task, attempt).unwrap(),
                    _ => unreachable!("{command:?}"),
                }
                events.extend(opened.into_iter().map(|task| Event::Ready(ledger.ready_task(&flow, task, 0))));
            }
        }
        node.decide(now, &mut commands);
        for command in commands.drain(..) {
            trace.push((now, Entry::Command(command)));
            let Command::Start { task, attempt: number, slot } = command else { unreachable!() };
            ledger.start(task, number).unwrap();
            let (length, fails) = tasks[task.index()].1[usize::from(number) - 1];
            let ended = now.0 + 4 + length;
            let outcome = if fails { Outcome::Exited(1) } else { Outcome::Done };
            let entry = attempt(task.0, number, slot.0, [now.0 + 1, now.0 + 4, ended], outcome);
            let end = if fails { End::Failed { code: 1 } } else { End::Done };
            running.insert((Time(ended + 3), slot.0), (entry, end));
        }
        let wake = node.next_wake().filter(|wake| running.keys().next().is_none_or(|(end, _)| wake < end));
        if let Some(wake) = wake {
            now = wake;
            events.push(Event::Wake);
        } else if let Some(((end, slot), (entry, how))) = running.pop_first() {
            now = end;
            trace.push((now, entry));
            events.push(Event::Finished { slot: SlotId(slot), end: how });
        } else {
            return (flow, trace);
        }
    }
}

fn random_task() -> impl Strategy<Value = RandomTask> {
    let attempt = (0..3_000_000_000u64, prop::bool::weighted(0.3));
    (prop::collection::vec(any::<prop::sample::Index>(), 0..3), prop::collection::vec(attempt, 1..3))
}

fn check_sums(account: &Account) {
    let length = account.period.length_ns();
    assert_eq!(account.parts.total(), u128::from(account.slots) * u128::from(length));
    let (compute, engine) = account
        .stints
        .iter()
        .fold((0, 0), |sums, stint| (sums.0 + u128::from(stint.compute_ns()), sums.1 + u128::from(stint.engine_ns())));
    assert_eq!(account.parts.of(Part::Compute) + account.parts.of(Part::InVain), compute);
    assert_eq!(account.parts.of(Part::Engine), engine);
    assert_eq!(account.kinds.iter().map(|kind| kind.compute_ns).sum::<u128>(), compute);
    let Totals { tasks, done, up_to_date, failed, skipped, running, left, .. } = account.totals;
    assert_eq!(tasks, done + up_to_date + failed + skipped + running + left);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Parts add up, the path has no gap, and nothing is faster than the bound, wherever the trace is cut off.
    #[test]
    fn figures_of_any_run_add_up(
        tasks in prop::collection::vec(random_task(), 1..12),
        slots in 1..5u32,
        cut in any::<prop::sample::Index>(),
    ) {
        let (flow, trace) = record(&tasks, slots);
        for length in [trace.len(), cut.index(trace.len() + 1)] {
            let account = Account::of(&flow, setup(slots), trace[..length].iter().copied());
            check_sums(&account);
            prop_assert_eq!(account.path.totals.total_ns(), account.period.length_ns());
            prop_assert!(account.bound.ns() <= account.period.length_ns());
        }
    }

    /// Whoever wants to know no more than lengths finds the same.
    #[test]
    fn lengths_alone_are_those_of_the_account(tasks in prop::collection::vec(random_task(), 1..12), slots in 1..5u32) {
        let (flow, trace) = record(&tasks, slots);
        let account = Account::of(&flow, Setup { cores: 2, ..setup(slots) }, trace.iter().copied());
        let mut lengths = Lengths::new(&flow, slots, 2);
        trace.iter().for_each(|(time, entry)| lengths.take(*time, entry));
        for task in flow.tasks() {
            prop_assert_eq!(lengths.of(task), account.last_stint(task).map(Stint::compute_ns));
        }
        prop_assert_eq!(lengths.bound(), account.bound);
        prop_assert_eq!(lengths.expected_seconds(), account.expected_seconds);
    }

    /// Entries in any order at all, as in a damaged trace, still give an account whose parts add up.
    #[test]
    fn nonsense_is_accounted_for(
        tasks in prop::collection::vec(random_task(), 1..8),
        slots in 1..4u32,
        seen_slots in 1..4u32,
        order in prop::collection::vec(any::<prop::sample::Index>(), 0..60),
    ) {
        let (flow, trace) = record(&tasks, slots);
        let mut now = Time(0);
        let entries: Vec<(Time, Entry)> = order
            .iter()
            .map(|index| {
                let (time, entry) = trace[index.index(trace.len())];
                now = now.max(Time(time.0 / 2));
                (now, entry)
            })
            .collect();
        check_sums(&Account::of(&flow, setup(seen_slots), entries.iter().copied()));
        let mut lengths = Lengths::new(&flow, seen_slots, 0);
        entries.iter().for_each(|(time, entry)| lengths.take(*time, entry));
        prop_assert!(lengths.expected_seconds() >= 0.0);
    }
}
