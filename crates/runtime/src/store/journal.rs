//! An append-only file of checksummed frames.
//!
//! ```text
//!   magic+version (8) │ frame │ frame │ …        frame = mark (4) length (4) checksum (8) records
//!   record = task (4) key (8) definition (8) inputs: versions (8) contents (8) outputs (4)
//!            then per output: size (8) modified (8) version (8) content (8) path (8)
//! ```
//!
//! A frame that is cut off at the end is what a crash leaves, and is dropped without a word: whatever was
//! in it counts as not done. Any other damage is reported; frames after it are found again by their mark and
//! kept.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use thiserror::Error;
use throng_core::fingerprint::{Stamp, Version, hash};
use throng_core::stale::{InputsSeen, Made};

const MAGIC: [u8; 8] = *b"throngj2";
/// Ends with the version too, so that frames of another one are not taken for damaged ones of this.
const FRAME_MARK: [u8; 4] = [0xF7, b'T', b'h', b'2'];
const FRAME_HEADER: usize = 16;
/// A frame is cut when it has grown to this: a damaged one should not take too much with it.
const FRAME_LIMIT: usize = 1 << 20;

/// A journal that cannot be used.
#[derive(Debug, Error)]
pub enum JournalError {
    /// The system said no.
    #[error("cannot {what} {path}: {error}")]
    Io {
        /// What was being done.
        what: &'static str,
        /// To which file.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// It was written by another version, or is no journal.
    #[error("{path} is not a journal of this version of Throng")]
    Version {
        /// The file.
        path: PathBuf,
    },
}

/// In place of a definition: the task was done once, but is being done again.
pub const UNFINISHED: u64 = 0;

/// What a task did when it was last done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done<'a> {
    /// The task's number in the run that did it; only a hint.
    pub task: u32,
    /// What the task is known by.
    pub key: u64,
    /// What it was defined as.
    pub definition: u64,
    /// What it read.
    pub inputs: InputsSeen,
    /// What it made, in order.
    pub outputs: Outputs<'a>,
}

/// What the path of an output is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathKey(u64);

impl PathKey {
    /// The key of a path.
    pub fn of(path: &str) -> Self {
        PathKey(hash(path.as_bytes()) & !ADOPTED_BIT)
    }
}

/// The outputs of a record, still in the form in which they lie in the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outputs<'a>(&'a [u8]);

const OUTPUT_SIZE: usize = 40;
/// The lowest bit of a path's hash says instead whether the file was taken over.
const ADOPTED_BIT: u64 = 1;
const RECORD_HEAD: usize = 40;

impl Outputs<'_> {
    /// One by one, each with what its path is known by.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (PathKey, Made)> + '_ {
        self.0.chunks_exact(OUTPUT_SIZE).map(output)
    }

    /// The one at a place.
    pub fn get(&self, at: usize) -> Option<(PathKey, Made)> {
        self.0.get(at * OUTPUT_SIZE..(at + 1) * OUTPUT_SIZE).map(output)
    }
}

fn output(bytes: &[u8]) -> (PathKey, Made) {
    let made = Made {
        stamp: Stamp { size: number(bytes, 0), modified_ns: number(bytes, 8) as i64 },
        version: Version(number(bytes, 16)),
        content: number(bytes, 24),
        is_adopted: number(bytes, 32) & ADOPTED_BIT != 0,
    };
    (PathKey(number(bytes, 32) & !ADOPTED_BIT), made)
}

fn number(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().expect("eight bytes"))
}

/// What reading a journal found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Bytes up to which the journal is whole.
    pub whole_bytes: u64,
    /// Records read, including those that later ones replace.
    pub records: u64,
    /// Bytes of damaged frames in the middle, which had to be left out.
    pub damaged_bytes: u64,
}

/// Reads a journal, handing over each record in the order written. A file that is not there is empty.
pub fn read(path: &Path, mut take: impl FnMut(Done<'_>)) -> Result<Found, JournalError> {
    let io_error = |error| JournalError::Io { what: "read", path: path.to_owned(), error };
    let mut bytes = Vec::new();
    match File::open(path) {
        Ok(mut file) => file.read_to_end(&mut bytes).map_err(io_error)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Found::default()),
        Err(error) => return Err(io_error(error)),
    };
    // A crash may have cut even the first bytes.
    if bytes.len() < MAGIC.len() && MAGIC.starts_with(&bytes) {
        return Ok(Found::default());
    }
    let mut found = Found { whole_bytes: MAGIC.len() as u64, ..Found::default() };
    if !bytes.starts_with(&MAGIC) {
        // With sound frames in it, it is ours, and only its beginning is damaged.
        if next_frame(&bytes, MAGIC.len()).is_none() {
            return Err(JournalError::Version { path: path.to_owned() });
        }
        found.damaged_bytes = MAGIC.len() as u64;
    }
    let mut at = MAGIC.len();
    while at < bytes.len() {
        let Some((start, payload)) = next_frame(&bytes, at) else {
            // What a crash leaves goes on past the end, or is nothing that looks like a frame.
            if frame_end(&bytes[at..]).is_some_and(|end| end <= bytes.len() - at) {
                found.damaged_bytes += (bytes.len() - at) as u64;
            }
            break;
        };
        found.damaged_bytes += (start - at) as u64;
        at = start + FRAME_HEADER + payload.len();
        found.whole_bytes = at as u64;
        let mut rest = payload;
        while let Some((done, after)) = split_record(rest) {
            found.records += 1;
            take(done);
            rest = after;
        }
    }
    Ok(found)
}

