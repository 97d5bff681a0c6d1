//! What the processes of tasks use now, a task with all processes of its group.
//!
//! Who belongs to a group the kernel tells only by naming each process's group, so all processes of the machine are looked at. That takes a few
//! microseconds for each, and is done no more often than it may cost.

use std::collections::HashMap;
use std::io::Read;

use throng_core::pack::Uses;

/// What the processes of some groups use. Memory that several of them share counts for each.
pub fn uses(groups: &[i32]) -> HashMap<i32, Uses> {
    let mut found: HashMap<i32, Uses> = groups.iter().map(|group| (*group, Uses::default())).collect();
    let (page, tick_us) =
        (rustix::param::page_size() as u64, 1_000_000 / rustix::param::clock_ticks_per_second().max(1));
    let mut text = Vec::with_capacity(1024);
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let name = entry.file_name();
        if !name.as_encoded_bytes().first().is_some_and(u8::is_ascii_digit) {
            continue;
        }
        text.clear();
        let path = format!("/proc/{}/stat", name.to_string_lossy());
        let read = std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut text));
        let Some(process) = read.ok().and_then(|_| process(&String::from_utf8_lossy(&text))) else { continue };
        if let Some(uses) = found.get_mut(&process.group) {
            uses.bytes += process.pages * page;
            uses.computing_us += process.ticks * tick_us;
        }
    }
    found
}

#[derive(Debug, PartialEq, Eq)]
struct Process {
    group: i32,
    /// On cores, with its children that have ended.
    ticks: u64,
    pages: u64,
}

fn process(stat: &str) -> Option<Process> {
    // The name is in parentheses and may itself hold anything; what follows the last one is plain.
    let fields: Vec<&str> = stat.get(stat.rfind(')')? + 2..)?.split(' ').collect();
    let number = |at: usize| fields.get(at)?.parse::<u64>().ok();
    let ticks = (11..15).map(number).sum::<Option<u64>>()?;
    Some(Process { group: fields.get(2)?.parse().ok()?, ticks, pages: number(21)? })
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
    fn this_process_holds_something() {
        // SAFETY: getpgrp touches no memory.
        let own = unsafe { libc::getpgrp() };
        let held = vec![1u8; 32 << 20];
        let found = uses(&[own, i32::MAX]);
        assert!(found[&own].bytes >= 32 << 20 && std::hint::black_box(&held)[5] == 1, "{found:?}");
        assert_eq!(found[&i32::MAX], Uses::default());
    }
}
