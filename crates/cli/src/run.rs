//! `throng run`: here and now, with live progress, resuming by itself.

use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Serialize;
use throng_core::ids::TaskId;
use throng_core::policy::Policy;
use throng_core::stale::{Reason, Verdict, Wish};
use throng_core::workflow::{Workflow, quantity};
use throng_runtime::clock::Clock;
use throng_runtime::driver::{Engine, EngineError};
use throng_runtime::run::{Options, Outlook, Run, RunError, Verify};
use throng_runtime::state::{RunEnd, StateDirectory, StateError};
use throng_runtime::store::JournalError;
use throng_runtime::{host, process};

use crate::exit::{Code, Failure};
use crate::load::load;
use crate::progress_view::{self, Style};
use crate::words;

const HELP: &str = "\
Example:
  throng run flow.yaml                  everything that is not up to date
  throng run flow.yaml sheet.png        only what this file needs
  throng run flow.yaml --dry-run        what would run, and why

A workflow:
  tasks:
    shrink:
      foreach: { img: \"photos/*.jpg\" }
      run: convert {img} -resize 20% small/{img.name}
      in: [\"{img}\"]
      out: [\"small/{img.name}\"]";

/// What `throng run` takes.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    /// The workflow, a YAML or JSON file
    flow: PathBuf,
    /// Files or tasks to bring up to date, with all they need [default: everything]
    targets: Vec<String>,
    /// How many tasks to run at once, and how many cores they may ask for together [default: the number of cores]
    #[arg(long, short = 'w', visible_short_alias = 'j', visible_alias = "jobs", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    width: Option<u32>,
    /// Which ready task comes next: fifo, lifo, largest or critical-path
    #[arg(long, default_value = "fifo")]
    order: String,
    /// What may run at once: requests (cores and memory as asked for) or fixed (only --width)
    #[arg(long, default_value = "requests")]
    pack: String,
    /// Memory that tasks may ask for together [default: what the machine has]
    #[arg(long, value_parser = quantity::bytes)]
    memory: Option<u64>,
    /// Where to keep the state [default: .throng beside the workflow]
    #[arg(long, value_name = "DIR")]
    state: Option<PathBuf>,
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
    /// By what files are compared
    #[arg(long, value_enum, default_value_t = VerifyBy::Mtime)]
    verify: VerifyBy,
    /// Start nothing more once a task has failed
    #[arg(long)]
    fail_fast: bool,
    /// How long a task that is asked to end may take before it is killed
    #[arg(long, default_value = "5s", value_parser = quantity::duration)]
    grace: Duration,
    /// Say nothing but errors
    #[arg(long, short)]
    quiet: bool,
    /// Print the result as one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, ValueEnum)]
enum VerifyBy {
    /// Size and time of modification
    Mtime,
    /// Their bytes
    Content,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Code, Failure> {
    let clock = Clock::start();
    let (order, pack) = (policy(&arguments.order)?, policy(&arguments.pack)?);
    let loaded = load(&arguments.flow, arguments.state.as_deref())?;
    host::forget_peak();
    let flow = Arc::new(loaded.flow);
    let machine = host::resources();
    let width = arguments.width.unwrap_or((machine.cpus_milli / 1000) as u32);
    let mut resources = machine;
    if arguments.width.is_some() {
        resources.cpus_milli = u64::from(width) * 1000;
    }
    resources.memory_bytes = arguments.memory.unwrap_or(machine.memory_bytes);
    let options = Options {
        state: arguments.state.clone().unwrap_or_else(|| loaded.directory.join(".throng")),
        directory: loaded.directory.clone(),
        file: arguments.flow.clone(),
        place: policy("here")?,
        order,
        pack,
        width,
        resources,
        grace: arguments.grace,
        fail_fast: arguments.fail_fast,
        verify: match arguments.verify {
            VerifyBy::Mtime => Verify::Modified,
            VerifyBy::Content => Verify::Content,
        },
        fresh: arguments.fresh,
        wish: Wish {
            targets: find_all(&flow, &loaded.directory, &arguments.targets)?,
            rerun: find_all(&flow, &loaded.directory, &arguments.rerun)?,
            adopt: arguments.adopt,
        },
        clock,
    };
    if arguments.dry_run {
        let outlook = Outlook::new(flow.clone(), options).map_err(failure)?;
        tell_outlook(&flow, &outlook, arguments.json);
        return Ok(Code::Done);
    }
    let state = options.state.clone();
    let run = Outlook::begin(flow, options).map_err(failure)?;
    warn_of_damage(&run, &state);
    execute(run, arguments, &state)
}

fn execute(run: Run, arguments: &Arguments, state: &Path) -> Result<Code, Failure> {
    let number = run.number();
    process::take_over_signals();
    listen_for_signals(run.engine());
    let style = match (arguments.quiet, std::io::stderr().is_terminal()) {
        (true, _) => Style::Quiet,
        (false, true) => Style::Bars,
        (false, false) => Style::Lines,
    };
    let view = progress_view::start(run.engine(), style, log_command(number, state));
    let engine = run.engine();
    let result = run.execute();
    let failures = view.finish();
    let end = result.map_err(failure)?;
    if arguments.json {
        print_json(&Report { run: number, end: &end });
    }
    if !arguments.quiet {
        let place = arguments.state.as_ref().map_or(String::new(), |state| format!(" --state {}", state.display()));
        let again = format!("throng run {}{place}", arguments.flow.display());
        let kept = engine.kept_files();
        summarize(number, &end, &failures, &again, &log_command(number, state), kept, &StateDirectory::new(state));
    }
    Ok(match end.state.as_str() {
        "interrupted" => Code::Interrupted,
        "failed" => Code::TaskFailed,
        _ => Code::Done,
    })
}

#[derive(Serialize)]
struct Report<'a> {
    run: u64,
    #[serde(flatten)]
    end: &'a RunEnd,
}

fn print_json(value: &impl Serialize) {
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

fn policy(text: &str) -> Result<Policy, Failure> {
    text.parse().map_err(|error| Failure::bad_input(error, "write a policy as name or name:key=value,key=value"))
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

fn failure(error: RunError) -> Failure {
    match &error {
        RunError::State(StateError::Locked { .. }) => {
            Failure::bad_input(error, "wait for it, or stop it: two engines on the same files would disturb each other")
        }
        RunError::State(StateError::Elsewhere { .. }) => {
            Failure::bad_input(error, "give each directory a state of its own with --state")
        }
        RunError::State(StateError::Io { error: cause, .. })
        | RunError::Journal(JournalError::Io { error: cause, .. })
            if cause.kind() == std::io::ErrorKind::StorageFull =>
        {
            Failure::internal(error, "make room on the disk, then run the same command again")
        }
        RunError::State(_) | RunError::Journal(JournalError::Io { .. }) => {
            Failure::bad_input(error, "make the directory writable, or keep the state elsewhere with --state")
        }
        RunError::Journal(_) => {
            Failure::bad_input(error, "use the version that wrote it, or --fresh to begin anew (it is kept aside)")
        }
        RunError::Policy(_) => Failure::bad_input(error, "see `throng run --help`"),
        RunError::NeverFits { .. } => Failure::bad_input(
            error,
            "lower `cpus` or `memory` in the workflow, raise --width or --memory, or use --pack fixed",
        ),
        RunError::Leftover(_) => Failure::internal(error, "end it by hand, then run again"),
        RunError::Engine(EngineError::GaveUp(_) | EngineError::Journal(_) | EngineError::State(_)) => {
            Failure::internal(
                error,
                "make room (disk, open files, processes), then run the same command again: what was finished is kept",
            )
        }
        RunError::Engine(EngineError::Stalled(_)) => Failure::internal(error, "run the same command again to go on"),
    }
}

fn warn_of_damage(run: &Run, state: &Path) {
    if run.damaged_bytes() > 0 {
        note!(
            "warning: {} of {} were damaged and left out\n  = help: tasks recorded there run again; \
             the damaged file is kept as journal.damaged; check the disk",
            words::bytes(run.damaged_bytes()),
            state.join("journal").display()
        );
    }
}

/// The command that shows what a task of this run printed, but for its name.
fn log_command(run: u64, state: &Path) -> String {
    // Without the flag, the state is looked for here.
    let is_here =
        std::path::absolute(".throng").is_ok_and(|default| std::path::absolute(state).is_ok_and(|own| own == default));
    let place = if is_here { String::new() } else { format!(" --state {}", state.display()) };
    format!("throng logs{place} {run}")
}

fn summarize(
    run: u64,
    end: &RunEnd,
    failures: &progress_view::Failures,
    again: &str,
    logs: &str,
    kept: u64,
    state: &StateDirectory,
) {
    let mut parts = vec![format!("{} done", end.done)];
    for (number, what) in [(end.up_to_date, "up to date"), (end.failed, "failed"), (end.skipped, "skipped")] {
        if number > 0 {
            parts.push(format!("{number} {what}"));
        }
    }
    let left = end.total - end.done - end.up_to_date - end.failed - end.skipped;
    if left > 0 {
        parts.push(format!("{left} left"));
    }
    let speed = if end.done > 1 { format!(", {}", words::rate(end.tasks_per_s)) } else { String::new() };
    let total = words::count(end.total, "task");
    note!("run {run}: {total}: {} in {}{speed}", parts.join(", "), words::seconds(end.seconds));
    if !failures.names.is_empty() {
        let more = end.failed - failures.names.len() as u64;
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        note!("failed: {}{more}", failures.names.join(", "));
        let look = failures.printed.as_ref().map_or(String::new(), |task| format!("see `{logs} {task}`; "));
        note!("  = help: {look}correct it, then `{again}` goes on");
    }
    if kept > 0 {
        let files = words::count(kept, "file");
        note!(
            "note: {files} in the way of an output, not made by Throng or changed since, moved to {}",
            state.kept(run).display()
        );
    }
    if end.state == "interrupted" {
        note!("interrupted: `{again}` goes on where it was");
    }
}

/// Names shown of tasks that would run; `--json` has them all.
const SHOWN: usize = 50;

#[derive(Serialize)]
struct DryRun {
    total: u64,
    would_run: u64,
    maybe: u64,
    up_to_date: u64,
    adopted: u64,
    tasks: Vec<DryTask>,
}

#[derive(Serialize)]
struct DryTask {
    task: String,
    why: &'static str,
}

fn tell_outlook(flow: &Workflow, outlook: &Outlook, json: bool) {
    let mut dry = DryRun { total: 0, would_run: 0, maybe: 0, up_to_date: 0, adopted: 0, tasks: Vec::new() };
    for task in flow.tasks() {
        let (number, why) = match outlook.verdict(task) {
            Verdict::Outside => continue,
            Verdict::UpToDate => (&mut dry.up_to_date, None),
            Verdict::Adopted => (&mut dry.adopted, Some("its files are there and are taken over")),
            Verdict::Maybe => (&mut dry.maybe, Some(Reason::ParentRuns.words())),
            Verdict::Run(reason) => (&mut dry.would_run, Some(reason.words())),
        };
        *number += 1;
        dry.total += 1;
        if let Some(why) = why.filter(|_| json || dry.tasks.len() < SHOWN) {
            let name = flow.name(task);
            dry.tasks.push(DryTask { task: if json { name } else { words::printable(&name) }, why });
        }
    }
    if json {
        return print_json(&dry);
    }
    let width = dry.tasks.iter().map(|task| task.task.chars().count()).max().unwrap_or(0).min(40);
    for task in &dry.tasks {
        tell!("{:width$}  {}", task.task, task.why);
    }
    let listed = dry.tasks.len() as u64;
    let hidden = dry.would_run + dry.maybe + dry.adopted - listed;
    if hidden > 0 {
        tell!("… and {hidden} more (--json lists all)");
    }
    let maybe = if dry.maybe > 0 { format!(", {} might", dry.maybe) } else { String::new() };
    let adopted = if dry.adopted > 0 { format!(", {} would be taken over", dry.adopted) } else { String::new() };
    tell!(
        "{} of {} would run{maybe}{adopted}, {} up to date",
        dry.would_run,
        words::count(dry.total, "task"),
        dry.up_to_date
    );
}