/// The first sound frame at or after a place, and where it begins.
fn next_frame(bytes: &[u8], mut at: usize) -> Option<(usize, &[u8])> {
    loop {
        let rest = bytes.get(at..)?;
        if let Some(payload) = frame(rest) {
            return Some((at, payload));
        }
        let step = rest.get(1..)?.windows(FRAME_MARK.len()).position(|window| window == FRAME_MARK)?;
        at += 1 + step;
    }
}

/// Where a frame that seems to begin here would end.
fn frame_end(bytes: &[u8]) -> Option<usize> {
    let header = bytes.get(..FRAME_HEADER)?;
    let length = u32::from_le_bytes(header[4..8].try_into().expect("four bytes")) as usize;
    (header[..4] == FRAME_MARK).then_some(FRAME_HEADER + length)
}

fn frame(bytes: &[u8]) -> Option<&[u8]> {
    let payload = bytes.get(FRAME_HEADER..frame_end(bytes)?)?;
    (checksum(payload) == number(bytes, 8)).then_some(payload)
}

/// Covers the length as well, so that a frame cannot be taken for a longer or shorter one.
fn checksum(payload: &[u8]) -> u64 {
    hash(payload) ^ (payload.len() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
}

fn split_record(bytes: &[u8]) -> Option<(Done<'_>, &[u8])> {
    let head = bytes.get(..RECORD_HEAD)?;
    let word = |at: usize| u32::from_le_bytes(head[at..at + 4].try_into().expect("four bytes"));
    let outputs_end = RECORD_HEAD + word(4) as usize * OUTPUT_SIZE;
    let done = Done {
        task: word(0),
        key: number(head, 8),
        definition: number(head, 16),
        inputs: InputsSeen { versions: number(head, 24), contents: number(head, 32) },
        outputs: Outputs(bytes.get(RECORD_HEAD..outputs_end)?),
    };
    Some((done, &bytes[outputs_end..]))
}

/// Records that wait to be written, as whole frames.
#[derive(Debug, Default)]
pub struct Pending {
    bytes: Vec<u8>,
    frame_start: Option<usize>,
}

impl Pending {
    /// Adds a record.
    pub fn add(&mut self, task: u32, key: u64, definition: u64, inputs: InputsSeen, outputs: &[(PathKey, Made)]) {
        let start = *self.frame_start.get_or_insert_with(|| {
            let start = self.bytes.len();
            self.bytes.extend_from_slice(&[0; FRAME_HEADER]);
            start
        });
        let bytes = &mut self.bytes;
        bytes.extend_from_slice(&task.to_le_bytes());
        bytes.extend_from_slice(&(outputs.len() as u32).to_le_bytes());
        for number in [key, definition, inputs.versions, inputs.contents] {
            bytes.extend_from_slice(&number.to_le_bytes());
        }
        for (path, made) in outputs {
            bytes.extend_from_slice(&made.stamp.size.to_le_bytes());
            bytes.extend_from_slice(&made.stamp.modified_ns.to_le_bytes());
            bytes.extend_from_slice(&made.version.0.to_le_bytes());
            bytes.extend_from_slice(&made.content.to_le_bytes());
            bytes.extend_from_slice(&(path.0 | (u64::from(made.is_adopted) * ADOPTED_BIT)).to_le_bytes());
        }
        if self.bytes.len() - start > FRAME_LIMIT {
            self.seal();
        }
    }

    /// Whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Takes out everything as whole frames.
    pub fn take(&mut self) -> Vec<u8> {
        self.seal();
        std::mem::take(&mut self.bytes)
    }

    fn seal(&mut self) {
        let Some(start) = self.frame_start.take() else { return };
        let (header, payload) = self.bytes[start..].split_at_mut(FRAME_HEADER);
        header[..4].copy_from_slice(&FRAME_MARK);
        header[4..8].copy_from_slice(&(payload.len() as u32).to_le_bytes());
        header[8..].copy_from_slice(&checksum(payload).to_le_bytes());
    }
}

/// Frames as a whole journal.
pub fn whole(frames: &[u8]) -> Vec<u8> {
    [&MAGIC, frames].concat()
}

/// A journal open for writing.
#[derive(Debug)]
pub struct Journal {
    file: File,
    path: PathBuf,
    length: u64,
}

impl Journal {
    /// Opens a journal to append after its whole part, making it if it is not there.
    pub fn open(path: &Path, whole_bytes: u64) -> Result<Journal, JournalError> {
        let error = |what| move |error| JournalError::Io { what, path: path.to_owned(), error };
        let file = OpenOptions::new().write(true).create(true).truncate(false).open(path).map_err(error("open"))?;
        let mut journal = Journal { file, path: path.to_owned(), length: whole_bytes };
        if whole_bytes == 0 {
            journal.write(&MAGIC)?;
        }
        journal.file.set_len(journal.length).map_err(error("shorten"))?;
        Ok(journal)
    }

    /// Appends frames. After an error nothing has been appended, and the same frames can be tried again.
    pub fn write(&mut self, frames: &[u8]) -> Result<(), JournalError> {
        self.file.write_all_at(frames, self.length).map_err(|error| JournalError::Io {
            what: "write to",
            path: self.path.clone(),
            error,
        })?;
        self.length += frames.len() as u64;
        Ok(())
    }

    /// A second handle with which what has been written can be made durable meanwhile.
    pub fn syncer(&self) -> Result<Syncer, JournalError> {
        let file = self.file.try_clone();
        let file = file.map_err(|error| JournalError::Io { what: "open", path: self.path.clone(), error })?;
        Ok(Syncer { file, path: self.path.clone() })
    }
}

/// Makes a journal durable.
#[derive(Debug)]
pub struct Syncer {
    file: File,
    path: PathBuf,
}

impl Syncer {
    /// Waits until everything written before is on the disk.
    pub fn sync(&self) -> Result<(), JournalError> {
        self.file.sync_data().map_err(|error| JournalError::Io { what: "sync", path: self.path.clone(), error })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(task: u32) -> (InputsSeen, Vec<(PathKey, Made)>) {
        let stamp = Stamp { size: 5, modified_ns: -7 };
        let made = Made { stamp, version: Version(task.into()), content: 3, is_adopted: task.is_multiple_of(2) };
        (InputsSeen { versions: 1, contents: 2 }, vec![(PathKey::of("a/b"), made); task as usize % 3])
    }

    /// A journal of `frames` frames with ten records each.
    fn written(path: &Path, frames: u32) {
        let mut journal = Journal::open(path, 0).unwrap();
        for frame in 0..frames {
            let mut pending = Pending::default();
            for task in frame * 10..frame * 10 + 10 {
                let (inputs, outputs) = sample(task);
                pending.add(task, u64::from(task) + 100, 9, inputs, &outputs);
            }
            journal.write(&pending.take()).unwrap();
        }
    }

    fn tasks(path: &Path) -> (Vec<u32>, Found) {
        let mut tasks = Vec::new();
        let found = read(path, |done| {
            assert_eq!(done.key, u64::from(done.task) + 100);
            assert_eq!(done.outputs.iter().collect::<Vec<_>>(), sample(done.task).1);
            tasks.push(done.task);
        });
        (tasks, found.unwrap())
    }

    #[test]
    fn written_and_read_again() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        written(&path, 3);
        let (tasks, found) = tasks(&path);
        assert_eq!(tasks, (0..30).collect::<Vec<_>>());
        assert_eq!((found.damaged_bytes, found.whole_bytes), (0, std::fs::metadata(&path).unwrap().len()));
    }

    #[test]
    fn a_cut_at_any_byte_loses_only_the_last_frame() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        written(&path, 3);
        let whole = std::fs::read(&path).unwrap();
        for cut in 0..whole.len() {
            std::fs::write(&path, &whole[..cut]).unwrap();
            let (tasks, found) = tasks(&path);
            assert_eq!(tasks.len() % 10, 0, "cut at {cut}");
            assert_eq!(found.damaged_bytes, 0);
            let mut journal = Journal::open(&path, found.whole_bytes).unwrap();
            let mut pending = Pending::default();
            pending.add(77, 177, 9, sample(77).0, &sample(77).1);
            journal.write(&pending.take()).unwrap();
            assert_eq!(self::tasks(&path).0.last(), Some(&77), "cut at {cut}");
        }
    }

    #[test]
    fn a_flipped_bit_anywhere_costs_one_frame_and_is_told() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("journal");
        written(&path, 3);
        let whole = std::fs::read(&path).unwrap();
        let last_frame = whole.windows(4).rposition(|window| window == FRAME_MARK).unwrap();
        let last_header = last_frame..last_frame + 8;
        for at in MAGIC.len()..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 0x10;
            std::fs::write(&path, &damaged).unwrap();
            let (tasks, found) = tasks(&path);
            assert_eq!(tasks.len(), 20, "flipped at {at}");
            // In the header of the last frame it cannot always be told from a frame that was cut off.
            assert!(found.damaged_bytes > 0 || last_header.contains(&at), "flipped at {at}");
        }
        let mut headless = whole;
        headless[0] ^= 1;
        std::fs::write(&path, &headless).unwrap();
        let (tasks, found) = tasks(&path);
        assert_eq!((tasks.len(), found.damaged_bytes), (30, 8));
        std::fs::write(&path, "something else entirely").unwrap();
        assert!(matches!(read(&path, |_| ()), Err(JournalError::Version { .. })));
    }
}
