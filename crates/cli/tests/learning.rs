//! What runs learn of kinds of tasks, from outside: what is kept, shown and forgotten, and what cannot be asked for.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod sandbox;

use std::time::{Duration, Instant};

use sandbox::Sandbox;

const FLOW: &str = "tasks: { a: { foreach: { i: 1..60 }, run: 'sleep 0.2' }, b: { run: 'true' } }";

fn learnt() -> Sandbox {
    let sandbox = Sandbox::with_flow(FLOW);
    let told = sandbox.run(&["--pack", "learn"]).expect_code(0).stderr;
    assert!(told.contains("learnt: a came to ") && told.contains(" change"), "{told}");
    sandbox
}

#[test]
fn what_was_learnt_is_shown_and_forgotten() {
    let sandbox = learnt();
    let shown = sandbox.throng(&["kinds"]).expect_code(0).stdout;
    let row = |kind: &str| shown.lines().find(|line| line.trim_start().starts_with(kind)).unwrap().to_owned();
    assert!(shown.contains("(this machine)") && row("a ").contains("waits"), "{shown}");
    let json = sandbox.throng(&["kinds", "--json"]).expect_code(0).json();
    assert_eq!((&json[0]["kinds"][0]["kind"], &json[0]["kinds"][0]["tasks"]), (&"a".into(), &60.into()));
    assert!(json[0]["kinds"][0]["time_s"]["mean"].as_f64().unwrap() >= 0.2, "{json}");
    let forgotten = sandbox.throng(&["kinds", "--forget", "--json"]).expect_code(0).json();
    assert_eq!(forgotten["forgotten"], true);
    assert!(!sandbox.path().join(".throng/learnt.json").exists());
    assert_eq!(sandbox.throng(&["kinds", "--json"]).expect_code(0).json(), serde_json::json!([]));
}

#[test]
fn what_cannot_be_read_is_said_and_learnt_anew() {
    let sandbox = learnt();
    let path = sandbox.path().join(".throng/learnt.json");
    for damage in ["", "{ \"version\": 1, ", "{ \"version\": 99, \"known\": [] }"] {
        std::fs::write(&path, damage).unwrap();
        let told = sandbox.throng(&["kinds"]).expect_code(2).stderr;
        assert!(told.contains("cannot read what was learnt") && told.contains("--forget"), "{told}");
        let told = sandbox.run(&["--pack", "learn", "--fresh"]).expect_code(0).stderr;
        assert!(told.contains("warning: cannot read what was learnt"), "{told}");
        sandbox.throng(&["kinds"]).expect_code(0);
    }
    // A directory in its place can neither be read nor replaced.
    std::fs::remove_file(&path).unwrap();
    std::fs::create_dir_all(path.join("something")).unwrap();
    let told = sandbox.run(&["--pack", "learn", "--fresh"]).expect_code(0).stderr;
    assert!(told.contains("warning: what was learnt could not be kept"), "{told}");
    std::fs::remove_dir_all(&path).unwrap();
    std::fs::write(&path, "").unwrap();
    // Nobody waits for somebody to write into a pipe.
    std::fs::remove_file(&path).unwrap();
    assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
    let begun = Instant::now();
    sandbox.throng(&["kinds"]).expect_code(2);
    sandbox.run(&["--pack", "learn", "--fresh", "--quiet"]).expect_code(0);
    assert!(begun.elapsed() < Duration::from_secs(60));
}

#[test]
fn a_kind_may_have_a_long_name() {
    let sandbox = Sandbox::with_flow(&format!("tasks: {{ a: {{ run: 'true', kind: {} }} }}", "x".repeat(70_000)));
    sandbox.run(&["--pack", "learn"]).expect_code(0);
    let shown = sandbox.throng(&["kinds"]).expect_code(0).stdout;
    assert!(shown.contains("xxx…xxx") && shown.lines().all(|line| line.len() < 1000), "{}", shown.len());
}

#[test]
fn what_nobody_can_have_is_refused_before_anything_happens() {
    let sandbox = Sandbox::with_flow(FLOW);
    for (arguments, word) in [
        (["--pack", "learn:most=4294967295"], "from 1 to 100000"),
        (["--pack", "weasel:most=100001"], "from 1 to 100000"),
        (["--pack", "learn:most=0"], "from 1 to 100000"),
        (["--memory", "0"], "1MB"),
        (["--memory", "999kB"], "1MB"),
    ] {
        let told = sandbox.run(&arguments).expect_code(2).stderr;
        assert!(told.contains(word), "{arguments:?}: {told}");
        assert!(!sandbox.path().join(".throng").exists(), "{arguments:?}");
    }
}

#[test]
fn with_far_too_little_memory_a_run_comes_to_its_end() {
    let sandbox = Sandbox::with_flow("tasks: { a: { foreach: { i: 1..4 }, run: 'sleep 0.5; true' } }");
    let begun = Instant::now();
    // A shell holds more than that, so that none of them can stay; which is seen in time or not.
    let told = sandbox.run(&["--pack", "learn", "--memory", "1MB"]);
    assert!(matches!(told.code, 0 | 1) && begun.elapsed() < Duration::from_secs(60), "{}", told.stderr);
    let stops = told.stderr.matches("make room").count();
    assert!(stops <= 4 * 8, "{stops} stops");
}
