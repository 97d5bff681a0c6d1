//! Yardsticks that Throng's own figures are held against.
//!
//! An engine's rate of tasks means little alone: `launch` gives the rate at which this
//! operating system starts processes with no engine at all, and `stores` gives the cost of
//! keeping one completion record per task in each candidate store.

pub mod launch;
pub mod random;
pub mod sample;
pub mod stores;
pub mod widths;
pub mod workflows;
