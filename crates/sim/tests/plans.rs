//! What is planned on instances is what comes of it when it is carried out: how long it takes, and what it costs. And the curve says what can be had.

use std::fmt::Write;

use throng_core::plan::catalogue::{Catalogue, read_machines};
use throng_core::plan::file::PlanFile;
use throng_core::plan::fit::{Effort, Fit};
use throng_core::plan::planner::{Infeasible, Limits, Plan, by_name};
use throng_core::plan::prepared::Prepared;
use throng_core::plan::rented::Rented;
use throng_core::rng::Rng;
use throng_core::workflow::{Format, NoFiles, Workflow};
use throng_sim::generate::mapreduce::MACHINES;
use throng_sim::generate::{Options, Shape};
use throng_sim::planned::carry_out;

fn workflow(shape: &str, given: &[(&'static str, &str)]) -> Workflow {
    let mut options = Options::default();
    given.iter().for_each(|(name, text)| options.set(name, *text));
    let mut text = Vec::new();
    let plan = Shape::find(shape).expect("there is such a shape").plan(&options).expect("these are its options");
    plan.write(Format::Json, &mut text).expect("memory takes it");
    let text = String::from_utf8(text).expect("it is text");
    Workflow::parse(&text, Format::Json, shape, &NoFiles).expect("it is a workflow")
}

fn machines(billing: &str) -> Catalogue {
    let head = format!("billing: {billing}\ntransfer: {{ in: 0.2, out: 0.9, between: 0.1 }}\nmachines:");
    let text = MACHINES.replace("machines:", &head);
    read_machines(&text.replace("count:", "start: 60s, count:"), "machines.yaml").expect("it is a catalogue")
}

/// The most that time and money may be apart, as a part of what was planned.
const APART: f64 = 0.05;

fn check(shape: &str, given: &[(&'static str, &str)], planners: &[&str]) {
    check_flow(&workflow(shape, given), &format!("{shape} {given:?}"), planners);
}

fn check_flow(flow: &Workflow, name: &str, planners: &[&str]) {
    for billing in ["second", "hour"] {
        let catalogue = machines(billing);
        let prepared = Prepared::by_speed(flow, &catalogue, true).expect("every task has a time");
        let asked = prepared.asked(&|| true);
        for by in planners {
            let planner: Box<dyn Plan> = match *by {
                "fit" => Box::new(Fit(Effort { schedules: 150, looks: usize::MAX })),
                _ => Box::new(Rented(by_name(&by.parse().expect("a policy")).expect("known"))),
            };
            let unlimited = planner.plan(&asked, Limits::default()).expect("nothing is limited");
            for part in [1.1, 1.3, 1.7] {
                let deadline = Some((unlimited.makespan() as f64 * part) as u64);
                let planned = planner.plan(&asked, Limits { budget: None, deadline });
                let planned = planned.expect("it was faster than that without a limit");
                let plan = PlanFile::of(&planned, &prepared.layout);
                let (outcome, bill) =
                    carry_out(flow, &plan, &catalogue, &prepared.tables, prepared.problem.leaving_bytes());
                assert_eq!((outcome.not_done, outcome.stuck), (0, None));
                let time = outcome.makespan.as_nanos() as f64 / planned.makespan() as f64 - 1.0;
                let money = bill.total().0 as f64 / planned.cost() as f64 - 1.0;
                assert!(
                    time.abs() < APART && money.abs() < APART,
                    "{name}, by the {billing}, {by}, {part}: time {time:+.3}, money {money:+.3}"
                );
            }
        }
    }
}

const MOVING: [(&str, &str); 2] = [("sizes", "20MB"), ("input-size", "64MB")];

#[test]
fn the_thesis_s_workflows_with_all_tasks_alike() {
    check("mapreduce-sipht", &MOVING, &["fit", "greedy", "loss", "b-rate", "ic-pcp"]);
    check("mapreduce-ligo", &MOVING, &["fit", "greedy", "loss", "b-rate", "ic-pcp"]);
}

#[test]
fn the_thesis_s_workflows_with_tasks_of_different_lengths() {
    let typed = [("typed", ""), MOVING[0], MOVING[1]];
    check("mapreduce-sipht", &typed, &["fit", "greedy", "b-rate"]);
    check("mapreduce-ligo", &typed, &["fit", "greedy", "b-rate"]);
}

#[test]
fn a_montage() {
    check("montage", &[("tasks", "300")], &["fit", "greedy-stage", "loss", "b-rate"]);
}

#[test]
fn a_cybershake_whose_large_files_many_want_at_once() {
    check("cybershake", &[("tasks", "120")], &["fit", "greedy-stage", "loss"]);
}

/// A workflow of some twenty tasks, each of which reads from a few before it, of files of all sizes: also empty ones.
fn drawn(seed: u64) -> Workflow {
    let mut rng = Rng::new(seed);
    let mut text = "tasks:\n".to_owned();
    for task in 0..14 + rng.below(10) {
        let read: Vec<String> = (0..task).filter(|_| rng.below(6) == 0).map(|other| format!("o{other}")).collect();
        let size = ["0", "1kB", "1MB", "50MB", "500MB"][rng.below(5) as usize];
        let (seconds, cpus) = (5 + rng.below(1200), 1 + rng.below(3));
        let _ = writeln!(
            text,
            "  t{task}: {{ noop: true, cpus: {cpus}, in: [{}], out: [{{ path: o{task}, size: {size} }}], estimate: {{ time: {seconds}s }} }}",
            read.join(", ")
        );
    }
    Workflow::parse(&text, Format::Yaml, "drawn", &NoFiles).expect("it is a workflow")
}

#[test]
fn workflows_that_are_drawn() {
    for seed in 1..=30 {
        check_flow(&drawn(seed), &format!("seed {seed}"), &["fit", "loss", "greedy-stage"]);
    }
}

/// The most that whoever asks for a limit may be better off than the curve says.
const BETTER: f64 = 0.1;

#[test]
fn the_curve_is_about_as_good_as_what_is_found_for_limits() {
    let at_once = read_machines(MACHINES, "machines.yaml").expect("it is a catalogue");
    let cases = [("mapreduce-sipht", &at_once), ("mapreduce-ligo", &at_once), ("mapreduce-sipht", &machines("hour"))];
    for (case, (shape, catalogue)) in cases.into_iter().enumerate() {
        let flow = workflow(shape, &[]);
        let prepared = Prepared::by_speed(&flow, catalogue, true).expect("every task has a time");
        let asked = prepared.asked(&|| true);
        let fit = Fit(Effort::of(0));
        let points = fit.curve(&asked).expect("it has a curve").points;
        let plan = |budget, deadline| fit.plan(&asked, Limits { budget, deadline }).expect("the curve shows it");
        let apart = |found: u64, known: u64| 1.0 - found as f64 / known as f64;
        for point in [points[0], points[points.len() / 2], points[points.len() - 1]] {
            let sooner = apart(plan(Some(point.cost), None).makespan(), point.makespan);
            let cheaper = apart(plan(None, Some(point.makespan)).cost(), point.cost);
            assert!(
                (0.0..BETTER).contains(&sooner) && (0.0..BETTER).contains(&cheaper),
                "case {case}, {point:?}: {sooner:.3} faster for that money, {cheaper:.3} cheaper by that time"
            );
        }
        let refused = fit.plan(&asked, Limits { budget: Some(points[0].cost * 99 / 100), deadline: None });
        assert!(matches!(refused, Err(Infeasible::Budget { .. })), "case {case}: less than the least");
    }
}
