//! The curve of cost and makespan: what more money brings, and where it stops being worth it.

use super::planner::{Asked, Limits, Plan};

/// A plan on the curve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Point {
    /// What it costs.
    pub cost: u64,
    /// How long it takes.
    pub makespan: u64,
}

/// Plans that a planner knows without being asked for each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Curve {
    /// Plans of which each is faster and dearer than the one before.
    pub points: Vec<Point>,
    /// Whether no plan is better than any of these, and none between them is missing.
    pub is_exact: bool,
}

/// The curve, from the cheapest plan to the fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frontier {
    /// Plans of which each is faster and dearer than the one before.
    pub points: Vec<Point>,
    /// Which of them is the knee: before it a little more money brings much, after it much more money a little.
    pub knee: usize,
    /// Whether no plan is better than any of these, and none between them is missing.
    pub is_exact: bool,
}

impl Frontier {
    /// The curve of a planner, found with so many budgets, or read off if it can be.
    pub fn of(asked: &Asked<'_>, planner: &dyn Plan, budgets: u64) -> Frontier {
        let Curve { points, is_exact } = planner.curve(asked).unwrap_or_else(|| {
            let (stages, budgets) = (asked.stages(), budgets.max(1));
            let [least, most] = [stages.cheapest(), stages.fastest()].map(|ranks| stages.cost(&ranks));
            let budget = |at: u64| least + (u128::from(most - least) * u128::from(at) / u128::from(budgets)) as u64;
            let limits = |at| Limits { budget: Some(budget(at)), deadline: None };
            let plans = (0..=budgets).filter_map(|at| planner.plan(asked, limits(at)).ok());
            let points = plans.map(|planned| Point { cost: planned.cost(), makespan: planned.makespan() }).collect();
            Curve { points: useful(points), is_exact: false }
        });
        Frontier { knee: knee(&points), points, is_exact }
    }

    /// The least that this curve costs to keep a deadline.
    pub fn least_cost(&self, deadline: u64) -> Option<u64> {
        self.points.iter().find(|point| point.makespan <= deadline).map(|point| point.cost)
    }
}

/// Plans that are faster than all cheaper ones.
pub(super) fn useful(mut points: Vec<Point>) -> Vec<Point> {
    points.sort_unstable_by_key(|point| (point.cost, point.makespan));
    let mut kept: Vec<Point> = Vec::new();
    for point in points {
        if kept.last().is_none_or(|last| point.makespan < last.makespan) {
            kept.push(point);
        }
    }
    kept
}

/// The point that is farthest below the line from the first to the last, with both axes as long as the curve is.
fn knee(points: &[Point]) -> usize {
    let (Some(first), Some(last)) = (points.first(), points.last()) else { return 0 };
    let cost = (last.cost - first.cost).max(1) as f64;
    let time = (first.makespan - last.makespan).max(1) as f64;
    let below =
        |point: &Point| 1.0 - (point.cost - first.cost) as f64 / cost - (point.makespan - last.makespan) as f64 / time;
    let farthest = points
        .iter()
        .enumerate()
        .max_by(|(at, one), (place, other)| below(one).total_cmp(&below(other)).then(place.cmp(at)));
    farthest.map_or(0, |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use super::super::planner::by_name;
    use super::super::prepared::with;
    use super::*;

    const FLOW: &str = "tasks:\n  cut: { noop: true, foreach: { i: 1..3 }, out: 'c{i}', estimate: { time: 60s } }\n  \
                        join: { noop: true, in: [{ all: cut }], out: j, estimate: { time: 120s } }\n";
    const MACHINES: &str = "machines: { small: { price: 0.60 }, large: { price: 1.80, speed: 2 } }";

    #[test]
    fn a_curve_that_cannot_be_read_off_is_found_by_budgets() {
        let frontier = |planner: &str, budgets| {
            let planner = by_name(&planner.parse().unwrap()).unwrap();
            with(FLOW, MACHINES, false, |asked| Frontier::of(asked, planner.as_ref(), budgets))
        };
        const CENT: u64 = 10_000_000_000;
        const SECOND: u64 = 1_000_000_000;
        let point = |cents, seconds| Point { cost: cents * CENT, makespan: seconds * SECOND };
        // `join` is worth it first, for a cent, and then all of `cut`, for a cent and a half.
        let (exact, found) = (frontier("optimal", 1), frontier("greedy-stage", 50));
        let all = [point(5, 180), point(6, 120), Point { cost: 15 * CENT / 2, makespan: 90 * SECOND }];
        assert_eq!((exact.points.as_slice(), exact.is_exact), (all.as_slice(), true));
        assert_eq!((found.points.as_slice(), found.is_exact, found.knee), (all.as_slice(), false, 1));
        let ends = [all[0], all[2]];
        assert_eq!(
            (frontier("greedy-stage", 0).points.as_slice(), found.least_cost(100 * SECOND)),
            (&ends[..], Some(all[2].cost))
        );
    }

    #[test]
    fn the_knee_is_where_the_curve_bends() {
        let point = |cost, makespan| Point { cost, makespan };
        let all = vec![point(10, 100), point(12, 40), point(12, 45), point(30, 35), point(50, 30), point(60, 32)];
        let points = useful(all);
        assert_eq!(points, [point(10, 100), point(12, 40), point(30, 35), point(50, 30)]);
        assert_eq!(knee(&points), 1);
        assert_eq!((knee(&[]), knee(&points[..1])), (0, 0));
    }
}
