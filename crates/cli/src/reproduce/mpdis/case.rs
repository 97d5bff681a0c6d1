//! A run on the machine of the paper.

use std::sync::Arc;

use serde_json::{Value, json};
use throng_core::locality::{Brought, Knowledge};
use throng_core::policy::Policy;
use throng_core::predict::{self, Machine, Model};
use throng_core::workflow::Workflow;

use super::super::repeated::Ending;
use super::super::runner::{Job, Recipe};
use super::super::setting::Setting;
use super::{B1, Place, Way};
use crate::exit::Failure;

/// What the cache holds, as published.
const CACHE_BYTES: u64 = 20_000_000_000;
/// What a unit loads in a second: a tenth of what `dag1` computes on in that time, which is the ratio of the paper's first example.
const LOAD_BYTES_PER_SECOND: u64 = 100_000_000;
/// As many steps as a search wants.
const UNBOUNDED: u64 = u64::MAX;

/// A run.
pub struct Case {
    label: String,
    recipe: Recipe,
    order: Policy,
    eviction: &'static str,
    machine: Machine,
    seed: u64,
    raw_is_free: bool,
}

impl Case {
    pub(super) fn new(place: &Place, way: &Way, setting: &Setting) -> Case {
        let mut order: Policy = way.order.parse().expect("ways name policies as they are written");
        // Searches among a hundred tasks or so end by themselves, but some only after seconds.
        if matches!(order.name.as_str(), "ps" | "gcs") && !setting.quick && place.is_searched_through {
            order.parameters.push(("steps".to_owned(), UNBOUNDED.to_string()));
        }
        Case {
            label: place.label(way),
            recipe: place.recipe.clone(),
            order,
            eviction: way.eviction,
            machine: Machine { units: place.units, cache: CACHE_BYTES },
            seed: setting.seed,
            raw_is_free: place.raw_is_free,
        }
    }
}

impl Job for Case {
    type Outcome = Figures;

    fn label(&self) -> &str {
        &self.label
    }

    fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    fn run(&self, flow: &Arc<Workflow>) -> Result<Figures, Failure> {
        let known = Knowledge::of(flow, &Brought::All);
        let model = Model::of(&known, LOAD_BYTES_PER_SECOND);
        let raw_ns: u128 = model.tasks().map(|task| u128::from(model.outside(task))).sum();
        let model = if self.raw_is_free { model.without_outside() } else { model };
        let eviction = Policy { name: self.eviction.to_owned(), parameters: Vec::new() };
        let outcome = predict::by_name(&self.order, &eviction, &known, &model, self.machine, self.seed);
        let outcome =
            outcome.map_err(|error| Failure::internal(error, "this is a bug in an experiment: please report it"))?;
        Ok(Figures {
            is_whole: outcome.tasks.len() == flow.task_count(),
            makespan_ns: outcome.makespan,
            least_ns: model.least_time(self.machine.units),
            loaded_bytes: outcome.missed_bytes,
            raw_bytes: raw_ns * u128::from(LOAD_BYTES_PER_SECOND) / 1_000_000_000,
            misses: outcome.misses,
            hits: outcome.hits,
            idle_share: outcome.idle as f64 / (outcome.makespan as f64 * self.machine.units as f64).max(1.0),
        })
    }

    fn as_json(&self, figures: &Figures) -> Value {
        json!({
            "run": self.label,
            "order": self.order.to_string(),
            "eviction": self.eviction,
            "seed": (self.order.name == B1.order).then_some(self.seed),
            "machine": {
                "units": self.machine.units,
                "cache_bytes": self.machine.cache,
                "load_bytes_per_s": LOAD_BYTES_PER_SECOND,
                "raw_is_free": self.raw_is_free,
            },
            "result": {
                "makespan_s": figures.makespan_s(),
                "least_makespan_s": figures.least_s(),
                "loaded_bytes": figures.loaded_bytes as u64,
                "raw_bytes": figures.raw_bytes as u64,
                "misses": figures.misses,
                "hits": figures.hits,
                "idle_share": figures.idle_share,
            },
        })
    }
}

/// What came out of a run.
pub struct Figures {
    is_whole: bool,
    makespan_ns: u64,
    least_ns: u64,
    loaded_bytes: u128,
    raw_bytes: u128,
    misses: u64,
    hits: u64,
    /// The part of their time in which units did nothing.
    pub idle_share: f64,
}

impl Figures {
    /// How long it took.
    pub fn makespan_s(&self) -> f64 {
        self.makespan_ns as f64 / 1e9
    }

    /// What no order could have undercut.
    pub fn least_s(&self) -> f64 {
        self.least_ns as f64 / 1e9
    }

    /// What had been made and was loaded because it was not in the cache any more, in gigabytes.
    pub fn loaded_gb(&self) -> f64 {
        self.loaded_bytes as f64 / 1e9
    }

    /// The same, and the raw data of the first tasks, which everybody loads.
    pub fn all_loaded_gb(&self) -> f64 {
        (self.loaded_bytes + self.raw_bytes) as f64 / 1e9
    }
}

impl Ending for Figures {
    fn is_stuck(&self) -> bool {
        !self.is_whole
    }
}
