//! Inputs are brought from slow storage into a bounded tier, and nothing of it stays.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic, and tells what it found")]

mod sandbox;

use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rustix::process::Signal;
use sandbox::storage::{Storage, expect_nothing_left};
use sandbox::*;
use throng_runtime::recording::Recording;
use throng_runtime::state::StateDirectory;

const FILES: usize = 12;
const FILE_BYTES: usize = 1_000_000;

/// Every file is put beside every other.
const PAIRS: &str = r#"
tasks:
  pair:
    foreach: { a: 1..12, b: 1..12 }
    run: "cat data/{a} data/{b} | cksum > pairs/{a}-{b}"
    in: ["data/{a}", "data/{b}"]
    out: ["pairs/{a}-{b}"]
"#;

fn tier(output: &Output, key: &str) -> u64 {
    output.json()["data"][key].as_u64().unwrap_or_else(|| panic!("no {key} in {output:?}"))
}

#[test]
fn aware_reads_less_than_fifo() {
    let storage = Storage::new(FILES, FILE_BYTES);
    let run = |flags: &[&str]| {
        let sandbox = Sandbox::with_flow(PAIRS);
        let output = sandbox.run(&storage.with_tier("4MB", flags)).expect_code(0);
        assert_eq!(output.number("done"), (FILES * FILES) as u64);
        expect_nothing_left(&sandbox, &storage);
        let state = StateDirectory::new(&sandbox.file(".throng"));
        let recording = Recording::read(&state.find_run("last").unwrap()).unwrap();
        recording.replay().unwrap_or_else(|error| panic!("{flags:?}: {error}"));
        let reads = (FILES * FILES * 2 - FILES) as u64;
        assert_eq!(tier(&output, "hits") + tier(&output, "misses"), reads, "a file beside itself is read once");
        assert_eq!(tier(&output, "brought_bytes"), tier(&output, "misses") * FILE_BYTES as u64);
        let expected = output.json()["data"]["expected"]["bytes"].as_u64().unwrap();
        let report: serde_json::Value =
            serde_json::from_str(&sandbox.throng(&["report", "--json"]).expect_code(0).stdout).unwrap();
        assert_eq!(report["data"], output.json()["data"]);
        (tier(&output, "brought_bytes"), expected, sandbox.files())
    };
    let (fifo, fifo_expected, fifo_files) = run(&["--order", "fifo", "--evict", "lru", "--width", "2"]);
    let (aware, aware_expected, aware_files) = run(&["--width", "2"]);
    assert!(fifo.abs_diff(fifo_expected) * 10 < fifo, "{fifo_expected} bytes were expected, and {fifo} came");
    assert!(aware_expected < fifo_expected && aware_expected <= 2 * aware, "{aware_expected} and {aware}");
    assert!(fifo_files == aware_files, "the order does not change results");
    let least = (FILES * FILE_BYTES) as u64;
    println!("fifo reads {fifo} bytes, aware {aware}, and each file once would be {least}");
    assert!(aware >= least);
    assert!(aware * 2 < fifo, "aware reads {aware} bytes, and fifo {fifo}");
}

#[test]
fn what_has_room_is_read_once() {
    let storage = Storage::new(FILES, 1000);
    let sandbox = Sandbox::with_flow(PAIRS);
    let output = sandbox.run(&storage.with_tier("1MB", &[])).expect_code(0);
    assert_eq!(tier(&output, "brought_bytes"), FILES as u64 * 1000);
    assert_eq!((tier(&output, "misses"), tier(&output, "dropped_bytes")), (FILES as u64, 0));
    expect_nothing_left(&sandbox, &storage);
    // What is only in the storage is compared like any other file.
    let again = sandbox.run(&storage.with_tier("1MB", &[])).expect_code(0);
    assert_eq!((again.number("up_to_date"), tier(&again, "brought_bytes")), (144, 0));
    std::fs::write(storage.file("data/3"), "something else").unwrap();
    let dry = sandbox.run(&storage.with_tier("1MB", &["--dry-run"])).expect_code(0);
    assert_eq!(dry.number("would_run"), 23, "{dry:?}");
    assert!(!sandbox.exists("data") && !sandbox.exists(".throng/tier"));
    let changed = sandbox.run(&storage.with_tier("1MB", &["--verify", "content"])).expect_code(0);
    assert_eq!((changed.number("done"), changed.number("up_to_date")), (23, 121));
}

