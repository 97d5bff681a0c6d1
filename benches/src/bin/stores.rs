//! Compares the stores that could hold Throng's completion records.
//!
//! Every phase runs in a child process of its own, so that a store's peak of memory is not hidden
//! by the one before it, and so that the load starts as it would in a restarted engine. Rounds are
//! interleaved: a slow minute of the machine then falls on all stores alike.

use std::error::Error;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use clap::{Parser, ValueEnum};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use throng_benches::stores::{self, Kind, LoadFigures, Workload, WriteFigures};

type Failure = Box<dyn Error + Send + Sync>;

const BYTES_PER_MEGABYTE: f64 = 1e6;

/// Write, close, reopen and load completion records in each store, and print the figures
#[derive(Parser)]
struct Options {
    /// Records to write
    #[arg(long, default_value_t = 1_000_000)]
    count: u32,

    /// Records that are made durable together
    #[arg(long, default_value = "1000")]
    batch: NonZeroUsize,

    /// Then rewrite each record once, in random order
    #[arg(long)]
    updates: bool,

    /// Seed of the keys, the values and the order of the updates
    #[arg(long, default_value_t = 1)]
    seed: u64,

    /// Rounds over all stores; with more than one, the medians are printed too
    #[arg(long, default_value = "1")]
    rounds: NonZeroUsize,

    /// Run this store only; may be given more than once
    #[arg(long = "store", value_enum)]
    stores: Vec<Kind>,

    /// Where the stores are made, each in a fresh directory that is removed afterwards
    #[arg(long, default_value_os_t = std::env::temp_dir())]
    directory: PathBuf,

    /// Run one phase of one store in `directory` itself
    #[arg(long, hide = true)]
    phase: Option<Phase>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Phase {
    Write,
    Load,
}

impl Options {
    fn workload(&self) -> Workload {
        Workload { count: self.count, batch: self.batch.get(), seed: self.seed, updates: self.updates }
    }
}

fn main() -> Result<(), Failure> {
    let options = Options::parse();
    match options.phase {
        Some(phase) => run_phase(phase, &options),
        None => run_rounds(&options),
    }
}

fn run_phase(phase: Phase, options: &Options) -> Result<(), Failure> {
    let [kind] = options.stores[..] else {
        return Err("a phase is for one store".into());
    };
    let workload = options.workload();
    let figures = match phase {
        Phase::Write => serde_json::to_string(&stores::write(kind, &options.directory, &workload)?)?,
        Phase::Load => serde_json::to_string(&stores::load(kind, &options.directory, &workload)?)?,
    };
    println!("{figures}");
    Ok(())
}

fn run_rounds(options: &Options) -> Result<(), Failure> {
    let kinds = if options.stores.is_empty() { Kind::ALL.to_vec() } else { options.stores.clone() };
    let mut rounds_by_kind = vec![Vec::new(); kinds.len()];
    for round in 1..=options.rounds.get() {
        for (kind, rounds) in kinds.iter().zip(&mut rounds_by_kind) {
            let figures = run_store(*kind, options)?;
            print_line(*kind, json!(round), options, &figures);
            rounds.push(figures);
        }
    }
    if options.rounds.get() > 1 {
        for (kind, rounds) in kinds.iter().zip(&rounds_by_kind) {
            print_line(*kind, json!("median"), options, &medians(rounds));
        }
    }
    Ok(())
}

/// Both phases of one store, in a fresh directory.
fn run_store(kind: Kind, options: &Options) -> Result<Map<String, Value>, Failure> {
    let directory = tempfile::tempdir_in(&options.directory)?;
    let written: WriteFigures = run_child(Phase::Write, kind, directory.path(), options)?;
    let disk_bytes = stores::disk_bytes(directory.path())?;
    let loaded: LoadFigures = run_child(Phase::Load, kind, directory.path(), options)?;

    let count = f64::from(options.count);
    let writes = if options.updates { 2.0 * count } else { count };
    let mut figures = Map::new();
    let mut add = |name: &str, figure: f64| figures.insert(name.to_owned(), json!(figure));
    add("write_seconds", written.write_seconds);
    add("records_per_second", count / written.write_seconds);
    if let Some(seconds) = written.update_seconds {
        add("update_seconds", seconds);
        add("updates_per_second", count / seconds);
    }
    add("close_seconds", written.close_seconds);
    add("load_seconds", loaded.load_seconds);
    add("disk_bytes_per_record", disk_bytes as f64 / count);
    add("device_bytes_per_write", written.usage.device_bytes as f64 / writes);
    add("write_processor_seconds", written.usage.processor_seconds);
    add("write_peak_growth_mb", written.usage.peak_resident_bytes as f64 / BYTES_PER_MEGABYTE);
    add("load_peak_growth_mb", loaded.usage.peak_resident_bytes as f64 / BYTES_PER_MEGABYTE);
    Ok(figures)
}

fn run_child<Figures: DeserializeOwned>(
    phase: Phase,
    kind: Kind,
    directory: &Path,
    options: &Options,
) -> Result<Figures, Failure> {
    // SAFETY: `sync` takes nothing; it keeps earlier phases' unwritten pages out of this one.
    unsafe { libc::sync() };
    let mut command = Command::new(std::env::current_exe()?);
    command
        .args(["--phase", name_of(&phase), "--store", kind.name()])
        .args(["--count", &options.count.to_string()])
        .args(["--batch", &options.batch.to_string()])
        .args(["--seed", &options.seed.to_string()])
        .arg("--directory")
        .arg(directory)
        .stderr(Stdio::inherit());
    if options.updates {
        command.arg("--updates");
    }
    let output = command.output()?;
    if !output.status.success() {
        return Err(format!("{} failed: {}", kind.name(), output.status).into());
    }
    Ok(serde_json::from_slice(&output.stdout)?)
}

fn name_of(phase: &Phase) -> &'static str {
    match phase {
        Phase::Write => "write",
        Phase::Load => "load",
    }
}

fn print_line(kind: Kind, round: Value, options: &Options, figures: &Map<String, Value>) {
    let mut line = Map::new();
    line.insert("store".to_owned(), json!(kind.name()));
    line.insert("round".to_owned(), round);
    line.insert("records".to_owned(), json!(options.count));
    line.insert("batch".to_owned(), json!(options.batch));
    line.insert("seed".to_owned(), json!(options.seed));
    line.extend(figures.clone());
    println!("{}", Value::Object(line));
}

fn medians(rounds: &[Map<String, Value>]) -> Map<String, Value> {
    rounds[0]
        .keys()
        .map(|name| {
            let mut figures: Vec<f64> = rounds.iter().filter_map(|figures| figures[name].as_f64()).collect();
            figures.sort_by(f64::total_cmp);
            let middle = figures.len() / 2;
            let median =
                if figures.len() % 2 == 1 { figures[middle] } else { (figures[middle - 1] + figures[middle]) / 2.0 };
            (name.clone(), json!(median))
        })
        .collect()
}
