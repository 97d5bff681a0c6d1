//! What tasks ask of a machine, and what a machine has.
//!
//! A *demand* is one way to run: so many cores, so much memory, so much of things that have a name. A *class* is
//! all ways that would do for a task, the best first; tasks that ask for the same are of one class. A task whose
//! memory grows with its attempts has a class for each.

use std::collections::BTreeMap;
use std::ops::Range;

use bytemuck::{Pod, Zeroable};

use super::{Settings, Span, Workflow};
use crate::ids::{ClassId, DemandId, KindId, TaskId};

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
    pub cpus_milli: u32,
    /// One if somebody has said how many cores it needs.
    pub says_cpus: u32,
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

impl Demands {
    /// The same classes once more; says which is the first of them.
    fn copy(&mut self, classes: Range<u32>) -> u32 {
        let first = self.classes.len() as u32;
        for class in classes {
            let Span { start, count } = self.classes[class as usize];
            self.classes.push(Span { start: self.demands.len() as u32, count });
            self.demands.extend_from_within(start as usize..(start + count) as usize);
        }
        first
    }
}

/// What tasks are held to by a plan: each class is there once for each type of machine, type by type.
#[derive(Clone, Debug, Default)]
pub(super) struct Planned {
    /// For each task its type; empty without a plan.
    type_of: Vec<u16>,
    /// How many classes there are for each type.
    classes: u32,
}

impl Workflow {
    /// The class of an attempt at a task.
    pub fn class(&self, task: TaskId, attempt: u16) -> ClassId {
        let settings = self.settings_of(task);
        let class = settings.class + u32::from(attempt.max(1) - 1).min(settings.class_count - 1);
        let planned = self.planned.type_of.get(task.index()).map_or(0, |of| u32::from(*of) * self.planned.classes);
        ClassId(class + planned)
    }

    /// Holds each task to a type of machine: tasks of different types are of different classes from now on, even if they ask for the same.
    pub fn hold_to_types(&mut self, type_of: Vec<u16>, types: u16) {
        assert_eq!(type_of.len(), self.task_count(), "a plan is for all tasks");
        assert!(self.planned.type_of.is_empty(), "a workflow has one plan");
        let classes = self.class_count() as u32;
        for _ in 1..types {
            self.demands.copy(0..classes);
        }
        self.planned = Planned { type_of, classes };
    }

    /// The type of machine that a plan holds tasks of a class to, if there is a plan.
    pub fn planned_type(&self, class: ClassId) -> Option<u16> {
        (!self.planned.type_of.is_empty()).then(|| (class.0 / self.planned.classes.max(1)) as u16)
    }

    /// The class that this one is a copy of, or itself.
    fn original(&self, class: u32) -> u32 {
        if self.planned.type_of.is_empty() { class } else { class % self.planned.classes.max(1) }
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
            cpus_milli: flat.cpus_milli.into(),
            named: named.iter().map(|one| (self.strings.get(one.name), one.amount_milli.into())).collect(),
        }
    }

    /// The cores that one way to run says it needs; none, if it says nothing.
    pub fn asked_cpus_milli(&self, demand: DemandId) -> u64 {
        let flat = self.demands.demands[demand.index()];
        u64::from(flat.cpus_milli * flat.says_cpus)
    }

    /// The kind of each demand, in a workflow whose kinds are told apart.
    pub fn kinds_of_demands(&self) -> Vec<KindId> {
        let mut kinds = vec![KindId(0); self.demand_count()];
        for (class, kind) in self.kinds_of_classes().into_iter().enumerate() {
            self.alternatives(ClassId::at(class)).for_each(|demand| kinds[demand.index()] = kind);
        }
        kinds
    }

    /// Of each kind, whether any of its tasks runs in a container.
    pub fn contained_kinds(&self) -> Vec<bool> {
        let mut kinds = vec![false; self.kind_count()];
        for settings in &self.settings {
            kinds[settings.kind as usize] |= self.has_container(settings);
        }
        kinds
    }

    /// The kind of each class, in a workflow whose kinds are told apart.
    pub fn kinds_of_classes(&self) -> Vec<KindId> {
        let mut kinds = vec![KindId(0); self.class_count()];
        for settings in &self.settings {
            let classes = settings.class..settings.class + settings.class_count;
            classes.for_each(|class| kinds[class as usize] = KindId(settings.kind));
        }
        (0..kinds.len()).map(|class| kinds[self.original(class as u32) as usize]).collect()
    }

    /// Gives tasks of different kinds different classes even if they ask for the same, for whoever treats kinds differently.
    pub fn tell_kinds_apart(&mut self) {
        let mut owners: BTreeMap<u32, u32> = BTreeMap::new();
        let mut copies: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for at in 0..self.settings.len() {
            let Settings { kind, class, class_count, .. } = self.settings[at];
            if *owners.entry(class).or_insert(kind) == kind {
                continue;
            }
            let copy = copies.entry((kind, class)).or_insert_with(|| self.demands.copy(class..class + class_count));
            self.settings[at].class = *copy;
        }
    }

    /// The cores and the memory of one way to run.
    pub fn resources(&self, demand: DemandId) -> Resources {
        let flat = self.demands.demands[demand.index()];
        Resources { memory_bytes: flat.memory_bytes, cpus_milli: flat.cpus_milli.into() }
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
