//! `throng run`: here and now, with live progress, resuming by itself.

pub mod bounds;
mod dry;
pub mod options;
pub mod printed;
pub mod printing;
mod replay;
mod summary;
pub mod tier;
pub mod trouble;

use std::collections::BTreeMap;
use std::io::IsTerminal;
use std::path::Path;
use std::sync::Arc;

use clap::Args;
use serde::Serialize;
use throng_core::ids::TaskId;
use throng_core::stale::Wish;
use throng_core::workflow::Workflow;
use throng_runtime::clock::Clock;
use throng_runtime::driver::Engine;
use throng_runtime::run::{Outlook, Run};
use throng_runtime::state::{RunEnd, StateDirectory};
use throng_runtime::{host, process};

use crate::exit::{Code, Failure};
use crate::load::{self, FlowArguments, load_to_run};
use crate::progress_view::{self, Style};
use crate::words;
use options::{About, RunArguments};
use tier::TierArguments;

const HELP: &str = "\
Example:
  throng run flow.yaml                  everything that is not up to date
  throng run flow.yaml sheet.png        only what this file needs
  throng run flow.yaml --set size=30    with another value of a parameter
  throng run flow.yaml --dry-run        what would run, and why
  throng run flow.yaml --storage /mnt/slow --memory-tier 4GB
                                        inputs are brought from /mnt/slow, 4 GB of them at a time
  throng run montage.json --replay 0.01 a trace in WfFormat, a hundred times as fast

A workflow:
  tasks:
    shrink:
      foreach: { img: \"photos/*.jpg\" }
      run: convert {in} -resize 20% {out}
      in: \"{img}\"
      out: \"small/{img.name}\"";

/// What `throng run` takes.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    #[command(flatten)]
    source: FlowArguments,
    /// Files or tasks to bring up to date, with all they need [default: everything]
    targets: Vec<String>,
    #[command(flatten)]
    run: RunArguments,
    #[command(flatten)]
    tier: TierArguments,
    #[command(flatten)]
    replay: replay::ReplayArguments,
    /// Forget what has been done, and do it all again
    #[arg(long)]
    fresh: bool,
    /// Run this task, or all tasks of this name, even if up to date; may be given several times
    #[arg(long, value_name = "TASK")]
    rerun: Vec<String>,
    /// Say what would run and why, and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Take over outputs that exist but were not made by Throng
    #[arg(long)]
    adopt: bool,
}

/// Whether what tasks print is shown as they end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Prints {
    /// Only in the log.
    Nothing,
    /// On standard output, task by task.
    AsTheyEnd,
    /// The same, but in the order of the tasks.
    InOrder,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Code, Failure> {
    let clock = Clock::start();
    arguments.tier.check(arguments.source.storage.is_some())?;
    let mut loaded = load_to_run(&arguments.source, arguments.replay.wanted())?;
    load::tell_what_is_learnt(&mut loaded, arguments.run.machine_type.as_deref());
    arguments.replay.check(&loaded, &arguments.source.as_typed())?;
    host::forget_peak();
    let flow = Arc::new(loaded.flow);
    let state = loaded.state.clone();
    let wish = Wish {
        targets: find_all(&flow, &loaded.directory, &arguments.targets)?,
        rerun: find_all(&flow, &loaded.directory, &arguments.rerun)?,
        adopt: arguments.adopt,
    };
    let tier = arguments.tier.options(loaded.storage, arguments.dry_run)?;
    let about = About {
        tier,
        directory: loaded.directory,
        home: loaded.home,
        file: arguments.source.flow.clone(),
        state: loaded.state,
        definition: loaded.definition,
        fresh: arguments.fresh,
        wish,
    };
    let mut options = arguments.run.options(clock, about)?;
    if arguments.dry_run {
        // Nothing has been replayed yet, and nothing is made now: all of it would run, wherever one looks.
        if flow.is_trace() && !options.directory.exists() {
            options.directory.clone_from(&options.home);
        }
        let outlook = Outlook::new(flow.clone(), options).map_err(trouble::failure)?;
        dry::tell_outlook(&flow, &outlook, arguments.run.json);
        return Ok(Code::Done);
    }
    let run = if flow.is_trace() {
        replay::check_room(&flow, &options.directory)?;
        let is_quiet = arguments.run.quiet;
        Outlook::begin_replay(flow, options, |flow, place| replay::make_inputs(flow, place, is_quiet))?
    } else {
        Outlook::begin(flow, options).map_err(trouble::failure)?
    };
    warn_of_damage(&run, &state);
    let targets: String = arguments.targets.iter().map(|target| format!(" {}", words::quoted(target))).collect();
    let again = format!(
        "throng run {}{targets}{}{}{}",
        arguments.source.as_typed(),
        arguments.run.as_typed(),
        arguments.tier.as_typed(),
        arguments.replay.as_typed()
    );
    execute(run, &arguments.run, &state, &again, Prints::Nothing)
}

