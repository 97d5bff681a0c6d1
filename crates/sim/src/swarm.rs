//! Many small runs in which everything may break: one seed draws the cluster, the workload, the policies, their
//! parameters and the faults, and after every event it is checked that nothing is wrong.
//!
//! What is checked:
//! * each task's effects count once, and only if those of all its parents do;
//! * whoever starts a task owns it in the store at that instant;
//! * nothing that could start on a node waits while it has a free slot, and no node stays idle for long while another
//!   has tasks to share;
//! * bytes, reservations and pins of every cache add up;
//! * the last copy of an object that somebody needs is never deleted;
//! * every run ends, and none sooner than its lower bound says.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use throng_core::ids::TaskId;
use throng_core::rng::Rng;
use throng_core::store::{Phase, Verdict};
use throng_core::time::Time;
use throng_core::workflow::{Format, NoFiles, Workflow};

use crate::cluster::{Cluster, Inputs, Submission};
use crate::faults::{Crash, Drain, Failover, Faults, FullDisk, Partition, Slow};
use crate::machines::MachineType;
use crate::outcome::Outcome;
use crate::world::World;

/// One run of the swarm.
pub struct Case {
    /// The workflow, as text.
    pub text: String,
    /// The cluster and its faults.
    pub cluster: Cluster,
    /// Whether all tasks ask for one core, so that any of them may start wherever a slot is free.
    is_uniform: bool,
}

/// How a stealing node behaves at worst: it rests for so long between two hunts.
const LONGEST_REST: Duration = Duration::from_secs(8);

impl Case {
    /// The run that a seed stands for.
    pub fn draw(seed: u64) -> Case {
        let mut rng = Rng::named(seed, "swarm");
        let nodes = 1 + rng.below(8) as u32;
        let cores = 1 + rng.below(4) as u32;
        let is_uniform = rng.below(2) == 0;
        let (text, largest_need) = draw_workflow(&mut rng, cores, is_uniform);
        let mut cluster = Cluster::new(nodes, cores);
        cluster.seed = seed;
        cluster.bandwidth = pick(&mut rng, &[1_000_000, 12_500_000, 125_000_000, 1_250_000_000]);
        cluster.latency = Duration::from_micros(pick(&mut rng, &[10, 100, 1000, 20_000]));
        cluster.store_latency = Duration::from_micros(pick(&mut rng, &[10, 100, 5000]));
        cluster.store_shards = 1 + rng.below(4) as u32;
        cluster.store_rate = pick(&mut rng, &[1000, 100_000]);
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
        cluster.order = order.parse().expect("a known order");
        cluster.place = draw_place(&mut rng).parse().expect("a known policy");
        if rng.below(4) != 0 {
            cluster.faults = draw_faults(&mut rng, &cluster);
        }
        let mut rng = Rng::named(seed, "swarm's machines");
        cluster = draw_machines(&mut rng, cluster, largest_need);
        Case { text, cluster, is_uniform }
    }

    /// Runs it; says what was wrong.
    pub fn run(&self) -> Result<Outcome, String> {
        let flow = Workflow::parse(&self.text, Format::Yaml, "swarm", &NoFiles);
        let flow = Arc::new(flow.map_err(|problems| format!("the drawn workflow is bad: {problems:?}"))?);
        let world = World::new(flow.clone(), self.cluster.clone()).map_err(|problem| problem.to_string())?;
        let world = world.with_checks();
        let is_uniform = self.is_uniform;
        let steals = ["mlb", "mdl", "rlds", "flds", "adaptive", "fair"].contains(&self.cluster.place.name.as_str());
        let watches_idleness = steals && self.cluster.faults == Faults::default() && is_uniform;
        let mut unfair_since: Option<Time> = None;
        let (world, outcome) = world
            .with_inspector(Box::new(move |world| {
                let (mut has_idle, mut has_shared) = (false, false);
                for member in world.members() {
                    member.node().check()?;
                    if is_uniform && member.may_start(world.now()) && member.node().could_start() {
                        return Err(format!("node {} could start something and does not", member.me().node.0));
                    }
                    has_idle |= member.node().wants_work();
                    has_shared |= member.node().shared_len() > 0;
                }
                if watches_idleness && has_idle && has_shared {
                    let since = *unfair_since.get_or_insert(world.now());
                    if world.now().since(since) > LONGEST_REST * 4 {
                        return Err(format!("a node has been idle since {since:?} while another has tasks to share"));
                    }
                } else {
                    unfair_since = None;
                }
                Ok(())
            }))
            .run_and_keep();
        if let Some(reason) = &outcome.stuck {
            return Err(format!("at {:.3} s: {reason}", world.now().as_secs_f64()));
        }
        self.judge(&flow, &world, &outcome)?;
        Ok(outcome)
    }

    /// Checks how it ended.
    fn judge(&self, flow: &Workflow, world: &World, outcome: &Outcome) -> Result<(), String> {
        let faults = &self.cluster.faults;
        let may_fail = faults.failing > 0.0
            || faults.deadly > 0.0
            || ((faults.has_crashes() || !faults.partitions.is_empty())
                && matches!(self.cluster.inputs, Inputs::Spread | Inputs::Scattered | Inputs::Node(_)));
        if !may_fail && outcome.not_done > 0 {
            return Err(format!("{} tasks did not succeed, and nothing was wrong with them", outcome.not_done));
        }
        if outcome.not_done == 0 && outcome.of_bound() > 1.0 {
            return Err(format!("it took {:?}, and the bound is {:?}", outcome.makespan, outcome.bound));
        }
        for task in flow.tasks() {
            let record = world.memory().record(task);
            if record.phase < Phase::Settled {
                return Err(format!("{task:?} has no verdict at the end"));
            }
            if record.verdict == Verdict::Done || record.generation > 0 {
                continue;
            }
            let child_done = |child: &TaskId| world.memory().record(*child).verdict == Verdict::Done;
            if let Some(child) = flow.children(task).find(child_done)
                && faults.failovers.is_empty()
            {
                return Err(format!("{child:?} is done, and its parent {task:?} is not"));
            }
        }
        Ok(())
    }
}

fn pick<T: Copy>(rng: &mut Rng, from: &[T]) -> T {
    from[rng.below(from.len() as u64) as usize]
}

/// A random graph of tasks that read files of earlier ones or from outside; also the most room that a task needs.
fn draw_workflow(rng: &mut Rng, cores: u32, is_uniform: bool) -> (String, u64) {
    let most = pick(rng, &[5, 40, 150]);
    let count = 1 + rng.below(most);
    let longest_ms = pick(rng, &[10, 500, 3000]);
    let largest_kb = pick(rng, &[1, 100, 5000]);
    let (mut text, mut largest_need) = ("tasks:\n".to_owned(), 1);
    let mut made: Vec<(String, u64)> = Vec::new();
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
        text.push_str(" }\n");
        made.extend(writes);
    }
    (text, largest_need)
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

fn draw_place(rng: &mut Rng) -> String {
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
            format!("{name}:t={t},tt={tt},steal={steal},poll=1ms,cap={}s,check=500ms", LONGEST_REST.as_secs())
        }
        "sampled" => format!("sampled:d={}", 1 + rng.below(3)),
        _ => name.to_owned(),
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
