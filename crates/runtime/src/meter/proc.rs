//! What the kernel tells of the machine as a whole in `/proc`. What cannot be read counts as nothing.

/// Time that all cores have spent since the machine was started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ticks {
    /// At work, for whomever.
    pub busy: u64,
    /// Of that, for processes: what the kernel charges to nobody, or what other machines on the same hardware got, is not in it.
    pub computing: u64,
    /// In all.
    pub all: u64,
}

/// The contents of a file below `/proc`.
pub fn read(name: &str) -> String {
    std::fs::read_to_string(format!("/proc/{name}")).unwrap_or_default()
}

/// How many cores there are, and what they have done, from `stat`.
pub fn cores(text: &str) -> (u64, Option<Ticks>) {
    let mut lines = text.lines().take_while(|line| line.starts_with("cpu"));
    let ticks = lines.next().map(ticks);
    (lines.count() as u64, ticks)
}

/// How many of certain cores there are, and what they have done together.
pub fn some_cores(text: &str, is_one: impl Fn(usize) -> bool) -> (u64, Ticks) {
    let lines = text.lines().take_while(|line| line.starts_with("cpu")).skip(1);
    let number = |line: &str| line.split_whitespace().next()?.strip_prefix("cpu")?.parse::<usize>().ok();
    let ours = lines.filter(|line| number(line).is_some_and(&is_one));
    ours.map(ticks).fold((0, Ticks::default()), |(count, sum), one| (count + 1, sum.and(one)))
}

impl Ticks {
    fn and(self, other: Ticks) -> Ticks {
        Ticks { busy: self.busy + other.busy, computing: self.computing + other.computing, all: self.all + other.all }
    }
}

fn ticks(line: &str) -> Ticks {
    // user nice system idle iowait irq softirq steal; what guests use is part of user.
    let fields: Vec<u64> = line.split_whitespace().skip(1).take(8).map(|word| word.parse().unwrap_or(0)).collect();
    let all = fields.iter().sum();
    let idle: u64 = fields.iter().skip(3).take(2).sum();
    Ticks { busy: all - idle, computing: fields.iter().take(3).sum(), all }
}

/// How many processes and threads run or wait for a core now, from `stat`.
pub fn runnable(text: &str) -> u32 {
    let line = text.lines().find_map(|line| line.strip_prefix("procs_running "));
    line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
}

/// Memory in all, and memory that could be had, from `meminfo`.
pub fn memory(text: &str) -> (u64, u64) {
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
    };
    (field("MemTotal").unwrap_or(0), field("MemAvailable").unwrap_or(0))
}

/// For how long somebody has waited, from a file of `pressure`.
pub fn stalled_us(text: &str) -> u64 {
    let some = text.lines().find(|line| line.starts_with("some "));
    some.and_then(|line| line.rsplit_once("total=")?.1.trim().parse().ok()).unwrap_or(0)
}

/// Bytes that came from and went to servers of network file systems, from `self/mountstats`.
pub fn remote_bytes(text: &str) -> u64 {
    // What was read and written by way of a server is told by the fifth and sixth number.
    let bytes = |line: &str| -> Option<u64> {
        let numbers = line.trim_start().strip_prefix("bytes:")?;
        Some(numbers.split_whitespace().skip(4).take(2).filter_map(|word| word.parse::<u64>().ok()).sum())
    };
    text.lines().filter_map(bytes).sum()
}

/// Bytes that have come and gone through all interfaces, from `net/dev`. What a machine sends to itself comes and goes, and counts once.
pub fn network_bytes(text: &str) -> u64 {
    let bytes = |line: &str| {
        let (name, numbers) = line.split_once(':')?;
        let numbers: Vec<u64> = numbers.split_whitespace().map(|word| word.parse().unwrap_or(0)).collect();
        let (came, went) = (*numbers.first()?, *numbers.get(8)?);
        Some(if name.trim() == "lo" { came } else { came + went })
    };
    text.lines().filter_map(bytes).sum()
}

