//! Pipes side by side: the graph in which an order can gain most, since each task needs just what the one before it made.

use super::super::section::{Section, Table};
use super::gaps::{Gaps, OTHERS};
use super::{ALONE, B1, Case, MOST_UNITS, OWN, Place, Results, Setting, points, shape};

/// Tasks of a pipe.
const LENGTH: u64 = 10;

/// How many pipes there are: half as many as files in the cache, a little more, and many more.
fn pipes(setting: &Setting) -> &'static [u64] {
    if setting.quick { &[10, 30] } else { &[10, 30, 100] }
}

fn place(pipes: u64, units: usize) -> Place {
    let options = [
        ("tasks", (pipes * LENGTH).to_string()),
        ("degree", LENGTH.to_string()),
        ("times", "1s".to_owned()),
        ("sizes", "1GB".to_owned()),
    ];
    let workload = format!("{pipes} pipes");
    Place { workload, recipe: shape("pipeline", &options), units, raw_is_free: false, is_searched_through: false }
}

pub(super) fn cases(setting: &Setting) -> Vec<Case> {
    let ways = [&[B1], &OTHERS[..], &OWN].concat();
    let places = pipes(setting).iter().flat_map(|pipes| [MOST_UNITS, ALONE].map(|units| place(*pipes, units)));
    places.flat_map(|place| place.cases(setting, &ways)).collect()
}

pub(super) fn tell(setting: &Setting, results: &Results) -> Section {
    Section {
        title: "Pipelines",
        about: format!(
            "Not in the paper: pipes of {LENGTH} tasks, each of which takes a second and writes the gigabyte that the next one reads. No raw data, so that whoever finds everything in the \
             cache loads nothing; and loading takes ten times as long as computing. The cache holds 20 files."
        ),
        tables: [MOST_UNITS, ALONE].map(|units| table(setting, results, units)).into(),
        charts: Vec::new(),
        assumptions: points([
            "`throng generate pipeline`, with one length and one size for all tasks. All first tasks come before all second ones, and where an order has no preference, the first comes first.",
            "Searches of PS and GCS end after a bounded number of steps, as in `throng run`; GCS then does as OG does.",
        ]),
        differences: points([
            "With more pipes than fit into the cache, OG is about three to four times as fast as B1. It stays with a pipe that it has begun to use, but first begins all pipes: so each costs it one \
             load. Throng's own order does not, and loads nothing.",
            "With ten pipes on eight units, OG is slower than B1: it finishes pipe after pipe, and in the end there are too few of them for all units.",
            "B2 ranks tasks by what lies behind them, and so goes through all pipes in step. That is the worst that can be done to this cache as soon as there are more pipes than it holds.",
        ]),
    }
}

fn table(setting: &Setting, results: &Results, units: usize) -> Table {
    let caption = format!("Time of B1 divided by that of others, units: {units}");
    let rows = pipes(setting).iter().map(|pipes| (vec![pipes.to_string()], place(*pipes, units)));
    let loaded = Some(["loaded, B1", "loaded, OG"]);
    Gaps { caption, first: &["pipes"], others: &OTHERS, loaded }.table(results, rows)
}
