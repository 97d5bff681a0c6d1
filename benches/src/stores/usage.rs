//! What a phase uses besides time, as the kernel counts it.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Result;

const BYTES_PER_KIBIBYTE: u64 = 1024;
const BYTES_PER_BLOCK: u64 = 512;

/// The process's counters at one moment.
pub(super) struct Usage {
    resident_bytes: u64,
    peak_resident_bytes: u64,
    processor_time: Duration,
    device_bytes: u64,
}

/// What a phase added to the counters.
#[derive(Debug, Serialize, Deserialize)]
pub struct UsageGrowth {
    /// The peak of resident memory over what was resident before. The page cache does not count.
    pub peak_resident_bytes: u64,
    /// Processor time of all threads.
    pub processor_seconds: f64,
    /// Bytes handed to the block device, by this process or on its behalf.
    pub device_bytes: u64,
}

impl Usage {
    pub(super) fn now() -> Result<Self> {
        let status = fs::read_to_string("/proc/self/status")?;
        let input_output = fs::read_to_string("/proc/self/io")?;
        Ok(Self {
            resident_bytes: field(&status, "VmRSS:")? * BYTES_PER_KIBIBYTE,
            peak_resident_bytes: field(&status, "VmHWM:")? * BYTES_PER_KIBIBYTE,
            processor_time: processor_time()?,
            device_bytes: field(&input_output, "write_bytes:")?,
        })
    }

    pub(super) fn growth_since(&self, before: &Self) -> UsageGrowth {
        let processor_time = self.processor_time.saturating_sub(before.processor_time);
        UsageGrowth {
            peak_resident_bytes: self.peak_resident_bytes.saturating_sub(before.resident_bytes),
            processor_seconds: processor_time.as_secs_f64(),
            device_bytes: self.device_bytes.saturating_sub(before.device_bytes),
        }
    }
}

fn field(text: &str, name: &str) -> Result<u64> {
    let number = text
        .lines()
        .find_map(|line| line.strip_prefix(name))
        .and_then(|rest| rest.split_whitespace().next())
        .ok_or_else(|| format!("the kernel reports no {name}"))?;
    Ok(number.parse()?)
}

fn processor_time() -> io::Result<Duration> {
    let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `now` is a valid place for the result.
    if unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut now) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Duration::new(now.tv_sec as u64, now.tv_nsec as u32))
}

/// The space that the files below `directory` take on the disk. Files with holes, such as a journal
/// whose length is set ahead of its content, count only where they hold data.
pub fn disk_bytes(directory: &Path) -> io::Result<u64> {
    let mut total = 0;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let metadata = entry.metadata()?;
        total += if metadata.is_dir() { disk_bytes(&entry.path())? } else { metadata.blocks() * BYTES_PER_BLOCK };
    }
    Ok(total)
}
