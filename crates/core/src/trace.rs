//! The trace of a run: every event that a node was told, every command it gave, and how each attempt went.
//!
//! It is written while the run goes on, about twenty bytes a task, and answers later what happened to a
//! task and why; fed to a fresh node, its events must give its commands again. Numbers are written as
//! variable-length integers, tasks and times as differences from the entry before.

use std::time::Duration;

use thiserror::Error;

use crate::ids::{ClassId, KindId, ObjectId, SlotId, TaskId};
use crate::node::{Command, End, Event, KillReason, ReadyTask};
use crate::pack::dominant::Resource;
use crate::pack::{Change, Sample, Spent, Why};
use crate::stale::Reason;
use crate::time::Time;

/// The first bytes of a trace; the last of them is the version of the format.
pub const MAGIC: [u8; 8] = *b"throngt4";

/// How an attempt ended, in detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It succeeded.
    Done,
    /// Its process ended with this code, not zero.
    Exited(i32),
    /// Its process died of this signal, which Throng did not send.
    Signalled(i32),
    /// It took too long and was ended.
    TimedOut,
    /// The run was stopped.
    Cancelled,
    /// Its process ended well, but this many of its outputs were not there.
    OutputsMissing(u32),
    /// Its process could not be started, for this system error.
    NotStarted(i32),
    /// Its files could not be read or written, for this system error.
    FilesFailed(i32),
    /// The node that ran it died, or the others thought so.
    NodeDied,
}

/// What an attempt used, as the kernel accounts for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Time on a core in the program itself.
    pub user_us: u64,
    /// Time on a core in the kernel.
    pub system_us: u64,
    /// Most memory held at once.
    pub peak_memory_bytes: u64,
    /// The kernel cannot tell a peak below Throng's own: the true one is at most `peak_memory_bytes`.
    pub peak_is_bound: bool,
    /// Read from disks, in blocks of 512 bytes.
    pub blocks_in: u64,
    /// Written to disks, in blocks of 512 bytes.
    pub blocks_out: u64,
}

/// The kernel counts what goes to and from disks in blocks of this many bytes.
const BLOCK_BYTES: u64 = 512;

impl Usage {
    /// Read from disks.
    pub fn read_bytes(&self) -> u64 {
        self.blocks_in.saturating_mul(BLOCK_BYTES)
    }

    /// Written to disks.
    pub fn written_bytes(&self) -> u64 {
        self.blocks_out.saturating_mul(BLOCK_BYTES)
    }
}

/// One attempt, from beginning to end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// At which task.
    pub task: TaskId,
    /// Which attempt, from one.
    pub attempt: u16,
    /// In which slot.
    pub slot: SlotId,
    /// When its inputs had been looked at and its place was prepared.
    pub staged: Time,
    /// When its process was about to be started.
    pub started: Time,
    /// When its process had ended.
    pub ended: Time,
    /// How it ended.
    pub outcome: Outcome,
    /// What it used.
    pub usage: Usage,
    /// Where its output begins in the packed log, and how long it is.
    pub log: (u64, u64),
}

/// One line of the trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Entry {
    /// A node was told something.
    Event(Event),
    /// A node was asked to fill its slots.
    Decide,
    /// A node wanted something done.
    Command(Command),
    /// An attempt has ended.
    Attempt(Attempt),
    /// A task is part of the run for this reason.
    Pending(TaskId, Reason),
    /// A task turned out not to have to run.
    UpToDate(TaskId),
    /// A task will not run because one before it failed.
    Skipped(TaskId),
}

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
                }
            }
            Entry::Event(Event::Spent { slot, spent }) => {
                self.number(slot.0.into());
                let us = |time: Duration| time.as_micros() as u64;
                [us(spent.time), us(spent.computing), spent.peak_bytes].into_iter().for_each(|one| self.number(one));
                35
            }
            Entry::Event(Event::Measured(sample)) => {
                sample.used.into_iter().for_each(|used| self.number(used.into()));
                self.number(sample.free_memory_bytes);
                self.number(sample.runnable.into());
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

/// A reason as a number.
fn why_number(why: Why) -> u8 {
    match why {
        Why::Grows => 0,
        Why::Contention => 1,
        Why::Drifted => 2,
        Why::Profiled(resource) => 16 + resource as u8,
    }
}

fn why_of(number: u8) -> Option<Why> {
    Some(match number {
        0 => Why::Grows,
        1 => Why::Contention,
        2 => Why::Drifted,
        _ => Why::Profiled(*Resource::ALL.get(usize::from(number.checked_sub(16)?))?),
    })
}

/// A trace that cannot be read on.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
pub enum BadTrace {
    /// Another version wrote it.
    #[error("it was written by another version of Throng")]
    Version,
    /// There is nothing in it.
    #[error("the run ended before it was written")]
    Empty,
    /// It makes no sense from here on.
    #[error("it is damaged at byte {0}")]
    Damaged(usize),
}

/// A place in a trace between two entries, and what has to be known to read on from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    offset: u64,
    last_time: u64,
    last_task: u32,
}

