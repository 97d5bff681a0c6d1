//! What is measured of a node and of its tasks, for policies that learn.

use super::dominant::{Resource, Use};

/// All of what there is of a resource.
pub const WHOLE: u32 = 1_000_000;

/// How much of a node was used since it was measured before: whoever uses it, tasks or others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// Of each resource, in millionths of what there is.
    pub used: [u32; Resource::ALL.len()],
    /// Through networks and to and from disks, in a second. How busy a disk is does not say how much it does.
    pub moved_bytes_per_s: u64,
    /// Memory that could be had without taking it from anybody.
    pub free_memory_bytes: u64,
    /// For what part of the time somebody waited for memory, in millionths, as far as the kernel tells.
    pub memory_stalls: u32,
    /// How many processes and threads ran or waited for a core, whose ever they are.
    pub runnable: u32,
    /// What others than the tasks and the engine use of the cores, in millionths of all of them.
    pub strangers: u32,
}

impl Sample {
    /// The same as parts of what there is.
    pub fn shares(&self) -> Use {
        self.used.map(|used| f64::from(used) / f64::from(WHOLE))
    }
}

/// What a running attempt uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Memory that it holds now.
    pub bytes: u64,
    /// On cores since its start.
    pub computing_us: u64,
}

/// What an attempt took, as the kernel accounts for it: in whole microseconds, as it is recorded, so that who replays a run learns the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// From its start to its end.
    pub time_us: u64,
    /// On cores.
    pub computing_us: u64,
    /// Most memory held at once; nothing if that is not known.
    pub peak_bytes: u64,
}
