//! What a run with a memory tier leaves when it is killed, copied or robbed, and what the next one makes of it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod sandbox;

use std::path::Path;
use std::process::{Child, Command};

use rustix::process::Signal;
use sandbox::storage::Storage;
use sandbox::*;

const FILES: usize = 6;

/// Each task waits for leave to end.
const PATIENT: &str = r#"
tasks:
  read:
    foreach: { i: 1..6 }
    run: "echo $$ > pid.{i}; while [ ! -e go ]; do sleep 0.01; done; cat data/{i} > out/{i}"
    in: ["data/{i}"]
    out: ["out/{i}"]
"#;

fn storage() -> Storage {
    Storage::new(FILES, 1000)
}

fn start(sandbox: &Sandbox, storage: &Storage, rest: &[&str]) -> Child {
    let flags = storage.with_tier("1MB", rest);
    let child = sandbox
        .start(&["run", "flow.yaml", "--quiet", "--width", "2"].iter().chain(&flags).copied().collect::<Vec<_>>());
    wait_until("two tasks", || pids(sandbox).len() == 2);
    child
}

/// The processes of tasks, as far as they have told.
fn pids(sandbox: &Sandbox) -> Vec<u32> {
    let told = (1..=FILES).filter_map(|number| std::fs::read_to_string(sandbox.file(&format!("pid.{number}"))).ok());
    told.filter_map(|pid| pid.trim().parse().ok()).collect()
}

fn kill(mut child: Child) {
    signal(child.id(), Signal::KILL);
    child.wait().unwrap();
}

fn copy(from: &Sandbox) -> Sandbox {
    let to = Sandbox::new();
    let from = format!("{}/.", from.path().display());
    let copied = Command::new("cp").args(["-a", &from]).arg(to.path()).status().unwrap();
    assert!(copied.success());
    to
}

#[track_caller]
fn expect_all_read(sandbox: &Sandbox, storage: &Storage) {
    for number in 1..=FILES {
        let (made, stored) = (sandbox.file(&format!("out/{number}")), storage.file(&format!("data/{number}")));
        assert_eq!(std::fs::read(made).unwrap(), std::fs::read(stored).unwrap(), "{number}");
    }
}

fn links(sandbox: &Sandbox) -> usize {
    let is_link = |path: &Path| path.symlink_metadata().is_ok_and(|found| found.is_symlink());
    sandbox.file("data").read_dir().map_or(0, |found| found.flatten().filter(|entry| is_link(&entry.path())).count())
}

#[test]
fn a_copy_of_a_live_runs_directory_leaves_the_run_alone() {
    let storage = storage();
    let original = Sandbox::with_flow(PATIENT);
    let child = start(&original, &storage, &[]);
    let copy = copy(&original);
    assert!(links(&copy) > 0);
    copy.write("go", "");
    // The copied links lead into a tier that is not the copy's.
    let told = copy.run(&storage.with_tier("1MB", &[])).expect_code(2).stderr;
    assert!(told.contains("the memory tier of a run that goes on") && told.contains("delete such links"), "{told}");
    std::fs::remove_dir_all(copy.file("data")).unwrap();
    copy.run(&storage.with_tier("1MB", &[])).expect_code(0);
    expect_all_read(&copy, &storage);
    assert!(links(&original) > 0 && storage.tier_count() == 1, "the original's links and tier are still there");
    original.write("go", "");
    let output = finish(child).expect_code(0);
    assert!(!output.stderr.contains("failed"), "{output:?}");
    expect_all_read(&original, &storage);
    assert_eq!((storage.tier_count(), links(&original)), (0, 0));
}

#[test]
fn a_copy_of_a_live_runs_directory_does_not_end_its_tasks() {
    let original =
        Sandbox::with_flow("tasks: { wait: { run: 'touch begun; while [ ! -e go ]; do sleep 0.01; done' } }");
    let child = original.start(&["run", "flow.yaml", "--quiet"]);
    wait_until("the task", || original.exists("begun"));
    let copy = copy(&original);
    copy.write("go", "");
    copy.run(&[]).expect_code(0);
    original.write("go", "");
    finish(child).expect_code(0);
}

