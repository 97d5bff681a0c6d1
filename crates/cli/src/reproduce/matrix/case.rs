//! A run on a modelled cluster, by the simulator that drives the code of real nodes.

use std::sync::Arc;
use std::time::Duration;

use serde_json::{Value, json};
use throng_core::workflow::Workflow;
use throng_sim::{Cluster, Outcome, World};

use super::super::repeated::Ending;
use super::super::runner::{Job, Recipe};
use crate::exit::Failure;
use crate::simulate::figures;

/// Points of a curve of busy slots that are kept: as many as can be seen.
const CURVE_POINTS: usize = 300;

/// A run to simulate.
pub struct Case {
    /// By what it is found again.
    pub label: String,
    /// What runs.
    pub recipe: Recipe,
    /// Where.
    pub cluster: Cluster,
    /// Whether somebody wants to see how many slots were busy when.
    pub wants_curve: bool,
}

impl Job for Case {
    type Outcome = Outcome;

    fn label(&self) -> &str {
        &self.label
    }

    fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    fn run(&self, flow: &Arc<Workflow>) -> Result<Outcome, Failure> {
        let world = World::new(flow.clone(), self.cluster.clone());
        let world =
            world.map_err(|error| Failure::internal(error, "this is a bug in an experiment: please report it"))?;
        let mut outcome = if self.wants_curve { world.with_curve() } else { world }.run();
        outcome.busy_curve = thinned(&outcome.busy_curve, outcome.makespan);
        Ok(outcome)
    }

    fn as_json(&self, outcome: &Outcome) -> Value {
        json!({
            "run": self.label,
            "cluster": figures::cluster_figures(&self.cluster),
            "result": figures::result(outcome),
        })
    }
}

impl Ending for Outcome {
    fn is_stuck(&self) -> bool {
        self.stuck.is_some()
    }

    fn is_whole(&self) -> bool {
        self.stuck.is_none() && self.not_done == 0
    }
}

/// The mean of a curve in each of [`CURVE_POINTS`] parts of its time.
fn thinned(curve: &[(Duration, u32)], length: Duration) -> Vec<(Duration, u32)> {
    if curve.is_empty() || length.is_zero() {
        return Vec::new();
    }
    let step = length.as_secs_f64() / CURVE_POINTS as f64;
    let mut sums = vec![0.0; CURVE_POINTS];
    let ends = curve.iter().skip(1).map(|(time, _)| *time).chain([length]);
    for ((from, busy), to) in curve.iter().zip(ends) {
        let (from, to) = (from.as_secs_f64(), to.min(length).as_secs_f64());
        for (part, sum) in sums.iter_mut().enumerate().skip((from / step) as usize) {
            let (begin, end) = (part as f64 * step, (part + 1) as f64 * step);
            if begin >= to {
                break;
            }
            *sum += f64::from(*busy) * (end.min(to) - begin.max(from)).max(0.0);
        }
    }
    let point = |(part, sum): (usize, &f64)| (Duration::from_secs_f64(part as f64 * step), (sum / step).round() as u32);
    sums.iter().enumerate().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thinned_curve_has_the_same_area() {
        let second = Duration::from_secs;
        let curve = [(second(0), 100), (second(15), 40), (second(20), 0)];
        let thin = thinned(&curve, second(30));
        let area: f64 = thin.iter().map(|(_, busy)| f64::from(*busy) * 30.0 / CURVE_POINTS as f64).sum();
        assert!((area - 1700.0).abs() < 1.0, "{area}");
        assert_eq!((thin[0].1, thin[199].1, thin[299].1), (100, 40, 0));
        assert!(thinned(&[], second(1)).is_empty());
    }
}
