//! Lengths of time that are too long for a number: whoever writes down sizes of exabytes and a network of one byte a second gets an
//! answer, not a panic.

use std::time::Duration;

use throng_core::time::Time;

/// The end of time, some 584 years after the start: whatever would come later never comes.
pub(crate) const NEVER: Time = Time(u64::MAX);

/// So many times as long, or as long as can be said.
pub(crate) fn times(length: Duration, factor: f64) -> Duration {
    let product = Duration::try_from_secs_f64(length.as_secs_f64() * factor);
    product.unwrap_or(if factor > 0.0 { Duration::MAX } else { Duration::ZERO })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_as_long_as_can_be_said() {
        let second = Duration::from_secs(1);
        assert_eq!(times(second, 2.5), Duration::from_millis(2500));
        assert_eq!(times(Duration::MAX, 0.0), Duration::ZERO);
        for (length, factor) in [(Duration::MAX, 1.0), (Duration::MAX, 1.5), (second, 1e300), (second, f64::INFINITY)] {
            assert_eq!(times(length, factor), Duration::MAX, "{length:?} times {factor}");
        }
        assert_eq!([times(second, -1.0), times(second, f64::NAN)], [Duration::ZERO; 2]);
    }
}
