//! `throng export`: a workflow in WfFormat, with what was measured when it ran, for other people's tools.
//!
//! ```text
//!   workflow ─┐
//!   its run ──┴▶ measured (who took how long) ──▶ document ──▶ JSON, entry by entry
//! ```

mod describe;
mod document;
mod measured;
mod passed_on;
#[cfg(test)]
#[path = "../tests/wfformat/mod.rs"]
mod rules;
mod sizes;
#[cfg(test)]
mod tests;

use std::cell::RefCell;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{Args, ValueEnum};
use throng_core::workflow::Workflow;
use throng_runtime::state::StateDirectory;

use self::document::{Document, Execution};
use self::measured::Run;
use self::passed_on::PassedOn;
use self::sizes::Sizes;
use crate::exit::{Code, Failure};
use crate::load::{FlowArguments, Loaded, load_leniently};
use crate::report::write_to;
use crate::runs::find_run;
use crate::words;

const HELP: &str = "\
Example:
  throng export flow.yaml -o flow.json           the workflow and the last run that did anything
  throng export flow.yaml --run 3 --version 1.6  what was measured in run 3, with sums, on standard output
  throng export flow.yaml --run none             only the workflow
  throng export old.json --version 1.6           a trace, brought to another version

Tasks that were up to date in the run are told as they were when they were done. Names that WfFormat does not allow are written
with `#` and two digits for each byte (`a b` is `a#20b`); `throng check` and the others read them back.";

/// What `throng export` takes.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    #[command(flatten)]
    source: FlowArguments,
    /// The run whose times are written: its number, `last`, or `none` [default: the last that ended and did anything]
    #[arg(long, value_name = "RUN")]
    run: Option<String>,
    /// The file to write to [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// The version of the format
    #[arg(long, value_enum, default_value = "1.5")]
    version: Version,
}

/// A version of the format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Version {
    /// What most published traces are in
    #[value(name = "1.5")]
    V15,
    /// The same, with sums of everything
    #[value(name = "1.6")]
    V16,
}

impl Version {
    fn text(self) -> &'static str {
        match self {
            Version::V15 => "1.5",
            Version::V16 => "1.6",
        }
    }

    /// Whether a letter may stand in the id of a task; files may have all that the format knows.
    fn allows_in_task(self, letter: char) -> bool {
        self == Version::V16 || !":/".contains(letter)
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Code, Failure> {
    let mut loaded = load_leniently(&arguments.source, &RefCell::default())?;
    let state = StateDirectory::new(&loaded.state);
    let flow = Arc::new(std::mem::take(&mut loaded.flow));
    let run = chosen_run(arguments, &state, &flow)?;
    let run = run.map(|number| Run::read(&state, number)).transpose()?;
    match run {
        Some(run) => {
            let sizes = Sizes::after_run(&run.flow, &state, &loaded.directory);
            let execution = run.execution();
            let document = Document::new(&run.flow, arguments.version, &sizes, execution);
            write(arguments, &document)?;
            tell_of_gaps(&document, &sizes);
        }
        None => {
            let sizes = Sizes::expected(&flow, &loaded.directory);
            let passed_on = passed_on(arguments, &loaded)?;
            let execution = passed_on.as_ref().map(Execution::PassedOn);
            let document = Document::new(&flow, arguments.version, &sizes, execution);
            write(arguments, &document)?;
            tell_of_gaps(&document, &sizes);
        }
    }
    Ok(Code::Done)
}

fn write(arguments: &Arguments, document: &Document<'_>) -> Result<(), Failure> {
    let path = arguments.output.as_deref().filter(|path| path.as_os_str() != "-");
    write_to(path, |out| document.write(out))
}

fn tell_of_gaps(document: &Document<'_>, sizes: &Sizes) {
    if let Some(first) = sizes.unknown.first() {
        note!(
            "warning: {} of unknown size written as 0, such as `{}`",
            words::count_many(sizes.unknown.len() as u64, "file"),
            words::printable(first)
        );
    }
    let unmeasured = document.unmeasured();
    if unmeasured > 0 {
        note!("warning: nothing was measured of {}, which were not done", words::count_many(unmeasured, "task"));
    }
}

/// The number of the run that is meant, if any is.
fn chosen_run(arguments: &Arguments, state: &StateDirectory, flow: &Workflow) -> Result<Option<u64>, Failure> {
    match arguments.run.as_deref() {
        Some("none") => Ok(None),
        Some(name) => {
            let run = find_run(state, name)?;
            let about = crate::runs::about(&run)?;
            if about.workflow != flow.title() {
                return Err(Failure::bad_input(
                    format!(
                        "run {} is of `{}`, not of `{}`",
                        run.number,
                        words::printable(&about.workflow),
                        words::printable(flow.title())
                    ),
                    "choose another run: see `throng runs`",
                ));
            }
            Ok(Some(run.number))
        }
        None => {
            let has_done = |number: &u64| {
                let about = state.run(*number).read_about().ok().filter(|about| about.is_real_run_of(flow.title()));
                about.and_then(|about| about.end).is_some_and(|end| end.done > 0)
            };
            Ok(state.runs().unwrap_or_default().into_iter().rev().find(has_done))
        }
    }
}

/// What a trace says of the run that it is of.
fn passed_on(arguments: &Arguments, loaded: &Loaded) -> Result<Option<PassedOn>, Failure> {
    if loaded.trace.is_none() {
        return Ok(None);
    }
    let passed_on = PassedOn::read(&loaded.text).map_err(|error| {
        let file = arguments.source.flow.display();
        Failure::bad_input(format!("{file} cannot be passed on: {error}"), "correct the file")
    })?;
    Ok(Some(passed_on))
}
