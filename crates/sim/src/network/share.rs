//! How fast flows are that share what each of several sides can carry: a network card in one direction, or a disk.
//!
//! The aim is max-min fairness: nobody can be given more without taking from somebody who has no more than he. To find it, all
//! flows would have to be looked at whenever one begins or ends. Instead, only the sides of that flow are made fair,
//! exactly, with all others taken as they are; what this frees elsewhere is handed out by and by: each change also makes a
//! few other sides fair, those first that have waited longest. So rates are a step or two behind max-min, but
//! * no side ever carries more than it can,
//! * whoever begins gets his fair share at once, and
//! * what one side cannot use goes to its other flows.
//!
//! A side is shared by few flows at a time, as nodes fetch few objects at a time and serve few others: the cost of a change has a
//! bound.

use std::collections::VecDeque;

/// Which flow.
pub(super) type FlowId = u32;
/// Which side.
pub(super) type SideId = u32;

/// The most sides that a flow passes.
pub(super) const SIDES: usize = 3;
/// No side.
pub(super) const NONE: SideId = SideId::MAX;

/// How many sides are made fair by the way when something changes elsewhere.
const BY_THE_WAY: usize = 2;
/// So much of a side has to be free for it to be worth the while.
const WORTH_WHILE: f64 = 1.0 / 16.0;

struct Side {
    capacity: f64,
    used: f64,
    flows: Vec<FlowId>,
    is_listed: bool,
}

struct Flow {
    path: [SideId; SIDES],
    /// Where it stands in the list of each side.
    places: [u32; SIDES],
    clock: u8,
    /// No side gives it more than this.
    most: f64,
    left: f64,
    /// Bytes in a nanosecond.
    rate: f64,
    /// What its clock showed when `left` was right.
    since: f64,
    /// The earliest end for which there is a plan.
    planned: f64,
    is_on: bool,
}

/// All flows, and the sides that they share.
pub(super) struct Flows {
    sides: Vec<Side>,
    flows: Vec<Flow>,
    unused: Vec<FlowId>,
    /// Sides that have something to give.
    generous: VecDeque<SideId>,
    /// What each clock shows now.
    pub(super) clocks: [f64; 3],
    /// What all flows of a clock want together, and how many they are.
    pub(super) used: [f64; 3],
    pub(super) counts: [usize; 3],
    /// Flows that end earlier than was planned.
    pub(super) sooner: Vec<(u8, f64, FlowId)>,
    scratch: Vec<f64>,
}

/// The level up to which all are filled when so much is shared out: each gets the lesser of its ceiling and the level.
/// It has no end if there is enough for all.
fn level(capacity: f64, ceilings: &[f64]) -> f64 {
    let mut level = capacity / ceilings.len() as f64;
    loop {
        let (mut bounded, mut free) = (0.0, 0usize);
        for ceiling in ceilings {
            if *ceiling <= level {
                bounded += ceiling;
            } else {
                free += 1;
            }
        }
        if free == 0 {
            return f64::INFINITY;
        }
        let higher = (capacity - bounded) / free as f64;
        if higher <= level * (1.0 + 1e-12) {
            return level;
        }
        level = higher;
    }
}

impl Flows {
    pub(super) fn new(capacities: impl Iterator<Item = f64>) -> Flows {
        let side = |capacity| Side { capacity, used: 0.0, flows: Vec::new(), is_listed: false };
        Flows {
            sides: capacities.map(side).collect(),
            flows: Vec::new(),
            unused: Vec::new(),
            generous: VecDeque::new(),
            clocks: [0.0; 3],
            used: [0.0; 3],
            counts: [0; 3],
            sooner: Vec::new(),
            scratch: Vec::new(),
        }
    }

    /// How many flows pass a side.
    pub(super) fn count(&self, side: SideId) -> usize {
        self.sides[side as usize].flows.len()
    }

    /// The flows that pass a side.
    pub(super) fn at(&self, side: SideId) -> &[FlowId] {
        &self.sides[side as usize].flows
    }

    pub(super) fn has_side(&self, side: SideId) -> bool {
        (side as usize) < self.sides.len()
    }

