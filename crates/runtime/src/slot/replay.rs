//! A task of a trace, replayed: it reads its inputs, writes its outputs, and takes as long as it is to take, all without a process.
//!
//! What is measured of a task covers reading and writing, so both happen within its time; only what is left of it is waited
//! for or spent on a core.

use std::fs::File;
use std::io::{self, Read};
use std::path::PathBuf;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use throng_core::ids::ObjectId;
use throng_core::time::Time;

use super::{AttemptResult, GROUP_POLL, Job, SlotRunner, Trouble};
use crate::replay::{draft, write_bytes};
use crate::storage::PIECE_BYTES;

/// How long a core is kept busy before somebody looks whether that is still wanted.
const SPIN_PART: Duration = Duration::from_micros(200);
/// What is read and written is counted in blocks of so many bytes, as the kernel would.
const BLOCK_BYTES: u64 = 512;

impl SlotRunner<'_> {
    pub(super) fn replay(
        &self,
        job: Job,
        length: Duration,
        spins: bool,
        result: &mut AttemptResult,
    ) -> Result<(), Trouble> {
        let drafts: Vec<PathBuf> = self.outputs_of(job).map(|(_, path)| draft(&path)).collect();
        let replayed = self.try_replay(job, length, spins, result);
        if replayed.is_err() {
            // What cannot be deleted is written over by the next attempt.
            drafts.iter().for_each(|draft| drop(std::fs::remove_file(draft)));
        }
        replayed
    }

    fn outputs_of(&self, job: Job) -> impl Iterator<Item = (ObjectId, PathBuf)> + '_ {
        let flow = &self.shared.flow;
        flow.outputs(job.task).map(|object| (object, self.shared.workplace.path(flow.object_name(object))))
    }

    fn try_replay(&self, job: Job, length: Duration, spins: bool, result: &mut AttemptResult) -> Result<(), Trouble> {
        let (begun, cpu_begun) = (self.shared.clock.now(), thread_time());
        let (mut read, mut written) = (0, 0);
        let flow = &self.shared.flow;
        for object in flow.inputs(job.task) {
            let name = flow.object_name(object);
            let done = self.read_whole(job, name);
            read += done?.map_err(|error| Trouble::files("read", name, &error))?;
        }
        for (object, path) in self.outputs_of(job) {
            let name = flow.object_name(object);
            let bytes = flow.declared_size(object).unwrap_or(0);
            let mut trouble = None;
            let done = write_bytes(&draft(&path), name, bytes, || {
                trouble = self.told_to_end(job).err();
                trouble.is_none()
            });
            if let Some(trouble) = trouble {
                return Err(trouble);
            }
            done.map_err(|error| Trouble::files("write", name, &error))?;
            written += bytes;
        }
        if spins {
            self.spin(job, length, cpu_begun)?
        } else {
            self.sleep_until(job, begun + length)?
        }
        for (object, path) in self.outputs_of(job) {
            let name = flow.object_name(object);
            std::fs::rename(draft(&path), &path).map_err(|error| Trouble::files("write", name, &error))?;
        }
        let usage = &mut result.attempt.usage;
        usage.user_us = thread_time().saturating_sub(cpu_begun).as_micros() as u64;
        usage.blocks_in = u64::div_ceil(read, BLOCK_BYTES);
        usage.blocks_out = u64::div_ceil(written, BLOCK_BYTES);
        Ok(())
    }

    /// Reads a file to its end and forgets it; says how much there was.
    fn read_whole(&self, job: Job, name: &str) -> Result<io::Result<u64>, Trouble> {
        let mut file = match File::open(self.shared.workplace.path(name)) {
            Ok(file) => file,
            Err(error) => return Ok(Err(error)),
        };
        let mut part = vec![0; PIECE_BYTES];
        let mut total = 0;
        loop {
            self.told_to_end(job)?;
            match file.read(&mut part) {
                Ok(0) => return Ok(Ok(total)),
                Ok(count) => total += count as u64,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Ok(Err(error)),
            }
        }
    }

    /// Waits for a moment, unless somebody wants the task to end.
    pub(super) fn sleep_until(&self, job: Job, end: Time) -> Result<(), Trouble> {
        loop {
            self.told_to_end(job)?;
            let left = end.since(self.shared.clock.now());
            if left.is_zero() {
                return Ok(());
            }
            std::thread::sleep(left.min(GROUP_POLL));
        }
    }

    /// Keeps a core busy until this thread has had so much time on one.
    fn spin(&self, job: Job, length: Duration, begun: Duration) -> Result<(), Trouble> {
        let end = begun + length;
        let mut number = 1u64;
        while thread_time() < end {
            self.told_to_end(job)?;
            let part_end = (thread_time() + SPIN_PART).min(end);
            while thread_time() < part_end {
                for _ in 0..20_000 {
                    number = std::hint::black_box(number.wrapping_mul(6364136223846793005).wrapping_add(1));
                }
            }
        }
        Ok(())
    }
}

/// How long this thread has been on a core.
fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
