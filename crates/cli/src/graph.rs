//! `throng graph`: a workflow as a picture, readable with five tasks and with fifty thousand.
//!
//! ```text
//!   Workflow ── collapse | picture ──▶ Picture (words) ── layout ──▶ places ── svg
//!                                                └──────────────────────────── dot
//! ```
//!
//! Few tasks get a box each. Many are put together by kind, and the arrows between kinds say how many there are and in
//! which pattern. Too many kinds are put together by depth.

mod collapse;
mod dot;
mod layout;
mod outside;
mod pattern;
mod picture;
mod standing;
mod svg;
pub mod text;

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use clap::{Arg, Args, ValueEnum};
use throng_core::ids::TaskId;
use throng_core::stale;
use throng_core::workflow::Workflow;
use throng_runtime::state::StateDirectory;

pub use standing::Standing;

use crate::exit::{Code, Failure};
use crate::load::{FlowArguments, load_leniently};
use crate::run::find_all;
use crate::words;
use picture::Picture;

const HELP: &str = "\
Example:
  throng graph flow.yaml --out flow.svg              a picture for a browser
  throng graph flow.yaml sheet.png --out sheet.svg   only what this file needs
  throng graph flow.yaml --state --out now.svg       with what the last run has done
  throng graph flow.yaml | dot -Tpdf -o flow.pdf     through Graphviz";

/// What `throng graph` takes.
#[derive(Args)]
#[command(after_help = HELP, mut_arg("state", as_wish))]
pub struct Arguments {
    #[command(flatten)]
    source: FlowArguments,
    /// Files or tasks to show, with all they need [default: everything]
    targets: Vec<String>,
    /// How to write it [default: by the ending of --out, else dot]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// The file to write to [default: standard output]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// One box for each kind or for each task [default: task for up to 60 tasks, else kind]
    #[arg(long, value_enum)]
    by: Option<By>,
}

/// The state is asked for by the flag alone; where it is need only be said if it is elsewhere.
fn as_wish(state: Arg) -> Arg {
    state
        .help("Show how far the last run has come; its state is in .throng beside the workflow, or in DIR")
        .num_args(0..=1)
        .require_equals(true)
        .default_missing_value(BESIDE)
}

/// Stands for the usual place of the state, which depends on the workflow's.
const BESIDE: &str = "\0";

/// How a picture is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// For Graphviz
    Dot,
    /// For browsers
    Svg,
}

/// What gets a box.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// All tasks of a kind together
    Kind,
    /// Every task
    Task,
}

/// How to draw a workflow.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Only these tasks and what they need; all if there are none.
    pub targets: Vec<TaskId>,
    /// What gets a box; chosen by size if nothing is said.
    pub by: Option<By>,
    /// Where each task stands, to be shown.
    pub standing: Option<Vec<Standing>>,
    /// Leave out the name of the workflow and how much there is: it is said elsewhere.
    pub without_heading: bool,
}

/// Up to so many tasks, each gets a box.
const TASKS_SHOWN: usize = 60;
/// More boxes than this cannot be laid out in a moment, nor read.
const TASKS_DRAWN: usize = 2000;

/// A workflow as SVG, to stand alone or inside a page. It has its natural size: a page should let it scroll.
pub fn svg(flow: &Workflow, options: &Options) -> String {
    svg::write(&picture(flow, options, TASKS_DRAWN), !options.without_heading)
}

/// A workflow as DOT.
fn dot(flow: &Workflow, options: &Options) -> String {
    dot::write(&picture(flow, options, usize::MAX))
}

fn wanted(flow: &Workflow, options: &Options) -> (Vec<bool>, usize) {
    let wanted = stale::wanted(flow, &options.targets);
    let count = wanted.iter().filter(|is_wanted| **is_wanted).count();
    (wanted, count)
}

fn picture(flow: &Workflow, options: &Options, task_limit: usize) -> Picture {
    let (wanted, count) = wanted(flow, options);
    let by = options.by.unwrap_or(if count <= TASKS_SHOWN { By::Task } else { By::Kind });
    let standing = options.standing.as_deref();
    let mut picture = match by {
        By::Task if count <= task_limit => picture::of_tasks(flow, &wanted, standing),
        _ => collapse::of_kinds(flow, &wanted, standing),
    };
    if count < flow.task_count() {
        picture.notes.push(format!("a part of {} in all", words::count_many(flow.task_count() as u64, "task")));
    }
    picture
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Code, Failure> {
    let format = arguments.format()?;
    let mut source = arguments.source.clone();
    let shows_state = source.state.is_some();
    source.state = source.state.filter(|state| *state != Path::new(BESIDE));
    let loaded = load_leniently(&source, &RefCell::default())?;
    let flow = loaded.flow;
    let mut options = Options {
        targets: find_all(&flow, &loaded.directory, &arguments.targets)?,
        by: arguments.by,
        ..Options::default()
    };
    if shows_state {
        options.standing = Some(last_standing(&flow, &loaded.state)?);
    }
    let count = wanted(&flow, &options).1;
    if format == Format::Svg && options.by == Some(By::Task) && count > TASKS_DRAWN {
        return Err(Failure::bad_input(
            format!("{} are too many for a box each", words::count_many(count as u64, "task")),
            "leave out `--by task`, name a file or task to show only what it needs, or use --format dot",
        ));
    }
    let text = match format {
        Format::Svg => svg(&flow, &options),
        Format::Dot => dot(&flow, &options),
    };
    match &arguments.out {
        None => tell!("{}", text.trim_end()),
        Some(file) => std::fs::write(file, text).map_err(|error| {
            Failure::bad_input(format!("cannot write {}: {error}", file.display()), "choose another place with --out")
        })?,
    }
    Ok(Code::Done)
}

impl Arguments {
    fn format(&self) -> Result<Format, Failure> {
        let Some(file) = &self.out else { return Ok(self.format.unwrap_or(Format::Dot)) };
        if let Some(format) = self.format {
            return Ok(format);
        }
        match file.extension().and_then(|ending| ending.to_str()).map(str::to_ascii_lowercase).as_deref() {
            Some("svg") => Ok(Format::Svg),
            Some("dot" | "gv") => Ok(Format::Dot),
            _ => Err(Failure::bad_input(
                format!("the ending of {} does not say how to write it", file.display()),
                "end it with .svg or .dot, or say --format svg or --format dot",
            )),
        }
    }
}

fn last_standing(flow: &Workflow, path: &Path) -> Result<Vec<Standing>, Failure> {
    let found = standing::of_last_run(flow, &StateDirectory::new(path));
    let (_, standing) = found.ok_or_else(|| {
        Failure::bad_input(
            format!("no run of `{}` is on record in {}", words::printable(flow.title()), path.display()),
            "run it first, say where its state is with --state=DIR, or leave --state out",
        )
    })?;
    Ok(standing)
}

#[cfg(test)]
mod tests;
