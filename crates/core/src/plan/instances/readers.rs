//! Who reads how much of what each task makes.

use super::problem::{OUTSIDE, Object};

/// For each task those who read what it makes.
#[derive(Clone, Debug, Default)]
pub(super) struct Readers {
    /// Where the readers of each task begin, and one more than the last.
    first: Vec<u32>,
    /// In the order of their numbers, each with how many bytes of it.
    readers: Vec<(u32, u64)>,
}

impl Readers {
    /// So many tasks, and what each of them reads.
    pub(super) fn of<'a>(count: usize, objects: &[Object], inputs: impl Fn(u32) -> &'a [u32]) -> Readers {
        let mut read: Vec<(u32, u32, u64)> = Vec::new();
        for reader in 0..count as u32 {
            let objects = inputs(reader).iter().map(|object| objects[*object as usize]);
            read.extend(
                objects.filter(|object| object.maker != OUTSIDE).map(|object| (object.maker, reader, object.bytes)),
            );
        }
        read.sort_unstable();
        read.dedup_by(|(maker, reader, bytes), (other, same, sum)| {
            let is_same = (*maker, *reader) == (*other, *same);
            if is_same {
                *sum = sum.saturating_add(*bytes);
            }
            is_same
        });
        let mut first = vec![0; count + 1];
        read.iter().for_each(|(maker, ..)| first[*maker as usize + 1] += 1);
        for task in 0..count {
            first[task + 1] += first[task];
        }
        Readers { first, readers: read.into_iter().map(|(_, reader, bytes)| (reader, bytes)).collect() }
    }

    /// How many bytes a task reads of what another makes, if it reads any of it.
    pub(super) fn read(&self, maker: u32, reader: u32) -> Option<u64> {
        let readers = &self.readers[self.first[maker as usize] as usize..self.first[maker as usize + 1] as usize];
        readers.binary_search_by_key(&reader, |(reader, _)| *reader).ok().map(|at| readers[at].1)
    }
}
