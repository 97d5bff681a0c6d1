//! Table 3: does the order matter more or less when there are more units?

use super::super::section::{Section, Table};
use super::gaps::{Gaps, OTHERS};
use super::{B1, Case, LARGEST, MOST_UNITS, OWN, Place, Results, SMALLEST, Setting, UNITS, Way, points};

const PUBLISHED: [&str; 4] = ["1.95×", "1.83×", "1.84×", "1.72×"];

fn units(setting: &Setting) -> impl Iterator<Item = (usize, &'static str)> {
    let is_wanted = move |units: usize| !setting.quick || units == 1 || units == MOST_UNITS;
    UNITS.into_iter().zip(PUBLISHED).filter(move |(units, _)| is_wanted(*units))
}

pub(super) fn cases(setting: &Setting) -> Vec<Case> {
    let ways: Vec<Way> = [B1].into_iter().chain(OTHERS).chain(OWN).collect();
    let places = units(setting).flat_map(|(units, _)| [SMALLEST, LARGEST].map(|size| Place::dag("dag1", size, units)));
    places.flat_map(|place| place.cases(setting, &ways)).collect()
}

pub(super) fn tell(setting: &Setting, results: &Results) -> Section {
    Section {
        title: "DAG1 on one to eight units",
        about: format!(
            "Table 3 of the paper: how many times as long B1, which picks by chance, takes as OG, with {SMALLEST} GB of inputs. The other orders stand beside it, and \
             the same with {LARGEST} GB."
        ),
        tables: vec![table(setting, results, SMALLEST), table(setting, results, LARGEST)],
        charts: Vec::new(),
        assumptions: points([
            "Sizes. Published is that the inputs of all tasks together are 120 GB, and that tasks of the first level read ten times as much as others. Here all tasks \
             write the same amount; so at 120 GB a first task reads 6.7 GB that nobody else reads, and every output has 0.35 GB.",
            "Raw data does not go through the cache: the contents that the paper's fifth example shows need that, and no other task would read it.",
            "Times. The paper has cold and hot runtimes that follow from the size of the input, without figures. In its first example loading takes ten times as long as \
             computing, hence 10 s and 1 s for each gigabyte. Units do not disturb each other.",
            "A task reads its inputs one after the other when it starts, and what it makes is in the cache when it ends. A file that a unit begins to load counts as being in the cache: \
             whoever reads it meanwhile does not wait, as in a simulation that keeps nothing but a list of names.",
            "How often B1 was run is not published.",
        ]),
        differences: points([
            "With these sizes, all 63 outputs together have 21.9 GB, so that next to nothing has to leave a cache of 20 GB, and no order loads less than another. A gap of 1.95× on one unit \
             would mean that B1 spends half of its time on loading what OG finds in the cache: files that are read again would have to be much larger, or the cache smaller.",
            "At 840 GB, eight outputs fill the cache. But 72 % of all inputs are the raw data of the first tasks, which everybody has to load. An order that found everything else in the \
             cache would gain what the column \"at most\" says; so with these sizes no order whatever reaches the published 2.3×.",
            "PS is among the best on one unit, where it never waits, and the worst on eight: see the section on data sizes.",
        ]),
    }
}

fn table(setting: &Setting, results: &Results, size: u64) -> Table {
    let is_published = size == SMALLEST;
    let rows = units(setting).map(|(units, published)| {
        let mut row = vec![units.to_string()];
        row.extend(is_published.then(|| published.to_owned()));
        (row, Place::dag("dag1", size, units))
    });
    let caption = format!("Time of B1 divided by that of others, {size} GB");
    let first: &[&str] = if is_published { &["units", "published B1 / OG"] } else { &["units"] };
    let loaded = Some(["loaded again, B1", "loaded again, OG"]);
    Gaps { caption, first, others: &OTHERS, loaded }.table(results, rows)
}
