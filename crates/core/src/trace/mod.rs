//! The trace of a run: every event that a node was told, every command it gave, and how each attempt went.
//!
//! It is written while the run goes on, about twenty bytes a task, and answers later what happened to a
//! task and why; fed to a fresh node, its events must give its commands again. Numbers are written as
//! variable-length integers, tasks and times as differences from the entry before.

mod reader;
mod writer;

pub use reader::{BadTrace, Position, Reader};
pub use writer::Writer;

use crate::ids::{SlotId, TaskId};
use crate::node::{Command, Event, KillReason};
use crate::pack::Why;
use crate::pack::dominant::Resource;
use crate::stale::Reason;
use crate::time::Time;

/// The first bytes of a trace; the last of them is the version of the format.
pub const MAGIC: [u8; 8] = *b"throngt7";

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
    /// It was stopped because others needed memory, and runs again when there is more.
    MadeRoom,
    /// It held more memory than there is, though it was alone, and was ended.
    TooLarge,
    /// The kernel killed its process, because memory had run out.
    OutOfMemory,
    /// Its process ended well, but this many of its outputs were not there.
    OutputsMissing(u32),
    /// Its process could not be started, for this system error.
    NotStarted(i32),
    /// Its files could not be read or written, for this system error.
    FilesFailed(i32),
    /// The node that ran it died, or the others thought so.
    NodeDied,
}

impl Outcome {
    /// Whether an attempt ended like this for want of memory, and the task waits for that: it is ready again at once, and not after a pause.
    pub fn waits_for_memory(self, now: Time, retry_at: Option<Time>) -> bool {
        matches!(self, Outcome::MadeRoom | Outcome::OutOfMemory) && retry_at == Some(now)
    }
}

/// How an attempt has ended that was told to.
impl From<KillReason> for Outcome {
    fn from(why: KillReason) -> Outcome {
        match why {
            KillReason::Timeout => Outcome::TimedOut,
            KillReason::Stop => Outcome::Cancelled,
            KillReason::Memory => Outcome::MadeRoom,
            KillReason::TooLarge => Outcome::TooLarge,
        }
    }
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
    /// Time on a core in all.
    pub fn core_us(&self) -> u64 {
        self.user_us.saturating_add(self.system_us)
    }

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

/// A reason as a number.
fn why_number(why: Why) -> u8 {
    match why {
        Why::Grows => 0,
        Why::Contention => 1,
        Why::Drifted => 2,
        Why::Cores => 3,
        Why::Fewer => 4,
        Why::Strangers => 5,
        Why::Profiled(resource) => 16 + resource as u8,
    }
}

fn why_of(number: u8) -> Option<Why> {
    Some(match number {
        0 => Why::Grows,
        1 => Why::Contention,
        2 => Why::Drifted,
        3 => Why::Cores,
        4 => Why::Fewer,
        5 => Why::Strangers,
        _ => Why::Profiled(*Resource::ALL.get(usize::from(number.checked_sub(16)?))?),
    })
}

#[cfg(test)]
mod tests {
    use crate::ids::{ClassId, KindId, ObjectId};
    use crate::node::{End, ReadyTask};
    use crate::pack::{Change, Sample, Spent, Uses};

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
        let spent = Spent { time_us: 5, computing_us: 1 << 40, peak_bytes: 7 };
        let sample = Sample {
            used: [0, 1, 2, 1_000_000, 4],
            moved_bytes_per_s: 1 << 50,
            free_memory_bytes: u64::MAX,
            memory_stalls: 8,
            runnable: 9,
            strangers: 10,
        };
        let width = |why| Command::Width(Change { kind: KindId(300), width: 256, why });
        let start = Command::Start { task: TaskId(7), attempt: 2, slot: SlotId(1) };
        let interrupt = Command::Interrupt { task: TaskId(0), attempt: 1, retry_at: Some(Time(0)) };
        [
            Entry::Event(Event::Ready(ready)),
            Entry::Decide,
            Entry::Command(start),
            Entry::Attempt(attempt),
            Entry::Event(Event::Finished { slot: SlotId(1), end: End::Killed }),
            Entry::Event(Event::Finished { slot: SlotId(1), end: End::OutOfMemory }),
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
            Entry::Event(Event::Spent { slot: SlotId(3), spent }),
            Entry::Event(Event::Measured(sample)),
            Entry::Event(Event::Uses { slot: SlotId(3), uses: Uses { bytes: 1 << 33, computing_us: 5 } }),
            Entry::Event(Event::FreeMemory { bytes: 1 << 34 }),
            Entry::Command(Command::Kill { slot: SlotId(2), hard: true, why: KillReason::Memory }),
            Entry::Command(Command::Kill { slot: SlotId(2), hard: false, why: KillReason::TooLarge }),
            Entry::Command(width(Why::Grows)),
            Entry::Command(width(Why::Cores)),
            Entry::Command(width(Why::Fewer)),
            Entry::Command(width(Why::Strangers)),
            Entry::Command(width(Why::Contention)),
            Entry::Command(width(Why::Drifted)),
            Entry::Command(width(Why::Profiled(Resource::Cpu))),
            Entry::Command(width(Why::Profiled(Resource::Memory))),
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
