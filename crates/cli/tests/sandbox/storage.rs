//! A slow storage: a directory with files that workflows read, and another for the tiers that they are brought to.

use std::path::PathBuf;

use super::Sandbox;

/// A directory with so many files in `data/`, each of its own bytes, and an empty one for tiers.
pub struct Storage {
    directory: tempfile::TempDir,
}

impl Storage {
    pub fn new(files: usize, bytes: usize) -> Storage {
        let directory = tempfile::tempdir().unwrap();
        std::fs::create_dir(directory.path().join("data")).unwrap();
        std::fs::create_dir(directory.path().join("tiers")).unwrap();
        for number in 1..=files {
            let content: Vec<u8> = (0..bytes).map(|at| (at * number + at / 255) as u8).collect();
            std::fs::write(directory.path().join(format!("data/{number}")), content).unwrap();
        }
        Storage { directory }
    }

    pub fn path(&self) -> &str {
        self.directory.path().to_str().unwrap()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.directory.path().join(name)
    }

    pub fn tiers(&self) -> PathBuf {
        self.file("tiers")
    }

    /// Flags for a tier of so much.
    pub fn with_tier<'a>(&'a self, size: &'a str, rest: &[&'a str]) -> Vec<&'a str> {
        let mut flags = vec!["--storage", self.path(), "--memory-tier", size, "--tier-directory"];
        flags.push(Box::leak(self.tiers().display().to_string().into_boxed_str()));
        flags.extend(rest);
        flags
    }

    pub fn tier_count(&self) -> usize {
        std::fs::read_dir(self.tiers()).unwrap().count()
    }
}

#[track_caller]
pub fn expect_nothing_left(sandbox: &Sandbox, storage: &Storage) {
    assert_eq!(storage.tier_count(), 0, "no tier is left");
    assert!(!sandbox.exists("data"), "neither links nor the directory that was made for them are left");
    assert!(!sandbox.exists(".throng/tier"), "and nobody remembers them");
}
