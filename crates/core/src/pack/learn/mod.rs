//! Learn: what each kind needs of the cores is learnt from its tasks, and tasks are packed as if they had asked for that.
//!
//! ```text
//!   what attempts took, what the node used ──▶ need of a task of each kind ──▶ as many as the cores have room for
//!   what came out of more of them ───────────▶ Search: how many of a kind are worth it ──▶ and no more of a kind
//! ```
//!
//! What there is of cores is known, so nothing has to be searched for where tasks compute: a kind of which a task keeps half a core busy runs
//! twice as often as there are cores, as soon as the first tasks have shown that. What else there is, a network, a disk, a server far
//! away, nobody knows: there the number grows in leaps as long as more of them bring more, and goes back to where they did not. Kinds that
//! mostly compute and kinds that mostly do not run beside each other, each as if the others were not there.
//!
//! A task that has to wait for a core seems to need less than it does: by as much as there are more who want one than there are cores. A kind
//! of which nothing is known needs a core. So does, as long as strangers want the cores as well, every task of a kind that computes at all: then
//! there are as many of them as there are cores, which is what anybody would expect to find beside him.

mod search;

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use self::search::{Look, SILENT, Search, Seen};
use super::dominant::{Resource, dominant};
use super::sample::{Sample, Spent, Uses, WHOLE};
use super::{Capacity, Change, Found, Kinds, LEAST_INTERVAL, Pack, Reserved, Why, idle_kinds, most};
use crate::ids::{DemandId, KindId};
use crate::past::Past;
use crate::policy::{BadPolicy, Policy};
use crate::time::Time;

/// Often enough to know within a second what short tasks need.
const MEASURED_EVERY: Duration = Duration::from_millis(100);
/// So many tasks in earlier runs are worth beginning with what they took.
const ENOUGH_TO_RECALL: u64 = 3;
/// Below this share, cores idle though there is something to do: more tasks may be under way than their needs say.
const IDLE: f64 = 0.95;
/// Below this share, cores, network and disks have next to nothing to do.
const HARDLY_BUSY: f64 = 0.4;
/// So many looks at who wants a core make up what is known of that.
const LOOKS: f64 = 4.0;
/// How many times the cores may be promised at most, for tasks that do not need them all the time.
const MOST_PROMISED: f64 = 4.0;
/// How much more is promised at a time at most, and how much less.
const PROMISES_MORE: f64 = 1.5;
const PROMISES_LESS: f64 = 0.05;
/// More is promised only if so much of what is promised is taken.
const TAKEN: f64 = 0.8;
/// What is less busy than this is as good as idle.
const AS_GOOD_AS_IDLE: f64 = 0.1;
/// So many tasks make up what is known of a kind: it follows a change, and one that is odd does not matter.
const REMEMBERED: u32 = 8;
/// From here on, a task mostly computes.
const MOSTLY_COMPUTES: f64 = 0.5;
/// From here on, cores say how many are worth it; and if they do already, or did not so far, from here on.
const KNOWS_CORES: f64 = 0.3;
const STILL_KNOWS_CORES: f64 = 0.22;
const KNOWS_CORES_AFTER_ALL: f64 = 0.38;
/// What has changed by less than one part of so many is not said again.
const SAID_AGAIN: u32 = 5;
/// From here on, of all cores and of one, strangers want them as well; and below half of that, they have gone.
const STRANGERS: f64 = 0.1;
const STRANGERS_CORES: f64 = 0.3;
/// What a task has computed in less time than this tells nothing.
const LONG_ENOUGH: Duration = Duration::from_millis(90);
/// Less than this of a core is nothing.
const LEAST_NEED: f64 = 0.002;

/// Whether a task that needs so much of a core mostly waits for something else: then it hardly takes anything from those that compute, and has
/// a share of its own.
fn side(need: f64) -> usize {
    usize::from(need < MOSTLY_COMPUTES)
}

