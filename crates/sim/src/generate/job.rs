//! A job: one task, for graphs that are too irregular for stages. A shape gives a list of them, which is written task
//! by task in either format.

/// Lists are held in memory, with every name: nobody needs larger ones of these shapes.
pub(super) const JOBS_LIMIT: u64 = 100_000;

/// A file that a job reads or writes.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub path: String,
    /// Its size; none if it is said where it is written.
    pub size: Option<u64>,
}

/// One task.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub name: String,
    /// Its type.
    pub kind: &'static str,
    pub time_ns: u64,
    pub reads: Vec<File>,
    pub writes: Vec<File>,
}

impl Job {
    /// The only job of its type.
    pub(super) fn new(kind: &'static str, time_ns: u64) -> Job {
        Job { name: kind.to_owned(), kind, time_ns, reads: Vec::new(), writes: Vec::new() }
    }

    /// One of several jobs of its type.
    pub(super) fn numbered(kind: &'static str, number: impl std::fmt::Display, time_ns: u64) -> Job {
        Job { name: format!("{kind}-{number}"), ..Job::new(kind, time_ns) }
    }

    /// Reads a file that another job writes.
    pub(super) fn reads(mut self, path: impl Into<String>) -> Job {
        self.reads.push(File { path: path.into(), size: None });
        self
    }

    /// Reads files that other jobs write.
    pub(super) fn reads_each(mut self, paths: impl IntoIterator<Item = String>) -> Job {
        self.reads.extend(paths.into_iter().map(|path| File { path, size: None }));
        self
    }

    /// Reads a file from outside.
    pub(super) fn reads_outside(mut self, path: impl Into<String>, size: u64) -> Job {
        self.reads.push(File { path: path.into(), size: Some(size) });
        self
    }

    pub(super) fn writes(mut self, path: impl Into<String>, size: u64) -> Job {
        self.writes.push(File { path: path.into(), size: Some(size) });
        self
    }

    /// How much it writes in all.
    pub(super) fn written_bytes(&self) -> u64 {
        self.writes.iter().filter_map(|file| file.size).fold(0, u64::saturating_add)
    }
}