/// Runs to the end, with a word to whoever watches. `again` is what has to be typed to go on.
pub fn execute(run: Run, arguments: &RunArguments, state: &Path, again: &str, prints: Prints) -> Result<Code, Failure> {
    let number = run.number();
    let is_printing = prints != Prints::Nothing;
    process::take_over_signals();
    listen_for_signals(run.engine());
    let style = match (arguments.quiet, std::io::stderr().is_terminal()) {
        (true, _) => Style::Quiet,
        // Bars and what tasks print would overwrite each other.
        (false, true) if is_printing && std::io::stdout().is_terminal() => Style::Lines,
        (false, true) => Style::Bars,
        (false, false) => Style::Lines,
    };
    let printing = match prints {
        Prints::Nothing => None,
        Prints::AsTheyEnd => Some(printing::start(run.engine(), earlier(&run, state), false)),
        Prints::InOrder => Some(printing::start(run.engine(), earlier(&run, state), true)),
    };
    let view = progress_view::start(run.engine(), style, log_command(number, state));
    let engine = run.engine();
    let result = run.execute();
    let failures = view.finish();
    if let Some(printing) = printing {
        printing.finish();
    }
    let end = result.map_err(trouble::failure)?;
    if arguments.json || !arguments.quiet {
        let directory = StateDirectory::new(state);
        let judged = bounds::judge(engine.flow(), &directory.run(number), &end);
        if arguments.json {
            print_json(&Report { run: number, end: &end, bounds: judged.figures() });
        }
        if !arguments.quiet {
            let kept = engine.kept_files();
            let place = place_flag(state);
            let kinds = engine.progress().kinds;
            summary::summarize(number, (&end, judged), &failures, again, &place, (kept, &kinds), &directory);
        }
    }
    Ok(match end.state.as_str() {
        "interrupted" => Code::Interrupted,
        "failed" => Code::TaskFailed,
        _ => Code::Done,
    })
}

/// What tasks that are up to date printed when they were done.
fn earlier(run: &Run, state: &Path) -> BTreeMap<TaskId, printed::Printed> {
    let engine = run.engine();
    let settled = engine.flow().tasks().filter(|task| engine.is_settled(*task));
    printed::find(&StateDirectory::new(state), engine.flow(), settled)
}

#[derive(Serialize)]
struct Report<'a> {
    run: u64,
    #[serde(flatten)]
    end: &'a RunEnd,
    #[serde(flatten)]
    bounds: bounds::Figures,
}

pub(crate) fn print_json(value: &impl Serialize) {
    tell!("{}", serde_json::to_string(value).expect("plain data can be written"));
}

/// Stops the run when the user, the terminal or the system asks for it.
fn listen_for_signals(engine: Engine) {
    std::thread::spawn(move || {
        loop {
            process::next_stop_signal();
            engine.stop();
        }
    });
}

/// The tasks that a person means by names or by files, which may be written as seen from here.
pub fn find_all(flow: &Workflow, directory: &Path, names: &[String]) -> Result<Vec<TaskId>, Failure> {
    let mut tasks = Vec::new();
    for name in names {
        // A path may be meant from here, as the shell completes it, or as the workflow writes it.
        let from_here = std::path::absolute(name).ok();
        let inside = from_here.as_ref().and_then(|path| path.strip_prefix(directory).ok()?.to_str());
        let found = flow.find(name).or_else(|error| inside.and_then(|path| flow.find(path).ok()).ok_or(error));
        let remedy = "name a task (`shrink` for all of a kind, `shrink:7` for one) or a file that a task makes";
        tasks.extend(found.map_err(|error| Failure::bad_input(error, remedy))?);
    }
    Ok(tasks)
}

/// Says what of the journal was lost, and what was learnt that cannot be read.
pub fn warn_of_damage(run: &Run, state: &Path) {
    if run.damaged_bytes() > 0 {
        note!(
            "warning: {} of {} were damaged and left out\n  = help: tasks recorded there run again; \
             the damaged file is kept as journal.damaged; check the disk",
            words::bytes(run.damaged_bytes()),
            state.join("journal").display()
        );
    }
    if let Some(error) = run.lost_learnt() {
        let path = state.join("learnt.json");
        note!("warning: cannot read what was learnt, {}: {error}\n  = help: it is learnt again", path.display());
    }
}

/// The command that shows what a task of this run printed, but for its name.
fn log_command(run: u64, state: &Path) -> String {
    format!("throng logs{} {run}", place_flag(state))
}

/// What has to be typed for commands about this run to find it.
fn place_flag(state: &Path) -> String {
    // Without the flag, the state is looked for here.
    let is_here =
        std::path::absolute(".throng").is_ok_and(|default| std::path::absolute(state).is_ok_and(|own| own == default));
    if is_here { String::new() } else { format!(" --state {}", words::quoted(&state.display().to_string())) }
}
