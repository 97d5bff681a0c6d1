//! Letting go of tasks: to other nodes, or because nobody wants them any more.

use super::stage::Stage;
use super::{Command, KillReason, Node, Policies, ReadyTask, Taker};
use crate::ids::{SlotId, TaskId};
use crate::time::Time;

impl Node {
    /// Shares up to so many tasks of the local queue, those that it would run last; says how many.
    pub fn share_local(&mut self, count: usize) -> usize {
        let Policies { local, shared, .. } = &mut self.policies;
        let given = local.give(count, &|_| true);
        let moved = given.len();
        given.into_iter().for_each(|task| shared.push(task));
        moved
    }

    /// Gives up to so many of those away, the ones that it would run last.
    pub fn give(&mut self, count: usize, taker: &Taker<'_>) -> Vec<ReadyTask> {
        let Taker { can_run, also_kept } = *taker;
        let mut given = self.stage.as_mut().map_or_else(Vec::new, |stage| stage.give_parked(count, also_kept, can_run));
        given.iter().for_each(|ready| self.left(ready.task));
        let queued = self.policies.shared.give(count - given.len(), can_run);
        queued.iter().for_each(|ready| self.dequeued(ready.task, false, true));
        given.extend(queued);
        self.leave_out_forgotten(given)
    }

    /// Gives away all that is in a queue.
    pub fn take_queued(&mut self) -> Vec<ReadyTask> {
        let mut queued = self.policies.local.give(usize::MAX, &|_| true);
        queued.extend(self.policies.shared.give(usize::MAX, &|_| true));
        queued.iter().for_each(|ready| self.dequeued(ready.task, false, true));
        self.leave_out_forgotten(queued)
    }

    fn leave_out_forgotten(&mut self, mut tasks: Vec<ReadyTask>) -> Vec<ReadyTask> {
        if self.forgotten.is_empty() {
            return tasks;
        }
        tasks.retain_mut(|ready| {
            if !self.forgotten.remove(&ready.task) {
                return true;
            }
            let again = self.come_again.remove(&ready.task);
            again.inspect(|(again, _)| *ready = *again).is_some()
        });
        tasks
    }

    /// Tasks that have their data and wait for a slot, from the last to the first: which, whether others may have it, how many
    /// are before it, and how many bytes it reads.
    pub fn prepared_backwards(&self) -> impl Iterator<Item = (ReadyTask, bool, usize, u64)> + '_ {
        self.stage.iter().flat_map(Stage::prepared_backwards)
    }

    /// Gives a task away that waits for a slot.
    pub fn give_staged(&mut self, task: TaskId, out: &mut Vec<Command>) -> Option<ReadyTask> {
        let given = self.stage.as_mut()?.give_up(&self.flow, task, out);
        self.left(task);
        given
    }

    /// Gives away all that has not begun.
    pub fn take_waiting(&mut self, out: &mut Vec<Command>) -> Vec<ReadyTask> {
        let mut waiting = self.take_queued();
        waiting.extend(std::mem::take(&mut self.retries).into_values().map(|(ready, _)| ready));
        waiting.extend(self.take_aside());
        if let Some(stage) = &mut self.stage {
            for task in stage.task_ids() {
                waiting.extend(stage.give_up(&self.flow, task, out));
            }
        }
        waiting.iter().for_each(|ready| self.left(ready.task));
        waiting
    }

    /// Forgets a task that nobody wants any more, wherever it waits; ends it if it runs.
    pub fn forget(&mut self, now: Time, task: TaskId, out: &mut Vec<Command>) {
        self.expect_no_more(task);
        let slot = (0..self.limits.slots).map(SlotId).find(|slot| self.task_in(*slot) == Some(task));
        if let Some(slot) = slot {
            self.kill(now, slot, KillReason::Stop, false, out);
            // Whatever else it was to end for, it is not tried again.
            if let Some(running) = &mut self.slots[slot.index()] {
                running.killed = Some(KillReason::Stop);
                running.is_forgotten = true;
            }
        } else if let Some(at) = self.retries.keys().find(|(_, waiting)| *waiting == task).copied() {
            self.retries.remove(&at);
        } else if self.forget_aside(task) {
            self.left(task);
        } else if self.stage.as_mut().and_then(|stage| stage.give_up(&self.flow, task, out)).is_none() {
            self.forgotten.insert(task);
            self.come_again.remove(&task);
        } else {
            self.left(task);
        }
    }
}
