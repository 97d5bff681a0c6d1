//! The store in memory: the simulator's, and the model for those that others keep.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::members::Members;
use super::objects::{EVERYBODYS, Objects};
use super::record::{Closed, NARROW, Phase, Record};
use super::{Answer, BUCKETS, Holding, Inputs, Owner, Verb, Verdict, bucket};
use crate::ids::{NodeId, ObjectId, TaskId};
use crate::kin::Kin;
use crate::time::Time;
use crate::workflow::Workflow;

/// All that the nodes of a run have in common.
#[derive(Clone, Debug)]
pub struct Memory {
    flow: Arc<Workflow>,
    kin: Arc<Kin>,
    records: Vec<Record>,
    /// Bits of the parents of tasks that have more than fit into a record.
    wide: Vec<u32>,
    /// What is known of inputs; empty if the workflow has no files.
    inputs: Vec<Packed>,
    /// Which generation of a parent a task waits for, where it is not the first.
    needs: BTreeMap<(TaskId, u32), u16>,
    objects: Objects,
    members: Members,
    open: u64,
    shares_results: bool,
}

impl Memory {
    /// Submits a workflow: `owner` says whose the tasks are that may start at once.
    pub fn submit(flow: Arc<Workflow>, kin: Arc<Kin>, owner: impl Fn(TaskId) -> Owner) -> Memory {
        let mut wide = Vec::new();
        let records = flow
            .tasks()
            .map(|task| {
                let open = flow.parent_count(task);
                let mut record = Record::new(open, if open == 0 { owner(task) } else { Owner::NOBODY });
                if open > NARROW {
                    record.closed = wide.len() as u32;
                    wide.resize(wide.len() + open.div_ceil(NARROW) as usize, 0);
                }
                record
            })
            .collect();
        let inputs =
            if kin.read_count() == 0 { Vec::new() } else { vec![Packed::from(Inputs::default()); flow.task_count()] };
        let objects = Objects::new(&kin, flow.object_count());
        let open = flow.task_count() as u64;
        Memory {
            flow,
            kin,
            records,
            wide,
            inputs,
            needs: BTreeMap::new(),
            objects,
            members: Members::default(),
            open,
            shares_results: false,
        }
    }

    /// The same, where all that tasks make is written to a file system that everybody can read, and only kept by whoever made it.
    pub fn sharing_results(mut self) -> Memory {
        self.shares_results = true;
        self
    }

    /// Says where an object from outside lies before anything runs: with a node, or where all can read it.
    pub fn bring(&mut self, object: ObjectId, bytes: u64, with: Option<Owner>) {
        self.objects.made(object, bytes, with.unwrap_or(EVERYBODYS));
        if let Some(Owner { node, .. }) = with {
            let news = Inputs { total_bytes: bytes, largest_bytes: bytes, largest: Some(object), at: Some(node) };
            for reader in self.kin.readers(object) {
                self.inputs[reader.index()].add(news, false);
            }
        }
    }

    /// The record of a task.
    pub fn record(&self, task: TaskId) -> &Record {
        &self.records[task.index()]
    }

    /// What is known of a task's inputs.
    pub fn inputs(&self, task: TaskId) -> Inputs {
        self.inputs.get(task.index()).copied().map_or_else(Inputs::default, Inputs::from)
    }

    /// The size of an object, zero if nobody has made it.
    pub fn bytes(&self, object: ObjectId) -> u64 {
        self.objects.bytes(object)
    }

