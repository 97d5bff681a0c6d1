//! What `throng explain` makes of real runs.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod sandbox;

use sandbox::*;

const FLOW: &str = "
name: demo
tasks:
  make: { foreach: { i: 1..3 }, run: 'cat source > m{i}; echo {i} >> m{i}', in: source, out: 'm{i}' }
  join: { run: cat m1 m2 m3 > all, in: [{ all: make }], out: all }
  last: { run: cp all final, in: all, out: final }
  side: { noop: true, after: join }";

fn explain(sandbox: &Sandbox, task: &str) -> String {
    sandbox.throng(&["explain", "last", task]).expect_code(0).stdout
}

fn done_once() -> Sandbox {
    let sandbox = Sandbox::with_flow(FLOW);
    sandbox.write("source", "one\n");
    sandbox.run(&[]).expect_code(0);
    // What changes from here on has to be newer by the clock of the file system.
    std::thread::sleep(std::time::Duration::from_millis(50));
    sandbox
}

#[track_caller]
fn assert_says(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "no `{part}` in\n{text}");
    }
}

#[test]
fn the_first_time() {
    let sandbox = done_once();
    let said = explain(&sandbox, "join");
    assert_says(&said, &["join in run 1 of demo: done", "it has not been done yet", " 3 tasks"]);
    assert_says(&said, &["Attempt 1 began", "% of a core", "number 2 in the chain of 3 tasks"]);
    assert_says(&explain(&sandbox, "final"), &["last in run 1 of demo: done"]);
}

#[test]
fn up_to_date_since_when() {
    let sandbox = done_once();
    sandbox.run(&[]).expect_code(0);
    assert_says(&explain(&sandbox, "join"), &["join in run 2 of demo: up to date", "That was in run 1 ("]);
}

#[test]
fn taken_over_files_were_made_by_no_run() {
    let sandbox = Sandbox::with_flow("tasks: { a: { run: echo > a, out: a } }");
    sandbox.write("a", "");
    sandbox.run(&["--adopt"]).expect_code(0);
    assert_says(&explain(&sandbox, "a"), &["up to date", "taken over (--adopt)"]);
}

#[test]
fn another_definition_is_shown_line_by_line() {
    let sandbox = done_once();
    let changed = FLOW.replace("run: cat m1 m2 m3 > all", "run: cat m3 m2 m1 > all, env: { LC_ALL: C }");
    sandbox.write("flow.yaml", &changed.replace("side:", "new: { noop: true }\n  side:"));
    sandbox.run(&[]).expect_code(0);
    let said = explain(&sandbox, "join");
    assert_says(&said, &["- cat m1 m2 m3 > all", "+ cat m3 m2 m1 > all", "environment changed", "+ LC_ALL=C"]);
    assert_says(&said, &["last done in run 1"]);
    let json = sandbox.throng(&["explain", "2", "join", "--json"]).expect_code(0).json();
    assert_eq!(json["why"]["differences"][0]["before"][0], "cat m1 m2 m3 > all");
    assert_eq!(json["end"], "done");
    sandbox.write("flow.yaml", &changed.replace("cat m3 m2 m1 > all", "cat m3 m2 m1  > all"));
    sandbox.run(&[]).expect_code(0);
    assert_says(&explain(&sandbox, "join"), &["- cat m3 m2 m1 > all", "+ cat m3 m2 m1  > all"]);
}

#[test]
fn inputs_that_changed_are_named() {
    let sandbox = done_once();
    sandbox.write("source", "two\n");
    sandbox.run(&[]).expect_code(0);
    assert_says(&explain(&sandbox, "make:2"), &["an input has changed", "source, modified 2"]);
    let said = explain(&sandbox, "join");
    assert_says(&said, &["tasks before it ran", "m1, by make:1 in run 2", "m3, by make:3 in run 2"]);
}

#[test]
fn inputs_made_again_by_a_run_between() {
    let sandbox = done_once();
    sandbox.write("source", "two\n");
    sandbox.run(&["all"]).expect_code(0);
    let said = explain(&sandbox, "last");
    assert_says(&said, &["last in run 2 of demo: not part of it", "none of them needs this one", "last done in run 1"]);
    sandbox.run(&[]).expect_code(0);
    assert_says(&explain(&sandbox, "last"), &["an input has changed", "all, by join in run 2"]);
}

#[test]
fn the_same_bytes_again() {
    let sandbox = done_once();
    sandbox.write("source", "one\n");
    sandbox.run(&[]).expect_code(0);
    let said = explain(&sandbox, "join");
    assert_says(&said, &["up to date", "what they made is what it had read before", "m1, by make:1", "It waited"]);
}

#[test]
fn a_wait_for_tasks_that_turn_out_not_to_have_to_run() {
    let sandbox = Sandbox::with_flow(&FLOW.replace("cat source", "sleep 0.01; cat source"));
    sandbox.write("source", "one\n");
    sandbox.run(&[]).expect_code(0);
    sandbox.write("source", "one\n");
    sandbox.run(&["--rerun", "last"]).expect_code(0);
    let said = explain(&sandbox, "last");
    assert_says(&said, &["It waited", "none of which had to run", "The last was join, found to be up to date"]);
    assert_says(&said, &["number 3 in the chain of 3 tasks"]);
}

