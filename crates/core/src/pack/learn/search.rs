//! How many tasks of a kind are worth running at once, where nobody knows what they compete for.
//!
//! The number leaps up as long as what comes out grows with it. Where it does not, the number goes back to what is enough for what comes
//! out, and stays, until as many tasks bring something else. Enough are as many as end in the time that one of them takes where it does not
//! have to wait for others.

use std::time::Duration;

use super::super::Why;
use crate::time::Time;

/// By how many times the number grows at first.
const LEAP: u32 = 4;
/// The same once it is known about how many there can be.
const NEXT_LEAP: u32 = 2;
/// A leap has paid if so much of it has come out.
const PAYS: f64 = 0.2;
/// What is kept beyond what would have been enough: so that it shows when there is more to be had.
const MARGIN: f64 = 1.5;
/// So many ends tell how fast tasks go.
const ENOUGH_DONE: u32 = 8;
/// Less use than this of network and disk tells nothing.
const LEAST_WORK: f64 = 0.02;
/// How long it takes until more are tried again, at first and at last.
const FIRST_PATIENCE: Duration = Duration::from_millis(2500);
const LONGEST_PATIENCE: Duration = Duration::from_secs(300);
/// So many ends are enough to doubt what is known, if they differ by more than so many times what chance would make of them.
const ENOUGH_TO_DOUBT: u32 = 24;
/// After so many, they are counted anew.
const ENOUGH_TO_BELIEVE: u32 = 128;
const CHANCE: f64 = 1.5;
/// Less than this part would do where there are too many.
const MANY_MORE: f64 = 0.8;
/// So much of what came out of more is as much.
const AS_MUCH: f64 = 0.93;
/// So many times what came out of more is more.
const MORE: f64 = 1.07;
/// By what part what comes out may differ before it has to be learnt anew.
const DRIFT: f64 = 0.2;
/// So many times as long as before is much longer.
const MUCH_LONGER: f64 = 1.5;
/// So many times as long as alone is hardly longer.
const HARDLY_LONGER: f64 = 1.25;
/// After so long, a machine idles.
const LONG_IDLE: Duration = Duration::from_millis(400);
/// So many times what tasks should take at most is surely too long.
const SURELY: f64 = 1.5;
/// After so many times what tasks take, all that began together have ended.
const A_LITTLE_LONGER: f64 = 1.2;
/// After so long, use of network and disks tells what comes out, if no ends do.
const LONG_USE: Duration = Duration::from_millis(500);

/// What was seen of a kind since the last look.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    /// Whether as many run as may, and more wait.
    pub(super) is_full: bool,
    /// Whether more run than may, until they have ended.
    pub(super) is_draining: bool,
    /// How many have ended.
    pub(super) done: u32,
    /// How long those took together.
    pub(super) took: Duration,
    /// How much of network or disk was used, whichever is more.
    pub(super) work: f64,
    /// How long a task takes.
    pub(super) time: Duration,
    /// By how much that differs, on average.
    pub(super) differs: Duration,
    /// Whether cores, network and disks have next to nothing to do.
    pub(super) is_idle: bool,
}

/// What comes out of tasks in a second, as far as it can be told.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Output {
    /// So many ends.
    ends: Option<f64>,
    /// So much of a network or a disk.
    work: Option<f64>,
}

/// How far the search has come.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// More are tried, as long as they bring more than fewer did.
    Trying(Option<(u32, Output)>),
    /// There are enough: it is found out what they bring, and whether that is as much as fewer did.
    Settling(Option<(u32, Output)>),
    /// There are enough, and fewer were not: it is found out what they bring.
    Returning,
    /// Half as many are tried as brought this, in case they bring as much: too many may be in each other's way.
    Fewer(u32, Output),
    /// Three quarters are tried, in case they bring more.
    SomeFewer(u32, Output),
    /// They are expected to bring this.
    Holding {
        output: Output,
        /// How long a task takes.
        time: Duration,
        /// Whether it takes as long as it does because others run: more of them did not pay.
        is_crowded: bool,
    },
}

