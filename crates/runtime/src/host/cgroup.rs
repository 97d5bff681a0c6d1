//! The control groups that this process is in, and what they say of its memory.
//!
//! A limit further up holds as well, so all groups from the process's own up to the root are looked at. What the kernel would give back by
//! itself, such as files that were read, does not count as used.

use std::path::{Path, PathBuf};

/// A group with its files for memory, of either version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryGroup {
    directory: PathBuf,
    is_old: bool,
}

impl MemoryGroup {
    /// A group of the first or the second version.
    pub fn new(directory: &Path, is_old: bool) -> MemoryGroup {
        MemoryGroup { directory: directory.to_owned(), is_old }
    }

    /// Where it is.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    /// Whether it is of the first version.
    pub fn is_old(&self) -> bool {
        self.is_old
    }

    /// A group in this one, which may not be there.
    pub fn below(&self, name: &str) -> MemoryGroup {
        MemoryGroup { directory: self.directory.join(name), is_old: self.is_old }
    }

    /// Holds its processes to so much memory.
    pub fn set_limit(&self, bytes: u64) -> std::io::Result<()> {
        let write = |name: &str, text: &str| std::fs::write(self.directory.join(name), text);
        let limit = bytes.to_string();
        if self.is_old {
            return write("memory.limit_in_bytes", &limit);
        }
        // Not every kernel has it.
        let _ = write("memory.swap.max", "0");
        write("memory.max", &limit)
    }

    /// Whom the kernel kills for want of memory it kills with all others of the group, where it can do that.
    pub fn stand_together(&self) {
        if !self.is_old {
            let _ = std::fs::write(self.directory.join("memory.oom.group"), "1");
        }
    }

    fn read(&self, new: &str, old: &str) -> Option<String> {
        std::fs::read_to_string(self.directory.join(if self.is_old { old } else { new })).ok()
    }

    /// How much its processes may hold together, if that is limited.
    pub fn limit_bytes(&self) -> Option<u64> {
        self.read("memory.max", "memory.limit_in_bytes")?.trim().parse().ok()
    }

    /// How much they hold that they could not do without.
    pub fn held_bytes(&self) -> Option<u64> {
        let used: u64 = self.read("memory.current", "memory.usage_in_bytes")?.trim().parse().ok()?;
        let stat = self.read("memory.stat", "memory.stat").unwrap_or_default();
        // Files that were read once and such that were read again: the kernel takes either before it kills anybody.
        let keys = if self.is_old {
            ["total_inactive_file ", "total_active_file "]
        } else {
            ["inactive_file ", "active_file "]
        };
        let files = keys.map(|key| number(&stat, key));
        Some(used.saturating_sub(files.iter().sum()))
    }

    /// How often the kernel has killed one of its processes because it held too much, as far as that is counted.
    pub fn kills(&self) -> u64 {
        let text = self.read("memory.events", "memory.oom_control").unwrap_or_default();
        number(&text, "oom_kill ")
    }

    /// Whether its own limit ever stood in the way. Whoever is killed in it without that was killed because a group around it, or the machine,
    /// had run out. In the first version this may also have been files that had to make way.
    pub fn was_full(&self) -> bool {
        if self.is_old {
            return self.read("", "memory.failcnt").is_some_and(|text| number(&text, "") > 0);
        }
        // Not every kernel has the first, which leaves out groups below; there are none below that of an attempt, unless it makes some.
        let events = ["memory.events.local", "memory.events"].iter().find_map(|name| self.read(name, ""));
        number(&events.unwrap_or_default(), "oom ") > 0
    }

    /// What the kernel tells of processes that wait for memory.
    pub fn pressure(&self) -> Option<String> {
        std::fs::read_to_string(self.directory.join("memory.pressure")).ok()
    }
}

/// What stands behind a key at the beginning of a line; nothing if it is not there.
fn number(text: &str, key: &str) -> u64 {
    text.lines().find_map(|line| line.strip_prefix(key)?.trim().parse().ok()).unwrap_or(0)
}

/// The groups of this process, the nearest first.
pub fn memory_groups() -> Vec<MemoryGroup> {
    let found = directories("memory").into_iter();
    found.map(|(directory, is_old)| MemoryGroup { directory, is_old }).collect()
}

/// The groups of this process that have to do with something, the nearest first, each with whether it is of the first version.
pub fn directories(controller: &str) -> Vec<(PathBuf, bool)> {
    let read = |name: &str| std::fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default();
    groups(&read("mountinfo"), &read("cgroup"), controller)
}

