//! A simulated run as JSON: everything, in whole nanoseconds and bytes, and nothing that differs from one time to the next.

use serde_json::{Value, json};
use throng_core::workflow::Workflow;
use throng_sim::{Cluster, Outcome};

use super::options::{inputs_word, submission_word};
use super::sizes::Found;
use super::{faults, loads};

/// All figures of a simulated run.
pub fn figures(flow: &Workflow, cluster: &Cluster, outcome: &Outcome, found: &Found) -> Value {
    json!({
        "workflow": flow.title(),
        "simulated": true,
        "tasks": flow.task_count(),
        "cluster": cluster_figures(cluster),
        "result": result(outcome),
        "warnings": found.warnings,
    })
}

/// The cluster, as it was modelled.
pub fn cluster_figures(cluster: &Cluster) -> Value {
    json!({
        "nodes": cluster.nodes,
        "cores": cluster.types.is_empty().then_some(cluster.cores),
        "machines": (!cluster.types.is_empty()).then(|| machines(cluster)),
        "memory_bytes": cluster.memory_bytes,
        "bandwidth_bytes_per_s": cluster.bandwidth,
        "core_bandwidth_bytes_per_s": cluster.core_bandwidth,
        "shared_bandwidth_bytes_per_s": cluster.shared_bandwidth,
        "disk_bandwidth_bytes_per_s": cluster.disk_bandwidth,
        "memory_tier_bytes": cluster.disk_bandwidth.map(|_| cluster.memory_tier_bytes),
        "latency_ns": cluster.latency.as_nanos() as u64,
        "cache_bytes": cluster.cache_bytes,
        "staged_per_core": cluster.staged_per_core,
        "store_latency_ns": cluster.store_latency.as_nanos() as u64,
        "store_shards": cluster.store_shards,
        "store_rate_per_s": cluster.store_rate,
        "inputs": inputs_word(cluster.inputs),
        "submit": submission_word(cluster.submission),
        "place": cluster.place.to_string(),
        "order": cluster.order.to_string(),
        "pack": cluster.pack.to_string(),
        "vary_time": cluster.variation.time,
        "vary_size": cluster.variation.size,
        "faults": faults::written(&cluster.faults),
        "width": cluster.width,
        "loads": cluster.crowd.as_ref().map(loads::written).unwrap_or_default(),
        "seed": cluster.seed,
    })
}

/// Machines that are not all alike.
fn machines(cluster: &Cluster) -> Vec<Value> {
    let machines = cluster.types.iter().map(|machine| {
        json!({
            "count": machine.count,
            "cores": machine.cores,
            "speed": machine.speed,
            "memory_bytes": machine.memory_bytes,
            "bandwidth_bytes_per_s": machine.bandwidth,
        })
    });
    machines.collect()
}

/// What came out.
pub fn result(outcome: &Outcome) -> Value {
    let (bound, is_whole) = (&outcome.bound, outcome.not_done == 0);
    let damage = json!({
        "crashes": outcome.crashes,
        "restarts": outcome.restarts,
        "failed_attempts": outcome.failed_attempts,
        "made_room": outcome.made_room,
        "out_of_memory": outcome.out_of_memory,
        "killed_attempts": outcome.killed_attempts,
        "lost_ns": whole(outcome.lost_ns),
        "lost_inputs": outcome.lost_inputs,
        "never_fitted": outcome.never_fitted,
        "lost_messages": outcome.lost_messages,
    });
    json!({
        "stuck": outcome.stuck.as_ref().map(|why| why.replace('\n', "; ")),
        "done": outcome.done,
        "not_done": outcome.not_done,
        "failed": outcome.failed,
        "quarantined": outcome.quarantined,
        "skipped": outcome.skipped,
        "slots": outcome.slots,
        "makespan_ns": outcome.makespan.as_nanos() as u64,
        "bound_ns": outcome.bound_ns(),
        "bound_shared_ns": outcome.shared_ns,
        "bound_share_ns": bound.share_ns(),
        "bound_chain_ns": bound.chain_ns,
        "work_ns": whole(outcome.work_ns),
        "bound_of_makespan": is_whole.then(|| outcome.of_bound()),
        "analytic_ns": (outcome.analytic_seconds * 1e9).round() as u64,
        "analytic_of_makespan": is_whole.then(|| outcome.of_analytic()),
        "busy_ns": whole(outcome.busy_ns),
        "useful_ns": whole(outcome.useful_ns),
        "efficiency": outcome.efficiency(),
        "utilisation": outcome.utilisation(),
        "tasks_per_s": outcome.throughput(),
        "core_ns_per_task": (outcome.seconds_per_task() * 1e9).round() as u64,
        "moved_bytes": outcome.moved_bytes,
        "moves": outcome.moves,
        "disk_read_bytes": outcome.disk_read_bytes,
        "disk_written_bytes": outcome.disk_written_bytes,
        "cache_hits": outcome.hits,
        "cache_misses": outcome.misses,
        "cache_missed_bytes": outcome.missed_bytes,
        "steals_tried": outcome.hunts,
        "steals_won": outcome.hunts_won,
        "stolen": outcome.stolen,
        "pushed": outcome.pushed,
        "migrated": outcome.migrated,
        "reopened": outcome.reopened,
        "claimed": outcome.claimed,
        "faults": damage,
        "store_operations": outcome.store_verbs,
        "store_batches": outcome.store_batches,
        "messages": outcome.messages,
        "events": outcome.events,
    })
}

/// JSON has no larger numbers; five centuries of one core fit in.
fn whole(ns: u128) -> u64 {
    u64::try_from(ns).unwrap_or(u64::MAX)
}
