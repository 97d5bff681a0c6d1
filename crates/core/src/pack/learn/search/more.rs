//! More are tried: in leaps, as long as they bring more.

use std::time::Duration;

use super::early::Look;
use super::output::{Output, is_clear, ratio};
use super::{CLEARLY_PAYS, DRIFT, ENOUGH_DONE, HARDLY_LONGER, LEAP, NEXT_LEAP, Phase, Search, Seen};
use crate::pack::Why;
use crate::time::Time;

/// A leap has paid if so many times as much comes out.
const PAYS: f64 = 1.1;
/// Tasks that compute for less than this part of their time tell nothing by that.
const LEAST_BUSY: f64 = 0.03;
/// After so long, those that began with a leap are at it; and so many times as many bytes are more.
const SOON_SEEN: Duration = Duration::from_millis(700);
const MOVES_MORE: f64 = 1.05;
/// So many times what tasks should take at most is surely too long.
const SURELY: f64 = 1.5;
/// After so long, a machine idles; and after so long if nothing at all goes to or from it.
const LONG_IDLE: Duration = Duration::from_millis(400);
const LONG_SILENT: Duration = Duration::from_millis(200);
/// After so long, what was done in a hurry is looked at.
const LONG_DOUBT: Duration = Duration::from_secs(30);
/// How long it takes at last until more are tried again.
const LONGEST_PATIENCE: Duration = Duration::from_secs(300);

impl Search {
    /// Where everything idles, nobody has to be compared with: there is room for more. Where something is moved, it may be somebody far away
    /// whom they wait for, and others as well: that has to show by and by.
    pub(super) fn hurry(&mut self, now: Time, seen: &Seen) -> Option<Why> {
        let is_silent = self.idle >= LONG_SILENT && seen.is_silent;
        // Only at first: whoever has found a number knows better.
        let is_first = matches!(self.phase, Phase::Trying(None)) && self.leap == LEAP && self.held.is_none();
        let may_hurry = is_first && self.width < self.most;
        let work = self.moved().filter(|_| self.idle >= LONG_IDLE && self.hurried_from.is_none());
        if may_hurry && work.is_some() {
            self.leap = NEXT_LEAP;
            return self.leap_from(now, Output { ends: None, work });
        }
        if !may_hurry || !is_silent {
            return None;
        }
        if let Some((fewer, Some(before))) = self.hurried_from {
            // Whoever is as old as those were has computed as much at least, unless it is kept from it.
            let computed = self.early.mean()?.computed.as_secs_f64();
            let growth = f64::from(self.width) / f64::from(fewer);
            if computed * growth < before.computed.as_secs_f64() * (1.0 + CLEARLY_PAYS * (growth - 1.0)) {
                // They do not even compute more: they are in each other's way.
                self.leap = NEXT_LEAP;
                self.set(fewer, now);
                return Some(Why::Contention);
            }
        }
        let computes = |early: &Look| early.computed > early.age.mul_f64(LEAST_BUSY);
        (self.hurried_from, self.idle) = (Some((self.width, self.early.mean().filter(computes))), Duration::ZERO);
        self.leap(now)
    }

    /// How many there were before they were more in a hurry, and what those would have brought if each took as long as the quickest, if it is
    /// no less than what comes out now.
    pub(super) fn hurried_in_vain(&self, output: Output) -> Option<(u32, Output)> {
        let ((fewer, _), quickest) = self.hurried_from.filter(|_| self.leap == LEAP).zip(self.quickest)?;
        let before = Output { ends: Some(f64::from(fewer) / quickest.as_secs_f64()), work: None };
        ratio(before, output).is_some_and(|ratio| ratio <= 1.0).then_some((fewer, before))
    }

