//! What the store knows of objects: sizes, copies, and readers to come.

use std::collections::BTreeMap;

use super::Owner;
use crate::ids::{NodeId, ObjectId, TaskId};
use crate::kin::Kin;

/// A place that is no node: the shared file system, which everybody can read.
pub const SHARED_BY_ALL: NodeId = NodeId(u32::MAX - 1);

/// Who has what lies there.
pub(super) const EVERYBODYS: Owner = Owner { node: SHARED_BY_ALL, boot: 0 };

const NOWHERE: Owner = Owner::NOBODY;

/// How many copies an asker is told of: of a few that are taken from anywhere, one is on a machine that is had anyway.
pub const PLACES_TOLD: usize = 8;

#[derive(Clone, Copy, Debug)]
struct Object {
    bytes: u64,
    /// The first copy; further ones are kept apart, for most objects have none.
    first: Owner,
}

/// All objects of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct Objects {
    objects: Vec<Object>,
    /// How many readings of each object are to come; empty if nobody reads anything.
    open_readers: Vec<u32>,
    more: BTreeMap<ObjectId, Vec<Owner>>,
    /// A bit for each reading that is over.
    released: Vec<u64>,
    /// Readings that are to come again, and the generation of the reader that will do it: what an earlier one says comes too late.
    again: BTreeMap<usize, u16>,
}

impl Objects {
    /// Objects that exist nowhere yet.
    pub(super) fn new(kin: &Kin, count: usize) -> Objects {
        let readers = |at| kin.reads(ObjectId::at(at)).len() as u32;
        let readable = if kin.read_count() == 0 { 0 } else { count };
        Objects {
            objects: vec![Object { bytes: 0, first: NOWHERE }; count],
            open_readers: (0..readable).map(readers).collect(),
            more: BTreeMap::new(),
            released: vec![0; kin.read_count().div_ceil(64)],
            again: BTreeMap::new(),
        }
    }

    pub(super) fn bytes(&self, object: ObjectId) -> u64 {
        self.objects[object.index()].bytes
    }

    /// All copies, in no particular order.
    pub(super) fn places(&self, object: ObjectId) -> impl Iterator<Item = Owner> + '_ {
        let first = Some(self.objects[object.index()].first).filter(|first| *first != NOWHERE);
        first.into_iter().chain(self.more.get(&object).into_iter().flatten().copied())
    }

    /// Some copies, others for other askers.
    pub(super) fn told(&self, object: ObjectId, by: NodeId) -> Box<[NodeId]> {
        let places: Vec<NodeId> = self.places(object).map(|place| place.node).filter(|place| *place != by).collect();
        let from = if places.is_empty() { 0 } else { by.0 as usize % places.len() };
        places[from..].iter().chain(&places[..from]).take(PLACES_TOLD).copied().collect()
    }

    pub(super) fn made(&mut self, object: ObjectId, bytes: u64, owner: Owner) {
        self.objects[object.index()].bytes = bytes;
        self.copied(object, owner);
    }

    pub(super) fn copied(&mut self, object: ObjectId, owner: Owner) {
        if self.places(object).any(|place| place == owner) {
            return;
        }
        let first = &mut self.objects[object.index()].first;
        if *first == NOWHERE {
            *first = owner;
        } else {
            self.more.entry(object).or_default().push(owner);
        }
    }

    /// Forgets copies, whether or not they are the last.
    pub(super) fn lose(&mut self, object: ObjectId, is_lost: impl Fn(Owner) -> bool) {
        let first = &mut self.objects[object.index()].first;
        if *first != NOWHERE && is_lost(*first) {
            *first = NOWHERE;
        }
        if let Some(more) = self.more.get_mut(&object) {
            more.retain(|place| !is_lost(*place));
            if *first == NOWHERE && !more.is_empty() {
                *first = more.remove(0);
            }
            if more.is_empty() {
                self.more.remove(&object);
            }
        }
    }

    /// Forgets a copy unless it is the last one that somebody may need. What the dead have is none.
    pub(super) fn drop_copy(
        &mut self,
        object: ObjectId,
        owner: Owner,
        is_result: bool,
        is_dead: impl Fn(Owner) -> bool,
    ) -> bool {
        let is_here = self.places(object).any(|place| place == owner);
        let is_last = is_here && !self.places(object).any(|place| place != owner && !is_dead(place));
        if is_last && (self.is_needed(object) || is_result) {
            return false;
        }
        self.lose(object, |place| place == owner);
        true
    }

    /// Puts an object back to what was known of it earlier.
    pub(super) fn restore(&mut self, earlier: &Objects, kin: &Kin, object: ObjectId) {
        self.objects[object.index()] = earlier.objects[object.index()];
        if let Some(open) = self.open_readers.get_mut(object.index()) {
            *open = earlier.open_readers[object.index()];
        }
        self.more.remove(&object);
        self.more.extend(earlier.more.get(&object).map(|more| (object, more.clone())));
        for read in kin.reads(object) {
            let bit = 1 << (read % 64);
            self.released[read / 64] &= !bit;
            self.released[read / 64] |= earlier.released[read / 64] & bit;
            self.again.remove(&read);
            self.again.extend(earlier.again.get(&read).map(|generation| (read, *generation)));
        }
    }

    pub(super) fn is_needed(&self, object: ObjectId) -> bool {
        self.open_readers.get(object.index()).is_some_and(|open| *open > 0)
    }

    /// A reading is over; says whether it was the last.
    pub(super) fn release(&mut self, kin: &Kin, object: ObjectId, reader: TaskId, generation: u16) -> bool {
        let Some(read) = kin.read_of(object, reader) else { return false };
        if !self.again.is_empty() && self.again.get(&read).is_some_and(|least| generation < *least) {
            return false;
        }
        let (word, bit) = (&mut self.released[read / 64], 1 << (read % 64));
        let open = &mut self.open_readers[object.index()];
        if *word & bit == 0 {
            *word |= bit;
            *open -= 1;
        }
        *open == 0
    }

    /// A reading that was over is to come again.
    pub(super) fn retain(&mut self, kin: &Kin, object: ObjectId, reader: TaskId, generation: u16) {
        let Some(read) = kin.read_of(object, reader) else { return };
        let least = self.again.get(&read).copied().unwrap_or(0);
        if generation <= least {
            return;
        }
        self.again.insert(read, generation);
        let (word, bit) = (&mut self.released[read / 64], 1 << (read % 64));
        if *word & bit != 0 {
            *word &= !bit;
            self.open_readers[object.index()] += 1;
        }
    }
}
