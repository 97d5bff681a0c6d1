//! Tasks that somebody does not want any more: telling a node, and remembering what must not be done after that.

use std::collections::BTreeSet;

use throng_core::ids::{NodeId, TaskId};
use throng_core::member::Event;
use throng_core::store::Verdict;
use throng_core::workflow::Workflow;

use super::World;

/// What was cancelled, and with it whatever waited for it.
#[derive(Default)]
pub(crate) struct Unwanted {
    /// Tasks that the store has agreed to cancel.
    cancelled: BTreeSet<TaskId>,
    /// Those and all that come after them: nobody can expect them to be done.
    excused: BTreeSet<TaskId>,
    /// Those of them that could not have begun when the task before them was cancelled, and must not be done. (What comes after a task that was
    /// being done again may have had all that it reads.)
    forbidden: BTreeSet<TaskId>,
}

impl Unwanted {
    /// Whether nobody can expect a task to be done.
    pub(crate) fn excuses(&self, task: TaskId) -> bool {
        self.excused.contains(&task)
    }

    /// Checks that nothing was done that was not wanted, given what became of tasks.
    pub(crate) fn check(&self, verdict: impl Fn(TaskId) -> Verdict) -> Result<(), String> {
        if let Some(task) = self.cancelled.iter().find(|task| verdict(**task) != Verdict::Cancelled) {
            return Err(format!("{task:?} was cancelled, and became {:?}", verdict(*task)));
        }
        match self.forbidden.iter().find(|task| verdict(**task) == Verdict::Done) {
            Some(task) => Err(format!("{task:?} is done, though what it waited for was cancelled")),
            None => Ok(()),
        }
    }
}

impl World {
    /// Tells a node that a task is not wanted any more: this one, or the next that is alive.
    pub(super) fn cancel(&mut self, node: NodeId, task: TaskId) {
        let nodes = self.cluster.nodes;
        let from = (0..nodes).map(|step| NodeId(node.0.wrapping_add(step) % nodes));
        let alive = from.into_iter().find(|node| self.machines[node.index()].member.is_some());
        if let Some(node) = alive {
            self.tell_and_decide(node, Event::Cancel(task));
        }
    }

    /// The store has agreed that a task is not wanted any more.
    pub(super) fn note_cancelled(&mut self, task: TaskId) {
        self.record_cancelled(task);
        if !self.is_checked || !self.unwanted.cancelled.insert(task) {
            return;
        }
        let is_first = self.storage.memory.record(task).generation == 0;
        for task in with_descendants(&self.flow, task) {
            self.unwanted.excused.insert(task);
            if is_first && !self.was_done(task) {
                self.unwanted.forbidden.insert(task);
            }
        }
    }

    fn was_done(&self, task: TaskId) -> bool {
        self.is_done[task.index() / 64] & (1 << (task.index() % 64)) != 0
    }
}

/// A task and all that come after it.
fn with_descendants(flow: &Workflow, task: TaskId) -> BTreeSet<TaskId> {
    let (mut found, mut open) = (BTreeSet::from([task]), vec![task]);
    while let Some(task) = open.pop() {
        open.extend(flow.children(task).filter(|child| found.insert(*child)));
    }
    found
}
