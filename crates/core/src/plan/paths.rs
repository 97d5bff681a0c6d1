//! The longest ways through a graph whose nodes become shorter one by one, kept up to date as far as they matter.
//!
//! ```text
//!   reach from the beginning ──▶ node ──▶ reach from the end      both with the node itself
//!   through a node = one + the other − its time;  it is critical if that is the makespan
//! ```
//!
//! A reach that was not looked at since others became shorter is too long, never too short. So a node through which even that way is shorter than
//! the makespan is certainly not critical, and is left alone until the makespan has come down to it; then it is looked at again. Whoever is looked at
//! and found critical is as long as it seems, since the neighbour through which its way leads is critical as well. So a step costs as
//! much as the longest way has nodes and as there are some whose ways were hardly shorter, however many are behind the one that became shorter.
//! Those that are hardly shorter will be wanted soon, and are looked at together, each after those before it, so that once is enough.
//!
//! Where a node has very many neighbours, they stand in a heap by what they had when they were last looked at: whoever is on top as it is now is the
//! longest.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::graph::Graph;

/// With more neighbours than this, a heap is faster than going through all of them.
const MANY: usize = 24;
/// Looked at are those whose ways are shorter than the makespan by no more than so many times what it usually loses in a step.
const AHEAD: u64 = 64;
/// So many steps make up what is usual.
const USUAL: u64 = 16;
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
    /// The longest way up to and with each node, or more.
    longest: Vec<u64>,
    /// Through which neighbour it goes.
    through: Vec<u32>,
    /// For nodes with many neighbours, these, by what they had once.
    crowds: Vec<Option<BinaryHeap<(u64, u32)>>>,
    /// Whether that neighbour has become shorter since the node was looked at.
    is_stale: Vec<bool>,
    /// Where each node stands if all are in order.
    position: Vec<u32>,
    /// Nodes to be looked at now, the first one first.
    open: BinaryHeap<Reverse<(u32, u32)>>,
}

impl Reach {
    fn new(graph: &Graph, times: &[u64], direction: Direction) -> Reach {
        let count = graph.len();
        let mut reach = Reach {
            direction,
            longest: vec![0; count],
            through: vec![NONE; count],
            crowds: vec![None; count],
            is_stale: vec![false; count],
            position: vec![0; count],
            open: BinaryHeap::new(),
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
        self.is_stale[node as usize] = false;
        let length = length + times[node as usize];
        std::mem::replace(&mut self.longest[node as usize], length) != length
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
pub(super) struct Paths {
    graph: Graph,
    times: Vec<u64>,
    reaches: [Reach; 2],
    /// Nodes of which a reach is stale, by the way through them when they came here; each is here once.
    stale: BinaryHeap<(u64, u32)>,
    is_in_line: Vec<bool>,
    /// Nodes behind which nobody waits.
    ends: BinaryHeap<(u64, u32)>,
    makespan: u64,
    /// By how much it becomes less in a step, usually.
    usual_loss: u64,
}

impl Paths {
    pub(super) fn new(graph: Graph, times: Vec<u64>) -> Paths {
        let reaches = [Direction::FromBeginning, Direction::FromEnd].map(|to| Reach::new(&graph, &times, to));
        let ends = (0..graph.len() as u32).filter(|node| graph.children(*node).is_empty());
        let ends = ends.map(|node| (reaches[0].longest[node as usize], node)).collect();
        let is_in_line = vec![false; graph.len()];
        let mut paths =
            Paths { graph, times, reaches, stale: BinaryHeap::new(), is_in_line, ends, makespan: 0, usual_loss: 0 };
        paths.measure();
        paths
    }

    fn measure(&mut self) {
        self.makespan = if self.graph.is_empty() { 0 } else { top(&mut self.ends, &self.reaches[0].longest).0 };
    }

    /// How long the longest way is.
    pub(super) fn makespan(&self) -> u64 {
        self.makespan
    }

    /// How long the longest way through a node is; if that is less than the makespan, perhaps less.
    pub(super) fn through(&self, node: u32) -> u64 {
        let node = node as usize;
        self.reaches[0].longest[node] + self.reaches[1].longest[node] - self.times[node]
    }

    /// Whether a longest way leads through a node.
    pub(super) fn is_critical(&self, node: u32) -> bool {
        self.through(node) >= self.makespan
    }

    /// A node takes less time by so much.
    pub(super) fn shorten(&mut self, node: u32, by: u64) {
        if by == 0 {
            return;
        }
        self.times[node as usize] -= by;
        let before = self.makespan;
        let from = before.saturating_sub(self.usual_loss * AHEAD);
        for reach in 0..self.reaches.len() {
            self.reaches[reach].longest[node as usize] -= by;
            self.tell_those_behind(reach, node, from);
        }
        self.settle(from);
        self.usual_loss = (self.usual_loss * (USUAL - 1) + (before - self.makespan)) / USUAL;
    }

    /// A reach of a node has become shorter: whose own leads through it has to be looked at, now or, if its way is shorter than this, later.
    fn tell_those_behind(&mut self, reach: usize, node: u32, from: u64) {
        for at in 0..self.reaches[reach].behind(&self.graph, node).len() {
            let told = &mut self.reaches[reach];
            let behind = told.behind(&self.graph, node)[at];
            if told.through[behind as usize] != node || std::mem::replace(&mut told.is_stale[behind as usize], true) {
                continue;
            }
            self.open_or_wait(reach, behind, from);
        }
    }

    /// Somebody with a stale reach is to be looked at, now or later.
    fn open_or_wait(&mut self, reach: usize, node: u32, from: u64) {
        let through = self.through(node);
        if through >= from {
            let reach = &mut self.reaches[reach];
            reach.open.push(Reverse((reach.position[node as usize], node)));
        } else if !std::mem::replace(&mut self.is_in_line[node as usize], true) {
            self.stale.push((through, node));
        }
    }

    /// Looks at everybody through whom a way leads that may be so long, and at everybody who may be critical.
    fn settle(&mut self, from: u64) {
        let mut from = from;
        loop {
            for reach in 0..self.reaches.len() {
                while let Some(Reverse((_, node))) = self.reaches[reach].open.pop() {
                    if self.through(node) < from {
                        self.open_or_wait(reach, node, from);
                    } else if self.reaches[reach].look(&self.graph, &self.times, node) {
                        self.tell_those_behind(reach, node, from);
                    }
                }
            }
            self.measure();
            if self.stale.peek().is_none_or(|(through, _)| *through < self.makespan) {
                return;
            }
            from = from.min(self.makespan.saturating_sub(self.usual_loss * AHEAD));
            while let Some(&(_, node)) = self.stale.peek().filter(|(through, _)| *through >= from) {
                self.stale.pop();
                self.is_in_line[node as usize] = false;
                for reach in 0..self.reaches.len() {
                    if self.reaches[reach].is_stale[node as usize] {
                        self.open_or_wait(reach, node, from);
                    }
                }
            }
        }
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
            let mut paths = Paths::new(graph.clone(), times.clone());
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
