//! A tier: bounded room in fast memory into which inputs are brought from slow storage, before their tasks have a slot.
//!
//! ```text
//!   node ── Fetch ──▶ thread: copy to N.part, rename to N, note, link ──▶ Fetched ──▶ node
//!        ── Drop ───▶ thread: take link and N away ─────────────────────▶ Dropped
//! ```
//!
//! What is to be brought, and what goes, the node decides (`throng_core::node`, its cache). A brought input appears at its place in the
//! workflow's directory as a link into the tier, so that commands need not know. Something else that lies there is somebody's own: it is
//! used as it is, and never replaced.
//!
//! What cannot be brought is said to be there all the same: the task that needs it tries once more in its slot, and fails there as it would
//! for any other missing input, with its retries and its place in the record.

pub(crate) mod bringing;
mod error;
mod mark;
mod note;
mod places;
pub(crate) mod plan;
mod room;
mod settling;
pub(crate) mod survey;

use std::collections::HashMap;
use std::fs::{File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};

use throng_core::fingerprint::Stamp;
use throng_core::ids::ObjectId;
use throng_core::policy::Policy;

use crate::files::Workplace;
use crate::state::{DataEnd, StateDirectory};
use crate::storage::{PIECE_BYTES, Storage};
use bringing::Line;
pub use error::TierError;
use mark::hold;
pub(crate) use mark::{DirectoryLock, is_of_tier, lock, tier_of};
use note::Note;
pub use note::{clear, clear_unnoted};
use plan::Plan;
pub(crate) use settling::settle;

/// A tier as somebody wants it.
#[derive(Clone, Debug)]
pub struct Options {
    /// How much it may hold.
    pub capacity_bytes: u64,
    /// Where inputs come from.
    pub storage: Arc<dyn Storage>,
    /// In which directory to make it.
    pub directory: Option<PathBuf>,
    /// What goes when there is no room.
    pub evict: Policy,
}

/// What a copy looks like that nobody has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Copied {
    bytes: u64,
    modified: (i64, i64),
}

/// Why an input is not here.
#[derive(Debug)]
enum Absent {
    /// Something that is not ours lies at its place.
    InPlace,
    /// It could not be brought, for this system error.
    Failed(i32, String),
}

/// A tier while a run goes on.
#[derive(Debug)]
pub(crate) struct Tier {
    storage: Arc<dyn Storage>,
    path: PathBuf,
    capacity_bytes: u64,
    /// Which inputs it is for, in ascending order, and what they were when the run began.
    staged: Vec<(ObjectId, Stamp)>,
    /// What is here: what was read, and what its copy looks like.
    here: Mutex<HashMap<ObjectId, (Stamp, Option<Copied>)>>,
    note: Mutex<Note>,
    pub(super) line: Line,
    is_over: AtomicBool,
    copies: AtomicU64,
    pub(crate) brought_bytes: AtomicU64,
    dropped_bytes: AtomicU64,
    _lock: Option<DirectoryLock>,
    /// Tells others that it is in use.
    _held: Option<File>,
}

fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("no thread panics while it holds this")
}

impl Tier {
    /// Makes a tier for these inputs of a workflow.
    pub(crate) fn make(
        plan: Plan,
        (state, home): (&StateDirectory, &Path),
        lock: Option<DirectoryLock>,
    ) -> Result<Tier, TierError> {
        let Plan { options, staged, left } = plan;
        note::clear_left(home, &left)?;
        let all: u64 = staged.iter().map(|(_, stamp)| stamp.size).fold(0, u64::saturating_add);
        let room = room::choose(options.directory.as_deref(), state.path(), options.capacity_bytes.min(all))?;
        if room == Path::new(room::IN_MEMORY) {
            note::sweep(&room);
        }
        let (path, note) = loop {
            let path = room::name_below(&room);
            let note = Note::begin(state, &path, home)?;
            if room::make(&path).map_err(|error| TierError::Place { directory: room.clone(), error })? {
                break (path, note);
            }
        };
        let held = hold(&path).ok().and_then(Result::ok);
        Ok(Tier {
            storage: options.storage.clone(),
            path,
            capacity_bytes: options.capacity_bytes,
            staged,
            here: Mutex::default(),
            note: Mutex::new(note),
            line: Line::default(),
            is_over: AtomicBool::new(false),
            copies: AtomicU64::new(0),
            brought_bytes: AtomicU64::new(0),
            dropped_bytes: AtomicU64::new(0),
            _lock: lock,
            _held: held,
        })
    }

    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// How many files are worth bringing at once.
    pub(crate) fn at_once(&self) -> usize {
        self.storage.at_once()
    }

