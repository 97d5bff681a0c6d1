//! Image stacking (figure 5): many tasks cut patches out of fewer images. How long does a core need for a task, whatever the locality?

use throng_sim::generate::LOCALITIES;
use throng_sim::{Cluster, Inputs};

use super::super::chart::{Chart, Line};
use super::super::runner::{Case, Recipe, Results};
use super::super::section::{Section, Table};
use super::{Setting, cell, cluster, curve, milliseconds, percent, shape};

/// Cores in all: what data diffusion was published for, and all there were.
const CORES: [u32; 2] = [128, 200];
/// Tasks that read from the shared file system: it is equally slow for each, so that these tell enough.
const UNCACHED_TASKS: u64 = 4_000;
/// No quick workload has more tasks.
const QUICK_TASKS: u64 = 8_000;

/// How it is scheduled: a name, a policy, and where images lie.
const WAYS: [(&str, &str, Inputs); 3] = [
    ("MATRIX, images scattered", "mdl", Inputs::Scattered),
    ("MATRIX, images spread", "mdl", Inputs::Spread),
    ("data diffusion", "central", Inputs::Shared),
];

/// Localities that are tried, with their numbers of tasks and images.
fn localities(setting: &Setting) -> Vec<(&'static str, u64, u64)> {
    if !setting.quick {
        return LOCALITIES.to_vec();
    }
    let chosen = LOCALITIES.iter().filter(|(name, _, _)| ["1", "5", "30"].contains(name));
    let smaller = |(name, tasks, files): &(&'static str, u64, u64)| {
        let tasks_now = QUICK_TASKS.min(*tasks);
        (*name, tasks_now, (files * tasks_now / tasks).max(1))
    };
    chosen.map(smaller).collect()
}

/// Every task reads an image of its own from the shared file system: that is what it means not to cache.
fn uncached(megabytes: u64) -> Recipe {
    let text = format!(
        "name: image stacking without caching
tasks:
  cut:
    foreach: {{ i: 1..{UNCACHED_TASKS} }}
    sleep: 158ms
    in: [{{ path: 'images/{{i}}', size: {megabytes}MB }}]
    out: [{{ path: 'cut/{{i}}', size: 10kB, optional: true }}]
"
    );
    Recipe::Text(text, UNCACHED_TASKS)
}

fn label(way: &str, cores: u32, locality: &str) -> String {
    format!("{way}, {cores} cores, locality {locality}")
}

fn uncached_label(megabytes: u64, cores: u32) -> String {
    format!("shared file system, {megabytes} MB, {cores} cores")
}

pub(super) fn cases(setting: &Setting) -> Vec<Case> {
    let mut cases = Vec::new();
    for (locality, tasks, files) in localities(setting) {
        let options = [("tasks", tasks.to_string()), ("files", files.to_string()), ("no-stack", String::new())];
        let recipe = shape(setting, "image-stacking", &options);
        for cores in CORES {
            for (way, place, inputs) in WAYS {
                cases.push(Case {
                    label: label(way, cores, locality),
                    recipe: recipe.clone(),
                    cluster: Cluster { inputs, ..cluster(setting, cores, place) },
                    wants_curve: cores == 200 && locality == "30",
                });
            }
        }
    }
    for megabytes in [2, 6] {
        for cores in CORES {
            cases.push(Case {
                label: uncached_label(megabytes, cores),
                recipe: uncached(megabytes),
                cluster: Cluster { inputs: Inputs::Shared, ..cluster(setting, cores, "mlb") },
                wants_curve: false,
            });
        }
    }
    cases
}

