//! A number is kept that was found good, as long as it brings what it did.

use std::time::Duration;

use super::output::{Output, ratio};
use super::{DRIFT, ENOUGH_DONE, FIRST_PATIENCE, HARDLY_LONGER, LEAST, MANY_MORE, MARGIN, Phase, Search, Seen};
use crate::pack::Why;
use crate::time::Time;

/// After so many ends, they are counted anew.
const ENOUGH_TO_BELIEVE: u32 = 64;
/// By how many times what chance would make of ends they have to differ.
const CHANCE: f64 = 1.5;
/// So many times as long as before is much longer.
const MUCH_LONGER: f64 = 1.5;

impl Search {
    pub(super) fn hold(&mut self, now: Time, output: Output, time: Duration) -> Option<Why> {
        self.keep(now, output, time);
        self.restart();
        None
    }

    /// The same, and what was counted still counts.
    pub(super) fn keep(&mut self, now: Time, output: Output, time: Duration) {
        self.held = Some(self.width);
        self.phase = Phase::Holding { output, time, is_crowded: true };
        // However long it took to get here, there are as many for a while.
        self.try_at = self.try_at.map(|at| at.max(now + self.patience));
    }

    /// Goes on with what is enough for what comes out now, or else with so many, where less is to be had than there was.
    pub(super) fn shrink(&mut self, now: Time, output: Output, otherwise: f64) -> Option<Why> {
        // Then it was not because of their number that more brought less.
        (self.is_dear, self.were_fewer_less, self.patience) = (false, false, FIRST_PATIENCE);
        (self.phase, self.try_at) = (Phase::Settling(None), Some(now + FIRST_PATIENCE));
        self.set(self.enough(output).unwrap_or(otherwise.ceil() as u32).min(self.width), now);
        Some(Why::Drifted)
    }

    /// Whether tasks take much longer than they did, or hardly longer than if nobody else ran: that is seen before there are more or fewer ends.
    pub(super) fn check_time(&mut self, now: Time, seen: &Seen) -> Option<Why> {
        let (Phase::Holding { time, is_crowded, .. }, Some(quickest)) = (self.phase, self.quickest) else {
            return None;
        };
        let mean = self.took / self.done.max(1);
        if self.done < ENOUGH_DONE || !self.is_fair(now, mean.as_secs_f64()) {
            return None;
        }
        let enough = f64::from(self.width) * MARGIN * quickest.as_secs_f64() / mean.as_secs_f64().max(1e-9);
        let are_many = enough < f64::from(self.width) * MANY_MORE;
        if is_crowded && !self.were_fewer_less && are_many {
            let Phase::Holding { output, .. } = self.phase else { return None };
            self.phase = Phase::Fewer(self.width, output);
            self.set(enough.ceil() as u32, now);
            return Some(Why::Fewer);
        }
        if mean > time.mul_f64(MUCH_LONGER) + seen.differs && enough < f64::from(self.width) {
            (self.phase, self.try_at) = (Phase::Settling(None), Some(now + FIRST_PATIENCE));
            self.set(enough.ceil() as u32, now);
            return Some(Why::Drifted);
        }
        // Who is alone never waits for others, and that says nothing.
        if is_crowded && !self.is_dear && self.width > LEAST && mean < quickest.mul_f64(HARDLY_LONGER) {
            self.try_at = None;
            let ends = f64::from(self.width) / mean.as_secs_f64().max(1e-9);
            return self.leap_from(now, Output { ends: Some(ends), work: self.moved() });
        }
        None
    }

    /// Tries more, unless as many as now bring something else than they did: what differs, though maybe by chance, is looked at for longer.
    pub(super) fn renew(&mut self, now: Time, held: Output, output: Output, time: Duration) -> Option<Why> {
        let has_changed = ratio(held, output).is_some_and(|ratio| (ratio - 1.0).abs() > DRIFT);
        let is_open = self.may_be_chance(output) || has_changed && self.done < ENOUGH_TO_BELIEVE;
        let why = self.check(now, held, output, time);
        if is_open { why } else { why.or_else(|| self.step_from(now, output)) }
    }

    pub(super) fn check(&mut self, now: Time, held: Output, output: Output, time: Duration) -> Option<Why> {
        // Few ends are many or fewer by chance.
        let chance = output.ends.map_or(0.0, |_| CHANCE / f64::from(self.done).sqrt());
        if self.may_be_chance(output) {
            return None;
        }
        let Some(ratio) = ratio(held, output) else {
            self.phase = Phase::Holding { output, time, is_crowded: false };
            self.restart();
            return None;
        };
        if (ratio - 1.0).abs() <= DRIFT + chance {
            if output.ends.is_none() || self.done >= ENOUGH_TO_BELIEVE {
                self.restart();
            }
            return None;
        }
        if ratio < 1.0 {
            return self.shrink(now, output, f64::from(self.width) * ratio);
        }
        (self.try_at, self.patience, self.were_fewer_less) = (None, FIRST_PATIENCE, false);
        self.phase = Phase::Trying(None);
        self.restart();
        Some(Why::Drifted)
    }
}