    /// What little comes out of more, if that can be told long before they end: they move no more bytes than fewer did, or each takes so long
    /// already that they cannot have paid.
    pub(super) fn in_vain(&self, (_, before): (u32, Output)) -> Option<Output> {
        // What a disk gives in a moment says little, and nobody else waits for it.
        let both = before.work.zip(self.moved()).filter(|_| self.span >= SOON_SEEN && !self.is_local);
        if both.is_some_and(|(before, now)| now < before * MOVES_MORE) {
            return Some(Output { ends: None, work: self.moved() });
        }
        let ends = before.ends.filter(|ends| *ends > 0.0)?;
        // Those that ran before have to end first, and of few it takes more than one each until enough have ended.
        let times = SURELY + f64::from(ENOUGH_DONE) / f64::from(self.width);
        let longest = f64::from(self.width) / ends / PAYS * times;
        // Only the time counts in which there was enough to do.
        let is_too_long = self.done < ENOUGH_DONE && self.span.as_secs_f64() > longest;
        is_too_long.then_some(Output { ends: Some(0.0), work: None })
    }

    /// Goes on to still more if these brought more than fewer did; else back.
    pub(super) fn try_more(
        &mut self,
        now: Time,
        before: Option<(u32, Output)>,
        output: Output,
        seen: &Seen,
    ) -> Option<Why> {
        if let Some(before) = before {
            if self.may_be_chance(output) && !is_clear(before, (self.width, output)) {
                return None;
            }
            let is_taken = !self.is_local && self.too_many(output).is_some();
            if is_taken || ratio(before.1, output).is_some_and(|ratio| ratio < PAYS) {
                return self.go_back(now, before, output);
            }
        } else if let Some(before) = self.hurried_in_vain(output) {
            return self.go_back(now, before, output);
        }
        if self.width < self.most {
            return self.leap_from(now, output);
        }
        let time = seen.time;
        self.hold(now, output, time);
        // Whoever came here in a hurry has not compared anything; that is made up for when there is time.
        self.doubt_at = self.hurried_from.map(|_| now + LONG_DOUBT);
        let is_longer = self.quickest.is_some_and(|quickest| time > quickest.mul_f64(HARDLY_LONGER));
        self.phase = Phase::Holding { output, time, is_crowded: is_longer };
        None
    }

    /// Back to what is enough.
    pub(super) fn go_back(&mut self, now: Time, (fewer, before): (u32, Output), output: Output) -> Option<Why> {
        // Where much fewer come to an end, it is dear to try more, and what they bring says nothing.
        let ends = before.ends.zip(output.ends);
        self.is_dear = ends.is_some_and(|(before, now)| now < before * (1.0 - DRIFT));
        let enough = self.enough(before).max(self.enough(output)).unwrap_or(fewer);
        // What fewer brought is known; whether still fewer would do is tried from there.
        let enough = if self.is_dear { enough.min(fewer) } else { enough.max(fewer) };
        // A disk of one's own may as well have more, if that is no worse: half of what was tried.
        let is_no_worse = self.is_local && ratio(before, output).is_some_and(|ratio| ratio >= 1.0);
        let enough = if is_no_worse { enough.max(self.width / 2) } else { enough };
        (self.leap, self.were_fewer_less) = (NEXT_LEAP, false);
        self.phase = Phase::Settling(Some((fewer, before)));
        self.patience = (self.patience * if self.is_dear { 4 } else { 2 }).min(LONGEST_PATIENCE);
        self.try_at = Some(now + self.patience);
        self.set(enough.min(self.width), now);
        Some(Why::Contention)
    }

    /// Tries whether more bring more than this.
    pub(super) fn leap_from(&mut self, now: Time, output: Output) -> Option<Why> {
        self.phase = Phase::Trying(Some((self.width, output)));
        self.leap(now)
    }

    /// The same with half as many more.
    pub(super) fn step_from(&mut self, now: Time, output: Output) -> Option<Why> {
        let before = self.width;
        self.phase = Phase::Trying(Some((before, output)));
        self.set(before.saturating_add(before.div_ceil(2)), now);
        (self.width > before).then_some(Why::Grows)
    }

    pub(super) fn leap(&mut self, now: Time) -> Option<Why> {
        let before = self.width;
        self.set(self.width.saturating_mul(self.leap), now);
        (self.width > before).then_some(Why::Grows)
    }
}
