//! Fewer are tried: they may bring as much, where tasks are in each other's way.

use std::time::Duration;

use super::output::{Output, ratio};
use super::{DRIFT, MANY_MORE, Phase, Search};
use crate::pack::Why;
use crate::time::Time;

/// Less comes out because there are fewer, if it is about in proportion.
const IN_PROPORTION: f64 = 0.9;
/// So many times what came out of more is more.
const MORE: f64 = 1.07;

impl Search {
    pub(super) fn settle(
        &mut self,
        now: Time,
        before: Option<(u32, Output)>,
        output: Output,
        time: Duration,
    ) -> Option<Why> {
        let compared = before.and_then(|(fewer, before)| Some((fewer, before, ratio(before, output)?)));
        let are_too_few = compared.is_some_and(|(fewer, _, ratio)| self.width < fewer && self.is_less(output, ratio));
        if self.may_be_chance(output) && !are_too_few {
            return None;
        }
        self.hold(now, output, time);
        if let Some((fewer, before, less)) = compared
            && are_too_few
            && less > f64::from(self.width) / f64::from(fewer) * IN_PROPORTION
        {
            // It was too few, because tasks get more done while they wait for each other, or take longer than they did.
            self.quickest = None;
            self.phase = Phase::Returning(before);
            self.set(fewer, now);
            return Some(Why::Grows);
        }
        // There may be less to be had than there was when fewer brought more.
        let less = compared.filter(|(.., ratio)| *ratio < 1.0 - DRIFT);
        match less {
            Some((fewer, _, less)) => self.shrink(now, output, f64::from(fewer) * less),
            None => self.halve(now, output),
        }
    }

    /// Whether each of fewer tasks takes longer than each of more did: then it is not for their number.
    pub(super) fn is_slower(&self, output: Output, (more, before): (u32, Output)) -> bool {
        let in_proportion = f64::from(self.width) / f64::from(more) * IN_PROPORTION;
        !self.may_be_chance(output) && ratio(before, output).is_some_and(|ratio| ratio < in_proportion)
    }

    /// How many would be enough for this, if there are many more.
    pub(super) fn too_many(&self, output: Output) -> Option<u32> {
        let enough = self.enough(output)?;
        (f64::from(enough) < f64::from(self.width) * MANY_MORE).then_some(enough)
    }

    /// Tries half as many, or as many as are enough, if there is more than one.
    pub(super) fn halve(&mut self, now: Time, output: Output) -> Option<Why> {
        let more = self.width;
        let half = self.too_many(output).unwrap_or(more / 2);
        if half == 0 {
            return None;
        }
        self.phase = Phase::Fewer(more, output);
        self.set(half, now);
        Some(Why::Fewer)
    }

    /// Goes on with fewer that bring as much; else back to as many as there were.
    pub(super) fn try_fewer(
        &mut self,
        now: Time,
        (more, before): (u32, Output),
        output: Output,
        time: Duration,
    ) -> Option<Why> {
        if self.is_slower(output, (more, before)) {
            return self.shrink(now, output, f64::from(self.width) * IN_PROPORTION);
        }
        let is_less = ratio(before, output).is_none_or(|ratio| self.is_less(output, ratio));
        if self.may_be_chance(output) && !is_less {
            return None;
        }
        if !is_less {
            self.hold(now, output, time);
            return self.halve(now, output);
        }
        // Where fewer bring less, none of them has to wait for others.
        self.quickest = Some(time).filter(|time| !time.is_zero());
        self.phase = Phase::SomeFewer(more, before);
        self.set(more - more / 4, now);
        Some(Why::Grows)
    }

    pub(super) fn try_some_fewer(
        &mut self,
        now: Time,
        (more, before): (u32, Output),
        output: Output,
        time: Duration,
    ) -> Option<Why> {
        if self.is_slower(output, (more, before)) {
            return self.shrink(now, output, f64::from(self.width) * IN_PROPORTION);
        }
        let ratio = ratio(before, output).unwrap_or(0.0);
        if self.may_be_chance(output) && !self.is_less(output, ratio) {
            return None;
        }
        if ratio >= MORE {
            return self.hold(now, output, time);
        }
        self.phase = Phase::Returning(before);
        self.set(more, now);
        Some(Why::Grows)
    }
}
