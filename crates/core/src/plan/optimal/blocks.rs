//! Stages put together as far as that can be done without losing anything: what stands in a row, and what stands side by side.
//!
//! Two stages of which one waits for nobody but the other, for which nobody else waits, take the sum of their times; two that wait for the
//! same and for which the same wait take the longer. Either way they are one block with choices of its own, and so on. Many workflows become a single block, whose choices are then all that there is to
//! know: for every cost the least time.

use std::collections::BTreeMap;

use super::super::graph::Graph;
use super::menu::{Choice, Menu};

/// A stage, or two blocks that have been put together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Block {
    /// A stage.
    Stage(u32),
    /// One after the other.
    Row(Box<[Block; 2]>),
    /// Side by side.
    Pair(Box<[Block; 2]>),
}

/// Blocks that could not be put together any further, and who waits for whom.
#[derive(Clone, Debug)]
pub(super) struct Blocks {
    pub(super) blocks: Vec<Block>,
    pub(super) graph: Graph,
}

impl Blocks {
    /// Puts stages together.
    pub(super) fn of(graph: &Graph) -> Blocks {
        let mut blocks: Vec<Block> = (0..graph.len() as u32).map(Block::Stage).collect();
        let mut graph = without_detours(graph);
        loop {
            let before = blocks.len();
            (blocks, graph) = rows(blocks, &graph);
            (blocks, graph) = pairs(blocks, &graph);
            if blocks.len() == before {
                return Blocks { blocks, graph };
            }
        }
    }
}

/// More nodes than this are not searched for detours: it takes the square of that.
const MOST_SEARCHED: usize = 2_000;

/// The graph without edges that say what follows from others anyway.
fn without_detours(graph: &Graph) -> Graph {
    let count = graph.len();
    if count > MOST_SEARCHED {
        return graph.clone();
    }
    // Who can be reached from each node, as bits.
    let words = count.div_ceil(64);
    let mut reached = vec![0u64; count * words];
    let mut edges = Vec::new();
    let mut position = vec![0; count];
    graph.order().iter().enumerate().for_each(|(at, node)| position[*node as usize] = at);
    for &node in graph.order().iter().rev() {
        let mut children = graph.children(node).to_vec();
        // Whoever comes first cannot be reached by way of a later one.
        children.sort_unstable_by_key(|child| position[*child as usize]);
        let mut own = vec![0u64; words];
        for child in children {
            let (word, bit) = (child as usize / 64, 1 << (child % 64));
            if own[word] & bit == 0 {
                edges.push((node, child));
                let others = &reached[child as usize * words..][..words];
                own.iter_mut().zip(others).for_each(|(own, other)| *own |= other);
                own[word] |= bit;
            }
        }
        reached[node as usize * words..][..words].copy_from_slice(&own);
    }
    Graph::new(count, edges).expect("fewer edges close no circle")
}

/// Puts together what stands in a row.
fn rows(blocks: Vec<Block>, graph: &Graph) -> (Vec<Block>, Graph) {
    let (row_of, rows) = graph.rows();
    let mut joined: Vec<Option<Block>> = vec![None; rows.len()];
    let mut blocks: Vec<Option<Block>> = blocks.into_iter().map(Some).collect();
    for &node in graph.order() {
        let block = blocks[node as usize].take().expect("each node comes once");
        let place = &mut joined[row_of[node as usize] as usize];
        *place = Some(match place.take() {
            Some(before) => Block::Row(Box::new([before, block])),
            None => block,
        });
    }
    (joined.into_iter().map(|block| block.expect("a row has nodes")).collect(), rows)
}

