//! By what a tier, and a link into one, is told from anybody's own: a tier by its name, a link by where it leads.
//!
//! Whoever uses a tier holds a lock on its directory. So a tier that nobody holds was left behind, whatever has become of the state that
//! noted it, and what a tier that is held belongs to is alive, wherever a copy of its note may lie.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use super::TierError;

/// What the names of tiers begin with; sixteen digits of chance follow.
pub(super) const PREFIX: &str = "throng-tier-";
const DIGITS: usize = 16;

/// A killed engine's lock can outlive it for a moment, in a process that it was just about to start.
const DEAD_HOLDER_PATIENCE: Duration = Duration::from_millis(500);

/// The tier that a link leads into, if it leads into one.
pub(crate) fn tier_of(target: &Path) -> Option<&Path> {
    let tier = target.parent()?;
    let is_own = target.file_name()?.to_str().is_some_and(is_own_name);
    (is_tier(tier) && is_own).then_some(tier)
}

/// Whether a directory has the name of a tier.
pub(super) fn is_tier(directory: &Path) -> bool {
    let name = directory.file_name().and_then(|name| name.to_str());
    let digits = name.and_then(|name| name.strip_prefix(PREFIX));
    digits.is_some_and(|digits| digits.len() == DIGITS && digits.bytes().all(|digit| digit.is_ascii_hexdigit()))
}

/// Whether a path is a link into a tier: such links come and go with a run, and are not what anybody means by a file.
pub(crate) fn is_of_tier(path: &Path) -> bool {
    std::fs::read_link(path).is_ok_and(|target| tier_of(&target).is_some())
}

/// Holds a directory, if nobody else does.
pub(super) fn hold(directory: &Path) -> io::Result<Result<File, TryLockError>> {
    let file = File::open(directory)?;
    let deadline = Instant::now() + DEAD_HOLDER_PATIENCE;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(Ok(file)),
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => std::thread::sleep(Duration::from_millis(2)),
            Err(error) => return Ok(Err(error)),
        }
    }
}

/// Whether somebody uses a tier.
pub(super) fn is_held(tier: &Path) -> bool {
    matches!(hold(tier), Ok(Err(TryLockError::WouldBlock)))
}

/// Whether a name is one that files in a tier have: a number, or one with another that is still being written.
pub(super) fn is_own_name(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match name.strip_suffix(".part").map(|part| part.split_once('.')) {
        Some(Some((object, copy))) => is_number(object) && is_number(copy),
        Some(None) => false,
        None => is_number(name),
    }
}

/// Keeps others from making links in the same directory.
#[derive(Debug)]
pub(crate) struct DirectoryLock {
    _file: File,
}

/// Locks a workflow's directory against other tiers, before anybody looks at what lies there; nothing where the file system does not know
/// such locks.
pub(crate) fn lock(directory: &Path) -> Result<Option<DirectoryLock>, TierError> {
    let held = hold(directory).map_err(|error| TierError::Place { directory: directory.to_owned(), error })?;
    match held {
        Ok(file) => Ok(Some(DirectoryLock { _file: file })),
        Err(TryLockError::Error(_)) => Ok(None),
        Err(TryLockError::WouldBlock) => Err(TierError::Shared(directory.to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiers_are_known_by_their_names_and_by_who_holds_them() {
        let tier = "/dev/shm/throng-tier-0123456789abcdef";
        assert_eq!(tier_of(Path::new(&format!("{tier}/17"))), Some(Path::new(tier)));
        for other in [
            "17",
            "/data/17",
            "/dev/shm/throng-tier-0123456789abcdef",
            "/dev/shm/throng-tier-0123456789abcdef/notes",
            "/dev/shm/throng-tier-0123456789abcde/17",
            "/dev/shm/throng-tier-0123456789abcdeg/17",
        ] {
            assert_eq!(tier_of(Path::new(other)), None, "{other}");
        }
        let folder = tempfile::tempdir().unwrap();
        assert!(!is_held(folder.path()) && !is_held(&folder.path().join("nowhere")));
        let held = hold(folder.path()).unwrap().unwrap();
        assert!(is_held(folder.path()));
        drop(held);
        assert!(!is_held(folder.path()));
    }

    #[test]
    fn own_names() {
        for own in ["0", "17", "17.3.part"] {
            assert!(is_own_name(own), "{own}");
        }
        for foreign in ["", "a", "17.part", "17.3.parts", ".3.part", "17.x.part", "1 7", "-1"] {
            assert!(!is_own_name(foreign), "{foreign}");
        }
    }
}
