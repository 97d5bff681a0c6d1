//! All pairs: every file of one set is compared with every file of another. There are few files and many tasks, so all
//! depends on running a task where its files are already.

use super::options::{Options, TASKS_LIMIT, Wrong};
use super::stage::{Stage, key};
use super::{Make, Shape, parameter};

pub(super) const SHAPE: Shape = Shape {
    name: "all-pairs",
    summary: "a task for each pair of files of two sets",
    origin: "the MATRIX paper compares two sets of 500 files of 12 MB, 100 ms a pair; the 1 kB that a comparison writes is ours",
    takes: &[
        parameter("a", "500"),
        parameter("b", "500"),
        parameter("tasks", ""),
        parameter("times", "100ms"),
        parameter("sizes", "1kB"),
    ],
    make: Make::Stages(stages),
};

/// The size of a file of either set.
const FILE_BYTES: u64 = 12_000_000;

fn stages(options: &Options) -> Result<Vec<Stage>, Wrong> {
    let count = |name: &str| options.count_or_tasks(name, TASKS_LIMIT, u64::isqrt);
    let keys = vec![key("a", count("a")?), key("b", count("b")?)];
    let stage = Stage::new("compare", keys)
        .reads_outside("a/{a}.dat", FILE_BYTES)
        .reads_outside("b/{b}.dat", FILE_BYTES)
        .takes(options.times()?)
        .writes("out/{a}.{b}", options.sizes()?);
    Ok(vec![stage])
}
