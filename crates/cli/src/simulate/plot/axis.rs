//! Marks at round numbers.

/// About how many marks an axis of time gets.
const MARKS: f64 = 8.0;

/// An axis of time from zero.
pub struct TimeAxis {
    /// What the labels count.
    pub unit: &'static str,
    /// Its marks.
    pub ticks: Vec<Tick>,
}

/// A mark.
#[derive(Debug, PartialEq)]
pub struct Tick {
    /// Where.
    pub ns: u64,
    /// What stands there.
    pub label: String,
}

const UNITS: [(&str, f64); 6] = [
    ("days", 86_400e9),
    ("hours", 3600e9),
    ("minutes", 60e9),
    ("seconds", 1e9),
    ("milliseconds", 1e6),
    ("microseconds", 1e3),
];

impl TimeAxis {
    /// An axis for so long a time.
    pub fn of(length_ns: u64) -> TimeAxis {
        let length = length_ns.max(1) as f64;
        // Several units at least, where a smaller one is as good: 150 seconds are not easily read as 2.5 minutes.
        let least = |ns: f64| if ns > 1e9 { 5.0 * ns } else { ns };
        let (unit, unit_ns) = UNITS.into_iter().find(|(_, ns)| length >= least(*ns)).unwrap_or(("nanoseconds", 1.0));
        let step = round_step(length / unit_ns / MARKS);
        let decimals = if step < 1.0 { (-step.log10()).ceil() as usize } else { 0 };
        let count = (length / unit_ns / step + 1e-9) as usize;
        let tick = |number: usize| {
            let value = number as f64 * step;
            Tick { ns: (value * unit_ns).round() as u64, label: format!("{value:.decimals$}") }
        };
        TimeAxis { unit, ticks: (0..=count).map(tick).collect() }
    }
}

/// The next of 1, 2, 5, 10, 20, … that is not smaller.
fn round_step(least: f64) -> f64 {
    let power = 10f64.powf(least.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].into_iter().find(|step| step * power >= least * (1.0 - 1e-9));
    step.unwrap_or(10.0) * power
}

/// Round whole numbers from zero to the last one, which is always there.
pub fn whole_steps(last: u32, about: u32) -> Vec<u32> {
    let step = round_step(f64::from(last) / f64::from(about)).max(1.0) as u32;
    let mut steps: Vec<u32> = (0..last).step_by(step as usize).collect();
    // Two marks that touch cannot be read.
    if steps.len() > 1 && steps.last().is_some_and(|before| (last - before) * 2 < step) {
        steps.pop();
    }
    steps.push(last);
    steps
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(seconds: f64) -> (String, &'static str) {
        let axis = TimeAxis::of((seconds * 1e9) as u64);
        (axis.ticks.iter().map(|tick| tick.label.as_str()).collect::<Vec<_>>().join(" "), axis.unit)
    }

    #[test]
    fn times_at_round_numbers() {
        assert_eq!(labels(35.3), ("0 5 10 15 20 25 30 35".to_owned(), "seconds"));
        assert_eq!(labels(5.5), ("0 1 2 3 4 5".to_owned(), "seconds"));
        assert_eq!(labels(2.0), ("0.0 0.5 1.0 1.5 2.0".to_owned(), "seconds"));
        assert_eq!(labels(161.0), ("0 50 100 150".to_owned(), "seconds"));
        assert_eq!(labels(600.0), ("0 2 4 6 8 10".to_owned(), "minutes"));
        assert_eq!(labels(0.0301), ("0 5 10 15 20 25 30".to_owned(), "milliseconds"));
        assert_eq!(labels(0.0).1, "nanoseconds");
    }

    #[test]
    fn counts_end_with_all() {
        assert_eq!(whole_steps(32, 4), [0, 10, 20, 32]);
        assert_eq!(whole_steps(1, 4), [0, 1]);
        assert_eq!(whole_steps(3, 4), [0, 1, 2, 3]);
        assert_eq!(whole_steps(2000, 4), [0, 500, 1000, 1500, 2000]);
    }
}
