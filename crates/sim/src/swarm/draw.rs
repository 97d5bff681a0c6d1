//! What a seed stands for: a workflow, a cluster, policies and their parameters, and faults.
//!
//! Whatever was added later draws from a stream of its own, so that seeds keep their meaning as far as that is possible.

use std::fmt::Write as _;
use std::time::Duration;

use throng_core::locality::Metric;
use throng_core::rng::Rng;

use super::Case;
use crate::cluster::{Cluster, Inputs, Later, Submission, Variation};
use crate::crowd::{Crowd, Needs, NeedsOf, Neighbour, Remote};
use crate::faults::{Cancel, Crash, Crashes, Drain, Failover, Faults, FullDisk, Partition, Slow};
use crate::machines::MachineType;

impl Case {
    /// The run that a seed stands for.
    pub fn draw(seed: u64) -> Case {
        let mut rng = Rng::named(seed, "swarm");
        let mut size = Rng::named(seed, "swarm's size");
        let few = 1 + rng.below(8) as u32;
        let nodes = if size.below(12) == 0 { 9 + size.below(16) as u32 } else { few };
        let cores = 1 + rng.below(4) as u32;
        let is_uniform = rng.below(2) == 0;
        let mut limits = Rng::named(seed, "swarm's limits");
        let (text, largest_need, has_short_timeouts) = draw_workflow(&mut rng, &mut limits, cores, is_uniform);
        let mut cluster = Cluster::new(nodes, cores);
        cluster.seed = seed;
        cluster.bandwidth = pick(&mut rng, &[1_000_000, 12_500_000, 125_000_000, 1_250_000_000]);
        cluster.latency = Duration::from_micros(pick(&mut rng, &[10, 100, 1000, 20_000]));
        cluster.store_latency = Duration::from_micros(pick(&mut rng, &[10, 100, 5000]));
        cluster.store_shards = 1 + rng.below(4) as u32;
        // A store that is asked by many has to be faster: where renewing a lease takes longer than it lasts, nobody gets anywhere.
        cluster.store_rate = pick(&mut rng, &[1000, 100_000]).max(if nodes > 8 { 20_000 } else { 0 });
        cluster.staged_per_core = 1 + rng.below(3) as u32;
        cluster.core_bandwidth = (rng.below(4) == 0).then_some(cluster.bandwidth * 2);
        cluster.cache_bytes = match rng.below(3) {
            0 => u64::MAX / 2,
            1 => largest_need * 4,
            _ => largest_need * 40,
        };
        cluster.inputs = match rng.below(4) {
            0 => Inputs::Shared,
            1 => Inputs::Everywhere,
            2 => Inputs::Node(rng.below(nodes.into()) as u32),
            _ => Inputs::Spread,
        };
        cluster.submission = if rng.below(2) == 0 { Submission::One } else { Submission::Spread };
        let order = throng_core::order::NAMES[rng.below(throng_core::order::NAMES.len() as u64) as usize];
        cluster.order = draw_order(&mut Rng::named(seed, "swarm's order"), order).parse().expect("a known order");
        let mut more = Rng::named(seed, "swarm's parameters");
        cluster.place = draw_place(&mut rng, &mut more).parse().expect("a known policy");
        if rng.below(4) != 0 {
            cluster.faults = draw_faults(&mut rng, &cluster);
        }
        let mut rng = Rng::named(seed, "swarm's machines");
        cluster = draw_machines(&mut rng, cluster, largest_need);
        if !is_uniform {
            draw_small_machines(&mut Rng::named(seed, "swarm's small machines"), &mut cluster);
        }
        draw_ways(&mut Rng::named(seed, "swarm's ways"), &mut cluster);
        draw_more_faults(&mut Rng::named(seed, "swarm's other faults"), &mut cluster);
        draw_crowd(&mut Rng::named(seed, "swarm's crowd"), &mut cluster);
        let mut rng = Rng::named(seed, "swarm's keeping");
        cluster.shares_results = rng.below(3) == 0;
        cluster.evict = pick(&mut rng, &throng_core::evict::NAMES).parse().expect("a known policy");
        let held = draw_held(&mut Rng::named(seed, "swarm's plan"), &cluster, cores);
        Case { text, cluster, is_uniform: is_uniform && held.is_empty(), has_short_timeouts, held }
    }
}

fn pick<T: Copy>(rng: &mut Rng, from: &[T]) -> T {
    from[rng.below(from.len() as u64) as usize]
}

