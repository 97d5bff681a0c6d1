//! What a series of samples usually shows: the mean of where most of them are.
//!
//! Tasks do not use a resource evenly: they read, compute and write. What matters is how much is used while it is used, so the mean over
//! everything would say too little. Where two levels are equally common, the higher one counts: contention is what is looked for.

/// The bins that samples are sorted into.
pub const BINS: usize = 10;

/// The mean of the fullest of equal bins between the least and the greatest sample; the highest such bin, if several are. Nothing if there are
/// no samples.
pub fn usual(samples: &[f64], bins: usize) -> Option<f64> {
    let (least, greatest) = samples.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(least, greatest), sample| {
        (least.min(*sample), greatest.max(*sample))
    });
    if samples.is_empty() {
        return None;
    }
    let mut sums = vec![(0u32, 0.0); bins.max(1)];
    for sample in samples {
        let part = (sample - least) / (greatest - least);
        // All alike: there is nothing to divide by, and one bin for all.
        let bin = if part.is_finite() { ((part * bins as f64) as usize).min(sums.len() - 1) } else { 0 };
        sums[bin].0 += 1;
        sums[bin].1 += sample;
    }
    let (count, sum) = sums.into_iter().max_by_key(|(count, _)| *count)?;
    Some(sum / f64::from(count))
}
