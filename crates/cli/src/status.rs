//! `throng status`: how a run went, or one of its tasks.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use serde_json::{Value, json};
use throng_core::ids::TaskId;
use throng_core::node::{Command, Event};
use throng_core::stale::Reason;
use throng_core::time::Time;
use throng_core::trace::{Attempt, Entry};
use throng_runtime::recording::Recording;
use throng_runtime::state::{About, RunDirectory, StateDirectory};

use crate::exit::{Code, Failure};
use crate::run::bounds::Bounds;
use crate::runs::{self, find_run, run_and_task};
use crate::words;

/// What `throng status` takes.
#[derive(Args)]
#[command(
    after_help = "Example:\n  throng status              the last run\n  throng status 3 shrink:7   the history of one task in run 3"
)]
pub struct Arguments {
    /// The run, by its number or `last`
    #[arg(default_value = "last")]
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
    let run = find_run(&state, run)?;
    match task {
        None => tell_run(&state, &run, arguments.json),
        Some(task) => tell_task(&run, task, arguments.json),
    }
}

fn tell_run(state: &StateDirectory, run: &RunDirectory, json: bool) -> Result<Code, Failure> {
    let about = runs::about(run)?;
    let state_word = runs::state_word(state, run, &about);
    // A run that has only just begun, or was killed in its first moments, has no recording yet.
    let recording = Recording::read(run).ok();
    let standing = recording.as_ref().map(Recording::standing).unwrap_or_default();
    let names = |tasks: &[TaskId], limit: usize| -> Vec<String> {
        let flow = recording.as_ref().map(|recording| &recording.flow);
        tasks.iter().take(limit).filter_map(|task| Some(flow?.name(*task))).collect()
    };
    // What a simulated run is held against was worked out with the cluster that it was simulated on.
    let real = recording.as_ref().filter(|_| about.simulated.is_none());
    let bounds = real.and_then(Bounds::of_recording);
    if json {
        let mut value = serde_json::to_value(&about).expect("plain data can be written");
        let figures = json!(bounds.map(|bounds| bounds.figures()).unwrap_or_default());
        if let (Some(end), Value::Object(figures)) = (value["end"].as_object_mut(), figures) {
            end.extend(figures);
        }
        value["state"] = json!(state_word);
        value["at_once"] = json!(recording.as_ref().map(learnt_widths).unwrap_or_default());
        value["at_once_on_node"] = json!(learner(&about).map(|(node, _)| node));
        value["failed_tasks"] = json!(names(&standing.failed, usize::MAX));
        value["running_tasks"] = json!(names(&standing.running, usize::MAX));
        tell!("{value}");
        return Ok(Code::Done);
    }
    tell!("run {} of {} ({}): {state_word}", about.run, about.workflow, about.file);
    tell!("started   {} ({})", words::moment(about.started_unix_ms), words::ago(about.started_unix_ms));
    let node = &about.node;
    match &about.simulated {
        None => tell!("node      width {}, order {}, pack {}", node.width, node.order, node.pack),
        Some(simulation) => tell!(
            "cluster   {}{}, modelled; place {}, order {}, pack {}; seed {}: nothing was really done",
            words::count(simulation.nodes.into(), "node"),
            match simulation.groups.len() {
                0 | 1 => format!(" with {} each", words::count(simulation.cores.into(), "core")),
                types => format!(" of {types} types"),
            },
            node.place,
            node.order,
            node.pack,
            simulation.seed,
        ),
    }
    let widths = recording.as_ref().map(learnt_widths).unwrap_or_default();
    if !widths.is_empty() {
        let shown = widths.iter().take(WIDTHS_SHOWN).map(|(kind, width)| format!("{} {width}", words::printable(kind)));
        let more = if widths.len() > WIDTHS_SHOWN { ", …" } else { "" };
        let whose = learner(&about).map_or_else(String::new, |(node, nodes)| format!(" (node {node} of {nodes})"));
        tell!("at once   {}{more}{whose}", shown.collect::<Vec<_>>().join(", "));
    }
    match &about.end {
        Some(end) => {
            let left = end.total - end.done - end.up_to_date - end.failed - end.skipped;
            tell!(
                "tasks     {} in all: {} done, {} up to date, {} failed, {} skipped, {left} left",
                end.total,
                end.done,
                end.up_to_date,
                end.failed,
                end.skipped
            );
            let speed = if end.done > 1 { format!(" ({})", words::rate(end.tasks_per_s)) } else { String::new() };
            tell!("took      {}{speed}", words::seconds(end.seconds));
            if let Some(bounds) = bounds {
                tell!("makespan  {}", bounds.in_words(end.makespan_s));
            }
            if let Some(data) = &end.data {
                tell!("data      {}", crate::run::tier::in_words(data));
            }
        }
        None => tell!(
            "tasks     so far {} done, {} up to date, {} failed, {} skipped",
            standing.done,
            standing.up_to_date,
            standing.failed.len(),
            standing.skipped
        ),
    }
    let word = if state_word == "running" { "running" } else { "unended" };
    let is_over = about.end.is_some();
    for (title, tasks) in [("failed", &standing.failed), (word, &standing.running)] {
        if tasks.is_empty() || is_over && title == word {
            continue;
        }
        let more = tasks.len().saturating_sub(SHOWN);
        let more = if more > 0 { format!(" and {more} more (--json lists all)") } else { String::new() };
        tell!("{title:<9} {}{more}", words::printable(&names(tasks, SHOWN).join(", ")));
    }
    Ok(Code::Done)
}