#[test]
fn outputs_that_were_missing_or_changed() {
    let sandbox = done_once();
    std::fs::remove_file(sandbox.file("m2")).unwrap();
    std::fs::remove_file(sandbox.file("final")).unwrap();
    sandbox.write("all", "mine");
    sandbox.run(&[]).expect_code(0);
    let said = explain(&sandbox, "make:2");
    assert_says(&said, &["an output is missing that another task needs", "Missing was m2", "    join"]);
    assert_says(&explain(&sandbox, "last"), &["an output is missing", "Missing was final"]);
    assert_says(&explain(&sandbox, "join"), &["an output is not what it made", "all, now .throng/kept/2/all"]);
}

#[test]
fn asked_for() {
    let sandbox = done_once();
    sandbox.run(&["--rerun", "last"]).expect_code(0);
    assert_says(&explain(&sandbox, "last"), &["Because you asked for it"]);
}

#[test]
fn a_failure_its_attempts_and_what_it_takes_along() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           bad: { run: 'echo first; printf \"\\033[31mred\\n\"; exit 3', retries: 1 }
           middle: { noop: true, after: bad }
           end: { noop: true, after: middle }",
    );
    sandbox.run(&["--quiet"]).expect_code(1);
    let said = explain(&sandbox, "bad");
    assert_says(&said, &["bad in run 1 of flow: failed", "exit code 3", "It was put off for 50", "Attempt 2 began"]);
    assert_says(&said, &["| first", "| \u{fffd}[31mred"]);
    let said = explain(&sandbox, "end");
    assert_says(
        &said,
        &["end in run 1 of flow: skipped", "in attempt 2: exit code 3", "bad → middle → end", "| first"],
    );
    let json = sandbox.throng(&["explain", "last", "end", "--json"]).expect_code(0).json();
    assert_eq!(json["skipped"]["chain"], serde_json::json!(["bad", "middle", "end"]));
    sandbox.run(&["--quiet"]).expect_code(1);
    assert_says(&explain(&sandbox, "bad"), &["It was tried in run 1", "exit code 3"]);
}

#[test]
fn waiting_for_a_slot_and_for_room() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           long: { foreach: { i: 1..2 }, sleep: '0.{i}s' }
           big: { noop: true, cpus: 2, after: first }
           first: { noop: true, priority: 9 }",
    );
    sandbox.run(&["--width", "2"]).expect_code(0);
    let said = explain(&sandbox, "big");
    assert_says(
        &said,
        &["for a slot", "Meanwhile the 2 slots were held by long", "a slot was free, but not the cores"],
    );
    let json = sandbox.throng(&["explain", "last", "big", "--json"]).expect_code(0).json();
    let queue = &json["attempts"][0]["queue"];
    assert!(queue["seconds"].as_f64().unwrap() > 0.15, "{queue}");
    assert!(queue["did_not_fit_s"].as_f64().unwrap() > 0.05, "{queue}");
    assert_eq!(queue["lacking"], serde_json::json!(["cores"]));
}

#[test]
fn a_run_that_goes_on_and_one_that_was_killed() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           slow: { run: 'touch started; sleep 60' }
           next: { noop: true, after: slow }
           also: { noop: true, after: next }",
    );
    let engine = sandbox.start(&["run", "flow.yaml", "--quiet", "--width", "1"]);
    wait_until("the task", || sandbox.exists("started"));
    wait_until("the trace", || sandbox.throng(&["explain", "last", "slow"]).stdout.contains("is running in slot 0"));
    assert_says(&explain(&sandbox, "next"), &["waits for others", "Not done: 1.", "    slow"]);
    signal(engine.id(), rustix::process::Signal::KILL);
    finish(engine);
    let said = explain(&sandbox, "slow");
    assert_says(&said, &["begun, not ended", "when the run was killed", "its recording ends", "The next run goes on"]);
    assert_says(&explain(&sandbox, "also"), &["not reached", "    next", "The engine was killed"]);
    sandbox.write("flow.yaml", "tasks: { slow: { noop: true } }");
    sandbox.run(&[]).expect_code(0);
    assert_says(&explain(&sandbox, "slow"), &["It was tried in run 1", "not finished"]);
}

#[test]
fn a_run_that_was_stopped() {
    let sandbox =
        Sandbox::with_flow("tasks: { slow: { run: 'touch started; sleep 60' }, next: { noop: true, after: slow } }");
    let engine = sandbox.start(&["run", "flow.yaml", "--quiet"]);
    wait_until("the task", || sandbox.exists("started"));
    signal(engine.id(), rustix::process::Signal::INT);
    finish(engine).expect_code(3);
    assert_says(&explain(&sandbox, "slow"), &["slow in run 1 of flow: stopped", "cancelled", "was asked to stop"]);
    assert_says(&explain(&sandbox, "next"), &["not reached", "was asked to stop"]);
}

#[test]
fn a_run_that_stopped_at_a_failure() {
    let sandbox = Sandbox::with_flow("tasks: { bad: { run: 'false' }, next: { noop: true, priority: -1 } }");
    sandbox.run(&["--quiet", "--fail-fast", "--width", "1"]).expect_code(1);
    assert_says(&explain(&sandbox, "next"), &["Nothing was started after bad failed", "--fail-fast"]);
}

#[test]
fn mistakes_get_an_answer() {
    let sandbox = done_once();
    let said = sandbox.throng(&["explain", "last", "make"]).expect_code(2).stderr;
    assert!(said.contains("name one of them, such as `make:1`"), "{said}");
    let said = sandbox.throng(&["explain", "7", "join"]).expect_code(2).stderr;
    assert!(said.contains("there is no run 7"), "{said}");
    let said = sandbox.throng(&["explain", "last", "jion"]).expect_code(2).stderr;
    assert!(said.contains("did you mean `join`?"), "{said}");
}
