//! The shape of a workflow: its numbers, and what about it looks like a slip of the pen.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::bound::LowerBound;
use crate::ids::{KindId, ObjectId, TaskId, TemplateId};
use crate::workflow::Workflow;

/// The numbers of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Shape {
    /// Tasks.
    pub tasks: u64,
    /// Objects that some task makes.
    pub made: u64,
    /// Objects from outside.
    pub outside: u64,
    /// Objects that are made and that no task reads: results.
    pub unread: u64,
    /// Pairs of tasks of which one waits for the other.
    pub edges: u64,
    /// Tasks that wait for nobody.
    pub roots: u64,
    /// The most tasks in a row.
    pub depth: u64,
    /// The most tasks at the same distance from the beginning.
    pub width: u64,
    /// Tasks of which somebody said how long they take.
    pub estimated: u64,
    /// How long these take together, and how long those that wait for each other, at least; with a single slot.
    pub bound: LowerBound,
    /// Tasks by kind.
    pub kinds: Vec<KindShape>,
}

/// The tasks of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindShape {
    /// How many there are.
    pub tasks: u64,
    /// Of how many somebody said how long they take.
    pub estimated: u64,
    /// How long these take together.
    pub work: Duration,
}

/// Something that looks like a slip of the pen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Warning {
    /// Some outputs of a task are read, and others by nobody.
    PartlyRead {
        /// The first such task.
        task: TaskId,
        /// One of its outputs that nobody reads.
        object: ObjectId,
        /// How many such outputs there are in all tasks of its template.
        count: u64,
    },
    /// A temporary output that nobody reads is never deleted.
    TempUnread {
        /// The first of them.
        object: ObjectId,
        /// How many there are.
        count: u64,
    },
    /// Every task of one template reads everything that another makes.
    AllToAll {
        /// A task that reads.
        reader: TaskId,
        /// A task that makes.
        maker: TaskId,
        /// How many references that makes.
        references: u64,
    },
    /// A task reads very many objects.
    ManyInputs {
        /// Which task.
        task: TaskId,
        /// How many.
        count: u64,
    },
    /// A command would be longer than the system takes.
    LongCommand {
        /// Which task.
        task: TaskId,
        /// How long it would be.
        bytes: u64,
    },
    /// Tasks that do the very same thing.
    AllAlike {
        /// The first of them.
        task: TaskId,
        /// How many there are.
        count: u64,
    },
    /// Kinds of which nobody said how long they take.
    NoEstimate {
        /// Which.
        kinds: Vec<KindId>,
    },
}

/// Inputs of one task from which on they are worth a word.
const MANY_INPUTS: usize = 100_000;
/// References between two templates from which on a task that gathers would pay.
const MANY_REFERENCES: u64 = 1_000_000;
/// Fewer inputs than this are no product of everything with everything.
const FEW_INPUTS: usize = 100;
/// What Linux hands to a program at most, arguments and environment together.
const COMMAND_BYTES: usize = 2_000_000;
/// With fewer inputs than this, no command gets that long.
const INPUTS_OF_LONG_COMMANDS: usize = 1_000;

impl Shape {
    /// Measures a workflow.
    pub fn of(flow: &Workflow) -> Shape {
        let mut shape = Shape { tasks: flow.task_count() as u64, ..Shape::default() };
        shape.kinds.resize(flow.kind_count(), KindShape::default());
        let mut level = vec![0u32; flow.task_count()];
        let mut at_level: Vec<u64> = Vec::new();
        for task in flow.topological() {
            let own_level = level[task.index()] as usize;
            at_level.resize(at_level.len().max(own_level + 1), 0);
            at_level[own_level] += 1;
            let kind = &mut shape.kinds[flow.kind(task).index()];
            kind.tasks += 1;
            let time = flow.estimated_time(task);
            kind.estimated += u64::from(time.is_some());
            shape.estimated += u64::from(time.is_some());
            let time = time.unwrap_or_default();
            kind.work = kind.work.saturating_add(time);
            shape.roots += u64::from(flow.parent_count(task) == 0);
            for child in flow.children(task) {
                shape.edges += 1;
                level[child.index()] = level[child.index()].max(own_level as u32 + 1);
            }
        }
        shape.depth = at_level.len() as u64;
        shape.width = at_level.into_iter().max().unwrap_or(0);
        let length_ns = |task| flow.estimated_time(task).map_or(0, |time| time.as_nanos() as u64);
        shape.bound = LowerBound::of(flow, 1, length_ns);
        let is_read = read_objects(flow);
        for object in (0..flow.object_count()).map(ObjectId::at) {
            match flow.producer(object) {
                None => shape.outside += 1,
                Some(_) => {
                    shape.made += 1;
                    shape.unread += u64::from(!is_read[object.index()]);
                }
            }
        }
        shape
    }
}

fn read_objects(flow: &Workflow) -> Vec<bool> {
    let mut is_read = vec![false; flow.object_count()];
    for task in flow.tasks() {
        for object in flow.inputs(task) {
            is_read[object.index()] = true;
        }
    }
    is_read
}

/// Looks for what is probably not meant.
pub fn warnings(flow: &Workflow, shape: &Shape) -> Vec<Warning> {
    let mut found = unread_outputs(flow);
    found.extend(wide_reads(flow));
    found.extend(alike(flow));
    let some_have = shape.kinds.iter().any(|kind| kind.estimated > 0);
    let without = (0..flow.kind_count()).map(KindId::at).filter(|kind| shape.kinds[kind.index()].estimated == 0);
    let without: Vec<KindId> = without.filter(|kind| shape.kinds[kind.index()].tasks > 0).collect();
    // Where nobody has said anything of any, nobody meant to.
    if some_have && !without.is_empty() {
        found.push(Warning::NoEstimate { kinds: without });
    }
    found
}

