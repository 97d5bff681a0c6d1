//! What a member measures of itself, for policies that change by it.

use std::time::Duration;

use super::{Member, Watch};
use crate::place::{Backlog, daws::UNKNOWN_LENGTH};
use crate::time::Time;

impl Member {
    /// Shares what the local queue will not get to in time.
    pub(super) fn share_surplus(&mut self, now: Time, is_asked: bool) {
        let local = self.node.local_len();
        if local == 0 {
            return;
        }
        let Watch { started, finished, begun, begun_bytes, .. } = self.window;
        let bytes = begun_bytes / begun.max(1);
        let moving = Duration::from_secs_f64(bytes as f64 / self.setup.bandwidth.max(1) as f64);
        let length = self.mean.length().unwrap_or(UNKNOWN_LENGTH);
        let pace = length / self.node.slot_count().max(1) as u32;
        let backlog = Backlog { local, finished, elapsed: now.since(started), moving, pace, is_asked };
        let count = self.place.surplus(&backlog);
        if count > 0 {
            self.tally.migrated += self.node.share_local(count) as u64;
        }
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
