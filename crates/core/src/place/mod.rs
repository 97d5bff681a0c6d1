//! Place: which node runs a task, decided when it becomes ready, and by idle nodes that look for work.
//!
//! A policy answers for one task at a time: keep it (local queue), share it (shared queue, from which idle nodes
//! steal), push it to the node that holds its data. It also says whom an idle node asks, and what it does when that was in
//! vain. Each node has its own copy and sees only what that node sees.
//!
//! | name | what it does |
//! |---|---|
//! | `mlb`, `mdl`, `rlds`, `flds` | MATRIX's data-aware work stealing, with its four settings |
//! | `adaptive` | begins as `flds` and changes by what it measures |
//! | `fair` | Throng's own: as `rlds`, but whoever asks gets what would wait here longer than its data takes to move |
//! | `random` | a random node, for good |
//! | `sampled` | asks `d` nodes and pushes to the least loaded, for good (as Sparrow does) |
//! | `queue` | puts all into one queue spread over the nodes, from which everybody pulls one by one (as CloudKon does) |
//! | `partitioned` | a part of the workflow for each node, by the data that tasks share, worked out beforehand |
//! | `central` | one node sees all and sends tasks to their data (as Falkon does) |

mod abilities;
pub mod adapt;
mod central;
pub mod daws;
mod fair;
mod first;
mod loot;
mod partitioned;
mod queue;
mod random;
mod sampled;
mod stealing;

use std::time::Duration;

pub use abilities::Abilities;
pub use first::FirstOwners;
pub use partitioned::parts;

use crate::ids::NodeId;
use crate::node::ReadyTask;
use crate::policy::{BadPolicy, Policy};
use crate::rng::Rng;
use crate::store::Inputs;

/// What becomes of a ready task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placement {
    /// It stays, and nobody else may have it.
    Keep,
    /// It stays until somebody asks for it.
    Share,
    /// It goes to this node, which keeps it.
    Push(NodeId),
    /// It goes to the least loaded of these.
    Probe(Vec<NodeId>),
    /// It goes to this node, which holds it for whoever asks.
    Host(NodeId),
}

/// What an idle node does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hunt {
    /// It waits until somebody sends it something.
    Wait,
    /// It asks these how much they have, and robs the richest.
    Steal(Vec<NodeId>),
    /// It asks this one for what is held there for everybody.
    Pull {
        /// Whom.
        host: NodeId,
        /// One task only, or as many as there are free slots.
        one: bool,
    },
}

/// What a node sees when it decides.
#[derive(Debug)]
pub struct View<'a> {
    /// Which node it is.
    pub me: NodeId,
    /// How many nodes there are; those that are gone are asked in vain.
    pub nodes: u32,
    /// How long the task will take, as far as anybody knows.
    pub estimated: Duration,
    /// How many bytes a second come in from another node.
    pub bandwidth: u64,
    /// Whether the largest input is here.
    pub has_largest: bool,
    /// Where the task belongs, if the workflow has been parted.
    pub home: Option<NodeId>,
    /// The node's dice.
    pub rng: &'a mut Rng,
}

/// What a node has to do by itself, and how fast it has been.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Backlog {
    /// Tasks in the local queue.
    pub local: usize,
    /// Tasks finished so far.
    pub finished: u64,
    /// In how long.
    pub elapsed: Duration,
    /// How long it takes to move what a task reads, on average.
    pub moving: Duration,
    /// How long it takes from one task to the next, as far as anybody knows.
    pub pace: Duration,
    /// Whether somebody has just asked for work; else it is only time to look.
    pub is_asked: bool,
}

/// A task is better off elsewhere when it would wait here for so many times as long as its data takes to move: moving takes the
/// network of others, too.
pub const MOVES_WORTH_WAITING: u32 = 2;

/// What happened at a node during a window of time, as shares of what could have.
pub use adapt::Window;

/// Decides where tasks run.
pub trait Place: Send {
    /// Decides about one task.
    fn ready(&mut self, task: &ReadyTask, inputs: &Inputs, view: &mut View<'_>) -> Placement;

    /// What to do when there is nothing to do.
    fn hunt(&mut self, view: &mut View<'_>) -> Hunt;

    /// Whether that was worth it, and how long to rest; for good if nothing is said.
    fn hunted(&mut self, won: bool) -> Option<Duration>;

    /// How many of the tasks in the local queue to share, given how fast the node has been.
    fn surplus(&mut self, _backlog: &Backlog) -> usize {
        0
    }

    /// How often to ask for a surplus, if ever.
    fn check_every(&self) -> Option<Duration> {
        None
    }

    /// How long a window is, if the policy wants to hear of any.
    fn window_length(&self) -> Option<Duration> {
        None
    }

    /// Hears of a window; says whether all local tasks are to be shared.
    fn window(&mut self, _seen: &Window) -> bool {
        false
    }

    /// Somebody has more work than he can do; says whether to hunt again.
    fn announced(&mut self) -> bool {
        false
    }

    /// How many of so many tasks a thief gets.
    fn share_of(&self, length: usize) -> usize {
        daws::share(length)
    }

    /// Whether nodes that ask in vain are called when there is something, and may then have what waits in any queue.
    fn calls_idle(&self) -> bool {
        false
    }

    /// Whether tasks may be held at some node for whoever asks.
    fn hosts(&self) -> bool {
        false
    }

    /// Whether every task is shared.
    fn keeps_nothing(&self) -> bool {
        false
    }

    /// Whether whoever asks a host in vain is remembered there.
    fn remembers_hungry(&self) -> bool {
        false
    }

    /// What the policy is called now, for people.
    fn name(&self) -> &'static str;
}

/// The names that [`by_name`] knows, the default first.
pub const NAMES: [&str; 11] =
    ["fair", "adaptive", "flds", "mdl", "mlb", "rlds", "random", "central", "sampled", "queue", "partitioned"];

/// The policy with a name, and its parameters.
pub fn by_name(policy: &Policy) -> Result<Box<dyn Place>, BadPolicy> {
    match policy.name.as_str() {
        "mlb" | "mdl" | "rlds" | "flds" | "adaptive" => Ok(Box::new(stealing::Stealing::new(policy)?)),
        "fair" => Ok(Box::new(fair::Fair::new(policy)?)),
        "random" => Ok(Box::new(random::Random::new(policy)?)),
        "sampled" => Ok(Box::new(sampled::Sampled::new(policy)?)),
        "queue" => Ok(Box::new(queue::Queue::new(policy)?)),
        "partitioned" => Ok(Box::new(partitioned::Partitioned::new(policy)?)),
        "central" => Ok(Box::new(central::Central::new(policy)?)),
        _ => Err(policy.unknown("place", &NAMES)),
    }
}