#[derive(Clone, Debug)]
pub(super) struct Search {
    least: u32,
    most: u32,
    width: u32,
    phase: Phase,
    /// How long a task takes that does not have to wait for others, as far as that has been seen.
    quickest: Option<Duration>,
    /// When more are tried once again, and how long after that: it may have been chance that they did not pay.
    try_at: Option<Time>,
    patience: Duration,
    /// Whether more brought much less when they were last tried.
    is_dear: bool,
    /// By how many times the number grows.
    leap: u32,
    /// What has been seen since it settled.
    done: u32,
    took: Duration,
    work: f64,
    span: Duration,
    /// For how long everything has idled, and whether anybody has drawn a conclusion from that.
    idle: Duration,
    has_hurried: bool,
    /// Since when there may be as many as now.
    changed_at: Time,
}

impl Search {
    pub(super) fn new(least: u32, most: u32) -> Search {
        let (phase, try_at, patience) = (Phase::Trying(None), None, FIRST_PATIENCE);
        let (is_dear, leap, changed_at) = (false, LEAP, Time::START);
        let (quickest, done, work) = (None, 0, 0.0);
        let (took, span, idle) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
        Search {
            least,
            most,
            width: least,
            phase,
            quickest,
            try_at,
            patience,
            is_dear,
            leap,
            done,
            took,
            work,
            span,
            idle,
            has_hurried: false,
            changed_at,
        }
    }

    pub(super) fn width(&self) -> u32 {
        self.width
    }

    fn set(&mut self, width: u32, now: Time) {
        self.width = width.clamp(self.least, self.most);
        self.changed_at = now;
        self.restart();
    }

    /// So many run already, for other reasons: the search begins there.
    pub(super) fn begin_at(&mut self, width: u32) {
        if matches!(self.phase, Phase::Trying(None)) && self.leap == LEAP {
            self.width = self.width.max(width).min(self.most);
        }
    }

    /// So many were best in an earlier run: the search begins there, with smaller steps.
    pub(super) fn recall(&mut self, width: u32) {
        self.width = width.clamp(self.least, self.most);
        (self.leap, self.has_hurried) = (NEXT_LEAP, true);
    }

    /// Whether a task that started then has run beside as many as run now.
    pub(super) fn is_fresh(&self, started: Time) -> bool {
        started >= self.changed_at
    }

    /// Counts anew, of as many tasks as before.
    fn restart(&mut self) {
        (self.done, self.took, self.work, self.span) = (0, Duration::ZERO, 0.0, Duration::ZERO);
    }

    /// Takes in what was seen; says why there is another number, if there is.
    pub(super) fn look(&mut self, now: Time, span: Duration, seen: &Seen) -> Option<Why> {
        if !seen.is_full || seen.is_draining {
            self.restart();
            return None;
        }
        let quickest = self.quickest.into_iter().chain(Some(seen.time)).filter(|time| !time.is_zero()).min();
        self.quickest = quickest;
        // Where everything idles, nobody has to be compared with: there is room for more.
        self.idle = if seen.is_idle { self.idle + span } else { Duration::ZERO };
        if !self.has_hurried && matches!(self.phase, Phase::Trying(None)) && self.idle >= LONG_IDLE {
            self.has_hurried = true;
            return self.leap(now);
        }
        self.done += seen.done;
        self.took += seen.took;
        self.work += seen.work * span.as_secs_f64();
        self.span += span;
        if let Some(why) = self.check_time(now, seen) {
            return Some(why);
        }
        if let Phase::Trying(Some((fewer, before))) = self.phase
            && self.is_too_long(now, fewer, before)
        {
            let none = Output { ends: Some(0.0), work: None };
            return self.go_back(now, (fewer, before), none);
        }
        let output = self.output(now)?;
        if matches!(self.phase, Phase::Holding { .. }) && self.try_at.is_some_and(|time| now >= time) {
            (self.phase, self.try_at) = (Phase::Trying(None), None);
        }
        match self.phase {
            Phase::Trying(Some((fewer, before))) if !pays((fewer, before), (self.width, output)) => {
                self.go_back(now, (fewer, before), output)
            }
            Phase::Trying(_) if self.width < self.most => {
                self.phase = Phase::Trying(Some((self.width, output)));
                self.leap(now)
            }
            Phase::Trying(_) => {
                self.phase = Phase::Holding { output, time: seen.time, is_crowded: false };
                self.restart();
                None
            }
            Phase::Fewer(more, before) => self.try_fewer(now, (more, before), output, seen.time),
            Phase::SomeFewer(more, before) => self.try_some_fewer(now, (more, before), output, seen.time),
            Phase::Returning => {
                self.hold(output, seen.time);
                self.too_many(output).and_then(|_| self.halve(now, output))
            }
            Phase::Settling(before) => self.settle(now, before, output, seen.time),
            Phase::Holding { output: held, .. } => self.check(now, held, output, seen.time),
        }
    }

