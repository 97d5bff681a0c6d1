//! Things to come, the earliest first; of those at one instant, the one that was planned first.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

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

/// A queue of things to come.
pub(crate) struct Agenda<T> {
    heap: BinaryHeap<Planned<T>>,
    sequence: u64,
}

impl<T> Agenda<T> {
    pub(crate) fn new() -> Agenda<T> {
        Agenda { heap: BinaryHeap::new(), sequence: 0 }
    }

    pub(crate) fn plan(&mut self, time: Time, what: T) {
        self.sequence += 1;
        self.heap.push(Planned { time, sequence: self.sequence, what });
    }

    /// Plans something that stands for many things, one directly after the other.
    pub(crate) fn plan_many(&mut self, time: Time, what: T, count: usize) {
        self.plan(time, what);
        self.sequence += count as u64 - 1;
    }

    pub(crate) fn next(&mut self) -> Option<(Time, T)> {
        self.heap.pop().map(|planned| (planned.time, planned.what))
    }

    /// How many things have been planned so far.
    pub(crate) fn planned(&self) -> u64 {
        self.sequence
    }
}
