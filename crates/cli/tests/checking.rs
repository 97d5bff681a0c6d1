//! `throng check`, `schema`, `completions` and `man`: what can be known before anything runs.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod sandbox;

use sandbox::Sandbox;

const FLOW: &str = "\
tasks:
  cut: { foreach: { i: 1..100 }, run: 'cut {i} {in}', in: data.txt, out: 'parts/{i}', estimate: { time: 3s } }
  sum: { run: 'cat {in}', in: [{ all: cut }], stdout: sum.txt }
";

#[test]
fn the_numbers_of_a_workflow() {
    let sandbox = Sandbox::with_flow(FLOW);
    sandbox.write("data.txt", "x");
    let output = sandbox.throng(&["check", "flow.yaml", "--json"]).expect_code(0);
    for (key, expected) in
        [("tasks", 101), ("objects", 102), ("made", 101), ("unread", 1), ("edges", 100), ("depth", 2), ("width", 100)]
    {
        assert_eq!(output.number(key), expected, "{key}");
    }
    assert_eq!(output.json()["work_s"], 300.0);
    assert_eq!(output.json()["critical_path_s"], 3.0);
    assert_eq!(output.json()["kinds"][0]["kind"], "cut");
    assert_eq!(output.json()["warnings"].as_array().unwrap().len(), 1);
    let words = sandbox.throng(&["check", "flow.yaml"]).expect_code(0).stdout;
    assert!(words.contains("101 tasks") && words.contains("no `estimate` of time for sum"), "{words}");
    assert!(!sandbox.exists(".throng"), "checking writes nothing");
}

#[test]
fn missing_files_are_warned_of_and_strict_minds() {
    let sandbox = Sandbox::with_flow("tasks: { a: { run: x, in: [one, two, three] } }");
    let output = sandbox.throng(&["check", "flow.yaml"]).expect_code(0);
    assert!(output.stdout.contains("warning: `one` and 2 more are read, but not there"), "{}", output.stdout);
    sandbox.throng(&["check", "flow.yaml", "--strict"]).expect_code(1);
    sandbox.throng(&["run", "flow.yaml"]).expect_code(2);
    for name in ["one", "two", "three"] {
        sandbox.write(name, "");
    }
    sandbox.throng(&["check", "flow.yaml", "--strict"]).expect_code(0);
}

#[test]
fn commands_that_never_fit_are_warned_of() {
    let long = "x".repeat(200);
    let sandbox = Sandbox::with_flow(&format!(
        "tasks: {{ a: {{ foreach: {{ i: 1..20000 }}, run: 'x {{i}}', out: 'd/{long}{{i}}' }}, \
         b: {{ run: 'cat {{in}}', in: [{{ all: a }}] }} }}"
    ));
    let output = sandbox.throng(&["check", "flow.yaml"]).expect_code(0);
    assert!(output.stdout.contains("warning: the command of `b` has 4.1 MB"), "{}", output.stdout);
}

#[test]
fn bad_workflows_are_refused() {
    let sandbox = Sandbox::with_flow("tasks: { a: { rnu: x } }");
    let output = sandbox.throng(&["check", "flow.yaml"]).expect_code(2);
    assert!(output.stderr.contains("did you mean `run`?"), "{}", output.stderr);
}

#[test]
fn a_schema_completions_and_a_manual() {
    let sandbox = Sandbox::new();
    let schema = sandbox.throng(&["schema"]).expect_code(0).json();
    assert!(schema["$defs"]["task"]["properties"]["foreach"]["description"].is_string());
    for (shell, word) in [("bash", "complete"), ("zsh", "#compdef"), ("fish", "complete -c throng")] {
        let script = sandbox.throng(&["completions", shell]).expect_code(0).stdout;
        assert!(script.contains(word) && script.contains("fail-fast") && !script.contains("reference"), "{shell}");
    }
    assert!(sandbox.throng(&["man"]).expect_code(0).stdout.contains(".TH throng 1"));
    sandbox.throng(&["man", "--out", "man1"]).expect_code(0);
    assert!(sandbox.read("man1/throng-run.1").contains("\\-\\-width"));
}
