//! Who has an object, and since when.

/// So many of those who have an object are considered for sending it: enough for somebody among them to be there anyway.
const CONSIDERED: usize = 64;

/// Those who have an object.
#[derive(Clone, Debug, Default)]
pub(super) struct Holders {
    /// In the order of their numbers: whether somebody has it is asked very often.
    all: Vec<(u32, u64)>,
    /// Those who got it first, in that order, if they are fewer than all.
    first: Vec<(u32, u64)>,
}

impl Holders {
    /// An instance has it from some time on.
    pub(super) fn add(&mut self, instance: u32, since: u64) {
        if self.first.len() < CONSIDERED {
            self.first.push((instance, since));
        }
        let place = self.all.partition_point(|(other, _)| *other < instance);
        self.all.insert(place, (instance, since));
    }

    /// Since when an instance has it, if it does.
    pub(super) fn since(&self, instance: u32) -> Option<u64> {
        let place = self.all.binary_search_by_key(&instance, |(holder, _)| *holder).ok()?;
        Some(self.all[place].1)
    }

    /// All who have it.
    pub(super) fn all(&self) -> &[(u32, u64)] {
        &self.all
    }

    /// The first who had it, not all if they are many.
    pub(super) fn first(&self) -> &[(u32, u64)] {
        &self.first
    }
}
