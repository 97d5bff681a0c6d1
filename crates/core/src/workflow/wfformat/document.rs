//! The document as it is written: read entry by entry, ids turned into numbers at once, nothing put together yet.
//!
//! What Throng does not use may hold anything; what it uses has to be of its type.

use super::super::json::Reader;
use super::super::problem::{Mark, Problem, ProblemList};
use super::super::quantity;
use super::super::strings::Interner;
use super::super::value::{Text, Value};
use super::fields::{Fields, kind_of};
use super::observed::RecordedMachine;
use super::walk::{each_entry, each_item, plain};

/// The id of a task or file, by its number, and where it stands.
#[derive(Clone, Copy)]
pub(super) struct Reference {
    pub id: u32,
    pub mark: Mark,
}

/// A task of the specification.
pub(super) struct Task {
    pub id: Reference,
    pub name: Option<String>,
    pub category: Option<String>,
    /// Nothing if the field is not there.
    pub parents: Option<Vec<Reference>>,
    pub children: Option<Vec<Reference>>,
    pub inputs: Vec<Reference>,
    pub outputs: Vec<Reference>,
}

/// A file of the specification.
#[derive(Clone, Copy)]
pub(super) struct File {
    pub bytes: u64,
    pub mark: Mark,
}

/// What was measured of a task.
pub(super) struct Measured {
    pub seconds: f64,
    pub program: Option<String>,
    pub arguments: Vec<String>,
    pub cores: Option<f64>,
    pub memory_bytes: Option<u64>,
    /// The name of the machine it ran on, by its number; the first of several.
    pub machine: Option<u32>,
    pub mark: Mark,
}

/// What was measured of the run as a whole.
#[derive(Default)]
pub(super) struct Execution {
    pub makespan_seconds: Option<f64>,
    pub executed_at: Option<String>,
    pub machines: Vec<RecordedMachine>,
}

/// All that matters of a document.
#[derive(Default)]
pub(super) struct Document {
    /// The version as it is written, if it is.
    pub version: Option<Text>,
    pub name: Option<String>,
    /// Name and version of the engine that ran it.
    pub system: Option<(String, String)>,
    pub task_ids: Interner,
    pub file_ids: Interner,
    pub machine_names: Interner,
    pub tasks: Vec<Task>,
    /// By number, as far as they are declared.
    pub files: Vec<Option<File>>,
    pub has_files: bool,
    /// By number of the task's id.
    pub measured: Vec<Option<Measured>>,
    pub execution: Option<Execution>,
    has_specification: bool,
    has_tasks: bool,
}

/// A century, as everywhere in Throng.
pub(super) const SECONDS_LIMIT: f64 = quantity::LONGEST_SECONDS;
/// More than any machine has.
const CORES_LIMIT: f64 = 1e6;

impl Document {
    /// Reads a text, whether it was recognised or is only said to be a trace; the error is one that nothing after it can be read for.
    pub(super) fn read(text: &str, problems: &mut ProblemList) -> Result<Document, Problem> {
        let mut document = Document::default();
        let mut reader = Reader::new(text, 0);
        let start = reader.mark();
        if reader.peek() != Some(b'{') {
            let remedy = "give a trace in WfFormat: a JSON file with `schemaVersion` and `workflow`";
            return Err(Problem::new(start, "this is no trace: it does not begin with `{`", remedy));
        }
        let mut workflow_mark = None;
        reader.map(|reader, key| {
            match key.text.as_str() {
                "schemaVersion" => document.version = Some(version(reader.value(0)?)?),
                "workflow" => {
                    workflow_mark = Some(key.mark);
                    each_entry(reader, "`workflow`", problems, |reader, key, problems| {
                        document.workflow_entry(reader, &key, problems)
                    })?;
                }
                "runtimeSystem" => document.system = system(reader.value(0)?),
                "name" => document.name = plain(&reader.value(0)?),
                _ => drop(reader.value(0)?),
            }
            Ok(())
        })?;
        reader.end()?;
        if document.version.as_ref().is_some_and(|version| super::VERSIONS.contains(&version.text.as_str())) {
            document.check_parts(workflow_mark.unwrap_or(start), workflow_mark.is_some(), problems);
        }
        Ok(document)
    }

