//! What a control group may use of the cores, where that is less than there is, and what it does use.
//!
//! Where there is a quota, it does not matter how busy the machine is: others on it may use the rest, and tasks get what the quota says all the same.
//! What counts is what all in the group have used of it. Where the kernel does not count that beside the quota (in the first version, if
//! `cpu` and `cpuacct` are mounted apart), it is as if there were none.

use std::path::{Path, PathBuf};

use super::cgroup;

/// The tightest quota around this process.
#[derive(Clone, Debug, PartialEq)]
pub struct Quota {
    directory: PathBuf,
    is_old: bool,
    /// How many cores it is worth.
    pub cores: f64,
}

impl Quota {
    /// Looks for one.
    pub fn find() -> Option<Quota> {
        let quotas = cgroup::directories("cpu").into_iter().filter_map(|(directory, is_old)| of(&directory, is_old));
        quotas.min_by(|one, other| one.cores.total_cmp(&other.cores))
    }

    /// The same, worth no more cores than this.
    pub fn of_at_most(self, cores: f64) -> Quota {
        Quota { cores: self.cores.min(cores), ..self }
    }

    /// What all in the group have computed, in microseconds.
    pub fn used_us(&self) -> Option<u64> {
        let read = |name: &str| std::fs::read_to_string(self.directory.join(name)).ok();
        if self.is_old {
            return Some(read("cpuacct.usage")?.trim().parse::<u64>().ok()? / 1000);
        }
        read("cpu.stat")?.lines().find_map(|line| line.strip_prefix("usage_usec ")?.trim().parse().ok())
    }
}

/// The quota of a group, if it has one and counts what is used of it.
fn of(directory: &Path, is_old: bool) -> Option<Quota> {
    let read = |name: &str| std::fs::read_to_string(directory.join(name)).ok();
    let text =
        if is_old { [read("cpu.cfs_quota_us")?, read("cpu.cfs_period_us")?].join(" ") } else { read("cpu.max")? };
    // No quota is `max`, or less than nothing.
    let mut numbers = text.split_whitespace().map(|word| word.parse::<u64>().ok());
    let (time, period) = (numbers.next()??, numbers.next()??);
    let quota = Quota { directory: directory.to_owned(), is_old, cores: time as f64 / period.max(1) as f64 };
    quota.used_us().map(|_| quota)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_quota_is_worth() {
        let folder = tempfile::tempdir().unwrap();
        let cores = |is_old, files: &[(&str, &str)]| {
            files.iter().for_each(|(name, text)| std::fs::write(folder.path().join(name), text).unwrap());
            of(folder.path(), is_old).map(|quota| (quota.cores, quota.used_us().unwrap()))
        };
        assert_eq!((cores(false, &[]), cores(true, &[])), (None, None));
        assert_eq!(cores(false, &[("cpu.max", "150000 100000\n")]), None, "nobody counts");
        assert_eq!(cores(false, &[("cpu.stat", "usage_usec 700\nuser_usec 5\n")]), Some((1.5, 700)));
        assert_eq!(cores(false, &[("cpu.max", "max 100000\n")]), None);
        assert_eq!(cores(true, &[("cpu.cfs_quota_us", "-1\n"), ("cpu.cfs_period_us", "100000\n")]), None);
        assert_eq!(cores(true, &[("cpu.cfs_quota_us", "50000\n")]), None, "nobody counts");
        assert_eq!(cores(true, &[("cpuacct.usage", "9000999\n")]), Some((0.5, 9000)));
    }
}
