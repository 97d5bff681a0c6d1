//! `throng run` on real processes: what runs when and where, and what becomes of it.

mod sandbox;

use std::path::Path;

use sandbox::*;

/// Lines of a file to which tasks have appended.
#[track_caller]
fn lines(sandbox: &Sandbox, file: &str) -> Vec<String> {
    sandbox.read(file).lines().map(str::to_owned).collect()
}

/// What a task printed in the first run.
#[track_caller]
fn logs(sandbox: &Sandbox, task: &str) -> String {
    sandbox.throng(&["logs", "1", task]).expect_code(0).stdout
}

/// How the attempts at a task in the first run ended.
#[track_caller]
fn outcomes(sandbox: &Sandbox, task: &str) -> Vec<String> {
    let status = sandbox.throng(&["status", "1", task, "--json"]).expect_code(0).json();
    let history = status["history"].as_array().expect("a history").clone();
    history.iter().filter_map(|entry| entry["outcome"].as_str()).map(str::to_owned).collect()
}

fn file_count(directory: &Path) -> usize {
    let entries = std::fs::read_dir(directory).expect("a directory").flatten();
    entries.map(|entry| if entry.path().is_dir() { file_count(&entry.path()) } else { 1 }).sum()
}

#[track_caller]
fn expect_no_process_left(sandbox: &Sandbox) {
    wait_until("the end of every process", || processes_of(&sandbox.file(".throng")).is_empty());
}

// Edges.

#[test]
fn files_make_the_edges_whatever_the_order_of_the_text() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           last: { run: cat middle middle > end, in: middle, out: end }
           second: { run: tr a-z A-Z < first > middle, in: first, out: middle }
           start: { run: echo hello > first, out: first }",
    );
    let result = sandbox.run(&["--width", "4"]).expect_code(0);
    assert_eq!((result.number("total"), result.number("done")), (3, 3));
    assert_eq!(sandbox.read("end"), "HELLO\nHELLO\n");
}

