//! Pipes: in each, every task reads what the one before it wrote. Task `i` waits for task `i - 1` unless `i` is a multiple
//! of the degree, which begins a new pipe.
//!
//! A stage is a step of all pipes, so that a million pipes take no more text than one.

use super::options::{DEGREE_LIMIT, Options, TASKS_LIMIT, Wrong};
use super::stage::{Stage, key};
use super::{Make, Shape, TABLE_3, TABLE_3_SIZES, TABLE_3_TIMES, parameter};

pub(super) const SHAPE: Shape = Shape {
    name: "pipeline",
    summary: "pipes of tasks, each of which reads what the one before it wrote",
    origin: TABLE_3,
    takes: &[
        parameter("tasks", "1000"),
        parameter("degree", "10"),
        parameter("times", TABLE_3_TIMES),
        parameter("sizes", TABLE_3_SIZES),
    ],
    make: Make::Stages(stages),
};

fn stages(options: &Options) -> Result<Vec<Stage>, Wrong> {
    let tasks = options.count("tasks", 1, TASKS_LIMIT)?;
    let degree = options.count("degree", 1, DEGREE_LIMIT)?;
    let (times, sizes) = (options.times()?, options.sizes()?);
    let stage = |step: u64| {
        // The last pipe may be shorter than the others.
        let stage = Stage::new(format!("step{step}"), vec![key("pipe", (tasks - step).div_ceil(degree))]);
        let stage = stage.of_kind("pipeline").takes(times).writes(format!("out/{{pipe}}.{step}"), sizes);
        if step == 0 { stage } else { stage.reads(format!("out/{{pipe}}.{}", step - 1)) }
    };
    Ok((0..degree.min(tasks)).map(stage).collect())
}
