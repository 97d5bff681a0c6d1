//! A directory of its own and the real binary: what an end-to-end test needs.

#![allow(dead_code, reason = "each test file uses its own part of this")]
#![allow(clippy::unwrap_used, reason = "a test may panic")]

pub mod storage;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A workflow's directory, deleted when the test is over.
pub struct Sandbox {
    directory: TempDir,
}

/// What a finished command said.
#[derive(Debug)]
pub struct Output {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Output {
    /// The result of `--json`.
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error} in {self:?}"))
    }

    /// A number of the result of `--json`.
    pub fn number(&self, key: &str) -> u64 {
        self.json()[key].as_u64().unwrap_or_else(|| panic!("no {key} in {self:?}"))
    }

    /// Panics, showing everything, unless the exit code is this one.
    #[track_caller]
    pub fn expect_code(self, code: i32) -> Output {
        assert_eq!(self.code, code, "{self:#?}");
        self
    }
}

impl Sandbox {
    /// An empty directory.
    pub fn new() -> Sandbox {
        Sandbox { directory: tempfile::tempdir().unwrap() }
    }

    /// A directory with a workflow in `flow.yaml`.
    pub fn with_flow(text: &str) -> Sandbox {
        let sandbox = Sandbox::new();
        sandbox.write("flow.yaml", text);
        sandbox
    }

    pub fn path(&self) -> &Path {
        self.directory.path()
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub fn write(&self, name: &str, content: &str) {
        let path = self.file(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }

    #[track_caller]
    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.file(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub fn exists(&self, name: &str) -> bool {
        self.file(name).symlink_metadata().is_ok()
    }

    /// The command, ready to be run in this directory.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_throng"));
        command.args(arguments).current_dir(self.path()).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs `throng` with these arguments to its end.
    pub fn throng(&self, arguments: &[&str]) -> Output {
        finish(self.start(arguments))
    }

    /// Starts `throng` with these arguments.
    pub fn start(&self, arguments: &[&str]) -> Child {
        self.command(arguments).spawn().unwrap()
    }

    /// Runs the workflow and returns the result as JSON, whatever the exit code.
    pub fn run(&self, arguments: &[&str]) -> Output {
        let all: Vec<&str> = ["run", "flow.yaml", "--json"].iter().chain(arguments).copied().collect();
        self.throng(&all)
    }

    /// Every file below the directory with its content, the state directory left out.
    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut files = Vec::new();
        collect(self.path(), self.path(), &mut files);
        files.sort();
        files
    }
}

fn collect(root: &Path, directory: &Path, files: &mut Vec<(String, Vec<u8>)>) {
    for entry in std::fs::read_dir(directory).unwrap().flatten() {
        let path = entry.path();
        let name = path.strip_prefix(root).unwrap().to_str().unwrap().to_owned();
        if path.is_dir() {
            if name != ".throng" {
                collect(root, &path, files);
            }
        } else {
            files.push((name, std::fs::read(&path).unwrap()));
        }
    }
}

/// Waits for a command that was started.
pub fn finish(child: Child) -> Output {
    let output = child.wait_with_output().unwrap();
    Output {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

/// Sends a signal to a process.
pub fn signal(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid as i32).unwrap();
    rustix::process::kill_process(pid, signal).unwrap();
}

/// Waits until something is so, and panics if it does not come to be within ten seconds.
#[track_caller]
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(10);
    while !is_so() {
        assert!(Instant::now() < deadline, "{what} did not come to be");
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Processes whose environment says that they belong to the state directory at a path.
pub fn processes_of(state: &Path) -> Vec<i32> {
    let wanted = format!("THRONG_RUN={}", state.canonicalize().unwrap().display());
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    let pids = entries.filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    pids.filter(|pid| {
        let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted.as_bytes())
    })
    .collect()
}