/// What a disk has done since the machine was started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskWork {
    /// Which disk.
    pub name: String,
    /// Milliseconds in which it had something to do.
    pub busy_ms: u64,
    /// Read and written.
    pub bytes: u64,
}

/// What each disk has done, from `diskstats`: of those that are whole ones, and not only in memory.
pub fn disks(text: &str, is_whole: impl Fn(&str) -> bool) -> Vec<DiskWork> {
    text.lines().filter_map(disk).filter(|disk| is_whole(&disk.name)).collect()
}

fn disk(line: &str) -> Option<DiskWork> {
    const SECTOR_BYTES: u64 = 512;
    let words: Vec<&str> = line.split_whitespace().collect();
    let name = *words.get(2)?;
    if ["loop", "ram", "zram"].iter().any(|other| name.starts_with(other)) {
        return None;
    }
    let number = |at: usize| words.get(at)?.parse::<u64>().ok();
    let bytes = number(5)?.saturating_add(number(9)?).saturating_mul(SECTOR_BYTES);
    Some(DiskWork { name: name.to_owned(), busy_ms: number(12)?, bytes })
}

/// Whether the kernel calls something a disk, and not a part of one.
pub fn is_whole_disk(name: &str) -> bool {
    std::path::Path::new("/sys/block").join(name.replace('/', "!")).exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_proc_says() {
        let stat = "cpu  100 0 50 800 50 0 0 0 7 0\ncpu0 50 0 25 400 25 0 0 0 0 0\ncpu1 1 2 3 4 5 6 7 8\nintr 5\n";
        assert_eq!(cores(stat), (2, Some(Ticks { busy: 150, computing: 150, all: 1000 })));
        assert_eq!(some_cores(stat, |core| core == 1), (1, Ticks { busy: 27, computing: 6, all: 36 }));
        assert_eq!((runnable("ctxt 5\nprocs_running 7\nprocs_blocked 1\n"), runnable("")), (7, 0));
        let info = "MemTotal:        8000 kB\nMemFree: 1 kB\nMemAvailable:    2000 kB\n";
        assert_eq!(memory(info), (8000 * 1024, 2000 * 1024));
        let net = "Inter-|   Receive   |  Transmit\n face |bytes    packets\n    lo:  70 1 0 0 0 0 0 0  70 1 0 0 0 0 0 0\n  eth0: 100 1 0 0 0 0 0 0 11 1 0 0 0 0 0 0\n";
        assert_eq!(network_bytes(net), 181);
        let pressure = "some avg10=0.00 avg60=0.00 avg300=0.41 total=8204045\nfull avg10=0 total=7\n";
        assert_eq!((stalled_us(pressure), stalled_us("")), (8_204_045, 0));
        let mounts = "device a mounted on /x with fstype ext4\ndevice s:/ mounted on /y with fstype nfs4 statvers=1.1\n\topts:\trw\n\tbytes:\t1 2 3 4 50 60 7 8\n";
        assert_eq!((remote_bytes(mounts), remote_bytes("")), (110, 0));
        let disks = "   7 0 loop0 1 0 1 1 1 1 1 1 0 999 9\n 259 0 nvme0n1 1 2 3 4 5 6 7 8 0 500 9\n 259 1 nvme0n1p1 1 2 3 4 5 6 7 8 0 400 9\n   8 0 sda 1 2 3 4 5 6 7 8 0 30 9 1 1\n";
        let disk = |name: &str, busy_ms| DiskWork { name: name.to_owned(), busy_ms, bytes: 10 * 512 };
        assert_eq!(super::disks(disks, |name| !name.ends_with("p1")), [disk("nvme0n1", 500), disk("sda", 30)]);
        assert_eq!(
            (cores(""), memory(""), network_bytes(""), super::disks("", |_| true).len()),
            ((0, None), (0, 0), 0, 0)
        );
    }
}
