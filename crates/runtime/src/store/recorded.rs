//! What the journal says about the tasks of a workflow as it is written now.

use std::collections::HashMap;
use std::path::Path;

use throng_core::ids::{ObjectId, TaskId};
use throng_core::stale::{InputsSeen, Made, Memory};
use throng_core::workflow::Workflow;

use super::journal::{self, Done, Found, JournalError, PathKey, Pending, UNFINISHED};

/// The last record of every task, in arrays.
#[derive(Debug, Default)]
pub struct Recorded {
    /// By task; empty when nothing is recorded at all.
    memory: Vec<Memory>,
    /// By object that a task makes; empty when nothing is recorded at all.
    made: Vec<Option<Made>>,
    /// What the file was like.
    pub found: Found,
    /// Records of tasks that this workflow does not have: another workflow's, or an older text's.
    foreign: HashMap<u64, ForeignRecord>,
    /// Records that are the last of their task.
    live: u64,
}

#[derive(Debug)]
struct ForeignRecord {
    task: u32,
    definition: u64,
    inputs: InputsSeen,
    outputs: Vec<(PathKey, Made)>,
}

/// Below this, a journal is too small to be worth rewriting.
const COMPACT_FROM_BYTES: u64 = 4 << 20;

impl Recorded {
    /// Reads a journal and lays it beside a workflow.
    pub fn read(path: &Path, flow: &Workflow) -> Result<Recorded, JournalError> {
        let mut reader = Reading { flow, recorded: Recorded::default(), by_key: None };
        let found = journal::read(path, |done| reader.take(&done))?;
        let mut recorded = reader.recorded;
        recorded.found = found;
        recorded.live = recorded.foreign.len() as u64
            + recorded.memory.iter().filter(|memory| **memory != Memory::None).count() as u64;
        Ok(recorded)
    }

    /// Makes tasks count as not done. That Throng made their files is still known.
    pub fn forget(&mut self, is_forgotten: impl Fn(TaskId) -> bool) {
        for (number, memory) in self.memory.iter_mut().enumerate() {
            if *memory != Memory::None && is_forgotten(TaskId::at(number)) {
                *memory = Memory::Unfinished;
            }
        }
    }

    /// Frames that say of every task that has to be done again that it has.
    pub fn unfinished_frames(&self, flow: &Workflow) -> Vec<u8> {
        let mut pending = Pending::default();
        for task in flow.tasks().filter(|task| self.memory(*task) == Memory::Unfinished) {
            let outputs: Vec<(PathKey, Made)> = self.made_by(flow, task).collect();
            pending.add(task.0, flow.name_key(task), UNFINISHED, InputsSeen::default(), &outputs);
        }
        pending.take()
    }

    /// Whether no task of this workflow is on record.
    pub fn is_empty(&self) -> bool {
        self.memory.is_empty()
    }

    /// What is remembered of a task.
    pub fn memory(&self, task: TaskId) -> Memory {
        self.memory.get(task.index()).copied().unwrap_or_default()
    }

    /// What was recorded of an object when it was made.
    pub fn made(&self, object: ObjectId) -> Option<Made> {
        self.made.get(object.index()).copied().flatten()
    }

    /// What a task is recorded to have made, as a record has it.
    fn made_by<'a>(&'a self, flow: &'a Workflow, task: TaskId) -> impl Iterator<Item = (PathKey, Made)> + 'a {
        let recorded = |object| Some((PathKey::of(flow.object_name(object)), self.made(object)?));
        flow.outputs(task).filter_map(recorded)
    }

    /// Whether most of the journal is records that later ones have replaced, or damage.
    pub fn is_worth_compacting(&self) -> bool {
        let replaced = self.found.records - self.live;
        self.found.damaged_bytes > 0 || self.found.whole_bytes > COMPACT_FROM_BYTES && replaced > self.live
    }

    /// The records that still count, as frames of a new journal.
    pub fn compacted(&self, flow: &Workflow) -> Vec<u8> {
        let mut pending = Pending::default();
        let mut outputs = Vec::new();
        for task in flow.tasks() {
            let (definition, inputs) = match self.memory(task) {
                Memory::None => continue,
                Memory::Same(inputs) => (flow.definition_hash(task), inputs),
                // Has to run in any case; what it made is still known to be Throng's.
                Memory::Different | Memory::Unfinished => (UNFINISHED, InputsSeen::default()),
            };
            outputs.clear();
            outputs.extend(self.made_by(flow, task));
            pending.add(task.0, flow.name_key(task), definition, inputs, &outputs);
        }
        self.add_foreign(&mut pending);
        pending.take()
    }

