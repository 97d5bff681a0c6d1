//! How much memory tasks of a kind come to hold, from those that have ended.

use std::collections::VecDeque;
use std::time::Duration;

/// So many are remembered: enough to know the spread, few enough to follow a kind that grows.
const REMEMBERED: usize = 64;
/// What a task that holds more than any before it may yet come to hold beyond that.
const BEYOND: f64 = 0.25;
/// So many tell when tasks of a kind hold what they will hold.
const ENOUGH: usize = 4;
/// Tasks hold what they will hold when nine in ten have grown.
const NEARLY_ALL: (usize, usize) = (9, 10);
/// How far away one more is imagined than there are, as a part of what those held.
const IMAGINED: f64 = 0.5;

/// What a task will probably hold at most.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Expected {
    pub(super) bytes: f64,
    pub(super) variance: f64,
}

/// What a task did that has ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ended {
    /// How much it held at most.
    pub(super) bytes: f64,
    /// How long it went on growing, if anybody has looked.
    pub(super) grew_for: Option<Duration>,
    pub(super) ran_for: Duration,
}

/// What tasks of a kind have held.
#[derive(Clone, Debug, Default)]
pub(super) struct Peaks {
    /// The last one at the end.
    recent: VecDeque<Ended>,
    /// After so long, a task holds what it will hold, and so many have shown that.
    settles_after: Duration,
    grown: usize,
    /// How long tasks take.
    usual_time: Duration,
}

impl Peaks {
    /// One more has ended.
    pub(super) fn learn(&mut self, past: Ended) {
        if self.recent.len() == REMEMBERED {
            self.recent.pop_front();
        }
        self.recent.push_back(past);
        let mut growing: Vec<Duration> = self.recent.iter().filter_map(|past| past.grew_for).collect();
        growing.sort_unstable();
        self.grown = growing.len();
        let nearly_all = growing.len().saturating_sub(1) * NEARLY_ALL.0 / NEARLY_ALL.1;
        self.settles_after = growing.get(nearly_all).copied().unwrap_or_default();
        self.usual_time = self.recent.iter().map(|past| past.ran_for).sum::<Duration>() / self.recent.len() as u32;
    }

    /// Whether nothing is known.
    pub(super) fn is_empty(&self) -> bool {
        self.recent.is_empty()
    }

    /// After what time tasks hold what they will hold, if enough have been seen to know.
    pub(super) fn settles_after(&self) -> Option<Duration> {
        (self.grown >= ENOUGH).then_some(self.settles_after)
    }

    /// For what part of the rest of its life a task grows that is so old.
    pub(super) fn share_spent_growing(&self, age: Duration) -> f64 {
        let (growing, left) = (self.settles_after.saturating_sub(age), self.usual_time.saturating_sub(age));
        if left.is_zero() { 1.0 } else { (growing.as_secs_f64() / left.as_secs_f64()).min(1.0) }
    }

    /// What a task comes to hold that holds so much already. Of few, the spread is not known yet: one more is imagined that lies half as
    /// far away again.
    pub(super) fn expect(&self, held: f64) -> Expected {
        let more = || self.recent.iter().map(|past| past.bytes).filter(|bytes| *bytes >= held);
        let count = more().count() as f64;
        if count == 0.0 {
            let beyond = held * BEYOND;
            return Expected { bytes: held + beyond, variance: beyond * beyond };
        }
        let mean = more().sum::<f64>() / count;
        let squares: f64 = more().map(|bytes| (bytes - mean) * (bytes - mean)).sum();
        let imagined = mean * IMAGINED;
        Expected { bytes: mean, variance: (squares + imagined * imagined) / count }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_task_holds_tells_what_it_may_yet_hold() {
        let mut peaks = Peaks::default();
        for (bytes, seconds) in [(100.0, 1), (200.0, 2), (300.0, 1), (400.0, 1)] {
            let (grew_for, ran_for) = (Some(Duration::from_secs(seconds)), Duration::from_secs(4));
            peaks.learn(Ended { bytes, grew_for, ran_for });
        }
        assert_eq!(peaks.expect(0.0).bytes, 250.0);
        assert_eq!(peaks.expect(250.0).bytes, 350.0);
        assert_eq!(peaks.expect(400.0).bytes, 400.0);
        assert_eq!(peaks.expect(800.0).bytes, 1000.0);
        assert_eq!(peaks.settles_after(), Some(Duration::from_secs(1)));
    }

    #[test]
    fn a_kind_that_grows_is_learnt_again() {
        let mut peaks = Peaks::default();
        let past = |bytes| Ended { bytes, grew_for: None, ran_for: Duration::ZERO };
        (0..100).for_each(|_| peaks.learn(past(100.0)));
        assert!(peaks.expect(0.0).bytes == 100.0 && peaks.expect(0.0).variance.sqrt() < 10.0);
        (0..REMEMBERED).for_each(|_| peaks.learn(past(500.0)));
        assert_eq!(peaks.expect(0.0).bytes, 500.0);
    }
}
