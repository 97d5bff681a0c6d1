//! A map that can only be looked up: it cannot be gone through, so nothing can come to depend on the order of its entries.
//!
//! For numbers of things of which there are very many and that change with every decision; elsewhere a `BTreeMap` does.

use hashbrown::HashTable;

use crate::rng::Rng;

/// It grows in so many parts, one at a time: whoever puts in the one entry too many has to wait only for the entries of a part to be moved.
const PARTS: usize = 64;

/// Values by number.
#[derive(Clone, Debug)]
pub(crate) struct Lookup<V> {
    parts: Vec<HashTable<(u64, V)>>,
}

impl<V> Default for Lookup<V> {
    fn default() -> Self {
        Lookup { parts: (0..PARTS).map(|_| HashTable::new()).collect() }
    }
}

/// Neighbours should not lie beside each other.
fn scatter(key: u64) -> u64 {
    Rng::new(key).next()
}

/// The part that a key belongs to, by digits that its table does not go by.
fn part(scattered: u64) -> usize {
    (scattered >> 40) as usize % PARTS
}

impl<V> Lookup<V> {
    /// The value of a number.
    pub(crate) fn get(&self, key: u64) -> Option<&V> {
        let scattered = scatter(key);
        self.parts[part(scattered)].find(scattered, |(other, _)| *other == key).map(|(_, value)| value)
    }

    /// The same, to be changed.
    pub(crate) fn get_mut(&mut self, key: u64) -> Option<&mut V> {
        let scattered = scatter(key);
        self.parts[part(scattered)].find_mut(scattered, |(other, _)| *other == key).map(|(_, value)| value)
    }

    /// Gives a number a value; says which it had.
    pub(crate) fn insert(&mut self, key: u64, value: V) -> Option<V> {
        if let Some(known) = self.get_mut(key) {
            return Some(std::mem::replace(known, value));
        }
        let scattered = scatter(key);
        self.parts[part(scattered)].insert_unique(scattered, (key, value), |(key, _)| scatter(*key));
        None
    }

    /// Takes a number's value away.
    pub(crate) fn remove(&mut self, key: u64) -> Option<V> {
        let scattered = scatter(key);
        let found = self.parts[part(scattered)].find_entry(scattered, |(other, _)| *other == key).ok()?;
        Some(found.remove().0.1)
    }
}

impl<V: Default> Lookup<V> {
    /// The value of a number, which it gets now if it had none.
    pub(crate) fn entry(&mut self, key: u64) -> &mut V {
        let scattered = scatter(key);
        let same = |(other, _): &(u64, V)| *other == key;
        let entry = self.parts[part(scattered)].entry(scattered, same, |(key, _)| scatter(*key));
        &mut entry.or_insert_with(|| (key, V::default())).into_mut().1
    }
}
