//! Which tasks are this member's, and since when: what comes twice or too late must not be taken again.

use super::{Command, Held, Load, Member, Terms, estimated};
use crate::ids::{ClassId, NodeId, TaskId};
use crate::node::{self, ReadyTask};
use crate::place::{Placement, View};
use crate::store::{Holding, Inputs, Phase, Tries};
use crate::time::Time;

/// So many attempts are gone back to find one for which there is room somewhere; then it is the first.
const CLASSES_TRIED: usize = 64;

impl Member {
    /// A task is this member's now: unless it knows already, it is placed.
    pub(super) fn accept(&mut self, now: Time, load: Load, out: &mut Vec<Command>) {
        let Load { ready, inputs, tenure } = load;
        if self.knows(ready.task) {
            return;
        }
        self.held.insert(ready.task, Held { generation: ready.generation, tenure });
        self.place_task(now, ready, inputs, out);
    }

    /// Whether a task is among those that are here, or news of it are older than what is known.
    pub(super) fn knows(&self, task: TaskId) -> bool {
        self.held.contains(task) || self.leaving.contains_key(&task) || self.is_out_of_date(task)
    }

    /// Decides what becomes of a task that is this member's.
    pub(super) fn place_task(&mut self, now: Time, ready: ReadyTask, inputs: Inputs, out: &mut Vec<Command>) {
        if self.not_found.contains_key(&ready.task) {
            // It is counted here how often what it reads was not to be found; elsewhere that would begin anew.
            return self.enqueue(now, ready, inputs, Terms::Keep, out);
        }
        let mut view = View {
            me: self.setup.me.node,
            nodes: self.setup.nodes,
            estimated: estimated(&self.flow, &self.means, self.mean, ready.task),
            bandwidth: self.setup.bandwidth,
            has_largest: inputs.largest.is_some_and(|object| self.node.has_object(object)),
            home: self.setup.homes.get(ready.task.index()).map(|node| NodeId(*node)),
            rng: &mut self.rng,
        };
        match self.place.ready(&ready, &inputs, &mut view) {
            Placement::Push(node) if !self.takes_tasks(node) || !self.setup.abilities.can_run(node, ready.class) => {
                self.enqueue(now, ready, inputs, Terms::Share, out);
            }
            Placement::Push(node) => {
                self.tally.pushed += 1;
                self.hand_over(ready, inputs, self.address(node, Terms::Keep));
            }
            Placement::Host(node) if self.is_gone(node) => self.enqueue(now, ready, inputs, Terms::Keep, out),
            Placement::Host(node) if node != self.setup.me.node => {
                self.hand_over(ready, inputs, self.address(node, Terms::Host));
            }
            Placement::Keep => self.enqueue(now, ready, inputs, Terms::Keep, out),
            Placement::Share => self.enqueue(now, ready, inputs, Terms::Share, out),
            Placement::Host(_) => self.enqueue(now, ready, inputs, Terms::Host, out),
            Placement::Probe(mut nodes) => {
                nodes.retain(|node| self.setup.abilities.can_run(*node, ready.class));
                self.probe(now, ready, inputs, nodes, out);
            }
        }
    }

    pub(super) fn enqueue(
        &mut self,
        now: Time,
        ready: ReadyTask,
        inputs: Inputs,
        terms: Terms,
        out: &mut Vec<Command>,
    ) {
        match terms {
            Terms::Keep | Terms::Share | Terms::Verify if !self.can_run(ready.class) => {
                self.pass_on(now, ready, inputs)
            }
            Terms::Keep => {
                self.note_elsewhere(ready.task);
                self.tell_node(now, node::Event::Ready(ready), out);
            }
            Terms::Share | Terms::Verify => {
                self.note_elsewhere(ready.task);
                self.tell_node(now, node::Event::Offered(ready), out);
            }
            Terms::Host => self.take_in(now, ready, inputs, out),
        }
    }

    fn can_run(&self, class: ClassId) -> bool {
        self.setup.abilities.can_run(self.setup.me.node, class)
    }

