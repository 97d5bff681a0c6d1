//! Nodes on the longest ways, and along which edges these lead.
//!
//! While there is any such way, others only cease to be: without a node, whoever was led to by that one alone is on no way any more, and whoever led to
//! that one alone. To count is enough for that; how long ways are need not be looked at.

/// A node on a longest way, or one that was.
#[derive(Clone, Copy, Debug, Default)]
struct Member {
    /// Since which time that the longest ways were gathered; 0 if it is none any more.
    round: u32,
    /// How many of those before and behind it are members.
    before: u32,
    behind: u32,
    /// The last edge that leads to it.
    last_in: u32,
    /// The edges that lead on from it.
    first_out: u32,
    end_out: u32,
}

#[derive(Clone, Copy, Debug)]
struct Edge {
    from: u32,
    to: u32,
    /// Another that leads there.
    next_in: u32,
}

const NONE: u32 = u32::MAX;

/// The nodes on the longest ways.
#[derive(Debug)]
pub(super) struct Members {
    of: Vec<Member>,
    round: u32,
    /// All that there were when they were gathered, the beginning first.
    list: Vec<u32>,
    edges: Vec<Edge>,
    removed: Vec<u32>,
}

impl Members {
    pub(super) fn new(count: usize) -> Members {
        let of = vec![Member::default(); count];
        Members { of, round: 0, list: Vec::new(), edges: Vec::new(), removed: Vec::new() }
    }

    /// Whether a longest way leads through a node.
    pub(super) fn contains(&self, node: u32) -> bool {
        self.of[node as usize].round == self.round
    }

    /// All are gathered anew, from a node that is before all others.
    pub(super) fn begin(&mut self, beginning: u32) {
        self.round += 1;
        self.list.clear();
        self.edges.clear();
        self.of[beginning as usize] = Member { round: self.round, last_in: NONE, ..Member::default() };
        self.list.push(beginning);
    }

    /// One of them, in the order in which they were added.
    pub(super) fn get(&self, at: usize) -> Option<u32> {
        self.list.get(at).copied()
    }

    /// One leads to another, and is the last that was led on from; whether that other is new, and was no member before all were gathered anew.
    pub(super) fn add(&mut self, from: u32, to: u32) -> bool {
        let edge = self.edges.len() as u32;
        let one = &mut self.of[from as usize];
        if one.behind == 0 {
            one.first_out = edge;
        }
        one.behind += 1;
        one.end_out = edge + 1;
        let other = &mut self.of[to as usize];
        let round = other.round;
        if round != self.round {
            *other = Member { round: self.round, last_in: NONE, ..Member::default() };
            self.list.push(to);
        }
        self.edges.push(Edge { from, to, next_in: other.last_in });
        other.last_in = edge;
        other.before += 1;
        round + 1 < self.round
    }

    /// A node is on no longest way any more, and all that were only for its sake; whether anybody is. If not, all remain until they are gathered anew.
    pub(super) fn remove(&mut self, node: u32) -> bool {
        self.removed.clear();
        self.of[node as usize].round = 0;
        self.removed.push(node);
        let mut at = 0;
        while at < self.removed.len() {
            let Member { last_in, first_out, end_out, .. } = self.of[self.removed[at] as usize];
            at += 1;
            for edge in first_out..end_out {
                let to = self.edges[edge as usize].to;
                let other = &mut self.of[to as usize];
                other.before -= u32::from(other.round == self.round);
                if other.round == self.round && other.before == 0 {
                    other.round = 0;
                    self.removed.push(to);
                }
            }
            let mut edge = last_in;
            while edge != NONE {
                let Edge { from, next_in, .. } = self.edges[edge as usize];
                edge = next_in;
                let other = &mut self.of[from as usize];
                other.behind -= u32::from(other.round == self.round);
                if other.round == self.round && other.behind == 0 {
                    if from == self.list[0] {
                        self.removed.iter().for_each(|node| self.of[*node as usize].round = self.round);
                        return false;
                    }
                    other.round = 0;
                    self.removed.push(from);
                }
            }
        }
        true
    }
}
