//! Drawing a workflow from the command line.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod sandbox;

use sandbox::*;

const FLOW: &str = "tasks:
  part: { foreach: { i: 1..100 }, run: 'test {i} -ne 7' }
  whole: { noop: true, after: part }";

#[test]
fn the_file_says_what_to_write() {
    let sandbox = Sandbox::with_flow(FLOW);
    let dot = sandbox.throng(&["graph", "flow.yaml"]).expect_code(0).stdout;
    assert!(dot.starts_with("digraph \"flow\" {") && dot.contains("part × 100"), "{dot}");
    sandbox.throng(&["graph", "flow.yaml", "--out", "flow.dot"]).expect_code(0);
    assert_eq!(sandbox.read("flow.dot"), dot);
    sandbox.throng(&["graph", "flow.yaml", "--out", "flow.svg"]).expect_code(0);
    let svg = sandbox.read("flow.svg");
    assert!(svg.starts_with("<svg ") && svg.contains("100 · all to one"), "{svg}");
    assert_eq!(sandbox.throng(&["graph", "flow.yaml", "--format", "svg"]).expect_code(0).stdout, svg);
    let said = sandbox.throng(&["graph", "flow.yaml", "--out", "flow.png"]).expect_code(2).stderr;
    assert!(said.contains(".svg or .dot"), "{said}");
    let said = sandbox.throng(&["graph", "flow.yaml", "--out", "no/flow.svg"]).expect_code(2).stderr;
    assert!(said.contains("cannot write no/flow.svg"), "{said}");
}

#[test]
fn tasks_or_kinds_as_asked_and_only_what_is_asked_for() {
    let sandbox = Sandbox::with_flow(FLOW);
    let dot = sandbox.throng(&["graph", "flow.yaml", "--by", "task"]).expect_code(0).stdout;
    assert_eq!(dot.matches("->").count(), 100, "{dot}");
    let dot = sandbox.throng(&["graph", "flow.yaml", "part:3"]).expect_code(0).stdout;
    assert!(dot.contains("part:3") && !dot.contains("part:4"), "{dot}");
    let said = sandbox.throng(&["graph", "flow.yaml", "prat"]).expect_code(2).stderr;
    assert!(said.contains("did you mean `part`?"), "{said}");
}

#[test]
fn data_that_has_not_arrived_is_drawn_all_the_same() {
    let sandbox = Sandbox::with_flow("tasks: { a: { run: 'true', in: not/here.csv } }");
    let dot = sandbox.throng(&["graph", "flow.yaml"]).expect_code(0).stdout;
    assert!(dot.contains("not/here.csv"), "{dot}");
}

#[test]
fn too_many_boxes_are_refused_with_a_way_out() {
    let sandbox = Sandbox::with_flow("tasks: { t: { foreach: { i: 1..5000 }, noop: true } }");
    let said = sandbox.throng(&["graph", "flow.yaml", "--by", "task", "--format", "svg"]).expect_code(2).stderr;
    assert!(said.contains("5,000 tasks are too many") && said.contains("--format dot"), "{said}");
    sandbox.throng(&["graph", "flow.yaml", "--by", "task"]).expect_code(0);
}

#[test]
fn the_last_run_can_be_shown() {
    let sandbox = Sandbox::with_flow(FLOW);
    let said = sandbox.throng(&["graph", "flow.yaml", "--state"]).expect_code(2).stderr;
    assert!(said.contains("no run of `flow` is on record"), "{said}");
    sandbox.run(&["--quiet", "--state", "elsewhere"]).expect_code(1);
    let dot = sandbox.throng(&["graph", "flow.yaml", "--state=elsewhere"]).expect_code(0).stdout;
    assert!(dot.contains("99 done, 1 failed") && dot.contains("whole\\nskipped"), "{dot}");
    // The workflow may have grown since.
    sandbox.write("flow.yaml", &FLOW.replace("100", "200").replace("tasks:", "tasks:\n  new: { noop: true }"));
    let dot = sandbox.throng(&["graph", "flow.yaml", "--state=elsewhere"]).expect_code(0).stdout;
    assert!(dot.contains("99 done, 1 failed, 100 not done") && dot.contains("new\\nnot done"), "{dot}");
}
