//! The simulations of Meng and Golab (*Parallel Scheduling of Data-Intensive Tasks*, 2020), one file each: units that share a cache in front of
//! slow storage, and orders that try to find in it what they need.
//!
//! These run on [`throng_core::predict`], the machine that the paper describes, and not on a modelled cluster: there is no network, and a
//! unit waits while it loads.

mod case;
mod data_sizes;
mod gaps;
mod pipelines;
mod threads;
mod traffic;
mod versions;

use self::case::{Case, Figures};
use super::publication::{Experiment, Publication};
use super::repeated::Figure;
use super::runner::{self, Recipe};
use super::section::points;
use super::setting::Setting;

/// What came out of the runs of an experiment.
type Results = runner::Results<Case>;

/// The publication.
pub const MPDIS: Publication<Case> = Publication {
    name: "mpdis",
    title: "The simulations of MPDIS, reproduced",
    about: "Meng and Golab's simulations of data-intensive tasks on the machine that they describe: units that share one cache of 20\u{a0}GB, \
            which drops what was used longest ago, in front of storage that has everything. Loading a gigabyte takes a unit 10\u{a0}s, computing on it \
            1\u{a0}s. The graphs are reconstructed: their picture and the sizes of single files are not published. What leaves anything to chance \
            is the mean of several runs",
    beside: "Rows and columns that begin with Throng are not in the paper: orders of Throng's own on the same machine, with a cache that drops what was used \
             longest ago (LRU), or one that is informed of who still needs what. The paper's orders go by stack distance (SD) or total maximum \
             bandwidth (TMB), weighted by size (WSD, WTMB). \"At most\" is what no order could surpass: the time of B1 divided by the \
             least that any order takes if it finds in the cache whatever has been made.",
    quick: "fewer graphs, sizes and runs of what is left to chance, and less search for PS and GCS",
    experiments: &[
        Experiment { name: "threads", only_if_named: false, cases: threads::cases, tell: threads::tell },
        Experiment { name: "data-sizes", only_if_named: false, cases: data_sizes::cases, tell: data_sizes::tell },
        Experiment { name: "traffic", only_if_named: false, cases: traffic::cases, tell: traffic::tell },
        Experiment { name: "versions", only_if_named: false, cases: versions::cases, tell: versions::tell },
        Experiment { name: "pipelines", only_if_named: false, cases: pipelines::cases, tell: pipelines::tell },
    ],
};

/// Runs of what is left to chance, from whose mean a single one differs by some percent.
pub const SEEDS: u64 = 30;
/// The same, when it has to be quick.
pub const QUICK_SEEDS: u64 = 10;

/// How tasks are ordered and what leaves the cache.
#[derive(Clone, Copy)]
struct Way {
    name: &'static str,
    order: &'static str,
    eviction: &'static str,
}

const fn way(name: &'static str, order: &'static str, eviction: &'static str) -> Way {
    Way { name, order, eviction }
}

const B1: Way = way("B1: random", "random", "lru");
const B2: Way = way("B2: HEFT", "heft", "lru");
const PS: Way = way("PS (WSD)", "ps:metric=wsd", "lru");
const OG: Way = way("OG (WSD)", "og:metric=wsd", "lru");
const GCS: Way = way("GCS (WSD)", "gcs:metric=wsd", "lru");

/// The bars of figure 6, and GCS by the other measure, which the paper leaves out because it was worse.
const PUBLISHED: [Way; 8] = [
    B1,
    B2,
    PS,
    way("PS (WTMB)", "ps:metric=wtmb", "lru"),
    OG,
    way("OG (WTMB)", "og:metric=wtmb", "lru"),
    GCS,
    way("GCS (WTMB)", "gcs:metric=wtmb", "lru"),
];

