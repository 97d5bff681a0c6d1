//! Table 4: what is loaded, and how long units have nothing to do.

use super::super::section::{Section, Table};
use super::case::Figures;
use super::{
    ALONE, Case, LARGEST, MOST_UNITS, OWN, PUBLISHED, Place, Results, Setting, Way, gigabytes, percent, points,
};

/// I/O and idle time of table 4, in the order of [`PUBLISHED`]. GCS is there by one measure only.
const TABLE_4: [(&str, &str); 8] = [
    ("1741 GB", "12.5 %"),
    ("1597 GB", "13.7 %"),
    ("1207 GB", "12.8 %"),
    ("1210 GB", "12.9 %"),
    ("921 GB", "7.9 %"),
    ("940 GB", "8.2 %"),
    ("930 GB", "8.0 %"),
    ("-", "-"),
];

pub(super) fn cases(setting: &Setting) -> Vec<Case> {
    let ways: Vec<Way> = PUBLISHED.into_iter().chain(OWN).collect();
    let places = [MOST_UNITS, ALONE].map(|units| Place::dag("dag1", LARGEST, units));
    places.iter().flat_map(|place| place.cases(setting, &ways)).collect()
}

pub(super) fn tell(_: &Setting, results: &Results) -> Section {
    let head = [
        "",
        "published I/O",
        "I/O",
        "of that, loaded again",
        "I/O, one unit",
        "of that, loaded again",
        "published idle",
        "idle",
    ];
    let mut table = Table::new(format!("I/O and idle time on {MOST_UNITS} units, {LARGEST} GB"), &head);
    let [many, one] = [MOST_UNITS, ALONE].map(|units| Place::dag("dag1", LARGEST, units));
    let unpublished = OWN.iter().map(|way| (way, ("-", "-")));
    for (way, (published_traffic, published_idle)) in PUBLISHED.iter().zip(TABLE_4).chain(unpublished) {
        let loaded = |place: &Place, figure: fn(&Figures) -> f64| place.figure(results, way, figure).words(gigabytes);
        table.rows.push(vec![
            way.name.to_owned(),
            published_traffic.to_owned(),
            loaded(&many, Figures::all_loaded_gb),
            loaded(&many, Figures::loaded_gb),
            loaded(&one, Figures::all_loaded_gb),
            loaded(&one, Figures::loaded_gb),
            published_idle.to_owned(),
            many.figure(results, way, |run| run.idle_share).words(percent),
        ]);
    }
    Section {
        title: "What is loaded, and who has nothing to do",
        about: format!(
            "Table 4 of the paper: DAG1 with {LARGEST} GB of inputs. I/O is all that is loaded: the raw data of the first tasks, once for every order, and what had been made but was not in \
             the cache any more."
        ),
        tables: vec![table],
        charts: Vec::new(),
        assumptions: points([
            "How many units table 4 has is not published: here eight.",
            "What the published I/O counts is not said. It is more than the 840 GB of all inputs for every order, although a task that misses everything loads just its inputs; so something else is in it, \
             perhaps what is written. Here only loading counts, and cannot exceed 840 GB.",
        ]),
        differences: points([
            "What can be compared is the order: the baselines load most, as published. OG loads less than they do, most clearly on one unit, but PS and GCS load less \
             than OG.",
            "PS loads little and waits much: its idle time is several times the published one, and that decides its speed.",
            "Units have nothing to do for a fifth of the time whatever the order: there are 13 first tasks of one length for eight units, so that three of these have little to do while the last five run.",
            "Published figures among themselves: if a task takes a time that grows no faster than what it loads, 1741 and 921 GB on units that are busy 87.5 % and 92.1 % of the time make a gap of \
             1.99× at most, not the 2.3× of figure 6. Perhaps the two do not have the same number of units.",
        ]),
    }
}
