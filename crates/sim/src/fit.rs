//! Whether every task could ever run on a node: a run in which one cannot is not worth beginning.

use std::sync::Arc;

use throng_core::ids::{ClassId, TaskId};
use throng_core::pack::{self, Capacity};
use throng_core::policy::BadPolicy;
use throng_core::pools::Pools;
use throng_core::workflow::{Resources, Workflow};

use crate::cluster::Cluster;
use crate::machines::MachineType;

/// The first task that asks for more than some node has, if there is one, and what that node is: a task may come to any of them.
pub fn misfit(flow: &Arc<Workflow>, cluster: &Cluster) -> Result<Option<(TaskId, MachineType)>, BadPolicy> {
    let pools = Pools::new(Vec::new(), flow);
    for machine in cluster.machine_types() {
        let resources = Resources { cpus_milli: u64::from(machine.cores) * 1000, memory_bytes: machine.memory_bytes };
        let pack = pack::by_name(&cluster.pack, Capacity { width: machine.cores, resources }, flow)?;
        let fits: Vec<bool> = (0..flow.class_count())
            .map(|class| {
                let mut ways = flow.alternatives(ClassId::at(class));
                ways.any(|demand| pack.could_ever_admit(demand) && pools.could_ever_meet(demand))
            })
            .collect();
        if fits.iter().any(|fits| !fits) {
            let task = flow.tasks().find(|task| !fits[flow.class(*task, 1).index()]);
            return Ok(task.map(|task| (task, machine)));
        }
    }
    Ok(None)
}
