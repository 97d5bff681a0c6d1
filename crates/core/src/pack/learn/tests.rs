//! The policy on machines that are made up: tasks compute a part of their time, wait another, and share a server that has so much to give.

use std::sync::Arc;

use super::*;
use crate::pack::sample::WHOLE;
use crate::rng::Rng;
use crate::workflow::{Format, NoFiles, Resources, Workflow};

const CORES: f64 = 4.0;
/// As often as it is measured.
const STEP: Duration = Duration::from_millis(100);

/// What a task does when it is alone, each at its own time: computing, waiting, and fetching from the server, in seconds.
#[derive(Clone, Copy, Debug, Default)]
struct Needs {
    computing: f64,
    waiting: f64,
    fetching: f64,
}

#[derive(Clone, Debug)]
struct Running {
    kind: usize,
    left: Needs,
    had: f64,
    begun: Time,
    /// How old it was when it was told what it has computed.
    told_at: Duration,
}

/// A machine on which tasks of several kinds run.
struct Machine {
    pack: Learn,
    demands: Vec<DemandId>,
    needs: Vec<Needs>,
    /// How many can fetch at once as if they were alone.
    server: f64,
    /// How many have to wait before it gives half of that: a disk does more where many wait for it.
    queue: f64,
    /// With more than so many, it gives less, the more there are.
    best: f64,
    /// Whether what it gives is so little that nobody sees it.
    is_silent: bool,
    /// How many others compute all the time, and how many bytes they move in a second.
    others: f64,
    moved_by_others: u64,
    queued: Vec<u32>,
    running: Vec<Running>,
    now: Time,
    done: u32,
    rng: Rng,
}

impl Machine {
    fn new(needs: &[Needs], tasks: &[u32]) -> Machine {
        let text = "tasks: { a: { run: x }, b: { run: y } }";
        let mut flow = Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap();
        flow.tell_kinds_apart();
        let flow = Arc::new(flow);
        let demands: Vec<DemandId> = flow.tasks().map(|task| flow.first_demand(task)).collect();
        let resources = Resources { memory_bytes: 1 << 30, cpus_milli: (CORES * 1000.0) as u64 };
        let capacity = Capacity { width: 256, resources };
        let mut pack = Learn::new(&"learn".parse().unwrap(), capacity, Kinds::new(&flow)).unwrap();
        for (kind, count) in tasks.iter().enumerate() {
            (0..*count).for_each(|_| pack.queued(KindId::at(kind)));
        }
        let (needs, queued) = (needs.to_vec(), tasks.to_vec());
        let (server, queue, others, now) = (f64::INFINITY, 0.0, 0.0, Time::START);
        Machine {
            pack,
            demands,
            needs,
            server,
            queue,
            best: f64::INFINITY,
            is_silent: false,
            others,
            moved_by_others: 0,
            queued,
            running: Vec::new(),
            now,
            done: 0,
            rng: Rng::new(1),
        }
    }

    fn fill(&mut self) {
        for kind in 0..self.needs.len() {
            while self.queued[kind] > 0 && self.pack.admits(self.demands[kind]) {
                self.pack.unqueued(KindId::at(kind));
                self.pack.started(self.demands[kind]);
                self.queued[kind] -= 1;
                // No two tasks are alike, and so they do not march in step.
                let (Needs { computing, waiting, fetching }, by) = (self.needs[kind], 0.7 + 0.6 * self.rng.unit());
                let left = Needs { computing: computing * by, waiting: waiting * by, fetching: fetching * by };
                let told_at = Duration::from_millis(300);
                self.running.push(Running { kind, left, had: 0.0, begun: self.now, told_at });
            }
        }
    }

