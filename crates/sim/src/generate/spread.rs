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
}

/// Amounts are drawn in steps of a thousandth of a unit or so: nobody can tell the difference, and it is less to read.
/// From these amounts on, these are the steps.
const STEPS: [(u64, u64); 2] = [(1_000_000_000, 1_000_000), (1_000_000, 1_000)];

impl Spread {
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
        }
    }
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
