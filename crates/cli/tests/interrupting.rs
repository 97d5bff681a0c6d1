//! Stopping a run, kindly and not, and going on afterwards.

mod sandbox;

use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Signal, WaitOptions};
use sandbox::*;

/// A task that makes half its output and then sleeps long, unless a file `go` is there; and one behind it.
const WAITING: &str = "
tasks:
  early: { run: echo early >> ran; touch early, out: early }
  long:
    in: early
    out: whole
    run: |
      echo half > whole
      if [ ! -e go ]; then touch started; sleep 50; fi
      echo whole > whole
  late: { run: cp whole copy, in: whole, out: copy }";

/// Starts the workflow and waits until its task has made the file `started`.
#[track_caller]
fn start(sandbox: &Sandbox, arguments: &[&str]) -> Child {
    let all: Vec<&str> = ["run", "flow.yaml", "--json"].iter().chain(arguments).copied().collect();
    let child = sandbox.start(&all);
    wait_until("the start of the task", || sandbox.exists("started"));
    child
}

#[track_caller]
fn expect_no_process_left(sandbox: &Sandbox) {
    wait_until("the end of every process", || processes_of(&sandbox.file(".throng")).is_empty());
}

/// Kills the engine so that it can do nothing about it.
fn kill(mut engine: Child) {
    signal(engine.id(), Signal::KILL);
    engine.wait().expect("it is our child");
}

/// Whether a process runs a program whose command line has this word; one that has ended runs none.
fn runs(pid: &str, word: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.contains(word))
}

#[track_caller]
fn expect_stopped_and_resumable(sandbox: &Sandbox, engine: Child) {
    let result = finish(engine).expect_code(3);
    assert_eq!((result.number("done"), result.number("failed"), result.number("skipped")), (1, 0, 0));
    assert_eq!(result.json()["state"], "interrupted");
    assert!(result.stderr.contains("`throng run flow.yaml` goes on where it was"), "{}", result.stderr);
    expect_no_process_left(sandbox);
    assert!(!sandbox.exists("whole"), "half an output does not look finished");
    assert_eq!(sandbox.read(".throng/aside/1/whole"), "half\n");
    let history = sandbox.throng(&["status", "1", "long"]).expect_code(0).stdout;
    assert!(history.contains("ended: cancelled") && history.contains("interrupted"), "{history}");

    sandbox.write("go", "");
    let result = sandbox.run(&[]).expect_code(0);
    assert_eq!((result.number("done"), result.number("up_to_date")), (2, 1));
    assert_eq!((sandbox.read("copy"), sandbox.read("ran")), ("whole\n".to_owned(), "early\n".to_owned()));
}

#[test]
fn the_first_interrupt_asks_tasks_to_end_and_the_next_run_goes_on() {
    let sandbox = Sandbox::with_flow(WAITING);
    let engine = start(&sandbox, &[]);
    signal(engine.id(), Signal::INT);
    expect_stopped_and_resumable(&sandbox, engine);
}

#[test]
fn a_request_to_terminate_acts_like_an_interrupt() {
    let sandbox = Sandbox::with_flow(WAITING);
    let engine = start(&sandbox, &[]);
    signal(engine.id(), Signal::TERM);
    expect_stopped_and_resumable(&sandbox, engine);
}

#[test]
fn a_closed_terminal_acts_like_an_interrupt() {
    let sandbox = Sandbox::with_flow(WAITING);
    let engine = start(&sandbox, &[]);
    signal(engine.id(), Signal::HUP);
    expect_stopped_and_resumable(&sandbox, engine);
}

#[test]
fn an_interrupted_task_may_clean_up() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           tidy:
             run: |
               trap 'sleep 0.3; touch cleaned; exit 0' TERM
               touch started
               for tick in $(seq 2000); do sleep 0.02 || true; done",
    );
    let engine = start(&sandbox, &["--grace", "20s"]);
    signal(engine.id(), Signal::INT);
    assert_eq!(finish(engine).expect_code(3).number("done"), 0);
    assert!(sandbox.exists("cleaned"));
}

#[test]
fn a_task_that_does_not_heed_an_interrupt_is_killed_after_its_grace() {
    let sandbox = Sandbox::with_flow("tasks: { deaf: { run: trap '' TERM; touch started; sleep 60; true } }");
    let engine = start(&sandbox, &["--grace", "1s"]);
    let begin = Instant::now();
    signal(engine.id(), Signal::INT);
    let result = finish(engine).expect_code(3);
    assert!(begin.elapsed() >= Duration::from_secs(1));
    assert!(result.stderr.contains("stopping: waiting for 1 running task to end"), "{}", result.stderr);
    expect_no_process_left(&sandbox);
}

