//! What the state directory knows of a tier, so that nothing of it outlives a run for long.
//!
//! ```text
//!   .throng/tier/place    where the tier is, and the directory with its links; written before it is made
//!   .throng/tier/links    each link, and each directory made for one; written before it is made
//! ```
//!
//! Whoever comes after a killed engine takes away what is noted here, and only if it is still what was noted: a link that leads into
//! this tier, an empty directory, a file of the tier's own. What is noted and was never made does no harm.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::TierError;
use super::mark::{is_held, is_own_name, is_tier};
use super::room::IN_MEMORY;
use crate::files::Workplace;
use crate::state::{StateDirectory, StateError, io_error, sync_directory, write_durably};

/// What a line is about: a link, a directory that was made for links, or one that turned out to be somebody else's.
const LINK: u8 = b'l';
const MADE: u8 = b'd';
const NOT_MADE: u8 = b'k';

/// The list of what lies in the workflow's directory because of a tier.
#[derive(Debug)]
pub(super) struct Note {
    links: File,
    noted: HashSet<String>,
}

/// Where the tier is, and the directory with its links.
fn read(state: &StateDirectory) -> Result<Option<(PathBuf, PathBuf)>, StateError> {
    let path = state.tier().join("place");
    let place = match std::fs::read(&path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        other => other.map_err(io_error("read", &path))?,
    };
    let mut paths = place.split(|byte| *byte == 0).map(|path| PathBuf::from(OsStr::from_bytes(path)));
    Ok(paths.next().zip(paths.next()))
}

impl Note {
    /// Notes where a tier will be.
    pub(super) fn begin(state: &StateDirectory, tier: &Path, home: &Path) -> Result<Note, StateError> {
        let directory = state.tier();
        std::fs::create_dir_all(&directory).map_err(io_error("make", &directory))?;
        sync_directory(state.path())?;
        let path = directory.join("links");
        let links = OpenOptions::new().append(true).create(true).open(&path).map_err(io_error("open", &path))?;
        let place = [tier.as_os_str().as_bytes(), &[0], home.as_os_str().as_bytes()].concat();
        write_durably(&directory.join("place"), &place)?;
        Ok(Note { links, noted: HashSet::new() })
    }

    fn write(&mut self, what: u8, name: &str) -> io::Result<()> {
        let line: Vec<u8> = [&[what], name.as_bytes(), &[0]].concat();
        self.links.write_all(&line)
    }

    /// Notes a link that will be made; once is enough.
    pub(super) fn link(&mut self, name: &str) -> io::Result<()> {
        if !self.noted.contains(name) {
            self.write(LINK, name)?;
            self.noted.insert(name.to_owned());
        }
        Ok(())
    }

    /// Makes the directories above a file that are not there.
    pub(super) fn make_parents(&mut self, root: &Path, name: &str) -> io::Result<()> {
        for (slash, _) in name.match_indices('/') {
            let above = &name[..slash];
            if root.join(above).exists() {
                continue;
            }
            self.write(MADE, above)?;
            match std::fs::create_dir(root.join(above)) {
                Err(error) if error.kind() == ErrorKind::AlreadyExists => self.write(NOT_MADE, above)?,
                other => other?,
            }
        }
        Ok(())
    }
}

/// Takes away what the tier of a dead run has left, in the workflow's directory and elsewhere. What somebody uses is left alone: then the
/// note is a copy, and the run that it tells of goes on where it was copied from. The directory may have been moved since, with its state.
/// `inputs` are names at which a link may be that was not noted because the power failed.
pub fn clear<'a>(
    state: &StateDirectory,
    directory: &Path,
    inputs: impl Iterator<Item = &'a str> + Clone,
) -> Result<(), StateError> {
    match read(state)? {
        Some((tier, _)) if is_held(&tier) => remove_note(state),
        _ => clear_noted(state, directory, inputs),
    }
}

/// Takes away what the tier of this very run has left. If the state has been moved meanwhile, its links are for whoever comes next.
pub(super) fn clear_own(state: &StateDirectory, directory: &Path, own: &Path) -> Result<(), StateError> {
    match read(state)? {
        Some((noted, _)) if noted == own => clear_noted(state, directory, std::iter::empty()),
        _ => remove(own).map_err(io_error("delete", own)),
    }
}

fn clear_noted<'a>(
    state: &StateDirectory,
    directory: &Path,
    inputs: impl Iterator<Item = &'a str> + Clone,
) -> Result<(), StateError> {
    let note = state.tier();
    if let Some((tier, home)) = read(state)? {
        for directory in [Some(directory), Some(home.as_path()).filter(|home| *home != directory)].into_iter().flatten()
        {
            // Where it is not any more, nothing is left.
            if let Ok(place) = Workplace::open(directory, PathBuf::new(), PathBuf::new()) {
                clear_links(&note, &tier, &place, inputs.clone())?;
            }
        }
        remove(&tier).map_err(io_error("delete", &tier))?;
    }
    remove_note(state)
}

fn remove_note(state: &StateDirectory) -> Result<(), StateError> {
    let note = state.tier();
    match std::fs::remove_dir_all(&note) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(io_error("delete", &note)(error)),
        _ => Ok(()),
    }
}

