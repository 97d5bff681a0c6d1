//! Memory: learnt where nobody says what tasks need, and held to where they do.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod sandbox;

use std::path::{Path, PathBuf};
use std::process::Stdio;

use sandbox::Sandbox;
use throng_core::node::{Command, Event};
use throng_core::trace::Entry;
use throng_runtime::recording::Recording;
use throng_runtime::state::StateDirectory;

fn recording(sandbox: &Sandbox) -> Recording {
    let run = StateDirectory::new(&sandbox.file(".throng")).find_run("last").unwrap();
    Recording::read(&run).unwrap()
}

/// How many tasks ran at once, on average.
fn at_once(recording: &Recording) -> f64 {
    let (mut running, mut last, mut sum, mut all) = (0.0, None, 0.0, 0.0);
    for (now, entry) in recording.entries() {
        let passed = last.replace(now).map_or(0.0, |last| now.since(last).as_secs_f64());
        sum += running * passed;
        all += passed;
        match entry {
            Entry::Command(Command::Start { .. }) => running += 1.0,
            Entry::Event(Event::Finished { .. }) => running -= 1.0,
            _ => {}
        }
    }
    sum / all
}

/// Holds some megabytes for a while: `tail` keeps what may turn out to be the end.
const HOLDS: &str = r#"
tasks:
  hold:
    foreach: { i: 1..40 }
    run: "(head -c $((50 + {i} % 18))000000 /dev/zero; sleep 0.6) | tail -c 90000000 > /dev/null"
"#;

#[test]
fn tasks_share_a_memory_that_is_too_small_for_all_of_them_and_all_are_done() {
    let at_once = |memory: &str| {
        let sandbox = Sandbox::with_flow(HOLDS);
        sandbox.run(&["--pack", "learn", "--memory", memory, "--quiet"]).expect_code(0);
        let recording = recording(&sandbox);
        recording.replay().unwrap();
        let seen = recording.entries().filter(|(_, entry)| matches!(entry, Entry::Event(Event::Uses { .. })));
        assert!(seen.count() > 0, "somebody has looked at what they hold");
        at_once(&recording)
    };
    let (few, many) = (at_once("300MB"), at_once("8GB"));
    assert!(
        few < 6.0 && many > few * 1.3,
        "{few:.1} at once where there is room for five, {many:.1} where there is for all"
    );
}

/// The same as a shell can, a few times.
const FEW_HOLD: &str = r#"
tasks:
  hold: { foreach: { i: 30..37 }, run: "x=$(head -c {i}000000 /dev/zero | tr '\\0' a); sleep 0.4; test $x" }
"#;

#[test]
fn of_a_few_tasks_that_do_not_fit_together_there_are_never_all_at_once() {
    let sandbox = Sandbox::with_flow(FEW_HOLD);
    sandbox.run(&["--pack", "learn", "--memory", "250MB", "--quiet"]).expect_code(0);
    let recording = recording(&sandbox);
    recording.replay().unwrap();
    let (mut running, mut most) = (0, 0);
    for (_, entry) in recording.entries() {
        match entry {
            Entry::Command(Command::Start { .. }) => running += 1,
            Entry::Event(Event::Finished { .. }) => running -= 1,
            _ => {}
        }
        most = most.max(running);
    }
    // All eight together would hold more than there is, by far.
    assert!((1..7).contains(&most), "{most} at once");
}

#[test]
fn a_task_that_needs_more_memory_than_there_is_fails_with_a_word() {
    let flow = r#"tasks: { huge: { run: "x=$(head -c 90000000 /dev/zero | tr '\\0' a); sleep 20; test $x" } }"#;
    let sandbox = Sandbox::with_flow(flow);
    sandbox.run(&["--pack", "learn", "--memory", "60MB", "--quiet"]).expect_code(1);
    recording(&sandbox).replay().unwrap();
    let told = sandbox.throng(&["status", "last", "huge"]).expect_code(0).stdout;
    assert!(told.contains("too large for the memory there is"), "{told}");
}

#[test]
fn what_the_children_of_a_task_held_that_was_too_large_is_on_record() {
    let sandbox = Sandbox::with_flow(
        r#"tasks: { huge: { run: "(head -c 90000000 /dev/zero; sleep 20) | tail -c 90000000 > /dev/null" } }"#,
    );
    sandbox.run(&["--pack", "learn", "--memory", "60MB", "--quiet"]).expect_code(1);
    let recording = recording(&sandbox);
    let usage = recording.entries().find_map(|(_, entry)| match entry {
        Entry::Attempt(attempt) => Some(attempt.usage),
        _ => None,
    });
    let usage = usage.unwrap();
    assert!(usage.peak_memory_bytes >= 58_000_000 && !usage.peak_is_bound, "{usage:?}");
}

