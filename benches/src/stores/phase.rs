//! The two phases of a run, each meant for a process of its own: only then does the peak of the
//! memory belong to one phase of one store.

use std::path::Path;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::usage::{Usage, UsageGrowth};
use super::{Kind, Record, Result, Store};
use crate::random::SplitMix64;

/// What is written, and then read back.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    /// How many records.
    pub count: u32,
    /// How many records are made durable together.
    pub batch: usize,
    /// Where the keys, the values and the order of the updates come from.
    pub seed: u64,
    /// Whether every record is rewritten once, in random order, after all are written.
    pub updates: bool,
}

/// What the writing phase took.
#[derive(Debug, Serialize, Deserialize)]
pub struct WriteFigures {
    /// Until the last record was durable.
    pub write_seconds: f64,
    /// From then until the last update was durable; nothing without updates.
    pub update_seconds: Option<f64>,
    /// For closing the store after the last record or update.
    pub close_seconds: f64,
    /// For the whole phase.
    pub usage: UsageGrowth,
}

/// What the loading phase took.
#[derive(Debug, Serialize, Deserialize)]
pub struct LoadFigures {
    /// From before the store was opened until all records were in an array.
    pub load_seconds: f64,
    /// For the whole phase.
    pub usage: UsageGrowth,
}

/// Fills a new store in `directory`.
pub fn write(kind: Kind, directory: &Path, workload: &Workload) -> Result<WriteFigures> {
    let update_order =
        if workload.updates { SplitMix64::new(workload.seed).permutation(workload.count) } else { Vec::new() };
    let before = Usage::now()?;

    let mut store = kind.open(directory)?;
    let written = commit_in_groups(store.as_mut(), workload, 0..workload.count, 1)?;
    let updated = if workload.updates {
        let order = update_order.into_iter();
        Some(commit_in_groups(store.as_mut(), workload, order, 2)?)
    } else {
        None
    };
    let closing = Instant::now();
    store.close()?;
    let closed = closing.elapsed();

    Ok(WriteFigures {
        write_seconds: written.as_secs_f64(),
        update_seconds: updated.map(|duration| duration.as_secs_f64()),
        close_seconds: closed.as_secs_f64(),
        usage: Usage::now()?.growth_since(&before),
    })
}

/// Passes the records of `indices` one by one, with a commit after each full group.
fn commit_in_groups(
    store: &mut dyn Store,
    workload: &Workload,
    indices: impl Iterator<Item = u32>,
    run: u64,
) -> Result<Duration> {
    let mut group = Vec::with_capacity(workload.batch);
    let started = Instant::now();
    for index in indices {
        group.push(Record::of_task(workload.seed, u64::from(index), run));
        if group.len() == workload.batch {
            store.commit(&group)?;
            group.clear();
        }
    }
    if !group.is_empty() {
        store.commit(&group)?;
    }
    Ok(started.elapsed())
}

/// Reads the store in `directory` back, and checks after the clock has stopped that it holds
/// exactly the newest version of every record.
pub fn load(kind: Kind, directory: &Path, workload: &Workload) -> Result<LoadFigures> {
    let before = Usage::now()?;
    let started = Instant::now();
    let mut store = kind.open(directory)?;
    let records = store.take_all()?;
    let loaded = started.elapsed();
    let usage = Usage::now()?.growth_since(&before);
    store.close()?;

    let newest_run = if workload.updates { 2 } else { 1 };
    let expected = (0..workload.count)
        .map(|index| Record::of_task(workload.seed, u64::from(index), newest_run).fingerprint())
        .fold(0, u64::wrapping_add);
    let found = records.iter().map(Record::fingerprint).fold(0, u64::wrapping_add);
    if records.len() != workload.count as usize || found != expected {
        return Err(format!("{} returned other records than it was given", kind.name()).into());
    }
    Ok(LoadFigures { load_seconds: loaded.as_secs_f64(), usage })
}