/// Puts together what stands side by side: two by two, so that no tree becomes deep.
fn pairs(blocks: Vec<Block>, graph: &Graph) -> (Vec<Block>, Graph) {
    let mut alike: BTreeMap<(&[u32], &[u32]), Vec<u32>> = BTreeMap::new();
    for node in 0..graph.len() as u32 {
        alike.entry((graph.parents(node), graph.children(node))).or_default().push(node);
    }
    let mut number = vec![0; graph.len()];
    let mut blocks: Vec<Option<Block>> = blocks.into_iter().map(Some).collect();
    let mut joined = Vec::with_capacity(alike.len());
    for nodes in alike.values() {
        nodes.iter().for_each(|node| number[*node as usize] = joined.len() as u32);
        let mut parts: Vec<Block> =
            nodes.iter().map(|node| blocks[*node as usize].take().expect("each node comes once")).collect();
        while parts.len() > 1 {
            let mut halves = parts.into_iter();
            let mut next = Vec::new();
            while let Some(one) = halves.next() {
                next.push(match halves.next() {
                    Some(other) => Block::Pair(Box::new([one, other])),
                    None => one,
                });
            }
            parts = next;
        }
        joined.extend(parts);
    }
    let edges = (0..graph.len() as u32).flat_map(|node| graph.children(node).iter().map(move |child| (node, *child)));
    let edges = edges.map(|(from, to)| (number[from as usize], number[to as usize])).collect();
    let graph = Graph::new(joined.len(), edges).expect("what is alike does not wait for each other");
    (joined, graph)
}

/// What can be chosen for a block, and of what that is made.
#[derive(Clone, Debug)]
pub(super) struct Priced<'a> {
    block: &'a Block,
    /// The choices, the slowest and cheapest first.
    pub(super) menu: Menu,
    /// For two blocks that were put together: for each choice, the choices of the two.
    parts: Option<Parts<'a>>,
}

#[derive(Clone, Debug)]
struct Parts<'a> {
    halves: Box<[Priced<'a>; 2]>,
    made_of: Vec<(u32, u32)>,
}

/// Choices within these limits only.
#[derive(Clone, Copy, Debug)]
pub(super) struct Within {
    /// Nothing may cost more than the least it can cost and so much.
    pub(super) spare: u64,
    /// Nothing may take longer.
    pub(super) time: u64,
}

/// More combinations than this are not looked at in all: then the search has to do. Each that is worth it is kept, in some twenty bytes.
const MOST_COMBINED: usize = 20_000_000;

