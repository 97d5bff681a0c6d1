//! The simulator: a modelled cluster that drives the very code that runs on a real one.
//!
//! ```text
//!   Cluster, Workflow ──▶ World: one heap of things to come ──▶ Outcome
//!                          │  ▲
//!                  events  ▼  │  commands
//!                  throng_core::member::Member, one per node
//! ```
//!
//! Decisions are core's; this crate only says how long things take: computing ([`work`]), moving data
//! (`network`), what tasks on one machine do to each other ([`crowd`]), what is in memory and what on disk (`tier`), asking the store (`storage`), and what breaks when ([`faults`]). The same seed gives the same run, event for event.

pub mod cluster;
pub mod crowd;
pub mod faults;
mod fit;
pub mod generate;
mod heap;
mod judge;
mod lengths;
mod machines;
mod network;
pub mod outcome;
mod outside;
pub mod planned;
pub mod rent;
mod storage;
pub mod swarm;
mod tier;
pub mod work;
mod world;

pub use cluster::{Cluster, Inputs, Later, Submission};
pub use crowd::Crowd;
pub use faults::Faults;
pub use fit::misfit;
pub use machines::MachineType;
pub use outcome::Outcome;
pub use world::{LEARNER, Progress, Recorder, World};
