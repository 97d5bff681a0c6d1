//! Weasel: each kind of task runs as many times at once as the node's use of the resource that it needs most goes on growing.
//!
//! ```text
//!   a kind comes ──▶ its tasks run alone, some times ──▶ what one uses, and of what most
//!                                                                  │
//!        every interval: what is usually used ──▶ Adaptation ◀─────┘ ──▶ how many at once
//! ```
//!
//! Kinds that need different resources most run beside each other, each with a policy of its own; of those that need the same, the one that
//! came first runs, and the next when that has nothing left. Named resources are reserved as always, cores and memory where a task says so.
//!
//! It loses where tasks are long: each kind runs alone at first, and the number grows by one an interval. `learn` does not wait.

pub mod adaptation;

use std::collections::BTreeMap;
use std::time::Duration;

use self::adaptation::{Adaptation, Config, Threshold};
use super::dominant::{Resource, Use, beside_each_other, dominant};
use super::sample::{Sample, Spent};
use super::usual::{BINS, usual};
use super::{Capacity, Change, Found, Kinds, LEAST_INTERVAL, Pack, Reserved, Why, idle_kinds, most};
use crate::ids::{DemandId, KindId};
use crate::past::Past;
use crate::policy::{BadPolicy, Policy};
use crate::time::Time;

/// How often the node is measured.
const SAMPLED_EVERY: Duration = Duration::from_millis(500);

/// The parameters that somebody may set.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Settings {
    /// How often the number of tasks is looked at.
    interval: Duration,
    /// How often a new kind runs alone.
    profiled: u32,
    /// What part of the use of a single task counts as a change.
    threshold: f64,
    start_after: u32,
    most: u32,
    /// Nothing if what was learnt is never forgotten.
    drift: Option<f64>,
}

impl Settings {
    fn of(policy: &Policy, width: u32) -> Result<Settings, BadPolicy> {
        policy.takes(&["interval", "threshold", "start_after", "most", "profiled", "drift"])?;
        let drift = policy.number("drift", 0.25)?;
        Ok(Settings {
            interval: policy.time("interval", Duration::from_secs(5))?.max(LEAST_INTERVAL),
            profiled: policy.count("profiled", 3)?,
            threshold: policy.number("threshold", adaptation::TASK_SHARE)?,
            start_after: policy.whole("start_after", 2)?.min(u32::MAX.into()) as u32,
            most: most(policy, width)?.min(width),
            drift: Some(drift).filter(|drift| drift.is_finite()),
        })
    }
}

/// What is known of a kind.
#[derive(Clone, Debug)]
enum Phase {
    /// It runs alone, until that has been so many times: what was used of the node meanwhile, and what its tasks took of cores and memory, as
    /// parts of what there is.
    Profiling { runs: u32, samples: Vec<Use>, taken: Vec<[f64; 2]> },
    /// It runs as often as its policy says.
    Adapting { dominant: Resource, adaptation: Adaptation },
}

#[derive(Clone, Debug)]
struct State {
    waiting: u32,
    running: u32,
    width: u32,
    phase: Phase,
    /// How many came before it.
    arrival: u64,
}

impl State {
    /// Whether it has something to do.
    fn is_at_hand(&self) -> bool {
        self.waiting + self.running > 0
    }
}

/// The policy of a node.
#[derive(Clone, Debug)]
pub struct Weasel {
    settings: Settings,
    capacity: Capacity,
    kinds: Kinds,
    /// Those that have come, though they may have nothing left.
    states: BTreeMap<KindId, State>,
    arrivals: u64,
    /// How many at once kinds came to in earlier runs.
    recalled: BTreeMap<KindId, u32>,
    /// Those that may run now, of those that have something to do.
    allowed: Vec<KindId>,
    running: u32,
    reserved: Reserved,
    /// What was measured in this interval.
    samples: Vec<Use>,
    interval_ends: Option<Time>,
    changes: Vec<Change>,
}

impl Weasel {
    /// For a node.
    pub fn new(policy: &Policy, capacity: Capacity, kinds: Kinds) -> Result<Weasel, BadPolicy> {
        let settings = Settings::of(policy, capacity.width.max(1))?;
        Ok(Weasel {
            settings,
            capacity,
            kinds,
            states: BTreeMap::new(),
            arrivals: 0,
            recalled: BTreeMap::new(),
            allowed: Vec::new(),
            running: 0,
            reserved: Reserved::of(capacity.resources),
            samples: Vec::new(),
            interval_ends: None,
            changes: Vec::new(),
        })
    }

