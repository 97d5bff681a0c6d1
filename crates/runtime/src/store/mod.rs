//! The durable store of an embedded run: what each task did when it was last done.
//!
//! A checksummed [`journal`] that is only ever appended to, and arrays in memory made from it at the start.
//! `benches/` compares it with two embedded databases: for records that are written once, read all at
//! once, and never looked up singly, a log is an order of magnitude faster and a fraction of the size.

pub mod journal;
pub mod learnt;
pub mod recorded;

pub use journal::{Journal, JournalError};
pub use recorded::Recorded;
