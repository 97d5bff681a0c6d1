//! What a run is measured by.

use throng_core::bound::{LowerBound, Moving, expected_seconds};
use throng_core::ids::{ObjectId, TaskId};
use throng_core::workflow::Workflow;

use crate::cluster::{Cluster, Inputs};
use crate::machines::at_speeds;
use crate::outcome::Outcome;
use crate::outside;
use crate::work::Work;

/// Works out what no run could beat, and what the literature expects.
pub(crate) fn judge(flow: &Workflow, cluster: &Cluster, outcome: &mut Outcome) {
    let work = || Work::of(flow, cluster);
    let slots = cluster.slots();
    let ordinary = work();
    let bound = LowerBound::of(flow, slots, |task| ordinary.length(task).as_nanos() as u64);
    let (mean, fastest) = cluster.speeds();
    let bound = LowerBound { cores_ns: cores_ns(flow, cluster, &ordinary), ..bound };
    outcome.work_ns = bound.work_ns;
    outcome.bound = at_speeds(bound, (mean, fastest));
    if flow.has_inputs() {
        let places = outside::places(flow, cluster);
        let best = |of: fn(&crate::MachineType) -> f64| cluster.machine_types().map(|it| of(&it)).fold(0.0, f64::max);
        let moving = Moving {
            bytes_per_second: best(|machine| machine.bandwidth as f64),
            cores: best(|machine| f64::from(machine.cores)),
            bytes: &|object| ordinary.bytes(object),
            lies: &|object| places[object.index() - flow.made_count()],
        };
        let at_best = work().at_speed(fastest);
        let length = |task: TaskId| at_best.length(task).as_nanos() as u64;
        outcome.bound.chain_ns = moving.chain_ns(flow, length).max(outcome.bound.chain_ns);
        outcome.shared_ns = shared_ns(flow, cluster, &ordinary);
    }
    let at_mean = work().at_speed(mean);
    let (seconds, bytes) = (|task| at_mean.length(task).as_secs_f64(), |object| at_mean.bytes(object));
    outcome.analytic_seconds = expected_seconds(flow, slots, cluster.bandwidth as f64, seconds, bytes);
}

/// What tasks need of cores, where that is said, shared among all of the cluster.
fn cores_ns(flow: &Workflow, cluster: &Cluster, work: &Work<'_>) -> u64 {
    let Some(crowd) = &cluster.crowd else { return 0 };
    let asked = |task| flow.resources(flow.first_demand(task)).cpus_milli as f64 / 1000.0;
    let needs = |task: TaskId| crowd.needs_of(flow.kind_name(flow.kind(task)), asked(task)).cores;
    let computed_s: f64 = flow.tasks().map(|task| work.length(task).as_secs_f64() * needs(task)).sum();
    let cores: u32 = cluster.machine_types().map(|machine| machine.count * machine.cores).sum();
    // A little less than it is, so that rounding never makes it more.
    (computed_s / f64::from(cores.max(1)) * 1e9 * (1.0 - 1e-9)) as u64
}

/// The least time in which the shared file system can give out what it has: each file that somebody reads once.
fn shared_ns(flow: &Workflow, cluster: &Cluster, work: &Work<'_>) -> u64 {
    if cluster.inputs != Inputs::Shared {
        return 0;
    }
    let outside = (flow.made_count()..flow.object_count()).map(ObjectId::at);
    let bytes: u128 = outside.map(|object| u128::from(work.bytes(object))).sum();
    let nanoseconds = bytes * 1_000_000_000 / u128::from(cluster.shared_bandwidth.max(1));
    // A little less than it is, so that rounding never makes it more.
    u64::try_from(nanoseconds).unwrap_or(u64::MAX).saturating_sub(1)
}
