//! A control group with a limit of memory, so that whoever takes too much is killed, and nobody else is.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// A group, as long as it is kept.
#[derive(Debug)]
pub struct MemoryGroup {
    path: PathBuf,
    files: &'static Files,
}

/// What a version of control groups calls things.
#[derive(Debug)]
struct Files {
    root: &'static str,
    limit: &'static str,
    kills: &'static str,
}

const VERSIONS: [Files; 2] = [
    Files { root: "/sys/fs/cgroup", limit: "memory.max", kills: "memory.events" },
    Files { root: "/sys/fs/cgroup/memory", limit: "memory.limit_in_bytes", kills: "memory.oom_control" },
];

impl MemoryGroup {
    /// Makes one; only root may.
    pub fn new(bytes: u64) -> io::Result<MemoryGroup> {
        let name = format!("throng-widths-{}", std::process::id());
        let mut failed = io::Error::other("there are no control groups");
        for files in &VERSIONS {
            let path = Path::new(files.root).join(&name);
            // Nothing is made in a directory that is no group: the file has to be there.
            let limit = || std::fs::OpenOptions::new().write(true).open(path.join(files.limit));
            let made = std::fs::create_dir(&path)
                .and_then(|()| limit())
                .and_then(|mut file| file.write_all(bytes.to_string().as_bytes()));
            match made {
                Ok(()) => return Ok(MemoryGroup { path, files }),
                Err(error) => {
                    let _ = std::fs::remove_dir(&path);
                    failed = error;
                }
            }
        }
        Err(failed)
    }

    /// The file into which a process writes its number.
    pub fn processes(&self) -> PathBuf {
        self.path.join("cgroup.procs")
    }

    /// How many were killed by the kernel.
    pub fn kills(&self) -> u64 {
        let text = std::fs::read_to_string(self.path.join(self.files.kills)).unwrap_or_default();
        let count = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
        count.and_then(|count| count.trim().parse().ok()).unwrap_or(0)
    }
}

impl Drop for MemoryGroup {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir(&self.path);
    }
}
