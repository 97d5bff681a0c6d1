//! Who waits for whom, as numbers: the graph over which ways are measured.

/// Lists of numbers, one for each node, in one array.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lists {
    start: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    /// The second of each pair, by the first; pairs are in order.
    fn of(count: usize, pairs: &[(u32, u32)]) -> Lists {
        let mut start = vec![0u32; count + 1];
        for (from, _) in pairs {
            start[*from as usize + 1] += 1;
        }
        for node in 0..count {
            start[node + 1] += start[node];
        }
        Lists { start, items: pairs.iter().map(|(_, to)| *to).collect() }
    }

    /// The list of a node.
    pub fn of_node(&self, node: u32) -> &[u32] {
        &self.items[self.start[node as usize] as usize..self.start[node as usize + 1] as usize]
    }
}

/// A graph without circles.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    parents: Lists,
    children: Lists,
    /// All nodes, each after those that it waits for.
    order: Vec<u32>,
}

impl Graph {
    /// So many nodes, of which the second of each pair waits for the first; nothing if they wait for each other in a circle.
    pub fn new(count: usize, mut edges: Vec<(u32, u32)>) -> Option<Graph> {
        edges.sort_unstable();
        edges.dedup();
        let children = Lists::of(count, &edges);
        edges.iter_mut().for_each(|(from, to)| std::mem::swap(from, to));
        edges.sort_unstable();
        let parents = Lists::of(count, &edges);
        let mut open: Vec<u32> = (0..count as u32).map(|node| parents.of_node(node).len() as u32).collect();
        let mut order: Vec<u32> = (0..count as u32).filter(|node| open[*node as usize] == 0).collect();
        let mut at = 0;
        while let Some(&node) = order.get(at) {
            at += 1;
            for child in children.of_node(node) {
                open[*child as usize] -= 1;
                if open[*child as usize] == 0 {
                    order.push(*child);
                }
            }
        }
        (order.len() == count).then_some(Graph { parents, children, order })
    }

    /// How many nodes there are.
    pub fn len(&self) -> usize {
        self.order.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.order.is_empty()
    }

    /// How many edges there are.
    pub fn edge_count(&self) -> usize {
        self.children.items.len()
    }

    /// For whom a node waits.
    pub fn parents(&self, node: u32) -> &[u32] {
        self.parents.of_node(node)
    }

    /// Who waits for a node.
    pub fn children(&self, node: u32) -> &[u32] {
        self.children.of_node(node)
    }

    /// All nodes, each after those that it waits for.
    pub fn order(&self) -> &[u32] {
        &self.order
    }

    /// When each node ends if all of them take so long and begin as soon as they can.
    pub fn ends(&self, times: &[u64]) -> Vec<u64> {
        let mut ends = vec![0u64; self.len()];
        for &node in &self.order {
            let begin = self.parents(node).iter().map(|parent| ends[*parent as usize]).max().unwrap_or(0);
            ends[node as usize] = begin.saturating_add(times[node as usize]);
        }
        ends
    }

    /// How long the longest way through each node is.
    pub fn through(&self, times: &[u64]) -> Vec<u64> {
        let mut through = self.ends(times);
        let mut rest = vec![0u64; self.len()];
        for &node in self.order.iter().rev() {
            let rests =
                self.children(node).iter().map(|child| rest[*child as usize].saturating_add(times[*child as usize]));
            let behind = rests.max().unwrap_or(0);
            rest[node as usize] = behind;
            through[node as usize] = through[node as usize].saturating_add(behind);
        }
        through
    }

    /// When the last node ends.
    pub fn makespan(&self, times: &[u64]) -> u64 {
        self.ends(times).into_iter().max().unwrap_or(0)
    }

    /// The nodes on the longest ways, in order, and how long these are.
    pub fn critical(&self, times: &[u64]) -> (Vec<u32>, u64) {
        let ends = self.ends(times);
        let makespan = ends.iter().copied().max().unwrap_or(0);
        let mut is_critical: Vec<bool> =
            (0..self.len()).map(|node| self.children(node as u32).is_empty() && ends[node] == makespan).collect();
        for &node in self.order.iter().rev() {
            if !is_critical[node as usize] {
                continue;
            }
            let parents = self.parents(node);
            let last = parents.iter().map(|parent| ends[*parent as usize]).max();
            for parent in parents.iter().filter(|parent| Some(ends[**parent as usize]) == last) {
                is_critical[*parent as usize] = true;
            }
        }
        ((0..self.len() as u32).filter(|node| is_critical[*node as usize]).collect(), makespan)
    }

    /// One of the longest ways, from its beginning.
    pub fn longest_way(&self, times: &[u64]) -> Vec<u32> {
        let ends = self.ends(times);
        // Of equals the first.
        let last_of = |nodes: &mut dyn Iterator<Item = u32>| {
            nodes.max_by_key(|node| (ends[*node as usize], std::cmp::Reverse(*node)))
        };
        let mut way = Vec::new();
        let mut next = last_of(&mut (0..self.len() as u32));
        while let Some(node) = next {
            way.push(node);
            next = last_of(&mut self.parents(node).iter().copied());
        }
        way.reverse();
        way
    }

    /// Rows of nodes of which each has nobody but its neighbours before and behind it, as one node each: for each node the number of its row,
    /// and the graph of the rows.
    pub fn rows(&self) -> (Vec<u32>, Graph) {
        let mut row_of = vec![u32::MAX; self.len()];
        let mut count = 0;
        for &node in &self.order {
            let joins = match self.parents(node) {
                [parent] if self.children(*parent).len() == 1 => Some(row_of[*parent as usize]),
                _ => None,
            };
            row_of[node as usize] = joins.unwrap_or_else(|| {
                count += 1;
                count - 1
            });
        }
        let edges = self.order.iter().flat_map(|node| self.children(*node).iter().map(|child| (*node, *child)));
        let edges = edges.map(|(from, to)| (row_of[from as usize], row_of[to as usize]));
        let edges = edges.filter(|(from, to)| from != to).collect();
        let rows = Graph::new(count as usize, edges).expect("rows of a graph without circles form none");
        (row_of, rows)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph() -> Graph {
        // 0 → 1 → 2 → 5, 0 → 3 → 5, 4 alone.
        Graph::new(6, vec![(0, 1), (1, 2), (2, 5), (0, 3), (3, 5), (0, 1)]).unwrap()
    }

    #[test]
    fn ways_are_as_long_as_they_are() {
        let graph = graph();
        assert_eq!(graph.ends(&[1, 2, 3, 5, 4, 1]), [1, 3, 6, 6, 4, 7]);
        assert_eq!(graph.critical(&[1, 2, 3, 5, 4, 1]), (vec![0, 1, 2, 3, 5], 7));
        assert_eq!(graph.critical(&[1, 2, 3, 4, 9, 1]), (vec![4], 9));
        assert_eq!(Graph::new(2, vec![(0, 1), (1, 0)]), None);
        assert_eq!(Graph::default().critical(&[]), (vec![], 0));
    }

    #[test]
    fn who_stands_in_a_row_is_one() {
        let (row_of, rows) = graph().rows();
        assert_eq!((row_of[1], row_of[2], rows.len()), (row_of[1], row_of[1], 5));
        assert_eq!(rows.parents(row_of[5]).len(), 2);
        let chain = Graph::new(4, vec![(0, 1), (1, 2), (2, 3)]).unwrap();
        assert_eq!(chain.rows().1.len(), 1);
    }
}
