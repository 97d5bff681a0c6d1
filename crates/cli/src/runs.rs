//! `throng runs`: the runs of a directory, one line each.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use throng_runtime::state::{About, RunDirectory, StateDirectory};

use crate::exit::{Code, Failure};
use crate::words;

/// What `throng runs` takes.
#[derive(Args)]
#[command(after_help = "Example:\n  throng runs")]
pub struct Arguments {
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
    // Checks that there is anything at all.
    find_run(&state, "last")?;
    let numbers = state.runs().map_err(|error| Failure::bad_input(error, "make it readable"))?;
    let mut values = Vec::new();
    for number in numbers {
        let run = state.run(number);
        // A run that was killed in its first moments has nothing to tell.
        let Ok(about) = run.read_about() else { continue };
        let state_word = state_word(&state, &run, &about);
        if arguments.json {
            values.push(json!({ "run": number, "state": state_word, "about": about }));
            continue;
        }
        let result = about.end.as_ref().map_or(String::new(), |end| {
            format!("{} done, {} up to date, {} failed", end.done, end.up_to_date, end.failed)
        });
        tell!("{number:>4}  {}  {state_word:<11}  {}  {result}", words::moment(about.started_unix_ms), about.workflow);
    }
    if arguments.json {
        tell!("{}", serde_json::Value::from(values));
    }
    Ok(Code::Done)
}

/// The run that a person means.
pub fn find_run(state: &StateDirectory, name: &str) -> Result<RunDirectory, Failure> {
    state.find_run(name).map_err(|error| {
        Failure::bad_input(
            error,
            "a run is a number or `last`, before the task; it is looked for in .throng here, or where --state says",
        )
    })
}

/// A run and a task as people name them: a task alone is meant in the last run.
pub fn run_and_task<'a>(first: &'a str, second: Option<&'a str>) -> (&'a str, Option<&'a str>) {
    let is_run = first == "last" || first.parse::<u64>().is_ok();
    match second {
        None if !is_run => ("last", Some(first)),
        second => (first, second),
    }
}

/// A task of a run, as commands about one task take it.
#[derive(Args)]
pub struct TaskArguments {
    /// The run, by its number or `last`; without it, the last is meant
    run: String,
    /// A task, by its name or by a file that it makes
    task: Option<String>,
    /// Where the state is
    #[arg(long, default_value = ".throng", value_name = "DIR")]
    state: PathBuf,
}

impl TaskArguments {
    /// The state directory, the run and the name of the task that are meant.
    pub fn find(&self) -> Result<(StateDirectory, RunDirectory, &str), Failure> {
        let state = StateDirectory::new(&self.state);
        let (run, task) = run_and_task(&self.run, self.task.as_deref());
        let remedy = "name one behind the run, such as `last shrink:7`";
        let task = task.ok_or_else(|| Failure::bad_input("no task is named", remedy))?;
        let run = find_run(&state, run)?;
        Ok((state, run, task))
    }
}

/// What a run was about.
pub fn about(run: &RunDirectory) -> Result<About, Failure> {
    run.read_about().map_err(|error| Failure::bad_input(error, "choose another run: see `throng runs`"))
}

/// How a run ended, or that it has not.
pub fn state_word(state: &StateDirectory, run: &RunDirectory, about: &About) -> String {
    let is_last = state.runs().is_ok_and(|runs| runs.last() == Some(&run.number));
    match &about.end {
        Some(end) => end.state.clone(),
        None if is_last && state.is_locked() => "running".to_owned(),
        // It may have ended since `about` was read.
        None => {
            let end = run.read_about().ok().and_then(|about| about.end);
            end.map_or_else(|| "killed".to_owned(), |end| end.state)
        }
    }
}