    /// Lets a tenth of a second pass, in smaller parts.
    fn step(&mut self) -> Vec<Change> {
        const PARTS: u32 = 10;
        let (mut busy, mut fetched, mut runnable, mut strangers) = (0.0, 0.0, 0.0, 0.0);
        for _ in 0..PARTS {
            self.fill();
            let part = STEP.as_secs_f64() / f64::from(PARTS);
            // Computing comes first, then fetching, then waiting.
            let computing = self.running.iter().filter(|task| task.left.computing > 0.0).count() as f64 + self.others;
            let fetching = self.running.iter().filter(|task| task.left.computing <= 0.0 && task.left.fetching > 0.0);
            let fetching = fetching.count() as f64;
            let server = self.server * (self.best / fetching).min(1.0);
            let (core, share) = ((CORES / computing).min(1.0), (server / (fetching + self.queue)).min(1.0));
            strangers += self.others * core / f64::from(PARTS);
            busy += computing * core / f64::from(PARTS);
            fetched += fetching * share / f64::from(PARTS);
            runnable += computing / f64::from(PARTS);
            for task in &mut self.running {
                if task.left.computing > 0.0 {
                    task.left.computing -= part * core;
                    task.had += part * core;
                } else if task.left.fetching > 0.0 {
                    task.left.fetching -= part * share;
                } else {
                    task.left.waiting -= part;
                }
            }
            self.now = self.now + STEP / PARTS;
            self.end();
        }
        for task in &mut self.running {
            let age = self.now.since(task.begun);
            if age >= task.told_at * 2 {
                task.told_at = age;
                let uses = Uses { bytes: 1, computing_us: (task.had * 1e6) as u64 };
                self.pack.uses(self.now, self.demands[task.kind], age, &uses);
            }
        }
        let share = |used: f64| (used.clamp(0.0, 1.0) * f64::from(WHOLE)) as u32;
        let fetched = if self.is_silent { 0.0 } else { fetched };
        let mut used = [share(busy / CORES), 0, 0, 0, 0];
        // A queue is something that a disk has.
        let is_disk = self.queue > 0.0;
        used[if is_disk { Resource::Disk } else { Resource::Network } as usize] = share(fetched / 40.0);
        let moved_bytes_per_s = (fetched / 40.0 * 125e6) as u64 + self.moved_by_others;
        let (runnable, strangers) = (runnable.round() as u32, share(strangers / CORES));
        let sample = Sample { used, moved_bytes_per_s, runnable, strangers, ..Sample::default() };
        self.pack.measured(self.now, &sample)
    }

    fn end(&mut self) {
        let is_over = |task: &Running| task.left.computing.max(task.left.fetching).max(task.left.waiting) <= 1e-9;
        let (over, running): (Vec<Running>, Vec<Running>) = self.running.drain(..).partition(is_over);
        self.running = running;
        for task in over {
            let time_us = self.now.since(task.begun).as_micros() as u64;
            let spent = Spent { time_us, computing_us: (task.had * 1e6) as u64, peak_bytes: 0 };
            self.pack.spent(self.now, self.demands[task.kind], &spent);
            self.pack.ended(self.demands[task.kind]);
            self.done += 1;
        }
        self.fill();
    }

    /// How many run, on average, in so many seconds from now on.
    fn mean(&mut self, seconds: u32) -> f64 {
        self.mean_of_steps(seconds * 10)
    }

    fn mean_of_steps(&mut self, steps: u32) -> f64 {
        let sum: usize = (0..steps)
            .map(|_| {
                self.step();
                self.running.len()
            })
            .sum();
        sum as f64 / f64::from(steps)
    }
}

const MANY: u32 = 1_000_000;

#[test]
fn tasks_that_compute_run_as_often_as_there_are_cores() {
    let mut machine = Machine::new(&[Needs { computing: 0.3, ..Needs::default() }], &[MANY]);
    let width = machine.mean(20);
    assert!((3.9..=5.0).contains(&width), "{width}");
    // Others take half of the machine, and there are not more of ours for that.
    machine.others = 4.0;
    let width = machine.mean(20);
    assert!((3.9..=5.0).contains(&width), "{width}");
}

#[test]
fn tasks_that_wait_are_as_many_as_may_be_within_two_seconds() {
    let mut machine = Machine::new(&[Needs { computing: 0.001, waiting: 0.2, ..Needs::default() }], &[MANY]);
    machine.mean(2);
    assert!(machine.mean(1) > 200.0);
    // The same beside others who use all cores.
    let mut machine = Machine::new(&[Needs { computing: 0.001, waiting: 0.2, ..Needs::default() }], &[MANY]);
    machine.others = 8.0;
    machine.mean(4);
    assert!(machine.mean(1) > 100.0);
}

