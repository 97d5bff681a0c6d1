//! Many simulated runs beside each other: every combination of the options that are compared, with several seeds.
//!
//! Each run is a world of its own, so they run on all cores at once; what is printed depends only on their number.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Map, Value, json};
use throng_core::workflow::Workflow;
use throng_sim::{Cluster, Outcome};

use super::options::{COMPARED, ClusterArguments};
use super::progress::Bar;
use super::sizes::Found;
use super::spread::Spread;
use super::table::Table;
use super::{code, figures, make_world, summary};
use crate::exit::{Code, Failure};
use crate::words;

/// More runs than this are a slip of the pen.
const RUNS_MOST: usize = 100_000;

/// An option and the values to try.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    pub(super) option: String,
    pub(super) values: Vec<String>,
}

/// Reads `place=flds,mdl`. What follows a policy and has a `=` of its own belongs to it: `place=flds:t=0.5,tt=10s,mdl`.
pub fn axis(text: &str) -> Result<Axis, String> {
    let (option, values) = text.split_once('=').ok_or("write OPTION=VALUE,VALUE, such as place=flds,mdl")?;
    if !COMPARED.contains(&option) {
        return Err(format!("`{option}` cannot be compared: choose among {}", COMPARED.join(", ")));
    }
    let is_policy = matches!(option, "place" | "order" | "pack" | "evict" | "fault");
    let mut read: Vec<String> = Vec::new();
    for value in values.split(',').map(str::trim).filter(|value| !value.is_empty()) {
        let is_parameter = value.split_once('=').is_some_and(|(key, _)| !key.contains(':'));
        match read.last_mut().filter(|last| is_policy && is_parameter && last.contains(':')) {
            Some(last) => *last = format!("{last},{value}"),
            None => read.push(value.to_owned()),
        }
    }
    if read.is_empty() {
        return Err(format!("no value of `{option}` is given"));
    }
    Ok(Axis { option: option.to_owned(), values: read })
}

/// Which seeds to try, as they are written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seeds(Vec<u64>);

/// Reads `1..5`, both ends counted, or `1,2,7`.
pub fn seeds(text: &str) -> Result<Seeds, String> {
    let wrong = || "write 1..5 or 1,2,7".to_owned();
    let number = |text: &str| text.trim().parse::<u64>().map_err(|_| wrong());
    let seeds: Vec<u64> = match text.split_once("..") {
        Some((first, last)) => (number(first)?..=number(last)?).take(RUNS_MOST + 1).collect(),
        None => text.split(',').map(number).collect::<Result<_, _>>()?,
    };
    if seeds.is_empty() || seeds.len() > RUNS_MOST { Err(wrong()) } else { Ok(Seeds(seeds)) }
}

/// One row: what is special about it, and a cluster for each seed.
struct Row {
    values: Vec<String>,
    clusters: Vec<Cluster>,
}

/// What came out of a row.
struct Compared {
    values: Vec<String>,
    outcomes: Vec<Outcome>,
}

/// Runs every combination and shows a table.
pub fn run(
    flow: &Arc<Workflow>,
    base: &ClusterArguments,
    (axes, seeds): (&[Axis], Option<&Seeds>),
    found: &Found,
    json: bool,
) -> Result<Code, Failure> {
    let seeds = seeds.map_or(vec![base.seed], |seeds| seeds.0.clone());
    let rows = rows(flow, base, axes, &seeds)?;
    let results = simulate_all(flow, rows)?;
    if json {
        tell!("{}", as_json(flow, axes, &seeds, &results, found));
    } else {
        tell_table(flow, axes, &seeds, &results);
    }
    Ok(if results.iter().all(Compared::is_whole) { Code::Done } else { Code::TaskFailed })
}

/// Every combination, the last option changing fastest; everything is checked before anything runs.
fn rows(flow: &Arc<Workflow>, base: &ClusterArguments, axes: &[Axis], seeds: &[u64]) -> Result<Vec<Row>, Failure> {
    for (at, axis) in axes.iter().enumerate() {
        if axes[..at].iter().any(|earlier| earlier.option == axis.option) {
            let message = format!("`{}` is compared twice", axis.option);
            return Err(Failure::bad_input(message, format!("write all its values in one: {}=A,B,C", axis.option)));
        }
    }
    let count = axes.iter().try_fold(seeds.len(), |count, axis| count.checked_mul(axis.values.len()));
    if count.is_none_or(|count| count > RUNS_MOST) {
        let message = format!("that would be more than {} runs", words::thousands(RUNS_MOST as u64));
        return Err(Failure::bad_input(message, "compare fewer values, or fewer seeds"));
    }
    let combinations: usize = axes.iter().map(|axis| axis.values.len()).product();
    let mut rows = Vec::with_capacity(combinations);
    for number in 0..combinations {
        let mut arguments = base.clone();
        let mut values = Vec::new();
        let mut block = combinations;
        for axis in axes {
            block /= axis.values.len();
            let value = &axis.values[number / block % axis.values.len()];
            arguments.set(&axis.option, value).map_err(|error| {
                Failure::bad_input(format!("{}={value}: {error}", axis.option), "see `throng simulate --help`")
            })?;
            values.push(value.clone());
        }
        let cluster = arguments.cluster(flow)?;
        let clusters = seeds.iter().map(|seed| Cluster { seed: *seed, ..cluster.clone() }).collect();
        rows.push(Row { values, clusters });
    }
    Ok(rows)
}

