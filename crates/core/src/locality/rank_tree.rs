//! Sums over all that comes after a moment, while moments are added at the end: a Fenwick tree that grows.

/// Weights at moments 1, 2, 3, …
#[derive(Clone, Debug, Default)]
pub(super) struct RankTree {
    /// `tree[i - 1]` is the sum of the weights at the moments from `i - (i & -i) + 1` to `i`.
    tree: Vec<i64>,
    total: i64,
}

impl RankTree {
    /// Adds to the weight of a moment.
    pub(super) fn add(&mut self, moment: u32, weight: i64) {
        self.grow(moment as usize);
        self.total += weight;
        let mut at = moment as usize;
        while at <= self.tree.len() {
            self.tree[at - 1] += weight;
            at += at & at.wrapping_neg();
        }
    }

    /// The weight of all moments after one.
    pub(super) fn after(&self, moment: u32) -> i64 {
        let mut at = (moment as usize).min(self.tree.len());
        let mut before = 0;
        while at > 0 {
            before += self.tree[at - 1];
            at &= at - 1;
        }
        self.total - before
    }

    /// Makes room for a moment. A power of two covers all before it, so the new half starts with nothing but its own end.
    fn grow(&mut self, moment: usize) {
        while self.tree.len() < moment {
            let size = (self.tree.len() * 2).max(64);
            let total = self.total;
            self.tree.resize(size, 0);
            self.tree[size - 1] = total;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn sums_are_those_of_a_plain_list() {
        let (mut tree, mut plain) = (RankTree::default(), vec![0i64; 1000]);
        let mut rng = Rng::new(7);
        for step in 0..2000 {
            let moment = 1 + rng.below(1 + step.min(998)) as usize;
            let weight = rng.below(100) as i64 - 30;
            tree.add(moment as u32, weight);
            plain[moment] += weight;
            let asked = rng.below(1000) as usize;
            assert_eq!(tree.after(asked as u32), plain[(asked + 1).min(1000)..].iter().sum::<i64>(), "step {step}");
        }
    }
}
