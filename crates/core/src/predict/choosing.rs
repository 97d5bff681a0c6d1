//! Who chooses what starts next.

use std::collections::{BTreeSet, VecDeque};

use crate::ids::{ClassId, TaskId};
use crate::node::ReadyTask;
use crate::order::Order;

/// What a free unit does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// It starts a task that is ready.
    Start(TaskId),
    /// It waits until this one is, and then starts it.
    Wait(TaskId),
    /// It asks again when something has changed.
    Nothing,
}

/// Chooses what starts next, and is told what happens.
pub trait Chooser {
    /// A task may start.
    fn ready(&mut self, _task: TaskId) {}
    /// A unit is free.
    fn choose(&mut self, now: u64, ready: &BTreeSet<TaskId>) -> Choice;
    /// A task has started.
    fn started(&mut self, _task: TaskId) {}
    /// A task has ended.
    fn ended(&mut self, _task: TaskId) {}
    /// An item has come into the cache, or has gone.
    fn cached(&mut self, _item: u32, _is_here: bool) {}
}

/// An order of the engine, which is told of objects by their numbers in the workflow.
pub struct InOrder<F> {
    order: Box<dyn Order>,
    /// A task as it stands in a queue.
    as_ready: F,
}

impl<F: Fn(TaskId) -> ReadyTask> InOrder<F> {
    /// The order.
    pub fn new(order: Box<dyn Order>, as_ready: F) -> Self {
        InOrder { order, as_ready }
    }
}

impl<F: Fn(TaskId) -> ReadyTask> Chooser for InOrder<F> {
    fn ready(&mut self, task: TaskId) {
        self.order.push((self.as_ready)(task));
    }

    fn choose(&mut self, _now: u64, _ready: &BTreeSet<TaskId>) -> Choice {
        self.order.pop(&|_: ClassId| true).map_or(Choice::Nothing, |ready| Choice::Start(ready.task))
    }

    fn ended(&mut self, task: TaskId) {
        self.order.ended(task);
    }

    fn cached(&mut self, item: u32, is_here: bool) {
        self.order.item(item, is_here);
    }
}

/// Units take the next task of one order of all, whether it is ready or not: Meng and Golab's PS.
pub struct Follower {
    left: VecDeque<TaskId>,
}

impl Follower {
    /// Follows this order.
    pub fn new(order: Vec<TaskId>) -> Follower {
        Follower { left: order.into() }
    }
}

impl Chooser for Follower {
    fn choose(&mut self, _now: u64, ready: &BTreeSet<TaskId>) -> Choice {
        match self.left.pop_front() {
            Some(task) if ready.contains(&task) => Choice::Start(task),
            Some(task) => Choice::Wait(task),
            None => Choice::Nothing,
        }
    }
}

/// Every unit has a list of its own.
pub struct FixedLists {
    lists: Vec<VecDeque<TaskId>>,
    /// The task after which a unit asks again, for each that has taken one.
    taken: Vec<Option<TaskId>>,
}

impl FixedLists {
    /// The lists, one for each unit.
    pub fn new(lists: Vec<Vec<TaskId>>) -> FixedLists {
        let taken = vec![None; lists.len()];
        FixedLists { lists: lists.into_iter().map(VecDeque::from).collect(), taken }
    }
}

impl Chooser for FixedLists {
    fn choose(&mut self, _now: u64, ready: &BTreeSet<TaskId>) -> Choice {
        // Units ask in order, and each only when it is free: the first whose task has ended is the one that asks.
        let Some(unit) =
            (0..self.lists.len()).find(|unit| self.taken[*unit].is_none() && !self.lists[*unit].is_empty())
        else {
            return Choice::Nothing;
        };
        let Some(task) = self.lists[unit].pop_front() else { return Choice::Nothing };
        self.taken[unit] = Some(task);
        if ready.contains(&task) { Choice::Start(task) } else { Choice::Wait(task) }
    }

    fn ended(&mut self, task: TaskId) {
        self.taken.iter_mut().filter(|taken| **taken == Some(task)).for_each(|taken| *taken = None);
    }
}