#[test]
fn whoever_else_does_a_little_on_the_machine_is_not_mistaken_for_a_task() {
    for (seconds, moved_by_others) in [(0.2, 3_000_000), (1.0, 3_000_000), (5.0, 1_000_000)] {
        let mut machine = Machine::new(&[Needs { computing: 0.001, waiting: seconds, ..Needs::default() }], &[MANY]);
        (machine.others, machine.moved_by_others) = (0.4, moved_by_others);
        machine.mean(6);
        assert!(machine.mean(1) > 200.0, "{} at once that wait for {seconds} s", machine.running.len());
    }
}

#[test]
fn tasks_that_compute_half_of_the_time_keep_the_cores_busy() {
    let mut machine = Machine::new(&[Needs { computing: 0.2, waiting: 0.2, ..Needs::default() }], &[MANY]);
    machine.mean(3);
    let before = machine.done;
    let width = machine.mean(20);
    let rate = f64::from(machine.done - before) / 20.0;
    assert!(rate > 0.92 * CORES / 0.2, "{rate} a second with {width}");
    assert!(width < 24.0, "{width}");
}

#[test]
fn strangers_find_no_more_beside_them_than_there_are_cores() {
    let mut machine = Machine::new(&[Needs { computing: 0.2, waiting: 0.2, ..Needs::default() }], &[MANY]);
    let before = machine.mean(10);
    machine.others = 2.0;
    let changes: Vec<Change> = (0..20).flat_map(|_| machine.step()).collect();
    assert!(changes.iter().any(|change| change.why == Why::Strangers), "{changes:?}");
    let beside = machine.mean(10);
    assert!(before > 7.0 && beside <= CORES + 0.5, "{before}, then {beside}");
    machine.others = 0.0;
    machine.mean(3);
    let after = machine.mean(10);
    assert!(after > before * 0.9, "{before}, and {after} when they have gone");
}

#[test]
fn fewer_than_there_are_cores_run_where_more_are_in_each_others_way() {
    for seed in 1..=5 {
        let mut machine = Machine::new(&[Needs { computing: 0.005, fetching: 0.3, ..Needs::default() }], &[MANY]);
        (machine.server, machine.best, machine.rng) = (2.0, 2.0, Rng::new(seed));
        let rate = rate(&mut machine, 60, 60);
        // All four cores at once make it half of that.
        assert!(rate > 0.8 * 2.0 / 0.3, "seed {seed}: {rate} a second with {}", machine.running.len());
    }
}

#[test]
fn a_queue_that_runs_dry_says_nothing_against_more() {
    let mut machine = Machine::new(&[Needs { computing: 0.002, fetching: 1.0, ..Needs::default() }], &[40]);
    machine.server = 100.0;
    machine.mean(60);
    assert_eq!(machine.done, 40);
    (0..MANY).for_each(|_| machine.pack.queued(KindId(0)));
    machine.queued[0] = MANY;
    let rate = rate(&mut machine, 12, 20);
    assert!(rate > 85.0, "{rate} a second with {}", machine.running.len());
}

#[test]
fn what_was_recalled_is_corrected_by_tasks_that_still_run() {
    let mut machine = Machine::new(&[Needs { computing: 600.0, ..Needs::default() }], &[MANY]);
    let figure = |mean| crate::past::Figure { mean, spread: 0.0 };
    let past = Past { tasks: 9, time_s: figure(1.0), cores: figure(0.5), ..Past::default() };
    machine.pack.recall(KindId(0), &past);
    machine.mean(3);
    assert_eq!(machine.running.len(), 8, "as many as there would be room for");
    assert!(machine.pack.states[&KindId(0)].need > 0.9, "each of them wants a core");
    assert_eq!(machine.pack.found(KindId(0)).cores, None, "none has ended");
}

