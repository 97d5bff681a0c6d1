//! Throng's runtime: what touches the world on behalf of [`throng_core`].
//!
//! ```text
//!   run ── prepare ──▶ judge what is up to date ──▶ driver, node_loop ◀──▶ core::node::Node
//!                          ▲                         │   │  │
//!                     store (journal)   process (slots)  │  trace, log
//!                                                     files
//! ```
//!
//! Nothing here chooses: events go into the node, commands come out and are carried out.

pub mod clock;
mod containers;
pub mod driver;
mod fence;
pub mod files;
pub mod following;
pub mod host;
mod keeper;
pub mod log;
pub mod meter;
pub(crate) mod node_loop;
pub mod objects;
pub mod process;
pub mod progress;
pub mod recording;
pub mod replay;
pub mod run;
pub mod simulated;
pub(crate) mod slot;
pub mod state;
pub mod storage;
pub mod store;
pub mod surroundings;
pub mod tier;
mod took;