#[derive(Clone, Debug)]
struct State {
    waiting: u32,
    running: u32,
    /// Cores that a task keeps busy while it runs.
    need: f64,
    /// Whether that is more than a guess.
    is_known: bool,
    /// Whether it is the cores that limit them, before anything else.
    is_by_cores: bool,
    /// For how long the task had run that this was last told of.
    told_of: Duration,
    /// How often that was seen of one that has ended, up to some; what is recalled counts as one.
    seen: u32,
    /// Whether any has ended since the run began.
    has_ended: bool,
    /// How long a task takes, about.
    time: Duration,
    /// By how much tasks differ in that, on average.
    differs: Duration,
    /// How many have ended since the node was measured, and how long they took together.
    done: u32,
    took: Duration,
    search: Search,
    /// What was used most when as many ran as may, and nobody else.
    waits_for: Option<Resource>,
    /// How many at once it was said last.
    said: Option<u32>,
}

/// What a task counts for beside others.
#[derive(Clone, Copy, Debug)]
struct Counts {
    need: f64,
    is_by_cores: bool,
}

impl State {
    fn counts(&self) -> Counts {
        Counts { need: self.need, is_by_cores: self.is_by_cores }
    }
}

/// The policy of a node.
#[derive(Clone, Debug)]
pub struct Learn {
    interval: Duration,
    capacity: Capacity,
    cores: f64,
    kinds: Kinds,
    states: BTreeMap<KindId, State>,
    /// Those of which a task waits, and those of which one runs or has run since the node was measured: a workflow may have as many kinds as tasks.
    waiting: BTreeSet<KindId>,
    at_work: BTreeSet<KindId>,
    running: u32,
    reserved: Reserved,
    /// What all running tasks need together: those that mostly compute, and those that mostly wait for something else.
    needed: [f64; 2],
    /// How many times the cores are promised.
    promised: f64,
    /// How busy the cores are.
    busy: f64,
    /// How many want a core, about.
    runnable: f64,
    /// Whether others than tasks want cores as well.
    has_strangers: bool,
    measured_at: Option<Time>,
    changes: Vec<Change>,
}

impl Learn {
    /// For a node.
    pub fn new(policy: &Policy, capacity: Capacity, kinds: Kinds) -> Result<Learn, BadPolicy> {
        policy.takes(&["interval", "most"])?;
        let width = most(policy, capacity.width.max(1))?.min(capacity.width.max(1));
        Ok(Learn {
            interval: policy.time("interval", MEASURED_EVERY)?.max(LEAST_INTERVAL),
            capacity: Capacity { width, ..capacity },
            cores: capacity.resources.cpus_milli as f64 / 1000.0,
            kinds,
            states: BTreeMap::new(),
            waiting: BTreeSet::new(),
            at_work: BTreeSet::new(),
            running: 0,
            reserved: Reserved::of(capacity.resources),
            needed: [0.0; 2],
            promised: 1.0,
            busy: 0.0,
            runnable: 0.0,
            has_strangers: false,
            measured_at: None,
            changes: Vec::new(),
        })
    }

    fn state(&mut self, kind: KindId) -> &mut State {
        let most = self.capacity.width;
        let start = (self.cores.ceil() as u32).clamp(1, most);
        self.states.entry(kind).or_insert_with(|| State {
            waiting: 0,
            running: 0,
            need: 1.0,
            is_known: false,
            is_by_cores: true,
            told_of: Duration::ZERO,
            seen: 0,
            has_ended: false,
            time: Duration::ZERO,
            differs: Duration::ZERO,
            done: 0,
            took: Duration::ZERO,
            search: Search::new(start, most),
            waits_for: None,
            said: None,
        })
    }

    /// Another idea of what a task of a kind needs.
    fn set_need(&mut self, kind: KindId, need: f64) {
        let state = self.state(kind);
        let (before, running) = (state.counts(), state.running);
        // Whoever is about there would be taken for the one now and for the other then.
        let enough = match (state.seen, state.is_by_cores) {
            (0, _) => KNOWS_CORES,
            (_, true) => STILL_KNOWS_CORES,
            (_, false) => KNOWS_CORES_AFTER_ALL,
        };
        (state.need, state.is_known) = (need.clamp(LEAST_NEED, 1e6), true);
        let was_by_cores = std::mem::replace(&mut state.is_by_cores, state.need >= enough);
        if was_by_cores && !state.is_by_cores {
            state.search.begin_at(running);
        }
        let after = state.counts();
        self.add(before, -f64::from(running));
        self.add(after, running.into());
    }

