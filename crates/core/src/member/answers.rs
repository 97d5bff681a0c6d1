//! Asking the store, and what its answers mean.

use super::lease::Claimed;
use super::{Command, Load, Member, Terms};
use crate::ids::{ObjectId, TaskId};
use crate::node;
use crate::store::{Answer, Verb};
use crate::time::Time;

/// What to do with an answer of the store.
#[derive(Clone, Debug)]
pub(super) enum Purpose {
    Nothing,
    Settle(TaskId),
    Close {
        parent: TaskId,
        generation: u16,
        child: TaskId,
    },
    /// A close on behalf of somebody else's delivery.
    CloseFor {
        parent: TaskId,
        child: TaskId,
    },
    Release(ObjectId),
    HandOver(TaskId),
    Locate(ObjectId),
    /// Something that a task reads that waits already for something else.
    LookFor(ObjectId),
    Drop(ObjectId),
    Verify(Load, Terms),
    Retake(Load),
    Await {
        task: TaskId,
        parent: TaskId,
        generation: u16,
        position: u32,
    },
    Reopen {
        parent: TaskId,
        generation: u16,
        child: Option<(TaskId, u32)>,
    },
    Cancel(TaskId),
    Claim {
        bucket: u32,
    },
    /// A look at what one owns; the part of the store if it goes on with the next.
    Owned {
        round: Option<u32>,
    },
    Renew {
        sent: Time,
    },
    Join {
        sent: Time,
    },
    Resettle {
        bucket: u32,
    },
    /// What need not be waited for in a part of the store.
    IsOver,
}

impl Member {
    pub(super) fn flush(&mut self, out: &mut Vec<Command>) {
        if self.verbs.is_empty() {
            return;
        }
        self.serial += 1;
        let verbs = std::mem::take(&mut self.verbs);
        let purposes = std::mem::take(&mut self.purposes);
        let wants_answers = purposes.iter().any(|purpose| !matches!(purpose, Purpose::Nothing));
        if wants_answers {
            self.asked.insert(self.serial, purposes);
        }
        out.push(Command::Store { batch: self.serial, verbs, wants_answers });
    }

    pub(super) fn ask(&mut self, verb: Verb, purpose: Purpose) {
        self.verbs.push(verb);
        self.purposes.push(purpose);
    }

    pub(super) fn tell(&mut self, verb: Verb) {
        self.ask(verb, Purpose::Nothing);
    }

    pub(super) fn answered(&mut self, now: Time, batch: u64, answers: Vec<Answer>, out: &mut Vec<Command>) {
        let Some(purposes) = self.asked.remove(&batch) else { return };
        self.answering = Some(batch);
        for (purpose, answer) in purposes.into_iter().zip(answers) {
            self.learn(now, purpose, answer, out);
        }
        self.answering = None;
        self.forget_old();
        self.send_parcels(now, out);
    }

    pub(super) fn learn(&mut self, now: Time, purpose: Purpose, answer: Answer, out: &mut Vec<Command>) {
        match (purpose, answer) {
            (Purpose::Settle(task), answer) => self.settled(now, task, answer == Answer::Done, out),
            (
                Purpose::Close { parent, generation: of, child },
                Answer::Closed { closed, generation, tries, tenure, inputs },
            ) => {
                let load = self.load_of(child, tries, generation, tenure, inputs);
                self.closed(now, parent, closed, load, out);
                self.child_answered(parent, of);
            }
            (Purpose::CloseFor { parent, child }, Answer::Closed { closed, generation, tries, tenure, inputs }) => {
                let load = self.load_of(child, tries, generation, tenure, inputs);
                self.closed(now, parent, closed, load, out);
            }
            (Purpose::Release(object), Answer::Unneeded(places)) => self.released(now, object, &places, out),
            (Purpose::HandOver(task), answer) => self.handed_over(task, answer == Answer::Done),
            (Purpose::Verify(load, terms), Answer::Done) => self.take_one(now, load, terms, out),
            (Purpose::Retake(load), Answer::Done) => {
                self.inquiries.note(load.ready.task);
                self.accept(now, load, out);
            }
            (Purpose::Locate(object), Answer::Located { bytes, generation, places }) => {
                self.located(now, object, bytes, generation, places, out);
            }
            (Purpose::LookFor(object), Answer::Located { generation, places, .. }) => {
                self.looked_for(object, generation, &places);
            }
            (Purpose::Drop(object), answer) => {
                let is_gone = answer == Answer::Done;
                // It may have been made here since it was to go.
                if is_gone && !self.node.has_object(object) {
                    out.push(Command::Evict { object });
                }
                self.tell_node(now, node::Event::Dropped { object, is_gone }, out);
            }
            (Purpose::Await { task, parent, generation, position }, answer) => {
                self.awaits(task, parent, generation, position, answer == Answer::Done);
            }
            (Purpose::Reopen { parent, generation, child }, Answer::Reopened { reopened, tries, tenure, inputs }) => {
                let load = self.load_of(parent, tries, generation.saturating_add(1), tenure, inputs);
                self.reopened(now, child, reopened, load, out);
            }
            (Purpose::Cancel(task), Answer::Cancelled { generation, holder }) => {
                self.cancelled(now, task, generation, holder, out);
            }
            (Purpose::Claim { bucket }, Answer::Holdings { tasks, lost, given }) => {
                self.claimed(now, bucket, Claimed { tasks, lost, given }, out);
            }
            (Purpose::Owned { round }, Answer::Holdings { tasks, .. }) => self.owns(now, round, tasks, out),
            (Purpose::Renew { sent }, answer) => self.renewed(now, sent, answer, out),
            (Purpose::Join { sent }, answer) => self.joined(now, sent, answer, out),
            (Purpose::Resettle { bucket }, Answer::Settled(tasks)) => self.retell(bucket, tasks),
            (Purpose::IsOver, Answer::Settled(tasks)) => self.are_over(&tasks),
            _ => {}
        }
    }
}
