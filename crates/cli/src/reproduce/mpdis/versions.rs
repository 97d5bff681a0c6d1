//! The larger versions of DAG1, of which the paper says how much faster OG is than B1.

use super::super::chart::{Chart, Line};
use super::super::section::{Section, Table};
use super::case::Figures;
use super::gaps::{Gaps, OTHERS};
use super::{ALONE, B1, B2, Case, GCS, LARGEST, MOST_UNITS, OG, OWN, Place, Results, Setting, Way, points};

/// All versions, with the gap between B1 and OG at which the paper sees them settle.
const VERSIONS: [(&str, f64); 6] =
    [("dag1", 2.3), ("dag1-v2", 3.1), ("dag1-v3", 2.9), ("dag1-v4", 3.2), ("dag1-v5", 4.5), ("dag1-v6", 4.3)];
/// The same where raw data is free: PS and GCS take seconds, and are told above.
const FEW: [Way; 2] = [OG, B2];

fn versions(setting: &Setting) -> impl Iterator<Item = (&'static str, f64)> {
    let is_quick = setting.quick;
    VERSIONS.into_iter().filter(move |(name, _)| !is_quick || ["dag1", "dag1-v2", "dag1-v5"].contains(name))
}

/// With one unit there is only the cache; with eight there is waiting, too. A quick version has the latter.
fn units(setting: &Setting) -> &'static [usize] {
    if setting.quick { &[MOST_UNITS] } else { &[MOST_UNITS, ALONE] }
}

fn free(place: Place) -> Place {
    Place { raw_is_free: true, ..place }
}

pub(super) fn cases(setting: &Setting) -> Vec<Case> {
    let with = |others: &[Way]| [&[B1], others, &OWN].concat();
    let mut cases = Vec::new();
    for (name, _) in versions(setting) {
        for units in units(setting) {
            let place = Place::dag(name, LARGEST, *units);
            cases.extend(place.cases(setting, &with(&OTHERS)));
            cases.extend(free(place).cases(setting, &with(&FEW)));
        }
    }
    cases
}

pub(super) fn tell(setting: &Setting, results: &Results) -> Section {
    let reconstructed = units(setting).iter().map(|units| {
        let caption = format!("Time of B1 divided by that of others, {LARGEST} GB, units: {units}");
        table(setting, results, caption, &OTHERS, |name| Place::dag(name, LARGEST, *units))
    });
    let raw_is_free = units(setting).iter().map(|units| {
        let caption = format!("The same if the raw data of the first tasks were loaded in no time, units: {units}");
        table(setting, results, caption, &FEW, |name| free(Place::dag(name, LARGEST, *units)))
    });
    Section {
        title: "Larger versions of DAG1",
        about: format!(
            "The paper's third observation: by how much OG is ahead of B1 on DAG1 and five larger versions of it when there is much data; here {LARGEST} GB of inputs. The \
             second half is a question of our own: what if raw data cost nothing?"
        ),
        tables: reconstructed.chain(raw_is_free).collect(),
        charts: units(setting).iter().map(|units| chart(setting, results, *units)).collect(),
        assumptions: points([
            "Published of the larger versions are the numbers of tasks and edges and a sentence each. Which edges there are is reconstructed, and so are their sizes: all tasks write \
             the same amount, and the 13 first tasks read ten times the mean of others. The manual says of each what is whose (reference, benchmark workflows).",
            "At which amount of data the gaps were taken is not published: here at the largest.",
        ]),
        differences: differences(setting),
    }
}

fn differences(setting: &Setting) -> Vec<String> {
    if setting.quick {
        return points([
            "Three of six graphs, and only on eight units, where chance is the larger part of every gap: the full version tells more.",
        ]);
    }
    points([
        "On one unit the gaps grow with the graph as published: least for DAG1, most for v5 and then v6. But they are 1.06× to 1.22× instead of 2.3× to 4.5×; and on eight units 1.01× to \
             1.12×, of which chance may be the larger part.",
        "The more tasks there are, the smaller the part of the raw data, and the more an order can gain (\"at most\"). On one unit no order could be more than 1.2 to 1.6 \
             times as fast as B1, since it has to load the raw data and to compute. On eight units, part of \"at most\" is that no schedule keeps all of them busy.",
        "If raw data cost nothing, orders could gain what was published, and still do not: OG reaches 1.3× to 1.65× on one unit, and Throng's own order with an informed cache 1.7× to 2.75×. So \
             the missing sizes of the raw data are only half of an answer; the other half has to be in the graph, in files of different sizes, or in how OG breaks ties, which \
             the paper does not say.",
        "B2 is ahead of OG on v3 and v6 with eight units: these have a path that is twice as long as any other, and B2 begins with it.",
    ])
}

fn table(
    setting: &Setting,
    results: &Results,
    caption: String,
    others: &[Way],
    place: impl Fn(&'static str) -> Place,
) -> Table {
    let rows =
        versions(setting).map(|(name, published)| (vec![name.to_owned(), format!("{published:.1}×")], place(name)));
    Gaps { caption, first: &["", "published B1 / OG"], others, loaded: None }.table(results, rows)
}

/// The versions are not numbers, but stand in a row.
fn chart(setting: &Setting, results: &Results, units: usize) -> Chart {
    let line = |way: &Way| {
        let point = |(number, (name, _)): (usize, (&'static str, f64))| {
            let place = Place::dag(name, LARGEST, units);
            let of = |way: &Way| place.mean(results, way, Figures::makespan_s);
            ((number + 1) as f64, of(&B1) / of(way))
        };
        Line::ours(way.name, versions(setting).enumerate().map(point).collect())
    };
    let mut lines: Vec<Line> = [OG, GCS, B2].iter().chain(&OWN[..2]).map(line).collect();
    let published = versions(setting).enumerate().map(|(number, (_, gap))| ((number + 1) as f64, gap));
    lines.push(Line::published("published, OG", published.collect()));
    let what = if units == 1 { "one unit".to_owned() } else { format!("{units} units") };
    Chart {
        title: format!("Speed beside B1, {what}"),
        across: "graph, as in the table",
        upwards: "times B1",
        is_logarithmic: false,
        is_steep: false,
        lines,
    }
}
