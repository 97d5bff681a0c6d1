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
/// A leap has paid if so many times as much comes out.
const PAYS: f64 = 1.1;
/// It has clearly paid if so much of it has come out, and it has clearly not if less comes out than this part.
const CLEARLY_PAYS: f64 = 0.2;
const CLEARLY_LESS: f64 = 0.9;
/// What is kept beyond what would have been enough: so that it shows when there is more to be had.
const MARGIN: f64 = 1.5;
/// So many ends tell how fast tasks go.
const ENOUGH_DONE: u32 = 8;
/// Fewer bytes than this in a second tell nothing.
pub(super) const LEAST_WORK: f64 = 2e6;
/// Cores that are less busy than this tell nothing.
const LEAST_BUSY: f64 = 0.03;
/// After so long, those that began with a leap are at it; and so many times as many bytes are more.
const SOON_SEEN: Duration = Duration::from_millis(700);
const MOVES_MORE: f64 = 1.05;
/// How long it takes until more are tried again, at first and at last.
const FIRST_PATIENCE: Duration = Duration::from_millis(2500);
const LONGEST_PATIENCE: Duration = Duration::from_secs(300);
/// So many ends are enough to doubt what is known, if they differ by more than so many times what chance would make of them.
const ENOUGH_TO_DOUBT: u32 = 24;
/// After so many, they are counted anew.
const ENOUGH_TO_BELIEVE: u32 = 64;
const CHANCE: f64 = 1.5;
/// The same where it does not matter much if that was wrong.
const SOME_CHANCE: f64 = 0.5;
/// Less than this part would do where there are too many.
const MANY_MORE: f64 = 0.8;
/// So much of what came out of more is as much.
const AS_MUCH: f64 = 0.93;
/// Less comes out because there are fewer, if it is about in proportion.
const IN_PROPORTION: f64 = 0.9;
/// So many times what came out of more is more.
const MORE: f64 = 1.07;
/// By what part what comes out may differ before it has to be learnt anew.
const DRIFT: f64 = 0.2;
/// So many times as long as before is much longer.
const MUCH_LONGER: f64 = 1.5;
/// So many times as long as alone is hardly longer.
const HARDLY_LONGER: f64 = 1.25;
/// After so long, a machine idles; and after so long if nothing at all goes to or from it.
const LONG_IDLE: Duration = Duration::from_millis(400);
const LONG_SILENT: Duration = Duration::from_millis(200);
/// After so long, what was done in a hurry is looked at.
const LONG_DOUBT: Duration = Duration::from_secs(30);
/// So many times what tasks should take at most is surely too long.
const SURELY: f64 = 1.5;
/// After so many times what tasks take, all that began together have ended.
const A_LITTLE_LONGER: f64 = 1.2;
/// So much of what began together is most of it.
const MOST_OF_THEM: f64 = 0.9;
/// What is moved tells what comes out after so long, if it would take longer than that until ends do.
const LONG_USE: Duration = Duration::from_millis(500);
const LONG_WAIT: Duration = Duration::from_secs(4);

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
    /// How busy cores are.
    pub(super) busy: f64,
    /// How long a task takes.
    pub(super) time: Duration,
    /// By how much that differs, on average.
    pub(super) differs: Duration,
    /// Whether cores, network and disks have next to nothing to do.
    pub(super) is_idle: bool,
    /// Whether nothing at all goes through the network or to disks.
    pub(super) is_silent: bool,
}

