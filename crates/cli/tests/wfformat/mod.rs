//! The rules that a document in WfFormat has to keep, as the published schema and its validator have them: what is needed, of
//! which type, which letters ids may have, and that both ends of every edge agree.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

/// Everything about a document that breaks a rule; nothing if it is right.
pub fn broken_rules(document: &Value) -> Vec<String> {
    let mut rules = Rules { version: document["schemaVersion"].as_str().unwrap_or("?").to_owned(), broken: Vec::new() };
    rules.text(document, "name", true, "the document");
    rules.check(["1.5", "1.6"].contains(&rules.version.as_str()), || "schemaVersion is neither 1.5 nor 1.6".to_owned());
    for name in ["description", "createdAt"] {
        rules.text(document, name, false, "the document");
    }
    if let Some(system) = document.get("runtimeSystem") {
        rules.text(system, "name", true, "runtimeSystem");
        rules.text(system, "version", true, "runtimeSystem");
    }
    let specification = &document["workflow"]["specification"];
    let tasks = rules.entries(specification, "tasks", true, "the specification");
    let files = rules.entries(specification, "files", false, "the specification");
    let task_ids = rules.unique_ids(&tasks, "id", "task");
    let file_ids = rules.unique_ids(&files, "id", "file");
    for file in &files {
        rules.check(file["sizeInBytes"].is_u64(), || format!("no size of a file: {file}"));
    }
    let used = rules.tasks(&tasks, &task_ids, &file_ids);
    rules.check(used == file_ids, || "files that no task uses".to_owned());
    let widths = rules.edges(&tasks);
    if let Some(metrics) = specification.get("metrics") {
        rules.check(rules.version == "1.6", || "metrics in a document of version 1.5".to_owned());
        let sum: u64 = files.iter().filter_map(|file| file["sizeInBytes"].as_u64()).sum();
        let numbers = [
            ("numberOfTasks", tasks.len() as u64),
            ("numberOfFiles", files.len() as u64),
            ("sumOfFileSizesInBytes", sum),
            ("numberOfLevels", widths.len() as u64),
            ("minimumWidth", widths.iter().copied().min().unwrap_or(0)),
            ("maximumWidth", widths.iter().copied().max().unwrap_or(0)),
        ];
        for (name, expected) in numbers {
            rules.check(metrics[name] == expected, || format!("{name} is {}, not {expected}", metrics[name]));
        }
    }
    if let Some(execution) = document["workflow"].get("execution") {
        rules.execution(execution, &task_ids);
    }
    rules.broken
}

struct Rules {
    version: String,
    broken: Vec<String>,
}

impl Rules {
    fn check(&mut self, holds: bool, otherwise: impl FnOnce() -> String) {
        if !holds {
            self.broken.push(otherwise());
        }
    }

    /// A field that is text, and not empty.
    fn text(&mut self, value: &Value, name: &str, is_needed: bool, of: &str) {
        match value.get(name) {
            None => self.check(!is_needed, || format!("{of} has no {name}")),
            Some(text) => {
                self.check(text.as_str().is_some_and(|text| !text.is_empty()), || format!("{name} of {of} is {text}"));
            }
        }
    }

    fn number(&mut self, value: &Value, name: &str, is_needed: bool, least: f64) {
        match value.get(name) {
            None => self.check(!is_needed, || format!("no {name}: {value}")),
            Some(number) => {
                self.check(number.as_f64().is_some_and(|number| number >= least), || format!("{name} is {number}"));
            }
        }
    }

    /// The entries of a list, which is not empty.
    fn entries(&mut self, value: &Value, name: &str, is_needed: bool, of: &str) -> Vec<Value> {
        match value.get(name) {
            None => {
                self.check(!is_needed, || format!("{of} has no {name}"));
                Vec::new()
            }
            Some(list) => {
                let entries = list.as_array().cloned().unwrap_or_default();
                self.check(list.is_array() && (!is_needed || !entries.is_empty()), || {
                    format!("{name} of {of} is empty")
                });
                entries
            }
        }
    }

    fn unique_ids(&mut self, entries: &[Value], field: &str, what: &str) -> BTreeSet<String> {
        let mut ids = BTreeSet::new();
        for entry in entries {
            self.text(entry, field, true, what);
            let id = entry[field].as_str().unwrap_or_default().to_owned();
            let allowed = if what == "task" && self.version == "1.5" { "_.#-" } else { "_.#:/-" };
            let is_plain = id.chars().all(|letter| letter.is_ascii_alphanumeric() || allowed.contains(letter));
            self.check(is_plain || what == "machine", || {
                format!("the id {id:?} of a {what} has letters that it must not have")
            });
            self.check(ids.insert(id.clone()), || format!("two {what}s have the id {id:?}"));
        }
        ids
    }