    /// So many more tasks run that count for so much each.
    fn add(&mut self, counts: Counts, tasks: f64) {
        let counted = self.counted(counts);
        let needed = &mut self.needed[side(counted)];
        *needed = (*needed + counted * tasks).max(0.0);
    }

    /// What a task counts for that needs so much of a core.
    fn counted(&self, Counts { need, is_by_cores }: Counts) -> f64 {
        if self.has_strangers && is_by_cores { need.max(1.0) } else { need }
    }

    /// Looks whether others want cores as well; if that is new, all tasks count for something else.
    fn look_for_strangers(&mut self, share: f64) {
        let from = STRANGERS.max(STRANGERS_CORES / self.cores);
        let are_there = share >= if self.has_strangers { from / 2.0 } else { from };
        if are_there == self.has_strangers {
            return;
        }
        (self.has_strangers, self.needed) = (are_there, [0.0; 2]);
        let at_work = self.at_work.iter().map(|kind| &self.states[kind]);
        let running: Vec<(Counts, u32)> = at_work.map(|state| (state.counts(), state.running)).collect();
        running.into_iter().for_each(|(counts, running)| self.add(counts, running.into()));
    }

    /// How many of a kind are worth it: where they need the cores, those say it.
    fn worth(&self, state: &State) -> u32 {
        if state.is_by_cores { self.capacity.width } else { state.search.width() }
    }

    /// How many of a kind could run if nobody else did.
    fn width(&self, state: &State) -> u32 {
        let by_cores =
            (self.cores * self.promised / self.counted(state.counts())).ceil().min(f64::from(u32::MAX)) as u32;
        by_cores.clamp(1, self.capacity.width).min(self.worth(state))
    }

    /// What a task needs that has computed for this part of its time, and asks for so much.
    fn need(&self, kind: KindId, had: f64, asked: f64) -> f64 {
        if self.kinds.are_contained(kind) {
            return if asked > 0.0 { asked } else { 1.0 };
        }
        // One thread cannot need more than a core, however long it waited for it; several have had what they had.
        (had * self.stretch()).min(had.max(1.0)).max(asked)
    }

    fn asked(&self, demand: DemandId) -> f64 {
        self.kinds.asked_cpus_milli(demand) as f64 / 1000.0
    }

    /// How many times as long as it would take alone it takes to compute something.
    fn stretch(&self) -> f64 {
        (self.runnable / self.cores).max(1.0)
    }

    /// Says how many of a kind may run at once, if that is something else than it was said last.
    fn say(&mut self, kind: KindId, why: Option<Why>) {
        let state = &self.states[&kind];
        let width = self.width(state);
        let said = state.said.unwrap_or(self.cores.ceil() as u32);
        // What tasks need is never quite the same, and nobody wants to read that.
        let is_about = why.is_none() && width.abs_diff(said) <= said / SAID_AGAIN;
        if width == said || is_about || state.seen == 0 && why.is_none() {
            return;
        }
        self.state(kind).said = Some(width);
        let by_cores = if self.has_strangers && width < said { Why::Strangers } else { Why::Cores };
        self.changes.push(Change { kind, width, why: why.unwrap_or(by_cores) });
    }

    /// Cores that idle though tasks wait are promised once more, unless strangers want them.
    fn promise(&mut self) {
        if self.has_strangers {
            self.promised = 1.0;
            return;
        }
        let waits = self.waiting.iter().map(|kind| &self.states[kind]).any(|state| state.running < self.worth(state));
        // Of whom nothing is known yet, it will be soon: it may be something else that they wait for.
        let mut at_work = self.at_work.iter().map(|kind| &self.states[kind]);
        let is_known = at_work.all(|state| state.is_known || state.running == 0);
        if self.busy >= IDLE || !waits {
            self.promised = (self.promised - PROMISES_LESS).max(1.0);
        } else if is_known && self.needed.iter().any(|needed| *needed >= self.cores * self.promised * TAKEN) {
            let more = (IDLE / self.busy.max(AS_GOOD_AS_IDLE)).min(PROMISES_MORE);
            self.promised = (self.promised * more).min(MOST_PROMISED);
        }
    }
}

