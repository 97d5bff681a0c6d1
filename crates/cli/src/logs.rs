//! `throng logs`: what a task printed.

use std::io::Write;
use std::path::PathBuf;

use clap::Args;
use throng_core::trace::Entry;
use throng_runtime::log;
use throng_runtime::state::StateDirectory;

use crate::exit::{Code, Failure};
use crate::runs::find_run;
use crate::status::recording;
use crate::words;

/// What `throng logs` takes.
#[derive(Args)]
#[command(after_help = "Example:\n  throng logs last shrink:7")]
pub struct Arguments {
    /// The run, by its number or `last`
    run: String,
    /// A task, by its name or by a file that it makes; a name that many share shows them all
    task: String,
    /// Only this attempt
    #[arg(long)]
    attempt: Option<u16>,
    /// Where the state is
    #[arg(long, default_value = ".throng", value_name = "DIR")]
    state: PathBuf,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Code, Failure> {
    let state = StateDirectory::new(&arguments.state);
    let run = find_run(&state, &arguments.run)?;
    let recording = recording(&run)?;
    let tasks = recording.flow.find(&arguments.task).map_err(|error| Failure::bad_input(error, "check the name"))?;
    let mut is_wanted = vec![false; recording.flow.task_count()];
    for task in &tasks {
        is_wanted[task.index()] = true;
    }
    let attempts: Vec<_> = recording
        .entries()
        .filter_map(|(_, entry)| match entry {
            Entry::Attempt(attempt) => Some(attempt),
            _ => None,
        })
        .filter(|attempt| is_wanted[attempt.task.index()])
        .filter(|attempt| arguments.attempt.is_none_or(|wanted| wanted == attempt.attempt))
        .collect();
    let mut out = std::io::stdout().lock();
    for attempt in &attempts {
        if attempts.len() > 1 {
            let name = recording.flow.name(attempt.task);
            let header = format!("==> {name}, attempt {}: {} <==", attempt.attempt, words::outcome(attempt.outcome));
            written(writeln!(out, "{header}"))?;
        }
        written(log::copy(&run.log(), attempt.log.0, attempt.log.1, &mut out))?;
    }
    if attempts.is_empty() {
        note!(
            "`{}` did not run in run {} (see `throng status {} {}`)",
            arguments.task,
            run.number,
            run.number,
            arguments.task
        );
    } else if attempts.iter().all(|attempt| attempt.log.1 == 0) {
        note!("it printed nothing");
    }
    Ok(Code::Done)
}

/// A reader that has gone away, as in `throng logs … | head`, is no error.
fn written(result: std::io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(Code::Done as i32),
        Err(error) => Err(Failure::internal(format!("cannot show the log: {error}"), "look at the run's `log` file")),
        Ok(()) => Ok(()),
    }
}
