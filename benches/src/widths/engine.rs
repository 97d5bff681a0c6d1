//! Runs a workflow with the engine, as anybody would.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Result;
use super::group::MemoryGroup;

/// The engine that is measured.
#[derive(Clone, Debug)]
pub struct Engine {
    /// Where it is.
    pub throng: PathBuf,
}

/// How a run goes.
#[derive(Clone, Debug, Default)]
pub struct Way<'a> {
    /// Flags of `throng run`.
    pub flags: Vec<String>,
    /// In which memory.
    pub group: Option<&'a MemoryGroup>,
    /// Nobody waits for longer than this.
    pub patience: Option<Duration>,
}

impl Way<'_> {
    /// So many at once, all the time.
    pub fn fixed(width: u32) -> Self {
        Way { flags: ["--pack", "fixed", "--width", &width.to_string()].map(str::to_owned).to_vec(), ..Way::default() }
    }

    /// As many as it learns.
    pub fn learn() -> Self {
        Way { flags: ["--pack", "learn"].map(str::to_owned).to_vec(), ..Way::default() }
    }
}

/// What became of a run.
#[derive(Clone, Debug)]
pub struct Ran {
    /// How long it took.
    pub seconds: f64,
    /// Whether all tasks were done in time.
    pub is_whole: bool,
    /// When, of which kind, and to how many the number was changed.
    pub changes: Vec<(f64, String, u64)>,
}

impl Engine {
    /// Runs a workflow in a new directory.
    pub fn run(&self, workflow: &str, way: &Way<'_>) -> Result<Ran> {
        let directory = tempfile::tempdir()?;
        let file = directory.path().join("flow.yaml");
        std::fs::write(&file, workflow)?;
        let mut command = Command::new(&self.throng);
        command.arg("run").arg(&file).args(&way.flags).args(["--quiet", "--json"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        if let Some(processes) = way.group.map(MemoryGroup::processes) {
            // SAFETY: the child writes to a file, which nobody else is kept from.
            unsafe {
                command.pre_exec(move || join(&processes));
            }
        }
        let begun = Instant::now();
        let mut child = command.spawn()?;
        let mut is_late = false;
        while child.try_wait()?.is_none() {
            if !is_late && way.patience.is_some_and(|patience| begun.elapsed() > patience) {
                is_late = true;
                // SAFETY: kill touches no memory; the child has not been waited for, so the number is its own.
                unsafe { libc::kill(child.id() as i32, libc::SIGTERM) };
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let output = child.wait_with_output()?;
        if output.status.code().is_none() {
            // Where memory is short, the kernel may kill the engine itself.
            return Ok(Ran { seconds: begun.elapsed().as_secs_f64(), is_whole: false, changes: Vec::new() });
        }
        let report: Value = serde_json::from_slice(&output.stdout)
            .map_err(|_| String::from_utf8_lossy(&output.stderr).trim().to_owned())?;
        let seconds =
            if is_late { begun.elapsed().as_secs_f64() } else { report["makespan_s"].as_f64().unwrap_or(0.0) };
        let is_whole = !is_late && report["done"] == report["total"];
        Ok(Ran { seconds, is_whole, changes: self.changes(directory.path())? })
    }

    fn changes(&self, directory: &Path) -> Result<Vec<(f64, String, u64)>> {
        let output = Command::new(&self.throng).current_dir(directory).args(["report", "--json"]).output()?;
        let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let changes = report["learning"]["changes"].as_array().map(Vec::as_slice).unwrap_or_default();
        let change = |change: &Value| {
            Some((change["at_s"].as_f64()?, change["kind"].as_str()?.to_owned(), change["width"].as_u64()?))
        };
        Ok(changes.iter().filter_map(change).collect())
    }
}

fn join(processes: &Path) -> io::Result<()> {
    std::fs::OpenOptions::new().write(true).open(processes)?.write_all(b"0")
}
