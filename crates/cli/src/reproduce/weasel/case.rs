//! A run of a stage: on a modelled node, or for real.

use std::sync::Arc;

use serde_json::{Value, json};
use throng_core::pack;
use throng_core::pack::dominant::{Resource, Use};
use throng_core::workflow::Workflow;
use throng_sim::{Cluster, World};

use super::super::repeated::Ending;
use super::super::runner::{Job, Recipe};
use super::real::Real;
use crate::exit::Failure;
use crate::simulate::figures;

/// Where a stage runs.
pub enum Where {
    /// On a modelled node.
    Modelled(Box<Cluster>),
    /// On this machine.
    Here(Real),
}

/// A run.
pub struct Case {
    pub label: String,
    pub recipe: Recipe,
    pub place: Where,
}

/// What came out of it.
#[derive(Clone, Debug)]
pub struct Figures {
    pub makespan_s: f64,
    /// How much of each resource of the node was used, on average.
    pub used: Use,
    pub is_whole: bool,
}

impl Figures {
    pub fn makespan_s(&self) -> f64 {
        self.makespan_s
    }

    pub fn used(&self, resource: Resource) -> f64 {
        self.used[resource as usize]
    }
}

impl Ending for Figures {
    fn is_stuck(&self) -> bool {
        false
    }

    fn is_whole(&self) -> bool {
        self.is_whole
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
        match &self.place {
            Where::Modelled(cluster) => simulate(flow, cluster),
            Where::Here(real) => real.run(),
        }
    }

    fn as_json(&self, outcome: &Figures) -> Value {
        let cluster = match &self.place {
            Where::Modelled(cluster) => figures::cluster_figures(cluster),
            Where::Here(real) => json!({ "here": real.describe() }),
        };
        let used: serde_json::Map<String, Value> =
            Resource::ALL.into_iter().map(|it| (it.name().to_owned(), json!(outcome.used(it)))).collect();
        json!({
            "run": self.label,
            "cluster": cluster,
            "result": { "makespan_s": outcome.makespan_s, "used": used, "all_done": outcome.is_whole },
        })
    }
}

fn simulate(flow: &Arc<Workflow>, cluster: &Cluster) -> Result<Figures, Failure> {
    let mut flow = flow.clone();
    if pack::learns(&cluster.pack) {
        Arc::make_mut(&mut flow).tell_kinds_apart();
    }
    let world = World::new(flow, cluster.clone());
    let world = world.map_err(|error| Failure::internal(error, "this is a bug in an experiment: please report it"))?;
    let outcome = world.run();
    Ok(Figures {
        makespan_s: outcome.makespan.as_secs_f64(),
        used: outcome.used,
        is_whole: outcome.stuck.is_none() && outcome.not_done == 0,
    })
}
