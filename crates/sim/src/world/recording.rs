//! What a report is told of a run: the same entries as a real run writes, with the slots of all nodes counted through.
//!
//! A real run has one node, which says what it has decided. Here there are many, and what happens to a task between them is seen
//! where all of it comes together: in the answers of the store.

use std::collections::BTreeSet;

use throng_core::ids::{NodeId, ObjectId, SlotId, TaskId};
use throng_core::member::Member;
use throng_core::node::{self, End, KillReason, ReadyTask};
use throng_core::pack::Change;
use throng_core::store::{Answer, Closed, Phase, Reopened, Verb};
use throng_core::time::Time;
use throng_core::trace::{self, Entry};

use super::{Running, World};
use crate::work::Work;

/// The node whose changes of how many tasks it runs at once are recorded. Each node learns for itself, and an entry does not say whose it is: those
/// of all nodes would look like one that cannot make up its mind.
pub const LEARNER: NodeId = NodeId(0);

/// What a recorder will have to be told, or has been told already.
#[derive(Default)]
pub(super) struct Untold {
    /// Tasks whose attempt ended with its node, until somebody steps in.
    orphans: BTreeSet<TaskId>,
    /// When tasks will be tried again.
    pauses: BTreeSet<Time>,
    /// Tasks that have failed for good, or were cancelled.
    failed: BTreeSet<TaskId>,
}

impl World {
    pub(super) fn record(&mut self, entry: impl FnOnce(&World) -> Entry) {
        if self.recorder.is_some() {
            let (now, entry) = (self.now, entry(self));
            if let Some(recorder) = &mut self.recorder {
                recorder(now, &entry);
            }
        }
    }

    /// The number of a slot among those of all nodes.
    pub(super) fn slot_of_all(&self, node: NodeId, slot: SlotId) -> SlotId {
        SlotId(self.cluster.first_slot(node) + slot.0)
    }

    /// Records that a node runs another number of tasks.
    pub(super) fn record_width(&mut self, node: NodeId, change: Change) {
        if node == LEARNER {
            self.record(|_| Entry::Command(node::Command::Width(change)));
        }
    }

    /// Records that an attempt has ended.
    pub(super) fn record_end(
        &mut self,
        node: NodeId,
        slot: SlotId,
        running: Running,
        outcome: trace::Outcome,
        end: End,
    ) {
        let Running { task, attempt, started } = running;
        self.record(|world| {
            let slot = world.slot_of_all(node, slot);
            let (usage, log, ended) = (trace::Usage::default(), (0, 0), world.now);
            let staged = started;
            Entry::Attempt(trace::Attempt { task, attempt, slot, staged, started, ended, outcome, usage, log })
        });
        self.record(|world| Entry::Event(node::Event::Finished { slot: world.slot_of_all(node, slot), end }));
        if end == End::Done {
            self.record(|_| Entry::Command(node::Command::Complete { task, attempt }));
        }
    }

    /// Records that a node has ended an attempt.
    pub(super) fn record_killed(&mut self, node: NodeId, slot: SlotId, running: Running, why: KillReason) {
        self.record_end(node, slot, running, why.into(), End::Killed);
    }

    /// Records that an attempt has ended with its node.
    pub(super) fn record_died(&mut self, node: NodeId, slot: SlotId, running: Running) {
        if self.recorder.is_none() {
            return;
        }
        let Running { task, attempt, .. } = running;
        self.record_end(node, slot, running, trace::Outcome::NodeDied, End::Killed);
        self.record(|_| Entry::Command(node::Command::Interrupt { task, attempt, retry_at: None }));
        self.untold.orphans.insert(task);
    }

    /// Records when a node will try a task again, if it will.
    pub(super) fn record_pause(&mut self, node: NodeId, running: Running) {
        if self.recorder.is_none() {
            return;
        }
        let Running { task, attempt, .. } = running;
        let member = self.machines[node.index()].member.as_ref();
        if let Some(time) = member.map(Member::node).and_then(|node| node.tried_again_at(task)) {
            self.untold.pauses.insert(time);
            self.record(|_| Entry::Command(node::Command::Interrupt { task, attempt, retry_at: Some(time) }));
        }
    }

