//! Objects that were made here and that nobody has read here yet: most of what a node has at the end of a run.
//!
//! All that has to be known of them is how large they are. Neighbours are made one after the other on the same node, so
//! they are kept in rows of up to 64: nine bytes for each, where an entry of the cache would take seventy.

use std::collections::BTreeMap;

use crate::ids::ObjectId;

/// Which of 64 neighbours are there, and their sizes, in the order of their numbers.
#[derive(Clone, Debug, Default)]
struct Row {
    bits: u64,
    bytes: Vec<u64>,
}

impl Row {
    /// Where among the sizes that of a neighbour is, or would be.
    fn rank(&self, bit: u64) -> usize {
        (self.bits & (bit - 1)).count_ones() as usize
    }
}

/// Objects and their sizes.
#[derive(Clone, Debug, Default)]
pub(super) struct Untouched {
    /// No row is empty.
    rows: BTreeMap<u32, Row>,
}

fn place(object: ObjectId) -> (u32, u64) {
    (object.0 / 64, 1 << (object.0 % 64))
}

impl Untouched {
    /// The size of an object that is among them.
    pub(super) fn get(&self, object: ObjectId) -> Option<u64> {
        let (number, bit) = place(object);
        let row = self.rows.get(&number).filter(|row| row.bits & bit != 0)?;
        Some(row.bytes[row.rank(bit)])
    }

    /// Takes in an object that is not among them.
    pub(super) fn insert(&mut self, object: ObjectId, bytes: u64) {
        let (number, bit) = place(object);
        let row = self.rows.entry(number).or_default();
        debug_assert_eq!(row.bits & bit, 0);
        let rank = row.rank(bit);
        row.bits |= bit;
        row.bytes.insert(rank, bytes);
    }

    /// Takes an object out, if it is among them, and says how large it is.
    pub(super) fn remove(&mut self, object: ObjectId) -> Option<u64> {
        let (number, bit) = place(object);
        let row = self.rows.get_mut(&number).filter(|row| row.bits & bit != 0)?;
        let rank = row.rank(bit);
        row.bits &= !bit;
        let bytes = row.bytes.remove(rank);
        if row.bits == 0 {
            self.rows.remove(&number);
        }
        Some(bytes)
    }

    /// All of them, ascending, with sizes.
    pub(super) fn iter(&self) -> impl Iterator<Item = (ObjectId, u64)> + '_ {
        self.rows.iter().flat_map(|(number, row)| {
            let there = (0..64).filter(|bit| row.bits >> bit & 1 == 1).map(move |bit| ObjectId(number * 64 + bit));
            there.zip(row.bytes.iter().copied())
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn as_a_plain_map(steps in prop::collection::vec((0u32..200, 0u64..1000), 1..200)) {
            let (mut objects, mut plain) = (Untouched::default(), BTreeMap::new());
            for (number, bytes) in steps {
                let object = ObjectId(number);
                prop_assert_eq!(objects.get(object), plain.get(&object).copied());
                if let Some(known) = plain.remove(&object) {
                    prop_assert_eq!(objects.remove(object), Some(known));
                    prop_assert_eq!(objects.remove(object), None);
                } else {
                    objects.insert(object, bytes);
                    plain.insert(object, bytes);
                }
                let all = plain.iter().map(|(object, bytes)| (*object, *bytes));
                prop_assert_eq!(objects.iter().collect::<Vec<_>>(), all.collect::<Vec<_>>());
            }
            prop_assert!(objects.rows.values().all(|row| row.bits != 0));
        }
    }
}
