//! What `throng plan` does at the edges: no patience, too many tasks, plans changed by hand, and files that are not to be written over.

mod sandbox;

use std::fmt::Write;

use sandbox::Sandbox;
use serde_json::Value;

/// A hundred tasks that all read what a hundred others have made, and small machines for an hour each.
fn dense(sandbox: &Sandbox, tasks: usize) {
    let flow = format!(
        "tasks:\n  make: {{ noop: true, foreach: {{ i: 1..{tasks} }}, out: [{{ path: 'm{{i}}', size: 1MB }}], estimate: {{ time: 60s }} }}\n  \
         read: {{ noop: true, foreach: {{ i: 1..{tasks} }}, in: [{{ all: make }}], out: 'r{{i}}', estimate: {{ time: 60s }} }}\n"
    );
    sandbox.write("flow.yaml", &flow);
    sandbox.write(
        "machines.yaml",
        "billing: hour\nmachines: { one: { price: 0.10, cpus: 2 }, two: { price: 2, cpus: 4, speed: 3 } }\n",
    );
}

#[test]
fn whoever_has_no_patience_is_told_that_nothing_was_found_in_time_and_not_that_nothing_is_possible() {
    let sandbox = Sandbox::new();
    dense(&sandbox, 100);
    let plan = |more: &[&str]| {
        let arguments = [&["plan", "flow.yaml", "--machines", "machines.yaml", "--patience", "0s"], more].concat();
        sandbox.throng(&arguments)
    };
    let refused = plan(&["--budget", "0.05"]).expect_code(2);
    assert!(
        refused.stderr.contains("fit found no plan for the budget in time: the cheapest so far"),
        "{}",
        refused.stderr
    );
    assert!(refused.stderr.contains("give more --patience"), "{}", refused.stderr);
    let refused = plan(&["--deadline", "1s", "--json"]).expect_code(2);
    let json: Value = serde_json::from_str(&refused.stdout).unwrap();
    assert_eq!(json["is_cut_short"], true);
    // What is cheap is found without patience.
    plan(&["--budget", "1"]).expect_code(0);
}

#[test]
fn a_thousand_tasks_that_read_what_a_thousand_have_made_are_planned_while_there_is_patience() {
    let sandbox = Sandbox::new();
    dense(&sandbox, 1000);
    let begun = std::time::Instant::now();
    sandbox
        .throng(&["plan", "flow.yaml", "--machines", "machines.yaml", "--patience", "1s", "--budget", "50"])
        .expect_code(0);
    // It took more than five minutes when all who have a file were looked at for each place. Tests run without optimization.
    assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
}

#[test]
fn another_planner_that_plans_instead_is_named() {
    let sandbox = Sandbox::new();
    let mut flow = "tasks:\n".to_owned();
    let _ = writeln!(flow, "  t: {{ noop: true, foreach: {{ i: 1..3001 }}, estimate: {{ time: 60s }} }}");
    sandbox.write("flow.yaml", &flow);
    sandbox.write("machines.yaml", "machines: { one: { price: 0.60 }, two: { price: 1.80, speed: 2 } }\n");
    let plan = |planner: &str, more: &[&str]| {
        let arguments =
            [&["plan", "flow.yaml", "--machines", "machines.yaml", "--budget", "40", "--planner", planner], more];
        sandbox.throng(&arguments.concat()).expect_code(0)
    };
    let planned = plan("b-swap", &["--out", "p.yaml"]);
    assert!(planned.stderr.contains("would take b-swap too long: loss plans instead"), "{}", planned.stderr);
    let file = sandbox.read("p.yaml");
    assert!(file.contains("planner: \"loss instead of b-swap\""), "{file}");
    let json: Value = serde_json::from_str(&plan("b-swap", &["--json"]).stdout).unwrap();
    assert_eq!(json["instead"], "loss");
    assert!(!plan("loss", &[]).stderr.contains("instead"));
}

const FLOW: &str = "tasks:\n  cut: { run: 'cp {in} {out}', in: raw, foreach: { i: 1..4 }, out: 'c{i}', cpus: 2, estimate: { time: 60s } }\n  \
                    join: { run: 'true', in: [{ all: cut }], out: j, estimate: { time: 120s } }\n";
const MACHINES: &str = "machines:\n  small: { price: 0.60 }\n  large: { cpus: 2, price: 1.80, speed: 2 }\n  vast: { cpus: 4, price: 5.80, speed: 4 }\n";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("flow.yaml", FLOW);
    sandbox.write("raw", "raw data\n");
    sandbox.write("machines.yaml", MACHINES);
    sandbox
}

#[test]
fn a_plan_that_was_changed_by_hand_and_cannot_be_is_refused_with_what_is_wrong() {
    let sandbox = sandbox();
    let plan = ["plan", "flow.yaml", "--machines", "machines.yaml", "--out", "p.yaml", "--planner", "cheapest"];
    sandbox.throng(&plan).expect_code(0);
    let wrong = sandbox.read("p.yaml").replace("cut: large", "cut: small");
    sandbox.write("p.yaml", &wrong);
    let refused =
        sandbox.throng(&["simulate", "flow.yaml", "--machines", "machines.yaml", "--plan", "p.yaml"]).expect_code(2);
    assert!(
        refused.stderr.contains("the task `cut:1` asks for more than a machine of type `small` has")
            && refused.stderr.contains("--> p.yaml:"),
        "{}",
        refused.stderr
    );
}

