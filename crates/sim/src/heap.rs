//! Things to come, the earliest first; of those at one instant, the one that was planned first.
//!
//! Most things come a fixed time after they were planned: a message, a question to the store, its answer. Each of these comes after
//! the one before it of its sort, so that they stand in line and need not be sorted. Only the rest is a heap.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use throng_core::time::Time;

/// When something comes: the earlier time, or what was planned earlier for that time.
type When = (Time, u64);

struct Planned<T> {
    when: When,
    what: T,
}

/// Things that come in the order in which they are planned, or nearly so.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Lane {
    /// Between nodes.
    Messages,
    /// To the store.
    Questions,
    /// From the store.
    Answers,
}

const LANES: usize = 3;

/// A queue of things to come.
pub(crate) struct Agenda<T> {
    /// When the things come that stand in no line, and where they are: so small that those of a hundred thousand slots stay near the processor.
    heap: BinaryHeap<Reverse<(When, u32)>>,
    things: Vec<Option<T>>,
    unused: Vec<u32>,
    lanes: [VecDeque<Planned<T>>; LANES],
    sequence: u64,
}

impl<T> Agenda<T> {
    pub(crate) fn new() -> Agenda<T> {
        let lanes = [const { VecDeque::new() }; LANES];
        Agenda { heap: BinaryHeap::new(), things: Vec::new(), unused: Vec::new(), lanes, sequence: 0 }
    }

    pub(crate) fn plan(&mut self, time: Time, what: T) {
        self.sequence += 1;
        self.sort_in((time, self.sequence), what);
    }

    fn sort_in(&mut self, when: When, what: T) {
        let place = self.unused.pop().unwrap_or_else(|| {
            self.things.push(None);
            (self.things.len() - 1) as u32
        });
        self.things[place as usize] = Some(what);
        self.heap.push(Reverse((when, place)));
    }

    /// Plans something that normally comes after all that has been planned for its lane; it may come earlier.
    pub(crate) fn plan_in(&mut self, lane: Lane, time: Time, what: T) {
        self.plan_many(lane, time, what, 1);
    }

    /// Plans something that stands for many things, one directly after the other.
    pub(crate) fn plan_many(&mut self, lane: Lane, time: Time, what: T, count: usize) {
        let when = (time, self.sequence + 1);
        self.sequence += count as u64;
        let line = &mut self.lanes[lane as usize];
        if line.back().is_some_and(|last| last.when.0 > time) {
            self.sort_in(when, what);
        } else {
            line.push_back(Planned { when, what });
        }
    }

    pub(crate) fn next(&mut self) -> Option<(Time, T)> {
        let lanes = self.lanes.iter().enumerate().filter_map(|(at, lane)| Some((lane.front()?.when, at)));
        match lanes.min() {
            Some((first, at)) if self.heap.peek().is_none_or(|Reverse((top, _))| first < *top) => {
                self.lanes[at].pop_front().map(|planned| (planned.when.0, planned.what))
            }
            _ => {
                let Reverse(((time, _), place)) = self.heap.pop()?;
                self.unused.push(place);
                self.things[place as usize].take().map(|what| (time, what))
            }
        }
    }

    /// How many things have been planned so far.
    pub(crate) fn planned(&self) -> u64 {
        self.sequence
    }
}

#[cfg(test)]
mod tests {
    use throng_core::rng::Rng;

    use super::*;

    #[test]
    fn lanes_change_nothing_but_the_cost() {
        let (mut plain, mut lanes) = (Agenda::new(), Agenda::new());
        let mut dice = Rng::new(7);
        let mut now = Time::START;
        for number in 0..5000u32 {
            let lane = [Lane::Messages, Lane::Questions, Lane::Answers][dice.below(3) as usize];
            let time = Time(now.0 + 10 * lane as u64 + dice.below(3));
            plain.plan(time, number);
            if dice.below(4) == 0 {
                lanes.plan(time, number)
            } else {
                lanes.plan_in(lane, time, number)
            }
            if dice.below(3) == 0 {
                let next = plain.next();
                assert_eq!(next, lanes.next());
                now = next.map_or(now, |(time, _)| time);
            }
        }
        assert!(lanes.lanes.iter().all(|lane| !lane.is_empty()) && !lanes.heap.is_empty());
        assert!(std::iter::from_fn(|| plain.next()).eq(std::iter::from_fn(|| lanes.next())));
        assert_eq!(lanes.planned(), 5000);
    }
}
