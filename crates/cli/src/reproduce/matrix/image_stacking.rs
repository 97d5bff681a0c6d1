//! Image stacking (figure 5): many tasks cut patches out of fewer images. How long does a core need for a task, whatever the locality?

use throng_sim::generate::LOCALITIES;
use throng_sim::{Cluster, Inputs, Outcome};

use super::super::chart::{Chart, Line};
use super::super::runner::Recipe;
use super::super::section::{Section, Table};
use super::{Case, OWN, Results, Setting, cluster, curve, makespan, milliseconds, percent, seconds, shape};

/// Cores in all: what data diffusion was published for, and all there were.
const CORES: [u32; 2] = [128, 200];
/// Tasks that read from the shared file system: it is equally slow for each, so that these tell enough.
const UNCACHED_TASKS: u64 = 4_000;
/// No quick workload has more tasks.
const QUICK_TASKS: u64 = 8_000;

/// How it is scheduled: a name, a policy, and where images lie.
type Way = (&'static str, &'static str, Inputs);
const WAYS: [Way; 3] = [
    ("MATRIX, images scattered", "mdl", Inputs::Scattered),
    MATRIX_SPREAD,
    ("data diffusion", "central", Inputs::Shared),
];
const MATRIX_SPREAD: Way = ("MATRIX, images spread", "mdl", Inputs::Spread);
/// What stands beside it: Throng's own way.
const OWN_WAYS: [Way; 2] = [("Throng (fair, aware), images scattered", OWN.1, Inputs::Scattered), OWN_SPREAD];
const OWN_SPREAD: Way = ("Throng (fair, aware), images spread", OWN.1, Inputs::Spread);
/// What is also run with the task that gathers all patches, to show what that task costs, and at which localities.
const GATHERING: [Way; 2] = [MATRIX_SPREAD, OWN_SPREAD];
const GATHERING_LOCALITIES: [&str; 2] = ["1", "30"];

fn all_ways() -> impl Iterator<Item = Way> {
    WAYS.into_iter().chain(OWN_WAYS)
}

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

fn gathering_label(way: &str, cores: u32, locality: &str) -> String {
    format!("{}, gathering", label(way, cores, locality))
}

fn uncached_label(megabytes: u64, cores: u32) -> String {
    format!("shared file system, {megabytes} MB, {cores} cores")
}

pub(super) fn cases(setting: &Setting) -> Vec<Case> {
    let mut cases = Vec::new();
    for (locality, tasks, files) in localities(setting) {
        let options = [("tasks", tasks.to_string()), ("files", files.to_string()), ("no-stack", String::new())];
        let recipe = shape(setting, "image-stacking", &options);
        let with_gathering = shape(setting, "image-stacking", &options[..2]);
        for cores in CORES {
            let is_gathered = GATHERING_LOCALITIES.contains(&locality);
            for (way, place, inputs) in GATHERING.into_iter().filter(|_| is_gathered) {
                cases.push(Case {
                    label: gathering_label(way, cores, locality),
                    recipe: with_gathering.clone(),
                    cluster: Cluster { inputs, ..cluster(setting, cores, place) },
                    wants_curve: false,
                });
            }
            for (way, place, inputs) in all_ways() {
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
    tables.push(gathering(results));
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
            "In which order tasks name images is not published: here all images are gone through, again and again.",
            "The task that gathers all patches in the end is left out, but for the last table: the published times have no room for it. It waits for all others and \
             fetches 10 kB from each, 80 µs at 1 Gbit/s, while all other cores are idle: at least 10 ms of 128 cores' time for each task, and 16 ms of 200 cores'.",
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
    head.extend(OWN_WAYS.iter().map(|(way, _, _)| *way));
    let mut table = Table::new(format!("Time of a core for each task, {cores} cores"), &head);
    for (locality, _, _) in localities(setting) {
        let time = |label: String| results.get(&label).figure(Outcome::seconds_per_task).words(milliseconds);
        let published = if cores == 128 { "near 158 ms" } else { "-" };
        let mut row = vec![locality.to_owned(), published.to_owned()];
        row.extend(WAYS.iter().map(|(way, _, _)| time(label(way, cores, locality))));
        row.extend([2, 6].map(|megabytes| time(uncached_label(megabytes, cores))));
        row.extend(OWN_WAYS.iter().map(|(way, _, _)| time(label(way, cores, locality))));
        table.rows.push(row);
    }
    table
}

fn use_of_cores(results: &Results) -> Table {
    let head = ["", "published", "utilisation", "makespan", "of lower bound", "of analytic"];
    let mut table = Table::new("Use of 200 cores at locality 30", &head);
    for (way, _, _) in all_ways() {
        let runs = results.get(&label(way, 200, "30"));
        let published = if way == WAYS[0].0 { "75 %" } else { "-" };
        table.rows.push(vec![
            way.to_owned(),
            published.to_owned(),
            runs.figure(Outcome::utilisation).words(percent),
            runs.figure(makespan).words(seconds),
            runs.figure(Outcome::of_bound).words(percent),
            runs.figure(Outcome::of_analytic).words(percent),
        ]);
    }
    table
}

/// Times with the task that gathers. It begins when all others have ended, so whatever it takes is added to theirs.
fn gathering(results: &Results) -> Table {
    let mut head = vec!["locality", "cores"];
    head.extend(GATHERING.iter().map(|(way, _, _)| *way));
    let mut table = Table::new("Time of a core for each task, with the task that gathers all patches", &head);
    for locality in GATHERING_LOCALITIES {
        for cores in CORES {
            let time = |(way, _, _): &Way| {
                let runs = results.get(&gathering_label(way, cores, locality));
                runs.figure(Outcome::seconds_per_task).words(milliseconds)
            };
            let times = GATHERING.iter().map(time);
            table.rows.push([locality.to_owned(), cores.to_string()].into_iter().chain(times).collect());
        }
    }
    table
}

fn charts(setting: &Setting, results: &Results) -> Vec<Chart> {
    let localities = localities(setting);
    let number = |locality: &str| locality.parse::<f64>().unwrap_or(1.0);
    let line = |name: &str, label: &dyn Fn(&str) -> String| {
        let point = |(locality, _, _): &(&str, u64, u64)| {
            (number(locality), results.get(&label(locality)).mean(Outcome::seconds_per_task) * 1e3)
        };
        Line::ours(name, localities.iter().map(point).collect())
    };
    let mut lines: Vec<Line> = all_ways().map(|(way, _, _)| line(way, &|locality| label(way, 128, locality))).collect();
    for megabytes in [2, 6] {
        lines.push(line(&format!("file system, {megabytes} MB"), &|_| uncached_label(megabytes, 128)));
    }
    lines.push(Line::published("ideal, and published for MATRIX", vec![(1.0, 158.0), (30.0, 158.0)]));
    let busy = all_ways().map(|(way, _, _)| Line::ours(way, curve(results.get(&label(way, 200, "30")).first())));
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
