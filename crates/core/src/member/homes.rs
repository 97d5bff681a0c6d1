//! Which tasks of a plan begin elsewhere than where they were planned, or not at all: their home need not wait for them.
//!
//! ```text
//!   a former life has done it        ──▶ the store says so, once the new one has joined
//!   somebody else has it, or had it  ──▶ he says so: when he takes it, when it is over, and when its home has come back
//!   nobody will ever run it          ──▶ whoever tells its children says so
//! ```
//!
//! Whatever of this gets lost costs time and nothing else: others then wait until their own time has come.

use super::{Command, Member, Message, Purpose};
use crate::ids::{NodeId, TaskId};
use crate::member::FIRST_BOOT;
use crate::store::{Holding, Verb, bucket};

/// So many parts of the store are asked at a time, so that what is settled does not come all at once.
const AT_A_TIME: usize = 16;

impl Member {
    /// Where a task was planned to begin, if times were planned. All members hold to the same plan, or none.
    fn home(&self, task: TaskId) -> Option<NodeId> {
        let home = self.setup.homes.get(task.index()).map(|node| NodeId(*node));
        home.filter(|_| self.node.has_timetable())
    }

    /// Whether a task was planned to begin here.
    pub(super) fn is_at_home(&self, task: TaskId) -> bool {
        self.home(task) == Some(self.setup.me.node)
    }

    /// A task is here, or over: if it belongs to another node, that one is to know.
    pub(super) fn note_elsewhere(&mut self, task: TaskId) {
        if let Some(home) = self.home(task).filter(|home| *home != self.setup.me.node) {
            self.elsewhere.entry(home).or_default().push(task);
        }
    }

    /// A node has come back and remembers nothing: it is told what of its own is here.
    pub(super) fn welcome_back(&mut self, node: NodeId) {
        let its = self.held.tasks().filter(|task| self.home(*task) == Some(node));
        let its: Vec<TaskId> = its.collect();
        its.into_iter().for_each(|task| self.note_elsewhere(task));
    }

    /// Tells others what they need not wait for.
    pub(super) fn tell_homes(&mut self, out: &mut Vec<Command>) {
        while let Some((node, tasks)) = self.elsewhere.pop_first() {
            self.send(node, Message::Elsewhere(tasks), out);
        }
    }

    /// Somebody says what need not be waited for. It may have come here since.
    pub(super) fn heard_elsewhere(&mut self, tasks: Vec<TaskId>) {
        for task in tasks.into_iter().filter(|task| !self.held.contains(*task)) {
            self.node.expect_no_more(task);
        }
    }

    /// A node that has come back asks what its former lives, and those who stepped in for them, have done.
    pub(super) fn learn_what_is_over(&mut self) {
        if self.setup.me.boot > FIRST_BOOT {
            self.unlearnt = self.node.expected().map(bucket).collect();
            (0..AT_A_TIME).for_each(|_| self.ask_what_is_over());
        }
    }

    fn ask_what_is_over(&mut self) {
        if let Some(bucket) = self.unlearnt.pop_first() {
            self.ask(Verb::Settled { bucket }, Purpose::IsOver);
        }
    }

    /// The store has said which tasks of a part are settled. One that has to be done again may be here by now.
    pub(super) fn are_over(&mut self, tasks: &[Holding]) {
        for Holding { task, .. } in tasks.iter().filter(|holding| !self.held.contains(holding.task)) {
            self.node.expect_no_more(*task);
        }
        self.ask_what_is_over();
    }
}
