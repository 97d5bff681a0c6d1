//! Sending objects to others: few at a time, and whoever has got one passes it on.
//!
//! When many nodes want one object, a node that sent it to all of them at once would be done with all of them late. So it
//! serves a few, the others wait, and half of those who wait are sent to each node that has got it: the number of nodes that
//! can pass it on doubles with each round.

use std::collections::{BTreeMap, VecDeque};

use super::{Asking, Command, Member};
use crate::ids::{NodeId, ObjectId};
use crate::time::Time;

/// So many objects are sent at a time: enough that a slow receiver does not leave the line idle.
const AT_A_TIME: u32 = 4;
/// What is planned is planned one thing after the other.
const PLANNED_AT_A_TIME: u32 = 1;

/// So many that have got an object are remembered, of so many objects: a few are enough to pass it on.
const MOST_GIVEN: usize = 8;
const MOST_OBJECTS: usize = 1024;

/// What a node sends to others.
#[derive(Clone, Debug, Default)]
pub(super) struct Serving {
    under_way: u32,
    /// Who wants what on which terms: those first that need it first.
    waiting: VecDeque<(NodeId, ObjectId, Asking)>,
    /// Who has got what from here, as far as it is remembered.
    given: BTreeMap<ObjectId, VecDeque<NodeId>>,
}

impl Member {
    /// A node wants an object that is here; it may be sent to others that have it.
    pub(super) fn wanted(&mut self, now: Time, object: ObjectId, by: NodeId, asking: Asking, out: &mut Vec<Command>) {
        if self.may_serve() {
            self.serving.under_way += 1;
            out.push(Command::Serve { object, to: by });
            return;
        }
        if asking.may_redirect
            && let Some(mut given) = self.serving.given.remove(&object)
        {
            // In turns, so that none of them is asked by all.
            given.rotate_left(1);
            let can_send =
                |node: &&NodeId| **node != by && !self.gone.contains(node) && self.stays(now, object, **node);
            let holder = given.iter().find(can_send).copied();
            self.serving.given.insert(object, given);
            if let Some(holder) = holder {
                out.push(Command::Redirect { object, to: by, holder });
                return;
            }
        }
        let at = self.serving.waiting.partition_point(|(_, _, other)| other.due <= asking.due);
        self.serving.waiting.insert(at, (by, object, asking));
    }

    fn may_serve(&self) -> bool {
        let most = if self.setup.closes.is_empty() { AT_A_TIME } else { PLANNED_AT_A_TIME };
        self.serving.under_way < most
    }

    /// An object has been sent, or could not be.
    pub(super) fn sent(&mut self, now: Time, object: ObjectId, to: NodeId, is_there: bool, out: &mut Vec<Command>) {
        self.serving.under_way = self.serving.under_way.saturating_sub(1);
        if is_there {
            self.note_given(object, to);
            self.redirect_half(now, object, to, out);
        }
        while self.may_serve()
            && let Some((by, object, _)) = self.serving.waiting.pop_front()
        {
            self.serving.under_way += 1;
            out.push(Command::Serve { object, to: by });
        }
    }

    fn note_given(&mut self, object: ObjectId, to: NodeId) {
        let given = &mut self.serving.given;
        if given.len() == MOST_OBJECTS && !given.contains_key(&object) {
            given.pop_first();
        }
        let nodes = given.entry(object).or_default();
        if !nodes.contains(&to) {
            if nodes.len() == MOST_GIVEN {
                nodes.pop_front();
            }
            nodes.push_back(to);
        }
    }

    /// Sends half of those who wait for an object to a node that has just got it.
    fn redirect_half(&mut self, now: Time, object: ObjectId, holder: NodeId, out: &mut Vec<Command>) {
        if !self.stays(now, object, holder) {
            return;
        }
        let mut is_next = true;
        self.serving.waiting.retain(|(by, wanted, asking)| {
            if *wanted != object || !asking.may_redirect || *by == holder {
                return true;
            }
            if is_next {
                out.push(Command::Redirect { object, to: *by, holder });
            }
            is_next = !is_next;
            is_next
        });
    }

    /// Whether another node is to be had until it has sent an object, or for as long as this one, if that is planned: nobody is kept to do what would cost nothing here.
    fn stays(&self, now: Time, object: ObjectId, other: NodeId) -> bool {
        let until = |node: NodeId| self.setup.closes.get(node.index()).copied();
        let Some(closes) = until(other) else { return true };
        let sent = self.node.object_bytes(object).map(|bytes| now + self.setup.moving(bytes));
        sent.is_some_and(|sent| sent <= closes) || until(self.setup.me.node) <= Some(closes)
    }
}
