//! Plans of several workflows, as one plan for the workflow that includes them all: they share the machines.
//!
//! Planned types stay what they are, and tasks of all workflows share what there is of a type. Planned instances stay apart, each with its own
//! tasks; there may not be more of a type at the same time than can be had.

use std::collections::BTreeSet;

use super::catalogue::Catalogue;
use super::file::{NOBODY, NOWHERE, Placed, PlanFile};
use super::instances::{Instance, Run};
use crate::ids::{TaskId, TemplateId};
use crate::workflow::Workflow;

/// Why plans cannot be carried out together.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unjoinable {
    /// Nobody has planned a task.
    #[error("no plan says anything of the task `{0}`")]
    Unplanned(String),
    /// Two plans are about the same task.
    #[error("two plans say where the task `{0}` runs")]
    Twice(String),
    /// Some rent instances, and others only name types.
    #[error("some of the plans rent instances, and others only say which types tasks run on")]
    Mixed,
    /// A task is to begin before another for which it waits.
    #[error("the task `{task}` is to begin before `{before}` does, and waits for it")]
    Early {
        /// Who is too early.
        task: String,
        /// Who comes before it.
        before: String,
    },
    /// They rent more than there is.
    #[error("the plans rent {wanted} of `{machine}` at the same time, and {there} can be had")]
    TooMany {
        /// The type.
        machine: String,
        /// How many are rented at once.
        wanted: u32,
        /// How many can be had.
        there: u32,
    },
}

/// The prefixes under which parts of a workflow are included, as far as their names tell.
pub fn prefixes(flow: &Workflow) -> BTreeSet<&str> {
    let names = (0..flow.template_count()).map(|template| flow.template_name(TemplateId::at(template)));
    names.flat_map(|name| name.match_indices('.').map(|(dot, _)| &name[..dot])).collect()
}

/// Puts plans together, each of which is about other tasks. What each of them expects stays with it: the whole has no head.
pub fn joined(flow: &Workflow, catalogue: &Catalogue, parts: &[PlanFile]) -> Result<PlanFile, Unjoinable> {
    let rents = parts.iter().filter(|part| part.rented.is_some()).count();
    if rents > 0 && rents < parts.len() {
        return Err(Unjoinable::Mixed);
    }
    let mut machine_of = vec![NOBODY; flow.task_count()];
    let mut instances: Vec<Instance> = Vec::new();
    let mut runs = vec![Run { instance: NOWHERE, begin: 0, end: 0 }; flow.task_count()];
    for part in parts {
        let first = instances.len() as u32;
        for task in flow.tasks().filter(|task| part.machine_of[task.index()] != NOBODY) {
            let at = task.index();
            if machine_of[at] != NOBODY {
                return Err(Unjoinable::Twice(flow.name(task)));
            }
            machine_of[at] = part.machine_of[at];
            if let Some(rented) = &part.rented {
                runs[at] = Run { instance: first + rented.runs[at].instance, ..rented.runs[at] };
            }
        }
        instances.extend(part.rented.iter().flat_map(|rented| &rented.instances));
    }
    if let Some(task) = flow.tasks().find(|task| machine_of[task.index()] == NOBODY) {
        return Err(Unjoinable::Unplanned(flow.name(task)));
    }
    for (number, machine) in catalogue.machines.iter().enumerate() {
        let wanted = most_at_once(instances.iter().filter(|instance| usize::from(instance.machine) == number));
        if let Some(there) = machine.count.filter(|there| wanted > *there) {
            return Err(Unjoinable::TooMany { machine: machine.name.clone(), wanted, there });
        }
    }
    if rents > 0 {
        let is_before = |one: TaskId, other: TaskId| runs[one.index()].begin < runs[other.index()].begin;
        let early = |task| flow.children(task).find(|child| is_before(*child, task)).map(|child| (child, task));
        if let Some((task, before)) = flow.tasks().find_map(early) {
            return Err(Unjoinable::Early { task: flow.name(task), before: flow.name(before) });
        }
    }
    let rented = (rents > 0).then_some(Placed { instances, runs });
    Ok(PlanFile { head: Vec::new(), machine_of, rented })
}

