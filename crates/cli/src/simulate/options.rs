//! The modelled cluster as people describe it.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use clap::{Args, value_parser};
use throng_core::plan::catalogue::Machine;
use throng_core::policy::Policy;
use throng_core::workflow::{Demand, Workflow, quantity};
use throng_core::{evict, order, pack, place};
use throng_runtime::run::demand_in_words;
use throng_sim::cluster::Variation;
use throng_sim::{Cluster, Crowd, Inputs, Submission};

use super::curve::{self, Sizes};
use super::faults::{self, Fault};
use super::loads::{self, Load};
use super::machines::{Machines, machines};
use super::planned::{self, PlanSource};
use crate::exit::Failure;
use crate::words;

/// Options of a cluster, and how it is used.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "The cluster")]
pub struct ClusterArguments {
    /// Hold the run to a plan of `throng plan --out`: tasks run on their planned types, or on their planned instances, and it is told what that costs. For workflows that are included under prefixes, each with a plan of its own: PREFIX=FILE, several times
    #[arg(long, value_name = "[PREFIX=]FILE", requires = "machines", value_parser = planned::source)]
    pub plan: Vec<PlanSource>,
    /// With --plan, how long tasks of each kind take on each machine, as for `throng plan`
    #[arg(long, value_name = "FILE", requires = "plan")]
    pub times: Option<PathBuf>,
    /// With --plan, where else runs have learnt how long tasks take, as for `throng plan`; may be given several times
    #[arg(long, value_name = "DIR|FILE", requires = "plan")]
    pub learn_from: Vec<PathBuf>,
    /// How many nodes
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = value_parser!(u32).range(1..=MOST_NODES))]
    pub nodes: u32,
    /// How many cores each node has
    #[arg(long, default_value_t = 8, value_name = "N", value_parser = value_parser!(u32).range(1..=MOST_CORES))]
    pub cores: u32,
    /// Machines that are not all alike, as COUNTxCORES, with @SPEED and /MEMORY if need be: 4x8,2x16@1.5 is four with 8 cores and two with 16 that are 1.5 times as fast; with --plan, the file that it was planned with
    #[arg(long, value_name = "LIST|FILE", value_parser = machines, conflicts_with_all = ["nodes", "cores"])]
    pub machines: Option<Machines>,
    /// How much memory each node has
    #[arg(long, default_value = "8GB", value_name = "SIZE", value_parser = quantity::bytes)]
    pub memory: u64,
    /// How fast each node sends, and receives
    #[arg(long, default_value = "1Gbit", value_name = "RATE", value_parser = quantity::bandwidth)]
    pub bandwidth: u64,
    /// How fast all nodes together exchange data [default: as fast as they can]
    #[arg(long, value_name = "RATE", value_parser = quantity::bandwidth)]
    pub core_bandwidth: Option<u64>,
    /// How fast the shared file system delivers, to all nodes together
    #[arg(long, default_value = "1GB", value_name = "RATE", value_parser = quantity::bandwidth)]
    pub shared_bandwidth: u64,
    /// How fast each node's disk reads and writes [default: everything is in memory]
    #[arg(long, value_name = "RATE", value_parser = quantity::bandwidth)]
    pub disk_bandwidth: Option<u64>,
    /// How much of each node's memory holds data, in front of its disk [default: half of it]
    #[arg(long, value_name = "SIZE", value_parser = quantity::bytes, requires = "disk_bandwidth")]
    pub memory_tier: Option<u64>,
    /// How long a message takes
    #[arg(long, default_value = "100us", value_name = "TIME", value_parser = quantity::duration)]
    pub latency: Duration,
    /// How much room each node has for data; 1GB..64GB tries every size from one to the other, each twice the one before
    #[arg(long, default_value = "8GB", value_name = "SIZE", value_parser = curve::sizes)]
    pub cache: Sizes,
    /// Where files from outside lie at first: spread evenly, scattered by chance, shared, everywhere or node=K, counted from 0
    #[arg(long, default_value = "spread", value_name = "WHERE", value_parser = inputs)]
    pub inputs: Inputs,
    /// Where results lie: only with the node that made them (local), or on the shared file system as well, so that nodes may drop them (shared)
    #[arg(long, default_value = "local", value_name = "WHERE", value_parser = outputs)]
    pub outputs: Outputs,
    /// Who gets the tasks that may start at once: all nodes, each a run of neighbours of every kind (spread), or the first (one)
    #[arg(long, default_value = "spread", value_name = "TO", value_parser = submission)]
    pub submit: Submission,
    /// Which node runs a task: fair, adaptive, flds, mdl, mlb, rlds, random, central, sampled, queue or partitioned
    #[arg(long, default_value = "fair", value_name = "POLICY", value_parser = policy)]
    pub place: Policy,
    /// Which ready task comes next: aware, fifo, lifo, largest, critical-path, random, heft, ps, og or gcs
    #[arg(long, default_value = "aware", value_name = "POLICY", value_parser = policy)]
    pub order: Policy,
    /// What may run at once on a node: requests (cores and memory as asked for), fixed (only --width), learn or weasel (learnt, up to --width)
    #[arg(long, default_value = "requests", value_name = "POLICY", value_parser = policy)]
    pub pack: Policy,
    /// How many tasks may run on a node at once, at most [default: as many as it has cores; 256 where that is learnt]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=MOST_CORES))]
    pub width: Option<u32>,
    /// What tasks need of a machine and what it has to give, such as needs:cpu=0.1,net=0.05 or neighbour:cores=2,from=10s (see below); may be given several times [default: each task needs the cores it asks for]
    #[arg(long, value_name = "LOAD", value_parser = loads::load)]
    pub load: Vec<Load>,
    /// What goes when a node has no room for data: aware (what nobody needs any more, then what nobody waits for) or lru
    #[arg(long, default_value = "aware", value_name = "POLICY", value_parser = policy)]
    pub evict: Policy,
    /// How many tasks may wait for their data at a time, for each core
    #[arg(long, default_value_t = 4, value_name = "N", value_parser = value_parser!(u32).range(1..=1000))]
    pub staged: u32,
    /// How long a word to the store takes, and one back
    #[arg(long, default_value = "100us", value_name = "TIME", value_parser = quantity::duration)]
    pub store_latency: Duration,
    /// How many operations a second each machine of the store carries out
    #[arg(long, default_value_t = 100_000, value_name = "N", value_parser = value_parser!(u64).range(1..))]
    pub store_rate: u64,
    /// How many machines share the store's work [default: as many as there are nodes]
    #[arg(long, value_name = "N", value_parser = value_parser!(u32).range(1..=MOST_NODES))]
    pub store_shards: Option<u32>,
    /// By how much the time of tasks differs from what is written: 0.2 is anything from 80 to 120 %
    #[arg(long, default_value_t = 0.0, value_name = "PART", value_parser = part)]
    pub vary_time: f64,
    /// By how much what tasks write differs
    #[arg(long, default_value_t = 0.0, value_name = "PART", value_parser = part)]
    pub vary_size: f64,
    /// Something that breaks, such as crash:node=3,at=10s,back=5s (see below); may be given several times
    #[arg(long, value_name = "FAULT", value_parser = faults::fault)]
    pub fault: Vec<Fault>,
    /// What chance is made of: the same seed gives the same run
    #[arg(long, default_value_t = 1, value_name = "N")]
    pub seed: u64,
}

