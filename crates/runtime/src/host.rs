//! What this machine has to give.

pub mod cgroup;
pub mod kills;
pub mod quota;

use std::io::Read;

use throng_core::workflow::{Pool, Resources};

use self::cgroup::MemoryGroup;
use crate::meter::proc;
use crate::state::HostInfo;

/// Cores that this process may use, and memory that is there, as the container or cgroup allows.
pub fn resources() -> Resources {
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    Resources { cpus_milli: cores * 1000, memory_bytes: memory_bytes() }
}

/// What this machine is, for the record of a run; what the system does not tell stays empty. What type of machine it is, nobody knows but who says so.
pub fn describe(machine_type: Option<&str>) -> HostInfo {
    let line = |path: &str| std::fs::read_to_string(path).unwrap_or_default().trim().to_owned();
    // The first core stands for all: with hundreds of them, the kernel takes a while to describe each.
    let mut processors = String::new();
    if let Ok(file) = std::fs::File::open("/proc/cpuinfo") {
        let _ = file.take(1500).read_to_string(&mut processors);
    }
    // Not every architecture has a name for it; some call it otherwise.
    let model = |key: &str| {
        let value = processors.lines().find(|line| line.starts_with(key))?.split_once(':')?.1;
        Some(value.trim().to_owned())
    };
    let Resources { cpus_milli, memory_bytes } = resources();
    HostInfo {
        name: line("/proc/sys/kernel/hostname"),
        kernel: line("/proc/sys/kernel/osrelease"),
        cpu: model("model name").or_else(|| model("Model")).unwrap_or_default(),
        cores: (cpus_milli / 1000) as u32,
        memory_bytes,
        clock_khz: clock_khz(
            &line("/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"),
            model("cpu MHz").as_deref(),
        ),
        machine_type: machine_type.map(str::to_owned),
    }
}

/// How fast a core runs: at most, as far as that is known, or now.
fn clock_khz(most_khz: &str, now_mhz: Option<&str>) -> Option<u64> {
    let now = || Some((now_mhz?.parse::<f64>().ok()? * 1e3).round() as u64);
    most_khz.parse().ok().or_else(now).filter(|khz| *khz > 0)
}

/// The GPUs that tasks may use, by the ids that `CUDA_VISIBLE_DEVICES` knows them by.
pub fn gpus() -> Option<Pool> {
    let ids: Vec<String> = match std::env::var("CUDA_VISIBLE_DEVICES") {
        Ok(ids) => {
            ids.split(',').map(str::trim).filter(|id| !id.is_empty() && *id != "-1").map(str::to_owned).collect()
        }
        Err(_) => {
            let found = std::fs::read_dir("/proc/driver/nvidia/gpus").map_or(0, |entries| entries.flatten().count());
            (0..found).map(|number| number.to_string()).collect()
        }
    };
    (!ids.is_empty()).then(|| Pool::with_ids("gpus", ids))
}

fn memory_bytes() -> u64 {
    let info = rustix::system::sysinfo();
    let physical = info.totalram as u64 * u64::from(info.mem_unit);
    let groups = cgroup::memory_groups();
    groups.iter().filter_map(MemoryGroup::limit_bytes).fold(physical, u64::min)
}

/// Memory as it can be had here: of the machine, or of the container or cgroup.
#[derive(Debug)]
pub struct Memory {
    all_bytes: u64,
    /// Those groups that have a limit.
    groups: Vec<MemoryGroup>,
}

impl Memory {
    /// The first look: what is limited now is looked at from now on.
    pub fn new() -> Memory {
        let all_bytes = memory_bytes();
        let mut groups = cgroup::memory_groups();
        let (machine, _) = proc::memory(&proc::read("meminfo"));
        groups.retain(|group| group.limit_bytes().is_some_and(|limit| limit < machine));
        Memory { all_bytes, groups }
    }

    /// How much there is.
    pub fn all_bytes(&self) -> u64 {
        self.all_bytes
    }

    /// How much could be had without taking it from anybody.
    pub fn free_bytes(&self) -> u64 {
        let (_, available) = proc::memory(&proc::read("meminfo"));
        let left = |group: &MemoryGroup| Some(group.limit_bytes()?.saturating_sub(group.held_bytes()?));
        self.groups.iter().filter_map(left).fold(available, u64::min)
    }

    /// How long somebody has had to wait for memory, in microseconds since some time, as far as the kernel tells.
    pub fn stalled_us(&self) -> u64 {
        let own = self.groups.iter().find_map(MemoryGroup::pressure);
        proc::stalled_us(&own.unwrap_or_else(|| proc::read("pressure/memory")))
    }
}

impl Default for Memory {
    fn default() -> Memory {
        Memory::new()
    }
}

/// Identifies this start of the machine: process ids mean nothing after the next one.
pub fn boot_id() -> u64 {
    let id = std::fs::read("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    throng_core::fingerprint::hash(&id)
}

/// The most memory that this process has held, in bytes: the kernel cannot tell a child's peak below it.
pub fn own_peak_bytes() -> u64 {
    usage(libc::RUSAGE_SELF).ru_maxrss as u64 * 1024
}

/// What this process has computed, and those for which it has waited, with all for which they have; in microseconds.
pub fn own_computing_us() -> u64 {
    let all = [libc::RUSAGE_SELF, libc::RUSAGE_CHILDREN].map(usage);
    all.iter().map(|usage| microseconds(usage.ru_utime) + microseconds(usage.ru_stime)).sum()
}

/// A time as the kernel tells it.
pub(crate) fn microseconds(time: libc::timeval) -> u64 {
    time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64
}

fn usage(whose: i32) -> libc::rusage {
    // SAFETY: getrusage writes a plain struct.
    unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        libc::getrusage(whose, &mut usage);
        usage
    }
}

/// Gives memory back that reading the workflow needed, and forgets its peak.
///
/// A child that is started without copying the address space inherits the parent's peak as its own, so a
/// lower one here makes what is measured of tasks meaningful further down.
pub fn forget_peak() {
    // SAFETY: no memory is touched that Rust knows of.
    unsafe {
        libc::malloc_trim(0);
    }
    // Best effort: not every kernel has it, and only the precision of a measurement depends on it.
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}

/// Lets this process open as many files as it may: each slot has one. Returns the limit there was, which is the one
/// for tasks: some programs cannot live with a high one.
pub fn allow_many_files() -> libc::rlimit {
    // SAFETY: both calls work on a plain struct.
    unsafe {
        let mut limit = std::mem::zeroed::<libc::rlimit>();
        libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit);
        // Best effort: with too few, the slot that has none says so.
        libc::setrlimit(libc::RLIMIT_NOFILE, &libc::rlimit { rlim_cur: limit.rlim_max, ..limit });
        limit
    }
}
