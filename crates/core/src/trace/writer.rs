//! From entries to bytes.

use crate::ids::{ObjectId, TaskId};
use crate::node::{Command, End, Event, KillReason, ReadyTask};
use crate::time::Time;

use super::{Attempt, Entry, MAGIC, Outcome, why_number};

/// Writes entries into a buffer.
#[derive(Debug, Default)]
pub struct Writer {
    bytes: Vec<u8>,
    last_time: u64,
    last_task: u32,
}

impl Writer {
    /// A writer at the beginning of a trace.
    pub fn new() -> Self {
        Writer { bytes: MAGIC.to_vec(), last_time: 0, last_task: 0 }
    }

    /// What has been written since the last call.
    pub fn take(&mut self, into: &mut Vec<u8>) {
        into.append(&mut self.bytes);
    }

    /// How many bytes wait to be taken.
    pub fn pending(&self) -> usize {
        self.bytes.len()
    }

    fn ready(&mut self, ready: &ReadyTask) {
        self.task(ready.task);
        self.number(ready.class.0.into());
        self.signed(ready.priority.into());
        self.number(ready.attempt.into());
        self.number(ready.generation.into());
        self.number(ready.input_bytes);
    }

    fn about(&mut self, object: ObjectId, tag: u8) -> u8 {
        self.number(object.0.into());
        tag
    }

    /// Adds an entry.
    pub fn write(&mut self, now: Time, entry: &Entry) {
        let time = now.0.max(self.last_time);
        let tag_at = self.bytes.len();
        self.bytes.push(0);
        self.number(time - self.last_time);
        self.last_time = time;
        let tag = match *entry {
            Entry::Event(Event::Ready(ready)) => {
                self.ready(&ready);
                1
            }
            Entry::Event(Event::Offered(ready)) => {
                self.ready(&ready);
                20
            }
            Entry::Event(Event::Located { object, bytes }) => {
                self.number(object.0.into());
                self.number(bytes.map_or(0, |bytes| bytes.saturating_add(1)));
                21
            }
            Entry::Event(Event::Fetched { object }) => self.about(object, 22),
            Entry::Event(Event::FetchFailed { object }) => self.about(object, 23),
            Entry::Event(Event::Kept { object, bytes }) => {
                self.number(object.0.into());
                self.number(bytes);
                24
            }
            Entry::Event(Event::Dropped { object, is_gone }) => self.about(object, if is_gone { 25 } else { 26 }),
            Entry::Event(Event::Unneeded { object }) => self.about(object, 27),
            Entry::Event(Event::Capacity { bytes }) => {
                self.number(bytes);
                34
            }
            Entry::Command(Command::Locate { object }) => self.about(object, 28),
            Entry::Command(Command::Fetch { object, bytes }) => {
                self.number(object.0.into());
                self.number(bytes);
                29
            }
            Entry::Command(Command::Drop { object }) => self.about(object, 30),
            Entry::Command(Command::Evict { object }) => self.about(object, 31),
            Entry::Command(Command::Lost { task, object }) => {
                self.task(task);
                self.about(object, 32)
            }
            Entry::Command(Command::NeverFits { task, needed_bytes }) => {
                self.task(task);
                self.number(needed_bytes);
                33
            }
            Entry::Event(Event::Finished { slot, end }) => {
                self.number(slot.0.into());
                match end {
                    End::Done => 2,
                    End::Failed { code } => {
                        self.bytes.push(code);
                        3
                    }
                    End::Killed => 4,
                    End::OutOfMemory => 41,
                }
            }
            Entry::Event(Event::Spent { slot, spent }) => {
                self.number(slot.0.into());
                [spent.time_us, spent.computing_us, spent.peak_bytes].into_iter().for_each(|one| self.number(one));
                35
            }
            Entry::Event(Event::Uses { slot, uses }) => {
                self.number(slot.0.into());
                [uses.bytes, uses.computing_us].into_iter().for_each(|one| self.number(one));
                39
            }
            Entry::Event(Event::FreeMemory { bytes }) => {
                self.number(bytes);
                40
            }
            Entry::Event(Event::Measured(sample)) => {
                sample.used.into_iter().for_each(|used| self.number(used.into()));
                self.number(sample.moved_bytes_per_s);
                self.number(sample.free_memory_bytes);
                self.number(sample.memory_stalls.into());
                self.number(sample.runnable.into());
                self.number(sample.strangers.into());
                36
            }
            Entry::Command(Command::Width(change)) => {
                self.number(change.kind.0.into());
                self.number(change.width.into());
                self.bytes.push(why_number(change.why));
                37
            }
            Entry::Event(Event::Stop) => 5,
            Entry::Event(Event::Wake) => 6,
            Entry::Decide => 7,
            Entry::Command(Command::Start { task, attempt, slot }) => {
                self.task(task);
                self.number(attempt.into());
                self.number(slot.0.into());
                8
            }
            Entry::Command(Command::Kill { slot, hard, why }) => {
                self.number(slot.0.into());
                match (why, hard) {
                    (KillReason::Timeout, false) => 9,
                    (KillReason::Timeout, true) => 10,
                    (KillReason::Stop, false) => 18,
                    (KillReason::Stop, true) => 19,
                    (KillReason::Memory | KillReason::TooLarge, _) => {
                        self.bytes.push(u8::from(why == KillReason::TooLarge) * 2 + u8::from(hard));
                        38
                    }
                }
            }
            Entry::Command(Command::Complete { task, attempt }) => {
                self.task(task);
                self.number(attempt.into());
                11
            }
            Entry::Command(Command::Fail { task, attempt }) => {
                self.task(task);
                self.number(attempt.into());
                12
            }
            Entry::Command(Command::Interrupt { task, attempt, retry_at }) => {
                self.task(task);
                self.number(attempt.into());
                self.number(retry_at.map_or(0, |time| time.0 + 1));
                13
            }
            Entry::Attempt(attempt) => {
                self.attempt(time, &attempt);
                14
            }
            Entry::Pending(task, reason) => {
                self.task(task);
                self.bytes.push(reason as u8);
                15
            }
            Entry::UpToDate(task) => {
                self.task(task);
                16
            }
            Entry::Skipped(task) => {
                self.task(task);
                17
            }
        };
        self.bytes[tag_at] = tag;
    }

