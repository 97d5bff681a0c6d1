//! How far a plan can be from the best: what none that keeps the limits is better than.
//!
//! For plans of types, that is what [`optimal`] can say after a while. For rented instances, much is left out so that the same can be asked:
//!
//! ```text
//!   no data, no waiting for room, every task pays for its share of the cores while it runs
//!      └▶ at the lowest rate at which an instance is charged for what it computes, if all is over by the deadline,
//!         or as soon as with the plan itself: an hour that ends after ten minutes costs six times as much
//! ```
//!
//! and of a limited number of machines, all tasks together take as long as their cores need for them. The effort is counted, not timed: the same plan
//! has the same bound on every machine.

use super::catalogue::Machine;
use super::graph::Graph;
use super::instances::Problem;
use super::optimal;
use super::planner::{Asked, Bound, Decided, Limits, Planned};
use super::stages::Stages;
use super::table::{Row, Table};

/// With more stages than this, only what is plain to see is said.
const MOST_STAGES: usize = 4_000;
/// A search looks at so many stages in all.
const LOOKS: usize = 1_000_000;

/// What is asked for: less time, or less money.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Goal {
    Time { budget: Option<u64> },
    Cost { deadline: u64 },
}

/// What no plan within the limits is better than, as far as that can be found out.
pub fn bound(asked: &Asked<'_>, limits: Limits, planned: &Planned) -> Option<Bound> {
    let goal = match limits {
        Limits { budget: None, deadline: Some(deadline) } => Goal::Cost { deadline },
        Limits { budget, .. } => Goal::Time { budget },
    };
    let bound = match &planned.decided {
        Decided::Types(_) => of_stages(asked.stages(), goal)?,
        Decided::Instances(_) => of_instances(asked, goal, planned.makespan())?,
    };
    let (bound, reached) = match goal {
        Goal::Time { .. } => (Bound::Time(bound), Bound::Time(planned.makespan())),
        Goal::Cost { .. } => (Bound::Cost(bound), Bound::Cost(planned.cost())),
    };
    debug_assert!(bound <= reached, "a plan is better than none can be: {bound:?}, {reached:?}");
    Some(bound.min(reached))
}

fn of_stages(stages: &Stages, goal: Goal) -> Option<u64> {
    let plain = match goal {
        Goal::Time { budget: None } => return Some(stages.makespan(&stages.fastest())),
        Goal::Time { .. } => stages.makespan(&stages.fastest()),
        Goal::Cost { .. } => stages.cost(&stages.cheapest()),
    };
    if stages.len() > MOST_STAGES {
        return Some(plain);
    }
    let mut left = LOOKS / stages.len().max(1);
    let mut may_go_on = || {
        left = left.saturating_sub(1);
        left > 0
    };
    let found = match goal {
        Goal::Time { budget } => optimal::for_budget(stages, budget.unwrap_or(u64::MAX), &mut may_go_on),
        Goal::Cost { deadline } => optimal::for_deadline(stages, deadline, &mut may_go_on),
    };
    Some(found?.bound.max(plain))
}

fn of_instances(asked: &Asked<'_>, goal: Goal, makespan: u64) -> Option<u64> {
    let problem = asked.problem;
    let machines = &problem.catalogue.machines;
    let start = machines.iter().map(|machine| machine.start_ns).min().unwrap_or(0);
    // Nobody who is better has anything for longer than this.
    let longest = match goal {
        Goal::Time { .. } => makespan,
        Goal::Cost { deadline } => deadline,
    };
    let stages = relaxed(asked, longest)?;
    match goal {
        Goal::Time { budget } => {
            let at_once = of_stages(&stages, Goal::Time { budget })?.saturating_add(start);
            Some(at_once.max(start.saturating_add(crowded(problem, asked.slots))))
        }
        Goal::Cost { deadline } => {
            let least = machines.iter().map(|machine| machine.billing.charge(machine.price, 0)).min();
            let shares = of_stages(&stages, Goal::Cost { deadline: deadline.checked_sub(start)? })?;
            Some(shares.max(least.map_or(0, |least| least.0)))
        }
    }
}

