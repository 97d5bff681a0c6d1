//! Runs of other engines as workflows: traces in WfFormat 1.5 and 1.6, as the WfCommons project publishes them.
//!
//! ```text
//!   text ── recognise ──▶ document ── links, versions ──▶ who waits for whom, which file is which ── assemble ──▶ Workflow
//! ```
//!
//! A trace says what was run, how long each task took and how large its files were; it is not run itself. So a task of it
//! has a time and sizes that are known, and does nothing, unless a [`Replay`] lets it take its time and make its files.
//! What is needed and missing is a problem; what is merely odd is a remark, and the trace is read all the same.
//!
//! What a trace says of memory is only expected and never asked for: it was measured, often in a wrong unit, and would keep
//! tasks from machines that could run them. Its cores count, unless it is replayed. Its priorities are left out: which task
//! goes first is what one wants to compare.

mod assemble;
mod document;
mod escape;
mod fields;
mod kinds;
mod links;
mod moment;
mod observed;
mod paths;
mod recognise;
mod remarks;
#[cfg(test)]
mod tests;
mod versions;
mod walk;

pub use escape::{escape, is_plain, unescape};
pub use observed::{Observed, RecordedMachine, observed};
pub use recognise::is_trace;

use super::problem::{Mark, Problem, ProblemList, Problems};
use super::{Request, Workflow};
use crate::ids::ObjectId;
use assemble::Names;
use document::Document;
use links::Links;
use versions::Files;

/// Versions that are read.
const VERSIONS: [&str; 2] = ["1.5", "1.6"];

/// The engine's own name, by which a trace that it wrote is known.
pub const OWN_SYSTEM: &str = "Throng";

/// How a trace is replayed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Replay {
    /// How many times as long as it did each task takes.
    pub times: f64,
    /// How many times as large as they were files are.
    pub sizes: f64,
    /// Whether a task keeps a core busy instead of waiting.
    pub spins: bool,
}

/// What a trace says beyond its tasks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    /// The version of its format.
    pub version: String,
    /// The name that the document gives, which many traces share.
    pub name: Option<String>,
    /// Name and version of the engine that ran it.
    pub system: Option<String>,
    /// How long the run took.
    pub makespan_seconds: Option<f64>,
    /// When it was, as it is written.
    pub executed_at: Option<String>,
    /// The same in milliseconds since 1970, if it can be read.
    pub executed_unix_ms: Option<i64>,
    /// How many machines are listed.
    pub machines: usize,
    /// What is odd about it and does no harm.
    pub remarks: Vec<String>,
}

/// Reads and checks a trace.
pub(super) fn read(request: &Request<'_>) -> Result<(Workflow, About), Problems> {
    let mut problems = ProblemList::default();
    let document = Document::read(request.text, &mut problems)?;
    // Another version has its fields elsewhere, which would only be told in many words.
    let version = check_version(&document)?;
    check_settings(request, &mut problems);
    problems.check()?;
    let mut remarks = Vec::new();
    let links = Links::of(&document, &mut problems, &mut remarks);
    problems.check()?;
    let files = Files::of(&document, &links, &mut problems, &mut remarks);
    problems.check()?;
    let names = names(&document)?;
    // The document's own name is one that many traces share, and tasks are known from run to run by the title.
    let flow = assemble::assemble(&document, &links, &files, &names, request.default_name, request.replay)?;
    Ok((flow, about(document, version, remarks)))
}

fn check_version(document: &Document) -> Result<String, Problem> {
    let start = Mark { line: 1, column: 1, file: 0 };
    let Some(version) = &document.version else {
        let message = "the trace does not say its `schemaVersion`";
        return Err(Problem::new(start, message, "add \"schemaVersion\": \"1.5\", if that is what it is"));
    };
    if VERSIONS.contains(&version.text.as_str()) {
        return Ok(version.text.clone());
    }
    let number: Option<f64> = version.text.parse().ok();
    let remedy = match number {
        Some(number) if number < 1.5 => {
            "bring it to version 1.5 first: the WfCommons project publishes its traces anew, and has a tool for it"
        }
        _ => "export it as version 1.5 or 1.6",
    };
    let message = format!("this is a trace in WfFormat {}, and Throng reads 1.5 and 1.6", version.text);
    Err(Problem::new(version.mark, message, remedy).spanning(&version.text))
}

