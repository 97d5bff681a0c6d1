//! Ending what an engine that was killed has left running.
//!
//! A process is only touched when it is certain to be ours: the group's leader must have started at the moment noted, or, if the leader is
//! gone, members of its group must carry the name of this state directory in their environment. Numbers of processes are used again within
//! seconds on a busy machine. And its engine must be gone: whoever holds the lock of a state directory and finds processes of an engine that
//! is alive has a copy of that engine's directory.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use super::table::{self, Noted};
use super::{look_at, members, signal_group, signal_task};
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
    let ours: Vec<&Noted> = noted.iter().filter(|noted| noted.boot == boot && is_ours(noted, mark)).collect();
    for (signal, patience) in [(libc::SIGTERM, PATIENCE), (libc::SIGKILL, FORCED_PATIENCE)] {
        for noted in ours.iter().filter(|noted| is_alive(noted)) {
            if is_leader(noted) {
                signal_task(noted.pid, signal);
            } else {
                signal_group(noted.pid, signal);
            }
        }
        let deadline = Instant::now() + patience;
        while ours.iter().any(|noted| is_alive(noted)) && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    match ours.iter().find(|noted| is_alive(noted)) {
        Some(stubborn) => Err(stubborn.pid),
        None => Ok(noted.iter().map(|noted| noted.key).collect()),
    }
}

fn is_ours(noted: &Noted, mark: &str) -> bool {
    if engine_is_alive(noted) {
        return false;
    }
    match look_at(noted.pid) {
        Some(_) => is_leader(noted),
        None => members(noted.pid).any(|member| carries(member.pid, mark)),
    }
}

/// The kernel's unit for when a process started.
fn tick_ns() -> u64 {
    1_000_000_000 / rustix::param::clock_ticks_per_second()
}

/// Whether the process with the noted number is the one that was noted.
fn is_leader(noted: &Noted) -> bool {
    look_at(noted.pid).is_some_and(|leader| {
        let started_ns = leader.start_ticks * tick_ns();
        let earliest = noted.started_ns.saturating_sub(2 * tick_ns());
        (earliest..noted.started_ns + START_TOLERANCE_NS).contains(&started_ns)
    })
}

/// Whether the task's process, which may have left its group, or any of the group is still there.
fn is_alive(noted: &Noted) -> bool {
    let leader = look_at(noted.pid).filter(|leader| !leader.is_zombie);
    leader.is_some() && is_leader(noted) || super::group_is_alive(noted.pid)
}

/// Whether the engine is there that started a process: its number is nobody else's as long as whoever has it was there before.
fn engine_is_alive(noted: &Noted) -> bool {
    let engine = look_at(noted.engine).filter(|engine| !engine.is_zombie);
    engine.is_some_and(|engine| engine.start_ticks * tick_ns() <= noted.started_ns)
}

fn carries(pid: i32, mark: &str) -> bool {
    let wanted = format!("{RUN_VARIABLE}={mark}");
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
}
