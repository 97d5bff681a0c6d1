//! A recorded run, fed to a fresh node, gives the same commands again.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod sandbox;

use sandbox::*;
use throng_core::node::{Command, Event};
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

/// Holds some megabytes for a while, as a shell can.
const HOLDS: &str = r#"
tasks:
  hold: { foreach: { i: [30, 31, 32, 33, 34, 35, 36, 37] }, run: "x=$(head -c {i}000000 /dev/zero | tr '\\0' a); sleep 0.4; test $x" }
"#;

#[test]
fn tasks_share_a_memory_that_is_too_small_for_all_of_them_and_all_are_done() {
    let (_sandbox, recording) = recorded(HOLDS, &["--pack", "learn", "--memory", "250MB", "--quiet"], 0);
    recording.replay().unwrap();
    let (mut running, mut most) = (0, 0);
    for (_, entry) in recording.entries() {
        match entry {
            Entry::Command(Command::Start { .. }) => running += 1,
            Entry::Event(Event::Finished { .. }) => running -= 1,
            _ => {}
        }
        most = most.max(running);
    }
    // All eight together would hold more than there is, by far.
    assert!((1..7).contains(&most), "{most} at once");
    let seen = recording.entries().filter(|(_, entry)| matches!(entry, Entry::Event(Event::Uses { .. })));
    assert!(seen.count() > 0, "somebody has looked at what they hold");
}

#[test]
fn a_task_that_needs_more_memory_than_there_is_fails_with_a_word() {
    let flow = r#"tasks: { huge: { run: "x=$(head -c 90000000 /dev/zero | tr '\\0' a); sleep 20; test $x" } }"#;
    let (sandbox, recording) = recorded(flow, &["--pack", "learn", "--memory", "60MB", "--quiet"], 1);
    recording.replay().unwrap();
    let told = sandbox.throng(&["status", "last", "huge"]).expect_code(0).stdout;
    assert!(told.contains("too large for the memory there is"), "{told}");
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
