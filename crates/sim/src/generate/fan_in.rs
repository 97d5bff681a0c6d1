//! A tree that shrinks: the reverse of `fan-out`, in which every task reads what `degree` others wrote. The last task is
//! the root; towards the end there is less and less to do at once.

use super::options::{DEGREE_LIMIT, Options, TASKS_LIMIT, Wrong};
use super::stage::Stage;
use super::tree::{blocks, levels, stage_name};
use super::{Make, Shape, TABLE_3, TABLE_3_SIZES, TABLE_3_TIMES, parameter};

pub(super) const SHAPE: Shape = Shape {
    name: "fan-in",
    summary: "a tree of tasks, from its leaves to its root",
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
    let degree = options.count("degree", 2, DEGREE_LIMIT)?;
    let (times, sizes) = (options.times()?, options.sizes()?);
    let levels = levels(tasks, degree);
    let mut stages = Vec::new();
    for (level, nodes) in levels.iter().enumerate().rev() {
        // The children are on the next level: so many nodes have all of them, one perhaps some, and the rest none.
        let children = levels.get(level + 1).copied().unwrap_or(0);
        let (full, rest) = (children / degree, children % degree);
        let parts = [(0, full, degree), (full, full + rest.min(1), rest), (full + rest.min(1), *nodes, 0)];
        let blocks: Vec<_> = parts
            .into_iter()
            .flat_map(|(from, to, count)| blocks(level, degree, from, to).into_iter().map(move |block| (block, count)))
            .collect();
        for (number, (block, count)) in blocks.iter().enumerate() {
            let stage = block.stage(&stage_name(level, number, blocks.len()));
            let stage = stage.of_kind("fan-in").takes(times).writes("out/{id}", sizes);
            stages.push((0..*count).fold(stage, |stage, child| stage.reads(format!("out/{{id}}.{child}"))));
        }
    }
    Ok(stages)
}
