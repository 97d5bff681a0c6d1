//! What to ask for instead when no plan keeps the limits: only what was tried, so that nobody who does as told is refused again, and rounded up, so that it can be typed.

use super::planner::{Asked, Infeasible, Limits, Plan};

/// So often a limit is moved on until there is a plan.
const TRIES: u32 = 4;

/// Limits that a planner can keep, near those that it cannot.
pub fn remedies(planner: &dyn Plan, asked: &Asked<'_>, limits: Limits, why: &Infeasible) -> Vec<Limits> {
    let firsts = match *why {
        Infeasible::Budget { least } => vec![with_budget(limits, least)],
        Infeasible::Deadline { least } => vec![with_deadline(limits, least)],
        Infeasible::Both { cost_in_time, time_for_budget } => {
            vec![with_budget(limits, cost_in_time), with_deadline(limits, time_for_budget)]
        }
    };
    let mut kept: Vec<Limits> = firsts.into_iter().flatten().filter_map(|first| kept(planner, asked, first)).collect();
    kept.dedup();
    kept
}

/// These limits, or what they have to become for the planner to find something.
fn kept(planner: &dyn Plan, asked: &Asked<'_>, mut limits: Limits) -> Option<Limits> {
    for _ in 0..TRIES {
        limits = match planner.plan(asked, limits) {
            Ok(_) => return Some(limits),
            Err(Infeasible::Budget { least }) => with_budget(limits, least)?,
            Err(Infeasible::Deadline { least }) => with_deadline(limits, least)?,
            Err(Infeasible::Both { cost_in_time, .. }) => with_budget(limits, cost_in_time)?,
        };
    }
    None
}

/// Amounts are told to a hundredth of a hundredth, as they are shown.
const MONEY_STEP: u64 = 100_000_000;
/// Times are told to the second, or if they are less than a minute, to the thousandth of one.
const TIME_STEPS: [u64; 2] = [1_000_000_000, 1_000_000];
/// A time has to have so many steps to be rounded up to the next.
const STEPS_OF_A_TIME: u64 = 60;

/// Nothing if that is no more money than there was, or more than anybody counts.
fn with_budget(limits: Limits, least: u64) -> Option<Limits> {
    let is_more = least < u64::MAX && limits.budget.is_none_or(|budget| budget < least);
    let budget = least.checked_next_multiple_of(MONEY_STEP).unwrap_or(least);
    is_more.then_some(Limits { budget: Some(budget), ..limits })
}

fn with_deadline(limits: Limits, least: u64) -> Option<Limits> {
    let is_later = least < u64::MAX && limits.deadline.is_none_or(|deadline| deadline < least);
    let step = TIME_STEPS.into_iter().find(|step| least / step >= STEPS_OF_A_TIME).unwrap_or(1);
    let deadline = least.checked_next_multiple_of(step).unwrap_or(least);
    is_later.then_some(Limits { deadline: Some(deadline), ..limits })
}

#[cfg(test)]
mod tests {
    use super::super::planner::{NAMES, by_name};
    use super::super::prepared::with;
    use super::super::rented::Rented;
    use super::*;

    const FLOW: &str = "tasks:\n  cut: { noop: true, foreach: { i: 1..7 }, out: [{ path: 'c{i}', size: 2GB }], estimate: { time: 700s } }\n  \
                        join: { noop: true, in: [{ all: cut }], out: j, estimate: { time: 900s } }\n";
    const MACHINES: &str = "billing: minute\nmachines: { one: { price: 0.10, count: 4, start: 1m }, two: { price: 0.35, cpus: 4, speed: 2, count: 2, start: 1m } }";

    #[test]
    fn what_is_told_can_be_typed() {
        const SECOND: u64 = 1_000_000_000;
        let deadline = |least| with_deadline(Limits::default(), least).unwrap().deadline.unwrap();
        assert_eq!(deadline(1366 * SECOND + 400_000_001), 1367 * SECOND);
        assert_eq!(deadline(30 * SECOND + 400_000_001), 30 * SECOND + 401_000_000);
        assert_eq!(deadline(59_999_999), 59_999_999);
        assert_eq!(deadline(u64::MAX - 1), u64::MAX - 1);
        assert_eq!(with_deadline(Limits { deadline: Some(5), ..Limits::default() }, 5), None);
        let budget = |least| with_budget(Limits::default(), least).unwrap().budget.unwrap();
        assert_eq!((budget(1), budget(200_000_000), budget(200_000_001)), (MONEY_STEP, 200_000_000, 300_000_000));
    }

    #[test]
    fn whoever_does_as_told_has_a_plan() {
        with(FLOW, MACHINES, true, told_to_all);
    }

    fn told_to_all(asked: &Asked<'_>) {
        const MINUTE: u64 = 60_000_000_000;
        const CENT: u64 = 10_000_000_000;
        let mut refused = 0;
        for name in NAMES {
            let policy = name.parse().unwrap();
            let own = by_name(&policy).unwrap();
            let effort = || by_name(&"fit:schedules=300".parse().unwrap()).unwrap();
            let planners =
                if name == "fit" { vec![effort()] } else { vec![own, Box::new(Rented(by_name(&policy).unwrap()))] };
            for planner in planners {
                for budget in [None, Some(CENT), Some(30 * CENT), Some(60 * CENT)] {
                    for deadline in [None, Some(MINUTE), Some(24 * MINUTE), Some(40 * MINUTE)] {
                        let limits = Limits { budget, deadline };
                        let Err(why) = planner.plan(asked, limits) else { continue };
                        refused += 1;
                        let remedies = remedies(planner.as_ref(), asked, limits, &why);
                        assert!(!remedies.is_empty(), "{name}, {limits:?}: {why:?}");
                        for remedy in remedies {
                            let planned = planner.plan(asked, remedy);
                            let planned =
                                planned.unwrap_or_else(|why| panic!("{name}, {limits:?}: {remedy:?}, {why:?}"));
                            assert!(remedy.keeps(planned.cost(), planned.makespan()), "{name}, {limits:?}: {remedy:?}");
                        }
                    }
                }
            }
        }
        assert!(refused > 100, "hardly anybody was refused: {refused}");
    }
}
