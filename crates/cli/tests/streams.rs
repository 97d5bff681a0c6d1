//! What tasks read and write besides plain files: streams, shells, directories, temporary and optional outputs,
//! containers.

mod sandbox;

use std::os::unix::fs::PermissionsExt;

use sandbox::*;

/// Runs the workflow and says how many tasks were done and how many were up to date.
#[track_caller]
fn run(sandbox: &Sandbox, arguments: &[&str]) -> (u64, u64) {
    let result = sandbox.run(arguments).expect_code(0);
    (result.number("done"), result.number("up_to_date"))
}

fn write_program(sandbox: &Sandbox, name: &str, text: &str) {
    sandbox.write(name, text);
    std::fs::set_permissions(sandbox.file(name), PermissionsExt::from_mode(0o755)).expect("a file");
}

// Standard streams.

#[test]
fn streams_are_joined_to_files_without_a_shell() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           up: { exec: [tr, a-z, A-Z], stdin: words, stdout: deep/upper.txt }
           read: { run: cat, stdin: deep/upper.txt, stdout: copy, stderr: logs/complaints }
           complain: { exec: [cat, nowhere], stdout: empty, stderr: never, retries: 0 }",
    );
    sandbox.write("words", "hello\n");
    let result = sandbox.run(&[]).expect_code(1);
    assert_eq!((result.number("done"), result.number("failed")), (2, 1));
    assert_eq!(sandbox.read("copy"), "HELLO\n");
    assert_eq!(sandbox.read("logs/complaints"), "");
    assert!(!sandbox.exists("empty") && !sandbox.exists("never"), "what a failed task made is set aside");
    assert!(sandbox.read(".throng/aside/1/never").contains("nowhere"));
}

#[test]
fn a_file_behind_a_stream_is_an_input_or_an_output() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           last: { run: cat, stdin: middle, stdout: end }
           first: { run: cat, stdin: words, stdout: middle, stderr: complaints }",
    );
    sandbox.write("words", "one");
    assert_eq!(run(&sandbox, &[]), (2, 0));
    assert_eq!(run(&sandbox, &[]), (0, 2));
    sandbox.write("words", "three");
    assert_eq!(run(&sandbox, &[]), (2, 0));
    assert_eq!(sandbox.read("end"), "three", "what was there before is not appended to");
    std::fs::remove_file(sandbox.file("complaints")).unwrap();
    assert_eq!(run(&sandbox, &[]), (0, 2), "nobody does a task again for want of its complaints");
    std::fs::remove_file(sandbox.file("end")).unwrap();
    assert_eq!(run(&sandbox, &["end"]), (1, 1));
}

#[test]
fn output_and_complaints_may_go_to_the_same_file_in_their_order() {
    let command = "echo 1; echo 2 >&2; echo 3; echo 4 >&2";
    for [stdout, stderr] in [["all", "all"], ["all", "./all"]] {
        let sandbox = Sandbox::with_flow(&format!(
            "tasks: {{ t: {{ run: '{command}', stdout: {stdout}, stderr: {stderr}, out: all }} }}"
        ));
        sandbox.run(&[]).expect_code(0);
        assert_eq!(sandbox.read("all"), "1\n2\n3\n4\n");
    }
}

#[test]
fn a_failure_shows_the_end_of_the_complaints_wherever_they_went() {
    for command in ["seq 100 >&2; exit 3", "echo output; seq 100 >&2; exit 3"] {
        let sandbox = Sandbox::with_flow(&format!("tasks: {{ t: {{ run: '{command}', stderr: errors }} }}"));
        let result = sandbox.run(&[]).expect_code(1);
        assert!(result.stderr.contains("| 100\n") && result.stderr.contains("| 96\n"), "{}", result.stderr);
        assert!(!result.stderr.contains("| 95\n"), "{}", result.stderr);
        // What a failed task has made is set aside, and that is where all of it is.
        assert!(result.stderr.contains("all of it: .throng/aside/1/errors\n"), "{}", result.stderr);
        assert_eq!(sandbox.read(".throng/aside/1/errors").lines().count(), 100);
    }
    let sandbox = Sandbox::with_flow("tasks: { t: { run: 'echo why >&2; exit 3', stdout: all, stderr: all } }");
    let result = sandbox.run(&[]).expect_code(1);
    assert!(result.stderr.contains("| why\n"), "{}", result.stderr);
}