    fn check_parts(&self, mark: Mark, has_workflow: bool, problems: &mut ProblemList) {
        let missing = match (has_workflow, self.has_specification, self.has_tasks) {
            (false, ..) => "the trace has no `workflow`",
            (_, false, _) => "`workflow` has no `specification`",
            (_, _, false) => "`specification` has no `tasks`",
            _ if self.tasks.is_empty() => "`tasks` of the specification is empty",
            _ => return,
        };
        // Entries that are wrong in themselves are told already.
        if !self.tasks.is_empty() || problems.is_empty() {
            problems.push(Problem::new(
                mark,
                missing,
                "a trace lists at least one task below workflow.specification.tasks",
            ));
        }
    }

    fn workflow_entry(&mut self, reader: &mut Reader, key: &Text, problems: &mut ProblemList) -> Result<(), Problem> {
        match key.text.as_str() {
            "specification" => {
                self.has_specification = true;
                each_entry(reader, "`specification`", problems, |reader, key, problems| match key.text.as_str() {
                    "tasks" => {
                        self.has_tasks = true;
                        each_item(reader, "`tasks` of the specification", problems, |value, _| self.add_task(value))
                    }
                    "files" => {
                        self.has_files = true;
                        each_item(reader, "`files` of the specification", problems, |value, _| self.add_file(value))
                    }
                    _ => reader.value(0).map(drop),
                })
            }
            // Null stands for none at all.
            "execution" if reader.peek() != Some(b'n') => {
                self.execution = Some(Execution::default());
                each_entry(reader, "`execution`", problems, |reader, key, problems| {
                    self.execution_entry(reader, &key, problems)
                })
            }
            _ => reader.value(0).map(drop),
        }
    }

    fn execution_entry(&mut self, reader: &mut Reader, key: &Text, problems: &mut ProblemList) -> Result<(), Problem> {
        let execution = self.execution.get_or_insert_default();
        match key.text.as_str() {
            "tasks" => {
                each_item(reader, "`tasks` of the execution", problems, |value, _| self.add_measured(value))?;
            }
            "machines" if reader.peek() == Some(b'[') => {
                reader.list(|reader| {
                    execution.machines.push(RecordedMachine::of(reader.value(0)?));
                    Ok(())
                })?;
            }
            "makespanInSeconds" => {
                let number = plain(&reader.value(0)?).and_then(|text| text.parse::<f64>().ok());
                execution.makespan_seconds = number.filter(|seconds| (0.0..SECONDS_LIMIT).contains(seconds));
            }
            "executedAt" => execution.executed_at = plain(&reader.value(0)?),
            _ => drop(reader.value(0)?),
        }
        Ok(())
    }

    fn add_task(&mut self, value: Value) -> Result<(), Problem> {
        let mut fields = Fields::of(value, "a task of the specification")?;
        let id = fields.id()?;
        fields.subject = format!("the task `{}`", id.text);
        let (name, category) = (fields.text("name")?, fields.text("category")?);
        let (parents, children) = (fields.ids("parents")?, fields.ids("children")?);
        if parents.is_none() && children.is_none() {
            return Err(fields.missing("parents"));
        }
        let (inputs, outputs) = (fields.ids("inputFiles")?, fields.ids("outputFiles")?);
        let mut tasks = |ids: Vec<Text>| ids.iter().map(|id| number(&mut self.task_ids, id)).collect::<Vec<_>>();
        let id = tasks(vec![id])[0];
        let (parents, children) = (parents.map(&mut tasks), children.map(&mut tasks));
        let mut files = |ids: Option<Vec<Text>>| {
            ids.unwrap_or_default().iter().map(|id| number(&mut self.file_ids, id)).collect::<Vec<_>>()
        };
        let (inputs, outputs) = (files(inputs), files(outputs));
        let text = |text: Option<Text>| text.map(|text| text.text).filter(|text| !text.is_empty());
        self.tasks.push(Task { id, name: text(name), category: text(category), parents, children, inputs, outputs });
        Ok(())
    }

