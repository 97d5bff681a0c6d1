//! What Throng must not do, whatever it is told: delete what is not its own, mix up results, get stuck.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod sandbox;

use std::time::{Duration, Instant, SystemTime};

use rustix::process::Signal;
use sandbox::*;

/// Runs the workflow and compares how many tasks were done and how many were up to date.
#[track_caller]
fn expect(sandbox: &Sandbox, arguments: &[&str], done: u64, up_to_date: u64) {
    let result = sandbox.run(arguments).expect_code(0);
    assert_eq!((result.number("done"), result.number("up_to_date")), (done, up_to_date), "{result:?}");
}

// Files that are somebody else's.

#[test]
fn a_file_that_was_taken_over_is_never_deleted() {
    let sandbox = Sandbox::with_flow("tasks: { a: { run: echo x > mine, out: mine } }");
    sandbox.write("mine", "precious");
    expect(&sandbox, &["--adopt"], 0, 1);
    let said = sandbox.throng(&["clean", "flow.yaml"]).expect_code(0).stdout;
    assert!(said.contains("kept mine: it was taken over") && sandbox.read("mine") == "precious", "{said}");
    expect(&sandbox, &["--adopt"], 0, 1);
    expect(&sandbox, &["--rerun", "a"], 1, 0);
    assert_eq!((sandbox.read("mine"), sandbox.read(".throng/kept/3/mine")), ("x\n".to_owned(), "precious".to_owned()));
    sandbox.throng(&["clean", "flow.yaml"]).expect_code(0);
    assert!(!sandbox.exists("mine"), "by then Throng had made it");
}

#[test]
fn what_somebody_has_put_into_a_directory_that_a_task_makes_is_not_lost() {
    let sandbox = Sandbox::with_flow("tasks: { a: { run: mkdir -p d/sub && echo x > d/sub/x, out: d } }");
    expect(&sandbox, &[], 1, 0);
    sandbox.write("d/sub/mine", "mine");
    sandbox.throng(&["clean", "flow.yaml"]).expect_code(0);
    assert_eq!(sandbox.read("d/sub/mine"), "mine");
    expect(&sandbox, &[], 1, 0);
    assert_eq!(sandbox.read(".throng/kept/2/d/sub/mine"), "mine");
    expect(&sandbox, &["--rerun", "a"], 1, 0);
    assert_eq!(sandbox.read("d/sub/x"), "x\n");
}

#[test]
fn a_record_of_one_path_says_nothing_about_another() {
    let sandbox = Sandbox::with_flow("tasks: { a: { run: echo made > x, out: x } }");
    expect(&sandbox, &[], 1, 0);
    let modified = std::fs::metadata(sandbox.file("x")).unwrap().modified().unwrap();
    sandbox.write("y", "made\n");
    std::fs::File::options().write(true).open(sandbox.file("y")).unwrap().set_modified(modified).unwrap();
    sandbox.write("flow.yaml", "tasks: { a: { run: echo made > y, out: y } }");
    sandbox.throng(&["clean", "flow.yaml"]).expect_code(0);
    assert!(sandbox.exists("y"), "Throng made x, not y");
}

#[test]
fn outputs_may_not_be_the_state_or_the_workflow_or_lie_in_each_other() {
    for (flow, message) in [
        ("tasks: { a: { run: x, out: .throng/journal } }", "where Throng keeps its state"),
        ("tasks: { a: { run: x, out: flow.yaml } }", "the workflow's own file"),
        ("tasks: { a: { run: x, out: d/x }, b: { run: y, out: d } }", "lies inside `d`, an output of `b`"),
        ("tasks: { a: { run: x, env: { THRONG_RUN: y } } }", "Throng's own variables"),
        ("tasks: { t: { foreach: { a: ['x,y', x], b: [z, 'y,z'] }, run: x } }", "would be called `t:x,y,z`"),
        ("tasks: { a: { run: x } }\ntasks: { b: { run: x } }", "the key `tasks` is here twice"),
    ] {
        let sandbox = Sandbox::with_flow(flow);
        let result = sandbox.throng(&["run", "flow.yaml"]).expect_code(2);
        assert!(result.stderr.contains(message), "{flow}: {}", result.stderr);
        assert!(!sandbox.exists(".throng"));
    }
    let sandbox = Sandbox::with_flow("tasks: { a: { run: x, out: state/journal } }");
    sandbox.throng(&["run", "flow.yaml", "--state", "state"]).expect_code(2);
}

