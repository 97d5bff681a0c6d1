//! Who waits for whom, as it is declared: the union of `parents` and `children`, with ids that all mean something.

use super::super::problem::{Mark, Problem, ProblemList};
use super::super::value::Text;
use super::document::{Document, Reference, twice};
use super::remarks::Tally;
use crate::spelling;

/// The declared order of tasks.
pub(super) struct Links {
    /// The place of a task by the number of its id, or nothing.
    place: Vec<Option<u32>>,
    /// (child, parent), sorted, each once.
    pub declared: Vec<(u32, u32)>,
}

impl Links {
    /// Resolves all ids of tasks; what is wrong is added to the problems, what is merely odd to the remarks.
    pub(super) fn of(document: &Document, problems: &mut ProblemList, remarks: &mut Vec<String>) -> Links {
        let ids = &document.task_ids.strings;
        let mut links = Links { place: vec![None; ids.len()], declared: Vec::new() };
        for (at, task) in document.tasks.iter().enumerate() {
            let place = &mut links.place[task.id.id as usize];
            if let Some(first) = place {
                let id = Text { text: ids.get(task.id.id).to_owned(), mark: task.id.mark };
                problems.push(twice(&id, "tasks", document.tasks[*first as usize].id.mark));
            } else {
                *place = Some(at as u32);
            }
        }
        let mut sides: [Vec<(u32, u32)>; 2] = [Vec::new(), Vec::new()];
        let (mut without_parents, mut without_children) = (Tally::default(), Tally::default());
        for (at, task) in document.tasks.iter().enumerate() {
            let own = ids.get(task.id.id);
            without_parents.count(task.parents.is_none(), || own.to_owned());
            without_children.count(task.children.is_none(), || own.to_owned());
            for parent in task.parents.iter().flatten() {
                let found = links.find(document, *parent, || format!("`parents` of the task `{own}`"), problems);
                sides[0].extend(found.map(|parent| (at as u32, parent)));
            }
            for child in task.children.iter().flatten() {
                let found = links.find(document, *child, || format!("`children` of the task `{own}`"), problems);
                sides[1].extend(found.map(|child| (child, at as u32)));
            }
        }
        for (number, measured) in document.measured.iter().enumerate() {
            let Some(measured) = measured else { continue };
            let reference = Reference { id: number as u32, mark: measured.mark };
            links.find(document, reference, || "the execution".to_owned(), problems);
        }
        for side in &mut sides {
            side.sort_unstable();
            side.dedup();
        }
        let missing = |tally: Tally, field: &str, other: &str| {
            tally.remark(
                |count, first| format!("{count} without `{field}`, such as `{first}`: `{other}` alone tells"),
                "task",
            )
        };
        remarks.extend(missing(without_parents, "parents", "children"));
        remarks.extend(missing(without_children, "children", "parents"));
        remarks.extend(disagreement(document, &sides));
        let [parents, children] = sides;
        links.declared = parents;
        links.declared.extend(children);
        links.declared.sort_unstable();
        links.declared.dedup();
        for (own, _) in links.declared.iter().filter(|(child, parent)| child == parent) {
            let task = &document.tasks[*own as usize];
            let message = format!("the task `{}` is its own parent", ids.get(task.id.id));
            problems.push(Problem::new(task.id.mark, message, "take it out of its `parents` and `children`"));
        }
        links
    }

    /// Whether a task is declared to wait for another, directly.
    pub(super) fn is_declared(&self, child: u32, parent: u32) -> bool {
        self.declared.binary_search(&(child, parent)).is_ok()
    }

    fn find(
        &self,
        document: &Document,
        Reference { id, mark }: Reference,
        whose: impl Fn() -> String,
        problems: &mut ProblemList,
    ) -> Option<u32> {
        let found = self.place[id as usize];
        if found.is_none() {
            problems.push(unknown(document, id, mark, &whose()));
        }
        found
    }
}

/// Names that are compared with one that is unknown: far more are not worth a look at each.
const COMPARED: usize = 10_000;

fn unknown(document: &Document, id: u32, mark: Mark, whose: &str) -> Problem {
    let ids = &document.task_ids.strings;
    let name = ids.get(id);
    let known = document.tasks.iter().take(COMPARED).map(|task| ids.get(task.id.id));
    let remedy = match spelling::nearest(name, known) {
        Some(known) => format!("did you mean `{known}`?"),
        None => "write the id of a task of the specification".to_owned(),
    };
    Problem::new(mark, format!("{whose} names `{name}`, and no task has that id"), remedy).spanning(name)
}

/// A word about edges that only one side knows, where the other side says anything at all.
fn disagreement(document: &Document, [parents, children]: &[Vec<(u32, u32)>; 2]) -> Option<String> {
    let name = |at: u32| document.task_ids.strings.get(document.tasks[at as usize].id.id);
    let mut tally = Tally::default();
    for (one, other) in [(parents, children), (children, parents)] {
        let is_parents = std::ptr::eq(one, parents);
        for (child, parent) in one.iter().filter(|edge| other.binary_search(edge).is_err()) {
            let task = &document.tasks[if is_parents { *parent } else { *child } as usize];
            let is_said = if is_parents { task.children.is_some() } else { task.parents.is_some() };
            tally.count(is_said, || format!("{} → {}", name(*parent), name(*child)));
        }
    }
    tally.remark(
        |count, first| format!("{count} in `parents` or `children` alone, such as {first}: it counts all the same"),
        "dependency",
    )
}
