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

use std::collections::BTreeMap;
use std::fmt::Write;

use super::catalogue::Catalogue;
use crate::ids::{TaskId, TemplateId};
use crate::workflow::Format;
use crate::workflow::Workflow;
use crate::workflow::reading::{Mark, Problem, Problems, Value, json, scalar, unknown_key, yaml};

/// The version of the format.
const VERSION: &str = "1";

/// What a plan says.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlanFile {
    /// Lines of its head: names and values, as they are written.
    pub head: Vec<(String, String)>,
    /// For each task, the number of its type of machine in the catalogue.
    pub machine_of: Vec<u16>,
}

impl PlanFile {
    /// Writes it down.
    pub fn write(&self, flow: &Workflow, catalogue: &Catalogue) -> String {
        let mut text = format!("throng-plan: {VERSION}\n");
        for (name, value) in &self.head {
            let _ = writeln!(text, "{name}: {}", quoted(value));
        }
        text.push_str("tasks:\n");
        let machine = |task: TaskId| self.machine_of[task.index()];
        let name = |machine: u16| quoted(&catalogue.machines[usize::from(machine)].name);
        for template in (0..flow.template_count()).map(TemplateId::at) {
            let tasks = flow.tasks_of(template).map(TaskId);
            let mut counts: BTreeMap<u16, usize> = BTreeMap::new();
            tasks.clone().for_each(|task| *counts.entry(machine(task)).or_default() += 1);
            let usual = counts.iter().max_by_key(|(machine, count)| (**count, std::cmp::Reverse(**machine)));
            let Some((&usual, _)) = usual else { continue };
            let _ = writeln!(text, "  {}: {}", quoted(flow.template_name(template)), name(usual));
            for task in tasks.filter(|task| machine(*task) != usual) {
                let _ = writeln!(text, "  {}: {}", quoted(&flow.name(task)), name(machine(task)));
            }
        }
        text
    }

    /// Reads it for a workflow and its machines; `file` is its name.
    pub fn read(text: &str, file: &str, flow: &Workflow, catalogue: &Catalogue) -> Result<PlanFile, Problems> {
        let entries = match Format::of(file) {
            Format::Json => json::read_map(text, 0),
            Format::Yaml => yaml::read_map(text, 0),
        };
        const NOBODY: u16 = u16::MAX;
        let mut plan = PlanFile { head: Vec::new(), machine_of: vec![NOBODY; flow.task_count()] };
        let (mut version, mut has_tasks) = (None, false);
        for (key, value) in entries? {
            match key.text.as_str() {
                "throng-plan" => version = Some(scalar(&key, value)?),
                "tasks" => {
                    let Value::Map { entries, .. } = value else {
                        let remedy = "write a line `name: machine` for each task";
                        return Err(Problem::new(key.mark, "`tasks` needs a map", remedy).into());
                    };
                    has_tasks = true;
                    for (name, value) in entries {
                        let on = scalar(&name, value)?;
                        let Some(machine) = catalogue.find(&on.text) else {
                            let names: Vec<&str> = catalogue.machines.iter().map(|it| it.name.as_str()).collect();
                            return Err(unknown_machine(&on.text, on.mark, &names).into());
                        };
                        let tasks = flow.find(&name.text).map_err(|_| {
                            let message = format!("the workflow has no task `{}`", name.text);
                            Problem::new(name.mark, message, "make the plan anew with `throng plan`")
                                .spanning(&name.text)
                        })?;
                        tasks.iter().for_each(|task| plan.machine_of[task.index()] = machine as u16);
                    }
                }
                "workflow" | "planner" | "budget" | "deadline" | "makespan" | "cost" | "bound" | "currency" => {
                    plan.head.push((key.text.clone(), scalar(&key, value)?.text));
                }
                _ => return Err(unknown_key(&key, "in a plan", &["throng-plan", "tasks"]).into()),
            }
        }
        match version {
            Some(version) if version.text == VERSION => {}
            Some(version) => {
                let message = format!("this plan is of version `{}`, and only {VERSION} is known", version.text);
                return Err(Problem::new(version.mark, message, "make it anew with `throng plan`").into());
            }
            None => {
                return Err(Problem::new(
                    Mark::default(),
                    "this is no plan: it has no `throng-plan`",
                    "make one with `throng plan FLOW --out FILE`",
                )
                .into());
            }
        }
        let missing = flow.tasks().find(|task| plan.machine_of[task.index()] == NOBODY);
        match missing {
            Some(task) if has_tasks || flow.task_count() > 0 => {
                let message = format!("the plan says nothing of the task `{}`", flow.name(task));
                Err(Problem::new(Mark::default(), message, "make the plan anew with `throng plan`").into())
            }
            _ => Ok(plan),
        }
    }
}

fn unknown_machine(name: &str, mark: Mark, known: &[&str]) -> Problem {
    let remedy = match crate::spelling::nearest(name, known.iter().copied()) {
        Some(nearest) => format!("did you mean `{nearest}`?"),
        None => format!("the types of machines are {}", known.join(", ")),
    };
    Problem::new(mark, format!("there is no type of machine `{name}`"), remedy).spanning(name)
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
        let plan = PlanFile { head, machine_of: vec![0, 1, 0, 1] };
        let text = plan.write(&flow, &catalogue);
        assert_eq!(
            text,
            "throng-plan: 1\nworkflow: \"f: g\"\ncost: 0.10\ntasks:\n  a: small\n  \"a:2\": large\n  b: large\n"
        );
        assert_eq!(PlanFile::read(&text, "p.yaml", &flow, &catalogue).unwrap(), plan);
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
