//! Instances: machines that are really rented, from some time to another, and which of them runs which task when.
//!
//! ```text
//!   workflow + catalogue + times ──▶ Problem ──▶ Rack (tasks are put on instances, one after the other) ──▶ Schedule
//! ```
//!
//! What planners of types leave out counts here: there are only so many machines of a type, an instance is charged for the time that it is had and not for the
//! time that tasks run on it, it takes a while to start, it runs as many tasks at once as it has room for, and data that was made elsewhere has to be brought.
//!
//! An instance is had from when it has to start in order to be there for the first thing that it does, until its last task has ended and
//! the last byte of what others want of it is sent. Data is fetched once a task has all of it somewhere, as the engine does.

pub mod chain;
pub mod packer;
pub mod problem;
mod profile;
mod rack;
mod readers;
mod revise;
pub mod schedule;
mod spans;

pub use chain::{Link, Waited};
pub use packer::{Choice, Recipe, pack};
pub use problem::Problem;
pub use profile::Need;
pub use revise::revise;
pub use schedule::{Instance, Run, Schedule};
