//! SplitMix64: a whole sequence from one printed seed, so that a run can be repeated exactly.

const INCREMENT: u64 = 0x9E37_79B9_7F4A_7C15;

/// A stream of numbers that depends on nothing but its seed.
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// Starts the stream of `seed`.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// The next number of the stream.
    pub fn next_number(&mut self) -> u64 {
        self.state = self.state.wrapping_add(INCREMENT);
        mix(self.state)
    }

    /// A number below `bound`, by multiplication instead of division (Lemire); the bias is below
    /// one part in 2^32 for the bounds used here.
    fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_number()) * u128::from(bound)) >> 64) as u64
    }

    /// All of `0..count` in random order (Fisher-Yates).
    pub fn permutation(&mut self, count: u32) -> Vec<u32> {
        let mut order: Vec<u32> = (0..count).collect();
        for last in (1..order.len()).rev() {
            let chosen = self.below(last as u64 + 1) as usize;
            order.swap(last, chosen);
        }
        order
    }
}

/// Number `index` of the stream of `seed`, without the numbers before it. The mix is a bijection,
/// so different indices never give the same number.
pub fn number_at(seed: u64, index: u64) -> u64 {
    mix(seed.wrapping_add(INCREMENT.wrapping_mul(index.wrapping_add(1))))
}

fn mix(state: u64) -> u64 {
    let mut mixed = state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_the_published_sequence() {
        let mut stream = SplitMix64::new(1_234_567);
        assert_eq!(stream.next_number(), 6_457_827_717_110_365_317);
        assert_eq!(stream.next_number(), 3_203_168_211_198_807_973);
        assert_eq!(number_at(1_234_567, 1), 3_203_168_211_198_807_973);
    }

    #[test]
    fn permutation_holds_every_index_once() {
        let mut order = SplitMix64::new(7).permutation(1_000);
        assert_ne!(order, (0..1_000).collect::<Vec<_>>());
        order.sort_unstable();
        assert_eq!(order, (0..1_000).collect::<Vec<_>>());
    }
}
