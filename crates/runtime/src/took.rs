//! What attempts took, for those who learn from it: the next run, and a node that learns while it runs.
//!
//! The kernel tells the peak of an attempt's largest process, once that has ended. What all of its processes held together only the meter has
//! seen, if there is one, and only whenever it looked. The larger of the two is nearer to the truth.

use std::time::Duration;

use throng_core::pack::Spent;
use throng_core::past::Took;
use throng_core::trace::{Attempt, Usage};

use crate::slot::AttemptResult;

/// What an attempt took that has ended well, for those who want to know next time.
pub(crate) fn took(result: &AttemptResult) -> Took {
    let Attempt { usage, started, ended, .. } = &result.attempt;
    Took {
        seconds: ended.since(*started).as_secs_f64(),
        core_seconds: usage.core_us() as f64 / 1e6,
        peak_bytes: largest_process(usage).max(result.held_bytes) as f64,
        read_bytes: usage.read_bytes() as f64,
        written_bytes: usage.written_bytes() as f64,
        output_bytes: result.made.iter().map(|made| made.stamp.size as f64).sum(),
    }
}

/// The peak of an attempt as it goes on record: of one that is killed, the kernel tells nothing of processes for which nobody has waited, and the
/// meter may have seen more than that.
pub(crate) fn with_held(usage: Usage, held_bytes: u64) -> Usage {
    if held_bytes <= usage.peak_memory_bytes {
        return usage;
    }
    Usage { peak_memory_bytes: held_bytes, peak_is_bound: false, ..usage }
}

/// What a timer took, for a node that learns.
pub(crate) fn slept(time: Duration) -> Spent {
    Spent { time_us: time.as_micros() as u64, ..Spent::default() }
}

/// What an attempt took, for a node that learns. What its processes held together it has been told while they did.
pub(crate) fn spent(attempt: &Attempt) -> Spent {
    let usage = &attempt.usage;
    Spent {
        time_us: attempt.ended.since(attempt.started).as_micros() as u64,
        computing_us: usage.core_us(),
        peak_bytes: largest_process(usage),
    }
}

/// The peak of the largest process; nothing if that is not known, for the engine's own peak says nothing of a task.
fn largest_process(usage: &Usage) -> u64 {
    if usage.peak_is_bound { 0 } else { usage.peak_memory_bytes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slot::Job;
    use throng_core::ids::{DemandId, SlotId, TaskId};
    use throng_core::time::Time;

    #[test]
    fn the_larger_peak_is_the_one_to_keep() {
        let job = Job { task: TaskId(0), attempt: 1, demand: DemandId::at(0) };
        let mut result = AttemptResult::without_process(job, SlotId(0), Time::START);
        let mut peaks = |peak_memory_bytes, peak_is_bound, held_bytes| {
            result.attempt.usage = Usage { peak_memory_bytes, peak_is_bound, ..Usage::default() };
            result.held_bytes = held_bytes;
            (took(&result).peak_bytes, spent(&result.attempt).peak_bytes)
        };
        assert_eq!(peaks(100, false, 0), (100.0, 100), "nobody has looked");
        assert_eq!(peaks(100, false, 90), (100.0, 100), "it held more between two looks");
        assert_eq!(peaks(100, false, 300), (300.0, 100), "it has several processes");
        assert_eq!(peaks(100, true, 30), (30.0, 0), "the first is the engine's");
    }

    #[test]
    fn what_was_seen_goes_on_record_if_it_is_more() {
        let peak = |peak_memory_bytes, peak_is_bound, held_bytes| {
            let usage = with_held(Usage { peak_memory_bytes, peak_is_bound, ..Usage::default() }, held_bytes);
            (usage.peak_memory_bytes, usage.peak_is_bound)
        };
        assert_eq!((peak(100, true, 30), peak(100, false, 30)), ((100, true), (100, false)));
        assert_eq!((peak(100, true, 300), peak(100, false, 300)), ((300, false), (300, false)));
    }
}
