//! The files around a workflow, as its text may ask for them.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use thiserror::Error;
use throng_core::workflow::Surroundings;
use throng_core::workflow::path::{is_inside, normalize};

use crate::storage::Storage;
use crate::tier::is_of_tier;

/// Larger files than this are not read as text: positions in them would not fit, and they are a mistake.
pub const TEXT_BYTES_LIMIT: u64 = 4_000_000_000;

/// Why a file cannot be read as text.
#[derive(Debug, Error)]
pub enum TextError {
    /// The system said no.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// There is too much of it.
    #[error("it has more than {} GB", TEXT_BYTES_LIMIT / 1_000_000_000)]
    TooLarge,
    /// It is something else.
    #[error("line {line}, column {column} is not UTF-8 text")]
    NotText {
        /// The line, from one.
        line: usize,
        /// The column, from one.
        column: usize,
    },
}

/// Files are looked at in parts of this size, so that a large one that is no text is not read to its end: a NUL is in
/// nobody's text, but in UTF-16, in programs, and in files with holes.
const PART_BYTES: u64 = 1 << 20;

fn not_text(before: &[u8]) -> TextError {
    let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
    let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
    let column = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
    TextError::NotText { line, column }
}

/// Reads a file as text, without the mark with which some editors begin it.
pub fn read_text(path: &Path) -> Result<String, TextError> {
    let file = std::fs::File::open(path)?;
    let length = file.metadata()?.len();
    if length > TEXT_BYTES_LIMIT {
        return Err(TextError::TooLarge);
    }
    let mut bytes = Vec::new();
    // A pipe does not say how long it is.
    let mut rest = file.take(TEXT_BYTES_LIMIT + 1);
    loop {
        let start = bytes.len();
        if rest.by_ref().take(PART_BYTES).read_to_end(&mut bytes)? == 0 {
            break;
        }
        if let Some(at) = bytes[start..].iter().position(|byte| *byte == 0) {
            return Err(not_text(&bytes[..start + at]));
        }
        // Only now, when it looks like text, is all the memory asked for, which may be more than there is.
        let left = (length as usize).saturating_sub(bytes.len());
        bytes.try_reserve(left + 1).map_err(|_| std::io::Error::from(std::io::ErrorKind::OutOfMemory))?;
    }
    if bytes.len() as u64 > TEXT_BYTES_LIMIT {
        return Err(TextError::TooLarge);
    }
    let mut text =
        String::from_utf8(bytes).map_err(|error| not_text(&error.as_bytes()[..error.utf8_error().valid_up_to()]))?;
    if text.starts_with('\u{feff}') {
        text.drain(..'\u{feff}'.len_utf8());
    }
    Ok(text)
}

/// The directory that a workflow's paths start from.
#[derive(Clone, Debug)]
pub struct Directory {
    path: PathBuf,
    /// Paths below which no task may make anything, and what they are for.
    reserved: Vec<(String, &'static str)>,
    /// Where files are that are not in it.
    storage: Option<Arc<dyn Storage>>,
}

impl Directory {
    /// Paths start from here.
    pub fn new(path: &Path) -> Self {
        Directory { path: path.to_owned(), reserved: Vec::new(), storage: None }
    }

    /// What is not there may be in a storage.
    #[must_use]
    pub fn with_storage(mut self, storage: Option<Arc<dyn Storage>>) -> Self {
        self.storage = storage;
        self
    }

