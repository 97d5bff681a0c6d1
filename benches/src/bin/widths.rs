//! How many tasks run at once: `--pack learn` beside the best fixed number, for each kind of load and for pairs of them.

use std::collections::BTreeMap;
use std::error::Error;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use clap::{Parser, ValueEnum};
use throng_benches::widths::engine::{Engine, Ran, Way};
use throng_benches::widths::group::MemoryGroup;
use throng_benches::widths::loads::{ALL_PER_S, Load, MEMORY_BYTES, Place};
use throng_benches::widths::sweep::{Swept, sweep};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Measure how well the engine finds out how many tasks to run at once, and print tables
#[derive(Parser)]
struct Options {
    /// The binary to measure
    #[arg(long)]
    throng: PathBuf,
    /// What to measure; everything if nothing is said
    #[arg(long)]
    only: Vec<Part>,
    /// Measure only loads whose name contains this, and pairs of which one does
    #[arg(long, default_value = "")]
    load: String,
    /// Measure only pairs whose other load's name contains this
    #[arg(long, default_value = "")]
    with: String,
    /// How often the best number and the engine's own are compared
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..))]
    rounds: u64,
    /// How much of each load makes a pair: together they take as long as one does alone, or longer; loads that leave each other alone want 1
    #[arg(long, default_value_t = 0.6)]
    part: f64,
    /// Seed of the peaks of memory
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Each load alone
    Singles,
    /// Two loads, one queued after the other
    Pairs,
    /// A remote system whose capacity changes
    Capacity,
    /// Others who want half of the machine for a while
    Strangers,
    /// Tasks of unknown memory
    Memory,
}

struct Bench {
    engine: Engine,
    place: Place,
    rounds: usize,
    cores: u32,
    part_of_pair: f64,
}

fn main() -> Result<()> {
    let options = Options::parse();
    let bench = Bench {
        engine: Engine { throng: options.throng.canonicalize()? },
        place: Place::new()?,
        rounds: options.rounds as usize,
        part_of_pair: options.part,
        cores: std::thread::available_parallelism()?.get() as u32,
    };
    let wants = |part| options.only.is_empty() || options.only.contains(&part);
    let mut loads = bench.place.loads();
    for load in loads.iter_mut().filter(|load| load.name == "disk") {
        load.tasks = bench.for_long(load)?;
    }
    if wants(Part::Singles) {
        head();
        for load in loads.iter().filter(|load| load.name.contains(&options.load)) {
            bench.compare(&[load], None)?;
        }
    }
    if wants(Part::Pairs) {
        bench.pairs(&loads, &options)?;
    }
    if wants(Part::Capacity) {
        bench.capacity(&loads)?;
    }
    if wants(Part::Strangers) {
        bench.strangers(&loads)?;
    }
    if wants(Part::Memory) {
        bench.memory(options.seed)?;
    }
    Ok(())
}

