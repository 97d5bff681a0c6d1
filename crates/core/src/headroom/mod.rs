//! Headroom: memory for one more task beside those that run, though nobody has said what any of them needs.
//!
//! ```text
//!                  what each may yet come to hold, and how sure that is
//!                         ┌────────────┴───────────┐
//!   |── others ──|── held ──|── coming ──|─ spread ─|── one more? ──|─ reserve ─|
//!                           └───────────────── free now ─────────────────────────┘
//! ```
//!
//! What a task comes to hold is learnt from those of its kind that have ended, and from what it holds already: one that holds more than
//! most will hold as much as the largest. A task that has grown for as long as tasks of its kind do holds what it will hold. One
//! more starts if what is coming fits into what is free, with the spread of it and some more on top.
//!
//! That may go wrong: then tasks are stopped that have run least for the memory they give, and run again when there is room for what they
//! turned out to need. A task that cannot be accommodated even alone is given up.

mod peaks;

use std::collections::BTreeMap;
use std::time::Duration;

use self::peaks::{Ended, Expected, Peaks};
use crate::ids::{DemandId, KindId, SlotId};
use crate::pack::{Kinds, Uses};
use crate::past::{Figure, Past};
use crate::time::Time;

/// What a task holds of which nothing is known but that it was short.
const HARDLY_ANY: f64 = 16e6;
/// This part of the memory is not promised to anybody.
const RESERVE: f64 = 0.04;
/// With less than this part free, somebody has to go.
const LOW: f64 = 0.03;
/// With more than this part free, nobody goes for what may be coming.
const PLENTY: f64 = 0.12;
/// With less, somebody goes if so many times what is free is coming.
const BY_FAR: f64 = 1.5;
/// Of tasks that come to hold more than this part, too few run for some to end while others grow.
const LARGE: f64 = 0.125;
/// How many times the usual spread there has to be room for.
const CAUTION: f64 = 0.7;
/// A task that is run again has room for so many times what it held.
const MORE_ROOM: f64 = 1.25;
/// Nobody is stopped who holds, and is expected to hold, less than this part.
const WORTHWHILE: f64 = 0.005;
/// What tasks hold after so long gives a first idea.
const A_WHILE: Duration = Duration::from_millis(500);
/// So long it takes until it shows what one has given that had to go.
const BETWEEN_STALLS: Duration = Duration::from_secs(1);
/// No more kinds than this are looked at to see whether there is room at all: a workflow may have as many as tasks.
const KINDS_LOOKED_AT: usize = 64;
/// No more tasks of earlier runs count than this, so that those of this run soon count for more.
const MOST_RECALLED: u64 = 24;
/// What a task holds has grown if it is more by this part.
const GROWN: f64 = 1.02;

/// What becomes of a task that has to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relief {
    /// It runs again when there is room for so much.
    Later {
        /// How much.
        bytes: u64,
    },
    /// It holds more than there is, and was alone.
    Never,
}

#[derive(Clone, Debug)]
struct Task {
    kind: KindId,
    started: Time,
    /// What it was given room for, if that is more than is expected.
    floor: f64,
    held: f64,
    /// The most that it has held.
    most: f64,
    grew_at: Time,
    /// Whether it has been told to go.
    goes: bool,
    /// What it is expected to hold beyond what it does.
    coming: f64,
    variance: f64,
}

impl Task {
    /// The work that is lost if it is stopped, for each byte that this gives.
    fn loss(&self, now: Time) -> f64 {
        now.since(self.started).as_secs_f64() / (self.held + self.coming).max(1.0)
    }
}

/// The memory of a node.
#[derive(Clone, Debug)]
pub struct Headroom {
    all: f64,
    /// A task that runs alone and holds more than this has to go.
    most_of_one: f64,
    /// What a task of which nothing is known may come to hold.
    unknown: f64,
    kinds: Kinds,
    peaks: BTreeMap<KindId, Peaks>,
    /// What tasks hold after a while, of kinds of which none has ended.
    seen: BTreeMap<KindId, f64>,
    slots: Vec<Option<Task>>,
    running: u32,
    free: f64,
    /// Until then, nobody has to go because everybody waits.
    patient_until: Time,
    held: f64,
    coming: f64,
    variance: f64,
}

