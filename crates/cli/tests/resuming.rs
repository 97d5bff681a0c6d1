//! Running again: what is up to date, what is not, and that nothing but Throng's own work is touched.

mod sandbox;

use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

use sandbox::*;

/// source → sorted → last, and a side that has nothing to do with them.
const CHAIN: &str = "
tasks:
  sort: { run: sort source > sorted, in: source, out: sorted }
  twice: { run: cat sorted sorted > last, in: sorted, out: last }
  side: { run: echo side > side, out: side }";

/// The chain, done once.
fn done_chain() -> Sandbox {
    let sandbox = Sandbox::with_flow(CHAIN);
    sandbox.write("source", "b\na\n");
    assert_eq!(sandbox.run(&[]).expect_code(0).number("done"), 3);
    sandbox
}

/// Runs the workflow and expects that so many tasks run and so many need not.
#[track_caller]
fn expect(sandbox: &Sandbox, arguments: &[&str], done: u64, up_to_date: u64) {
    let result = sandbox.run(arguments).expect_code(0);
    let counts = (result.number("done"), result.number("up_to_date"));
    assert_eq!(counts, (done, up_to_date), "done and up to date; {result:#?}");
}

/// What `--dry-run` says of each task that would run.
#[track_caller]
fn dry_run(sandbox: &Sandbox, arguments: &[&str]) -> Vec<(String, String)> {
    let all: Vec<&str> = ["--dry-run"].iter().chain(arguments).copied().collect();
    let tasks = sandbox.run(&all).expect_code(0).json()["tasks"].clone();
    let word = |task: &serde_json::Value, key: &str| task[key].as_str().expect("a word").to_owned();
    tasks.as_array().expect("tasks").iter().map(|task| (word(task, "task"), word(task, "why"))).collect()
}

#[track_caller]
fn set_modified(sandbox: &Sandbox, name: &str, time: SystemTime) {
    let file = File::options().write(true).open(sandbox.file(name)).expect("the file is there");
    file.set_modified(time).expect("its time can be set");
}

/// Gives a file a time that no run has seen.
#[track_caller]
fn touch(sandbox: &Sandbox, name: &str) {
    let modified = sandbox.file(name).metadata().and_then(|found| found.modified()).expect("the file is there");
    set_modified(sandbox, name, modified - Duration::from_secs(1000));
}

/// Every file below a directory, the state included, with its content and time.
fn everything(directory: &Path) -> Vec<(String, Vec<u8>, SystemTime)> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).expect("a directory").flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(everything(&path));
        }
        let modified = path.metadata().and_then(|found| found.modified()).expect("it is there");
        found.push((path.display().to_string(), std::fs::read(&path).unwrap_or_default(), modified));
    }
    found.sort();
    found
}

// What is up to date.

#[test]
fn the_second_run_has_nothing_to_do() {
    let sandbox = done_chain();
    let before = sandbox.files();
    let result = sandbox.run(&[]).expect_code(0);
    let counts = ["run", "total", "done", "up_to_date"].map(|key| result.number(key));
    assert_eq!(counts, [2, 3, 0, 3]);
    assert_eq!(sandbox.files(), before);
}

#[test]
fn a_changed_input_runs_its_reader_and_what_depends_on_it() {
    let sandbox = done_chain();
    sandbox.write("source", "c\nb\na\n");
    expect(&sandbox, &[], 2, 1);
    assert_eq!(sandbox.read("last"), "a\nb\nc\na\nb\nc\n");
    expect(&sandbox, &[], 0, 3);
}

#[test]
fn a_touched_input_runs_its_reader_but_equal_bytes_stop_there() {
    let sandbox = done_chain();
    touch(&sandbox, "source");
    expect(&sandbox, &[], 1, 2);
    expect(&sandbox, &[], 0, 3);
}

#[test]
fn a_changed_input_that_gives_equal_bytes_does_not_run_what_comes_after() {
    let sandbox = done_chain();
    sandbox.write("source", "a\nb\n");
    touch(&sandbox, "source");
    expect(&sandbox, &[], 1, 2);
    sandbox.write("source", "a\nc\n");
    expect(&sandbox, &[], 2, 1);
}

