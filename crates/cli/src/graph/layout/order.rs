//! Order within ranks: each cell moves to the mean place of those it is joined to, back and forth, as long as that
//! removes crossings.

use super::Neighbours;

/// More rounds than this hardly ever help.
const ROUNDS: usize = 24;
/// Rounds without a better order, before it is left at that.
const PATIENCE: usize = 4;
/// Joints looked at in all rounds together: what keeps a picture of thousands of lines a matter of a second.
const WORK_LIMIT: usize = 8_000_000;

/// Sorts each layer so that few lines cross.
pub(super) fn reduce_crossings(layers: &mut [Vec<usize>], neighbours: &Neighbours) {
    let joints: usize = neighbours.after.iter().map(Vec::len).sum();
    let rounds = ROUNDS.min(WORK_LIMIT / (joints + 1));
    let mut place = vec![0; neighbours.after.len()];
    note_places(layers, &mut place);
    let mut best = layers.to_vec();
    let mut fewest = crossings(layers, neighbours, &place);
    let mut in_vain = 0;
    for round in 0..rounds {
        if fewest == 0 || in_vain >= PATIENCE {
            break;
        }
        if round % 2 == 0 {
            for layer in layers.iter_mut().skip(1) {
                sort(layer, &neighbours.before, &mut place);
            }
        } else {
            for layer in layers.iter_mut().rev().skip(1) {
                sort(layer, &neighbours.after, &mut place);
            }
        }
        let found = crossings(layers, neighbours, &place);
        in_vain += 1;
        if found < fewest {
            fewest = found;
            best = layers.to_vec();
            in_vain = 0;
        }
    }
    layers.clone_from_slice(&best);
}

fn note_places(layers: &[Vec<usize>], place: &mut [usize]) {
    for layer in layers {
        for (at, cell) in layer.iter().enumerate() {
            place[*cell] = at;
        }
    }
}

fn sort(layer: &mut [usize], joined: &[Vec<usize>], place: &mut [usize]) {
    let mut keyed: Vec<(f64, usize)> = layer
        .iter()
        .map(|cell| {
            let others = &joined[*cell];
            // Without a neighbour there, a cell stays where it is.
            let sum: usize = others.iter().map(|other| place[*other]).sum();
            let mean = if others.is_empty() { place[*cell] as f64 } else { sum as f64 / others.len() as f64 };
            (mean, *cell)
        })
        .collect();
    keyed.sort_by(|(left, _), (right, _)| left.total_cmp(right));
    for (at, (_, cell)) in keyed.into_iter().enumerate() {
        layer[at] = cell;
        place[cell] = at;
    }
}

/// How often lines cross.
fn crossings(layers: &[Vec<usize>], neighbours: &Neighbours, place: &[usize]) -> u64 {
    let mut count = 0;
    for pair in layers.windows(2) {
        // Ends in the second layer, in the order of beginnings in the first: each pair out of order is a crossing.
        let mut tree = vec![0u64; pair[1].len() + 1];
        let mut seen = 0;
        for cell in &pair[0] {
            let mut ends: Vec<usize> = neighbours.after[*cell].iter().map(|end| place[*end]).collect();
            ends.sort_unstable();
            for end in &ends {
                count += seen - sum_up_to(&tree, *end);
            }
            for end in ends {
                add(&mut tree, end);
                seen += 1;
            }
        }
    }
    count
}

/// A Fenwick tree: how many ends lie at a place or before it, in logarithmic time.
fn sum_up_to(tree: &[u64], at: usize) -> u64 {
    let (mut at, mut sum) = ((at + 1).min(tree.len() - 1), 0);
    while at > 0 {
        sum += tree[at];
        at &= at - 1;
    }
    sum
}

fn add(tree: &mut [u64], at: usize) {
    let mut at = at + 1;
    while at < tree.len() {
        tree[at] += 1;
        at += at & at.wrapping_neg();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_knot_is_untied() {
        // 0 1 2 above 3 4 5, each joined to the opposite one.
        let neighbours = Neighbours::new(6, &[vec![0, 5], vec![1, 4], vec![2, 3]]);
        let mut layers = vec![vec![0, 1, 2], vec![3, 4, 5]];
        assert_eq!(crossings(&layers, &neighbours, &[0, 1, 2, 0, 1, 2]), 3);
        reduce_crossings(&mut layers, &neighbours);
        assert_eq!(layers, [[0, 1, 2], [5, 4, 3]]);
    }
}
