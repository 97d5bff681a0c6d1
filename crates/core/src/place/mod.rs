//! Place: where a task that has become ready goes.
//!
//! A policy answers for one task at a time: keep it (local queue), share it (shared queue, from which other
//! nodes may steal), or push it to the node that holds its data. A run on one machine knows only [`Here`].

use crate::node::ReadyTask;
use crate::policy::{BadPolicy, Policy};

/// What becomes of a ready task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Placement {
    /// It stays, and nobody else may have it.
    Keep,
    /// It stays until somebody asks for it.
    Share,
}

/// Decides where ready tasks go.
pub trait Place: Send {
    /// Decides about one task.
    fn ready(&mut self, task: &ReadyTask) -> Placement;
}

/// Keeps everything: the policy of a node that is alone.
#[derive(Clone, Copy, Debug)]
pub struct Here;

impl Place for Here {
    fn ready(&mut self, _: &ReadyTask) -> Placement {
        Placement::Keep
    }
}

/// The policy with a name.
pub fn by_name(policy: &Policy) -> Result<Box<dyn Place>, BadPolicy> {
    policy.takes_none()?;
    match policy.name.as_str() {
        "here" => Ok(Box::new(Here)),
        _ => Err(policy.unknown("place", &["here"])),
    }
}
