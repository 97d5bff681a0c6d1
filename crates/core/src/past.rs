//! What tasks of a kind took in the past: for whoever wants to know beforehand what the next ones will take.

use crate::pack::Found;
use crate::pack::dominant::Resource;

/// So many of the last ones count; what was longer ago fades.
const REMEMBERED: u64 = 256;

/// A figure that differs from task to task.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figure {
    /// What it is on average.
    pub mean: f64,
    /// By how much it differs from that.
    pub spread: f64,
}

impl Figure {
    fn add(&mut self, weight: f64, value: f64) {
        let difference = value - self.mean;
        self.mean += weight * difference;
        let variance = (1.0 - weight) * (self.spread * self.spread + weight * difference * difference);
        self.spread = variance.max(0.0).sqrt();
    }
}

/// A figure of so many tasks, which may have been looked at in several places.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// How many.
    pub tasks: u64,
    /// The figure.
    pub figure: Figure,
}

impl Sample {
    /// What one task took.
    pub fn one(value: f64) -> Sample {
        Sample { tasks: 1, figure: Figure { mean: value, spread: 0.0 } }
    }

    /// Takes in what others have seen: all tasks count alike.
    pub fn join(&mut self, other: &Sample) {
        let (own, others) = (self.tasks as f64, other.tasks as f64);
        let all = (own + others).max(1.0);
        let apart = other.figure.mean - self.figure.mean;
        let within = (own * self.figure.spread.powi(2) + others * other.figure.spread.powi(2)) / all;
        let figure = &mut self.figure;
        figure.spread = (within + apart * apart * own * others / (all * all)).sqrt();
        figure.mean += apart * others / all;
        // What somebody has written down need not be what anybody has seen.
        self.tasks = self.tasks.saturating_add(other.tasks);
    }
}

/// From here on, a task mostly computes.
const COMPUTES: f64 = 0.5;
/// From here on, a task reads and writes so much in a second that this is what it does.
const MOVES_BYTES_PER_S: f64 = 20e6;
/// From here on, of the machine's memory, a task mostly holds memory.
const HOLDS: f64 = 0.25;

/// What a task needs most.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Need {
    /// Memory: a few of them fill the machine.
    Memory,
    /// Cores.
    Cores,
    /// Disks.
    Disks,
    /// The network.
    Network,
    /// A file system that is shared with others, or somebody far away.
    Shared,
    /// None of these: it waits, for a network or for time to pass.
    Nothing,
}

/// What one task took that has ended well.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Took {
    /// From its start to its end.
    pub seconds: f64,
    /// Seconds on cores.
    pub core_seconds: f64,
    /// Most memory held at once; nothing if that is not known.
    pub peak_bytes: f64,
    /// Read from disks.
    pub read_bytes: f64,
    /// Written to disks.
    pub written_bytes: f64,
    /// All of its outputs.
    pub output_bytes: f64,
}

/// What tasks of a kind took.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Past {
    /// How many there have been.
    pub tasks: u64,
    /// From start to end, in seconds.
    pub time_s: Figure,
    /// Cores kept busy.
    pub cores: Figure,
    /// Most memory held at once.
    pub peak_bytes: Figure,
    /// Read from disks.
    pub read_bytes: Figure,
    /// Written to disks.
    pub written_bytes: Figure,
    /// All outputs of a task.
    pub output_bytes: Figure,
    /// How many at once were found best, by whoever learns that.
    pub width: Option<u32>,
    /// What was used most of the node while they ran, by whoever learns that.
    pub waits_for: Option<Resource>,
}

impl Past {
    /// One more has ended well.
    pub fn add(&mut self, took: &Took) {
        self.tasks = self.tasks.saturating_add(1);
        let weight = 1.0 / self.tasks.min(REMEMBERED) as f64;
        self.time_s.add(weight, took.seconds);
        if took.seconds > 0.0 {
            self.cores.add(weight, took.core_seconds / took.seconds);
        }
        if took.peak_bytes > 0.0 {
            self.peak_bytes.add(if self.peak_bytes.mean > 0.0 { weight } else { 1.0 }, took.peak_bytes);
        }
        self.read_bytes.add(weight, took.read_bytes);
        self.written_bytes.add(weight, took.written_bytes);
        self.output_bytes.add(weight, took.output_bytes);
    }

    /// The same with what was found out by whoever learns. How busy tasks kept cores says little of what they need where many want one: who knows
    /// that is right.
    pub fn with(&self, found: Found) -> Past {
        Past {
            width: found.width.or(self.width),
            waits_for: found.waits_for.or(self.waits_for),
            cores: Figure { mean: found.cores.unwrap_or(self.cores.mean), ..self.cores },
            ..*self
        }
    }

