//! Amounts that are drawn: of time, in nanoseconds, and of data, in bytes; and how both are written.

use throng_core::rng::Rng;

/// What an amount is drawn from.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Spread {
    /// Always the same.
    Fixed(u64),
    /// Evenly from one end to the other.
    Even { low: u64, high: u64 },
    /// By a quantile function of straight lines: pairs of a share and the amount that this share stays below.
    Quantiles(&'static [(f64, u64)]),
    /// By a normal distribution, drawn again until it is within half the mean of it.
    Normal { mean: f64, deviation: f64 },
}

/// Beyond so many draws that were too far off, it is the mean. One in five is near enough in the widest distribution
/// that any shape has.
const TRIES: usize = 100;

/// Amounts are drawn in steps of a thousandth of a unit or so: nobody can tell the difference, and it is less to read.
/// From these amounts on, these are the steps.
const STEPS: [(u64, u64); 2] = [(1_000_000_000, 1_000_000), (1_000_000, 1_000)];

impl Spread {
    /// A normal distribution of times by its mean and variance in seconds, for as many of something at once.
    pub(super) fn seconds(mean: f64, variance: f64, times: f64) -> Spread {
        Spread::normal(mean * 1e9 * times, variance.sqrt() * 1e9 * times)
    }

    /// A normal distribution of amounts of data by its mean and variance in bytes, for as many of something at once.
    pub(super) fn bytes(mean: f64, variance: f64, times: f64) -> Spread {
        Spread::normal(mean * times, variance.sqrt() * times)
    }

    fn normal(mean: f64, deviation: f64) -> Spread {
        if deviation == 0.0 { Spread::Fixed(rounded(mean)) } else { Spread::Normal { mean, deviation } }
    }

    /// Evenly within a share of an amount.
    pub(super) fn within(share: f64, amount: f64) -> Spread {
        Spread::Even { low: rounded(amount * (1.0 - share)), high: rounded(amount * (1.0 + share)) }
    }

    /// Whether amounts differ.
    pub(super) fn varies(self) -> bool {
        !matches!(self, Spread::Fixed(_))
    }

    /// The mean.
    pub(super) fn mean(self) -> u64 {
        match self {
            Spread::Fixed(amount) => amount,
            Spread::Even { low, high } => low + (high - low) / 2,
            Spread::Quantiles(knots) => {
                let lines = knots.windows(2).map(|ends| {
                    let [(from, low), (to, high)] = [ends[0], ends[1]];
                    (to - from) * (low as f64 + high as f64) / 2.0
                });
                in_steps(lines.sum(), 0, knots[knots.len() - 1].1)
            }
            Spread::Normal { mean, .. } => rounded(mean),
        }
    }

    /// An amount.
    pub(super) fn draw(self, rng: &mut Rng) -> u64 {
        match self {
            Spread::Fixed(amount) => amount,
            Spread::Even { low, high } => in_steps(low as f64 + (high - low) as f64 * rng.unit(), low, high),
            Spread::Quantiles(knots) => {
                let share = rng.unit();
                let above = knots.partition_point(|(own, _)| *own <= share).clamp(1, knots.len() - 1);
                let [(from, low), (to, high)] = [knots[above - 1], knots[above]];
                let amount = low as f64 + (high as f64 - low as f64) * (share - from) / (to - from);
                in_steps(amount, 0, knots[knots.len() - 1].1)
            }
            Spread::Normal { mean, deviation } => {
                in_steps(normal(mean, deviation, rng), (mean / 2.0).ceil() as u64, (mean * 1.5) as u64)
            }
        }
    }
}

/// A number by a normal distribution that is within half the mean of it.
///
/// Twelve even draws together have a variance of one and are as good as normal for our ends. They need nothing but
/// additions, which are the same on every machine; logarithms are not.
pub(super) fn normal(mean: f64, deviation: f64, rng: &mut Rng) -> f64 {
    let mut draw = || mean + deviation * ((0..12).map(|_| rng.unit()).sum::<f64>() - 6.0);
    (0..TRIES).map(|_| draw()).find(|number| (number - mean).abs() <= mean / 2.0).unwrap_or(mean)
}

