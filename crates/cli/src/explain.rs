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

use std::path::PathBuf;

use clap::Args;
use throng_runtime::state::StateDirectory;

use crate::exit::{Code, Failure};
use crate::runs::{self, find_run, run_and_task};
use crate::status::{one_task, recording};

/// What `throng explain` takes.
#[derive(Args)]
#[command(
    after_help = "Example:\n  throng explain last sheet         why the last run did, or did not do, this task\n  throng explain 3 small/7.jpg      the task that makes this file, in run 3"
)]
pub struct Arguments {
    /// The run, by its number or `last`; without it, the last is meant
    run: String,
    /// A task, by its name or by a file that it makes
    task: Option<String>,
    /// Where the state is
    #[arg(long, default_value = ".throng", value_name = "DIR")]
    state: PathBuf,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Code, Failure> {
    let state = StateDirectory::new(&arguments.state);
    let (run, task) = run_and_task(&arguments.run, arguments.task.as_deref());
    let task =
        task.ok_or_else(|| Failure::bad_input("no task is named", "name one, as in `throng explain last sheet`"))?;
    let run = find_run(&state, run)?;
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
