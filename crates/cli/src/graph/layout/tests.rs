use super::*;

const BOX: Size = Size { width: 80.0, height: 30.0 };

fn lines(ends: &[(usize, usize)]) -> Vec<Line> {
    let label = Some(Size { width: 50.0, height: 14.0 });
    ends.iter().map(|(from, to)| Line { from: *from, to: *to, label }).collect()
}

fn overlap(left: &Placed, right: &Placed) -> bool {
    left.corner.x < right.corner.x + right.size.width
        && right.corner.x < left.corner.x + left.size.width
        && left.corner.y < right.corner.y + right.size.height
        && right.corner.y < left.corner.y + left.size.height
}

/// Boxes and labels lie apart, inside the picture, and every line begins and ends at its boxes.
fn check(layout: &Layout, lines: &[Line]) {
    let labels = layout.routes.iter().zip(lines).filter_map(|(route, line)| {
        let (centre, size) = (route.label?, line.label?);
        let corner = Point { x: centre.x - size.width / 2.0, y: centre.y - size.height / 2.0 };
        Some(Placed { corner, size })
    });
    let all: Vec<Placed> = layout.boxes.iter().copied().chain(labels).collect();
    for (at, one) in all.iter().enumerate() {
        assert!(one.corner.x >= -0.01 && one.corner.x + one.size.width <= layout.size.width + 0.01, "{one:?}");
        assert!(one.corner.y >= -0.01 && one.corner.y + one.size.height <= layout.size.height + 0.01, "{one:?}");
        for other in &all[at + 1..] {
            assert!(!overlap(one, other), "{one:?} {other:?}");
        }
    }
    for (route, line) in layout.routes.iter().zip(lines) {
        for (point, at) in [(route.points.first(), line.from), (route.points.last(), line.to)] {
            let (point, placed) = (point.unwrap(), layout.boxes[at]);
            let is_inside =
                |value: f64, start: f64, length: f64| value >= start - 0.01 && value <= start + length + 0.01;
            assert!(is_inside(point.x, placed.corner.x, placed.size.width), "{point:?} {placed:?}");
            assert!(is_inside(point.y, placed.corner.y, placed.size.height), "{point:?} {placed:?}");
        }
    }
}

#[test]
fn nothing_lies_on_anything() {
    for ends in [
        &[(0, 1), (0, 2), (1, 3), (2, 3), (0, 3)][..],
        &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 1)],
        &[(0, 5), (1, 4), (2, 3), (0, 3), (5, 6), (4, 6), (3, 6)],
        &[],
    ] {
        let (sizes, lines) = ([BOX; 9], lines(ends));
        for direction in [Direction::Right, Direction::Down] {
            check(&lay_out_to(direction, &sizes, &lines), &lines);
        }
    }
}

#[test]
fn a_circle_is_drawn_with_one_line_back() {
    let lines = lines(&[(0, 1), (1, 2), (2, 0)]);
    let layout = lay_out(&[BOX; 3], &lines);
    let back: Vec<bool> = layout.routes.iter().map(|route| route.is_back).collect();
    assert_eq!(back, [false, false, true]);
}

#[test]
fn a_chain_that_is_too_long_to_go_right_goes_down() {
    let ends: Vec<(usize, usize)> = (0..29).map(|at| (at, at + 1)).collect();
    assert_eq!(lay_out(&[BOX; 30], &lines(&ends)).direction, Direction::Down);
    assert_eq!(lay_out(&[BOX; 4], &lines(&ends[..3])).direction, Direction::Right);
}

#[test]
fn a_dense_graph_takes_no_more_than_a_moment() {
    let ends: Vec<(usize, usize)> = (0..200).flat_map(|from| (from + 1..200).map(move |to| (from, to))).collect();
    let begun = std::time::Instant::now();
    let layout = lay_out(&[BOX; 200], &lines(&ends));
    assert_eq!(layout.routes.len(), 19_900);
    assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
}
