//! Whom the kernel has killed because memory had run out: it counts them, and does not say who they were.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::meter::proc;

/// Kills that nobody has explained anything with yet.
#[derive(Debug)]
pub struct Kills {
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    counted: u64,
    unexplained: u64,
}

impl Kills {
    /// From now on.
    pub fn new() -> Kills {
        Kills { state: Mutex::new(State { counted: count(), unexplained: 0 }) }
    }

    /// Whether a process that was killed just now, and nobody here had told to end, can have been killed for that. Each kill explains one.
    pub fn explain_one(&self) -> bool {
        let mut state = self.look();
        let can_be = state.unexplained > 0;
        state.unexplained = state.unexplained.saturating_sub(1);
        can_be
    }

    fn look(&self) -> MutexGuard<'_, State> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let counted = count();
        state.unexplained += counted.saturating_sub(state.counted);
        state.counted = counted;
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
    fn each_kill_explains_one_death() {
        let kills = Kills { state: Mutex::new(State { counted: u64::MAX, unexplained: 2 }) };
        assert_eq!([kills.explain_one(), kills.explain_one(), kills.explain_one()], [true, true, false]);
    }
}
