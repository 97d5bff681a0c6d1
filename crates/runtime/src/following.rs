//! Following a run from another process: its trace, entry by entry, as the engine writes it.
//!
//! Each look reads only what is new, and an entry of which only a part has been written yet is left for the next one.
//! The engine knows nothing of those who look.

use std::fs::File;
use std::os::unix::fs::FileExt;

use throng_core::time::Time;
use throng_core::trace::{BadTrace, Entry, Position, Reader};

use crate::recording::RecordingError;
use crate::state::{RunDirectory, io_error};

/// Read at a time: far more than is written between two looks, and far less than a whole trace.
const CHUNK_BYTES: usize = 1 << 20;

/// A trace that is being followed.
#[derive(Debug)]
pub struct Following {
    run: RunDirectory,
    file: File,
    position: Option<Position>,
    buffer: Vec<u8>,
}

impl Following {
    /// Opens a run's trace.
    pub fn open(run: &RunDirectory) -> Result<Following, RecordingError> {
        let file = File::open(run.trace()).map_err(io_error("read", &run.trace()))?;
        Ok(Following { run: run.clone(), file, position: None, buffer: vec![0; CHUNK_BYTES] })
    }

    /// Hands over every entry that has been written since the last time.
    pub fn look(&mut self, mut take: impl FnMut(Time, Entry)) -> Result<(), RecordingError> {
        loop {
            let offset = self.position.map_or(0, Position::offset);
            let length = read_up_to(&self.file, &mut self.buffer, offset)
                .map_err(|error| io_error("read", &self.run.trace())(error))?;
            let bytes = &self.buffer[..length];
            let bad = |error| RecordingError::Trace { run: self.run.number, error };
            let mut reader = match self.position {
                Some(position) => Reader::resume(bytes, position),
                None => match Reader::new(bytes) {
                    // Nothing has been written yet.
                    Err(BadTrace::Empty) => return Ok(()),
                    other => other.map_err(bad)?,
                },
            };
            for entry in reader.by_ref() {
                let (time, entry) = entry.map_err(bad)?;
                take(time, entry);
            }
            self.position = Some(reader.position());
            if length < self.buffer.len() {
                return Ok(());
            }
        }
    }
}

/// Reads until the buffer is full or the file ends.
fn read_up_to(file: &File, buffer: &mut [u8], offset: u64) -> std::io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match file.read_at(&mut buffer[length..], offset + length as u64) {
            Ok(0) => break,
            Ok(more) => length += more,
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(length)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;
    use crate::state::StateDirectory;
    use throng_core::ids::TaskId;
    use throng_core::trace::Writer;

    #[test]
    fn what_is_written_in_pieces_is_read_whole() {
        let directory = tempfile::tempdir().unwrap();
        let run = StateDirectory::new(directory.path()).make_run().unwrap();
        let mut file = File::create(run.trace()).unwrap();
        let mut following = Following::open(&run).unwrap();
        let (mut writer, mut bytes) = (Writer::new(), Vec::new());
        for number in 0..1000 {
            writer.write(Time(number), &Entry::UpToDate(TaskId(number as u32 * 1000)));
        }
        writer.take(&mut bytes);
        let mut seen = Vec::new();
        for piece in bytes.chunks(7) {
            file.write_all(piece).unwrap();
            following.look(|time, entry| seen.push((time, entry))).unwrap();
        }
        let expected: Vec<_> = Reader::new(&bytes).unwrap().map(Result::unwrap).collect();
        assert_eq!(seen, expected);
        assert_eq!(seen.len(), 1000);
    }
}