    /// How large an input was when the run began, if it is one of those that are brought.
    fn room_for(&self, object: ObjectId) -> Option<u64> {
        let at = self.staged.binary_search_by_key(&object, |(staged, _)| *staged).ok()?;
        Some(self.staged[at].1.size)
    }

    /// The same, for the node.
    pub(crate) fn bytes(&self, object: ObjectId) -> u64 {
        self.room_for(object).unwrap_or(0)
    }

    fn file(&self, object: ObjectId) -> PathBuf {
        self.path.join(object.0.to_string())
    }

    fn look_at_copy(&self, object: ObjectId) -> Option<Copied> {
        let found = self.file(object).metadata().ok()?;
        Some(Copied { bytes: found.len(), modified: (found.mtime(), found.mtime_nsec()) })
    }

    /// Whether the link of an input is there and ours.
    fn is_linked(&self, place: &Workplace, name: &str, object: ObjectId) -> bool {
        place.link(name).is_some_and(|target| target == self.file(object))
    }

    /// Has an input brought; what goes wrong is told by whoever looks for it.
    pub(crate) fn fetch(&self, place: &Workplace, name: &str, object: ObjectId) {
        let _ = self.bring(place, name, object, &|| true);
    }

    /// What an input is that is brought: nothing for one that lies in its place, or the reason why it is not here.
    /// Bringing ends early when `goes_on` says so.
    pub(crate) fn look(
        &self,
        place: &Workplace,
        name: &str,
        object: ObjectId,
        goes_on: &dyn Fn() -> bool,
    ) -> Option<Result<Stamp, (i32, String)>> {
        self.room_for(object)?;
        let known = held(&self.here).get(&object).copied();
        // Whoever may write to anything may have written to a copy, and whoever clears memory up may have taken it away.
        let is_whole = |copied: Option<Copied>| copied.is_some() && copied == self.look_at_copy(object);
        if let Some((stamp, _)) = known.filter(|(_, copied)| is_whole(*copied) && self.is_linked(place, name, object)) {
            return Some(Ok(stamp));
        }
        match self.bring(place, name, object, goes_on) {
            Ok(stamp) => Some(Ok(stamp)),
            Err(Absent::InPlace) => None,
            Err(Absent::Failed(error, why)) => Some(Err((error, why))),
        }
    }