/// How long all cores take for all tasks, if every task is where it needs least of them.
fn crowded(problem: &Problem<'_>, slots: u64) -> u64 {
    let least = |task: u32| {
        let on = |machine: u16| {
            let cpus_milli = u128::from(problem.need(task, machine).cpus_milli);
            Some(u128::from(problem.time(task, machine)?) * cpus_milli)
        };
        (0..problem.types() as u16).filter_map(on).min().unwrap_or(0)
    };
    let all: u128 = (0..problem.task_count() as u32).map(least).sum();
    u64::try_from(all / (u128::from(slots.max(1)) * 1000)).unwrap_or(u64::MAX)
}

/// The stages, in which every task is charged for its share of an instance that is had no longer than this.
fn relaxed(asked: &Asked<'_>, longest: u64) -> Option<Stages> {
    let (problem, layout) = (asked.problem, asked.layout);
    let rates: Vec<Option<Rate>> =
        problem.catalogue.machines.iter().map(|machine| Rate::of(machine, longest)).collect();
    let table = |task: u32| {
        let row = |machine: u16| {
            // Who is there only when all is over does not come into question.
            let rate = rates[usize::from(machine)].as_ref()?;
            let time = problem.time(task, machine)?;
            let share = [problem.need(task, machine), problem.has(machine)].map(|need| u128::from(need.cpus_milli));
            Some(Row { time, price: rate.price(time, share), machine })
        };
        Table::of((0..problem.types() as u16).filter_map(row))
    };
    let stages = &layout.stages;
    let tables: Vec<Table> = layout.tasks.iter().map(|task| table(task.0)).collect::<Option<_>>()?;
    let tasks = (0..stages.len() as u32).map(|stage| stages.tasks(stage).collect());
    Stages::new(tables, tasks, edges(stages.graph())).ok()
}

fn edges(graph: &Graph) -> Vec<(u32, u32)> {
    graph.order().iter().flat_map(|node| graph.children(*node).iter().map(|child| (*node, *child))).collect()
}

/// What computing costs on a type at least: so much for so long.
#[derive(Clone, Copy, Debug)]
struct Rate {
    money: u64,
    time_ns: u64,
}

impl Rate {
    /// What is charged in whole units is best had for as many of them as there is time, or until the end.
    fn of(machine: &Machine, longest: u64) -> Option<Rate> {
        let unit = machine.billing.unit_ns.max(1);
        let rates = [longest / unit * unit, longest].into_iter().filter_map(|had| {
            let time_ns = had.checked_sub(machine.start_ns).filter(|time| *time > 0)?;
            Some(Rate { money: machine.billing.charge(machine.price, had).0, time_ns })
        });
        let product = |one: &Rate, other: &Rate| u128::from(one.money) * u128::from(other.time_ns);
        rates.min_by(|one, other| product(one, other).cmp(&product(other, one)))
    }

    /// For so long, and for this share of the cores: never too much.
    fn price(&self, time: u64, [need, has]: [u128; 2]) -> u64 {
        let whole = u128::from(self.money) * u128::from(time) / u128::from(self.time_ns.max(1));
        u64::try_from(whole * need / has.max(1)).unwrap_or(u64::MAX / 4)
    }
}

#[cfg(test)]
mod tests {
    use super::super::catalogue::read_machines;
    use super::super::planner::by_name;
    use super::super::prepared::with;
    use super::super::rented::Rented;
    use super::*;

    const FLOW: &str = "tasks:\n  map: { noop: true, estimate: { time: 10m }, foreach: { i: 1..6 }, in: a, out: 'm{i}' }\n  \
                        join: { noop: true, estimate: { time: 5m }, in: [{ all: map }], out: j }\n";

    /// The plan of a planner for some limits on these machines, and what none is better than.
    fn bounded(machines: &str, planner: &str, limits: Limits) -> (Planned, u64) {
        // That it is not better than the plan is asserted where it is worked out.
        with(FLOW, machines, false, |asked| {
            let (name, is_rented) = planner.strip_suffix(" rented").map_or((planner, false), |name| (name, true));
            let own = by_name(&name.parse().unwrap()).unwrap();
            let own = if is_rented { Box::new(Rented(own)) } else { own };
            let planned = own.plan(asked, limits).unwrap();
            let (Bound::Time(bound) | Bound::Cost(bound)) = bound(asked, limits, &planned).unwrap();
            (planned, bound)
        })
    }

