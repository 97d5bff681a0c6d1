//! The experiments of MATRIX (Wang et al., *Load-balanced and locality-aware scheduling for data-intensive workloads at
//! extreme scales*, 2015), one file each.

mod all_pairs;
mod benchmarks;
mod case;
mod image_stacking;
mod no_op;
mod scale;

use throng_core::policy::Policy;
use throng_sim::{Cluster, Outcome};

use self::case::Case;
use super::publication::{Experiment, Publication};
use super::runner::{self, Recipe};
use super::setting::Setting;
use crate::simulate::summary;

/// What came out of the runs of an experiment.
type Results = runner::Results<Case>;

/// The publication.
pub const MATRIX: Publication<Case> = Publication {
    name: "matrix",
    title: "The experiments of MATRIX, reproduced",
    about: "The published experiments on data-aware work stealing, simulated with the code that schedules real runs. Unless a section says \
            otherwise: 100 nodes with 2 cores and 8\u{a0}GB each, a network of 1\u{a0}Gbit/s",
    beside: "Rows and columns that begin with Throng are not part of the reproduction: they show what Throng does by itself (place fair, \
             order aware) on the same workload and cluster.",
    quick: "workloads are smaller than published, so that beginnings and ends of runs weigh more",
    experiments: &[
        Experiment {
            name: "image-stacking",
            only_if_named: false,
            cases: image_stacking::cases,
            tell: image_stacking::tell,
        },
        Experiment { name: "all-pairs", only_if_named: false, cases: all_pairs::cases, tell: all_pairs::tell },
        Experiment { name: "benchmarks", only_if_named: false, cases: benchmarks::cases, tell: benchmarks::tell },
        Experiment { name: "no-op", only_if_named: false, cases: no_op::cases, tell: no_op::tell },
        Experiment { name: "scale", only_if_named: false, cases: scale::cases, tell: scale::tell },
        Experiment { name: "scale-128k", only_if_named: true, cases: scale::largest_cases, tell: scale::tell_largest },
    ],
};

/// Cores of a node, as published.
const CORES: u32 = 2;

/// Table 3's policy: full locality, but no local queue of more than ten seconds.
const TABLE_3_POLICY: &str = "flds:t=0.5,tt=10s,cap=50s";

/// What Throng does by itself, to stand beside what was published: a name, and how it is placed.
const OWN: (&str, &str) = ("Throng (fair, aware)", "fair");

/// The published cluster with so many cores in all, two to a node.
fn cluster(setting: &Setting, cores: u32, place: &str) -> Cluster {
    // As published: in both queues of a node, the task that reads most is first. Throng's own way has an order of its own.
    let order = policy(if place == OWN.1 { "aware" } else { "largest" });
    Cluster { place: policy(place), order, seed: setting.seed, ..Cluster::new(cores.div_ceil(CORES), CORES.min(cores)) }
}

fn policy(text: &str) -> Policy {
    text.parse().expect("experiments name policies as they are written")
}

/// A benchmark workflow with its lengths and sizes drawn one by one.
fn shape(setting: &Setting, name: &'static str, options: &[(&'static str, String)]) -> Recipe {
    Recipe::Shape { name, options: options.to_vec(), seed: setting.seed, means: false, estimates: false }
}

/// The same, and nodes know how long tasks take.
fn known_shape(setting: &Setting, name: &'static str, options: &[(&'static str, String)]) -> Recipe {
    Recipe::Shape { name, options: options.to_vec(), seed: setting.seed, means: false, estimates: true }
}

fn percent(part: f64) -> String {
    summary::percent(part)
}

fn seconds(seconds: f64) -> String {
    format!("{seconds:.1} s")
}

fn makespan(outcome: &Outcome) -> f64 {
    outcome.makespan.as_secs_f64()
}

fn milliseconds(seconds: f64) -> String {
    format!("{:.0} ms", seconds * 1e3)
}

/// How many slots were busy when, in percent.
fn curve(outcome: &Outcome) -> Vec<(f64, f64)> {
    let slots = outcome.slots as f64;
    let points = outcome.busy_curve.iter();
    points.map(|(time, busy)| (time.as_secs_f64(), f64::from(*busy) * 100.0 / slots)).collect()
}

/// Of all inputs, how many were there already.
fn hits(outcome: &Outcome) -> f64 {
    let all = outcome.hits + outcome.misses;
    if all == 0 { 1.0 } else { outcome.hits as f64 / all as f64 }
}
