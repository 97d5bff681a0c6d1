//! What a picture of a workflow shows, before anybody thinks of places or colours; and the picture that has a box for
//! every task.

use throng_core::ids::{ObjectId, TaskId};
use throng_core::workflow::Workflow;

use super::outside::{self, Outside};
use super::standing::{Standing, Tally};
use crate::words::{self, shorten};

/// A picture in words.
#[derive(Clone, Debug, Default)]
pub struct Picture {
    /// The workflow's name.
    pub title: String,
    /// How much there is.
    pub summary: String,
    /// What the reader has to know about how it is shown.
    pub notes: Vec<String>,
    /// Tasks, or groups of them, and files from outside.
    pub boxes: Vec<Box>,
    /// What goes from where to where.
    pub arrows: Vec<Arrow>,
    /// Where the tasks stand, if that is shown.
    pub standing: Option<Tally>,
}

/// A task, a group of tasks, or files.
#[derive(Clone, Debug, Default)]
pub struct Box {
    /// Its name.
    pub name: String,
    /// How many it stands for.
    pub count: u64,
    /// A short second line.
    pub remark: String,
    /// What is shown to those who point at it.
    pub details: Vec<String>,
    /// Files from outside, and not tasks.
    pub is_outside: bool,
    /// Where its tasks stand, if that is shown.
    pub standing: Option<Tally>,
}

/// Something that goes from one box to another.
#[derive(Clone, Debug, Default)]
pub struct Arrow {
    /// From this box.
    pub from: usize,
    /// To this box.
    pub to: usize,
    /// A short text, if there is room.
    pub label: String,
    /// What is shown to those who point at it.
    pub details: Vec<String>,
    /// One comes after the other, but nothing is handed over.
    pub is_order_only: bool,
}

/// No box.
pub const NONE: u32 = u32::MAX;
/// Longer lists of files say how many more there are.
const FILES_LISTED: usize = 12;
/// Longer names and commands are cut.
const DETAIL_LETTERS: usize = 160;
const LABEL_LETTERS: usize = 28;
/// More arrows than this between single tasks show their files only to those who point at them.
const TASK_LABELS_SHOWN: usize = 24;
/// The same for arrows between groups, where labels say more.
const GROUP_LABELS_SHOWN: usize = 120;

impl Picture {
    /// Whether there is room for a label at every arrow.
    pub fn has_labels(&self) -> bool {
        let is_by_task = self.boxes.iter().all(|shown| shown.is_outside || shown.count == 1);
        self.arrows.len() <= if is_by_task { TASK_LABELS_SHOWN } else { GROUP_LABELS_SHOWN }
    }
}

/// A box for every task that is wanted.
pub fn of_tasks(flow: &Workflow, wanted: &[bool], standing: Option<&[Standing]>) -> Picture {
    let tasks: Vec<TaskId> = flow.tasks().filter(|task| wanted[task.index()]).collect();
    let mut box_of = vec![NONE; flow.task_count()];
    for (at, task) in tasks.iter().enumerate() {
        box_of[task.index()] = at as u32;
    }
    let mut is_read = vec![false; flow.object_count()];
    for object in tasks.iter().flat_map(|task| flow.inputs(*task)) {
        is_read[object.index()] = true;
    }
    let mut picture = Picture {
        title: flow.title().to_owned(),
        summary: words::count(tasks.len() as u64, "task"),
        boxes: tasks.iter().map(|task| task_box(flow, *task, &is_read, standing)).collect(),
        standing: standing.map(|standing| Tally::of(tasks.iter().map(|task| standing[task.index()]))),
        ..Picture::default()
    };
    picture.arrows = task_arrows(flow, &tasks, &box_of);
    add_outside(&mut picture, outside::of(flow, &box_of, tasks.len()));
    picture
}