fn head() {
    println!(
        "\n| load | sweep | best | as many as cores | learn | learn ÷ best | one after the other | last numbers |"
    );
    println!("|---|---|---|---|---|---|---|---|");
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// What was last decided for each kind.
fn last_numbers(ran: &Ran) -> String {
    let mut last: BTreeMap<&str, u64> = BTreeMap::new();
    last.extend(ran.changes.iter().map(|(_, kind, width)| (kind.as_str(), *width)));
    last.iter().map(|(kind, width)| format!("{kind} {width}")).collect::<Vec<_>>().join(", ")
}

fn in_words(seconds: Option<f64>) -> String {
    seconds.map_or_else(|| "—".to_owned(), |seconds| format!("{seconds:.1}"))
}

impl Bench {
    fn group(&self, loads: &[&Load]) -> Result<Option<MemoryGroup>> {
        let is_limited = loads.iter().any(|load| load.is_limited);
        Ok(is_limited.then(|| MemoryGroup::new(MEMORY_BYTES)).transpose()?)
    }

    fn run(&self, loads: &[&Load], way: &Way<'_>) -> Result<Ran> {
        let group = self.group(loads)?;
        self.engine.run(&self.place.workflow(loads), &Way { group: group.as_ref(), ..way.clone() })
    }

    /// How many tasks of a load take twenty seconds: what a disk gives differs from day to day.
    fn for_long(&self, load: &Load) -> Result<u32> {
        const LONG_S: f64 = 20.0;
        let ran = self.run(&[load], &Way::fixed(load.about))?;
        Ok((f64::from(load.tasks) * LONG_S / ran.seconds).ceil() as u32)
    }

    /// Two loads, all tasks of the first queued before those of the second, beside one after the other.
    fn pairs(&self, loads: &[Load], options: &Options) -> Result<()> {
        let part = |load: &Load| Load { tasks: (f64::from(load.tasks) * self.part_of_pair) as u32, ..load.clone() };
        let loads: Vec<Load> = loads.iter().map(part).collect();
        let mut alone: BTreeMap<&str, f64> = BTreeMap::new();
        head();
        for (at, first) in loads.iter().enumerate() {
            for second in &loads[at + 1..] {
                let is_meant =
                    |one: &Load, other: &Load| one.name.contains(&options.load) && other.name.contains(&options.with);
                if !is_meant(first, second) && !is_meant(second, first) {
                    continue;
                }
                for load in [first, second] {
                    if !alone.contains_key(load.name) {
                        alone.insert(load.name, self.run(&[load], &Way::learn())?.seconds);
                    }
                }
                self.compare(&[first, second], Some(alone[first.name] + alone[second.name]))?;
            }
        }
        Ok(())
    }

    /// Finds the best fixed number, and then measures it and the engine's own in turn; beside as long as it took one after the other.
    fn compare(&self, loads: &[&Load], in_turn: Option<f64>) -> Result<()> {
        let about = loads.iter().map(|load| load.about).max().unwrap_or(self.cores);
        let Swept { seconds, best } = sweep(about, |way| self.run(loads, way))?;
        let patience = Duration::from_secs_f64(seconds[&best].unwrap_or(0.0) * 1.7);
        let usual = match seconds.get(&self.cores) {
            Some(seconds) => *seconds,
            None => {
                let ran = self.run(loads, &Way { patience: Some(patience), ..Way::fixed(self.cores) })?;
                ran.is_whole.then_some(ran.seconds)
            }
        };
        let (mut fixed, mut learnt) = (Vec::new(), Vec::new());
        for _ in 0..self.rounds {
            let limit = self.run(loads, &Way::fixed(best))?;
            let ran = self.run(loads, &Way::learn())?;
            fixed.push(limit);
            learnt.push(ran);
        }
        let sweep: Vec<String> =
            seconds.iter().map(|(width, seconds)| format!("{width}: {}", in_words(*seconds))).collect();
        let times = |runs: &[Ran]| median(runs.iter().map(|ran| ran.seconds).collect());
        let ratios = fixed.iter().zip(&learnt).map(|(fixed, learnt)| learnt.seconds / fixed.seconds).collect();
        let names: Vec<&str> = loads.iter().map(|load| load.name).collect();
        let failed = learnt.iter().filter(|ran| !ran.is_whole).count();
        println!(
            "| {} | {} | {:.1} s at {best} | {} | {:.1} s{} | {:.3} | {} | {} |",
            names.join(" + "),
            sweep.join(", "),
            times(&fixed),
            usual.map_or_else(|| format!("> {:.0} s", patience.as_secs_f64()), |seconds| format!("{seconds:.1} s")),
            times(&learnt),
            if failed > 0 { format!(" ({failed} not whole)") } else { String::new() },
            median(ratios),
            in_turn.map_or_else(String::new, |in_turn| format!("{:.2} of {in_turn:.1} s", times(&learnt) / in_turn)),
            learnt.last().map(last_numbers).unwrap_or_default(),
        );
        Ok(())
    }

    /// A remote system that can do half as much after a while, and later twice as much as at first.
    fn capacity(&self, loads: &[Load]) -> Result<()> {
        const PART: Duration = Duration::from_secs(20);
        let remote = loads.iter().find(|load| load.name == "remote").ok_or("there is no such load")?;
        let load = Load { tasks: 1_450, ..remote.clone() };
        let capacities = [ALL_PER_S, ALL_PER_S / 2, ALL_PER_S * 2];
        let is_over = AtomicBool::new(false);
        let (ran, given) = std::thread::scope(|scope| {
            let watch = scope.spawn(|| {
                let (begun, mut given) = (Instant::now(), vec![self.place.server.given()]);
                while !is_over.load(Ordering::Relaxed) {
                    let part = (begun.elapsed().as_secs_f64() / PART.as_secs_f64()) as usize;
                    self.place.server.set_capacity(capacities[part.min(2)]);
                    let next = begun + Duration::from_millis(500) * given.len() as u32;
                    std::thread::sleep(next.saturating_duration_since(Instant::now()));
                    given.push(self.place.server.given());
                }
                given
            });
            let ran = self.run(&[&load], &Way::learn());
            is_over.store(true, Ordering::Relaxed);
            (ran, watch.join().unwrap_or_default())
        });
        self.place.server.set_capacity(ALL_PER_S);
        let ran = ran?;
        let rates: Vec<f64> = given.windows(2).map(|pair| (pair[1] - pair[0]) as f64 * 2.0).collect();
        println!(
            "\n| capacity, MB/s | intervals until 92 % of it is used | numbers, with when they were decided |\n|---|---|---|"
        );
        for (part, capacity) in capacities.iter().enumerate() {
            let (from, until) = (part * 40, (part + 1) * 40);
            let used = rates.iter().skip(from).take(40).position(|rate| *rate >= *capacity as f64 * 0.92);
            let numbers: Vec<String> = ran
                .changes
                .iter()
                .filter(|(at, ..)| (from..until).contains(&((at * 2.0) as usize)))
                .map(|(at, _, width)| format!("{width} at {at:.1} s"))
                .collect();
            let used = used.map_or_else(|| "never".to_owned(), |used| used.to_string());
            println!("| {} | {used} | {} |", capacity / 1_000_000, numbers.join(", "));
        }
        Ok(())
    }

    /// Others who compute on half of the cores for twenty seconds in the middle of a run of a minute.
    fn strangers(&self, loads: &[Load]) -> Result<()> {
        const FOR: Duration = Duration::from_secs(20);
        println!("\n| load | how | strangers' work, of what they do alone | the run |\n|---|---|---|---|");
        let alone = self.stranger(Duration::ZERO, FOR);
        for load in loads.iter().filter(|load| ["computes", "half and half"].contains(&load.name)) {
            let load = Load { tasks: load.tasks * 2, ..load.clone() };
            for (how, way) in [("as many as cores", Way::fixed(self.cores)), ("learn", Way::learn())] {
                let (done, ran) = std::thread::scope(|scope| {
                    let stranger = scope.spawn(|| self.stranger(Duration::from_secs(10), FOR));
                    let ran = self.run(&[&load], &way);
                    (stranger.join().unwrap_or(0), ran)
                });
                let ran = ran?;
                let share = done as f64 / alone as f64;
                println!("| {} | {how} | {:.2} | {:.1} s {} |", load.name, share, ran.seconds, last_numbers(&ran));
            }
        }
        Ok(())
    }

    /// What half of the cores count to, from then on for so long.
    fn stranger(&self, after: Duration, time: Duration) -> u64 {
        std::thread::sleep(after);
        let counted = AtomicU64::new(0);
        std::thread::scope(|scope| {
            for _ in 0..(self.cores / 2).max(1) {
                scope.spawn(|| {
                    let until = Instant::now() + time;
                    while Instant::now() < until {
                        (0..10_000u64).for_each(|number| {
                            std::hint::black_box(number);
                        });
                        counted.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
        });
        counted.into_inner()
    }

    /// Tasks of random peaks in a control group, known and unknown.
    fn memory(&self, seed: u64) -> Result<()> {
        const TASKS: u64 = 500;
        const BYTES: u64 = 2 << 30;
        println!("\nseed {seed}\n\n| memory | seconds | killed by the kernel | whole |\n|---|---|---|---|");
        let mut known = 0.0;
        for is_known in [true, false] {
            let rounds = if is_known { 1 } else { self.rounds };
            for _ in 0..rounds {
                let group = MemoryGroup::new(BYTES)?;
                let flags: &[&str] = match is_known {
                    true => &["--pack", "requests", "--width", "256", "--memory", "2GiB"],
                    false => &["--pack", "learn"],
                };
                let flags = flags.iter().map(|flag| (*flag).to_owned()).collect();
                let way = Way { flags, group: Some(&group), patience: None };
                let ran = self.engine.run(&self.place.memories(TASKS, seed, is_known), &way)?;
                known = if is_known { ran.seconds } else { known };
                let name = if is_known { "known" } else { "unknown, `learn`" };
                let ratio = ran.seconds / known;
                println!("| {name} | {:.1}, {ratio:.2} | {} | {} |", ran.seconds, group.kills(), ran.is_whole);
            }
        }
        Ok(())
    }
}
