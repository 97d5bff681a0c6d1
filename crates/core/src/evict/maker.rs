//! From the name of a policy to the policy, for the objects of a node.

use std::sync::{Arc, OnceLock};

use super::{Aware, Evict, Lru};
use crate::ids::{ObjectId, TaskId};
use crate::locality::Items;
use crate::policy::{BadPolicy, Policy};
use crate::workflow::Workflow;

/// The names that [`Maker`] knows, the default first.
pub const NAMES: [&str; 2] = ["aware", "lru"];

/// Makes policies of one name: what they have in common is worked out once, however many nodes there are.
#[derive(Clone, Debug)]
pub struct Maker {
    flow: Arc<Workflow>,
    is_aware: bool,
    items: OnceLock<Arc<Items>>,
}

impl Maker {
    /// For the policy with a name, where all nodes together have so much room: if all data fits, nothing will have to go.
    pub fn new(policy: &Policy, flow: &Arc<Workflow>, room_bytes: u64) -> Result<Maker, BadPolicy> {
        if !NAMES.contains(&policy.name.as_str()) {
            return Err(policy.unknown("eviction", &NAMES));
        }
        policy.takes_none()?;
        let objects = (0..flow.object_count()).map(ObjectId::at);
        let data: u128 = objects.filter_map(|object| flow.declared_size(object)).map(u128::from).sum();
        let is_roomy = data.saturating_mul(crate::order::aware::ROOMY_PART) <= u128::from(room_bytes);
        Ok(Maker { flow: flow.clone(), is_aware: policy.name == "aware" && !is_roomy, items: OnceLock::new() })
    }

    /// A policy with nothing in it.
    pub fn make(&self) -> Box<dyn Evict> {
        if !self.is_aware {
            return Box::new(Lru::default());
        }
        let items = self.items.get_or_init(|| Arc::new(Items::of(&self.flow))).clone();
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
