//! What has to be scheduled: tasks with their times and needs, who waits for whom, and what data goes from where to where.

use super::super::catalogue::{Catalogue, Machine};
use super::super::estimates::{Tables, need};
use super::super::graph::Graph;
use super::profile::Need;
use super::readers::Readers;
use crate::ids::{ObjectId, TaskId};
use crate::workflow::Workflow;

/// Nobody: an object from outside, or a task without an object of its own.
pub(super) const OUTSIDE: u32 = u32::MAX;

/// Something that tasks read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Object {
    /// How large it is expected to be.
    pub(super) bytes: u64,
    /// Who makes it, or nobody.
    pub(super) maker: u32,
}

/// Tasks of a workflow, and the machines that they may run on.
#[derive(Clone, Debug)]
pub struct Problem<'a> {
    /// The machines.
    pub catalogue: &'a Catalogue,
    /// Who waits for whom.
    pub graph: Graph,
    /// By table, how long its tasks take on each type; nothing where they do not fit.
    times: Vec<Vec<Option<u64>>>,
    table_of: Vec<u32>,
    /// By class, what its tasks need on each type.
    needs: Vec<Vec<Need>>,
    class_of: Vec<u32>,
    pub(super) objects: Vec<Object>,
    /// The first input of each task, and one more than the last.
    first_input: Vec<u32>,
    inputs: Vec<u32>,
    /// How much each task reads.
    read_bytes: Vec<u64>,
    pub(super) readers: Readers,
    /// The first output of each task, and one more than the last of all.
    first_output: Vec<u32>,
    /// What leaves in the end: results that no task reads.
    pub(super) out_bytes: u64,
}

impl<'a> Problem<'a> {
    /// The tasks of a workflow. If nothing is known of sizes, or nobody wants to count them, `moves` is false, and data is wherever it is needed.
    pub fn of(flow: &Workflow, catalogue: &'a Catalogue, tables: &Tables, moves: bool) -> Problem<'a> {
        let edges = flow.tasks().flat_map(|task| flow.children(task).map(move |child| (task.0, child.0)));
        let graph = Graph::new(flow.task_count(), edges.collect()).expect("a workflow has no circles");
        let times = tables.rows.iter().map(|of| of.known.iter().map(|known| Some(known.as_ref()?.time.time_ns)));
        let machines = &catalogue.machines;
        let need_on = |class, machine: &Machine| need(flow, class, machine).unwrap_or(machine.capacity());
        let classes = (0..flow.class_count()).map(crate::ids::ClassId::at);
        let bytes = |object: ObjectId| if moves { flow.expected_size(object).unwrap_or(0) } else { 0 };
        let objects: Vec<Object> = (0..flow.object_count())
            .map(ObjectId::at)
            .map(|object| Object {
                bytes: bytes(object),
                maker: flow.producer(object).map_or(OUTSIDE, |maker| maker.0),
            })
            .collect();
        let (mut first_input, mut inputs, mut is_read) = (vec![0], Vec::new(), vec![false; objects.len()]);
        for task in flow.tasks() {
            for object in flow.inputs(task) {
                is_read[object.index()] = true;
                // Also what is empty has to come from where it was made.
                let Object { bytes, maker } = objects[object.index()];
                if moves && (bytes > 0 || maker != OUTSIDE) {
                    inputs.push(object.0);
                }
            }
            first_input.push(inputs.len() as u32);
        }
        let of_task = |task: u32| &inputs[first_input[task as usize] as usize..first_input[task as usize + 1] as usize];
        let size = |object: &u32| objects[*object as usize].bytes;
        let read_bytes =
            flow.tasks().map(|task| of_task(task.0).iter().map(size).fold(0, u64::saturating_add)).collect();
        let readers = Readers::of(flow.task_count(), &objects, of_task);
        // Objects stand in the order of those who make them.
        let (mut first_output, mut outputs) = (vec![0u32], 0);
        for task in flow.tasks() {
            outputs += flow.outputs(task).len() as u32;
            first_output.push(outputs);
        }
        let made = objects.iter().zip(&is_read).filter(|(object, is_read)| object.maker != OUTSIDE && !**is_read);
        let out_bytes = made.map(|(object, _)| object.bytes).fold(0, u64::saturating_add);
        Problem {
            catalogue,
            graph,
            times: times.map(Iterator::collect).collect(),
            table_of: tables.table_of.clone(),
            needs: classes.map(|class| machines.iter().map(|machine| need_on(class, machine)).collect()).collect(),
            class_of: flow.tasks().map(|task: TaskId| flow.class(task, 1).0).collect(),
            objects,
            first_input,
            inputs,
            read_bytes,
            readers,
            first_output,
            out_bytes,
        }
    }

    /// How many tasks there are.
    pub fn task_count(&self) -> usize {
        self.table_of.len()
    }

    /// How many types of machines.
    pub fn types(&self) -> usize {
        self.catalogue.machines.len()
    }

    /// How long a task takes on a type, if it fits there.
    pub fn time(&self, task: u32, machine: u16) -> Option<u64> {
        self.times[self.table_of[task as usize] as usize][usize::from(machine)]
    }

    /// What a task needs on a type.
    pub fn need(&self, task: u32, machine: u16) -> Need {
        self.needs[self.class_of[task as usize] as usize][usize::from(machine)]
    }

    /// What a type has.
    pub fn has(&self, machine: u16) -> Need {
        self.catalogue.machines[usize::from(machine)].capacity()
    }

    /// How many bytes leave in the end.
    pub fn leaving_bytes(&self) -> u64 {
        self.out_bytes
    }

    /// The objects that have to come to a task.
    pub(super) fn inputs(&self, task: u32) -> &[u32] {
        &self.inputs[self.first_input[task as usize] as usize..self.first_input[task as usize + 1] as usize]
    }

    /// The objects that a task makes.
    pub(super) fn outputs(&self, task: u32) -> std::ops::Range<u32> {
        self.first_output[task as usize]..self.first_output[task as usize + 1]
    }

    /// How long it takes to bring so many bytes to an instance of a type.
    pub(super) fn moving(&self, bytes: u64, machine: u16) -> u64 {
        self.catalogue.machines[usize::from(machine)].moving(bytes)
    }

    /// How long a task waits for its data, if all of it is brought to an instance of a type.
    pub fn moving_all(&self, task: u32, machine: u16) -> u64 {
        self.moving(self.read_bytes[task as usize], machine)
    }
}
