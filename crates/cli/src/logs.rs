//! `throng logs`: what a task printed.

use std::io::Write;

use clap::Args;
use throng_core::ids::TaskId;
use throng_core::trace::Entry;
use throng_runtime::recording::Recording;
use throng_runtime::state::{RunDirectory, StateDirectory};
use throng_runtime::{log, process};

use crate::exit::{Code, Failure};
use crate::runs::TaskArguments;
use crate::status::recording;
use crate::words;

/// What `throng logs` takes.
#[derive(Args)]
#[command(
    after_help = "Example:\n  throng logs shrink:7        in the last run\n  throng logs 3 shrink:7      in run 3\n  throng logs 3 shrink        of all tasks of that name"
)]
pub struct Arguments {
    #[command(flatten)]
    of: TaskArguments,
    /// Only this attempt
    #[arg(long)]
    attempt: Option<u16>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Code, Failure> {
    let (state, run, task) = arguments.of.find()?;
    let recording = recording(&run)?;
    let tasks = recording.flow.find(task).map_err(|error| Failure::bad_input(error, "check the name"))?;
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
    let is_running = show_running(&state, &recording, &tasks, &mut out)?;
    if attempts.is_empty() && !is_running {
        explain_nothing(&state, &run, (task, arguments.attempt), &tasks, &recording);
    } else if recording.about.simulated.is_some() {
        note!("run {} was only simulated: nothing was printed", run.number);
    } else if !is_running && attempts.iter().all(|attempt| attempt.log.1 == 0) {
        note!("it printed nothing");
    }
    Ok(Code::Done)
}

/// Shows what tasks that are running now have printed so far; whether there are any.
fn show_running(
    state: &StateDirectory,
    recording: &Recording,
    tasks: &[TaskId],
    out: &mut dyn Write,
) -> Result<bool, Failure> {
    if recording.about.end.is_some() || !state.is_locked() {
        return Ok(false);
    }
    let mut is_running = false;
    for (slot, key) in process::running_slots(&state.slots()) {
        let Some(task) = tasks.iter().find(|task| recording.flow.name_key(**task) == key) else { continue };
        is_running = true;
        note!("{} is running; so far it has printed:", recording.flow.name(*task));
        let printed = std::fs::read(state.scratch().join(slot.to_string())).unwrap_or_default();
        written(out.write_all(&printed))?;
    }
    Ok(is_running)
}

/// How many runs back to look for a task that did not run in this one.
const LOOKED_BACK: usize = 100;

fn explain_nothing(
    state: &StateDirectory,
    run: &RunDirectory,
    (task, attempt): (&str, Option<u16>),
    tasks: &[TaskId],
    recording: &Recording,
) {
    let number = run.number;
    if let Some(attempt) = attempt {
        return note!("`{task}` had no attempt {attempt} in run {number}");
    }
    let keys: Vec<u64> = tasks.iter().map(|task| recording.flow.name_key(*task)).collect();
    let earlier = state.runs().unwrap_or_default().into_iter().rev().filter(|earlier| *earlier < number);
    let ran_in = earlier.take(LOOKED_BACK).find(|earlier| {
        let Ok(earlier) = Recording::read(&state.run(*earlier)) else { return false };
        if earlier.about.simulated.is_some() {
            return false;
        }
        let mut attempts = earlier.entries().filter_map(|(_, entry)| match entry {
            Entry::Attempt(attempt) => Some(attempt.task),
            _ => None,
        });
        attempts.any(|task| keys.contains(&earlier.flow.name_key(task)))
    });
    match ran_in {
        Some(earlier) => {
            note!("`{task}` did not run in run {number}; the last time was run {earlier}: throng logs {earlier} {task}")
        }
        None => note!("`{task}` did not run in run {number} (see `throng status {number} {task}`)"),
    }
}

/// A reader that has gone away, as in `throng logs … | head`, is no error.
fn written(result: std::io::Result<()>) -> Result<(), Failure> {
    match result {
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => std::process::exit(Code::Done as i32),
        Err(error) => Err(Failure::internal(format!("cannot show the log: {error}"), "look at the run's `log` file")),
        Ok(()) => Ok(()),
    }
}