    fn state(&mut self, kind: KindId) -> &mut State {
        let arrivals = &mut self.arrivals;
        self.states.entry(kind).or_insert_with(|| {
            *arrivals += 1;
            let phase = Phase::Profiling { runs: 0, samples: Vec::new(), taken: Vec::new() };
            State { waiting: 0, running: 0, width: 1, phase, arrival: *arrivals }
        })
    }

    /// Kinds with something to do, in the order in which they came; also one of which a task is in hand.
    fn at_hand(&self, in_hand: Option<KindId>) -> Vec<(KindId, &State)> {
        let is_at_hand = |kind: KindId, state: &State| state.is_at_hand() || in_hand == Some(kind);
        let states = self.states.iter().map(|(kind, state)| (*kind, state));
        let mut kinds: Vec<(KindId, &State)> = states.filter(|(kind, state)| is_at_hand(*kind, state)).collect();
        kinds.sort_unstable_by_key(|(_, state)| state.arrival);
        kinds
    }

    /// Kinds that may run now.
    fn may_run(&self, in_hand: Option<KindId>) -> Vec<KindId> {
        let kinds = self.at_hand(in_hand);
        // One that is not known yet runs alone.
        let new = kinds.iter().find(|(_, state)| matches!(state.phase, Phase::Profiling { .. }));
        if let Some((kind, _)) = new {
            return vec![*kind];
        }
        let dominants: Vec<Resource> = kinds
            .iter()
            .filter_map(|(_, state)| match &state.phase {
                Phase::Adapting { dominant, .. } => Some(*dominant),
                Phase::Profiling { .. } => None,
            })
            .collect();
        beside_each_other(&dominants).into_iter().map(|at| kinds[at].0).collect()
    }

    /// Whether a kind may run now, of which a task is in hand.
    fn may(&self, kind: KindId) -> bool {
        let is_at_hand = self.states.get(&kind).is_some_and(State::is_at_hand);
        if is_at_hand { self.allowed.contains(&kind) } else { self.may_run(Some(kind)).contains(&kind) }
    }

    /// Changes what is known of a kind; whoever may run is found anew if that has to do with it.
    fn change<T>(&mut self, kind: KindId, change: impl FnOnce(&mut State) -> T) -> T {
        let state = self.state(kind);
        let before = state.is_at_hand();
        let told = change(state);
        if state.is_at_hand() != before {
            self.allowed = self.may_run(None);
        }
        told
    }

    /// A kind has run alone often enough: what it needs is known.
    fn finish_profile(&mut self, kind: KindId) {
        let (settings, recalled) = (self.settings, self.recalled.get(&kind).copied().unwrap_or(1));
        let state = self.state(kind);
        let Phase::Profiling { samples, taken, .. } = &state.phase else { return };
        let mean = |resource: Resource| {
            let all: Vec<f64> = samples.iter().map(|used| used[resource as usize]).collect();
            usual(&all, BINS).unwrap_or(0.0)
        };
        let mut used: Use = Resource::ALL.map(mean);
        // Others compute and hold memory as well; what the tasks themselves took is known.
        for (at, resource) in [Resource::Cpu, Resource::Memory].into_iter().enumerate() {
            let known = taken.iter().map(|taken| taken[at]).sum::<f64>() / taken.len() as f64;
            used[resource as usize] = if taken.is_empty() { used[resource as usize] } else { known };
        }
        let dominant = dominant(&used);
        let usual = Config::usual(used[dominant as usize]);
        let threshold = Threshold { least: settings.threshold * used[dominant as usize], ..usual.threshold };
        let config = Config {
            threshold,
            start_after: settings.start_after,
            most: settings.most,
            drift: settings.drift,
            ..usual
        };
        state.phase = Phase::Adapting { dominant, adaptation: Adaptation::new(config) };
        // What a single one needs may have changed since an earlier run; from where to go on has not.
        state.width = recalled.clamp(1, settings.most);
        let change = Change { kind, width: state.width, why: Why::Profiled(dominant) };
        self.changes.push(change);
        self.allowed = self.may_run(None);
    }

    /// An interval is over: every kind that ran in it takes a step.
    fn adapt(&mut self) {
        let samples = std::mem::take(&mut self.samples);
        for kind in self.may_run(None) {
            let state = self.state(kind);
            let Phase::Adapting { dominant, adaptation } = &mut state.phase else { continue };
            let all: Vec<f64> = samples.iter().map(|used| used[*dominant as usize]).collect();
            // What did not run as often as it might have says nothing.
            let Some(measured) = usual(&all, BINS).filter(|_| state.running >= state.width) else { continue };
            let step = adaptation.step(state.width, measured);
            let why = match step.contention {
                _ if step.has_drifted => Why::Drifted,
                None | Some(false) => Why::Grows,
                Some(true) => Why::Contention,
            };
            if step.next != state.width {
                state.width = step.next;
                self.changes.push(Change { kind, width: step.next, why });
            }
        }
    }
}

