//! What is on record of a run: how it was set up, and how it ended. It is the file `about.json` of the run's directory.

use serde::{Deserialize, Serialize};
use throng_core::ids::ObjectId;

use crate::store::learnt::KindPast;

/// What a run was asked to do, and how it ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct About {
    /// The version of Throng.
    pub version: String,
    /// The run's number.
    pub run: u64,
    /// The workflow's name.
    pub workflow: String,
    /// The file it was read from.
    pub file: String,
    /// When it began, in milliseconds since 1970.
    pub started_unix_ms: u64,
    /// How the node was set up.
    pub node: NodeSetup,
    /// On what machine it ran; nothing is known of runs of the first version.
    #[serde(default)]
    pub host: HostInfo,
    /// The modelled cluster, if nothing really ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub simulated: Option<Simulation>,
    /// How it ended; nothing if it was killed or is still going on.
    pub end: Option<RunEnd>,
}

impl About {
    /// Whether it is about a real run of a workflow, which may have made files.
    pub fn is_real_run_of(&self, workflow: &str) -> bool {
        self.simulated.is_none() && self.workflow == workflow
    }
}

/// The cluster of a run that was only simulated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Simulation {
    /// How many nodes it had.
    pub nodes: u32,
    /// How many cores each of them had, if all had as many.
    pub cores: u32,
    /// How many nodes had how many slots, the first ones first, unless each had one for each core. The slots of all nodes are counted through.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<(u32, u32)>,
    /// What chance was made of.
    pub seed: u64,
    /// Everything else about it.
    pub cluster: serde_json::Value,
}

impl Simulation {
    /// A slot as people name it: by its node, and its number there.
    pub fn slot_name(&self, slot: u32) -> String {
        let (mut node, mut left) = (0, slot);
        for (nodes, cores) in &self.groups {
            if left < nodes * cores {
                return format!("{}.{}", node + left / cores, left % cores);
            }
            node += nodes;
            left -= nodes * cores;
        }
        format!("{}.{}", node + left / self.cores.max(1), left % self.cores.max(1))
    }
}

/// How the node of a run was set up: enough to make the same one again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NodeSetup {
    /// Where ready tasks go.
    pub place: String,
    /// Which ready task is next.
    pub order: String,
    /// What may run at once.
    pub pack: String,
    /// How many tasks may run at once.
    pub width: u32,
    /// Thousandths of a core to give.
    pub cpus_milli: u64,
    /// Memory to give.
    pub memory_bytes: u64,
    /// Memory that there is, whoever may have it; nothing if that is not known.
    #[serde(default)]
    pub all_memory_bytes: u64,
    /// How long a task that is asked to end may take.
    pub grace_ms: u64,
    /// Start nothing more after a failure.
    pub fail_fast: bool,
    /// What else there is to give.
    #[serde(default)]
    pub pools: Vec<PoolSetup>,
    /// Room into which inputs are brought.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<TierSetup>,
    /// What was known of kinds of tasks before, for a node that learns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub learnt: Vec<KindPast>,
}

/// The memory tier of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TierSetup {
    /// How much it may hold.
    pub capacity_bytes: u64,
    /// For how many tasks inputs may be brought before they have a slot.
    pub window: u32,
    /// What goes when there is no room.
    pub evict: String,
    /// Whether all that is brought has room at once.
    pub is_roomy: bool,
    /// The numbers of the objects that are brought: from which to which, without the last.
    pub brought: Vec<(u32, u32)>,
}

impl TierSetup {
    /// Whether an object is brought.
    pub fn brings(&self, object: ObjectId) -> bool {
        self.brought.iter().any(|(from, to)| (*from..*to).contains(&object.0))
    }
}

/// Something that a node has, by its name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolSetup {
    /// Its name.
    pub name: String,
    /// Its units, if they have ids.
    pub ids: Vec<String>,
    /// How much there is, in thousandths.
    pub amount_milli: u64,
}

/// The machine of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostInfo {
    /// Its name.
    pub name: String,
    /// The version of its kernel.
    pub kernel: String,
    /// The model of its processor.
    pub cpu: String,
    /// Cores that Throng may use.
    pub cores: u32,
    /// Memory that Throng may use.
    pub memory_bytes: u64,
    /// How fast its cores run, in thousands of cycles a second, if the system tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_khz: Option<u64>,
    /// The type of machine that somebody has said it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_type: Option<String>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunEnd {
    /// `done`, `failed` or `interrupted`; of a simulated run, `simulated`.
    pub state: String,
    /// Tasks that were asked for.
    pub total: u64,
    /// Tasks that ran and succeeded.
    pub done: u64,
    /// Tasks that did not have to run.
    pub up_to_date: u64,
    /// Tasks that failed for good.
    pub failed: u64,
    /// Tasks behind those.
    pub skipped: u64,
    /// From the first look at the workflow to the end.
    pub seconds: f64,
    /// From the first start to the last end of a task.
    pub makespan_s: f64,
    /// Tasks done per second of makespan.
    pub tasks_per_s: f64,
    /// What had to be brought for its tasks, if anything could have to be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<DataEnd>,
    /// Why what was learnt could not be kept, if it could not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_kept: Option<String>,
}

/// What had to be brought for tasks, and what was there.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DataEnd {
    /// Where it came from, if that was a storage.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub storage: Option<String>,
    /// The directory that it came to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// How much there was room for.
    pub capacity_bytes: u64,
    /// How often a task found an input there, or on its way.
    pub hits: u64,
    /// How often one had to be brought.
    pub misses: u64,
    /// What was brought.
    pub brought_bytes: u64,
    /// What had to go for something else.
    #[serde(default)]
    pub dropped_bytes: u64,
    /// What was to be expected, if somebody worked it out and all tasks ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<ExpectedData>,
}

/// What was to be expected of an order and a room for data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExpectedData {
    /// How often an input would have to be brought.
    pub misses: u64,
    /// How much that is.
    pub bytes: u64,
}
