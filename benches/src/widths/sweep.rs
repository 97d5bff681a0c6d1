//! The best fixed number, found by trying: from a first guess in both directions, until it gets worse.

use std::collections::BTreeMap;
use std::time::Duration;

use super::Result;
use super::engine::{Ran, Way};

/// More at once than this nobody asks for.
const MOST: u32 = 256;
/// Who is so much slower than the best is not waited for.
const HOPELESS: f64 = 1.7;

/// What a sweep found.
#[derive(Clone, Debug)]
pub struct Swept {
    /// Seconds by how many at once; nothing if it did not end well, or was too slow to wait for.
    pub seconds: BTreeMap<u32, Option<f64>>,
    /// The best.
    pub best: u32,
}

/// Looks for the best number: doubles and halves from `about`, and then tries those between.
pub fn sweep(about: u32, mut run: impl FnMut(&Way<'_>) -> Result<Ran>) -> Result<Swept> {
    let mut seconds: BTreeMap<u32, Option<f64>> = BTreeMap::new();
    let mut measure = |width: u32, seconds: &mut BTreeMap<u32, Option<f64>>| -> Result<()> {
        if width == 0 || width > MOST || seconds.contains_key(&width) {
            return Ok(());
        }
        let best = seconds.values().flatten().copied().fold(f64::INFINITY, f64::min);
        let patience = best.is_finite().then(|| Duration::from_secs_f64(best * HOPELESS));
        let ran = run(&Way { patience, ..Way::fixed(width) })?;
        seconds.insert(width, ran.is_whole.then_some(ran.seconds));
        Ok(())
    };
    let best = |seconds: &BTreeMap<u32, Option<f64>>| {
        let ended = seconds.iter().filter_map(|(width, seconds)| Some((*width, (*seconds)?)));
        ended.min_by(|left, right| left.1.total_cmp(&right.1)).map(|(width, _)| width)
    };
    measure(about, &mut seconds)?;
    let mut tried = about;
    // As long as doubling or halving the best helps.
    while let Some(width) = best(&seconds).or((tried > 1).then_some(tried / 2)) {
        let known = seconds.len();
        tried = width;
        measure(width.saturating_mul(2).min(MOST), &mut seconds)?;
        measure(width / 2, &mut seconds)?;
        measure(width, &mut seconds)?;
        if seconds.len() == known {
            break;
        }
    }
    let middle = best(&seconds).ok_or("no number of tasks at once ends well")?;
    measure(middle + middle / 2, &mut seconds)?;
    measure(middle - middle / 4, &mut seconds)?;
    let best = best(&seconds).unwrap_or(middle);
    Ok(Swept { seconds, best })
}
