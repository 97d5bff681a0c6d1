//! What has to hold after every event of a run, and at its end.

use std::time::Duration;

use throng_core::ids::{NodeId, TaskId};
use throng_core::pack;
use throng_core::place::daws;
use throng_core::policy::Policy;
use throng_core::store::{Phase, Verdict};
use throng_core::time::Time;
use throng_core::workflow::{Workflow, quantity};

use super::Case;
use crate::cluster::Inputs;
use crate::faults::Faults;
use crate::outcome::Outcome;
use crate::world::{World, patience};

/// Policies under which whoever is idle looks for work, and whoever has too much lets others have it.
const STEALING: [&str; 6] = ["mlb", "mdl", "rlds", "flds", "adaptive", "fair"];

/// How often a node with too much to do tells others; whoever has given up looking waits for that.
const ANNOUNCE_EVERY: Duration = Duration::from_secs(10);

/// So many others are told each time: in a small cluster all of them.
const TOLD_EACH_TIME: u32 = 16;

/// How long a thief in vain rests at most if its policy does not say.
const LONGEST_PAUSE: Duration = Duration::from_secs(50);

/// How unlikely something has to be before it is more than bad luck, as a power of e: there are millions of thieves in many seeds.
const LUCK: f64 = 20.0;

/// So often a thief may come too late because others were faster.
const TOO_LATE: f64 = 12.0;

/// What a node that looks for work may need at most.
struct Patience {
    /// Between the beginnings of two hunts.
    between_hunts: Duration,
    /// Hunts until one brings something, while somebody has something to share all the time.
    hunts: u64,
}

/// Since when a node has been idle while another has had tasks to share, and how often it had hunted in vain by then. (A node with many free
/// slots that gets one task at a time stays idle for some while though nothing is wrong.)
#[derive(Clone, Copy)]
struct Unfair {
    since: Time,
    in_vain: u64,
}

/// What is remembered from event to event.
pub(super) struct Inspection {
    /// Whether any task may start wherever a slot is free.
    fits_anywhere: bool,
    /// Whether a node may wait though it could start something.
    waits: bool,
    /// Whether what tasks ask for is reserved for them.
    reserves: bool,
    patience: Option<Patience>,
    /// For each pair of nodes, the idle one first.
    unfair: Vec<Option<Unfair>>,
    /// When each node last began to hunt, and how often it had by then.
    hunted: Vec<(Time, u64)>,
}

impl Inspection {
    pub(super) fn new(case: &Case) -> Inspection {
        let (cluster, nodes) = (&case.cluster, case.cluster.nodes as usize);
        // Who learns may think that no more of them are worth it.
        let is_free = case.is_uniform && cluster.width.is_none() || cluster.pack.name == "fixed";
        let fits_anywhere = is_free && !pack::learns(&cluster.pack);
        Inspection {
            fits_anywhere,
            // A node that is alone and holds to one order waits for the next in it.
            waits: cluster.order.name == "ps" && nodes == 1,
            reserves: cluster.pack.name == "requests",
            patience: patience_of(case).filter(|_| fits_anywhere),
            unfair: vec![None; nodes * nodes],
            hunted: vec![(Time::START, 0); nodes],
        }
    }

    /// Looks at everything.
    pub(super) fn inspect(&mut self, world: &World) -> Result<(), String> {
        for member in world.touched() {
            member.node().check()?;
            // Whoever waits, waits for something.
            let may_wait = self.waits && member.node().handed_out() > 0;
            if self.fits_anywhere && !may_wait && member.may_start(world.now()) && member.node().could_start() {
                return Err(format!("node {} could start something and does not", member.me().node.0));
            }
        }
        world.check_slots(self.reserves)?;
        self.inspect_idle(world)
    }

    /// Nobody who is idle goes without what others share.
    fn inspect_idle(&mut self, world: &World) -> Result<(), String> {
        let Some(patience) = &self.patience else { return Ok(()) };
        let (now, nodes) = (world.now(), self.hunted.len());
        let shares: Vec<bool> = (0..nodes).map(|at| shares(world, at)).collect();
        for at in 0..nodes {
            let member = world.member(NodeId(at as u32));
            let Some(member) = member.filter(|it| it.may_start(now) && it.node().wants_work()) else {
                self.unfair[at * nodes..(at + 1) * nodes].fill(None);
                continue;
            };
            let (hunts, in_vain) = (member.tally.hunts, member.tally.hunts.saturating_sub(member.tally.hunts_won));
            if self.hunted[at].1 != hunts {
                self.hunted[at] = (now, hunts);
            }
            for (other, shares) in shares.iter().enumerate() {
                let unfair = &mut self.unfair[at * nodes + other];
                if other == at || !shares {
                    *unfair = None;
                    continue;
                }
                let begun = *unfair.get_or_insert(Unfair { since: now, in_vain });
                let rested = now.since(begun.since.max(self.hunted[at].0));
                let tried = in_vain.saturating_sub(begun.in_vain);
                if rested > patience.between_hunts || tried > patience.hunts {
                    return Err(format!(
                        "node {at} has been idle since {:.3} s while node {other} has had tasks to share: it has asked {tried} \
                         times in vain (of {}), the last time {rested:?} ago (of {:?})",
                        begun.since.as_secs_f64(),
                        patience.hunts,
                        patience.between_hunts,
                    ));
                }
            }
        }
        Ok(())
    }
}

