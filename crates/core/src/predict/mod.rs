//! What an order will cost on a machine with a cache, before anything runs.
//!
//! The machine is the one that Meng and Golab simulate: units that share one cache in front of slow storage that has everything. A
//! task that starts reads its items one by one; what is not in the cache is loaded, and that takes its time in the task's
//! own. What it makes is in the cache when it ends. There is no network, no staging ahead of time and no contention: what comes out is how
//! often an order misses, and about how long that makes a run. [`crate::node`] has the machinery of the real thing.
//!
//! At one moment, first tasks end, in the order of their starts; then units start what they have waited for; then the
//! others choose, the first first.

mod cache;
mod choosing;
mod model;
mod named;

pub use cache::Cached;
pub use choosing::{Choice, Chooser, FixedLists, Follower, InOrder};
pub use model::{Model, ModelBuilder};
pub use named::{Expected, by_name, expect};

use std::collections::{BTreeMap, BTreeSet};

use crate::evict::Evict;
use crate::ids::TaskId;

/// For more tasks than this, what was to be expected is not worked out: nobody would wait for it.
pub const TASKS_LIMIT: usize = 200_000;

/// A machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Machine {
    /// How many tasks run at once.
    pub units: usize,
    /// How much the cache holds, in what items are measured by.
    pub cache: u64,
}

/// What one task did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ran {
    /// Which.
    pub task: TaskId,
    /// Where.
    pub unit: usize,
    /// When it started.
    pub start: u64,
    /// When it ended.
    pub end: u64,
    /// The items that it had to load, in ascending order.
    pub missed: Vec<u32>,
}

/// What a run came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// All tasks, in the order of their starts.
    pub tasks: Vec<Ran>,
    /// When the last one ended.
    pub makespan: u64,
    /// How often an item had to be loaded.
    pub misses: u64,
    /// How often one was there.
    pub hits: u64,
    /// The size of what had to be loaded.
    pub missed_bytes: u128,
    /// The time in which units had nothing to do.
    pub idle: u128,
}

/// What a unit is at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Free,
    Waits(TaskId),
    Runs(TaskId),
}

struct Run<'a> {
    model: &'a Model,
    cached: Cached<'a>,
    units: Vec<Unit>,
    /// Units that wait, in the order in which they began to.
    waiting: Vec<usize>,
    ready: BTreeSet<TaskId>,
    open: Vec<u32>,
    /// What ends next: when, which start it was, and where.
    ends: BTreeMap<(u64, usize), usize>,
    outcome: Outcome,
    now: u64,
}

/// Runs a workflow to its end, or until whoever chooses has nothing more to start.
pub fn run(model: &Model, machine: Machine, chooser: &mut dyn Chooser, evict: Box<dyn Evict>) -> Outcome {
    let open: Vec<u32> = model.tasks().map(|task| model.parent_count(task)).collect();
    let mut run = Run {
        model,
        cached: Cached::new(model.items(), machine.cache, evict),
        units: vec![Unit::Free; machine.units],
        waiting: Vec::new(),
        ready: BTreeSet::new(),
        open,
        ends: BTreeMap::new(),
        outcome: Outcome::default(),
        now: 0,
    };
    for task in model.tasks().filter(|task| model.parent_count(*task) == 0) {
        run.became_ready(task, chooser);
    }
    run.go(chooser);
    let busy: u128 = run.outcome.tasks.iter().map(|ran| u128::from(ran.end - ran.start)).sum();
    run.outcome.idle = machine.units as u128 * u128::from(run.outcome.makespan) - busy;
    run.outcome
}

impl Run<'_> {
    fn go(&mut self, chooser: &mut dyn Chooser) {
        loop {
            self.start_awaited(chooser);
            self.fill(chooser);
            let Some((&(time, _), _)) = self.ends.first_key_value() else { return };
            self.now = time;
            while let Some(entry) = self.ends.first_entry().filter(|entry| entry.key().0 == time) {
                let unit = entry.remove();
                self.end(unit, chooser);
            }
        }
    }

    fn became_ready(&mut self, task: TaskId, chooser: &mut dyn Chooser) {
        self.ready.insert(task);
        self.cached.evict.ready(task);
        chooser.ready(task);
    }

    fn end(&mut self, unit: usize, chooser: &mut dyn Chooser) {
        let Unit::Runs(task) = std::mem::replace(&mut self.units[unit], Unit::Free) else { return };
        self.outcome.makespan = self.now;
        for item in self.model.items().outputs(task) {
            self.cached.insert(*item);
        }
        self.tell(chooser);
        chooser.ended(task);
        for child in self.model.children(task) {
            self.open[child.index()] -= 1;
            if self.open[child.index()] == 0 {
                self.became_ready(*child, chooser);
            }
        }
    }

    fn tell(&mut self, chooser: &mut dyn Chooser) {
        for (item, is_here) in self.cached.changes.drain(..) {
            chooser.cached(item, is_here);
        }
    }

    fn start_awaited(&mut self, chooser: &mut dyn Chooser) {
        for unit in std::mem::take(&mut self.waiting) {
            match self.units[unit] {
                Unit::Waits(task) if self.ready.contains(&task) => self.start(task, unit, chooser),
                _ => self.waiting.push(unit),
            }
        }
    }

    fn fill(&mut self, chooser: &mut dyn Chooser) {
        for unit in 0..self.units.len() {
            if self.units[unit] != Unit::Free {
                continue;
            }
            match chooser.choose(self.now, &self.ready) {
                Choice::Start(task) => self.start(task, unit, chooser),
                Choice::Wait(task) => {
                    self.units[unit] = Unit::Waits(task);
                    self.waiting.push(unit);
                }
                Choice::Nothing => {}
            }
        }
    }

    fn start(&mut self, task: TaskId, unit: usize, chooser: &mut dyn Chooser) {
        self.ready.remove(&task);
        let mut missed = Vec::new();
        let mut length = self.model.compute(task).saturating_add(self.model.outside(task));
        self.cached.evict.started(task);
        for item in self.model.items().inputs(task) {
            if self.cached.read(*item) {
                self.outcome.hits += 1;
                continue;
            }
            missed.push(*item);
            length = length.saturating_add(self.model.load(*item));
            self.outcome.missed_bytes += u128::from(self.model.items().weight(*item));
        }
        self.outcome.misses += missed.len() as u64;
        chooser.started(task);
        self.tell(chooser);
        let end = self.now.saturating_add(length);
        self.ends.insert((end, self.outcome.tasks.len()), unit);
        self.outcome.tasks.push(Ran { task, unit, start: self.now, end, missed });
        self.units[unit] = Unit::Runs(task);
    }
}