#[test]
fn nothing_is_written_over_what_tasks_read_or_make() {
    let sandbox = sandbox();
    sandbox.write("c2", "made\n");
    for file in ["raw", "./raw", "c2", "flow.yaml", "machines.yaml"] {
        let refused =
            sandbox.throng(&["plan", "flow.yaml", "--machines", "machines.yaml", "--out", file]).expect_code(2);
        assert!(refused.stderr.contains("would write over"), "{file}: {}", refused.stderr);
    }
    assert_eq!((sandbox.read("raw"), sandbox.read("c2")), ("raw data\n".to_owned(), "made\n".to_owned()));
}

#[test]
fn programs_are_told_why_as_well() {
    let sandbox = sandbox();
    let why = |planner: &str| {
        let arguments =
            ["plan", "flow.yaml", "--machines", "machines.yaml", "--deadline", "10m", "--json", "--explain"];
        let told = sandbox.throng(&[&arguments[..], &["--planner", planner]].concat()).expect_code(0).stdout;
        let json: Value = serde_json::from_str(&told).unwrap();
        json["why"].clone()
    };
    let by_stages = why("optimal");
    assert_eq!(by_stages["longest_way"][0]["tasks"].as_array().unwrap().len(), 4, "{by_stages}");
    assert_eq!(by_stages["longest_way"][1]["tasks"][0], "join");
    assert!(by_stages["more_money"].as_array().unwrap().iter().all(|offer| offer["saves_ns"].as_u64() > Some(0)));
    let by_instances = why("fit");
    let chain = by_instances["chain"].as_array().unwrap();
    assert_eq!((&chain[0]["task"], chain[0]["waited_for"].is_string()), (&"join".into(), true), "{by_instances}");
    assert!(by_instances["more_money"].is_array());
}

#[test]
fn where_two_ways_are_as_long_no_single_one_is_said_to_save_time() {
    let sandbox = Sandbox::new();
    let flow = "tasks:\n  a: { noop: true, out: a, estimate: { time: 600s } }\n  b: { noop: true, out: b, estimate: { time: 600s } }\n  \
                c: { noop: true, in: a, estimate: { time: 60s } }\n  d: { noop: true, in: b, estimate: { time: 60s } }\n";
    sandbox.write("flow.yaml", flow);
    sandbox.write("machines.yaml", "machines: { one: { price: 0.60 }, two: { price: 1.80, speed: 2 } }\n");
    let arguments =
        ["plan", "flow.yaml", "--machines", "machines.yaml", "--planner", "cheapest", "--explain", "--budget", "9"];
    let said = sandbox.throng(&arguments).expect_code(0).stdout;
    assert!(said.contains("the longest way: 2 stages, and 2 stages on others that are as long"), "{said}");
    assert!(said.contains("no stage alone makes it shorter") && !said.contains("saves"), "{said}");
}

#[test]
fn a_machine_may_take_days_to_come() {
    let sandbox = Sandbox::new();
    sandbox.write("flow.yaml", "tasks: { a: { noop: true, estimate: { time: 10m } } }\n");
    sandbox.write("machines.yaml", "machines: { slow: { price: 1, start: 50h } }\n");
    sandbox.throng(&["plan", "flow.yaml", "--machines", "machines.yaml", "--out", "p.yaml"]).expect_code(0);
    let said =
        sandbox.throng(&["simulate", "flow.yaml", "--machines", "machines.yaml", "--plan", "p.yaml"]).expect_code(0);
    let line = said.stdout.lines().find(|line| line.trim_start().starts_with("by plan"));
    assert!(line.is_some_and(|line| line.contains("2 d 2 h")), "{}", said.stdout);
}

#[test]
fn a_machine_that_was_had_at_all_is_paid_for() {
    let sandbox = Sandbox::new();
    sandbox.write("flow.yaml", "tasks: { a: { noop: true, estimate: { time: 0s } } }\n");
    sandbox.write("machines.yaml", "billing: hour\nmachines: { one: { price: 1 } }\n");
    let said = sandbox
        .throng(&["plan", "flow.yaml", "--machines", "machines.yaml", "--budget", "2", "--out", "p.yaml"])
        .expect_code(0);
    assert!(said.stdout.contains("cost             $1.0000"), "{}", said.stdout);
    let run = ["simulate", "flow.yaml", "--machines", "machines.yaml", "--plan", "p.yaml", "--json"];
    let json: Value = serde_json::from_str(&sandbox.throng(&run).expect_code(0).stdout).unwrap();
    assert_eq!((&json["plan"]["cost"], &json["plan"]["planned_cost"]), (&"1.00".into(), &"1.00".into()));
}
