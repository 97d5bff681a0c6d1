//! What `throng run`, `throng status` and `throng runs` say of real runs.

mod sandbox;

use sandbox::*;

#[test]
fn the_result_in_json_has_exactly_its_keys() {
    let sandbox = Sandbox::with_flow("tasks: { t: { foreach: { i: 1..3 }, run: sleep 0.05 } }");
    let result = sandbox.run(&[]).expect_code(0).json();
    let keys: Vec<&str> = result.as_object().unwrap().keys().map(String::as_str).collect();
    let mut wanted = vec!["run", "state", "total", "done", "up_to_date", "failed", "skipped", "seconds", "makespan_s"];
    wanted.extend(["tasks_per_s", "bound_s", "bound_of_makespan", "expected_s", "expected_of_makespan"]);
    wanted.sort_unstable();
    assert_eq!(keys, wanted);
    assert_eq!((&result["run"], &result["state"]), (&1.into(), &"done".into()));
    let number = |key: &str| result[key].as_f64().unwrap();
    assert!(number("seconds") >= number("makespan_s") && number("makespan_s") >= 0.05);
    assert!((number("tasks_per_s") - 3.0 / number("makespan_s")).abs() < 0.01);
}

#[test]
fn a_run_is_held_against_both_bounds() {
    let sandbox =
        Sandbox::with_flow("tasks: { t: { foreach: { i: 1..4 }, sleep: 200ms }, last: { sleep: 100ms, after: t } }");
    let result = sandbox.run(&["--width", "2"]).expect_code(0).json();
    let number = |key: &str| result[key].as_f64().unwrap();
    assert!((number("bound_s") - 0.45).abs() < 1e-9, "900 ms of work in two slots: {result}");
    assert!((number("expected_s") - 0.4).abs() < 1e-9, "200 ms, as long behind half of another, and 100 ms: {result}");
    for [part, whole] in [["bound_of_makespan", "bound_s"], ["expected_of_makespan", "expected_s"]] {
        assert!((number(part) - number(whole) / number("makespan_s")).abs() < 1e-9, "{result}");
    }
    assert!(number("bound_of_makespan") < 1.0, "{result}");

    // The report and the status of the run say the same.
    let report = sandbox.throng(&["report", "--json"]).expect_code(0).json();
    assert_eq!(report["bound"]["bound_s"], result["bound_s"]);
    assert_eq!(report["bound"]["expected_s"], result["expected_s"]);
    let status = sandbox.throng(&["status", "--json"]).expect_code(0).json();
    for key in ["bound_s", "bound_of_makespan", "expected_s", "expected_of_makespan"] {
        assert_eq!(status["end"][key], result[key], "{key}");
    }
    let told = sandbox.throng(&["status"]).expect_code(0).stdout;
    assert!(told.contains("lower bound 450.0 ms, "), "{told}");

    // Of what is up to date nothing is counted, and when all is, nothing is said.
    let flags = ["run", "flow.yaml", "--width", "2"];
    let again = sandbox.run(&["--width", "2", "--rerun", "last"]).expect_code(0).json();
    assert_eq!([again["bound_s"].as_f64(), again["expected_s"].as_f64()], [Some(0.1); 2], "{again}");
    let fresh = sandbox.throng(&[&flags[..], &["--fresh"]].concat()).expect_code(0);
    let line = fresh.stderr.lines().nth(1).unwrap_or_default();
    assert!(line.starts_with("makespan ") && line.contains("; lower bound 450.0 ms, "), "{fresh:?}");
    assert!(line.contains("; analytic bound 400.0 ms, "), "{fresh:?}");
    let third = sandbox.throng(&flags).expect_code(0);
    assert!(!third.stderr.contains("makespan"), "{third:?}");
    assert!(sandbox.run(&[]).expect_code(0).json()["bound_s"].is_null());
}

#[test]
fn bounds_that_would_take_too_long_are_left_to_the_report() {
    let sandbox = Sandbox::with_flow("tasks: { t: { foreach: { i: 1..100000 }, noop: true } }");
    let result = sandbox.throng(&["run", "flow.yaml", "--json"]).expect_code(0);
    assert!(result.json()["bound_s"].is_null(), "{result:?}");
    assert!(result.stderr.contains("for tasks this short: see `throng report 1`\n"), "{result:?}");
}

#[test]
fn without_json_nothing_is_on_standard_output_and_the_summary_on_standard_error() {
    let sandbox = Sandbox::with_flow("tasks: { t: { foreach: { i: 1..3 }, noop: true } }");
    let result = sandbox.throng(&["run", "flow.yaml"]).expect_code(0);
    assert_eq!(result.stdout, "");
    assert!(result.stderr.starts_with("run 1: 3 tasks: 3 done in "), "{}", result.stderr);
}

