//! What the processes of tasks use now, a task with all processes that it has started.
//!
//! ```text
//!   first process of a task ──┬── child ── grandchild        now and then: who has which children ──▶ members
//!                             └── child                      often: what each member uses ──▶ sums by task
//!   orphans of the task's group, which are the engine's
//! ```
//!
//! A task is known by its first process, whose number is that of its group. The others are found by walking down from those that are known, so that
//! it costs in proportion to tasks, whatever else there is on the machine, and so that whoever leaves the group is found as well; it is counted where
//! its parent is. Where the kernel does not name children, everybody is looked at instead, and counted by group. Either takes some microseconds for
//! each process, and is done no more often than it may cost. To read on from an open file costs a fraction of opening it.

mod children;

use std::collections::HashMap;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use throng_core::pack::Uses;

use self::children::Children;

/// How much of a core finding members may take, and how much while memory is short.
const FINDING_COST: f64 = 0.002;
const FINDING_COST_WHEN_URGENT: f64 = 0.05;
/// How often members are found, at most, and how often while memory is short.
const FIND_EVERY: Duration = Duration::from_millis(250);
const FIND_EVERY_WHEN_URGENT: Duration = Duration::from_millis(50);
/// More files than this are not kept open, and no more than this part of those that may be.
const FILES_KEPT: usize = 8192;
const FILES_PART: u64 = 4;

/// A process of a task.
#[derive(Debug)]
struct Member {
    group: i32,
    stat: File,
    /// Of its first thread, as soon as somebody has wanted to know; there may be no room to keep it.
    children: Option<Children>,
    threads: u64,
}

/// The processes of tasks.
#[derive(Debug)]
pub struct Groups {
    members: HashMap<i32, Member>,
    /// Children of the engine that it has not started: they fall to its first thread. Nothing, if the kernel does not name children.
    orphans: Option<Children>,
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
            orphans: Children::of_thread(std::process::id(), std::process::id()),
            found_at: None,
            finding_took: Duration::ZERO,
            page_bytes: rustix::param::page_size() as u64,
            tick_us: 1_000_000 / rustix::param::clock_ticks_per_second().max(1),
            files_kept: FILES_KEPT.min((limit / FILES_PART) as usize),
            text: [0; 1024],
        }
    }

    /// What the processes of these groups use; memory that several of them share counts for each. While it is urgent, more may be spent on finding
    /// them.
    pub fn uses(&mut self, groups: &[i32], is_urgent: bool) -> HashMap<i32, Uses> {
        let mut sums: HashMap<i32, Uses> = groups.iter().map(|group| (*group, Uses::default())).collect();
        self.members.retain(|_, member| sums.contains_key(&member.group));
        for group in groups {
            self.add(*group, |_| Some(*group));
        }
        let (cost, least) =
            if is_urgent { (FINDING_COST_WHEN_URGENT, FIND_EVERY_WHEN_URGENT) } else { (FINDING_COST, FIND_EVERY) };
        let pause = self.finding_took.div_f64(cost).max(least);
        if self.found_at.is_none_or(|at| at.elapsed() >= pause) {
            self.find(&sums);
        }
        let (page_bytes, tick_us, text) = (self.page_bytes, self.tick_us, &mut self.text);
        self.members.retain(|_, member| {
            let Some(process) = read(&member.stat, text) else { return false };
            let Some(uses) = sums.get_mut(&member.group) else { return false };
            uses.bytes += process.pages * page_bytes;
            uses.computing_us += process.ticks * tick_us;
            member.threads = process.threads;
            true
        });
        sums
    }

    /// Finds members of groups.
    fn find(&mut self, groups: &HashMap<i32, Uses>) {
        let begun = Instant::now();
        let of_group = |process: &Process| Some(process.group).filter(|group| groups.contains_key(group));
        if self.orphans.is_some() {
            self.walk_down(of_group);
        } else {
            let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
            let pids: Vec<i32> = entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
            for pid in pids {
                self.add(pid, of_group);
            }
        }
        (self.found_at, self.finding_took) = (Some(Instant::now()), begun.elapsed());
    }

    /// Finds the descendants of members, and orphans, of whom only the group is known.
    fn walk_down(&mut self, of_group: impl Fn(&Process) -> Option<i32>) {
        let mut found = Vec::new();
        self.orphans.iter().for_each(|orphans| orphans.read(&mut found));
        for pid in found.drain(..) {
            self.add(pid, &of_group);
        }
        let mut unseen: Vec<i32> = self.members.keys().copied().collect();
        while let Some(pid) = unseen.pop() {
            // Each member has a file already.
            let is_room = self.members.len() * 2 <= self.files_kept;
            let Some(member) = self.members.get_mut(&pid) else { continue };
            let group = member.group;
            member.find_children(pid as u32, is_room, &mut found);
            for child in found.drain(..) {
                if self.add(child, |_| Some(group)) {
                    unseen.push(child);
                }
            }
        }
    }

    /// Takes a process in that is not known yet, if it turns out to be of a group; says whether it did.
    fn add(&mut self, pid: i32, group_of: impl Fn(&Process) -> Option<i32>) -> bool {
        if self.members.contains_key(&pid) || self.members.len() >= self.files_kept {
            return false;
        }
        let Ok(stat) = File::open(format!("/proc/{pid}/stat")) else { return false };
        let Some(process) = read(&stat, &mut self.text) else { return false };
        let Some(group) = group_of(&process) else { return false };
        self.members.insert(pid, Member { group, stat, children: None, threads: process.threads });
        true
    }
}

