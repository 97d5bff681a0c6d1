//! Throng beside the operating system's own limit: every figure that the project promises, in one run.
//!
//! The machine is noisy, so what is compared is measured in pairs, one right after the other, and the
//! median of the ratios counts.

use std::cell::Cell;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use clap::Parser;
use throng_benches::{sample, workflows};

/// Measure Throng side by side with a bare loop, and print a table
#[derive(Parser)]
struct Options {
    /// The binary to measure
    #[arg(long)]
    throng: PathBuf,
    /// Pairs to measure
    #[arg(long, default_value_t = 9)]
    pairs: usize,
    /// Measure only those whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Also measure GNU make and xargs, if they are installed
    #[arg(long)]
    peers: bool,
}

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// A directory with workflows, and what to measure them with.
struct Bench {
    throng: PathBuf,
    bare: PathBuf,
    directory: tempfile::TempDir,
    pairs: usize,
    only: String,
    directories: Cell<u64>,
}

fn main() -> Result<ExitCode> {
    let options = Options::parse();
    let bare = std::env::current_exe()?.with_file_name("bare");
    let bench = Bench {
        throng: options.throng.canonicalize()?,
        bare,
        directory: tempfile::tempdir()?,
        pairs: options.pairs,
        only: options.only,
        directories: Cell::new(0),
    };
    println!("| what | median | all |\n|---|---|---|");
    bench.processes(options.peers)?;
    bench.without_processes()?;
    bench.large()?;
    Ok(ExitCode::SUCCESS)
}