fn unread_outputs(flow: &Workflow) -> Vec<Warning> {
    let is_read = read_objects(flow);
    let mut partly: BTreeMap<TemplateId, (TaskId, ObjectId, u64)> = BTreeMap::new();
    let mut temps: Option<(ObjectId, u64)> = None;
    for task in flow.tasks() {
        let is_some_read = flow.outputs(task).any(|object| is_read[object.index()]);
        for object in flow.outputs(task).filter(|object| !is_read[object.index()]) {
            if flow.is_temp(object) {
                temps.get_or_insert((object, 0)).1 += 1;
            } else if is_some_read && !flow.is_optional(object) {
                partly.entry(flow.template(task)).or_insert((task, object, 0)).2 += 1;
            }
        }
    }
    let partly = partly.into_values().map(|(task, object, count)| Warning::PartlyRead { task, object, count });
    partly.chain(temps.map(|(object, count)| Warning::TempUnread { object, count })).collect()
}

fn wide_reads(flow: &Workflow) -> Vec<Warning> {
    let mut found = Vec::new();
    let mut between: BTreeMap<(TemplateId, TemplateId), (TaskId, TaskId, u64)> = BTreeMap::new();
    let (mut is_many_told, mut is_long_told) = (false, false);
    for task in flow.tasks() {
        let count = flow.inputs(task).len();
        if count >= MANY_INPUTS && !std::mem::replace(&mut is_many_told, true) {
            found.push(Warning::ManyInputs { task, count: count as u64 });
        }
        if count >= INPUTS_OF_LONG_COMMANDS && !is_long_told {
            let bytes = flow.command_text(task).len();
            if bytes > COMMAND_BYTES {
                is_long_told = true;
                found.push(Warning::LongCommand { task, bytes: bytes as u64 });
            }
        }
        // Few inputs add up only if there are very many tasks, and then there is no better way.
        if count < FEW_INPUTS {
            continue;
        }
        for maker in flow.inputs(task).filter_map(|object| flow.producer(object)) {
            let pair = (flow.template(task), flow.template(maker));
            between.entry(pair).or_insert((task, maker, 0)).2 += 1;
        }
    }
    for (reader, maker, references) in between.into_values() {
        let has_siblings = flow.tasks_of(flow.template(reader)).len() > 1;
        if references >= MANY_REFERENCES && has_siblings {
            found.push(Warning::AllToAll { reader, maker, references });
        }
    }
    found
}

fn alike(flow: &Workflow) -> Vec<Warning> {
    let templates = (0..flow.template_count()).map(TemplateId::at);
    templates
        .filter_map(|template| {
            let tasks = flow.tasks_of(template);
            let first = TaskId(tasks.start);
            let is_suspect = tasks.len() > 1 && !flow.is_builtin(first);
            // Definitions differ as soon as any value stands in a command, its environment or its files.
            let own = flow.definition_hash(first);
            let is_same = is_suspect && tasks.clone().all(|task| flow.definition_hash(TaskId(task)) == own);
            is_same.then_some(Warning::AllAlike { task: first, count: tasks.len() as u64 })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::{Format, NoFiles};

    fn flow(text: &str) -> Workflow {
        Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap()
    }

    #[test]
    fn a_diamond_in_numbers() {
        let flow = flow(
            "tasks: { a: { run: x, in: source, out: f, estimate: { time: 2s } }, \
                      b: { foreach: { i: 1..3 }, run: 'x {i}', in: f, out: 'g{i}', estimate: { time: 5s } }, \
                      c: { run: x, in: [{ all: b }], out: h } }",
        );
        let shape = Shape::of(&flow);
        let expected = Shape {
            tasks: 5,
            made: 5,
            outside: 1,
            unread: 1,
            edges: 6,
            roots: 1,
            depth: 3,
            width: 3,
            estimated: 4,
            bound: LowerBound { work_ns: 17_000_000_000, slots: 1, chain_ns: 7_000_000_000, cores_ns: 0 },
            kinds: shape.kinds.clone(),
        };
        assert_eq!(shape, expected);
        assert_eq!(shape.kinds[1], KindShape { tasks: 3, estimated: 3, work: Duration::from_secs(15) });
        assert_eq!(warnings(&flow, &shape), [Warning::NoEstimate { kinds: vec![KindId(2)] }]);
    }

    #[test]
    fn slips_of_the_pen() {
        let flow = flow(
            "tasks: { a: { run: x, out: [f, g, { path: l, optional: true }] }, b: { run: x, in: f }, \
                      t: { run: x, temp: true, out: k }, same: { foreach: { i: 1..3 }, run: x }, \
                      noop: { foreach: { i: 1..3 }, noop: true } }",
        );
        assert_eq!(
            warnings(&flow, &Shape::of(&flow)),
            [
                Warning::PartlyRead { task: TaskId(0), object: ObjectId(1), count: 1 },
                Warning::TempUnread { object: ObjectId(3), count: 1 },
                Warning::AllAlike { task: TaskId(3), count: 3 },
            ]
        );
    }

    #[test]
    fn everybody_reads_everything() {
        let flow = flow(
            "tasks: { a: { foreach: { i: 1..1000 }, run: 'x {i}', out: 'f{i}' }, \
                      b: { foreach: { i: 1..1000 }, run: 'x {i}', in: [{ all: a }] } }",
        );
        assert_eq!(
            warnings(&flow, &Shape::of(&flow)),
            [Warning::AllToAll { reader: TaskId(1000), maker: TaskId(0), references: 1_000_000 }]
        );
    }
}
