//! A bag of tasks of very different lengths: most are done in half a minute, a few take almost half an hour, and whoever
//! starts one of those last waits for it.
//!
//! Published are five numbers about 34.8 million tasks: the shortest takes nothing, the longest 1469.62 s; half of them
//! take up to 30 s; the mean is 95.2 s and the standard deviation 188.08 s. Many distributions have these. Ours is a
//! quantile function of straight lines, because it keeps the ends and the median exactly and needs nothing but
//! additions and multiplications, which are the same on every machine. Its mean is 95.2 s, its standard deviation
//! 188.3 s.

use super::options::{Options, TASKS_LIMIT, Wrong};
use super::spread::Spread;
use super::stage::{Stage, key};
use super::{Make, Shape, parameter};

pub(super) const SHAPE: Shape = Shape {
    name: "heterogeneous",
    summary: "independent tasks of very different lengths",
    origin: "the MATRIX paper has lengths from 0 to 1469.62 s with median 30 s, mean 95.2 s and standard deviation 188.08 s. \
             The distribution, straight lines between quantiles, is ours",
    takes: &[parameter("tasks", "10000"), parameter("sizes", "")],
    make: Make::Stages(stages),
};

const SECOND: u64 = 1_000_000_000;
/// Shares of tasks, and the length that they stay below.
const LENGTHS: [(f64, u64); 8] = [
    (0.0, 0),
    (0.25, 7_400_000_000),
    (0.5, 30 * SECOND),
    (0.75, 70 * SECOND),
    (0.9, 220 * SECOND),
    (0.95, 400 * SECOND),
    (0.99, 980 * SECOND),
    (1.0, 1_469_620_000_000),
];

fn stages(options: &Options) -> Result<Vec<Stage>, Wrong> {
    let tasks = options.count("tasks", 1, TASKS_LIMIT)?;
    let stage = Stage::new("heterogeneous", vec![key("i", tasks)]).takes(Spread::Quantiles(&LENGTHS));
    // Nothing is known of what they wrote.
    Ok(vec![if options.is_given("sizes") { stage.writes("out/{i}", options.sizes()?) } else { stage }])
}

#[cfg(test)]
mod tests {
    use throng_core::rng::Rng;

    use super::*;

    #[test]
    fn lengths_are_spread_as_published() {
        for seed in 1..=5 {
            let mut rng = Rng::new(seed);
            let draw = |_| Spread::Quantiles(&LENGTHS).draw(&mut rng) as f64 / SECOND as f64;
            let mut lengths: Vec<f64> = (0..10_000).map(draw).collect();
            lengths.sort_by(f64::total_cmp);
            let mean = lengths.iter().sum::<f64>() / 10_000.0;
            let variance = lengths.iter().map(|length| (length - mean).powi(2)).sum::<f64>() / 10_000.0;
            for (name, found, published) in
                [("median", lengths[5_000], 30.0), ("mean", mean, 95.2), ("deviation", variance.sqrt(), 188.08)]
            {
                assert!((found / published - 1.0).abs() < 0.05, "{name} {found} with seed {seed}");
            }
            assert!(lengths[0] >= 0.0 && lengths[9_999] <= 1469.62);
        }
        assert_eq!(Spread::Quantiles(&LENGTHS).mean() / 1_000_000, 95_198);
    }
}
