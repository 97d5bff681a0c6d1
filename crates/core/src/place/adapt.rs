//! What a node learns while it steals: how patient to be, how far to look ahead, and which variant suits the load.
//!
//! ```text
//!   a steal fails:  horizon halves; wait p; p doubles ──▶ p at the cap: suspended ──▶ work is announced: p as at first
//!   a steal works:  p as at first                            │
//!   tasks moved:    horizon doubles                          └─ under FLDS with the least horizon: goes on at once
//!
//!            much was moved                 little was asked for
//!   MDL ◀──────────────────────── FLDS ────────────────────────▶ MLB
//!       ────────────────────────▶      ◀────────────────────────
//!     little was moved, many idle            much was moved
//! ```
//!
//! Locality and load pull in opposite directions, and which one hurts shows only in the run. That few bytes are moved
//! says nothing about MDL, because they are few by its doing. So MDL and MLB never follow one another directly, and MLB
//! is entered when few bytes are asked for, wherever they lie. Two windows must agree, and a variant gets three to show
//! its effect.
//!
//! The horizon follows a node's own moves and failed steals under every variant, so that FLDS finds it ready;
//! only FLDS looks at it. It loses when load changes faster than a few windows: then a fixed variant
//! ([`Config::fixed`]) is as good and easier to foresee.

use std::time::Duration;

use super::daws::Variant;

/// The time over which traffic and idleness are measured before [`Adapt::window`] is told: many times the length of a
/// short task, and a small part of a run.
pub const WINDOW: Duration = Duration::from_secs(10);

/// What adaptation starts from, and its limits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Config {
    /// The variant to begin with.
    pub variant: Variant,
    /// Whether other variants may follow.
    pub switches: bool,
    /// The threshold t of RLDS and FLDS.
    pub threshold: f64,
    /// The first horizon (tt).
    pub horizon: Duration,
    /// No horizon is shorter.
    pub horizon_least: Duration,
    /// No horizon is longer.
    pub horizon_most: Duration,
    /// With a horizon no longer than this, FLDS goes on stealing instead of being suspended.
    pub horizon_wake: Duration,
    /// The wait after the first failed steal (p).
    pub pause: Duration,
    /// A node is suspended once it would have to wait this long.
    pub pause_cap: Duration,
    /// More than this share of the network's capacity moved is much, for FLDS.
    pub moved_high: f64,
    /// More than this is much for MLB; less is little for MDL.
    pub moved_middle: f64,
    /// Less than this share asked for is little.
    pub asked_low: f64,
    /// More than this share of the slots' time idle is much.
    pub idle_high: f64,
    /// So many windows in a row have to ask for the same change.
    pub windows_in_a_row: u32,
    /// So many windows a variant stays at least, the one that ends it included.
    pub windows_to_stay: u32,
}

/// How far the horizon may go from where it began, up and down: six doublings.
const HORIZON_RANGE: u32 = 64;

impl Default for Config {
    /// The published values (t = 0.5, tt = 10 s, cap 50 s); what the publication leaves open is chosen here.
    fn default() -> Config {
        Config::adaptive(0.5, Duration::from_secs(10))
    }
}

impl Config {
    /// Begins with FLDS, with this threshold and this horizon, and switches as the load demands.
    pub fn adaptive(threshold: f64, horizon: Duration) -> Config {
        Config {
            variant: Variant::Flds,
            switches: true,
            threshold,
            horizon,
            horizon_least: horizon / HORIZON_RANGE,
            horizon_most: horizon.saturating_mul(HORIZON_RANGE),
            // The least there is: so FLDS always wakes. Anything lower would never be reached once suspended.
            horizon_wake: horizon / HORIZON_RANGE,
            pause: Duration::from_millis(1),
            pause_cap: Duration::from_secs(50),
            moved_high: 0.5,
            moved_middle: 0.25,
            asked_low: 0.05,
            idle_high: 0.2,
            windows_in_a_row: 2,
            windows_to_stay: 3,
        }
    }

    /// One variant for the whole run.
    pub fn fixed(variant: Variant, threshold: f64, horizon: Duration) -> Config {
        Config { variant, switches: false, ..Config::adaptive(threshold, horizon) }
    }
}

