//! How often inputs have to be brought, by how much room nodes have: `--cache 1GB..64GB`.
//!
//! Every size is simulated, and beside it stands what was to be expected: `throng_core::predict` runs the same order on units that share
//! one cache as large as all nodes have, where what tasks make may go like anything else. That is exact enough for one node with
//! `--inputs shared --outputs shared`, and shows what is lost by spreading tasks over many.

use std::fmt::Write;
use std::path::PathBuf;
use std::sync::Arc;

use serde_json::{Value, json};
use throng_core::locality::Knowledge;
use throng_core::predict::{self, Expected, Machine};
use throng_core::workflow::{Workflow, quantity};
use throng_sim::{Cluster, Outcome};

use super::options::ClusterArguments;
use super::{code, make_world, summary};
use crate::exit::{Code, Failure};
use crate::graph::text::escape_xml;
use crate::report::write_to;
use crate::words;

/// How much room nodes have: one size, or several to be tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// The smallest.
    pub first: u64,
    /// The largest.
    pub last: u64,
}

impl Sizes {
    /// Just one size.
    pub fn one(bytes: u64) -> Sizes {
        Sizes { first: bytes, last: bytes }
    }

    /// Whether there are several.
    pub fn is_range(self) -> bool {
        self.first < self.last
    }

    /// From the smallest on, each twice as large as the one before, and the largest.
    fn all(self) -> Vec<u64> {
        let doubled = std::iter::successors(Some(self.first), |bytes| bytes.checked_mul(2));
        doubled.take_while(|bytes| *bytes < self.last).chain([self.last]).collect()
    }
}

/// Reads `8GB` or `1GB..64GB`.
pub fn sizes(text: &str) -> Result<Sizes, String> {
    let Some((first, last)) = text.split_once("..") else { return quantity::bytes(text).map(Sizes::one) };
    let sizes = Sizes { first: quantity::bytes(first.trim())?, last: quantity::bytes(last.trim())? };
    match sizes {
        Sizes { first: 0, .. } => Err("begin with more than nothing, such as 1GB..64GB".to_owned()),
        Sizes { first, last } if first >= last => Err("write the smaller size first, such as 1GB..64GB".to_owned()),
        _ => Ok(sizes),
    }
}

/// What came of one size.
struct Point {
    cache: u64,
    outcome: Outcome,
    predicted: Option<Expected>,
}

impl Point {
    fn measured(&self) -> Expected {
        Expected { misses: self.outcome.misses, bytes: self.outcome.missed_bytes }
    }
}

/// What is to be expected of a cluster, if its workflow is small enough.
pub fn expected(flow: &Arc<Workflow>, cluster: &Cluster) -> Result<Option<Expected>, Failure> {
    if flow.task_count() > predict::TASKS_LIMIT {
        return Ok(None);
    }
    let machine = Machine { units: cluster.slots() as usize, cache: cluster.room_bytes() };
    let known = Knowledge::of(flow, &cluster.brought());
    let expected =
        predict::expect(&cluster.order, &cluster.evict, &known, cluster.shared_bandwidth, machine, cluster.seed);
    expected.map(Some).map_err(|error| Failure::bad_input(error, "write a policy as name or name:key=value,key=value"))
}

/// Simulates every size and shows a table; also a picture, if anybody wants one.
pub fn run(flow: &Arc<Workflow>, base: &ClusterArguments, plot: Option<&PathBuf>, json: bool) -> Result<Code, Failure> {
    let mut points = Vec::new();
    for cache in base.cache.all() {
        let arguments = ClusterArguments { cache: Sizes::one(cache), ..base.clone() };
        let cluster = arguments.cluster(flow)?;
        let predicted = expected(flow, &cluster)?;
        points.push(Point { cache, outcome: make_world(flow, &cluster)?.run(), predicted });
    }
    if let Some(path) = plot {
        let picture = svg(flow.title(), &points);
        let file = Some(path.as_path()).filter(|path| path.as_os_str() != "-");
        write_to(file, |out| out.write_all(picture.as_bytes()))?;
    }
    if json {
        tell!("{}", as_json(flow, &points));
    } else if plot.is_none_or(|path| path.as_os_str() != "-") {
        tell_table(flow, &points);
    }
    if let Some(path) = plot.filter(|path| path.as_os_str() != "-") {
        note!("wrote {}: open it in a browser", path.display());
    }
    let is_whole = points.iter().all(|point| code(&point.outcome) == Code::Done);
    Ok(if is_whole { Code::Done } else { Code::TaskFailed })
}

