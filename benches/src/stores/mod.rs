//! Three embedded stores under Throng's own load: completion records that arrive one by one, are
//! made durable in groups, and are all read back when the engine starts again.

mod fjall;
mod journal;
mod phase;
mod record;
mod redb;
mod usage;

use std::error::Error;
use std::path::Path;

pub use phase::{LoadFigures, Workload, WriteFigures, load, write};
pub use record::{KEY_BYTES, Record, VALUE_BYTES};
pub use usage::disk_bytes;

/// Any failure of a store; a benchmark can only report it.
pub type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

/// The stores that are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Kind {
    /// A log-structured merge tree.
    Fjall,
    /// A copy-on-write B+tree.
    Redb,
    /// Checksummed frames appended to one file, and arrays in memory.
    Journal,
}

impl Kind {
    /// All of them, in the order in which they run.
    pub const ALL: [Self; 3] = [Self::Fjall, Self::Redb, Self::Journal];

    /// The name on the command line and in the figures.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fjall => "fjall",
            Self::Redb => "redb",
            Self::Journal => "journal",
        }
    }

    /// Opens the store in `directory`, or makes it there.
    fn open(self, directory: &Path) -> Result<Box<dyn Store>> {
        Ok(match self {
            Self::Fjall => Box::new(fjall::FjallStore::open(directory)?),
            Self::Redb => Box::new(redb::RedbStore::open(directory)?),
            Self::Journal => Box::new(journal::JournalStore::open(directory)?),
        })
    }
}

/// An open store.
trait Store {
    /// Adds or replaces the records of `group` and returns when all of them are durable.
    fn commit(&mut self, group: &[Record]) -> Result<()>;

    /// Hands over all records, the newest of each key. A store that holds them in memory gives
    /// them away, so closing it is all that is left to do.
    fn take_all(&mut self) -> Result<Vec<Record>>;

    /// Ends the store's background work and closes its files.
    fn close(self: Box<Self>) -> Result<()>;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(updates: bool) -> Workload {
        Workload { count: 2_500, batch: 1_000, seed: 3, updates }
    }

    #[test]
    fn every_store_returns_what_was_written() {
        for kind in Kind::ALL {
            for updates in [false, true] {
                let directory = tempfile::tempdir().expect("a temporary directory");
                let workload = workload(updates);
                write(kind, directory.path(), &workload).expect("the store takes records");
                load(kind, directory.path(), &workload).expect("the store returns them");
            }
        }
    }

    #[test]
    fn a_load_that_misses_updates_is_refused() {
        for kind in Kind::ALL {
            let directory = tempfile::tempdir().expect("a temporary directory");
            write(kind, directory.path(), &workload(false)).expect("the store takes records");
            assert!(load(kind, directory.path(), &workload(true)).is_err());
        }
    }
}