#[test]
fn tasks_find_links_into_a_private_directory_and_cannot_spoil_them() {
    let storage = Storage::new(1, 100);
    let flow = r#"
tasks:
  look:
    run: "readlink data/1 > where; stat -c %a data/1 -L > mode; stat -c %a \"$(dirname $(readlink data/1))\" > private"
    in: [data/1]
    out: [where, mode, private]
"#;
    let sandbox = Sandbox::with_flow(flow);
    sandbox.run(&storage.with_tier("1kB", &[])).expect_code(0);
    assert!(Path::new(sandbox.read("where").trim()).starts_with(storage.tiers()));
    assert_eq!((sandbox.read("mode").trim(), sandbox.read("private").trim()), ("400", "700"));
    // Without a directory of its own, the tier is in memory.
    let sandbox = Sandbox::with_flow(flow);
    sandbox.run(&["--storage", storage.path(), "--memory-tier", "1kB"]).expect_code(0);
    let tier = sandbox.read("where");
    assert!(tier.starts_with("/dev/shm/throng-tier-") || tier.contains("/.throng/"), "{tier}");
    assert!(!Path::new(tier.trim()).parent().unwrap().exists());
}

#[test]
fn a_tier_smaller_than_the_inputs_of_one_task_is_refused() {
    let storage = Storage::new(FILES, 1000);
    let sandbox = Sandbox::with_flow(PAIRS);
    let output = sandbox.run(&storage.with_tier("1999", &[])).expect_code(2);
    let told = "reads 2000 bytes from the storage, and the memory tier has 1999";
    assert!(output.stderr.contains(told) && output.stderr.contains("at least 2000"), "{output:?}");
    assert!(!sandbox.exists(".throng") && !sandbox.exists("pairs"), "nothing has begun");
    sandbox.run(&storage.with_tier("2000", &[])).expect_code(0);
}

#[test]
fn a_missing_input_is_looked_for_in_both_places() {
    let storage = Storage::new(11, 1000);
    let sandbox = Sandbox::with_flow(PAIRS);
    let output = sandbox.run(&storage.with_tier("1MB", &[])).expect_code(2);
    let place = storage.file("data/12").display().to_string();
    let told = format!("the input `data/12` is not there, nor at {place}, and no task makes it");
    assert!(output.stderr.contains(&told), "{output:?}");
    let checked = sandbox.throng(&["check", "flow.yaml", "--storage", storage.path()]).expect_code(0).stdout;
    assert!(checked.contains("`data/12` is read, but not there"), "{checked}");

    // One that goes while the run goes on is a failure of the task that needs it.
    let flow = format!(
        r#"
tasks:
  first: {{ run: "rm {place}/data/1; touch first", in: [data/2], out: [first] }}
  second: {{ run: "cat data/1", in: [data/1], after: first, retries: 1 }}
"#,
        place = storage.path()
    );
    let sandbox = Sandbox::with_flow(&flow);
    let output = sandbox.run(&storage.with_tier("1MB", &["--width", "1"])).expect_code(1);
    let told =
        format!("it is neither at {} nor at {}", sandbox.file("data/1").display(), storage.file("data/1").display());
    assert!(output.stderr.contains(&told), "{output:?}");
    expect_nothing_left(&sandbox, &storage);
}

#[test]
fn a_killed_run_goes_on_and_leaves_nothing() {
    let storage = Storage::new(FILES, 100_000);
    let slow = PAIRS.replace("run: \"", "run: \"sleep 0.02; ");
    let sandbox = Sandbox::with_flow(&slow);
    let flags = storage.with_tier("400kB", &["--width", "2", "--quiet"]);
    let made = || sandbox.file("pairs").read_dir().map_or(0, |entries| entries.count());
    for more in [0, 1, 3, 9, 20] {
        let arguments: Vec<&str> = ["run", "flow.yaml"].iter().chain(&flags).copied().collect();
        let before = made();
        let mut child = sandbox.start(&arguments);
        wait_until("a tier", || storage.tier_count() > 0);
        wait_until("some results", || made() >= before + more);
        signal(child.id(), Signal::KILL);
        child.wait().unwrap();
        assert!(storage.tier_count() <= 1, "the next run takes away what the one before has left");
    }
    assert!(sandbox.exists(".throng/tier"), "the last one was killed in its midst");
    // Left links are no reason to think that anything has changed.
    let dry = sandbox.run(&[&flags[..], &["--dry-run"]].concat()).expect_code(0);
    let done = dry.number("up_to_date");
    assert!(done > 0 && dry.number("would_run") == 144 - done, "{dry:?}");
    let last = sandbox.run(&flags).expect_code(0);
    assert_eq!(last.number("done") + last.number("up_to_date"), 144);
    expect_nothing_left(&sandbox, &storage);

    // A run without a tier takes away what a killed one has left, too, and nothing else.
    let arguments: Vec<&str> = ["run", "flow.yaml", "--fresh"].iter().chain(&flags).copied().collect();
    let mut child = sandbox.start(&arguments);
    wait_until("a link", || sandbox.exists("data"));
    signal(child.id(), Signal::KILL);
    child.wait().unwrap();
    std::fs::create_dir_all(sandbox.file("data")).unwrap();
    sandbox.write("data/own", "a person's own");
    sandbox.run(&[]).expect_code(2);
    sandbox.write("flow.yaml", "tasks: { other: { run: 'true' } }");
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sandbox.read("data/own"), "a person's own");
    assert_eq!(std::fs::read_dir(sandbox.file("data")).unwrap().count(), 1);
    assert_eq!(storage.tier_count(), 0);
}

