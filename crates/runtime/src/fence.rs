//! A control group around the task of a slot that says how much memory it needs: the kernel holds it to that.
//!
//! ```text
//!   the engine's own group ──┬── throng-PID-0    the task in slot 0, held to its `memory`
//!                            └── throng-PID-1    ...
//! ```
//!
//! Groups can be made where the engine is root, or where its own group has been given to it (`systemd-run --user --scope -p Delegate=yes`).
//! Where they cannot, what a task says it needs is kept free for it, and nobody holds it to that. A group of the second version may not have
//! processes beside groups: there the engine moves into one of its own, if it is alone in its group, and back when it ends.

use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::host::cgroup::{self, MemoryGroup};

/// What the names of groups begin with; the number of the engine and of the slot follow.
const PREFIX: &str = "throng-";
/// The name of the group that the engine itself moves into.
const ENGINE: &str = "engine";
/// No shell starts in less, so nobody is held to less.
const LEAST_BYTES: u64 = 16 << 20;

/// Whether and where groups can be made, found out when the first is wanted.
#[derive(Debug)]
pub(crate) struct Fences {
    is_wanted: bool,
    parent: OnceLock<Option<Parent>>,
}

/// A group in which others can be made.
#[derive(Debug)]
struct Parent {
    group: MemoryGroup,
    /// Whether the engine has moved out of it.
    has_moved: bool,
}

impl Fences {
    /// Nothing is made yet.
    pub(crate) fn new(is_wanted: bool) -> Fences {
        Fences { is_wanted, parent: OnceLock::new() }
    }

    /// Makes a fence for a slot, if that can be done here.
    pub(crate) fn make(&self, slot: u32) -> Option<Fence> {
        let find = || cgroup::memory_groups().into_iter().next().and_then(Parent::prepare);
        let parent = self.parent.get_or_init(|| find().filter(|_| self.is_wanted)).as_ref()?;
        Fence::make(parent.group.below(&name(&slot.to_string())))
    }
}

impl Drop for Fences {
    fn drop(&mut self) {
        if let Some(Some(parent)) = self.parent.get().map(|parent| parent.as_ref().filter(|parent| parent.has_moved)) {
            parent.move_back();
        }
    }
}

fn name(of: &str) -> String {
    format!("{PREFIX}{}-{of}", std::process::id())
}

impl Parent {
    /// Sees to it that groups can be made in a group, and takes away what dead engines have left there.
    fn prepare(group: MemoryGroup) -> Option<Parent> {
        sweep(group.directory());
        if group.is_old() {
            return Some(Parent { group, has_moved: false });
        }
        let parent = Parent { group, has_moved: true };
        let controls = parent.read("cgroup.subtree_control");
        if has_memory(&controls) {
            return Some(Parent { has_moved: false, ..parent });
        }
        if !has_memory(&parent.read("cgroup.controllers")) {
            return None;
        }
        let own = std::process::id().to_string();
        let is_alone = parent.read("cgroup.procs").lines().eq([own.as_str()]);
        if !is_alone || std::fs::create_dir(parent.engine()).is_err() {
            return None;
        }
        let moved = std::fs::write(parent.engine().join("cgroup.procs"), "0")
            .and_then(|()| parent.write("cgroup.subtree_control", "+memory"));
        if moved.is_err() {
            parent.move_back();
            return None;
        }
        Some(parent)
    }

    fn engine(&self) -> PathBuf {
        self.group.directory().join(name(ENGINE))
    }

    fn read(&self, file: &str) -> String {
        std::fs::read_to_string(self.group.directory().join(file)).unwrap_or_default()
    }

    fn write(&self, file: &str, text: &str) -> io::Result<()> {
        std::fs::write(self.group.directory().join(file), text)
    }

    /// Best effort: whatever stays does no harm.
    fn move_back(&self) {
        let _ = self.write("cgroup.subtree_control", "-memory");
        let _ = self.write("cgroup.procs", "0");
        let _ = std::fs::remove_dir(self.engine());
    }
}

fn has_memory(controllers: &str) -> bool {
    controllers.split_whitespace().any(|name| name == "memory")
}

/// Takes groups away that dead engines have left; one with processes in it stays.
fn sweep(directory: &Path) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let engine = entry.file_name().to_str().and_then(|name| {
            let (engine, _) = name.strip_prefix(PREFIX)?.split_once('-')?;
            engine.parse::<u32>().ok()
        });
        if engine.is_some_and(|engine| !Path::new("/proc").join(engine.to_string()).exists()) {
            let _ = std::fs::remove_dir(entry.path());
        }
    }
}

/// The group of a slot.
#[derive(Debug)]
pub(crate) struct Fence {
    group: MemoryGroup,
    processes: File,
    limit_bytes: Option<u64>,
    kills: u64,
}

impl Fence {
    fn make(group: MemoryGroup) -> Option<Fence> {
        match std::fs::create_dir(group.directory()) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return None,
            _ => {}
        }
        let processes = OpenOptions::new().write(true).open(group.directory().join("cgroup.procs")).ok()?;
        let kills = group.kills();
        Some(Fence { group, processes, limit_bytes: None, kills })
    }

    /// Holds whoever comes to so much memory; says whether it does.
    pub(crate) fn hold_to(&mut self, bytes: u64) -> bool {
        let bytes = bytes.max(LEAST_BYTES);
        if self.limit_bytes != Some(bytes) {
            self.limit_bytes = self.group.set_limit(bytes).ok().map(|()| bytes);
        }
        self.limit_bytes.is_some()
    }

    /// The file in which a process says that it comes.
    pub(crate) fn processes(&self) -> &File {
        &self.processes
    }

    /// Whether the kernel has killed somebody in it since it was last asked.
    pub(crate) fn was_overrun(&mut self) -> bool {
        let kills = self.group.kills();
        std::mem::replace(&mut self.kills, kills) < kills
    }
}

impl Drop for Fence {
    fn drop(&mut self) {
        // Whoever a task has left behind may still be in it; then the next engine takes it away.
        let _ = std::fs::remove_dir(self.group.directory());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controllers_are_told_by_their_whole_names() {
        assert!(
            has_memory("cpu memory pids\n") && !has_memory("cpuset hugetlb memory_recursiveprot\n") && !has_memory("")
        );
    }

    #[test]
    fn what_dead_engines_have_left_goes() {
        let folder = tempfile::tempdir().unwrap();
        // No process has a number like that: the kernel's own limit is far below.
        let (dead, own) = ("throng-4294967295-3", name("3"));
        for group in [dead, &own, "throng-notes", "other"] {
            std::fs::create_dir(folder.path().join(group)).unwrap();
        }
        sweep(folder.path());
        let mut left: Vec<_> =
            std::fs::read_dir(folder.path()).unwrap().flatten().map(|entry| entry.file_name()).collect();
        left.sort();
        assert_eq!(left, ["other", own.as_str(), "throng-notes"]);
    }
}