/// What the paper does not have. The last in, the first out is not meant to be clever, but it is hard to beat on a cache.
const OWN: [Way; 3] = [
    way("Throng (aware, LRU)", "aware", "lru"),
    way("Throng (aware, informed)", "aware", "aware"),
    way("Throng (lifo, LRU)", "lifo", "lru"),
];

/// The data sizes of figure 6, in gigabytes.
const SIZES: [u64; 5] = [120, 240, 480, 600, 840];
const SMALLEST: u64 = SIZES[0];
const LARGEST: u64 = SIZES[4];
/// The units of table 3. The paper does not say how many figure 6 and table 4 have: here, the most.
const UNITS: [usize; 4] = [1, 2, 4, 8];
const ALONE: usize = UNITS[0];
const MOST_UNITS: usize = UNITS[3];

fn sizes(setting: &Setting) -> &'static [u64] {
    if setting.quick { &[120, 480, 840] } else { &SIZES }
}

/// A version of DAG1 whose inputs are so many gigabytes in all.
fn dag(name: &'static str, gigabytes: u64) -> Recipe {
    shape(name, &[("total", format!("{gigabytes}GB"))])
}

/// A workflow in which nothing is drawn.
fn shape(name: &'static str, options: &[(&'static str, String)]) -> Recipe {
    Recipe::Shape { name, options: options.to_vec(), seed: 1, means: false, estimates: false }
}

/// Where something is run: a workflow by the name that it has in labels, and how many units there are.
#[derive(Clone)]
struct Place {
    workload: String,
    recipe: Recipe,
    units: usize,
    /// Whether loading raw data takes no time.
    raw_is_free: bool,
    /// Whether searches may take as many steps as they want, unless it has to be quick.
    is_searched_through: bool,
}

impl Place {
    fn dag(name: &'static str, gigabytes: u64, units: usize) -> Place {
        let workload = format!("{name}, {gigabytes} GB");
        Place { workload, recipe: dag(name, gigabytes), units, raw_is_free: false, is_searched_through: true }
    }

    fn label(&self, way: &Way) -> String {
        let free = if self.raw_is_free { ", raw data for nothing" } else { "" };
        let units = if self.units == 1 { "1 unit".to_owned() } else { format!("{} units", self.units) };
        format!("{}{free}, {units}, {}", self.workload, way.name)
    }

    /// The runs of some ways here. What leaves nothing to chance is run for the first seed only.
    fn cases(&self, setting: &Setting, ways: &[Way]) -> Vec<Case> {
        let ways = ways.iter().filter(|way| way.order == B1.order || !setting.is_again);
        ways.map(|way| Case::new(self, way, setting)).collect()
    }

    fn figure(&self, results: &Results, way: &Way, figure: impl Fn(&Figures) -> f64) -> Figure {
        results.get(&self.label(way)).figure(figure)
    }

    fn mean(&self, results: &Results, way: &Way, figure: impl Fn(&Figures) -> f64) -> f64 {
        results.get(&self.label(way)).mean(figure)
    }

    /// How many times as long B1 takes.
    fn gap(&self, results: &Results, way: &Way) -> Figure {
        let times = [&B1, way].map(|way| self.figure(results, way, Figures::makespan_s));
        Figure::together(&times, |times| times[0] / times[1])
    }

    /// How many times as long B1 takes as the best that there could be.
    fn most(&self, results: &Results) -> Figure {
        self.figure(results, &B1, |run| run.makespan_s() / run.least_s())
    }
}

fn times(factor: f64) -> String {
    format!("{factor:.2}×")
}

fn seconds(seconds: f64) -> String {
    format!("{seconds:.0} s")
}

fn gigabytes(bytes: f64) -> String {
    format!("{bytes:.0} GB")
}

fn percent(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}

/// Heads of columns, for which a table wants parts of texts.
fn heads<'a>(first: &[&'a str], ways: impl IntoIterator<Item = &'a Way>) -> Vec<&'a str> {
    first.iter().copied().chain(ways.into_iter().map(|way| way.name)).collect()
}
