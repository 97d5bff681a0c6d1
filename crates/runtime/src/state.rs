//! The state directory: what lies where in `.throng/`.
//!
//! ```text
//!   .throng/
//!     lock            held by the engine while it runs
//!     journal         what has been done (store); .draft, .damaged and .before-fresh are what they say
//!     slots           what is running (process)
//!     scratch/        what running tasks print
//!     aside/RUN/      outputs of attempts that did not succeed
//!     kept/RUN/       files that were in the way and are not Throng's
//!     tier/           where the memory tier of a run is, and what links lead into it
//!     replay/NAME/    files of a trace that is replayed
//!     home            the directory that this is the state of, if it is not the one around it
//!     runs/RUN/       one directory per run: about.json, definition, workflow, trace, log
//! ```

mod about;

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use thiserror::Error;
use throng_core::workflow::Workflow;

pub use about::{About, DataEnd, ExpectedData, HostInfo, NodeSetup, PoolSetup, RunEnd, Simulation, TierSetup};

/// A state directory that cannot be used.
#[derive(Debug, Error)]
pub enum StateError {
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
    /// It is not where it was.
    #[error("{} was moved or replaced while the run went on", path.display())]
    Moved {
        /// Where it was.
        path: PathBuf,
    },
    /// Another engine is at work here.
    #[error("another run is using {}{}", path.display(), if holder.is_empty() { String::new() } else { format!(" (process {holder})") })]
    Locked {
        /// The directory.
        path: PathBuf,
        /// The number of its process.
        holder: String,
    },
    /// It is the state of another directory.
    #[error("{} is the state of workflows in {home}", path.display())]
    Elsewhere {
        /// The directory.
        path: PathBuf,
        /// Whose state it is.
        home: String,
    },
    /// There is no such run.
    #[error("there is no run {run} in {}", path.display())]
    NoRun {
        /// What was asked for.
        run: String,
        /// The directory.
        path: PathBuf,
    },
    /// There is nothing at all.
    #[error("there is no Throng state in {}", path.display())]
    Missing {
        /// The directory.
        path: PathBuf,
    },
}

/// Adds what was being done, and to what, to a system error.
pub fn io_error(what: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StateError + use<> {
    let path = path.to_owned();
    move |error| StateError::Io { what, path, error }
}

/// A killed engine's lock can outlive it for a moment, in a process it was just about to start.
const DEAD_HOLDER_PATIENCE: Duration = Duration::from_secs(2);

/// A state directory.
#[derive(Clone, Debug)]
pub struct StateDirectory {
    path: PathBuf,
}

/// The right to change a state directory; given back when dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Refuses to go on if the directory is not where it was: somebody may have moved it, and made another one there.
    pub fn check_place(&self) -> Result<(), StateError> {
        let identity = |found: io::Result<std::fs::Metadata>| found.ok().map(|found| (found.dev(), found.ino()));
        match identity(self.file.metadata()) {
            Some(own) if identity(self.path.metadata()) == Some(own) => Ok(()),
            _ => Err(StateError::Moved { path: self.path.parent().unwrap_or(&self.path).to_owned() }),
        }
    }
}

