//! A plan as a file: a person can read it, compare it with another, and change it.
//!
//! ```yaml
//! throng-plan: 1
//! workflow: sipht
//! planner: greedy-stage
//! makespan: 312s
//! cost: 0.1398
//! tasks:
//!   blast: m3.medium
//!   blast:3: m3.large          # but for this one
//! ```
//!
//! If instances are rented, they are listed, and each task has one, from some time to another:
//!
//! ```yaml
//! instances:
//!   m3.medium-1: { type: m3.medium, from: 0s, until: 312s, cost: 0.067 }
//! tasks:
//!   blast:1: { instance: m3.medium-1, from: 60s, until: 90s }
//! ```

use std::collections::BTreeMap;
use std::fmt::Write;

use super::catalogue::{Catalogue, map};
use super::instances::{Instance, Run, Schedule};
use super::joined::prefixes;
use super::layout::Layout;
use super::planner::{Decided, Planned};
use crate::ids::{TaskId, TemplateId};
use crate::workflow::reading::{Mark, Problem, Problems, Text, Value, json, scalar, unknown_key, wrong, yaml};
use crate::workflow::{Format, Workflow, quantity};

/// The version of the format.
const VERSION: &str = "1";
/// No machine, or no instance.
pub(super) const NOBODY: u16 = u16::MAX;
pub(super) const NOWHERE: u32 = u32::MAX;

/// Instances that are rented, and when each task runs on which.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rented {
    /// The instances.
    pub instances: Vec<Instance>,
    /// For each task when and where it runs.
    pub runs: Vec<Run>,
}

/// What a plan says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanFile {
    /// Lines of its head: names and values, as they are written.
    pub head: Vec<(String, String)>,
    /// For each task, the number of its type of machine in the catalogue.
    pub machine_of: Vec<u16>,
    /// What is rented, if that was planned.
    pub rented: Option<Rented>,
}

/// The names of instances: their types, counted.
pub fn instance_names(instances: &[Instance], catalogue: &Catalogue) -> Vec<String> {
    let mut counts = vec![0u32; catalogue.machines.len()];
    let name = |instance: &Instance| {
        let count = &mut counts[usize::from(instance.machine)];
        *count += 1;
        format!("{}-{count}", catalogue.machines[usize::from(instance.machine)].name)
    };
    instances.iter().map(name).collect()
}

/// Seconds to the last digit.
pub fn exact_seconds(ns: u64) -> String {
    let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
}

impl PlanFile {
    /// A plan without a head.
    pub fn of(planned: &Planned, layout: &Layout) -> PlanFile {
        let rented = match &planned.decided {
            Decided::Types(_) => None,
            Decided::Instances(Schedule { instances, runs, .. }) => {
                Some(Rented { instances: instances.clone(), runs: runs.clone() })
            }
        };
        PlanFile { head: Vec::new(), machine_of: planned.machine_of(layout), rented }
    }