/// Where results lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outputs {
    /// With the node that made them.
    Local,
    /// On the shared file system as well.
    Shared,
}

/// More nodes than any machine on earth has. With [`MOST_CORES`], slots can still be counted.
pub const MOST_NODES: i64 = 1_000_000;
/// More cores than any machine has.
pub const MOST_CORES: i64 = Machine::MOST_CPUS as i64;
/// So many cores can be simulated in the memory of an ordinary machine.
const MOST_SLOTS: u64 = 1 << 24;

/// Options that can be compared.
pub const COMPARED: [&str; 15] = [
    "place",
    "order",
    "pack",
    "width",
    "nodes",
    "cores",
    "machines",
    "bandwidth",
    "cache",
    "inputs",
    "outputs",
    "evict",
    "submit",
    "staged",
    "fault",
];

impl ClusterArguments {
    /// Gives an option that can be compared another value.
    pub fn set(&mut self, option: &str, value: &str) -> Result<(), String> {
        let number = |most: i64| {
            let number = value.parse::<u32>().ok().filter(|number| (1..=most).contains(&i64::from(*number)));
            number.ok_or_else(|| format!("`{value}` is not a whole number from 1 to {most}"))
        };
        match option {
            "nodes" | "cores" if self.machines.is_some() => return Err("--machines says it already".to_owned()),
            "machines" => self.machines = Some(machines(value)?),
            "place" => self.place = policy(value)?,
            "order" => self.order = policy(value)?,
            "pack" => self.pack = policy(value)?,
            "width" => self.width = Some(number(MOST_CORES)?),
            "nodes" => self.nodes = number(MOST_NODES)?,
            "cores" => self.cores = number(MOST_CORES)?,
            "bandwidth" => self.bandwidth = quantity::bandwidth(value)?,
            "cache" => self.cache = Sizes::one(quantity::bytes(value)?),
            "inputs" => self.inputs = inputs(value)?,
            "outputs" => self.outputs = outputs(value)?,
            "evict" => self.evict = policy(value)?,
            "submit" => self.submit = submission(value)?,
            "staged" => self.staged = number(1000)?,
            // In addition to those that all runs have.
            "fault" if value == "none" => {}
            "fault" => self.fault.push(faults::fault(value)?),
            other => return Err(format!("`{other}` cannot be compared: choose among {}", COMPARED.join(", "))),
        }
        Ok(())
    }

