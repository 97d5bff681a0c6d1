//! What is known of each object while a run goes on.
//!
//! Threads that prepare tasks read this without a lock. What tasks make is written before their readers
//! become ready, and becoming ready passes through the lock around the node. What comes from outside may be
//! looked at by several threads at once: the time of modification is written last, and read first and once more
//! at the end, so that whoever sees a new one sees what belongs to it.

use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

use throng_core::fingerprint::{Stamp, Version};
use throng_core::ids::ObjectId;
use throng_core::stale::Made;

/// Stamp, version and content of every object.
#[derive(Debug, Default)]
pub struct Objects {
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    size: AtomicU64,
    modified_ns: AtomicI64,
    version: AtomicU64,
    content: AtomicU64,
}

impl Objects {
    /// A table in which nothing is known.
    pub fn new(count: usize) -> Self {
        let absent = || Entry {
            size: AtomicU64::new(0),
            modified_ns: AtomicI64::new(Stamp::ABSENT.modified_ns),
            version: AtomicU64::new(0),
            content: AtomicU64::new(0),
        };
        Objects { entries: std::iter::repeat_with(absent).take(count).collect() }
    }

    /// What is known of an object.
    pub fn get(&self, object: ObjectId) -> Made {
        let entry = &self.entries[object.index()];
        loop {
            let modified_ns = entry.modified_ns.load(Ordering::Acquire);
            let made = Made {
                stamp: Stamp { size: entry.size.load(Ordering::Acquire), modified_ns },
                version: Version(entry.version.load(Ordering::Acquire)),
                content: entry.content.load(Ordering::Acquire),
                // Only the record of the last run says so.
                is_adopted: false,
            };
            if entry.modified_ns.load(Ordering::Acquire) == modified_ns {
                return made;
            }
        }
    }

    /// Sets what is known of an object.
    pub fn set(&self, object: ObjectId, made: Made) {
        let entry = &self.entries[object.index()];
        entry.size.store(made.stamp.size, Ordering::Relaxed);
        entry.version.store(made.version.0, Ordering::Relaxed);
        entry.content.store(made.content, Ordering::Relaxed);
        entry.modified_ns.store(made.stamp.modified_ns, Ordering::Release);
    }
}
