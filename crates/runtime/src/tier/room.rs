//! Where a tier is made: in memory if there is room for it, or else beside the state.

use std::fs::DirBuilder;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::TierError;
use super::mark::PREFIX;

/// A file system in memory that every Linux has.
pub(super) const IN_MEMORY: &str = "/dev/shm";

/// How many bytes can be written below a directory; nothing if that cannot be told, or nobody may write there.
fn free_bytes(directory: &Path) -> io::Result<u64> {
    let found = rustix::fs::statvfs(directory)?;
    rustix::fs::access(directory, rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK)?;
    Ok(found.f_bavail.saturating_mul(found.f_frsize))
}

/// The directory in which to make a tier that will hold so many bytes.
pub(super) fn choose(asked: Option<&Path>, state: &Path, needed_bytes: u64) -> Result<PathBuf, TierError> {
    // Without links and ways up, so that it is found whatever is moved meanwhile.
    let absolute = |path: &Path| std::fs::canonicalize(path).or_else(|_| std::path::absolute(path));
    if asked.is_none() && free_bytes(Path::new(IN_MEMORY)).is_ok_and(|free| free >= needed_bytes) {
        return Ok(PathBuf::from(IN_MEMORY));
    }
    let wanted = asked.unwrap_or(state);
    let directory = absolute(wanted).unwrap_or_else(|_| wanted.to_owned());
    match free_bytes(&directory) {
        Ok(free_bytes) if free_bytes < needed_bytes => Err(TierError::NoRoom { directory, free_bytes, needed_bytes }),
        Ok(_) => Ok(directory),
        Err(error) => Err(TierError::Place { directory, error }),
    }
}

/// A name for a tier that nobody else has.
pub(super) fn name_below(directory: &Path) -> PathBuf {
    // Seeded by the system, and differently each time.
    let chance = RandomState::new().build_hasher().finish();
    directory.join(format!("{PREFIX}{chance:016x}"))
}

/// Makes a directory that nobody else may look into; false if there is something already.
pub(super) fn make(path: &Path) -> io::Result<bool> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_comes_first_and_what_is_asked_for_counts() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(choose(Some(folder.path()), folder.path(), 1).unwrap(), folder.path());
        assert!(matches!(choose(Some(folder.path()), folder.path(), u64::MAX), Err(TierError::NoRoom { .. })));
        let nowhere = folder.path().join("nowhere");
        assert!(matches!(choose(Some(&nowhere), folder.path(), 1), Err(TierError::Place { .. })));
        let path = name_below(folder.path());
        assert!(make(&path).unwrap());
        assert!(!make(&path).unwrap());
        assert_ne!(name_below(folder.path()), path);
    }
}
