//! The two workflows of Wylie's thesis on budgets (Carleton, 2015): SIPHT and LIGO, every job of which is a MapReduce job. Planners are
//! compared on them, so they have exactly the jobs, map tasks and dependencies of the program that the thesis ran.
//!
//! ```text
//!   outside ─▶ JOB.map × n ─▶ JOB.reduce ─▶ NEXT.map × m ─▶ NEXT.reduce ─▶ …
//! ```
//!
//! A map task reads what the jobs wrote that its own job depends on, or a file from outside if there are none; a reduce task reads what the map tasks of its
//! job wrote. Kinds are `JOB.map` and `JOB.reduce`, as `throng plan --times` has those of the thesis's files. Published: jobs, tasks and dependencies; that
//! all tasks do the same work, about 30 s on the slowest machine. Ours: how large files are, and the times of `--typed`, which make jobs differ as much as the
//! applications do from which they have their names.

mod ligo;
mod machines;
mod sipht;
#[cfg(test)]
mod tests;

pub use machines::MACHINES;

use super::options::{Options, Wrong};
use super::spread::{Spread, rounded};
use super::stage::{Stage, key};
use super::{Make, Parameter, Shape, parameter};

const TAKES: &[Parameter] = &[
    parameter("times", "30s"),
    parameter("typed", ""),
    // Tasks pass a line of text on, with their name added to it.
    parameter("sizes", "1kB"),
    parameter("input-size", "1kB"),
];

/// What is published of either, and what is not.
macro_rules! origin {
    ($own:literal) => {
        concat!(
            $own,
            " of the program that A. Wylie's thesis ran (*A scheduling algorithm for Hadoop MapReduce workflows with budget constraints in the \
             heterogeneous cloud*, Carleton University, 2015), with the map tasks that Hadoop really made; every task does the same work there, \
             about 30 s on the slowest machine. One file from outside for all jobs that share an input, and all sizes, are ours. With \
             `--typed`, a map task takes as long as such a task takes on average in the Pegasus workflow generator, a reduce task a tenth of \
             that, and both at least 1 s: no one has measured that"
        )
    };
}

/// Both workflows.
pub(super) const SHAPES: [Shape; 2] = [
    Shape {
        name: "mapreduce-sipht",
        summary: "the search for small RNAs as 31 MapReduce jobs",
        origin: origin!("the 31 jobs, 101 map and 31 reduce tasks and 35 dependencies"),
        takes: TAKES,
        make: Make::Stages(|options| stages(&sipht::jobs(), options)),
    },
    Shape {
        name: "mapreduce-ligo",
        summary: "the search for gravitational waves as 40 MapReduce jobs, in two separate graphs",
        origin: origin!("the 40 jobs, 90 map and 40 reduce tasks and 45 dependencies"),
        takes: TAKES,
        make: Make::Stages(|options| stages(&ligo::jobs(), options)),
    },
];

/// More than this comes from no outside: a petabyte, as much as any other shape takes.
const MOST_INPUT_BYTES: u64 = 1_000_000_000_000_000;
/// No task of a typed job is shorter, in seconds: files of times, as the thesis has them, know no part of a second.
const LEAST_SECONDS: f64 = 1.0;
/// What a reduce task takes of the time of a map task in a typed job.
const REDUCE_SHARE: f64 = 0.1;

/// A MapReduce job with one reduce task.
struct Job {
    name: String,
    maps: u64,
    /// How long tasks of such a type take in the Pegasus workflow generator, on average.
    typed_seconds: f64,
    /// The jobs that it depends on.
    after: Vec<String>,
    /// What it reads from outside if it depends on none.
    input: &'static str,
}

/// What most jobs read that depend on no other.
const INPUT: &str = "input/workflow";

impl Job {
    fn new(name: impl Into<String>, maps: u64, typed_seconds: f64) -> Job {
        Job { name: name.into(), maps, typed_seconds, after: Vec::new(), input: INPUT }
    }

    fn after(mut self, jobs: impl IntoIterator<Item = impl Into<String>>) -> Job {
        self.after = jobs.into_iter().map(Into::into).collect();
        self
    }
}

/// Two stages for each job.
fn stages(jobs: &[Job], options: &Options) -> Result<Vec<Stage>, Wrong> {
    let is_typed = options.is_given("typed");
    if is_typed && options.is_given("times") {
        return Err(Wrong::new(
            "`--times` and `--typed` both say how long tasks take",
            "give only one of them: with `--typed`, each type of task has its own time",
        ));
    }
    let (times, sizes) = (options.times()?, options.sizes()?);
    let input_bytes = options.bytes("input-size", 0, MOST_INPUT_BYTES)?;
    let time = |job: &Job, share: f64| match is_typed {
        true => Spread::Fixed(rounded((job.typed_seconds * share).max(LEAST_SECONDS) * 1e9)),
        false => times,
    };
    let of_job = |job: &Job| {
        // Kinds are said and not taken from names: a workflow with so many templates would take the program instead, which is sleep for all.
        let stage = |part: &str, keys| {
            Stage::new(format!("{}-{part}", job.name), keys).of_kind(&format!("{}.{part}", job.name))
        };
        let maps = stage("map", vec![key("i", job.maps)]);
        let maps = match job.after.is_empty() {
            true => maps.reads_outside(job.input, input_bytes),
            false => job.after.iter().fold(maps, |maps, before| maps.reads(reduced(before))),
        };
        let maps = maps.writes(format!("mapped/{}/{{i}}", job.name), sizes).takes(time(job, 1.0));
        let reduces = stage("reduce", Vec::new()).reads_all(&maps.name);
        [maps, reduces.writes(reduced(&job.name), sizes).takes(time(job, REDUCE_SHARE))]
    };
    Ok(jobs.iter().flat_map(of_job).collect())
}

/// What a job writes.
fn reduced(job: &str) -> String {
    format!("reduced/{job}")
}
