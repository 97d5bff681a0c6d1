//! The one generator of random numbers in core and in the simulator: SplitMix64.
//!
//! Whatever is drawn has to be drawn again when a run is replayed, on any machine and in any later version, so the
//! generator is written out here and not taken from a library that may improve it. It is small, passes the usual
//! tests of quality, and its whole state is one number. It is not for secrets.
//!
//! Whoever draws should have a stream of their own, so that one more draw in one place does not change everything
//! drawn in others: [`Rng::named`] where the owner is known beforehand, [`Rng::split`] where owners come and go.

use xxhash_rust::xxh3::xxh3_64_with_seed;

/// A stream of random numbers that follows from its seed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rng {
    state: u64,
}

impl Rng {
    /// The stream of a seed; every seed is as good as any other.
    pub fn new(seed: u64) -> Rng {
        Rng { state: seed }
    }

    /// The stream that belongs to a name, for one seed: `Rng::named(seed, "node 7")`.
    pub fn named(seed: u64, name: &str) -> Rng {
        Rng::new(xxh3_64_with_seed(name.as_bytes(), seed))
    }

    /// A stream apart from this one, which goes on after a single draw.
    pub fn split(&mut self) -> Rng {
        Rng::new(self.next())
    }

    /// Any number of 64 bits.
    #[expect(
        clippy::should_implement_trait,
        reason = "the stream never ends: an iterator's `Option` would say nothing"
    )]
    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below `n`, which must not be 0. The remainder favours small numbers by less than n in 2^64, which
    /// nobody can notice; in return, every call draws exactly once.
    pub fn below(&mut self, n: u64) -> u64 {
        assert!(n > 0, "there is no number below 0");
        self.next() % n
    }

    /// A fraction in [0, 1), out of 2^53 equally spaced ones.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_sequence() {
        // The first numbers for the seed 1234567, as other implementations of SplitMix64 give them.
        let mut rng = Rng::new(1_234_567);
        let drawn: [u64; 3] = std::array::from_fn(|_| rng.next());
        assert_eq!(drawn, [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]);
    }

    #[test]
    fn draws_stay_within_their_limits() {
        let mut rng = Rng::new(u64::MAX);
        for n in 1..200 {
            assert!(rng.below(n) < n);
            assert!((0.0..1.0).contains(&rng.unit()));
        }
        let mean = (0..10_000).map(|_| rng.unit()).sum::<f64>() / 1e4;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
    }

    #[test]
    fn streams_are_apart_and_can_be_had_again() {
        assert_eq!(Rng::named(7, "place"), Rng::named(7, "place"));
        assert_ne!(Rng::named(7, "place"), Rng::named(7, "order"));
        assert_ne!(Rng::named(7, "place"), Rng::named(8, "place"));
        let (mut one, mut other) = (Rng::new(1), Rng::new(1));
        let mut child = one.split();
        other.next();
        assert_eq!(one, other, "a split costs one draw");
        assert!((0..100).all(|_| child.next() != one.next()));
    }
}
