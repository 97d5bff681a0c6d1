//! A bag of tasks: they have nothing to do with each other, so nothing but the scheduler can hold them up.

use super::options::{Options, TASKS_LIMIT, Wrong};
use super::stage::{Stage, key};
use super::{Make, Shape, TABLE_3, TABLE_3_SIZES, TABLE_3_TIMES, parameter};

pub(super) const SHAPE: Shape = Shape {
    name: "bot",
    summary: "independent tasks",
    origin: TABLE_3,
    takes: &[parameter("tasks", "1000"), parameter("times", TABLE_3_TIMES), parameter("sizes", TABLE_3_SIZES)],
    make: Make::Stages(stages),
};

fn stages(options: &Options) -> Result<Vec<Stage>, Wrong> {
    let tasks = options.count("tasks", 1, TASKS_LIMIT)?;
    Ok(vec![Stage::new("bot", vec![key("i", tasks)]).takes(options.times()?).writes("out/{i}", options.sizes()?)])
}
