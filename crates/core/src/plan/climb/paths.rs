//! The longest ways through a graph whose nodes become shorter one by one, kept up to date as far as they matter.
//!
//! ```text
//!   reach from the beginning ──▶ node ──▶ reach from the end      both with the node itself
//!   through a node = one + the other − its time;  it is critical if that is the makespan
//! ```
//!
//! A reach that was not looked at since others became shorter is too long, never too short, and never shorter than those before it make it. So a node
//! through which even that way is shorter than the makespan is certainly not critical, and nobody tells it anything until the makespan has come down to
//! it. Reaches of critical nodes are as long as they seem.
//!
//! When a critical node becomes shorter, critical nodes whose reach led through it are looked at, in order. If some are still critical, that was all. If
//! none is, the makespan becomes less: those who wait and may be near it are looked at as well, each once from either side, and the longest way through any
//! of them is the makespan. How near is guessed from what is usual; the longest way is among them, or the guess was wrong and more are taken.
//!
//! Who is looked at while others beside it are not is still too long, if by less, and will soon be back. So every second time
//! twice as many are taken, every fourth time four times as many, and so on: in layers of a thousand that halves the work.

use super::crowds::{Crowds, Direction, MANY};
use super::open::Open;
use super::waiting::Waiting;
use crate::plan::graph::Graph;

/// So many losses of the makespan make up what is usual.
const USUAL: u64 = 16;
/// At most so many doublings of what is taken: at a thousand times the usual loss, most of what can be had has been had.
const MOST_DOUBLINGS: u32 = 10;

#[derive(Clone, Copy, Debug)]
struct Node {
    time: u64,
    /// The longest way up to and with it in each direction, or more.
    reach: [u64; 2],
    /// Whether it is told if those before it become shorter: it is critical, or was when the step began.
    is_told: bool,
    is_critical: bool,
}

impl Node {
    fn through(&self) -> u64 {
        self.reach[0] + self.reach[1] - self.time
    }
}

/// The longest ways through a graph, whose nodes stand in order: none waits for a later one.
#[derive(Debug)]
pub(super) struct Paths {
    graph: Graph,
    nodes: Vec<Node>,
    crowds: [Crowds; 2],
    open: Open,
    /// How many nodes are critical; all others wait.
    critical: usize,
    waiting: Waiting,
    /// Those who were critical before the step, or no longer wait.
    doubtful: Vec<u32>,
    makespan: u64,
    /// How often the makespan has become less, and by how much it does, usually.
    losses: u64,
    usual_loss: u64,
}

impl Paths {
    pub(super) fn new(graph: Graph, times: &[u64]) -> Paths {
        let count = graph.len();
        let node = |time: &u64| Node { time: *time, reach: [0; 2], is_told: false, is_critical: false };
        let mut nodes: Vec<Node> = times.iter().map(node).collect();
        for at in 0..count {
            for (direction, node) in [(Direction::FromBeginning, at), (Direction::FromEnd, count - 1 - at)] {
                let side = direction as usize;
                let before = direction.before(&graph, node as u32).iter();
                let longest = before.map(|other| nodes[*other as usize].reach[side]).max();
                nodes[node].reach[side] = longest.unwrap_or(0) + nodes[node].time;
            }
        }
        let makespan = nodes.iter().map(Node::through).max().unwrap_or(0);
        let crowds = Direction::BOTH
            .map(|direction| Crowds::new(&graph, direction, |node| nodes[node as usize].reach[direction as usize]));
        let mut paths = Paths {
            graph,
            nodes,
            crowds,
            open: Open::new(count),
            critical: 0,
            waiting: Waiting::new(makespan),
            doubtful: (0..count as u32).collect(),
            makespan,
            losses: 0,
            usual_loss: 0,
        };
        paths.decide(&mut Vec::new());
        paths
    }

    /// How long the longest way is.
    pub(super) fn makespan(&self) -> u64 {
        self.makespan
    }

    /// Whether a longest way leads through a node.
    pub(super) fn is_critical(&self, node: u32) -> bool {
        self.nodes[node as usize].is_critical
    }

    /// A node takes less time by so much; who becomes critical by that is added.
    pub(super) fn shorten(&mut self, node: u32, by: u64, became: &mut Vec<u32>) {
        let shorter = &mut self.nodes[node as usize];
        let before = shorter.reach;
        shorter.time -= by;
        shorter.reach = before.map(|reach| reach - by);
        if by == 0 || !shorter.is_critical {
            return;
        }
        self.doubt(node);
        for direction in Direction::BOTH {
            self.tell_those_behind(direction, node, before[direction as usize]);
            self.settle(direction);
        }
        if self.critical == 0 {
            self.lose(by);
        }
        self.decide(became);
    }

