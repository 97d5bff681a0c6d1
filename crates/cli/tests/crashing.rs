//! The engine is killed again and again, at random moments, and loses nothing.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test may panic, and prints its seed")]

mod sandbox;

use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rustix::process::Signal;
use sandbox::*;

const TASKS: usize = 5000;
const KILLS: usize = 100;
/// What is finished longer than this before a kill must not run again.
const FORGOTTEN: Duration = Duration::from_millis(50);

/// 1,000 chains of five tasks. Each leaves a mark of its own whenever it has run, whose name tells under which
/// engine and whose time of modification tells when. A few are long enough to be left over when the engine dies; the others take at least five
/// milliseconds, so that no machine is so fast that the kills outlast the work.
const FLOW: &str = r#"
tasks:
  first:
    foreach: { i: 1..1000 }
    run: "echo {i} > a/{i}; case {i} in *77) sleep 0.1;; *) sleep 0.005;; esac; : > marks/first.{i}.$PPID.$$"
    out: ["a/{i}"]
  second: { foreach: { i: 1..1000 }, run: "cat a/{i} a/{i} > b/{i}; sleep 0.005; : > marks/second.{i}.$PPID.$$", in: ["a/{i}"], out: ["b/{i}"] }
  third:  { foreach: { i: 1..1000 }, run: "cat b/{i} a/{i} > c/{i}; sleep 0.005; : > marks/third.{i}.$PPID.$$", in: ["b/{i}", "a/{i}"], out: ["c/{i}"] }
  fourth: { foreach: { i: 1..1000 }, run: "cat c/{i} > d/{i}; sleep 0.005; : > marks/fourth.{i}.$PPID.$$", in: ["c/{i}"], out: ["d/{i}", ] }
  fifth:  { foreach: { i: 1..1000 }, run: "cat d/{i} c/{i} > e/{i}; sleep 0.005; : > marks/fifth.{i}.$PPID.$$", in: ["d/{i}", "c/{i}"], out: ["e/{i}"] }
"#;

/// SplitMix64.
struct Random(u64);

impl Random {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        (z ^ (z >> 31)) % limit
    }
}

fn seed() -> u64 {
    let given = std::env::var("THRONG_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = given.unwrap_or_else(|| SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64);
    println!("seed: THRONG_TEST_SEED={seed}");
    seed
}

fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}

fn prepared() -> Sandbox {
    let sandbox = Sandbox::with_flow(FLOW);
    std::fs::create_dir(sandbox.file("marks")).unwrap();
    sandbox
}

fn outputs(sandbox: &Sandbox) -> Vec<(String, Vec<u8>)> {
    sandbox.files().into_iter().filter(|(name, _)| !name.starts_with("marks/")).collect()
}

/// Watches how late this machine wakes a thread that sleeps: nobody can write every few milliseconds while it is not
/// let run. It excuses nothing, but whoever sees this test fail knows where to look first.
struct Stalls {
    worst_us: Arc<AtomicU64>,
}

impl Stalls {
    fn watch() -> Stalls {
        let worst_us = Arc::new(AtomicU64::new(0));
        let own = Arc::downgrade(&worst_us);
        std::thread::spawn(move || {
            let nap = Duration::from_millis(2);
            while let Some(worst) = own.upgrade() {
                let before = Instant::now();
                std::thread::sleep(nap);
                worst.fetch_max((before.elapsed() - nap).as_micros() as u64, Ordering::Relaxed);
            }
        });
        Stalls { worst_us }
    }

    /// The worst since the last call.
    fn take(&self) -> Duration {
        Duration::from_micros(self.worst_us.swap(0, Ordering::Relaxed))
    }
}

#[test]
fn a_hundred_kills_lose_nothing() {
    let mut random = Random(seed());
    let stalls = Stalls::watch();
    let calm = prepared();
    calm.run(&["--quiet"]).expect_code(0);

    let sandbox = prepared();
    let mut kills: BTreeMap<u32, (Duration, Duration)> = BTreeMap::new();
    while kills.len() < KILLS {
        stalls.take();
        let mut child = sandbox.start(&["run", "flow.yaml", "--quiet"]);
        // Often long enough for tasks that ended more than 50 ms before the kill.
        std::thread::sleep(Duration::from_micros(2_000 + random.below(148_000)));
        signal(child.id(), Signal::KILL);
        let earlier = kills.insert(child.id(), (since_epoch(), stalls.take()));
        assert!(earlier.is_none(), "engines are told apart by their numbers");
        child.wait().unwrap();
    }
    let last = sandbox.start(&["run", "flow.yaml", "--json", "--quiet"]);
    let last_engine = last.id();
    let last = finish(last).expect_code(0);
    assert!(last.number("done") > 0, "the kills must not outlast the work: {last:?}");
    assert_eq!(last.number("done") + last.number("up_to_date"), TASKS as u64);

    assert!(outputs(&sandbox) == outputs(&calm), "outputs differ from those of an undisturbed run");
    assert_eq!(processes_of(&sandbox.file(".throng")), Vec::<i32>::new(), "nothing is left running");

    // A task's mark is made at its very end. If there is a later one, it must have been running when its engine
    // was killed, or have ended just before.
    let mut marks: Vec<(String, Duration, u32)> = Vec::new();
    for entry in std::fs::read_dir(sandbox.file("marks")).unwrap().flatten() {
        let name = entry.file_name().into_string().unwrap();
        let found = entry.metadata().unwrap();
        let modified = Duration::new(found.mtime() as u64, found.mtime_nsec() as u32);
        let parts: Vec<&str> = name.split('.').collect();
        marks.push((format!("{}.{}", parts[0], parts[1]), modified, parts[2].parse().unwrap()));
    }
    marks.sort();
    let mut again = 0;
    for pair in marks.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        again += 1;
        let (task, ended, engine) = &pair[0];
        assert_ne!(*engine, last_engine, "{task} ran twice under an engine that was not killed");
        // A shell that was just starting when its engine was killed no longer sees it as its parent.
        let Some((killed, stall)) = kills.get(engine) else { continue };
        // The clock of file times ticks every few milliseconds.
        let tolerance = Duration::from_millis(10);
        let before = killed.saturating_sub(*ended);
        assert!(
            before <= FORGOTTEN + tolerance,
            "{task} ended {before:?} before its engine was killed and ran again; the machine stalled for {stall:?}"
        );
    }
    let earlier = last.number("up_to_date");
    println!("{KILLS} kills, {earlier} tasks done under engines that were killed, {again} ran again after their end");
}