#[test]
fn a_stopped_run_leaves_nothing() {
    let storage = Storage::new(FILES, 100_000);
    let sandbox = Sandbox::with_flow(&PAIRS.replace("run: \"", "run: \"sleep 0.05; "));
    let flags = storage.with_tier("400kB", &["--width", "2"]);
    let child = sandbox.start(&["run", "flow.yaml"].iter().chain(&flags).copied().collect::<Vec<_>>());
    wait_until("a first result", || sandbox.file("pairs").read_dir().is_ok_and(|mut entries| entries.next().is_some()));
    signal(child.id(), Signal::TERM);
    let output = finish(child).expect_code(3);
    assert!(output.stderr.contains("--storage") && output.stderr.contains("--memory-tier 400000"), "{output:?}");
    expect_nothing_left(&sandbox, &storage);
}

#[test]
fn two_runs_do_not_disturb_each_other() {
    let storage = Storage::new(FILES, 100_000);
    let slow = PAIRS.replace("run: \"", "run: \"sleep 0.03; ");
    let (one, other) = (Sandbox::with_flow(&slow), Sandbox::with_flow(&slow));
    let flags = storage.with_tier("300kB", &["--json", "--quiet"]);
    let arguments: Vec<&str> = ["run", "flow.yaml"].iter().chain(&flags).copied().collect();
    let runs = [one.start(&arguments), other.start(&arguments)];
    wait_until("both tiers", || storage.tier_count() == 2);
    // A second one in the same directory would be in the way of the first one's links.
    let third = one.run(&storage.with_tier("300kB", &["--state", "elsewhere"])).expect_code(2);
    assert!(third.stderr.contains("another run with a memory tier"), "{third:?}");
    for run in runs {
        let output = finish(run).expect_code(0);
        assert_eq!(output.number("done"), 144);
    }
    assert!(
        one.files()
            .iter()
            .filter(|(name, _)| name.starts_with("pairs/"))
            .eq(other.files().iter().filter(|(name, _)| name.starts_with("pairs/")))
    );
    assert_eq!(storage.tier_count(), 0);
}

#[test]
fn what_lies_in_its_place_is_used_as_it_is() {
    let storage = Storage::new(FILES, 1000);
    let sandbox = Sandbox::with_flow(PAIRS);
    sandbox.write("data/1", "a person's own");
    std::os::unix::fs::symlink(storage.file("data/3"), sandbox.file("data/2")).unwrap();
    let output = sandbox.run(&storage.with_tier("1MB", &[])).expect_code(0);
    assert_eq!(tier(&output, "misses"), 10);
    assert_eq!(sandbox.read("data/1"), "a person's own");
    assert_eq!(std::fs::read_link(sandbox.file("data/2")).unwrap(), storage.file("data/3"));
    assert_eq!(
        std::fs::read_dir(sandbox.file("data")).unwrap().count(),
        2,
        "their directory stays, with what is theirs"
    );
    let own = std::process::Command::new("cksum").arg(sandbox.file("data/1")).output().unwrap();
    let twice = sandbox.read("pairs/1-1");
    let length = String::from_utf8_lossy(&own.stdout).split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 2;
    assert_eq!(twice.split_whitespace().nth(1).unwrap(), length.to_string());

    // Put there while the run goes on, it stays as well.
    let flow = r#"
tasks:
  first: { run: "mkdir -p data; rm -f data/2; echo own > data/2; touch first", in: [data/1], out: [first] }
  second: { run: "cat data/2 > second", in: [data/2], after: first, out: [second] }
"#;
    let sandbox = Sandbox::with_flow(flow);
    sandbox.run(&storage.with_tier("1kB", &["--width", "1"])).expect_code(0);
    assert_eq!((sandbox.read("second").as_str(), sandbox.read("data/2").as_str()), ("own\n", "own\n"));
}

#[test]
fn tasks_without_stored_inputs_do_not_wait_behind_those_with() {
    let storage = Storage::new(FILES, 1000);
    let flow = r#"
tasks:
  stored: { foreach: { i: 1..12 }, run: "sleep 0.3; cat data/{i} > s/{i}", in: ["data/{i}"], out: ["s/{i}"] }
  free:   { foreach: { i: 1..20 }, run: "echo {i} > f/{i}", out: ["f/{i}"] }
  behind: { foreach: { i: 1..20 }, run: "cat f/{i} > g/{i}", in: ["f/{i}"], out: ["g/{i}"] }
"#;
    let sandbox = Sandbox::with_flow(flow);
    let child = sandbox.start(
        &["run", "flow.yaml", "--quiet", "--json", "--width", "2"]
            .iter()
            .chain(&storage.with_tier("1kB", &[]))
            .copied()
            .collect::<Vec<_>>(),
    );
    let count = |name: &str| sandbox.file(name).read_dir().map_or(0, |entries| entries.count());
    // One task's data has room at a time, so that one slot is for the others.
    wait_until("all that need nothing", || count("g") == 20);
    assert!(count("s") < 12, "they had to wait for the others");
    finish(child).expect_code(0);
}

