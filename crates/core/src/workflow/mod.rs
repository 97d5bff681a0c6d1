//! The workflow: a checked graph of tasks and objects that cannot exist invalid.
//!
//! ```text
//!   text ── yaml | json ──▶ Value (one entry at a time) ── spec ──▶ TaskSpec ── builder ──▶ Workflow
//! ```
//!
//! A trace of another engine's run is read in [`wfformat`] and becomes the same thing.
//!
//! The only way to a [`Workflow`] is [`Workflow::parse`], and everything that can be wrong with one is found
//! there, with its place in the text. After that it never changes. It is kept in flat arrays of numbers:
//! a task is its template plus a row of values, an edge is four bytes, and no array holds a pointer, so that
//! the whole can be written to one file and mapped into memory by every process of a host.
//!
//! ```
//! use throng_core::workflow::{Format, NoFiles, Workflow};
//! let text = "tasks: { hello: { foreach: { i: 1..3 }, run: 'echo {i}' } }";
//! let flow = Workflow::parse(text, Format::Yaml, "demo", &NoFiles).unwrap();
//! assert_eq!(flow.task_count(), 3);
//! assert_eq!(flow.name(flow.tasks().nth(2).unwrap()), "hello:3");
//! ```

mod builder;
mod command;
mod container;
mod demand;
mod edges;
mod file;
pub(crate) mod json;
pub mod keys;
mod params;
pub mod path;
mod pattern;
mod problem;
pub mod quantity;
mod select;
mod shell;
mod spec;
mod strings;
mod table;
mod value;
pub mod wfformat;
pub(crate) mod yaml;

use std::ops::Range;
use std::time::Duration;

use bytemuck::{Pod, Zeroable};

pub use builder::Request;
pub use command::{Action, Conditions, ContainerUse, as_script};
pub use container::{CONTAINER_RUNNERS, Inside, in_container};
pub use demand::{Demand, Pool, Resources};
pub use file::BadFile;
pub use problem::{Mark, Problem, Problems, SourceFile};
pub use select::UnknownTarget;
pub use wfformat::Replay;

use crate::fingerprint::hash;
use crate::ids::{KindId, ObjectId, TaskId, TemplateId};
use pattern::Piece;
use strings::Strings;

/// What other files that people write are read with: they are YAML and JSON, too, and their mistakes are told in the same way.
pub(crate) mod reading {
    pub(crate) use super::problem::{Mark, Problem, Problems};
    pub(crate) use super::spec::{scalar, unknown_key, wrong};
    pub(crate) use super::value::{Seen, Text, Value, note_key};
    pub(crate) use super::{json, yaml};
}

/// How a workflow's text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// YAML, for people.
    Yaml,
    /// JSON, for programs.
    Json,
}

impl Format {
    /// The format of a file, by its name.
    pub fn of(name: &str) -> Format {
        if path::extension(name).eq_ignore_ascii_case(".json") { Format::Json } else { Format::Yaml }
    }
}

/// A workflow as it was read, and what else its text says.
#[derive(Clone, Debug)]
pub struct Reading {
    /// The workflow.
    pub flow: Workflow,
    /// The files that it includes.
    pub included: Vec<SourceFile>,
    /// What is said of the run, if it is a trace of one.
    pub trace: Option<wfformat::About>,
}

/// What a workflow's text may ask of the world while it is read.
pub trait Surroundings {
    /// The files that match a pattern, relative to the workflow's directory, sorted.
    fn glob(&self, pattern: &str) -> Result<Vec<String>, String>;
    /// Whether a file or directory is there.
    fn exists(&self, path: &str) -> bool;
    /// The text of a file: one that is included, or that a `foreach` runs over.
    fn read(&self, path: &str) -> Result<String, String>;
    /// Where else a file was looked for that is not there, as people name it.
    fn elsewhere(&self, _path: &str) -> Option<String> {
        None
    }
    /// What a path is used for that no task may make: the workflow's own file, or where the state is kept.
    fn reserved(&self, _path: &str) -> Option<&'static str> {
        None
    }
}

/// Surroundings in which every file exists and no pattern matches: for tests and examples.
#[derive(Clone, Copy, Debug)]
pub struct NoFiles;