    /// Whether tasks take so long already that more of them cannot have paid.
    fn is_too_long(&self, now: Time, fewer: u32, before: Output) -> bool {
        let Some(ends) = before.ends.filter(|ends| *ends > 0.0) else { return false };
        let growth = f64::from(self.width) / f64::from(fewer);
        let longest = f64::from(fewer) / ends * growth / (1.0 + PAYS * (growth - 1.0)) * SURELY;
        self.done < ENOUGH_DONE && now.since(self.changed_at).as_secs_f64() > longest
    }

    /// Back to what is enough.
    fn go_back(&mut self, now: Time, (fewer, before): (u32, Output), output: Output) -> Option<Why> {
        // Where more bring much less, it is dear to try them, and what they bring says nothing.
        self.is_dear = ratio(before, output).is_none_or(|ratio| ratio < 1.0 - DRIFT);
        let enough = self.enough(before).max(self.enough(output)).unwrap_or(fewer);
        let enough = if self.is_dear { enough.min(fewer) } else { enough };
        self.leap = NEXT_LEAP;
        self.phase = Phase::Settling(Some((fewer, before)));
        self.patience = (self.patience * if self.is_dear { 8 } else { 2 }).min(LONGEST_PATIENCE);
        self.try_at = Some(now + self.patience);
        self.set(enough.min(self.width), now);
        Some(Why::Contention)
    }

    fn leap(&mut self, now: Time) -> Option<Why> {
        let before = self.width;
        self.set(self.width.saturating_mul(self.leap), now);
        (self.width > before).then_some(Why::Grows)
    }

    /// How many are enough for this to come out.
    fn enough(&self, output: Output) -> Option<u32> {
        Some((output.ends? * self.quickest?.as_secs_f64() * MARGIN).ceil() as u32)
    }

    /// What comes out, if that can be told by now.
    fn output(&self, now: Time) -> Option<Output> {
        let seconds = self.span.as_secs_f64();
        // As many as run end in the time that each of them takes: that says more than counting ends, which come in waves.
        let mean = self.took.as_secs_f64() / f64::from(self.done.max(1));
        // Those that end first are the shortest.
        let is_long_enough = now.since(self.changed_at).as_secs_f64() >= mean * A_LITTLE_LONGER;
        let is_known = self.done >= ENOUGH_DONE && is_long_enough && mean > 0.0;
        let ends = is_known.then(|| f64::from(self.width) / mean);
        let work = Some(self.work / seconds).filter(|work| *work > LEAST_WORK);
        // Ends tell more, if there will be some soon.
        (ends.is_some() || work.is_some() && self.span >= LONG_USE).then_some(Output { ends, work })
    }

    /// How many would be enough for this, if there are many more.
    fn too_many(&self, output: Output) -> Option<u32> {
        let enough = self.enough(output)?.max(self.least);
        (f64::from(enough) < f64::from(self.width) * MANY_MORE).then_some(enough)
    }

    fn hold(&mut self, output: Output, time: Duration) -> Option<Why> {
        self.phase = Phase::Holding { output, time, is_crowded: true };
        self.restart();
        None
    }

    fn settle(&mut self, now: Time, before: Option<(u32, Output)>, output: Output, time: Duration) -> Option<Why> {
        // What cannot be told from chance is waited for.
        if output.ends.is_some() && self.done < ENOUGH_TO_DOUBT {
            return None;
        }
        self.hold(output, time);
        // There may be less to be had than there was when fewer brought more.
        let less = before
            .and_then(|(fewer, before)| Some((fewer, ratio(before, output).filter(|ratio| *ratio < 1.0 - DRIFT)?)));
        let Some((fewer, less)) = less else { return self.halve(now, output) };
        self.phase = Phase::Settling(None);
        let share = f64::from(self.width) / f64::from(fewer);
        if self.width < fewer && less > share * 0.9 {
            // Or it was too few, because tasks take longer than they did.
            self.quickest = None;
            self.set(fewer, now);
            return Some(Why::Grows);
        }
        self.set(self.enough(output).unwrap_or((f64::from(fewer) * less).ceil() as u32), now);
        Some(Why::Drifted)
    }