impl Position {
    /// How many bytes of the trace lie before it.
    pub fn offset(self) -> u64 {
        self.offset
    }
}

/// Reads entries. A trace that ends in the middle of an entry, as one of a killed run may, just ends there.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    last_time: u64,
    last_task: u32,
    /// How many bytes of the trace lie before `bytes`.
    base: u64,
    /// After the last whole entry.
    position: Position,
}

/// Why a field could not be read.
enum Stop {
    End,
    Damaged,
}

impl<'a> Reader<'a> {
    /// Reads a trace from its beginning.
    pub fn new(bytes: &'a [u8]) -> Result<Self, BadTrace> {
        if bytes.len() < MAGIC.len() {
            return Err(BadTrace::Empty);
        }
        if !bytes.starts_with(&MAGIC) {
            return Err(BadTrace::Version);
        }
        let position = Position { offset: MAGIC.len() as u64, last_time: 0, last_task: 0 };
        Ok(Reader { bytes, at: MAGIC.len(), last_time: 0, last_task: 0, base: 0, position })
    }

    /// Reads on from where another reader has stopped: `bytes` are those of the trace from there.
    pub fn resume(bytes: &'a [u8], position: Position) -> Self {
        let Position { offset, last_time, last_task } = position;
        Reader { bytes, at: 0, last_time, last_task, base: offset, position }
    }

    /// Where the last whole entry ends: a trace that is still being written can be read on from here.
    pub fn position(&self) -> Position {
        self.position
    }

    fn entry(&mut self) -> Result<(Time, Entry), Stop> {
        let tag = self.byte()?;
        self.last_time = self.last_time.checked_add(self.number()?).ok_or(Stop::Damaged)?;
        let now = Time(self.last_time);
        let entry = match tag {
            1 => Entry::Event(Event::Ready(self.ready()?)),
            2 => Entry::Event(Event::Finished { slot: self.slot()?, end: End::Done }),
            3 => {
                let slot = self.slot()?;
                Entry::Event(Event::Finished { slot, end: End::Failed { code: self.byte()? } })
            }
            4 => Entry::Event(Event::Finished { slot: self.slot()?, end: End::Killed }),
            5 => Entry::Event(Event::Stop),
            6 => Entry::Event(Event::Wake),
            7 => Entry::Decide,
            8 => Entry::Command(Command::Start { task: self.task()?, attempt: self.tiny()?, slot: self.slot()? }),
            9 | 10 | 18 | 19 => {
                let why = if tag < 18 { KillReason::Timeout } else { KillReason::Stop };
                Entry::Command(Command::Kill { slot: self.slot()?, hard: matches!(tag, 10 | 19), why })
            }
            11 => Entry::Command(Command::Complete { task: self.task()?, attempt: self.tiny()? }),
            12 => Entry::Command(Command::Fail { task: self.task()?, attempt: self.tiny()? }),
            13 => {
                let (task, attempt) = (self.task()?, self.tiny()?);
                let retry_at = self.number()?.checked_sub(1).map(Time);
                Entry::Command(Command::Interrupt { task, attempt, retry_at })
            }
            14 => Entry::Attempt(self.attempt(now)?),
            15 => Entry::Pending(self.task()?, self.reason()?),
            16 => Entry::UpToDate(self.task()?),
            17 => Entry::Skipped(self.task()?),
            20 => Entry::Event(Event::Offered(self.ready()?)),
            21 => {
                let object = self.object()?;
                Entry::Event(Event::Located { object, bytes: self.number()?.checked_sub(1) })
            }
            22 => Entry::Event(Event::Fetched { object: self.object()? }),
            23 => Entry::Event(Event::FetchFailed { object: self.object()? }),
            24 => Entry::Event(Event::Kept { object: self.object()?, bytes: self.number()? }),
            25 | 26 => Entry::Event(Event::Dropped { object: self.object()?, is_gone: tag == 25 }),
            27 => Entry::Event(Event::Unneeded { object: self.object()? }),
            28 => Entry::Command(Command::Locate { object: self.object()? }),
            29 => Entry::Command(Command::Fetch { object: self.object()?, bytes: self.number()? }),
            30 => Entry::Command(Command::Drop { object: self.object()? }),
            31 => Entry::Command(Command::Evict { object: self.object()? }),
            32 => Entry::Command(Command::Lost { task: self.task()?, object: self.object()? }),
            35 => {
                let slot = self.slot()?;
                let (time, computing) = (Duration::from_micros(self.number()?), Duration::from_micros(self.number()?));
                Entry::Event(Event::Spent { slot, spent: Spent { time, computing, peak_bytes: self.number()? } })
            }
            36 => {
                let mut used = [0; Resource::ALL.len()];
                for one in &mut used {
                    *one = self.small()?;
                }
                let (free_memory_bytes, runnable) = (self.number()?, self.small()?);
                Entry::Event(Event::Measured(Sample { used, free_memory_bytes, runnable }))
            }
            37 => {
                let (kind, width) = (KindId(self.small()?), self.small()?);
                let why = why_of(self.byte()?).ok_or(Stop::Damaged)?;
                Entry::Command(Command::Width(Change { kind, width, why }))
            }
            34 => Entry::Event(Event::Capacity { bytes: self.number()? }),
            33 => Entry::Command(Command::NeverFits { task: self.task()?, needed_bytes: self.number()? }),
            _ => return Err(Stop::Damaged),
        };
        Ok((now, entry))
    }

