//! Full disks, read-only directories and damaged state: a clear word, and nothing that was finished is lost.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod sandbox;

use std::process::{Command, Stdio};

use sandbox::*;

const FLOW: &str = "tasks: { t: { foreach: { i: 1..200 }, run: 'echo {i} > out/{i}', out: 'out/{i}' } }";

/// A sandbox in which everything is done, written in several frames.
fn done() -> Sandbox {
    let sandbox = Sandbox::with_flow(FLOW);
    sandbox.run(&["--quiet"]).expect_code(0);
    sandbox
}

#[test]
fn a_cut_journal_costs_only_what_was_cut() {
    let share = |part: f64| {
        let sandbox = done();
        let journal = std::fs::read(sandbox.file(".throng/journal")).unwrap();
        let keep = (journal.len() as f64 * part) as usize;
        std::fs::write(sandbox.file(".throng/journal"), &journal[..keep]).unwrap();
        let output = sandbox.run(&["--quiet"]).expect_code(0);
        assert_eq!(output.number("done") + output.number("up_to_date"), 200);
        assert_eq!(sandbox.read("out/200"), "200\n");
        assert_eq!(sandbox.run(&["--quiet"]).expect_code(0).number("up_to_date"), 200);
        output.number("up_to_date")
    };
    assert_eq!(share(0.0), 0);
    share(0.0005);
    let (half, most) = (share(0.5), share(0.999));
    assert!(half > 0 && half < 200 && most > half, "{half} and {most} of 200");
}

#[test]
fn a_flipped_bit_is_told_and_the_rest_is_kept() {
    let sandbox = done();
    let journal = std::fs::read(sandbox.file(".throng/journal")).unwrap();
    let mut damaged = journal.clone();
    damaged[40] ^= 4;
    std::fs::write(sandbox.file(".throng/journal"), &damaged).unwrap();
    let output = sandbox.throng(&["run", "flow.yaml"]).expect_code(0);
    assert!(output.stderr.contains("damaged"), "{output:?}");
    assert!(!output.stderr.contains(" 200 done"), "only what was damaged runs again: {output:?}");
    assert_eq!(std::fs::read(sandbox.file(".throng/journal.damaged")).unwrap(), damaged);
    assert_eq!(sandbox.run(&[]).number("up_to_date"), 200);
}

#[test]
fn a_journal_that_is_none_is_refused_and_kept() {
    let sandbox = done();
    std::fs::write(sandbox.file(".throng/journal"), "something else entirely").unwrap();
    let output = sandbox.throng(&["run", "flow.yaml"]).expect_code(2);
    assert!(output.stderr.contains("not a journal") && output.stderr.contains("--fresh"), "{output:?}");
    assert_eq!(sandbox.read(".throng/journal"), "something else entirely");
    sandbox.throng(&["run", "flow.yaml", "--fresh"]).expect_code(0);
    assert_eq!(sandbox.read(".throng/journal.before-fresh"), "something else entirely");
}

#[test]
fn other_damaged_files_of_the_state_do_no_harm() {
    let sandbox = done();
    for name in [
        ".throng/slots",
        ".throng/lock",
        ".throng/runs/1/trace",
        ".throng/runs/1/workflow",
        ".throng/runs/1/about.json",
    ] {
        sandbox.write(name, "\u{1}nonsense of some length, longer than any header of a file could be\u{2}");
    }
    assert_eq!(sandbox.run(&[]).expect_code(0).number("up_to_date"), 200);
    for command in [&["status", "1", "t:1"][..], &["logs", "1", "t:1"], &["status", "1"]] {
        let output = sandbox.throng(command).expect_code(2);
        assert!(output.stderr.starts_with("error: "), "{output:?}");
    }
    sandbox.throng(&["runs"]).expect_code(0);
}

/// Runs a script as root of a mount namespace of its own, with the binary as `$THRONG`.
fn in_own_mounts(sandbox: &Sandbox, script: &str) -> Output {
    let is_root = rustix::process::geteuid().is_root();
    let child = Command::new("unshare")
        .args(if is_root { &["--mount"][..] } else { &["--mount", "--map-root-user"] })
        .args(["sh", "-ec", script])
        .current_dir(sandbox.path())
        .env("THRONG", env!("CARGO_BIN_EXE_throng"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    finish(child)
}

#[test]
fn a_full_disk_is_told_and_what_was_finished_is_kept() {
    // Each task prints 20 kB, which fills the state's file system long before the outputs fill theirs.
    let sandbox = Sandbox::with_flow(
        "tasks: { t: { foreach: { i: 1..200 }, run: 'head -c 20000 /dev/zero; echo {i} > out/{i}', out: 'out/{i}' } }",
    );
    std::fs::create_dir(sandbox.file("state")).unwrap();
    let output = in_own_mounts(
        &sandbox,
        "mount -t tmpfs -o size=1m none state
         code=0; $THRONG run flow.yaml --state state --quiet || code=$?
         echo $code
         mount -o remount,size=100m state
         $THRONG run flow.yaml --state state --json",
    )
    .expect_code(0);
    let (code, json) = output.stdout.split_once('\n').unwrap();
    assert_eq!(code, "4", "{output:?}");
    assert!(
        output.stderr.contains("No space left") && output.stderr.contains("run the same command again"),
        "{output:?}"
    );
    let end: serde_json::Value = serde_json::from_str(json).unwrap();
    assert!(end["up_to_date"].as_u64().unwrap() >= 10, "what was finished is kept: {end}");
    assert_eq!(end["done"].as_u64().unwrap() + end["up_to_date"].as_u64().unwrap(), 200);
}

#[test]
fn a_read_only_directory_is_told_before_anything_starts() {
    let sandbox = Sandbox::with_flow("tasks: { t: { run: 'true' } }");
    std::fs::create_dir(sandbox.file("read-only")).unwrap();
    std::fs::copy(sandbox.file("flow.yaml"), sandbox.file("read-only/flow.yaml")).unwrap();
    let output = in_own_mounts(
        &sandbox,
        "mount --bind read-only read-only; mount -o remount,ro,bind read-only
         code=0; $THRONG run read-only/flow.yaml || code=$?
         echo $code
         $THRONG run read-only/flow.yaml --state elsewhere --quiet",
    )
    .expect_code(0);
    assert_eq!(output.stdout, "2\n", "{output:?}");
    assert!(output.stderr.contains("Read-only file system") && output.stderr.contains("--state"), "{output:?}");
}
