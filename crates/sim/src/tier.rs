//! What of a node's objects is in its memory: those that were written, fetched or read last.
//!
//! Everything comes into memory first. What has to make room is written to the disk then, unless it has been there before, or
//! has been deleted: much that is short-lived never gets there. What is larger than all of the memory goes straight to the disk.

use std::collections::BTreeMap;

use throng_core::ids::ObjectId;

#[derive(Clone, Copy, Debug)]
struct Held {
    bytes: u64,
    last_use: u64,
    is_on_disk: bool,
}

/// What the disk has to do, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traffic {
    pub read: u64,
    pub written: u64,
}

impl Traffic {
    pub(crate) fn bytes(self) -> u64 {
        self.read.saturating_add(self.written)
    }
}

impl std::ops::AddAssign for Traffic {
    fn add_assign(&mut self, other: Traffic) {
        self.read = self.read.saturating_add(other.read);
        self.written = self.written.saturating_add(other.written);
    }
}

/// A node's memory, in front of its disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Tier {
    capacity: u64,
    used: u64,
    held: BTreeMap<ObjectId, Held>,
    by_use: BTreeMap<u64, ObjectId>,
    uses: u64,
}

impl Tier {
    pub(crate) fn new(capacity: u64) -> Tier {
        Tier { capacity, ..Tier::default() }
    }

    /// An object has been made or has come.
    pub(crate) fn write(&mut self, object: ObjectId, bytes: u64) -> Traffic {
        self.forget(object);
        match bytes > self.capacity {
            true => Traffic { read: 0, written: bytes },
            false => Traffic { read: 0, written: self.insert(object, bytes, false) },
        }
    }

    /// Somebody reads an object.
    pub(crate) fn read(&mut self, object: ObjectId, bytes: u64) -> Traffic {
        self.uses += 1;
        if let Some(held) = self.held.get_mut(&object) {
            self.by_use.remove(&held.last_use);
            held.last_use = self.uses;
            self.by_use.insert(self.uses, object);
            return Traffic::default();
        }
        match bytes > self.capacity {
            true => Traffic { read: bytes, written: 0 },
            false => Traffic { read: bytes, written: self.insert(object, bytes, true) },
        }
    }

    /// An object has been deleted.
    pub(crate) fn forget(&mut self, object: ObjectId) {
        if let Some(held) = self.held.remove(&object) {
            self.by_use.remove(&held.last_use);
            self.used -= held.bytes;
        }
    }

    /// Takes an object in, and says how much has to be written to make room.
    fn insert(&mut self, object: ObjectId, bytes: u64, is_on_disk: bool) -> u64 {
        // No more than all that was in memory.
        let mut written = 0;
        while self.used.saturating_add(bytes) > self.capacity
            && let Some((_, oldest)) = self.by_use.pop_first()
            && let Some(gone) = self.held.remove(&oldest)
        {
            self.used -= gone.bytes;
            written += if gone.is_on_disk { 0 } else { gone.bytes };
        }
        self.uses += 1;
        self.used += bytes;
        self.held.insert(object, Held { bytes, last_use: self.uses, is_on_disk });
        self.by_use.insert(self.uses, object);
        written
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_used_last_stays_and_what_goes_is_written_once() {
        let [a, b, c, large] = [0, 1, 2, 3].map(ObjectId);
        let mut tier = Tier::new(100);
        let traffic = |read, written| Traffic { read, written };
        assert_eq!([tier.write(a, 40), tier.write(b, 40)], [traffic(0, 0); 2]);
        assert_eq!(tier.read(a, 40), traffic(0, 0));
        assert_eq!(tier.write(c, 40), traffic(0, 40), "b makes room");
        assert_eq!(tier.read(b, 40), traffic(40, 40), "a has never been on disk");
        assert_eq!(tier.read(a, 40), traffic(40, 40), "nor has c");
        assert_eq!(tier.read(c, 40), traffic(40, 0), "b has been there before");
        tier.forget(a);
        assert_eq!(tier.write(b, 60), traffic(0, 0), "what is deleted is not written");
        assert_eq!([tier.write(large, 101), tier.read(large, 101)], [traffic(0, 101), traffic(101, 0)]);
        assert_eq!(tier.read(c, 40), traffic(0, 0), "and what is too large for memory drives nobody out");
        assert_eq!(Tier::new(0).write(a, 1), traffic(0, 1));
    }
}
