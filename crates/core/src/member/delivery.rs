//! The complete queue: a task that has a verdict is settled in the store, its children are told, and then it is delivered.

use super::{Command, Held, Load, Member, Message, Purpose};
use crate::ids::{NodeId, ObjectId, TaskId};
use crate::node;
use crate::store::{Closed, Holding, Inputs, Verb, Verdict};
use crate::time::Time;

/// A task whose verdict is not known to everybody yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Delivery {
    pub verdict: Verdict,
    pub generation: u16,
    pub outputs: Box<[(ObjectId, u64)]>,
    /// Whether it was made here; else it lies wherever the store says.
    is_own: bool,
    /// Children that have not answered.
    left: u32,
}

impl Delivery {
    pub(super) fn new(outputs: Vec<(ObjectId, u64)>) -> Delivery {
        Delivery { outputs: outputs.into(), is_own: true, ..Delivery::default() }
    }
}

impl Member {
    /// First step. A task that nobody waits for and that read nothing is delivered with it.
    pub(super) fn settle(&mut self, task: TaskId, verdict: Verdict) {
        let owner = self.setup.me;
        // Somebody may have cancelled it while it ran.
        let Some(Held { generation, .. }) = self.held.get(task) else { return };
        let delivery = self.deliveries.entry(task).or_default();
        (delivery.verdict, delivery.generation) = (verdict, generation);
        let outputs = if verdict == Verdict::Done { delivery.outputs.clone() } else { Box::default() };
        self.ask(Verb::Settle { task, owner, generation, verdict, outputs }, Purpose::Settle(task));
        if self.is_alone(task) {
            self.tell(Verb::Deliver { task, owner, generation });
        }
    }

    fn is_alone(&self, task: TaskId) -> bool {
        self.flow.children(task).len() == 0 && self.flow.inputs(task).len() == 0
    }

    /// Second step, if the store has taken the first.
    pub(super) fn settled(&mut self, now: Time, task: TaskId, is_ours: bool, out: &mut Vec<Command>) {
        self.let_go(task);
        if !is_ours {
            // It has been cancelled here, and its children are being told.
            if self.deliveries.get(&task).is_some_and(|delivery| delivery.verdict == Verdict::Cancelled) {
                return;
            }
            // Somebody else answers for the task: what was made here does not count.
            let made = self.deliveries.remove(&task).map_or_else(Box::default, |delivery| delivery.outputs);
            for (object, _) in made {
                self.tell_node(now, node::Event::Unneeded { object }, out);
            }
            return;
        }
        self.note_elsewhere(task);
        if self.is_alone(task) {
            self.deliveries.remove(&task);
            return;
        }
        self.close_children(task);
    }

    /// Tells all children of a settled task, and lets go of what it read.
    fn close_children(&mut self, task: TaskId) {
        let Some(delivery) = self.deliveries.get(&task) else { return };
        let (verdict, generation) = (delivery.verdict, delivery.generation);
        let closer = self.setup.me;
        let news = self.news(&delivery.outputs, delivery.is_own.then_some(closer.node));
        let mut news = news.into_iter().peekable();
        let mut verbs = Vec::new();
        for (child, position) in self.kin.children(&self.flow, task) {
            let mut read = Inputs::default();
            while let Some((_, inputs)) = news.next_if(|(reader, _)| *reader <= child) {
                read = inputs;
            }
            verbs.push((child, Verb::Close { child, position, generation, verdict, closer, news: read }));
        }
        let count = verbs.len() as u32;
        for (child, verb) in verbs {
            self.ask(verb, Purpose::Close { parent: task, generation, child });
        }
        for object in self.flow.clone().inputs(task) {
            self.ask(Verb::Release { object, reader: task, generation }, Purpose::Release(object));
        }
        if let Some(delivery) = self.deliveries.get_mut(&task) {
            delivery.left = count;
        }
        self.finish_delivery(task);
    }

    /// What each reader will read of these objects, by the number of the reader.
    fn news(&self, outputs: &[(ObjectId, u64)], at: Option<NodeId>) -> Vec<(TaskId, Inputs)> {
        let mut news: Vec<(TaskId, Inputs)> = Vec::new();
        for (object, bytes) in outputs {
            let one = Inputs { total_bytes: *bytes, largest_bytes: *bytes, largest: Some(*object), at };
            news.extend(self.kin.readers(*object).map(|reader| (reader, one)));
        }
        if outputs.len() > 1 {
            news.sort_by_key(|(reader, _)| *reader);
            let mut merged: Vec<(TaskId, Inputs)> = Vec::with_capacity(news.len());
            for (reader, inputs) in news {
                match merged.last_mut() {
                    Some((last, sum)) if *last == reader => sum.add(inputs, false),
                    _ => merged.push((reader, inputs)),
                }
            }
            return merged;
        }
        news
    }

