//! What a member measures of itself, for policies that change by it.

use std::time::Duration;

use super::Member;
use crate::ids::{SlotId, TaskId};
use crate::place::{Backlog, MOVES_WORTH_WAITING, daws::UNKNOWN_LENGTH};
use crate::time::Time;

/// What is measured between two looks of an adaptive policy.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Watch {
    pub since: Time,
    pub ends: Option<Time>,
    pub moved_bytes: u64,
    pub asked_bytes: u64,
    pub busy_ns: u64,
    pub counted_to: Time,
    pub started: Time,
    pub finished: u64,
    /// Tasks started so far, and what they read.
    pub begun: u64,
    pub begun_bytes: u64,
}

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
        let moving = |bytes: u64| self.setup.moving(bytes);
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

    /// An attempt begins.
    pub(super) fn count_begun(&mut self, now: Time, slot: SlotId) {
        self.count_busy(now);
        let read = self.node.input_bytes(slot);
        self.window.asked_bytes = self.window.asked_bytes.saturating_add(read);
        self.window.begun += 1;
        self.window.begun_bytes = self.window.begun_bytes.saturating_add(read);
        self.starts[slot.index()] = now;
    }

    /// An attempt has ended well.
    pub(super) fn count_finished(&mut self, now: Time, task: TaskId, slot: SlotId) {
        let length = now.since(self.starts[slot.index()]).as_nanos() as u64;
        for mean in [&mut self.means[self.flow.kind(task).index()], &mut self.mean] {
            mean.sum_ns = mean.sum_ns.saturating_add(length);
            mean.count += 1;
        }
        self.window.finished += 1;
        self.adjust_staging();
    }

    pub(super) fn count_busy(&mut self, now: Time) {
        let running = self.node.running() as u64;
        let passed = now.since(self.window.counted_to).as_nanos() as u64;
        self.window.busy_ns = self.window.busy_ns.saturating_add(running.saturating_mul(passed));
        self.window.counted_to = now;
    }
}
