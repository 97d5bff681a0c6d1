//! Ending what an engine that was killed has left running.
//!
//! A process is only touched when it is certain to be ours: the group's leader must have started at the
//! moment noted, or, if the leader is gone, members of its group must carry the name of this state
//! directory in their environment. Numbers of processes are used again within seconds on a busy machine.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use super::table::{self, Noted};
use super::{look_at, members, signal_group};
use crate::host;

/// The environment variable by which a task's processes can be told.
pub const RUN_VARIABLE: &str = "THRONG_RUN";

/// A process starts within this time after its start was noted, unless the machine was suspended between.
const START_TOLERANCE_NS: u64 = 1_000_000_000;
/// How long a leftover that was asked to end may take.
const PATIENCE: Duration = Duration::from_secs(2);
/// How long the kernel may take to end what was forced.
const FORCED_PATIENCE: Duration = Duration::from_secs(10);

/// Ends every process noted in a table by an engine that is gone; returns what their tasks are known by,
/// whether a process was left or not: none of these tasks has come to its end.
///
/// `mark` is the value of [`RUN_VARIABLE`] in all tasks of this state directory.
pub fn end_leftovers(table: &Path, mark: &str) -> Result<BTreeSet<u64>, i32> {
    let boot = host::boot_id();
    let noted = table::read(table);
    let groups: Vec<i32> =
        (noted.iter()).filter(|noted| noted.boot == boot && is_ours(noted, mark)).map(|noted| noted.pid).collect();
    for (signal, patience) in [(libc::SIGTERM, PATIENCE), (libc::SIGKILL, FORCED_PATIENCE)] {
        let alive: Vec<i32> = groups.iter().copied().filter(|group| super::group_is_alive(*group)).collect();
        for group in &alive {
            signal_group(*group, signal);
        }
        let deadline = Instant::now() + patience;
        while alive.iter().any(|group| super::group_is_alive(*group)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    match groups.iter().find(|group| super::group_is_alive(**group)) {
        Some(stubborn) => Err(*stubborn),
        None => Ok(noted.iter().map(|noted| noted.key).collect()),
    }
}

fn is_ours(noted: &Noted, mark: &str) -> bool {
    let ticks_per_second = rustix::param::clock_ticks_per_second();
    let tick_ns = 1_000_000_000 / ticks_per_second;
    match look_at(noted.pid) {
        Some(leader) => {
            let started_ns = leader.start_ticks * tick_ns;
            let earliest = noted.started_ns.saturating_sub(2 * tick_ns);
            leader.group == noted.pid && (earliest..noted.started_ns + START_TOLERANCE_NS).contains(&started_ns)
        }
        None => members(noted.pid).any(|member| carries(member.pid, mark)),
    }
}

fn carries(pid: i32, mark: &str) -> bool {
    let wanted = format!("{RUN_VARIABLE}={mark}");
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
}