fn task_box(flow: &Workflow, task: TaskId, is_read: &[bool], standing: Option<&[Standing]>) -> Box {
    let last: Vec<&str> =
        flow.outputs(task).filter(|object| !is_read[object.index()]).map(|object| flow.object_name(object)).collect();
    let standing = standing.map(|standing| standing[task.index()]);
    let remark = match (standing, last.as_slice()) {
        (Some(standing), _) => standing.words().to_owned(),
        (None, []) => String::new(),
        (None, files) => format!("makes {}", some_files(files)),
    };
    Box {
        name: flow.name(task),
        count: 1,
        remark,
        details: task_details(flow, task),
        is_outside: false,
        standing: standing.map(|standing| Tally::of([standing].into_iter())),
    }
}

/// What a task does and which files it needs and makes.
pub fn task_details(flow: &Workflow, task: TaskId) -> Vec<String> {
    let mut details = vec![shorten(&action(flow, task), DETAIL_LETTERS)];
    let inputs: Vec<ObjectId> = flow.inputs(task).collect();
    let outputs: Vec<ObjectId> = flow.outputs(task).collect();
    for (verb, files) in [("reads", inputs), ("makes", outputs)] {
        if !files.is_empty() {
            details.push(format!("{verb} {}", listed(flow, &files)));
        }
    }
    details
}

fn action(flow: &Workflow, task: TaskId) -> String {
    flow.command_text(task).trim().lines().map(str::trim).collect::<Vec<_>>().join(" ↵ ")
}

fn listed(flow: &Workflow, files: &[ObjectId]) -> String {
    let mut names: Vec<String> =
        files.iter().take(FILES_LISTED).map(|object| shorten(flow.object_name(*object), DETAIL_LETTERS)).collect();
    if files.len() > FILES_LISTED {
        names.push(format!("and {} more", words::thousands((files.len() - FILES_LISTED) as u64)));
    }
    names.join(", ")
}

/// An arrow for every pair of tasks of which one waits for the other. Files are sorted by both once: looking through a
/// reader's inputs for each of its parents would take the square of their number.
fn task_arrows(flow: &Workflow, tasks: &[TaskId], box_of: &[u32]) -> Vec<Arrow> {
    let mut handed: Vec<(TaskId, TaskId, ObjectId)> = Vec::new();
    for child in tasks {
        handed.extend(flow.inputs(*child).filter_map(|object| Some((flow.producer(object)?, *child, object))));
    }
    handed.sort_by_key(|(parent, child, _)| (*parent, *child));
    let mut arrows = Vec::new();
    for parent in tasks {
        for child in flow.children(*parent).filter(|child| box_of[child.index()] != NONE) {
            let start = handed.partition_point(|(from, to, _)| (*from, *to) < (*parent, child));
            let files = handed[start..].iter().take_while(|(from, to, _)| (*from, *to) == (*parent, child));
            let files: Vec<ObjectId> = files.map(|(_, _, object)| *object).collect();
            let (from, to) = (box_of[parent.index()] as usize, box_of[child.index()] as usize);
            arrows.push(task_arrow(flow, from, to, &files));
        }
    }
    arrows
}

fn task_arrow(flow: &Workflow, from: usize, to: usize, handed: &[ObjectId]) -> Arrow {
    let names: Vec<&str> = handed.iter().map(|object| flow.object_name(*object)).collect();
    let details = if handed.is_empty() { "comes after it".to_owned() } else { listed(flow, handed) };
    Arrow { from, to, label: some_files(&names), details: vec![details], is_order_only: handed.is_empty() }
}

/// One file by its name, and how many more there are.
fn some_files(names: &[&str]) -> String {
    let Some(first) = names.first() else { return String::new() };
    let name = shorten(first.rsplit('/').next().unwrap_or(first), LABEL_LETTERS);
    if names.len() > 1 { format!("{name} and {} more", words::thousands(names.len() as u64 - 1)) } else { name }
}

/// Adds what tasks read that no task makes.
pub fn add_outside(picture: &mut Picture, outside: Outside) {
    if outside.files > 0 {
        let files = words::count_many(outside.files, "file");
        picture.summary += &format!(", {files} from outside");
    }
    let first = picture.boxes.len();
    picture.boxes.extend(outside.boxes);
    picture.arrows.extend(outside.arrows.into_iter().map(|arrow| Arrow { from: arrow.from + first, ..arrow }));
}