/// Takes away links into a tier, and directories that were made for them.
fn clear_links<'a>(
    note: &Path,
    tier: &Path,
    place: &Workplace,
    mut inputs: impl Iterator<Item = &'a str>,
) -> Result<(), StateError> {
    let links = std::fs::read(note.join("links")).unwrap_or_default();
    let lines = || links.split(|byte| *byte == 0).filter_map(|line| Some((*line.first()?, line.get(1..)?)));
    let names = |wanted: u8| lines().filter(move |(what, _)| *what == wanted).map(|(_, name)| name);
    let unlink = |name: &str| match place.tier_at(name).is_some_and(|found| found == tier) {
        true => place.unlink(name).map_err(io_error("delete", &place.path(name))),
        false => Ok(()),
    };
    names(LINK).filter_map(|name| std::str::from_utf8(name).ok()).try_for_each(unlink)?;
    inputs.try_for_each(unlink)?;
    let foreign: HashSet<&[u8]> = names(NOT_MADE).collect();
    let mut made: Vec<&[u8]> = names(MADE).filter(|name| !foreign.contains(name)).collect();
    made.reverse();
    for name in made.into_iter().filter_map(|name| std::str::from_utf8(name).ok()) {
        // One that is not empty has become somebody else's.
        let _ = std::fs::remove_dir(place.path(name));
    }
    Ok(())
}

/// Takes away what dead runs have left whose states nobody has any more, at the places of these inputs and in memory; says how many links that
/// were.
pub fn clear_unnoted<'a>(directory: &Path, inputs: impl Iterator<Item = &'a str>) -> Result<usize, TierError> {
    let failed = |error| TierError::Place { directory: directory.to_owned(), error };
    let place = Workplace::open(directory, PathBuf::new(), PathBuf::new()).map_err(failed)?;
    let left = inputs.filter_map(|name| Some((name.to_owned(), place.tier_at(name).filter(|tier| !is_held(tier))?)));
    let left: Vec<(String, PathBuf)> = left.collect();
    clear_left(directory, &left)?;
    sweep(Path::new(IN_MEMORY));
    Ok(left.len())
}

/// A tier that was made just now may not be held yet.
const SWEPT_AFTER: Duration = Duration::from_secs(60);

/// Takes away all tiers in a directory that nobody holds any more. Only this machine may use that directory: of others, a lock may not tell.
pub(super) fn sweep(directory: &Path) {
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let tier = entry.path();
        let age = || entry.metadata().ok()?.modified().ok()?.elapsed().ok();
        if is_tier(&tier) && age().is_some_and(|age| age > SWEPT_AFTER) && !is_held(&tier) {
            // What cannot be taken away is somebody else's, or does no harm.
            let _ = remove(&tier);
        }
    }
}

/// Takes away links that dead runs have left whose states nobody has any more, and the tiers that they lead into.
pub(super) fn clear_left(home: &Path, left: &[(String, PathBuf)]) -> Result<(), TierError> {
    let failed = |error| TierError::Place { directory: home.to_owned(), error };
    for (name, _) in left {
        std::fs::remove_file(home.join(name)).map_err(failed)?;
    }
    let tiers: BTreeSet<&PathBuf> = left.iter().map(|(_, tier)| tier).collect();
    tiers.into_iter().try_for_each(|tier| remove(tier)).map_err(failed)
}

/// Deletes a tier: its own files, and then itself, if nothing else is in it.
pub(super) fn remove(tier: &Path) -> io::Result<()> {
    let found = match tier.symlink_metadata() {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    let is_ours = found.is_dir() && found.uid() == rustix::process::geteuid().as_raw() && found.mode() & 0o077 == 0;
    if !is_ours {
        return Ok(());
    }
    for entry in std::fs::read_dir(tier)?.flatten() {
        if entry.file_name().to_str().is_some_and(is_own_name) {
            std::fs::remove_file(entry.path())?;
        }
    }
    match std::fs::remove_dir(tier) {
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => Ok(()),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_the_tiers_own_is_taken_away() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("flow");
        let tier = folder.path().join("throng-tier-0123456789abcdef");
        std::fs::create_dir_all(root.join("theirs")).unwrap();
        std::fs::create_dir(&tier).unwrap();
        std::fs::set_permissions(&tier, std::os::unix::fs::PermissionsExt::from_mode(0o700)).unwrap();
        let state = StateDirectory::new(&root.join(".throng"));
        let mut note = Note::begin(&state, &tier, &root).unwrap();
        for name in ["ours/deep/1", "theirs/2", "theirs/3", "ours/own"] {
            note.make_parents(&root, name).unwrap();
            note.link(name).unwrap();
        }
        for (name, target) in [("ours/deep/1", tier.join("1")), ("theirs/2", folder.path().join("2"))] {
            std::os::unix::fs::symlink(target, root.join(name)).unwrap();
        }
        std::fs::write(root.join("theirs/3"), "a person's own").unwrap();
        std::os::unix::fs::symlink(tier.join("4"), root.join("unnoted")).unwrap();
        for name in ["1", "2.7.part", "notes.txt"] {
            std::fs::write(tier.join(name), "").unwrap();
        }
        clear(&state, folder.path(), ["unnoted", "nowhere"].into_iter()).unwrap();
        assert!(!root.join("ours").exists(), "made for links, and empty");
        assert!(root.join("unnoted").symlink_metadata().is_err());
        assert!(root.join("theirs/2").symlink_metadata().is_ok(), "a link that leads elsewhere");
        assert_eq!(std::fs::read_to_string(root.join("theirs/3")).unwrap(), "a person's own");
        let left: Vec<_> = std::fs::read_dir(&tier).unwrap().flatten().map(|entry| entry.file_name()).collect();
        assert_eq!(left, ["notes.txt"]);
        assert!(read(&state).unwrap().is_none());
        clear(&state, &root, std::iter::empty()).unwrap();
    }
}