    /// What its head says under a name.
    pub fn said(&self, name: &str) -> Option<&str> {
        self.head.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    /// Writes it down.
    pub fn write(&self, flow: &Workflow, catalogue: &Catalogue) -> String {
        let mut text = format!("throng-plan: {VERSION}\n");
        for (name, value) in &self.head {
            let _ = writeln!(text, "{name}: {}", quoted(value));
        }
        match &self.rented {
            Some(rented) => write_rented(rented, flow, catalogue, &mut text),
            None => self.write_types(flow, catalogue, &mut text),
        }
        text
    }

    /// The usual type of tasks that are alike, and then those that are on another.
    fn write_types(&self, flow: &Workflow, catalogue: &Catalogue, text: &mut String) {
        text.push_str("tasks:\n");
        let machine = |task: TaskId| self.machine_of[task.index()];
        let name = |machine: u16| quoted(&catalogue.machines[usize::from(machine)].name);
        for template in (0..flow.template_count()).map(TemplateId::at) {
            let tasks = flow.tasks_of(template).map(TaskId);
            let mut counts: BTreeMap<u16, usize> = BTreeMap::new();
            tasks.clone().for_each(|task| *counts.entry(machine(task)).or_default() += 1);
            let usual = counts.iter().max_by_key(|(machine, count)| (**count, std::cmp::Reverse(**machine)));
            let Some((&usual, _)) = usual else { continue };
            let _ = writeln!(text, "  {} {}", key(flow.template_name(template)), name(usual));
            for task in tasks.filter(|task| machine(*task) != usual) {
                let _ = writeln!(text, "  {} {}", key(&flow.name(task)), name(machine(task)));
            }
        }
    }

    /// Reads it for a workflow and its machines; `file` is its name.
    pub fn read(text: &str, file: &str, flow: &Workflow, catalogue: &Catalogue) -> Result<PlanFile, Problems> {
        PlanFile::read_part(text, file, flow, None, catalogue)
    }

    /// Reads the plan of a workflow that is included in another under a prefix. It says nothing of the other's tasks: see
    /// [`joined`](super::joined::joined).
    pub fn read_part(
        text: &str,
        file: &str,
        flow: &Workflow,
        prefix: Option<&str>,
        catalogue: &Catalogue,
    ) -> Result<PlanFile, Problems> {
        let entries = match Format::of(file) {
            Format::Json => json::read_map(text, 0),
            Format::Yaml => yaml::read_map(text, 0),
        };
        let mut reader = Reader::new(flow, prefix, catalogue);
        let (mut head, mut version, mut tasks) = (Vec::new(), None, None);
        for (key, value) in entries? {
            match key.text.as_str() {
                "throng-plan" => version = Some(scalar(&key, value)?),
                // Instances may be written behind the tasks.
                "tasks" => tasks = Some((key, value)),
                "instances" => reader.read_instances(&key, value)?,
                "workflow" | "planner" | "budget" | "deadline" | "makespan" | "cost" | "bound" | "currency" => {
                    head.push((key.text.clone(), scalar(&key, value)?.text));
                }
                _ => return Err(unknown_key(&key, "in a plan", &["throng-plan", "instances", "tasks"]).into()),
            }
        }
        check_version(version)?;
        if let Some((key, value)) = tasks {
            reader.read_tasks(&key, value)?;
        }
        let (machine_of, rented) = reader.finish()?;
        Ok(PlanFile { head, machine_of, rented })
    }
}

fn write_rented(rented: &Rented, flow: &Workflow, catalogue: &Catalogue, text: &mut String) {
    let names = instance_names(&rented.instances, catalogue);
    text.push_str("instances:\n");
    for (name, instance) in names.iter().zip(&rented.instances) {
        let machine = &catalogue.machines[usize::from(instance.machine)];
        let _ = writeln!(
            text,
            "  {} {{ type: {}, from: {}, until: {}, cost: {} }}",
            key(name),
            quoted(&machine.name),
            exact_seconds(instance.from),
            exact_seconds(instance.until),
            machine.billing.charge(machine.price, instance.until - instance.from)
        );
    }
    text.push_str("tasks:\n");
    for task in flow.tasks() {
        let Run { instance, begin, end } = rented.runs[task.index()];
        let _ = writeln!(
            text,
            "  {} {{ instance: {}, from: {}, until: {} }}",
            key(&flow.name(task)),
            quoted(&names[instance as usize]),
            exact_seconds(begin),
            exact_seconds(end)
        );
    }
}

fn check_version(version: Option<Text>) -> Result<(), Problem> {
    match version {
        Some(version) if version.text == VERSION => Ok(()),
        Some(version) => {
            let message = format!("this plan is of version `{}`, and only {VERSION} is known", version.text);
            Err(Problem::new(version.mark, message, "make it anew with `throng plan`"))
        }
        None => Err(Problem::new(
            Mark::default(),
            "this is no plan: it has no `throng-plan`",
            "make one with `throng plan FLOW --out FILE`",
        )),
    }
}

/// What has been read of a plan.
struct Reader<'a> {
    flow: &'a Workflow,
    /// What its tasks have before their names in the workflow that they are part of.
    prefix: String,
    catalogue: &'a Catalogue,
    machine_of: Vec<u16>,
    instances: Vec<Instance>,
    numbers: BTreeMap<String, u32>,
    runs: Vec<Run>,
    /// Single tasks by their names: a plan of instances names each.
    tasks: BTreeMap<String, TaskId>,
}

