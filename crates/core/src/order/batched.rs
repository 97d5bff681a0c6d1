//! Several choices at a time: what Meng and Golab leave for the future.
//!
//! Any order can be asked for so many tasks at once, which are then handed out one by one. Each is chosen as if those before it had
//! started, so a batch is what the order would have chosen if nothing came or went meanwhile. It saves the search where a choice is dear
//! (`gcs`), and it keeps to a plan while data arrives. It loses because what becomes ready meanwhile has to wait for the next batch.

use std::collections::VecDeque;

use super::Order;
use crate::ids::{ClassId, ObjectId, TaskId};
use crate::node::ReadyTask;

/// An order that is asked in batches.
struct Batched {
    inner: Box<dyn Order>,
    size: usize,
    chosen: VecDeque<ReadyTask>,
}

/// The same order in batches; one at a time is the order itself.
pub(super) fn order(inner: Box<dyn Order>, size: usize) -> Box<dyn Order> {
    if size <= 1 { inner } else { Box::new(Batched { inner, size, chosen: VecDeque::new() }) }
}

impl Order for Batched {
    fn push(&mut self, task: ReadyTask) {
        self.inner.push(task);
    }

    fn pop(&mut self, admits: &dyn Fn(ClassId) -> bool) -> Option<ReadyTask> {
        if self.chosen.is_empty() {
            self.chosen.extend((0..self.size).map_while(|_| self.inner.pop(admits)));
        }
        // What may not start now waits for its turn, but keeps nobody else from starting.
        match self.chosen.iter().position(|task| admits(task.class)) {
            Some(at) => self.chosen.remove(at),
            None => self.inner.pop(admits),
        }
    }

    fn give(&mut self, count: usize, admits: &dyn Fn(ClassId) -> bool) -> Vec<ReadyTask> {
        let mut given = self.inner.give(count, admits);
        while given.len() < count {
            let Some(at) = self.chosen.iter().rposition(|task| admits(task.class)) else { break };
            // It was handed out to this batch, and has not begun.
            given.extend(self.chosen.remove(at).inspect(|task| self.inner.ended(task.task)));
        }
        given
    }

    fn follows_data(&self) -> bool {
        self.inner.follows_data()
    }

    fn data(&mut self, object: ObjectId, is_here: bool) {
        self.inner.data(object, is_here);
    }

    fn item(&mut self, item: u32, is_here: bool) {
        self.inner.item(item, is_here);
    }

    fn began(&mut self, task: TaskId) {
        self.inner.began(task);
    }

    fn ended(&mut self, task: TaskId) {
        self.inner.ended(task);
    }

    fn count(&self, admits: &dyn Fn(ClassId) -> bool) -> usize {
        self.inner.count(admits) + self.chosen.iter().filter(|task| admits(task.class)).count()
    }

    fn len(&self) -> usize {
        self.inner.len() + self.chosen.len()
    }
}

#[cfg(test)]
mod tests {
    use super::super::fifo;
    use super::*;

    fn ready(task: u32, class: u32) -> ReadyTask {
        let (task, class) = (TaskId(task), ClassId(class));
        ReadyTask::first(task, class)
    }

    #[test]
    fn a_batch_is_handed_out_before_the_next_is_chosen() {
        let mut order = order(Box::new(super::super::lifo::order()), 3);
        (0..4).for_each(|task| order.push(ready(task, 0)));
        let next = |order: &mut Box<dyn Order>| order.pop(&|_| true).map(|ready| ready.task.0);
        assert_eq!(next(&mut order), Some(3));
        order.push(ready(9, 0));
        assert_eq!((next(&mut order), next(&mut order), order.len()), (Some(2), Some(1), 2));
        assert_eq!((next(&mut order), next(&mut order), next(&mut order)), (Some(9), Some(0), None));
    }

    #[test]
    fn what_may_not_start_keeps_nobody_from_starting_and_can_be_given_away() {
        let mut order = order(Box::new(fifo::order()), 2);
        [ready(0, 0), ready(1, 1), ready(2, 1)].into_iter().for_each(|task| order.push(task));
        assert_eq!(order.pop(&|_| true), Some(ready(0, 0)));
        assert_eq!(order.pop(&|class| class == ClassId(0)), None);
        assert_eq!((order.count(&|class| class == ClassId(1)), order.len()), (2, 2));
        assert_eq!(order.give(5, &|_| true), [ready(2, 1), ready(1, 1)]);
        assert_eq!(order.len(), 0);
    }
}
