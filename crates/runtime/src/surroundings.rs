//! The files around a workflow, as its text may ask for them.

use std::path::{Path, PathBuf};

use throng_core::workflow::Surroundings;

/// The directory that a workflow's paths start from.
#[derive(Clone, Debug)]
pub struct Directory {
    path: PathBuf,
}

impl Directory {
    /// Paths start from here.
    pub fn new(path: &Path) -> Self {
        Directory { path: path.to_owned() }
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

    fn exists(&self, path: &str) -> bool {
        self.path.join(path).exists()
    }
}