impl Pack for Learn {
    fn admits(&self, demand: DemandId) -> bool {
        let asked = self.asked(demand);
        let (need, running, width) = match self.states.get(&self.kinds.of(demand)) {
            Some(state) => {
                let counts = Counts { need: state.need.max(asked), ..state.counts() };
                (self.counted(counts), state.running, self.worth(state))
            }
            None => (asked.max(1.0), 0, self.capacity.width),
        };
        // As near to all cores as may be: needs are about right, and a core that idles is lost.
        let has_room = self.needed[side(need)] + need / 2.0 <= self.cores * self.promised;
        // Of a kind that nobody knows, one is tried.
        let is_new = self.states.get(&self.kinds.of(demand)).is_none_or(|state| state.seen == 0) && running == 0;
        self.running < self.capacity.width
            && running < width
            && self.reserved.has_room(self.kinds.asked(demand))
            && (has_room || is_new || self.running == 0)
    }

    fn started(&mut self, demand: DemandId) {
        let kind = self.kinds.of(demand);
        let asked = self.asked(demand);
        if asked > self.state(kind).need {
            self.set_need(kind, asked);
        }
        let state = self.state(kind);
        state.running += 1;
        let counts = state.counts();
        self.at_work.insert(kind);
        self.add(counts, 1.0);
        self.running += 1;
        self.reserved.take(self.kinds.asked(demand));
    }

    fn ended(&mut self, demand: DemandId) {
        let kind = self.kinds.of(demand);
        let state = self.state(kind);
        state.running -= 1;
        let counts = state.counts();
        self.add(counts, -1.0);
        self.running -= 1;
        self.reserved.give_back(self.kinds.asked(demand));
        if self.running == 0 {
            self.needed = [0.0; 2];
        }
    }

    fn could_ever_admit(&self, demand: DemandId) -> bool {
        self.capacity.width > 0 && self.reserved.could_have(self.kinds.asked(demand))
    }

    fn recall(&mut self, kind: KindId, past: &Past) {
        if past.tasks < ENOUGH_TO_RECALL {
            return;
        }
        let asked = self.kinds.first_demand(kind).map_or(0.0, |demand| self.asked(demand));
        let need = self.need(kind, past.cores.mean, asked);
        self.set_need(kind, need);
        let state = self.state(kind);
        state.seen = 1;
        state.time = Duration::from_secs_f64(past.time_s.mean.min(1e9));
        if let Some(width) = past.width {
            state.search.recall(width);
        }
    }

    fn queued(&mut self, kind: KindId) {
        self.state(kind).waiting += 1;
        self.waiting.insert(kind);
    }

    fn unqueued(&mut self, kind: KindId) {
        let state = self.state(kind);
        state.waiting = state.waiting.saturating_sub(1);
        if state.waiting == 0 {
            self.waiting.remove(&kind);
        }
    }

    /// What long tasks need is seen before any of them has ended. Once some have, it is known what they needed as a whole.
    fn uses(&mut self, now: Time, demand: DemandId, runs_for: Duration, uses: &Uses) {
        let kind = self.kinds.of(demand);
        let state = self.state(kind);
        state.search.computed(now, Look { age: runs_for, computed: Duration::from_micros(uses.computing_us) });
        // The longer it has run, the more that says: at first, a task is busy with beginning.
        if state.has_ended || runs_for < LONG_ENOUGH.max(state.told_of) {
            return;
        }
        state.told_of = runs_for;
        let need = self.need(kind, uses.computing_us as f64 / runs_for.as_micros() as f64, self.asked(demand));
        self.set_need(kind, need);
    }

