//! Pack: how many tasks, and of which classes, a node runs at once.
//!
//! A policy is asked before each start whether one more task with a certain demand may run, and is told of every start
//! and end. It never sees single tasks: what it grants, it grants to all who ask for the same. Cores and memory are
//! its business; what has a name and is counted is not ([`crate::pools`]).
//!
//! Some policies learn: they want to know what waits, what the node uses and what each attempt took, and say when they have
//! changed their mind about how many tasks of a kind to run.

pub mod dominant;
mod fixed;
mod kinds;
pub mod learn;
mod requests;
pub mod sample;
pub mod usual;
pub mod weasel;

pub use fixed::Fixed;
pub use kinds::{Kinds, Reserved};
pub use learn::Learn;
pub use requests::Requests;
pub use sample::{Sample, Spent, Uses};
pub use weasel::Weasel;

use std::sync::Arc;
use std::time::Duration;

use self::dominant::Resource;
use crate::ids::{DemandId, KindId};
use crate::past::Past;
use crate::policy::{BadPolicy, Policy};
use crate::time::Time;
use crate::workflow::{Resources, Workflow};

/// What a node can give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// How many tasks may run at once.
    pub width: u32,
    /// Cores and memory.
    pub resources: Resources,
}

/// Why another number of tasks of a kind is to run at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Single ones have run, and need this most.
    Profiled(Resource),
    /// One more brought more, or nothing is known yet.
    Grows,
    /// More of them bring no more.
    Contention,
    /// As many as before use something else: what was known does not hold any more.
    Drifted,
    /// So many have room on the cores, by what a task keeps busy of them.
    Cores,
    /// It is tried whether fewer bring as much.
    Fewer,
    /// Others want the cores as well.
    Strangers,
}

/// Another number of tasks of a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// Which kind.
    pub kind: KindId,
    /// How many at once.
    pub width: u32,
    /// Why.
    pub why: Why,
}

/// What is found out about a kind, as far as it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Found {
    /// How many at once are best.
    pub width: Option<u32>,
    /// What its tasks wait for or take most of, of what only the node as a whole can tell.
    pub waits_for: Option<Resource>,
    /// How many cores one of its tasks keeps busy if nobody is in its way.
    pub cores: Option<f64>,
}

/// Decides what may run beside what is running.
pub trait Pack: Send {
    /// Whether one more task with this demand may start now.
    fn admits(&self, demand: DemandId) -> bool;
    /// A task with this demand has started.
    fn started(&mut self, demand: DemandId);
    /// A task with this demand has ended.
    fn ended(&mut self, demand: DemandId);
    /// Whether a task with this demand could run if nothing else did.
    fn could_ever_admit(&self, demand: DemandId) -> bool;
    /// What tasks of a kind took in earlier runs on machines like this one: a starting point.
    fn recall(&mut self, _kind: KindId, _past: &Past) {}
    /// What was found out about a kind: for the next run.
    fn found(&self, _kind: KindId) -> Found {
        Found::default()
    }
    /// A task of a kind waits.
    fn queued(&mut self, _kind: KindId) {}
    /// A task of a kind waits no more.
    fn unqueued(&mut self, _kind: KindId) {}
    /// An attempt that has run for so long uses this, and goes on.
    fn uses(&mut self, _now: Time, _demand: DemandId, _runs_for: Duration, _uses: &Uses) {}
    /// An attempt that is about to end has taken this.
    fn spent(&mut self, _now: Time, _demand: DemandId, _spent: &Spent) {}
    /// The node has used this since it was last measured; says what is different from now on.
    fn measured(&mut self, _now: Time, _sample: &Sample) -> Vec<Change> {
        Vec::new()
    }
    /// Kinds of which one more could start though none waits here, if nothing that waits here could start: what others have of these is
    /// welcome.
    fn idle_kinds(&self) -> Vec<KindId> {
        Vec::new()
    }
    /// How many tasks to ask for, at most: more than will end before there are others, and not many more.
    fn appetite(&self) -> u32 {
        u32::MAX
    }
    /// How often the node is to be measured, if anybody wants to know.
    fn measures_every(&self) -> Option<Duration> {
        None
    }
}

/// The names that [`by_name`] knows, the default first.
pub const NAMES: [&str; 4] = ["requests", "fixed", "learn", "weasel"];

/// The policy with a name. One that learns wants a workflow whose kinds are told apart.
pub fn by_name(policy: &Policy, capacity: Capacity, flow: &Arc<Workflow>) -> Result<Box<dyn Pack>, BadPolicy> {
    Ok(match policy.name.as_str() {
        "fixed" => {
            policy.takes_none()?;
            Box::new(Fixed::new(capacity.width))
        }
        "requests" => {
            policy.takes_none()?;
            Box::new(Requests::new(capacity, flow.clone()))
        }
        "learn" => Box::new(Learn::new(policy, capacity, Kinds::new(flow))?),
        "weasel" => Box::new(Weasel::new(policy, capacity, Kinds::new(flow))?),
        _ => return Err(policy.unknown("pack", &NAMES)),
    })
}

/// At most so many tasks run at once where that is learnt, if nobody says otherwise.
pub const LEARNT_WIDTH: u32 = 256;

/// More tasks at once than this nobody can want: each has a place of its own from the beginning.
pub const MOST_WIDTH: u32 = 100_000;

/// Nobody is measured more often than this.
const LEAST_INTERVAL: Duration = Duration::from_millis(10);
/// No more kinds than this are asked for by name, and so many are looked at for that: a workflow may have as many as tasks.
const KINDS_NAMED: usize = 64;
const KINDS_LOOKED_AT: usize = 1000;

/// How many tasks may run at once if nobody says how many: of a policy that learns, as many as it is told to try at most.
pub fn usual_width(policy: &Policy, cores: u32) -> u32 {
    // What is no number is told when the policy is made.
    if learns(policy) { most(policy, LEARNT_WIDTH).unwrap_or(LEARNT_WIDTH) } else { cores }
}

/// How many tasks a policy that learns may try at most.
fn most(policy: &Policy, usual: u32) -> Result<u32, BadPolicy> {
    let read = |text: &str| text.parse().ok().filter(|number| (1..=MOST_WIDTH).contains(number));
    policy.value("most", usual, "a whole number from 1 to 100000", read)
}

/// Kinds of which one more could start though none waits here, if nothing that waits could start.
fn idle_kinds(pack: &dyn Pack, kinds: &Kinds, waits: impl Fn(KindId) -> bool) -> Vec<KindId> {
    let could_start = |kind: &KindId| kinds.first_demand(*kind).is_some_and(|demand| pack.admits(demand));
    let all = (0..kinds.count().min(KINDS_LOOKED_AT)).map(KindId::at);
    let (waiting, others): (Vec<KindId>, Vec<KindId>) = all.partition(|kind| waits(*kind));
    if waiting.iter().any(could_start) {
        return Vec::new();
    }
    others.into_iter().filter(could_start).take(KINDS_NAMED).collect()
}

/// Whether a policy learns, so that kinds have to be told apart and the node has to be measured.
pub fn learns(policy: &Policy) -> bool {
    matches!(policy.name.as_str(), "learn" | "weasel")
}
