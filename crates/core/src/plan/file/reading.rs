//! Reading a plan, which somebody may have changed: what it says has to fit the workflow and the machines.

use std::collections::BTreeMap;

use super::{NOBODY, NOWHERE, Placed, PlanFile, VERSION};
use crate::ids::TaskId;
use crate::plan::catalogue::{Catalogue, map};
use crate::plan::estimates::need;
use crate::plan::instances::{Instance, Run};
use crate::plan::joined::prefixes;
use crate::workflow::reading::{Mark, Problem, Problems, Text, Value, json, scalar, unknown_key, wrong, yaml};
use crate::workflow::{Format, Workflow, quantity};

impl PlanFile {
    /// Reads it for a workflow and its machines; `file` is its name.
    pub fn read(text: &str, file: &str, flow: &Workflow, catalogue: &Catalogue) -> Result<PlanFile, Problems> {
        PlanFile::read_part(text, file, flow, None, catalogue)
    }

    /// Reads the plan of a workflow that is included in another under a prefix. It says nothing of the other's tasks: see
    /// [`joined`](crate::plan::joined::joined).
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
        let (mut of_one, mut said) = (Vec::new(), Vec::new());
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
            match tasks.as_slice() {
                [task] => of_one.push((*task, machine, run)),
                tasks => tasks.iter().for_each(|task| {
                    self.machine_of[task.index()] = machine;
                    self.runs[task.index()] = run;
                }),
            }
            said.push((name, machine, tasks));
        }
        // What is said of one task counts more than what is said of all that are alike, in whichever order.
        for (task, machine, run) in of_one {
            self.machine_of[task.index()] = machine;
            self.runs[task.index()] = run;
        }
        said.iter().try_for_each(|(name, machine, tasks)| self.check_fit(name, *machine, tasks))
    }

    /// Tasks that are to run where some line says have to fit there.
    fn check_fit(&self, name: &Text, number: u16, tasks: &[TaskId]) -> Result<(), Problem> {
        let machine = &self.catalogue.machines[usize::from(number)];
        let fits = |task: TaskId| need(self.flow, self.flow.class(task, 1), machine).is_some();
        let is_here = |task: &&TaskId| self.machine_of[task.index()] == number;
        let Some(task) = tasks.iter().filter(is_here).find(|task| !fits(**task)) else { return Ok(()) };
        let (task, machine) = (self.flow.name(*task), &machine.name);
        let message = format!("the task `{task}` asks for more than a machine of type `{machine}` has");
        let remedy = "put it on another type, or make the plan anew with `throng plan`";
        Err(Problem::new(name.mark, message, remedy).spanning(&name.text))
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

    fn finish(self) -> Result<(Vec<u16>, Option<Placed>), Problem> {
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
        Ok((self.machine_of, Some(Placed { instances: self.instances, runs: self.runs })))
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
