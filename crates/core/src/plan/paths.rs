//! The longest ways through a graph whose nodes become shorter one by one, kept up to date.
//!
//! ```text
//!   reach from the beginning ──▶ node ──▶ reach from the end      both with the node itself
//!   through a node = one + the other − its time;  it is critical if that is the makespan
//! ```
//!
//! A node has to be looked at again only if the neighbour became shorter through which its longest way went. Where a node has very many
//! neighbours, they stand in a heap by what they had when they were last looked at: lengths only shrink, so that is never too little,
//! and whoever is on top as it is now is the longest.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::graph::Graph;

/// With more neighbours than this, a heap is faster than going through all of them.
const MANY: usize = 24;
/// Nobody.
const NONE: u32 = u32::MAX;

/// In which direction ways are measured.
#[derive(Clone, Copy, Debug)]
enum Direction {
    FromBeginning,
    FromEnd,
}

#[derive(Debug)]
struct Reach {
    direction: Direction,
    /// The longest way up to and with each node.
    longest: Vec<u64>,
    /// Through which neighbour it goes.
    through: Vec<u32>,
    /// For nodes with many neighbours, these, by what they had once.
    crowds: Vec<Option<BinaryHeap<(u64, u32)>>>,
    /// Where each node stands if all are in order.
    position: Vec<u32>,
    /// Nodes to be looked at again, the first one first.
    open: BinaryHeap<Reverse<(u32, u32)>>,
    is_open: Vec<bool>,
}

impl Reach {
    fn new(graph: &Graph, times: &[u64], direction: Direction) -> Reach {
        let count = graph.len();
        let mut reach = Reach {
            direction,
            longest: vec![0; count],
            through: vec![NONE; count],
            crowds: vec![None; count],
            position: vec![0; count],
            open: BinaryHeap::new(),
            is_open: vec![false; count],
        };
        for at in 0..count {
            let node = match direction {
                Direction::FromBeginning => graph.order()[at],
                Direction::FromEnd => graph.order()[count - 1 - at],
            };
            reach.position[node as usize] = at as u32;
            let before = reach.before(graph, node);
            if before.len() > MANY {
                let crowd = before.iter().map(|other| (reach.longest[*other as usize], *other)).collect();
                reach.crowds[node as usize] = Some(crowd);
            }
            reach.look(graph, times, node);
        }
        reach
    }

    fn before<'g>(&self, graph: &'g Graph, node: u32) -> &'g [u32] {
        match self.direction {
            Direction::FromBeginning => graph.parents(node),
            Direction::FromEnd => graph.children(node),
        }
    }

    fn behind<'g>(&self, graph: &'g Graph, node: u32) -> &'g [u32] {
        match self.direction {
            Direction::FromBeginning => graph.children(node),
            Direction::FromEnd => graph.parents(node),
        }
    }

    /// Looks anew how long the longest way up to a node is; says whether that is something else than before.
    fn look(&mut self, graph: &Graph, times: &[u64], node: u32) -> bool {
        let (length, through) = match &mut self.crowds[node as usize] {
            Some(crowd) => top(crowd, &self.longest),
            None => {
                let before = self.before(graph, node).iter();
                let longest = before.map(|other| (self.longest[*other as usize], *other)).max();
                longest.unwrap_or((0, NONE))
            }
        };
        self.through[node as usize] = through;
        let length = length + times[node as usize];
        std::mem::replace(&mut self.longest[node as usize], length) != length
    }

    /// A node has become shorter.
    fn shortened(&mut self, graph: &Graph, times: &[u64], node: u32) {
        self.open(node);
        while let Some(Reverse((_, node))) = self.open.pop() {
            self.is_open[node as usize] = false;
            if !self.look(graph, times, node) {
                continue;
            }
            for behind in self.behind(graph, node) {
                if self.through[*behind as usize] == node {
                    self.open(*behind);
                }
            }
        }
    }

    fn open(&mut self, node: u32) {
        if !std::mem::replace(&mut self.is_open[node as usize], true) {
            self.open.push(Reverse((self.position[node as usize], node)));
        }
    }
}

/// The longest of a crowd as it is now.
fn top(crowd: &mut BinaryHeap<(u64, u32)>, longest: &[u64]) -> (u64, u32) {
    loop {
        let mut first = crowd.peek_mut().expect("nobody leaves a crowd");
        let now = longest[first.1 as usize];
        if first.0 == now {
            return *first;
        }
        first.0 = now;
    }
}

/// The longest ways through a graph.
#[derive(Debug)]
pub(super) struct Paths<'a> {
    graph: &'a Graph,
    times: Vec<u64>,
    from_beginning: Reach,
    from_end: Reach,
    /// Nodes behind which nobody waits.
    ends: BinaryHeap<(u64, u32)>,
    makespan: u64,
}

impl<'a> Paths<'a> {
    pub(super) fn new(graph: &'a Graph, times: Vec<u64>) -> Paths<'a> {
        let from_beginning = Reach::new(graph, &times, Direction::FromBeginning);
        let from_end = Reach::new(graph, &times, Direction::FromEnd);
        let ends = (0..graph.len() as u32).filter(|node| graph.children(*node).is_empty());
        let ends = ends.map(|node| (from_beginning.longest[node as usize], node)).collect();
        let mut paths = Paths { graph, times, from_beginning, from_end, ends, makespan: 0 };
        paths.measure();
        paths
    }

    fn measure(&mut self) {
        self.makespan = if self.graph.is_empty() { 0 } else { top(&mut self.ends, &self.from_beginning.longest).0 };
    }

    /// How long the longest way is.
    pub(super) fn makespan(&self) -> u64 {
        self.makespan
    }

    /// How long the longest way through a node is.
    pub(super) fn through(&self, node: u32) -> u64 {
        let node = node as usize;
        self.from_beginning.longest[node] + self.from_end.longest[node] - self.times[node]
    }

    /// Whether a longest way leads through a node.
    pub(super) fn is_critical(&self, node: u32) -> bool {
        self.through(node) == self.makespan
    }

    /// A node takes less time by so much.
    pub(super) fn shorten(&mut self, node: u32, by: u64) {
        if by == 0 {
            return;
        }
        self.times[node as usize] -= by;
        self.from_beginning.shortened(self.graph, &self.times, node);
        self.from_end.shortened(self.graph, &self.times, node);
        self.measure();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn what_is_kept_is_what_would_be_found_anew() {
        for seed in 1..=60 {
            let mut rng = Rng::new(seed);
            let count = 2 + rng.below(60) as usize;
            let dense = rng.unit();
            let mut edges = Vec::new();
            for to in 1..count as u32 {
                let from = (0..to).filter(|_| rng.unit() < dense * 0.8);
                edges.extend(from.map(|from| (from, to)));
            }
            let graph = Graph::new(count, edges).unwrap();
            let mut times: Vec<u64> = (0..count).map(|_| rng.below(12)).collect();
            let mut paths = Paths::new(&graph, times.clone());
            for _ in 0..80 {
                let node = rng.below(count as u64) as usize;
                let by = rng.below(times[node] + 1);
                times[node] -= by;
                paths.shorten(node as u32, by);
                let (critical, makespan) = graph.critical(&times);
                let kept: Vec<u32> = (0..count as u32).filter(|node| paths.is_critical(*node)).collect();
                assert_eq!((kept, paths.makespan()), (critical, makespan), "seed {seed}");
            }
        }
    }
}
