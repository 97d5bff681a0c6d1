//! Throng's own: a task belongs where its data is, unless it would wait there for longer than the data takes to move.
//!
//! MATRIX's settings decide that once, when a task becomes ready, or by a horizon that has to be guessed. Here it is decided when
//! somebody has nothing to do and asks: what would wait here for longer than it takes to move what it reads, he may have, from
//! whichever queue. Whoever asks in vain is remembered and called, so that idle nodes need not ask often, nor many.
//!
//! It loses when tasks of one kind differ widely in length: how long something would wait is judged by the mean.
//!
//! Parameters: `t`, `neighbours`, `steal`, `poll` and `cap` as for the others; `cap` is the longest pause, not an end.

use std::time::Duration;

use super::loot::{self, Loot, Neighbours};
use super::{Backlog, Hunt, MOVES_WORTH_WAITING, Place, Placement, View};
use crate::node::ReadyTask;
use crate::policy::{BadPolicy, Policy};
use crate::store::Inputs;

const PARAMETERS: [&str; 5] = ["t", "neighbours", "steal", "poll", "cap"];

/// Whoever asks is remembered, so that a few are enough at a time, however large the cluster is.
const NEIGHBOURS: Neighbours = Neighbours::Count(8);

/// The policy of one node.
#[derive(Clone, Debug)]
pub(super) struct Fair {
    threshold: f64,
    neighbours: Neighbours,
    loot: Loot,
    first_pause: Duration,
    longest_pause: Duration,
    pause: Duration,
}

impl Fair {
    pub(super) fn new(policy: &Policy) -> Result<Fair, BadPolicy> {
        policy.takes(&PARAMETERS)?;
        let first_pause = policy.time("poll", Duration::from_millis(1))?;
        Ok(Fair {
            threshold: policy.number("t", 0.5)?,
            neighbours: Neighbours::of(policy, NEIGHBOURS)?,
            loot: Loot::of(policy)?,
            first_pause,
            longest_pause: policy.time("cap", Duration::from_secs(2))?,
            pause: first_pause,
        })
    }
}

impl Place for Fair {
    fn ready(&mut self, _: &ReadyTask, inputs: &Inputs, view: &mut View<'_>) -> Placement {
        loot::placed(inputs, view, self.threshold)
    }

    fn hunt(&mut self, view: &mut View<'_>) -> Hunt {
        if view.nodes < 2 { Hunt::Wait } else { Hunt::Steal(self.neighbours.drawn(view)) }
    }

    fn hunted(&mut self, won: bool) -> Option<Duration> {
        if won {
            self.pause = self.first_pause;
            return Some(Duration::ZERO);
        }
        let pause = self.pause;
        self.pause = pause.saturating_mul(2).min(self.longest_pause).max(self.first_pause);
        Some(pause)
    }

    fn surplus(&mut self, backlog: &Backlog) -> usize {
        if !backlog.is_asked {
            return 0;
        }
        // Whoever asks is idle now. What it could have started before this node does is better off there.
        let keep = (backlog.moving * MOVES_WORTH_WAITING).as_nanos() / backlog.pace.as_nanos().max(1);
        backlog.local.saturating_sub(keep as usize)
    }

    fn calls_idle(&self) -> bool {
        true
    }

    fn share_of(&self, length: usize) -> usize {
        self.loot.of_queue(length)
    }

    fn name(&self) -> &'static str {
        "fair"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fair(text: &str) -> Fair {
        Fair::new(&text.parse().unwrap()).unwrap()
    }

    #[test]
    fn a_thief_in_vain_asks_more_and_more_rarely_but_never_gives_up() {
        let mut place = fair("fair:poll=10ms,cap=50ms");
        let pauses: Vec<u128> = (0..5).filter_map(|_| place.hunted(false)).map(|pause| pause.as_millis()).collect();
        assert_eq!(pauses, [10, 20, 40, 50, 50]);
        assert_eq!((place.hunted(true), place.hunted(false)), (Some(Duration::ZERO), Some(Duration::from_millis(10))));
    }

    #[test]
    fn what_waits_longer_than_it_takes_to_move_is_given() {
        let mut place = fair("fair");
        let [moving, pace] = [100, 10].map(Duration::from_millis);
        let backlog = Backlog { local: 50, finished: 0, elapsed: Duration::ZERO, moving, pace, is_asked: true };
        assert_eq!(place.surplus(&backlog), 30, "the first twenty start before they could elsewhere");
        assert_eq!(place.surplus(&Backlog { local: 7, ..backlog }), 0);
        assert_eq!(place.surplus(&Backlog { is_asked: false, ..backlog }), 0);
    }
}