#[test]
fn each_attempt_has_a_stream_of_its_own() {
    let flow = "tasks: { t: { run: 'echo {attempt}; test {attempt} = 2', stdout: o, retries: 1 } }";
    let sandbox = Sandbox::with_flow(flow);
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sandbox.read("o"), "2\n");
    assert_eq!(sandbox.read(".throng/aside/1/o"), "1\n");
}

#[test]
fn a_task_without_stdin_reads_nothing() {
    let sandbox = Sandbox::with_flow("tasks: { t: { run: cat, stdout: o } }");
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sandbox.read("o"), "");
}

// Shells.

#[test]
fn a_shell_may_end_a_task_when_a_part_of_a_pipe_fails() {
    let with = |shell: &str| format!("tasks: {{ t: {{ run: 'false | true', {shell} }} }}");
    Sandbox::with_flow(&with("shell: bash -euo pipefail")).run(&[]).expect_code(1);
    Sandbox::with_flow(&with("shell: [bash, -e, -o, pipefail, -c]")).run(&[]).expect_code(1);
    Sandbox::with_flow(&with("shell: bash")).run(&[]).expect_code(0);
    Sandbox::with_flow(&with("cpus: 1")).run(&[]).expect_code(0);
    let sandbox = Sandbox::with_flow(
        "defaults: { shell: bash }\ntasks: { t: { run: 'echo {in}[0-9] ${{X[0]:-y}}', in: a b, stdout: o } }",
    );
    sandbox.write("a b", "");
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sandbox.read("o"), "a b[0-9] y\n");
}

#[test]
fn other_programs_read_run_too() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           python:
             foreach: { i: 2..3 }
             shell: python3
             run: |
               import os
               for i in range({i}):
                   print(i, os.environ['WHAT'])
             env: { WHAT: '{task} it''s' }
             stdout: 'p{i}'
           perl: { shell: perl -w, run: 'print \"a\" x 3, \"\\n\"', stdout: perl }",
    );
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sandbox.read("p2"), "0 python:2 it's\n1 python:2 it's\n");
    assert_eq!(sandbox.read("p3").lines().count(), 3);
    assert_eq!(sandbox.read("perl"), "aaa\n");
}

#[test]
fn another_shell_makes_a_task_stale() {
    let sandbox = Sandbox::with_flow("tasks: { t: { run: 'echo x; true', stdout: o } }");
    sandbox.run(&[]).expect_code(0);
    sandbox.write("flow.yaml", "tasks: { t: { run: 'echo x; true', stdout: o, shell: bash } }");
    assert_eq!(run(&sandbox, &[]), (1, 0));
}

// Where a task runs.

#[test]
fn a_directory_is_made_and_files_are_named_as_seen_from_it() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           t:
             foreach: { i: 1..2 }
             dir: 'work/{i}'
             in: [data/x, 'work/{i}/near']
             stdin: data/x
             out: ['res/{i}', 'work/{i}/own']
             run: 'echo {in} $(cat) > {out.0}; pwd > {out.1}; touch scratch'
           near: { foreach: { i: 1..2 }, run: 'touch {out}', out: 'work/{i}/near' }",
    );
    sandbox.write("data/x", "x");
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sandbox.read("res/2"), "../../data/x near x\n");
    let directory = sandbox.file("work/2").canonicalize().unwrap();
    assert_eq!(sandbox.read("work/2/own").trim(), directory.to_str().unwrap());
    assert!(sandbox.exists("work/1/scratch") && sandbox.exists("work/2/scratch"));
}

// What a task uses besides data.