    fn bring(
        &self,
        place: &Workplace,
        name: &str,
        object: ObjectId,
        goes_on: &dyn Fn() -> bool,
    ) -> Result<Stamp, Absent> {
        match place.tier_at(name) {
            Some(other) if other != self.path => {
                let why = format!("`{name}` is a link into {}, the memory tier of another run", other.display());
                return Err(Absent::Failed(libc::EEXIST, why));
            }
            None if place.is_occupied(name) => return Err(Absent::InPlace),
            _ => {}
        }
        let stamp = self.copy(name, object, goes_on).map_err(|error| self.in_words(place, name, &error))?;
        held(&self.here).insert(object, (stamp, self.look_at_copy(object)));
        match self.link(place, name, object) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(Absent::InPlace),
            Err(error) => {
                let why = format!("cannot link the input `{name}` to the memory tier: {error}");
                Err(Absent::Failed(error.raw_os_error().unwrap_or(0), why))
            }
            Ok(()) => Ok(stamp),
        }
    }

    fn in_words(&self, place: &Workplace, name: &str, error: &io::Error) -> Absent {
        let from = self.storage.place(name);
        let why = match error.kind() {
            ErrorKind::NotFound => {
                format!("cannot find the input `{name}`: it is neither at {} nor at {from}", place.path(name).display())
            }
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => format!(
                "cannot bring the input `{name}`: {} is full; make room there, or give --memory-tier less or another --tier-directory",
                self.path.display()
            ),
            _ => format!("cannot bring the input `{name}` from {from} to {}: {error}", self.path.display()),
        };
        let code = if error.kind() == ErrorKind::NotFound { libc::ENOENT } else { error.raw_os_error().unwrap_or(0) };
        Absent::Failed(code, why)
    }

    /// Copies an input into the tier: all of it, or nothing.
    fn copy(&self, name: &str, object: ObjectId, goes_on: &dyn Fn() -> bool) -> io::Result<Stamp> {
        let copy = self.copies.fetch_add(1, Ordering::Relaxed);
        let part = self.path.join(format!("{}.{copy}.part", object.0));
        let copied = self.copy_to(&part, name, object, goes_on).and_then(|stamp| {
            std::fs::rename(&part, self.file(object))?;
            Ok(stamp)
        });
        if copied.is_err() {
            let _ = std::fs::remove_file(&part);
        }
        copied
    }

    fn copy_to(&self, part: &Path, name: &str, object: ObjectId, goes_on: &dyn Fn() -> bool) -> io::Result<Stamp> {
        let goes_on = || !self.is_over.load(Ordering::Relaxed) && goes_on();
        let mut opened = self.storage.open(name, &goes_on)?;
        let (size, room) = (opened.stamp.size, self.bytes(object));
        // There is room for what it was.
        if size > room {
            let why = format!("it has grown from {room} to {size} bytes since the run began: run again");
            return Err(io::Error::other(why));
        }
        let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(part);
        let mut file = file.map_err(|error| match error.kind() {
            // Not the input is missing.
            ErrorKind::NotFound => io::Error::other("the directory of the memory tier is not there any more"),
            _ => error,
        })?;
        let mut piece = vec![0; PIECE_BYTES.min(size.max(1) as usize)];
        let mut copied = 0;
        loop {
            if !goes_on() {
                return Err(io::Error::from(ErrorKind::Interrupted));
            }
            let length = opened.reader.read(&mut piece)?;
            if length == 0 {
                break;
            }
            copied += length as u64;
            self.brought_bytes.fetch_add(length as u64, Ordering::Relaxed);
            if copied > size {
                break;
            }
            file.write_all(&piece[..length])?;
        }
        if copied != size {
            return Err(io::Error::other("it changed while it was read"));
        }
        // A task that writes to its input would change only a copy: it is told so.
        file.set_permissions(Permissions::from_mode(if opened.is_program { 0o500 } else { 0o400 }))?;
        Ok(opened.stamp)
    }

    fn link(&self, place: &Workplace, name: &str, object: ObjectId) -> io::Result<()> {
        let mut note = held(&self.note);
        // With the note in hand: whoever ends the run takes it, too, and then clears up. No link comes after that.
        if self.is_over.load(Ordering::Relaxed) {
            return Err(io::Error::from_raw_os_error(libc::ECANCELED));
        }
        note.make_parents(&place.path(""), name)?;
        note.link(name)?;
        match place.make_link(name, &self.file(object)) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists && self.is_linked(place, name, object) => Ok(()),
            other => other,
        }
    }

    /// Whether the copy that a task has read is still what was brought.
    pub(crate) fn is_unchanged(&self, object: ObjectId) -> bool {
        let known = held(&self.here).get(&object).copied();
        known.is_none_or(|(_, copied)| copied.is_some() && copied == self.look_at_copy(object))
    }

    /// Takes an input out of the tier; says whether it is gone.
    pub(crate) fn remove(&self, place: &Workplace, name: &str, object: ObjectId) -> bool {
        let stamp = held(&self.here).remove(&object);
        if self.is_linked(place, name, object) && place.unlink(name).is_err() {
            return false;
        }
        match std::fs::remove_file(self.file(object)) {
            Err(error) if error.kind() != ErrorKind::NotFound => false,
            _ => {
                self.dropped_bytes.fetch_add(stamp.map_or(0, |(stamp, _)| stamp.size), Ordering::Relaxed);
                true
            }
        }
    }

    /// What it did, given how often tasks found what they read.
    pub(crate) fn end(&self, hits: u64, misses: u64) -> DataEnd {
        DataEnd {
            storage: Some(self.storage.place("")),
            directory: Some(self.path.display().to_string()),
            capacity_bytes: self.capacity_bytes,
            hits,
            misses,
            brought_bytes: self.brought_bytes.load(Ordering::Relaxed),
            dropped_bytes: self.dropped_bytes.load(Ordering::Relaxed),
            expected: None,
        }
    }
}

/// Takes away what a tier has left when its run is over, however that ends.
pub(crate) struct Clearing {
    pub(crate) state: StateDirectory,
    pub(crate) directory: PathBuf,
    pub(crate) tier: PathBuf,
}

impl Drop for Clearing {
    fn drop(&mut self) {
        // What cannot be taken away now stays on the note, for the next run.
        let _ = note::clear_own(&self.state, &self.directory, &self.tier);
    }
}
