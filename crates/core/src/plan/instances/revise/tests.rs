use std::fmt::Write;

use super::super::{Choice, Problem, Recipe, Schedule, pack, revise};
use crate::plan::prepared;
use crate::rng::Rng;

/// A schedule as the packer makes it, and the same after a second look.
fn both(problem: &Problem<'_>, recipe: &Recipe, types: Option<&[u16]>) -> Option<(Schedule, Schedule)> {
    let packed = pack(problem, recipe, types, &mut 0, &mut || true)?;
    let revised = revise(problem, recipe, types, &packed, &mut 0, &mut || true).unwrap_or_else(|| packed.clone());
    Some((packed, revised))
}

fn minutes(time: u64) -> u64 {
    time / 60_000_000_000
}

const SECONDS: &str = "machines: { one: { price: 0.60, count: 9 } }";

#[test]
fn who_is_read_late_runs_late_where_it_is_read() {
    // A long row, and something short that only the last of it reads: at once, on a machine that has to be kept until then.
    let flow = "tasks:\n  \
                a: { noop: true, out: [{ path: a, size: 1kB }], estimate: { time: 60m } }\n  \
                b: { noop: true, in: a, out: [{ path: b, size: 1kB }], estimate: { time: 60m } }\n  \
                aside: { noop: true, out: [{ path: aside, size: 1kB }], estimate: { time: 1m } }\n  \
                c: { noop: true, in: [b, aside], out: c, estimate: { time: 60m } }\n";
    prepared::with(flow, SECONDS, true, |asked| {
        let recipe = Recipe { fleet: vec![9], choice: Choice::Earliest };
        let (packed, revised) = both(asked.problem, &recipe, None).unwrap();
        let lengths = |schedule: &Schedule| -> Vec<u64> {
            schedule.instances.iter().map(|instance| minutes(instance.until - instance.from)).collect()
        };
        assert_eq!(lengths(&packed), [180, 120], "kept until it is read");
        assert_eq!(lengths(&revised), [180, 1], "there just in time");
        assert_eq!((revised.makespan, minutes(revised.runs[2].begin)), (packed.makespan, 119));
    });
}

/// Some tasks of all lengths that read from each other, wait for each other, and read from outside.
fn drawn(seed: u64) -> (String, String) {
    let mut rng = Rng::new(seed);
    let mut flow = "tasks:\n".to_owned();
    for task in 0..3 + rng.below(25) {
        let some = |rng: &mut Rng, word: &str| {
            let others: Vec<String> =
                (0..task).filter(|_| rng.below(7) == 0).map(|other| format!("{word}{other}")).collect();
            others.join(", ")
        };
        let (read, after) = (some(&mut rng, "o"), some(&mut rng, "t"));
        let size = ["0", "1kB", "50MB", "2GB"][rng.below(4) as usize];
        let (seconds, cpus) = ([0, 5, 300, 4000][rng.below(4) as usize], 1 + rng.below(2));
        let _ = writeln!(
            flow,
            "  t{task}: {{ noop: true, cpus: {cpus}, in: [{read}], after: [{after}], out: [{{ path: o{task}, size: {size} }}], estimate: {{ time: {seconds}s }} }}"
        );
    }
    let billing = ["second", "minute", "hour"][rng.below(3) as usize];
    let machines = format!(
        "billing: {billing}\ntransfer: {{ between: 0.05 }}\nmachines: {{ small: {{ price: 0.10, cpus: 2, count: 6, start: 1m }}, large: {{ price: 0.35, cpus: 4, speed: 2, count: 3, start: 30s }} }}"
    );
    (flow, machines)
}

#[test]
fn nothing_is_lost_by_a_second_look() {
    let mut gained = 0;
    for seed in 1..=300 {
        let (flow, machines) = drawn(seed);
        prepared::with(&flow, &machines, true, |asked| {
            let problem = asked.problem;
            let mut rng = Rng::new(seed);
            let fleet = [vec![6, 3], vec![2, 2], vec![4, 1]][rng.below(3) as usize].clone();
            let drawn: Vec<u16> = (0..problem.task_count()).map(|_| rng.below(2) as u16).collect();
            let types = [None, Some(drawn.as_slice())][rng.below(2) as usize];
            let earliest = Recipe { fleet: fleet.clone(), choice: Choice::Earliest };
            let fastest = both(problem, &earliest, types).unwrap().0.makespan;
            for target in [fastest, fastest * 3 / 2, fastest * 4] {
                for choice in [Choice::Earliest, Choice::Cheapest { target }] {
                    let (packed, revised) = both(problem, &Recipe { choice, ..earliest.clone() }, types).unwrap();
                    assert_eq!(revised.fault(problem), None, "seed {seed}");
                    let merit = |schedule: &Schedule| (schedule.cost, schedule.makespan);
                    assert!(merit(&revised) <= merit(&packed), "seed {seed}");
                    let most = if choice == Choice::Earliest { packed.makespan } else { packed.makespan.max(target) };
                    assert!(revised.makespan <= most, "seed {seed}");
                    let used = revised.fleet(2);
                    assert!(used.iter().zip(&fleet).all(|(used, most)| used <= most), "seed {seed}: {used:?}");
                    let machine = |task: usize| revised.instances[revised.runs[task].instance as usize].machine;
                    let is_kept = |types: &[u16]| (0..types.len()).all(|task| machine(task) == types[task]);
                    assert!(types.is_none_or(is_kept), "seed {seed}: another type than decided");
                    let from = revised.instances.iter().map(|instance| instance.from).min();
                    assert_eq!(from, Some(0), "seed {seed}: nobody begins");
                    gained += u32::from(revised.cost < packed.cost);
                }
            }
        });
    }
    assert!(gained > 300, "only {gained} schedules of 1,800 became cheaper");
}

#[test]
fn whoever_has_no_time_gets_no_second_look() {
    let (flow, machines) = drawn(2);
    prepared::with(&flow, &machines, true, |asked| {
        let recipe = Recipe { fleet: vec![6, 3], choice: Choice::Earliest };
        let packed = pack(asked.problem, &recipe, None, &mut 0, &mut || true).unwrap();
        let revised = |is_patient: bool| revise(asked.problem, &recipe, None, &packed, &mut 0, &mut || is_patient);
        assert_eq!(revised(false), None);
        assert!(revised(true).is_some(), "it would have brought something");
    });
}
