//! What a replay needs before it begins: room on the disk, and the files that come from outside.

use std::fs::File;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use thiserror::Error;
use throng_core::fingerprint::hash;
use throng_core::ids::ObjectId;
use throng_core::workflow::Workflow;

use crate::storage::PIECE_BYTES;

/// Why a replay cannot begin.
#[derive(Debug, Error)]
pub enum ReplayError {
    /// There is not enough room.
    #[error("the files of the trace need {needed_bytes} bytes more, and {} has {free_bytes} left", path.display())]
    NoRoom {
        /// Where they are to lie.
        path: PathBuf,
        /// How much more they need.
        needed_bytes: u64,
        /// How much there is.
        free_bytes: u64,
    },
    /// The system said no.
    #[error("cannot {what} {}: {error}", path.display())]
    Io {
        /// What was being done.
        what: &'static str,
        /// To which file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
}

fn failed(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> ReplayError {
    let path = path.to_owned();
    move |error| ReplayError::Io { what, path, error }
}

/// Looks whether there is room for what is not there already; changes nothing.
pub fn check_room(flow: &Workflow, directory: &Path) -> Result<(), ReplayError> {
    find_missing(flow, directory).map(drop)
}

/// What is not there already, for which there is room, and how large it will be.
fn find_missing(flow: &Workflow, directory: &Path) -> Result<Vec<(ObjectId, u64)>, ReplayError> {
    let missing: Vec<(ObjectId, u64)> = (0..flow.object_count())
        .map(ObjectId::at)
        .map(|object| (object, flow.declared_size(object).unwrap_or(0)))
        .filter(|(object, bytes)| !is_there(&directory.join(flow.object_name(*object)), *bytes))
        .collect();
    let needed_bytes = missing.iter().fold(0u64, |sum, (_, bytes)| sum.saturating_add(*bytes));
    let existing = directory.ancestors().find(|path| path.exists()).unwrap_or(directory);
    let room = rustix::fs::statvfs(existing).map_err(|error| failed("look at", existing)(error.into()))?;
    let free_bytes = room.f_bavail.saturating_mul(room.f_frsize);
    if needed_bytes > free_bytes {
        return Err(ReplayError::NoRoom { path: directory.to_owned(), needed_bytes, free_bytes });
    }
    Ok(missing)
}

/// Makes the directory and what comes from outside, as far as it is not there already; says how many files were made.
pub fn prepare(flow: &Workflow, directory: &Path) -> Result<u64, ReplayError> {
    let missing = find_missing(flow, directory)?;
    std::fs::create_dir_all(directory).map_err(failed("make", directory))?;
    let mut made = 0;
    for (object, bytes) in missing.into_iter().filter(|(object, _)| flow.producer(*object).is_none()) {
        let name = flow.object_name(object);
        let path = directory.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(failed("make", parent))?;
        }
        let draft = draft(&path);
        write_bytes(&draft, name, bytes, || true).map_err(failed("write", &path))?;
        std::fs::rename(&draft, &path).map_err(failed("write", &path))?;
        made += 1;
    }
    Ok(made)
}

/// Where a file is written before it is complete: whoever comes after a replay that was killed finds it whole or not at all.
pub(crate) fn draft(path: &Path) -> PathBuf {
    let mut draft = path.as_os_str().to_owned();
    // No id of a file becomes such a path.
    draft.push("%draft");
    PathBuf::from(draft)
}

fn is_there(path: &Path, bytes: u64) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_file() && found.len() == bytes)
}

/// Writes a file of so many bytes, which are always the same for the same name; `goes_on` is asked before each part of it.
pub(crate) fn write_bytes(path: &Path, name: &str, bytes: u64, mut goes_on: impl FnMut() -> bool) -> io::Result<()> {
    let mut file = File::create(path)?;
    let mut left = bytes;
    let mut part = Vec::new();
    while left > 0 && goes_on() {
        let length = left.min(PIECE_BYTES as u64) as usize;
        if part.is_empty() {
            part = noise(name, length);
        }
        file.write_all(&part[..length])?;
        left -= length as u64;
    }
    Ok(())
}

/// Bytes that no disk or network can make smaller.
fn noise(name: &str, length: usize) -> Vec<u8> {
    let mut state = hash(name.as_bytes()) | 1;
    let mut bytes = Vec::with_capacity(length + 8);
    while bytes.len() < length {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bytes.extend_from_slice(&state.to_le_bytes());
    }
    bytes.truncate(length);
    bytes
}
