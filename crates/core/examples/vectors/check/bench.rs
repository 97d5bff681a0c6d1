//! The four benchmark shapes of MATRIX, with lengths and sizes drawn from a seed, and their bound.

use std::ops::Range;

use serde_json::{Value, json};
use throng_core::bound::{Analytic, Cost, queue_wait};
use throng_core::ids::TaskId;
use throng_core::rng::Rng;

use super::request::Request;

/// The longest task, in seconds.
const LONGEST: f64 = 0.1;
/// The mean length of a task, in seconds.
const MEAN_LENGTH: f64 = 0.05;
/// The largest output, in bytes.
const LARGEST: f64 = 10e6;

#[derive(Clone, Copy)]
enum Kind {
    Bot,
    Pipeline,
    FanOut,
    FanIn,
}

/// A regular graph, whose edges follow from the numbers of the tasks; parents have the smaller ones.
#[derive(Clone, Copy)]
struct Shape {
    kind: Kind,
    count: u32,
    degree: u32,
}

impl Shape {
    fn parents(self, task: u32) -> Range<u32> {
        match self.kind {
            Kind::Pipeline if !task.is_multiple_of(self.degree) => task - 1..task,
            Kind::FanOut if task > 0 => {
                let parent = (task - 1) / self.degree;
                parent..parent + 1
            }
            Kind::FanIn => {
                // The mirror image of a fan-out, where a task's children follow one another.
                let last = self.count - 1;
                let first_child = u64::from(last - task) * u64::from(self.degree) + 1;
                let end = (first_child + u64::from(self.degree)).min(u64::from(self.count));
                if first_child < end { self.count - end as u32..self.count - first_child as u32 } else { 0..0 }
            }
            _ => 0..0,
        }
    }

    /// How many edges lead to each task, on the longest way.
    fn depths(self) -> Vec<u32> {
        let mut depths: Vec<u32> = Vec::with_capacity(self.count as usize);
        for task in 0..self.count {
            let parents = self.parents(task).map(|parent| depths[parent as usize] + 1);
            depths.push(parents.max().unwrap_or(0));
        }
        depths
    }
}

/// The bound of one benchmark.
pub fn answer(request: &Request) -> Result<Value, String> {
    let (cores, per_core) = (request.whole("cores")?, request.whole_or("per_core", 1000)?);
    let count = cores.checked_mul(per_core).and_then(|count| u32::try_from(count).ok());
    let count = count.ok_or("bad request: too many tasks")?;
    let degree = request.get("degree").map_or(Ok(10), super::request::small)?;
    if degree == 0 {
        return Err("bad request: `degree` is 0".to_owned());
    }
    let kind = match request.text("kind")? {
        "bot" => Kind::Bot,
        "pipeline" => Kind::Pipeline,
        "fanout" => Kind::FanOut,
        "fanin" => Kind::FanIn,
        other => return Err(format!("bad request: no kind `{other}`")),
    };
    let shape = Shape { kind, count, degree };

    let mut rng = Rng::new(request.whole_or("seed", 1)?);
    let lengths: Vec<f64> = (0..count).map(|_| LONGEST * rng.unit()).collect();
    let outputs: Vec<f64> = (0..count).map(|_| LARGEST * rng.unit()).collect();

    let depths = shape.depths();
    let level_count = depths.iter().max().map_or(0, |deepest| *deepest as usize + 1);
    let mut levels = vec![0u32; level_count];
    for depth in &depths {
        levels[*depth as usize] += 1;
    }
    let length = request.number_or("l", MEAN_LENGTH)?;
    let waits: Vec<f64> = match request.get("wait").map_or(Ok("eq1"), super::request::text)? {
        "eq1" => vec![queue_wait(per_core as f64, length); level_count],
        "level" => levels.iter().map(|tasks| queue_wait((f64::from(*tasks) / cores as f64).max(1.0), length)).collect(),
        "none" => vec![0.0; level_count],
        other => return Err(format!("bad request: no wait `{other}`")),
    };

    let specification_bytes = request.number_or("spec", 100.0)?;
    let parents = |task: TaskId| shape.parents(task.0).map(|parent| (TaskId(parent), outputs[parent as usize]));
    let cost = |task: TaskId| Cost {
        execution_seconds: lengths[task.index()],
        wait_seconds: waits[depths[task.index()] as usize],
        specification_bytes,
    };
    let order = (0..count as usize).map(TaskId::at);
    let bound = Analytic::of(order, request.number_or("net_band", 125e6)?, parents, cost);
    Ok(json!({
        "tasks": count,
        "levels": level_count,
        "timespan": bound.timespan,
        "throughput": bound.throughput(),
        "efficiency": f64::from(count) * length / cores as f64 / bound.timespan,
    }))
}
