//! What others than the engine and its tasks use of the cores.
//!
//! ```text
//!   computed on all cores   ███████████████████
//!   the engine, tasks that have ended, tasks that run   ████████████
//!   what is left is strangers'                                      ███████
//! ```
//!
//! The two sums are never of quite the same moment. A task that ends while they are taken may be missing for once, and a process of a task that is
//! found late brings along all that it has computed. So what counts is by how much both have grown over a few seconds, and a look at which own
//! time has become less is left out.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Over how long it is looked: long enough for the kernel's ticks and for processes that are found late, short enough to notice when others come
/// and go.
const WINDOW: Duration = Duration::from_millis(2500);
/// Less than this says nothing.
const LEAST: Duration = Duration::from_secs(1);
/// How often it is looked, at most: to tell what the cores have done takes the kernel a while where there are many of them.
const EVERY: Duration = Duration::from_millis(200);

/// What was found at some moment, in microseconds since whenever.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Look {
    /// When.
    pub at: Instant,
    /// What everybody has computed, without what the kernel charges to nobody.
    pub busy_us: u64,
    /// What the engine and its tasks have computed.
    pub own_us: u64,
}

/// What strangers use.
#[derive(Debug)]
pub struct Strangers {
    cores: f64,
    looks: VecDeque<Look>,
    /// Whether own time was less at the last look than before that.
    has_shrunk: bool,
    share: f64,
}

impl Strangers {
    /// On so many cores.
    pub fn new(cores: f64) -> Strangers {
        Strangers { cores, looks: VecDeque::new(), has_shrunk: false, share: 0.0 }
    }

    /// Whether it is time for another look.
    pub fn is_due(&self, now: Instant) -> bool {
        self.looks.back().is_none_or(|last| now.saturating_duration_since(last.at) >= EVERY)
    }

    /// Takes in what was found.
    pub fn take_in(&mut self, look: Look) {
        if self.looks.back().is_some_and(|last| look.own_us < last.own_us) {
            if !std::mem::replace(&mut self.has_shrunk, true) {
                return;
            }
            // Nobody will tell any more what those have computed for whom nobody has waited.
            self.looks.clear();
        }
        self.has_shrunk = false;
        self.looks.push_back(look);
        while self.looks.get(1).is_some_and(|next| look.at.saturating_duration_since(next.at) >= WINDOW) {
            self.looks.pop_front();
        }
        let first = self.looks[0];
        let time = look.at.saturating_duration_since(first.at);
        if time >= LEAST {
            let busy_us = look.busy_us.saturating_sub(first.busy_us);
            let left_us = busy_us.saturating_sub(look.own_us - first.own_us) as f64;
            self.share = (left_us / 1e6 / (time.as_secs_f64() * self.cores)).min(1.0);
        }
    }

    /// The part of all cores that they used of late; nothing until that is known.
    pub fn share(&self) -> f64 {
        self.share
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meter::Meter;
    use crate::meter::groups::Groups;
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    /// The share after each look; a look is milliseconds since the first, then what everybody and what we have computed.
    fn shares(cores: f64, looks: &[(u64, u64, u64)]) -> Vec<f64> {
        let (begun, mut strangers) = (Instant::now(), Strangers::new(cores));
        let share = |&(at, busy, own): &(u64, u64, u64)| {
            let at = begun + Duration::from_millis(at);
            strangers.take_in(Look { at, busy_us: busy * 1000, own_us: own * 1000 });
            strangers.share()
        };
        looks.iter().map(share).collect()
    }

    #[test]
    fn what_is_left_is_strangers() {
        let looks = [(0, 7000, 500), (500, 8000, 1000), (1000, 9000, 1000), (2000, 11_000, 2000)];
        assert_eq!(shares(4.0, &looks), [0.0, 0.0, 0.375, 0.3125]);
        // More than there is, and less than nothing.
        assert_eq!(shares(1.0, &[(0, 0, 0), (1000, 1100, 0), (2000, 1200, 1300)]), [0.0, 1.0, 0.0]);
    }

    #[test]
    fn what_was_long_ago_does_not_count() {
        let second = |at: u64| (at * 1000, 1000 * at.min(4), 0);
        let looks: Vec<_> = (0..=8).map(second).collect();
        assert_eq!(shares(1.0, &looks)[4..], [1.0, 2.0 / 3.0, 1.0 / 3.0, 0.0, 0.0]);
        // Where it is looked seldom, it is looked further back.
        assert_eq!(shares(1.0, &[(0, 0, 0), (10_000, 5000, 0), (20_000, 15_000, 0)]), [0.0, 0.5, 1.0]);
    }

    #[test]
    fn a_task_that_is_missed_for_once_is_no_stranger() {
        let missed = [(0, 0, 9000), (1000, 1000, 10_000), (1500, 1500, 1000), (2000, 2000, 11_000)];
        assert_eq!(shares(1.0, &missed), [0.0; 4]);
        // Whoever is missing for good is not waited for.
        let gone = [(0, 0, 9000), (1000, 1000, 1000), (2000, 2000, 1000), (3000, 3000, 1000)];
        assert_eq!(shares(1.0, &gone), [0.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn a_process_is_a_stranger_unless_it_is_a_task() {
        let mut busy = Command::new("sh").args(["-c", "while :; do :; done"]).process_group(0).spawn().unwrap();
        let group = busy.id() as i32;
        let (meter, mut groups) = (Meter::new(), Groups::new());
        let (mut beside, mut as_task) = (Strangers::new(meter.cores.0), Strangers::new(meter.cores.0));
        for pause in [LEAST, Duration::ZERO] {
            let look = meter.look().expect("nobody has looked yet");
            beside.take_in(look);
            as_task.take_in(Look { own_us: look.own_us + groups.uses(&[group], false)[&group].computing_us, ..look });
            std::thread::sleep(pause);
        }
        busy.kill().unwrap();
        busy.wait().unwrap();
        // Where everybody is busy it gets but a part of a core.
        let shares = (beside.share(), as_task.share());
        assert!(shares.0 > shares.1 + 0.2 / meter.cores.0, "{shares:?}");
    }
}