    pub(super) fn clock(&self, id: FlowId) -> u8 {
        self.flows[id as usize].clock
    }

    /// When a flow ends for which this plan was made: it may be later by now. Nothing if the plan is no longer needed.
    pub(super) fn planned(&mut self, id: FlowId, plan: f64) -> Option<f64> {
        let flow = &mut self.flows[id as usize];
        if !flow.is_on || flow.planned != plan {
            return None;
        }
        flow.planned = flow.since + flow.left / flow.rate;
        Some(flow.planned)
    }

    /// Begins a flow that is never given more than `most`.
    pub(super) fn begin(&mut self, bytes: u64, path: [SideId; SIDES], clock: u8, most: f64) -> FlowId {
        let since = self.clocks[usize::from(clock)];
        let (left, planned) = (bytes as f64, f64::INFINITY);
        let flow = Flow { path, places: [0; SIDES], clock, most, left, rate: 0.0, since, planned, is_on: true };
        let id = self.unused.pop().unwrap_or(self.flows.len() as FlowId);
        match self.flows.get_mut(id as usize) {
            Some(unused) => *unused = flow,
            None => self.flows.push(flow),
        }
        self.counts[usize::from(clock)] += 1;
        let rate = path.into_iter().filter(|side| *side != NONE).map(|side| self.newcomers_share(side));
        let rate = rate.fold(most, f64::min);
        for (at, side) in path.into_iter().enumerate().filter(|(_, side)| *side != NONE) {
            self.make_room(side, rate);
            let side = &mut self.sides[side as usize];
            self.flows[id as usize].places[at] = side.flows.len() as u32;
            side.flows.push(id);
        }
        self.set_rate(id, rate, NONE);
        self.be_generous();
        id
    }

    /// Ends a flow.
    pub(super) fn remove(&mut self, id: FlowId) {
        let path = self.flows[id as usize].path;
        self.take_off(id);
        for side in path.into_iter().filter(|side| *side != NONE) {
            self.make_fair(side);
        }
        self.be_generous();
    }

    fn take_off(&mut self, id: FlowId) {
        self.set_rate(id, 0.0, NONE);
        let flow = &mut self.flows[id as usize];
        flow.is_on = false;
        let (path, places, clock) = (flow.path, flow.places, usize::from(flow.clock));
        self.counts[clock] -= 1;
        if self.counts[clock] == 0 {
            self.used[clock] = 0.0;
        }
        for (number, place) in path.into_iter().zip(places).filter(|(side, _)| *side != NONE) {
            let side = &mut self.sides[number as usize];
            side.flows.swap_remove(place as usize);
            if side.flows.is_empty() {
                // What adding and taking away has left behind.
                side.used = 0.0;
            }
            if let Some(moved) = side.flows.get(place as usize) {
                let moved = &mut self.flows[*moved as usize];
                let at = moved.path.iter().position(|side| *side == number).expect("it passes this side");
                moved.places[at] = place;
            }
        }
        self.unused.push(id);
    }

    /// Gives a flow another bound.
    pub(super) fn set_most(&mut self, id: FlowId, most: f64) {
        self.flows[id as usize].most = most;
        if self.flows[id as usize].rate > most {
            self.set_rate(id, most, NONE);
        }
        for side in self.flows[id as usize].path.into_iter().filter(|side| *side != NONE) {
            self.make_fair(side);
        }
    }

    /// What one more flow would have if only this side mattered: others may have to give.
    fn newcomers_share(&mut self, side: SideId) -> f64 {
        let mut ceilings = std::mem::take(&mut self.scratch);
        let side = &self.sides[side as usize];
        ceilings.clear();
        ceilings.extend(side.flows.iter().map(|id| self.flows[*id as usize].rate));
        ceilings.push(f64::INFINITY);
        let share = level(side.capacity, &ceilings);
        self.scratch = ceilings;
        share
    }

