//! The record that Throng keeps of a completed task, made up from the index of the task alone so
//! that neither writing nor checking needs a list of records in memory.

use xxhash_rust::xxh3::xxh3_64;

use crate::random::number_at;

/// The task's hash.
pub const KEY_BYTES: usize = 8;
/// What is known of its last completion.
pub const VALUE_BYTES: usize = 48;

const FIRST_MODIFICATION_NANOSECONDS: u64 = 1_700_000_000_000_000_000;
const LARGEST_OUTPUT_BYTES: u64 = 1 << 24;

/// A completion record as the stores see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// The task's hash.
    pub key: u64,
    /// Hash of the definition (8 bytes), hash of the inputs (16), and the output's size (8), time
    /// of modification (8) and version (8), little-endian.
    pub value: [u8; VALUE_BYTES],
}

impl Record {
    /// The record of task `index` after it ran `run` times.
    pub fn of_task(seed: u64, index: u64, run: u64) -> Self {
        let key = number_at(seed, index);
        let fields = [
            number_at(key, 0),
            number_at(key, 1).wrapping_add(run),
            number_at(key, 2),
            number_at(key, 3) % LARGEST_OUTPUT_BYTES,
            FIRST_MODIFICATION_NANOSECONDS + run * 1_000_000_000_000 + index * 10_000,
            number_at(key, 4).wrapping_add(run),
        ];
        let mut value = [0; VALUE_BYTES];
        for (place, field) in value.chunks_exact_mut(8).zip(fields) {
            place.copy_from_slice(&field.to_le_bytes());
        }
        Self { key, value }
    }

    /// A number to add up over all records, so that two sets compare without being sorted.
    pub fn fingerprint(&self) -> u64 {
        let mut bytes = [0; KEY_BYTES + VALUE_BYTES];
        bytes[..KEY_BYTES].copy_from_slice(&self.key.to_le_bytes());
        bytes[KEY_BYTES..].copy_from_slice(&self.value);
        xxh3_64(&bytes)
    }
}