    /// What each task says; returns the files that tasks use.
    fn tasks(&mut self, tasks: &[Value], task_ids: &BTreeSet<String>, file_ids: &BTreeSet<String>) -> BTreeSet<String> {
        let mut used = BTreeSet::new();
        let mut makers = BTreeSet::new();
        for task in tasks {
            self.text(task, "name", true, "a task");
            for (field, known) in
                [("parents", task_ids), ("children", task_ids), ("inputFiles", file_ids), ("outputFiles", file_ids)]
            {
                let ids = ids(task, field);
                self.check(task[field].is_array(), || format!("{field} of {} is no list", task["id"]));
                for id in &ids {
                    self.check(known.contains(id), || {
                        format!("{field} of {} names {id}, which is unknown", task["id"])
                    });
                    if field.ends_with("Files") {
                        used.insert(id.clone());
                    }
                    if field == "outputFiles" && !self::ids(task, "inputFiles").contains(id) {
                        self.check(makers.insert(id.clone()), || format!("{id} is made twice"));
                    }
                }
                let distinct: BTreeSet<&String> = ids.iter().collect();
                self.check(distinct.len() == ids.len(), || format!("{field} of {} names something twice", task["id"]));
            }
        }
        used
    }

    /// Both ends of every edge agree, and there is no circle; returns how many tasks there are at each level.
    fn edges(&mut self, tasks: &[Value]) -> Vec<u64> {
        let id = |task: &Value| task["id"].as_str().unwrap_or_default().to_owned();
        let mut sides: [BTreeSet<(String, String)>; 2] = Default::default();
        for task in tasks {
            sides[0].extend(ids(task, "parents").into_iter().map(|parent| (parent, id(task))));
            sides[1].extend(ids(task, "children").into_iter().map(|child| (id(task), child)));
        }
        self.check(sides[0] == sides[1], || "parents and children do not agree".to_owned());
        let mut left: BTreeMap<String, BTreeSet<String>> =
            tasks.iter().map(|task| (id(task), ids(task, "parents").into_iter().collect())).collect();
        let mut widths = Vec::new();
        while !left.is_empty() {
            let level: Vec<String> = left
                .iter()
                .filter(|(_, parents)| parents.iter().all(|parent| !left.contains_key(parent)))
                .map(|(id, _)| id.clone())
                .collect();
            if level.is_empty() {
                self.broken.push("there is a circle".to_owned());
                break;
            }
            widths.push(level.len() as u64);
            level.iter().for_each(|id| drop(left.remove(id)));
        }
        widths
    }

    fn execution(&mut self, execution: &Value, task_ids: &BTreeSet<String>) {
        self.number(execution, "makespanInSeconds", true, 0.0);
        self.text(execution, "executedAt", true, "the execution");
        let machines = self.entries(execution, "machines", execution.get("machines").is_some(), "the execution");
        let machine_names = self.unique_ids(&machines, "nodeName", "machine");
        for machine in &machines {
            let system = machine.get("system");
            self.check(
                system.is_none_or(|system| ["linux", "macos", "windows"].iter().any(|known| system == known)),
                || format!("system is {system:?}"),
            );
            self.number(machine, "memoryInBytes", false, 1.0);
            self.number(&machine["cpu"], "coreCount", false, 1.0);
            for name in ["architecture", "release"] {
                self.text(machine, name, false, "a machine");
            }
        }
        let tasks = self.entries(execution, "tasks", true, "the execution");
        let ids_seen = self.unique_ids(&tasks, "id", "task");
        self.check(ids_seen.is_subset(task_ids), || {
            "the execution has tasks that the specification has not".to_owned()
        });
        for task in &tasks {
            self.number(task, "runtimeInSeconds", true, 0.0);
            self.number(task, "coreCount", false, 1.0);
            for name in ["avgCPU", "readBytes", "writtenBytes", "memoryInBytes"] {
                self.number(task, name, false, 0.0);
            }
            if let Some(command) = task.get("command") {
                self.text(command, "program", false, "a command");
                for argument in command["arguments"].as_array().into_iter().flatten() {
                    self.check(argument.as_str().is_some_and(|text| !text.is_empty()), || {
                        format!("an argument is {argument}")
                    });
                }
            }
            for machine in ids(task, "machines") {
                self.check(machine_names.contains(&machine), || format!("the machine {machine} is not listed"));
            }
        }
    }
}

fn ids(value: &Value, field: &str) -> Vec<String> {
    value[field].as_array().into_iter().flatten().filter_map(|id| id.as_str().map(str::to_owned)).collect()
}
