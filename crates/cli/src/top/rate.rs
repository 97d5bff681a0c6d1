//! How many tasks have ended in the last seconds, by the run's own clock: whoever begins to watch in the middle of a
//! run sees the same rate as one who has watched all the time.

use throng_core::time::Time;

/// The rate is that of the last seconds, so that it follows changes.
const WINDOW_S: u64 = 10;
const SECOND_NS: u64 = 1_000_000_000;

/// Counts by second, for the last few.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recent {
    counts: [u32; WINDOW_S as usize],
    last_second: u64,
}

impl Recent {
    /// One more has ended.
    pub fn add(&mut self, now: Time) {
        self.advance(now.0 / SECOND_NS);
        self.counts[(self.last_second % WINDOW_S) as usize] += 1;
    }

    fn advance(&mut self, second: u64) {
        let passed = second.saturating_sub(self.last_second).min(WINDOW_S);
        for step in 1..=passed {
            self.counts[((self.last_second + step) % WINDOW_S) as usize] = 0;
        }
        // Where more than the window has passed, every count is zero, whichever second it stood for.
        self.last_second = self.last_second.max(second);
    }

    /// How many ended in the last seconds.
    pub fn count(&self, now: Time) -> u64 {
        let mut moved = *self;
        moved.advance(now.0 / SECOND_NS);
        moved.counts.iter().map(|count| u64::from(*count)).sum()
    }

    /// How many end per second; `since` is when any could have ended for the first time.
    pub fn per_second(&self, now: Time, since: Time) -> f64 {
        let window_start = Time((now.0 / SECOND_NS + 1).saturating_sub(WINDOW_S) * SECOND_NS);
        let seconds = now.since(window_start.max(since)).as_secs_f64();
        // In the first moments a rate would be chance.
        if seconds < 0.05 { 0.0 } else { self.count(now) as f64 / seconds }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: f64) -> Time {
        Time((seconds * 1e9) as u64)
    }

    #[test]
    fn a_steady_rate_is_seen_and_an_old_one_forgotten() {
        let mut recent = Recent::default();
        for number in 0..400 {
            recent.add(at(f64::from(number) * 0.1));
        }
        assert!((recent.per_second(at(40.0), at(0.0)) - 10.0).abs() < 1.2);
        assert_eq!(recent.count(at(60.0)), 0);
    }

    #[test]
    fn a_young_run_has_a_rate_too() {
        let mut recent = Recent::default();
        (0..10).for_each(|_| recent.add(at(0.5)));
        assert_eq!(recent.per_second(at(1.0), at(0.0)), 10.0);
        assert_eq!(recent.per_second(at(0.51), at(0.5)), 0.0);
    }
}
