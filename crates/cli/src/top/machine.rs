//! How busy the machine is, from `/proc`.

use serde::Serialize;
use throng_runtime::meter::proc::{self, Ticks};

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
        let (cores, ticks) = proc::cores(&proc::read("stat"));
        let busy = match (self.before, ticks) {
            (Some(before), Some(now)) if now.all > before.all => {
                Some(now.busy.saturating_sub(before.busy) as f64 / (now.all - before.all) as f64)
            }
            _ => self.load.busy,
        };
        let (memory_bytes, available_bytes) = proc::memory(&proc::read("meminfo"));
        let averages = read_averages(&proc::read("loadavg"));
        self.before = ticks;
        self.load = Load { averages, cores, busy, memory_bytes, available_bytes };
    }
}

fn read_averages(text: &str) -> [f64; 3] {
    let mut numbers = text.split(' ').map(|word| word.parse().unwrap_or(0.0));
    std::array::from_fn(|_| numbers.next().unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_proc_says() {
        assert_eq!(read_averages("0.52 1.58 2.59 1/977 1234\n"), [0.52, 1.58, 2.59]);
    }
}
