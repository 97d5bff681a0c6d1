//! Pack: how many tasks, and of which classes, a node runs at once.
//!
//! A policy is asked before each start whether one more task of a class may run, and is told of every start
//! and end. It never sees single tasks: what it grants, it grants to the whole class.

mod fixed;
mod requests;

pub use fixed::Fixed;
pub use requests::Requests;

use crate::ids::ClassId;
use crate::policy::{BadPolicy, Policy};
use crate::workflow::{Resources, Workflow};

/// What a node can give.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Capacity {
    /// How many tasks may run at once.
    pub width: u32,
    /// Cores and memory.
    pub resources: Resources,
}

/// Decides what may run beside what is running.
pub trait Pack: Send {
    /// Whether one more task of this class may start now.
    fn admits(&self, class: ClassId) -> bool;
    /// A task of this class has started.
    fn started(&mut self, class: ClassId);
    /// A task of this class has ended.
    fn ended(&mut self, class: ClassId);
    /// Whether a task of this class could run if nothing else did.
    fn could_ever_admit(&self, class: ClassId) -> bool;
}

/// The names that [`by_name`] knows.
pub const NAMES: [&str; 2] = ["requests", "fixed"];

/// The policy with a name.
pub fn by_name(policy: &Policy, capacity: Capacity, flow: &Workflow) -> Result<Box<dyn Pack>, BadPolicy> {
    policy.takes_none()?;
    match policy.name.as_str() {
        "fixed" => Ok(Box::new(Fixed::new(capacity.width))),
        "requests" => Ok(Box::new(Requests::new(capacity, flow.classes().to_vec()))),
        _ => Err(policy.unknown("pack", &NAMES)),
    }
}