/// A random graph of tasks that read files of earlier ones or from outside; also the most room that a task needs, and whether some may
/// take longer than they are allowed to.
fn draw_workflow(rng: &mut Rng, limits: &mut Rng, cores: u32, is_uniform: bool) -> (String, u64, bool) {
    let most = pick(rng, &[5, 40, 150]);
    let count = 1 + rng.below(most);
    let longest_ms = pick(rng, &[10, 500, 3000]);
    let largest_kb = pick(rng, &[1, 100, 5000]);
    let (mut text, mut largest_need) = ("tasks:\n".to_owned(), 1);
    let mut made: Vec<(String, u64)> = Vec::new();
    let (has_timeouts, has_short_timeouts) = (limits.below(6) == 0, limits.below(2) == 0);
    let has_priorities = limits.below(4) == 0;
    for task in 0..count {
        let (mut reads, mut need) = (Vec::new(), 0);
        for _ in 0..rng.below(4) {
            if !made.is_empty() && rng.below(3) > 0 {
                // Mostly what was made lately, so that chains arise.
                let back = rng.below(10.min(made.len() as u64)) as usize;
                let at = if rng.below(4) == 0 { rng.below(made.len() as u64) as usize } else { made.len() - 1 - back };
                reads.push((made[at].0.clone(), None));
                need += made[at].1;
            } else {
                let number = rng.below(12);
                let bytes = (number * largest_kb * 1000) / 12;
                reads.push((format!("x{number}"), Some(bytes)));
                need += bytes;
            }
        }
        reads.sort();
        reads.dedup();
        let mut writes = Vec::new();
        for output in 0..rng.below(3) {
            let bytes = rng.below(largest_kb * 1000);
            writes.push((format!("o{task}.{output}"), bytes));
            need += bytes;
        }
        largest_need = largest_need.max(need);
        let cpus = if is_uniform { 1 } else { 1 + rng.below(cores.into()) };
        let _ =
            write!(text, "  t{task}: {{ sleep: {}ms, cpus: {cpus}, retries: {}", rng.below(longest_ms), rng.below(3));
        let inputs: Vec<String> = reads
            .iter()
            .map(|(path, bytes)| match bytes {
                Some(bytes) => format!("{{ path: {path}, size: {bytes} }}"),
                None => path.clone(),
            })
            .collect();
        let outputs = writes.iter().map(|(path, bytes)| format!("{{ path: {path}, size: {bytes} }}"));
        let _ = write!(text, ", in: [{}], out: [{}]", inputs.join(", "), outputs.collect::<Vec<_>>().join(", "));
        if task > 0 && rng.below(6) == 0 {
            let _ = write!(text, ", after: [t{}]", rng.below(task));
        }
        if has_timeouts {
            // Half an hour is long enough for anything here, however slow it is.
            let timeout_ms = if has_short_timeouts { 1 + limits.below(longest_ms * 2) } else { 1_800_000 };
            let _ = write!(text, ", timeout: {timeout_ms}ms");
        }
        if has_priorities {
            let _ = write!(text, ", priority: {}", limits.below(3));
        }
        text.push_str(" }\n");
        made.extend(writes);
    }
    (text, largest_need, has_timeouts && has_short_timeouts)
}

/// Machines of two types, disks with little or much memory in front of them, and a narrow core of the network: or nothing of it.
fn draw_machines(rng: &mut Rng, mut cluster: Cluster, largest_need: u64) -> Cluster {
    if rng.below(3) == 0 {
        cluster.disk_bandwidth = Some(cluster.bandwidth / pick(rng, &[1, 4, 20]));
        cluster.memory_tier_bytes = pick(rng, &[0, largest_need / 3, largest_need * 4, u64::MAX / 4]);
    }
    if rng.below(8) == 0 {
        cluster.core_bandwidth = Some(cluster.bandwidth / 3);
    }
    if rng.below(3) == 0 && cluster.nodes > 1 {
        let (memory_bytes, bandwidth) = (cluster.memory_bytes, cluster.bandwidth);
        let first = 1 + rng.below(u64::from(cluster.nodes) - 1) as u32;
        let mut machine = |count| MachineType {
            count,
            // Never fewer than a task may ask for.
            cores: cluster.cores + rng.below(3) as u32,
            memory_bytes,
            speed: pick(rng, &[0.5, 1.0, 1.7, 10.0]),
            bandwidth: bandwidth * pick(rng, &[1, 3]),
        };
        let types = vec![machine(first), machine(cluster.nodes - first)];
        cluster = cluster.of_types(types);
    }
    cluster
}

/// Machines that cannot run everything: never the first one, which is always there in the end.
fn draw_small_machines(rng: &mut Rng, cluster: &mut Cluster) {
    if let Some(machine) = cluster.types.get_mut(1)
        && rng.below(2) == 0
    {
        machine.cores = 1 + rng.below(machine.cores.into()) as u32;
    }
}

