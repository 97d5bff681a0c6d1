//! The files around a workflow, as its text may ask for them.

use std::io::Read;
use std::path::{Path, PathBuf};

use thiserror::Error;
use throng_core::workflow::Surroundings;
use throng_core::workflow::path::normalize;

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

/// Reads a file as text, without the mark with which some editors begin it.
pub fn read_text(path: &Path) -> Result<String, TextError> {
    let file = std::fs::File::open(path)?;
    let length = file.metadata()?.len();
    if length > TEXT_BYTES_LIMIT {
        return Err(TextError::TooLarge);
    }
    let mut bytes = Vec::with_capacity(length as usize + 1);
    // A pipe does not say how long it is.
    let read = file.take(TEXT_BYTES_LIMIT + 1).read_to_end(&mut bytes)?;
    if read as u64 > TEXT_BYTES_LIMIT {
        return Err(TextError::TooLarge);
    }
    let mut text = String::from_utf8(bytes).map_err(|error| {
        let before = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = before.iter().filter(|byte| **byte == b'\n').count() + 1;
        let line_start = before.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
        let column = String::from_utf8_lossy(&before[line_start..]).chars().count() + 1;
        TextError::NotText { line, column }
    })?;
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
}

impl Directory {
    /// Paths start from here.
    pub fn new(path: &Path) -> Self {
        Directory { path: path.to_owned(), reserved: Vec::new() }
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

impl Surroundings for Directory {
    fn glob(&self, pattern: &str) -> Result<Vec<String>, String> {
        let base = self.path.to_str().ok_or("the workflow's directory has a name that is not UTF-8")?;
        let absolute = pattern.starts_with('/');
        let whole = if absolute { pattern.to_owned() } else { format!("{}/{pattern}", glob::Pattern::escape(base)) };
        let options = glob::MatchOptions {
            case_sensitive: true,
            require_literal_separator: true,
            require_literal_leading_dot: true,
        };
        let mut found = Vec::new();
        for entry in glob::glob_with(&whole, options).map_err(|error| error.to_string())? {
            let path = entry.map_err(|error| error.to_string())?;
            let relative = if absolute { path.as_path() } else { path.strip_prefix(&self.path).unwrap_or(&path) };
            let name = relative.to_str().ok_or_else(|| format!("`{}` is not UTF-8", relative.display()))?;
            found.push(name.to_owned());
        }
        found.sort_unstable();
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
        self.path.join(path).exists()
    }
}
