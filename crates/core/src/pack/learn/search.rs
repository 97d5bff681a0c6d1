//! How many tasks of a kind are worth running at once, where nobody knows what they compete for.
//!
//! The number leaps up as long as what comes out grows with it. Where it does not, the number goes back to what would have been enough for
//! what came out, and stays, until as many tasks bring something else.

use std::time::Duration;

use super::super::Why;
use crate::time::Time;

/// By how many times the number grows.
const LEAP: u32 = 4;
/// A leap has paid if so much of it has come out.
const PAYS: f64 = 0.2;
/// What is kept beyond what would have been enough.
const MARGIN: f64 = 1.25;
/// So many ends tell how fast tasks go.
const ENOUGH_DONE: u32 = 8;
/// Less use than this of network and disk tells nothing.
const LEAST_WORK: f64 = 0.02;
/// How long it takes until more are tried again, at first and at last.
const FIRST_PATIENCE: Duration = Duration::from_secs(5);
const LONGEST_PATIENCE: Duration = Duration::from_secs(300);
/// So many ends are enough to doubt what is known, if they differ by more than so many times what chance would make of them.
const ENOUGH_TO_DOUBT: u32 = 24;
const CHANCE: f64 = 2.0;
/// By what part what comes out may differ before it has to be learnt anew.
const DRIFT: f64 = 0.3;
/// Nobody waits longer than this for long tasks to settle.
const LONGEST_WAIT: Duration = Duration::from_secs(2);

/// What was seen of a kind since the last look.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Whether as many run as may, and more wait.
    pub(super) is_full: bool,
    /// How many have ended.
    pub(super) done: u32,
    /// How much of network or disk was used, whichever is more.
    pub(super) work: f64,
    /// How long a task takes.
    pub(super) time: Duration,
}

/// What comes out of tasks in a second, as far as it can be told.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Output {
    /// So many ends.
    ends: Option<f64>,
    /// So much of a network or a disk.
    work: Option<f64>,
}

#[derive(Clone, Debug)]
pub(super) struct Search {
    least: u32,
    most: u32,
    width: u32,
    /// What came out of fewer.
    before: Option<(u32, Output)>,
    /// What comes out of as many as there are now, once that has been found.
    held: Option<Output>,
    /// Whether there are enough of them, whatever comes out.
    is_enough: bool,
    /// When more are tried once again, and how long after that: it may have been chance that they did not pay.
    try_at: Option<Time>,
    patience: Duration,
    /// What has been seen since it settled.
    done: u32,
    work: f64,
    span: Duration,
    /// Since when there have been as many as now.
    since: Option<Time>,
}

impl Search {
    pub(super) fn new(least: u32, most: u32) -> Search {
        let (before, held, since) = (None, None, None);
        let (is_enough, try_at, patience, span) = (false, None, FIRST_PATIENCE, Duration::ZERO);
        Search { least, most, width: least, before, held, is_enough, try_at, patience, done: 0, work: 0.0, span, since }
    }

    pub(super) fn width(&self) -> u32 {
        self.width
    }

    fn set(&mut self, width: u32, now: Time) {
        self.width = width.clamp(self.least, self.most);
        self.forget(now);
    }

    fn forget(&mut self, now: Time) {
        self.since = Some(now);
        self.restart();
    }

    /// Counts anew, of as many tasks as before.
    fn restart(&mut self) {
        (self.done, self.work, self.span) = (0, 0.0, Duration::ZERO);
    }

    /// Takes in what was seen; says why there is another number, if there is.
    pub(super) fn look(&mut self, now: Time, span: Duration, seen: &Seen) -> Option<Why> {
        let since = *self.since.get_or_insert(now);
        if !seen.is_full {
            self.forget(now);
            return None;
        }
        // At first, those of before are still under way.
        if now.since(since) < seen.time.min(LONGEST_WAIT) {
            return None;
        }
        self.done += seen.done;
        self.work += seen.work * span.as_secs_f64();
        self.span += span;
        let output = self.output(seen)?;
        let width = self.width;
        if self.try_at.is_some_and(|time| now >= time) {
            (self.held, self.before, self.is_enough, self.try_at) = (None, None, false, None);
        }
        match (self.held, self.before) {
            (Some(held), _) => self.check(now, held, output),
            (None, Some((fewer, before))) if !pays((fewer, before), (width, output)) => {
                let enough = f64::from(fewer) * ratio(before, output).unwrap_or(1.0).max(1.0) * MARGIN;
                self.is_enough = true;
                self.try_at = Some(now + self.patience);
                self.patience = (self.patience * 2).min(LONGEST_PATIENCE);
                self.set((enough.ceil() as u32).clamp(fewer, width), now);
                Some(Why::Contention)
            }
            _ if width == self.most || self.is_enough => {
                self.held = Some(output);
                self.forget(now);
                None
            }
            _ => {
                self.before = Some((width, output));
                self.set(width.saturating_mul(LEAP), now);
                Some(Why::Grows)
            }
        }
    }

    /// What comes out, if that can be told by now.
    fn output(&self, seen: &Seen) -> Option<Output> {
        let seconds = self.span.as_secs_f64();
        let is_long_enough = self.span >= seen.time.min(LONGEST_WAIT) / 2;
        let ends = (self.done >= ENOUGH_DONE && is_long_enough).then(|| f64::from(self.done) / seconds);
        let work = Some(self.work / seconds).filter(|work| *work > LEAST_WORK);
        // Ends tell more, if there will be some soon.
        (ends.is_some() || work.is_some() && self.span >= LONGEST_WAIT / 4).then_some(Output { ends, work })
    }

    fn check(&mut self, now: Time, held: Output, output: Output) -> Option<Why> {
        let width = self.width;
        // Few ends are many or fewer by chance.
        let chance = output.ends.map_or(0.0, |_| CHANCE / f64::from(self.done).sqrt());
        if output.ends.is_some() && self.done < ENOUGH_TO_DOUBT {
            return None;
        }
        self.restart();
        let Some(ratio) = ratio(held, output) else {
            self.held = Some(output);
            return None;
        };
        if (ratio - 1.0).abs() <= DRIFT + chance {
            return None;
        }
        (self.held, self.before, self.is_enough, self.try_at) = (None, None, ratio < 1.0, None);
        self.patience = FIRST_PATIENCE;
        if ratio < 1.0 {
            self.set((f64::from(width) * ratio * MARGIN).ceil() as u32, now);
        }
        Some(Why::Drifted)
    }
}

/// What comes out now beside what came out before, if they can be compared.
fn ratio(before: Output, now: Output) -> Option<f64> {
    let ends = before.ends.zip(now.ends);
    ends.or(before.work.zip(now.work)).filter(|(before, _)| *before > 0.0).map(|(before, now)| now / before)
}

/// Whether more tasks have brought more.
fn pays((fewer, before): (u32, Output), (more, now): (u32, Output)) -> bool {
    let growth = f64::from(more) / f64::from(fewer) - 1.0;
    // What cannot be compared speaks neither for nor against.
    ratio(before, now).is_none_or(|ratio| ratio - 1.0 >= PAYS * growth)
}