// Results that are somebody else's.

#[test]
fn a_file_in_a_directory_that_a_task_makes_is_waited_for() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           read: { run: cat d/x > r, in: d/x, out: r }
           make: { run: mkdir d; cat source > d/x, in: source, out: d }",
    );
    sandbox.write("source", "new\n");
    sandbox.write("d/x", "old\n");
    expect(&sandbox, &["--width", "1"], 2, 0);
    assert_eq!(sandbox.read("r"), "new\n");
    expect(&sandbox, &[], 0, 2);
    sandbox.write("d/x", "changed inside\n");
    expect(&sandbox, &[], 2, 0);
    assert_eq!(sandbox.read("r"), "new\n");
}

#[test]
fn a_state_serves_one_directory() {
    let sandbox = Sandbox::new();
    for name in ["a", "b"] {
        sandbox.write(&format!("{name}/flow.yaml"), "tasks: { t: { run: touch done, out: done } }");
    }
    sandbox.throng(&["run", "a/flow.yaml", "--state", "state"]).expect_code(0);
    let refused = sandbox.throng(&["run", "b/flow.yaml", "--state", "state"]).expect_code(2);
    assert!(refused.stderr.contains("is the state of workflows in"), "{}", refused.stderr);
    assert!(!sandbox.exists("b/done"));
    sandbox.throng(&["run", "a/flow.yaml", "--state", "state"]).expect_code(0);
}

#[test]
fn a_directory_may_be_moved_with_its_state() {
    let sandbox = Sandbox::new();
    sandbox.write("here/flow.yaml", "tasks: { t: { run: touch done, out: done } }");
    sandbox.throng(&["run", "here/flow.yaml"]).expect_code(0);
    std::fs::rename(sandbox.file("here"), sandbox.file("there")).unwrap();
    let result = sandbox.throng(&["run", "there/flow.yaml", "--json"]).expect_code(0);
    assert_eq!(result.number("up_to_date"), 1);
}

#[test]
fn words_and_variables_are_not_mixed_up_in_a_definition() {
    let sandbox = Sandbox::with_flow("tasks: { a: { exec: [sh, -c, 'echo \"A=$A\" > o', '=A=1'], out: o } }");
    expect(&sandbox, &[], 1, 0);
    sandbox.write("flow.yaml", "tasks: { a: { exec: [sh, -c, 'echo \"A=$A\" > o'], env: { A: '1' }, out: o } }");
    expect(&sandbox, &[], 1, 0);
    assert_eq!(sandbox.read("o"), "A=1\n");
}

#[test]
fn content_read_once_is_known_from_then_on() {
    let sandbox = Sandbox::with_flow("tasks: { a: { run: cp in o, in: in, out: o } }");
    let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_500_000_000);
    let write = |text: &str| {
        sandbox.write("in", text);
        std::fs::File::options().write(true).open(sandbox.file("in")).unwrap().set_modified(long_ago).unwrap();
    };
    write("aaa");
    expect(&sandbox, &[], 1, 0);
    expect(&sandbox, &["--verify", "content"], 0, 1);
    write("bbb");
    expect(&sandbox, &["--verify", "content"], 1, 0);
    assert_eq!(sandbox.read("o"), "bbb");
}

#[test]
fn what_has_to_run_again_runs_beside_a_target() {
    let sandbox = Sandbox::with_flow("tasks: { a: { run: touch a, out: a }, b: { run: touch b, out: b } }");
    expect(&sandbox, &[], 2, 0);
    expect(&sandbox, &["a", "--rerun", "b"], 1, 1);
}

#[test]
fn a_directory_that_a_task_deletes_is_made_again_for_the_next() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           a: { run: echo a > d/a, out: d/a }
           b: { run: 'cp d/a b; rm -rf d', in: d/a, out: b }
           c: { run: echo c > d/c, out: d/c, after: b }",
    );
    sandbox.run(&["--width", "1"]).expect_code(0);
    assert!(sandbox.exists("d/c"));
}

