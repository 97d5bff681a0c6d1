//! Asking again: a server that is busy or restarts answers a moment later.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, ErrorKind};
use std::time::{Duration, Instant};

use super::refusal::Refusal;

/// A server is asked again after about these pauses.
const PAUSES: [Duration; 3] = [Duration::from_millis(100), Duration::from_millis(400), Duration::from_millis(1600)];
/// How soon it is noticed that nobody waits any more: people do not feel less.
const NOTICE: Duration = Duration::from_millis(20);

/// The pauses that are left.
pub(super) struct Pauses {
    left: std::slice::Iter<'static, Duration>,
}

impl Pauses {
    pub(super) fn new() -> Pauses {
        Pauses { left: PAUSES.iter() }
    }

    /// Waits, and says whether to ask again: not if it has been done often enough, nor if nobody waits any more.
    pub(super) fn wait(&mut self, goes_on: &dyn Fn() -> bool) -> bool {
        let Some(pause) = self.left.next() else { return false };
        let end = Instant::now() + spread(*pause, RandomState::new().build_hasher().finish());
        while goes_on() {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return true;
            }
            std::thread::sleep(left.min(NOTICE));
        }
        false
    }
}

/// Half to one and a half times a pause, so that threads that were refused together do not come back together.
fn spread(pause: Duration, chance: u64) -> Duration {
    pause / 2 + pause.mul_f64(chance as f64 / u64::MAX as f64)
}

/// Tries until something succeeds, or fails in a way that stays.
pub(super) fn persist<T>(goes_on: &dyn Fn() -> bool, mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut pauses = Pauses::new();
    loop {
        match attempt() {
            Err(error) if is_passing(&error) && pauses.wait(goes_on) => {}
            result => return result,
        }
    }
}

/// Whether trying again may help.
pub(super) fn is_passing(error: &io::Error) -> bool {
    match Refusal::of(error) {
        Some(refusal) => refusal.is_passing(),
        None => !matches!(error.kind(), ErrorKind::InvalidInput | ErrorKind::InvalidData),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;
    use std::collections::HashSet;

    #[test]
    fn pauses_differ() {
        assert_eq!(spread(PAUSES[0], 0), Duration::from_millis(50));
        assert_eq!(spread(PAUSES[0], u64::MAX), Duration::from_millis(150));
        let drawn: HashSet<u64> = (0..16).map(|_| RandomState::new().build_hasher().finish()).collect();
        assert_eq!(drawn.len(), 16);
    }

    #[test]
    fn what_passes_is_tried_again_and_what_stays_is_not() {
        let tries = |kind: ErrorKind| {
            let count = Cell::new(0);
            let result = persist(&|| true, || match count.replace(count.get() + 1) {
                0 => Err(io::Error::from(kind)),
                _ => Ok(()),
            });
            (count.get(), result.is_ok())
        };
        assert_eq!(tries(ErrorKind::ConnectionReset), (2, true));
        assert_eq!(tries(ErrorKind::InvalidData), (1, false));
    }

    #[test]
    fn nobody_waits_for_a_run_that_is_over() {
        const OVER: Duration = Duration::from_millis(700);
        let (start, tries, last) = (Instant::now(), Cell::new(0), Cell::new(Duration::ZERO));
        let goes_on = || tries.get() < 3 || start.elapsed() < OVER;
        let result: io::Result<()> = persist(&goes_on, || {
            tries.set(tries.get() + 1);
            last.set(start.elapsed());
            Err(io::Error::new(ErrorKind::ConnectionRefused, "why"))
        });
        assert_eq!((tries.get(), result.unwrap_err().to_string().as_str()), (3, "why"));
        let late = start.elapsed() - last.get().max(OVER);
        assert!(late < Duration::from_millis(300), "the third pause takes at least 800 ms: {late:?}");
    }
}
