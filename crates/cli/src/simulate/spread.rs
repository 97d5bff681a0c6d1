//! A figure of several runs: their mean, the least and the most.

use serde_json::{Value, json};
use throng_sim::Outcome;

/// Mean, least and most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The least.
    pub min: f64,
    /// The most.
    pub max: f64,
}

impl Spread {
    /// Of a figure of runs, of which there is at least one.
    pub fn of(outcomes: &[Outcome], figure: impl Fn(&Outcome) -> f64) -> Spread {
        let figures = || outcomes.iter().map(&figure);
        Spread {
            mean: figures().sum::<f64>() / outcomes.len().max(1) as f64,
            min: figures().fold(f64::INFINITY, f64::min),
            max: figures().fold(f64::NEG_INFINITY, f64::max),
        }
    }

    /// As JSON.
    pub fn as_json(&self) -> Value {
        json!({ "mean": self.mean, "min": self.min, "max": self.max })
    }
}
