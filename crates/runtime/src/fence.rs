//! A control group around an attempt that says how much memory it needs: the kernel holds it to that.
//!
//! ```text
//!   the engine's own group ──┬── throng-PID-0    an attempt, held to its `memory`
//!                            └── throng-PID-1    the next one
//! ```
//!
//! Where memory is learnt and may run out, attempts that say nothing have one as well, without a limit: there the kernel counts whom it has killed, and a
//! shell may go on as if nothing had happened when one of its children has gone.
//!
//! Groups can be made where the engine is root, or where its own group has been given to it (`systemd-run --user --scope -p Delegate=yes`).
//! Where they cannot, what a task says it needs is kept free for it, and nobody holds it to that. Each attempt has a group of its own: files in
//! memory and processes that one leaves behind are not the next one's. A group of the second version may not have processes beside groups: there
//! the engine moves into one of its own before it starts anything, if it is alone in its group, and back when the run is over.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::host::cgroup::{self, MemoryGroup};

/// What the names of groups begin with; the number of the engine and of the attempt follow.
const PREFIX: &str = "throng-";
/// The name of the group that the engine itself moves into.
const ENGINE: &str = "engine";
/// No shell starts in less, so nobody is held to less.
const LEAST_BYTES: u64 = 16 << 20;

/// So many of those that could not be taken away are tried again when one more is to go: more than one, so that they become fewer, and few, so that
/// an attempt does not wait for long.
const TRIED_AGAIN: usize = 4;

/// Where groups are made, if they can be.
#[derive(Debug)]
pub(crate) struct Fences {
    parent: Option<Parent>,
    made: AtomicU64,
    /// Groups that could not be taken away yet.
    left: Mutex<VecDeque<PathBuf>>,
}

impl Fences {
    /// Sees to it that groups can be made, if anybody will want one. Nothing may have been started yet.
    pub(crate) fn new(is_wanted: bool) -> Fences {
        let own = if is_wanted { cgroup::memory_groups().into_iter().next() } else { None };
        Fences { parent: own.and_then(Parent::prepare), made: AtomicU64::new(0), left: Mutex::default() }
    }

    /// Makes a group for an attempt, if that can be done here, and holds it to so many bytes, if it is to be held to any.
    pub(crate) fn make(&self, bytes: Option<u64>) -> Option<Fence<'_>> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let group = self.parent.as_ref()?.group.below(&name(&number.to_string()));
        std::fs::create_dir(group.directory()).ok()?;
        group.stand_together();
        let processes = bytes
            .map_or(Ok(()), |bytes| group.set_limit(bytes.max(LEAST_BYTES)))
            .and_then(|()| OpenOptions::new().write(true).open(group.directory().join("cgroup.procs")));
        match processes {
            Ok(processes) => Some(Fence { group, processes, fences: self }),
            Err(_) => {
                let _ = std::fs::remove_dir(group.directory());
                None
            }
        }
    }

    /// Everything has ended: nothing stays behind.
    pub(crate) fn end(&self) {
        for group in self.left().drain(..) {
            let _ = std::fs::remove_dir(group);
        }
        if let Some(parent) = &self.parent {
            parent.move_back();
        }
    }
}

impl Fences {
    fn left(&self) -> MutexGuard<'_, VecDeque<PathBuf>> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a group away, and those that could not be taken away before: whoever a task has left behind may still be about to end.
    fn take_away(&self, group: PathBuf) {
        let again: Vec<PathBuf> = {
            let mut left = self.left();
            let count = left.len().min(TRIED_AGAIN);
            left.drain(..count).collect()
        };
        let stays = |group: &PathBuf| {
            let removed = std::fs::remove_dir(group);
            removed.is_err_and(|error| error.kind() != io::ErrorKind::NotFound)
        };
        let stay: Vec<PathBuf> = std::iter::once(group).chain(again).filter(stays).collect();
        if !stay.is_empty() {
            self.left().extend(stay);
        }
    }
}

impl Drop for Fences {
    fn drop(&mut self) {
        self.end();
    }
}

fn name(of: &str) -> String {
    format!("{PREFIX}{}-{of}", std::process::id())
}

/// A group in which others can be made.
#[derive(Debug)]
struct Parent {
    group: MemoryGroup,
    /// Whether the engine has moved out of it.
    has_moved: AtomicBool,
}