#[allow(clippy::print_stderr, reason = "whoever reads the log should know")]
fn note_that_nothing_was_tried() {
    eprintln!("not tried: no control group for memory can be made here");
}

/// A control group with a limit, if this system lets us make one.
struct Group {
    path: PathBuf,
}

impl Group {
    fn new(name: &str, bytes: u64) -> Option<Group> {
        let (old, new) = (Path::new("/sys/fs/cgroup/memory"), Path::new("/sys/fs/cgroup"));
        for (root, limit) in [(old, "memory.limit_in_bytes"), (new, "memory.max")] {
            let group = Group { path: root.join(format!("{name}-{}", std::process::id())) };
            let is_made = std::fs::create_dir(&group.path).is_ok();
            // Elsewhere it would be a directory like any other.
            let is_group = group.path.join("cgroup.procs").exists();
            if is_made && is_group && std::fs::write(group.path.join(limit), bytes.to_string()).is_ok() {
                return Some(group);
            }
        }
        note_that_nothing_was_tried();
        None
    }

    /// What is in it that an engine may have left.
    fn inside(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.path).unwrap().flatten();
        let groups = entries.filter(|entry| entry.file_type().unwrap().is_dir());
        groups.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
    }

    fn run(&self, sandbox: &Sandbox, arguments: &[&str]) -> sandbox::Output {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", r#"echo $$ > "$1" && shift && exec "$@""#, "sh"]).arg(self.path.join("cgroup.procs"));
        command.arg(env!("CARGO_BIN_EXE_throng")).args(["run", "flow.yaml"]).args(arguments);
        command.current_dir(sandbox.path()).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        sandbox::finish(command.spawn().unwrap())
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.path);
    }
}

/// Takes as many megabytes at once as it says it needs, and then some.
const TAKES: &str = r#"
tasks:
  takes: { run: "head -c {take} /dev/zero | tail -c {take} > {out}", out: o, memory: "{asks}", retries: {retries} }
"#;

fn takes(megabytes: u64, asks: &str, retries: u32) -> Sandbox {
    let take = (megabytes * 1_000_000).to_string();
    let text = TAKES.replace("{take}", &take).replace("{asks}", asks).replace("{retries}", &retries.to_string());
    Sandbox::with_flow(&text)
}

#[test]
fn a_task_is_held_to_what_it_asks_for() {
    let Some(group) = Group::new("throng-test-held", 4 << 30) else { return };
    let failed = group.run(&takes(200, "60MB", 0), &[]).expect_code(1);
    assert!(failed.stderr.contains("held more than the 60 MB that it says it needs"), "{}", failed.stderr);
    group.run(&takes(200, "60MB", 0), &["--no-memory-limits"]).expect_code(0);
    group.run(&takes(200, "300MB", 0), &[]).expect_code(0);
    // A shell goes on when a part of a pipe is killed, and what it makes then is not what it should be.
    let text = "tasks: { part: { run: 'head -c 200000000 /dev/zero | tail -c 200000000 | wc -c > {out}', out: o, memory: 60MB } }";
    let part = Sandbox::with_flow(text);
    let failed = group.run(&part, &[]).expect_code(1);
    assert!(failed.stderr.contains("held more than the 60 MB that it says it needs"), "{}", failed.stderr);
    // With more at each attempt, it gets through.
    let grows = takes(200, "120MB * attempt", 2);
    group.run(&grows, &["--quiet"]).expect_code(0);
    assert_eq!(grows.read("o").len(), 200_000_000);
    assert!(group.inside().is_empty(), "{:?}", group.inside());
}

#[test]
fn what_a_killed_engine_has_left_is_taken_away() {
    let Some(group) = Group::new("throng-test-left", 4 << 30) else { return };
    let left = group.path.join("throng-4294967295-0");
    std::fs::create_dir(&left).unwrap();
    group.run(&takes(1, "60MB", 0), &["--quiet"]).expect_code(0);
    assert!(group.inside().is_empty(), "{:?}", group.inside());
}

#[test]
fn where_memory_runs_out_faster_than_anybody_can_look_all_is_done_all_the_same() {
    let Some(group) = Group::new("throng-test-short", 256 << 20) else { return };
    // Nine times 90 MB where there is room for two, all within some hundredths of a second.
    let flow = "tasks: { greedy: { foreach: { i: 1..9 }, run: 'head -c 90000000 /dev/zero | tail -c 90000000 | wc -c > {out}', out: 'o/{i}' } }";
    let sandbox = Sandbox::with_flow(flow);
    group.run(&sandbox, &["--pack", "learn", "--quiet"]).expect_code(0);
    recording(&sandbox).replay().unwrap();
    assert!((1..=9).all(|i| sandbox.read(&format!("o/{i}")).trim() == "90000000"));
}
