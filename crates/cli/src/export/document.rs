//! The document, written entry by entry: a workflow may have millions of tasks.

use std::collections::BTreeSet;
use std::io::{self, Write};

use serde_json::{Map, Value, json};
use throng_core::ids::{ObjectId, TaskId};
use throng_core::shape::Shape;
use throng_core::workflow::Workflow;
use throng_core::workflow::wfformat::{OWN_SYSTEM, escape};

use super::Version;
use super::describe::{command, iso, least_width, machine, now_unix_ms};
use super::measured::{Measured, Run};
use super::passed_on::PassedOn;
use super::sizes::Sizes;

/// What is known of how it ran.
#[derive(Clone, Copy)]
pub enum Execution<'a> {
    /// A run of our own.
    Measured(&'a Run),
    /// One that the trace tells of.
    PassedOn(&'a PassedOn),
}

/// A workflow as it is to be written.
pub struct Document<'a> {
    flow: &'a Workflow,
    version: Version,
    sizes: &'a Sizes,
    execution: Option<Execution<'a>>,
    /// By task.
    task_ids: Vec<String>,
    /// By object; versions of one file have the same.
    file_ids: Vec<String>,
    parents: Vec<Vec<TaskId>>,
}

impl<'a> Document<'a> {
    /// Gives everything its id.
    pub fn new(
        flow: &'a Workflow,
        version: Version,
        sizes: &'a Sizes,
        execution: Option<Execution<'a>>,
    ) -> Document<'a> {
        let task_ids = flow.tasks().map(|task| task_id(&flow.name(task), version)).collect();
        let objects = (0..flow.object_count()).map(ObjectId::at);
        let file_ids = objects.map(|object| escape(&flow.file_id(object), |_| true)).collect();
        let mut parents = vec![Vec::new(); flow.task_count()];
        for task in flow.tasks() {
            flow.children(task).for_each(|child| parents[child.index()].push(task));
        }
        Document { flow, version, sizes, execution, task_ids, file_ids, parents }
    }

    /// How many tasks have no times, where any have.
    pub fn unmeasured(&self) -> u64 {
        match self.execution {
            Some(Execution::Measured(run)) => run.tasks.iter().filter(|task| task.is_none()).count() as u64,
            _ => 0,
        }
    }

    /// Writes it.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let head = self.head();
        write!(out, "{{")?;
        for (name, value) in &head {
            write!(out, "{}:{value},\n ", json!(name))?;
        }
        write!(out, "\"workflow\":{{\"specification\":{{\"tasks\":[")?;
        self.write_list(out, self.flow.tasks().map(|task| self.task(task)))?;
        write!(out, "],\n  \"files\":[")?;
        let files: Vec<ObjectId> = self.files();
        self.write_list(out, files.iter().map(|object| self.file(*object)))?;
        write!(out, "]")?;
        if self.version == Version::V16 {
            write!(out, ",\n  \"metrics\":{}", self.specification_metrics(&files))?;
        }
        write!(out, "}}")?;
        match self.execution {
            Some(Execution::Measured(run)) => self.write_measured(run, out)?,
            Some(Execution::PassedOn(passed_on)) => self.write_passed_on(passed_on, out)?,
            None => {}
        }
        writeln!(out, "}}}}")
    }

    fn write_list(&self, out: &mut dyn Write, entries: impl Iterator<Item = Value>) -> io::Result<()> {
        for (at, entry) in entries.enumerate() {
            write!(out, "{}\n   {entry}", if at > 0 { "," } else { "" })?;
        }
        Ok(())
    }

    fn head(&self) -> Vec<(String, Value)> {
        let (mut head, mut system) = (Map::new(), None);
        if let Some(Execution::PassedOn(passed_on)) = self.execution {
            head = passed_on.head.clone();
            // Names that had to be changed are read back only if it is known who changed them.
            let is_as_it_was = |id: &String, name: String| *id == name;
            let tasks = self.flow.tasks().zip(&self.task_ids).all(|(task, id)| is_as_it_was(id, self.flow.name(task)));
            let objects = (0..self.flow.object_count()).map(ObjectId::at).zip(&self.file_ids);
            let files = objects.into_iter().all(|(object, id)| is_as_it_was(id, self.flow.file_id(object)));
            system = passed_on.system.clone().filter(|_| tasks && files);
        }
        if head.get("name").and_then(Value::as_str).is_none_or(str::is_empty) {
            let title = Some(self.flow.title()).filter(|title| !title.is_empty()).unwrap_or("workflow");
            head.insert("name".to_owned(), json!(title));
        }
        if let Some(Execution::Measured(run)) = self.execution {
            let simulated = if run.about.simulated.is_some() { ", which was simulated" } else { "" };
            let replayed = if self.flow.is_trace() { ", a replay of a trace" } else { "" };
            let text = format!("Run {} of {}{simulated}{replayed}", run.about.run, self.flow.title());
            head.insert("description".to_owned(), json!(text));
        }
        head.entry("createdAt").or_insert_with(|| json!(iso(now_unix_ms())));
        head.insert("schemaVersion".to_owned(), json!(self.version.text()));
        let own = || json!({ "name": OWN_SYSTEM, "version": env!("CARGO_PKG_VERSION") });
        head.insert("runtimeSystem".to_owned(), system.unwrap_or_else(own));
        // The version first: readers know early what they have.
        let mut head: Vec<(String, Value)> = head.into_iter().collect();
        head.sort_by_key(|(name, _)| (name != "name", name != "schemaVersion"));
        head
    }

    fn task(&self, task: TaskId) -> Value {
        let flow = self.flow;
        let name = flow.name(task);
        let free_name = match self.execution {
            Some(Execution::PassedOn(passed_on)) => passed_on.names.get(&name).cloned(),
            _ => None,
        };
        let ids = |tasks: &mut dyn Iterator<Item = TaskId>| {
            tasks.map(|task| self.task_ids[task.index()].as_str()).collect::<Vec<_>>()
        };
        let files = |objects: &mut dyn Iterator<Item = ObjectId>| {
            objects.map(|object| self.file_ids[object.index()].as_str()).collect::<Vec<_>>()
        };
        json!({
            "name": free_name.unwrap_or(name),
            "id": self.task_ids[task.index()],
            "category": flow.kind_name(flow.kind(task)),
            "parents": ids(&mut self.parents[task.index()].iter().copied()),
            "children": ids(&mut flow.children(task)),
            "inputFiles": files(&mut flow.inputs(task)),
            "outputFiles": files(&mut flow.outputs(task)),
        })
    }

    /// One object for each file: the versions of one that is written again have the same id.
    fn files(&self) -> Vec<ObjectId> {
        let mut seen = BTreeSet::new();
        let objects = (0..self.flow.object_count()).map(ObjectId::at);
        objects.filter(|object| seen.insert(self.file_ids[object.index()].as_str())).collect()
    }

    fn file(&self, object: ObjectId) -> Value {
        json!({ "id": self.file_ids[object.index()], "sizeInBytes": self.sizes.bytes(object) })
    }

    fn specification_metrics(&self, files: &[ObjectId]) -> Value {
        let shape = Shape::of(self.flow);
        json!({
            "numberOfTasks": shape.tasks,
            "numberOfFiles": files.len(),
            "sumOfFileSizesInBytes": files.iter().fold(0u64, |sum, file| sum.saturating_add(self.sizes.bytes(*file))),
            "numberOfLevels": shape.depth,
            "minimumWidth": least_width(self.flow),
            "maximumWidth": shape.width,
        })
    }

    fn write_measured(&self, run: &Run, out: &mut dyn Write) -> io::Result<()> {
        let (makespan, at) = (json!(run.makespan_seconds), json!(iso(run.started_unix_ms)));
        write!(out, ",\n  \"execution\":{{\"makespanInSeconds\":{makespan},\"executedAt\":{at},\"tasks\":[")?;
        let done = || self.flow.tasks().filter_map(|task| Some((task, run.tasks[task.index()].as_ref()?)));
        self.write_list(out, done().map(|(task, measured)| self.execution_of(task, measured)))?;
        write!(out, "]")?;
        let names: BTreeSet<&str> = done().map(|(_, measured)| measured.machine.as_str()).collect();
        let machines: Vec<Value> =
            names.into_iter().filter(|name| !name.is_empty()).map(|name| machine(name, run)).collect();
        if !machines.is_empty() {
            write!(out, ",\n  \"machines\":{}", json!(machines))?;
        }
        if self.version == Version::V16 {
            let sum = |value: &dyn Fn(&Measured) -> f64| done().map(|(_, measured)| value(measured)).sum::<f64>();
            let metrics = json!({
                "sumTaskRuntimesInSeconds": sum(&|measured| measured.seconds),
                "totalNumBytesRead": done().map(|(_, measured)| measured.usage.read_bytes()).sum::<u64>(),
                "totalNumBytesWritten": done().map(|(_, measured)| measured.usage.written_bytes()).sum::<u64>(),
            });
            write!(out, ",\n  \"metrics\":{metrics}")?;
        }
        write!(out, "}}")
    }

    fn execution_of(&self, task: TaskId, measured: &Measured) -> Value {
        let demand = self.flow.first_demand(task);
        let mut value = json!({
            "id": self.task_ids[task.index()],
            "runtimeInSeconds": measured.seconds,
            "executedAt": iso(measured.started_unix_ms),
            "command": command(self.flow, task),
        });
        let cores = self.flow.resources(demand).cpus_milli as f64 / 1000.0;
        // The format knows no part of a core.
        if cores >= 1.0 {
            value["coreCount"] = if cores.fract() == 0.0 { json!(cores as u64) } else { json!(cores) };
        }
        let usage = &measured.usage;
        if !self.flow.is_timer(task) {
            value["readBytes"] = json!(usage.read_bytes());
            value["writtenBytes"] = json!(usage.written_bytes());
            if measured.seconds > 0.0 {
                let busy = usage.core_us() as f64 / 1e6;
                value["avgCPU"] = json!((busy / measured.seconds * 1e6).round() / 1e4);
            }
        }
        if usage.peak_memory_bytes > 0 && !usage.peak_is_bound {
            value["memoryInBytes"] = json!(usage.peak_memory_bytes);
        }
        if !measured.machine.is_empty() {
            value["machines"] = json!([measured.machine]);
        }
        value
    }

    fn write_passed_on(&self, passed_on: &PassedOn, out: &mut dyn Write) -> io::Result<()> {
        let Some(execution) = &passed_on.execution else { return Ok(()) };
        write!(out, ",\n  \"execution\":{{")?;
        for (name, value) in execution.iter().filter(|(name, _)| *name != "tasks" && *name != "metrics") {
            write!(out, "{}:{value},", json!(name))?;
        }
        let entries = execution["tasks"].as_array().map_or(&[][..], Vec::as_slice);
        write!(out, "\"tasks\":[")?;
        self.write_list(out, entries.iter().map(|entry| self.passed_on_task(entry)))?;
        write!(out, "]")?;
        if self.version == Version::V16 {
            let sum = |field: &str| entries.iter().filter_map(|entry| entry[field].as_f64()).sum::<f64>();
            let whole = |field: &str| json!(sum(field) as u64);
            let metrics = json!({
                "sumTaskRuntimesInSeconds": sum("runtimeInSeconds"),
                "totalNumBytesRead": whole("readBytes"),
                "totalNumBytesWritten": whole("writtenBytes"),
            });
            write!(out, ",\n  \"metrics\":{metrics}")?;
        }
        write!(out, "}}")
    }

    fn passed_on_task(&self, entry: &Value) -> Value {
        let mut entry = entry.clone();
        if let Some(name) = entry["id"].as_str() {
            entry["id"] = json!(task_id(&original(self.execution, name), self.version));
        }
        entry
    }
}

/// An id of a trace as its task is called here.
fn original(execution: Option<Execution<'_>>, id: &str) -> String {
    match execution {
        Some(Execution::PassedOn(PassedOn { system: Some(system), .. })) if system["name"] == OWN_SYSTEM => {
            throng_core::workflow::wfformat::unescape(id)
        }
        _ => id.to_owned(),
    }
}

fn task_id(name: &str, version: Version) -> String {
    escape(name, |letter| version.allows_in_task(letter))
}