#[test]
fn the_second_interrupt_kills_at_once_what_does_not_heed_the_first() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           deaf:
             run: |
               (trap '' TERM; sleep 50) &
               trap 'touch asked' TERM
               touch started
               for tick in $(seq 2000); do sleep 0.02 || true; done",
    );
    let engine = start(&sandbox, &["--grace", "60s"]);
    let begin = Instant::now();
    signal(engine.id(), Signal::INT);
    wait_until("the kind request", || sandbox.exists("asked"));
    assert!(!processes_of(&sandbox.file(".throng")).is_empty());
    signal(engine.id(), Signal::INT);
    finish(engine).expect_code(3);
    assert!(begin.elapsed() < Duration::from_secs(40), "it did not wait for the grace to end");
    expect_no_process_left(&sandbox);
}

#[test]
fn nothing_starts_after_an_interrupt() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           first: { run: touch started; sleep 50; true, priority: 1 }
           other: { foreach: { i: 1..20 }, run: 'touch other{i}', retries: 3 }
           failing: { run: exit 1, retries: 9 }",
    );
    let engine = start(&sandbox, &["--width", "1"]);
    signal(engine.id(), Signal::INT);
    let result = finish(engine).expect_code(3);
    assert_eq!((result.number("total"), result.number("done")), (22, 0));
    assert!((1..=20).all(|number| !sandbox.exists(&format!("other{number}"))));
}

#[test]
fn an_interrupt_ends_a_built_in_sleep_and_the_wait_before_a_retry() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           nap: { sleep: 50s }
           nap_with_files: { sleep: 50s, in: flow.yaml }
           flaky: { run: test -e started; exit 1, retries: 20 }
           sign: { run: touch started }",
    );
    let engine = start(&sandbox, &["--width", "4"]);
    signal(engine.id(), Signal::INT);
    let begin = Instant::now();
    finish(engine).expect_code(3);
    assert!(begin.elapsed() < Duration::from_secs(40));
}

#[test]
fn a_task_that_dies_of_its_own_interrupt_has_failed_alone() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           suicidal: { run: kill -INT $$; sleep 1 }
           group: { run: kill -INT 0; sleep 1 }
           other: { run: sleep 0.1; touch other, out: other }",
    );
    let result = sandbox.run(&["--width", "3"]).expect_code(1);
    assert_eq!((result.number("done"), result.number("failed")), (1, 2));
    assert!(result.stderr.contains("killed by signal 2 (interrupt)"), "{}", result.stderr);
}

/// A shell with a child that both sleep long, and after the engine was killed see whether either is left.
const ORPHAN: &str = "
tasks:
  orphan:
    out: result
    run: |
      if [ -e pids ]; then
        for pid in $(cat pids); do
          if grep -qa -e sleep /proc/$pid/cmdline; then echo $pid is left; fi
        done > result 2> /dev/null
      else
        sleep 55 &
        echo $$ $! > pids.draft
        mv pids.draft pids
        touch started
        sleep 55
      fi";

#[test]
fn after_the_engine_was_killed_the_next_run_first_ends_what_it_left_running() {
    let sandbox = Sandbox::with_flow(ORPHAN);
    kill(start(&sandbox, &[]));
    let pids: Vec<String> = sandbox.read("pids").split_whitespace().map(str::to_owned).collect();
    assert!(pids.iter().all(|pid| runs(pid, "sleep")), "tasks outlive their engine");
    assert!(sandbox.throng(&["status"]).expect_code(0).stdout.contains("killed"));

    assert_eq!(sandbox.run(&[]).expect_code(0).number("done"), 1);
    assert_eq!(sandbox.read("result"), "", "all were gone before the task ran again");
    assert!(pids.iter().all(|pid| !runs(pid, "sleep")));
    expect_no_process_left(&sandbox);
}

#[test]
fn a_leftover_that_does_not_heed_a_request_to_end_is_forced() {
    let sandbox = Sandbox::with_flow(&ORPHAN.replace("sleep 55 &", "trap '' TERM; sleep 55 &"));
    kill(start(&sandbox, &[]));
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sandbox.read("result"), "");
    expect_no_process_left(&sandbox);
}

