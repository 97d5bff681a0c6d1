//! How a number of lengths of time are distributed.

/// Lengths of time in short.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Distribution {
    /// How many there are.
    pub count: u64,
    /// All of them together.
    pub total_ns: u128,
    /// The shortest.
    pub min_ns: u64,
    /// A quarter is no longer than this.
    pub quarter_ns: u64,
    /// Half of them are no longer than this.
    pub median_ns: u64,
    /// Three quarters are no longer than this.
    pub three_quarters_ns: u64,
    /// 95 of 100 are no longer than this.
    pub p95_ns: u64,
    /// The longest.
    pub max_ns: u64,
    /// How many there are between powers of two, four steps each: where the step begins, and how many. Steps
    /// with none in them are left out.
    pub histogram: Vec<(u64, u64)>,
}

impl Distribution {
    /// Sums up lengths, which are sorted on the way.
    pub fn of(lengths: &mut [u64]) -> Distribution {
        lengths.sort_unstable();
        let (Some(&min_ns), Some(&max_ns)) = (lengths.first(), lengths.last()) else { return Distribution::default() };
        let mut histogram: Vec<(u64, u64)> = Vec::new();
        for &length in &*lengths {
            let step = step_of(length);
            match histogram.last_mut() {
                Some((last, count)) if *last == step => *count += 1,
                _ => histogram.push((step, 1)),
            }
        }
        // The nearest rank: always a length that occurred.
        let of_hundred = |share: usize| lengths[(lengths.len() * share).div_ceil(100).max(1) - 1];
        Distribution {
            count: lengths.len() as u64,
            total_ns: lengths.iter().map(|length| u128::from(*length)).sum(),
            min_ns,
            quarter_ns: of_hundred(25),
            median_ns: of_hundred(50),
            three_quarters_ns: of_hundred(75),
            p95_ns: of_hundred(95),
            max_ns,
            histogram,
        }
    }

    /// The mean; nothing if there are none.
    pub fn mean_ns(&self) -> f64 {
        if self.count == 0 { 0.0 } else { self.total_ns as f64 / self.count as f64 }
    }
}

/// Where the step of the histogram begins that a length is in.
fn step_of(length: u64) -> u64 {
    // The highest bit and the two after it; what is shorter than four nanoseconds has a step of its own.
    match length.checked_ilog2() {
        None | Some(0 | 1) => length,
        Some(bits) => length >> (bits - 2) << (bits - 2),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_values_that_occurred() {
        let found = Distribution::of(&mut [5, 1, 4, 2, 3]);
        let ranks =
            [found.min_ns, found.quarter_ns, found.median_ns, found.three_quarters_ns, found.p95_ns, found.max_ns];
        assert_eq!(ranks, [1, 2, 3, 4, 5, 5]);
        assert_eq!((found.count, found.total_ns, found.mean_ns()), (5, 15, 3.0));
        assert_eq!(Distribution::of(&mut []), Distribution::default());
        assert_eq!(Distribution::of(&mut [7]).quarter_ns, 7);
    }

    #[test]
    fn steps_of_the_histogram() {
        assert_eq!([0, 1, 3, 4, 7, 8, 9, 10, 1000, 1023, 1024].map(step_of), [0, 1, 3, 4, 7, 8, 8, 10, 896, 896, 1024]);
        let found = Distribution::of(&mut [0, 0, 9, 8, 100]);
        assert_eq!(found.histogram, [(0, 2), (8, 2), (96, 1)]);
    }
}