    /// Records that tasks may be tried again, if some may.
    pub(super) fn record_wake(&mut self) {
        if self.untold.pauses.first().is_some_and(|time| *time <= self.now) {
            self.untold.pauses.retain(|time| *time > self.now);
            self.record(|_| Entry::Event(node::Event::Wake));
        }
    }

    /// Records that a task has failed for good, and why if it has not even begun.
    pub(super) fn record_failed(&mut self, task: TaskId) {
        if self.recorder.is_none() || !self.untold.failed.insert(task) {
            return;
        }
        let attempt = self.storage.memory.record(task).tries.last;
        if attempt == 0 {
            self.record(|world| Entry::Command(world.why_never_begun(task)));
        }
        self.record(|_| Entry::Command(node::Command::Fail { task, attempt }));
    }

    /// Records that a task is not wanted any more.
    pub(super) fn record_cancelled(&mut self, task: TaskId) {
        if self.recorder.is_some() && self.untold.failed.insert(task) {
            self.record(|_| Entry::Skipped(task));
        }
    }

    fn why_never_begun(&self, task: TaskId) -> node::Command {
        let is_lost = |object: &ObjectId| self.storage.memory.places(*object).next().is_none();
        if let Some(object) = self.flow.inputs(task).find(is_lost) {
            return node::Command::Lost { task, object };
        }
        let work = Work::new(&self.flow, self.cluster.variation, self.cluster.seed);
        let inputs = self.flow.inputs(task).map(|object| self.storage.memory.bytes(object));
        let outputs = self.flow.outputs(task).map(|object| work.bytes(object));
        node::Command::NeverFits { task, needed_bytes: inputs.chain(outputs).fold(0, u64::saturating_add) }
    }

    /// Records what an answer of the store means for tasks.
    pub(super) fn record_answer(&mut self, verb: &Verb, answer: &Answer) {
        match (verb, answer) {
            (Verb::Close { child, .. }, Answer::Closed { closed: Closed::Ready, .. }) => self.record_ready(*child),
            (Verb::Close { child, .. }, Answer::Closed { closed: Closed::Skipped, .. }) => {
                self.record(|_| Entry::Skipped(*child));
            }
            (Verb::Reopen { task, .. }, Answer::Reopened { reopened: Reopened::Yours, .. }) => self.record_ready(*task),
            (Verb::Await { task, position, .. }, Answer::Done) => {
                let maker = |object: &ObjectId| {
                    let producer = self.flow.producer(*object);
                    producer.and_then(|producer| self.kin.position(&self.flow, producer, *task)) == Some(*position)
                };
                let object = self.flow.inputs(*task).find(maker);
                if let Some(object) = object {
                    self.record(|_| Entry::Command(node::Command::Lost { task: *task, object }));
                }
            }
            (Verb::Claim { .. }, Answer::Holdings { tasks, .. }) => {
                for holding in tasks {
                    match holding.phase {
                        _ if !self.untold.orphans.remove(&holding.task) => {}
                        Phase::Settled => self.record_failed(holding.task),
                        _ => self.record_ready(holding.task),
                    }
                }
            }
            _ => {}
        }
    }

    /// Records a task that has become ready.
    fn record_ready(&mut self, task: TaskId) {
        self.record(|world| {
            let record = world.storage.memory.record(task);
            let (attempt, generation) = (record.tries.last.saturating_add(1), record.generation);
            let excused = record.tries.excused;
            let (class, priority) = (world.flow.class(task, attempt), world.flow.priority(task));
            let input_bytes = world.storage.memory.inputs(task).total_bytes;
            Entry::Event(node::Event::Ready(ReadyTask {
                task,
                class,
                priority,
                attempt,
                excused,
                generation,
                input_bytes,
            }))
        });
    }
}
