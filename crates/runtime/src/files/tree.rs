//! Directories as objects: one fingerprint for everything inside.

use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use throng_core::fingerprint::{Stamp, hash};

use crate::tier::is_of_tier;

/// Everything below a directory, by path, sorted.
fn files(directory: &Path) -> io::Result<Vec<(PathBuf, std::fs::Metadata)>> {
    let (mut found, mut open) = (Vec::new(), vec![directory.to_owned()]);
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(directory)? {
            let path = entry?.path();
            // Links are not followed: they could lead round in a circle.
            let metadata = path.symlink_metadata()?;
            // What is brought comes and goes.
            if metadata.is_symlink() && is_of_tier(&path) {
                continue;
            }
            if metadata.is_dir() {
                open.push(path.clone());
            }
            found.push((path, metadata));
        }
    }
    found.sort_by(|one, other| one.0.cmp(&other.0));
    Ok(found)
}

/// A stamp that changes when anything below a directory is added, removed, resized or modified.
pub(super) fn stamp(directory: &Path) -> io::Result<Stamp> {
    let (mut text, mut size) = (Vec::new(), 0);
    for (path, metadata) in files(directory)? {
        text.extend_from_slice(path.strip_prefix(directory).unwrap_or(&path).as_os_str().as_encoded_bytes());
        // Of a directory only that it is there: what changes in it is told by what is in it.
        if metadata.is_dir() {
            text.push(0);
            continue;
        }
        size += metadata.len();
        for number in [metadata.len() as i64, metadata.mtime(), metadata.mtime_nsec()] {
            text.extend_from_slice(&number.to_le_bytes());
        }
    }
    // In place of one time of modification: a number that stands for all of them.
    Ok(Stamp { size, modified_ns: (hash(&text) >> 1) as i64 })
}

/// A hash of the names and contents below a directory, never zero; `content` hashes one file.
pub(super) fn content(directory: &Path, content: &dyn Fn(&str) -> u64) -> io::Result<u64> {
    let mut text = Vec::new();
    for (path, metadata) in files(directory)? {
        text.extend_from_slice(path.strip_prefix(directory).unwrap_or(&path).as_os_str().as_encoded_bytes());
        let one = if metadata.is_dir() {
            1
        } else if metadata.is_symlink() {
            hash(std::fs::read_link(&path)?.as_os_str().as_encoded_bytes())
        } else {
            path.to_str().map_or(0, content)
        };
        text.extend_from_slice(&one.to_le_bytes());
    }
    Ok(hash(&text) | 1)
}
