//! A stage for real: this very program runs it, as anybody would, while the machine is measured.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::Value;
use throng_runtime::meter::Meter;

use super::case::Figures;
use super::server::{Rates, Server};
use crate::exit::Failure;

/// What a task does.
#[derive(Clone, Copy, Debug)]
pub enum Does {
    /// Computes for about so many turns of a loop of the shell.
    Computes(u64),
    /// Reads from a server.
    Reads(Rates),
}

/// A run on this machine.
#[derive(Clone, Debug)]
pub struct Real {
    pub does: Does,
    pub tasks: u32,
    pub pack: String,
    pub width: Option<u32>,
}

/// What went wrong, and what can be done about it.
fn failed(error: impl std::fmt::Display) -> Failure {
    Failure::bad_input(format!("the experiment cannot run here: {error}"), "leave `real` out with --only simulated")
}

impl Real {
    /// In words, for the record.
    pub fn describe(&self) -> String {
        let width = self.width.map_or_else(String::new, |width| format!(" --width {width}"));
        format!("{} tasks, --pack {}{width}", self.tasks, self.pack)
    }

    /// Runs it to its end.
    pub fn run(&self) -> Result<Figures, Failure> {
        let folder = tempfile::tempdir().map_err(failed)?;
        let server = match self.does {
            Does::Reads(rates) => Some(Server::start(rates).map_err(failed)?),
            Does::Computes(_) => None,
        };
        let command = match (self.does, &server) {
            (Does::Computes(turns), _) => format!("i=0; while [ $i -lt {turns} ]; do i=$((i+1)); done"),
            (Does::Reads(_), server) => {
                let port = server.as_ref().map_or(0, Server::port);
                format!("bash -c 'cat < /dev/tcp/127.0.0.1/{port} > /dev/null'")
            }
        };
        let text = format!(
            "tasks:\n  stage:\n    foreach: {{ i: 1..{} }}\n    run: |\n      : {{i}}\n      {command}\n",
            self.tasks
        );
        let file = folder.path().join("stage.yaml");
        std::fs::write(&file, text).map_err(failed)?;
        let mut run = Command::new(std::env::current_exe().map_err(failed)?);
        run.arg("run").arg(&file).args(["--pack", &self.pack, "--quiet", "--json"]);
        run.args(self.width.map(|width| format!("--width={width}")));
        run.stdin(Stdio::null()).stderr(Stdio::piped());
        // What was measured up to now is not this run's.
        std::thread::sleep(Duration::from_millis(200));
        let mut meter = Meter::new();
        let output = run.output().map_err(failed)?;
        let sample = meter.measure(0);
        let report: Value = serde_json::from_slice(&output.stdout)
            .map_err(|_| failed(String::from_utf8_lossy(&output.stderr).trim().to_owned()))?;
        Ok(Figures {
            makespan_s: report["makespan_s"].as_f64().unwrap_or(0.0),
            used: sample.shares(),
            is_whole: report["done"].as_u64() == Some(self.tasks.into()),
        })
    }
}
