//! The files of a workflow: looking at them, making room for them, setting them aside.

use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use throng_core::fingerprint::Stamp;
use throng_core::workflow::path as flow_path;
use xxhash_rust::xxh3::Xxh3;

use crate::tier::tier_of;

mod tree;

/// How long what was seen of a directory counts: long enough that short tasks do not walk through it each.
const TREE_AGE: Duration = Duration::from_secs(1);

/// The directory in which tasks run, and the one where unfinished outputs go.
#[derive(Debug)]
pub struct Workplace {
    directory: OwnedFd,
    path: PathBuf,
    /// Where outputs of attempts that did not succeed go.
    aside: PathBuf,
    /// Where files go that were in the way and are not Throng's.
    kept: PathBuf,
    kept_files: AtomicU64,
    /// What was seen of directories from outside, and when: a million tasks may use the same one.
    trees: Mutex<HashMap<String, (Instant, Stamp)>>,
    /// Directories known to exist, so that a million outputs in one do not ask a million times.
    made_directories: Mutex<HashSet<String>>,
}

impl Workplace {
    /// Opens a directory to work in; `aside` and `kept` are made when they are first needed.
    pub fn open(path: &Path, aside: PathBuf, kept: PathBuf) -> io::Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::PATH;
        let directory = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Workplace {
            directory,
            path: path.to_owned(),
            aside,
            kept,
            kept_files: AtomicU64::new(0),
            trees: Mutex::default(),
            made_directories: Mutex::default(),
        })
    }

    /// The directory itself.
    pub fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// What lies at a path, links followed; [`Stamp::ABSENT`] if nothing does. Of a directory, it covers all
    /// that is in it.
    pub fn stamp(&self, path: &str) -> io::Result<Stamp> {
        match rustix::fs::statat(&self.directory, path, AtFlags::empty()) {
            Ok(stat) if is_directory(&stat) => tree::stamp(&self.path.join(path)),
            Ok(stat) => Ok(stamp(&stat)),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(Stamp::ABSENT),
            Err(error) => Err(error.into()),
        }
    }

    /// What lies at a path that no task makes. A directory is walked through at most once in a while.
    pub fn stamp_of_source(&self, path: &str) -> io::Result<Stamp> {
        if !rustix::fs::statat(&self.directory, path, AtFlags::empty()).is_ok_and(|stat| is_directory(&stat)) {
            return self.stamp(path);
        }
        let known = self.trees.lock().expect("no thread panics here").get(path).copied();
        if let Some((_, stamp)) = known.filter(|(seen, _)| seen.elapsed() < TREE_AGE) {
            return Ok(stamp);
        }
        let stamp = self.stamp(path)?;
        self.trees.lock().expect("no thread panics here").insert(path.to_owned(), (Instant::now(), stamp));
        Ok(stamp)
    }

    /// Where a path leads that starts from this directory.
    pub fn path(&self, path: &str) -> PathBuf {
        self.path.join(path)
    }

    /// Opens a directory to run in, and makes it if it would lie in this one and is not there.
    pub fn open_directory(&self, path: &str) -> io::Result<OwnedFd> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::PATH;
        match rustix::fs::openat(&self.directory, path, flags, Mode::empty()) {
            Err(Errno::NOENT) if flow_path::is_inside(path) => {
                std::fs::create_dir_all(self.path.join(path))?;
                Ok(rustix::fs::openat(&self.directory, path, flags, Mode::empty())?)
            }
            other => Ok(other?),
        }
    }

    /// Whether anything lies at a path, be it a link that leads nowhere.
    pub(crate) fn is_occupied(&self, path: &str) -> bool {
        rustix::fs::statat(&self.directory, path, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    /// Where the link at a path leads, if it is one.
    pub(crate) fn link(&self, path: &str) -> Option<PathBuf> {
        let target = rustix::fs::readlinkat(&self.directory, path, Vec::new()).ok()?;
        Some(PathBuf::from(OsString::from_vec(target.into_bytes())))
    }

    /// The memory tier that a link at a path leads into, if one lies there.
    pub(crate) fn tier_at(&self, path: &str) -> Option<PathBuf> {
        self.link(path).and_then(|target| tier_of(&target).map(Path::to_owned))
    }

    /// Makes a link; never in the place of anything.
    pub(crate) fn make_link(&self, path: &str, target: &Path) -> io::Result<()> {
        Ok(rustix::fs::symlinkat(target, &self.directory, path)?)
    }

    /// Deletes a link.
    pub(crate) fn unlink(&self, path: &str) -> io::Result<()> {
        Ok(rustix::fs::unlinkat(&self.directory, path, AtFlags::empty())?)
    }

    /// Whether a path, relative to this directory, is a file that can be executed.
    pub fn is_program(&self, path: &str) -> bool {
        rustix::fs::statat(&self.directory, path, AtFlags::empty()).is_ok_and(|stat| {
            FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile && stat.st_mode & 0o111 != 0
        })
    }

    /// Makes the directory that a file will lie in.
    pub fn make_parent(&self, path: &str) -> io::Result<()> {
        let parent = flow_path::directory(path);
        let is_known = || self.made_directories.lock().expect("no thread panics here").contains(parent);
        // A task may have deleted it again.
        if parent == "." || is_known() && self.is_occupied(parent) {
            return Ok(());
        }
        std::fs::create_dir_all(self.path.join(parent))?;
        self.made_directories.lock().expect("no thread panics here").insert(parent.to_owned());
        Ok(())
    }

    /// Whether a directory lies at a path.
    pub fn is_directory(&self, path: &str) -> bool {
        rustix::fs::statat(&self.directory, path, AtFlags::SYMLINK_NOFOLLOW).is_ok_and(|stat| is_directory(&stat))
    }

    /// Deletes what Throng made and what is still as it was then, a directory with all that is in it.
    pub fn remove(&self, path: &str, made: Stamp) -> io::Result<()> {
        if self.is_directory(path) {
            return self.remove_directory(path, made);
        }
        match rustix::fs::unlinkat(&self.directory, path, AtFlags::empty()) {
            Err(Errno::NOENT) => Ok(()),
            other => Ok(other?),
        }
    }

    /// Deletes a directory. It is first moved out of reach, so that nothing can come into it between the last look and
    /// the end; if something has, it goes back to where it was.
    fn remove_directory(&self, path: &str, made: Stamp) -> io::Result<()> {
        let (place, away) = (self.path.join(path), self.path.join(format!("{path}.throng-deleting")));
        std::fs::rename(&place, &away)?;
        if tree::stamp(&away)? != made {
            return std::fs::rename(&away, &place);
        }
        std::fs::remove_dir_all(&away)
    }

    /// Deletes a temporary file or directory that Throng made, if it is still what it was.
    pub fn remove_temp(&self, path: &str, made: Stamp) -> io::Result<()> {
        if self.stamp(path)? != made || !made.is_present() {
            return Ok(());
        }
        self.remove(path, made)
    }

    /// Moves what an attempt that did not succeed has made out of the way; says where to, if anything was there.
    pub fn set_aside(&self, path: &str) -> io::Result<Option<PathBuf>> {
        self.move_away(path, &self.aside)
    }

    /// Moves somebody's file out of the way, to where nothing is ever deleted.
    pub fn keep(&self, path: &str) -> io::Result<bool> {
        let moved = self.move_away(path, &self.kept)?.is_some();
        self.kept_files.fetch_add(moved.into(), Ordering::Relaxed);
        Ok(moved)
    }

    /// How many files have been kept that way.
    pub fn kept_files(&self) -> u64 {
        self.kept_files.load(Ordering::Relaxed)
    }

    /// Moves whatever lies at a path, never over something that is there already.
    fn move_away(&self, path: &str, place: &Path) -> io::Result<Option<PathBuf>> {
        if !self.is_occupied(path) {
            return Ok(None);
        }
        let from = self.path.join(path);
        let mut to = place.join(path);
        if let Some(parent) = to.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let mut number = 1;
        while to.symlink_metadata().is_ok() {
            number += 1;
            to = place.join(format!("{path}~{number}"));
        }
        match std::fs::rename(&from, &to) {
            // The state lies on another file system: keep it beside where it was.
            Err(error) if error.raw_os_error() == Some(Errno::XDEV.raw_os_error()) => {
                let mut number = 1;
                let mut beside = self.path.join(format!("{path}.throng-aside"));
                while beside.symlink_metadata().is_ok() {
                    number += 1;
                    beside = self.path.join(format!("{path}.throng-aside~{number}"));
                }
                std::fs::rename(&from, &beside)?;
                to = beside;
            }
            other => other?,
        }
        Ok(Some(to))
    }

    /// A hash of a file's content, never zero; zero for what cannot be read as a file.
    pub fn content(&self, path: &str) -> u64 {
        self.read_content(path).unwrap_or(0)
    }

    fn read_content(&self, path: &str) -> io::Result<u64> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let mut file = File::from(rustix::fs::openat(&self.directory, path, flags, Mode::empty())?);
        let found = file.metadata()?;
        if found.is_dir() {
            return tree::content(&self.path.join(path), &|inner| self.content(inner));
        }
        if !found.is_file() {
            return Ok(0);
        }
        let mut hasher = Xxh3::new();
        let mut buffer = vec![0; 256 * 1024];
        loop {
            match file.read(&mut buffer)? {
                0 => return Ok(hasher.digest() | 1),
                length => hasher.update(&buffer[..length]),
            }
        }
    }
}