impl Headroom {
    /// So much memory for tasks in so many slots, of which about as many as there are cores are tried at first.
    pub fn new(all_bytes: u64, cores: u32, slots: u32, kinds: Kinds) -> Headroom {
        let all = all_bytes as f64;
        Headroom {
            all,
            most_of_one: all * (1.0 - LOW),
            unknown: all / f64::from(cores.max(1)) / 2.0,
            kinds,
            peaks: BTreeMap::new(),
            seen: BTreeMap::new(),
            slots: vec![None; slots as usize],
            running: 0,
            free: all,
            patient_until: Time::START,
            held: 0.0,
            coming: 0.0,
            variance: 0.0,
        }
    }

    /// The same where there is more than that, of which tasks are to have no more: one that holds all of it harms nobody.
    pub fn of_more(self) -> Headroom {
        Headroom { most_of_one: self.all, ..self }
    }

    /// How much there is in all.
    pub fn all_bytes(&self) -> u64 {
        self.all as u64
    }

    /// Whether there is room for one more task with this demand: for one, there always is.
    pub fn has_room(&self, demand: DemandId) -> bool {
        self.running == 0 || self.fits(self.on_average(self.kinds.of(demand), self.floor(demand, 0)))
    }

    /// Whether there is room for one more task of any of the first kinds.
    pub fn has_any_room(&self) -> bool {
        let kinds = (0..self.kinds.count().min(KINDS_LOOKED_AT)).map(KindId::at);
        self.running == 0 || kinds.filter_map(|kind| self.kinds.first_demand(kind)).any(|demand| self.has_room(demand))
    }

    /// Whether there is room for one more task that needs so much.
    pub fn has_room_for(&self, bytes: u64) -> bool {
        self.running == 0 || self.fits(Expected { bytes: bytes as f64, variance: 0.0 })
    }

    fn fits(&self, one: Expected) -> bool {
        let spread = CAUTION * (self.variance + one.variance).max(0.0).sqrt();
        self.coming + one.bytes + spread <= self.free - RESERVE * self.all
    }

    /// What a task of a kind holds over its life that there is to be room for so much of.
    fn on_average(&self, kind: KindId, floor: f64) -> Expected {
        let expected = self.expected(kind, 0.0, floor);
        let share = self.share_of_growth(kind, Duration::ZERO, expected.bytes);
        Expected { bytes: (expected.bytes * share).max(floor), ..expected }
    }

    /// How much of what is still coming is there on average, over the rest of the life of a task of a kind that comes to hold so much: while
    /// some tasks grow, others end.
    fn share_of_growth(&self, kind: KindId, age: Duration, peak: f64) -> f64 {
        let peaks = self.peaks.get(&kind).filter(|_| peak <= LARGE * self.all);
        peaks.map_or(1.0, |peaks| 1.0 - peaks.share_spent_growing(age) / 2.0)
    }

    /// What a task comes to hold of a kind of which none has ended: twice what those hold that have run for a while.
    fn first_guess(&self, kind: KindId) -> f64 {
        self.seen.get(&kind).map_or(self.unknown, |seen| (seen * 2.0).min(self.unknown))
    }

    /// What a task says it needs, or is known to need.
    fn floor(&self, demand: DemandId, known_bytes: u64) -> f64 {
        let said = self.kinds.asked(demand).memory_bytes.max(known_bytes) as f64;
        // What is in a container cannot be seen.
        if said == 0.0 && self.kinds.are_contained(self.kinds.of(demand)) { self.unknown } else { said }
    }

