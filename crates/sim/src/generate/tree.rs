//! Trees in which every node but the last few has equally many children, as `fan-out` and `fan-in` have them.
//!
//! Nodes are numbered level by level: the parent of node `i` is node `(i - 1) / degree`. Here a node is called by the way
//! to it: the root is `0`, its children `0.0`, `0.1` and so on, and theirs `0.0.0`. So the name of a parent is the
//! beginning of its child's, and a level can be written as ranges of digits, without any arithmetic in the workflow.

use super::stage::{Key, Stage};

/// The levels of a tree, the root's first: how many nodes there are on each.
pub(super) fn levels(tasks: u64, degree: u64) -> Vec<u64> {
    let mut levels = Vec::new();
    let (mut left, mut width) = (tasks, 1u64);
    while left > 0 {
        levels.push(width.min(left));
        left -= width.min(left);
        width = width.saturating_mul(degree);
    }
    levels
}

/// Nodes of one level that can be told apart by ranges of digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    /// The digits that all of them begin with.
    fixed: Vec<u64>,
    /// What the other digits run over, both ends included.
    ranges: Vec<(u64, u64)>,
}

/// The nodes of a level from one position up to another, as few blocks, in order.
pub(super) fn blocks(level: usize, degree: u64, from: u64, to: u64) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut at = from;
    while at < to {
        if level == 0 {
            return vec![Block { fixed: Vec::new(), ranges: Vec::new() }];
        }
        // How many of the last digits can run freely: as many as are zero and leave the end in reach.
        let (mut free, mut size) = (0, 1);
        while free + 1 < level && at.is_multiple_of(size * degree) && at + size * degree <= to {
            free += 1;
            size *= degree;
        }
        let digits: Vec<u64> = (0..level as u32).rev().map(|place| at / degree.pow(place) % degree).collect();
        let first = digits[level - 1 - free];
        let count = ((to - at) / size).min(degree - first);
        let mut ranges = vec![(first, first + count - 1)];
        ranges.resize(1 + free, (0, degree - 1));
        blocks.push(Block { fixed: digits[..level - 1 - free].to_vec(), ranges });
        at += count * size;
    }
    blocks
}

impl Block {
    /// A stage of these nodes: `{id}` is the name of one, `{from}` that of its parent.
    pub(super) fn stage(&self, name: &str) -> Stage {
        let keys = self.ranges.iter().enumerate().map(|(at, (first, last))| Key {
            name: format!("k{}", self.fixed.len() + at + 1),
            first: *first,
            last: *last,
        });
        let stage = Stage::new(name, keys.collect());
        let mut parts = vec!["0".to_owned()];
        parts.extend(self.fixed.iter().map(u64::to_string));
        parts.extend(stage.keys.iter().map(|key| format!("{{{}}}", key.name)));
        let from = parts[..parts.len() - 1].join(".");
        stage.with_columns(&[("id", parts.join(".")), ("from", from)])
    }
}

/// The name of a stage: that of its level, and a letter if there are several.
pub(super) fn stage_name(level: usize, number: usize, of: usize) -> String {
    if of == 1 { format!("level{level}") } else { format!("level{level}-{}", number + 1) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of all nodes of some blocks.
    fn names(blocks: &[Block]) -> Vec<String> {
        let mut names = Vec::new();
        for block in blocks {
            let stage = block.stage("x");
            let mut keys: Vec<u64> = stage.keys.iter().map(|key| key.first).collect();
            loop {
                names.push(stage.fill_keys(&stage.columns[0].text, &keys));
                if !stage.advance(&mut keys) {
                    break;
                }
            }
        }
        names
    }

    #[test]
    fn levels_of_a_thousand() {
        assert_eq!(levels(1000, 10), [1, 10, 100, 889]);
        assert_eq!(levels(1, 10), [1]);
        assert_eq!(levels(7, 2), [1, 2, 4]);
    }

    #[test]
    fn blocks_are_all_nodes_from_one_to_another_in_order() {
        for (degree, level) in [(2, 0), (2, 4), (3, 3), (10, 2), (5, 1)] {
            let width = u64::pow(degree, level as u32);
            let all = names(&blocks(level, degree, 0, width));
            assert_eq!(all.len() as u64, width);
            for from in 0..width {
                for to in from..=width {
                    let blocks = blocks(level, degree, from, to);
                    assert_eq!(names(&blocks), all[from as usize..to as usize], "{degree} {level} {from} {to}");
                    assert!(blocks.len() <= 2 * level + 1, "{blocks:?}");
                }
            }
        }
        assert_eq!(names(&blocks(3, 10, 887, 889)), ["0.8.8.7", "0.8.8.8"]);
        assert_eq!(blocks(3, 10, 0, 889).len(), 3);
    }
}
