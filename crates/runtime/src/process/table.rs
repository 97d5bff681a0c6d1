//! Which process runs in which slot, in a file that outlives the engine.
//!
//! The file is mapped into memory, so that noting a number costs no call and survives `kill -9` all the
//! same. The next engine ends whatever is still noted here before it runs those tasks again.

use std::fs::OpenOptions;
use std::io;
use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

use rustix::mm::{MapFlags, ProtFlags};

/// What is noted of one slot. Zeroes mean that nothing runs in it.
#[derive(Debug)]
#[repr(C)]
pub struct SlotCell {
    /// The number of its process, and of the process's group.
    pub pid: AtomicI32,
    /// The number of the engine that started it.
    engine: AtomicI32,
    /// When it was about to be started, in nanoseconds since the machine was.
    pub started_ns: AtomicU64,
    /// What its task is known by.
    pub key: AtomicU64,
    /// Which start of the machine this is about.
    pub boot: AtomicU64,
}

impl SlotCell {
    /// Notes that a process of a task is about to be started.
    pub fn prepare(&self, key: u64, boot: u64) {
        self.pid.store(0, Ordering::Relaxed);
        self.engine.store(std::process::id() as i32, Ordering::Relaxed);
        self.key.store(key, Ordering::Relaxed);
        self.boot.store(boot, Ordering::Relaxed);
        self.started_ns.store(since_boot_ns(), Ordering::Release);
    }

    /// Notes that nothing runs here.
    pub fn clear(&self) {
        self.pid.store(0, Ordering::Release);
    }
}

/// Nanoseconds since the machine started, on the clock by which the kernel notes when a process did.
pub fn since_boot_ns() -> u64 {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// The cells of all slots.
#[derive(Debug)]
pub struct SlotTable {
    cells: *mut SlotCell,
    count: usize,
}

// SAFETY: cells consist of atomics, and the mapping lives as long as the table.
unsafe impl Send for SlotTable {}
// SAFETY: as above.
unsafe impl Sync for SlotTable {}

impl SlotTable {
    /// Makes a file with an empty cell for each slot.
    pub fn create(path: &Path, count: usize) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(path)?;
        let length = count.max(1) * size_of::<SlotCell>();
        // Allocated now, because a full disk would otherwise show as a fatal signal at the first write.
        rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, length as u64)
            .or_else(|_| rustix::fs::ftruncate(&file, length as u64))?;
        // SAFETY: a fresh shared mapping of a file that only this engine, which holds the lock, maps.
        let address = unsafe {
            rustix::mm::mmap(
                std::ptr::null_mut(),
                length,
                ProtFlags::READ | ProtFlags::WRITE,
                MapFlags::SHARED,
                file.as_fd(),
                0,
            )?
        };
        Ok(SlotTable { cells: address.cast(), count })
    }

    /// The cell of a slot.
    pub fn cell(&self, slot: usize) -> &SlotCell {
        assert!(slot < self.count, "there is a cell for every slot");
        // SAFETY: within the mapping, which is zeroed and consists of atomics.
        unsafe { &*self.cells.add(slot) }
    }
}

impl Drop for SlotTable {
    fn drop(&mut self) {
        // SAFETY: mapped by `create` with this length; nobody holds a cell any more.
        unsafe {
            let _ = rustix::mm::munmap(self.cells.cast(), self.count.max(1) * size_of::<SlotCell>());
        }
    }
}

/// One cell as read back from a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Noted {
    /// The process, which was also the leader of its group.
    pub pid: i32,
    /// The engine that started it.
    pub engine: i32,
    /// When it was about to be started.
    pub started_ns: u64,
    /// What its task is known by.
    pub key: u64,
    /// Since which start of the machine.
    pub boot: u64,
}

/// The slots in which something runs, each with what its task is known by.
pub fn running_slots(path: &Path) -> Vec<(usize, u64)> {
    let cells = cells(path).into_iter().enumerate().filter(|(_, noted)| noted.pid > 1);
    cells.map(|(slot, noted)| (slot, noted.key)).collect()
}

/// What an engine that is gone had noted as running.
pub fn read(path: &Path) -> Vec<Noted> {
    cells(path).into_iter().filter(|noted| noted.pid > 1).collect()
}

fn cells(path: &Path) -> Vec<Noted> {
    let bytes = std::fs::read(path).unwrap_or_default();
    let number = |cell: &[u8], at: usize| u64::from_le_bytes(cell[at..at + 8].try_into().expect("eight bytes"));
    bytes
        .chunks_exact(size_of::<SlotCell>())
        .map(|cell| Noted {
            pid: number(cell, 0) as u32 as i32,
            engine: (number(cell, 0) >> 32) as i32,
            started_ns: number(cell, 8),
            key: number(cell, 16),
            boot: number(cell, 24),
        })
        .collect()
}
