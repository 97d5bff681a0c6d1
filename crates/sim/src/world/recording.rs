//! What a report is told of a run: the same entries as a real run writes, with the slots of all nodes counted through.

use throng_core::ids::{NodeId, SlotId, TaskId};
use throng_core::node::{self, End, ReadyTask};
use throng_core::time::Time;
use throng_core::trace::{self, Entry};

use super::World;

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

    pub(super) fn record_end(&mut self, node: NodeId, slot: SlotId, task: TaskId, started: Time) {
        self.record(|world| {
            let slot = world.slot_of_all(node, slot);
            let (outcome, usage, log) = (trace::Outcome::Done, trace::Usage::default(), (0, 0));
            let ended = world.now;
            Entry::Attempt(trace::Attempt {
                task,
                attempt: 1,
                slot,
                staged: started,
                started,
                ended,
                outcome,
                usage,
                log,
            })
        });
        self.record(|world| {
            Entry::Event(node::Event::Finished { slot: world.slot_of_all(node, slot), end: End::Done })
        });
        self.record(|_| Entry::Command(node::Command::Complete { task, attempt: 1 }));
    }

    /// Records a task that has become ready.
    pub(super) fn record_ready(&mut self, task: TaskId) {
        self.record(|world| {
            let (class, priority) = (world.flow.class(task, 1), world.flow.priority(task));
            let input_bytes = world.storage.memory.inputs(task).total_bytes;
            let ready = ReadyTask { task, class, priority, attempt: 1, generation: 0, input_bytes };
            Entry::Event(node::Event::Ready(ready))
        });
    }
}
