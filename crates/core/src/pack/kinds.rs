//! Which kind of task a demand belongs to, and what it asks for in so many words, for policies that tell kinds apart and learn the rest.

use std::sync::Arc;

use crate::ids::{DemandId, KindId};
use crate::workflow::{Resources, Workflow};

/// The kinds of a workflow in which each class is of one kind ([`Workflow::tell_kinds_apart`]).
#[derive(Clone, Debug)]
pub struct Kinds {
    of_demand: Arc<[KindId]>,
    first_demands: Arc<[Option<DemandId>]>,
    /// Whether tasks of a kind run in containers.
    are_contained: Arc<[bool]>,
    flow: Arc<Workflow>,
}

impl Kinds {
    /// Those of a workflow.
    pub fn new(flow: &Arc<Workflow>) -> Kinds {
        let (of_demand, are_contained) = (flow.kinds_of_demands(), flow.contained_kinds().into());
        let mut first_demands = vec![None; flow.kind_count()];
        for (demand, kind) in of_demand.iter().enumerate() {
            first_demands[kind.index()].get_or_insert(DemandId::at(demand));
        }
        Kinds { of_demand: of_demand.into(), first_demands: first_demands.into(), are_contained, flow: flow.clone() }
    }

    /// The kind of tasks that ask for this.
    pub fn of(&self, demand: DemandId) -> KindId {
        self.of_demand[demand.index()]
    }

    /// Whether tasks of a kind run in containers: somebody else starts those, so nothing that is seen of them says what they use.
    pub fn are_contained(&self, kind: KindId) -> bool {
        self.are_contained[kind.index()]
    }

    /// How many kinds there are.
    pub fn count(&self) -> usize {
        self.flow.kind_count()
    }

    /// What a task of a kind asks for, in the first of the ways that would do.
    pub fn first_demand(&self, kind: KindId) -> Option<DemandId> {
        self.first_demands[kind.index()]
    }

    /// The cores that a task says it needs: what nobody has said is to be learnt.
    pub fn asked_cpus_milli(&self, demand: DemandId) -> u64 {
        self.flow.asked_cpus_milli(demand)
    }

    /// Cores and memory that a task says it needs: what nobody has said is to be learnt.
    pub fn asked(&self, demand: DemandId) -> Resources {
        Resources { cpus_milli: self.asked_cpus_milli(demand), ..self.flow.resources(demand) }
    }
}

/// What running tasks have asked for, out of what there is.
#[derive(Clone, Copy, Debug)]
pub struct Reserved {
    all: Resources,
    taken: Resources,
}

impl Reserved {
    /// Nothing, out of so much.
    pub fn of(all: Resources) -> Reserved {
        Reserved { all, taken: Resources { memory_bytes: 0, cpus_milli: 0 } }
    }

    /// Whether there is room for so much more.
    pub fn has_room(&self, asked: Resources) -> bool {
        self.taken.cpus_milli.saturating_add(asked.cpus_milli) <= self.all.cpus_milli
            && self.taken.memory_bytes.saturating_add(asked.memory_bytes) <= self.all.memory_bytes
    }

    /// Whether there would be, if there were nothing else.
    pub fn could_have(&self, asked: Resources) -> bool {
        asked.cpus_milli <= self.all.cpus_milli && asked.memory_bytes <= self.all.memory_bytes
    }

    /// Takes so much.
    pub fn take(&mut self, asked: Resources) {
        self.taken.cpus_milli += asked.cpus_milli;
        self.taken.memory_bytes += asked.memory_bytes;
    }

    /// Gives so much back.
    pub fn give_back(&mut self, asked: Resources) {
        self.taken.cpus_milli -= asked.cpus_milli;
        self.taken.memory_bytes -= asked.memory_bytes;
    }
}
