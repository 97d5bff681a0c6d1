//! What the processes of tasks use now, a task with all processes of its group.
//!
//! ```text
//!   all processes of the machine ── now and then: who belongs to which group ──▶ members, a file kept open of each
//!   members ── often: what each uses ──▶ sums by group
//! ```
//!
//! Who belongs to a group the kernel tells only by naming each process's group, so finding members means looking at everybody. That takes
//! some microseconds for each, and is done no more often than it may cost. The first process of a group is known at once: it has the group's number.
//! To read on from an open file costs a fraction of opening it.

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use throng_core::pack::Uses;

/// How much of a core finding members may take.
const FINDING_COST: f64 = 0.002;
/// How often members are found, at most.
const FIND_EVERY: Duration = Duration::from_millis(250);
/// More files than this are not kept open, and no more than this part of those that may be.
const FILES_KEPT: usize = 8192;
const FILES_PART: u64 = 4;

/// A process of a task.
#[derive(Debug)]
struct Member {
    group: i32,
    stat: File,
}

/// The processes of tasks.
#[derive(Debug)]
pub struct Groups {
    members: HashMap<i32, Member>,
    /// When members were last found, and how long that took.
    found_at: Option<Instant>,
    finding_took: Duration,
    page_bytes: u64,
    tick_us: u64,
    files_kept: usize,
    text: [u8; 1024],
}

impl Groups {
    /// Nobody yet.
    pub fn new() -> Groups {
        let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile).current.unwrap_or(u64::MAX);
        Groups {
            members: HashMap::new(),
            found_at: None,
            finding_took: Duration::ZERO,
            page_bytes: rustix::param::page_size() as u64,
            tick_us: 1_000_000 / rustix::param::clock_ticks_per_second().max(1),
            files_kept: FILES_KEPT.min((limit / FILES_PART) as usize),
            text: [0; 1024],
        }
    }

    /// What the processes of these groups use. Memory that several of them share counts for each.
    pub fn uses(&mut self, groups: &[i32]) -> HashMap<i32, Uses> {
        let mut sums: HashMap<i32, Uses> = groups.iter().map(|group| (*group, Uses::default())).collect();
        self.members.retain(|_, member| sums.contains_key(&member.group));
        let first: Vec<i32> = groups.iter().copied().filter(|group| !self.members.contains_key(group)).collect();
        first.into_iter().for_each(|group| self.add(group, |_| true));
        let pause = self.finding_took.div_f64(FINDING_COST).max(FIND_EVERY);
        if self.found_at.is_none_or(|at| at.elapsed() >= pause) {
            self.find(&sums);
        }
        let (page_bytes, tick_us, text) = (self.page_bytes, self.tick_us, &mut self.text);
        self.members.retain(|_, member| {
            let Some(process) = read(&member.stat, text) else { return false };
            let Some(uses) = sums.get_mut(&process.group) else { return false };
            uses.bytes += process.pages * page_bytes;
            uses.computing_us += process.ticks * tick_us;
            true
        });
        sums
    }

    /// Finds members of groups.
    fn find(&mut self, groups: &HashMap<i32, Uses>) {
        let begun = Instant::now();
        let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
        let pids: Vec<i32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
        for pid in pids {
            if !self.members.contains_key(&pid) {
                self.add(pid, |group| groups.contains_key(&group));
            }
        }
        (self.found_at, self.finding_took) = (Some(Instant::now()), begun.elapsed());
    }

    /// Takes a process in, if it is of a group that is wanted.
    fn add(&mut self, pid: i32, is_wanted: impl Fn(i32) -> bool) {
        let Ok(stat) = File::open(format!("/proc/{pid}/stat")) else { return };
        let Some(process) = read(&stat, &mut self.text) else { return };
        if is_wanted(process.group) && self.members.len() < self.files_kept {
            self.members.insert(pid, Member { group: process.group, stat });
        }
    }
}

impl Default for Groups {
    fn default() -> Groups {
        Groups::new()
    }
}

#[derive(Debug, PartialEq, Eq)]
struct Process {
    group: i32,
    /// On cores, with its children that have ended.
    ticks: u64,
    pages: u64,
}

/// What the kernel says of a process now; nothing if it has ended.
fn read(stat: &File, text: &mut [u8]) -> Option<Process> {
    let length = stat.read_at(text, 0).ok()?;
    process(&String::from_utf8_lossy(&text[..length]))
}

fn process(stat: &str) -> Option<Process> {
    // The name is in parentheses and may itself hold anything; what follows the last one is plain.
    let mut fields = stat.get(stat.rfind(')')? + 2..)?.split(' ');
    let group = fields.nth(2)?.parse().ok()?;
    let mut number = |skipped: usize| fields.nth(skipped)?.parse::<u64>().ok();
    let ticks = number(8)? + number(0)? + number(0)? + number(0)?;
    Some(Process { group, ticks, pages: number(6)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_line_of_stat_says() {
        let stat =
            "42 (a b) c) S 1 40 40 0 -1 4194560 100 0 0 0 11 22 33 44 20 0 1 0 500 9000000 250 18446744073709551615 1";
        assert_eq!(process(stat), Some(Process { group: 40, ticks: 110, pages: 250 }));
        assert_eq!(process("42 (x) S 1"), None);
        assert_eq!(process(""), None);
    }

    #[test]
    fn a_group_is_all_of_its_processes() {
        // SAFETY: getpgrp touches no memory.
        let own = unsafe { libc::getpgrp() };
        let held = vec![1u8; 32 << 20];
        let mut groups = Groups::new();
        let found = groups.uses(&[own, i32::MAX]);
        assert!(found[&own].bytes >= 32 << 20 && std::hint::black_box(&held)[5] == 1, "{found:?}");
        assert_eq!(found[&i32::MAX], Uses::default());
        assert!(groups.uses(&[]).is_empty() && groups.members.is_empty());
    }
}