#[test]
fn a_change_in_what_a_task_uses_makes_it_stale_and_in_leaves_it_out() {
    let sandbox = Sandbox::with_flow(
        "tasks: { t: { run: 'sh tools/main.sh {in} > {out}', in: data, uses: [tools/, setup.cfg], out: o } }",
    );
    sandbox.write("tools/main.sh", ". tools/deep/part.sh; echo $@ $PART\n");
    sandbox.write("tools/deep/part.sh", "PART=1\n");
    sandbox.write("setup.cfg", "a");
    sandbox.write("data", "");
    assert_eq!(run(&sandbox, &[]), (1, 0));
    assert_eq!(sandbox.read("o"), "data 1\n");
    assert_eq!(run(&sandbox, &[]), (0, 1));
    for (file, content) in [("tools/deep/part.sh", "PART=22\n"), ("tools/deep/new", ""), ("setup.cfg", "bb")] {
        sandbox.write(file, content);
        assert_eq!(run(&sandbox, &[]), (1, 0), "{file}");
        assert_eq!(run(&sandbox, &[]), (0, 1), "{file}");
    }
    std::fs::remove_file(sandbox.file("tools/deep/new")).unwrap();
    assert_eq!(run(&sandbox, &[]), (1, 0));
    assert_eq!(sandbox.read("o"), "data 22\n");
}

#[test]
fn a_script_that_a_task_makes_is_waited_for() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           use: { run: sh made.sh > o, uses: made.sh, out: o }
           make: { run: sleep 0.05; echo echo hi > made.sh, out: made.sh }",
    );
    assert_eq!(run(&sandbox, &["--width", "2"]), (2, 0));
    assert_eq!(sandbox.read("o"), "hi\n");
}

// Temporary outputs.

const TEMP: &str = "tasks:
  make: { run: 'echo x >> makes; cat source > {out}', in: source, out: { path: t, temp: true } }
  one: { run: 'echo x >> ones; cat {in} > {out}', in: t, out: one }
  two: { run: 'ln -f {in} saved; test -e allowed; cat {in} > {out}', in: t, out: two }";

fn with_temp() -> Sandbox {
    let sandbox = Sandbox::with_flow(TEMP);
    sandbox.write("source", "s");
    sandbox.write("allowed", "");
    sandbox
}

#[test]
fn a_temporary_output_goes_with_its_last_reader_and_nobody_misses_it() {
    let sandbox = with_temp();
    assert_eq!(run(&sandbox, &[]), (3, 0));
    assert!(!sandbox.exists("t") && sandbox.exists("one") && sandbox.exists("two"));
    assert_eq!(run(&sandbox, &[]), (0, 3));
    sandbox.write("source", "other");
    assert_eq!(run(&sandbox, &[]), (3, 0));
    assert!(!sandbox.exists("t"));
    assert_eq!(sandbox.read("two"), "other");
}

#[test]
fn a_temporary_output_stays_when_a_reader_fails() {
    let sandbox = with_temp();
    std::fs::remove_file(sandbox.file("allowed")).unwrap();
    sandbox.run(&[]).expect_code(1);
    assert!(sandbox.exists("t"));
    sandbox.write("allowed", "");
    assert_eq!(run(&sandbox, &[]), (1, 2));
    assert!(!sandbox.exists("t"));
    assert_eq!(sandbox.read("makes"), "x\n");
}

#[test]
fn a_temporary_output_stays_when_it_was_asked_for() {
    let sandbox = with_temp();
    for target in ["t", "make"] {
        run(&sandbox, &[target, "two"]);
        assert!(sandbox.exists("t"));
    }
    // The reader outside of that run may still want it, and then it goes.
    assert_eq!(run(&sandbox, &[]), (1, 2));
    assert!(!sandbox.exists("t"));
}

#[test]
fn a_temporary_output_waits_for_readers_outside_of_the_run() {
    let sandbox = with_temp();
    run(&sandbox, &["one"]);
    assert!(sandbox.exists("t"));
}