    /// A node is not critical any more, as far as is known.
    fn doubt(&mut self, node: u32) {
        self.nodes[node as usize].is_critical = false;
        self.critical -= 1;
        self.doubtful.push(node);
    }

    /// A reach of a node was this and has become less: those whose own led through it are to be looked at.
    fn tell_those_behind(&mut self, direction: Direction, node: u32, before: u64) {
        let (nodes, open, side) = (&self.nodes, &mut self.open, direction as usize);
        let mut tell = |other: u32| {
            let told = &nodes[other as usize];
            if told.is_told && told.reach[side] == before + told.time {
                open.push(other);
            }
            told.is_told
        };
        let behind = direction.behind(&self.graph, node);
        if behind.len() > MANY {
            self.crowds[side].tell(&self.graph, direction, node, tell);
        } else {
            behind.iter().for_each(|other| {
                tell(*other);
            });
        }
    }

    /// Looks at everybody who is to be looked at, each after those before it.
    fn settle(&mut self, direction: Direction) {
        loop {
            let next = match direction {
                Direction::FromBeginning => self.open.pop_first(),
                Direction::FromEnd => self.open.pop_last(),
            };
            let Some(node) = next else { return };
            let before = self.look(direction, node);
            let looked_at = &self.nodes[node as usize];
            if looked_at.reach[direction as usize] < before {
                if looked_at.is_critical && looked_at.through() < self.makespan {
                    self.doubt(node);
                }
                self.tell_those_behind(direction, node, before);
            }
        }
    }

    /// Looks anew how long the longest way up to a node is, and says what was known of it before.
    fn look(&mut self, direction: Direction, node: u32) -> u64 {
        let (nodes, side) = (&self.nodes, direction as usize);
        let reach = |other: u32| nodes[other as usize].reach[side];
        let before = direction.before(&self.graph, node);
        let longest = if before.len() > MANY {
            self.crowds[side].longest_before(node, reach)
        } else {
            before.iter().map(|other| reach(*other)).max().unwrap_or(0)
        };
        let node = &mut self.nodes[node as usize];
        std::mem::replace(&mut node.reach[side], longest + node.time)
    }

    /// Nobody is critical any more: finds how long the longest way is now that a node on all of them has become shorter by so much.
    fn lose(&mut self, by: u64) {
        self.losses += 1;
        let before = self.makespan;
        let mut margin = self.usual_loss.max(1).saturating_mul(1 << self.losses.trailing_zeros().min(MOST_DOUBLINGS));
        loop {
            let from = before.saturating_sub(margin);
            self.waiting.take(from, &mut self.doubtful);
            self.doubtful.sort_unstable();
            for at in 0..self.doubtful.len() {
                self.look(Direction::FromBeginning, self.doubtful[at]);
            }
            for at in (0..self.doubtful.len()).rev() {
                // Who has turned out to be too short already need not be looked at from the other side as well.
                if self.nodes[self.doubtful[at] as usize].through() >= from {
                    self.look(Direction::FromEnd, self.doubtful[at]);
                }
            }
            let longest = self.doubtful.iter().map(|node| self.nodes[*node as usize].through()).max();
            self.makespan = longest.expect("who became shorter is among them");
            if self.makespan >= from {
                break;
            }
            // The way through that one has become shorter by no more than this, so it ends there.
            margin = margin.saturating_mul(2).min(by.max(margin));
        }
        self.waiting.lower(self.makespan);
        self.usual_loss = (self.usual_loss * (USUAL - 1) + (before - self.makespan)) / USUAL;
    }

    /// Whoever is doubtful is critical or waits.
    fn decide(&mut self, became: &mut Vec<u32>) {
        for number in self.doubtful.drain(..) {
            let node = &mut self.nodes[number as usize];
            node.is_critical = node.through() == self.makespan;
            node.is_told = node.is_critical;
            if node.is_critical {
                self.critical += 1;
                self.crowds.iter_mut().for_each(|crowds| crowds.follow(number));
                became.push(number);
            } else {
                self.waiting.push(node.through(), number);
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
            let mut paths = Paths::new(graph.clone(), &times);
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