    /// The nodes that have an object, as far as the store knows.
    pub fn places(&self, object: ObjectId) -> impl Iterator<Item = NodeId> + '_ {
        self.objects.places(object).map(|owner| owner.node)
    }

    /// The same, with the life in which each of them got it.
    pub fn copies(&self, object: ObjectId) -> impl Iterator<Item = Owner> + '_ {
        self.objects.places(object)
    }

    /// Whether somebody will read an object.
    pub fn is_needed(&self, object: ObjectId) -> bool {
        self.objects.is_needed(object)
    }

    /// How many tasks have no verdict.
    pub fn open_tasks(&self) -> u64 {
        self.open
    }

    /// Puts all that is in some buckets back to what it was: what a failover does.
    pub fn restore(&mut self, earlier: &Memory, is_lost: impl Fn(u32) -> bool) {
        for index in (0..self.records.len()).filter(|index| is_lost(*index as u32 % BUCKETS)) {
            let task = TaskId::at(index);
            let (before, after) = (self.records[index].phase, earlier.records[index].phase);
            self.records[index] = earlier.records[index];
            self.count(before, after);
            if !self.inputs.is_empty() {
                self.inputs[index] = earlier.inputs[index];
            }
            let parents = self.flow.parent_count(task);
            if parents > NARROW {
                let start = self.records[index].closed as usize;
                let range = start..start + parents.div_ceil(NARROW) as usize;
                self.wide[range.clone()].copy_from_slice(&earlier.wide[range]);
            }
            self.needs.retain(|(of, _), _| *of != task);
            let needs = earlier.needs.range((task, 0)..=(task, u32::MAX));
            self.needs.extend(needs.map(|(key, needs)| (*key, *needs)));
            for object in self.flow.outputs(task) {
                self.objects.restore(&earlier.objects, &self.kin, object);
            }
        }
        for object in (self.flow.made_count()..self.flow.object_count()).map(ObjectId::at) {
            if is_lost(object.0 % BUCKETS) {
                self.objects.restore(&earlier.objects, &self.kin, object);
            }
        }
        self.members.losses += 1;
    }

    /// Carries out one verb.
    pub fn apply(&mut self, now: Time, verb: &Verb) -> Answer {
        let told = |is_so| if is_so { Answer::Done } else { Answer::Refused };
        match verb {
            Verb::Start { task, owner, generation, attempt } => {
                told(self.records[task.index()].start(*owner, *generation, *attempt))
            }
            Verb::Settle { task, owner, generation, verdict, outputs } => {
                let is_settled = self.change(*task, |record| record.settle(*owner, *generation, *verdict));
                if is_settled && *verdict == Verdict::Done {
                    for (object, bytes) in outputs {
                        self.objects.made(*object, *bytes, *owner);
                        if self.shares_results {
                            self.objects.copied(*object, EVERYBODYS);
                        }
                    }
                }
                told(is_settled)
            }
            Verb::Close { child, position, generation, verdict, closer, news } => {
                self.close(*child, *position, *generation, *verdict, *closer, *news)
            }
            Verb::Release { object, reader, generation } => {
                if self.objects.release(&self.kin, *object, *reader, *generation)
                    && self.flow.producer(*object).is_some()
                {
                    Answer::Unneeded(self.places(*object).collect())
                } else {
                    Answer::Done
                }
            }
            Verb::Retain { object, reader, generation } => {
                self.objects.retain(&self.kin, *object, *reader, *generation);
                Answer::Done
            }
            Verb::Deliver { task, owner, generation } => told(self.records[task.index()].deliver(*owner, *generation)),
            Verb::HandOver { task, from, to, tenure } => {
                told(self.records[task.index()].hand_over(*from, *to, *tenure))
            }
            Verb::Verify { task, owner, tenure } => told(self.record(*task).is_held(*owner, *tenure)),
            Verb::Await { task, owner, generation, position, needs } => {
                let (record, bits) = parts(&mut self.records, &mut self.wide, &self.flow, *task);
                let waits = record.wait_again(bits, *owner, *generation, *position);
                if waits {
                    self.needs.insert((*task, *position), *needs);
                }
                told(waits)
            }
            Verb::Reopen { task, generation, by } => {
                let reopened = self.change(*task, |record| record.reopen(*generation, *by));
                let Record { tries, tenure, .. } = *self.record(*task);
                Answer::Reopened { reopened, tries, tenure, inputs: self.inputs(*task) }
            }
            Verb::Cancel { task, by } => {
                if !self.change(*task, |record| record.cancel(*by)) {
                    return Answer::Refused;
                }
                let Record { generation, origin, .. } = *self.record(*task);
                Answer::Cancelled { generation, holder: Some(NodeId(origin)).filter(|it| *it != Owner::NOBODY.node) }
            }
            Verb::Locate { object, by } => {
                let made_by = self.flow.producer(*object).map(|producer| self.record(producer));
                // While it is made again, what is missing is what the generation before had made.
                let generation = made_by.map_or(0, |record| match record.phase {
                    Phase::Settled | Phase::Delivered => record.generation,
                    _ => record.generation.saturating_sub(1),
                });
                let (bytes, places) = (self.objects.bytes(*object), self.objects.told(*object, *by));
                Answer::Located { bytes, generation, places }
            }
            Verb::Copied { object, owner } => {
                self.objects.copied(*object, *owner);
                Answer::Done
            }
            Verb::Drop { object, owner, dead } => {
                let is_result = self.is_result(*object);
                told(self.objects.drop_copy(*object, *owner, is_result, |place| is_among(dead, place)))
            }
            Verb::Missing { object, owner } => {
                self.objects.lose(*object, |place| place.node == owner.node && place.boot <= owner.boot);
                Answer::Done
            }
            Verb::Owned { bucket, owner } => {
                let tasks = self.holdings(*bucket, |record| {
                    record.owner == *owner && !matches!(record.phase, Phase::Waiting | Phase::Delivered)
                });
                Answer::Holdings { tasks, lost: Box::default(), given: Box::default() }
            }
            Verb::Claim { bucket, dead, by } => self.claim(*bucket, dead, *by),
            Verb::Settled { bucket } => {
                Answer::Settled(self.holdings(*bucket, |record| record.phase >= Phase::Settled))
            }
            Verb::Join { owner } => told(self.members.join(now, *owner)),
            Verb::Renew { owner, seen } => {
                self.members.renew(now, *owner, *seen).map_or(Answer::Refused, Answer::Members)
            }
            Verb::Bury { dead, by } => told(self.members.bury(*dead, *by)),
        }
    }

    /// Whether an object is what somebody wants of the whole run: nobody in it reads it.
    fn is_result(&self, object: ObjectId) -> bool {
        self.flow.producer(object).is_some() && self.kin.reads(object).is_empty()
    }

    fn change<T>(&mut self, task: TaskId, change: impl FnOnce(&mut Record) -> T) -> T {
        let record = &mut self.records[task.index()];
        let before = record.phase;
        let told = change(record);
        let after = record.phase;
        self.count(before, after);
        told
    }

    fn count(&mut self, before: Phase, after: Phase) {
        match (before >= Phase::Settled, after >= Phase::Settled) {
            (false, true) => self.open -= 1,
            (true, false) => self.open += 1,
            _ => {}
        }
    }

    fn close(
        &mut self,
        child: TaskId,
        position: u32,
        generation: u16,
        verdict: Verdict,
        closer: Owner,
        news: Inputs,
    ) -> Answer {
        let needs = if self.needs.is_empty() { None } else { self.needs.get(&(child, position)).copied() };
        let (record, bits) = parts(&mut self.records, &mut self.wide, &self.flow, child);
        let (before, open) = (record.phase, record.open);
        let closed = record.close(bits, position, generation, needs.unwrap_or(0), verdict, closer);
        let record = *record;
        self.count(before, record.phase);
        if record.open < open
            && let Some(inputs) = self.inputs.get_mut(child.index())
        {
            inputs.add(news, needs.is_some());
        }
        let tells = matches!(closed, Closed::Ready | Closed::Skipped);
        let inputs = if tells { self.inputs(child) } else { Inputs::default() };
        let Record { generation, tries, tenure, .. } = record;
        Answer::Closed { closed, generation, tries, tenure, inputs }
    }

    fn claim(&mut self, of: u32, dead: &[Owner], by: Owner) -> Answer {
        let is_dead = |owner| is_among(dead, owner);
        let mut lost = Vec::new();
        for index in (of as usize..self.records.len()).step_by(BUCKETS as usize) {
            let task = TaskId::at(index);
            let (record, bits) = parts(&mut self.records, &mut self.wide, &self.flow, task);
            let before = record.phase;
            if is_dead(record.owner) {
                record.claim(bits, by);
            }
            let after = record.phase;
            self.count(before, after);
            let record = self.records[index];
            for object in self.flow.outputs(task) {
                self.objects.lose(object, is_dead);
                let is_gone = self.objects.places(object).next().is_none();
                let was_made = record.phase >= Phase::Settled && record.verdict == Verdict::Done;
                if is_gone && was_made && self.is_result(object) && lost.last() != Some(&(task, record.generation)) {
                    lost.push((task, record.generation));
                }
            }
        }
        // What comes from outside has no producer to go with: its own number says in which bucket it is.
        let made = self.flow.made_count();
        let first = made + (of as usize + BUCKETS as usize - made % BUCKETS as usize) % BUCKETS as usize;
        for object in (first..self.flow.object_count()).step_by(BUCKETS as usize) {
            self.objects.lose(ObjectId::at(object), is_dead);
        }
        let is_gone = |node| dead.iter().any(|it| it.node == node);
        let given = self.holdings(of, |record| record.owner != by && record.is_orphan(is_gone));
        let given = given.into_iter().map(|holding| (self.record(holding.task).owner, holding)).collect();
        let tasks = self
            .holdings(of, |record| record.owner == by && !matches!(record.phase, Phase::Waiting | Phase::Delivered));
        Answer::Holdings { tasks, lost: lost.into(), given }
    }

    fn holdings(&self, of: u32, counts: impl Fn(&Record) -> bool) -> Box<[Holding]> {
        let tasks = (of as usize..self.records.len()).step_by(BUCKETS as usize);
        let held = tasks.filter(|index| counts(&self.records[*index])).map(|index| {
            let (task, record) = (TaskId::at(index), &self.records[index]);
            debug_assert_eq!(bucket(task), of);
            Holding {
                task,
                phase: record.phase,
                generation: record.generation,
                tries: record.tries,
                tenure: record.tenure,
                verdict: record.verdict,
                inputs: self.inputs(task),
                outputs: if record.phase >= Phase::Settled {
                    self.flow.outputs(task).map(|object| (object, self.objects.bytes(object))).collect()
                } else {
                    Box::default()
                },
            }
        });
        held.collect()
    }
}