impl Surroundings for NoFiles {
    fn glob(&self, _: &str) -> Result<Vec<String>, String> {
        Ok(Vec::new())
    }

    fn exists(&self, _: &str) -> bool {
        true
    }

    fn read(&self, _: &str) -> Result<String, String> {
        Err("there are no files here".to_owned())
    }
}

/// What a task was written as: the text that one or many tasks share.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Template {
    name: u32,
    settings: u32,
    first_task: u32,
    rows: u32,
    columns: u32,
    column_count: u32,
    command: u32,
    command_pieces: u32,
}

/// What templates often have in common, kept once: a file may list a million tasks that differ only in names.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
struct Settings {
    timeout_ns: u64,
    /// What somebody expects; the highest number where nobody said.
    estimate_time_ns: u64,
    estimate_memory_bytes: u64,
    estimate_out_bytes: u64,
    action: u32,
    kind: u32,
    /// The class of the first attempt; those of the next follow it, as many as there are.
    class: u32,
    class_count: u32,
    env: u32,
    env_count: u32,
    retries: u32,
    priority: i32,
    /// What only few tasks have, or `NONE`.
    extras: u32,
    padding: u32,
}

/// No such thing.
const NONE: u32 = u32::MAX;
/// No such amount.
const UNKNOWN: u64 = u64::MAX;

/// Part of an array.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
struct Span {
    start: u32,
    count: u32,
}

impl Span {
    fn range(self) -> Range<usize> {
        self.start as usize..(self.start + self.count) as usize
    }
}

/// What a task may have besides, and most do not: spans are empty where nothing was said.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Pod, Zeroable)]
struct Extras {
    /// Pieces.
    stdin: Span,
    stdout: Span,
    stderr: Span,
    dir: Span,
    image: Span,
    container_options: Span,
    /// Values: the words of a shell.
    shell: Span,
    /// Paths, kept only where the command names them.
    inputs: Span,
    outputs: Span,
    /// Exit codes after which another attempt may help.
    codes: Span,
    container_with: u32,
    padding: u32,
}

/// An entry of `in` or `out`, for commands that name it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct PathPattern {
    pieces: Span,
    group: u32,
    /// Where in `ranges` the objects of `{ all: TASK }` are told, or `NONE`.
    all: u32,
    /// One if they differ from row to row, or zero.
    all_stride: u32,
}

/// One name of a `foreach`: row r has the value number `r / stride % length`.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Column {
    first: i64,
    step: i64,
    is_list: u32,
    list: u32,
    length: u32,
    stride: u32,
    /// Whether it is part of the task's name.
    in_name: u32,
    padding: u32,
}

/// An environment variable of a template.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
struct Variable {
    name: u32,
    value: u32,
    value_pieces: u32,
}

/// A checked graph of tasks and objects. Tasks of one template have consecutive numbers; so have the outputs
/// of one task, and objects from outside come after all that are made here.
#[derive(Clone, Debug, Default)]
pub struct Workflow {
    name: u32,
    strings: Strings,
    templates: Vec<Template>,
    settings: Vec<Settings>,
    columns: Vec<Column>,
    /// Numbers of strings: the values of list columns.
    values: Vec<u32>,
    pieces: Vec<Piece>,
    variables: Vec<Variable>,
    /// Numbers of strings: the names of kinds.
    kinds: Vec<u32>,
    extras: Vec<Extras>,
    paths: Vec<PathPattern>,
    /// Objects that an `{ all: TASK }` stands for.
    ranges: Vec<Span>,
    /// Pairs of exit codes, from and to.
    codes: Vec<u32>,
    demands: demand::Demands,
    /// For each task the type of machine that a plan holds it to, and how many classes there were before; empty without a plan. No part of the file.
    planned: demand::Planned,
    /// What is special about objects that are made here; empty if nothing is.
    object_flags: Vec<u8>,
    /// How large somebody expects objects to be, as far as anybody said: empty if nobody did.
    sizes: Vec<u64>,
    task_template: Vec<u32>,
    /// Object names, by object number.
    objects: Strings,
    /// The task that makes each object; those from outside have no entry.
    producers: Vec<u32>,
    output_start: Vec<u32>,
    /// Empty if there are no inputs.
    input_start: Vec<u32>,
    inputs: Vec<u32>,
    /// Empty if there are no children, as is the next but one.
    child_start: Vec<u32>,
    children: Vec<u32>,
    parent_count: Vec<u32>,
}