    fn ready(&mut self) -> Result<ReadyTask, Stop> {
        Ok(ReadyTask {
            task: self.task()?,
            class: ClassId(self.small()?),
            priority: self.signed()?.try_into().map_err(|_| Stop::Damaged)?,
            attempt: self.tiny()?,
            // Only simulated nodes die, and their record is not replayed.
            excused: 0,
            generation: self.tiny()?,
            input_bytes: self.number()?,
        })
    }

    fn attempt(&mut self, now: Time) -> Result<Attempt, Stop> {
        let (task, attempt, slot) = (self.task()?, self.tiny()?, self.slot()?);
        let ended = Time((now.0 as i64).wrapping_sub(self.signed()?) as u64);
        let started = Time((ended.0 as i64).wrapping_sub(self.signed()?) as u64);
        let staged = Time((started.0 as i64).wrapping_sub(self.signed()?) as u64);
        let kind = self.byte()?;
        let detail: i32 = self.signed()?.try_into().map_err(|_| Stop::Damaged)?;
        let outcome = match kind & 0x7f {
            0 => Outcome::Done,
            1 => Outcome::Exited(detail),
            2 => Outcome::Signalled(detail),
            3 => Outcome::TimedOut,
            4 => Outcome::Cancelled,
            5 => Outcome::OutputsMissing(detail as u32),
            6 => Outcome::NotStarted(detail),
            7 => Outcome::FilesFailed(detail),
            8 => Outcome::NodeDied,
            _ => return Err(Stop::Damaged),
        };
        let usage = Usage {
            user_us: self.number()?,
            system_us: self.number()?,
            peak_memory_bytes: self.number()?,
            peak_is_bound: kind & 0x80 != 0,
            blocks_in: self.number()?,
            blocks_out: self.number()?,
        };
        let log = (self.number()?, self.number()?);
        Ok(Attempt { task, attempt, slot, staged, started, ended, outcome, usage, log })
    }

    fn reason(&mut self) -> Result<Reason, Stop> {
        use Reason::*;
        const REASONS: [Reason; 9] = [
            NeverDone,
            DefinitionChanged,
            InputChanged,
            OutputChanged,
            OutputMissing,
            OutputNeeded,
            Asked,
            ParentRuns,
            Unfinished,
        ];
        REASONS.get(self.byte()? as usize).copied().ok_or(Stop::Damaged)
    }

    fn task(&mut self) -> Result<TaskId, Stop> {
        let task = i64::from(self.last_task).checked_add(self.signed()?).and_then(|task| u32::try_from(task).ok());
        self.last_task = task.ok_or(Stop::Damaged)?;
        Ok(TaskId(self.last_task))
    }

    fn object(&mut self) -> Result<ObjectId, Stop> {
        self.small().map(ObjectId)
    }

    fn slot(&mut self) -> Result<SlotId, Stop> {
        self.small().map(SlotId)
    }

    fn small(&mut self) -> Result<u32, Stop> {
        self.number()?.try_into().map_err(|_| Stop::Damaged)
    }

    fn tiny(&mut self) -> Result<u16, Stop> {
        self.number()?.try_into().map_err(|_| Stop::Damaged)
    }

    fn signed(&mut self) -> Result<i64, Stop> {
        let number = self.number()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn number(&mut self) -> Result<u64, Stop> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Stop::Damaged)
    }

    fn byte(&mut self) -> Result<u8, Stop> {
        let byte = *self.bytes.get(self.at).ok_or(Stop::End)?;
        self.at += 1;
        Ok(byte)
    }
}