#[test]
fn a_pattern_of_file_names_looks_into_the_storage() {
    let storage = Storage::new(3, 100);
    let flow = r#"
tasks:
  copy: { foreach: { f: "data/*" }, run: "cat {in} > {out}", in: "{f}", out: "copies/{f.name}" }
"#;
    let sandbox = Sandbox::with_flow(flow);
    sandbox.write("data/own", "own");
    let output = sandbox.run(&storage.with_tier("1kB", &[])).expect_code(0);
    assert_eq!((output.number("done"), tier(&output, "misses")), (4, 3));
    assert_eq!(sandbox.read("copies/own"), "own");
    // Other commands look there, too.
    let cleaned = sandbox.throng(&["clean", "flow.yaml", "--storage", storage.path()]).expect_code(0).stdout;
    assert!(cleaned.contains("4 files deleted"), "{cleaned}");
}

#[test]
fn flags_that_do_not_fit_are_refused() {
    let storage = Storage::new(1, 10);
    let sandbox = Sandbox::with_flow("tasks: { a: { run: 'cat data/1', in: [data/1] } }");
    let told = |flags: &[&str], message: &str| {
        let output = sandbox.run(flags).expect_code(2);
        assert!(output.stderr.contains(message), "{message} is missing in {output:?}");
    };
    told(&["--memory-tier", "1MB", "--storage", "nowhere"], "cannot look into the storage nowhere");
    told(&["--memory-tier", "1MB", "--storage", "flow.yaml"], "is no directory");
    told(&["--storage", storage.path()], "add --memory-tier");
    told(&["--memory-tier", "1MB", "--storage", storage.path(), "--evict", "fifo"], "fifo");
    told(&["--memory-tier", "1MB", "--storage", storage.path(), "--tier-directory", "nowhere"], "nowhere");
    std::fs::remove_file(storage.file("data/1")).unwrap();
    std::fs::create_dir(storage.file("data/1")).unwrap();
    told(&["--memory-tier", "1MB", "--storage", storage.path()], "only files are brought");
    sandbox.write("data/1", "");
    told(&["--memory-tier", "1MB"], "add --storage");
}

#[test]
fn a_full_tier_directory_is_one_clear_message() {
    // A file system of its own needs a user namespace, which not every machine allows.
    let script = r#"mount -t tmpfs -o size=64k tmpfs "$1" && shift && exec "$@""#;
    let storage = Storage::new(2, 100_000);
    let sandbox = Sandbox::with_flow(
        "tasks: { a: { foreach: { i: 1..2 }, run: 'cat data/{i} > o/{i}', in: ['data/{i}'], out: ['o/{i}'] } }",
    );
    let mount = |size: &str| {
        let throng = sandbox.command(&["run", "flow.yaml", "--storage", storage.path(), "--memory-tier", size]);
        let mut command = std::process::Command::new("unshare");
        command.args(["--user", "--map-root-user", "--mount", "sh", "-c", script, "sh"]).arg(storage.tiers());
        command.arg(throng.get_program()).args(throng.get_args()).arg("--tier-directory").arg(storage.tiers());
        command.current_dir(sandbox.path()).output().unwrap()
    };
    let output = mount("100kB");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    if told.contains("unshare") || told.contains("mount") && told.contains("permission") {
        println!("skipped: no file system of its own can be had here: {told}");
        return;
    }
    assert!(told.contains("has room for") && told.contains("will take 100000"), "{told}");
    // It seemed to have room, and then somebody else filled it.
    std::fs::set_permissions(storage.tiers(), std::fs::Permissions::from_mode(0o755)).unwrap();
    sandbox.write(
        "flow.yaml",
        &format!(
            "tasks: {{ fill: {{ run: 'head -c 30000 /dev/zero > {tiers}/theirs; touch fill', out: [fill] }}, a: {{ run: 'cat data/1 > o', in: [data/1], out: [o], after: fill }} }}",
            tiers = storage.tiers().display()
        ),
    );
    std::fs::write(storage.file("data/1"), vec![1; 50_000]).unwrap();
    let output = mount("50kB");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert!(told.contains("is full; make room there"), "{told}");
    assert!(!sandbox.exists("o") && !sandbox.exists("data"));
}
