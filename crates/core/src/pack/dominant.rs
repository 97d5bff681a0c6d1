//! Which resource a kind of task needs most, and which kinds may therefore run beside each other.

/// A resource that tasks compete for. Of two that are used alike, the first counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// Computing.
    Cpu,
    /// The network, or whatever is behind it.
    Network,
    /// Disks.
    Disk,
    /// Memory.
    Memory,
    /// What comes from a file system that is shared with others, or from far away.
    Remote,
}

impl Resource {
    /// All of them, the first first.
    pub const ALL: [Resource; 5] =
        [Resource::Cpu, Resource::Network, Resource::Disk, Resource::Memory, Resource::Remote];

    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Resource::Cpu => "cpu",
            Resource::Network => "net",
            Resource::Disk => "disk",
            Resource::Memory => "mem",
            Resource::Remote => "remote",
        }
    }

    /// The one that people call that.
    pub fn of(name: &str) -> Option<Resource> {
        Resource::ALL.into_iter().find(|resource| resource.name() == name)
    }
}

/// How much of each resource is used, each as a part of what there is.
pub type Use = [f64; Resource::ALL.len()];

/// The resource that is used most.
pub fn dominant(used: &Use) -> Resource {
    let mut resources = Resource::ALL.into_iter();
    let first = resources.next().unwrap_or(Resource::Cpu);
    resources.fold(first, |best, next| if used[next as usize] > used[best as usize] { next } else { best })
}

/// Which of several kinds run now, given what each needs most, in the order in which they came: each for whose resource nobody before it
/// runs.
pub fn beside_each_other(dominants: &[Resource]) -> Vec<usize> {
    let is_first = |at: &usize| !dominants[..*at].contains(&dominants[*at]);
    (0..dominants.len()).filter(is_first).collect()
}
