//! Things to come, the earliest first; of those at one instant, the one that was planned first.
//!
//! Most things come a fixed time after they were planned: a message, a question to the store, its answer. Each of these comes after
//! the one before it of its sort, so that they stand in line and need not be sorted. Only the rest is a heap.

use std::cmp::Ordering;
use std::collections::{BinaryHeap, VecDeque};

use throng_core::time::Time;

struct Planned<T> {
    time: Time,
    sequence: u64,
    what: T,
}

impl<T> PartialEq for Planned<T> {
    fn eq(&self, other: &Self) -> bool {
        self.sequence == other.sequence
    }
}

impl<T> Eq for Planned<T> {}

impl<T> PartialOrd for Planned<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Planned<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        (other.time, other.sequence).cmp(&(self.time, self.sequence))
    }
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
    heap: BinaryHeap<Planned<T>>,
    lanes: [VecDeque<Planned<T>>; LANES],
    sequence: u64,
}

impl<T> Agenda<T> {
    pub(crate) fn new() -> Agenda<T> {
        Agenda { heap: BinaryHeap::new(), lanes: [const { VecDeque::new() }; LANES], sequence: 0 }
    }

    pub(crate) fn plan(&mut self, time: Time, what: T) {
        self.sequence += 1;
        self.heap.push(Planned { time, sequence: self.sequence, what });
    }

    /// Plans something that normally comes after all that has been planned for its lane; it may come earlier.
    pub(crate) fn plan_in(&mut self, lane: Lane, time: Time, what: T) {
        self.plan_many(lane, time, what, 1);
    }

    /// Plans something that stands for many things, one directly after the other.
    pub(crate) fn plan_many(&mut self, lane: Lane, time: Time, what: T, count: usize) {
        let planned = Planned { time, sequence: self.sequence + 1, what };
        self.sequence += count as u64;
        let lane = &mut self.lanes[lane as usize];
        if lane.back().is_some_and(|last| last.time > time) {
            self.heap.push(planned);
        } else {
            lane.push_back(planned);
        }
    }

    pub(crate) fn next(&mut self) -> Option<(Time, T)> {
        // What is greatest comes first.
        let lanes = self.lanes.iter().enumerate().filter_map(|(at, lane)| Some((lane.front()?, at)));
        let planned = match lanes.max_by(|(one, _), (other, _)| one.cmp(other)) {
            Some((first, at)) if self.heap.peek().is_none_or(|top| top < first) => self.lanes[at].pop_front(),
            _ => self.heap.pop(),
        };
        planned.map(|planned| (planned.time, planned.what))
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
