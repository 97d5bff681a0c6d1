//! Figure 6: all orders by how much data there is, from six times the cache to 42 times.

use super::super::chart::{Chart, Line};
use super::super::section::{Section, Table};
use super::case::Figures;
use super::{
    ALONE, B1, B2, Case, GCS, LARGEST, MOST_UNITS, OG, OWN, PS, PUBLISHED, Place, Results, Setting, Way, points,
    seconds, sizes, times, way,
};

/// At what figure 6 settles for OG and GCS.
const PUBLISHED_GAP: f64 = 2.3;

/// An order with each measure there is.
macro_rules! by_each_measure {
    ($name:literal, $order:literal) => {
        [
            way(concat!($name, " by sd"), concat!($order, ":metric=sd"), "lru"),
            way(concat!($name, " by wsd"), concat!($order, ":metric=wsd"), "lru"),
            way(concat!($name, " by tmb"), concat!($order, ":metric=tmb"), "lru"),
            way(concat!($name, " by wtmb"), concat!($order, ":metric=wtmb"), "lru"),
            way(concat!($name, " by lru"), concat!($order, ":metric=lru"), "lru"),
            way(concat!($name, " by wlru"), concat!($order, ":metric=wlru"), "lru"),
        ]
    };
}

const BY_MEASURE: [(&str, [Way; 6]); 3] = [
    ("PS", by_each_measure!("PS", "ps")),
    ("OG", by_each_measure!("OG", "og")),
    ("GCS", by_each_measure!("GCS", "gcs")),
];
/// Their names, in the same order.
const MEASURES: [&str; 6] = ["SD", "WSD", "TMB", "WTMB", "LRU distance", "weighted"];

/// With one unit there is only the cache; with eight there is waiting, too.
const TRIED_UNITS: [usize; 2] = [ALONE, MOST_UNITS];

pub(super) fn cases(setting: &Setting) -> Vec<Case> {
    let mut cases = Vec::new();
    for units in TRIED_UNITS {
        for size in sizes(setting) {
            let ways: Vec<Way> = PUBLISHED.into_iter().chain(OWN).collect();
            cases.extend(Place::dag("dag1", *size, units).cases(setting, &ways));
        }
        let largest = Place::dag("dag1", LARGEST, units);
        BY_MEASURE.iter().for_each(|(_, ways)| cases.extend(largest.cases(setting, ways)));
    }
    cases
}

pub(super) fn tell(setting: &Setting, results: &Results) -> Section {
    let tables = TRIED_UNITS.into_iter().rev().flat_map(|units| {
        [makespans(setting, results, units), gaps(setting, results, units), measures(results, units)]
    });
    Section {
        title: "DAG1 by the size of its data",
        about: format!(
            "Figure 6 of the paper: the time of each order when the inputs of all tasks are 120 to {LARGEST} GB. Of its bars no figures are published; the text says that OG and GCS settle at \
             about 2.3 times the speed of both baselines, and that PS lies between."
        ),
        tables: tables.collect(),
        charts: TRIED_UNITS.into_iter().rev().map(|units| chart(setting, results, units)).collect(),
        assumptions: points([
            "How many units figure 6 has is not published: here eight, the most of table 3, and one, on which nobody ever waits.",
            "Graph, sizes and times are those of the section on units.",
            "PS needs a serial order, for which the paper refers to earlier work: here the best of greedy orders from each first task, improved by moving single \
             tasks as long as that helps.",
            "LRU distance is the paper's prose taken literally: inputs in the order of their names, then outputs, all of which count. Its examples have another one, which is SD here.",
            "GCS tries the completion orders that differ from the order of starts by one exchange of neighbours; how completion orders are chosen is not published in detail.",
        ]),
        differences: points([
            "Both baselines are alike, as published. And how clever an order is matters more on one unit than on eight, as in table 3.",
            "OG gains a few percent instead of 2.3×. What the raw data leaves is little (\"at most\"), and of that OG gets a part. It counts what is read between two uses, so that a first task, \
             which reads nothing that was made, never looks as if it cost anything: OG begins all three applications before it comes back to the first one, whose files are gone by then.",
            "PS on eight units takes twice as long as B1, where the paper has it well before both baselines. It finds more in the cache than OG, but its units wait for tasks that are not \
             ready, and stand still for 60 % of the time; the published 12.8 % are hardly more than those of B1. A serial order that keeps data together finishes one thing before it begins the \
             next, and then the next tasks in line depend on each other. Their graph may have been wider where it mattered, or their PS less strict than the text.",
            "Measures: the paper has SD ahead of TMB by up to 15 %. Here they are within 7 % of each other, in both directions. All files that are read have the same size, \
             so that weights change nothing.",
            "GCS is ahead of OG on one unit, where it knows what will follow, and mostly not on eight: the latter as published.",
            "The plainest of orders, the last task that became ready first, does as well as any measure on one unit: it uses what was just made.",
        ]),
    }
}

