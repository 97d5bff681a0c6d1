//! `throng run` on real processes: which task comes next, and how many run at once.

mod sandbox;

use sandbox::*;

/// Lines of a file to which tasks have appended.
#[track_caller]
fn lines(sandbox: &Sandbox, file: &str) -> Vec<String> {
    sandbox.read(file).lines().map(str::to_owned).collect()
}

#[test]
fn priority_decides_who_starts_first() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           none: { run: echo none >> order }
           low: { run: echo low >> order, priority: -5 }
           high: { run: echo high >> order, priority: 7 }",
    );
    sandbox.run(&["--width", "1"]).expect_code(0);
    assert_eq!(lines(&sandbox, "order"), ["high", "none", "low"]);
}

#[test]
fn tasks_start_in_the_order_of_the_text() {
    let sandbox = Sandbox::with_flow("tasks: { t: { foreach: { i: 1..4 }, run: 'echo {i} >> order' } }");
    sandbox.run(&["--width", "1"]).expect_code(0);
    assert_eq!(lines(&sandbox, "order"), ["1", "2", "3", "4"]);
}

#[test]
fn tasks_that_become_ready_together_start_in_the_order_of_the_text() {
    let sandbox = Sandbox::with_flow(
        "tasks: { gate: { noop: true }, t: { foreach: { i: 1..4 }, run: 'echo {i} >> order', after: gate } }",
    );
    sandbox.run(&["--width", "1"]).expect_code(0);
    assert_eq!(lines(&sandbox, "order"), ["1", "2", "3", "4"]);
}

#[test]
fn lifo_runs_a_chain_to_its_end_before_it_begins_the_next() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           a: { foreach: { i: 1..2 }, run: 'echo a{i} >> order; touch a{i}', out: 'a{i}' }
           b: { foreach: { i: 1..2 }, run: 'echo b{i} >> order', in: 'a{i}' }",
    );
    sandbox.run(&["--width", "1", "--order", "lifo"]).expect_code(0);
    assert_eq!(lines(&sandbox, "order"), ["a2", "b2", "a1", "b1"]);
}

#[test]
fn critical_path_and_the_default_start_what_most_tasks_in_a_row_wait_for() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           alone: { run: echo alone >> order }
           first: { run: echo first >> order }
           second: { run: echo second >> order, after: first }
           third: { run: echo third >> order, after: second }",
    );
    for order in [&["--order", "critical-path"], &[][..]] {
        sandbox.run(&[&["--width", "1", "--fresh"], order].concat()).expect_code(0);
        assert_eq!(lines(&sandbox, "order"), ["first", "second", "alone", "third"], "{order:?}");
        std::fs::remove_file(sandbox.file("order")).expect("it is there");
    }
}

#[test]
fn largest_starts_the_task_with_the_most_to_read() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           make: { foreach: { size: [10, 9000, 500] }, run: 'head -c {size} /dev/zero > f{size}', out: 'f{size}' }
           gate: { noop: true, after: make }
           read: { foreach: { size: [10, 9000, 500] }, run: 'echo {size} >> order', in: 'f{size}', after: gate }",
    );
    sandbox.run(&["--width", "1", "--order", "largest"]).expect_code(0);
    assert_eq!(lines(&sandbox, "order"), ["9000", "500", "10"]);
}

/// Two tasks that each wait for the other to have started: they end well only if they run at once.
const TOGETHER: &str = "
tasks:
  one: { run: 'touch one; until [ -e two ]; do sleep 0.01; done', timeout: 20s }
  two: { run: 'touch two; until [ -e one ]; do sleep 0.01; done', timeout: 20s }";

/// Three tasks that end well only if no two of them run at once.
fn alone(request: &str) -> String {
    format!("tasks: {{ t: {{ foreach: {{ i: 1..3 }}, run: mkdir busy; sleep 0.1; rmdir busy, {request} }} }}")
}

#[test]
fn as_many_tasks_run_at_once_as_the_width_says() {
    Sandbox::with_flow(TOGETHER).run(&["--width", "2"]).expect_code(0);
    Sandbox::with_flow(&alone("cpus: 1")).run(&["--width", "1"]).expect_code(0);
}

#[test]
fn requested_cores_limit_what_runs_at_once() {
    Sandbox::with_flow(&alone("cpus: 2")).run(&["--width", "3"]).expect_code(0);
    Sandbox::with_flow(&alone("cpus: 2")).run(&["--width", "4", "--pack", "fixed"]).expect_code(1);
}

#[test]
fn requested_memory_limits_what_runs_at_once() {
    Sandbox::with_flow(&alone("memory: 60MB")).run(&["--width", "3", "--memory", "100MB"]).expect_code(0);
}

#[test]
fn a_task_that_asks_for_more_than_there_is_gives_exit_code_2_and_writes_nothing() {
    for (request, flags) in [("cpus: 3", ["--width", "2"]), ("memory: 2GB", ["--memory", "1GB"])] {
        let sandbox =
            Sandbox::with_flow(&format!("tasks: {{ ok: {{ run: touch ok }}, big: {{ run: x, {request} }} }}"));
        let result = sandbox.run(&flags).expect_code(2);
        assert!(result.stderr.contains("task `big` can never run here"), "{}", result.stderr);
        assert!(!sandbox.exists(".throng") && !sandbox.exists("ok"));
    }
}