    fn attempt(&mut self, now: u64, attempt: &Attempt) {
        self.task(attempt.task);
        self.number(attempt.attempt.into());
        self.number(attempt.slot.0.into());
        self.signed(now as i64 - attempt.ended.0 as i64);
        self.signed(attempt.ended.0 as i64 - attempt.started.0 as i64);
        self.signed(attempt.started.0 as i64 - attempt.staged.0 as i64);
        let (kind, detail) = match attempt.outcome {
            Outcome::Done => (0, 0),
            Outcome::Exited(code) => (1, code),
            Outcome::Signalled(signal) => (2, signal),
            Outcome::TimedOut => (3, 0),
            Outcome::Cancelled => (4, 0),
            Outcome::MadeRoom => (9, 0),
            Outcome::TooLarge => (10, 0),
            Outcome::OutOfMemory => (11, 0),
            Outcome::OutputsMissing(count) => (5, count as i32),
            Outcome::NotStarted(error) => (6, error),
            Outcome::FilesFailed(error) => (7, error),
            Outcome::NodeDied => (8, 0),
        };
        let usage = &attempt.usage;
        self.bytes.push(kind | u8::from(usage.peak_is_bound) << 7);
        self.signed(detail.into());
        for number in [
            usage.user_us,
            usage.system_us,
            usage.peak_memory_bytes,
            usage.blocks_in,
            usage.blocks_out,
            attempt.log.0,
            attempt.log.1,
        ] {
            self.number(number);
        }
    }

    fn task(&mut self, task: TaskId) {
        self.signed(i64::from(task.0) - i64::from(self.last_task));
        self.last_task = task.0;
    }

    fn signed(&mut self, number: i64) {
        self.number(((number << 1) ^ (number >> 63)) as u64);
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }
}
