//! Looking at a run from outside: while it goes on, and afterwards.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod sandbox;

use sandbox::*;

#[test]
fn a_running_task_can_be_looked_at() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           quick: { run: echo quick }
           slow: { run: 'echo so far; touch started; until [ -e go ]; do sleep 0.01; done; echo end', timeout: 60s, after: quick }",
    );
    let engine = sandbox.start(&["run", "flow.yaml"]);
    wait_until("the trace", || sandbox.throng(&["status"]).stdout.contains("so far 1 done"));
    wait_until("the task", || sandbox.exists("started"));
    let logs = sandbox.throng(&["logs", "last", "slow"]).expect_code(0);
    assert_eq!(logs.stdout, "so far\n");
    assert!(logs.stderr.contains("slow is running"), "{}", logs.stderr);
    let status = sandbox.throng(&["status"]).expect_code(0).stdout;
    assert!(status.contains("running   slow"), "{status}");
    sandbox.write("go", "");
    finish(engine).expect_code(0);
    assert_eq!(sandbox.throng(&["logs", "last", "slow"]).stdout, "so far\nend\n");
}

#[test]
fn which_tasks_failed_can_be_found_out_later() {
    let sandbox = Sandbox::with_flow(
        "tasks: { t: { foreach: { i: 1..30 }, run: 'test {i} -gt 25' }, behind: { noop: true, after: t } }",
    );
    sandbox.run(&["--quiet"]).expect_code(1);
    let status = sandbox.throng(&["status"]).expect_code(0).stdout;
    assert!(status.contains("t:1, ") && status.contains("and 5 more"), "{status}");
    let names = sandbox.throng(&["status", "--json"]).expect_code(0).json()["failed_tasks"].as_array().unwrap().len();
    assert_eq!(names, 25);
}

#[test]
fn logs_say_where_to_look_for_a_task_that_did_not_run() {
    let sandbox = Sandbox::with_flow("tasks: { a: { run: echo hello } }");
    sandbox.run(&[]).expect_code(0);
    sandbox.run(&[]).expect_code(0);
    let said = sandbox.throng(&["logs", "last", "a"]).expect_code(0).stderr;
    assert!(said.contains("the last time was run 1: throng logs 1 a"), "{said}");
    let said = sandbox.throng(&["logs", "1", "a", "--attempt", "5"]).expect_code(0).stderr;
    assert!(said.contains("no attempt 5"), "{said}");
}

#[test]
fn a_task_alone_is_meant_in_the_last_run() {
    let sandbox = Sandbox::with_flow("tasks: { a: { run: echo hello } }");
    sandbox.run(&[]).expect_code(0);
    assert!(sandbox.throng(&["status", "a"]).expect_code(0).stdout.contains("a in run 1:"));
    assert_eq!(sandbox.throng(&["logs", "a"]).expect_code(0).stdout, "hello\n");
    assert!(sandbox.throng(&["explain", "a"]).expect_code(0).stdout.contains("a in run 1"));
    let said = sandbox.throng(&["logs", "1"]).expect_code(2).stderr;
    assert!(said.contains("no task is named"), "{said}");
}

#[test]
fn counts_of_a_stopped_run_add_up() {
    let sandbox = Sandbox::with_flow(
        "tasks: { a: { run: 'touch started; sleep 60' }, b: { foreach: { i: 1..5 }, noop: true, after: a } }",
    );
    let engine = sandbox.start(&["run", "flow.yaml", "--quiet"]);
    wait_until("the task", || sandbox.exists("started"));
    signal(engine.id(), rustix::process::Signal::INT);
    finish(engine).expect_code(3);
    let status = sandbox.throng(&["status"]).expect_code(0).stdout;
    assert!(status.contains("6 in all: 0 done, 0 up to date, 0 failed, 0 skipped, 6 left"), "{status}");
}

#[test]
fn a_file_that_was_in_the_way_is_mentioned() {
    let sandbox = Sandbox::with_flow("tasks: { a: { run: echo new > a, out: a } }");
    sandbox.write("a", "mine");
    let said = sandbox.throng(&["run", "flow.yaml"]).expect_code(0).stderr;
    assert!(said.contains("1 file in the way") && said.contains(".throng/kept/1"), "{said}");
}

#[test]
fn targets_may_be_written_as_seen_from_here() {
    let sandbox = Sandbox::new();
    sandbox.write("deep/flow.yaml", "tasks: { a: { run: touch out/a, out: out/a }, b: { run: touch b, out: b } }");
    let result = sandbox.throng(&["run", "deep/flow.yaml", "deep/out/a", "--json"]).expect_code(0);
    assert_eq!(result.number("total"), 1);
}

#[test]
fn common_mistakes_get_the_right_advice() {
    for (flow, advice) in [
        ("tasks: { a: { rnu: x } }", "did you mean `run`?"),
        ("tasks: { a: { run: x, output: y } }", "did you mean `out`?"),
        ("tasks: { a: { run: x, depends: y } }", "did you mean `after`?"),
        ("tasks: { a: { run: x, in: '*.txt' } }", "patterns of file names are for `foreach`"),
        ("tasks: { w: { run: x, out: p/x/1 }, g: { run: y, in: p/x } }", "write `{ all: TASK }`"),
        ("tasks: { t: { foreach: { i: 1..1000 }, run: x, out: same } }", "such as `{i}`"),
    ] {
        let sandbox = Sandbox::with_flow(flow);
        let said = sandbox.throng(&["run", "flow.yaml"]).expect_code(2).stderr;
        assert!(said.contains(advice), "{flow}: {said}");
        assert_eq!(said.matches("error").count(), 1, "{said}");
    }
}
