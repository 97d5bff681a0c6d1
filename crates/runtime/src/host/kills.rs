//! Whom the kernel has killed because memory had run out: it counts them, and does not say who they were.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::meter::proc;

/// A kill that explains no death within this time was somebody else's.
const EXPLAINS_FOR: Duration = Duration::from_secs(5);

/// Kills that nobody has explained anything with yet.
#[derive(Debug)]
pub struct Kills {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    counted: u64,
    unexplained: u64,
    /// When the last of those was seen.
    seen_at: Instant,
}

impl State {
    fn look(&mut self, counted: u64, now: Instant) {
        if now.saturating_duration_since(self.seen_at) > EXPLAINS_FOR {
            self.unexplained = 0;
        }
        if counted > self.counted {
            self.unexplained += counted - self.counted;
            (self.counted, self.seen_at) = (counted, now);
        }
    }
}

impl Kills {
    /// From now on.
    pub fn new() -> Kills {
        Kills { state: Mutex::new(State { counted: count(), unexplained: 0, seen_at: Instant::now() }) }
    }

    /// Looks whether there were any. Whoever wants to know of those of just now only has to look now and then.
    pub fn look(&self) {
        drop(self.looked_at());
    }

    /// Whether a process that was killed just now, and nobody here had told to end, can have been killed for that; so many kills are explained
    /// by it.
    pub fn explain(&self, kills: u64) -> bool {
        let mut state = self.looked_at();
        let can_be = state.unexplained > 0;
        state.unexplained = state.unexplained.saturating_sub(kills);
        can_be
    }

    fn looked_at(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.look(count(), Instant::now());
        state
    }
}

impl Default for Kills {
    fn default() -> Kills {
        Kills::new()
    }
}

/// How many there were since the machine was started.
fn count() -> u64 {
    in_text(&proc::read("vmstat"))
}

fn in_text(vmstat: &str) -> u64 {
    vmstat.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kills_are_counted_by_the_kernel() {
        assert_eq!(in_text("pgfault 7\noom_kill 3\ndrop_pagecache 0\n"), 3);
        assert_eq!(in_text("pgfault 7\n"), 0);
    }

    #[test]
    fn a_kill_explains_one_death_and_only_for_a_while() {
        let begun = Instant::now();
        let mut state = State { counted: 10, unexplained: 0, seen_at: begun };
        state.look(12, begun);
        assert_eq!(state.unexplained, 2);
        state.look(12, begun + EXPLAINS_FOR);
        assert_eq!(state.unexplained, 2);
        state.look(12, begun + EXPLAINS_FOR * 2);
        assert_eq!(state.unexplained, 0);
        state.look(13, begun + EXPLAINS_FOR * 3);
        assert_eq!(state.unexplained, 1);
        let kills = Kills { state: Mutex::new(State { counted: u64::MAX, unexplained: 2, seen_at: Instant::now() }) };
        assert_eq!([kills.explain(1), kills.explain(1), kills.explain(1)], [true, true, false]);
    }
}