fn tell_table(flow: &Workflow, points: &[Point]) {
    tell!(
        "{}: {} simulated with caches of {}",
        words::printable(flow.title()),
        words::count_many(flow.task_count() as u64, "task"),
        words::count_many(points.len() as u64, "size"),
    );
    tell!("");
    tell!(
        "  {:>9}  {:>10}  {:>10}  {:>10}  {:>10}  {:>10}",
        "cache",
        "makespan",
        "brought",
        "expected",
        "bytes",
        "expected"
    );
    for point in points {
        let (measured, expected) = (point.measured(), point.predicted);
        let shown = |show: &dyn Fn(Expected) -> String| expected.map_or_else(|| "-".to_owned(), show);
        tell!(
            "  {:>9}  {:>10}  {:>10}  {:>10}  {:>10}  {:>10}{}",
            words::bytes(point.cache),
            summary::time(point.outcome.makespan),
            words::thousands(measured.misses),
            shown(&|expected| words::thousands(expected.misses)),
            words::bytes(measured.bytes),
            shown(&|expected| words::bytes(expected.bytes)),
            match point.outcome.not_done {
                0 => String::new(),
                tasks => format!("  {} not done", words::count_many(tasks, "task")),
            },
        );
    }
}

fn as_json(flow: &Workflow, points: &[Point]) -> Value {
    let brought = |brought: Expected| json!({"misses": brought.misses, "bytes": brought.bytes});
    let rows = points.iter().map(|point| {
        json!({
            "cache_bytes": point.cache,
            "makespan_ns": point.outcome.makespan.as_nanos() as u64,
            "measured": brought(point.measured()),
            "predicted": point.predicted.map(brought),
            "not_done": point.outcome.not_done,
        })
    });
    json!({
        "workflow": flow.title(),
        "simulated": true,
        "tasks": flow.task_count(),
        "caches": rows.collect::<Vec<_>>(),
    })
}

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 320.0;
const LEFT: f64 = 76.0;
const RIGHT: f64 = 24.0;
const TOP: f64 = 56.0;
const BOTTOM: f64 = 44.0;

/// The curve, with steps across that are factors of two.
fn svg(title: &str, points: &[Point]) -> String {
    let most = points.iter().flat_map(|point| [Some(point.measured()), point.predicted]).flatten();
    let most = most.map(|brought| brought.bytes).max().unwrap_or(0).max(1) as f64;
    let (first, last) = (points[0].cache as f64, points[points.len() - 1].cache as f64);
    let across = |cache: u64| LEFT + (WIDTH - LEFT - RIGHT) * (cache as f64 / first).ln() / (last / first).ln();
    let upwards = |bytes: u64| HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * bytes as f64 / most;
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" font-family=\"system-ui, sans-serif\" \
         font-size=\"12\" fill=\"#57606a\"><rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\
         <text x=\"16\" y=\"22\" font-size=\"15\" fill=\"#1f2328\">{}: what has to be brought, by room for data</text>\n",
        escape_xml(title)
    );
    for part in 0..=4 {
        let bytes = (most * f64::from(part) / 4.0) as u64;
        let y = upwards(bytes);
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" x2=\"{:.1}\" y1=\"{y:.1}\" y2=\"{y:.1}\" stroke=\"#d8dee4\"/>\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 8.0,
            y + 4.0,
            words::bytes(bytes)
        );
    }
    for point in points {
        let x = across(point.cache);
        let label = words::bytes(point.cache);
        let _ = writeln!(out, "<text x=\"{x:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{label}</text>", HEIGHT - 22.0);
    }
    let measured: Vec<(u64, Expected)> = points.iter().map(|point| (point.cache, point.measured())).collect();
    let expected = points.iter().filter_map(|point| Some((point.cache, point.predicted?))).collect();
    let lines =
        [("simulated", "#3b66c9", "", measured), ("expected", "#d9822b", " stroke-dasharray=\"5 4\"", expected)];
    for (number, (name, colour, dashes, line)) in lines.into_iter().enumerate() {
        let mut path = String::new();
        for (cache, brought) in &line {
            let begin = if path.is_empty() { 'M' } else { 'L' };
            let (x, y) = (across(*cache), upwards(brought.bytes));
            let _ = write!(path, "{begin}{x:.1} {y:.1}");
            let told = format!("{name}: {} at {}", words::bytes(brought.bytes), words::bytes(*cache));
            let _ = writeln!(
                out,
                "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"3.2\" fill=\"{colour}\"><title>{told}</title></circle>"
            );
        }
        let legend = LEFT + 120.0 * number as f64;
        let _ = writeln!(
            out,
            "<path d=\"{path}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>\
             <line x1=\"{legend}\" x2=\"{:.1}\" y1=\"42\" y2=\"42\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>\
             <text x=\"{:.1}\" y=\"46\">{name}</text>",
            legend + 24.0,
            legend + 30.0
        );
    }
    out.push_str("</svg>\n");
    out
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    #[test]
    fn sizes_as_written() {
        assert_eq!(sizes("8GB"), Ok(Sizes::one(8_000_000_000)));
        assert_eq!(sizes("1GB..6GB").unwrap().all(), [1, 2, 4, 6].map(|gigabytes| gigabytes * 1_000_000_000));
        assert_eq!(sizes("1MB .. 4MB").unwrap().all(), [1, 2, 4].map(|megabytes| megabytes * 1_000_000));
        for wrong in ["", "1GB..", "2GB..1GB", "1GB..1GB", "0B..1GB", "many"] {
            assert!(sizes(wrong).is_err(), "{wrong}");
        }
    }
}