#[test]
fn a_temporary_output_that_a_killed_run_left_goes_with_the_next() {
    let sandbox = with_temp();
    run(&sandbox, &[]);
    // As if the engine had been killed between the record of its last reader and the deletion: the same file again.
    std::fs::rename(sandbox.file("saved"), sandbox.file("t")).unwrap();
    assert_eq!(run(&sandbox, &[]), (0, 3));
    assert!(!sandbox.exists("t"));
}

#[test]
fn what_somebody_put_in_the_place_of_a_temporary_output_is_kept() {
    let sandbox = with_temp();
    run(&sandbox, &[]);
    sandbox.write("t", "mine");
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sandbox.read(".throng/kept/2/t"), "mine");
}

#[test]
fn a_temporary_output_that_somebody_has_changed_is_not_deleted() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           make: { run: echo made > t, out: t, temp: true }
           read: { run: echo mine >> t, in: t }",
    );
    run(&sandbox, &[]);
    assert_eq!(sandbox.read("t"), "made\nmine\n");
}

#[test]
fn a_temporary_output_is_made_again_for_a_new_reader() {
    let sandbox = with_temp();
    run(&sandbox, &[]);
    sandbox.write("flow.yaml", &format!("{TEMP}\n  three: {{ run: 'cat {{in}} > {{out}}', in: t, out: three }}"));
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sandbox.read("three"), "s");
    assert_eq!(sandbox.read("makes"), "x\nx\n");
    assert!(!sandbox.exists("t"));
    std::fs::remove_file(sandbox.file("three")).unwrap();
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sandbox.read("makes"), "x\nx\nx\n");
}

#[test]
fn a_chain_of_temporary_outputs_goes_as_a_whole_and_comes_back_when_needed() {
    let sandbox = Sandbox::with_flow(
        "defaults: { temp: true }
tasks:
  a: { run: 'mkdir {out}; echo a > {out}/x; echo b > {out}/y', out: a }
  b: { run: 'cat {in}/* > {out}', in: a, out: b }
  c: { run: 'cat {in} > {out}', in: b, out: c, temp: false }",
    );
    assert_eq!(run(&sandbox, &[]), (3, 0));
    assert!(!sandbox.exists("a") && !sandbox.exists("b"));
    assert_eq!(sandbox.read("c"), "a\nb\n");
    std::fs::remove_file(sandbox.file("c")).unwrap();
    assert_eq!(run(&sandbox, &[]), (3, 0));
    assert!(!sandbox.exists("a") && !sandbox.exists("b") && sandbox.exists("c"));
}

#[test]
fn what_a_task_prints_into_a_file_is_temporary_too_if_its_outputs_are() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           make: { run: echo x, stdout: t, temp: true }
           read: { run: cat, stdin: t, stdout: o }",
    );
    assert_eq!(run(&sandbox, &[]), (2, 0));
    assert!(!sandbox.exists("t") && sandbox.exists("o"));
    assert_eq!(run(&sandbox, &[]), (0, 2));
}

#[test]
fn a_temporary_output_that_nobody_reads_stays() {
    let sandbox = Sandbox::with_flow("tasks: { t: { run: touch o, out: o, temp: true } }");
    run(&sandbox, &[]);
    assert!(sandbox.exists("o"));
}

// Directories and optional outputs.

#[test]
fn a_directory_is_an_output_as_a_whole() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           make: { run: 'mkdir -p {out}/deep; cp source {out}/deep/x', in: source, out: d/made/ }
           all: { run: 'ls -R {in} > {out}', in: d/made, out: all }
           part: { run: 'cat {in} > {out}', in: d/made/deep/x, out: part }",
    );
    sandbox.write("source", "1");
    assert_eq!(run(&sandbox, &[]), (3, 0));
    assert_eq!(sandbox.read("part"), "1");
    assert_eq!(run(&sandbox, &[]), (0, 3));
    sandbox.write("d/made/deep/x", "changed");
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sandbox.read("d/made/deep/x"), "1");
    assert_eq!(run(&sandbox, &[]), (0, 3));
    sandbox.write("source", "22");
    assert_eq!(run(&sandbox, &[]), (3, 0));
    assert_eq!(sandbox.read("part"), "22");
}