    /// A task that could never run here goes to a node where it could. If none of those is there, it is looked at again later.
    fn pass_on(&mut self, now: Time, ready: ReadyTask, inputs: Inputs) {
        let (abilities, mut rng, me) = (self.setup.abilities.clone(), self.rng.clone(), self.setup.me.node);
        let node = abilities.draw(ready.class, &mut rng, |node| node != me && self.takes_tasks(node));
        self.rng = rng;
        match node {
            Some(node) => self.hand_over(ready, inputs, self.address(node, Terms::Share)),
            None => self.put_off(now, ready.task),
        }
    }

    /// What a node has to know of a task that the store made this member's.
    pub(super) fn ready_task(&self, task: TaskId, tries: Tries, generation: u16, inputs: &Inputs) -> ReadyTask {
        let attempt = tries.last.saturating_add(1);
        // What a task asks for may grow with each attempt, but never beyond what some node has.
        let classes = (1..=attempt).rev().map(|attempt| self.flow.class(task, attempt));
        let class = classes.take(CLASSES_TRIED).find(|class| !self.setup.abilities.is_beyond_all(*class));
        ReadyTask {
            task,
            class: class.unwrap_or_else(|| self.flow.class(task, 1)),
            priority: self.flow.priority(task),
            attempt,
            excused: tries.excused,
            generation,
            input_bytes: inputs.total_bytes,
        }
    }

    pub(super) fn load_of(&self, task: TaskId, tries: Tries, generation: u16, tenure: u16, inputs: Inputs) -> Load {
        Load { ready: self.ready_task(task, tries, generation, &inputs), inputs, tenure }
    }

    pub(super) fn generation(&self, task: TaskId) -> u16 {
        self.held.get(task).map_or(0, |held| held.generation)
    }

    /// Takes in what the store says is this member's.
    pub(super) fn accept_holding(&mut self, now: Time, holding: Holding, out: &mut Vec<Command>) {
        let Holding { task, phase, generation, tries, tenure, verdict, inputs, outputs } = holding;
        if self.is_out_of_date(task) {
            return;
        }
        match phase {
            Phase::Ready | Phase::Running if self.knows(task) => {}
            Phase::Ready | Phase::Running if self.look_again.contains_key(&task) => {}
            Phase::Ready | Phase::Running => {
                self.inquiries.note(task);
                if generation > 0 {
                    self.retain_inputs(task, generation);
                }
                let ready = self.ready_task(task, tries, generation, &inputs);
                self.accept(now, Load { ready, inputs, tenure }, out);
            }
            Phase::Settled => self.deliver_again(task, verdict, generation, outputs),
            Phase::Waiting | Phase::Delivered => {}
        }
    }

    /// A task is not this member's any more; says whether it was.
    pub(super) fn let_go(&mut self, task: TaskId) -> bool {
        if self.asks_what_it_owns() {
            self.let_go_after.insert(task, self.serial);
            self.let_go_order.push_back((self.serial, task));
        }
        self.held.remove(task).is_some()
    }

    /// Whether it may ask the store what it owns, and get an answer that is out of date.
    fn asks_what_it_owns(&self) -> bool {
        self.setup.has_leases || !self.setup.abilities.are_equal()
    }

    /// Whether an answer that is being read was given before this member let go of a task.
    pub(super) fn is_out_of_date(&self, task: TaskId) -> bool {
        let last = self.let_go_after.get(&task);
        last.is_some_and(|last| self.answering.is_some_and(|question| question <= *last))
    }

    /// Forgets what no answer can be older than.
    pub(super) fn forget_old(&mut self) {
        let oldest = self.asked.keys().next().copied().unwrap_or(u64::MAX);
        while let Some((_, task)) = self.let_go_order.front().copied().filter(|(after, _)| *after < oldest) {
            self.let_go_order.pop_front();
            // It may have come back and been let go of again since.
            if self.let_go_after.get(&task).is_some_and(|last| *last < oldest) {
                self.let_go_after.remove(&task);
            }
        }
    }
}
