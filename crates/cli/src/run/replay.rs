//! `throng run TRACE --replay 0.01`: what was recorded of a run happens again, in less time and with smaller files.

use std::path::Path;

use clap::{Args, ValueEnum};
use throng_core::workflow::{Replay, Workflow};
use throng_runtime::replay::{self, ReplayError, prepare};

use crate::exit::Failure;
use crate::load::Loaded;
use crate::words;

/// How a trace is replayed.
#[derive(Args, Clone)]
pub struct ReplayArguments {
    /// Replay a trace: each task takes its recorded time times this factor, such as 0.01, and reads and writes files of its own
    #[arg(long, value_name = "FACTOR", value_parser = factor, allow_negative_numbers = true)]
    replay: Option<f64>,
    /// With --replay, how large files are, as a factor of what was recorded [default: that of --replay, at most 1]
    #[arg(long, value_name = "FACTOR", value_parser = factor, allow_negative_numbers = true, requires = "replay")]
    replay_sizes: Option<f64>,
    /// With --replay, what tasks do in their time
    #[arg(long, value_enum, value_name = "HOW", requires = "replay")]
    replay_with: Option<With>,
}

/// What a task does in its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum With {
    /// Wait, which many can do at once
    Sleep,
    /// Keep a core busy
    Spin,
}

/// Nobody wants to wait longer than this many times what was recorded.
const FACTOR_LIMIT: f64 = 1e6;

fn factor(text: &str) -> Result<f64, String> {
    let number = text.parse::<f64>().ok().filter(|factor| (0.0..=FACTOR_LIMIT).contains(factor));
    number.ok_or_else(|| "write a number from 0 to 1000000, such as 0.01".to_owned())
}

impl ReplayArguments {
    /// How to replay, if that is asked for.
    pub fn wanted(&self) -> Option<Replay> {
        let times = self.replay?;
        let sizes = self.replay_sizes.unwrap_or(times.min(1.0));
        Some(Replay { times, sizes, spins: self.replay_with == Some(With::Spin) })
    }

    /// What has to be typed to mean the same again.
    pub fn as_typed(&self) -> String {
        let factor =
            |name: &str, factor: Option<f64>| factor.map_or(String::new(), |factor| format!(" --{name} {factor}"));
        let with = match self.replay_with {
            Some(With::Spin) => " --replay-with spin",
            Some(With::Sleep) => " --replay-with sleep",
            None => "",
        };
        format!("{}{}{with}", factor("replay", self.replay), factor("replay-sizes", self.replay_sizes))
    }

    /// A trace is replayed or not run at all, and nothing else is replayed.
    pub fn check(&self, loaded: &Loaded, typed: &str) -> Result<(), Failure> {
        match (&loaded.trace, self.replay) {
            (Some(_), None) => Err(Failure::bad_input(
                format!(
                    "`{}` is a trace of a run that is over: its programs are not run",
                    words::printable(loaded.flow.title())
                ),
                format!(
                    "replay it with `throng run {typed} --replay 0.01`, or see what another cluster makes of it with `throng simulate {typed}`"
                ),
            )),
            (None, Some(_)) => Err(Failure::bad_input(
                format!(
                    "--replay is for traces in WfFormat, and `{}` is a workflow",
                    words::printable(loaded.flow.title())
                ),
                "leave --replay out to run it; to replay a run that is over, write it down first with `throng export`",
            )),
            _ => Ok(()),
        }
    }
}

/// Makes what the replay needs from outside.
pub fn make_inputs(flow: &Workflow, directory: &Path, is_quiet: bool) -> Result<(), Failure> {
    let made = prepare(flow, directory).map_err(trouble)?;
    if made > 0 && !is_quiet {
        note!("made {} that the trace has from outside, in {}", words::count(made, "file"), directory.display());
    }
    Ok(())
}

/// Looks whether there is room for a replay, before anything begins.
pub fn check_room(flow: &Workflow, directory: &Path) -> Result<(), Failure> {
    replay::check_room(flow, directory).map_err(trouble)
}

fn trouble(error: ReplayError) -> Failure {
    match &error {
        ReplayError::NoRoom { path, needed_bytes, free_bytes } => Failure::bad_input(
            format!(
                "the files of this replay need {} more, and there are only {} left where {} is",
                words::bytes(*needed_bytes),
                words::bytes(*free_bytes),
                path.display()
            ),
            "make them smaller with --replay-sizes 0.001, or put them elsewhere with --state",
        ),
        ReplayError::Io { .. } => {
            Failure::bad_input(error, "make it writable, or put the files elsewhere with --state DIR")
        }
    }
}
