//! Image stacking: each task cuts a patch of sky out of one image, and one task at the end lays all patches on top of each
//! other. An image is read by as many tasks as the *locality* says, so a cache helps more the higher that is.
//!
//! Tasks go through the images in order, again and again, so that two readers of an image are as far apart as can be.

use super::options::{Options, TASKS_LIMIT, Wrong};
use super::spread::Spread;
use super::stage::{Stage, key};
use super::{Make, Shape, parameter};

pub(super) const SHAPE: Shape = Shape {
    name: "image-stacking",
    summary: "many tasks read few images, and one task gathers",
    origin: "the MATRIX paper has images of 2 MB, 158 ms a task and 10 kB of output; numbers of tasks and images for each \
             locality (1, 1.38, 2, 3, 4, 5, 10, 20, 30) are those of the data diffusion paper. In which order tasks read \
             images, and that the last task takes as long as any other, is ours",
    takes: &[
        parameter("locality", "1"),
        parameter("tasks", ""),
        parameter("files", ""),
        parameter("times", "158ms"),
        parameter("sizes", "10kB"),
        parameter("no-stack", ""),
    ],
    make: Make::Stages(stages),
};

/// Localities of image stacking, and the numbers of tasks and of files that they stand for.
pub const LOCALITIES: [(&str, u64, u64); 9] = [
    ("1", 111_700, 111_700),
    ("1.38", 154_345, 111_699),
    ("2", 97_999, 49_000),
    ("3", 88_857, 29_620),
    ("4", 76_575, 19_145),
    ("5", 60_590, 12_120),
    ("10", 46_480, 4_650),
    ("20", 40_460, 2_025),
    ("30", 23_695, 790),
];
const IMAGE_BYTES: u64 = 2_000_000;

fn stages(options: &Options) -> Result<Vec<Stage>, Wrong> {
    let (tasks, files) = numbers(options)?;
    let (times, sizes) = (options.times()?, options.sizes()?);
    let cut = |stage: Stage, path: String| {
        stage.of_kind("cut").reads_outside("images/{image}.fit", IMAGE_BYTES).takes(times).writes(path, sizes)
    };
    let (rounds, rest) = (tasks / files, tasks % files);
    let all = Stage::new("cut", vec![key("round", rounds), key("image", files)]);
    let mut stages = vec![cut(all, "cut/{round}.{image}".to_owned())];
    if rest > 0 {
        stages.push(cut(Stage::new("cut-rest", vec![key("image", rest)]), format!("cut/{rounds}.{{image}}")));
    }
    if !options.is_given("no-stack") {
        let stack = Stage::new("stack", Vec::new()).takes(Spread::Fixed(times.mean()));
        let stack = stages.iter().fold(stack, |stack, stage| stack.reads_all(&stage.name));
        stages.push(stack.writes("stacked", Spread::Fixed(sizes.mean())));
    }
    Ok(stages)
}

/// How many tasks and files there are.
fn numbers(options: &Options) -> Result<(u64, u64), Wrong> {
    let locality = || {
        let text = options.text("locality").unwrap_or_default();
        let known = LOCALITIES.iter().find(|(name, _, _)| *name == text);
        known.map(|(_, tasks, files)| (*tasks, *files)).ok_or_else(|| {
            let known: Vec<&str> = LOCALITIES.iter().map(|(name, _, _)| *name).collect();
            Wrong::new(
                format!("nobody has published numbers for `--locality {text}`"),
                format!("use one of {}, or say --tasks and --files", known.join(", ")),
            )
        })
    };
    let tasks = || options.count("tasks", 1, TASKS_LIMIT - 1);
    match ["tasks", "files"].map(|name| options.is_given(name)) {
        [false, false] => locality(),
        // As many readers to an image as published for that locality.
        [true, false] => {
            let ((of_tasks, of_files), tasks) = (locality()?, tasks()?);
            Ok((tasks, (tasks * of_files).div_ceil(of_tasks)))
        }
        [true, true] if !options.is_given("locality") => {
            let tasks = tasks()?;
            // Every image is read by somebody.
            Ok((tasks, options.count("files", 1, tasks)?))
        }
        _ => Err(Wrong::new(
            "`--files` belongs to `--tasks`, and stands for `--locality`",
            "give --tasks with one of the other two, or only --locality",
        )),
    }
}
