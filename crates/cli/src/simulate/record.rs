//! Putting a simulated run on record: `throng report` and its like then tell of it as of any other.

use std::sync::Arc;

use throng_core::predict::Expected;
use throng_core::workflow::Workflow;
use throng_runtime::simulated::SimulatedRun;
use throng_runtime::state::{DataEnd, ExpectedData, NodeSetup, RunEnd, Simulation, StateDirectory, StateError};
use throng_sim::{Cluster, Outcome};

use super::curve::expected;
use super::figures::cluster_figures;
use crate::exit::Failure;
use crate::load::{FlowArguments, Loaded};

/// Refuses early what could not be written in the end.
pub fn check(loaded: &Loaded) -> Result<(), Failure> {
    let state = StateDirectory::new(&loaded.state);
    if state.is_locked() {
        let message = format!("another run is using {}", state.path().display());
        return Err(Failure::bad_input(message, BUSY));
    }
    state.check_home(&loaded.home).map_err(refused)
}

const BUSY: &str = "wait until it has ended, or keep the record elsewhere with --state";

fn refused(error: StateError) -> Failure {
    match error {
        StateError::Locked { .. } => Failure::bad_input(error, BUSY),
        StateError::Elsewhere { .. } => Failure::bad_input(error, "give the state of this directory with --state"),
        _ => Failure::internal(error, "make room, or keep the record elsewhere with --state"),
    }
}

/// Writes a simulated run into the workflow's state directory; returns its number.
pub fn record(
    (loaded, source): (&Loaded, &FlowArguments),
    (flow, cluster): (&Arc<Workflow>, &Cluster),
    outcome: &Outcome,
    trace: &[u8],
) -> Result<u64, Failure> {
    let width = cluster.slots();
    let node = NodeSetup {
        place: cluster.place.to_string(),
        order: cluster.order.to_string(),
        pack: cluster.pack.to_string(),
        width,
        cpus_milli: u64::from(width) * 1000,
        memory_bytes: cluster
            .machine_types()
            .map(|machine| machine.memory_bytes.saturating_mul(machine.count.into()))
            .fold(0, u64::saturating_add),
        all_memory_bytes: 0,
        grace_ms: 0,
        fail_fast: false,
        pools: Vec::new(),
        tier: None,
        learnt: Vec::new(),
    };
    let types: Vec<_> = cluster.machine_types().collect();
    let is_plain = cluster.types.is_empty() && types.iter().all(|machine| cluster.width(machine) == machine.cores);
    let groups = types.iter().filter(|_| !is_plain).map(|machine| (machine.count, cluster.width(machine))).collect();
    let cores = if let [alike] = &types[..] { alike.cores } else { cluster.cores };
    let (nodes, seed) = (cluster.nodes, cluster.seed);
    let run = SimulatedRun {
        flow,
        file: &source.flow,
        definition: &loaded.definition,
        node,
        simulation: Simulation { nodes, cores, groups, seed, cluster: cluster_figures(cluster) },
        end: end(flow, cluster, outcome),
        trace,
    };
    run.record(&StateDirectory::new(&loaded.state), &loaded.home).map_err(refused)
}

fn end(flow: &Arc<Workflow>, cluster: &Cluster, outcome: &Outcome) -> RunEnd {
    let has_all = outcome.done == flow.task_count() as u64;
    let expected = if has_all { expected(flow, cluster).ok().flatten() } else { None };
    let data = flow.has_inputs().then(|| DataEnd {
        capacity_bytes: cluster.room_bytes(),
        hits: outcome.hits,
        misses: outcome.misses,
        brought_bytes: outcome.missed_bytes,
        expected: expected.map(|Expected { misses, bytes }| ExpectedData { misses, bytes }),
        ..DataEnd::default()
    });
    let total = flow.task_count() as u64;
    let seconds = outcome.makespan.as_secs_f64();
    RunEnd {
        // Not `done`: nobody may take it for work that has been done.
        state: "simulated".to_owned(),
        total,
        done: outcome.done,
        up_to_date: 0,
        failed: outcome.failed + outcome.quarantined,
        skipped: outcome.skipped,
        seconds,
        makespan_s: seconds,
        tasks_per_s: outcome.throughput(),
        data,
        not_kept: None,
    }
}