    fn spent(&mut self, now: Time, demand: DemandId, spent: &Spent) {
        let kind = self.kinds.of(demand);
        let state = self.state(kind);
        let time = Duration::from_micros(spent.time_us);
        if state.search.is_fresh(Time(now.0.saturating_sub(spent.time_us.saturating_mul(1000)))) {
            state.done += 1;
            state.took += time;
        }
        let others = REMEMBERED - 1;
        state.differs = (state.differs * others + state.time.abs_diff(time)) / REMEMBERED;
        state.time = if state.time.is_zero() { time } else { (state.time * others + time) / REMEMBERED };
        if time.is_zero() {
            return;
        }
        let need = self.need(kind, spent.computing_us as f64 / spent.time_us as f64, self.asked(demand));
        let state = self.state(kind);
        state.has_ended = true;
        state.seen = (state.seen + 1).min(REMEMBERED);
        let before = if state.seen == 1 { need } else { state.need };
        let weight = 1.0 / f64::from(state.seen);
        self.set_need(kind, before + (need - before) * weight);
    }

    fn measured(&mut self, now: Time, sample: &Sample) -> Vec<Change> {
        let shares = sample.shares();
        self.busy = shares[Resource::Cpu as usize];
        self.runnable += (f64::from(sample.runnable) - self.runnable) / LOOKS;
        let since = self.measured_at.replace(now).map_or(self.interval, |before| now.since(before));
        let strangers = f64::from(sample.strangers) / f64::from(WHOLE);
        self.look_for_strangers(strangers);
        self.promise();
        let outside = [Resource::Network, Resource::Disk, Resource::Remote].map(|resource| shares[resource as usize]);
        let [network, disk, remote] = outside;
        let is_local = disk > network.max(remote);
        let outside_is_idle = outside.into_iter().all(|share| share < HARDLY_BUSY);
        let (cores, own_busy) = (self.cores, self.busy - strangers);
        let work = sample.moved_bytes_per_s as f64;
        // How much memory is held says nothing of what anybody waits for.
        let mut waited_for = shares;
        waited_for[Resource::Memory as usize] = 0.0;
        let most_used = Some(dominant(&waited_for)).filter(|resource| shares[*resource as usize] >= AS_GOOD_AS_IDLE);
        let is_running = |kind: &KindId| self.states[kind].running > 0;
        let running: BTreeSet<KindId> = self.at_work.iter().copied().filter(is_running).collect();
        let alone = running.len() == 1;
        for kind in std::mem::replace(&mut self.at_work, running) {
            let state = self.state(kind);
            // What other kinds compute is not what this one waits for.
            let busy = if alone { own_busy } else { f64::from(state.running) * state.need / cores };
            let seen = Seen {
                is_full: !state.is_by_cores && state.running >= state.search.width() && state.waiting > 0,
                is_draining: state.running > state.search.width(),
                done: std::mem::take(&mut state.done),
                took: std::mem::take(&mut state.took),
                // Of several, nobody knows whose it is.
                work: if alone { work } else { 0.0 },
                time: state.time,
                differs: state.differs,
                is_idle: outside_is_idle && busy < HARDLY_BUSY,
                is_local,
                is_silent: work < SILENT,
            };
            if alone && seen.is_full {
                state.waits_for = most_used;
            }
            let why = state.search.look(now, since, &seen);
            self.say(kind, why);
        }
        std::mem::take(&mut self.changes)
    }

    fn found(&self, kind: KindId) -> Found {
        let Some(state) = self.states.get(&kind) else { return Found::default() };
        let width = if state.is_by_cores { Some(self.width(state)) } else { state.search.found() };
        Found {
            width: width.filter(|_| state.seen > 0),
            waits_for: state.waits_for,
            cores: state.has_ended.then_some(state.need),
        }
    }

    fn idle_kinds(&self) -> Vec<KindId> {
        idle_kinds(self, &self.kinds, |kind| self.states.get(&kind).is_some_and(|state| state.waiting > 0))
    }

    fn appetite(&self) -> u32 {
        let at_work = self.at_work.iter().map(|kind| &self.states[kind]);
        let most = at_work.map(|state| self.width(state)).max().unwrap_or(0);
        most.max(self.cores.ceil() as u32).saturating_mul(2)
    }

    fn measures_every(&self) -> Option<Duration> {
        Some(self.interval)
    }
}

#[cfg(test)]
mod tests;
