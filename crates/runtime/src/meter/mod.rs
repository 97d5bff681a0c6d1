//! How much of the machine is used, measured now and then for a node that wants to learn from it.
//!
//! What counts is the whole machine, or what a quota leaves of its cores, others included: how many tasks it can take depends on them as well. One measurement takes a few small
//! files of the kernel's, whatever runs. What single tasks use is looked at as often as that costs next to nothing ([`groups`]); what they do
//! not account for is the doing of [`strangers`].

pub mod groups;
pub mod proc;
pub mod strangers;
pub mod together;
mod watch;

pub(crate) use watch::Metering;

use std::time::Instant;

use rustix::thread::CpuSet;
use throng_core::pack::Sample;
use throng_core::pack::dominant::Resource;
use throng_core::pack::sample::WHOLE;

use self::strangers::{Look, Strangers};
use crate::host;
use crate::host::quota::Quota;

/// What a network carries if nobody knows: a gigabit a second.
const USUAL_NETWORK_BYTES: f64 = 125e6;

/// What has been counted since the machine was started.
#[derive(Clone, Debug)]
struct Counters {
    at: Instant,
    cores: proc::Ticks,
    /// What was used of a quota, if there is one.
    quota_us: u64,
    runnable: u32,
    network_bytes: u64,
    /// Part of those that count for the network, as far as that is known.
    remote_bytes: u64,
    stalled_us: u64,
    disks: Vec<proc::DiskWork>,
}

impl Counters {
    fn now(memory: &host::Memory, ours: &CpuSet, quota: Option<&Quota>) -> Counters {
        let (stat, disks) = (proc::read("stat"), proc::read("diskstats"));
        let ((all, _), (count, cores)) = (proc::cores(&stat), proc::some_cores(&stat, |core| is_in(ours, core)));
        // Whoever asks is one of them. Where the others run is not told: on all cores alike.
        let runnable = u64::from(proc::runnable(&stat).saturating_sub(1)) * count / all.max(1);
        Counters {
            at: Instant::now(),
            cores,
            quota_us: quota.and_then(Quota::used_us).unwrap_or(0),
            runnable: runnable as u32,
            network_bytes: proc::network_bytes(&proc::read("net/dev")),
            remote_bytes: proc::remote_bytes(&proc::read("self/mountstats")),
            stalled_us: memory.stalled_us(),
            disks: proc::disks(&disks, proc::is_whole_disk),
        }
    }
}

/// Measures the machine.
#[derive(Debug)]
pub struct Meter {
    before: Counters,
    pub(crate) memory: host::Memory,
    /// The cores that we may run on, and how many of them we have, if there is a quota.
    ours: CpuSet,
    cores: (f64, f64),
    quota: Option<Quota>,
    network_bytes_per_s: f64,
    pub(crate) strangers: Strangers,
}

impl Meter {
    /// The first look; what is measured is what is used from now on.
    pub fn new() -> Meter {
        let every = || (0..CpuSet::MAX_CPU).fold(CpuSet::new(), with);
        let ours = rustix::thread::sched_getaffinity(None).unwrap_or_else(|_| every());
        let (all, _) = proc::some_cores(&proc::read("stat"), |core| is_in(&ours, core));
        let own = host::resources().cpus_milli as f64 / 1000.0;
        let (memory, all) = (host::Memory::new(), (all as f64).max(own));
        // A node counts whole cores, so what is left of a quota beyond those is not missed.
        let quota = Quota::find().map(|quota| quota.of_at_most(own)).filter(|quota| quota.cores < all);
        let strangers = Strangers::new(quota.as_ref().map_or(all, |quota| quota.cores));
        Meter {
            before: Counters::now(&memory, &ours, quota.as_ref()),
            memory,
            ours,
            cores: (all, own),
            quota,
            network_bytes_per_s: fastest_link().unwrap_or(USUAL_NETWORK_BYTES),
            strangers,
        }
    }

