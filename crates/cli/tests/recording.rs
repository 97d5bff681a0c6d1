//! A recorded run, fed to a fresh node, gives the same commands again.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod sandbox;

use sandbox::*;
use throng_core::node::Event;
use throng_core::trace::Entry;
use throng_runtime::recording::Recording;
use throng_runtime::state::StateDirectory;

fn recorded(flow: &str, arguments: &[&str], code: i32) -> (Sandbox, Recording) {
    let sandbox = Sandbox::with_flow(flow);
    sandbox.run(arguments).expect_code(code);
    let run = StateDirectory::new(&sandbox.file(".throng")).find_run("last").unwrap();
    let recording = Recording::read(&run).unwrap();
    (sandbox, recording)
}

/// Chains, fan-in, failures, retries, timeouts, priorities, cores, processes and built-in tasks.
const MIXED: &str = r#"
tasks:
  make: { foreach: { i: 1..50 }, run: "echo {i} > a/{i}", out: ["a/{i}"] }
  read: { foreach: { i: 1..50 }, run: "cat a/{i}", in: ["a/{i}"], cpus: 2, priority: 3 }
  all: { run: "cat a/* > all", in: [{ all: make }], out: [all] }
  nothing: { foreach: { i: 1..300 }, noop: true, after: "make:7" }
  nap: { foreach: { i: 1..9 }, sleep: 3ms, after: "nothing:{i}" }
  fails: { run: "exit 1", retries: 2 }
  behind: { run: "true", after: fails }
  slow: { exec: [sleep, "60"], timeout: 100ms }
"#;

#[test]
fn a_recorded_run_replays_to_the_same_commands() {
    for order in ["fifo", "lifo", "largest", "critical-path"] {
        let (_sandbox, recording) = recorded(MIXED, &["--width", "3", "--order", order, "--quiet"], 1);
        let starts = recording.entries().filter(|(_, entry)| matches!(entry, Entry::Command(_))).count();
        let checked = recording.replay().unwrap_or_else(|error| panic!("{order}: {error}"));
        assert_eq!(checked, starts, "every command was compared");
        assert!(starts > 800);
    }
}

#[test]
fn what_was_learnt_is_learnt_again_from_the_record() {
    let flow =
        "tasks: { a: { foreach: { i: 1..12 }, run: 'sleep 0.05' }, b: { foreach: { i: 1..12 }, run: 'sleep 0.05' } }";
    let (_sandbox, recording) = recorded(flow, &["--pack", "weasel:interval=100ms,profiled=1", "--quiet"], 0);
    let checked = recording.replay().unwrap();
    assert!(checked > 24, "{checked}");
    let measured = recording.entries().filter(|(_, entry)| matches!(entry, Entry::Event(Event::Measured(_))));
    assert!(measured.count() > 3);
}

#[test]
fn a_replay_under_another_order_is_found_out() {
    let (_sandbox, mut recording) = recorded(MIXED, &["--width", "3", "--quiet"], 1);
    recording.about.node.order = "lifo".to_owned();
    assert!(recording.replay().is_err());
}

#[test]
fn the_trace_tells_each_step_of_a_task() {
    let (sandbox, _) = recorded(MIXED, &["--quiet"], 1);
    let told = sandbox.throng(&["status", "last", "fails"]).expect_code(0).stdout;
    for step in [
        "submitted: it has not been done yet",
        "ready",
        "staged",
        "started",
        "ended: exit code 1",
        "to be tried again",
        "failed for good after attempt 3",
    ] {
        assert!(told.contains(step), "{step} is missing in {told}");
    }
    let told = sandbox.throng(&["status", "last", "slow"]).expect_code(0).stdout;
    assert!(told.contains("timed out"), "{told}");
    let told = sandbox.throng(&["status", "last", "behind"]).expect_code(0).stdout;
    assert!(told.contains("skipped: a task before it failed"), "{told}");
}