    /// What a task of a kind comes to hold that holds so much now, and that there is to be room for so much of.
    fn expected(&self, kind: KindId, held: f64, floor: f64) -> Expected {
        let known = self.peaks.get(&kind).filter(|peaks| !peaks.is_empty()).map(|peaks| peaks.expect(held));
        let unknown = if floor > 0.0 { held } else { held.max(self.first_guess(kind)) };
        let expected = known.unwrap_or(Expected { bytes: unknown, variance: 0.0 });
        if expected.bytes < floor { Expected { bytes: floor, variance: 0.0 } } else { expected }
    }

    /// A task has started, one that is known to need so much or nothing.
    pub fn started(&mut self, now: Time, slot: SlotId, demand: DemandId, known_bytes: u64) {
        let (kind, floor) = (self.kinds.of(demand), self.floor(demand, known_bytes));
        let Expected { bytes, variance } = self.on_average(kind, floor);
        self.running += 1;
        self.coming += bytes;
        self.variance += variance;
        self.slots[slot.index()] = Some(Task {
            kind,
            started: now,
            floor,
            held: 0.0,
            most: 0.0,
            grew_at: now,
            goes: false,
            coming: bytes,
            variance,
        });
    }

    /// What a task holds now.
    pub fn uses(&mut self, now: Time, slot: SlotId, uses: &Uses) {
        let Some(task) = &mut self.slots[slot.index()] else { return };
        let held = uses.bytes as f64;
        if held > task.most * GROWN {
            task.grew_at = now;
        }
        self.held += held - task.held;
        task.held = held;
        task.most = task.most.max(held);
        let (kind, is_old) = (task.kind, now.since(task.started) >= A_WHILE);
        if is_old && !self.peaks.contains_key(&kind) {
            let seen = self.seen.entry(kind).or_insert(0.0);
            *seen = seen.max(held);
        }
        self.expect_again(now, slot);
    }

    /// A task has ended; what it held at most counts if it came to a good end.
    pub fn ended(&mut self, now: Time, slot: SlotId, peak_bytes: Option<u64>) {
        let Some(task) = self.slots[slot.index()].take() else { return };
        self.running -= 1;
        self.coming -= task.coming;
        self.variance -= task.variance;
        self.held -= task.held;
        self.free = (self.free + task.held).min(self.all);
        if let Some(peak) = peak_bytes {
            let peaks = self.peaks.entry(task.kind).or_default();
            let (grew_for, ran_for) = (Some(task.grew_at.since(task.started)), now.since(task.started));
            // Who was never seen, and whose peak is not known, ended before anybody could look: so soon, nobody holds much.
            let most = task.most.max(peak as f64);
            peaks.learn(Ended { bytes: if most > 0.0 { most } else { HARDLY_ANY }, grew_for, ran_for });
        }
        if self.running == 0 {
            (self.coming, self.variance, self.held) = (0.0, 0.0, 0.0);
        }
    }

    /// What tasks of a kind held in earlier runs: a starting point, until there are some in this one.
    pub fn recall(&mut self, kind: KindId, past: &Past) {
        if past.tasks == 0 || past.peak_bytes.mean <= 0.0 {
            return;
        }
        let (Figure { mean, spread }, time) = (past.peak_bytes, Duration::from_secs_f64(past.time_s.mean.min(1e9)));
        let peaks = self.peaks.entry(kind).or_default();
        let like_those = [mean - spread, mean, mean + spread].into_iter().cycle();
        for bytes in like_those.take(past.tasks.clamp(3, MOST_RECALLED) as usize) {
            peaks.learn(Ended { bytes: bytes.max(0.0), grew_for: None, ran_for: time });
        }
    }