/// Names shown of tasks that failed or run.
const SHOWN: usize = 20;
/// Kinds shown of which it was learnt how many to run at once.
const WIDTHS_SHOWN: usize = 8;

/// Of which node it is on record how many tasks it ran at once, and of how many nodes, if there were several.
pub fn learner(about: &About) -> Option<(u32, u32)> {
    let nodes = about.simulated.as_ref()?.nodes;
    (nodes > 1).then_some((throng_sim::LEARNER.0, nodes))
}

/// How many of each kind were to run at once in the end, where that is learnt.
fn learnt_widths(recording: &Recording) -> BTreeMap<String, u32> {
    let change = |(_, entry): (Time, Entry)| match entry {
        Entry::Command(Command::Width(change)) if change.kind.index() < recording.flow.kind_count() => {
            Some((recording.flow.kind_name(change.kind).to_owned(), change.width))
        }
        _ => None,
    };
    recording.entries().filter_map(change).collect()
}

/// The recording of a run, or why there is none.
pub fn recording(run: &RunDirectory) -> Result<Recording, Failure> {
    Recording::read(run).map_err(|error| Failure::bad_input(error, "choose another run: see `throng runs`"))
}

/// The one task that a person means by a name or a file.
pub fn one_task(recording: &Recording, name: &str) -> Result<TaskId, Failure> {
    let tasks = recording.flow.find(name).map_err(|error| Failure::bad_input(error, "check the name"))?;
    let [task] = tasks[..] else {
        let message = format!("`{name}` is {}", words::count(tasks.len() as u64, "task"));
        let remedy = match tasks.first() {
            Some(first) => format!("name one of them, such as `{}`", recording.flow.name(*first)),
            None => "check the name".to_owned(),
        };
        return Err(Failure::bad_input(message, remedy));
    };
    Ok(task)
}

fn tell_task(run: &RunDirectory, name: &str, json: bool) -> Result<Code, Failure> {
    let recording = recording(run)?;
    let task = one_task(&recording, name)?;
    let history: Vec<(Time, Entry)> = recording.history(task).collect();
    if json {
        let entries: Vec<_> = history.iter().map(|(time, entry)| as_json(*time, entry)).collect();
        tell!("{}", json!({ "run": run.number, "task": recording.flow.name(task), "history": entries }));
        return Ok(Code::Done);
    }
    let simulated = if recording.about.simulated.is_some() { "simulated " } else { "" };
    tell!("{} in {simulated}run {}:", recording.flow.name(task), run.number);
    // A run that begins with nothing on record does not say of each task that it has not been done.
    let is_verdict = |entry: &Entry| matches!(entry, Entry::Pending(..) | Entry::UpToDate(_));
    if !recording.entries().any(|(_, entry)| is_verdict(&entry)) {
        tell!("  {:>12.6} s  submitted: {}", 0.0, Reason::NeverDone.words());
    } else if history.is_empty() {
        tell!("  it was not part of this run");
    }
    for (time, entry) in history {
        for (time, text) in in_words(time, &entry) {
            tell!("  {:>12.6} s  {text}", time.as_secs_f64());
        }
    }
    Ok(Code::Done)
}

