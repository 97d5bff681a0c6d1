//! Who is related to whom, seen from the other side: the place of a parent among a task's parents, and the readers of an
//! object.
//!
//! A workflow keeps only what an embedded run needs. Nodes that share a run also have to say *which* parent has
//! closed, so that saying it twice does no harm, and who still needs an object. Both follow from the workflow, are
//! computed once per process, and cost four bytes per edge.

use crate::ids::{ObjectId, TaskId};
use crate::workflow::Workflow;

/// The other side of a workflow's edges.
#[derive(Clone, Debug, Default)]
pub struct Kin {
    /// For each edge, in the order of the parents and their children: the place of the parent among the child's.
    positions: Vec<u32>,
    /// Where in `readers` those of an object begin, and one more for the end; empty if nobody reads anything.
    reader_start: Vec<u32>,
    readers: Vec<u32>,
}

impl Kin {
    /// The relations of a workflow.
    pub fn of(flow: &Workflow) -> Kin {
        let mut seen = vec![0u32; if flow.edge_count() == 0 { 0 } else { flow.task_count() }];
        let mut positions = Vec::with_capacity(flow.edge_count());
        for task in flow.tasks() {
            for child in flow.children(task) {
                let position = &mut seen[child.index()];
                positions.push(*position);
                *position += 1;
            }
        }
        drop(seen);
        let (reader_start, readers) = if flow.has_inputs() { readers(flow) } else { Default::default() };
        Kin { positions, reader_start, readers }
    }

    /// The children of a task, each with the task's place among its parents.
    pub fn children<'a>(&'a self, flow: &'a Workflow, task: TaskId) -> impl Iterator<Item = (TaskId, u32)> + 'a {
        let positions = &self.positions[flow.edges(task)];
        flow.children(task).zip(positions.iter().copied())
    }

    /// The place of a task among the parents of one of its children.
    pub fn position(&self, flow: &Workflow, parent: TaskId, child: TaskId) -> Option<u32> {
        let at = flow.child_numbers(parent).binary_search(&child.0).ok()?;
        Some(self.positions[flow.edges(parent).start + at])
    }

    /// The tasks that read an object, ascending.
    pub fn readers(&self, object: ObjectId) -> impl ExactSizeIterator<Item = TaskId> + '_ {
        self.readers[self.reads(object)].iter().copied().map(TaskId)
    }

    /// The numbers that belong to the readings of an object.
    pub fn reads(&self, object: ObjectId) -> std::ops::Range<usize> {
        if self.reader_start.is_empty() {
            return 0..0;
        }
        self.reader_start[object.index()] as usize..self.reader_start[object.index() + 1] as usize
    }

    /// The number of one reading, if the task reads the object.
    pub fn read_of(&self, object: ObjectId, reader: TaskId) -> Option<usize> {
        let range = self.reads(object);
        let at = self.readers[range.clone()].binary_search(&reader.0).ok()?;
        Some(range.start + at)
    }

    /// How many readings there are.
    pub fn read_count(&self) -> usize {
        self.readers.len()
    }
}

/// The readers of every object, one after the other, and where those of each begin.
fn readers(flow: &Workflow) -> (Vec<u32>, Vec<u32>) {
    // Each entry counts to where its object's readers end, and then goes back to where they begin as they are written, the last first.
    let mut start = vec![0u32; flow.object_count() + 1];
    for object in flow.tasks().flat_map(|task| flow.inputs(task)) {
        start[object.index()] += 1;
    }
    let mut end = 0;
    for count in &mut start {
        end += *count;
        *count = end;
    }
    let mut readers = vec![0u32; end as usize];
    for task in flow.tasks().rev() {
        for object in flow.inputs(task) {
            let place = &mut start[object.index()];
            *place -= 1;
            readers[*place as usize] = task.0;
        }
    }
    (start, readers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::{Format, NoFiles};

    #[test]
    fn parents_have_places_and_objects_have_readers() {
        let text = "tasks: { a: { run: x, out: [o, p] }, b: { run: x, out: q }, c: { run: x, in: [q, o] }, d: { run: x, in: [o, r], after: [c] } }";
        let flow = Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap();
        let kin = Kin::of(&flow);
        let children = |task| kin.children(&flow, TaskId(task)).map(|(child, at)| (child.0, at)).collect::<Vec<_>>();
        assert_eq!(children(0), [(2, 0), (3, 0)]);
        assert_eq!(children(1), [(2, 1)]);
        assert_eq!(children(2), [(3, 1)]);
        assert_eq!(kin.position(&flow, TaskId(2), TaskId(3)), Some(1));
        assert_eq!(kin.position(&flow, TaskId(1), TaskId(3)), None);
        let o = flow.outputs(TaskId(0)).next().unwrap();
        assert_eq!(kin.readers(o).collect::<Vec<_>>(), [TaskId(2), TaskId(3)]);
        assert_eq!(kin.read_count(), 4);
        assert!(kin.read_of(o, TaskId(3)).is_some() && kin.read_of(o, TaskId(1)).is_none());
    }
}