fn is_directory(stat: &Stat) -> bool {
    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
}

fn stamp(stat: &Stat) -> Stamp {
    Stamp {
        size: stat.st_size as u64,
        modified_ns: stat.st_mtime.wrapping_mul(1_000_000_000).wrapping_add(stat.st_mtime_nsec as i64),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_aside_keeps_every_earlier_one() {
        let directory = tempfile::tempdir().unwrap();
        let aside = directory.path().join("aside");
        let place = Workplace::open(directory.path(), aside.clone(), directory.path().join("kept")).unwrap();
        for content in ["one", "two", "three"] {
            place.make_parent("a/b").unwrap();
            std::fs::write(directory.path().join("a/b"), content).unwrap();
            assert!(place.set_aside("a/b").unwrap().is_some());
        }
        assert_eq!(place.set_aside("a/b").unwrap(), None);
        assert_eq!(place.stamp("a/b").unwrap(), Stamp::ABSENT);
        assert_eq!(std::fs::read_to_string(aside.join("a/b")).unwrap(), "one");
        assert_eq!(std::fs::read_to_string(aside.join("a/b~3")).unwrap(), "three");
    }

    #[test]
    fn content_is_told_apart_and_never_zero() {
        let directory = tempfile::tempdir().unwrap();
        let place = Workplace::open(directory.path(), PathBuf::new(), PathBuf::new()).unwrap();
        for (name, content) in [("a", "x"), ("b", "x"), ("c", "y"), ("empty", "")] {
            std::fs::write(directory.path().join(name), content).unwrap();
        }
        assert_eq!(place.content("a"), place.content("b"));
        assert_ne!(place.content("a"), place.content("c"));
        assert_ne!(place.content("empty"), 0);
        assert_eq!(place.content("missing"), 0);
        std::fs::create_dir(directory.path().join("d")).unwrap();
        let empty = (place.stamp("d").unwrap(), place.content("d"));
        std::fs::write(directory.path().join("d/x"), "x").unwrap();
        let full = (place.stamp("d").unwrap(), place.content("d"));
        assert!(empty.0 != full.0 && empty.1 != full.1 && full.1 != 0);
        std::fs::write(directory.path().join("d/x"), "yy").unwrap();
        assert!(place.stamp("d").unwrap() != full.0 && place.content("d") != full.1);
    }
}