#[test]
fn equal_bytes_made_by_a_second_attempt_do_not_run_what_comes_after() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           sort:
             run: 'test $THRONG_ATTEMPT != 1 -o ! -e flaky; sort source > sorted'
             in: source
             out: sorted
             retries: 1
           twice: { run: cat sorted sorted > last, in: sorted, out: last }",
    );
    sandbox.write("source", "b\na\n");
    expect(&sandbox, &[], 2, 0);
    sandbox.write("flaky", "");
    touch(&sandbox, "source");
    expect(&sandbox, &[], 1, 1);
}

#[test]
fn with_verify_content_a_touched_input_changes_nothing() {
    let sandbox = Sandbox::with_flow(CHAIN);
    sandbox.write("source", "b\na\n");
    expect(&sandbox, &["--verify", "content"], 3, 0);
    touch(&sandbox, "source");
    expect(&sandbox, &["--verify", "content"], 0, 3);
    // And once that is known, it is so for runs that look at times only.
    expect(&sandbox, &[], 0, 3);
}

#[test]
fn with_verify_content_a_change_is_seen_though_size_and_time_are_the_same() {
    let sandbox = Sandbox::with_flow(CHAIN);
    sandbox.write("source", "b\na\n");
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    set_modified(&sandbox, "source", time);
    expect(&sandbox, &["--verify", "content"], 3, 0);
    sandbox.write("source", "d\nc\n");
    set_modified(&sandbox, "source", time);
    expect(&sandbox, &[], 0, 3);
    expect(&sandbox, &["--verify", "content"], 2, 1);
    assert_eq!(sandbox.read("last"), "c\nd\nc\nd\n");
}

#[test]
fn with_verify_content_an_output_that_was_changed_in_place_is_made_again() {
    let sandbox = Sandbox::with_flow(CHAIN);
    sandbox.write("source", "b\na\n");
    expect(&sandbox, &["--verify", "content"], 3, 0);
    let time = sandbox.file("side").metadata().unwrap().modified().unwrap();
    sandbox.write("side", "SIDE\n");
    set_modified(&sandbox, "side", time);
    expect(&sandbox, &["--verify", "content"], 1, 2);
    assert_eq!(sandbox.read("side"), "side\n");
}

#[test]
fn content_that_a_later_run_looked_at_is_remembered() {
    let sandbox = done_chain();
    expect(&sandbox, &["--verify", "content"], 0, 3);
    touch(&sandbox, "source");
    expect(&sandbox, &["--verify", "content"], 0, 3);
}

#[test]
fn a_changed_command_runs_only_its_task() {
    let sandbox = done_chain();
    sandbox.write("flow.yaml", &CHAIN.replace("echo side", "echo other"));
    expect(&sandbox, &[], 1, 2);
    assert_eq!(sandbox.read("side"), "other\n");
    sandbox.write("flow.yaml", &CHAIN.replace("echo side", "echo other").replace("run: sort", "run: sort -s"));
    expect(&sandbox, &[], 1, 2);
}

#[test]
fn a_changed_environment_runs_its_task_and_a_changed_request_does_not() {
    let sandbox = done_chain();
    sandbox.write("flow.yaml", &CHAIN.replace("out: side", "out: side, cpus: 0.5, retries: 3, priority: 2"));
    expect(&sandbox, &[], 0, 3);
    sandbox.write("flow.yaml", &CHAIN.replace("out: side", "out: side, env: { LC_ALL: C }"));
    expect(&sandbox, &[], 1, 2);
}

#[test]
fn an_extended_foreach_runs_only_what_is_new() {
    let flow = |range: &str| {
        format!("tasks: {{ one: {{ foreach: {{ i: {range} }}, run: 'echo {{i}} > o{{i}}', out: 'o{{i}}' }} }}")
    };
    let sandbox = Sandbox::with_flow(&flow("5..8"));
    expect(&sandbox, &[], 4, 0);
    sandbox.write("flow.yaml", &flow("3..10"));
    expect(&sandbox, &[], 4, 4);
    sandbox.write("flow.yaml", &flow("[8, 11]"));
    expect(&sandbox, &[], 1, 1);
}

