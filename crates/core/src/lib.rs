//! Throng's decisions, and nothing else.
//!
//! This crate holds the checked [`workflow`], the [`node`] state machine with its policies
//! ([`place`], [`order`], [`pack`]), what the store keeps for a task ([`record`], [`ledger`]), what counts
//! as up to date ([`stale`]) and the run's [`trace`]. It has no clock, socket, file, thread or environment:
//! time arrives with each event, randomness comes from one seeded generator, and everything else is an
//! argument. That is what lets a simulator and the real runtime drive the very same code.

pub mod fingerprint;
pub mod ids;
pub mod ledger;
pub mod node;
pub mod order;
pub mod pack;
pub mod place;
pub mod policy;
pub mod pools;
pub mod record;
pub mod shape;
pub mod stale;
pub mod temp;
pub mod time;
pub mod trace;
pub mod workflow;
