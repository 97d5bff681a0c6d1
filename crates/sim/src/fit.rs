//! Whether every task could ever run on a node: a run in which one cannot is not worth beginning.

use std::sync::Arc;

use throng_core::ids::{ClassId, TaskId};
use throng_core::pack::{self, Capacity};
use throng_core::policy::BadPolicy;
use throng_core::pools::Pools;
use throng_core::workflow::{Resources, Workflow};

use crate::cluster::Cluster;

/// The first task that asks for more than a node has, if there is one.
pub fn misfit(flow: &Arc<Workflow>, cluster: &Cluster) -> Result<Option<TaskId>, BadPolicy> {
    let resources = Resources { cpus_milli: u64::from(cluster.cores) * 1000, memory_bytes: cluster.memory_bytes };
    let pack = pack::by_name(&cluster.pack, Capacity { width: cluster.cores, resources }, flow)?;
    let pools = Pools::new(Vec::new(), flow);
    let fits: Vec<bool> = (0..flow.class_count())
        .map(|class| {
            let mut ways = flow.alternatives(ClassId::at(class));
            ways.any(|demand| pack.could_ever_admit(demand) && pools.could_ever_meet(demand))
        })
        .collect();
    if fits.iter().all(|fits| *fits) {
        return Ok(None);
    }
    Ok(flow.tasks().find(|task| !fits[flow.class(*task, 1).index()]))
}
