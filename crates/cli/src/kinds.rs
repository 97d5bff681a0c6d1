//! `throng kinds`: what runs have learnt of the kinds of tasks of a directory.

use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use throng_core::past::{Figure, Need, Past};
use throng_runtime::host;
use throng_runtime::state::StateDirectory;
use throng_runtime::store::learnt::{KindPast, Learnt, MachineType, OfWorkflow};

use crate::exit::{Code, Failure};
use crate::run::options::{MACHINE_TYPE, machine_type};
use crate::words::{self, shorten};

const HELP: &str = "\
Example:
  throng kinds                 what is known of each kind of task
  throng kinds --json          the same for programs

Every run learns how long tasks take and what they need; `throng run --pack learn` begins with that, and learns how many at
once are best. `throng run` and `throng simulate` take times from here where a workflow has no `estimate`.

A figure behind ± says by how much tasks differ; `mean within`, by how much their average time may be wrong. A kind that needs
nothing most waits: for a network, a server or for time to pass.";

/// What `throng kinds` takes.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// Where the state is
    #[arg(long, default_value = ".throng", value_name = "DIR")]
    state: PathBuf,
    /// Forget all of it
    #[arg(long)]
    forget: bool,
    /// The type of machine that this is said to be
    #[arg(long, value_name = "NAME", env = MACHINE_TYPE, value_parser = machine_type)]
    machine_type: Option<String>,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Code, Failure> {
    let state = StateDirectory::new(&arguments.state);
    crate::runs::find_run(&state, "last")?;
    if arguments.forget {
        let path = state.learnt();
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                let message = format!("cannot delete {}: {error}", path.display());
                return Err(Failure::bad_input(message, "make its directory writable"));
            }
            _ if arguments.json => tell!("{}", json!({ "forgotten": true })),
            _ => note!("all that was learnt is forgotten: the next run learns anew"),
        }
        return Ok(Code::Done);
    }
    let learnt = Learnt::look(&state.learnt()).map_err(|error| {
        let message = format!("cannot read what was learnt, {}: {error}", state.learnt().display());
        Failure::bad_input(message, "`throng kinds --forget` deletes it, and the next run learns anew")
    })?;
    let learnt = learnt.unwrap_or_default();
    if arguments.json {
        tell!("{}", Value::from(learnt.known.iter().map(figures).collect::<Vec<_>>()));
        return Ok(Code::Done);
    }
    if learnt.known.is_empty() {
        note!("nothing has been learnt yet: no task has run to its end");
    }
    let here = MachineType::of(&host::describe(arguments.machine_type.as_deref()));
    for (at, known) in learnt.known.iter().enumerate() {
        if at > 0 {
            tell!("");
        }
        let place = if known.machine == here.name { " (this machine)" } else { "" };
        tell!("{}, on {}{place}", words::printable(&known.workflow), words::printable(&known.machine));
        table(known).iter().for_each(|line| tell!("{line}"));
    }
    Ok(Code::Done)
}

/// What a task needs most, in a word.
fn needs_most(past: &Past, known: &OfWorkflow) -> &'static str {
    match past.needs_most(Some(known.memory_bytes).filter(|bytes| *bytes > 0)) {
        Need::Memory => "memory",
        Need::Cores => "cores",
        Need::Disks => "disks",
        Need::Network => "network",
        Need::Shared => "shared storage",
        Need::Nothing => "nothing: waits",
    }
}

fn sureness(past: &Past) -> String {
    past.uncertainty().map_or_else(|| "one task".to_owned(), |part| format!("± {:.0} %", part * 100.0))
}

fn figures(known: &OfWorkflow) -> Value {
    let both = |figure: Figure| json!({ "mean": figure.mean, "spread": figure.spread });
    let kind = |kind: &KindPast| {
        let past = kind.past();
        json!({
            "kind": kind.kind,
            "tasks": past.tasks,
            "width": past.width,
            "time_s": both(past.time_s),
            "cores": both(past.cores),
            "peak_bytes": both(past.peak_bytes),
            "read_bytes": both(past.read_bytes),
            "written_bytes": both(past.written_bytes),
            "output_bytes": both(past.output_bytes),
            "needs_most": needs_most(&past, known),
            "uncertainty": past.uncertainty(),
        })
    };
    json!({
        "workflow": known.workflow,
        "machine": known.machine,
        "kinds": known.kinds.iter().map(kind).collect::<Vec<_>>(),
    })
}

/// So much of a kind's name is shown.
const NAME_LETTERS: usize = 60;

const HEADING: [&str; 10] =
    ["kind", "tasks", "at once", "time", "cores", "memory", "read", "written", "needs most", "mean within"];

fn table(known: &OfWorkflow) -> Vec<String> {
    let with_spread = |mean: String, spread: String| format!("{mean} ± {spread}");
    let row = |kind: &KindPast| {
        let past = kind.past();
        vec![
            shorten(&words::printable(&kind.kind), NAME_LETTERS),
            words::thousands(past.tasks),
            past.width.map_or_else(|| "-".to_owned(), |width| width.to_string()),
            with_spread(words::seconds(past.time_s.mean), words::seconds(past.time_s.spread)),
            format!("{:.2}", past.cores.mean),
            match past.peak_bytes {
                // What a task holds that ends at once, or holds less than the engine, cannot be seen.
                Figure { mean: 0.0, .. } => "-".to_owned(),
                Figure { mean, spread } => with_spread(words::bytes(mean as u64), words::bytes(spread as u64)),
            },
            words::bytes(past.read_bytes.mean as u64),
            words::bytes(past.written_bytes.mean as u64),
            needs_most(&past, known).to_owned(),
            sureness(&past),
        ]
    };
    let rows: Vec<Vec<String>> =
        std::iter::once(HEADING.map(str::to_owned).to_vec()).chain(known.kinds.iter().map(row)).collect();
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..HEADING.len()).map(width).collect();
    let line = |row: &Vec<String>| {
        let cells = row.iter().zip(&widths).enumerate().map(|(column, (cell, width))| match column {
            0 => format!("{cell:<width$}"),
            _ => format!("{cell:>width$}"),
        });
        format!("  {}", cells.collect::<Vec<_>>().join("  "))
    };
    rows.iter().map(line).collect()
}
