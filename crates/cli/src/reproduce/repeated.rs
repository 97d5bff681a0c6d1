//! Figures of the same run with several seeds: their mean, and how far the farthest of them is from it.

/// What can be said of every run.
pub trait Ending {
    /// Whether it did not come to its end.
    fn is_stuck(&self) -> bool;
    /// Whether it did everything.
    fn is_whole(&self) -> bool {
        !self.is_stuck()
    }
}

/// The same run, once for each seed; or once, if it leaves nothing to chance.
pub struct Repeated<'a, O> {
    /// In the order of the seeds; there is at least one.
    pub runs: Vec<&'a O>,
}

impl<'a, O: Ending> Repeated<'a, O> {
    /// The run with the first seed, for what cannot be averaged.
    pub fn first(&self) -> &'a O {
        self.runs[0]
    }

    /// A figure of each run; none if some run did not come to its end.
    pub fn figure(&self, figure: impl Fn(&O) -> f64) -> Figure {
        let is_stuck = self.runs.iter().any(|run| run.is_stuck());
        Figure((!is_stuck).then(|| self.runs.iter().map(|run| figure(run)).collect()))
    }

    /// The mean of a figure of all runs.
    pub fn mean(&self, figure: impl Fn(&O) -> f64) -> f64 {
        self.runs.iter().map(|run| figure(run)).sum::<f64>() / self.runs.len() as f64
    }
}

/// A figure for each seed, if all runs came to their end.
pub struct Figure(Option<Vec<f64>>);

impl Figure {
    /// Several figures made one, seed by seed, such as their mean over all sizes of a cluster. What was run once stands for all seeds.
    pub fn together(figures: &[Figure], join: impl Fn(&[f64]) -> f64) -> Figure {
        let each: Option<Vec<&Vec<f64>>> = figures.iter().map(|figure| figure.0.as_ref()).collect();
        let seeds = |each: &[&Vec<f64>]| each.iter().map(|of_seeds| of_seeds.len()).max().unwrap_or(0);
        let of_seed = |each: &[&Vec<f64>], seed: usize| {
            each.iter().map(|of_seeds| of_seeds[seed % of_seeds.len()]).collect::<Vec<_>>()
        };
        Figure(each.map(|each| (0..seeds(&each)).map(|seed| join(&of_seed(&each, seed))).collect()))
    }

    /// The mean, and behind it how far the farthest is from it, if there are several.
    pub fn words(&self, in_words: impl Fn(f64) -> String) -> String {
        let Some(of_seeds) = &self.0 else { return "stuck".to_owned() };
        let mean = mean(of_seeds);
        if of_seeds.len() < 2 {
            return in_words(mean);
        }
        let farthest = of_seeds.iter().map(|value| (value - mean).abs()).fold(0.0, f64::max);
        let farthest = Some(in_words(farthest)).filter(|words| *words != in_words(0.0));
        format!("{} ±{}", in_words(mean), farthest.unwrap_or("0".to_owned()))
    }
}

/// The mean of some values; nothing is nothing.
pub fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

/// The least of some values.
pub fn least(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use throng_sim::Outcome;

    use super::*;

    fn told(figure: &Figure) -> String {
        figure.words(|value| format!("{value:.1} s"))
    }

    #[test]
    fn one_seed_has_no_spread() {
        assert_eq!(told(&Figure(Some(vec![2.0]))), "2.0 s");
        assert_eq!(told(&Figure(Some(vec![2.0, 3.0, 7.0]))), "4.0 s ±3.0 s");
        assert_eq!(told(&Figure(None)), "stuck");
    }

    #[test]
    fn figures_are_joined_seed_by_seed() {
        let figures = [Figure(Some(vec![1.0, 2.0])), Figure(Some(vec![3.0, 6.0]))];
        assert_eq!(told(&Figure::together(&figures, mean)), "3.0 s ±1.0 s");
        assert_eq!(told(&Figure::together(&figures, least)), "1.5 s ±0.5 s");
        assert_eq!(told(&Figure::together(&[Figure(None)], mean)), "stuck");
        let once = [Figure(Some(vec![1.0, 2.0])), Figure(Some(vec![3.0]))];
        assert_eq!(told(&Figure::together(&once, mean)), "2.2 s ±0.2 s");
    }

    #[test]
    fn a_run_that_is_stuck_has_no_figures() {
        let (whole, stuck) = (Outcome::default(), Outcome { stuck: Some("why".to_owned()), ..Outcome::default() });
        let figure = |run: &Outcome| run.done as f64;
        assert_eq!(told(&Repeated { runs: vec![&whole, &stuck] }.figure(figure)), "stuck");
        assert_eq!(told(&Repeated { runs: vec![&whole, &whole] }.figure(figure)), "0.0 s ±0");
    }
}
