//! The node inside: it is told what happened, and what it wants is carried out.

use super::delivery::Delivery;
use super::{Command, Member, Purpose};
use crate::ids::{ObjectId, SlotId};
use crate::node::{self, End, Node};
use crate::store::{Verb, Verdict};
use crate::time::Time;

impl Member {
    /// Lets the node do something, and carries out what it wants.
    pub(super) fn with_node<T>(
        &mut self,
        now: Time,
        out: &mut Vec<Command>,
        act: impl FnOnce(&mut Node, &mut Vec<node::Command>) -> T,
    ) -> T {
        let mut commands = std::mem::take(&mut self.scratch);
        let told = act(&mut self.node, &mut commands);
        for command in commands.drain(..) {
            self.carry_out(now, command, out);
        }
        self.scratch = commands;
        told
    }

    /// Hands an event to the node.
    pub(super) fn tell_node(&mut self, now: Time, event: node::Event, out: &mut Vec<Command>) {
        self.with_node(now, out, |node, commands| node.handle(now, event, commands));
    }

    pub(super) fn fill_slots(&mut self, now: Time, out: &mut Vec<Command>) {
        self.with_node(now, out, |node, commands| node.decide(now, commands));
    }

    fn carry_out(&mut self, now: Time, command: node::Command, out: &mut Vec<Command>) {
        let me = self.setup.me;
        match command {
            node::Command::Start { task, attempt, slot } => {
                let generation = self.generation(task);
                self.count_begun(now, slot);
                self.not_found.remove(&task);
                self.tell(Verb::Start { task, owner: me, generation, attempt });
                out.push(Command::Start { task, attempt, slot });
            }
            node::Command::Kill { slot, hard, why } => out.push(Command::Kill { slot, hard, why }),
            node::Command::Complete { task, .. } => self.settle(task, Verdict::Done),
            node::Command::Fail { task, .. } => self.settle(task, Verdict::Failed),
            node::Command::NeverFits { task, .. } => {
                self.tally.never_fitted += 1;
                self.settle(task, Verdict::Failed);
            }
            node::Command::Interrupt { task, .. } => self.rest(task),
            node::Command::Locate { object } => {
                self.ask(Verb::Locate { object, by: me.node }, Purpose::Locate(object));
            }
            node::Command::Fetch { object, .. } => self.fetch(object, out),
            node::Command::Drop { object } => {
                let dead = self.known_dead();
                self.ask(Verb::Drop { object, owner: me, dead }, Purpose::Drop(object));
            }
            node::Command::Evict { object } => {
                let dead = self.known_dead();
                self.tell(Verb::Drop { object, owner: me, dead });
                out.push(Command::Evict { object });
            }
            node::Command::Lost { task, object } => self.lost(now, task, object),
            node::Command::Width(change) => out.push(Command::Width(change)),
        }
    }

    /// An attempt has ended.
    pub(super) fn finished(
        &mut self,
        now: Time,
        slot: SlotId,
        end: End,
        outputs: Vec<(ObjectId, u64)>,
        out: &mut Vec<Command>,
    ) {
        self.count_busy(now);
        let Some(task) = self.node.task_in(slot) else { return };
        // Somebody may have cancelled it while it ended.
        let is_made = end == End::Done && self.held.contains(task);
        if is_made {
            self.count_finished(now, task, slot);
            self.deliveries.insert(task, Delivery::new(outputs.clone()));
        }
        self.tell_node(now, node::Event::Finished { slot, end }, out);
        for (object, bytes) in outputs {
            if is_made {
                self.tell_node(now, node::Event::Kept { object, bytes }, out);
            } else {
                out.push(Command::Evict { object });
            }
        }
    }
}