impl<'a> Priced<'a> {
    /// What can be chosen for a block whose stages have these menus; nothing if that would be too much to look at, or if nothing keeps
    /// within the limits.
    pub(super) fn of(block: &'a Block, menus: &[Menu], within: Within) -> Option<Priced<'a>> {
        Priced::with(block, menus, within, &mut { MOST_COMBINED })
    }

    fn with(block: &'a Block, menus: &[Menu], within: Within, left: &mut usize) -> Option<Priced<'a>> {
        let (halves, in_a_row) = match block {
            Block::Stage(stage) => {
                let menu = &menus[*stage as usize];
                let most = menu.first()?.cost.saturating_add(within.spare);
                let kept = menu.iter().filter(|choice| choice.time <= within.time && choice.cost <= most);
                let menu: Menu = kept.copied().collect();
                return (!menu.is_empty()).then_some(Priced { block, menu, parts: None });
            }
            Block::Row(halves) => (halves, true),
            Block::Pair(halves) => (halves, false),
        };
        let halves = [Priced::with(&halves[0], menus, within, left)?, Priced::with(&halves[1], menus, within, left)?];
        let (menu, made_of) = if in_a_row { in_row(&halves, within, left)? } else { side_by_side(&halves, within) };
        (!menu.is_empty()).then(|| Priced { block, menu, parts: Some(Parts { halves: Box::new(halves), made_of }) })
    }

    /// Writes down how long each stage takes with a choice.
    pub(super) fn times(&self, choice: usize, times: &mut [u64]) {
        match (&self.parts, self.block) {
            (Some(Parts { halves, made_of }), _) => {
                let (one, other) = made_of[choice];
                halves[0].times(one as usize, times);
                halves[1].times(other as usize, times);
            }
            (None, Block::Stage(stage)) => times[*stage as usize] = self.menu[choice].time,
            (None, _) => unreachable!("two blocks are made of parts"),
        }
    }
}

type Combined = (Menu, Vec<(u32, u32)>);

fn in_row(halves: &[Priced<'_>; 2], within: Within, left: &mut usize) -> Option<Combined> {
    let [one, other] = [&halves[0].menu, &halves[1].menu];
    *left = left.checked_sub(one.len().saturating_mul(other.len()))?;
    let most = (one[0].cost + other[0].cost).saturating_add(within.spare);
    let mut all = Vec::new();
    for (at, first) in one.iter().enumerate() {
        for (place, second) in other.iter().enumerate() {
            let choice = Choice { time: first.time + second.time, cost: first.cost + second.cost };
            if choice.cost > most {
                break;
            }
            if choice.time <= within.time {
                all.push((choice, (at as u32, place as u32)));
            }
        }
    }
    all.sort_unstable_by_key(|(choice, made_of)| (choice.cost, choice.time, *made_of));
    Some(useful(all.into_iter()))
}

fn side_by_side(halves: &[Priced<'_>; 2], within: Within) -> Combined {
    let [one, other] = [&halves[0].menu, &halves[1].menu];
    let most = (one[0].cost + other[0].cost).saturating_add(within.spare);
    let (mut at, mut place) = (0, 0);
    let mut all = Vec::new();
    loop {
        let (first, second) = (one[at], other[place]);
        let choice = Choice { time: first.time.max(second.time), cost: first.cost + second.cost };
        if choice.cost <= most && choice.time <= within.time {
            all.push((choice, (at as u32, place as u32)));
        }
        // Only the slower one can be made faster by paying more.
        let next = if first.time >= second.time { (at + 1, place) } else { (at, place + 1) };
        if next.0 == one.len() || next.1 == other.len() {
            return useful(all.into_iter());
        }
        (at, place) = next;
    }
}

/// Those of choices in order of cost that are faster than all before them.
fn useful(all: impl Iterator<Item = (Choice, (u32, u32))>) -> Combined {
    let (mut menu, mut made_of): Combined = (Vec::new(), Vec::new());
    for (choice, parts) in all {
        if menu.last().is_none_or(|last| choice.time < last.time) {
            menu.push(choice);
            made_of.push(parts);
        }
    }
    (menu, made_of)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_made_of_rows_and_pairs_becomes_one_block() {
        // 0 → {1 → 2, 3} → 4, with a detour from 0 to 4 and to 2, and 5 alone.
        let edges = vec![(0, 1), (1, 2), (0, 3), (2, 4), (3, 4), (0, 4), (0, 2)];
        let blocks = Blocks::of(&Graph::new(6, edges).unwrap());
        assert_eq!(blocks.blocks.len(), 1, "{blocks:?}");
        // An N is neither.
        let blocks = Blocks::of(&Graph::new(4, vec![(0, 2), (0, 3), (1, 3)]).unwrap());
        assert_eq!(blocks.blocks.len(), 4);
    }

    #[test]
    fn choices_of_two_are_those_that_are_worth_it() {
        let choice = |time, cost| Choice { time, cost };
        let menus = [vec![choice(9, 1), choice(4, 5)], vec![choice(6, 2), choice(5, 3), choice(1, 9)]];
        let unlimited = Within { spare: u64::MAX, time: u64::MAX };
        let halves = || Box::new([Block::Stage(0), Block::Stage(1)]);
        let (row, pair) = (Block::Row(halves()), Block::Pair(halves()));
        let row = Priced::of(&row, &menus, unlimited).unwrap();
        assert_eq!(row.menu, [choice(15, 3), choice(14, 4), choice(10, 7), choice(9, 8), choice(5, 14)]);
        let pair = Priced::of(&pair, &menus, unlimited).unwrap();
        assert_eq!(pair.menu, [choice(9, 3), choice(6, 7), choice(5, 8), choice(4, 14)]);
        let mut times = [0; 2];
        pair.times(2, &mut times);
        assert_eq!(times, [4, 5]);
    }
}