#[test]
fn an_optional_output_may_be_made_or_not() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           make: { run: 'cp source o; test ! -s source || cp source {out.0}', in: source, out: [{ path: maybe, optional: true }, o] }
           read: { run: 'cat {in} > {out} 2> /dev/null || echo none > {out}', in: maybe, out: read }",
    );
    sandbox.write("source", "");
    assert_eq!(run(&sandbox, &[]), (2, 0));
    assert!(!sandbox.exists("maybe"));
    assert_eq!(sandbox.read("read"), "none\n");
    assert_eq!(run(&sandbox, &[]), (0, 2));
    sandbox.write("source", "there");
    assert_eq!(run(&sandbox, &[]), (2, 0));
    assert_eq!(sandbox.read("read"), "there");
    assert_eq!(run(&sandbox, &[]), (0, 2));
    sandbox.write("source", "");
    assert_eq!(run(&sandbox, &[]), (2, 0));
    assert!(!sandbox.exists("maybe"), "what it did not make this time is not what it made");
    assert_eq!(sandbox.read("read"), "none\n");
}

#[test]
fn other_outputs_beside_an_optional_one_have_to_be_made() {
    let sandbox = Sandbox::with_flow("tasks: { t: { run: touch maybe, out: [{ path: maybe, optional: true }, o] } }");
    sandbox.run(&[]).expect_code(1);
}

// Containers.

/// A program that says how it was called, and then does what a container would do: run the words behind the image.
const RUNNER: &str = "#!/bin/sh
echo \"$0 $*\" >> called
while test \"$1\" != IMAGE; do
  test \"$1\" = --entrypoint && program=$2
  test \"$1\" = --workdir -o \"$1\" = --pwd && cd \"$2\"
  shift
done
shift
exec $program \"$@\"
";

fn run_with_path(sandbox: &Sandbox, path: &str) -> Output {
    let mut command = sandbox.command(&["run", "flow.yaml", "--json"]);
    finish(command.env("PATH", path).spawn().expect("the program"))
}

#[test]
fn a_container_runs_the_command_through_whichever_program_is_there() {
    for (runner, calls) in [("apptainer", "exec --pwd "), ("podman", "run --rm ")] {
        let sandbox = Sandbox::with_flow(
            "tasks:
               t:
                 foreach: { x: ['a b'] }
                 container: { image: IMAGE, options: [--network, none] }
                 run: 'echo {x} $WHO $(cat) > {out}; pwd >> {out}'
                 env: { WHO: 'it is {x}' }
                 stdin: words
                 dir: work
                 out: o",
        );
        sandbox.write("words", "piped");
        write_program(
            &sandbox,
            &format!("bin/{runner}"),
            &RUNNER.replace("called", &sandbox.file("called").display().to_string()),
        );
        // Nothing else that this machine may have.
        std::os::unix::fs::symlink("/bin/cat", sandbox.file("bin/cat")).unwrap();
        run_with_path(&sandbox, sandbox.file("bin").to_str().unwrap()).expect_code(0);
        let work = sandbox.file("work").canonicalize().unwrap();
        assert_eq!(sandbox.read("o"), format!("a b it is a b piped\n{}\n", work.display()));
        let called = sandbox.read("called");
        assert!(called.contains(calls) && called.contains("--network none IMAGE"), "{called}");
        assert_eq!(called.contains("--env WHO"), runner == "podman", "{called}");
    }
}

#[test]
fn a_workflow_may_insist_on_a_program_for_containers() {
    let sandbox =
        Sandbox::with_flow("tasks: { t: { container: { image: IMAGE, with: podman }, run: touch o, out: o } }");
    for runner in ["apptainer", "podman"] {
        write_program(&sandbox, &format!("bin/{runner}"), RUNNER);
    }
    let path = format!("{}:/usr/bin:/bin", sandbox.file("bin").display());
    run_with_path(&sandbox, &path).expect_code(0);
    assert!(sandbox.read("called").contains("bin/podman run"));
}

