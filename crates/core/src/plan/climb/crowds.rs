//! Nodes with very many behind them, of whom only a few matter: those with the longest rest.
//!
//! Real workflows hand out the results of one task to ten thousand others. To go through all of these whenever that one is looked at would be
//! most of the work.

/// With more behind it than this, to keep them in a heap is faster than going through all of them.
pub(super) const MANY: usize = 24;

/// What is kept for nodes with many behind them.
#[derive(Debug)]
pub(super) struct Crowds {
    /// Nodes with many behind them, and these, by what their rest was when it was last looked at: a heap each.
    nodes: Vec<u32>,
    behind: Vec<Vec<(u64, u32)>>,
    /// Places in a heap that are still to be gone through.
    open: Vec<usize>,
}

impl Crowds {
    /// From a list for each node.
    pub(super) fn new<'a>(lists: impl Iterator<Item = &'a [u32]>, rest: impl Fn(u32) -> u64) -> Crowds {
        let (mut nodes, mut behind) = (Vec::new(), Vec::new());
        for (node, list) in lists.enumerate().filter(|(_, list)| list.len() > MANY) {
            let mut heap: Vec<(u64, u32)> = list.iter().map(|node| (rest(*node), *node)).collect();
            // What is in order is a heap.
            heap.sort_unstable_by(|one, other| other.cmp(one));
            nodes.push(node as u32);
            behind.push(heap);
        }
        Crowds { nodes, behind, open: Vec::new() }
    }

    fn place_of(&self, node: u32) -> usize {
        self.nodes.binary_search(&node).expect("it has many behind it")
    }

    /// The longest rest behind a node with many behind it, and whose it is; none was ever shorter than it is now.
    pub(super) fn longest_behind(&mut self, node: u32, rest: impl Fn(u32) -> u64) -> (u64, u32) {
        let place = self.place_of(node);
        let heap = &mut self.behind[place];
        loop {
            let (known, first) = heap[0];
            let now = rest(first);
            if known == now {
                return (now, first);
            }
            replace_first(heap, (now, first));
        }
    }

    /// Those behind a node with many behind it whose rest may be as long as this.
    pub(super) fn as_long_behind(&mut self, node: u32, rest: u64, found: &mut Vec<u32>) {
        let heap = &self.behind[self.place_of(node)];
        self.open.push(0);
        while let Some(at) = self.open.pop() {
            if let Some((_, other)) = heap.get(at).filter(|(known, _)| *known >= rest) {
                found.push(*other);
                self.open.extend([2 * at + 1, 2 * at + 2]);
            }
        }
    }
}

/// Another takes the place of the first of a heap.
fn replace_first(heap: &mut [(u64, u32)], item: (u64, u32)) {
    let mut at = 0;
    loop {
        let mut next = 2 * at + 1;
        if next + 1 < heap.len() && heap[next + 1].0 > heap[next].0 {
            next += 1;
        }
        if next >= heap.len() || heap[next].0 <= item.0 {
            heap[at] = item;
            return;
        }
        heap[at] = heap[next];
        at = next;
    }
}
