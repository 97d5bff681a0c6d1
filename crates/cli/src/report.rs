//! `throng report`: how a run went and where its time went, as one HTML file that needs nothing else, or as figures.

mod csv;
mod figures;
mod names;
mod packed;
mod page;
mod perfetto;
mod printed;
mod timeline;

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use throng_core::account::{Account, Setup};
use throng_core::ids::TaskId;
use throng_runtime::recording::{Recording, time_now};
use throng_runtime::state::{RunDirectory, StateDirectory};

use crate::exit::{Code, Failure};
use crate::graph;
use crate::runs::{about, find_run, state_word};

const HELP: &str = "\
Example:
  throng report                          report-RUN.html of the last run: open it in a browser
  throng report 3 --out -                run 3, to standard output
  throng report --csv tasks > tasks.csv  one line per task
  throng report --perfetto run.json      a trace for ui.perfetto.dev";

/// What `throng report` takes.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// The run, by its number or `last`
    #[arg(default_value = "last")]
    run: String,
    /// Where to write the page; `-` is standard output [default: report-RUN.html]
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Print the figures as JSON instead
    #[arg(long, conflicts_with = "csv")]
    json: bool,
    /// Print one table as CSV instead
    #[arg(long, value_enum, value_name = "TABLE")]
    csv: Option<csv::Table>,
    /// Write a trace in Chrome's format, for ui.perfetto.dev, instead
    #[arg(long, value_name = "FILE")]
    perfetto: Option<PathBuf>,
    /// Where the state is
    #[arg(long, default_value = ".throng", value_name = "DIR")]
    state: PathBuf,
}

/// What a report is made of.
struct Report {
    recording: Recording,
    account: Account,
    /// How the run ended, or that it has not.
    state: String,
    /// Why the trace ends too early, if it does.
    damage: Option<String>,
    /// The text that the workflow was read from, if it was kept.
    definition: Option<String>,
    /// What failed tasks printed last.
    printed: BTreeMap<TaskId, String>,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Code, Failure> {
    let state = StateDirectory::new(&arguments.state);
    let run = find_run(&state, &arguments.run)?;
    let report = Report::of(&state, &run)?;
    if arguments.json {
        let figures = figures::figures(&report);
        write_to(None, |out| writeln!(out, "{figures}"))?;
    }
    if let Some(table) = arguments.csv {
        write_to(None, |out| csv::write(&report, table, out))?;
    }
    if let Some(path) = &arguments.perfetto {
        write_to(named(path), |out| perfetto::write(&report, out))?;
        note!("wrote {}: open it in ui.perfetto.dev or chrome://tracing", path.display());
    }
    let is_instead = arguments.json || arguments.csv.is_some() || arguments.perfetto.is_some();
    if is_instead && arguments.out.is_none() {
        return Ok(Code::Done);
    }
    let path = arguments.out.clone().unwrap_or_else(|| PathBuf::from(format!("report-{}.html", run.number)));
    let page = page::page(&report);
    write_to(named(&path), |out| out.write_all(page.as_bytes()))?;
    if named(&path).is_some() {
        note!("wrote {}: open it in a browser", path.display());
    }
    Ok(Code::Done)
}

impl Report {
    fn of(directory: &StateDirectory, run: &RunDirectory) -> Result<Report, Failure> {
        let state = state_word(directory, run, &about(run)?);
        let recording = Recording::read(run).map_err(|error| {
            let remedy = match state.as_str() {
                "running" => "it has only just begun: try again in a moment",
                _ => "choose another run: see `throng runs`",
            };
            Failure::bad_input(error, remedy)
        })?;
        let about = &recording.about;
        let setup = Setup {
            slots: about.node.width,
            cores: about.host.cores,
            fail_fast: about.node.fail_fast,
            until: (state == "running").then(|| time_now(about, recording.first_time())),
        };
        let account = Account::of(&recording.flow, setup, recording.entries());
        let damage = recording.damage().map(|damage| damage.to_string());
        let definition = std::fs::read(run.definition()).ok();
        let definition = definition.map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let listed = &account.failed[..account.failed.len().min(figures::FAILED_LISTED)];
        let printed = printed::last_lines(directory, run, &recording, listed);
        Ok(Report { recording, account, state, damage, definition, printed })
    }
}

/// Larger pictures than this would cost the page more than they tell.
const PICTURE_LIMIT: usize = 1_000_000;

/// The workflow as a picture; nothing if there is none, and then the page has no such section.
fn graph_svg(recording: &Recording) -> String {
    let options = graph::Options { without_heading: true, ..graph::Options::default() };
    let picture = graph::svg(&recording.flow, &options);
    if picture.len() <= PICTURE_LIMIT {
        return picture;
    }
    let options = graph::Options { by: Some(graph::By::Kind), ..options };
    Some(graph::svg(&recording.flow, &options)).filter(|picture| picture.len() <= PICTURE_LIMIT).unwrap_or_default()
}

/// The path of a file, unless it stands for standard output.
fn named(path: &Path) -> Option<&Path> {
    Some(path).filter(|path| *path != Path::new("-"))
}

/// Writes a file, or to standard output. A reader that has gone away has read enough.
pub fn write_to(path: Option<&Path>, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
    let place = path.map_or("standard output".to_owned(), |path| path.display().to_string());
    let written = match path {
        Some(path) => write_whole(path, write),
        None => finish(BufWriter::new(io::stdout().lock()), write),
    };
    match written {
        Err(error) if is_wrong_place(&error) && path.is_some() => Err(Failure::bad_input(
            format!("cannot write {place}: {error}"),
            "name a file in a directory that is there and can be written to",
        )),
        Err(error) if path.is_some() || error.kind() != ErrorKind::BrokenPipe => {
            Err(Failure::internal(format!("cannot write {place}: {error}"), "make room, or choose another place"))
        }
        _ => Ok(()),
    }
}

/// Whether somebody has named a place where nothing can be written, however much room there is.
fn is_wrong_place(error: &io::Error) -> bool {
    use ErrorKind::{IsADirectory, NotADirectory, NotFound, PermissionDenied, ReadOnlyFilesystem};
    matches!(error.kind(), NotFound | PermissionDenied | NotADirectory | IsADirectory | ReadOnlyFilesystem)
}

/// Writes a file so that it is either the old one or the new one. What is no file, such as `/dev/null`, is written to.
fn write_whole(path: &Path, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    if path.metadata().is_ok_and(|found| !found.is_file()) {
        return finish(BufWriter::new(File::create(path)?), write);
    }
    let mut draft = path.as_os_str().to_owned();
    draft.push(".draft");
    let written = File::create(&draft)
        .and_then(|file| finish(BufWriter::new(file), write))
        .and_then(|()| std::fs::rename(&draft, path));
    if written.is_err() {
        let _ = std::fs::remove_file(&draft);
    }
    written
}

fn finish<W: Write>(mut out: W, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    write(&mut out)?;
    out.flush()
}
