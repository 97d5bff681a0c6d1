//! Watching a command from outside while it runs.

use std::error::Error;
use std::fs;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Often enough not to miss a peak while a workflow is loaded.
const INTERVAL: Duration = Duration::from_millis(1);

type Result<T> = std::result::Result<T, Box<dyn Error>>;

/// Runs a command; returns its seconds and the most memory that was seen resident, in bytes.
pub fn run(command: &mut Command) -> Result<(f64, f64)> {
    let start = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    let mut peak: f64 = 0.0;
    loop {
        peak = peak.max(resident_bytes(&child));
        if let Some(status) = child.try_wait()? {
            let elapsed = start.elapsed().as_secs_f64();
            return if status.success() { Ok((elapsed, peak)) } else { Err(format!("it ended with {status}").into()) };
        }
        std::thread::sleep(INTERVAL);
    }
}

/// Runs a command until it has a child process, then stops it; returns the seconds until then and the most
/// memory that was seen resident, in bytes.
pub fn until_first_child(command: &mut Command, patience: Duration) -> Result<(f64, f64)> {
    let start = Instant::now();
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let mut peak: f64 = 0.0;
    while !has_child(&child) {
        peak = peak.max(resident_bytes(&child));
        if start.elapsed() > patience || child.try_wait()?.is_some() {
            child.kill()?;
            return Err("nothing was started".into());
        }
        std::thread::sleep(INTERVAL);
    }
    let elapsed = start.elapsed().as_secs_f64();
    // Memory goes on being watched for a moment: the first start is not the end of setting up.
    let end = Instant::now() + Duration::from_millis(500);
    while Instant::now() < end {
        peak = peak.max(resident_bytes(&child));
        std::thread::sleep(INTERVAL);
    }
    child.kill()?;
    child.wait()?;
    Ok((elapsed, peak))
}

fn resident_bytes(child: &Child) -> f64 {
    let text = fs::read_to_string(format!("/proc/{}/statm", child.id())).unwrap_or_default();
    let pages: f64 = text.split(' ').nth(1).and_then(|pages| pages.parse().ok()).unwrap_or(0.0);
    pages * 4096.0
}

/// Whether any thread of a process has started another process.
fn has_child(child: &Child) -> bool {
    let threads = fs::read_dir(format!("/proc/{}/task", child.id())).into_iter().flatten().flatten();
    threads
        .into_iter()
        .any(|thread| fs::read_to_string(thread.path().join("children")).is_ok_and(|list| !list.is_empty()))
}
