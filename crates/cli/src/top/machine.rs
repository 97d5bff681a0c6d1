//! How busy the machine is, from `/proc`.

use serde::Serialize;

/// How busy the machine is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Load {
    /// Tasks that want to run, as means over 1, 5 and 15 minutes.
    pub averages: [f64; 3],
    /// How many cores there are.
    pub cores: u64,
    /// How much of them is used, from zero to one.
    pub busy: Option<f64>,
    /// Memory in all.
    pub memory_bytes: u64,
    /// Memory that could be had.
    pub available_bytes: u64,
}

/// Looks at the machine now and then. What cannot be read is left at zero: nothing depends on it.
pub struct Machine {
    before: Option<Ticks>,
    load: Load,
}

/// Time that all cores have spent since the machine was started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Ticks {
    busy: u64,
    all: u64,
}

impl Machine {
    /// The first look; how busy the cores are is known from the second on.
    pub fn look_first() -> Machine {
        let mut machine = Machine { before: None, load: Load::default() };
        machine.look();
        machine
    }

    /// What the last look has shown.
    pub fn load(&self) -> Load {
        self.load
    }

    /// Looks again.
    pub fn look(&mut self) {
        let read = |name: &str| std::fs::read_to_string(format!("/proc/{name}")).unwrap_or_default();
        let (cores, ticks) = read_stat(&read("stat"));
        let busy = match (self.before, ticks) {
            (Some(before), Some(now)) if now.all > before.all => {
                Some(now.busy.saturating_sub(before.busy) as f64 / (now.all - before.all) as f64)
            }
            _ => self.load.busy,
        };
        let (memory_bytes, available_bytes) = read_memory(&read("meminfo"));
        let averages = read_averages(&read("loadavg"));
        self.before = ticks;
        self.load = Load { averages, cores, busy, memory_bytes, available_bytes };
    }
}

fn read_averages(text: &str) -> [f64; 3] {
    let mut numbers = text.split(' ').map(|word| word.parse().unwrap_or(0.0));
    std::array::from_fn(|_| numbers.next().unwrap_or(0.0))
}

fn read_stat(text: &str) -> (u64, Option<Ticks>) {
    let mut lines = text.lines().take_while(|line| line.starts_with("cpu"));
    let ticks = lines.next().map(|line| {
        // user nice system idle iowait irq softirq steal; what guests use is part of user.
        let fields: Vec<u64> = line.split_whitespace().skip(1).take(8).map(|word| word.parse().unwrap_or(0)).collect();
        let all = fields.iter().sum();
        let idle: u64 = fields.iter().skip(3).take(2).sum();
        Ticks { busy: all - idle, all }
    });
    (lines.count() as u64, ticks)
}

fn read_memory(text: &str) -> (u64, u64) {
    let field = |name: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.split_whitespace().nth(1)?.parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
    };
    (field("MemTotal").unwrap_or(0), field("MemAvailable").unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_proc_says() {
        assert_eq!(read_averages("0.52 1.58 2.59 1/977 1234\n"), [0.52, 1.58, 2.59]);
        let stat = "cpu  100 0 50 800 50 0 0 0 7 0\ncpu0 50 0 25 400 25 0 0 0 0 0\ncpu1 1 2 3 4 5 6 7 8\nintr 5\n";
        assert_eq!(read_stat(stat), (2, Some(Ticks { busy: 150, all: 1000 })));
        let memory = "MemTotal:        8000 kB\nMemFree: 1 kB\nMemAvailable:    2000 kB\n";
        assert_eq!(read_memory(memory), (8000 * 1024, 2000 * 1024));
        assert_eq!((read_stat("").0, read_memory("")), (0, (0, 0)));
    }
}
