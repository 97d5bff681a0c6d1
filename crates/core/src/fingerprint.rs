//! Fingerprints: what Throng remembers of a file or a definition to tell later whether it is still the same.
//!
//! A [`Stamp`] is what one `stat` tells of a file. A [`Version`] stands for its *bytes*: it is what readers
//! remember of their inputs. Most of the time a version is derived from the stamp, because reading every
//! file would cost more than running most tasks; but when a task runs again and makes the same bytes as
//! before, its output keeps the old version under a new stamp, and so its readers stay up to date.

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Size and modification time of a file, as one `stat` tells them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Bytes in the file.
    pub size: u64,
    /// Nanoseconds since 1970; [`Stamp::ABSENT`] uses the impossible minimum.
    pub modified_ns: i64,
}

impl Default for Stamp {
    fn default() -> Self {
        Stamp::ABSENT
    }
}

impl Stamp {
    /// The stamp of a file that is not there.
    pub const ABSENT: Stamp = Stamp { size: 0, modified_ns: i64::MIN };

    /// Whether there is a file.
    pub fn is_present(self) -> bool {
        self != Stamp::ABSENT
    }

    /// The version a file has when nothing but its stamp is known.
    pub fn version(self) -> Version {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.size.to_le_bytes());
        bytes[8..].copy_from_slice(&self.modified_ns.to_le_bytes());
        Version(xxh3_64(&bytes))
    }
}

/// Stands for the bytes of an object; equal versions mean equal bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Version(pub u64);

/// Folds the versions of a task's inputs, in order, into the one number that its record keeps.
#[derive(Clone, Copy, Debug)]
pub struct InputsHash(u64);

impl Default for InputsHash {
    fn default() -> Self {
        InputsHash(0x5468_726f_6e67_2031)
    }
}

impl InputsHash {
    /// Adds the next input's version.
    pub fn add(&mut self, version: Version) {
        self.0 = xxh3_64_with_seed(&version.0.to_le_bytes(), self.0);
    }

    /// The number to record.
    pub fn finish(self) -> u64 {
        self.0
    }
}

/// A hash of bytes that stays the same in every version of Throng.
pub fn hash(bytes: &[u8]) -> u64 {
    xxh3_64(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_of_inputs_matters() {
        let (mut forth, mut back) = (InputsHash::default(), InputsHash::default());
        for version in [1, 2] {
            forth.add(Version(version));
        }
        for version in [2, 1] {
            back.add(Version(version));
        }
        assert_ne!(forth.finish(), back.finish());
    }
}