/// What was seen during one window, as shares.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Window {
    /// Bytes fetched, of what the network could have carried.
    pub moved: f64,
    /// Input bytes of the tasks that started, wherever they lay, of the same.
    pub asked: f64,
    /// Time that slots were idle, of all their time.
    pub idle: f64,
}

/// The adaptive state of one node.
#[derive(Clone, Debug, PartialEq)]
pub struct Adapt {
    config: Config,
    variant: Variant,
    /// In nanoseconds. Only ever halved, doubled and compared, which a binary fraction does without loss however often.
    horizon_ns: f64,
    pause: Duration,
    is_suspended: bool,
    /// The change that the last windows asked for, and how many did.
    wish: Option<(Variant, u32)>,
    /// How many windows the variant has seen.
    stayed: u32,
}

impl Adapt {
    /// The state at the beginning.
    pub fn new(config: Config) -> Adapt {
        Adapt {
            config,
            variant: config.variant,
            horizon_ns: nanoseconds(config.horizon),
            pause: config.pause,
            is_suspended: false,
            wish: None,
            stayed: 0,
        }
    }

    /// So many tasks went from the local queue to the shared one: if any did, the horizon was too short for what waits.
    pub fn moved(&mut self, count: usize) {
        if count > 0 {
            self.horizon_ns = (self.horizon_ns * 2.0).min(nanoseconds(self.config.horizon_most));
        }
    }

    /// A steal brought something.
    pub fn steal_succeeded(&mut self) {
        self.resume();
    }

    /// A steal brought nothing. Says how long to wait; whoever is suspended by now ([`Adapt::is_suspended`]) does not
    /// try again afterwards until work is announced. `None` if that was so before.
    pub fn steal_failed(&mut self) -> Option<Duration> {
        if self.is_suspended {
            return None;
        }
        self.horizon_ns = (self.horizon_ns / 2.0).max(nanoseconds(self.config.horizon_least));
        let wait = self.pause;
        self.pause = self.pause.saturating_mul(2);
        if self.pause >= self.config.pause_cap {
            if self.variant == Variant::Flds && self.horizon_ns <= nanoseconds(self.config.horizon_wake) {
                self.pause = self.config.pause;
                self.horizon_ns = nanoseconds(self.config.horizon);
            } else {
                self.is_suspended = true;
            }
        }
        Some(wait)
    }

    /// Somewhere tasks were shared or became ready: whoever is suspended may try again. Others are about to anyway, and
    /// keep their pace, or a busy cluster would never let idle nodes slow down.
    pub fn work_announced(&mut self) {
        if self.is_suspended {
            self.resume();
        }
    }

    fn resume(&mut self) {
        self.pause = self.config.pause;
        self.is_suspended = false;
    }

    /// A window has passed. Says which variant holds from now on, if that is a change; entering MLB, a node shares its
    /// whole local queue.
    pub fn window(&mut self, seen: &Window) -> Option<Variant> {
        self.stayed = self.stayed.saturating_add(1);
        self.wish = match (self.wished(seen), self.wish) {
            (Some(to), Some((before, windows))) if to == before => Some((to, windows.saturating_add(1))),
            (to, _) => to.map(|to| (to, 1)),
        };
        let (to, windows) = self.wish?;
        if windows < self.config.windows_in_a_row || self.stayed < self.config.windows_to_stay {
            return None;
        }
        self.variant = to;
        self.wish = None;
        self.stayed = 0;
        Some(to)
    }

    /// The variant that would suit what was seen better.
    fn wished(&self, seen: &Window) -> Option<Variant> {
        let config = &self.config;
        match self.variant {
            _ if !config.switches => None,
            Variant::Flds if seen.moved > config.moved_high => Some(Variant::Mdl),
            Variant::Flds if seen.asked < config.asked_low => Some(Variant::Mlb),
            Variant::Mdl if seen.moved < config.moved_middle && seen.idle > config.idle_high => Some(Variant::Flds),
            Variant::Mlb if seen.moved > config.moved_middle => Some(Variant::Flds),
            _ => None,
        }
    }

    /// The variant that holds.
    pub fn variant(&self) -> Variant {
        self.variant
    }

    /// The threshold to decide by.
    pub fn threshold(&self) -> f64 {
        self.variant.threshold(self.config.threshold)
    }

