//! Where boxes and lines go: a layered drawing in the manner of Sugiyama, Tagawa and Toda.
//!
//! ```text
//!   lines ── turn those that close a circle ──▶ rank (longest path) ──▶ bends and labels get cells of their own
//!         ──▶ order within ranks (barycentres, bounded) ──▶ positions (least squares per rank) ──▶ routes
//! ```
//!
//! Everything is a function of sizes and numbers: no text, no colour. A line that passes a rank has a cell of its
//! own there, as has a label, so no line runs through a box and no two labels lie on each other.

mod order;
mod place;
mod rank;

/// How large something is, in pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Size {
    /// From left to right.
    pub width: f64,
    /// From top to bottom.
    pub height: f64,
}

/// A place in the picture.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Point {
    /// From the left.
    pub x: f64,
    /// From the top.
    pub y: f64,
}

/// A line to draw from one box to another.
#[derive(Clone, Copy, Debug)]
pub struct Line {
    /// The box where it begins.
    pub from: usize,
    /// The box where it ends; another one.
    pub to: usize,
    /// Room for a label.
    pub label: Option<Size>,
}

/// Where the graph goes from rank to rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// From left to right.
    Right,
    /// From top to bottom.
    Down,
}

/// Where a box has been put, and how large it has become.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Placed {
    /// Its upper left corner.
    pub corner: Point,
    /// At least what was asked for: all boxes of a rank are equally long in the direction of the graph.
    pub size: Size,
}

/// How a line goes: a curve from the first point to the second, straight to the third, a curve to the fourth …
#[derive(Clone, Debug, Default)]
pub struct Route {
    /// The points, an even number, from the line's beginning to its end.
    pub points: Vec<Point>,
    /// The centre of its label.
    pub label: Option<Point>,
    /// It runs against the direction of the graph, because it closes a circle.
    pub is_back: bool,
}

/// A finished drawing.
#[derive(Clone, Debug)]
pub struct Layout {
    /// Which way it goes.
    pub direction: Direction,
    /// How large it is.
    pub size: Size,
    /// By box.
    pub boxes: Vec<Placed>,
    /// By line.
    pub routes: Vec<Route>,
}

/// What a screen shows at once: of two directions the one is taken that comes nearer to it.
const SCREEN: Size = Size { width: 1200.0, height: 800.0 };
/// More cells than this for bends would take longer than they are worth: long lines then run straight, behind boxes.
const BENDS_LIMIT: usize = 20_000;
/// Between two boxes without lines.
const GRID_GAP: f64 = 16.0;
/// Between what is joined by lines and what is not.
const PART_GAP: f64 = 32.0;

/// Draws boxes and the lines between them, in the direction that suits a screen better.
pub fn lay_out(sizes: &[Size], lines: &[Line]) -> Layout {
    let overflow = |layout: &Layout| (layout.size.width / SCREEN.width).max(layout.size.height / SCREEN.height);
    let [right, down] = [Direction::Right, Direction::Down].map(|direction| lay_out_to(direction, sizes, lines));
    if overflow(&down).max(1.0) < overflow(&right).max(1.0) { down } else { right }
}

/// Draws boxes and the lines between them in one direction.
pub fn lay_out_to(direction: Direction, sizes: &[Size], lines: &[Line]) -> Layout {
    let mut is_joined = vec![false; sizes.len()];
    for line in lines {
        is_joined[line.from] = true;
        is_joined[line.to] = true;
    }
    let cells = Cells::new(direction, sizes, lines, &is_joined);
    let mut layout = cells.draw(direction, sizes.len(), lines);
    place_alone(&mut layout, sizes, &is_joined);
    layout
}