impl StateDirectory {
    /// The directory at a path, whether it is there or not.
    pub fn new(path: &Path) -> Self {
        StateDirectory { path: path.to_owned() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The journal of what has been done.
    pub fn journal(&self) -> PathBuf {
        self.path.join("journal")
    }

    /// What runs have learnt of kinds of tasks.
    pub fn learnt(&self) -> PathBuf {
        self.path.join("learnt.json")
    }

    /// The table of what is running.
    pub fn slots(&self) -> PathBuf {
        self.path.join("slots")
    }

    /// What running tasks print.
    pub fn scratch(&self) -> PathBuf {
        self.path.join("scratch")
    }

    /// Where outputs of a run's unsuccessful attempts go.
    pub fn aside(&self, run: u64) -> PathBuf {
        self.path.join("aside").join(run.to_string())
    }

    /// Where files go that were in a run's way and are not Throng's.
    pub fn kept(&self, run: u64) -> PathBuf {
        self.path.join("kept").join(run.to_string())
    }

    /// What is known of a run's memory tier.
    pub fn tier(&self) -> PathBuf {
        self.path.join("tier")
    }

    fn home(&self) -> PathBuf {
        self.path.join("home")
    }

    /// The directory that this is the state of: the one around it, unless it says otherwise.
    pub fn directory(&self) -> PathBuf {
        match std::fs::read_to_string(self.home()) {
            Ok(home) => PathBuf::from(home.trim_end_matches('\n')),
            Err(_) => {
                let absolute = std::path::absolute(&self.path).unwrap_or_else(|_| self.path.clone());
                absolute.parent().map_or_else(|| PathBuf::from("."), Path::to_owned)
            }
        }
    }

    /// The directory that the paths of a workflow start from: a trace has one of its own in here, so that a replay cannot touch
    /// anybody's files.
    pub fn directory_of(&self, flow: &Workflow) -> PathBuf {
        if flow.is_trace() { self.replay(flow.title()) } else { self.directory() }
    }

    /// Where the files of a trace lie when it is replayed.
    pub fn replay(&self, title: &str) -> PathBuf {
        let path = std::path::absolute(&self.path).unwrap_or_else(|_| self.path.clone());
        // A file may be called `...json`: its files do not go to the directory above.
        let is_way_up = title.chars().all(|letter| letter == '.');
        path.join("replay").join(if is_way_up { format!("_{title}") } else { title.to_owned() })
    }

    /// Refuses to be the state of another directory than before: tasks of the same name would be mixed up.
    pub fn check_home(&self, directory: &Path) -> Result<(), StateError> {
        let home = match std::fs::read_to_string(self.home()) {
            Ok(home) => PathBuf::from(home.trim_end_matches('\n')),
            // It is plain from where it lies, if it is anybody's.
            Err(_) if !self.journal().exists() => return Ok(()),
            Err(_) => {
                let around = std::fs::canonicalize(&self.path).map_err(io_error("find", &self.path))?;
                around.parent().unwrap_or(&around).to_owned()
            }
        };
        let own = std::fs::canonicalize(directory).map_err(io_error("find", directory))?;
        if home == own {
            return Ok(());
        }
        Err(StateError::Elsewhere { path: self.path.clone(), home: home.display().to_string() })
    }

    /// Notes whose state this is, unless that is plain from where it lies: such a directory may be moved as a whole.
    pub fn set_home(&self, directory: &Path) -> Result<(), StateError> {
        let own = std::fs::canonicalize(directory).map_err(io_error("find", directory))?;
        let around = std::fs::canonicalize(&self.path).map_err(io_error("find", &self.path))?;
        if around.parent() == Some(&own) || self.home().exists() {
            return Ok(());
        }
        write_whole(&self.home(), format!("{}\n", own.display()).as_bytes())
    }

    /// Makes the directory if need be, and locks it.
    pub fn lock(&self) -> Result<Lock, StateError> {
        std::fs::create_dir_all(&self.path).map_err(io_error("make", &self.path))?;
        let path = self.path.join("lock");
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = opened.map_err(io_error("open", &path))?;
        let deadline = Instant::now() + DEAD_HOLDER_PATIENCE;
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Err(io_error("lock", &path)(error)),
            }
            let holder = std::fs::read_to_string(&path).unwrap_or_default().trim().to_owned();
            let process = holder.parse().ok().and_then(crate::process::look_at);
            let is_dead = process.is_none_or(|process| process.is_zombie);
            if !is_dead || Instant::now() > deadline {
                return Err(StateError::Locked { path: self.path.clone(), holder });
            }
            std::thread::sleep(Duration::from_millis(2));
        }
        file.set_len(0).and_then(|()| writeln!(file, "{}", std::process::id())).map_err(io_error("write to", &path))?;
        Ok(Lock { file, path })
    }

