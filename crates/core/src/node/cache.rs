//! What a node has of the run's objects, and the room that is left.
//!
//! An object that was made here, or that the store calls the last of its kind, is never given up while somebody may
//! need it. Copies of others are, in the order that [`crate::evict`] says, but only after the store has agreed: it alone
//! knows whether a copy has become the last one. What a staged or running task reads is pinned.

use std::collections::BTreeMap;

use super::untouched::Untouched;
use crate::evict::Evict;
use crate::ids::ObjectId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// Room is reserved; it is on its way.
    Coming,
    /// It is here.
    Here,
    /// It will go, as soon as the store agrees.
    Leaving,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    bytes: u64,
    pins: u32,
    state: State,
    /// Others rely on this copy.
    is_kept: bool,
    /// Nobody needs it any more.
    is_unneeded: bool,
}

impl Entry {
    fn can_go(&self) -> bool {
        self.state == State::Here && self.pins == 0 && !self.is_kept
    }
}

/// Whether there is room.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Room {
    /// It has been reserved.
    Reserved,
    /// There will be once these are gone; they have been marked so.
    After(Vec<ObjectId>),
    /// Not before something that is pinned or kept goes.
    NotNow,
    /// It could not be if there were nothing else here.
    Never,
}

/// The objects of a node.
pub(super) struct Cache {
    capacity: u64,
    /// The capacity that it has when nothing is wrong: what does not fit into that never will.
    nominal: u64,
    /// All that is here, on its way, or reserved for outputs: wide enough for whatever sizes people write.
    used: u128,
    /// What of it is about to go.
    leaving: u128,
    entries: BTreeMap<ObjectId, Entry>,
    /// What is kept and has not been asked for since it came: without an entry until it is.
    untouched: Untouched,
    /// What can go, in the order in which it should.
    pub(super) idle: Box<dyn Evict>,
    /// What has come or gone since somebody looked; nothing is noted if nobody does.
    changes: Option<Vec<(ObjectId, bool)>>,
}

impl Cache {
    pub(super) fn new(capacity: u64, idle: Box<dyn Evict>) -> Cache {
        Cache {
            capacity,
            nominal: capacity,
            used: 0,
            leaving: 0,
            entries: BTreeMap::new(),
            untouched: Untouched::default(),
            idle,
            changes: None,
        }
    }

    /// Notes from now on what comes and goes.
    pub(super) fn note_changes(&mut self) {
        self.changes = Some(Vec::new());
    }

    /// What has come or gone since the last time.
    pub(super) fn take_changes(&mut self) -> Vec<(ObjectId, bool)> {
        self.changes.as_mut().map_or_else(Vec::new, std::mem::take)
    }

    fn changed(&mut self, object: ObjectId, is_here: bool) {
        if let Some(changes) = &mut self.changes {
            changes.push((object, is_here));
        }
    }

    /// Whether an object can be read here now.
    pub(super) fn has(&self, object: ObjectId) -> bool {
        self.state(object) == Some(State::Here)
    }

    /// Whether an object is here or on its way.
    pub(super) fn expects(&self, object: ObjectId) -> bool {
        self.state(object).is_some_and(|state| state != State::Leaving)
    }

    /// The size of an object that is here or on its way.
    pub(super) fn bytes(&self, object: ObjectId) -> Option<u64> {
        self.entries.get(&object).map(|entry| entry.bytes).or_else(|| self.untouched.get(object))
    }

    fn state(&self, object: ObjectId) -> Option<State> {
        let entry = self.entries.get(&object).map(|entry| entry.state);
        entry.or_else(|| self.untouched.get(object).map(|_| State::Here))
    }

    /// The entry of an object, which it gets now if it had none because nobody had asked for it.
    fn touch(&mut self, object: ObjectId) -> Option<&mut Entry> {
        if let Some(bytes) = self.untouched.remove(object) {
            let entry = Entry { bytes, pins: 0, state: State::Here, is_kept: true, is_unneeded: false };
            self.entries.insert(object, entry);
        }
        self.entries.get_mut(&object)
    }

    pub(super) fn used(&self) -> u64 {
        u64::try_from(self.used).unwrap_or(u64::MAX)
    }

    pub(super) fn capacity(&self) -> u64 {
        self.capacity
    }

    pub(super) fn set_capacity(&mut self, bytes: u64) {
        self.capacity = bytes;
        self.nominal = self.nominal.max(bytes);
    }