    /// What tasks do to each other: where more of them may run than there are cores, and where something is said.
    fn crowd(&self, flow: &Workflow, nodes: u32) -> Result<Option<Crowd>, Failure> {
        let said = loads::crowd(&self.load, flow, nodes)?;
        let is_wanted = self.width.is_some() || pack::learns(&self.pack);
        Ok(said.or_else(|| is_wanted.then(Crowd::default)))
    }

    /// The cluster, if there can be one like this and every task could run on it.
    pub fn cluster(&self, flow: &Arc<Workflow>) -> Result<Cluster, Failure> {
        let cluster = self.base(flow, self.machines.as_ref().map_or(self.nodes, Machines::nodes))?;
        check(flow, &cluster)?;
        Ok(cluster)
    }

    /// The cluster of so many nodes, whatever tasks there are.
    pub fn base(&self, flow: &Workflow, nodes: u32) -> Result<Cluster, Failure> {
        if let Inputs::Node(node) = self.inputs
            && node >= nodes
        {
            let message = format!("there is no node {node}, only {}", words::count(nodes.into(), "node"));
            return Err(Failure::bad_input(message, "nodes are counted from 0"));
        }
        let store_shards = self.store_shards.unwrap_or(nodes);
        let cluster = Cluster {
            memory_bytes: self.memory,
            bandwidth: self.bandwidth,
            core_bandwidth: self.core_bandwidth,
            latency: self.latency,
            cache_bytes: self.cache.first,
            staged_per_core: self.staged,
            shared_bandwidth: self.shared_bandwidth,
            disk_bandwidth: self.disk_bandwidth,
            store_latency: self.store_latency,
            store_shards,
            store_rate: self.store_rate,
            inputs: self.inputs,
            shares_results: self.outputs == Outputs::Shared,
            evict: self.evict.clone(),
            submission: self.submit,
            place: self.place.clone(),
            order: self.order.clone(),
            pack: self.pack.clone(),
            variation: Variation { time: self.vary_time, size: self.vary_size },
            faults: faults::faults(&self.fault, nodes, store_shards)?,
            seed: self.seed,
            width: self.width,
            crowd: self.crowd(flow, nodes)?,
            ..Cluster::new(nodes, self.cores)
        };
        let types = self.machines.as_ref().map(|machines| machines.types(self.memory, self.bandwidth));
        let mut cluster = cluster.of_types(types.unwrap_or_default());
        let memory = cluster.machine_types().map(|machine| machine.memory_bytes).min().unwrap_or(0);
        cluster.memory_tier_bytes = self.memory_tier.unwrap_or(memory / 2);
        if cluster.memory_tier_bytes > memory {
            let message = format!(
                "{} of a node's memory cannot hold data: it has {}",
                words::bytes(cluster.memory_tier_bytes),
                words::bytes(memory)
            );
            return Err(Failure::bad_input(message, "make --memory-tier smaller, or --memory larger"));
        }
        if u64::from(cluster.nodes) * u64::from(cluster.cores) > MOST_SLOTS && cluster.types.is_empty()
            || u64::from(cluster.slots()) > MOST_SLOTS
        {
            return Err(too_many_cores("ask for fewer nodes, or fewer cores on each"));
        }
        Ok(cluster)
    }
}

