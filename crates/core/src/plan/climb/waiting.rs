//! Nodes that wait, by how long the longest way through them may be, until the makespan has come down to that.
//!
//! A radix heap (Ahuja, Mehlhorn, Orlin and Tarjan, 1990): since the makespan only ever becomes less, it is enough to know in which bit a node's way first
//! differs from it. Where that is the same, nodes lie in a heap without order, which is only gone through once the makespan has come that
//! close. So to put a node in costs nothing much, and those far away are left alone; an ordinary heap took half of all the time of a climb.

/// Bits of a length, and one for those without a difference.
const HEAPS: usize = u64::BITS as usize + 1;

/// Nodes with a length each, none of which is above the limit.
#[derive(Debug)]
pub(super) struct Waiting {
    limit: u64,
    /// By the number of bits from the first that differs from the limit on.
    heaps: [Vec<(u64, u32)>; HEAPS],
}

impl Waiting {
    pub(super) fn new(limit: u64) -> Waiting {
        Waiting { limit, heaps: [const { Vec::new() }; HEAPS] }
    }

    fn heap_of(&self, length: u64) -> usize {
        (u64::BITS - (length ^ self.limit).leading_zeros()) as usize
    }

    /// Adds a node.
    pub(super) fn push(&mut self, length: u64, node: u32) {
        assert!(length <= self.limit, "no way is longer than the longest");
        let heap = self.heap_of(length);
        self.heaps[heap].push((length, node));
    }

    /// Takes out all nodes with at least this length, in no order that means anything.
    pub(super) fn take(&mut self, least: u64, taken: &mut Vec<u32>) {
        let last = self.heap_of(least);
        for heap in &mut self.heaps[..last] {
            taken.extend(heap.drain(..).map(|(_, node)| node));
        }
        let heap = &mut self.heaps[last];
        let mut at = 0;
        while at < heap.len() {
            if heap[at].0 >= least {
                taken.push(heap.swap_remove(at).1);
            } else {
                at += 1;
            }
        }
    }

    /// The limit comes down; whoever is above it was taken out before.
    pub(super) fn lower(&mut self, limit: u64) {
        let changed = self.heap_of(limit);
        self.limit = limit;
        for (length, node) in std::mem::take(&mut self.heaps[changed]) {
            self.push(length, node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn those_are_taken_that_are_long_enough() {
        for seed in 1..=200 {
            let mut rng = Rng::new(seed);
            let most = 1 << rng.below(40);
            let (mut limit, mut waiting, mut there) = (most, Waiting::new(most), Vec::new());
            for number in 0..60 {
                let length = rng.below(limit + 1);
                waiting.push(length, number);
                there.push((length, number));
                let (least, mut taken) = (limit - rng.below(limit / 4 + 1), Vec::new());
                waiting.take(least, &mut taken);
                taken.sort_unstable();
                let long: Vec<u32> = there.iter().filter(|it| it.0 >= least).map(|it| it.1).collect();
                assert_eq!(taken, long, "seed {seed}");
                there.retain(|it| it.0 < least);
                limit = least;
                waiting.lower(limit);
            }
        }
    }
}