/// How many instances there are at the same time, at most; one that is given back makes room for the next.
fn most_at_once<'a>(instances: impl Iterator<Item = &'a Instance>) -> u32 {
    let mut changes: Vec<(u64, i32)> =
        instances.flat_map(|instance| [(instance.from, 1), (instance.until, -1)]).collect();
    changes.sort_unstable();
    let (mut now, mut most) = (0, 0);
    for (_, change) in changes {
        now += change;
        most = most.max(now);
    }
    most as u32
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::read_machines;
    use super::*;
    use crate::workflow::{Format, NoFiles};

    #[test]
    fn each_task_has_one_plan_and_nobody_rents_what_is_not_there() {
        let text = "tasks: { a.x: { run: t }, a.y: { run: t }, b.x: { run: t } }";
        let flow = Workflow::parse(text, Format::Yaml, "f", &NoFiles).unwrap();
        let catalogue =
            read_machines("machines: { one: { price: 1, count: 1 }, two: { price: 2 } }", "m.yaml").unwrap();
        let read = |prefix, text: &str| {
            let text = format!("throng-plan: 1\n{text}");
            PlanFile::read_part(&text, "p.yaml", &flow, Some(prefix), &catalogue).unwrap()
        };
        assert_eq!(prefixes(&flow).into_iter().collect::<Vec<_>>(), ["a", "b"]);
        let join = |parts: &[PlanFile]| joined(&flow, &catalogue, parts);
        let first = read("a", "tasks: { x: one, y: two }");
        let second = read("b", "tasks: { x: two }");
        assert_eq!(join(&[first.clone(), second.clone()]).unwrap().machine_of, [0, 1, 1]);
        assert_eq!(join(std::slice::from_ref(&first)), Err(Unjoinable::Unplanned("b.x".to_owned())));
        assert_eq!(join(&[first.clone(), second, first.clone()]), Err(Unjoinable::Twice("a.x".to_owned())));
        let rented = |prefix, from, tasks: &str| {
            let until = from + 60;
            read(
                prefix,
                &format!("instances: {{ i: {{ type: one, from: {from}s, until: {until}s }} }}\ntasks: {tasks}"),
            )
        };
        let on = |from: u64| format!("{{ instance: i, from: {from}s, until: {}s }}", from + 9);
        let early = rented("a", 0, &format!("{{ x: {}, y: {} }}", on(0), on(10)));
        let later = rented("b", 60, &format!("{{ x: {} }}", on(60)));
        let whole = join(&[early.clone(), later]).unwrap().rented.unwrap();
        assert_eq!(whole.runs.iter().map(|run| run.instance).collect::<Vec<_>>(), [0, 0, 1]);
        let same = rented("b", 59, &format!("{{ x: {} }}", on(60)));
        let too_many = Unjoinable::TooMany { machine: "one".to_owned(), wanted: 2, there: 1 };
        assert_eq!(join(&[early.clone(), same]), Err(too_many));
        let flow = "tasks: { x: { run: t, out: o }, y: { run: t, in: o, out: p } }";
        let flow = Workflow::parse(flow, Format::Yaml, "f", &NoFiles).unwrap();
        let plan = |x, y| {
            let text = format!(
                "throng-plan: 1\ninstances: {{ i: {{ type: one, from: 0s, until: 60s }} }}\ntasks: {{ x: {}, y: {} }}",
                on(x),
                on(y)
            );
            joined(&flow, &catalogue, &[PlanFile::read(&text, "p.yaml", &flow, &catalogue).unwrap()])
        };
        assert!(plan(0, 10).is_ok() && plan(0, 0).is_ok());
        assert_eq!(plan(10, 9), Err(Unjoinable::Early { task: "y".to_owned(), before: "x".to_owned() }));
        assert_eq!(join(&[early, first]), Err(Unjoinable::Mixed));
    }
}
