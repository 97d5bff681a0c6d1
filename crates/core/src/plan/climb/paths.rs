//! The longest ways through a graph whose nodes become shorter one by one, kept up to date as far as they matter.
//!
//! ```text
//!   beginning ──▶ … ──▶ node ──▶ … ──▶ end
//!                       └───── rest ─────┘      with the node itself; that of the beginning is the makespan
//! ```
//!
//! A rest that was not looked at since others became shorter is too long, never too short, and never shorter than those behind it make it. While some way is
//! still as long as the makespan, nobody needs to be looked at: ways only cease to be the longest, which [`Members`] knows. Once there is none, the longest
//! way is searched for from the beginning: it leads to whoever behind has the longest rest, if that is known; if it is not, that one is searched first,
//! and given up once it is shorter than another that is known. So a step costs about as much as there are nodes before the one that became shorter, and
//! beside them those that seem to be as long; nobody else hears of it.
//!
//! A rest remains known until a node deeper in the graph becomes shorter, so what is behind the one that did is not searched again.

use super::crowds::{Crowds, MANY};
use super::members::Members;
use crate::plan::graph::Graph;

#[derive(Clone, Copy, Debug)]
struct Node {
    time: u64,
    /// More than that of those before it.
    depth: u32,
    /// How many had become shorter when the rest was found to be what it is.
    known_at: u32,
    /// Where those behind it begin and end in the list of these.
    behind: (u32, u32),
}

/// The longest ways through a graph, whose nodes stand in order: none waits for a later one.
#[derive(Debug)]
pub(super) struct Paths {
    /// All nodes, and then one that is before all of them: the beginning.
    nodes: Vec<Node>,
    /// For each the longest way from it to the end, or more. They are looked at far more often than all else.
    rests: Vec<u64>,
    behind: Vec<u32>,
    crowds: Crowds,
    critical: Members,
    /// How many times a node became shorter.
    now: u32,
    /// The last time that a node of some depth became shorter, unless a deeper one did later: the deepest first, the latest last.
    shortened: Vec<(u32, u32)>,
    /// Nodes that are searched, each behind the one before, and how long their rest has to be to matter.
    searched: Vec<(u32, u64)>,
    tied: Vec<u32>,
}

impl Paths {
    pub(super) fn new(graph: &Graph, times: &[u64]) -> Paths {
        let count = graph.len();
        let (mut nodes, mut behind): (Vec<Node>, Vec<u32>) = (Vec::with_capacity(count + 1), Vec::new());
        let first = (0..count as u32).filter(|node| graph.parents(*node).is_empty());
        for node in 0..=count as u32 {
            let begin = behind.len() as u32;
            let (mut time, mut depth) = (0, 0);
            if node < count as u32 {
                behind.extend(graph.children(node));
                time = times[node as usize];
                depth = 1 + graph.parents(node).iter().map(|other| nodes[*other as usize].depth).max().unwrap_or(0);
            } else {
                behind.extend(first.clone());
            }
            nodes.push(Node { time, depth, known_at: 0, behind: (begin, behind.len() as u32) });
        }
        let mut rests = vec![0; nodes.len()];
        for at in (0..count).rev().chain([count]) {
            let (begin, end) = nodes[at].behind;
            let longest = behind[begin as usize..end as usize].iter().map(|other| rests[*other as usize]).max();
            rests[at] = nodes[at].time + longest.unwrap_or(0);
        }
        let lists = nodes.iter().map(|node| &behind[node.behind.0 as usize..node.behind.1 as usize]);
        let crowds = Crowds::new(lists, |node| rests[node as usize]);
        let mut paths = Paths {
            nodes,
            rests,
            behind,
            crowds,
            critical: Members::new(count + 1),
            now: 0,
            shortened: Vec::new(),
            searched: Vec::new(),
            tied: Vec::new(),
        };
        paths.gather(&mut Vec::new());
        paths
    }

    /// How long the longest way is.
    pub(super) fn makespan(&self) -> u64 {
        self.rests[self.beginning() as usize]
    }

    /// Whether a longest way leads through a node.
    pub(super) fn is_critical(&self, node: u32) -> bool {
        self.critical.contains(node)
    }

    /// A node takes less time by so much; who becomes critical by that is added.
    pub(super) fn shorten(&mut self, node: u32, by: u64, became: &mut Vec<u32>) {
        if by == 0 {
            return;
        }
        let shorter = &mut self.nodes[node as usize];
        shorter.time -= by;
        self.rests[node as usize] -= by;
        self.now += 1;
        while self.shortened.last().is_some_and(|(depth, _)| *depth <= shorter.depth) {
            self.shortened.pop();
        }
        self.shortened.push((shorter.depth, self.now));
        if self.is_critical(node) && !self.critical.remove(node) {
            // All longest ways led through that one, so none has lost more.
            self.search(self.beginning(), self.makespan() - by);
            self.gather(became);
        }
    }

    fn beginning(&self) -> u32 {
        self.nodes.len() as u32 - 1
    }

