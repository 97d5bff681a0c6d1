//! A random graph in layers: every task reads what some tasks of the layer before it wrote, which are drawn. There is no
//! pattern for a scheduler to find, and how many read a file differs from file to file.

use super::options::{DEGREE_LIMIT, Options, TASKS_LIMIT, Wrong};
use super::stage::{Links, Stage, key};
use super::{Make, Shape, TABLE_3_SIZES, TABLE_3_TIMES, parameter};

pub(super) const SHAPE: Shape = Shape {
    name: "random",
    summary: "layers of tasks that read from tasks of the layer before, drawn at random",
    origin: "no paper has exactly this; times and sizes are those of the plain shapes",
    takes: &[
        parameter("tasks", ""),
        parameter("layers", "10"),
        parameter("width", "100"),
        parameter("degree", "3"),
        parameter("times", TABLE_3_TIMES),
        parameter("sizes", TABLE_3_SIZES),
    ],
    make: Make::Stages(stages),
};

fn stages(options: &Options) -> Result<Vec<Stage>, Wrong> {
    let layers = options.count("layers", 1, DEGREE_LIMIT)?;
    let width = options.count_or_tasks("width", TASKS_LIMIT, |tasks| tasks.div_ceil(layers))?;
    // Nobody can read from more tasks than there are.
    let degree = options.count("degree", 1, DEGREE_LIMIT)?.min(width);
    let (times, sizes) = (options.times()?, options.sizes()?);
    let layer = |layer: u64| {
        let stage = Stage::new(format!("layer{layer}"), vec![key("i", width)]).of_kind("random");
        let stage = stage.takes(times).writes(format!("out/{layer}.{{i}}"), sizes);
        if layer == 0 {
            return stage;
        }
        let stage = Stage { links: Some(Links { count: degree, below: width }), ..stage };
        (1..=degree).fold(stage, |stage, link| stage.reads(format!("out/{}.{{p{link}}}", layer - 1)))
    };
    Ok((0..layers).map(layer).collect())
}
