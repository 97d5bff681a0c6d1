//! Flows that speed up and slow down together: a clock of their own, which runs slower the more their common bottleneck is
//! asked for.
//!
//! A flow's end is planned once in the time of its clock. When the clock changes its speed, the ends of all its flows move with
//! it, and none of them has to be looked at.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use throng_core::time::Time;

use super::share::{FlowId, Flows};

/// A clock and the ends that are planned by it.
#[derive(Default)]
pub(super) struct Clock {
    /// What it shows, in nanoseconds: never more than have gone by.
    shows: f64,
    at: Time,
    speed: f64,
    /// Positive numbers are ordered as their bits are.
    ends: BinaryHeap<Reverse<(u64, FlowId)>>,
}

impl Clock {
    pub(super) fn new() -> Clock {
        Clock { speed: 1.0, ..Clock::default() }
    }

    /// What it shows now.
    pub(super) fn read(&mut self, now: Time) -> f64 {
        self.shows += now.0.saturating_sub(self.at.0) as f64 * self.speed;
        self.at = now;
        self.shows
    }

    /// Runs at another speed from now on.
    pub(super) fn set_speed(&mut self, now: Time, speed: f64) {
        if speed != self.speed {
            self.read(now);
            self.speed = speed;
        }
    }

    pub(super) fn plan(&mut self, end: f64, flow: FlowId) {
        self.ends.push(Reverse((end.to_bits(), flow)));
    }

    /// The first flow to end, and when by this clock. What was planned for a flow that has become slower since is planned
    /// anew only when its turn comes.
    fn first(&mut self, flows: &mut Flows) -> Option<(f64, FlowId)> {
        while let Some(Reverse((bits, id))) = self.ends.peek().copied() {
            match flows.planned(id, f64::from_bits(bits)) {
                Some(end) if end.to_bits() == bits => return Some((end, id)),
                Some(later) => {
                    self.ends.pop();
                    self.plan(later, id);
                }
                None => {
                    self.ends.pop();
                }
            }
        }
        None
    }

    /// When the first flow ends, as far as is known now.
    pub(super) fn next_end(&mut self, now: Time, flows: &mut Flows) -> Option<Time> {
        let (end, _) = self.first(flows)?;
        let left = (end - self.read(now)).max(0.0) / self.speed;
        Some(Time(now.0.saturating_add(left.ceil() as u64)))
    }

    /// A flow that has ended.
    pub(super) fn ended(&mut self, now: Time, flows: &mut Flows) -> Option<FlowId> {
        let (end, id) = self.first(flows)?;
        (end <= self.read(now)).then_some(id)
    }
}