#[test]
fn quiet_says_nothing_when_all_goes_well() {
    let sandbox = Sandbox::with_flow("tasks: { t: { run: echo noise } }");
    let result = sandbox.throng(&["run", "flow.yaml", "--quiet"]).expect_code(0);
    assert_eq!((result.stdout.as_str(), result.stderr.as_str()), ("", ""));
}

#[test]
fn quiet_still_says_what_failed() {
    let sandbox = Sandbox::with_flow("tasks: { wrong: { run: exit 1 } }");
    let result = sandbox.throng(&["run", "flow.yaml", "--quiet"]).expect_code(1);
    assert!(result.stderr.contains("wrong"), "{result:?}");
}

#[test]
fn status_tells_how_a_run_and_each_of_its_tasks_went() {
    let sandbox = Sandbox::with_flow(
        "name: demo
tasks:
  a: { run: echo hello; touch x, out: x }
  bad: { run: exit 7, in: x }
  after_bad: { noop: true, after: bad }
  many: { foreach: { i: 1..2 }, noop: true }",
    );
    sandbox.run(&["--width", "1"]).expect_code(1);
    let status = sandbox.throng(&["status"]).expect_code(0).stdout;
    assert!(status.starts_with("run 1 of demo (flow.yaml): failed\n"), "{status}");
    assert!(status.contains("5 in all: 3 done, 0 up to date, 1 failed, 1 skipped"), "{status}");
    let json = sandbox.throng(&["status", "last", "--json"]).expect_code(0).json();
    assert_eq!((&json["run"], &json["state"], &json["end"]["done"]), (&1.into(), &"failed".into(), &3.into()));

    let task = sandbox.throng(&["status", "1", "a"]).expect_code(0).stdout;
    for words in
        ["a in run 1:", "ready", "attempt 1 chosen for slot 0", "staged", "started", "ended: done", "printed 6 B"]
    {
        assert!(task.contains(words), "{words} in {task}");
    }
    let by_file = sandbox.throng(&["status", "1", "x"]).expect_code(0).stdout;
    assert_eq!(by_file, task);
    assert!(sandbox.throng(&["status", "1", "bad"]).stdout.contains("failed for good after attempt 1"));
    assert!(sandbox.throng(&["status", "1", "after_bad"]).stdout.contains("skipped: a task before it failed"));
    let history = sandbox.throng(&["status", "1", "a", "--json"]).expect_code(0).json()["history"].clone();
    let attempt = history.as_array().unwrap().iter().find(|entry| entry["what"] == "attempt").unwrap();
    assert!(attempt["peak_memory_bytes"].as_u64().unwrap() > 0, "{attempt}");
    assert!(attempt["started_s"].as_f64() <= attempt["ended_s"].as_f64());

    let vague = sandbox.throng(&["status", "1", "many"]).expect_code(2).stderr;
    assert!(vague.contains("`many` is 2 tasks") && vague.contains("many:1"), "{vague}");
    sandbox.throng(&["status", "2"]).expect_code(2);
    sandbox.throng(&["status", "1", "nobody"]).expect_code(2);
    sandbox.throng(&["logs", "1", "nobody"]).expect_code(2);
}

#[test]
fn runs_lists_every_run_with_how_it_ended() {
    let sandbox = Sandbox::with_flow("name: demo\ntasks: { a: { run: touch x, out: x }, b: { run: test -e fixed } }");
    sandbox.run(&[]).expect_code(1);
    sandbox.write("fixed", "");
    sandbox.run(&[]).expect_code(0);
    let list = sandbox.throng(&["runs"]).expect_code(0).stdout;
    let list: Vec<&str> = list.lines().collect();
    assert_eq!(list.len(), 2);
    assert!(
        list[0].contains("failed") && list[0].contains("demo") && list[0].contains("1 done, 0 up to date, 1 failed")
    );
    assert!(list[1].trim_start().starts_with('2') && list[1].contains("1 done, 1 up to date, 0 failed"), "{list:?}");
    let json = sandbox.throng(&["runs", "--json"]).expect_code(0).json();
    let states: Vec<_> =
        json.as_array().unwrap().iter().map(|run| (run["run"].clone(), run["state"].clone())).collect();
    assert_eq!(states, [(1.into(), "failed".into()), (2.into(), "done".into())]);
}

#[test]
fn where_nothing_has_run_there_is_nothing_to_show() {
    let sandbox = Sandbox::new();
    for arguments in [&["status"][..], &["runs"], &["logs", "last", "a"]] {
        let result = sandbox.throng(arguments).expect_code(2);
        assert!(result.stderr.contains("no Throng state"), "{result:?}");
    }
    assert!(!sandbox.exists(".throng"));
}
