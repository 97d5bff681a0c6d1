//! Many strings in two flat arrays.

use hashbrown::HashTable;

use crate::fingerprint::hash;

/// Strings by number, one after the other in one buffer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Strings {
    pub(crate) bytes: Vec<u8>,
    pub(crate) ends: Vec<u32>,
}

impl Strings {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The string with this number.
    pub(crate) fn get(&self, number: u32) -> &str {
        std::str::from_utf8(self.get_bytes(number)).expect("only whole strings are added")
    }

    fn get_bytes(&self, number: u32) -> &[u8] {
        let index = number as usize;
        let start = if index == 0 { 0 } else { self.ends[index - 1] as usize };
        &self.bytes[start..self.ends[index] as usize]
    }

    fn push(&mut self, text: &str) -> u32 {
        self.bytes.extend_from_slice(text.as_bytes());
        let end = u32::try_from(self.bytes.len()).expect("the builder keeps names below 4 GiB");
        self.ends.push(end);
        (self.ends.len() - 1) as u32
    }
}

/// Gives equal strings one number. Only looked up, never iterated, so its order decides nothing.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    pub(crate) strings: Strings,
    table: HashTable<u32>,
}

impl Interner {
    /// The number of a string, new or old, and whether it is new.
    pub(crate) fn add(&mut self, text: &str) -> (u32, bool) {
        let key = hash(text.as_bytes());
        if let Some(&number) = self.table.find(key, |&number| self.strings.get_bytes(number) == text.as_bytes()) {
            return (number, false);
        }
        let number = self.strings.push(text);
        let strings = &self.strings;
        self.table.insert_unique(key, number, |&number| hash(strings.get_bytes(number)));
        (number, true)
    }

    /// The number of a string if it is there.
    pub(crate) fn find(&self, text: &str) -> Option<u32> {
        self.table.find(hash(text.as_bytes()), |&number| self.strings.get_bytes(number) == text.as_bytes()).copied()
    }

    /// Bytes of all strings together.
    pub(crate) fn byte_count(&self) -> usize {
        self.strings.bytes.len()
    }

    /// Makes room, so that a million additions do not rehash twenty times.
    pub(crate) fn reserve(&mut self, additional: usize) {
        let strings = &self.strings;
        self.table.reserve(additional, |&number| hash(strings.get_bytes(number)));
    }
}