impl Member {
    /// Adds its children, and keeps the file that names them if there is room for that.
    fn find_children(&mut self, pid: u32, is_room: bool, found: &mut Vec<i32>) {
        let children = self.children.take().or_else(|| Children::of_thread(pid, pid));
        children.iter().for_each(|children| children.read(found));
        self.children = children.filter(|_| is_room);
        if self.threads > 1 {
            children::of_other_threads(pid, found);
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
    threads: u64,
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
    Some(Process { group, ticks, threads: number(2)?, pages: number(3)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command};

    #[test]
    fn what_a_line_of_stat_says() {
        let stat =
            "42 (a b) c) S 1 40 40 0 -1 4194560 100 0 0 0 11 22 33 44 20 0 3 0 500 9000000 250 18446744073709551615 1";
        assert_eq!(process(stat), Some(Process { group: 40, ticks: 110, threads: 3, pages: 250 }));
        assert_eq!(process("42 (x) S 1"), None);
        assert_eq!(process(""), None);
    }

    /// Holds so much in a process that never gets rid of it, for nobody reads what it writes.
    const HOLDS: &str = "dd if=/dev/zero bs=32M 2>/dev/null | sleep 60";
    const HELD_BYTES: u64 = 32 << 20;

    /// A task with a process that is not its first; ended when dropped.
    struct Task(Child);

    impl Task {
        fn start(script: &str) -> Task {
            Task(Command::new("sh").args(["-c", script]).process_group(0).spawn().unwrap())
        }

        fn group(&self) -> i32 {
            self.0.id() as i32
        }

        /// What it holds as soon as that is as much as it should be, or after a while.
        fn held_bytes(&self, groups: &mut Groups) -> u64 {
            let begun = Instant::now();
            loop {
                let bytes = groups.uses(&[self.group()], true)[&self.group()].bytes;
                if bytes >= HELD_BYTES || begun.elapsed() > Duration::from_secs(10) {
                    return bytes;
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }

    impl Drop for Task {
        fn drop(&mut self) {
            // Whoever has left the group notices that nobody will read what it writes.
            crate::process::signal_group(self.group(), libc::SIGKILL);
            let _ = self.0.wait();
        }
    }

    #[test]
    fn a_group_is_all_of_its_processes() {
        let task = Task::start(&format!("{HOLDS}; :"));
        let mut groups = Groups::new();
        let nobody = groups.uses(&[i32::MAX], false);
        assert_eq!(nobody[&i32::MAX], Uses::default());
        assert!(task.held_bytes(&mut groups) >= HELD_BYTES);
        assert!(groups.uses(&[], false).is_empty() && groups.members.is_empty());
        // Where the kernel does not name children.
        let mut groups = Groups { orphans: None, ..Groups::new() };
        assert!(task.held_bytes(&mut groups) >= HELD_BYTES);
    }

    #[test]
    fn whoever_leaves_a_group_belongs_to_it() {
        let task = Task::start(&format!("setsid {HOLDS}; :"));
        let mut groups = Groups::new();
        assert!(groups.orphans.is_none() || task.held_bytes(&mut groups) >= HELD_BYTES);
    }

    #[test]
    fn finding_is_paid_for_by_pauses_which_are_shorter_when_it_is_urgent() {
        let task = Task::start("sleep 60 & wait");
        let mut groups = Groups::new();
        groups.uses(&[task.group()], false);
        let mut is_found = |seconds_ago, is_urgent| {
            let at = Instant::now() - Duration::from_secs(seconds_ago);
            (groups.found_at, groups.finding_took) = (Some(at), Duration::from_millis(250));
            groups.uses(&[task.group()], is_urgent);
            groups.found_at != Some(at)
        };
        assert!(!is_found(5, false) && !is_found(100, false) && is_found(125, false));
        assert!(!is_found(1, true) && is_found(5, true));
    }
}
