//! Which nodes could ever run which tasks: not every machine of a cluster has room for everything.
//!
//! Whatever a policy decides, a task goes only to nodes that could run it: by submission, push, theft, or when somebody drains.

use std::ops::Range;

use crate::ids::{ClassId, NodeId};
use crate::rng::Rng;

/// So many draws are made before nodes are looked at one by one.
const DRAWS: u32 = 8;

/// What the machines of a cluster can run.
#[derive(Clone, Debug, Default)]
pub struct Abilities {
    /// For each type of machine, the first node that is neither of it nor of one before.
    ends: Vec<u32>,
    /// For each class of tasks, a bit for each type of machine. Nothing if all machines can run everything.
    classes: Vec<u64>,
}

impl Abilities {
    /// So many types of machines can be told apart.
    pub const MOST_TYPES: usize = u64::BITS as usize;

    /// Of a cluster with so many machines of each type, counted through, that can run what `can` says.
    pub fn new(counts: &[u32], classes: usize, can: impl Fn(usize, ClassId) -> bool) -> Abilities {
        let ends = counts.iter().scan(0, |end: &mut u32, count| {
            *end += count;
            Some(*end)
        });
        let able = |class| (0..counts.len()).filter(|of| can(*of, class)).fold(0, |bits, of| bits | 1 << of);
        let mut abilities =
            Abilities { ends: ends.collect(), classes: (0..classes).map(|at| able(ClassId::at(at))).collect() };
        if abilities.classes.iter().all(|bits| bits.count_ones() as usize == counts.len()) {
            abilities.classes.clear();
        }
        abilities
    }

    /// Whether all nodes can run everything.
    pub fn are_equal(&self) -> bool {
        self.classes.is_empty()
    }

    /// Whether a node could ever run tasks of a class.
    pub fn can_run(&self, node: NodeId, class: ClassId) -> bool {
        let Some(bits) = self.classes.get(class.index()) else { return true };
        let of = self.ends.partition_point(|end| *end <= node.0);
        bits >> of & 1 == 1
    }

    /// Whether nobody could ever run tasks of a class.
    pub fn is_beyond_all(&self, class: ClassId) -> bool {
        self.classes.get(class.index()).is_some_and(|bits| *bits == 0)
    }

    /// Runs of nodes that could run tasks of a class, in order.
    fn able(&self, class: ClassId) -> impl Iterator<Item = Range<u32>> + '_ {
        let begins = std::iter::once(0).chain(self.ends.iter().copied());
        let runs = begins.zip(self.ends.iter().copied()).map(|(begin, end)| begin..end);
        runs.filter(move |run| !run.is_empty() && self.can_run(NodeId(run.start), class))
    }

    /// The so-manieth node that could run tasks of a class, again from the first one after the last.
    pub fn in_turn(&self, class: ClassId, turn: u64) -> Option<NodeId> {
        let count: u64 = self.able(class).map(|run| run.len() as u64).sum();
        let mut left = turn.checked_rem(count)? as u32;
        for run in self.able(class) {
            if left < run.len() as u32 {
                return Some(NodeId(run.start + left));
            }
            left -= run.len() as u32;
        }
        None
    }

    /// Some node that could run tasks of a class, of those that come into question. If few do, that takes a look at each.
    pub fn draw(&self, class: ClassId, rng: &mut Rng, counts: impl Fn(NodeId) -> bool) -> Option<NodeId> {
        let first = (0..DRAWS).filter_map(|_| self.in_turn(class, rng.next())).find(|node| counts(*node));
        first.or_else(|| self.able(class).flatten().map(NodeId).find(|node| counts(*node)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_goes_to_nodes_that_could_run_it() {
        let [small, large, none] = [0, 1, 2].map(ClassId);
        let abilities = Abilities::new(&[3, 2], 3, |of, class| class == small || of == 1 && class == large);
        let able = |class| (0..5).filter(|node| abilities.can_run(NodeId(*node), class)).collect::<Vec<u32>>();
        assert_eq!((able(small), able(large), able(none)), (vec![0, 1, 2, 3, 4], vec![3, 4], vec![]));
        assert_eq!([small, large, none].map(|class| abilities.is_beyond_all(class)), [false, false, true]);
        let turns: Vec<_> = (0..3).filter_map(|turn| abilities.in_turn(large, turn)).map(|node| node.0).collect();
        assert_eq!((turns, abilities.in_turn(none, 0)), (vec![3, 4, 3], None));
        let mut rng = Rng::new(1);
        for _ in 0..50 {
            assert_eq!(abilities.draw(large, &mut rng, |node| node != NodeId(3)), Some(NodeId(4)));
        }
        assert_eq!(abilities.draw(none, &mut rng, |_| true), None);
    }

    #[test]
    fn where_all_can_run_everything_nothing_is_kept() {
        let abilities = Abilities::new(&[3, 2], 1000, |_, _| true);
        assert!(abilities.are_equal() && abilities.classes.is_empty());
        assert!(abilities.can_run(NodeId(4), ClassId(999)));
        assert!(abilities.draw(ClassId(5), &mut Rng::new(1), |_| true).is_some());
    }
}
