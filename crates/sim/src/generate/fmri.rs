//! The study of brain images: volumes are made comparable one by one, and twice all of them are brought together.
//!
//! ```text
//!   image ─▶ reorient-y ─▶ reorient-x ─▶ select ─▶ align ─▶ reslice ─▶ softmean ─▶ align-mean ─▶ combine-warp ─┐
//!   header ─▶ header-y ─▶ header-x ────────────────────────────────────────────────────────────────────────┤
//!                       smooth ◀─ binarize ◀─ strictmean ◀─ reslice-warp ◀─────────────────────────────────────┘
//! ```
//!
//! Published (in the MATRIX paper) is that a volume is two files, that it goes through two pipes of which each consumes
//! one of them, that the longer pipe has twelve tasks in a row, and that steps called `softmean` and `alignlinear` are
//! among them. The rest is reconstructed: the other steps, which of them are done for every volume, for a tenth, or
//! once, where the pipes meet, and all times and sizes. A volume is taken to be 64 by 64 by 24 points of two bytes, its
//! header the 348 bytes of the Analyze format.

use super::options::{Options, Wrong};
use super::spread::Spread;
use super::stage::{Stage, key};
use super::{Make, Shape, parameter};

pub(super) const SHAPE: Shape = Shape {
    name: "fmri",
    summary: "volumes of brain images, worked on one by one and twice together",
    origin: "the MATRIX paper has two pipes for each volume, the longer of twelve tasks in a row. The steps themselves, \
             where all volumes meet, times and sizes are reconstructed",
    takes: &[
        parameter("volumes", "10"),
        parameter("tasks", ""),
        parameter("times", "1s..5s"),
        parameter("sizes", "196608B"),
    ],
    make: Make::Stages(stages),
};

/// Beyond this, the tasks that read all volumes would be no step of a study any more.
const VOLUMES_LIMIT: u64 = 10_000_000;
/// One in so many volumes is part of the sample that the others are aligned to.
const SAMPLED: u64 = 10;
const IMAGE_BYTES: u64 = 196_608;
const HEADER_BYTES: u64 = 348;

fn stages(options: &Options) -> Result<Vec<Stage>, Wrong> {
    // Six steps for each volume, two for each of the sample, six for all.
    let volumes_of = |tasks: u64| tasks.saturating_sub(6) * SAMPLED / (6 * SAMPLED + 2);
    let volumes = options.count_or_tasks("volumes", VOLUMES_LIMIT, volumes_of)?;
    let (times, sizes) = (options.times()?, options.sizes()?);
    let (all, sample) = (Some(volumes), Some(volumes.div_ceil(SAMPLED)));
    // A step for so many volumes, or one for all of them; what it writes is called by its own name.
    let step = |name: &str, count: Option<u64>| {
        let path = if count.is_some() { format!("{name}/{{v}}") } else { name.to_owned() };
        Stage::new(name, count.map(|count| key("v", count)).into_iter().collect()).takes(times).writes(path, sizes)
    };
    let header = |name: &str| {
        let stage = step(name, all);
        Stage { size: Spread::Fixed(HEADER_BYTES), ..stage }
    };
    Ok(vec![
        step("reorient-y", all).reads_outside("volumes/{v}.img", IMAGE_BYTES),
        header("header-y").reads_outside("volumes/{v}.hdr", HEADER_BYTES),
        step("reorient-x", all).reads("reorient-y/{v}"),
        header("header-x").reads("header-y/{v}"),
        step("select", None).reads_all("reorient-x"),
        step("align", sample).reads("select").reads("reorient-x/{v}"),
        step("reslice", sample).reads("align/{v}").reads("reorient-x/{v}"),
        step("softmean", None).reads_all("reslice"),
        step("align-mean", None).reads("softmean").reads_outside("anatomy.img", IMAGE_BYTES),
        step("combine-warp", None).reads("align-mean"),
        step("reslice-warp", all).reads("combine-warp").reads("reorient-x/{v}").reads("header-x/{v}"),
        step("strictmean", None).reads_all("reslice-warp"),
        step("binarize", None).reads("strictmean"),
        step("smooth", all).reads("binarize").reads("reslice-warp/{v}"),
    ])
}