impl Workflow {
    /// Reads and checks a workflow; `default_name` is its name when the text gives none.
    pub fn parse(
        text: &str,
        format: Format,
        default_name: &str,
        surroundings: &dyn Surroundings,
    ) -> Result<Workflow, Problems> {
        let request = Request::new(text, format, default_name);
        Workflow::read(&request, surroundings).map(|reading| reading.flow)
    }

    /// Reads and checks a workflow with parameters as somebody has set them, or a trace, whichever the text is.
    pub fn read(request: &Request<'_>, surroundings: &dyn Surroundings) -> Result<Reading, Problems> {
        if wfformat::is_trace(request.text) {
            let (flow, about) = wfformat::read(request)?;
            return Ok(Reading { flow, included: Vec::new(), trace: Some(about) });
        }
        let (flow, included) = builder::Builder::new(request, surroundings).build()?;
        Ok(Reading { flow, included, trace: None })
    }

    /// The workflow's name.
    pub fn title(&self) -> &str {
        self.strings.get(self.name)
    }

    /// How many tasks there are.
    pub fn task_count(&self) -> usize {
        self.task_template.len()
    }

    /// All tasks, in the order of the text.
    pub fn tasks(&self) -> impl ExactSizeIterator<Item = TaskId> + DoubleEndedIterator + use<> {
        (0..self.task_template.len() as u32).map(TaskId)
    }

    /// How many objects there are, made here or from outside.
    pub fn object_count(&self) -> usize {
        self.objects.len()
    }

    /// The path of an object.
    pub fn object_name(&self, object: ObjectId) -> &str {
        self.objects.get(object.0)
    }

    /// The task that makes an object, unless it comes from outside.
    pub fn producer(&self, object: ObjectId) -> Option<TaskId> {
        self.producers.get(object.index()).copied().map(TaskId)
    }