fn in_words(time: Time, entry: &Entry) -> Vec<(Time, String)> {
    let text = match entry {
        Entry::Pending(_, reason) => format!("submitted: {}", reason.words()),
        Entry::UpToDate(_) => "up to date".to_owned(),
        Entry::Skipped(_) => "skipped: a task before it failed".to_owned(),
        Entry::Event(Event::Ready(ready)) if ready.attempt == 1 => "ready".to_owned(),
        Entry::Event(Event::Ready(ready)) => format!("ready for attempt {}", ready.attempt),
        Entry::Command(Command::Start { attempt, slot, .. }) => format!("attempt {attempt} chosen for slot {}", slot.0),
        Entry::Command(Command::Complete { .. }) => "done".to_owned(),
        Entry::Command(Command::Fail { attempt: 0, .. }) => "failed for good before its first attempt".to_owned(),
        Entry::Command(Command::Fail { attempt, .. }) => format!("failed for good after attempt {attempt}"),
        Entry::Command(Command::Interrupt { retry_at: Some(at), .. }) => {
            format!("to be tried again at {:.3} s", at.as_secs_f64())
        }
        Entry::Command(Command::Interrupt { retry_at: None, .. }) => "interrupted".to_owned(),
        Entry::Attempt(attempt) => return attempt_in_words(attempt),
        Entry::Command(Command::NeverFits { needed_bytes, .. }) => {
            format!("its data never fit into the node's room: {} are needed", words::bytes(*needed_bytes))
        }
        Entry::Command(Command::Lost { .. }) => "an input is lost".to_owned(),
        Entry::Event(_) | Entry::Decide | Entry::Command(_) => return Vec::new(),
    };
    vec![(time, text)]
}

fn attempt_in_words(attempt: &Attempt) -> Vec<(Time, String)> {
    let usage = &attempt.usage;
    let cores = Time(usage.core_us() * 1000).as_secs_f64();
    let at_most = if usage.peak_is_bound { "at most " } else { "" };
    vec![
        (attempt.staged, "staged".to_owned()),
        (attempt.started, "started".to_owned()),
        (
            attempt.ended,
            format!(
                "ended: {} (on a core for {}, {at_most}{} of memory, read {}, wrote {}, printed {})",
                words::outcome(attempt.outcome),
                words::seconds(cores),
                words::bytes(usage.peak_memory_bytes),
                words::bytes(usage.read_bytes()),
                words::bytes(usage.written_bytes()),
                words::bytes(attempt.log.1),
            ),
        ),
    ]
}

fn as_json(time: Time, entry: &Entry) -> serde_json::Value {
    if let Entry::Attempt(attempt) = entry {
        let usage = &attempt.usage;
        return json!({
            "what": "attempt",
            "attempt": attempt.attempt,
            "slot": attempt.slot.0,
            "staged_s": attempt.staged.as_secs_f64(),
            "started_s": attempt.started.as_secs_f64(),
            "ended_s": attempt.ended.as_secs_f64(),
            "outcome": words::outcome(attempt.outcome),
            "user_us": usage.user_us,
            "system_us": usage.system_us,
            "peak_memory_bytes": usage.peak_memory_bytes,
            "peak_is_bound": usage.peak_is_bound,
            "read_bytes": usage.read_bytes(),
            "written_bytes": usage.written_bytes(),
            "printed_bytes": attempt.log.1,
        });
    }
    let words: Vec<String> = in_words(time, entry).into_iter().map(|(_, text)| text).collect();
    json!({ "what": words.join(""), "at_s": time.as_secs_f64() })
}
