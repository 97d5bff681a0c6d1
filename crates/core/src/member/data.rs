//! Where objects lie, fetching them, and what to do when the last copy is gone.

use super::{Command, Load, Member, Purpose, Source};
use crate::ids::{NodeId, ObjectId, TaskId};
use crate::node;
use crate::store::{Inputs, Owner, Reopened, SHARED_BY_ALL, Verb, Verdict};
use crate::time::Time;

/// What the store said about an object that is being fetched.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// Where it may be, the best first.
    places: Vec<NodeId>,
    /// The generation of its producer that made it.
    generation: u16,
    /// Whether it is to be fetched as soon as somebody says from where.
    is_awaited: bool,
    /// Whether it was not where it was said to be.
    has_failed: bool,
}

impl Member {
    /// The store has said where an object is.
    pub(super) fn located(
        &mut self,
        now: Time,
        object: ObjectId,
        bytes: u64,
        generation: u16,
        places: Box<[NodeId]>,
        out: &mut Vec<Command>,
    ) {
        let places: Vec<NodeId> = places.into_iter().filter(|place| !self.is_gone(*place)).rev().collect();
        let is_found = !places.is_empty();
        let has_failed = self.found.get(&object).is_some_and(|found| found.has_failed);
        let earlier = self.found.insert(object, Found { places, generation, is_awaited: false, has_failed });
        if earlier.is_some_and(|found| found.is_awaited) {
            self.fetch_from_next(now, object, bytes, out);
        }
        self.tell_node(now, node::Event::Located { object, bytes: is_found.then_some(bytes) }, out);
        if !is_found {
            self.found.remove(&object);
        }
    }

    pub(super) fn fetch(&mut self, object: ObjectId, bytes: u64, out: &mut Vec<Command>) {
        let found = self.found.entry(object).or_default();
        match found.places.pop() {
            Some(place) => {
                let may_redirect = !found.has_failed;
                out.push(Command::Fetch { object, bytes, from: source(place), may_redirect });
            }
            // What was known has been used up since: look again.
            None if found.is_awaited => {}
            None => {
                found.is_awaited = true;
                self.ask(Verb::Locate { object, by: self.setup.me.node }, Purpose::Locate(object));
            }
        }
    }

    fn fetch_from_next(&mut self, now: Time, object: ObjectId, bytes: u64, out: &mut Vec<Command>) {
        let found = self.found.entry(object).or_default();
        match found.places.pop() {
            Some(place) => {
                let may_redirect = !found.has_failed;
                out.push(Command::Fetch { object, bytes, from: source(place), may_redirect });
            }
            None => self.tell_node(now, node::Event::FetchFailed { object }, out),
        }
    }

    pub(super) fn fetched(&mut self, now: Time, object: ObjectId, bytes: u64, out: &mut Vec<Command>) {
        self.found.remove(&object);
        self.tally.fetches += 1;
        self.tally.fetched_bytes += bytes;
        self.window.moved_bytes += bytes;
        self.tell(Verb::Copied { object, owner: self.setup.me });
        self.tell_node(now, node::Event::Fetched { object }, out);
    }

    /// Fetches an object from where it can be had sooner.
    pub(super) fn redirected(&mut self, object: ObjectId, holder: NodeId, out: &mut Vec<Command>) {
        let may_redirect = self.found.get(&object).is_none_or(|found| !found.has_failed);
        out.push(Command::Fetch { object, bytes: 0, from: Source::Node(holder), may_redirect });
    }

    /// Tries the next place, or looks for others.
    pub(super) fn fetch_failed(
        &mut self,
        now: Time,
        object: ObjectId,
        from: Source,
        is_missing: bool,
        out: &mut Vec<Command>,
    ) {
        if let (true, Source::Node(node)) = (is_missing, from) {
            let owner = Owner { node, boot: self.lease.boot_of(node) };
            self.tell(Verb::Missing { object, owner });
        }
        // Nobody is sent from one to the other for ever.
        self.found.entry(object).or_default().has_failed = true;
        self.fetch_from_next(now, object, 0, out);
    }

    /// What a task reads is gone: it waits for the producer again, which has to run once more.
    pub(super) fn lost(&mut self, task: TaskId, object: ObjectId) {
        let generation_lost = self.found.get(&object).map_or(0, |found| found.generation);
        let producer = self.flow.producer(object);
        let position = producer.and_then(|parent| self.kin.position(&self.flow, parent, task));
        let (Some(parent), Some(position)) = (producer, position) else {
            // It came from outside, and nobody can make it again.
            self.settle(task, Verdict::Failed);
            return;
        };
        let generation = self.generation(task);
        let needs = generation_lost.saturating_add(1);
        let wait = Verb::Await { task, owner: self.setup.me, generation, position, needs };
        self.ask(wait, Purpose::Await { task, parent, generation: generation_lost, position });
    }

    pub(super) fn awaits(&mut self, task: TaskId, parent: TaskId, generation: u16, position: u32, is_ours: bool) {
        self.let_go(task);
        if is_ours {
            let reopen = Verb::Reopen { task: parent, generation, by: self.setup.me };
            self.ask(reopen, Purpose::Reopen { parent, generation, child: Some((task, position)) });
        }
    }

    pub(super) fn reopened(
        &mut self,
        now: Time,
        child: Option<(TaskId, u32)>,
        reopened: Reopened,
        load: Load,
        out: &mut Vec<Command>,
    ) {
        let parent = load.ready.task;
        match reopened {
            Reopened::Yours => {
                self.tally.reopened += 1;
                self.accept(now, load, out);
            }
            // It has been made again, perhaps before this child began to wait: tell it on the producer's behalf.
            Reopened::Already { generation, settled: Some(verdict) } => {
                let Some((child, position)) = child else { return };
                let (closer, news) = (self.setup.me, Inputs::default());
                self.ask(
                    Verb::Close { child, position, generation, verdict, closer, news },
                    Purpose::CloseFor { parent, child },
                );
            }
            Reopened::Already { settled: None, .. } => {}
        }
    }
}

fn source(place: NodeId) -> Source {
    if place == SHARED_BY_ALL { Source::Shared } else { Source::Node(place) }
}
