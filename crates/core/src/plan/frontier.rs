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
    /// Which of them is the knee, if the curve bends: before it a little more money brings much, after it much more money a little.
    pub knee: Option<usize>,
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
            // The ends are worth waiting for.
            let is_tried = |at: &u64| *at == 0 || *at == budgets || (asked.may_go_on)();
            let plans = (0..=budgets).filter(is_tried).filter_map(|at| planner.plan(asked, limits(at)).ok());
            let points = plans.map(|planned| Point { cost: planned.cost(), makespan: planned.makespan() }).collect();
            Curve { points: useful(points), is_exact: false }
        });
        Frontier { knee: knee(&points), points, is_exact }
    }

    /// A plan that was found otherwise also belongs to it, if none of these is better.
    pub fn include(&mut self, point: Point) {
        self.points.push(point);
        self.points = useful(std::mem::take(&mut self.points));
        self.knee = knee(&self.points);
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

/// The point that is farthest below the line from the first to the last, with both axes as long as the curve is; none if no point is below it.
fn knee(points: &[Point]) -> Option<usize> {
    let (first, last) = (points.first()?, points.last()?);
    let cost = (last.cost - first.cost).max(1) as f64;
    let time = (first.makespan - last.makespan).max(1) as f64;
    let below =
        |point: &Point| 1.0 - (point.cost - first.cost) as f64 / cost - (point.makespan - last.makespan) as f64 / time;
    let inner = points.iter().enumerate().take(points.len() - 1).skip(1).filter(|(_, point)| below(point) > 0.0);
    let farthest = inner.max_by(|(at, one), (place, other)| below(one).total_cmp(&below(other)).then(place.cmp(at)));
    farthest.map(|(at, _)| at)
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
        assert_eq!((found.points.as_slice(), found.is_exact, found.knee), (all.as_slice(), false, Some(1)));
        let ends = [all[0], all[2]];
        let mut more = found.clone();
        [point(7, 150), point(7, 110), point(16, 90)].into_iter().for_each(|point| more.include(point));
        assert_eq!(more.points, [all[0], all[1], point(7, 110), all[2]], "only what is worth it is taken in");
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
        assert_eq!(knee(&points), Some(1));
        assert_eq!([knee(&[]), knee(&points[..1]), knee(&points[..2])], [None; 3], "an end is no knee");
        assert_eq!(knee(&[point(10, 100), point(20, 95), point(30, 50)]), None, "nor is what is above the line");
    }
}