    /// What was used since the last time; so many bytes of it were brought from storage by the engine itself.
    pub fn measure(&mut self, brought_bytes: u64) -> Sample {
        let mut now = Counters::now(&self.memory, &self.ours, self.quota.as_ref());
        now.remote_bytes += brought_bytes;
        let before = std::mem::replace(&mut self.before, now.clone());
        let seconds = now.at.duration_since(before.at).as_secs_f64().max(1e-3);
        let ticks = now.cores.all.saturating_sub(before.cores.all).max(1) as f64;
        let busy = match &self.quota {
            Some(quota) => now.quota_us.saturating_sub(before.quota_us) as f64 / 1e6 / (quota.cores * seconds),
            None => now.cores.busy.saturating_sub(before.cores.busy) as f64 / ticks * self.cores.0 / self.cores.1,
        };
        let remote = now.remote_bytes.saturating_sub(before.remote_bytes) as f64 / seconds;
        // What comes from afar comes through the network, unless the machine is its own server.
        let rate = now.network_bytes.saturating_sub(before.network_bytes) as f64 / seconds - remote;
        let rate = rate.max(0.0);
        // Whatever was seen is possible.
        self.network_bytes_per_s = self.network_bytes_per_s.max(rate).max(remote);
        let disks = now.disks.iter().filter_map(|disk| {
            let earlier = before.disks.iter().find(|earlier| earlier.name == disk.name)?;
            Some((disk.busy_ms.saturating_sub(earlier.busy_ms), disk.bytes.saturating_sub(earlier.bytes)))
        });
        let (busy_ms, disk_bytes) =
            disks.fold((0, 0), |(most, sum), (busy_ms, bytes): (u64, u64)| (busy_ms.max(most), bytes + sum));
        let disk = busy_ms as f64 / 1000.0 / seconds;
        let moved_bytes_per_s = (disk_bytes as f64 / seconds + rate + remote) as u64;
        let (memory_bytes, free_memory_bytes) = (self.memory.all_bytes(), self.memory.free_bytes());
        let stalled = now.stalled_us.saturating_sub(before.stalled_us) as f64 / 1e6 / seconds;
        let mut used = [0; Resource::ALL.len()];
        for (resource, share) in [
            (Resource::Cpu, busy),
            (Resource::Network, rate / self.network_bytes_per_s),
            (Resource::Disk, disk),
            (Resource::Remote, remote / self.network_bytes_per_s),
            (Resource::Memory, 1.0 - free_memory_bytes as f64 / memory_bytes.max(1) as f64),
        ] {
            used[resource as usize] = millionths(share);
        }
        Sample {
            used,
            moved_bytes_per_s,
            free_memory_bytes,
            memory_stalls: millionths(stalled),
            runnable: now.runnable,
            strangers: millionths(self.strangers.share()),
        }
    }

    /// What everybody and what the engine has computed, if it is time to look for strangers. What running tasks have computed is looked at after that,
    /// and to be added: whoever ends meanwhile is then missing, which can be noticed, and not there twice.
    pub(crate) fn look(&self) -> Option<Look> {
        let at = Instant::now();
        self.strangers.is_due(at).then(|| {
            let on_cores = || {
                let (_, ticks) = proc::some_cores(&proc::read("stat"), |core| is_in(&self.ours, core));
                ticks.computing * (1_000_000 / rustix::param::clock_ticks_per_second().max(1))
            };
            // Of a quota, only those who share it are strangers.
            let busy_us = self.quota.as_ref().and_then(Quota::used_us).unwrap_or_else(on_cores);
            Look { at, busy_us, own_us: host::own_computing_us() }
        })
    }
}

fn is_in(set: &CpuSet, core: usize) -> bool {
    core < CpuSet::MAX_CPU && set.is_set(core)
}

fn with(mut set: CpuSet, core: usize) -> CpuSet {
    set.set(core);
    set
}

impl Default for Meter {
    fn default() -> Meter {
        Meter::new()
    }
}

fn millionths(share: f64) -> u32 {
    (share.clamp(0.0, 1.0) * f64::from(WHOLE)) as u32
}

/// The speed of the fastest network card, if any tells.
fn fastest_link() -> Option<f64> {
    let cards = std::fs::read_dir("/sys/class/net").ok()?.flatten();
    let speed = |card: std::fs::DirEntry| -> Option<i64> {
        std::fs::read_to_string(card.path().join("speed")).ok()?.trim().parse().ok()
    };
    let megabits = cards.filter_map(speed).filter(|speed| *speed > 0).max()?;
    Some(megabits as f64 * 1e6 / 8.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_busy_core_is_seen() {
        let mut meter = Meter::new();
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_millis(200) {
            std::hint::black_box(begun);
        }
        let sample = meter.measure(0);
        let cores = host::resources().cpus_milli as f64 / 1000.0;
        assert!(f64::from(sample.used[Resource::Cpu as usize]) > 0.5 / cores * f64::from(WHOLE), "{sample:?}");
        assert!(sample.free_memory_bytes > 0 && sample.used.iter().all(|used| *used <= WHOLE), "{sample:?}");
    }
}
