//! Where objects lie, fetching them, and what to do when the last copy is gone.

use std::collections::BTreeSet;
use std::time::Duration;

use super::{Asking, Command, Load, Member, Purpose, Source};
use crate::ids::{NodeId, ObjectId, TaskId};
use crate::node;
use crate::store::{Inputs, Owner, Reopened, SHARED_BY_ALL, Verb, Verdict, bucket};
use crate::time::Time;

/// How long until something from outside that was not to be found is looked for again: longer than it takes until all nodes have heard
/// that the store has lost writes, and have told it again what they have.
const LOOK_AGAIN_AFTER: Duration = Duration::from_millis(2500);

/// How often it is looked for before the task fails.
const LOOKS: u32 = 4;

/// Where so many objects are is remembered; the others are looked up again when they are fetched.
const MOST_FOUND: usize = 20_000;

/// What the store said about an object that is being fetched.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// Where it may be, the best first.
    places: Vec<NodeId>,
    bytes: u64,
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
        let mut places: Vec<NodeId> = places.into_iter().filter(|place| !self.is_gone(*place)).rev().collect();
        let by = now + self.setup.moving(bytes);
        // Those at the end are asked first: whoever is there for as long as it takes, or else for longest. What comes from outside is planned to come from there: others would be
        // paid for it.
        let is_there_until = |place: &NodeId| self.setup.closes.get(place.index()).map_or(by, |closes| by.min(*closes));
        let is_planned_so = |place: &NodeId| *place == SHARED_BY_ALL && !self.setup.closes.is_empty();
        places.sort_by_key(|place| (is_planned_so(place), is_there_until(place)));
        let is_found = !places.is_empty();
        let has_failed = self.found.get(&object).is_some_and(|found| found.has_failed);
        self.forget_found();
        let found = Found { places, bytes, generation, is_awaited: false, has_failed };
        if self.found.insert(object, found).is_some_and(|earlier| earlier.is_awaited) && !self.fetch_next(object, out) {
            self.tell_node(now, node::Event::FetchFailed { object }, out);
        }
        self.tell_node(now, node::Event::Located { object, bytes: is_found.then_some(bytes) }, out);
        if !is_found {
            self.found.remove(&object);
        }
    }

    /// Makes sure that what is remembered does not grow for ever: tasks may have been given up since.
    fn forget_found(&mut self) {
        if self.found.len() >= MOST_FOUND {
            self.found.retain(|_, found| found.is_awaited || found.has_failed);
        }
    }

    pub(super) fn fetch(&mut self, object: ObjectId, out: &mut Vec<Command>) {
        if self.fetch_next(object, out) {
            return;
        }
        // What was known has been used up since: look again.
        let found = self.found.entry(object).or_default();
        if !std::mem::replace(&mut found.is_awaited, true) {
            self.ask(Verb::Locate { object, by: self.setup.me.node }, Purpose::Locate(object));
        }
    }

    /// Fetches from the next place, if one is known.
    fn fetch_next(&mut self, object: ObjectId, out: &mut Vec<Command>) -> bool {
        let due = self.node.due(object);
        let found = self.found.entry(object).or_default();
        let Some(place) = found.places.pop() else { return false };
        let (bytes, asking) = (found.bytes, Asking { may_redirect: !found.has_failed, due });
        out.push(Command::Fetch { object, bytes, from: source(place), asking });
        true
    }

    pub(super) fn fetched(&mut self, now: Time, object: ObjectId, bytes: u64, out: &mut Vec<Command>) {
        self.found.remove(&object);
        self.tally.fetches += 1;
        self.tally.fetched_bytes = self.tally.fetched_bytes.saturating_add(bytes);
        self.window.moved_bytes = self.window.moved_bytes.saturating_add(bytes);
        self.tell(Verb::Copied { object, owner: self.setup.me });
        self.tell_node(now, node::Event::Fetched { object }, out);
    }

    /// Fetches an object from where it can be had sooner.
    pub(super) fn redirected(&mut self, object: ObjectId, holder: NodeId, out: &mut Vec<Command>) {
        let due = self.node.due(object);
        let found = self.found.entry(object).or_default();
        let (bytes, asking) = (found.bytes, Asking { may_redirect: !found.has_failed, due });
        out.push(Command::Fetch { object, bytes, from: Source::Node(holder), asking });
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
        if !self.fetch_next(object, out) {
            self.tell_node(now, node::Event::FetchFailed { object }, out);
        }
    }

    /// Tells the store what lies here of what came from outside, in case it has forgotten: anything else can be made again.
    pub(super) fn tell_what_is_here(&mut self) {
        let made = self.flow.made_count();
        for (object, _) in self.node.objects().into_iter().filter(|(object, _)| object.index() >= made) {
            self.tell(Verb::Copied { object, owner: self.setup.me });
        }
    }

    /// What a task reads is gone: it waits for the producer again, which has to run once more.
    pub(super) fn lost(&mut self, now: Time, task: TaskId, object: ObjectId) {
        let generation_lost = self.found.get(&object).map_or(0, |found| found.generation);
        let producer = self.flow.producer(object);
        let position = producer.and_then(|parent| self.kin.position(&self.flow, parent, task));
        let (Some(parent), Some(position)) = (producer, position) else {
            self.not_found(now, task);
            return;
        };
        let generation = self.generation(task);
        let needs = generation_lost.saturating_add(1);
        let wait = Verb::Await { task, owner: self.setup.me, generation, position, needs };
        self.ask(wait, Purpose::Await { task, parent, generation: generation_lost, position });
    }

    /// What came from outside nobody can make again. But a store that has lost writes may not know who has it until he has said so again.
    fn not_found(&mut self, now: Time, task: TaskId) {
        let looks = self.not_found.entry(task).or_default();
        *looks += 1;
        if !self.setup.has_leases || *looks > LOOKS {
            self.not_found.remove(&task);
            self.settle(task, Verdict::Failed);
            return;
        }
        self.put_off(now, task);
    }

    /// Nothing can be done for a task now.
    pub(super) fn put_off(&mut self, now: Time, task: TaskId) {
        self.let_go(task);
        let time = now + LOOK_AGAIN_AFTER;
        self.look_again.insert(task, time);
        self.look_again_at.get_or_insert(time);
    }

    /// Takes up again what was put off.
    pub(super) fn look_again(&mut self, now: Time) {
        if self.look_again_at.is_none_or(|time| now < time) {
            return;
        }
        let mut buckets = BTreeSet::new();
        self.look_again.retain(|task, time| {
            let is_due = *time <= now;
            if is_due {
                buckets.insert(bucket(*task));
            }
            !is_due
        });
        self.look_again_at = self.look_again.values().min().copied();
        for bucket in buckets {
            self.ask(Verb::Owned { bucket, owner: self.setup.me }, Purpose::Owned { round: None });
        }
    }

    /// A task waits for something that was lost: what else it reads may have been lost with it, and is better made at the same time
    /// than one after the other.
    fn look_for_others(&mut self, task: TaskId, parent: TaskId) {
        let (flow, by) = (self.flow.clone(), self.setup.me.node);
        let made = flow.inputs(task).filter(|object| flow.producer(*object).is_some_and(|maker| maker != parent));
        for object in made.filter(|object| !self.node.has_object(*object)).collect::<Vec<_>>() {
            self.ask(Verb::Locate { object, by }, Purpose::LookFor(object));
        }
    }

    /// The store has said where something is that a waiting task reads.
    pub(super) fn looked_for(&mut self, object: ObjectId, generation: u16, places: &[NodeId]) {
        let is_lost = places.iter().all(|place| self.is_gone(*place)) && !self.node.has_object(object);
        if let Some(parent) = self.flow.producer(object).filter(|_| is_lost) {
            let reopen = Verb::Reopen { task: parent, generation, by: self.setup.me };
            self.ask(reopen, Purpose::Reopen { parent, generation, child: None });
        }
    }

    pub(super) fn awaits(&mut self, task: TaskId, parent: TaskId, generation: u16, position: u32, is_ours: bool) {
        self.let_go(task);
        if is_ours {
            let reopen = Verb::Reopen { task: parent, generation, by: self.setup.me };
            self.ask(reopen, Purpose::Reopen { parent, generation, child: Some((task, position)) });
            self.look_for_others(task, parent);
        }
    }

    /// A task that is done again reads again what it read before.
    pub(super) fn retain_inputs(&mut self, task: TaskId, generation: u16) {
        for object in self.flow.clone().inputs(task) {
            self.tell(Verb::Retain { object, reader: task, generation });
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
                self.retain_inputs(parent, load.ready.generation);
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