fn shares(world: &World, at: usize) -> bool {
    world.member(NodeId(at as u32)).is_some_and(|member| member.node().shared_len() > 0)
}

/// How patient a node that looks for work has to be, where anything can be said: all its policies steal, and nothing happens to
/// messages, to nodes, or to the room for data.
fn patience_of(case: &Case) -> Option<Patience> {
    let cluster = &case.cluster;
    let Faults { slow, failing, cancels, .. } = cluster.faults.clone();
    let harmless = Faults { slow, failing, cancels, ..Faults::default() };
    let later = cluster.later.as_ref().map(|later| &later.place);
    let policies: Vec<&Policy> = std::iter::once(&cluster.place).chain(later).collect();
    if cluster.faults != harmless || !policies.iter().all(|policy| STEALING.contains(&policy.name.as_str())) {
        return None;
    }
    let others = f64::from(cluster.nodes.saturating_sub(1).max(1));
    // How often something that hits so many of all others has to happen until it has hit a certain one.
    let until_hit = |count: u32| {
        let missed = 1.0 - (f64::from(count) / others).min(1.0);
        if missed > 0.0 { (LUCK / -missed.ln()).ceil() } else { 1.0 }
    };
    let (mut pause, mut hunts) = (Duration::ZERO, 0.0f64);
    for policy in policies {
        let value = |name| policy.parameters.iter().find(|(other, _)| other == name).map(|(_, value)| value.as_str());
        let time = |name| value(name).and_then(|text| quantity::duration(text).ok()).unwrap_or(LONGEST_PAUSE);
        pause = pause.max(time("poll")).max(time("cap"));
        let asked = value("neighbours").and_then(|count| count.parse().ok());
        let asked = asked.unwrap_or_else(|| daws::neighbour_count(cluster.nodes));
        hunts = hunts.max(until_hit(asked));
    }
    // It waits for the answers of those asked, for loot, then as long as its policy says; and if it has given up, for a call.
    let answers = patience(cluster) * 2 + (cluster.latency + cluster.store_latency) * 4;
    let called = ANNOUNCE_EVERY.mul_f64(until_hit(TOLD_EACH_TIME));
    Some(Patience { between_hunts: answers + pause + called, hunts: (hunts + TOO_LATE) as u64 })
}

impl Case {
    /// Checks how it ended.
    pub(super) fn judge(&self, flow: &Workflow, world: &World, outcome: &Outcome) -> Result<(), String> {
        let faults = &self.cluster.faults;
        let lie_on_nodes = matches!(self.cluster.inputs, Inputs::Spread | Inputs::Scattered | Inputs::Node(_));
        let may_fail = faults.failing > 0.0
            || faults.deadly > 0.0
            || self.has_short_timeouts
            || !faults.crashes_by_chance.is_empty()
            || ((faults.has_crashes() || !faults.partitions.is_empty()) && lie_on_nodes);
        if outcome.not_done == 0 && outcome.of_bound() > 1.0 {
            return Err(format!("it took {:?}, and the bound is {:?}", outcome.makespan, outcome.bound));
        }
        for task in flow.tasks() {
            let record = world.memory().record(task);
            if record.phase < Phase::Settled {
                return Err(format!("{task:?} has no verdict at the end"));
            }
            if record.verdict == Verdict::Done {
                continue;
            }
            if !may_fail && !world.unwanted().excuses(task) {
                return Err(format!("{task:?} is {:?}, and nothing was wrong with it", record.verdict));
            }
            let child_done = |child: &TaskId| world.memory().record(*child).verdict == Verdict::Done;
            if let Some(child) = flow.children(task).find(child_done)
                && record.generation == 0
                && faults.failovers.is_empty()
            {
                return Err(format!("{child:?} is done, and its parent {task:?} is not"));
            }
        }
        if faults.failovers.is_empty() {
            world.unwanted().check(|task| world.memory().record(task).verdict)?;
        }
        Ok(())
    }
}