fn check_settings(request: &Request<'_>, problems: &mut ProblemList) {
    let given = request.settings.iter().map(|(name, _)| name.clone());
    if let Some(first) = given.chain(request.param_files.iter().map(|file| file.name.clone())).next() {
        let message = format!("a trace has no parameters, and `{first}` is given");
        problems.push(Problem::new(Mark::default(), message, "leave out --set and --params"));
    }
}

/// What everything is called: as the document has it, or as it was before Throng wrote the document.
fn names(document: &Document) -> Result<Names, Problem> {
    let is_own = document.system.as_ref().is_some_and(|(name, _)| name == OWN_SYSTEM);
    let original = |id: &str| if is_own { unescape(id) } else { id.to_owned() };
    let ids = &document.task_ids.strings;
    let tasks: Vec<String> = document.tasks.iter().map(|task| original(ids.get(task.id.id))).collect();
    let files: Vec<String> =
        (0..document.file_ids.strings.len() as u32).map(|file| original(document.file_ids.strings.get(file))).collect();
    if is_own {
        check_distinct(&tasks, "tasks")?;
        check_distinct(&files, "files")?;
    }
    let kinds = kinds::kinds(document, &tasks);
    Ok(Names { tasks, kinds, files })
}

/// Only somebody who has changed the document by hand can have made two of them one.
fn check_distinct(names: &[String], what: &str) -> Result<(), Problem> {
    if let Some(name) = names.iter().find(|name| name.contains('\0')) {
        let message =
            format!("the id of one of the {what} stands for `{}`, in which there is a NUL", name.replace('\0', "␀"));
        return Err(Problem::new(
            Mark::default(),
            message,
            "`#00` in an id that Throng wrote is a NUL, and no name has one: change it",
        ));
    }
    let mut sorted: Vec<&String> = names.iter().collect();
    sorted.sort();
    match sorted.windows(2).find(|pair| pair[0] == pair[1]) {
        None => Ok(()),
        Some(pair) => {
            let message = format!("the ids of two {what} both stand for `{}`", pair[0]);
            Err(Problem::new(
                Mark::default(),
                message,
                "`#20` in an id that Throng wrote is a space: change one of them",
            ))
        }
    }
}

fn about(document: Document, version: String, mut remarks: Vec<String>) -> About {
    let mut untimed = remarks::Tally::default();
    for task in &document.tasks {
        let is_untimed = document.measured(task.id.id).is_none();
        untimed.count(is_untimed, || document.task_ids.strings.get(task.id.id).to_owned());
    }
    let words = |count, first: &str| format!("{count} of which nothing was measured, such as `{first}`");
    remarks.extend(untimed.remark(words, "task"));
    let mut unnamed = remarks::Tally::default();
    for task in &document.tasks {
        unnamed.count(task.name.is_none(), || document.task_ids.strings.get(task.id.id).to_owned());
    }
    remarks.extend(unnamed.remark(|count, first| format!("{count} without a `name`, such as `{first}`"), "task"));
    if document.name.is_none() {
        remarks.push("the trace has no `name`".to_owned());
    }
    let has_execution = document.execution.is_some();
    let execution = document.execution.unwrap_or_default();
    let executed_unix_ms = execution.executed_at.as_deref().and_then(moment::unix_ms);
    if has_execution && execution.makespan_seconds.is_none() {
        remarks.push("`execution` has no `makespanInSeconds`".to_owned());
    }
    if has_execution && executed_unix_ms.is_none() {
        remarks.push(match &execution.executed_at {
            None => "`execution` has no `executedAt`".to_owned(),
            Some(text) => format!("`executedAt` is `{text}`, which is no moment"),
        });
    }
    About {
        version,
        name: document.name,
        system: document.system.map(|(name, version)| format!("{name} {version}").trim().to_owned()),
        makespan_seconds: execution.makespan_seconds,
        executed_at: execution.executed_at,
        executed_unix_ms,
        machines: execution.machines.len(),
        remarks,
    }
}

impl Workflow {
    /// The id that a file has in the trace that this workflow was read from; its path, if it is no trace.
    pub fn file_id(&self, object: ObjectId) -> String {
        let path = self.object_name(object);
        if self.is_trace() { paths::decode(path) } else { path.to_owned() }
    }
}
