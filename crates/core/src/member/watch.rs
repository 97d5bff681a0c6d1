//! What a member measures of itself, for policies that change by it.

use std::time::Duration;

use super::{Member, Watch};
use crate::place::{Backlog, MOVES_WORTH_WAITING, daws::UNKNOWN_LENGTH};
use crate::time::Time;

impl Member {
    /// Shares what the local queue will not get to in time.
    pub(super) fn share_surplus(&mut self, now: Time, is_asked: bool) {
        let local = self.node.local_len();
        if local == 0 {
            return;
        }
        let (moving, pace) = self.moving_and_pace();
        let Watch { started, finished, .. } = self.window;
        let backlog = Backlog { local, finished, elapsed: now.since(started), moving, pace, is_asked };
        let count = self.place.surplus(&backlog);
        if count > 0 {
            self.tally.migrated += self.node.share_local(count) as u64;
        }
    }

    /// How long it takes to move what a task reads, and from one task to the next.
    fn moving_and_pace(&self) -> (Duration, Duration) {
        let Watch { begun, begun_bytes, .. } = self.window;
        let moving = |bytes: u64| Duration::from_secs_f64(bytes as f64 / self.setup.bandwidth.max(1) as f64);
        let computing = self.mean.length().unwrap_or(UNKNOWN_LENGTH) / self.node.slot_count().max(1) as u32;
        // Whichever holds tasks up: slots, or the data that has to come for them.
        let pace = computing.max(moving(self.tally.fetched_bytes / begun.max(1)));
        (moving(begun_bytes / begun.max(1)), pace)
    }

    /// Stages as many tasks as it takes to have work while the data of another comes.
    pub(super) fn adjust_staging(&mut self) {
        let (moving, pace) = self.moving_and_pace();
        let count = (moving * MOVES_WORTH_WAITING).as_nanos() / pace.as_nanos().max(1);
        self.node.set_most_prepared(1 + count as usize);
    }

    pub(super) fn close_window(&mut self, now: Time) {
        self.count_busy(now);
        let length = now.since(self.window.since);
        let seconds = length.as_secs_f64().max(1e-9);
        let could = self.setup.bandwidth as f64 * seconds;
        let slots = self.starts.len() as f64;
        let seen = crate::place::Window {
            moved: self.window.moved_bytes as f64 / could,
            asked: self.window.asked_bytes as f64 / could,
            idle: 1.0 - self.window.busy_ns as f64 / (length.as_nanos() as f64 * slots).max(1.0),
        };
        (self.window.since, self.window.moved_bytes, self.window.asked_bytes, self.window.busy_ns) = (now, 0, 0, 0);
        self.window.ends = self.place.window_length().map(|length| now + length);
        if self.place.window(&seen) {
            self.tally.migrated += self.node.share_local(usize::MAX) as u64;
        }
    }

    pub(super) fn count_busy(&mut self, now: Time) {
        let running = self.node.running() as u64;
        self.window.busy_ns += running * now.since(self.window.counted_to).as_nanos() as u64;
        self.window.counted_to = now;
    }
}