    /// A child has heard.
    pub(super) fn closed(&mut self, now: Time, parent: TaskId, closed: Closed, load: Load, out: &mut Vec<Command>) {
        let child = load.ready.task;
        match closed {
            Closed::Ready => self.accept(now, load, out),
            Closed::Skipped => self.deliver_again(child, Verdict::Skipped, load.ready.generation, Box::default()),
            // What the child waits for was lost and is made again, or has to be.
            Closed::TooOld { needs } => {
                let (task, generation) = (parent, needs.saturating_sub(1));
                let reopen = Verb::Reopen { task, generation, by: self.setup.me };
                let position = self.kin.position(&self.flow, parent, child);
                let child = position.map(|position| (child, position));
                self.ask(reopen, Purpose::Reopen { parent, generation, child });
            }
            Closed::Open | Closed::Behind => {}
        }
    }

    /// One child fewer to hear from.
    pub(super) fn child_answered(&mut self, parent: TaskId, generation: u16) {
        let delivery = self.deliveries.get_mut(&parent);
        // What it did in an earlier generation may still be answered.
        if let Some(delivery) = delivery.filter(|delivery| delivery.generation == generation) {
            delivery.left = delivery.left.saturating_sub(1);
            self.finish_delivery(parent);
        }
    }

    /// Third step, once all children have answered.
    fn finish_delivery(&mut self, task: TaskId) {
        let Some(delivery) = self.deliveries.get(&task).filter(|delivery| delivery.left == 0) else { return };
        let generation = delivery.generation;
        self.deliveries.remove(&task);
        self.tell(Verb::Deliver { task, owner: self.setup.me, generation });
    }

    /// Tells the children of a task that somebody else has settled, or that will not run.
    pub(super) fn deliver_again(
        &mut self,
        task: TaskId,
        verdict: Verdict,
        generation: u16,
        outputs: Box<[(ObjectId, u64)]>,
    ) {
        if self.deliveries.get(&task).is_some_and(|delivery| delivery.generation >= generation) {
            return;
        }
        self.note_elsewhere(task);
        if self.is_at_home(task) {
            self.node.expect_no_more(task);
        }
        self.deliveries.insert(task, Delivery { verdict, generation, outputs, is_own: false, left: 0 });
        self.close_children(task);
    }

    /// Somebody does not want a task any more, and the store agrees: its children are told.
    pub(super) fn cancelled(
        &mut self,
        now: Time,
        task: TaskId,
        generation: u16,
        holder: Option<NodeId>,
        out: &mut Vec<Command>,
    ) {
        match holder {
            Some(node) if node != self.setup.me.node => self.send(node, Message::Cancelled(task), out),
            _ => self.drop_task(now, task, out),
        }
        // It may have ended here meanwhile: the store will refuse that.
        let made = self.deliveries.remove(&task).map_or_else(Box::default, |delivery| delivery.outputs);
        for (object, _) in made {
            self.tell_node(now, node::Event::Unneeded { object }, out);
        }
        self.deliver_again(task, Verdict::Cancelled, generation, Box::default());
    }

    /// Takes a task out of wherever it waits or runs here.
    pub(super) fn drop_task(&mut self, now: Time, task: TaskId, out: &mut Vec<Command>) {
        // What is on its way to others, or has ended, the store will refuse.
        let is_elsewhere = self.leaving.contains_key(&task) || self.deliveries.contains_key(&task);
        self.not_found.remove(&task);
        if is_elsewhere || !self.let_go(task) || self.forget_probe(task) || self.host.forget(task) {
            return;
        }
        self.with_node(now, out, |node, commands| node.forget(now, task, commands));
    }

    /// The last reader of an object is done: whoever has a copy may delete it.
    pub(super) fn released(&mut self, now: Time, object: ObjectId, places: &[NodeId], out: &mut Vec<Command>) {
        for node in places.iter().copied() {
            if node == self.setup.me.node {
                self.tell_node(now, node::Event::Unneeded { object }, out);
            } else if node.0 < self.setup.nodes {
                self.unneeded.entry(node).or_default().push(object);
            }
        }
    }

    /// Tells others what nobody needs any more.
    pub(super) fn tell_unneeded(&mut self, out: &mut Vec<Command>) {
        while let Some((node, objects)) = self.unneeded.pop_first() {
            self.send(node, Message::Unneeded(objects), out);
        }
    }

    /// After writes were lost: tells the children of settled tasks again. Those who know answer that they do.
    pub(super) fn close_again(&mut self, tasks: Box<[Holding]>) {
        for holding in tasks {
            let Holding { task, verdict, generation, outputs, .. } = holding;
            self.deliver_again(task, verdict, generation, outputs);
        }
    }
}
