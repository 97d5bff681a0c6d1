//! What may keep a tier from being made.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::state::StateError;

/// Why there is no tier.
#[derive(Debug, Error)]
pub enum TierError {
    /// What is to be brought does not fit where it is to go.
    #[error("{} has room for {free_bytes} bytes, and the memory tier will take {needed_bytes}", directory.display())]
    NoRoom {
        /// Where.
        directory: PathBuf,
        /// How much there is.
        free_bytes: u64,
        /// How much there should be.
        needed_bytes: u64,
    },
    /// Nothing can be made there.
    #[error("cannot make a memory tier in {}: {error}", directory.display())]
    Place {
        /// Where.
        directory: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// It cannot be noted.
    #[error(transparent)]
    State(#[from] StateError),
    /// Somebody else's links would be in the way.
    #[error("another run with a memory tier, with its state elsewhere, is at work in {}", .0.display())]
    Shared(PathBuf),
    /// A link of a run that goes on.
    #[error("`{name}` is a link into {}, the memory tier of a run that goes on", tier.display())]
    Held {
        /// Where it lies.
        name: String,
        /// Where it leads.
        tier: PathBuf,
    },
    /// An input in a directory that is an input itself.
    #[error("`{name}` is brought from the storage, and lies in `{directory}`, which is read as a whole")]
    Inside {
        /// Which.
        name: String,
        /// The directory.
        directory: String,
    },
    /// An input for which no link can be made.
    #[error("cannot make a link for the input `{name}` in {}: {error}", directory.display())]
    NoPlace {
        /// Which.
        name: String,
        /// The directory.
        directory: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// An input that cannot be looked at.
    #[error("cannot look at the input `{name}` at {place}: {error}")]
    Unclear {
        /// Which.
        name: String,
        /// Where it is.
        place: String,
        /// Why not.
        error: io::Error,
    },
    /// A task whose inputs are too large.
    #[error("task `{task}` reads {needed_bytes} bytes from the storage, and the memory tier has {capacity_bytes}")]
    NeverFits {
        /// Which.
        task: String,
        /// How much it reads.
        needed_bytes: u64,
        /// How much there is.
        capacity_bytes: u64,
    },
}
