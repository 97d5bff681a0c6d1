//! What comes out of so many tasks at once, and whether it differs from what came out of others by more than chance.

use std::time::Duration;

use super::{CLEARLY_PAYS, ENOUGH_DONE, LEAST_WORK, MARGIN, Search};
use crate::time::Time;

/// It has clearly not paid if less comes out than this part.
const CLEARLY_LESS: f64 = 0.9;
/// So many ends are enough to doubt what is known.
const ENOUGH_TO_DOUBT: u32 = 24;
/// By how many times what chance would make of few ends they may differ, where it does not matter much if that was wrong.
const SOME_CHANCE: f64 = 0.5;
/// So much of what came out of more is as much, where others may want the rest.
const AS_MUCH: f64 = 0.93;
/// After so many times what tasks take, all that began together have ended.
const A_LITTLE_LONGER: f64 = 1.2;
/// So much of what began together is most of it.
const MOST_OF_THEM: f64 = 0.9;
/// What is moved tells what comes out after so long, as long as nothing has ended.
const LONG_USE: Duration = Duration::from_millis(500);

/// What comes out of tasks in a second, as far as it can be told.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Output {
    /// So many ends.
    pub(super) ends: Option<f64>,
    /// So many bytes moved.
    pub(super) work: Option<f64>,
}

impl Search {
    /// How many are enough for this to come out.
    pub(super) fn enough(&self, output: Output) -> Option<u32> {
        Some((output.ends? * self.quickest?.as_secs_f64() * MARGIN).ceil() as u32)
    }

    /// How many bytes are moved in a second, if that is worth mentioning.
    pub(super) fn moved(&self) -> Option<f64> {
        Some(self.work / self.span.as_secs_f64().max(1e-9)).filter(|work| *work > LEAST_WORK)
    }

    /// What comes out, if that can be told by now.
    pub(super) fn output(&self, now: Time) -> Option<Output> {
        // As many as run end in the time that each of them takes: that says more than counting ends, which come in waves.
        let mean = self.took.as_secs_f64() / f64::from(self.done.max(1));
        let is_known = self.done >= ENOUGH_DONE && self.is_fair(now, mean) && mean > 0.0;
        let ends = is_known.then(|| f64::from(self.width) / mean);
        let work = self.moved();
        // Ends tell more: what is moved may be taken from others.
        let is_moving = work.is_some() && self.span >= LONG_USE && self.quickest.is_none();
        (ends.is_some() || is_moving).then_some(Output { ends, work })
    }

    /// Whether what has ended is like what has not: of those that begin together, the shortest end first.
    pub(super) fn is_fair(&self, now: Time, mean: f64) -> bool {
        let is_long_enough = now.since(self.changed_at).as_secs_f64() >= mean * A_LITTLE_LONGER;
        is_long_enough && f64::from(self.ended) >= f64::from(self.width) * MOST_OF_THEM
    }

    /// Whether too few have ended to tell this from chance.
    pub(super) fn may_be_chance(&self, output: Output) -> bool {
        output.ends.is_some() && self.done < ENOUGH_TO_DOUBT
    }

    /// Whether so many times what came out of more is surely less: the fewer have ended, the less it has to be.
    pub(super) fn is_less(&self, output: Output, ratio: f64) -> bool {
        let chance = if self.may_be_chance(output) { SOME_CHANCE / f64::from(self.done.max(1)).sqrt() } else { 0.0 };
        let as_much = if self.is_local { 1.0 } else { AS_MUCH };
        ratio < as_much - chance
    }
}

/// What comes out now beside what came out before, if they can be compared.
pub(super) fn ratio(before: Output, now: Output) -> Option<f64> {
    let ends = before.ends.zip(now.ends);
    ends.or(before.work.zip(now.work)).filter(|(before, _)| *before > 0.0).map(|(before, now)| now / before)
}

/// Whether it is clear that more tasks have brought more, or less. What cannot be compared speaks neither for nor against.
pub(super) fn is_clear((fewer, before): (u32, Output), (more, now): (u32, Output)) -> bool {
    let growth = f64::from(more) / f64::from(fewer) - 1.0;
    ratio(before, now).is_none_or(|ratio| ratio - 1.0 >= CLEARLY_PAYS * growth || ratio < CLEARLY_LESS)
}