    /// Whether the rest of a node is certainly what it seems.
    fn is_known(&self, node: u32) -> bool {
        let Node { depth, known_at, .. } = self.nodes[node as usize];
        let since = self.shortened.iter().rev().take_while(|(_, time)| *time > known_at);
        since.into_iter().all(|(other, _)| *other <= depth)
    }

    /// Finds the rest of a node, or that it is less than this.
    fn search(&mut self, node: u32, least: u64) {
        self.searched.push((node, least));
        while let Some(&(number, least)) = self.searched.last() {
            let longest = self.longest_behind(number);
            let time = self.nodes[number as usize].time;
            let rest = time + longest.map_or(0, |(rest, _)| rest);
            self.rests[number as usize] = rest;
            if rest < least {
                self.searched.pop();
                continue;
            }
            let rest_needed = least.saturating_sub(time);
            match longest {
                Some((_, next)) if !self.is_known(next) => self.searched.push((next, rest_needed)),
                _ => self.found(),
            }
        }
    }

    /// The rest of the node that is searched is known, and with it those of all before it that were searched for its sake, as far as it is
    /// as long as it seemed.
    fn found(&mut self) {
        while let Some((found, _)) = self.searched.pop() {
            self.nodes[found as usize].known_at = self.now;
            let Some((before, least)) = self.searched.last_mut() else { return };
            let rest = self.nodes[*before as usize].time + self.rests[found as usize];
            if self.rests[*before as usize] > rest {
                // Another may be longer.
                *least = (*least).max(rest);
                return;
            }
        }
    }

    /// Who has the longest rest behind a node, as far as is known.
    fn longest_behind(&mut self, node: u32) -> Option<(u64, u32)> {
        let (rests, (begin, end)) = (&self.rests, self.nodes[node as usize].behind);
        let rest = |other: u32| rests[other as usize];
        if (end - begin) as usize > MANY {
            return Some(self.crowds.longest_behind(node, rest));
        }
        let behind = &self.behind[begin as usize..end as usize];
        behind.iter().map(|other| (rest(*other), *other)).max_by_key(|(rest, _)| *rest)
    }

    /// Finds who is critical, from the beginning on, whose rest is known.
    fn gather(&mut self, became: &mut Vec<u32>) {
        self.critical.begin(self.beginning());
        let (mut at, mut tied) = (0, std::mem::take(&mut self.tied));
        while let Some(number) = self.critical.get(at) {
            at += 1;
            let Node { time, behind: (begin, end), .. } = self.nodes[number as usize];
            let rest = self.rests[number as usize] - time;
            if (end - begin) as usize > MANY {
                self.crowds.as_long_behind(number, rest, &mut tied);
            } else {
                tied.extend(&self.behind[begin as usize..end as usize]);
            }
            for next in tied.drain(..) {
                if self.rests[next as usize] == rest && !self.is_known(next) {
                    self.search(next, rest);
                }
                if self.rests[next as usize] == rest && self.critical.add(number, next) {
                    became.push(next);
                }
            }
        }
        self.tied = tied;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    #[test]
    fn what_is_kept_is_what_would_be_found_anew() {
        for seed in 1..=400 {
            let mut rng = Rng::new(seed);
            let count = 2 + rng.below(90) as usize;
            let (dense, longest) = (rng.unit(), 1 << (1 + rng.below(12)));
            // In every second graph, one that waits for all before it and for which all behind it wait, but for a few.
            let middle = rng.below(count as u64) as u32;
            let mut edges = Vec::new();
            for to in 1..count as u32 {
                let is_middle = seed % 2 == 0 && (to == middle || to > middle && rng.unit() < 0.9);
                let is_edge =
                    |rng: &mut Rng, from| is_middle && (to == middle || from == middle) || rng.unit() < dense * 0.8;
                let from: Vec<u32> = (0..to).filter(|from| is_edge(&mut rng, *from)).collect();
                edges.extend(from.into_iter().map(|from| (from, to)));
            }
            let graph = Graph::new(count, edges).unwrap();
            let mut times: Vec<u64> = (0..count).map(|_| rng.below(longest)).collect();
            let mut paths = Paths::new(&graph, &times);
            let mut critical = graph.critical(&times).0;
            for _ in 0..160 {
                // Mostly somebody critical, as in a climb.
                let node = match rng.below(4) {
                    0 => rng.below(count as u64) as usize,
                    _ => critical[rng.below(critical.len() as u64) as usize] as usize,
                };
                let by = rng.below(times[node] + 1);
                times[node] -= by;
                let (before, mut became) = (critical, Vec::new());
                paths.shorten(node as u32, by, &mut became);
                let makespan;
                (critical, makespan) = graph.critical(&times);
                let kept: Vec<u32> = (0..count as u32).filter(|node| paths.is_critical(*node)).collect();
                assert_eq!((&kept, paths.makespan()), (&critical, makespan), "seed {seed}");
                assert!(kept.iter().all(|node| before.contains(node) || became.contains(node)), "seed {seed}");
            }
        }
    }
}
