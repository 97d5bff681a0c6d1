//! The policy on machines that are made up.

use std::sync::Arc;

use super::*;
use crate::pack::sample::WHOLE;
use crate::workflow::{Format, NoFiles, Resources, Workflow};

/// A machine on which tasks of each kind want so much of each resource, for so many measurements.
struct Machine {
    pack: Weasel,
    demands: Vec<DemandId>,
    wants: Vec<Use>,
    length: u32,
    waiting: Vec<u32>,
    /// Of which kind, and for how many measurements more.
    running: Vec<(usize, u32)>,
    now: Time,
}

impl Machine {
    fn new(text: &str, policy: &str, wants: &[Use], tasks: &[u32]) -> Machine {
        let mut flow = Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap();
        flow.tell_kinds_apart();
        let flow = Arc::new(flow);
        let kinds = Kinds::new(&flow);
        let of_kind = |kind: usize| flow.tasks().find(|task| flow.kind(*task).index() == kind).unwrap();
        let demands: Vec<DemandId> = (0..wants.len()).map(|kind| flow.first_demand(of_kind(kind))).collect();
        let capacity = Capacity { width: 300, resources: Resources { memory_bytes: 1 << 30, cpus_milli: 16_000 } };
        let mut pack = Weasel::new(&policy.parse().unwrap(), capacity, kinds).unwrap();
        for (kind, count) in tasks.iter().enumerate() {
            (0..*count).for_each(|_| pack.queued(KindId::at(kind)));
        }
        let (wants, waiting) = (wants.to_vec(), tasks.to_vec());
        Machine { pack, demands, wants, length: 2, waiting, running: Vec::new(), now: Time::START }
    }

    fn fill(&mut self) {
        for kind in 0..self.demands.len() {
            while self.waiting[kind] > 0 && self.pack.admits(self.demands[kind]) {
                self.pack.unqueued(KindId::at(kind));
                self.pack.started(self.demands[kind]);
                self.waiting[kind] -= 1;
                self.running.push((kind, self.length));
            }
        }
    }

    /// Half a second.
    fn step(&mut self) -> Vec<Change> {
        self.fill();
        let mut used = Use::default();
        for (kind, _) in &self.running {
            used.iter_mut().zip(self.wants[*kind]).for_each(|(used, wants)| *used += wants);
        }
        for (_, left) in &mut self.running {
            *left -= 1;
        }
        let ended: Vec<usize> = self.running.iter().filter(|(_, left)| *left == 0).map(|(kind, _)| *kind).collect();
        self.running.retain(|(_, left)| *left > 0);
        let sample =
            Sample { used: used.map(|used: f64| (used.min(1.0) * f64::from(WHOLE)) as u32), ..Sample::default() };
        self.now = self.now + Duration::from_millis(500);
        let changes = self.pack.measured(self.now, &sample);
        ended.into_iter().for_each(|kind| self.pack.ended(self.demands[kind]));
        self.fill();
        changes
    }

    fn of_kind(&self, kind: usize) -> usize {
        self.running.iter().filter(|(running, _)| *running == kind).count()
    }
}

const CPU: Use = [1.0 / 16.0, 0.0, 0.0, 0.0, 0.0];
const NETWORK: Use = [0.001, 1.0 / 12.0, 0.0, 0.0, 0.0];
const TWO: &str = "tasks: { a: { foreach: { i: 1..9 }, run: 'x {i}' }, b: { foreach: { i: 1..9 }, run: 'y {i}' } }";

#[test]
fn a_kind_runs_alone_first_and_then_as_often_as_there_is_use_for_it() {
    let mut machine = Machine::new(TWO, "weasel:interval=1s", &[CPU, CPU], &[100_000, 0]);
    let mut changes = Vec::new();
    for step in 0..400 {
        changes.extend(machine.step());
        if changes.is_empty() {
            assert_eq!(machine.running.len(), 1, "step {step}");
        }
    }
    assert_eq!(changes[0], Change { kind: KindId(0), width: 1, why: Why::Profiled(Resource::Cpu) });
    assert!(changes.iter().any(|change| change.why == Why::Contention));
    let late: Vec<u32> = changes[changes.len() - 20..].iter().map(|change| change.width).collect();
    assert!(late.iter().all(|width| (14..=18).contains(width)), "{late:?}");
}