#[test]
fn tasks_that_share_a_server_are_not_many_more_than_it_serves() {
    let mut wrong = Vec::new();
    for seed in 1..=20 {
        let mut machine = Machine::new(&[Needs { computing: 0.005, fetching: 0.3, ..Needs::default() }], &[MANY]);
        (machine.server, machine.rng) = (12.0, Rng::new(seed));
        machine.mean(5);
        let before = machine.done;
        let width = machine.mean(10);
        let first = f64::from(machine.done - before) / 10.0;
        let crowd = width;
        // It gives half, which is seen within ten times half a second, and later four times as much. Just then fewer or more may be on trial, so
        // what there usually were is what counts.
        let mut widths: Vec<f64> = (0..50).map(|_| machine.mean_of_steps(1)).collect();
        widths.sort_unstable_by(f64::total_cmp);
        let width = widths[25];
        machine.server = 6.0;
        let half = (0..50).map(|_| machine.mean_of_steps(1)).fold(width, f64::min);
        machine.server = 24.0;
        let double = rate(&mut machine, 10, 10);
        let is_well = first > 0.9 * 12.0 / 0.3 && crowd < 64.0 && half < width * 0.8 && double > 0.85 * 24.0 / 0.3;
        if !is_well {
            wrong.push(format!("seed {seed}: {first} a second with {crowd}; {width}, then {half}; {double} a second"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn kinds_that_need_different_things_run_beside_each_other() {
    let kinds =
        [Needs { computing: 0.3, ..Needs::default() }, Needs { computing: 0.002, waiting: 0.3, ..Needs::default() }];
    let mut machine = Machine::new(&kinds, &[400, 4000]);
    let mut changes = Vec::new();
    while machine.done < 4400 && machine.now < Time::START + Duration::from_secs(200) {
        changes.extend(machine.step());
    }
    let seconds = machine.now.as_secs_f64();
    // One after the other it would be 30 s and about 5 s.
    assert!(machine.done == 4400 && seconds < 34.0, "{} in {seconds}", machine.done);
    assert!(changes.iter().any(|change| change.why == Why::Grows));
}

#[test]
fn tasks_that_wait_are_soon_as_many_as_may_be_beside_others_that_compute() {
    let kinds =
        [Needs { computing: 0.3, ..Needs::default() }, Needs { computing: 0.002, waiting: 1.0, ..Needs::default() }];
    let mut machine = Machine::new(&kinds, &[MANY, MANY]);
    machine.mean(4);
    let width = machine.mean(1);
    assert!(width > 200.0, "{width}");
}

#[test]
fn kinds_that_nobody_has_here_are_welcome_if_nothing_here_can_start() {
    let mut machine = Machine::new(&[Needs { computing: 0.3, ..Needs::default() }, Needs::default()], &[MANY, 0]);
    assert_eq!(machine.pack.idle_kinds(), [], "what waits here could start");
    machine.mean(5);
    // All cores are taken by tasks of the first kind.
    assert_eq!(machine.pack.idle_kinds(), [KindId(1)]);
    machine.pack.queued(KindId(1));
    assert_eq!(machine.pack.idle_kinds(), [], "and now one waits here that could");
    assert!(machine.pack.appetite() >= 2 * CORES as u32 && machine.pack.appetite() < 64);
}

/// What comes out of a machine in a second, after so many seconds, for so many more.
fn rate(machine: &mut Machine, after: u32, seconds: u32) -> f64 {
    machine.mean(after);
    let before = machine.done;
    machine.mean(seconds);
    f64::from(machine.done - before) / f64::from(seconds)
}

#[test]
fn a_disk_that_does_more_where_many_wait_for_it_is_given_many() {
    let rate = |seed: u64| {
        let mut machine = Machine::new(&[Needs { computing: 0.005, fetching: 0.2, ..Needs::default() }], &[MANY]);
        (machine.server, machine.queue, machine.rng) = (6.0, 4.0, Rng::new(seed));
        rate(&mut machine, 20, 20)
    };
    // With 4 at once, 15 in a second; with 256, nearly 30.
    let rates: Vec<f64> = (1..=20).map(rate).collect();
    assert!(rates[0] > 26.0 && rates.iter().all(|rate| *rate > 22.0), "of seeds 1 to 20: {rates:?}");
    assert!(rates.iter().sum::<f64>() > 25.0 * rates.len() as f64, "of seeds 1 to 20: {rates:?}");
}

#[test]
fn a_server_that_nobody_sees_anything_of_is_not_besieged_for_long() {
    for seconds in [0.3, 2.0] {
        let mut machine = Machine::new(&[Needs { fetching: seconds, computing: 0.001, ..Needs::default() }], &[MANY]);
        (machine.server, machine.is_silent) = (12.0, true);
        let rate = rate(&mut machine, 300, 60);
        let width = machine.mean(10);
        assert!(width < 80.0 && rate > 0.85 * 12.0 / seconds, "{rate} a second with {width}");
    }
}