/// Types of machines that a plan may hold tasks to; none if there is no plan. Where nodes may die for good, only the first one is sure to be there in the end.
fn draw_held(rng: &mut Rng, cluster: &Cluster, cores: u32) -> Vec<u16> {
    if cluster.types.is_empty() || rng.below(2) == 0 {
        return Vec::new();
    }
    if cluster.faults.needs_leases() {
        return vec![0];
    }
    let is_large = |of: &u16| cluster.types[usize::from(*of)].cores >= cores;
    (0..cluster.types.len() as u16).filter(is_large).collect()
}

/// An order with some of its parameters.
fn draw_order(rng: &mut Rng, name: &str) -> String {
    let mut parameters = Vec::new();
    if matches!(name, "ps" | "og" | "gcs") && rng.below(2) == 0 {
        let metrics = Metric::NAMES;
        parameters.push(format!("metric={}", metrics[rng.below(metrics.len() as u64) as usize].0));
    }
    if rng.below(3) == 0 {
        parameters.push(format!("batch={}", 2 + rng.below(6)));
    }
    if parameters.is_empty() { name.to_owned() } else { format!("{name}:{}", parameters.join(",")) }
}

fn draw_place(rng: &mut Rng, more: &mut Rng) -> String {
    let name = throng_core::place::NAMES[rng.below(throng_core::place::NAMES.len() as u64) as usize];
    match name {
        "fair" => {
            let t = pick(rng, &["0", "0.1", "0.5", "5", "inf"]);
            let steal = pick(rng, &["half", "one"]);
            format!("fair:t={t},steal={steal},cap={}ms", pick(rng, &[20, 2000]))
        }
        "mlb" | "mdl" | "rlds" | "flds" | "adaptive" => {
            let t = pick(rng, &["0", "0.1", "0.5", "5", "inf"]);
            let tt = pick(rng, &["100ms", "1s", "10s"]);
            let steal = pick(rng, &["half", "one"]);
            let (poll, cap) = (pick(more, &["1ms", "1ms", "20ms", "500ms"]), pick(more, &["8s", "8s", "1s"]));
            let check = pick(more, &["500ms", "500ms", "50ms", "5s"]);
            let neighbours = pick(more, &["sqrt", "sqrt", "1", "3", "100"]);
            format!("{name}:t={t},tt={tt},steal={steal},poll={poll},cap={cap},check={check},neighbours={neighbours}")
        }
        "sampled" => format!("sampled:d={}", 1 + rng.below(3)),
        "queue" => format!("queue:poll={}", pick(more, &["1ms", "10ms", "1s"])),
        _ => name.to_owned(),
    }
}

/// Ways to run that are not ordinary: what may run at once, tasks that differ from what is written of them, another policy from some point of
/// the run on, and inputs that chance has laid out.
fn draw_ways(rng: &mut Rng, cluster: &mut Cluster) {
    if rng.below(4) == 0 {
        cluster.pack = "fixed".parse().expect("a known pack");
    }
    if rng.below(3) == 0 {
        cluster.variation = Variation { time: pick(rng, &[0.0, 0.3, 1.0]), size: pick(rng, &[0.0, 0.3, 1.0]) };
    }
    if rng.below(5) == 0 {
        let place = draw_place(&mut rng.split(), &mut rng.split()).parse().expect("a known policy");
        cluster.later = Some(Later { share_done: rng.unit(), place });
    }
    if rng.below(8) == 0 {
        cluster.inputs = Inputs::Scattered;
    }
}

