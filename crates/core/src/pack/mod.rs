//! Pack: how many tasks, and of which classes, a node runs at once.
//!
//! A policy is asked before each start whether one more task with a certain demand may run, and is told of every start
//! and end. It never sees single tasks: what it grants, it grants to all who ask for the same. Cores and memory are
//! its business; what has a name and is counted is not ([`crate::pools`]).

mod fixed;
mod requests;

pub use fixed::Fixed;
pub use requests::Requests;

use std::sync::Arc;

use crate::ids::DemandId;
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
    /// Whether one more task with this demand may start now.
    fn admits(&self, demand: DemandId) -> bool;
    /// A task with this demand has started.
    fn started(&mut self, demand: DemandId);
    /// A task with this demand has ended.
    fn ended(&mut self, demand: DemandId);
    /// Whether a task with this demand could run if nothing else did.
    fn could_ever_admit(&self, demand: DemandId) -> bool;
}

/// The names that [`by_name`] knows.
pub const NAMES: [&str; 2] = ["requests", "fixed"];

/// The policy with a name.
pub fn by_name(policy: &Policy, capacity: Capacity, flow: &Arc<Workflow>) -> Result<Box<dyn Pack>, BadPolicy> {
    policy.takes_none()?;
    match policy.name.as_str() {
        "fixed" => Ok(Box::new(Fixed::new(capacity.width))),
        "requests" => Ok(Box::new(Requests::new(capacity, flow.clone()))),
        _ => Err(policy.unknown("pack", &NAMES)),
    }
}
