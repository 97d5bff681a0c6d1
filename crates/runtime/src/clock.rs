//! The run's clock: nanoseconds since it began.

use std::time::Instant;

use throng_core::time::Time;

/// Tells the time of a run.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    start: Instant,
}

impl Clock {
    /// A clock that starts now.
    pub fn start() -> Self {
        Clock { start: Instant::now() }
    }

    /// The time.
    pub fn now(&self) -> Time {
        Time(self.start.elapsed().as_nanos() as u64)
    }
}