    /// Tries half as many, if that is not too few for anything.
    fn halve(&mut self, now: Time, output: Output) -> Option<Why> {
        let (more, some_fewer) = (self.width, self.width - self.width / 4);
        let half = self.too_many(output).unwrap_or(more / 2);
        if half >= self.least {
            self.phase = Phase::Fewer(more, output);
            self.set(half, now);
        } else if some_fewer >= self.least && some_fewer < more {
            self.phase = Phase::SomeFewer(more, output);
            self.set(some_fewer, now);
        }
        (self.width < more).then_some(Why::Contention)
    }

    /// Goes on with fewer that bring as much; else back to as many as there were.
    fn try_fewer(&mut self, now: Time, (more, before): (u32, Output), output: Output, time: Duration) -> Option<Why> {
        if output.ends.is_some() && self.done < ENOUGH_TO_DOUBT {
            return None;
        }
        if ratio(before, output).is_some_and(|ratio| ratio >= AS_MUCH) {
            self.hold(output, time);
            return self.halve(now, output);
        }
        // Where fewer bring less, none of them has to wait for others.
        self.quickest = Some(time).filter(|time| !time.is_zero());
        self.phase = Phase::SomeFewer(more, before);
        self.set(more - more / 4, now);
        Some(Why::Grows)
    }

    fn try_some_fewer(
        &mut self,
        now: Time,
        (more, before): (u32, Output),
        output: Output,
        time: Duration,
    ) -> Option<Why> {
        if output.ends.is_some() && self.done < ENOUGH_TO_DOUBT {
            return None;
        }
        if ratio(before, output).is_some_and(|ratio| ratio >= MORE) {
            return self.hold(output, time);
        }
        self.phase = Phase::Returning;
        self.set(more, now);
        Some(Why::Grows)
    }

    /// Whether tasks take much longer than they did, or hardly longer than if nobody else ran: that is seen before there are more or fewer ends.
    fn check_time(&mut self, now: Time, seen: &Seen) -> Option<Why> {
        let (Phase::Holding { time, is_crowded, .. }, Some(quickest)) = (self.phase, self.quickest) else {
            return None;
        };
        let mean = self.took / self.done.max(1);
        if self.done < ENOUGH_DONE || now.since(self.changed_at) < mean.mul_f64(A_LITTLE_LONGER) {
            return None;
        }
        let enough = f64::from(self.width) * MARGIN * quickest.as_secs_f64() / mean.as_secs_f64().max(1e-9);
        if is_crowded && enough < f64::from(self.width) * MANY_MORE && enough.ceil() >= f64::from(self.least) {
            let Phase::Holding { output, .. } = self.phase else { return None };
            self.phase = Phase::Fewer(self.width, output);
            self.set(enough.ceil() as u32, now);
            return Some(Why::Contention);
        }
        if mean > time.mul_f64(MUCH_LONGER) + seen.differs && enough < f64::from(self.width) {
            (self.phase, self.try_at) = (Phase::Settling(None), Some(now + FIRST_PATIENCE));
            self.set(enough.ceil() as u32, now);
            return Some(Why::Drifted);
        }
        if is_crowded && !self.is_dear && self.width > self.least && mean < quickest.mul_f64(HARDLY_LONGER) {
            (self.phase, self.try_at) = (Phase::Trying(None), None);
            self.restart();
            return Some(Why::Drifted);
        }
        None
    }

    fn check(&mut self, now: Time, held: Output, output: Output, time: Duration) -> Option<Why> {
        let width = self.width;
        // Few ends are many or fewer by chance.
        let chance = output.ends.map_or(0.0, |_| CHANCE / f64::from(self.done).sqrt());
        if output.ends.is_some() && self.done < ENOUGH_TO_DOUBT {
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
        (self.try_at, self.patience) = (None, FIRST_PATIENCE);
        self.restart();
        if ratio < 1.0 {
            self.try_at = Some(now + FIRST_PATIENCE);
            self.phase = Phase::Settling(None);
            self.set(self.enough(output).unwrap_or((f64::from(width) * ratio).ceil() as u32).min(width), now);
        } else {
            self.phase = Phase::Trying(None);
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