impl Iterator for Reader<'_> {
    type Item = Result<(Time, Entry), BadTrace>;

    fn next(&mut self) -> Option<Self::Item> {
        let start = self.at;
        if start >= self.bytes.len() {
            return None;
        }
        match self.entry() {
            Ok(entry) => {
                let offset = self.base + self.at as u64;
                self.position = Position { offset, last_time: self.last_time, last_task: self.last_task };
                Some(Ok(entry))
            }
            Err(Stop::End) => {
                self.at = self.bytes.len();
                None
            }
            Err(Stop::Damaged) => {
                self.at = self.bytes.len();
                Some(Err(BadTrace::Damaged(self.base as usize + start)))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn samples() -> Vec<(Time, Entry)> {
        let (task, class, object) = (TaskId(7), ClassId(1), ObjectId(8));
        let ready = ReadyTask {
            priority: -3,
            attempt: 2,
            generation: 3,
            input_bytes: 1 << 40,
            ..ReadyTask::first(task, class)
        };
        let usage = Usage {
            user_us: 1,
            system_us: 2,
            peak_memory_bytes: 3 << 30,
            peak_is_bound: true,
            blocks_in: 4,
            blocks_out: 5,
        };
        let attempt = Attempt {
            task: TaskId(3),
            attempt: 1,
            slot: SlotId(9),
            staged: Time(40),
            started: Time(50),
            ended: Time(99),
            outcome: Outcome::Exited(-1),
            usage,
            log: (123, 456),
        };
        let start = Command::Start { task: TaskId(7), attempt: 2, slot: SlotId(1) };
        let interrupt = Command::Interrupt { task: TaskId(0), attempt: 1, retry_at: Some(Time(0)) };
        [
            Entry::Event(Event::Ready(ready)),
            Entry::Decide,
            Entry::Command(start),
            Entry::Attempt(attempt),
            Entry::Event(Event::Finished { slot: SlotId(1), end: End::Killed }),
            Entry::Command(interrupt),
            Entry::Command(Command::Kill { slot: SlotId(2), hard: true, why: KillReason::Timeout }),
            Entry::Command(Command::Kill { slot: SlotId(2), hard: false, why: KillReason::Stop }),
            Entry::Pending(TaskId(u32::MAX - 1), Reason::ParentRuns),
            Entry::UpToDate(TaskId(0)),
            Entry::Event(Event::Offered(ready)),
            Entry::Event(Event::Located { object, bytes: Some(0) }),
            Entry::Event(Event::Located { object, bytes: None }),
            Entry::Event(Event::Fetched { object }),
            Entry::Event(Event::FetchFailed { object }),
            Entry::Event(Event::Kept { object, bytes: 5 }),
            Entry::Event(Event::Dropped { object, is_gone: true }),
            Entry::Event(Event::Dropped { object, is_gone: false }),
            Entry::Event(Event::Unneeded { object }),
            Entry::Event(Event::Capacity { bytes: 3 }),
            Entry::Command(Command::Locate { object }),
            Entry::Command(Command::Fetch { object, bytes: 5 }),
            Entry::Command(Command::Drop { object }),
            Entry::Command(Command::Evict { object }),
            Entry::Command(Command::Lost { task, object }),
            Entry::Command(Command::NeverFits { task, needed_bytes: 9 }),
        ]
        .into_iter()
        .zip((0..).map(|number| Time(number * 1000)))
        .map(|(entry, time)| (time, entry))
        .collect()
    }

    fn written(entries: &[(Time, Entry)]) -> Vec<u8> {
        let (mut writer, mut bytes) = (Writer::new(), Vec::new());
        for (time, entry) in entries {
            writer.write(*time, entry);
        }
        writer.take(&mut bytes);
        bytes
    }

    #[test]
    fn written_and_read_again() {
        let entries = samples();
        let read: Vec<_> = Reader::new(&written(&entries)).unwrap().map(Result::unwrap).collect();
        assert_eq!(read, entries);
    }

    #[test]
    fn a_growing_trace_is_read_on_wherever_it_was_cut() {
        let (entries, bytes) = (samples(), written(&samples()));
        for cut in MAGIC.len()..=bytes.len() {
            let mut reader = Reader::new(&bytes[..cut]).unwrap();
            let mut read: Vec<_> = reader.by_ref().map(Result::unwrap).collect();
            let position = reader.position();
            let rest = &bytes[position.offset() as usize..];
            read.extend(Reader::resume(rest, position).map(Result::unwrap));
            assert_eq!(read, entries, "cut at {cut}");
        }
    }

    #[test]
    fn a_cut_trace_ends_and_a_damaged_one_says_so() {
        let bytes = written(&samples());
        for cut in MAGIC.len()..bytes.len() {
            assert!(Reader::new(&bytes[..cut]).unwrap().all(|entry| entry.is_ok()), "cut at {cut}");
        }
        let mut damaged = bytes.clone();
        damaged[MAGIC.len()] = 200;
        assert_eq!(Reader::new(&damaged).unwrap().next(), Some(Err(BadTrace::Damaged(MAGIC.len()))));
        assert_eq!(Reader::new(b"something else").unwrap_err(), BadTrace::Version);
    }
}
