//! Nodes with very many neighbours, of whom only a few matter: those with the longest way before them, and those behind that are critical.
//!
//! Real workflows gather the results of ten thousand tasks in one, and hand them out to ten thousand again. To go through all of these whenever that one is
//! looked at would be most of the work.

use std::collections::BinaryHeap;

use crate::plan::graph::Graph;

/// With more neighbours than this, to keep them apart is faster than going through all of them.
pub(super) const MANY: usize = 24;

/// In which direction ways are measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    FromBeginning,
    FromEnd,
}

impl Direction {
    pub(super) const BOTH: [Direction; 2] = [Direction::FromBeginning, Direction::FromEnd];

    /// Those who are nearer to where ways begin.
    pub(super) fn before(self, graph: &Graph, node: u32) -> &[u32] {
        match self {
            Direction::FromBeginning => graph.parents(node),
            Direction::FromEnd => graph.children(node),
        }
    }

    /// Those who are further from there.
    pub(super) fn behind(self, graph: &Graph, node: u32) -> &[u32] {
        match self {
            Direction::FromBeginning => graph.children(node),
            Direction::FromEnd => graph.parents(node),
        }
    }
}

/// What is kept for nodes with many neighbours in one direction.
#[derive(Debug)]
pub(super) struct Crowds {
    /// Nodes with many before them, and these, by the way up to them when that was last looked at.
    gathering: Vec<u32>,
    before: Vec<BinaryHeap<(u64, u32)>>,
    /// Nodes with many behind them, and of these all that are critical, and perhaps others.
    spreading: Vec<u32>,
    followers: Vec<Vec<u32>>,
    /// For nodes behind such nodes, which these are: pairs of the node and the place of its followers, in order.
    follows: Vec<(u32, u32)>,
    is_following: Vec<bool>,
}

impl Crowds {
    pub(super) fn new(graph: &Graph, direction: Direction, reach: impl Fn(u32) -> u64) -> Crowds {
        let nodes = 0..graph.len() as u32;
        let gathering: Vec<u32> = nodes.clone().filter(|node| direction.before(graph, *node).len() > MANY).collect();
        let heap = |node: &u32| direction.before(graph, *node).iter().map(|other| (reach(*other), *other)).collect();
        let before = gathering.iter().map(heap).collect();
        let spreading: Vec<u32> = nodes.filter(|node| direction.behind(graph, *node).len() > MANY).collect();
        let places = spreading.iter().enumerate();
        let follows =
            places.flat_map(|(at, node)| direction.behind(graph, *node).iter().map(move |other| (*other, at as u32)));
        let mut follows: Vec<(u32, u32)> = follows.collect();
        follows.sort_unstable();
        let followers = vec![Vec::new(); spreading.len()];
        Crowds { gathering, before, spreading, followers, follows, is_following: vec![false; graph.len()] }
    }

    /// The longest way up to anybody before a node with many before it; it was never shorter than it is now.
    pub(super) fn longest_before(&mut self, node: u32, reach: impl Fn(u32) -> u64) -> u64 {
        let at = self.gathering.binary_search(&node).expect("it has many before it");
        loop {
            let mut first = self.before[at].peek_mut().expect("nobody leaves");
            let now = reach(first.1);
            if first.0 == now {
                return now;
            }
            first.0 = now;
        }
    }

    /// A node has become critical.
    pub(super) fn follow(&mut self, node: u32) {
        if self.spreading.is_empty() || std::mem::replace(&mut self.is_following[node as usize], true) {
            return;
        }
        let first = self.follows.partition_point(|(other, _)| *other < node);
        for (_, at) in self.follows[first..].iter().take_while(|(other, _)| *other == node) {
            self.followers[*at as usize].push(node);
        }
    }

    /// Goes through all critical nodes behind one with many behind it; who turns out not to be is forgotten.
    pub(super) fn tell(
        &mut self,
        graph: &Graph,
        direction: Direction,
        node: u32,
        mut is_critical: impl FnMut(u32) -> bool,
    ) {
        let at = self.spreading.binary_search(&node).expect("it has many behind it");
        let followers = &mut self.followers[at];
        if followers.len() > direction.behind(graph, node).len() {
            // Whoever was forgotten by another node and came back is here twice.
            followers.sort_unstable();
            followers.dedup();
        }
        let is_following = &mut self.is_following;
        followers.retain(|other| {
            let stays = is_critical(*other);
            is_following[*other as usize] &= stays;
            stays
        });
    }
}
