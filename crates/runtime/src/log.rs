//! What tasks print, packed into one file per run.
//!
//! Each slot has a scratch file of its own that its task writes to. When the task ends, whatever is there
//! is appended here and the scratch file is emptied. So there is no pipe, no lasting file per task, and a
//! task that truncates its own output, or a stray child that writes on, reaches nobody else's.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

/// The packed log of a run.
#[derive(Debug)]
pub struct PackedLog {
    file: File,
    length: AtomicU64,
}

impl PackedLog {
    /// Makes an empty log.
    pub fn create(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
        Ok(PackedLog { file, length: AtomicU64::new(0) })
    }

    /// Appends all of a scratch file and returns where it lies.
    pub fn append(&self, scratch: &File, length: u64) -> io::Result<(u64, u64)> {
        let start = self.length.fetch_add(length, Ordering::Relaxed);
        let mut buffer = vec![0; length.min(1 << 20) as usize];
        let mut copied = 0;
        while copied < length {
            let wanted = (length - copied).min(buffer.len() as u64) as usize;
            let got = scratch.read_at(&mut buffer[..wanted], copied)?;
            if got == 0 {
                break;
            }
            self.file.write_all_at(&buffer[..got], start + copied)?;
            copied += got as u64;
        }
        Ok((start, copied))
    }

    /// Copies a piece of the log to a writer.
    pub fn copy(&self, start: u64, length: u64, out: &mut dyn io::Write) -> io::Result<()> {
        copy_from(&self.file, start, length, out)
    }

    /// The last lines of a piece of the log.
    pub fn tail(&self, (start, length): (u64, u64), lines: usize) -> io::Result<String> {
        tail(&self.file, start, length, lines)
    }
}

/// Long enough for any last lines worth showing at once.
const TAIL_BYTES: u64 = 8 * 1024;

fn tail(file: &File, start: u64, length: u64, lines: usize) -> io::Result<String> {
    let shown = length.min(TAIL_BYTES);
    let mut bytes = vec![0; shown as usize];
    file.read_exact_at(&mut bytes, start + length - shown)?;
    let text = String::from_utf8_lossy(&bytes);
    let mut last: Vec<&str> = text.lines().rev().take(lines).collect();
    last.reverse();
    Ok(last.join("\n"))
}

/// The last lines of a piece of a log, or of any other file.
pub fn last_lines(path: &Path, (start, length): (u64, u64), lines: usize) -> io::Result<String> {
    tail(&File::open(path)?, start, length, lines)
}

/// Copies a piece of a log to a writer.
pub fn copy(path: &Path, start: u64, length: u64, out: &mut dyn io::Write) -> io::Result<()> {
    copy_from(&File::open(path)?, start, length, out)
}

fn copy_from(file: &File, start: u64, length: u64, out: &mut dyn io::Write) -> io::Result<()> {
    let mut buffer = vec![0; length.min(1 << 20) as usize];
    let mut copied = 0;
    while copied < length {
        let wanted = (length - copied).min(buffer.len() as u64) as usize;
        match file.read_at(&mut buffer[..wanted], start + copied)? {
            0 => break,
            got => {
                out.write_all(&buffer[..got])?;
                copied += got as u64;
            }
        }
    }
    Ok(())
}
