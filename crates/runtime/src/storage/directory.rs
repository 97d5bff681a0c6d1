//! A directory as storage: one on a slow disk, or on a file system that many machines share.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::PathBuf;
use std::sync::Arc;

use throng_core::fingerprint::Stamp;
use throng_core::workflow::Surroundings;

use super::{Opened, Storage, StorageError};
use crate::surroundings;

/// Enough to keep a disk or a server busy, and few enough that they do not get in each other's way.
const AT_ONCE: usize = 4;

#[derive(Debug)]
struct Directory {
    path: PathBuf,
}

/// Opens a directory.
pub(super) fn open(place: &str) -> Result<Arc<dyn Storage>, StorageError> {
    let failed = |error| StorageError::Io { place: place.to_owned(), error };
    let path = std::path::absolute(place).map_err(failed)?;
    if !std::fs::metadata(&path).map_err(failed)?.is_dir() {
        return Err(StorageError::NoDirectory { path });
    }
    Ok(Arc::new(Directory { path }))
}

impl Storage for Directory {
    fn stamp(&self, name: &str) -> io::Result<Stamp> {
        match std::fs::metadata(self.path.join(name)) {
            Ok(found) => stamp(&found),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => Ok(Stamp::ABSENT),
            Err(error) => Err(error),
        }
    }

    fn open<'a>(&'a self, name: &str, _goes_on: &'a dyn Fn() -> bool) -> io::Result<Opened<'a>> {
        // A pipe in the place of a file must not keep anybody waiting.
        let file = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(self.path.join(name))?;
        let found = file.metadata()?;
        let stamp = stamp(&found)?;
        Ok(Opened { stamp, is_program: found.mode() & 0o111 != 0, reader: Box::new(Unchanged { file, stamp }) })
    }

    fn glob(&self, pattern: &str) -> Result<Vec<String>, String> {
        let mut names = surroundings::Directory::new(&self.path).glob(pattern)?;
        // Only files are brought.
        names.retain(|name| !self.path.join(name).is_dir());
        Ok(names)
    }

    fn place(&self, name: &str) -> String {
        let place = if name.is_empty() { self.path.clone() } else { self.path.join(name) };
        place.display().to_string()
    }

    fn at_once(&self) -> usize {
        AT_ONCE
    }
}

fn stamp(found: &Metadata) -> io::Result<Stamp> {
    if found.is_dir() {
        return Err(io::Error::from(ErrorKind::IsADirectory));
    }
    if !found.is_file() {
        return Err(io::Error::new(ErrorKind::InvalidInput, "it is no file"));
    }
    let modified_ns = found.mtime().wrapping_mul(1_000_000_000).wrapping_add(found.mtime_nsec());
    Ok(Stamp { size: found.len(), modified_ns })
}

/// A file that may not change while it is read: half of an old one and half of a new one is neither.
struct Unchanged {
    file: File,
    stamp: Stamp,
}

impl Read for Unchanged {
    fn read(&mut self, piece: &mut [u8]) -> io::Result<usize> {
        let length = self.file.read(piece)?;
        if length == 0 && stamp(&self.file.metadata()?)? != self.stamp {
            return Err(io::Error::other("it changed while it was read"));
        }
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn files_are_found_read_and_watched() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("data")).unwrap();
        std::fs::write(folder.path().join("data/x"), "four").unwrap();
        let storage = super::super::open(folder.path().to_str().unwrap()).unwrap();
        assert_eq!(storage.stamp("data/x").unwrap().size, 4);
        assert_eq!(storage.stamp("data/y").unwrap(), Stamp::ABSENT);
        assert_eq!(storage.stamp("data/x/z").unwrap(), Stamp::ABSENT);
        assert_eq!(storage.stamp("data").unwrap_err().kind(), ErrorKind::IsADirectory);
        assert_eq!(storage.glob("data/*").unwrap(), ["data/x"]);
        assert_ne!(super::super::content(storage.as_ref(), "data/x"), 0);

        let mut opened = storage.open("data/x", &|| true).unwrap();
        let mut piece = [0; 4];
        opened.reader.read_exact(&mut piece).unwrap();
        let mut file = OpenOptions::new().append(true).open(folder.path().join("data/x")).unwrap();
        file.write_all(b"more").unwrap();
        assert!(opened.reader.read_to_end(&mut Vec::new()).is_err(), "it is not what it was");

        let no_directory = folder.path().join("data/x");
        assert!(super::super::open(no_directory.to_str().unwrap()).is_err());
        assert!(super::super::open(folder.path().join("nowhere").to_str().unwrap()).is_err());
    }
}