#[test]
fn without_a_program_for_containers_nothing_starts() {
    let flow = "tasks: { first: { run: touch o, out: o }, t: { container: IMAGE, run: cat o, in: o } }";
    let sandbox = Sandbox::with_flow(flow);
    write_program(&sandbox, "bin/sh", "#!/bin/sh\n");
    let result = run_with_path(&sandbox, sandbox.file("bin").to_str().unwrap()).expect_code(2);
    for word in ["`t`", "apptainer", "podman", "= help: "] {
        assert!(result.stderr.contains(word), "{}", result.stderr);
    }
    assert!(!sandbox.exists(".throng") && !sandbox.exists("o"));
}

#[test]
fn what_was_taken_over_is_never_deleted_as_temporary() {
    let sandbox = Sandbox::with_flow(
        "tasks: { make: { run: 'echo x > {out}', out: [{ path: t, temp: true }] }, read: { run: 'cat {in} > {out}', in: t, out: o } }",
    );
    sandbox.write("t", "precious");
    sandbox.run(&["--adopt"]).expect_code(0);
    assert_eq!((sandbox.read("t"), sandbox.read("o")), ("precious".to_owned(), "precious".to_owned()));
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sandbox.read("t"), "precious");
}

#[test]
fn a_failure_before_its_outputs_had_room_moves_nothing() {
    let sandbox = Sandbox::with_flow(
        "tasks: { del: { run: rm source }, make: { after: del, in: source, run: 'cp {in} {out}', out: o, stderr: e } }",
    );
    sandbox.write("source", "x");
    sandbox.write("o", "precious");
    sandbox.write("e", "old complaints");
    let output = sandbox.run(&[]).expect_code(1);
    assert_eq!((sandbox.read("o"), sandbox.read("e")), ("precious".to_owned(), "old complaints".to_owned()));
    assert!(!output.stderr.contains("old complaints"), "{}", output.stderr);
}

#[test]
fn a_directory_that_is_as_made_is_replaced_and_one_that_is_not_is_kept() {
    let sandbox = Sandbox::with_flow("tasks: { a: { run: 'mkdir {out}; cp {in} {out}/x', in: source, out: d } }");
    for content in ["one", "two2", "three"] {
        sandbox.write("source", content);
        sandbox.run(&[]).expect_code(0);
        assert_eq!(sandbox.read("d/x"), content);
    }
    assert!(!sandbox.exists(".throng/kept"), "nothing but its own was in the way");
    sandbox.write("d/mine", "precious");
    sandbox.write("source", "again");
    sandbox.run(&[]).expect_code(0);
    assert!(!sandbox.exists("d/mine"));
    assert_eq!(sandbox.read(".throng/kept/4/d/mine"), "precious");
}

#[test]
fn a_pipe_is_no_standard_input() {
    let sandbox = Sandbox::with_flow("tasks: { a: { run: cat, stdin: pipe } }");
    let made = std::process::Command::new("mkfifo").arg(sandbox.file("pipe")).status().unwrap();
    assert!(made.success());
    let output = sandbox.run(&[]).expect_code(1);
    assert!(output.stderr.contains("it is a pipe"), "{}", output.stderr);
}

#[test]
fn a_command_longer_than_an_argument_is_read_from_a_file() {
    let sandbox = Sandbox::with_flow(
        "tasks: { a: { foreach: { i: 1..3000 }, noop: true, out: 'long/directory/for/many/files/with/names/{i}' }, \
         b: { run: 'for file in {in}; do echo $file; done | wc -l > {out}', in: [{ all: a }], out: n } }",
    );
    for number in 1..=3000 {
        sandbox.write(&format!("long/directory/for/many/files/with/names/{number}"), "");
    }
    sandbox.run(&["--adopt"]).expect_code(0);
    assert_eq!(sandbox.read("n").trim(), "3000");
}
