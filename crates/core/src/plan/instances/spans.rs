//! When something that does one thing at a time is busy: a network card that receives, or one that sends.

/// Spans of time, in order, that do not overlap.
#[derive(Clone, Debug, Default)]
pub(super) struct Spans {
    busy: Vec<(u64, u64)>,
}

impl Spans {
    /// When it has so much time in one piece for the first time, from some time on.
    pub(super) fn free(&self, from: u64, length: u64) -> u64 {
        if length == 0 {
            return from;
        }
        let mut begin = from;
        let first = self.busy.partition_point(|(_, end)| *end <= from);
        for (busy, end) in &self.busy[first..] {
            if begin.saturating_add(length) <= *busy {
                break;
            }
            begin = begin.max(*end);
        }
        begin
    }

    /// It is busy from then on for so long, perhaps with something else as well.
    pub(super) fn take(&mut self, begin: u64, length: u64) {
        if length == 0 {
            return;
        }
        let (mut begin, mut end) = (begin, begin.saturating_add(length));
        let first = self.busy.partition_point(|(_, other)| *other < begin);
        let last = self.busy.partition_point(|(other, _)| *other <= end);
        if let [before, ..] = self.busy[first..last] {
            begin = begin.min(before.0);
            end = end.max(self.busy[last - 1].1);
        }
        self.busy.splice(first..last, [(begin, end)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_found_and_filled() {
        let mut spans = Spans::default();
        for begin in [10, 30, 15] {
            spans.take(begin, 5);
        }
        assert_eq!(spans.busy, [(10, 20), (30, 35)]);
        assert_eq!(
            [(0, 10), (0, 11), (12, 1), (20, 10), (18, 11), (40, 1), (12, 0)].map(|(at, long)| spans.free(at, long)),
            [0, 35, 20, 20, 35, 40, 12]
        );
        spans.take(20, 10);
        assert_eq!(spans.busy, [(10, 35)]);
        spans.take(50, 5);
        spans.take(5, 46);
        spans.take(60, 1);
        assert_eq!(spans.busy, [(5, 55), (60, 61)]);
    }
}
