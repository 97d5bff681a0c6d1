//! What tasks ask of a machine, and what a machine has.
//!
//! A *demand* is one way to run: so many cores, so much memory, so much of things that have a name. A *class* is
//! all ways that would do for a task, the best first; tasks that ask for the same are of one class. A task whose
//! memory grows with its attempts has a class for each.

use bytemuck::{Pod, Zeroable};

use super::{Span, Workflow};
use crate::ids::{ClassId, DemandId, TaskId};

/// What there is of cores and memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Resources {
    /// Bytes of memory; zero when nothing was said.
    pub memory_bytes: u64,
    /// Thousandths of a core.
    pub cpus_milli: u64,
}

/// Something else that a machine has, by its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pool {
    /// Its name.
    pub name: String,
    /// Its units by their ids, if it matters which of them a task gets.
    pub ids: Vec<String>,
    /// How much there is, in thousandths.
    pub amount_milli: u64,
}

impl Pool {
    /// So much of something.
    pub fn of(name: &str, amount_milli: u64) -> Pool {
        Pool { name: name.to_owned(), ids: Vec::new(), amount_milli }
    }

    /// Units that can be told apart.
    pub fn with_ids(name: &str, ids: Vec<String>) -> Pool {
        Pool { name: name.to_owned(), amount_milli: ids.len() as u64 * 1000, ids }
    }
}

/// One way to run a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand<'a> {
    /// Bytes of memory; zero when nothing was said.
    pub memory_bytes: u64,
    /// Thousandths of a core.
    pub cpus_milli: u64,
    /// Names, and thousandths of each.
    pub named: Vec<(&'a str, u64)>,
}

/// A demand as it lies in the workflow.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(super) struct FlatDemand {
    pub memory_bytes: u64,
    pub cpus_milli: u64,
    pub named: Span,
}

/// An amount of something with a name.
#[repr(C)]
#[derive(Clone, Copy, Debug, Pod, Zeroable)]
pub(super) struct NamedAmount {
    /// The number of a string.
    pub name: u32,
    pub amount_milli: u32,
}

/// All demands of a workflow.
#[derive(Clone, Debug, Default)]
pub(super) struct Demands {
    /// Which demands make up each class.
    pub classes: Vec<Span>,
    pub demands: Vec<FlatDemand>,
    pub named: Vec<NamedAmount>,
}

impl Workflow {
    /// The class of an attempt at a task.
    pub fn class(&self, task: TaskId, attempt: u16) -> ClassId {
        let settings = self.settings_of(task);
        ClassId(settings.class + u32::from(attempt.max(1) - 1).min(settings.class_count - 1))
    }

    /// How many classes there are.
    pub fn class_count(&self) -> usize {
        self.demands.classes.len()
    }

    /// The ways to run the tasks of a class, the preferred first.
    pub fn alternatives(&self, class: ClassId) -> impl ExactSizeIterator<Item = DemandId> + use<> {
        let Span { start, count } = self.demands.classes[class.index()];
        (start..start + count).map(DemandId)
    }

    /// How many demands there are.
    pub fn demand_count(&self) -> usize {
        self.demands.demands.len()
    }

    /// One way to run.
    pub fn demand(&self, demand: DemandId) -> Demand<'_> {
        let flat = self.demands.demands[demand.index()];
        let named = &self.demands.named[flat.named.range()];
        Demand {
            memory_bytes: flat.memory_bytes,
            cpus_milli: flat.cpus_milli,
            named: named.iter().map(|one| (self.strings.get(one.name), one.amount_milli.into())).collect(),
        }
    }

    /// The cores and the memory of one way to run.
    pub fn resources(&self, demand: DemandId) -> Resources {
        let flat = self.demands.demands[demand.index()];
        Resources { memory_bytes: flat.memory_bytes, cpus_milli: flat.cpus_milli }
    }

    /// Whether any task asks for something of this name.
    pub fn asks_for(&self, name: &str) -> bool {
        self.demands.named.iter().any(|one| self.strings.get(one.name) == name)
    }

    /// What a task asks for at first, if nothing better is known.
    pub fn first_demand(&self, task: TaskId) -> DemandId {
        self.alternatives(self.class(task, 1)).next().expect("a class has at least one demand")
    }
}
