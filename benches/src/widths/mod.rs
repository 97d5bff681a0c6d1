//! How many tasks run at once: what the engine finds by itself, beside the best number that a sweep finds.
//!
//! `loads` are the tasks, which the program `work` does; `engine` runs them with a fixed number or with one that learns; `sweep` looks for
//! the best fixed number; `server` is the remote system of those that read from one, and `group` the memory of those that need it.

pub mod engine;
pub mod group;
pub mod loads;
pub mod server;
pub mod sweep;

/// What `work` reads from a disk at a time.
pub const BLOCK_BYTES: usize = 64 * 1024;

/// Errors are for the person who measures.
pub type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;
