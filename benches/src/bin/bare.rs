//! The operating system's own limit for starting processes: the yardstick of the benchmarks.

use std::error::Error;
use std::hint::black_box;
use std::num::NonZeroUsize;
use std::process::ExitCode;

use clap::Parser;
use serde::Serialize;
use throng_benches::launch::{self, ArgumentTemplate, Method};

const BYTES_PER_MEGABYTE: usize = 1_000_000;

/// Start a program many times, with nothing else around it, and print the rate
#[derive(Parser)]
struct Options {
    /// How a process is started
    #[arg(long, value_enum, default_value = "posix_spawn")]
    method: Method,

    /// Threads that start processes, each one child at a time
    #[arg(long, default_value = "2")]
    threads: NonZeroUsize,

    /// Processes to start in all
    #[arg(long, default_value_t = 20_000)]
    count: u64,

    /// Memory to allocate and touch in the parent first, in megabytes
    #[arg(long, default_value_t = 0)]
    ballast_mb: usize,

    /// The program, and its arguments with `{}` for the index of the task
    #[arg(last = true, required = true)]
    command: Vec<String>,
}

#[derive(Serialize)]
struct Report {
    method: &'static str,
    threads: usize,
    count: u64,
    seconds: f64,
    per_second: f64,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let options = Options::parse();
    let (name, arguments) = options.command.split_first().ok_or("the command names no program")?;
    let program = launch::find_program(name)?;
    let template = ArgumentTemplate::new(name, arguments)?;
    let ballast = vec![1_u8; options.ballast_mb * BYTES_PER_MEGABYTE];
    black_box(&ballast);

    let outcome = launch::run(options.method, options.threads.get(), options.count, &program, &template)?;
    drop(black_box(ballast));

    let seconds = outcome.elapsed.as_secs_f64();
    let report = Report {
        method: match options.method {
            Method::PosixSpawn => "posix_spawn",
            Method::Vfork => "vfork",
            Method::Fork => "fork",
        },
        threads: options.threads.get(),
        count: options.count,
        seconds,
        per_second: options.count as f64 / seconds,
    };
    println!("{}", serde_json::to_string(&report)?);

    if outcome.failures > 0 {
        eprintln!("{} of the processes failed", outcome.failures);
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}