/// An amount in steps that suit it.
pub(super) fn rounded(amount: f64) -> u64 {
    in_steps(amount, 0, amount.ceil() as u64)
}

/// The step that is nearest to an amount, and not beyond the ends of what it is drawn from.
fn in_steps(amount: f64, low: u64, high: u64) -> u64 {
    let step = STEPS.iter().find(|(from, _)| high >= *from).map_or(1, |(_, step)| *step);
    ((amount / step as f64).round() as u64 * step).clamp(low, high)
}

/// A length of time as a workflow has it.
pub(super) fn time_text(ns: u64) -> String {
    in_units(ns, &[(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "us"), (1, "ns")])
}

/// An amount of data as a workflow has it.
pub(super) fn size_text(bytes: u64) -> String {
    in_units(bytes, &[(1_000_000_000, "GB"), (1_000_000, "MB"), (1_000, "kB"), (1, "B")])
}

/// An amount in the largest unit that it has one of, exactly.
fn in_units(amount: u64, units: &[(u64, &str)]) -> String {
    let last = units[units.len() - 1];
    let (unit, name) = units.iter().copied().find(|(unit, _)| amount >= *unit).unwrap_or(last);
    let (whole, rest) = (amount / unit, amount % unit);
    if rest == 0 {
        return format!("{whole}{name}");
    }
    let digits = unit.ilog10() as usize;
    let decimals = format!("{rest:0digits$}");
    format!("{whole}.{}{name}", decimals.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use throng_core::workflow::quantity;

    use super::*;

    #[test]
    fn what_is_written_is_read_as_the_same() {
        let mut rng = Rng::new(7);
        for _ in 0..10_000 {
            let amount = rng.next() >> (14 + rng.below(50));
            assert_eq!(quantity::bytes(&size_text(amount)), Ok(amount));
            let time = quantity::duration(&time_text(amount)).unwrap();
            assert_eq!(time.as_nanos(), u128::from(amount));
        }
        assert_eq!([time_text(0), time_text(71_243_000), time_text(95_200_000_000)], ["0ns", "71.243ms", "95.2s"]);
        assert_eq!([size_text(12_000_000), size_text(999), size_text(196_608)], ["12MB", "999B", "196.608kB"]);
    }

    #[test]
    fn draws_stay_between_the_ends_and_around_the_mean() {
        const KNOTS: [(f64, u64); 3] = [(0.0, 0), (0.5, 10_000_000), (1.0, 50_000_000)];
        let cases = [
            (Spread::Even { low: 3, high: 900 }, 3, 900),
            (Spread::Even { low: 1_000_500, high: 9_999_999 }, 1_000_500, 9_999_999),
            (Spread::Quantiles(&KNOTS), 0, 50_000_000),
            (Spread::bytes(4_162_432.0, 1.14e8, 1.0), 4_100_000, 4_230_000),
            // So wide that most draws are too far off.
            (Spread::bytes(312_935.68, 3.4e11, 1.0), 156_468, 469_403),
            (Spread::seconds(13.59, 0.06, 2.0), 24_000_000_000, 30_000_000_000),
            (Spread::within(0.25, 4_000.0), 3_000, 5_000),
        ];
        for (spread, low, high) in cases {
            let mut rng = Rng::new(1);
            let amounts: Vec<u64> = (0..10_000).map(|_| spread.draw(&mut rng)).collect();
            assert!(amounts.iter().all(|amount| (low..=high).contains(amount)), "{spread:?}");
            let mean = amounts.iter().sum::<u64>() as f64 / 10_000.0;
            assert!((mean / spread.mean() as f64 - 1.0).abs() < 0.03, "{spread:?}: {mean}");
        }
    }
}