impl Parent {
    /// Sees to it that groups can be made in a group, and takes away what dead engines have left there.
    fn prepare(group: MemoryGroup) -> Option<Parent> {
        sweep(group.directory());
        let parent = Parent { group, has_moved: AtomicBool::new(false) };
        if parent.group.is_old() || has_memory(&parent.read("cgroup.subtree_control")) {
            return Some(parent);
        }
        let own = std::process::id().to_string();
        let is_alone = parent.read("cgroup.procs").lines().eq([own.as_str()]);
        if !is_alone || !has_memory(&parent.read("cgroup.controllers")) {
            return None;
        }
        std::fs::create_dir(parent.engine()).ok()?;
        parent.has_moved.store(true, Ordering::Relaxed);
        let moved = std::fs::write(parent.engine().join("cgroup.procs"), &own)
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
        if self.has_moved.swap(false, Ordering::Relaxed) {
            let _ = self.write("cgroup.subtree_control", "-memory");
            let _ = self.write("cgroup.procs", &std::process::id().to_string());
            let _ = std::fs::remove_dir(self.engine());
        }
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

/// The group of an attempt.
#[derive(Debug)]
pub(crate) struct Fence<'a> {
    group: MemoryGroup,
    processes: File,
    fences: &'a Fences,
}

impl Fence<'_> {
    /// The file in which a process says that it comes.
    pub(crate) fn processes(&self) -> &File {
        &self.processes
    }

    /// How many the kernel has killed in it.
    pub(crate) fn kills(&self) -> u64 {
        self.group.kills()
    }

    /// Whether its limit has stood in the way.
    pub(crate) fn was_full(&self) -> bool {
        self.group.was_full()
    }
}

impl Drop for Fence<'_> {
    fn drop(&mut self) {
        self.fences.take_away(self.group.directory().to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controllers_are_told_by_their_whole_names() {
        assert!(has_memory("cpu memory pids\n"));
        assert!(!has_memory("cpuset hugetlb memory_recursiveprot\n") && !has_memory(""));
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

    #[test]
    fn what_could_not_be_taken_away_goes_while_others_do() {
        let folder = tempfile::tempdir().unwrap();
        let fences = Fences { parent: None, made: AtomicU64::new(0), left: Mutex::default() };
        // Like a group with a process in it, a directory with a file in it stays.
        let group = |number: usize| {
            let path = folder.path().join(number.to_string());
            std::fs::create_dir(&path).unwrap();
            path
        };
        for number in 0..10 {
            let path = group(number);
            std::fs::write(path.join("process"), "").unwrap();
            fences.take_away(path);
        }
        assert_eq!(fences.left().len(), 10);
        for number in 0..8 {
            std::fs::remove_file(folder.path().join(number.to_string()).join("process")).unwrap();
        }
        for number in 10..14 {
            fences.take_away(group(number));
        }
        let mut left: Vec<PathBuf> = fences.left().iter().cloned().collect();
        left.sort();
        assert_eq!(left, ["8", "9"].map(|number| folder.path().join(number)));
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    /// Files as a group of the second version has them; what the kernel would do with what is written is not done.
    fn second_version(processes: &str, controllers: &str) -> (tempfile::TempDir, MemoryGroup) {
        let folder = tempfile::tempdir().unwrap();
        for (file, text) in
            [("cgroup.procs", processes), ("cgroup.controllers", controllers), ("cgroup.subtree_control", "")]
        {
            std::fs::write(folder.path().join(file), text).unwrap();
        }
        let group = MemoryGroup::new(folder.path(), false);
        (folder, group)
    }

    #[test]
    fn an_engine_that_is_alone_makes_way_for_groups_and_comes_back() {
        let own = std::process::id().to_string();
        let (folder, group) = second_version(&format!("{own}\n"), "cpu memory\n");
        let parent = Parent::prepare(group).unwrap();
        let engine = folder.path().join(name(ENGINE));
        assert_eq!(std::fs::read_to_string(engine.join("cgroup.procs")).unwrap(), own);
        assert_eq!(parent.read("cgroup.subtree_control"), "+memory");
        // Here it is a file like any other, and would keep the directory.
        std::fs::remove_file(engine.join("cgroup.procs")).unwrap();
        parent.move_back();
        assert!(!engine.exists());
        assert_eq!((parent.read("cgroup.subtree_control"), parent.read("cgroup.procs")), ("-memory".to_owned(), own));
    }

    #[test]
    fn an_engine_among_others_moves_nobody() {
        let own = std::process::id();
        for (processes, controllers) in
            [(format!("1\n{own}\n"), "memory"), (format!("{own}\n"), "cpu io"), (String::new(), "memory")]
        {
            let (folder, group) = second_version(&processes, controllers);
            assert!(Parent::prepare(group).is_none());
            assert_eq!(std::fs::read_to_string(folder.path().join("cgroup.procs")).unwrap(), processes);
            assert!(!folder.path().join(name(ENGINE)).exists());
        }
    }
}
