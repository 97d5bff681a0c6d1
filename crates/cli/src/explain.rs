//! `throng explain`: why a task ran, waited, or was skipped.
//!
//! ```text
//!   recordings ── gather ──▶ Account (facts) ──▶ words | JSON
//! ```
//!
//! `throng status RUN TASK` has the bare history. Here it is put together with what else is on record: earlier runs,
//! parents, what held the slots, what was printed. Facts and words are kept apart, so that `--json` says the same.

mod chain;
mod earlier;
mod facts;
mod gather;
mod sentences;
mod slots;
mod why;

use clap::Args;

use crate::exit::{Code, Failure};
use crate::runs::{self, TaskArguments};
use crate::status::{one_task, recording};

/// What `throng explain` takes.
#[derive(Args)]
#[command(
    after_help = "Example:\n  throng explain last sheet         why the last run did, or did not do, this task\n  throng explain 3 small/7.jpg      the task that makes this file, in run 3"
)]
pub struct Arguments {
    #[command(flatten)]
    of: TaskArguments,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Code, Failure> {
    let (state, run, task) = arguments.of.find()?;
    let recording = recording(&run)?;
    let task = one_task(&recording, task)?;
    let run_state = runs::state_word(&state, &run, &recording.about);
    let account = gather::account(&gather::Scene { state: &state, run: &run, recording: &recording, task }, run_state);
    if arguments.json {
        tell!("{}", serde_json::to_string(&account).expect("plain data can be written"));
    } else {
        tell!("{}", sentences::of(&account));
    }
    Ok(Code::Done)
}