impl<'a> Reader<'a> {
    fn new(flow: &'a Workflow, prefix: Option<&str>, catalogue: &'a Catalogue) -> Reader<'a> {
        Reader {
            flow,
            prefix: prefix.map_or_else(String::new, |prefix| format!("{prefix}.")),
            catalogue,
            machine_of: vec![NOBODY; flow.task_count()],
            instances: Vec::new(),
            numbers: BTreeMap::new(),
            runs: vec![Run { instance: NOWHERE, begin: 0, end: 0 }; flow.task_count()],
            tasks: flow.tasks().map(|task| (flow.name(task), task)).collect(),
        }
    }

    fn read_instances(&mut self, key: &Text, value: Value) -> Result<(), Problem> {
        for (name, value) in map(key, value, "{ name: { type: …, from: …, until: … } }")? {
            let mut instance = Instance { machine: NOBODY, from: 0, until: 0 };
            for (key, value) in map(&name, value, "{ type: …, from: …, until: … }")? {
                let said = scalar(&key, value)?;
                match key.text.as_str() {
                    "type" => instance.machine = self.machine(&said)?,
                    "from" => instance.from = time(&key, &said)?,
                    "until" => instance.until = time(&key, &said)?,
                    "cost" => {}
                    _ => return Err(unknown_key(&key, "of an instance", &["type", "from", "until", "cost"])),
                }
            }
            if instance.machine == NOBODY {
                let message = format!("the instance `{}` has no type", name.text);
                return Err(Problem::new(name.mark, message, "write `type: ` and a type of machine"));
            }
            if instance.until < instance.from {
                let message = format!("the instance `{}` is given back before it is had", name.text);
                return Err(Problem::new(name.mark, message, "write an `until` that is not before `from`"));
            }
            self.numbers.insert(name.text, self.instances.len() as u32);
            self.instances.push(instance);
        }
        Ok(())
    }

    fn read_tasks(&mut self, key: &Text, value: Value) -> Result<(), Problem> {
        let mut of_one = Vec::new();
        for (name, value) in map(key, value, "{ name: machine }")? {
            let (machine, run) = self.place(&name, value)?;
            let own_name = format!("{}{}", self.prefix, name.text);
            let tasks = match self.tasks.get(&own_name) {
                Some(task) => Ok(vec![*task]),
                None => self.flow.find(&own_name),
            };
            let tasks = tasks.map_err(|_| {
                Problem::new(name.mark, self.unknown(&name.text), self.remedy(&name.text)).spanning(&name.text)
            })?;
            if let [task] = tasks.as_slice() {
                of_one.push((*task, machine, run));
                continue;
            }
            for task in tasks {
                self.machine_of[task.index()] = machine;
                self.runs[task.index()] = run;
            }
        }
        // What is said of one task counts more than what is said of all that are alike, in whichever order.
        for (task, machine, run) in of_one {
            self.machine_of[task.index()] = machine;
            self.runs[task.index()] = run;
        }
        Ok(())
    }

    fn unknown(&self, name: &str) -> String {
        if self.prefix.is_empty() {
            return format!("the workflow has no task `{name}`");
        }
        format!("the part `{}` of the workflow has no task `{name}`", self.prefix.trim_end_matches('.'))
    }

    fn remedy(&self, name: &str) -> String {
        let again = "make the plan anew with `throng plan`";
        let is_part = |prefix: &&&str| self.flow.find(&format!("{prefix}.{name}")).is_ok();
        match prefixes(self.flow).iter().filter(|_| self.prefix.is_empty()).find(is_part) {
            Some(prefix) => format!("{again}, or say for which part of the workflow it is: --plan {prefix}=FILE"),
            None => again.to_owned(),
        }
    }

    /// Where a task is: on a type, or on an instance from some time to another.
    fn place(&self, name: &Text, value: Value) -> Result<(u16, Run), Problem> {
        let mut run = Run { instance: NOWHERE, begin: 0, end: 0 };
        if !matches!(value, Value::Map { .. }) {
            let said = scalar(name, value)?;
            return Ok((self.machine(&said)?, run));
        }
        for (key, value) in map(name, value, "{ instance: …, from: …, until: … }")? {
            let said = scalar(&key, value)?;
            match key.text.as_str() {
                "instance" => {
                    run.instance = *self.numbers.get(&said.text).ok_or_else(|| {
                        let message = format!("there is no instance `{}`", said.text);
                        Problem::new(said.mark, message, "list it under `instances`").spanning(&said.text)
                    })?;
                }
                "from" => run.begin = time(&key, &said)?,
                "until" => run.end = time(&key, &said)?,
                _ => return Err(unknown_key(&key, "of a planned task", &["instance", "from", "until"])),
            }
        }
        let Some(instance) = self.instances.get(run.instance as usize) else {
            let message = format!("the task `{}` is on no instance", name.text);
            return Err(Problem::new(name.mark, message, "write `instance: ` and the name of one"));
        };
        if run.end < run.begin {
            let message = format!("the task `{}` ends before it begins", name.text);
            return Err(Problem::new(name.mark, message, "write an `until` that is not before `from`"));
        }
        Ok((instance.machine, run))
    }

    fn machine(&self, said: &Text) -> Result<u16, Problem> {
        let names: Vec<&str> = self.catalogue.machines.iter().map(|machine| machine.name.as_str()).collect();
        let found = self.catalogue.find(&said.text);
        found.map(|machine| machine as u16).ok_or_else(|| unknown_machine(&said.text, said.mark, &names))
    }

    fn finish(self) -> Result<(Vec<u16>, Option<Rented>), Problem> {
        let say = |task: TaskId, what: &str| {
            let message = format!("the plan says {what} `{}`", self.flow.name(task));
            Problem::new(Mark::default(), message, "make the plan anew with `throng plan`")
        };
        let is_own = |task: &TaskId| self.prefix.is_empty() || self.flow.name(*task).starts_with(&self.prefix);
        let mut left_out = self.flow.tasks().filter(|task| self.machine_of[task.index()] == NOBODY);
        if let Some(task) = left_out.find(is_own) {
            return Err(say(task, "nothing of the task"));
        }
        if self.instances.is_empty() {
            return Ok((self.machine_of, None));
        }
        let mut nowhere = self.flow.tasks().filter(|task| self.runs[task.index()].instance == NOWHERE);
        if let Some(task) = nowhere.find(is_own) {
            return Err(say(task, "on which type, and not on which instance, is the task"));
        }
        Ok((self.machine_of, Some(Rented { instances: self.instances, runs: self.runs })))
    }
}