impl Bench {
    fn wants(&self, name: &str) -> bool {
        name.contains(&self.only)
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Tasks that are processes, as a share of the bare loop's rate.
    fn processes(&self, peers: bool) -> Result<()> {
        let bag = workflows::bag(self.path(), 20_000)?;
        self.ratio("bag of 20,000 /bin/true ÷ bare loop", 20_000, &["/bin/true"], |bench| bench.throng(&bag))?;
        if peers {
            let makefile = workflows::makefile(self.path(), 20_000)?;
            let make = || seconds(Command::new("make").args(["-s", "-j2", "-f"]).arg(&makefile), self.path());
            self.ratio("make -j2: the same bag ÷ bare loop", 20_000, &["/bin/true"], |_| make())?;
            let xargs = || seconds(Command::new("sh").args(["-c", "seq 20000 | xargs -P2 -n1 /bin/true"]), self.path());
            self.ratio("xargs -P2: the same bag ÷ bare loop", 20_000, &["/bin/true"], |_| xargs())?;
        }
        let chains = workflows::chains(self.path(), 500, 10, workflows::Step::True)?;
        self.ratio("500 pipelines of 10 /bin/true ÷ bare loop", 5_000, &["/bin/true"], |bench| bench.throng(&chains))?;
        let chains = workflows::chains(self.path(), 500, 10, workflows::Step::Touch)?;
        self.ratio("500 pipelines of 10 touch ÷ bare loop", 5_000, &["touch", "{}"], |bench| bench.throng(&chains))
    }

    /// The median over pairs of a bare loop's seconds divided by somebody else's.
    fn ratio(&self, name: &str, count: u64, bare: &[&str], other: impl Fn(&Bench) -> Result<f64>) -> Result<()> {
        if !self.wants(name) {
            return Ok(());
        }
        let mut ratios = Vec::new();
        for pair in 0..self.pairs {
            // Each goes first every other time.
            let (limit, measured) = if pair % 2 == 0 {
                let limit = self.bare(count, bare)?;
                (limit, other(self)?)
            } else {
                let measured = other(self)?;
                (self.bare(count, bare)?, measured)
            };
            ratios.push(limit / measured);
        }
        report(name, &ratios, |ratio| format!("{ratio:.3}"));
        Ok(())
    }

    fn without_processes(&self) -> Result<()> {
        let name = "noop, 1,000,000 independent, tasks/s of the whole command";
        if self.wants(name) {
            let flow = workflows::noops(self.path(), 1_000_000)?;
            let rates = self.repeat(|| Ok(1e6 / self.throng(&flow)?))?;
            report(name, &rates, |rate| format!("{rate:.0}"));
        }
        let name = "noop, 100,000 pipelines of 10, tasks/s of the whole command";
        if self.wants(name) {
            let flow = workflows::chains(self.path(), 100_000, 10, workflows::Step::Noop)?;
            let rates = self.repeat(|| Ok(1e6 / self.throng(&flow)?))?;
            report(name, &rates, |rate| format!("{rate:.0}"));
        }
        let name = "growth: cost per task from 100k to 1M ÷ from 10k to 100k, noop";
        if self.wants(name) {
            let small = workflows::noops(self.path(), 10_000)?;
            let middle = workflows::noops(self.path(), 100_000)?;
            let large = workflows::noops(self.path(), 1_000_000)?;
            let ratios = self.repeat(|| {
                let times = [self.throng(&small)?, self.throng(&middle)?, self.throng(&large)?];
                Ok(((times[2] - times[1]) / 900e3) / ((times[1] - times[0]) / 90e3))
            })?;
            report(name, &ratios, |ratio| format!("{ratio:.2}"));
        }
        Ok(())
    }

    /// Large workflows: how long until something starts, and how much memory.
    fn large(&self) -> Result<()> {
        for (name, flow) in [
            (
                "1,000,000 tasks of a foreach: seconds to first start",
                workflows::foreach_processes(self.path(), 1_000_000)?,
            ),
            (
                "1,000,000 tasks of a JSON list: seconds to first start",
                workflows::list_of_processes(self.path(), 1_000_000)?,
            ),
        ] {
            if !self.wants(name) {
                continue;
            }
            let mut memory = Vec::new();
            let starts = self.repeat(|| {
                let (first_start, peak_bytes) = self.first_start(&flow)?;
                memory.push(peak_bytes / 1e6);
                Ok(first_start)
            })?;
            report(name, &starts, |seconds| format!("{seconds:.2}"));
            report("— and resident memory, MB", &memory, |megabytes| format!("{megabytes:.0}"));
        }
        let name = "nothing to do, 1,000,000 recorded tasks with an output each, seconds";
        if self.wants(name) {
            let flow = workflows::recorded(self.path(), 1_000_000)?;
            // The files are made by hand and taken over: making them with a million processes takes an hour.
            seconds(self.command(&flow).arg("--adopt"), self.path())?;
            let times = self.repeat(|| seconds(&mut self.command(&flow), self.path()))?;
            report(name, &times, |seconds| format!("{seconds:.2}"));
        }
        let name = "10,000,000 noop tasks in one run, seconds";
        if self.wants(name) {
            let flow = workflows::noops(self.path(), 10_000_000)?;
            let (elapsed, peak_bytes) = sample::run(self.command(&flow).arg("--fresh").current_dir(self.path()))?;
            report(name, &[elapsed], |seconds| format!("{seconds:.1}"));
            report("— and resident memory, MB", &[peak_bytes / 1e6], |megabytes| format!("{megabytes:.0}"));
        }
        Ok(())
    }

    fn repeat(&self, mut measure: impl FnMut() -> Result<f64>) -> Result<Vec<f64>> {
        (0..self.pairs).map(|_| measure()).collect()
    }

    fn command(&self, flow: &Path) -> Command {
        let mut command = Command::new(&self.throng);
        command.arg("run").arg(flow).args(["--quiet", "--width", "2"]);
        command
    }

    /// A new directory for one run. Nothing is deleted before the end: on ext4, making files is slower for
    /// minutes after many have been deleted.
    fn fresh_directory(&self) -> Result<PathBuf> {
        let number = self.directories.get();
        self.directories.set(number + 1);
        let directory = self.path().join(format!("run-{number}"));
        std::fs::create_dir(&directory)?;
        Ok(directory)
    }

    /// Puts a workflow into a new directory.
    fn placed(&self, flow: &Path) -> Result<PathBuf> {
        let directory = self.fresh_directory()?;
        let placed = directory.join(flow.file_name().ok_or("a workflow has a name")?);
        std::fs::hard_link(flow, &placed)?;
        let common = self.path().join("common.txt");
        if common.exists() {
            std::fs::hard_link(common, directory.join("common.txt"))?;
        }
        Ok(placed)
    }

    /// Seconds of a whole `throng run` that has everything to do: start, run, durable end.
    fn throng(&self, flow: &Path) -> Result<f64> {
        let placed = self.placed(flow)?;
        seconds(&mut self.command(&placed), self.path())
    }

    fn bare(&self, count: u64, command: &[&str]) -> Result<f64> {
        let directory = self.fresh_directory()?;
        let mut bare = Command::new(&self.bare);
        bare.args(["--method", "posix_spawn", "--threads", "2", "--count", &count.to_string(), "--"]).args(command);
        seconds(&mut bare, &directory)
    }

    /// Seconds from the start of the command to the start of its first process, and the most memory it held.
    fn first_start(&self, flow: &Path) -> Result<(f64, f64)> {
        let placed = self.placed(flow)?;
        sample::until_first_child(self.command(&placed).current_dir(self.path()), Duration::from_secs(60))
    }
}

fn seconds(command: &mut Command, directory: &Path) -> Result<f64> {
    command.current_dir(directory).stdin(Stdio::null()).stdout(Stdio::null());
    let start = Instant::now();
    let status = command.status()?;
    let elapsed = start.elapsed().as_secs_f64();
    if !status.success() {
        return Err(format!("{command:?} ended with {status}").into());
    }
    Ok(elapsed)
}

fn report(name: &str, values: &[f64], show: impl Fn(f64) -> String) {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let all: Vec<String> = sorted.iter().map(|value| show(*value)).collect();
    println!("| {name} | **{}** | {} |", show(sorted[sorted.len() / 2]), all.join(" "));
}
