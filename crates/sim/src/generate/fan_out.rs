//! A tree that grows: every task is read by `degree` others. Only one task is ready at the beginning.

use super::options::{DEGREE_LIMIT, Options, TASKS_LIMIT, Wrong};
use super::stage::Stage;
use super::tree::{blocks, levels, stage_name};
use super::{Make, Shape, TABLE_3, TABLE_3_SIZES, TABLE_3_TIMES, parameter};

pub(super) const SHAPE: Shape = Shape {
    name: "fan-out",
    summary: "a tree of tasks, from its root to its leaves",
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
    // A tree of degree one would be a pipe.
    let degree = options.count("degree", 2, DEGREE_LIMIT)?;
    let (times, sizes) = (options.times()?, options.sizes()?);
    let mut stages = Vec::new();
    for (level, nodes) in levels(tasks, degree).into_iter().enumerate() {
        let blocks = blocks(level, degree, 0, nodes);
        for (number, block) in blocks.iter().enumerate() {
            let stage = block.stage(&stage_name(level, number, blocks.len()));
            let stage = stage.of_kind("fan-out").takes(times).writes("out/{id}", sizes);
            stages.push(if level == 0 { stage } else { stage.reads("out/{from}") });
        }
    }
    Ok(stages)
}