/// Puts boxes without lines into rows below the others.
fn place_alone(layout: &mut Layout, sizes: &[Size], is_joined: &[bool]) {
    let alone: Vec<usize> = (0..sizes.len()).filter(|at| !is_joined[*at]).collect();
    let Some(height) = alone.iter().map(|at| sizes[*at].height).reduce(f64::max) else { return };
    let width = alone.iter().map(|at| sizes[*at].width).fold(0.0, f64::max);
    // As wide as what is there, or about as wide as it will be high.
    let square = (alone.len() as f64 * (height + GRID_GAP) / (width + GRID_GAP)).sqrt().ceil() * (width + GRID_GAP);
    let limit = layout.size.width.max(square * 1.5).min(layout.size.width.max(SCREEN.width));
    let columns = ((limit + GRID_GAP) / (width + GRID_GAP)).floor().max(1.0) as usize;
    let top = if layout.size.height > 0.0 { layout.size.height + PART_GAP } else { 0.0 };
    for (number, at) in alone.iter().enumerate() {
        let (row, column) = (number / columns, number % columns);
        let corner = Point { x: column as f64 * (width + GRID_GAP), y: top + row as f64 * (height + GRID_GAP) };
        layout.boxes[*at] = Placed { corner, size: Size { width, height } };
        layout.size.width = layout.size.width.max(corner.x + width);
        layout.size.height = layout.size.height.max(corner.y + height);
    }
}

/// Something that takes room in a rank: a box, a bend of a line, or a label. `length` goes with the graph,
/// `breadth` across it.
#[derive(Clone, Copy, Debug)]
struct Cell {
    length: f64,
    breadth: f64,
    is_bend: bool,
}

/// All cells, and through which of them each line goes, from lower to higher ranks.
struct Cells {
    cells: Vec<Cell>,
    layers: Vec<Vec<usize>>,
    rank: Vec<usize>,
    chains: Vec<Vec<usize>>,
    is_turned: Vec<bool>,
    label_cell: Vec<Option<usize>>,
}

impl Cells {
    fn new(direction: Direction, sizes: &[Size], lines: &[Line], is_joined: &[bool]) -> Cells {
        let cell = |size: Size, is_bend| match direction {
            Direction::Right => Cell { length: size.width, breadth: size.height, is_bend },
            Direction::Down => Cell { length: size.height, breadth: size.width, is_bend },
        };
        let mut ends: Vec<(usize, usize)> = lines.iter().map(|line| (line.from, line.to)).collect();
        let is_turned = rank::turned(sizes.len(), &ends);
        for (end, _) in ends.iter_mut().zip(&is_turned).filter(|(_, is_turned)| **is_turned) {
            *end = (end.1, end.0);
        }
        let mut rank = rank::ranks(sizes.len(), &ends);
        // Labels need ranks of their own, between those of boxes.
        let has_labels = lines.iter().any(|line| line.label.is_some());
        if has_labels {
            rank.iter_mut().for_each(|rank| *rank *= 2);
        }
        let mut cells: Vec<Cell> = sizes.iter().map(|size| cell(*size, false)).collect();
        let bends: usize = ends.iter().map(|(from, to)| rank[*to] - rank[*from] - 1).sum();
        let with_bends = bends <= BENDS_LIMIT;
        let mut chains = Vec::with_capacity(lines.len());
        let mut label_cell = vec![None; lines.len()];
        for (number, (line, (from, to))) in lines.iter().zip(&ends).enumerate() {
            let mut chain = vec![*from];
            let label_rank = (rank[*from] + rank[*to]) / 2;
            let between = if with_bends { rank[*from] + 1..rank[*to] } else { 0..0 };
            for at in between {
                let size = line.label.filter(|_| at == label_rank);
                if size.is_some() {
                    label_cell[number] = Some(cells.len());
                }
                chain.push(cells.len());
                cells.push(cell(size.unwrap_or_default(), size.is_none()));
                rank.push(at);
            }
            chain.push(*to);
            chains.push(chain);
        }
        let mut layers = vec![Vec::new(); rank.iter().max().map_or(0, |last| last + 1)];
        for (number, rank) in rank.iter().enumerate() {
            if is_joined.get(number).copied().unwrap_or(true) {
                layers[*rank].push(number);
            }
        }
        layers.retain(|layer: &Vec<usize>| !layer.is_empty());
        for (number, layer) in layers.iter().enumerate() {
            layer.iter().for_each(|cell| rank[*cell] = number);
        }
        Cells { cells, layers, rank, chains, is_turned, label_cell }
    }