#[test]
fn a_range_has_both_its_ends_and_all_its_outputs_can_be_read_by_one_task() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           square: { foreach: { i: 3..12 }, run: 'echo $(({i} * {i})) > squares/{i}', out: 'squares/{i}' }
           sum: { run: cat squares/* | sort -n > all, in: [{ all: square }], out: all }",
    );
    assert_eq!(sandbox.run(&[]).expect_code(0).number("done"), 11);
    assert_eq!(lines(&sandbox, "all"), ["9", "16", "25", "36", "49", "64", "81", "100", "121", "144"]);
}

#[test]
fn a_list_gives_a_task_for_each_of_its_values() {
    let sandbox = Sandbox::with_flow(
        "tasks: { greet: { foreach: { who: [ann, bob] }, run: 'echo hello {who} > {who}.txt', out: '{who}.txt' } }",
    );
    assert_eq!(sandbox.run(&[]).expect_code(0).number("done"), 2);
    assert_eq!(sandbox.read("ann.txt") + &sandbox.read("bob.txt"), "hello ann\nhello bob\n");
}

#[test]
fn a_glob_gives_a_task_for_each_file_found_from_the_workflows_directory() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           count: { foreach: { f: 'texts/*.txt' }, run: 'wc -l < {f} > n/{f.stem}.n', in: '{f}', out: 'n/{f.stem}.n' }",
    );
    sandbox.write("texts/one.txt", "1\n");
    sandbox.write("texts/two.txt", "1\n2\n");
    sandbox.write("texts/not.md", "1\n2\n3\n");
    assert_eq!(sandbox.run(&[]).expect_code(0).number("done"), 2);
    assert_eq!((sandbox.read("n/one.n"), sandbox.read("n/two.n")), ("1\n".to_owned(), "2\n".to_owned()));
}

#[test]
fn after_makes_a_task_wait_without_a_file() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           last: { run: echo last >> order, after: [each, 'gate'] }
           each: { foreach: { i: 1..3 }, run: sleep 0.05; echo each >> order, after: gate }
           gate: { run: sleep 0.05; echo gate >> order }",
    );
    sandbox.run(&["--width", "4"]).expect_code(0);
    assert_eq!(lines(&sandbox, "order"), ["gate", "each", "each", "each", "last"]);
}

#[test]
fn a_workflow_may_be_written_in_json() {
    let sandbox = Sandbox::new();
    sandbox.write(
        "flow.json",
        r#"{"name": "from a program", "tasks": {
            "make": {"foreach": {"i": "1..3"}, "exec": ["cp", "seed", "copy{i}"], "in": "seed", "out": "copy{i}"},
            "join": {"run": "cat copy* > all", "in": [{"all": "make"}], "out": ["all"], "retries": 1, "cpus": 0.5}}}"#,
    );
    sandbox.write("seed", "x");
    assert_eq!(sandbox.throng(&["run", "flow.json", "--json"]).expect_code(0).number("done"), 4);
    assert_eq!(sandbox.read("all"), "xxx");
}

// Where a task runs, and how.

#[test]
fn tasks_run_in_the_workflows_directory_wherever_throng_is_started() {
    let sandbox = Sandbox::new();
    sandbox.write("project/flow.yaml", "tasks: { where: { run: pwd -P > deep/down/place, out: deep/down/place } }");
    sandbox.write("elsewhere/file", "");
    let mut command = sandbox.command(&["run", "../project/flow.yaml"]);
    finish(command.current_dir(sandbox.file("elsewhere")).spawn().unwrap()).expect_code(0);
    let project = sandbox.file("project").canonicalize().unwrap();
    assert_eq!(sandbox.read("project/deep/down/place").trim(), project.to_str().unwrap());
    assert!(sandbox.exists("project/.throng") && !sandbox.exists("elsewhere/.throng"));
}

#[test]
fn a_program_is_looked_for_from_the_workflows_directory_too() {
    let sandbox = Sandbox::new();
    sandbox.write("project/flow.yaml", "tasks: { mine: { run: greet, env: { PATH: 'tools:/usr/bin:/bin' } } }");
    sandbox.write("project/tools/greet", "echo greeted > greeted\n");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(sandbox.file("project/tools/greet"), executable).unwrap();
    sandbox.throng(&["run", "project/flow.yaml"]).expect_code(0);
    assert_eq!(sandbox.read("project/greeted"), "greeted\n");
}

#[test]
fn only_a_command_with_shell_syntax_is_run_by_a_shell() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           plain: { run: grep PPid /proc/self/status }
           exec: { exec: [grep, PPid, /proc/self/status] }
           shell: { run: grep PPid /proc/self/status; true }",
    );
    let child = sandbox.start(&["run", "flow.yaml"]);
    let engine = format!("PPid:\t{}\n", child.id());
    finish(child).expect_code(0);
    assert_eq!(logs(&sandbox, "plain"), engine);
    assert_eq!(logs(&sandbox, "exec"), engine);
    assert_ne!(logs(&sandbox, "shell"), engine);
}

#[test]
fn words_of_exec_are_handed_over_as_they_are() {
    let sandbox =
        Sandbox::with_flow("tasks: { say: { exec: [printf, '%s|', '$HOME; echo', 'two words', '', \"it's\"] } }");
    sandbox.run(&[]).expect_code(0);
    assert_eq!(logs(&sandbox, "say"), "$HOME; echo|two words||it's|");
}

#[test]
fn a_value_is_one_word_to_the_shell_whatever_is_in_it() {
    let values = ["two  words", "it's", "$(touch pwned)", "`touch pwned`", "a;b&c|d>e", "*", "\"q\"", "b\\", "#", "~"];
    let sandbox = Sandbox::new();
    let flow = serde_json::json!({ "tasks": {
        "shell": { "foreach": { "x": values }, "run": "printf '%s|' {x} >> all" },
        "plain": { "foreach": { "x": values }, "run": "printf %s {x}", "after": "shell" },
    } });
    sandbox.write("flow.json", &flow.to_string());
    sandbox.throng(&["run", "flow.json", "--width", "1"]).expect_code(0);
    assert_eq!(sandbox.read("all"), values.map(|value| format!("{value}|")).concat());
    for value in values {
        assert_eq!(logs(&sandbox, &format!("plain:{value}")), value);
    }
    assert!(!sandbox.exists("pwned"));
}

#[test]
fn a_value_never_runs_as_code_even_inside_the_workflows_own_quotes() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           double: { foreach: { x: ['$(touch pwned)'] }, run: 'echo \"{x}\" > /dev/null' }
           single: { foreach: { x: ['; touch pwned;'] }, run: \"echo '{x}' > /dev/null\" }",
    );
    // Whether it works or is refused is another matter.
    sandbox.run(&[]);
    assert!(!sandbox.exists("pwned"));
}

#[test]
fn a_task_has_the_environment_of_the_engine_and_its_own() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           tell:
             foreach: { who: [ann] }
             run: echo $GREETING $LANGUAGE_OF_TEST $HOME $THRONG_TASK $THRONG_ATTEMPT > told
             out: told
             env: { GREETING: 'hello {who}', HOME: /nowhere }",
    );
    let mut command = sandbox.command(&["run", "flow.yaml"]);
    finish(command.env("LANGUAGE_OF_TEST", "plain").env("THRONG_TASK", "stray").spawn().unwrap()).expect_code(0);
    assert_eq!(sandbox.read("told"), "hello ann plain /nowhere tell:ann 1\n");
}

#[test]
fn a_command_of_several_lines_ends_at_the_first_that_fails() {
    let sandbox = Sandbox::with_flow("tasks:\n  lines:\n    run: |\n      echo one\n      false\n      echo two\n");
    sandbox.run(&[]).expect_code(1);
    assert_eq!(logs(&sandbox, "lines"), "one\n");
}

// Success and failure.

#[test]
fn a_task_that_does_not_make_a_declared_output_has_failed() {
    let sandbox = Sandbox::with_flow("tasks: { half: { run: touch made, out: [made, promised] } }");
    let result = sandbox.run(&[]).expect_code(1);
    assert_eq!((result.number("done"), result.number("failed")), (0, 1));
    assert!(result.stderr.contains("did not make `promised`"), "{}", result.stderr);
    assert!(!sandbox.exists("made") && sandbox.exists(".throng/aside/1/made"));
    assert_eq!(outcomes(&sandbox, "half"), ["1 missing output"]);
}

#[test]
fn partial_outputs_of_a_failed_attempt_are_moved_aside() {
    let sandbox =
        Sandbox::with_flow("tasks: { bad: { run: echo half > results/a; exit 3, out: [results/a, results/b] } }");
    sandbox.run(&[]).expect_code(1);
    assert!(!sandbox.exists("results/a"));
    assert_eq!(sandbox.read(".throng/aside/1/results/a"), "half\n");
    assert_eq!(outcomes(&sandbox, "bad"), ["exit code 3"]);
}

#[test]
fn partial_outputs_of_every_attempt_are_kept() {
    let sandbox = Sandbox::with_flow("tasks: { bad: { run: echo $THRONG_ATTEMPT > a; exit 1, out: a, retries: 1 } }");
    sandbox.run(&[]).expect_code(1);
    assert!(!sandbox.exists("a"));
    assert_eq!(sandbox.read(".throng/aside/1/a"), "1\n");
    assert_eq!(sandbox.read(".throng/aside/1/a~2"), "2\n");
}

#[test]
fn a_failed_task_is_tried_again_after_a_wait_that_grows() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           flaky:
             run: 'echo try $THRONG_ATTEMPT; test $THRONG_ATTEMPT = 3; touch done'
             out: done
             retries: 5",
    );
    let result = sandbox.run(&[]).expect_code(0);
    assert_eq!((result.number("done"), result.number("failed")), (1, 0));
    assert_eq!(outcomes(&sandbox, "flaky"), ["exit code 1", "exit code 1", "done"]);
    let status = sandbox.throng(&["status", "1", "flaky", "--json"]).json();
    let history = status["history"].as_array().unwrap();
    let attempts: Vec<_> = history.iter().filter(|entry| entry["what"] == "attempt").collect();
    let seconds = |attempt: usize, key: &str| attempts[attempt][key].as_f64().unwrap();
    assert!(seconds(1, "started_s") - seconds(0, "ended_s") >= 0.5);
    assert!(seconds(2, "started_s") - seconds(1, "ended_s") >= 1.0);
    assert_eq!(sandbox.throng(&["logs", "last", "flaky", "--attempt", "2"]).expect_code(0).stdout, "try 2\n");
}

#[test]
fn what_depends_on_a_failed_task_is_skipped_and_the_rest_goes_on() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           bad: { run: echo this went wrong; exit 1, out: x }
           child: { run: cp x y, in: x, out: y }
           grandchild: { run: cp y z, in: y, out: z }
           behind: { run: touch behind, after: child }
           good: { run: touch a, out: a }
           better: { run: cp a b, in: a, out: b }",
    );
    let result = sandbox.run(&["--width", "1"]).expect_code(1);
    let counts = ["total", "done", "failed", "skipped"].map(|key| result.number(key));
    assert_eq!(counts, [6, 2, 1, 3]);
    assert_eq!(result.json()["state"], "failed");
    assert!(sandbox.exists("b") && !sandbox.exists("y") && !sandbox.exists("behind"));
    assert!(result.stderr.contains("| this went wrong"), "{}", result.stderr);
    assert!(result.stderr.contains("throng logs 1 bad"), "{}", result.stderr);
}

#[test]
fn with_fail_fast_nothing_starts_after_a_failure() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           bad: { run: exit 1, priority: 1 }
           others: { foreach: { i: 1..5 }, run: 'touch made{i}', out: 'made{i}' }",
    );
    let result = sandbox.run(&["--width", "1", "--fail-fast"]).expect_code(1);
    assert_eq!((result.number("done"), result.number("failed")), (0, 1));
    assert!((1..=5).all(|number| !sandbox.exists(&format!("made{number}"))));
}

#[test]
fn with_fail_fast_what_runs_may_finish() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           bad: { run: 'until [ -e started ]; do sleep 0.01; done; exit 1', timeout: 20s }
           good: { run: touch started; sleep 0.3; touch finished, out: finished }",
    );
    let result = sandbox.run(&["--width", "2", "--fail-fast"]).expect_code(1);
    assert_eq!((result.number("done"), result.number("failed")), (1, 1));
    assert!(sandbox.exists("finished"));
}

#[test]
fn a_task_that_times_out_after_fail_fast_has_timed_out() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           bad: { run: 'until [ -e started ]; do sleep 0.01; done; exit 1', timeout: 20s }
           slow: { run: touch started; sleep 30, timeout: 1s }",
    );
    sandbox.run(&["--width", "2", "--fail-fast"]).expect_code(1);
    assert_eq!(outcomes(&sandbox, "slow"), ["timed out"]);
}

#[test]
fn bad_input_gives_exit_code_2_and_writes_nothing() {
    for flow in ["tasks: { a: { runn: x } }", "tasks: { a: { run: x, in: missing } }", "tasks: {"] {
        let sandbox = Sandbox::with_flow(flow);
        let result = sandbox.run(&[]).expect_code(2);
        assert!(result.stderr.contains("--> flow.yaml:"), "{}", result.stderr);
        assert_eq!(result.stdout, "");
        assert!(!sandbox.exists(".throng"));
    }
    Sandbox::new().run(&[]).expect_code(2);
    Sandbox::with_flow("tasks: { a: { noop: true } }").run(&["--no-such-flag"]).expect_code(2);
    Sandbox::with_flow("tasks: { a: { noop: true } }").run(&["--order", "best"]).expect_code(2);
}

#[test]
fn a_program_that_does_not_exist_fails_its_task_only() {
    let sandbox = Sandbox::with_flow("tasks: { a: { run: no-such-program-here }, b: { run: touch b, out: b } }");
    let result = sandbox.run(&[]).expect_code(1);
    assert_eq!((result.number("done"), result.number("failed")), (1, 1));
    assert!(result.stderr.contains("cannot start `no-such-program-here`"), "{}", result.stderr);
}

// Ends that are not the task's own.

#[test]
fn a_timeout_asks_the_whole_group_to_end_and_then_forces_it() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           stubborn:
             timeout: 1s
             run: |
               (trap '' TERM; sleep 60) &
               trap 'touch asked' TERM
               echo half > out
               for tick in $(seq 2000); do sleep 0.02 || true; done
             out: out",
    );
    let result = sandbox.run(&["--grace", "300ms"]).expect_code(1);
    assert_eq!(result.number("failed"), 1);
    assert!(sandbox.exists("asked"), "TERM comes first");
    assert!(!sandbox.exists("out") && sandbox.exists(".throng/aside/1/out"));
    assert_eq!(outcomes(&sandbox, "stubborn"), ["timed out"]);
    expect_no_process_left(&sandbox);
}

#[test]
fn a_child_that_cleans_up_gets_its_grace_although_the_shell_has_died() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           tidy:
             timeout: 1s
             run: |
               (trap 'sleep 0.3; touch cleaned; exit' TERM; for tick in $(seq 2000); do sleep 0.02 || true; done) &
               wait",
    );
    sandbox.run(&["--grace", "20s"]).expect_code(1);
    assert!(sandbox.exists("cleaned"));
    expect_no_process_left(&sandbox);
}

#[test]
fn a_task_that_timed_out_is_tried_again() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           slow: { run: 'test $THRONG_ATTEMPT = 2 || sleep 60; touch out', out: out, timeout: 1s, retries: 1 }",
    );
    sandbox.run(&[]).expect_code(0);
    assert_eq!(outcomes(&sandbox, "slow"), ["timed out", "done"]);
}

#[test]
fn what_a_task_leaves_running_in_the_background_ends_with_it() {
    let sandbox = Sandbox::with_flow("tasks: { careless: { run: sleep 60 & touch out, out: out } }");
    sandbox.run(&[]).expect_code(0);
    expect_no_process_left(&sandbox);
}

#[test]
fn the_built_in_sleep_sleeps_and_heeds_its_timeout() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           short: { sleep: 100ms }
           long: { sleep: 60s, timeout: 200ms }
           with_files: { sleep: 60s, timeout: 200ms, in: flow.yaml }
           behind: { noop: true, after: short }",
    );
    let result = sandbox.run(&["--width", "4"]).expect_code(1);
    assert_eq!((result.number("done"), result.number("failed")), (2, 2));
    assert!(result.json()["makespan_s"].as_f64().unwrap() >= 0.2);
    assert_eq!(outcomes(&sandbox, "long"), ["timed out"]);
    assert_eq!(outcomes(&sandbox, "with_files"), ["timed out"]);
}

// What tasks print.

#[test]
fn output_and_errors_are_logged_in_the_order_they_were_printed() {
    let sandbox = Sandbox::with_flow("tasks: { talk: { run: echo one; echo two >&2; printf three } }");
    sandbox.run(&[]).expect_code(0);
    assert_eq!(logs(&sandbox, "talk"), "one\ntwo\nthree");
}

#[test]
fn a_task_that_truncates_its_output_disturbs_no_other() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           rude: { foreach: { i: 1..20 }, run: echo lost; echo x > /dev/stdout; sleep 0.02; echo x > /dev/stdout }
           loud: { foreach: { i: 1..20 }, run: 'for n in 1 2 3 4; do echo {i} $n; sleep 0.01; done' }",
    );
    sandbox.run(&["--width", "4"]).expect_code(0);
    let all = logs(&sandbox, "loud");
    for number in 1..=20 {
        let printed: String = (1..=4).map(|n| format!("{number} {n}\n")).collect();
        let whole = format!("==> loud:{number}, attempt 1: done <==\n{printed}");
        assert!(all.contains(&whole), "{number} in {all}");
    }
    assert_eq!(logs(&sandbox, "rude").matches("\nx\n").count(), 20);
}

#[test]
fn a_stray_child_of_an_earlier_task_does_not_write_into_a_later_ones_log() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           stray:
             run: |
               setsid sh -c '
                 touch away
                 for tick in $(seq 2000); do test ! -e next || break; sleep 0.01; done
                 echo stray
                 touch wrote
               ' &
               until [ -e away ]; do sleep 0.01; done
           next: { run: 'touch next; until [ -e wrote ]; do sleep 0.01; done; echo own', after: stray, timeout: 20s }",
    );
    sandbox.run(&["--width", "1"]).expect_code(0);
    assert_eq!(logs(&sandbox, "next"), "own\n");
}

#[test]
fn two_hundred_tasks_that_print_leave_no_file_each() {
    let sandbox =
        Sandbox::with_flow("tasks: { talk: { foreach: { i: 1..200 }, run: 'echo this is {i}; echo again >&2' } }");
    assert_eq!(sandbox.run(&["--width", "2"]).expect_code(0).number("done"), 200);
    let files = file_count(&sandbox.file(".throng"));
    assert!(files < 15, "{files} files");
    assert_eq!(logs(&sandbox, "talk:77"), "this is 77\nagain\n");
}
