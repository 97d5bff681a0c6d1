//! A graph cut into parts that follow each other: wherever all nodes are before or behind one, what is before it and what is behind it do not
//! concern each other.
//!
//! The makespan is the sum of those of the parts, and a node is critical if it is so in its part. Many workflows gather everything in one task at some point and
//! go on from there; with this, a step before that point costs nothing behind it.

use super::paths::Paths;
use crate::plan::graph::Graph;

/// The longest ways through the parts of a graph.
#[derive(Debug)]
pub(super) struct Segments {
    parts: Vec<Paths>,
    /// For each node its part, and its number there.
    place_of: Vec<(u32, u32)>,
    /// The nodes of all parts one after the other, and where each part begins there.
    nodes: Vec<u32>,
    first: Vec<u32>,
    makespan: u64,
}

impl Segments {
    pub(super) fn new(graph: &Graph, times: &[u64]) -> Segments {
        let part_of = parts(graph);
        let count = graph.order().last().map_or(0, |last| part_of[*last as usize] as usize + 1);
        let (mut place_of, mut times_of) = (vec![(0, 0); graph.len()], vec![Vec::new(); count]);
        for &node in graph.order() {
            let part = part_of[node as usize];
            let times_of: &mut Vec<u64> = &mut times_of[part as usize];
            place_of[node as usize] = (part, times_of.len() as u32);
            times_of.push(times[node as usize]);
        }
        let mut edges = vec![Vec::new(); count];
        for &node in graph.order() {
            let (part, from) = place_of[node as usize];
            let inside = graph.children(node).iter().map(|child| place_of[*child as usize]);
            edges[part as usize].extend(inside.filter(|(other, _)| *other == part).map(|(_, to)| (from, to)));
        }
        let graphs = edges.into_iter().zip(&times_of).map(|(edges, times)| Graph::new(times.len(), edges));
        let graphs = graphs.map(|graph| graph.expect("a part of a graph without circles has none"));
        let parts: Vec<Paths> = graphs.zip(&times_of).map(|(graph, times)| Paths::new(&graph, times)).collect();
        let mut first = vec![0];
        times_of.iter().for_each(|times| first.push(first[first.len() - 1] + times.len() as u32));
        let mut nodes = vec![0; graph.len()];
        for (node, (part, place)) in place_of.iter().enumerate() {
            nodes[(first[*part as usize] + place) as usize] = node as u32;
        }
        Segments { makespan: parts.iter().map(Paths::makespan).sum(), parts, place_of, nodes, first }
    }

    /// How long the longest way is.
    pub(super) fn makespan(&self) -> u64 {
        self.makespan
    }

    /// Whether a longest way leads through a node.
    pub(super) fn is_critical(&self, node: u32) -> bool {
        let (part, place) = self.place_of[node as usize];
        self.parts[part as usize].is_critical(place)
    }

    /// A node takes less time by so much; those that become critical by that are added.
    pub(super) fn shorten(&mut self, node: u32, by: u64, became: &mut Vec<u32>) {
        let (number, place) = self.place_of[node as usize];
        let part = &mut self.parts[number as usize];
        let before = part.makespan();
        let first = became.len();
        part.shorten(place, by, became);
        became[first..].iter_mut().for_each(|node| *node = self.nodes[(self.first[number as usize] + *node) as usize]);
        self.makespan -= before - part.makespan();
    }
}

/// For each node the number of its part; a node that all others are before or behind is a part of its own. Edges that pass over it say nothing that
/// does not follow anyway.
fn parts(graph: &Graph) -> Vec<u32> {
    let (nodes, order) = (graph.len(), graph.order());
    // Up to a node that all others so far lead to, it is the only one that leads nowhere; and likewise from the end.
    let mut is_last = vec![false; nodes];
    let (mut has_child, mut loose) = (vec![false; nodes], 0);
    for &node in order {
        loose += 1;
        for parent in graph.parents(node) {
            loose -= i32::from(!std::mem::replace(&mut has_child[*parent as usize], true));
        }
        is_last[node as usize] = loose == 1;
    }
    let (mut has_parent, mut loose) = (vec![false; nodes], 0);
    let mut is_cut = is_last;
    for &node in order.iter().rev() {
        loose += 1;
        for child in graph.children(node) {
            loose -= i32::from(!std::mem::replace(&mut has_parent[*child as usize], true));
        }
        is_cut[node as usize] &= loose == 1;
    }
    let (mut part_of, mut part, mut was_cut) = (vec![0; nodes], 0u32, true);
    for (at, &node) in order.iter().enumerate() {
        let is_cut = is_cut[node as usize];
        part += u32::from(at > 0 && (is_cut || was_cut));
        part_of[node as usize] = part;
        was_cut = is_cut;
    }
    part_of
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_gathers_everything_parts_a_graph() {
        // {0, 1} → 2 → {3 → 4, 5} → 6 → 7, and some that pass over 2 and 6.
        let edges = vec![(0, 3), (1, 7), (5, 7), (0, 2), (1, 2), (2, 3), (3, 4), (2, 5), (4, 6), (5, 6), (6, 7)];
        let graph = Graph::new(8, edges).unwrap();
        let part_of = parts(&graph);
        assert_eq!(part_of[0], part_of[1]);
        assert_eq!((part_of[3], part_of[4]), (part_of[5], part_of[5]));
        let of: Vec<u32> = [0, 2, 3, 6, 7].map(|node: usize| part_of[node]).into();
        assert_eq!(of, [0, 1, 2, 3, 4]);
        let mut segments = Segments::new(&graph, &[4, 3, 2, 1, 1, 5, 2, 1]);
        assert_eq!((segments.parts.len(), segments.makespan()), (5, 14));
        let critical = |segments: &Segments| (0..8).filter(|node| segments.is_critical(*node)).collect::<Vec<u32>>();
        assert_eq!(critical(&segments), [0, 2, 5, 6, 7]);
        segments.shorten(5, 4, &mut Vec::new());
        assert_eq!((segments.makespan(), critical(&segments)), (11, vec![0, 2, 3, 4, 6, 7]));
        // One that stands alone is beside everything.
        let beside = Graph::new(4, vec![(0, 1), (1, 2)]).unwrap();
        assert_eq!(parts(&beside), [0; 4]);
    }
}