// Getting stuck, and getting away.

#[test]
fn a_task_that_leaves_its_group_is_still_timed_out() {
    let sandbox = Sandbox::with_flow("tasks: { a: { exec: [perl, leave.pl], timeout: 300ms } }");
    sandbox.write("leave.pl", "setpgrp(0, getpgrp(getppid())); sleep 60;");
    let start = Instant::now();
    sandbox.run(&["--grace", "300ms"]).expect_code(1);
    assert!(start.elapsed() < Duration::from_secs(30), "it was not waited for");
}

#[test]
fn a_leftover_that_has_left_its_group_is_ended() {
    let sandbox = Sandbox::with_flow("tasks: { a: { exec: [perl, leave.pl] } }");
    sandbox.write(
        "leave.pl",
        "exit 0 if -e 'pid'; setpgrp(0, getpgrp(getppid())); open F, '>pid'; print F $$; close F; sleep 60;",
    );
    let mut engine = sandbox.start(&["run", "flow.yaml"]);
    wait_until("the task", || sandbox.exists("pid") && !sandbox.read("pid").is_empty());
    signal(engine.id(), Signal::KILL);
    engine.wait().unwrap();
    sandbox.run(&[]).expect_code(0);
    assert_eq!(processes_of(&sandbox.file(".throng")), Vec::<i32>::new());
}

#[test]
fn an_engine_that_was_told_to_ignore_hangups_does() {
    let sandbox = Sandbox::with_flow(
        "tasks: { a: { run: 'touch started; until [ -e go ]; do sleep 0.01; done', timeout: 60s } }",
    );
    let mut shell = std::process::Command::new("sh");
    let script = "trap '' HUP; exec \"$0\" run flow.yaml --quiet";
    let child = shell.args(["-c", script, env!("CARGO_BIN_EXE_throng")]).current_dir(sandbox.path()).spawn().unwrap();
    wait_until("the task", || sandbox.exists("started"));
    signal(child.id(), Signal::HUP);
    std::thread::sleep(Duration::from_millis(100));
    sandbox.write("go", "");
    finish(child).expect_code(0);
}

#[test]
fn a_million_times_a_million_tasks_are_refused() {
    let range = "1..1000000000";
    let flow = format!(
        "tasks: {{ x: {{ noop: true }}, t: {{ foreach: {{ a: {range}, b: {range}, c: {range} }}, noop: true }} }}"
    );
    Sandbox::with_flow(&flow).throng(&["run", "flow.yaml"]).expect_code(2);
    let flow = "tasks: { a: { foreach: { i: 1..100000 }, noop: true }, b: { foreach: { i: 1..100000 }, noop: true, after: a } }";
    let refused = Sandbox::with_flow(flow).throng(&["run", "flow.yaml"]).expect_code(2);
    assert!(refused.stderr.contains("edges"), "{}", refused.stderr);
}

#[test]
fn a_damaged_trace_is_no_reason_to_fall_over() {
    let sandbox = Sandbox::with_flow("tasks: { t: { foreach: { i: 1..20 }, run: 'echo {i}' } }");
    sandbox.run(&[]).expect_code(0);
    let trace = std::fs::read(sandbox.file(".throng/runs/1/trace")).unwrap();
    for at in (8..trace.len()).step_by(3) {
        let mut damaged = trace.clone();
        damaged[at] ^= 0x42;
        std::fs::write(sandbox.file(".throng/runs/1/trace"), damaged).unwrap();
        for command in [["logs", "1", "t"], ["status", "1", "t:7"]] {
            let code = sandbox.throng(&command).code;
            assert!(code == 0 || code == 2, "byte {at}: {code}");
        }
    }
}

#[test]
fn what_was_asked_for_and_cannot_be_written_is_an_error() {
    let sandbox = Sandbox::with_flow("tasks: { a: { noop: true } }");
    let mut command = sandbox.command(&["run", "flow.yaml", "--json"]);
    command.stdout(std::fs::File::options().write(true).open("/dev/full").unwrap());
    finish(command.spawn().unwrap()).expect_code(4);
}

