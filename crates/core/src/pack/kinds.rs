//! Which kind of task a demand belongs to, for policies that tell kinds apart.

use std::sync::Arc;

use crate::ids::{DemandId, KindId};
use crate::workflow::Workflow;

/// The kinds of a workflow in which each class is of one kind ([`Workflow::tell_kinds_apart`]).
#[derive(Clone, Debug)]
pub struct Kinds {
    of_demand: Arc<[KindId]>,
    flow: Arc<Workflow>,
}

impl Kinds {
    /// Those of a workflow.
    pub fn new(flow: &Arc<Workflow>) -> Kinds {
        Kinds { of_demand: flow.kinds_of_demands().into(), flow: flow.clone() }
    }

    /// The kind of tasks that ask for this.
    pub fn of(&self, demand: DemandId) -> KindId {
        self.of_demand[demand.index()]
    }

    /// The cores that a task says it needs: what nobody has said is to be learnt.
    pub fn asked_cpus_milli(&self, demand: DemandId) -> u64 {
        self.flow.asked_cpus_milli(demand)
    }

    /// The memory that a task says it needs.
    pub fn asked_memory_bytes(&self, demand: DemandId) -> u64 {
        self.flow.resources(demand).memory_bytes
    }
}