pub(super) fn tell(setting: &Setting, results: &Results) -> Section {
    let mut tables: Vec<Table> = CORES.iter().map(|cores| times(setting, results, *cores)).collect();
    tables.push(use_of_cores(results));
    Section {
        title: "Image stacking",
        about: "Each task reads an image of 2 MB, takes 158 ms and writes 10 kB; an image is read by as many tasks as the locality says. \
                MATRIX holds the images in the memory of its nodes and never moves a task away from its data (MDL). Data diffusion reads \
                images from a shared file system when they are first needed and keeps them; one scheduler sees all. The last two \
                read from the shared file system each time, 2 MB compressed or 6 MB not. Ideal is 158 ms of a core for each task."
            .to_owned(),
        tables,
        charts: charts(setting, results),
        assumptions: [
            "The shared file system delivers 1 GB/s in all; the paper does not say. Where tasks read from it each time, that alone decides: \
             2 MB for each of 128 cores take 256 ms.",
            "Not to cache is modelled as an image for each task, so that nothing can be found again. The time is the same for every locality.",
            "The paper says once that images were distributed at random and once that they were distributed uniformly. Both are shown: scattered \
             by chance, and spread evenly.",
            "The published clock also runs while images are copied to the nodes. Ours does not: at 1 GB/s that copy alone would cost 256 ms a \
             task on 128 cores at locality 1, so that the published 158 ms need a far faster file system, or not all of it was clocked.",
            "In which order tasks name images is not published: here all images are gone through, again and again. The task that gathers \
             all patches in the end is left out.",
        ]
        .map(str::to_owned)
        .to_vec(),
        differences: [
            "Scattered images leave some nodes with more work than others, and MDL lets nobody help: the fewer images there are, the \
             more that matters, so locality 30 is the worst. With images spread evenly there is no such tail. The published 75 % lie between the two.",
            "Data diffusion comes near the ideal with growing locality, as published; at low locality it is as slow as its file system.",
        ]
        .map(str::to_owned)
        .to_vec(),
    }
}

fn times(setting: &Setting, results: &Results, cores: u32) -> Table {
    let mut head = vec!["locality", "published MATRIX"];
    head.extend(WAYS.iter().map(|(way, _, _)| *way));
    head.extend(["file system, 2 MB", "file system, 6 MB"]);
    let mut table = Table::new(format!("Time of a core for each task, {cores} cores"), &head);
    for (locality, _, _) in localities(setting) {
        let time = |label: String| cell(results.get(&label), |outcome| milliseconds(outcome.seconds_per_task()));
        let published = if cores == 128 { "near 158 ms" } else { "-" };
        let mut row = vec![locality.to_owned(), published.to_owned()];
        row.extend(WAYS.iter().map(|(way, _, _)| time(label(way, cores, locality))));
        row.extend([2, 6].map(|megabytes| time(uncached_label(megabytes, cores))));
        table.rows.push(row);
    }
    table
}

fn use_of_cores(results: &Results) -> Table {
    let mut table = Table::new("Use of 200 cores at locality 30", &["", "published", "utilisation", "makespan"]);
    for (way, _, _) in WAYS {
        let outcome = results.get(&label(way, 200, "30"));
        let published = if way == WAYS[0].0 { "75 %" } else { "-" };
        let makespan = cell(outcome, |outcome| format!("{:.1} s", outcome.makespan.as_secs_f64()));
        table.rows.push(vec![
            way.to_owned(),
            published.to_owned(),
            cell(outcome, |outcome| percent(outcome.utilisation())),
            makespan,
        ]);
    }
    table
}

fn charts(setting: &Setting, results: &Results) -> Vec<Chart> {
    let localities = localities(setting);
    let number = |locality: &str| locality.parse::<f64>().unwrap_or(1.0);
    let line = |name: &str, label: &dyn Fn(&str) -> String| {
        let point = |(locality, _, _): &(&str, u64, u64)| {
            (number(locality), results.get(&label(locality)).seconds_per_task() * 1e3)
        };
        Line::ours(name, localities.iter().map(point).collect())
    };
    let mut lines: Vec<Line> =
        WAYS.iter().map(|(way, _, _)| line(way, &|locality| label(way, 128, locality))).collect();
    for megabytes in [2, 6] {
        lines.push(line(&format!("file system, {megabytes} MB"), &|_| uncached_label(megabytes, 128)));
    }
    lines.push(Line::published("ideal, and published for MATRIX", vec![(1.0, 158.0), (30.0, 158.0)]));
    let busy = WAYS.iter().map(|(way, _, _)| Line::ours(*way, curve(results.get(&label(way, 200, "30")))));
    vec![
        Chart {
            title: "Time of a core for each task, 128 cores".to_owned(),
            across: "locality",
            upwards: "ms",
            is_logarithmic: true,
            is_steep: false,
            lines,
        },
        Chart {
            title: "Busy cores, locality 30, 200 cores".to_owned(),
            across: "seconds",
            upwards: "percent",
            is_logarithmic: false,
            is_steep: false,
            lines: busy.collect(),
        },
    ]
}
