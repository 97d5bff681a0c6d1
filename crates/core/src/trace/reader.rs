//! From bytes to entries, as far as they go.

use thiserror::Error;

use crate::ids::{ClassId, KindId, ObjectId, SlotId, TaskId};
use crate::node::{Command, End, Event, KillReason, ReadyTask};
use crate::pack::dominant::Resource;
use crate::pack::{Change, Sample, Spent, Uses};
use crate::stale::Reason;
use crate::time::Time;

use super::{Attempt, Entry, MAGIC, Outcome, Usage, why_of};

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
                let (time_us, computing_us, peak_bytes) = (self.number()?, self.number()?, self.number()?);
                Entry::Event(Event::Spent { slot, spent: Spent { time_us, computing_us, peak_bytes } })
            }
            36 => {
                let mut used = [0; Resource::ALL.len()];
                for one in &mut used {
                    *one = self.small()?;
                }
                let (moved_bytes_per_s, free_memory_bytes) = (self.number()?, self.number()?);
                let (memory_stalls, runnable, strangers) = (self.small()?, self.small()?, self.small()?);
                Entry::Event(Event::Measured(Sample {
                    used,
                    moved_bytes_per_s,
                    free_memory_bytes,
                    memory_stalls,
                    runnable,
                    strangers,
                }))
            }
            37 => {
                let (kind, width) = (KindId(self.small()?), self.small()?);
                let why = why_of(self.byte()?).ok_or(Stop::Damaged)?;
                Entry::Command(Command::Width(Change { kind, width, why }))
            }
            38 => {
                let (slot, byte) = (self.slot()?, self.byte()?);
                let why = if byte & 2 == 0 { KillReason::Memory } else { KillReason::TooLarge };
                Entry::Command(Command::Kill { slot, hard: byte & 1 == 1, why })
            }
            39 => {
                let slot = self.slot()?;
                let (bytes, computing_us) = (self.number()?, self.number()?);
                Entry::Event(Event::Uses { slot, uses: Uses { bytes, computing_us } })
            }
            40 => Entry::Event(Event::FreeMemory { bytes: self.number()? }),
            41 => Entry::Event(Event::Finished { slot: self.slot()?, end: End::OutOfMemory }),
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
            9 => Outcome::MadeRoom,
            10 => Outcome::TooLarge,
            11 => Outcome::OutOfMemory,
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