    /// The horizon beyond which a local queue is shared; only FLDS has one.
    pub fn horizon(&self) -> Option<Duration> {
        (self.variant == Variant::Flds).then(|| Duration::from_nanos(self.horizon_ns as u64))
    }

    /// The horizon that FLDS has or would have, in nanoseconds and parts of them.
    pub fn horizon_ns(&self) -> f64 {
        self.horizon_ns
    }

    /// The wait after the next failed steal.
    pub fn pause(&self) -> Duration {
        self.pause
    }

    /// Whether the node has given up stealing until work is announced.
    pub fn is_suspended(&self) -> bool {
        self.is_suspended
    }
}

fn nanoseconds(length: Duration) -> f64 {
    length.as_nanos() as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const MUCH: Window = Window { moved: 0.6, asked: 0.9, idle: 0.0 };
    const LITTLE: Window = Window { moved: 0.0, asked: 0.0, idle: 0.0 };

    fn fixed(variant: Variant) -> Adapt {
        Adapt::new(Config::fixed(variant, 0.5, Duration::from_secs(10)))
    }

    #[test]
    fn sixteen_failures_suspend() {
        for variant in [Variant::Mlb, Variant::Mdl, Variant::Rlds] {
            let mut adapt = fixed(variant);
            let waited: Duration = (0..16).filter_map(|_| adapt.steal_failed()).sum();
            assert_eq!(waited, Duration::from_millis(65_535));
            assert!(adapt.is_suspended());
            let before = adapt.clone();
            assert_eq!(adapt.steal_failed(), None);
            assert_eq!(adapt, before, "who is suspended does not learn");
            adapt.work_announced();
            assert_eq!((adapt.is_suspended(), adapt.pause()), (false, Duration::from_millis(1)));
        }
    }

    #[test]
    fn flexible_nodes_are_never_suspended() {
        let mut adapt = fixed(Variant::Flds);
        assert!((0..100).all(|_| adapt.steal_failed().is_some() && !adapt.is_suspended()));
    }

    #[test]
    fn unless_the_horizon_was_stretched_meanwhile() {
        let mut adapt = fixed(Variant::Flds);
        for _ in 0..15 {
            adapt.steal_failed();
        }
        adapt.moved(1);
        adapt.moved(1);
        adapt.steal_failed();
        assert!(adapt.is_suspended());
        adapt.steal_succeeded();
        assert!(!adapt.is_suspended(), "an answer that came late is as good as an announcement");
    }

    #[test]
    fn an_announcement_does_not_hurry_who_is_awake() {
        let mut adapt = fixed(Variant::Mdl);
        adapt.steal_failed();
        let before = adapt.clone();
        adapt.work_announced();
        assert_eq!(adapt, before);
    }

    #[test]
    fn the_horizon_has_limits_and_loses_nothing_between() {
        let mut adapt = fixed(Variant::Flds);
        for _ in 0..10 {
            adapt.moved(3);
        }
        assert_eq!(adapt.horizon(), Some(Duration::from_secs(640)));
        let fine = Config { horizon_least: Duration::from_nanos(1), ..Config::default() };
        let mut adapt = Adapt::new(fine);
        for _ in 0..15 {
            adapt.steal_failed();
        }
        for _ in 0..15 {
            adapt.moved(1);
        }
        assert_eq!(adapt.horizon(), Some(Duration::from_secs(10)));
        assert_eq!(fixed(Variant::Rlds).horizon(), None);
    }

    #[test]
    fn a_fixed_variant_stays() {
        let mut adapt = fixed(Variant::Flds);
        assert!((0..10).all(|_| adapt.window(&MUCH).is_none() && adapt.window(&LITTLE).is_none()));
    }

    #[test]
    fn windows_that_disagree_change_nothing() {
        let mut adapt = Adapt::new(Config::default());
        for _ in 0..10 {
            assert_eq!(adapt.window(&MUCH), None);
            assert_eq!(adapt.window(&LITTLE), None);
        }
        assert_eq!(adapt.window(&LITTLE), Some(Variant::Mlb));
        assert_eq!(adapt.threshold(), f64::INFINITY);
        assert_eq!([MUCH, MUCH, MUCH].map(|seen| adapt.window(&seen)), [None, None, Some(Variant::Flds)]);
        assert_eq!(adapt.threshold(), 0.5);
    }
}
