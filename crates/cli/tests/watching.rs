//! Watching a run from another process.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod sandbox;

use sandbox::*;

/// Two tasks that end, one that fails once and is put off, one that waits to be let go.
const FLOW: &str = "
tasks:
  quick: { foreach: { i: 1..2 }, run: 'true' }
  slow: { run: 'touch started; until [ -e go ]; do sleep 0.01; done; touch ended', after: quick }
  later: { noop: true, after: slow }";

fn top(sandbox: &Sandbox) -> serde_json::Value {
    sandbox.throng(&["top", "--json"]).expect_code(0).json()
}

#[test]
fn a_run_is_followed_while_it_goes_on_and_after() {
    let sandbox = Sandbox::with_flow(FLOW);
    let engine = sandbox.start(&["run", "flow.yaml", "--quiet"]);
    wait_until("the task", || sandbox.exists("started"));
    wait_until("the trace", || top(&sandbox)["running"][0]["task"] == "slow");
    let now = top(&sandbox);
    assert_eq!((&now["state"], &now["total"], &now["done"]), (&"running".into(), &4.into(), &2.into()), "{now}");
    assert_eq!(now["kinds"][0]["kind"], "quick");
    assert_eq!(now["kinds"][1]["running"], 1);
    assert!(now["running"][0]["for_s"].as_f64().unwrap() > 0.0, "{now}");
    assert!(now["machine"]["cores"].as_u64().unwrap() > 0, "{now}");
    assert!(now["machine"]["memory_bytes"].as_u64().unwrap() > 0, "{now}");
    let text = sandbox.throng(&["top", "--once"]).expect_code(0).stdout;
    assert!(text.contains("run 1 of flow: running") && text.contains("2 of 4, 50 %"), "{text}");
    assert!(text.contains("    0  slow") || text.contains("    1  slow"), "{text}");
    sandbox.write("go", "");
    finish(engine).expect_code(0);
    let end = top(&sandbox);
    assert_eq!((&end["state"], &end["done"], &end["left_s"]), (&"done".into(), &4.into(), &serde_json::Value::Null));
    assert!(end["running"].as_array().unwrap().is_empty(), "{end}");
    // Without a terminal there is one picture, and no escape sequence in it.
    let text = sandbox.throng(&["top"]).expect_code(0).stdout;
    assert!(text.contains("4 of 4, 100 %") && !text.contains('\u{1b}'), "{text}");
}

#[test]
fn what_is_up_to_date_failed_or_skipped_is_counted() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           good: { foreach: { i: 1..3 }, run: 'true' }
           bad: { run: test -e fixed, retries: 1 }
           behind: { noop: true, after: bad }",
    );
    sandbox.run(&["--quiet"]).expect_code(1);
    sandbox.run(&["--quiet"]).expect_code(1);
    let now = top(&sandbox);
    let count = |key: &str| now[key].as_u64().unwrap();
    assert_eq!((count("total"), count("up_to_date"), count("failed"), count("skipped")), (5, 3, 1, 1), "{now}");
    assert_eq!(now["failures"][0]["is_tried_again"], false);
    assert_eq!(now["failures"][1]["is_tried_again"], true);
    assert_eq!(now["failures"][0]["outcome"], "exit code 1");
    let earlier = sandbox.throng(&["top", "1", "--json"]).expect_code(0).json();
    assert_eq!((&earlier["run"], &earlier["done"]), (&1.into(), &3.into()));
}

#[test]
fn a_killed_run_is_told_as_one() {
    let sandbox = Sandbox::with_flow(FLOW);
    let engine = sandbox.start(&["run", "flow.yaml", "--quiet"]);
    wait_until("the task", || sandbox.exists("started"));
    wait_until("the trace", || top(&sandbox)["running"][0]["task"] == "slow");
    signal(engine.id(), rustix::process::Signal::KILL);
    finish(engine);
    let now = top(&sandbox);
    assert_eq!((&now["state"], &now["done"]), (&"killed".into(), &2.into()), "{now}");
    sandbox.write("go", "");
    // The task has outlived its engine, and must not outlive its directory.
    wait_until("the end of the task", || sandbox.exists("ended"));
}

#[test]
fn mistakes_get_an_answer() {
    let sandbox = Sandbox::with_flow(FLOW);
    let said = sandbox.throng(&["top"]).expect_code(2).stderr;
    assert!(said.contains("there is no Throng state"), "{said}");
    sandbox.throng(&["top", "--interval", "soon"]).expect_code(2);
}

#[test]
fn on_a_terminal_it_draws_until_the_run_ends_and_gives_the_screen_back() {
    let sandbox = Sandbox::with_flow(FLOW);
    let engine = sandbox.start(&["run", "flow.yaml", "--quiet"]);
    wait_until("the task", || sandbox.exists("started"));
    wait_until("the trace", || top(&sandbox)["running"][0]["task"] == "slow");
    // `script` runs it on a terminal of its own.
    let top = format!("stty cols 80 rows 24; {} top --interval 50ms", env!("CARGO_BIN_EXE_throng"));
    let mut on_terminal = std::process::Command::new("script");
    on_terminal.args(["--quiet", "--flush", "--return", "--command", &top, "typescript"]).current_dir(sandbox.path());
    on_terminal.stdin(std::process::Stdio::null()).stdout(std::process::Stdio::piped());
    let watching = on_terminal.spawn().unwrap();
    wait_until("a picture", || {
        std::fs::read_to_string(sandbox.file("typescript")).is_ok_and(|text| text.contains("q: leave"))
    });
    sandbox.write("go", "");
    finish(engine).expect_code(0);
    let shown = finish(watching).expect_code(0).stdout;
    let (drawn, after) = shown.split_once("\u{1b}[?1049l").expect("the screen is given back");
    assert!(drawn.contains("\u{1b}[?1049h") && drawn.contains("run 1 of flow: running"), "{drawn}");
    assert!(after.contains("run 1 of flow: done") && after.contains("4 of 4, 100 %"), "{after}");
}
