//! How many tasks of a kind are worth running at once, where nobody knows what they compete for.
//!
//! The number leaps up as long as what comes out grows with it. Where it does not, the number goes back to what is enough for what comes
//! out, and stays, until as many tasks bring something else. Enough are as many as end in the time that one of them takes where it does not
//! have to wait for others.

mod early;
mod fewer;
mod keep;
mod more;
mod output;

use std::time::Duration;

use self::early::Early;
pub(super) use self::early::Look;
use self::output::Output;
use super::super::Why;
use crate::time::Time;

/// By how many times the number grows at first.
const LEAP: u32 = 4;
/// The same once it is known about how many there can be.
const NEXT_LEAP: u32 = 2;
/// A leap has clearly paid if so much of it has come out.
const CLEARLY_PAYS: f64 = 0.2;
/// What is kept beyond what would have been enough: so that it shows when there is more to be had.
const MARGIN: f64 = 1.5;
/// Less than this part would do where there are too many.
const MANY_MORE: f64 = 0.8;
/// So many ends tell how fast tasks go.
const ENOUGH_DONE: u32 = 8;
/// Where fewer bytes than this are moved in a second, it is silent.
pub(super) const SILENT: f64 = 2e6;
/// Fewer bytes than this may be anybody's.
const LEAST_WORK: f64 = 10e6;
/// How long it takes until more are tried again, at first.
const FIRST_PATIENCE: Duration = Duration::from_millis(2500);
/// By what part what comes out may differ before it has to be learnt anew.
const DRIFT: f64 = 0.2;
/// So many times as long as alone is hardly longer.
const HARDLY_LONGER: f64 = 1.25;

/// Somebody has to run.
const LEAST: u32 = 1;

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
    /// How many bytes went through networks and to and from disks, in a second.
    pub(super) work: f64,
    /// How long a task takes.
    pub(super) time: Duration,
    /// By how much that differs, on average.
    pub(super) differs: Duration,
    /// Whether cores, network and disks have next to nothing to do.
    pub(super) is_idle: bool,
    /// Whether it is a disk of this machine that is most in use, and nobody far away.
    pub(super) is_local: bool,
    /// Whether nothing at all goes through the network or to disks.
    pub(super) is_silent: bool,
}

/// How far the search has come.
#[derive(Clone, Copy, Debug)]
enum Phase {
    /// More are tried, as long as they bring more than fewer did.
    Trying(Option<(u32, Output)>),
    /// There are enough: it is found out what they bring, and whether that is as much as fewer did.
    Settling(Option<(u32, Output)>),
    /// There are enough, and fewer were not: it is found out whether they still bring this.
    Returning(Output),
    /// They brought this, and more are about to be tried: it is found out whether they still do, for it may have changed of late.
    Renewing(Output),
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
    /// Whether fewer brought less when they were last tried.
    were_fewer_less: bool,
    /// By how many times the number grows.
    leap: u32,
    /// Whether it is a disk of this machine that tasks want most: nobody far away gets more of it if they are fewer.
    is_local: bool,
    /// How many have ended that began after it was changed.
    ended: u32,
    /// What has been seen since it settled.
    done: u32,
    took: Duration,
    work: f64,
    span: Duration,
    /// What those have computed that began after it was changed.
    early: Early,
    /// For how long everything has idled, and from how many the number last leapt for that, with what those had computed if that tells
    /// anything.
    idle: Duration,
    hurried_from: Option<(u32, Option<Look>)>,
    /// When it is tried at last whether fewer would do.
    doubt_at: Option<Time>,
    /// The last number that was found good, if not best.
    held: Option<u32>,
    /// Since when there may be as many as now.
    changed_at: Time,
}