    fn add_file(&mut self, value: Value) -> Result<(), Problem> {
        let mut fields = Fields::of(value, "a file of the specification")?;
        let id = fields.id()?;
        fields.subject = format!("the file `{}`", id.text);
        let bytes = fields.bytes("sizeInBytes")?.ok_or_else(|| fields.missing("sizeInBytes"))?;
        let Reference { id: at, mark } = number(&mut self.file_ids, &id);
        let place = slot(&mut self.files, at);
        if let Some(first) = place {
            return Err(twice(&id, "files", first.mark));
        }
        *place = Some(File { bytes, mark });
        Ok(())
    }

    fn add_measured(&mut self, value: Value) -> Result<(), Problem> {
        let mut fields = Fields::of(value, "a task of the execution")?;
        let id = fields.id()?;
        fields.subject = format!("the execution of the task `{}`", id.text);
        let seconds = fields.number("runtimeInSeconds")?.ok_or_else(|| fields.missing("runtimeInSeconds"))?;
        if seconds > SECONDS_LIMIT {
            let message = format!("`runtimeInSeconds` of {} is longer than a century", fields.subject);
            return Err(Problem::new(fields.mark, message, "write seconds"));
        }
        let (mut program, mut arguments) = (None, Vec::new());
        if let Some(mut command) = fields.object("command")? {
            program = command.text("program")?.map(|text| text.text).filter(|text| !text.is_empty());
            if let Some(Value::List { items, .. }) = command.take("arguments") {
                arguments.extend(items.iter().filter_map(plain));
            }
        }
        let cores = fields.number("coreCount")?;
        if cores.is_some_and(|cores| cores > CORES_LIMIT) {
            let message = format!("`coreCount` of {} is more than any machine has", fields.subject);
            return Err(Problem::new(fields.mark, message, "write a number of cores"));
        }
        let memory_bytes = fields.bytes("memoryInBytes")?;
        let machine = match fields.take("machines") {
            Some(Value::List { items, .. }) => items.first().and_then(plain),
            _ => None,
        };
        let machine = machine.map(|name| self.machine_names.add(&name).0);
        let Reference { id: at, mark } = number(&mut self.task_ids, &id);
        let place = slot(&mut self.measured, at);
        if let Some(first) = place {
            return Err(twice(&id, "tasks of the execution", first.mark));
        }
        *place = Some(Measured { seconds, program, arguments, cores, memory_bytes, machine, mark });
        Ok(())
    }

    /// What was measured of a task, if anything was.
    pub(super) fn measured(&self, id: u32) -> Option<&Measured> {
        self.measured.get(id as usize)?.as_ref()
    }

    /// How large a file is, if that is told.
    pub(super) fn file_bytes(&self, file: u32) -> Option<u64> {
        self.files.get(file as usize).copied().flatten().map(|file| file.bytes)
    }
}

/// The problem of an id that two of a list have.
pub(super) fn twice(id: &Text, of: &str, first: Mark) -> Problem {
    Problem::new(id.mark, format!("two {of} have the id `{}`", id.text), "give each an id of its own")
        .spanning(&id.text)
        .with_related(first, "the first is here")
}

fn number(ids: &mut Interner, id: &Text) -> Reference {
    Reference { id: ids.add(&id.text).0, mark: id.mark }
}

fn slot<T>(list: &mut Vec<Option<T>>, at: u32) -> &mut Option<T> {
    let at = at as usize;
    if list.len() <= at {
        list.resize_with(at + 1, || None);
    }
    &mut list[at]
}

/// The version, which some write as a number.
fn version(value: Value) -> Result<Text, Problem> {
    match value {
        Value::Scalar { text, mark, .. } => Ok(Text { text, mark }),
        other => {
            let message = format!("`schemaVersion` is {}, not text", kind_of(&other));
            Err(Problem::new(other.mark(), message, "write \"1.5\" or \"1.6\""))
        }
    }
}

fn system(value: Value) -> Option<(String, String)> {
    let mut fields = Fields::of(value, "`runtimeSystem`").ok()?;
    let mut text = |name| fields.text(name).ok().flatten().map(|text| text.text);
    Some((text("name")?, text("version").unwrap_or_default()))
}