fn in_words(units: usize) -> String {
    if units == 1 { "one unit".to_owned() } else { format!("{units} units") }
}

fn head(setting: &Setting, first: &str) -> Vec<String> {
    std::iter::once(first.to_owned()).chain(sizes(setting).iter().map(|size| format!("{size} GB"))).collect()
}

/// Ways down, sizes across, and between theirs and ours what bounds both.
fn by_size(
    setting: &Setting,
    caption: String,
    bound: (&str, &dyn Fn(&Place) -> String),
    units: usize,
    cell: impl Fn(&Place, &Way) -> String,
) -> Table {
    let head = head(setting, "");
    let mut table = Table::new(caption, &head.iter().map(String::as_str).collect::<Vec<_>>());
    let places: Vec<Place> = sizes(setting).iter().map(|size| Place::dag("dag1", *size, units)).collect();
    let row = |way: &Way| {
        let cells = places.iter().map(|place| cell(place, way));
        std::iter::once(way.name.to_owned()).chain(cells).collect::<Vec<_>>()
    };
    table.rows.extend(PUBLISHED.iter().map(row));
    table.rows.push(std::iter::once(bound.0.to_owned()).chain(places.iter().map(bound.1)).collect());
    table.rows.extend(OWN.iter().map(row));
    table
}

fn makespans(setting: &Setting, results: &Results, units: usize) -> Table {
    let least = |place: &Place| place.figure(results, &B2, Figures::least_s).words(seconds);
    let caption = format!("Time, {}", in_words(units));
    by_size(setting, caption, ("the least possible", &least), units, |place, way| {
        place.figure(results, way, Figures::makespan_s).words(seconds)
    })
}

fn gaps(setting: &Setting, results: &Results, units: usize) -> Table {
    let most = |place: &Place| place.most(results).words(times);
    let caption =
        format!("Time of B1 divided by that of others, {}; published: OG and GCS settle at 2.3×", in_words(units));
    let mut table =
        by_size(setting, caption, ("at most", &most), units, |place, way| place.gap(results, way).words(times));
    table.rows.retain(|row| row[0] != B1.name);
    table
}

fn measures(results: &Results, units: usize) -> Table {
    let caption = format!("Time of B1 divided by that of orders by each measure, {LARGEST} GB, {}", in_words(units));
    let mut table = Table::new(caption, &[&[""], &MEASURES[..]].concat());
    let place = Place::dag("dag1", LARGEST, units);
    for (name, ways) in BY_MEASURE {
        let cells = ways.iter().map(|way| place.gap(results, way).words(times));
        table.rows.push(std::iter::once(name.to_owned()).chain(cells).collect());
    }
    table
}

fn chart(setting: &Setting, results: &Results, units: usize) -> Chart {
    let line = |way: &Way| {
        let point = |size: &u64| {
            let place = Place::dag("dag1", *size, units);
            let of = |way: &Way| place.mean(results, way, Figures::makespan_s);
            (*size as f64, of(&B1) / of(way))
        };
        Line::ours(way.name, sizes(setting).iter().map(point).collect())
    };
    let mut lines: Vec<Line> = [B2, PS, OG, GCS].iter().chain(&OWN[..2]).map(line).collect();
    lines.push(Line::published("published, OG and GCS", vec![(480.0, PUBLISHED_GAP), (LARGEST as f64, PUBLISHED_GAP)]));
    Chart {
        title: format!("Speed beside B1, {}", in_words(units)),
        across: "gigabytes of inputs",
        upwards: "times B1",
        is_logarithmic: false,
        is_steep: false,
        lines,
    }
}