    /// Only the records of other workflows, as frames.
    pub fn foreign_frames(&self) -> Vec<u8> {
        let mut pending = Pending::default();
        self.add_foreign(&mut pending);
        pending.take()
    }

    fn add_foreign(&self, pending: &mut Pending) {
        let mut foreign: Vec<(&u64, &ForeignRecord)> = self.foreign.iter().collect();
        foreign.sort_unstable_by_key(|(key, _)| **key);
        for (key, record) in foreign {
            pending.add(record.task, *key, record.definition, record.inputs, &record.outputs);
        }
    }
}

struct Reading<'a> {
    flow: &'a Workflow,
    recorded: Recorded,
    /// Tasks by key, made only when a record's number does not lead to its task.
    by_key: Option<HashMap<u64, TaskId>>,
}

impl Reading<'_> {
    fn take(&mut self, done: &Done<'_>) {
        let Some(task) = self.find(done) else {
            let outputs = done.outputs.iter().collect();
            let record = ForeignRecord { task: done.task, definition: done.definition, inputs: done.inputs, outputs };
            self.recorded.foreign.insert(done.key, record);
            return;
        };
        if self.recorded.memory.is_empty() {
            self.recorded.memory = vec![Memory::None; self.flow.task_count()];
            self.recorded.made = vec![None; self.flow.object_count()];
        }
        self.recorded.memory[task.index()] = match done.definition {
            UNFINISHED => Memory::Unfinished,
            definition if definition == self.flow.definition_hash(task) => Memory::Same(done.inputs),
            _ => Memory::Different,
        };
        // Even a task that is written differently now has made what it made; but under the same names only.
        for (at, object) in self.flow.outputs(task).enumerate() {
            let path = PathKey::of(self.flow.object_name(object));
            let same_place = done.outputs.get(at).filter(|(recorded, _)| *recorded == path);
            let found = same_place.or_else(|| done.outputs.iter().find(|(recorded, _)| *recorded == path));
            self.recorded.made[object.index()] = found.map(|(_, made)| made);
        }
    }

    fn find(&mut self, done: &Done<'_>) -> Option<TaskId> {
        let hinted = TaskId(done.task);
        if hinted.index() < self.flow.task_count() && self.flow.name_key(hinted) == done.key {
            return Some(hinted);
        }
        let flow = self.flow;
        let by_key = self.by_key.get_or_insert_with(|| flow.tasks().map(|task| (flow.name_key(task), task)).collect());
        by_key.get(&done.key).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Journal;
    use throng_core::workflow::{Format, NoFiles};

    fn flow(text: &str) -> Workflow {
        Workflow::parse(text, Format::Yaml, "test", &NoFiles).unwrap()
    }

    #[test]
    fn records_follow_their_task_when_numbers_shift() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        let before = flow("tasks: { t: { foreach: { i: 1..3 }, run: 'x {i}', out: 'o{i}' }, gone: { run: y } }");
        let mut pending = Pending::default();
        for task in before.tasks() {
            let made =
                |object| (PathKey::of(before.object_name(object)), Made { content: task.0.into(), ..Made::default() });
            let outputs: Vec<_> = before.outputs(task).map(made).collect();
            let (key, definition) = (before.name_key(task), before.definition_hash(task));
            pending.add(task.0, key, definition, InputsSeen::default(), &outputs);
        }
        Journal::open(&path, 0).unwrap().write(&pending.take()).unwrap();

        let after = flow("tasks: { new: { run: z }, t: { foreach: { i: 2..4 }, run: 'x {i}', out: 'o{i}' } }");
        let recorded = Recorded::read(&path, &after).unwrap();
        let memory: Vec<bool> = after.tasks().map(|task| recorded.memory(task) != Memory::None).collect();
        assert_eq!(memory, [false, true, true, false]);
        assert_eq!(recorded.made(ObjectId(0)).unwrap().content, 1);

        let compacted = directory.path().join("compacted");
        Journal::open(&compacted, 0).unwrap().write(&recorded.compacted(&after)).unwrap();
        let again = Recorded::read(&compacted, &before).unwrap();
        assert!(before.tasks().all(|task| again.memory(task) != Memory::None), "nothing is lost by compacting");
    }
}