    /// Makes the fastest flows of a side slower until so much is free.
    fn make_room(&mut self, number: SideId, rate: f64) {
        let side = &self.sides[number as usize];
        if side.used + rate <= side.capacity {
            return;
        }
        let mut ceilings = std::mem::take(&mut self.scratch);
        ceilings.clear();
        ceilings.extend(side.flows.iter().map(|id| self.flows[*id as usize].rate));
        let level = level(side.capacity - rate, &ceilings);
        self.scratch = ceilings;
        for at in 0..self.count(number) {
            let id = self.at(number)[at];
            if self.flows[id as usize].rate > level {
                self.set_rate(id, level, number);
            }
        }
    }

    /// Shares a side fairly among its flows, as far as their other sides have something to give.
    fn make_fair(&mut self, number: SideId) {
        let count = self.count(number);
        if count == 0 {
            return;
        }
        let mut ceilings = std::mem::take(&mut self.scratch);
        ceilings.clear();
        ceilings.extend(self.at(number).iter().map(|id| self.ceiling(*id, number)));
        let level = level(self.sides[number as usize].capacity, &ceilings);
        for at in 0..count {
            let id = self.at(number)[at];
            if level < self.flows[id as usize].rate * (1.0 - 1e-9) {
                self.set_rate(id, level, number);
            }
        }
        for (at, ceiling) in ceilings.iter().enumerate() {
            let id = self.at(number)[at];
            // Two flows may have counted on the same.
            let fair = level.min(*ceiling).min(self.ceiling(id, number));
            if fair > self.flows[id as usize].rate * (1.0 + 1e-9) {
                self.set_rate(id, fair, number);
            }
        }
        self.scratch = ceilings;
    }

    /// The most that a flow could have if only its other sides mattered.
    fn ceiling(&self, id: FlowId, here: SideId) -> f64 {
        let flow = &self.flows[id as usize];
        let others = flow.path.into_iter().filter(|side| *side != NONE && *side != here);
        let free = others.map(|side| (self.sides[side as usize].capacity - self.sides[side as usize].used).max(0.0));
        (flow.rate + free.fold(f64::INFINITY, f64::min)).min(flow.most)
    }

    /// Changes the rate of a flow; its sides other than `here` may have something to give after that.
    fn set_rate(&mut self, id: FlowId, rate: f64, here: SideId) {
        let flow = &mut self.flows[id as usize];
        let clock = usize::from(flow.clock);
        let change = rate - flow.rate;
        let now = self.clocks[clock];
        flow.left = (flow.left - flow.rate * (now - flow.since)).max(0.0);
        flow.since = now;
        flow.rate = rate;
        if rate > 0.0 {
            let end = now + flow.left / rate;
            if end < flow.planned {
                flow.planned = end;
                self.sooner.push((flow.clock, end, id));
            }
        }
        self.used[clock] += change;
        for side in flow.path.into_iter().filter(|side| *side != NONE) {
            self.sides[side as usize].used += change;
            if change < 0.0 && side != here && rate > 0.0 {
                self.list(side);
            }
        }
    }

    /// Notes that a side may have something to give.
    fn list(&mut self, number: SideId) {
        let Some(side) = self.sides.get_mut(number as usize) else { return };
        let free = side.capacity - side.used;
        if !side.is_listed && side.flows.len() > 1 && free > side.capacity * WORTH_WHILE {
            side.is_listed = true;
            self.generous.push_back(number);
        }
    }

    fn be_generous(&mut self) {
        for _ in 0..BY_THE_WAY {
            let Some(number) = self.generous.pop_front() else { return };
            self.sides[number as usize].is_listed = false;
            self.make_fair(number);
        }
    }
}

#[cfg(test)]
impl Flows {
    /// Checks that no side carries more than it can, and that everything adds up.
    pub(super) fn check(&self) {
        for (number, side) in self.sides.iter().enumerate() {
            let sum: f64 = side.flows.iter().map(|id| self.flows[*id as usize].rate).sum();
            assert!(
                (sum - side.used).abs() < side.capacity * 1e-6,
                "{sum} is used of side {number}, not {}",
                side.used
            );
            assert!(
                sum <= side.capacity * (1.0 + 1e-6),
                "side {number} carries {sum}, and can carry {}",
                side.capacity
            );
            assert!(side.flows.iter().all(|id| self.flows[*id as usize].rate > 0.0), "nobody stands still");
        }
    }
}