    /// So much is free now, whoever has the rest. Says who has to go, and what becomes of it.
    /// Where everybody waits for memory, though some is said to be free, one has to go at a time.
    pub fn measured(&mut self, now: Time, free_bytes: u64, is_stalled: bool) -> Vec<(SlotId, Relief)> {
        self.free = (free_bytes as f64).min(self.all - self.held).max(0.0);
        for slot in (0..self.slots.len()).map(SlotId::at) {
            self.expect_again(now, slot);
        }
        let told = self.relieve(now, false);
        // Where there is plenty, it is not for want of memory here that somebody waits.
        let is_short = is_stalled && self.free < PLENTY * self.all;
        if !told.is_empty() || !is_short || now < self.patient_until {
            return told;
        }
        self.patient_until = now + BETWEEN_STALLS;
        self.relieve(now, true)
    }

    /// Thinks again about what a task will come to hold.
    fn expect_again(&mut self, now: Time, slot: SlotId) {
        let Some(task) = &self.slots[slot.index()] else { return };
        let peaks = self.peaks.get(&task.kind);
        let is_settled = task.held > 0.0
            && peaks.and_then(Peaks::settles_after).is_some_and(|after| now.since(task.started) > after)
            && now > task.grew_at;
        let expected = if is_settled || task.goes {
            Expected { bytes: task.held, variance: 0.0 }
        } else {
            self.expected(task.kind, task.held, task.floor)
        };
        let share = self.share_of_growth(task.kind, now.since(task.started), expected.bytes);
        let coming = ((expected.bytes - task.held) * share).max(task.floor - task.held).max(0.0);
        let variance = expected.variance;
        self.coming += coming - task.coming;
        self.variance += variance - task.variance;
        let task = self.slots[slot.index()].as_mut().expect("it has just been looked at");
        (task.coming, task.variance) = (coming, variance);
    }

    fn relieve(&mut self, now: Time, is_stalled: bool) -> Vec<(SlotId, Relief)> {
        let mut told = Vec::new();
        let going: f64 = self.slots.iter().flatten().filter(|task| task.goes).map(|task| task.held).sum();
        let mut free = self.free + going;
        while free < LOW * self.all
            || self.coming > free * BY_FAR && free < PLENTY * self.all
            || is_stalled && told.is_empty()
        {
            let slots = self.slots.iter().enumerate();
            let mut staying: Vec<(usize, &Task)> =
                slots.filter_map(|(at, task)| Some((at, task.as_ref().filter(|task| !task.goes)?))).collect();
            if let [(at, task)] = staying.as_slice() {
                if free < LOW * self.all && task.held > self.most_of_one {
                    told.push((SlotId::at(*at), Relief::Never));
                    self.tell_to_go(*at);
                }
                break;
            }
            staying.retain(|(_, task)| task.held + task.coming >= WORTHWHILE * self.all);
            let by_loss = |one: &Task, other: &Task| one.loss(now).total_cmp(&other.loss(now));
            let least = staying.into_iter().min_by(|(_, one), (_, other)| by_loss(one, other));
            let Some((at, task)) = least else { break };
            told.push((SlotId::at(at), Relief::Later { bytes: self.needed(task, task.held) }));
            free += task.held;
            self.tell_to_go(at);
        }
        told
    }

    /// How much a task needs that was stopped when it held so much.
    fn needed(&self, task: &Task, held: f64) -> u64 {
        let needed = self.expected(task.kind, held, 0.0).bytes.max(held * MORE_ROOM);
        needed.max(task.floor).min(self.all * (1.0 - RESERVE)) as u64
    }

    /// How much a task needs that the kernel has killed because memory had run out, when it held so much: nothing that would help if nobody
    /// else ran.
    pub fn ran_out(&self, slot: SlotId, peak_bytes: Option<u64>) -> Option<u64> {
        let task = self.slots[slot.index()].as_ref().filter(|_| self.running > 1)?;
        Some(self.needed(task, task.most.max(peak_bytes.unwrap_or(0) as f64)))
    }

    fn tell_to_go(&mut self, at: usize) {
        let Some(task) = &mut self.slots[at] else { return };
        self.coming -= task.coming;
        self.variance -= task.variance;
        (task.goes, task.coming, task.variance) = (true, 0.0, 0.0);
    }
}

#[cfg(test)]
mod tests;
