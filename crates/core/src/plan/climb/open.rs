//! Nodes that are to be looked at, in the order of their numbers, from either side.
//!
//! A bit for each node, and a bit for each 64 bits of which one is set, and so on: to put one in and to find the next one takes three or four words, however
//! many there are, and who is put in twice is there once.

/// A set of numbers below some number.
#[derive(Debug)]
pub(super) struct Open {
    /// The bits of the numbers, then those of their words, up to a single word.
    levels: Vec<Vec<u64>>,
}

const BITS: usize = u64::BITS as usize;

impl Open {
    pub(super) fn new(count: usize) -> Open {
        let mut levels = vec![vec![0; count.div_ceil(BITS).max(1)]];
        while levels[levels.len() - 1].len() > 1 {
            levels.push(vec![0; levels[levels.len() - 1].len().div_ceil(BITS)]);
        }
        Open { levels }
    }

    /// Adds a number.
    pub(super) fn push(&mut self, number: u32) {
        let mut at = number as usize;
        for level in &mut self.levels {
            let word = &mut level[at / BITS];
            let was_there = *word != 0;
            *word |= 1 << (at % BITS);
            if was_there {
                return;
            }
            at /= BITS;
        }
    }

    /// Takes out the lowest number.
    pub(super) fn pop_first(&mut self) -> Option<u32> {
        self.pop(u64::trailing_zeros)
    }

    /// Takes out the highest number.
    pub(super) fn pop_last(&mut self) -> Option<u32> {
        self.pop(|word| u64::BITS - 1 - word.leading_zeros())
    }

    fn pop(&mut self, choose: impl Fn(u64) -> u32) -> Option<u32> {
        if self.levels[self.levels.len() - 1][0] == 0 {
            return None;
        }
        let down = self.levels.iter().rev();
        let found = down.fold(0, |at, level| at * BITS + choose(level[at]) as usize);
        let mut at = found;
        for level in &mut self.levels {
            let word = &mut level[at / BITS];
            *word &= !(1 << (at % BITS));
            if *word != 0 {
                break;
            }
            at /= BITS;
        }
        Some(found as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_out_in_order_and_once() {
        for count in [1, 64, 65, 5_000, 300_000] {
            let mut open = Open::new(count);
            assert_eq!(open.pop_first(), None);
            let mut numbers: Vec<u32> = (0..40).map(|at| (at * 7_919_u64 % count as u64) as u32).collect();
            numbers.iter().for_each(|number| open.push(*number));
            numbers.sort_unstable();
            numbers.dedup();
            assert_eq!(open.pop_last(), numbers.pop());
            assert_eq!(std::iter::from_fn(|| open.pop_first()).collect::<Vec<_>>(), numbers);
        }
    }
}
