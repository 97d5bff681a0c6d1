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
    run: "echo $$ > pid.{i}; while [ ! -e go ] && [ -e flow.yaml ]; do sleep 0.01; done; cat data/{i} > out/{i}"
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

/// Whether a process has not ended, reaped or not.
fn is_alive(pid: u32) -> bool {
    throng_runtime::process::look_at(pid as i32).is_some_and(|seen| !seen.is_zombie)
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
    let original = Sandbox::with_flow(
        "tasks: { wait: { run: 'touch begun; while [ ! -e go ] && [ -e flow.yaml ]; do sleep 0.01; done' } }",
    );
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
fn clean_takes_links_away_even_if_the_state_is_gone() {
    let storage = storage();
    let sandbox = Sandbox::with_flow(PATIENT);
    kill(start(&sandbox, &storage, &[]));
    sandbox.write("go", "");
    pids(&sandbox).into_iter().for_each(|pid| signal(pid, Signal::KILL));
    std::fs::remove_dir_all(sandbox.file(".throng")).unwrap();
    let arguments = ["clean", "flow.yaml", "--storage", storage.path()];
    let cleaned = sandbox.throng(&arguments).expect_code(0).stdout;
    assert!(cleaned.contains("of a dead run deleted"), "{cleaned}");
    assert_eq!((storage.tier_count(), links(&sandbox)), (0, 0));
    assert!(sandbox.throng(&arguments).expect_code(0).stdout.contains("nothing to delete"));
}

#[test]
fn a_tier_that_is_taken_away_fails_the_tasks_that_need_it() {
    let storage = storage();
    let sandbox = Sandbox::with_flow(&format!(
        "tasks: {{ thief: {{ run: 'rm -r {}/*; touch thief', out: thief }}, victim: {{ run: 'cat data/2', in: data/2, after: thief }} }}",
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
    let sandbox = Sandbox::with_flow(&format!(
        "tasks: {{ first: {{ run: 'cat data/1', in: data/1 }}, \
         vandal: {{ run: 'chmod u+w {tiers}/*/*; for f in {tiers}/*/*; do echo spoilt >> $f; done', after: first }}, \
         reader: {{ run: 'cat data/1 > read', out: read, in: data/1, after: vandal }} }}",
        tiers = storage.tiers().display()
    ));
    sandbox.run(&storage.with_tier("1MB", &["--width", "1"])).expect_code(0);
    assert_eq!(std::fs::read(sandbox.file("read")).unwrap(), std::fs::read(storage.file("data/1")).unwrap());
}

#[test]
fn nobody_is_done_who_read_what_was_not_brought() {
    let storage = storage();
    let flow = r#"
tasks:
  vandal: { run: "while [ $(ls begun | wc -l) -lt 3 ]; do sleep 0.01; done; chmod u+w $(readlink {in}); echo junk >> {in}; touch go {out}", in: data/1, out: v }
  reader: { foreach: { i: 1..3 }, run: "touch begun/{i}; while [ ! -e go ] && [ -e flow.yaml ]; do sleep 0.01; done; cat {in} > {out}", in: data/1, out: "o/{i}" }
"#;
    let sandbox = Sandbox::with_flow(flow);
    std::fs::create_dir(sandbox.file("begun")).unwrap();
    let output = sandbox.run(&storage.with_tier("1MB", &["--width", "4"])).expect_code(1);
    assert_eq!(output.number("failed"), 4, "{output:?}");
    assert!(output.stderr.contains("was changed or taken away while it ran"), "{output:?}");
    sandbox.write("flow.yaml", &flow.replace("chmod u+w $(readlink {in}); echo junk >> {in}; ", ""));
    sandbox.run(&storage.with_tier("1MB", &["--width", "4"])).expect_code(0);
    assert_eq!(std::fs::read(sandbox.file("o/2")).unwrap(), std::fs::read(storage.file("data/1")).unwrap());
}

#[test]
fn what_tasks_make_of_links_outlives_the_tier() {
    let storage = storage();
    let sandbox = Sandbox::with_flow(
        r#"
tasks:
  copy: { run: "cp -a {in} {out}", in: data/1, out: copied }
  link: { run: "ln -s {in} {out}", in: data/2, out: linked }
  move: { run: "mv {in} {out}", in: data/3, out: moved, after: [copy, link] }
  tree: { run: "mkdir -p {out}/deep; cp -a {in} {out}/deep", in: [data/4, data/5], out: tree }
  read: { run: "cat copied linked moved tree/deep/* > {out}", in: [{ all: copy }, { all: link }, { all: move }, { all: tree }], out: all }
"#,
    );
    let flags = storage.with_tier("3kB", &[]);
    sandbox.run(&flags).expect_code(0);
    let stored: Vec<u8> =
        (1..=5).flat_map(|number| std::fs::read(storage.file(&format!("data/{number}"))).unwrap()).collect();
    assert_eq!(std::fs::read(sandbox.file("all")).unwrap(), stored);
    for made in ["copied", "linked", "moved", "tree/deep/4"] {
        assert!(!sandbox.file(made).is_symlink() && sandbox.exists(made), "{made}");
    }
    let again = sandbox.run(&flags).expect_code(0);
    assert_eq!(again.number("up_to_date"), 5, "{again:?}");
    let cleaned = sandbox.throng(&["clean", "flow.yaml", "--storage", storage.path()]).expect_code(0).stdout;
    assert!(cleaned.contains("5 files deleted"), "{cleaned}");
}

#[test]
fn places_where_no_link_can_stand_are_refused_before_anything_starts() {
    let storage = storage();
    let sandbox =
        Sandbox::with_flow("tasks: { a: { run: 'cat data/1', in: data/1 }, b: { run: 'ls data', in: data } }");
    sandbox.write("data/own", "");
    let told = sandbox.run(&storage.with_tier("1MB", &[])).expect_code(2).stderr;
    assert!(told.contains("lies in `data`, which is read as a whole") && told.contains("name the files"), "{told}");
    std::fs::remove_dir_all(sandbox.file("data")).unwrap();
    sandbox.write("data", "a file");
    sandbox.write("flow.yaml", "tasks: { a: { run: 'cat data/1', in: data/1 } }");
    let told = sandbox.run(&storage.with_tier("1MB", &[])).expect_code(2).stderr;
    assert!(told.contains("cannot make a link for the input `data/1`"), "{told}");
    assert!(!sandbox.exists(".throng"));
}

#[test]
fn a_run_that_was_moved_leaves_the_one_in_its_place_alone() {
    let storage = storage();
    let around = Sandbox::new();
    let flags = |name: &str| {
        let file = format!("{name}/flow.yaml");
        [
            &["run".to_owned(), file, "--quiet".to_owned()][..],
            &storage.with_tier("1MB", &[]).into_iter().map(str::to_owned).collect::<Vec<_>>(),
        ]
        .concat()
    };
    let begin = |name: &str| {
        around.write(&format!("{name}/flow.yaml"), PATIENT);
        let arguments = flags(name);
        let child = around.start(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
        wait_until("a task", || (1..=FILES).any(|number| around.exists(&format!("{name}/pid.{number}"))));
        child
    };
    let first = begin("p");
    std::fs::rename(around.file("p"), around.file("moved")).unwrap();
    let second = begin("p");
    around.write("moved/go", "");
    let told = finish(first).stderr;
    assert!(told.contains("was moved or replaced while the run went on"), "{told}");
    around.write("p/go", "");
    finish(second).expect_code(0);
    assert_eq!(std::fs::read(around.file("p/out/6")).unwrap(), std::fs::read(storage.file("data/6")).unwrap());
    let arguments = flags("moved");
    around.throng(&arguments.iter().map(String::as_str).collect::<Vec<_>>()).expect_code(0);
    assert_eq!(std::fs::read(around.file("moved/out/6")).unwrap(), std::fs::read(storage.file("data/6")).unwrap());
    assert_eq!(storage.tier_count(), 0);
}

#[test]
fn processes_are_told_by_their_engine_wherever_directories_went() {
    let flow = "tasks: { wait: { run: 'echo $$ > pid; while [ ! -e go ] && [ -e flow.yaml ]; do sleep 0.01; done; touch {out}', out: o } }";
    let around = Sandbox::new();
    let begin = |name: &str| {
        around.write(&format!("{name}/flow.yaml"), flow);
        let child = around.start(&["run", &format!("{name}/flow.yaml"), "--quiet"]);
        wait_until("the task", || around.file(&format!("{name}/pid")).metadata().is_ok_and(|pid| pid.len() > 1));
        child
    };
    let pid = |name: &str| around.read(&format!("{name}/pid")).trim().parse::<u32>().unwrap();
    // The engine lives, and its directory has moved: a copy leaves its task alone.
    let first = begin("p");
    let copied = Command::new("cp").arg("-a").arg(around.file("p")).arg(around.file("copy")).status().unwrap();
    assert!(copied.success());
    std::fs::rename(around.file("p"), around.file("moved")).unwrap();
    around.write("copy/go", "");
    around.throng(&["run", "copy/flow.yaml"]).expect_code(0);
    assert!(is_alive(pid("moved")));
    // It is dead, and something else is in its place: its task is ended by whoever has its state.
    kill(first);
    around.write("p/flow.yaml", "tasks: { other: { run: 'true' } }");
    around.throng(&["run", "p/flow.yaml"]).expect_code(0);
    let left = pid("moved");
    around.write(
        "moved/flow.yaml",
        &flow.replace("echo $$ > pid; while [ ! -e go ] && [ -e flow.yaml ]; do sleep 0.01; done; ", ""),
    );
    around.throng(&["run", "moved/flow.yaml"]).expect_code(0);
    assert!(!is_alive(left));
}

#[test]
fn whoever_stops_a_run_early_finds_nothing_of_it() {
    let storage = storage();
    let sandbox = Sandbox::with_flow(&PATIENT.replace("run: \"", "run: \"touch go; "));
    for tenths_ms in (0..200).step_by(4) {
        let flags = storage.with_tier("1MB", &["--quiet"]);
        let child = sandbox.start(&["run", "flow.yaml"].iter().chain(&flags).copied().collect::<Vec<_>>());
        std::thread::sleep(std::time::Duration::from_micros(tenths_ms * 100));
        signal(child.id(), Signal::TERM);
        let code = finish(child).code;
        assert!([-1, 0, 3].contains(&code), "{code} after {tenths_ms} tenths of a millisecond");
        assert!(!sandbox.exists(".throng/tier"), "{code} after {tenths_ms} tenths of a millisecond");
        assert_eq!((storage.tier_count(), links(&sandbox)), (0, 0));
        let _ = std::fs::remove_dir_all(sandbox.file(".throng"));
    }
}