fn time(key: &Text, said: &Text) -> Result<u64, Problem> {
    let read = quantity::duration(&said.text).map_err(|_| wrong(said, key, "a time such as 30s"))?;
    Ok(u64::try_from(read.as_nanos()).unwrap_or(u64::MAX))
}

fn unknown_machine(name: &str, mark: Mark, known: &[&str]) -> Problem {
    let remedy = match crate::spelling::nearest(name, known.iter().copied()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("the types of machines are {}", known.join(", ")),
    };
    Problem::new(mark, format!("there is no type of machine `{name}`"), remedy).spanning(name)
}

/// YAML takes keys of up to 1024 bytes for such, unless it is told before.
const LONGEST_KEY: usize = 1000;

/// A key of a map, and what stands before its value.
fn key(name: &str) -> String {
    let key = quoted(name);
    if key.len() > LONGEST_KEY { format!("? {key}\n  :") } else { format!("{key}:") }
}

/// Text that YAML takes as it is, or in quotes.
fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-/+".contains(letter);
    let begins_well = text.starts_with(|letter: char| letter.is_ascii_alphanumeric());
    if begins_well && text.chars().all(is_plain) {
        return text.to_owned();
    }
    let mut quoted = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' | '\\' => quoted.extend(['\\', letter]),
            letter if letter.is_control() => {
                let _ = write!(quoted, "\\U{:08x}", u32::from(letter));
            }
            letter => quoted.push(letter),
        }
    }
    quoted.push('"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::read_machines;
    use super::*;
    use crate::workflow::NoFiles;

    #[test]
    fn written_read_and_refused() {
        let text = "tasks: { a: { noop: true, foreach: { i: 1..3 } }, b: { noop: true } }";
        let flow = Workflow::parse(text, Format::Yaml, "f", &NoFiles).unwrap();
        let catalogue = read_machines("machines: { small: { price: 1 }, large: { price: 2 } }", "m.yaml").unwrap();
        let head = vec![("workflow".to_owned(), "f: g".to_owned()), ("cost".to_owned(), "0.10".to_owned())];
        let plan = PlanFile { head, machine_of: vec![0, 1, 0, 1], rented: None };
        let text = plan.write(&flow, &catalogue);
        assert_eq!(
            text,
            "throng-plan: 1\nworkflow: \"f: g\"\ncost: 0.10\ntasks:\n  a: small\n  \"a:2\": large\n  b: large\n"
        );
        assert_eq!(PlanFile::read(&text, "p.yaml", &flow, &catalogue).unwrap(), plan);
        let run = |instance, begin, end| Run { instance, begin, end };
        let rented = Rented {
            instances: vec![
                Instance { machine: 0, from: 0, until: 1_500_000_000 },
                Instance { machine: 1, from: 7, until: 8 },
                Instance { machine: 0, from: 3, until: 4 },
            ],
            runs: vec![run(0, 1, 2), run(1, 7, 8), run(2, 3, 4), run(0, 5, 1_500_000_000)],
        };
        let plan = PlanFile { head: Vec::new(), machine_of: vec![0, 1, 0, 0], rented: Some(rented) };
        let text = plan.write(&flow, &catalogue);
        assert!(text.contains("  small-1: { type: small, from: 0s, until: 1.5s, cost: "), "{text}");
        assert!(text.contains("  \"a:3\": { instance: small-2, from: 0.000000003s, until: 0.000000004s }"), "{text}");
        assert_eq!(PlanFile::read(&text, "p.yaml", &flow, &catalogue).unwrap(), plan);
        let with = |instances: &str, tasks: &str| format!("throng-plan: 1\ninstances: {instances}\ntasks: {tasks}");
        for (text, message) in [
            (with("{ x: { type: smal } }", "{}"), "did you mean `small`?"),
            (with("{ x: { from: 1s } }", "{}"), "`x` has no type"),
            (with("{ x: { type: small, from: 2s, until: 1s } }", "{}"), "given back before"),
            (with("{ x: { type: small, when: 2s } }", "{}"), "unknown key `when`"),
            (with("{ x: { type: small } }", "{ a: { instance: y } }"), "there is no instance `y`"),
            (with("{ x: { type: small } }", "{ a: { from: 1s } }"), "is on no instance"),
            (with("{ x: { type: small } }", "{ a: { instance: x, from: 2s, until: 1s } }"), "ends before it begins"),
            (with("{ x: { type: small }, x: { type: large } }", "{}"), "`x`"),
            (with("{ x: { type: small } }", "{ a: { instance: x }, a: { instance: x } }"), "`a`"),
            (
                with("{ x: { type: small } }", "{ a: { instance: x }, b: small }"),
                "not on which instance, is the task `b`",
            ),
        ] {
            let error = PlanFile::read(&text, "p.yaml", &flow, &catalogue).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
        let one_first = "throng-plan: 1\ntasks: { 'a:2': large, a: small, b: small }";
        assert_eq!(PlanFile::read(one_first, "p.yaml", &flow, &catalogue).unwrap().machine_of, [0, 1, 0, 0]);
        for (text, message) in [
            ("tasks: {}", "this is no plan"),
            ("throng-plan: 2\ntasks: {}", "of version `2`"),
            ("throng-plan: 1\ntasks: { a: small }", "says nothing of the task `b`"),
            ("throng-plan: 1\ntasks: { a: smal, b: large }", "did you mean `small`?"),
            ("throng-plan: 1\ntasks: { c: small }", "the workflow has no task `c`"),
        ] {
            let error = PlanFile::read(text, "p.yaml", &flow, &catalogue).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