    /// Whether an engine is at work here.
    pub fn is_locked(&self) -> bool {
        let file = File::open(self.path.join("lock"));
        file.is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// The numbers of all runs, in order.
    pub fn runs(&self) -> Result<Vec<u64>, StateError> {
        let path = self.path.join("runs");
        let entries = match std::fs::read_dir(&path) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(io_error("read", &path)(error)),
        };
        let names = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let mut runs: Vec<u64> = names.collect();
        runs.sort_unstable();
        Ok(runs)
    }

    /// The directory of a run that may or may not exist.
    pub fn run(&self, number: u64) -> RunDirectory {
        RunDirectory { number, path: self.path.join("runs").join(number.to_string()) }
    }

    /// Makes the directory of the next run.
    pub fn make_run(&self) -> Result<RunDirectory, StateError> {
        let run = self.run(self.runs()?.last().map_or(1, |last| last + 1));
        std::fs::create_dir_all(&run.path).map_err(io_error("make", &run.path))?;
        Ok(run)
    }

    /// The run that a person means: a number, or `last`.
    pub fn find_run(&self, name: &str) -> Result<RunDirectory, StateError> {
        let runs = self.runs()?;
        if runs.is_empty() {
            return Err(StateError::Missing { path: self.path.clone() });
        }
        let number = match name {
            "last" => runs.last().copied(),
            name => name.parse().ok().filter(|number| runs.contains(number)),
        };
        let missing = || StateError::NoRun { run: name.to_owned(), path: self.path.clone() };
        Ok(self.run(number.ok_or_else(missing)?))
    }
}

/// The directory of one run.
#[derive(Clone, Debug)]
pub struct RunDirectory {
    /// The run's number.
    pub number: u64,
    /// Where it is.
    pub path: PathBuf,
}

impl RunDirectory {
    /// The trace.
    pub fn trace(&self) -> PathBuf {
        self.path.join("trace")
    }

    /// What tasks printed.
    pub fn log(&self) -> PathBuf {
        self.path.join("log")
    }

    /// The text of the workflow as it was, with that of files it includes.
    pub fn definition(&self) -> PathBuf {
        self.path.join("definition")
    }

    /// The workflow as it was.
    pub fn workflow(&self) -> PathBuf {
        self.path.join("workflow")
    }

    fn about(&self) -> PathBuf {
        self.path.join("about.json")
    }

    /// Reads what the run was about.
    pub fn read_about(&self) -> Result<About, StateError> {
        let path = self.about();
        let text = std::fs::read_to_string(&path).map_err(io_error("read", &path))?;
        serde_json::from_str(&text).map_err(|error| io_error("read", &path)(error.into()))
    }

    /// Writes what the run is about, all or nothing.
    pub fn write_about(&self, about: &About) -> Result<(), StateError> {
        let text = serde_json::to_vec_pretty(about).expect("plain data can be written");
        write_whole(&self.about(), &text)
    }
}

/// Writes a file so that it is either the old one or the new one, even if the engine is killed meanwhile.
///
/// It is not forced onto the disk: what is written this way only describes a run, and a wait for the disk
/// would cost as much as dozens of tasks.
pub fn write_whole(path: &Path, content: &[u8]) -> Result<(), StateError> {
    let draft = path.with_extension("draft");
    let written = std::fs::write(&draft, content).map_err(io_error("write", &draft));
    written.and_then(|()| std::fs::rename(&draft, path).map_err(io_error("replace", path))).inspect_err(|_| {
        // Half of it is no use to anybody.
        let _ = std::fs::remove_file(&draft);
    })
}

/// Writes a file so that it is either the old one or the new one, even if the power fails.
pub fn write_durably(path: &Path, content: &[u8]) -> Result<(), StateError> {
    let draft = path.with_extension("draft");
    let write = || {
        let mut file = File::create(&draft)?;
        file.write_all(content)?;
        file.sync_data()
    };
    write().map_err(io_error("write", &draft))?;
    std::fs::rename(&draft, path).map_err(io_error("replace", path))?;
    path.parent().map_or(Ok(()), sync_directory)
}

/// Makes sure that what a directory lists outlives a power failure.
pub fn sync_directory(path: &Path) -> Result<(), StateError> {
    File::open(path).and_then(|directory| directory.sync_all()).map_err(io_error("write", path))
}