/// What is known of a task's inputs, in a quarter less room: there are as many of these as tasks.
#[derive(Clone, Copy, Debug)]
struct Packed {
    total_bytes: u64,
    largest_bytes: u64,
    /// The highest number stands for nothing.
    largest: ObjectId,
    at: NodeId,
}

impl Packed {
    fn add(&mut self, news: Inputs, again: bool) {
        let mut inputs = Inputs::from(*self);
        inputs.add(news, again);
        *self = inputs.into();
    }
}

impl From<Inputs> for Packed {
    fn from(inputs: Inputs) -> Packed {
        let Inputs { total_bytes, largest_bytes, largest, at } = inputs;
        let (largest, at) = (largest.unwrap_or(ObjectId(u32::MAX)), at.unwrap_or(NodeId(u32::MAX)));
        Packed { total_bytes, largest_bytes, largest, at }
    }
}

impl From<Packed> for Inputs {
    fn from(packed: Packed) -> Inputs {
        let Packed { total_bytes, largest_bytes, largest, at } = packed;
        let (largest, at) = (Some(largest).filter(|it| it.0 != u32::MAX), Some(at).filter(|it| it.0 != u32::MAX));
        Inputs { total_bytes, largest_bytes, largest, at }
    }
}

/// Whether a life is one of these, or before one of these.
fn is_among(dead: &[Owner], owner: Owner) -> bool {
    dead.iter().any(|it| it.node == owner.node && it.boot >= owner.boot)
}