/// Refuses machines of a plan, each type with its count, that have more cores or slots together than can be simulated.
pub fn check_planned<'a>(
    machines: impl Iterator<Item = (&'a Machine, u32)>,
    width: Option<u32>,
) -> Result<(), Failure> {
    let slots = |machine: &Machine| u64::from(machine.cpus.max(width.unwrap_or(1)));
    let slots: u64 = machines.map(|(machine, count)| u64::from(count) * slots(machine)).sum();
    let remedy = "give machines a smaller `count`, or fewer `cpus`, and plan anew";
    if slots > MOST_SLOTS { Err(too_many_cores(remedy)) } else { Ok(()) }
}

fn too_many_cores(remedy: &str) -> Failure {
    let most = words::thousands(MOST_SLOTS);
    Failure::bad_input(format!("a cluster with more than {most} cores is more than can be held in memory"), remedy)
}

/// Refuses policies that do not exist, and clusters on which a task can never run.
pub fn check(flow: &Arc<Workflow>, cluster: &Cluster) -> Result<(), Failure> {
    let bad = |error| Failure::bad_input(error, "write a policy as name or name:key=value,key=value");
    place::by_name(&cluster.place).map_err(bad)?;
    order::check(&cluster.order).map_err(bad)?;
    evict::check(&cluster.evict).map_err(bad)?;
    let Some(task) = throng_sim::misfit(flow, cluster).map_err(bad)? else { return Ok(()) };
    let ways = flow.alternatives(flow.class(task, 1)).map(|demand| demand_in_words(&flow.demand(demand)));
    let nodes = cluster.machine_types().map(|machine| {
        let cpus_milli = u64::from(machine.cores) * 1000;
        demand_in_words(&Demand { cpus_milli, memory_bytes: machine.memory_bytes, named: Vec::new() })
    });
    let has = nodes.collect::<Vec<_>>().join(", or ");
    let asks = ways.collect::<Vec<_>>().join(", or ");
    let message =
        format!("task `{}` can never run on such a cluster: it asks for {asks}, and a node has {has}", flow.name(task));
    Err(Failure::bad_input(
        message,
        "give nodes more with --cores and --memory, or each of --machines; GPUs and other named things are not modelled",
    ))
}

fn policy(text: &str) -> Result<Policy, String> {
    text.parse().map_err(|error: throng_core::policy::BadPolicy| error.to_string())
}

fn inputs(text: &str) -> Result<Inputs, String> {
    match text {
        "spread" => Ok(Inputs::Spread),
        "scattered" => Ok(Inputs::Scattered),
        "shared" => Ok(Inputs::Shared),
        "everywhere" => Ok(Inputs::Everywhere),
        other => {
            let node = other.strip_prefix("node=").and_then(|number| number.parse().ok());
            node.map(Inputs::Node).ok_or_else(|| "write spread, scattered, shared, everywhere or node=K".to_owned())
        }
    }
}

fn outputs(text: &str) -> Result<Outputs, String> {
    match text {
        "local" => Ok(Outputs::Local),
        "shared" => Ok(Outputs::Shared),
        _ => Err("write local or shared".to_owned()),
    }
}

fn submission(text: &str) -> Result<Submission, String> {
    match text {
        "spread" => Ok(Submission::Spread),
        "one" => Ok(Submission::One),
        _ => Err("write spread or one".to_owned()),
    }
}

fn part(text: &str) -> Result<f64, String> {
    let number = text.parse().ok().filter(|number| (0.0..=1.0).contains(number));
    number.ok_or_else(|| "write a number from 0 to 1, such as 0.2".to_owned())
}

/// Where files from outside lie, as it is written.
pub fn inputs_word(inputs: Inputs) -> String {
    match inputs {
        Inputs::Spread => "spread".to_owned(),
        Inputs::Scattered => "scattered".to_owned(),
        Inputs::Shared => "shared".to_owned(),
        Inputs::Everywhere => "everywhere".to_owned(),
        Inputs::Node(node) => format!("node={node}"),
    }
}

/// Who gets tasks first, as it is written.
pub fn submission_word(submission: Submission) -> &'static str {
    match submission {
        Submission::Spread => "spread",
        Submission::One => "one",
    }
}

/// A bandwidth in the unit that networks are sold by.
pub fn bandwidth_words(bytes_per_second: u64) -> String {
    let bits = bytes_per_second as f64 * 8.0;
    let (number, unit) = match bits {
        bits if bits >= 1e9 => (bits / 1e9, "Gbit/s"),
        bits if bits >= 1e6 => (bits / 1e6, "Mbit/s"),
        bits => (bits / 1e3, "kbit/s"),
    };
    format!("{} {unit}", (number * 100.0).round() / 100.0)
}