#[test]
fn what_an_earlier_run_came_to_is_where_the_next_goes_on() {
    let mut machine = Machine::new(TWO, "weasel:interval=1s", &[CPU, CPU], &[100_000, 0]);
    machine.pack.recall(KindId(0), &Past { width: Some(13), ..Past::default() });
    let changes: Vec<Change> = (0..12).flat_map(|_| machine.step()).collect();
    assert_eq!(changes[0], Change { kind: KindId(0), width: 13, why: Why::Profiled(Resource::Cpu) });
}

#[test]
fn kinds_that_need_different_things_run_beside_each_other() {
    let mut machine = Machine::new(TWO, "weasel:interval=1s", &[CPU, NETWORK], &[100_000, 100_000]);
    (0..600).for_each(|_| drop(machine.step()));
    let (cpu, network) = (machine.of_kind(0), machine.of_kind(1));
    assert!((14..=18).contains(&cpu) && (10..=14).contains(&network), "{cpu} and {network}");
}

#[test]
fn kinds_that_need_the_same_run_one_after_the_other() {
    let mut machine = Machine::new(TWO, "weasel:interval=1s", &[CPU, CPU], &[600, 50]);
    let mut beside = 0;
    for _ in 0..600 {
        machine.step();
        beside += usize::from(machine.of_kind(0) > 0 && machine.of_kind(1) > 0);
    }
    assert_eq!((machine.waiting[0], machine.waiting[1], machine.running.len()), (0, 0, 0), "all of them have run");
    assert!(beside < 5, "{beside}");
}

#[test]
fn cores_that_are_asked_for_are_reserved() {
    let text = "tasks: { a: { foreach: { i: 1..9 }, run: 'x {i}', cpus: 8 }, b: { run: y } }";
    let mut machine = Machine::new(text, "weasel:interval=1s", &[CPU, CPU], &[1000, 0]);
    (0..200).for_each(|_| drop(machine.step()));
    assert!(machine.running.len() <= 2, "{}", machine.running.len());
    assert!(machine.pack.could_ever_admit(machine.demands[0]));
}

#[test]
fn what_may_be_set() {
    let flow = Arc::new(Workflow::parse(TWO, Format::Yaml, "x", &NoFiles).unwrap());
    let capacity = Capacity { width: 8, resources: Resources { memory_bytes: 0, cpus_milli: 8000 } };
    let told = |text: &str| Weasel::new(&text.parse().unwrap(), capacity, Kinds::new(&flow)).map(|_| ());
    assert_eq!(told("weasel:interval=2s,threshold=0.3,start_after=1,most=9,profiled=1,drift=inf"), Ok(()));
    for wrong in ["weasel:speed=1", "weasel:interval=0s", "weasel:most=0", "weasel:profiled=0", "weasel:drift=-1"] {
        assert!(told(wrong).is_err(), "{wrong}");
    }
}

#[test]
fn what_others_hold_is_not_what_a_task_needs_most() {
    let mut machine = Machine::new(TWO, "weasel:profiled=1", &[CPU], &[9]);
    machine.fill();
    // The machine holds a third of its memory, whatever runs; the task computes all the time on one of 16 cores.
    let used = [62_500, 0, 0, 330_000, 0];
    machine.pack.measured(Time(500_000_000), &Sample { used, ..Sample::default() });
    let spent = Spent { time_us: 500_000, computing_us: 490_000, peak_bytes: 5 << 20 };
    machine.pack.spent(Time(600_000_000), machine.demands[0], &spent);
    machine.pack.ended(machine.demands[0]);
    let changes = machine.pack.measured(Time(1_000_000_000), &Sample::default());
    assert!(matches!(changes[..], [Change { why: Why::Profiled(Resource::Cpu), .. }]), "{changes:?}");
}

#[test]
fn a_kind_that_could_run_beside_others_is_asked_for() {
    let mut machine = Machine::new(TWO, "weasel:profiled=1", &[CPU, NETWORK], &[1, 1]);
    (0..8).for_each(|_| drop(machine.step()));
    assert_eq!(machine.running.len(), 0);
    assert_eq!(machine.pack.idle_kinds(), [KindId(0), KindId(1)]);
    machine.pack.started(machine.demands[0]);
    machine.pack.queued(KindId(0));
    assert_eq!(machine.pack.idle_kinds(), [KindId(1)], "what needs something else");
}
