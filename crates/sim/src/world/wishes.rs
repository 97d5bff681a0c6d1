//! What nodes want done, carried out: it takes its time, and some of it goes wrong.

use throng_core::ids::NodeId;
use throng_core::member::{Command, Message};
use throng_core::store::Verb;
use throng_core::time::Time;

use super::{Happening, World, patience};
use crate::heap::Lane;
use crate::lengths::times;

impl World {
    pub(super) fn perform(&mut self, node: NodeId, commands: &mut Vec<Command>) {
        let mut restarts = false;
        let mut commands = commands.drain(..).peekable();
        while let Some(command) = commands.next() {
            match command {
                Command::Start { task, slot, attempt } => self.start(node, task, slot, attempt),
                Command::Kill { slot, why, .. } => self.kill(node, slot, why),
                Command::Evict { object } => {
                    self.check_evicted(node, object);
                    self.machines[node.index()].disk.iter_mut().for_each(|disk| disk.tier.forget(object));
                }
                Command::Width(change) => self.record_width(node, change),
                Command::Restart => restarts = true,
                Command::Fetch { object, from, asking, .. } => self.fetch(node, object, from, asking),
                Command::Serve { object, to } => self.serve(node, object, to),
                Command::Redirect { object, to, holder } => self.redirect(node, object, to, holder),
                Command::Store { batch, verbs, wants_answers } => self.ask_store(node, batch, verbs, wants_answers),
                Command::Send { to, message } => {
                    let is_same =
                        |next: &Command| matches!(next, Command::Send { message: other, .. } if *other == message);
                    if !commands.peek().is_some_and(is_same) {
                        self.send(node, &[to], message);
                        continue;
                    }
                    let mut to = vec![to];
                    while let Some(Command::Send { to: next, .. }) = commands.next_if(is_same) {
                        to.push(next);
                    }
                    self.send(node, &to, message);
                }
            }
        }
        if restarts {
            self.outcome.restarts += 1;
            self.end_life(node);
            self.agenda.plan(self.now + patience(&self.cluster), Happening::Return { node });
        }
    }

    /// Sends a batch to the store. What is lost on the way is sent again, and whatever comes after it waits.
    pub(super) fn ask_store(&mut self, node: NodeId, batch: u64, verbs: Vec<Verb>, wants_answers: bool) {
        let machine = &self.machines[node.index()];
        let boot = machine.boot;
        let soonest = self.now + self.cluster.store_latency;
        // What is sent while the connection is down goes with whatever brought it down.
        let is_up = machine.link_free_at <= soonest;
        let mut arrival = soonest.max(machine.link_free_at);
        if is_up && self.has_bad_luck(self.cluster.faults.lost) {
            self.outcome.lost_messages += 1;
            arrival = arrival + patience(&self.cluster);
        }
        if let Some(until) = self.cluster.faults.cut_off_until(self.now, node.0) {
            arrival = arrival.max(until + patience(&self.cluster));
        }
        if is_up && self.has_bad_luck(self.cluster.faults.lost + self.cluster.faults.doubled) {
            // The answer is lost: the store will be asked the same again.
            self.outcome.lost_messages += 1;
            let again = Happening::Asked { node, boot, batch, verbs: verbs.clone(), wants_answers: false };
            self.agenda.plan_in(Lane::Questions, arrival, again);
            arrival = arrival + patience(&self.cluster);
        }
        self.machines[node.index()].link_free_at = arrival;
        self.agenda.plan_in(Lane::Questions, arrival, Happening::Asked { node, boot, batch, verbs, wants_answers });
    }

    pub(super) fn has_bad_luck(&mut self, share: f64) -> bool {
        share > 0.0 && self.rng.unit() < share
    }

    /// Sends a message to some nodes. An idle node asks hundreds at once in a large cluster: all that arrives at the same
    /// instant is one thing to come.
    pub(super) fn send(&mut self, from: NodeId, to: &[NodeId], message: Message) {
        let mut together = (self.now + self.cluster.latency, Vec::with_capacity(to.len()));
        for &to in to {
            self.outcome.messages += 1;
            let faults = &self.cluster.faults;
            if !faults.connects(self.now, from.0, to.0) {
                self.outcome.lost_messages += 1;
                continue;
            }
            let (lost, doubled, (late, most)) = (faults.lost, faults.doubled, faults.late);
            if self.has_bad_luck(lost) {
                self.outcome.lost_messages += 1;
                continue;
            }
            let copies = if self.has_bad_luck(doubled) { 2 } else { 1 };
            for _ in 0..copies {
                let mut time = self.now + self.cluster.latency;
                if self.has_bad_luck(late) {
                    time = time + times(most, self.rng.unit());
                }
                if time != together.0 {
                    self.plan_message(from, std::mem::replace(&mut together, (time, Vec::new())), &message);
                }
                together.1.push(to);
            }
        }
        self.plan_message(from, together, &message);
    }

    fn plan_message(&mut self, from: NodeId, (time, to): (Time, Vec<NodeId>), message: &Message) {
        match (to.as_slice(), message) {
            ([], _) => {}
            (&[to], &Message::Load { serial, shared, waiting }) => {
                self.agenda.plan_in(Lane::Messages, time, Happening::Load { from, to, serial, shared, waiting });
            }
            (&[to], _) => {
                let said = Happening::Said { from, to, message: Box::new(message.clone()) };
                self.agenda.plan_in(Lane::Messages, time, said);
            }
            _ => {
                let (count, message) = (to.len(), Box::new(message.clone()));
                self.agenda.plan_many(Lane::Messages, time, Happening::SaidToMany { from, to, message }, count);
            }
        }
    }
}