    fn draw(mut self, direction: Direction, box_count: usize, lines: &[Line]) -> Layout {
        let neighbours = Neighbours::new(self.cells.len(), &self.chains);
        order::reduce_crossings(&mut self.layers, &neighbours);
        let centres = place::across(&self.layers, &self.cells, &neighbours);
        let (starts, lengths) = self.along(&centres);
        let point = |along: f64, across: f64| match direction {
            Direction::Right => Point { x: along, y: across },
            Direction::Down => Point { x: across, y: along },
        };
        let mut boxes = vec![Placed::default(); box_count];
        for &number in self.layers.iter().flatten().filter(|number| **number < box_count) {
            let (cell, rank) = (&self.cells[number], self.rank[number]);
            let far = point(lengths[rank], cell.breadth);
            let corner = point(starts[rank], centres[number] - cell.breadth / 2.0);
            boxes[number] = Placed { corner, size: Size { width: far.x, height: far.y } };
        }
        let ports = place::ports(&self.chains, &self.cells, &centres);
        let mut routes = Vec::with_capacity(lines.len());
        for (number, chain) in self.chains.iter().enumerate() {
            let mut points = Vec::with_capacity(chain.len() * 2);
            for (at, &cell) in chain.iter().enumerate() {
                let (start, end) = (starts[self.rank[cell]], starts[self.rank[cell]] + lengths[self.rank[cell]]);
                let (leaves, enters) = (at + 1 < chain.len(), at > 0);
                let port = match (enters, leaves) {
                    (false, _) => ports[number].0,
                    (_, false) => ports[number].1,
                    _ => centres[cell],
                };
                points.extend(enters.then(|| point(start, port)));
                points.extend(leaves.then(|| point(end, port)));
            }
            let is_back = self.is_turned[number];
            if is_back {
                points.reverse();
            }
            let middle = |cell: usize| starts[self.rank[cell]] + lengths[self.rank[cell]] / 2.0;
            let label = self.label_cell[number].map(|cell| point(middle(cell), centres[cell]));
            routes.push(Route { points, label, is_back });
        }
        let breadth = (self.layers.iter().flatten())
            .map(|number| centres[*number] + self.cells[*number].breadth / 2.0)
            .fold(0.0, f64::max);
        let length = starts.last().zip(lengths.last()).map_or(0.0, |(start, length)| start + length);
        let far = point(length, breadth);
        Layout { direction, size: Size { width: far.x, height: far.y }, boxes, routes }
    }

    /// Where each rank begins, and how long it is. Where lines have to go far across, they get more room.
    fn along(&self, centres: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let mut farthest = vec![0.0_f64; self.layers.len()];
        for pair in self.chains.iter().flat_map(|chain| chain.windows(2)) {
            let rank = self.rank[pair[0]];
            farthest[rank] = farthest[rank].max((centres[pair[0]] - centres[pair[1]]).abs());
        }
        let lengths: Vec<f64> = (self.layers.iter())
            .map(|layer| layer.iter().map(|number| self.cells[*number].length).fold(0.0, f64::max))
            .collect();
        let mut starts = Vec::with_capacity(lengths.len());
        let mut at = 0.0;
        for (length, farthest) in lengths.iter().zip(&farthest) {
            starts.push(at);
            at += length + (26.0 + farthest * 0.1).min(90.0);
        }
        (starts, lengths)
    }
}

/// Which cells are joined to which in the ranks before and after.
struct Neighbours {
    before: Vec<Vec<usize>>,
    after: Vec<Vec<usize>>,
}

impl Neighbours {
    fn new(count: usize, chains: &[Vec<usize>]) -> Neighbours {
        let mut neighbours = Neighbours { before: vec![Vec::new(); count], after: vec![Vec::new(); count] };
        for pair in chains.iter().flat_map(|chain| chain.windows(2)) {
            neighbours.after[pair[0]].push(pair[1]);
            neighbours.before[pair[1]].push(pair[0]);
        }
        neighbours
    }
}

#[cfg(test)]
mod tests;
