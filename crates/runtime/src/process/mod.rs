//! Tasks as processes: each in a group of its own, started without copying the engine's address space,
//! accounted for by the kernel, and found again if the engine dies.

pub mod leftover;
mod orphans;
mod spawn;
mod table;

use std::io;

pub use orphans::Orphans;
pub use spawn::{Launch, Launcher};
pub use table::{SlotCell, SlotTable, running_slots};
use throng_core::trace::Usage;

use crate::host::microseconds;

/// The engine may have grown by so much since it last looked at its own peak.
const OWN_GROWTH_BYTES: u64 = 1 << 20;

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// By itself, with this code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

/// Waits until a child has ended, without forgetting it: until [`reap`], nobody else gets its number.
pub fn wait_for_end(pid: i32) -> io::Result<()> {
    loop {
        // SAFETY: waitid writes a plain struct.
        let answer = unsafe {
            let mut info = std::mem::zeroed::<libc::siginfo_t>();
            libc::waitid(libc::P_PID, pid as libc::id_t, &mut info, libc::WEXITED | libc::WNOWAIT)
        };
        if answer == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Forgets a child that has ended and returns how it ended and what it used.
pub fn reap(pid: i32, own_peak_bytes: u64) -> io::Result<(Exit, Usage)> {
    let mut status = 0;
    // SAFETY: wait4 writes plain values.
    let usage = unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        loop {
            if libc::wait4(pid, &mut status, 0, &mut usage) == pid {
                break;
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
        usage
    };
    let exit = if libc::WIFSIGNALED(status) {
        Exit::Signal(libc::WTERMSIG(status))
    } else {
        Exit::Code(libc::WEXITSTATUS(status))
    };
    let peak_memory_bytes = usage.ru_maxrss as u64 * 1024;
    let usage = Usage {
        user_us: microseconds(usage.ru_utime),
        system_us: microseconds(usage.ru_stime),
        peak_memory_bytes,
        peak_is_bound: peak_memory_bytes <= own_peak_bytes + OWN_GROWTH_BYTES,
        blocks_in: usage.ru_inblock as u64,
        blocks_out: usage.ru_oublock as u64,
    };
    Ok((exit, usage))
}

/// Sends a signal to a whole process group; one that is gone is no error.
pub fn signal_group(group: i32, signal: i32) {
    // SAFETY: kill touches no memory.
    unsafe {
        libc::kill(-group, signal);
    }
}

/// Sends a signal to a task's process, which may have left its group, and to the rest of the group.
///
/// The process must not have been reaped: its number could be somebody else's.
pub fn signal_task(pid: i32, signal: i32) {
    signal_group(pid, signal);
    // SAFETY: kill touches no memory.
    unsafe {
        libc::kill(pid, signal);
    }
}

/// Whether any process of a group is still doing something, ended ones not counted.
pub fn group_is_alive(group: i32) -> bool {
    members(group).next().is_some()
}

/// What `/proc` says of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its number.
    pub pid: i32,
    /// Its group.
    pub group: i32,
    /// Whether it has ended and only waits to be reaped.
    pub is_zombie: bool,
    /// When it started, in clock ticks since the machine did.
    pub start_ticks: u64,
}

/// Looks at one process.
pub fn look_at(pid: i32) -> Option<Seen> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name is in parentheses and may itself hold anything; what follows the last one is plain.
    let mut fields = stat[stat.rfind(')')? + 2..].split(' ');
    let state = fields.next()?;
    let group = fields.nth(1)?.parse().ok()?;
    let start_ticks = fields.nth(16)?.parse().ok()?;
    Some(Seen { pid, group, is_zombie: matches!(state, "Z" | "X"), start_ticks })
}

/// Every process of a group that has not ended.
pub fn members(group: i32) -> impl Iterator<Item = Seen> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter_map(look_at).filter(move |seen| seen.group == group && !seen.is_zombie)
}

/// The signals by which somebody asks the engine to stop. `SIGQUIT` stays what it is: the way to end it at once.
pub(crate) const ENGINE_SIGNALS: [i32; 3] = [libc::SIGINT, libc::SIGTERM, libc::SIGHUP];

/// Keeps the signals that ask to stop from the calling thread and from threads it starts.
///
/// They are taken one by one with [`next_stop_signal`], not by handlers: a handler could run in a child
/// that still shares the engine's memory. And what the engine ignores, its tasks would inherit; `SIGPIPE`,
/// which Rust ignores, is blocked here instead, which has the same effect on the engine.
pub fn take_over_signals() {
    // SAFETY: the set is a plain value that sigemptyset initialises.
    unsafe {
        let mut set = stop_signals();
        libc::sigaddset(&mut set, libc::SIGPIPE);
        libc::pthread_sigmask(libc::SIG_BLOCK, &set, std::ptr::null_mut());
        libc::signal(libc::SIGPIPE, libc::SIG_DFL);
        // Whoever started the engine may ignore this one, and then nobody could wait for a child.
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
    }
}

/// Those of the signals that are not ignored: `nohup` and scripts that start things in the background rely on that.
fn stop_signals() -> libc::sigset_t {
    // SAFETY: the set is a plain value that sigemptyset initialises; sigaction writes a plain struct.
    unsafe {
        let mut set = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&mut set);
        for signal in ENGINE_SIGNALS {
            let mut current = std::mem::zeroed::<libc::sigaction>();
            libc::sigaction(signal, std::ptr::null(), &mut current);
            if current.sa_sigaction != libc::SIG_IGN {
                libc::sigaddset(&mut set, signal);
            }
        }
        set
    }
}

/// Waits until somebody asks the engine to stop.
pub fn next_stop_signal() {
    let set = stop_signals();
    let mut signal = 0;
    // SAFETY: sigwait reads a set and writes a number.
    while unsafe { libc::sigwait(&set, &mut signal) } != 0 {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_can_be_looked_at() {
        let own = std::process::id() as i32;
        let seen = look_at(own).unwrap();
        assert_eq!(seen.pid, own);
        assert!(!seen.is_zombie && seen.start_ticks > 0);
        assert!(members(seen.group).any(|member| member.pid == own));
    }
}