#[test]
fn the_same_state_is_for_one_run_at_a_time() {
    let storage = storage();
    let sandbox = Sandbox::with_flow(PATIENT);
    let child = start(&sandbox, &storage, &[]);
    let told = sandbox.run(&storage.with_tier("1MB", &[])).expect_code(2).stderr;
    assert!(told.contains("another run is using"), "{told}");
    sandbox.write("go", "");
    finish(child).expect_code(0);
    expect_all_read(&sandbox, &storage);
}

#[test]
fn links_without_a_state_are_not_mistaken_for_data() {
    let storage = storage();
    let sandbox = Sandbox::with_flow(PATIENT);
    kill(start(&sandbox, &storage, &[]));
    assert!(links(&sandbox) > 0 && storage.tier_count() == 1);
    pids(&sandbox).into_iter().for_each(|pid| signal(pid, Signal::KILL));
    std::fs::remove_dir_all(sandbox.file(".throng")).unwrap();
    for number in 1..=FILES {
        std::fs::write(storage.file(&format!("data/{number}")), format!("new {number}")).unwrap();
    }
    sandbox.write("go", "");
    let output = sandbox.run(&storage.with_tier("1MB", &[])).expect_code(0);
    assert_eq!(output.number("done"), FILES as u64);
    expect_all_read(&sandbox, &storage);
    assert_eq!((storage.tier_count(), links(&sandbox)), (0, 0));
}

#[test]
fn a_left_link_is_no_file_for_a_pattern() {
    let storage = storage();
    let flow = PATIENT.replace("{ i: 1..6 }", r#"{ f: "data/*" }"#).replace("{i}", "{f.name}");
    let sandbox = Sandbox::with_flow(&flow);
    kill(start(&sandbox, &storage, &[]));
    let left = (1..=FILES).find(|number| sandbox.file(&format!("data/{number}")).symlink_metadata().is_ok()).unwrap();
    std::fs::remove_file(storage.file(&format!("data/{left}"))).unwrap();
    sandbox.write("go", "");
    let output = sandbox.run(&storage.with_tier("1MB", &[])).expect_code(0);
    assert_eq!(output.number("done"), FILES as u64 - 1, "{output:?}");
}

#[test]
fn clean_takes_away_what_a_killed_run_has_left() {
    let storage = storage();
    let sandbox = Sandbox::with_flow(PATIENT);
    kill(start(&sandbox, &storage, &[]));
    sandbox.write("go", "");
    sandbox.throng(&["clean", "flow.yaml", "--dry-run", "--storage", storage.path()]).expect_code(0);
    assert_eq!(storage.tier_count(), 1, "a trial changes nothing");
    sandbox.throng(&["clean", "flow.yaml", "--storage", storage.path()]).expect_code(0);
    assert_eq!((storage.tier_count(), links(&sandbox)), (0, 0));
}

#[test]
fn a_tier_that_is_taken_away_fails_the_tasks_that_need_it() {
    let storage = storage();
    let sandbox = Sandbox::with_flow(&format!(
        "tasks: {{ thief: {{ run: 'rm -r {}/*; touch thief', out: thief, in: data/1 }}, victim: {{ run: 'cat data/2', in: data/2, after: thief }} }}",
        storage.tiers().display()
    ));
    let output = sandbox.run(&storage.with_tier("1MB", &["--width", "1"])).expect_code(1);
    assert!(output.stderr.contains("the directory of the memory tier is not there any more"), "{output:?}");
    assert_eq!(links(&sandbox), 0);
    let again = sandbox.run(&storage.with_tier("1MB", &[])).expect_code(0);
    assert_eq!((again.number("done"), again.number("up_to_date")), (1, 1));
}

#[test]
fn a_copy_that_somebody_has_changed_is_brought_again() {
    let storage = storage();
    let sandbox = Sandbox::with_flow(
        "tasks: { vandal: { run: 'f=$(readlink data/1); chmod u+w $f; echo spoilt >> $f; touch vandal', out: vandal, in: data/1 }, reader: { run: 'cat data/1 > read', out: read, in: data/1, after: vandal } }",
    );
    sandbox.run(&storage.with_tier("1MB", &["--width", "1"])).expect_code(0);
    assert_eq!(std::fs::read(sandbox.file("read")).unwrap(), std::fs::read(storage.file("data/1")).unwrap());
}