/// Runs all clusters of all rows, as many at once as there are cores.
fn simulate_all(flow: &Arc<Workflow>, rows: Vec<Row>) -> Result<Vec<Compared>, Failure> {
    let clusters: Vec<&Cluster> = rows.iter().flat_map(|row| &row.clusters).collect();
    let results: Vec<Mutex<Option<Result<Outcome, Failure>>>> = clusters.iter().map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    let bar = Bar::new(clusters.len() as u64, "runs");
    let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get()).min(clusters.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((cluster, result)) = {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    clusters.get(number).zip(results.get(number))
                } {
                    let outcome = make_world(flow, cluster).map(|world| world.run());
                    *result.lock().unwrap_or_else(PoisonError::into_inner) = Some(outcome);
                    if let Some(bar) = &bar {
                        bar.add_one();
                    }
                }
            });
        }
    });
    let mut outcomes = results.into_iter().map(|result| {
        let result = result.into_inner().unwrap_or_else(PoisonError::into_inner);
        result.expect("every run was taken by some thread")
    });
    rows.iter()
        .map(|row| {
            let outcomes = outcomes.by_ref().take(row.clusters.len()).collect::<Result<_, _>>()?;
            Ok(Compared { values: row.values.clone(), outcomes })
        })
        .collect()
}

impl Compared {
    fn is_whole(&self) -> bool {
        self.outcomes.iter().all(|outcome| code(outcome) == Code::Done)
    }

    /// Whether all tasks were done, so that bounds mean something.
    fn is_done(&self) -> bool {
        self.outcomes.iter().all(|outcome| outcome.not_done == 0)
    }

    fn makespan(&self) -> Spread {
        Spread::of(&self.outcomes, |outcome| outcome.makespan.as_secs_f64())
    }
}

/// The row with the shortest mean makespan among those that came to their end; the first of those that look the same.
fn best(results: &[Compared]) -> Option<usize> {
    let whole = || (0..results.len()).filter(|at| results[*at].is_whole());
    let mean = |at: usize| results[at].makespan().mean;
    let shortest = whole().map(mean).min_by(f64::total_cmp)?;
    whole().find(|at| summary::seconds(mean(*at)) == summary::seconds(shortest))
}

fn tell_table(flow: &Workflow, axes: &[Axis], seeds: &[u64], results: &[Compared]) {
    tell!(
        "{}: {} simulated {}, {}",
        words::printable(flow.title()),
        words::count_many(flow.task_count() as u64, "task"),
        words::count_many((results.len() * seeds.len()) as u64, "time"),
        match seeds {
            [seed] => format!("seed {seed}"),
            seeds => format!("{} for each row", words::count_many(seeds.len() as u64, "seed")),
        },
    );
    tell!("");
    let best = best(results);
    let mut table = Table::new(axes.iter().map(|axis| axis.option.as_str()), seeds.len() > 1);
    for (at, row) in results.iter().enumerate() {
        table.row(&row.values, &row.outcomes, best == Some(at));
    }
    for line in table.lines() {
        tell!("{line}");
    }
}

fn as_json(flow: &Workflow, axes: &[Axis], seeds: &[u64], results: &[Compared], found: &Found) -> Value {
    let best = best(results);
    let rows = results.iter().enumerate().map(|(at, row)| {
        let options = axes.iter().zip(&row.values).map(|(axis, value)| (axis.option.clone(), json!(value)));
        let runs = seeds.iter().zip(&row.outcomes).map(|(seed, outcome)| {
            let mut result = figures::result(outcome);
            result["seed"] = json!(seed);
            result
        });
        json!({
            "options": Map::from_iter(options),
            "is_best": best == Some(at),
            "makespan_ns": Spread::of(&row.outcomes, |outcome| outcome.makespan.as_nanos() as f64).as_json(),
            "bound_of_makespan": row.is_done().then(|| Spread::of(&row.outcomes, Outcome::of_bound).as_json()),
            "analytic_of_makespan": row.is_done().then(|| Spread::of(&row.outcomes, Outcome::of_analytic).as_json()),
            "efficiency": Spread::of(&row.outcomes, Outcome::efficiency).as_json(),
            "moved_bytes": Spread::of(&row.outcomes, |outcome| outcome.moved_bytes as f64).as_json(),
            "runs": runs.collect::<Vec<_>>(),
        })
    });
    json!({
        "workflow": flow.title(),
        "simulated": true,
        "tasks": flow.task_count(),
        "compared": axes.iter().map(|axis| axis.option.as_str()).collect::<Vec<_>>(),
        "seeds": seeds,
        "rows": rows.collect::<Vec<_>>(),
        "warnings": found.warnings,
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn values_of_an_option() {
        let values = |text: &str| axis(text).unwrap().values;
        assert_eq!(values("place=flds,mdl"), ["flds", "mdl"]);
        assert_eq!(values("place=flds:t=0.5,tt=10s,mdl:t=0,mlb"), ["flds:t=0.5,tt=10s", "mdl:t=0", "mlb"]);
        assert_eq!(values("inputs=spread,node=3,node=4"), ["spread", "node=3", "node=4"]);
        for wrong in ["place", "place=", "colour=red"] {
            assert!(axis(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn seeds_as_written() {
        assert_eq!(seeds("3..5"), Ok(Seeds(vec![3, 4, 5])));
        assert_eq!(seeds("7, 1"), Ok(Seeds(vec![7, 1])));
        for wrong in ["", "5..3", "one", "1..", "0..18446744073709551615"] {
            assert!(seeds(wrong).is_err(), "{wrong}");
        }
    }
}
