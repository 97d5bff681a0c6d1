//! Which tasks could ever run on which machines: a run with one that could run on none is not worth beginning.

use std::sync::Arc;

use throng_core::ids::{ClassId, TaskId};
use throng_core::pack::{self, Capacity};
use throng_core::place::Abilities;
use throng_core::policy::BadPolicy;
use throng_core::pools::Pools;
use throng_core::workflow::{Resources, Workflow};

use crate::cluster::Cluster;
use crate::machines::MachineType;

/// What the machines of a cluster could run if nothing else did.
pub(crate) fn abilities(flow: &Arc<Workflow>, cluster: &Cluster) -> Result<Abilities, BadPolicy> {
    let pools = Pools::new(Vec::new(), flow);
    let (mut counts, mut packs) = (Vec::new(), Vec::new());
    for machine in cluster.machine_types() {
        let MachineType { count, cores, memory_bytes, .. } = machine;
        let width = cluster.width(&machine);
        let resources = Resources { cpus_milli: u64::from(cores) * 1000, memory_bytes };
        counts.push(count);
        packs.push(pack::by_name(&cluster.pack, Capacity { width, resources }, flow)?);
    }
    Ok(Abilities::new(&counts, flow.class_count(), |machine: usize, class: ClassId| {
        if flow.planned_type(class).is_some_and(|planned| usize::from(planned) != machine) {
            return false;
        }
        let mut ways = flow.alternatives(class);
        ways.any(|demand| packs[machine].could_ever_admit(demand) && pools.could_ever_meet(demand))
    }))
}

/// The first task that asks for more than any node has, if there is one.
pub fn misfit(flow: &Arc<Workflow>, cluster: &Cluster) -> Result<Option<TaskId>, BadPolicy> {
    let abilities = abilities(flow, cluster)?;
    if abilities.are_equal() {
        return Ok(None);
    }
    Ok(flow.tasks().find(|task| abilities.is_beyond_all(flow.class(*task, 1))))
}
