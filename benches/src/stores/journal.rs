//! An append-only journal, with the records themselves in arrays in memory.
//!
//! A frame is the payload's length (`u32`), its xxh3 checksum (`u64`) and the payload: one key and
//! one value, all little-endian. Each group is one `write` and one `fdatasync`. A crash can only
//! leave a torn group at the end, which is cut off when the file is opened. Old versions of a
//! record stay in the file: nothing here compacts it.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasherDefault, Hasher};
use std::io::{BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::mem;
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::{KEY_BYTES, Record, Result, Store, VALUE_BYTES};

const FILE: &str = "records.journal";
const LENGTH_BYTES: usize = 4;
const CHECKSUM_BYTES: usize = 8;
const HEADER_BYTES: usize = LENGTH_BYTES + CHECKSUM_BYTES;
const PAYLOAD_BYTES: usize = KEY_BYTES + VALUE_BYTES;
const FRAME_BYTES: usize = HEADER_BYTES + PAYLOAD_BYTES;
const READ_BUFFER_BYTES: usize = 1 << 20;

pub(super) struct JournalStore {
    file: File,
    frames: Vec<u8>,
    arrays: Arrays,
}

impl JournalStore {
    pub(super) fn open(directory: &Path) -> Result<Self> {
        let mut file =
            File::options().read(true).write(true).create(true).truncate(false).open(directory.join(FILE))?;
        File::open(directory)?.sync_all()?;
        let (arrays, whole_bytes) = replay(&file)?;
        file.set_len(whole_bytes)?;
        file.seek(SeekFrom::Start(whole_bytes))?;
        Ok(Self { file, frames: Vec::new(), arrays })
    }
}

impl Store for JournalStore {
    fn commit(&mut self, group: &[Record]) -> Result<()> {
        self.frames.clear();
        for record in group {
            append_frame(&mut self.frames, record);
            self.arrays.put(*record)?;
        }
        self.file.write_all(&self.frames)?;
        Ok(self.file.sync_data()?)
    }

    fn take_all(&mut self) -> Result<Vec<Record>> {
        Ok(mem::take(&mut self.arrays.records))
    }

    fn close(self: Box<Self>) -> Result<()> {
        Ok(self.file.sync_all()?)
    }
}

/// Reads all whole frames, and says where they end.
fn replay(file: &File) -> Result<(Arrays, u64)> {
    let mut source = BufReader::with_capacity(READ_BUFFER_BYTES, file);
    let mut records = Vec::new();
    while let Some(record) = read_frame(&mut source)? {
        records.push(record);
    }
    let whole_bytes = records.len() * FRAME_BYTES;
    Ok((Arrays::from_history(records), u64::try_from(whole_bytes)?))
}

fn append_frame(frames: &mut Vec<u8>, record: &Record) {
    let start = frames.len();
    frames.extend_from_slice(&(PAYLOAD_BYTES as u32).to_le_bytes());
    frames.extend_from_slice(&[0; CHECKSUM_BYTES]);
    frames.extend_from_slice(&record.key.to_le_bytes());
    frames.extend_from_slice(&record.value);
    let checksum = xxh3_64(&frames[start + HEADER_BYTES..]);
    frames[start + LENGTH_BYTES..start + HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
}

/// The next record, or nothing at the end of the file or at the first torn frame.
fn read_frame(source: &mut impl Read) -> Result<Option<Record>> {
    let mut frame = [0; FRAME_BYTES];
    match source.read_exact(&mut frame) {
        Ok(()) => {}
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
        Err(error) => return Err(error.into()),
    }
    let (length, rest) = frame.split_at(LENGTH_BYTES);
    let (checksum, payload) = rest.split_at(CHECKSUM_BYTES);
    let length_is_right = length == (PAYLOAD_BYTES as u32).to_le_bytes();
    if !length_is_right || checksum != xxh3_64(payload).to_le_bytes() {
        return Ok(None);
    }
    let (key, value) = payload.split_at(KEY_BYTES);
    Ok(Some(Record { key: u64::from_le_bytes(key.try_into()?), value: value.try_into()? }))
}

/// The newest record of each key. What was loaded is in the order of the keys; what came later
/// follows in the order of its arrival.
#[derive(Default)]
struct Arrays {
    records: Vec<Record>,
    /// The place of each key in `records`. Made by the first `put`, since a load needs no places.
    places: HashMap<u64, u32, BuildHasherDefault<KeyIsHash>>,
}

impl Arrays {
    /// Keeps the last record of each key. Sorting costs about half of what a hash table of this
    /// size does, whose every access misses the processor's caches.
    fn from_history(mut records: Vec<Record>) -> Self {
        records.sort_by_key(|record| record.key);
        records.dedup_by(|later, kept| {
            let same_key = later.key == kept.key;
            if same_key {
                *kept = *later;
            }
            same_key
        });
        Self { records, places: HashMap::default() }
    }

    fn put(&mut self, record: Record) -> Result<()> {
        let new_place = u32::try_from(self.records.len())?;
        if self.places.len() != self.records.len() {
            self.places = self.records.iter().map(|record| record.key).zip(0..new_place).collect();
        }
        let place = *self.places.entry(record.key).or_insert(new_place);
        if place == new_place {
            self.records.push(record);
        } else {
            self.records[place as usize] = record;
        }
        Ok(())
    }
}

/// The keys are hashes already, so hashing them again would only cost time.
#[derive(Default)]
struct KeyIsHash {
    key: u64,
}

impl Hasher for KeyIsHash {
    fn write(&mut self, _: &[u8]) {
        unreachable!("the keys are u64");
    }

    fn write_u64(&mut self, key: u64) {
        self.key = key;
    }

    fn finish(&self) -> u64 {
        self.key
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Ten records in the order of their keys, as a load returns them.
    fn ten_records(run: u64) -> Vec<Record> {
        let mut records: Vec<_> = (0..10).map(|index| Record::of_task(1, index, run)).collect();
        records.sort_by_key(|record| record.key);
        records
    }

    fn append(directory: &Path, records: &[Record]) {
        let mut store = Box::new(JournalStore::open(directory).expect("the journal opens"));
        store.commit(records).expect("the journal takes records");
        store.close().expect("the journal closes");
    }

    fn read_back(directory: &Path) -> Vec<Record> {
        let mut store = JournalStore::open(directory).expect("the journal opens");
        store.take_all().expect("the records are in memory")
    }

    #[test]
    fn a_torn_end_is_cut_off() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let records = ten_records(1);
        append(directory.path(), &records);
        let file = File::options().write(true).open(directory.path().join(FILE)).expect("the journal");
        let length = file.metadata().expect("its metadata").len();
        file.set_len(length - 1).expect("the journal shrinks");
        assert_eq!(read_back(directory.path()), records[..9]);

        append(directory.path(), &records[9..]);
        assert_eq!(read_back(directory.path()), records);
    }

    #[test]
    fn a_flipped_bit_ends_the_journal() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let records = ten_records(1);
        append(directory.path(), &records);
        let path = directory.path().join(FILE);
        let mut bytes = std::fs::read(&path).expect("the journal");
        bytes[5 * FRAME_BYTES + 30] ^= 1;
        std::fs::write(&path, bytes).expect("the journal is replaced");
        assert_eq!(read_back(directory.path()), records[..5]);
    }

    #[test]
    fn the_newest_record_of_a_key_wins() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let updates = ten_records(2);
        append(directory.path(), &ten_records(1));
        append(directory.path(), &updates[..4]);
        let expected = [&updates[..4], &ten_records(1)[4..]].concat();
        assert_eq!(read_back(directory.path()), expected);
    }
}
