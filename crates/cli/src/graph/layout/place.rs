//! Positions across the graph: every cell as near to its neighbours as its rank allows.

use super::{Cell, Neighbours};

/// Rounds back and forth; later ones move nothing that anybody sees.
const ROUNDS: usize = 16;
/// Between two boxes or labels of a rank.
const BOX_GAP: f64 = 14.0;
/// Beside a line that passes.
const BEND_GAP: f64 = 9.0;
/// Lines that pass a rank are to be straight more than boxes are to be centred.
const BEND_WEIGHT: f64 = 4.0;
/// Between the ends of two lines at the same box, where there is room.
const PORT_GAP: f64 = 7.0;

/// The centre of each cell across the graph, none below zero with its whole breadth.
pub(super) fn across(layers: &[Vec<usize>], cells: &[Cell], neighbours: &Neighbours) -> Vec<f64> {
    let mut centres = vec![0.0; cells.len()];
    for layer in layers {
        let mut at = 0.0;
        for (number, cell) in layer.iter().enumerate() {
            at += if number > 0 { distance(&cells[layer[number - 1]], &cells[*cell]) } else { 0.0 };
            centres[*cell] = at;
        }
    }
    for round in 0..ROUNDS {
        let is_last = round + 2 >= ROUNDS;
        let mut settle = |layer: &Vec<usize>, sides: &[&Vec<Vec<usize>>]| {
            let wanted: Vec<f64> = layer.iter().map(|cell| mean(*cell, sides, &centres)).collect();
            for (cell, centre) in layer.iter().zip(settled(layer, cells, &wanted)) {
                centres[*cell] = centre;
            }
        };
        let (before, after) = (&neighbours.before, &neighbours.after);
        if round % 2 == 0 {
            let sides: &[_] = if is_last { &[before, after] } else { &[before] };
            layers.iter().for_each(|layer| settle(layer, sides));
        } else {
            let sides: &[_] = if is_last { &[before, after] } else { &[after] };
            layers.iter().rev().for_each(|layer| settle(layer, sides));
        }
    }
    let least =
        layers.iter().flatten().map(|cell| centres[*cell] - cells[*cell].breadth / 2.0).fold(f64::MAX, f64::min);
    centres.iter_mut().for_each(|centre| *centre -= least);
    centres
}

fn distance(left: &Cell, right: &Cell) -> f64 {
    let gap = if left.is_bend || right.is_bend { BEND_GAP } else { BOX_GAP };
    (left.breadth + right.breadth) / 2.0 + gap
}

fn mean(cell: usize, sides: &[&Vec<Vec<usize>>], centres: &[f64]) -> f64 {
    let others = || sides.iter().flat_map(|side| &side[cell]);
    let count = others().count();
    if count == 0 { centres[cell] } else { others().map(|other| centres[*other]).sum::<f64>() / count as f64 }
}

/// The places nearest to the wanted ones, by least squares, at which cells keep their order and distance: neighbours
/// that would overlap are pooled and share the mean of their wishes.
fn settled(layer: &[usize], cells: &[Cell], wanted: &[f64]) -> Vec<f64> {
    // Where each cell would be if all touched: what is left of the wishes has only to be in order.
    let mut touching = Vec::with_capacity(layer.len());
    let mut at = 0.0;
    for (number, cell) in layer.iter().enumerate() {
        at += if number > 0 { distance(&cells[layer[number - 1]], &cells[*cell]) } else { 0.0 };
        touching.push(at);
    }
    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
    for (number, cell) in layer.iter().enumerate() {
        let weight = if cells[*cell].is_bend { BEND_WEIGHT } else { 1.0 };
        let mut pool = ((wanted[number] - touching[number]) * weight, weight, 1);
        while let Some(last) = pools.last().filter(|last| last.0 / last.1 > pool.0 / pool.1) {
            pool = (pool.0 + last.0, pool.1 + last.1, pool.2 + last.2);
            pools.pop();
        }
        pools.push(pool);
    }
    let shifts = pools.iter().flat_map(|(sum, weight, count)| std::iter::repeat_n(sum / weight, *count));
    shifts.zip(touching).map(|(shift, touching)| shift + touching).collect()
}

/// Where each line leaves its first cell and enters its last: side by side, in the order in which they come.
pub(super) fn ports(chains: &[Vec<usize>], cells: &[Cell], centres: &[f64]) -> Vec<(f64, f64)> {
    let mut leaving: Vec<Vec<(f64, usize)>> = vec![Vec::new(); cells.len()];
    let mut entering = leaving.clone();
    for (number, chain) in chains.iter().enumerate() {
        leaving[chain[0]].push((centres[chain[1]], number));
        entering[chain[chain.len() - 1]].push((centres[chain[chain.len() - 2]], number));
    }
    let mut ports = vec![(0.0, 0.0); chains.len()];
    for (side, is_start) in [(leaving, true), (entering, false)] {
        for (cell, mut lines) in side.into_iter().enumerate() {
            lines.sort_by(|(left, _), (right, _)| left.total_cmp(right));
            let gap = PORT_GAP.min(cells[cell].breadth * 0.6 / lines.len().max(1) as f64);
            let middle = (lines.len() as f64 - 1.0) / 2.0;
            for (at, (_, number)) in lines.into_iter().enumerate() {
                let port = centres[cell] + (at as f64 - middle) * gap;
                if is_start {
                    ports[number].0 = port;
                } else {
                    ports[number].1 = port;
                }
            }
        }
    }
    ports
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wishes_are_met_where_there_is_room_and_shared_where_not() {
        let cells = vec![Cell { length: 1.0, breadth: 10.0 - BOX_GAP + 10.0, is_bend: false }; 3];
        let distance = distance(&cells[0], &cells[1]);
        assert_eq!(settled(&[0, 1, 2], &cells, &[0.0, 100.0, 200.0]), [0.0, 100.0, 200.0]);
        assert_eq!(settled(&[0, 1, 2], &cells, &[50.0, 50.0, 50.0]), [50.0 - distance, 50.0, 50.0 + distance]);
    }
}