fn draw_faults(rng: &mut Rng, cluster: &Cluster) -> Faults {
    let mut faults = Faults::default();
    let seconds = |rng: &mut Rng, most: u64| Duration::from_millis(rng.below(most * 1000));
    let node = |rng: &mut Rng| rng.below(cluster.nodes.into()) as u32;
    let has = |rng: &mut Rng| rng.below(3) == 0;
    if has(rng) {
        for _ in 0..1 + rng.below(3) {
            // The first node never stays dead, so that somebody is left.
            let node = node(rng);
            let back_after = (node == 0 || rng.below(2) == 0).then(|| seconds(rng, 30));
            faults.crashes.push(Crash { node, at: seconds(rng, 20), back_after });
        }
    }
    if has(rng) {
        let from = seconds(rng, 10);
        faults.slow.push(Slow { node: node(rng), from, until: from + seconds(rng, 30), factor: 5.0 });
    }
    if has(rng) && cluster.nodes > 1 {
        let from = seconds(rng, 10);
        let first = 1 + rng.below(u64::from(cluster.nodes) - 1) as u32;
        faults.partitions.push(Partition { first, from, until: from + seconds(rng, 40) });
    }
    if has(rng) {
        let at = Duration::from_millis(500) + seconds(rng, 20);
        let shard = rng.below(cluster.store_shards.into()) as u32;
        faults.failovers.push(Failover { shard, at, behind: seconds(rng, 2) });
    }
    if has(rng) {
        let from = seconds(rng, 10);
        faults.full_disks.push(FullDisk { node: node(rng), from, until: from + seconds(rng, 20) });
    }
    if has(rng) {
        faults.lost = pick(rng, &[0.001, 0.05, 0.3]);
    }
    if has(rng) {
        faults.doubled = pick(rng, &[0.01, 0.3]);
    }
    if has(rng) {
        faults.late = (pick(rng, &[0.05, 0.5]), seconds(rng, 5));
    }
    if rng.below(5) == 0 {
        faults.failing = pick(rng, &[0.02, 0.3]);
    }
    if rng.below(8) == 0 {
        faults.deadly = 0.02;
    }
    if rng.below(4) == 0 {
        for _ in 0..1 + rng.below(3) {
            // The first node never drains, so that somebody starts what is left.
            let node = 1 + rng.below(cluster.nodes.into()) as u32;
            let at = seconds(rng, 15);
            faults.drains.extend((node < cluster.nodes).then_some(Drain { node, at }));
        }
    }
    faults
}

/// Tasks that share what their node has, and nodes that learn how many of them to run.
fn draw_crowd(rng: &mut Rng, cluster: &mut Cluster) {
    if rng.below(6) != 0 {
        return;
    }
    let needs = Needs {
        cores: pick(rng, &[0.0, 0.02, 0.5, 1.0, 2.0]),
        network: pick(rng, &[0.0, 0.0, 0.1]),
        disk: pick(rng, &[0.0, 0.0, 0.3]),
        remote: pick(rng, &[0.0, 0.0, 0.2]),
        ..Needs::default()
    };
    let mut crowd = Crowd { needs: vec![NeedsOf { kind: None, needs }], ..Crowd::default() };
    crowd.thrashing = (rng.below(4) == 0).then(|| (1 + rng.below(8) as u32, 0.2));
    if rng.below(3) == 0 {
        crowd.remote = vec![
            Remote { from: Duration::ZERO, serves: 1.0 },
            Remote { from: Duration::from_secs(rng.below(20)), serves: pick(rng, &[0.3, 3.0]) },
        ];
    }
    if rng.below(3) == 0 {
        let from = Duration::from_millis(rng.below(10_000));
        let until = from + Duration::from_millis(1 + rng.below(20_000));
        crowd.neighbours.push(Neighbour { node: None, cores: pick(rng, &[0.5, 4.0]), from, until });
    }
    cluster.crowd = Some(crowd);
    cluster.width = (rng.below(3) == 0).then(|| 1 + rng.below(20) as u32);
    let pack = pick(rng, &["learn", "learn", "weasel:interval=500ms", ""]);
    if !pack.is_empty() {
        cluster.pack = pack.parse().expect("a known pack");
        // Each fits alone, and not many beside each other: who learns has to stop some, and all have to be done in the end.
        let crowd = cluster.crowd.as_mut().expect("it has just been drawn");
        crowd.needs[0].needs.memory_bytes = cluster.memory_bytes / pick(rng, &[2, 5, 20, u64::MAX]);
        crowd.needs[0].needs.memory_spread = 0.4;
    }
}

/// Tasks that nobody wants any more, and nodes that die by chance.
fn draw_more_faults(rng: &mut Rng, cluster: &mut Cluster) {
    let seconds = |rng: &mut Rng, most: u64| Duration::from_millis(rng.below(most * 1000));
    if rng.below(5) == 0 {
        for _ in 0..1 + rng.below(3) {
            // Mostly the first ones of a workflow and the first seconds: later there is less to cancel.
            let first = pick(rng, &[5, 40, 150]);
            let task = rng.below(first) as u32;
            let (node, most) = (rng.below(cluster.nodes.into()) as u32, pick(rng, &[1, 10]));
            cluster.faults.cancels.push(Cancel { task, node, at: seconds(rng, most) });
        }
    }
    if rng.below(10) == 0 {
        // Much longer than it takes others to notice: where nodes die sooner, runs hardly come to an end.
        let every = Duration::from_secs(pick(rng, &[40, 120, 600]));
        let back_after = Some(seconds(rng, 20));
        cluster.faults.crashes_by_chance.push(Crashes { every, back_after });
    }
}
