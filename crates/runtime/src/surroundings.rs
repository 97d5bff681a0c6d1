//! The files around a workflow, as its text may ask for them.

use std::path::{Path, PathBuf};

use throng_core::workflow::Surroundings;
use throng_core::workflow::path::normalize;

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

    fn reserved(&self, path: &str) -> Option<&'static str> {
        let is_at_or_below =
            |reserved: &str| path.strip_prefix(reserved).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        self.reserved.iter().find(|(reserved, _)| is_at_or_below(reserved)).map(|(_, use_of_it)| *use_of_it)
    }

    fn exists(&self, path: &str) -> bool {
        self.path.join(path).exists()
    }
}