    /// What a task reads.
    pub fn inputs(&self, task: TaskId) -> impl ExactSizeIterator<Item = ObjectId> + '_ {
        self.inputs[range(&self.input_start, task)].iter().copied().map(ObjectId)
    }

    /// Whether any task reads a file.
    pub fn has_inputs(&self) -> bool {
        !self.inputs.is_empty()
    }

    /// What a task makes.
    pub fn outputs(&self, task: TaskId) -> impl ExactSizeIterator<Item = ObjectId> + use<> {
        let Range { start, end } = range(&self.output_start, task);
        (start..end).map(ObjectId::at)
    }

    /// The tasks that wait for this one, each once.
    pub fn children(&self, task: TaskId) -> impl ExactSizeIterator<Item = TaskId> + '_ {
        self.children[range(&self.child_start, task)].iter().copied().map(TaskId)
    }

    /// The numbers of the edges to the tasks that wait for this one.
    pub(crate) fn edges(&self, task: TaskId) -> Range<usize> {
        range(&self.child_start, task)
    }

    /// The tasks that wait for this one, ascending.
    pub(crate) fn child_numbers(&self, task: TaskId) -> &[u32] {
        &self.children[range(&self.child_start, task)]
    }

    /// How many edges there are.
    pub fn edge_count(&self) -> usize {
        self.children.len()
    }

    /// How many objects are made here: their numbers come before those of all others.
    pub fn made_count(&self) -> usize {
        self.producers.len()
    }

    /// How many tasks this one waits for.
    pub fn parent_count(&self, task: TaskId) -> u32 {
        self.parent_count.get(task.index()).copied().unwrap_or(0)
    }

    /// What a task was written as.
    pub fn template(&self, task: TaskId) -> TemplateId {
        TemplateId(self.task_template[task.index()])
    }

    /// How many templates there are.
    pub fn template_count(&self) -> usize {
        self.templates.len()
    }

    /// The tasks of a template, by their numbers.
    pub fn tasks_of(&self, template: TemplateId) -> Range<u32> {
        let template = &self.templates[template.index()];
        template.first_task..template.first_task + template.rows
    }

    /// The name of a template.
    pub fn template_name(&self, template: TemplateId) -> &str {
        self.strings.get(self.templates[template.index()].name)
    }

    /// The kind of a task.
    pub fn kind(&self, task: TaskId) -> KindId {
        KindId(self.settings_of(task).kind)
    }

    /// How many kinds there are.
    pub fn kind_count(&self) -> usize {
        self.kinds.len()
    }

    /// The name of a kind.
    pub fn kind_name(&self, kind: KindId) -> &str {
        self.strings.get(self.kinds[kind.index()])
    }

    /// How often a task may be tried again after it failed.
    pub fn retries(&self, task: TaskId) -> u32 {
        self.settings_of(task).retries
    }

    /// Whether another attempt may help after one that ended with this code, as a shell would tell it: a signal is 128
    /// and its number, a timeout 124, and zero stands for an end that has no code.
    pub fn is_worth_retrying(&self, task: TaskId, code: u8) -> bool {
        let codes = self.extras_of(task).map_or(&[][..], |extras| &self.codes[extras.codes.range()]);
        codes.is_empty() || codes.chunks(2).any(|pair| (pair[0]..=pair[1]).contains(&code.into()))
    }

    /// How long somebody expects a task to take.
    pub fn estimated_time(&self, task: TaskId) -> Option<Duration> {
        Some(self.settings_of(task).estimate_time_ns).filter(|time| *time != UNKNOWN).map(Duration::from_nanos)
    }

    /// How much memory somebody expects a task to need.
    pub fn estimated_memory_bytes(&self, task: TaskId) -> Option<u64> {
        Some(self.settings_of(task).estimate_memory_bytes).filter(|bytes| *bytes != UNKNOWN)
    }

    /// How much somebody expects a task to write, in all its outputs together.
    pub fn estimated_output_bytes(&self, task: TaskId) -> Option<u64> {
        Some(self.settings_of(task).estimate_out_bytes).filter(|bytes| *bytes != UNKNOWN)
    }

    /// How large somebody expects an object to be, whether it is made here or comes from outside.
    pub fn declared_size(&self, object: ObjectId) -> Option<u64> {
        self.sizes.get(object.index()).copied().filter(|bytes| *bytes != UNKNOWN)
    }

    /// How large an object is said to be, or will be if its task makes as much as is estimated, in equal shares.
    pub fn expected_size(&self, object: ObjectId) -> Option<u64> {
        self.declared_size(object).or_else(|| {
            let producer = self.producer(object)?;
            let all = self.estimated_output_bytes(producer)?;
            Some(all / self.outputs(producer).len().max(1) as u64)
        })
    }

    /// Notes how large objects are, for those who have seen them.
    pub fn learn_sizes(&mut self, seen: impl IntoIterator<Item = (ObjectId, u64)>) {
        for (object, bytes) in seen {
            if self.sizes.len() <= object.index() {
                self.sizes.resize(object.index() + 1, UNKNOWN);
            }
            self.sizes[object.index()] = bytes;
        }
    }

    /// Notes how long tasks of a kind take and how much they write, for those who have seen it: where the workflow does not say.
    pub fn learn_estimate(&mut self, kind: KindId, time_ns: u64, out_bytes: u64) {
        for settings in self.settings.iter_mut().filter(|settings| settings.kind == kind.0) {
            if settings.estimate_time_ns == UNKNOWN {
                settings.estimate_time_ns = time_ns;
            }
            if settings.estimate_out_bytes == UNKNOWN {
                settings.estimate_out_bytes = out_bytes;
            }
        }
    }

    /// Whether an object is to be deleted when its last reader is done.
    pub fn is_temp(&self, object: ObjectId) -> bool {
        self.object_flag(object, TEMP)
    }

    /// Whether any object is to be deleted when its last reader is done.
    pub fn has_temps(&self) -> bool {
        self.object_flags.iter().any(|flags| flags & TEMP != 0)
    }

    /// Whether a task may end well without making an object.
    pub fn is_optional(&self, object: ObjectId) -> bool {
        self.object_flag(object, OPTIONAL)
    }

    fn object_flag(&self, object: ObjectId, flag: u8) -> bool {
        self.object_flags.get(object.index()).is_some_and(|flags| flags & flag != 0)
    }

    /// How long one attempt at a task may take.
    pub fn timeout(&self, task: TaskId) -> Option<Duration> {
        let timeout_ns = self.settings_of(task).timeout_ns;
        (timeout_ns > 0).then(|| Duration::from_nanos(timeout_ns))
    }

    /// How much more a task matters than others; they run in that order.
    pub fn priority(&self, task: TaskId) -> i32 {
        self.settings_of(task).priority
    }

    /// The name of a task: its template's, then `:` and its values if it has any.
    pub fn name(&self, task: TaskId) -> String {
        let template = self.template_of(task);
        let mut name = self.strings.get(template.name).to_owned();
        let mut separator = ':';
        for column in template.name_columns(&self.columns) {
            name.push(std::mem::replace(&mut separator, ','));
            self.write_value(task, column, &mut name);
        }
        name
    }

    /// By what the store knows a task from run to run: the workflow's title, the template and the values, never a number.
    pub fn name_key(&self, task: TaskId) -> u64 {
        let mut text = String::with_capacity(64);
        text.push_str(self.title());
        text.push('\0');
        let template = self.template_of(task);
        text.push_str(self.strings.get(template.name));
        for column in template.name_columns(&self.columns) {
            text.push('\0');
            self.write_value(task, column, &mut text);
        }
        hash(text.as_bytes())
    }

    /// A hash of everything that decides what a task does: its command, environment, inputs and outputs by name, but
    /// nothing that somebody merely expects, such as sizes and times.
    pub fn definition_hash(&self, task: TaskId) -> u64 {
        let mut text = String::with_capacity(128);
        self.describe_action(task, &mut text);
        // No part holds a NUL, and each list ends with an empty part where none can be, or with the text: no
        // two definitions are described alike.
        for object in self.inputs(task) {
            text.push_str(self.object_name(object));
            text.push('\0');
        }
        text.push('\0');
        for object in self.outputs(task) {
            text.push_str(self.object_name(object));
            text.push('\0');
        }
        hash(text.as_bytes())
    }

    fn template_of(&self, task: TaskId) -> &Template {
        &self.templates[self.task_template[task.index()] as usize]
    }

    fn settings_of(&self, task: TaskId) -> &Settings {
        &self.settings[self.template_of(task).settings as usize]
    }

    fn write_value(&self, task: TaskId, column: u32, out: &mut String) {
        let template = self.template_of(task);
        let column = &self.columns[(template.columns + column) as usize];
        write_value(column, task.0 - template.first_task, &self.values, &self.strings, out);
    }
}