impl Search {
    /// Begins with so many, at most so many.
    pub(super) fn new(start: u32, most: u32) -> Search {
        let (phase, try_at, patience) = (Phase::Trying(None), None, FIRST_PATIENCE);
        let (is_dear, leap, changed_at) = (false, LEAP, Time::START);
        let (quickest, done, work) = (None, 0, 0.0);
        let (took, span, idle) = (Duration::ZERO, Duration::ZERO, Duration::ZERO);
        Search {
            most,
            width: start,
            phase,
            quickest,
            try_at,
            patience,
            is_dear,
            were_fewer_less: false,
            leap,
            is_local: false,
            ended: 0,
            done,
            took,
            work,
            span,
            idle,
            hurried_from: None,
            doubt_at: None,
            held: None,
            early: Early::default(),
            changed_at,
        }
    }

    pub(super) fn width(&self) -> u32 {
        self.width
    }

    /// How many were last found good.
    pub(super) fn found(&self) -> Option<u32> {
        self.held
    }

    fn set(&mut self, width: u32, now: Time) {
        self.width = width.clamp(LEAST, self.most);
        (self.changed_at, self.ended, self.early) = (now, 0, Early::default());
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
        self.width = width.clamp(LEAST, self.most);
        self.leap = NEXT_LEAP;
    }

    /// Whether a task that started then has run beside as many as run now.
    pub(super) fn is_fresh(&self, started: Time) -> bool {
        started >= self.changed_at
    }

    /// A task that started when there were as many as now has computed for so long at some age.
    pub(super) fn computed(&mut self, now: Time, look: Look) {
        let is_as_old = self.hurried_from.and_then(|(_, before)| before).is_none_or(|before| look.age >= before.age);
        if is_as_old && self.is_fresh(Time(now.0.saturating_sub(look.age.as_nanos() as u64))) {
            self.early.take_in(look);
        }
    }

    /// Counts anew, of as many tasks as before.
    fn restart(&mut self) {
        (self.done, self.took, self.span) = (0, Duration::ZERO, Duration::ZERO);
        self.work = 0.0;
    }

    /// Takes in what was seen; says why there is another number, if there is.
    pub(super) fn look(&mut self, now: Time, span: Duration, seen: &Seen) -> Option<Why> {
        self.idle = if seen.is_idle { self.idle + span } else { Duration::ZERO };
        if !seen.is_full || seen.is_draining {
            self.restart();
            return None;
        }
        let quickest = self.quickest.into_iter().chain(Some(seen.time)).filter(|time| !time.is_zero()).min();
        (self.quickest, self.is_local) = (quickest, seen.is_local);
        self.done += seen.done;
        self.ended += seen.done;
        self.took += seen.took;
        self.work += seen.work * span.as_secs_f64();
        self.span += span;
        if let Some(why) = self.hurry(now, seen) {
            return Some(why);
        }
        if let Some(why) = self.check_time(now, seen) {
            return Some(why);
        }
        if let Phase::Trying(Some(before)) = self.phase
            && let Some(output) = self.in_vain(before)
        {
            return self.go_back(now, before, output);
        }
        let output = self.output(now)?;
        if let Phase::Holding { output: held, .. } = self.phase
            && self.try_at.is_some_and(|time| now >= time)
        {
            (self.phase, self.try_at) = (Phase::Renewing(held), None);
            self.restart();
            return None;
        }
        match self.phase {
            Phase::Trying(before) => self.try_more(now, before, output, seen),
            Phase::Settling(before) => self.settle(now, before, output, seen.time),
            Phase::Fewer(more, before) => self.try_fewer(now, (more, before), output, seen.time),
            Phase::SomeFewer(more, before) => self.try_some_fewer(now, (more, before), output, seen.time),
            Phase::Returning(before) => {
                self.were_fewer_less = true;
                self.keep(now, before, seen.time);
                self.check(now, before, output, seen.time)
            }
            Phase::Renewing(held) => self.renew(now, held, output, seen.time),
            Phase::Holding { .. } if self.doubt_at.is_some_and(|time| now >= time) => {
                self.doubt_at = None;
                self.halve(now, output)
            }
            Phase::Holding { output: held, .. } => self.check(now, held, output, seen.time),
        }
    }
}

#[cfg(test)]
mod tests;