fn groups(mounts: &str, own: &str, controller: &str) -> Vec<(PathBuf, bool)> {
    let mut groups = Vec::new();
    for line in own.lines() {
        let mut parts = line.splitn(3, ':');
        let (Some(number), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else {
            continue;
        };
        let is_old = controllers.split(',').any(|name| name == controller);
        if !is_old && number != "0" {
            continue;
        }
        let Some((root, point)) = mount(mounts, is_old, controller) else { continue };
        // In a container, the group's own directory may be all that is mounted.
        let below = Path::new(path).strip_prefix(root).unwrap_or(Path::new(""));
        let top = Path::new(point);
        let own = if below.as_os_str().is_empty() { top.to_owned() } else { top.join(below) };
        let directories = own.ancestors().map(Path::to_owned).collect::<Vec<_>>();
        groups.extend(
            directories
                .into_iter()
                .take_while(|directory| directory.starts_with(top))
                .map(|directory| (directory, is_old)),
        );
    }
    groups
}

/// Where the groups of a version are mounted: which part of them, and where.
fn mount<'a>(mounts: &'a str, is_old: bool, controller: &str) -> Option<(&'a str, &'a str)> {
    mounts.lines().find_map(|line| {
        let (place, kind) = line.split_once(" - ")?;
        let mut kind = kind.split(' ');
        let is_it = match kind.next()? {
            "cgroup2" => !is_old,
            "cgroup" => is_old && kind.nth(1)?.split(',').any(|option| option == controller),
            _ => false,
        };
        let mut place = place.split(' ').skip(3);
        is_it.then_some((place.next()?, place.next()?))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "24 1 0:22 / /proc rw - proc proc rw\n\
        31 1 0:27 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n\
        40 1 0:30 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";

    fn directories(mounts: &str, own: &str) -> Vec<String> {
        groups(mounts, own, "memory").into_iter().map(|(directory, _)| directory.display().to_string()).collect()
    }

    #[test]
    fn all_groups_above_are_found_in_either_version() {
        let own = "9:name=systemd:/\n4:cpu,memory:/jobs/7\n0::/x\n";
        let found = directories(MOUNTS, own);
        let old = ["/sys/fs/cgroup/memory/jobs/7", "/sys/fs/cgroup/memory/jobs", "/sys/fs/cgroup/memory"];
        assert_eq!(found[..3], old);
        assert_eq!(found[3..], ["/sys/fs/cgroup/unified/x", "/sys/fs/cgroup/unified"]);
        // What is not mounted in the first version may be in the second.
        assert_eq!(groups(MOUNTS, own, "cpu").len(), 2);
    }

    #[test]
    fn a_container_sees_its_own_group_as_the_root() {
        let mounts = "31 1 0:27 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
        assert_eq!(directories(mounts, "0::/docker/abc\n"), ["/sys/fs/cgroup"]);
        assert_eq!(directories(mounts, "0::/\n"), ["/sys/fs/cgroup"]);
        assert!(directories("", "0::/\n").is_empty() && directories(mounts, "").is_empty());
    }

    #[test]
    fn what_a_group_says() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        let group = |is_old| MemoryGroup { directory: folder.path().to_owned(), is_old };
        assert_eq!((group(true).limit_bytes(), group(true).held_bytes(), group(true).kills()), (None, None, 0));
        write("memory.max", "max\n");
        assert_eq!(group(false).limit_bytes(), None);
        write("memory.max", "1000\n");
        write("memory.current", "700\n");
        write(
            "memory.stat",
            "inactive_anon 1\ninactive_file 100\nactive_file 10\ntotal_inactive_file 200\ntotal_active_file 20\n",
        );
        write("memory.events", "low 0\noom 4\noom_kill 3\n");
        assert_eq!(
            (group(false).limit_bytes(), group(false).held_bytes(), group(false).kills()),
            (Some(1000), Some(590), 3)
        );
        write("memory.usage_in_bytes", "900\n");
        assert_eq!(group(true).held_bytes(), Some(680));
    }

    #[test]
    fn a_group_is_full_by_its_own_limit() {
        let folder = tempfile::tempdir().unwrap();
        let is_full = |is_old, name: &str, text: &str| {
            std::fs::write(folder.path().join(name), text).unwrap();
            MemoryGroup::new(folder.path(), is_old).was_full()
        };
        assert!(!MemoryGroup::new(folder.path(), false).was_full());
        assert!(!is_full(false, "memory.events", "max 7\noom 0\noom_kill 1\n"));
        assert!(is_full(false, "memory.events", "max 7\noom 1\noom_kill 1\n"));
        assert!(!is_full(false, "memory.events.local", "max 0\noom 0\noom_kill 0\n"), "a group below it was");
        assert!(!is_full(true, "memory.failcnt", "0\n") && is_full(true, "memory.failcnt", "12\n"));
    }
}
