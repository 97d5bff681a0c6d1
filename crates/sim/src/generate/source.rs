//! Where everything that is drawn comes from: times, sizes and the structure of a graph apart from each other, so that
//! other sizes do not make other times.

use throng_core::rng::Rng;

use super::options::{Options, Wrong};
use super::spread::{Spread, normal};

/// Random numbers that follow from a seed, or means instead. What a graph looks like is drawn in either case.
#[derive(Debug)]
pub(super) struct Source {
    times: Rng,
    sizes: Rng,
    links: Rng,
    means: bool,
    /// What somebody wants instead of a shape's own times and sizes.
    wanted: [Option<Spread>; 2],
}

impl Source {
    pub(super) fn new(seed: u64, means: bool) -> Source {
        let mut seeds = Rng::new(seed);
        let [times, sizes, links] = [(); 3].map(|()| Rng::new(seeds.next()));
        Source { times, sizes, links, means, wanted: [None; 2] }
    }

    /// For a shape whose types of tasks have times and sizes of their own: `--times` and `--sizes` stand for all of them.
    pub(super) fn with_wanted(options: &Options) -> Result<Source, Wrong> {
        let times = options.is_given("times").then(|| options.times()).transpose()?;
        let sizes = options.is_given("sizes").then(|| options.sizes()).transpose()?;
        Ok(Source { wanted: [times, sizes], ..Source::new(options.seed, options.means) })
    }

    /// How long a task takes.
    pub(super) fn time(&mut self, own: Spread) -> u64 {
        let spread = self.wanted[0].unwrap_or(own);
        if self.means { spread.mean() } else { spread.draw(&mut self.times) }
    }

    /// How large a file is that a task writes.
    pub(super) fn size(&mut self, own: Spread) -> u64 {
        let spread = self.wanted[1].unwrap_or(own);
        self.size_outside(spread)
    }

    /// How large a file from outside is.
    pub(super) fn size_outside(&mut self, spread: Spread) -> u64 {
        if self.means { spread.mean() } else { spread.draw(&mut self.sizes) }
    }

    /// What times are divided by.
    pub(super) fn rate(&mut self, mean: f64, deviation: f64) -> f64 {
        if self.means { mean } else { normal(mean, deviation, &mut self.times) }
    }

    /// What sizes are divided by.
    pub(super) fn ratio(&mut self, mean: f64, deviation: f64) -> f64 {
        if self.means { mean } else { normal(mean, deviation, &mut self.sizes) }
    }

    /// A number from one up to another, which is left out; the first if there is nothing between.
    pub(super) fn choose(&mut self, from: u64, below: u64) -> u64 {
        from + self.links.below(below.saturating_sub(from).max(1))
    }

    /// Different numbers, every choice of them equally likely (Floyd's way), in order.
    pub(super) fn different(&mut self, count: u64, below: u64) -> Vec<u64> {
        let mut chosen: Vec<u64> = Vec::with_capacity(count as usize);
        for last in below - count..below {
            let number = self.links.below(last + 1);
            let number = if chosen.contains(&number) { last } else { number };
            let at = chosen.partition_point(|known| *known < number);
            chosen.insert(at, number);
        }
        chosen
    }

    /// Shares a number of things out among some: each has one at least, and within a share of as many as the others.
    pub(super) fn shared_out(&mut self, things: u64, among: u64, within: f64) -> Vec<u64> {
        let weights: Vec<f64> = (0..among).map(|_| 1.0 + within * (2.0 * self.links.unit() - 1.0)).collect();
        let all: f64 = weights.iter().sum();
        let (mut before, mut given) = (0.0, 0);
        let mut shares = Vec::with_capacity(among as usize);
        for (number, weight) in weights.iter().enumerate() {
            before += weight;
            let others = among - 1 - number as u64;
            let up_to = ((things as f64 * before / all).round() as u64).clamp(given + 1, things - others);
            shares.push(up_to - given);
            given = up_to;
        }
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_are_about_equal() {
        for seed in 0..200 {
            let mut source = Source::new(seed, false);
            let (things, among) = (source.choose(40, 4000), source.choose(1, 40));
            let shares = source.shared_out(things, among, 0.25);
            assert_eq!((shares.len() as u64, shares.iter().sum::<u64>()), (among, things), "{seed}");
            let mean = things as f64 / among as f64;
            assert!(shares.iter().all(|share| *share > 0 && (*share as f64 / mean - 1.0).abs() < 0.67 + 1.0 / mean));
        }
        assert_eq!(Source::new(1, false).shared_out(12, 4, 0.0), [3, 3, 3, 3]);
    }
}