impl Pack for Weasel {
    fn admits(&self, demand: DemandId) -> bool {
        let kind = self.kinds.of(demand);
        // Of a kind that has never come, one is welcome where nothing else has to be done.
        let Some(state) = self.states.get(&kind) else { return self.running == 0 && self.allowed.is_empty() };
        let is_alone = matches!(state.phase, Phase::Adapting { .. }) || self.running == 0;
        self.running < self.capacity.width
            && self.reserved.has_room(self.kinds.asked(demand))
            && is_alone
            && state.running < state.width
            && self.may(kind)
    }

    fn started(&mut self, demand: DemandId) {
        self.running += 1;
        self.reserved.take(self.kinds.asked(demand));
        let kind = self.kinds.of(demand);
        self.change(kind, |state| state.running += 1);
    }

    fn ended(&mut self, demand: DemandId) {
        self.running -= 1;
        self.reserved.give_back(self.kinds.asked(demand));
        let kind = self.kinds.of(demand);
        let profiled = self.settings.profiled;
        let is_profiled = self.change(kind, |state| {
            state.running -= 1;
            let Phase::Profiling { runs, samples, .. } = &mut state.phase else { return false };
            *runs += 1;
            // Short tasks end before anything was measured.
            *runs >= profiled && !samples.is_empty()
        });
        if is_profiled {
            self.finish_profile(kind);
        }
    }

    fn could_ever_admit(&self, demand: DemandId) -> bool {
        self.capacity.width > 0 && self.reserved.could_have(self.kinds.asked(demand))
    }

    fn recall(&mut self, kind: KindId, past: &Past) {
        self.recalled.extend(past.width.map(|width| (kind, width)));
    }

    fn found(&self, kind: KindId) -> Found {
        match self.states.get(&kind) {
            Some(State { phase: Phase::Adapting { dominant, .. }, width, .. }) => {
                Found { width: Some(*width), waits_for: Some(*dominant), cores: None }
            }
            _ => Found::default(),
        }
    }

    fn queued(&mut self, kind: KindId) {
        self.change(kind, |state| state.waiting += 1);
    }

    fn unqueued(&mut self, kind: KindId) {
        self.change(kind, |state| state.waiting = state.waiting.saturating_sub(1));
    }

    fn spent(&mut self, _now: Time, demand: DemandId, spent: &Spent) {
        let (all, kind) = (self.capacity.resources, self.kinds.of(demand));
        let is_seen = !self.kinds.are_contained(kind) && spent.time_us > 0;
        let Phase::Profiling { taken, .. } = &mut self.state(kind).phase else { return };
        if is_seen {
            let cores = spent.computing_us as f64 / spent.time_us as f64;
            let [all_cores, all_bytes] =
                [all.cpus_milli as f64 / 1000.0, all.memory_bytes as f64].map(|all| all.max(1.0));
            taken.push([cores / all_cores, spent.peak_bytes as f64 / all_bytes]);
        }
    }

    fn measured(&mut self, now: Time, sample: &Sample) -> Vec<Change> {
        let used = sample.shares();
        let alone = self.states.values_mut().find(|state| state.running > 0);
        if let Some(State { phase: Phase::Profiling { samples, .. }, .. }) = alone {
            samples.push(used);
        } else {
            self.samples.push(used);
        }
        match self.interval_ends {
            Some(ends) if now < ends => {}
            ends => {
                self.interval_ends = Some(now + self.settings.interval);
                if ends.is_some() {
                    self.adapt();
                }
            }
        }
        std::mem::take(&mut self.changes)
    }

    fn idle_kinds(&self) -> Vec<KindId> {
        idle_kinds(self, &self.kinds, |kind| self.states.get(&kind).is_some_and(|state| state.waiting > 0))
    }

    /// As many as may run beside those that do: what ends meanwhile is made up for before it is missed.
    fn appetite(&self) -> u32 {
        self.states.values().map(|state| state.width).max().unwrap_or(1).saturating_mul(2)
    }

    fn measures_every(&self) -> Option<Duration> {
        Some(SAMPLED_EVERY.min(self.settings.interval))
    }
}

#[cfg(test)]
mod tests;