fn write_value(column: &Column, row: u32, values: &[u32], strings: &Strings, out: &mut String) {
    let number = row / column.stride % column.length;
    if column.is_list == 1 {
        out.push_str(strings.get(values[(column.list + number) as usize]));
    } else {
        use std::fmt::Write;
        // The distance may be more than fits, but the sum is a number of the range.
        let value = column.first.wrapping_add(i64::from(number).wrapping_mul(column.step));
        write!(out, "{value}").expect("writing to a string cannot fail");
    }
}

impl Template {
    /// The numbers of its columns that are part of its tasks' names.
    fn name_columns<'a>(&self, columns: &'a [Column]) -> impl Iterator<Item = u32> + 'a {
        let own = &columns[self.columns as usize..(self.columns + self.column_count) as usize];
        own.iter().zip(0..).filter(|(column, _)| column.in_name == 1).map(|(_, number)| number)
    }

    /// The columns that are part of its tasks' names.
    fn naming_columns(&self, columns: &[Column]) -> Vec<Column> {
        self.name_columns(columns).map(|number| columns[(self.columns + number) as usize]).collect()
    }
}

/// Deleted when its last reader is done.
const TEMP: u8 = 1;
/// Need not be there when its task has ended.
const OPTIONAL: u8 = 2;
/// Holds complaints, and is not meant by `{ all: TASK }`.
const LOG: u8 = 4;

/// What belongs to a task in an array of which `starts` tells the parts; nothing if it tells none.
fn range(starts: &[u32], task: TaskId) -> Range<usize> {
    if starts.is_empty() {
        return 0..0;
    }
    starts[task.index()] as usize..starts[task.index() + 1] as usize
}

#[cfg(test)]
mod tests;