/// Kills the engine and then the shell of its task, so that only the shell's child is left.
#[track_caller]
fn leave_only_the_child(sandbox: &Sandbox, engine: Child) {
    // Orphans become children of this process, which then can make sure that nothing is left of the shell.
    rustix::process::set_child_subreaper(Some(rustix::process::getpid())).expect("Linux can");
    kill(engine);
    let pids = sandbox.read("pids");
    let (shell, child) = pids.trim().split_once(' ').expect("two numbers");
    let number = shell.parse().expect("a number");
    signal(number, Signal::KILL);
    let orphan = rustix::process::Pid::from_raw(number as i32);
    rustix::process::waitpid(orphan, WaitOptions::empty()).expect("it is our child now");
    assert!(!std::fs::exists(format!("/proc/{shell}")).expect("a clear answer") && runs(child, "sleep"));
}

#[test]
fn a_leftover_whose_shell_has_died_is_found_by_its_environment() {
    let sandbox = Sandbox::with_flow(ORPHAN);
    let engine = start(&sandbox, &[]);
    leave_only_the_child(&sandbox, engine);
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sandbox.read("result"), "");
    expect_no_process_left(&sandbox);
}

#[test]
fn a_leftover_whose_shell_has_died_is_found_whatever_way_leads_to_the_state() {
    let sandbox = Sandbox::with_flow(ORPHAN);
    let engine = start(&sandbox, &["--state", "state"]);
    leave_only_the_child(&sandbox, engine);
    let state = sandbox.file("state");
    sandbox.run(&["--state", state.to_str().unwrap()]).expect_code(0);
    assert_eq!(sandbox.read("result"), "");
    wait_until("the end of every process", || processes_of(&state).is_empty());
}

#[test]
fn half_an_output_of_a_killed_engine_is_made_again_and_kept_aside() {
    let sandbox = Sandbox::with_flow(WAITING);
    let engine = start(&sandbox, &[]);
    // What is done is on record a moment later.
    wait_until("the record", || sandbox.run(&["early", "--dry-run"]).number("up_to_date") == 1);
    kill(engine);
    assert_eq!(sandbox.read("whole"), "half\n");
    sandbox.write("go", "");
    let result = sandbox.run(&[]).expect_code(0);
    assert_eq!((result.number("done"), result.number("up_to_date")), (2, 1));
    assert_eq!((sandbox.read("copy"), sandbox.read("ran")), ("whole\n".to_owned(), "early\n".to_owned()));
    assert_eq!(sandbox.read(".throng/aside/1/whole"), "half\n");
}

#[test]
fn half_an_output_of_a_killed_engine_is_not_adopted() {
    let sandbox = Sandbox::with_flow(WAITING);
    kill(start(&sandbox, &[]));
    sandbox.write("go", "");
    sandbox.run(&["--adopt"]).expect_code(0);
    assert_eq!(sandbox.read("copy"), "whole\n");
}

#[test]
fn half_an_output_of_a_killed_engine_is_not_adopted_after_another_workflow_has_run() {
    let sandbox = Sandbox::with_flow(WAITING);
    kill(start(&sandbox, &[]));
    sandbox.write("go", "");
    sandbox.write("other.yaml", "tasks: { other: { run: touch other, out: other } }");
    sandbox.throng(&["run", "other.yaml"]).expect_code(0);
    sandbox.run(&["--adopt"]).expect_code(0);
    assert_eq!(sandbox.read("copy"), "whole\n");
}

#[test]
fn what_a_killed_run_did_can_still_be_looked_at() {
    let sandbox = Sandbox::with_flow(&WAITING.replace("echo early >> ran", "echo I am early; echo early >> ran"));
    let engine = start(&sandbox, &[]);
    wait_until("the record", || sandbox.throng(&["logs", "1", "early"]).stdout == "I am early\n");
    kill(engine);
    assert_eq!(sandbox.throng(&["logs", "1", "early"]).expect_code(0).stdout, "I am early\n");
    let history = sandbox.throng(&["status", "1", "long"]).expect_code(0).stdout;
    assert!(history.contains("attempt 1 chosen for slot"), "{history}");
    let runs = sandbox.throng(&["runs", "--json"]).expect_code(0).json();
    assert_eq!(runs[0]["state"], "killed");
    sandbox.write("go", "");
    sandbox.run(&[]).expect_code(0);
}