    /// What a task needs most, on a machine with so much memory.
    pub fn needs_most(&self, memory_bytes: Option<u64>) -> Need {
        let moved = (self.read_bytes.mean + self.written_bytes.mean) / self.time_s.mean.max(1e-9);
        match () {
            () if memory_bytes.is_some_and(|all| self.peak_bytes.mean > all as f64 * HOLDS) => Need::Memory,
            () if self.cores.mean >= COMPUTES => Need::Cores,
            () if moved >= MOVES_BYTES_PER_S => Need::Disks,
            () => match self.waits_for {
                Some(Resource::Network) => Need::Network,
                Some(Resource::Remote) => Need::Shared,
                Some(Resource::Disk) => Need::Disks,
                Some(Resource::Cpu | Resource::Memory) | None => Need::Nothing,
            },
        }
    }

    /// By what part the average time may be wrong, as far as that can be told from how much tasks differ: nothing of a single one.
    pub fn uncertainty(&self) -> Option<f64> {
        let counted = self.tasks.min(REMEMBERED) as f64;
        (self.tasks > 1 && self.time_s.mean > 0.0).then(|| self.time_s.spread / self.time_s.mean / counted.sqrt())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_from_several_places_are_one() {
        let mut whole = Sample::default();
        [1.0, 2.0, 3.0, 4.0].iter().for_each(|value| whole.join(&Sample::one(*value)));
        assert_eq!((whole.tasks, whole.figure.mean), (4, 2.5));
        assert!((whole.figure.spread - 1.25f64.sqrt()).abs() < 1e-9);
        whole.join(&Sample::default());
        assert_eq!(whole.tasks, 4);
        let mut nothing = Sample::default();
        nothing.join(&Sample::default());
        assert_eq!(nothing, Sample::default());
    }

    #[test]
    fn averages_and_spreads_are_what_they_are_called() {
        let mut past = Past::default();
        assert_eq!(past.uncertainty(), None);
        for seconds in [1.0, 2.0, 3.0, 4.0] {
            past.add(&Took { seconds, core_seconds: seconds / 2.0, ..Took::default() });
        }
        assert_eq!((past.tasks, past.time_s.mean, past.cores.mean), (4, 2.5, 0.5));
        assert!((past.time_s.spread - 1.25f64.sqrt()).abs() < 1e-9 && past.cores.spread < 1e-9);
        assert!((past.uncertainty().unwrap() - 1.25f64.sqrt() / 2.5 / 2.0).abs() < 1e-9);
    }

    #[test]
    fn a_kind_is_told_by_what_it_does() {
        let past = |cores: f64, peak: f64, read: f64| Past {
            time_s: Figure { mean: 1.0, spread: 0.0 },
            cores: Figure { mean: cores, spread: 0.0 },
            peak_bytes: Figure { mean: peak, spread: 0.0 },
            read_bytes: Figure { mean: read, spread: 0.0 },
            ..Past::default()
        };
        let most = [past(0.9, 0.0, 0.0), past(0.1, 0.0, 0.0), past(0.1, 0.0, 1e8), past(0.9, 7e9, 0.0)]
            .map(|past| past.needs_most(Some(8_000_000_000)));
        assert_eq!(most, [Need::Cores, Need::Nothing, Need::Disks, Need::Memory]);
        assert_eq!(past(0.9, 7e9, 0.0).needs_most(None), Need::Cores);
        // Of a network, only the machine as a whole tells.
        let waits_for = |waits_for| Past { waits_for: Some(waits_for), ..past(0.1, 0.0, 0.0) }.needs_most(None);
        assert_eq!(waits_for(Resource::Network), Need::Network);
        assert_eq!(waits_for(Resource::Remote), Need::Shared);
        assert_eq!(waits_for(Resource::Cpu), Need::Nothing);
    }

    #[test]
    fn who_has_learnt_knows_better_what_tasks_need() {
        let mut past = Past { width: Some(2), ..Past::default() };
        past.add(&Took { seconds: 2.0, core_seconds: 1.0, ..Took::default() });
        let found = past.with(Found { cores: Some(0.96), waits_for: Some(Resource::Disk), ..Found::default() });
        assert_eq!((found.width, found.waits_for, found.cores.mean), (Some(2), Some(Resource::Disk), 0.96));
        assert_eq!(past.with(Found::default()), past);
    }

    #[test]
    fn what_was_long_ago_fades() {
        let mut past = Past::default();
        let took = |seconds| Took { seconds, ..Took::default() };
        (0..1000).for_each(|_| past.add(&took(1.0)));
        (0..2000).for_each(|_| past.add(&took(3.0)));
        assert!(past.time_s.mean > 2.95 && past.tasks == 3000, "{past:?}");
    }
}
