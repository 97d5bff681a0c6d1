//! A plan is kept to as far as it can be when nodes die: what is over or elsewhere keeps nobody waiting.

use std::sync::Arc;
use std::time::Duration;

use throng_core::plan::catalogue::read_machines;
use throng_core::plan::file::{Placed, PlanFile};
use throng_core::plan::instances::{Instance, Run};
use throng_core::plan::prepared::Prepared;
use throng_core::workflow::{Format, NoFiles, Workflow};
use throng_sim::faults::{Crash, Faults};
use throng_sim::{Cluster, Outcome, World};

const SECOND: u64 = 1_000_000_000;
/// Every task takes as long as this.
const LENGTH: u64 = 100;
/// What a node that has died needs until all of its tasks have been claimed and it runs the first of them, at most.
const STEPPING_IN: u64 = 30;

/// Runs tasks on machines with one core, each where a plan says, from when it says, in seconds.
fn run(text: &str, planned: &[(u32, u64)], faults: Faults) -> Outcome {
    let mut flow = Workflow::parse(text, Format::Yaml, "test", &NoFiles).expect("it is a workflow");
    let catalogue = read_machines("machines: { one: { price: 0.1, cpus: 1 } }", "machines.yaml").expect("a catalogue");
    let Prepared { tables, .. } = Prepared::by_speed(&flow, &catalogue, true).expect("every task has a time");
    let run = |(instance, begin): &(u32, u64)| Run {
        instance: *instance,
        begin: begin * SECOND,
        end: (begin + LENGTH) * SECOND,
    };
    let runs: Vec<Run> = planned.iter().map(run).collect();
    let until = runs.iter().map(|run| run.end).max().unwrap_or(0);
    let count = runs.iter().map(|run| run.instance + 1).max().unwrap_or(0);
    let instances = vec![Instance { machine: 0, from: 0, until }; count as usize];
    let rented = Some(Placed { instances, runs });
    let plan = PlanFile { head: Vec::new(), machine_of: vec![0; flow.task_count()], rented };
    let mut cluster = Cluster::new(1, 1).held_to(&plan, &catalogue, &tables, &mut flow);
    cluster.faults = faults;
    let outcome = World::new(Arc::new(flow), cluster).expect("nobody has changed its policies").run();
    assert_eq!((outcome.not_done, outcome.stuck.as_deref()), (0, None));
    outcome
}

fn crash(node: u32, at: u64, back_after: u64) -> Faults {
    let crash = Crash { node, at: Duration::from_secs(at), back_after: Some(Duration::from_secs(back_after)) };
    Faults { crashes: vec![crash], ..Faults::default() }
}

fn assert_about(what: &str, time: Duration, seconds: u64, more: u64) {
    let time = time.as_secs_f64();
    assert!(time >= seconds as f64 && time <= (seconds + more) as f64, "{what}: {time} s instead of {seconds} s");
}

#[test]
fn what_a_former_life_has_done_keeps_nobody_waiting() {
    let text = "tasks: { t: { foreach: { i: 1..8 }, noop: true, estimate: { time: 100s } } }";
    let row: Vec<(u32, u64)> = (0..8).map(|place| (0, place * LENGTH)).collect();
    // It dies half way through the fourth, which begins anew; four more follow it in a row.
    let outcome = run(text, &row, crash(0, 350, 5));
    assert_about("one node", outcome.makespan, 355 + 5 * LENGTH, STEPPING_IN);
}

#[test]
fn what_somebody_else_has_taken_keeps_nobody_waiting() {
    let text = "
tasks:
  b: { noop: true, estimate: { time: 100s } }
  a: { foreach: { i: 1..4 }, noop: true, estimate: { time: 100s } }
  c: { foreach: { i: 1..3 }, noop: true, estimate: { time: 100s }, after: a:3 }
";
    // The second node has one task; all others are the first one's, some of them much later.
    let planned = [(1, 0), (0, 0), (0, 100), (0, 200), (0, 300), (0, 2000), (0, 2100), (0, 2200)];
    // Before it is back, the second node has taken what waited there, and runs it after its own.
    let outcome = run(text, &planned, crash(0, 50, 60));
    assert_about("the last of those for which it was back in time", outcome.makespan, 4 * LENGTH + 3 * LENGTH, 1);
    assert_eq!(outcome.claimed, 4, "all that the first node had then");
}