    const MINUTE: u64 = 60_000_000_000;

    #[test]
    fn what_is_as_good_as_can_be_is_known_to_be() {
        let by_hour = "billing: hour\nmachines: { small: { price: 0.60, cpus: 2, start: 1m, count: 3 } }";
        // Three machines for six tasks at once: nothing is faster, and nothing that is over in 16 minutes is cheaper than two of them.
        let (planned, bound) = bounded(by_hour, "fit", Limits::default());
        assert_eq!((planned.makespan(), bound), (16 * MINUTE, 16 * MINUTE));
        let in_time = Limits { budget: None, deadline: Some(16 * MINUTE) };
        let (planned, bound) = bounded(by_hour, "fit", in_time);
        // Sixty-five core minutes, and an instance has thirty of them in the time.
        assert_eq!((planned.cost(), bound), (1_800_000_000_000, 600_000_000_000 * 65 / 30));
        // One machine has room for two at a time: seven shares of ten minutes are what counts.
        let alone = by_hour.replace("count: 3", "count: 1");
        let (planned, bound) = bounded(&alone, "fit", Limits::default());
        assert_eq!((planned.makespan(), bound), (36 * MINUTE, MINUTE + 65 * MINUTE / 2));
    }

    #[test]
    fn a_machine_is_best_had_for_whole_units_or_until_the_end() {
        let rate = |billing: &str, minutes| {
            let machines = format!("billing: {billing}\nmachines: {{ m: {{ price: 0.60, start: 1m }} }}");
            let machines = read_machines(&machines, "m.yaml").unwrap();
            let Rate { money, time_ns } = Rate::of(&machines.machines[0], minutes * MINUTE)?;
            Some((money / 10_000_000_000, time_ns / MINUTE))
        };
        assert_eq!(
            [1, 2, 30, 60, 100, 150].map(|minutes| rate("hour", minutes)),
            [None, Some((60, 1)), Some((60, 29)), Some((60, 59)), Some((60, 59)), Some((120, 119)),]
        );
        let least = "{ by: minute, minimum: 2h }";
        assert_eq!((rate(least, 30), rate(least, 150)), (Some((120, 29)), Some((150, 149))));
    }

    #[test]
    fn who_is_there_too_late_does_not_count() {
        let alone = "machines: { small: { price: 0.60 } }";
        let late = "machines: { small: { price: 0.60 }, late: { price: 9, speed: 8, start: 1h } }";
        let limits = Limits { budget: Some(1_000_000_000_000), deadline: None };
        assert_eq!(bounded(alone, "fit", limits).1, bounded(late, "fit", limits).1);
    }

    #[test]
    fn no_planner_is_better_than_the_bound() {
        let machines = "machines: { slow: { price: 0.10, start: 10s }, fast: { price: 0.35, speed: 2, cpus: 2 } }";
        for billing in ["second", "hour"] {
            let machines = format!("billing: {billing}\n{machines}");
            for planner in ["fit", "greedy", "greedy rented", "cheapest rented", "fastest", "loss", "ic-pcp rented"] {
                for deadline in [8, 12, 20] {
                    let limits = Limits { budget: None, deadline: Some(deadline * MINUTE) };
                    if planner.starts_with("cheapest") && deadline < 20 {
                        continue;
                    }
                    let (planned, bound) = bounded(&machines, planner, limits);
                    assert!(0 < bound && bound <= planned.cost(), "{planner}, {billing}, {deadline}: {bound}");
                }
                let limits = Limits { budget: Some(1_500_000_000_000), deadline: None };
                let (planned, bound) = bounded(&machines, planner, limits);
                assert!(7 * MINUTE <= bound && bound <= planned.makespan(), "{planner}, {billing}: {bound}");
            }
        }
    }
}