/// What comes out of tasks in a second, as far as it can be told.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Output {
    /// So many ends.
    ends: Option<f64>,
    /// So many bytes moved.
    work: Option<f64>,
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
    /// Whether fewer brought less when they were last tried.
    were_fewer_less: bool,
    /// By how many times the number grows.
    leap: u32,
    /// How many have ended that began after it was changed.
    ended: u32,
    /// What has been seen since it settled.
    done: u32,
    took: Duration,
    work: f64,
    busy: f64,
    span: Duration,
    /// For how long everything has idled, and from how many the number last leapt for that, with how busy cores were.
    idle: Duration,
    hurried_from: Option<(u32, f64)>,
    /// When it is tried at last whether fewer would do.
    doubt_at: Option<Time>,
    /// The last number that was found good, if not best.
    held: Option<u32>,
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
            were_fewer_less: false,
            leap,
            ended: 0,
            done,
            took,
            work,
            span,
            idle,
            hurried_from: None,
            doubt_at: None,
            held: None,
            busy: 0.0,
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
        self.width = width.clamp(self.least, self.most);
        (self.changed_at, self.ended) = (now, 0);
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
        self.leap = NEXT_LEAP;
    }

    /// Whether a task that started then has run beside as many as run now.
    pub(super) fn is_fresh(&self, started: Time) -> bool {
        started >= self.changed_at
    }

    /// Counts anew, of as many tasks as before.
    fn restart(&mut self) {
        (self.done, self.took, self.span) = (0, Duration::ZERO, Duration::ZERO);
        (self.work, self.busy) = (0.0, 0.0);
    }

    /// Takes in what was seen; says why there is another number, if there is.
    pub(super) fn look(&mut self, now: Time, span: Duration, seen: &Seen) -> Option<Why> {
        if !seen.is_full || seen.is_draining {
            self.restart();
            return None;
        }
        let quickest = self.quickest.into_iter().chain(Some(seen.time)).filter(|time| !time.is_zero()).min();
        self.quickest = quickest;
        self.done += seen.done;
        self.ended += seen.done;
        self.took += seen.took;
        self.work += seen.work * span.as_secs_f64();
        self.busy += seen.busy * span.as_secs_f64();
        self.span += span;
        if let Some(why) = self.hurry(now, span, seen) {
            return Some(why);
        }
        if let Some(why) = self.check_time(now, seen) {
            return Some(why);
        }
        if let Phase::Trying(Some((fewer, before))) = self.phase
            && self.moves_no_more(before)
        {
            let output = Output { ends: None, work: self.moved() };
            return self.go_back(now, (fewer, before), output);
        }
        if let Phase::Trying(Some((fewer, before))) = self.phase
            && self.is_too_long(now, fewer, before)
        {
            let none = Output { ends: Some(0.0), work: None };
            return self.go_back(now, (fewer, before), none);
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
            Phase::Trying(Some(before)) if self.may_be_chance(output) && !is_clear(before, (self.width, output)) => {
                None
            }
            Phase::Trying(Some((fewer, before))) if ratio(before, output).is_some_and(|ratio| ratio < PAYS) => {
                self.go_back(now, (fewer, before), output)
            }
            Phase::Trying(None) if let Some(before) = self.hurried_in_vain(output) => self.go_back(now, before, output),
            Phase::Trying(_) if self.width < self.most => self.leap_from(now, output),
            Phase::Trying(_) => {
                self.hold(output, seen.time);
                // Whoever came here in a hurry has not compared anything; that is made up for when there is time.
                self.doubt_at = self.hurried_from.map(|_| now + LONG_DOUBT);
                let is_longer = self.quickest.is_some_and(|quickest| seen.time > quickest.mul_f64(HARDLY_LONGER));
                self.phase = Phase::Holding { output, time: seen.time, is_crowded: is_longer };
                None
            }
            Phase::Holding { .. } if self.doubt_at.is_some_and(|time| now >= time) => {
                self.doubt_at = None;
                self.halve(now, output)
            }
            Phase::Fewer(more, before) | Phase::SomeFewer(more, before) if self.is_slower(output, (more, before)) => {
                self.shrink(now, output, f64::from(self.width) * IN_PROPORTION)
            }
            Phase::Fewer(more, before) => self.try_fewer(now, (more, before), output, seen.time),
            Phase::SomeFewer(more, before) => self.try_some_fewer(now, (more, before), output, seen.time),
            Phase::Returning(before) => {
                (self.were_fewer_less, self.held) = (true, Some(self.width));
                self.phase = Phase::Holding { output: before, time: seen.time, is_crowded: true };
                self.check(now, before, output, seen.time)
            }
            Phase::Settling(before) => self.settle(now, before, output, seen.time),
            Phase::Renewing(_) if self.may_be_chance(output) => None,
            Phase::Renewing(held) => {
                // What differs, though maybe by chance, is looked at for longer.
                let has_changed = ratio(held, output).is_some_and(|ratio| (ratio - 1.0).abs() > DRIFT);
                let is_open = has_changed && self.done < ENOUGH_TO_BELIEVE;
                let why = self.check(now, held, output, seen.time);
                if is_open { why } else { why.or_else(|| self.leap_from(now, output)) }
            }
            Phase::Holding { output: held, .. } => self.check(now, held, output, seen.time),
        }
    }

    /// Where everything idles, nobody has to be compared with: there is room for more. Once, if something far away may be what they wait for,
    /// and else again and again.
    fn hurry(&mut self, now: Time, span: Duration, seen: &Seen) -> Option<Why> {
        self.idle = if seen.is_idle { self.idle + span } else { Duration::ZERO };
        let is_silent = self.idle >= LONG_SILENT && seen.is_silent;
        let is_long = self.idle >= LONG_IDLE && self.hurried_from.is_none();
        let may_hurry = matches!(self.phase, Phase::Trying(None)) && self.leap != NEXT_LEAP && self.width < self.most;
        if !may_hurry || !is_silent && !is_long {
            return None;
        }
        let busy = self.busy / self.span.as_secs_f64().max(1e-9);
        if let Some((fewer, before)) = self.hurried_from
            && before > LEAST_BUSY
            && busy < before * (1.0 + CLEARLY_PAYS * (f64::from(self.width) / f64::from(fewer) - 1.0))
        {
            // They do not even compute more: they are in each other's way.
            self.leap = NEXT_LEAP;
            self.set(fewer, now);
            return Some(Why::Contention);
        }
        (self.hurried_from, self.idle) = (Some((self.width, busy)), Duration::ZERO);
        self.leap(now)
    }

    /// How many there were before they were more in a hurry, and what those would have brought if each took as long as the quickest, if it is
    /// no less than what comes out now.
    fn hurried_in_vain(&self, output: Output) -> Option<(u32, Output)> {
        let ((fewer, _), quickest) = self.hurried_from.filter(|_| self.leap == LEAP).zip(self.quickest)?;
        let before = Output { ends: Some(f64::from(fewer) / quickest.as_secs_f64()), work: None };
        ratio(before, output).is_some_and(|ratio| ratio <= 1.0).then_some((fewer, before))
    }

    /// How many bytes are moved in a second, if that is worth mentioning.
    fn moved(&self) -> Option<f64> {
        Some(self.work / self.span.as_secs_f64().max(1e-9)).filter(|work| *work > LEAST_WORK)
    }

    /// Whether more tasks move no more than fewer did: that is seen long before they end.
    fn moves_no_more(&self, before: Output) -> bool {
        let both = before.work.zip(self.moved());
        self.span >= SOON_SEEN && both.is_some_and(|(before, now)| now < before * MOVES_MORE)
    }

    /// Whether tasks take so long already that more of them cannot have paid.
    fn is_too_long(&self, now: Time, fewer: u32, before: Output) -> bool {
        let Some(ends) = before.ends.filter(|ends| *ends > 0.0) else { return false };
        let growth = f64::from(self.width) / f64::from(fewer);
        let longest = f64::from(fewer) / ends * growth / PAYS * SURELY;
        self.done < ENOUGH_DONE && now.since(self.changed_at).as_secs_f64() > longest
    }

    /// Back to what is enough.
    fn go_back(&mut self, now: Time, (fewer, before): (u32, Output), output: Output) -> Option<Why> {
        // Where much fewer come to an end, it is dear to try more, and what they bring says nothing.
        let ends = before.ends.zip(output.ends);
        self.is_dear = ends.is_some_and(|(before, now)| now < before * (1.0 - DRIFT));
        let enough = self.enough(before).max(self.enough(output)).unwrap_or(fewer);
        // What fewer brought is known; whether still fewer would do is tried from there.
        let enough = if self.is_dear { enough.min(fewer) } else { enough.max(fewer) };
        (self.leap, self.were_fewer_less) = (NEXT_LEAP, false);
        self.phase = Phase::Settling(Some((fewer, before)));
        self.patience = (self.patience * if self.is_dear { 4 } else { 2 }).min(LONGEST_PATIENCE);
        self.try_at = Some(now + self.patience);
        self.set(enough.min(self.width), now);
        Some(Why::Contention)
    }

    /// Tries whether more bring more than this.
    fn leap_from(&mut self, now: Time, output: Output) -> Option<Why> {
        self.phase = Phase::Trying(Some((self.width, output)));
        self.leap(now)
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
        // As many as run end in the time that each of them takes: that says more than counting ends, which come in waves.
        let mean = self.took.as_secs_f64() / f64::from(self.done.max(1));
        let is_known = self.done >= ENOUGH_DONE && self.is_fair(now, mean) && mean > 0.0;
        let ends = is_known.then(|| f64::from(self.width) / mean);
        let work = self.moved();
        // Ends tell more, if there will be some soon.
        let is_moving = work.is_some() && self.span >= LONG_USE && self.quickest.is_none_or(|time| time > LONG_WAIT);
        (ends.is_some() || is_moving).then_some(Output { ends, work })
    }

    /// Whether what has ended is like what has not: of those that begin together, the shortest end first.
    fn is_fair(&self, now: Time, mean: f64) -> bool {
        let is_long_enough = now.since(self.changed_at).as_secs_f64() >= mean * A_LITTLE_LONGER;
        is_long_enough && f64::from(self.ended) >= f64::from(self.width) * MOST_OF_THEM
    }

    /// Whether too few have ended to tell this from chance.
    fn may_be_chance(&self, output: Output) -> bool {
        output.ends.is_some() && self.done < ENOUGH_TO_DOUBT
    }

    /// Whether so many times what came out of more is surely less: the fewer have ended, the less it has to be.
    fn is_less(&self, output: Output, ratio: f64) -> bool {
        let chance = if self.may_be_chance(output) { SOME_CHANCE / f64::from(self.done.max(1)).sqrt() } else { 0.0 };
        ratio < AS_MUCH - chance
    }

    /// How many would be enough for this, if there are many more.
    fn too_many(&self, output: Output) -> Option<u32> {
        let enough = self.enough(output)?.max(self.least);
        (f64::from(enough) < f64::from(self.width) * MANY_MORE).then_some(enough)
    }

    fn hold(&mut self, output: Output, time: Duration) -> Option<Why> {
        self.held = Some(self.width);
        self.phase = Phase::Holding { output, time, is_crowded: true };
        self.restart();
        None
    }

    fn settle(&mut self, now: Time, before: Option<(u32, Output)>, output: Output, time: Duration) -> Option<Why> {
        let compared = before.and_then(|(fewer, before)| Some((fewer, before, ratio(before, output)?)));
        let are_too_few = compared.is_some_and(|(fewer, _, ratio)| self.width < fewer && self.is_less(output, ratio));
        if self.may_be_chance(output) && !are_too_few {
            return None;
        }
        self.hold(output, time);
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

    /// Goes on with what is enough for what comes out now, or else with so many, where less is to be had than there was.
    fn shrink(&mut self, now: Time, output: Output, otherwise: f64) -> Option<Why> {
        // Then it was not because of their number that more brought less.
        (self.is_dear, self.were_fewer_less, self.patience) = (false, false, FIRST_PATIENCE);
        (self.phase, self.try_at) = (Phase::Settling(None), Some(now + FIRST_PATIENCE));
        self.set(self.enough(output).unwrap_or(otherwise.ceil() as u32).min(self.width), now);
        Some(Why::Drifted)
    }

    /// Whether each of fewer tasks takes longer than each of more did: then it is not for their number.
    fn is_slower(&self, output: Output, (more, before): (u32, Output)) -> bool {
        let in_proportion = f64::from(self.width) / f64::from(more) * IN_PROPORTION;
        !self.may_be_chance(output) && ratio(before, output).is_some_and(|ratio| ratio < in_proportion)
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
        let is_less = ratio(before, output).is_none_or(|ratio| self.is_less(output, ratio));
        if self.may_be_chance(output) && !is_less {
            return None;
        }
        if !is_less {
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
        let ratio = ratio(before, output).unwrap_or(0.0);
        if self.may_be_chance(output) && !self.is_less(output, ratio) {
            return None;
        }
        if ratio >= MORE {
            return self.hold(output, time);
        }
        self.phase = Phase::Returning(before);
        self.set(more, now);
        Some(Why::Grows)
    }

    /// Whether tasks take much longer than they did, or hardly longer than if nobody else ran: that is seen before there are more or fewer ends.
    fn check_time(&mut self, now: Time, seen: &Seen) -> Option<Why> {
        let (Phase::Holding { time, is_crowded, .. }, Some(quickest)) = (self.phase, self.quickest) else {
            return None;
        };
        let mean = self.took / self.done.max(1);
        if self.done < ENOUGH_DONE || !self.is_fair(now, mean.as_secs_f64()) {
            return None;
        }
        let enough = f64::from(self.width) * MARGIN * quickest.as_secs_f64() / mean.as_secs_f64().max(1e-9);
        let are_many = enough < f64::from(self.width) * MANY_MORE && enough.ceil() >= f64::from(self.least);
        if is_crowded && !self.were_fewer_less && are_many {
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

/// What comes out now beside what came out before, if they can be compared.
fn ratio(before: Output, now: Output) -> Option<f64> {
    let ends = before.ends.zip(now.ends);
    ends.or(before.work.zip(now.work)).filter(|(before, _)| *before > 0.0).map(|(before, now)| now / before)
}

/// Whether it is clear that more tasks have brought more, or less. What cannot be compared speaks neither for nor against.
fn is_clear((fewer, before): (u32, Output), (more, now): (u32, Output)) -> bool {
    let growth = f64::from(more) / f64::from(fewer) - 1.0;
    ratio(before, now).is_none_or(|ratio| ratio - 1.0 >= CLEARLY_PAYS * growth || ratio < CLEARLY_LESS)
}