/// A record and the bits of its parents.
fn parts<'a>(
    records: &'a mut [Record],
    wide: &'a mut [u32],
    flow: &Workflow,
    task: TaskId,
) -> (&'a mut Record, &'a mut [u32]) {
    let record = &mut records[task.index()];
    let parents = flow.parent_count(task);
    if parents > NARROW {
        let start = record.closed as usize;
        return (record, &mut wide[start..start + parents.div_ceil(NARROW) as usize]);
    }
    (record, &mut [])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::{Format, NoFiles};

    #[test]
    fn a_failover_loses_what_was_written_of_objects_from_outside() {
        let text = "tasks: { a: { run: x, in: e } }";
        let flow = Arc::new(Workflow::parse(text, Format::Yaml, "test", &NoFiles).unwrap());
        let kin = Arc::new(Kin::of(&flow));
        let [ann, bob] = [0, 1].map(|node| Owner { node: NodeId(node), boot: 1 });
        let mut memory = Memory::submit(flow, kin, |_| ann);
        let (object, reader) = (ObjectId(0), TaskId(0));
        memory.bring(object, 5, Some(ann));
        let earlier = memory.clone();
        memory.apply(Time::START, &Verb::Copied { object, owner: bob });
        memory.apply(Time::START, &Verb::Drop { object, owner: ann, dead: [].into() });
        memory.apply(Time::START, &Verb::Release { object, reader, generation: 0 });
        let known = |memory: &Memory| (memory.places(object).collect::<Vec<_>>(), memory.is_needed(object));
        assert_eq!(known(&memory), (vec![bob.node], false));
        let mut other = memory.clone();
        other.restore(&earlier, |bucket| bucket != object.0);
        assert_eq!(known(&other), (vec![bob.node], false), "what is elsewhere stays");
        memory.restore(&earlier, |bucket| bucket == object.0);
        assert_eq!(known(&memory), (vec![ann.node], true));
    }
}