    /// Keeps a path from being made by a task, if it lies in the directory.
    #[must_use]
    pub fn reserve(mut self, path: &Path, use_of_it: &'static str) -> Self {
        if let Some(inside) = path.strip_prefix(&self.path).ok().and_then(Path::to_str) {
            self.reserved.push((normalize(inside).into_owned(), use_of_it));
        }
        self
    }
}

/// How patterns of file names are meant.
pub(crate) const MATCHING: glob::MatchOptions =
    glob::MatchOptions { case_sensitive: true, require_literal_separator: true, require_literal_leading_dot: true };

/// Looks for what matches the parts of a pattern below a directory; `prefix` is how that is written. Links to directories are
/// followed, except by `**`, which could go round in circles.
fn search(directory: &Path, prefix: &str, parts: &[&str], found: &mut Vec<String>) -> Result<(), String> {
    let Some((part, rest)) = parts.split_first() else { return Ok(()) };
    if !part.contains(['*', '?', '[']) {
        let path = directory.join(part);
        return match rest {
            [] if path.symlink_metadata().is_ok() && !is_of_tier(&path) => {
                found.push(format!("{prefix}{part}"));
                Ok(())
            }
            [] => Ok(()),
            rest => search(&path, &format!("{prefix}{part}/"), rest, found),
        };
    }
    let is_any_depth = *part == "**";
    if is_any_depth {
        search(directory, prefix, rest, found)?;
    }
    let pattern = glob::Pattern::new(if is_any_depth { "*" } else { part }).map_err(|error| error.to_string())?;
    // What is no directory, or may not be read, holds nothing that matches.
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let (name, kind) = (entry.file_name(), entry.file_type());
        if !pattern.matches_with(&name.to_string_lossy(), MATCHING) {
            continue;
        }
        if kind.as_ref().is_ok_and(|kind| kind.is_symlink()) && is_of_tier(&entry.path()) {
            continue;
        }
        let is_directory = || kind.as_ref().is_ok_and(|kind| kind.is_dir() || !is_any_depth && kind.is_symlink());
        let is_wanted = rest.is_empty() && !is_any_depth || is_directory();
        let Some(text) = name.to_str() else {
            if is_wanted {
                return Err(format!("`{prefix}{}` is not UTF-8: rename it", name.to_string_lossy()));
            }
            continue;
        };
        match rest {
            _ if is_any_depth && is_directory() => search(&entry.path(), &format!("{prefix}{text}/"), parts, found)?,
            [] => found.push(format!("{prefix}{text}")),
            rest if is_directory() => search(&entry.path(), &format!("{prefix}{text}/"), rest, found)?,
            _ => {}
        }
    }
    Ok(())
}

impl Surroundings for Directory {
    fn glob(&self, pattern: &str) -> Result<Vec<String>, String> {
        let mut found = Vec::new();
        let start = if pattern.starts_with('/') { PathBuf::from("/") } else { self.path.clone() };
        let prefix = if pattern.starts_with('/') { "/" } else { "" };
        let parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        for part in parts.iter().filter(|part| **part != "**") {
            glob::Pattern::new(part).map_err(|error| error.to_string())?;
        }
        search(&start, prefix, &parts, &mut found)?;
        if let Some(storage) = self.storage.as_ref().filter(|_| is_inside(&normalize(pattern))) {
            found.extend(storage.glob(pattern)?);
        }
        found.sort_unstable();
        found.dedup();
        Ok(found)
    }

    fn read(&self, path: &str) -> Result<String, String> {
        read_text(&self.path.join(path)).map_err(|error| error.to_string())
    }

    fn reserved(&self, path: &str) -> Option<&'static str> {
        let is_at_or_below =
            |reserved: &str| path.strip_prefix(reserved).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.reserved.iter().find(|(reserved, _)| is_at_or_below(reserved)).map(|(_, use_of_it)| *use_of_it)
    }

    fn exists(&self, path: &str) -> bool {
        let place = self.path.join(path);
        if place.exists() && !is_of_tier(&place) {
            return true;
        }
        // What cannot be looked at now may be there: whoever needs it will say why not.
        let storage = self.storage.as_ref().filter(|_| is_inside(path));
        storage.is_some_and(|storage| storage.stamp(path).map_or(true, |stamp| stamp.is_present()))
    }

    fn elsewhere(&self, path: &str) -> Option<String> {
        Some(self.storage.as_ref().filter(|_| is_inside(path))?.place(path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn patterns_of_file_names() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["a.txt", "b.txt", ".hidden.txt", "d/c.txt", "d/e/f.txt", "d/e/g.csv", "x y/h.txt"] {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let found = |pattern: &str| Directory::new(folder.path()).glob(pattern).unwrap();
        assert_eq!(found("*.txt"), ["a.txt", "b.txt"]);
        assert_eq!(found("./*.txt"), ["a.txt", "b.txt"]);
        assert_eq!(found("[ab].txt"), ["a.txt", "b.txt"]);
        assert_eq!(found("**/*.txt"), ["a.txt", "b.txt", "d/c.txt", "d/e/f.txt", "x y/h.txt"]);
        assert_eq!(found("d/**/*.txt"), ["d/c.txt", "d/e/f.txt"]);
        assert_eq!(found("*/?.txt"), ["d/c.txt", "x y/h.txt"]);
        assert_eq!(found("d/*/g.csv"), ["d/e/g.csv"]);
        assert_eq!(found("nowhere/*.txt"), Vec::<String>::new());
        let absolute = format!("{}/d/*.txt", folder.path().display());
        assert_eq!(found(&absolute), [format!("{}/d/c.txt", folder.path().display())]);
        assert!(Directory::new(folder.path()).glob("a[").is_err());
        let strange = folder.path().join(std::ffi::OsStr::from_bytes(b"b\xff.txt"));
        std::fs::write(strange, "").unwrap();
        assert!(Directory::new(folder.path()).glob("*.txt").unwrap_err().contains("is not UTF-8"));
        assert_eq!(found("a*.txt"), ["a.txt"]);
    }
}
