//! From the name of a policy to the policy, for the objects of a node.

use std::sync::Arc;

use super::{Aware, Evict, Lru};
use crate::ids::{ObjectId, TaskId};
use crate::locality::{Items, Knowledge};
use crate::policy::{BadPolicy, Policy};

/// The names that [`Maker`] knows, the default first.
pub const NAMES: [&str; 2] = ["aware", "lru"];

/// Makes policies of one name: what they have in common is worked out once, however many nodes there are.
#[derive(Clone, Debug)]
pub struct Maker {
    known: Arc<Knowledge>,
    is_aware: bool,
}

/// Whether there is a policy with this name.
pub fn check(policy: &Policy) -> Result<(), BadPolicy> {
    if !NAMES.contains(&policy.name.as_str()) {
        return Err(policy.unknown("eviction", &NAMES));
    }
    policy.takes_none()
}

/// Whether what nobody needs any more is the first to go.
pub fn drops_unneeded(policy: &Policy) -> bool {
    policy.name == NAMES[0]
}

impl Maker {
    /// For the policy with a name, where all nodes together have so much room: if all data fits, nothing will have to go.
    pub fn new(policy: &Policy, known: &Arc<Knowledge>, room_bytes: u64) -> Result<Maker, BadPolicy> {
        check(policy)?;
        Ok(Maker { known: known.clone(), is_aware: drops_unneeded(policy) && !known.has_room(room_bytes) })
    }

    /// A policy with nothing in it.
    pub fn make(&self) -> Box<dyn Evict> {
        if !self.is_aware {
            return Box::new(Lru::default());
        }
        let items = self.known.items().clone();
        Box::new(Objects { used_once: Lru::default(), aware: Aware::new(items.clone()), items })
    }
}

/// Objects by their numbers in the workflow. What is read only once is not an item: when it has been read, it can go.
struct Objects {
    items: Arc<Items>,
    used_once: Lru,
    aware: Aware,
}

impl Objects {
    fn of(&mut self, object: u32) -> (&mut dyn Evict, u32) {
        match self.items.of_object(ObjectId(object)) {
            Some(item) => (&mut self.aware, item),
            None => (&mut self.used_once, object),
        }
    }
}

impl Evict for Objects {
    fn used(&mut self, object: u32) {
        let (evict, number) = self.of(object);
        evict.used(number);
    }

    fn gone(&mut self, object: u32) {
        let (evict, number) = self.of(object);
        evict.gone(number);
    }

    fn has(&self, object: u32) -> bool {
        match self.items.of_object(ObjectId(object)) {
            Some(item) => self.aware.has(item),
            None => self.used_once.has(object),
        }
    }

    fn victims(&self) -> Box<dyn Iterator<Item = u32> + '_> {
        Box::new(self.used_once.victims().chain(self.aware.victims().map(|item| self.items.object(item).0)))
    }

    fn ready(&mut self, task: TaskId) {
        self.aware.ready(task);
    }

    fn withdrawn(&mut self, task: TaskId) {
        self.aware.withdrawn(task);
    }

    fn started(&mut self, task: TaskId) {
        self.aware.started(task);
    }
}
