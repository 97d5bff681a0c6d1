//! Writing a plan: a task's type where only types were planned, or its instance and its time.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::{Placed, PlanFile, VERSION, exact_seconds, instance_names};
use crate::ids::{TaskId, TemplateId};
use crate::plan::catalogue::Catalogue;
use crate::plan::instances::Run;
use crate::workflow::Workflow;

impl PlanFile {
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
}

fn write_rented(rented: &Placed, flow: &Workflow, catalogue: &Catalogue, text: &mut String) {
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
