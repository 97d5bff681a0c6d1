//! Throng's decisions, and nothing else.
//!
//! This crate holds the checked [`workflow`], the [`node`] state machine with its policies
//! ([`place`], [`order`], [`pack`]), what the store keeps for a task ([`record`], [`ledger`]), what counts
//! as up to date ([`stale`]), the run's [`trace`], and the [`account`] and [`bound`] by which a run is judged
//! afterwards. It has no clock, socket, file, thread or environment:
//! time arrives with each event, randomness comes from one seeded generator ([`rng`]), and everything else is an
//! argument. That is what lets a simulator and the real runtime drive the very same code.

pub mod account;
pub mod bound;
pub mod evict;
pub mod fingerprint;
pub mod headroom;
pub mod ids;
pub mod kin;
pub mod ledger;
pub mod locality;
mod lookup;
pub mod member;
pub mod node;
pub mod order;
pub mod pack;
pub mod past;
pub mod place;
pub mod plan;
pub mod policy;
pub mod pools;
pub mod predict;
pub mod record;
pub mod rng;
pub mod shape;
pub mod spelling;
pub mod stale;
pub mod store;
pub mod temp;
pub mod time;
pub mod trace;
pub mod workflow;