#[test]
fn a_new_file_runs_its_task_and_the_one_that_reads_all() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           count: { foreach: { f: 'texts/*' }, run: 'wc -l < {f} > n/{f.name}', in: '{f}', out: 'n/{f.name}' }
           sum: { run: cat n/* > all, in: [{ all: count }], out: all }",
    );
    sandbox.write("texts/a", "1\n");
    sandbox.write("texts/b", "1\n");
    expect(&sandbox, &[], 3, 0);
    sandbox.write("texts/c", "1\n2\n");
    expect(&sandbox, &[], 2, 2);
    assert_eq!(sandbox.read("all"), "1\n1\n2\n");
}

#[test]
fn a_deleted_file_that_nobody_needs_any_more_stays_deleted() {
    let sandbox = done_chain();
    std::fs::remove_file(sandbox.file("sorted")).unwrap();
    expect(&sandbox, &[], 0, 3);
    assert!(!sandbox.exists("sorted"));
}

#[test]
fn a_deleted_file_is_made_again_when_a_task_needs_it() {
    let sandbox = done_chain();
    std::fs::remove_file(sandbox.file("sorted")).unwrap();
    sandbox.write("flow.yaml", &CHAIN.replace("cat sorted sorted", "cat sorted"));
    expect(&sandbox, &[], 2, 1);
    assert_eq!(sandbox.read("last"), "a\nb\n");
}

#[test]
fn a_deleted_result_is_made_again() {
    let sandbox = done_chain();
    std::fs::remove_file(sandbox.file("last")).unwrap();
    expect(&sandbox, &[], 1, 2);
    assert_eq!(sandbox.read("last"), "a\nb\na\nb\n");
}

#[test]
fn a_failed_task_runs_again_in_the_next_run_and_then_what_was_skipped() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           good: { run: touch good, out: good }
           bad: { run: test -e fixed; touch x, out: x }
           behind: { run: cp x y, in: x, out: y }",
    );
    let result = sandbox.run(&[]).expect_code(1);
    assert_eq!((result.number("failed"), result.number("skipped")), (1, 1));
    let result = sandbox.run(&[]).expect_code(1);
    assert_eq!((result.number("failed"), result.number("up_to_date")), (1, 1));
    sandbox.write("fixed", "");
    expect(&sandbox, &[], 2, 1);
}

#[test]
fn a_task_without_files_that_failed_when_run_again_is_not_up_to_date() {
    let sandbox = Sandbox::with_flow("tasks: { check: { run: test ! -e broken } }");
    expect(&sandbox, &[], 1, 0);
    sandbox.write("broken", "");
    sandbox.run(&["--rerun", "check"]).expect_code(1);
    sandbox.run(&[]).expect_code(1);
}

#[test]
fn a_run_that_stopped_at_a_failure_goes_on_where_it_was() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           first: { run: echo first >> ran }
           bad: { run: test -e fixed }
           rest: { foreach: { i: 1..3 }, run: echo rest >> ran }",
    );
    sandbox.run(&["--width", "1", "--fail-fast"]).expect_code(1);
    assert_eq!(sandbox.read("ran"), "first\n");
    sandbox.write("fixed", "");
    expect(&sandbox, &["--width", "1"], 4, 1);
    assert_eq!(sandbox.read("ran"), "first\nrest\nrest\nrest\n");
}

// Files that Throng did not make.

#[test]
fn an_output_edited_by_hand_is_made_again_and_the_edited_one_kept() {
    let sandbox = done_chain();
    sandbox.write("side", "my own words\n");
    expect(&sandbox, &[], 1, 2);
    assert_eq!(sandbox.read("side"), "side\n");
    assert_eq!(sandbox.read(".throng/kept/2/side"), "my own words\n");
}

#[test]
fn a_file_that_throng_did_not_make_is_kept_aside_before_its_task_runs() {
    let sandbox = Sandbox::with_flow(CHAIN);
    sandbox.write("source", "b\na\n");
    sandbox.write("last", "precious\n");
    expect(&sandbox, &[], 3, 0);
    assert_eq!(sandbox.read("last"), "a\nb\na\nb\n");
    assert_eq!(sandbox.read(".throng/kept/1/last"), "precious\n");
}

#[test]
fn adopt_takes_over_files_that_throng_did_not_make() {
    let sandbox = Sandbox::with_flow(CHAIN);
    for name in ["source", "sorted", "last", "side"] {
        sandbox.write(name, name);
    }
    expect(&sandbox, &["--adopt"], 0, 3);
    assert_eq!(sandbox.read("last"), "last");
    expect(&sandbox, &[], 0, 3);
    touch(&sandbox, "source");
    expect(&sandbox, &[], 2, 1);
}

#[test]
fn adopt_runs_what_has_no_files_yet_and_what_depends_on_it() {
    let sandbox = Sandbox::with_flow(CHAIN);
    for name in ["source", "last", "side"] {
        sandbox.write(name, name);
    }
    expect(&sandbox, &["--adopt"], 2, 1);
    assert_eq!(sandbox.read("last"), "source\nsource\n");
    expect(&sandbox, &[], 0, 3);
}

#[test]
fn adopt_takes_over_files_of_a_task_that_only_comes_after_one_that_runs() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           prepare: { run: echo prepared >> ran }
           result: { run: echo new > result, out: result, after: prepare }",
    );
    sandbox.write("result", "old");
    expect(&sandbox, &["--adopt"], 1, 1);
    assert_eq!(sandbox.read("result"), "old");
}

#[test]
fn adopt_does_not_take_what_an_older_command_made_for_the_work_of_a_new_one() {
    let sandbox = done_chain();
    sandbox.write("flow.yaml", &CHAIN.replace("echo side", "echo other"));
    expect(&sandbox, &["--adopt"], 1, 2);
    assert_eq!(sandbox.read("side"), "other\n");
}

// What somebody asks for.

#[test]
fn another_size_is_expected_and_nothing_runs() {
    let flow = |sizes: [&str; 2]| {
        format!(
            "tasks: {{ sort: {{ run: sort source > sorted, in: [{{ path: source, size: {} }}], \
                                out: [{{ path: sorted, size: {} }}] }} }}",
            sizes[0], sizes[1]
        )
    };
    let sandbox = Sandbox::with_flow("tasks: { sort: { run: sort source > sorted, in: source, out: sorted } }");
    sandbox.write("source", "b\na\n");
    expect(&sandbox, &[], 1, 0);
    for sizes in [["4", "4"], ["12MB", "1GB"]] {
        sandbox.write("flow.yaml", &flow(sizes));
        expect(&sandbox, &[], 0, 1);
    }
}

#[test]
fn fresh_does_everything_again() {
    let sandbox = done_chain();
    expect(&sandbox, &["--fresh"], 3, 0);
    expect(&sandbox, &[], 0, 3);
}

#[test]
fn rerun_runs_a_task_that_is_up_to_date() {
    let sandbox = done_chain();
    expect(&sandbox, &["--rerun", "twice"], 1, 2);
    expect(&sandbox, &["--rerun", "sort"], 1, 2);
    expect(&sandbox, &["--rerun", "twice", "--rerun", "side"], 2, 1);
    expect(&sandbox, &[], 0, 3);
}

#[test]
fn a_task_that_only_comes_after_one_that_runs_again_stays_up_to_date() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           prepare: { run: echo prepared >> ran }
           result: { run: echo new > result, out: result, after: prepare }
           reader: { run: cp result copy, in: result, out: copy, after: prepare }",
    );
    expect(&sandbox, &[], 3, 0);
    expect(&sandbox, &["--rerun", "prepare"], 1, 2);
    expect(&sandbox, &["--rerun", "prepare", "--rerun", "reader"], 2, 1);
}

#[test]
fn rerun_of_a_name_runs_all_its_tasks_and_of_one_only_that() {
    let sandbox = Sandbox::with_flow("tasks: { t: { foreach: { i: 1..4 }, run: 'echo {i} >> ran{i}' } }");
    expect(&sandbox, &[], 4, 0);
    expect(&sandbox, &["--rerun", "t:3"], 1, 3);
    expect(&sandbox, &["--rerun", "t"], 4, 0);
    assert_eq!(["ran2", "ran3"].map(|file| sandbox.read(file).lines().count()), [2, 3]);
}

#[test]
fn a_target_runs_what_it_needs_and_nothing_else() {
    let sandbox = Sandbox::with_flow(CHAIN);
    sandbox.write("source", "b\na\n");
    expect(&sandbox, &["sorted"], 1, 0);
    assert!(!sandbox.exists("last") && !sandbox.exists("side"));
    expect(&sandbox, &["twice"], 1, 1);
    expect(&sandbox, &["./side", "last"], 1, 2);
    expect(&sandbox, &[], 0, 3);
}

#[test]
fn a_target_that_was_deleted_is_made_again_though_everybody_has_read_it() {
    let sandbox = done_chain();
    std::fs::remove_file(sandbox.file("sorted")).unwrap();
    expect(&sandbox, &["sorted"], 1, 0);
    assert_eq!(sandbox.read("sorted"), "a\nb\n");
}

#[test]
fn an_unknown_target_gives_exit_code_2_and_a_suggestion() {
    let sandbox = Sandbox::with_flow(CHAIN);
    sandbox.write("source", "b\na\n");
    for (wrong, right) in [("sorteed", "sorted"), ("twize", "twice")] {
        let result = sandbox.run(&[wrong]).expect_code(2);
        assert!(result.stderr.contains(&format!("did you mean `{right}`?")), "{}", result.stderr);
        sandbox.run(&["--rerun", wrong]).expect_code(2);
    }
    assert!(!sandbox.exists(".throng"));
}

#[test]
fn a_dry_run_says_what_would_run_and_why() {
    let sandbox = Sandbox::with_flow(CHAIN);
    sandbox.write("source", "b\na\n");
    let first = sandbox.throng(&["run", "flow.yaml", "--dry-run"]).expect_code(0).stdout;
    assert!(first.contains("sort   it has not been done yet\n"), "{first}");
    assert!(first.ends_with("3 of 3 tasks would run, 0 up to date\n"), "{first}");
    expect(&sandbox, &[], 3, 0);
    assert_eq!(dry_run(&sandbox, &[]), []);

    let because = |task: &str, why: &str| (task.to_owned(), why.to_owned());
    let maybe = because("twice", "a task before it runs, if that makes something new");
    touch(&sandbox, "source");
    assert_eq!(dry_run(&sandbox, &[]), [because("sort", "an input has changed"), maybe.clone()]);
    let asked = [because("sort", "you asked for it"), maybe];
    assert_eq!(dry_run(&sandbox, &["--rerun", "sort"]), asked);
    assert_eq!(dry_run(&sandbox, &["side"]), []);
    expect(&sandbox, &[], 1, 2);
    sandbox.write("side", "edited");
    assert_eq!(dry_run(&sandbox, &[]), [because("side", "an output is not what it made")]);
    std::fs::remove_file(sandbox.file("side")).unwrap();
    assert_eq!(dry_run(&sandbox, &[]), [because("side", "an output is missing")]);
    expect(&sandbox, &[], 1, 2);
    std::fs::remove_file(sandbox.file("sorted")).unwrap();
    sandbox.write("flow.yaml", &CHAIN.replace("cat sorted sorted", "cat sorted"));
    let sort = because("sort", "an output is missing that another task needs");
    assert_eq!(
        dry_run(&sandbox, &[]),
        [sort, because("twice", "its command, environment or list of files has changed")]
    );
    assert_eq!(dry_run(&sandbox, &["--fresh"]).len(), 3);
}

#[test]
fn a_dry_run_changes_nothing_at_all() {
    let sandbox = Sandbox::with_flow(CHAIN);
    sandbox.write("source", "b\na\n");
    sandbox.run(&["--dry-run"]).expect_code(0);
    assert!(!sandbox.exists(".throng"));
    expect(&sandbox, &[], 3, 0);
    sandbox.write("side", "edited");
    touch(&sandbox, "source");
    let before = everything(sandbox.path());
    for flags in [&[][..], &["--fresh"], &["--adopt"], &["--rerun", "twice"], &["--verify", "content"], &["last"]] {
        let all: Vec<&str> = ["--dry-run"].iter().chain(flags).copied().collect();
        sandbox.run(&all).expect_code(0);
        assert!(everything(sandbox.path()) == before, "{flags:?} changed something");
    }
}

// Where the state is, and who may use it.

#[test]
fn two_workflows_in_one_directory_do_not_disturb_each_other() {
    let sandbox = Sandbox::new();
    let flow = |word: &str| format!("tasks: {{ make: {{ run: echo {word} > {word}, out: {word} }} }}");
    sandbox.write("one.yaml", &flow("one"));
    sandbox.write("two.yaml", &flow("two"));
    let done = |file: &str, flags: &[&str]| {
        let all: Vec<&str> = ["run", file, "--json"].iter().chain(flags).copied().collect();
        sandbox.throng(&all).expect_code(0).number("done")
    };
    assert_eq!([done("one.yaml", &[]), done("two.yaml", &[])], [1, 1]);
    assert_eq!([done("one.yaml", &[]), done("two.yaml", &[])], [0, 0]);
    sandbox.write("two.yaml", &flow("too"));
    assert_eq!([done("two.yaml", &[]), done("one.yaml", &[])], [1, 0]);
    assert_eq!([done("two.yaml", &["--rerun", "make"]), done("one.yaml", &[])], [1, 0]);
    sandbox.throng(&["clean", "two.yaml"]).expect_code(0);
    assert_eq!([done("one.yaml", &[]), done("two.yaml", &[])], [0, 1]);
}

#[test]
fn fresh_forgets_only_the_workflow_it_is_given() {
    let sandbox = Sandbox::with_flow(CHAIN);
    sandbox.write("source", "b\na\n");
    sandbox.write("other.yaml", "tasks: { other: { run: touch other, out: other } }");
    expect(&sandbox, &[], 3, 0);
    sandbox.throng(&["run", "other.yaml", "--fresh"]).expect_code(0);
    expect(&sandbox, &[], 0, 3);
}

#[test]
fn the_state_may_lie_elsewhere() {
    let sandbox = Sandbox::with_flow(CHAIN);
    sandbox.write("source", "b\na\n");
    expect(&sandbox, &["--state", "deep/state"], 3, 0);
    assert!(!sandbox.exists(".throng") && sandbox.exists("deep/state/journal"));
    expect(&sandbox, &["--state", "deep/../deep/state"], 0, 3);
    let absolute = sandbox.file("deep/state");
    let state = ["--state", absolute.to_str().unwrap()];
    expect(&sandbox, &state, 0, 3);
    let with_state = |arguments: &[&'static str]| {
        let all: Vec<&str> = arguments.iter().copied().chain(state).collect();
        sandbox.throng(&all).expect_code(0).stdout
    };
    assert_eq!(with_state(&["runs"]).lines().count(), 3);
    assert!(with_state(&["status", "1", "sort"]).contains("ended: done"));
    assert_eq!(with_state(&["logs", "1", "sort"]), "");
    assert!(with_state(&["clean", "flow.yaml"]).contains("3 files deleted"));
    assert!(sandbox.exists("source") && !sandbox.exists("last"));
}

#[test]
fn a_second_engine_on_the_same_state_is_refused() {
    let sandbox = Sandbox::with_flow(
        "tasks: { wait: { run: 'touch started; until [ -e go ]; do sleep 0.01; done', timeout: 20s } }",
    );
    let first = sandbox.start(&["run", "flow.yaml"]);
    wait_until("the first run", || sandbox.exists("started"));
    let second = sandbox.run(&[]).expect_code(2);
    assert!(second.stderr.contains(&format!("another run is using {}", sandbox.file(".throng").display())));
    assert!(second.stderr.contains(&format!("process {}", first.id())), "{}", second.stderr);
    sandbox.throng(&["clean", "flow.yaml"]).expect_code(2);
    assert!(sandbox.throng(&["status"]).expect_code(0).stdout.contains("running"));
    sandbox.write("go", "");
    finish(first).expect_code(0);
    expect(&sandbox, &[], 0, 1);
}

// Cleaning.

#[test]
fn clean_deletes_what_throng_made_and_nothing_else() {
    let sandbox = done_chain();
    sandbox.write("side", "edited");
    let before = sandbox.files();
    let would = sandbox.throng(&["clean", "flow.yaml", "--dry-run"]).expect_code(0).stdout;
    assert!(would.contains("would delete last\n") && would.contains("would delete sorted\n"), "{would}");
    assert!(would.contains("kept side") && would.ends_with("2 files would be deleted, 1 kept\n"), "{would}");
    assert_eq!(sandbox.files(), before);
    expect(&sandbox, &["last"], 0, 2);

    let said = sandbox.throng(&["clean", "flow.yaml"]).expect_code(0).stdout;
    assert!(said.ends_with("2 files deleted, 1 kept\n"), "{said}");
    let left: Vec<String> = sandbox.files().into_iter().map(|(name, _)| name).collect();
    assert_eq!(left, ["flow.yaml", "side", "source"]);
    expect(&sandbox, &[], 3, 0);
}

#[test]
fn clean_runs_deletes_what_is_kept_of_all_runs_but_the_last() {
    let sandbox = done_chain();
    sandbox.write("side", "edited");
    expect(&sandbox, &[], 1, 2);
    sandbox.write(".throng/aside/2/half", "half");
    expect(&sandbox, &[], 0, 3);
    let before = everything(&sandbox.file(".throng/runs"));
    let would = sandbox.throng(&["clean", "flow.yaml", "--runs", "--dry-run"]).expect_code(0).stdout;
    assert!(would.starts_with("2 runs would be deleted"), "{would}");
    assert!(everything(&sandbox.file(".throng/runs")) == before && sandbox.exists(".throng/aside/2"));

    sandbox.throng(&["clean", "flow.yaml", "--runs"]).expect_code(0);
    assert_eq!(sandbox.throng(&["runs"]).expect_code(0).stdout.lines().count(), 1);
    assert!(!sandbox.exists(".throng/aside/2") && sandbox.exists("last"));
    assert_eq!(sandbox.read(".throng/kept/2/side"), "edited", "what is somebody else's is never deleted");
    expect(&sandbox, &[], 0, 3);
    assert_eq!(sandbox.throng(&["status", "--json"]).expect_code(0).number("run"), 4);
}

#[test]
fn clean_where_nothing_has_run_makes_nothing() {
    let sandbox = Sandbox::with_flow(CHAIN);
    sandbox.write("source", "");
    sandbox.throng(&["clean", "flow.yaml"]).expect_code(0);
    assert!(!sandbox.exists(".throng"));
}

#[test]
fn an_interrupted_fresh_run_goes_on_as_one() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           first: { run: 'echo first > first; test -e go', out: first }
           second: { run: cp first second, in: first, out: second }",
    );
    sandbox.write("go", "");
    expect(&sandbox, &[], 2, 0);
    std::fs::remove_file(sandbox.file("go")).unwrap();
    sandbox.run(&["--fresh"]).expect_code(1);
    sandbox.write("go", "");
    expect(&sandbox, &[], 2, 0);
    assert!(!sandbox.exists(".throng/aside/2/second"), "what Throng made is not kept as if it were somebody else's");
}

#[test]
fn fresh_with_a_target_forgets_only_what_the_target_needs() {
    let sandbox = Sandbox::with_flow("tasks: { a: { run: touch a, out: a }, b: { run: touch b, out: b } }");
    expect(&sandbox, &[], 2, 0);
    expect(&sandbox, &["a", "--fresh"], 1, 0);
    expect(&sandbox, &[], 0, 2);
}

#[test]
fn the_largest_input_counts_whether_it_is_made_here_or_not() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           t: { foreach: { f: [f10, f9000, f500] }, run: 'echo {f} >> order', in: '{f}' }",
    );
    for size in [10, 9000, 500] {
        sandbox.write(&format!("f{size}"), &"x".repeat(size));
    }
    sandbox.run(&["--width", "1", "--order", "largest"]).expect_code(0);
    assert_eq!(sandbox.read("order"), "f9000\nf500\nf10\n");
}