    /// All that is here, with sizes.
    pub(super) fn objects(&self) -> impl Iterator<Item = (ObjectId, u64)> + '_ {
        let touched = self.entries.iter().filter(|(_, entry)| entry.state == State::Here);
        touched.map(|(object, entry)| (*object, entry.bytes)).chain(self.untouched.iter())
    }

    /// Checks that room and pins are what these account for.
    pub(super) fn check(&self, pins: &BTreeMap<ObjectId, u32>, reserved: u64) -> Result<(), String> {
        let touched: u128 = self.entries.values().map(|entry| u128::from(entry.bytes)).sum();
        let held = touched + self.untouched.iter().map(|(_, bytes)| u128::from(bytes)).sum::<u128>();
        if held + u128::from(reserved) != self.used {
            return Err(format!("{held} bytes are held and {reserved} reserved, but {} counted", self.used));
        }
        for (object, entry) in &self.entries {
            let expected = pins.get(object).copied().unwrap_or(0);
            if entry.pins != expected {
                return Err(format!("{object:?} has {} pins, and {expected} readers", entry.pins));
            }
            if entry.can_go() != self.idle.has(object.0) {
                return Err(format!("{object:?} can go, and nobody knows, or the other way round"));
            }
        }
        if let Some((object, _)) = self.untouched.iter().find(|(object, _)| self.entries.contains_key(object)) {
            return Err(format!("{object:?} is here twice"));
        }
        match pins.keys().find(|object| !self.entries.contains_key(object)) {
            Some(object) => Err(format!("{object:?} is read here, but not here")),
            None => Ok(()),
        }
    }

    /// Whether nothing is about to go, and the room is what it should be.
    pub(super) fn is_settled(&self) -> bool {
        self.leaving == 0 && self.capacity == self.nominal
    }

    /// Reserves room for objects that will come and for so many bytes besides; all of it or nothing. With `forced`, also
    /// beyond the capacity.
    pub(super) fn reserve(&mut self, coming: &[(ObjectId, u64)], besides: u64, all_inputs: u64, forced: bool) -> Room {
        let new = coming.iter().filter(|(object, _)| self.state(*object).is_none());
        let needed = new.map(|(_, bytes)| u128::from(*bytes)).sum::<u128>() + u128::from(besides);
        if all_inputs.saturating_add(besides) > self.nominal {
            return Room::Never;
        }
        // What is about to leave and is wanted after all will have to come again.
        if coming.iter().any(|(object, _)| self.state(*object) == Some(State::Leaving)) {
            return Room::NotNow;
        }
        let free = u128::from(self.capacity).saturating_sub(self.used);
        if needed > free && !forced {
            return self.make_room(needed - free);
        }
        for (object, bytes) in coming {
            if self.state(*object).is_none() {
                self.used += u128::from(*bytes);
                self.expect(*object, *bytes);
            }
        }
        self.used += u128::from(besides);
        Room::Reserved
    }

    /// Whether there is room for so many bytes, or would be if all went that can.
    pub(super) fn could_hold(&self, bytes: u64) -> bool {
        let free = u128::from(self.capacity).saturating_sub(self.used);
        u128::from(bytes) <= free || self.idle.victims().next().is_some() || self.leaving > 0
    }

    fn make_room(&mut self, missing: u128) -> Room {
        let mut gained = self.leaving;
        let mut leaving = Vec::new();
        for object in self.idle.victims().map(ObjectId) {
            if gained >= missing {
                break;
            }
            gained += u128::from(self.entries[&object].bytes);
            leaving.push(object);
        }
        if gained < missing {
            return Room::NotNow;
        }
        for object in &leaving {
            self.leave(*object);
        }
        Room::After(leaving)
    }

    fn leave(&mut self, object: ObjectId) {
        let Some(entry) = self.entries.get_mut(&object) else { return };
        self.idle.gone(object.0);
        entry.state = State::Leaving;
        self.leaving += u128::from(entry.bytes);
        self.changed(object, false);
    }

    fn expect(&mut self, object: ObjectId, bytes: u64) {
        let entry = Entry { bytes, pins: 0, state: State::Coming, is_kept: false, is_unneeded: false };
        self.entries.insert(object, entry);
        self.changed(object, true);
    }

    /// Gives back room that was reserved besides objects.
    pub(super) fn unreserve(&mut self, bytes: u64) {
        self.used -= u128::from(bytes);
    }

    /// An object has come; says whether it was expected.
    pub(super) fn arrived(&mut self, object: ObjectId) -> bool {
        let Some(entry) = self.entries.get_mut(&object).filter(|entry| entry.state == State::Coming) else {
            return false;
        };
        entry.state = State::Here;
        if entry.can_go() {
            self.idle.used(object.0);
        }
        true
    }

    /// An object that should have come will not.
    pub(super) fn gave_up(&mut self, object: ObjectId) {
        if self.entries.get(&object).is_some_and(|entry| entry.state == State::Coming) {
            self.remove(object);
        }
    }

    /// An object was made here, or lies here from the beginning: it is kept. It takes room even if there is none, for it is
    /// there.
    pub(super) fn keep(&mut self, object: ObjectId, bytes: u64) {
        let pins = self.entries.get(&object).map_or(0, |entry| entry.pins);
        self.remove(object);
        self.used += u128::from(bytes);
        self.untouched.insert(object, bytes);
        self.changed(object, true);
        if pins > 0
            && let Some(entry) = self.touch(object)
        {
            entry.pins = pins;
        }
    }

    /// An object was made here that others have as well: it is here until something else needs the room.
    pub(super) fn keep_copy(&mut self, object: ObjectId, bytes: u64) {
        self.keep(object, bytes);
        if let Some(entry) = self.touch(object) {
            entry.is_kept = false;
            if entry.can_go() {
                self.idle.used(object.0);
            }
        }
    }

    fn remove(&mut self, object: ObjectId) {
        if let Some(bytes) = self.untouched.remove(object) {
            self.used -= u128::from(bytes);
        } else {
            let Some(entry) = self.entries.remove(&object) else { return };
            self.used -= u128::from(entry.bytes);
            if entry.state == State::Leaving {
                self.leaving -= u128::from(entry.bytes);
            }
            self.idle.gone(object.0);
        }
        self.changed(object, false);
    }

    pub(super) fn pin(&mut self, object: ObjectId) {
        let Some(entry) = self.touch(object) else { return };
        entry.pins += 1;
        self.idle.gone(object.0);
    }

    /// A reader is done with an object; says whether it has been deleted with that.
    pub(super) fn unpin(&mut self, object: ObjectId) -> bool {
        let Some(entry) = self.entries.get_mut(&object) else { return false };
        entry.pins = entry.pins.saturating_sub(1);
        if entry.pins == 0 && entry.is_unneeded && entry.state == State::Here {
            self.remove(object);
            return true;
        }
        if entry.can_go() {
            self.idle.used(object.0);
        }
        false
    }

    /// The store has answered whether an object may go.
    pub(super) fn dropped(&mut self, object: ObjectId, is_gone: bool) {
        if is_gone {
            if self.entries.get(&object).is_some_and(|entry| entry.state == State::Leaving) {
                self.remove(object);
            }
        } else if let Some(entry) = self.entries.get_mut(&object) {
            if entry.state == State::Leaving {
                self.leaving -= u128::from(entry.bytes);
            }
            entry.state = State::Here;
            entry.is_kept = true;
            self.changed(object, true);
        }
    }

    /// Nobody needs an object any more; says whether it has been deleted.
    pub(super) fn unneeded(&mut self, object: ObjectId) -> bool {
        if self.untouched.get(object).is_some() {
            self.remove(object);
            return true;
        }
        let Some(entry) = self.entries.get_mut(&object) else { return false };
        entry.is_unneeded = true;
        if entry.state == State::Here && entry.pins == 0 {
            self.remove(object);
            return true;
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evict::Lru;

    fn object(number: u32) -> ObjectId {
        ObjectId(number)
    }

    #[test]
    fn the_least_recently_used_goes_and_what_is_kept_or_pinned_stays() {
        let mut cache = Cache::new(100, Box::new(Lru::default()));
        cache.keep(object(0), 40);
        for number in [1, 2] {
            assert_eq!(cache.reserve(&[(object(number), 30)], 0, 30, false), Room::Reserved);
            cache.arrived(object(number));
        }
        cache.pin(object(1));
        cache.unpin(object(1));
        assert_eq!(cache.reserve(&[(object(3), 10)], 10, 10, false), Room::After(vec![object(2)]));
        assert_eq!(cache.reserve(&[(object(3), 10)], 10, 10, false), Room::After(vec![]));
        cache.dropped(object(2), true);
        assert_eq!(cache.reserve(&[(object(3), 10)], 10, 10, false), Room::Reserved);
        cache.pin(object(1));
        assert_eq!(cache.reserve(&[(object(4), 20)], 0, 20, false), Room::NotNow);
        assert_eq!(cache.reserve(&[(object(4), 101)], 0, 101, false), Room::Never);
        assert_eq!(cache.used(), 90);
    }

    #[test]
    fn a_last_copy_becomes_one_that_is_kept() {
        let mut cache = Cache::new(10, Box::new(Lru::default()));
        assert_eq!(cache.reserve(&[(object(1), 10)], 0, 10, false), Room::Reserved);
        cache.arrived(object(1));
        assert_eq!(cache.reserve(&[(object(2), 5)], 0, 5, false), Room::After(vec![object(1)]));
        assert!(!cache.has(object(1)));
        cache.dropped(object(1), false);
        assert!(cache.has(object(1)));
        assert_eq!(cache.reserve(&[(object(2), 5)], 0, 5, false), Room::NotNow);
        assert!(cache.unneeded(object(1)));
        assert_eq!((cache.used(), cache.reserve(&[(object(2), 5)], 0, 5, false)), (0, Room::Reserved));
    }
}
