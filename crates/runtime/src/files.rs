//! The files of a workflow: looking at them, making room for them, setting them aside.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;
use throng_core::fingerprint::Stamp;
use throng_core::workflow::path as flow_path;
use xxhash_rust::xxh3::Xxh3;

/// The directory in which tasks run, and the one where unfinished outputs go.
#[derive(Debug)]
pub struct Workplace {
    directory: OwnedFd,
    path: PathBuf,
    aside: PathBuf,
    /// Directories known to exist, so that a million outputs in one do not ask a million times.
    made_directories: Mutex<HashSet<String>>,
}

impl Workplace {
    /// Opens a directory to work in; `aside` is made when it is first needed.
    pub fn open(path: &Path, aside: PathBuf) -> io::Result<Self> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC | OFlags::PATH;
        let directory = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Workplace { directory, path: path.to_owned(), aside, made_directories: Mutex::default() })
    }

    /// The directory itself.
    pub fn directory(&self) -> BorrowedFd<'_> {
        self.directory.as_fd()
    }

    /// What lies at a path, links followed; [`Stamp::ABSENT`] if nothing does.
    pub fn stamp(&self, path: &str) -> io::Result<Stamp> {
        match rustix::fs::statat(&self.directory, path, AtFlags::empty()) {
            Ok(stat) => Ok(stamp(&stat)),
            Err(Errno::NOENT | Errno::NOTDIR) => Ok(Stamp::ABSENT),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether anything lies at a path, be it a link that leads nowhere.
    fn is_occupied(&self, path: &str) -> bool {
        rustix::fs::statat(&self.directory, path, AtFlags::SYMLINK_NOFOLLOW).is_ok()
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
        if parent == "." || self.made_directories.lock().expect("no thread panics here").contains(parent) {
            return Ok(());
        }
        std::fs::create_dir_all(self.path.join(parent))?;
        self.made_directories.lock().expect("no thread panics here").insert(parent.to_owned());
        Ok(())
    }

    /// Deletes a file that will be made anew.
    pub fn remove(&self, path: &str) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.directory, path, AtFlags::empty()) {
            Err(Errno::ISDIR) => std::fs::remove_dir_all(self.path.join(path)),
            Err(Errno::NOENT) => Ok(()),
            other => Ok(other?),
        }
    }

    /// Moves whatever lies at a path out of the way, never over something that is there already.
    pub fn set_aside(&self, path: &str) -> io::Result<bool> {
        if !self.is_occupied(path) {
            return Ok(false);
        }
        let from = self.path.join(path);
        let mut to = self.aside.join(path);
        if let Some(parent) = to.parent() {
            std::fs::create_dir_all(parent)?;
        }
        let mut number = 1;
        while to.symlink_metadata().is_ok() {
            number += 1;
            to = self.aside.join(format!("{path}~{number}"));
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
            }
            other => other?,
        }
        Ok(true)
    }

    /// A hash of a file's content, never zero; zero for what cannot be read as a file.
    pub fn content(&self, path: &str) -> u64 {
        self.read_content(path).unwrap_or(0)
    }

    fn read_content(&self, path: &str) -> io::Result<u64> {
        let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
        let mut file = File::from(rustix::fs::openat(&self.directory, path, flags, Mode::empty())?);
        if !file.metadata()?.is_file() {
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

fn stamp(stat: &Stat) -> Stamp {
    Stamp { size: stat.st_size as u64, modified_ns: stat.st_mtime * 1_000_000_000 + stat.st_mtime_nsec as i64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_aside_keeps_every_earlier_one() {
        let directory = tempfile::tempdir().unwrap();
        let aside = directory.path().join("aside");
        let place = Workplace::open(directory.path(), aside.clone()).unwrap();
        for content in ["one", "two", "three"] {
            place.make_parent("a/b").unwrap();
            std::fs::write(directory.path().join("a/b"), content).unwrap();
            assert!(place.set_aside("a/b").unwrap());
        }
        assert!(!place.set_aside("a/b").unwrap());
        assert_eq!(place.stamp("a/b").unwrap(), Stamp::ABSENT);
        assert_eq!(std::fs::read_to_string(aside.join("a/b")).unwrap(), "one");
        assert_eq!(std::fs::read_to_string(aside.join("a/b~3")).unwrap(), "three");
    }

    #[test]
    fn content_is_told_apart_and_never_zero() {
        let directory = tempfile::tempdir().unwrap();
        let place = Workplace::open(directory.path(), directory.path().join("aside")).unwrap();
        for (name, content) in [("a", "x"), ("b", "x"), ("c", "y"), ("empty", "")] {
            std::fs::write(directory.path().join(name), content).unwrap();
        }
        assert_eq!(place.content("a"), place.content("b"));
        assert_ne!(place.content("a"), place.content("c"));
        assert_ne!(place.content("empty"), 0);
        assert_eq!(place.content("missing"), 0);
        assert_eq!(place.content("."), 0);
    }
}
