//! How far apart the uses of data are: the measures by which an order of tasks can be called kind to a cache.
//!
//! The measures are those of Meng and Golab. An item is a piece of data that is used more than once: made by one task and
//! read by others, or brought from outside for several. Its **stack distance** between two uses is how many other items were
//! read in between, and an order is good if these are small, for then a cache that drops what was used longest ago still has the item.
//!
//! ```text
//!   Items    who makes and reads what                       (fixed for a workflow)
//!   Recency  what the next task would add to a measure      (grows with each start)
//!   serial   one order of all tasks with a small measure    (before a run)
//!   complete what would follow if a task were next          (searched before each start)
//!   Knowledge all that the policies of a run share           (worked out once)
//! ```

mod brought;
mod complete;
mod items;
mod knowledge;
mod places;
mod rank_tree;
mod recency;
mod serial;

pub use brought::{Brought, Wanted};
pub use complete::{Search, Situation, scores};
pub use items::{Items, ItemsBuilder};
pub use knowledge::Knowledge;
pub use places::places;
pub use recency::{Metric, Recency};
pub use serial::{EXACT_UP_TO, Method, Precedence, SERIAL_STEPS, Serial, serial_order};

#[cfg(test)]
mod tests;