#[test]
fn a_value_that_no_quoting_makes_safe_is_refused() {
    for command in
        ["cat <<E\n{x}\nE", "echo `echo {x}`", "echo $(( {x} + 1 ))", "echo \"\\{x}\"", "echo \"${{Q:-{x}}}\""]
    {
        let flow = |value: &str| {
            serde_json::json!({ "tasks": { "t": { "foreach": { "x": [value] }, "run": command } } }).to_string()
        };
        let sandbox = Sandbox::new();
        sandbox.write("flow.json", &flow("$(touch pwned)"));
        let refused = sandbox.throng(&["run", "flow.json"]).expect_code(2);
        assert!(
            refused.stderr.contains("cannot be written safely") && refused.stderr.contains("env:"),
            "{}",
            refused.stderr
        );
        sandbox.write("flow.json", &flow("7"));
        sandbox.throng(&["run", "flow.json"]).expect_code(0);
        assert!(!sandbox.exists("pwned"));
    }
}

#[test]
fn whoever_started_the_engine_may_ignore_the_end_of_children() {
    let sandbox = Sandbox::with_flow("tasks: { a: { run: touch a, out: a } }");
    let mut shell = std::process::Command::new("perl");
    let script = "$SIG{CHLD} = 'IGNORE'; exec @ARGV";
    let engine = env!("CARGO_BIN_EXE_throng");
    let child =
        shell.args(["-e", script, engine, "run", "flow.yaml", "--quiet"]).current_dir(sandbox.path()).spawn().unwrap();
    finish(child).expect_code(0);
}

#[test]
fn tasks_may_open_as_many_files_as_without_an_engine() {
    let sandbox = Sandbox::with_flow("tasks: { a: { run: ulimit -Sn > limit, out: limit } }");
    let mut shell = std::process::Command::new("sh");
    let script = "ulimit -Sn 100; exec \"$0\" run flow.yaml --quiet";
    let child = shell.args(["-c", script, env!("CARGO_BIN_EXE_throng")]).current_dir(sandbox.path()).spawn().unwrap();
    finish(child).expect_code(0);
    assert_eq!(sandbox.read("limit"), "100\n");
}

#[test]
fn a_task_of_lower_priority_than_all_before_it_still_runs() {
    for order in ["fifo", "lifo", "largest", "critical-path"] {
        let sandbox = Sandbox::with_flow("tasks: { a: { noop: true }, b: { noop: true, after: a, priority: -5 } }");
        expect(&sandbox, &["--order", order], 2, 0);
    }
}

#[test]
fn the_largest_input_is_what_a_task_itself_reads() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           p: { run: 'head -c 9000 /dev/zero > big; echo x > small', out: [big, small] }
           q: { run: head -c 500 /dev/zero > medium, out: medium }
           wait: { noop: true, after: [p, q] }
           read_small: { run: echo small >> order, in: small, after: wait }
           read_medium: { run: echo medium >> order, in: medium, after: wait }",
    );
    sandbox.run(&["--width", "1", "--order", "largest"]).expect_code(0);
    assert_eq!(sandbox.read("order"), "medium\nsmall\n");
}

#[test]
fn the_state_of_one_directory_is_not_taken_for_another() {
    let around = Sandbox::new();
    for name in ["one", "other"] {
        around.write(&format!("{name}/flow.yaml"), "tasks: { a: { run: 'cat {in} > {out}', in: src, out: o } }");
        around.write(&format!("{name}/src"), name);
    }
    around.throng(&["run", "one/flow.yaml"]).expect_code(0);
    let told = around.throng(&["run", "other/flow.yaml", "--state", "one/.throng"]).expect_code(2).stderr;
    assert!(told.contains("is the state of workflows in") && told.contains("/one"), "{told}");
    assert_eq!(around.throng(&["run", "one/flow.yaml", "--json"]).expect_code(0).number("up_to_date"), 1);
    // As a whole, it may be moved.
    std::fs::rename(around.file("one"), around.file("moved")).unwrap();
    assert_eq!(around.throng(&["run", "moved/flow.yaml", "--json"]).expect_code(0).number("up_to_date"), 1);
}
