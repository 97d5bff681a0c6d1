//! Slow storage: where inputs lie that are brought into a tier while a run goes on.
//!
//! A storage is asked from several threads at once, and blocks whoever asks: nobody does so under the lock around the node.

mod directory;
mod s3;

use std::fmt::Debug;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

use thiserror::Error;
use throng_core::fingerprint::Stamp;
use xxhash_rust::xxh3::Xxh3;

/// Something that holds files under the names by which a workflow knows them.
pub trait Storage: Debug + Send + Sync {
    /// What lies under a name, without reading it; [`Stamp::ABSENT`] if nothing does.
    fn stamp(&self, name: &str) -> io::Result<Stamp>;
    /// Begins to read a file. Whoever waits for a server that is busy asks whether that still goes on.
    fn open<'a>(&'a self, name: &str, goes_on: &'a dyn Fn() -> bool) -> io::Result<Opened<'a>>;
    /// The names that match a pattern, sorted.
    fn glob(&self, pattern: &str) -> Result<Vec<String>, String>;
    /// Where a name leads, as people write it.
    fn place(&self, name: &str) -> String;
    /// How many files are worth reading at once.
    fn at_once(&self) -> usize;
}

/// A file that is being read.
pub struct Opened<'a> {
    /// What it is: what is read belongs to this, or reading fails.
    pub stamp: Stamp,
    /// Whether it can be executed.
    pub is_program: bool,
    /// Its bytes.
    pub reader: Box<dyn Read + 'a>,
}

/// A storage that cannot be used.
#[derive(Debug, Error)]
pub enum StorageError {
    /// It is not there, or may not be looked at.
    #[error("cannot look into the storage {place}: {error}")]
    Io {
        /// Which one.
        place: String,
        /// Why not.
        error: io::Error,
    },
    /// Who asks is not let in, or at the wrong door.
    #[error("cannot look into the storage {place}: {why}")]
    Refused {
        /// Which one.
        place: String,
        /// What it says.
        why: String,
        /// What helps.
        remedy: String,
    },
    /// It is written wrongly.
    #[error("cannot use the storage {url}: {why}")]
    BadUrl {
        /// What was given.
        url: String,
        /// Why not.
        why: String,
    },
    /// The environment does not fit.
    #[error("cannot use the storage {url}: {why}")]
    BadEnvironment {
        /// What was given.
        url: String,
        /// What is wrong.
        why: String,
        /// What helps.
        remedy: String,
    },
    /// It is something else.
    #[error("the storage {} is no directory", path.display())]
    NoDirectory {
        /// What was given.
        path: PathBuf,
    },
}

/// Opens the storage that a person names: a directory, or `s3://bucket/prefix`.
pub fn open(place: &str) -> Result<Arc<dyn Storage>, StorageError> {
    match place.split_once(":/") {
        Some(("s3", rest)) if rest.starts_with('/') => s3::open(place),
        Some((scheme, _)) if scheme.len() > 1 && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric()) => {
            let why = format!("`{scheme}` is not known");
            Err(StorageError::BadUrl { url: place.to_owned(), why })
        }
        _ => directory::open(place),
    }
}

/// Files are read and written in pieces of this size: large enough that asking for each costs nothing beside moving it, and small enough to stop
/// between two.
pub(crate) const PIECE_BYTES: usize = 256 * 1024;

/// A hash of a file's content as [`crate::files::Workplace::content`] makes it; zero if it cannot be read.
pub fn content(storage: &dyn Storage, name: &str) -> u64 {
    let read = || -> io::Result<u64> {
        let mut opened = storage.open(name, &|| true)?;
        let (mut hasher, mut piece) = (Xxh3::new(), vec![0; PIECE_BYTES]);
        loop {
            match opened.reader.read(&mut piece)? {
                0 => return Ok(hasher.digest() | 1),
                length => hasher.update(&piece[..length]),
            }
        }
    };
    read().unwrap_or(0)
}
