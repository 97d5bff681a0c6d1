//! A plan in words, for people.

use std::time::Duration;

use throng_core::plan::Money;
use throng_core::plan::file::exact_seconds;
use throng_core::plan::frontier::{Frontier, Point};
use throng_core::plan::instances::{Instance, Run, Schedule};
use throng_core::plan::planner::{Bound, Decided, Infeasible, Limits, Planned};
use throng_core::plan::stages::Assigned;

use super::Case;
use super::learnt::Taken;
use crate::exit::Failure;
use crate::words;

/// An amount as people read it.
pub fn money(case: &Case<'_>, amount: u64) -> String {
    words::money(&case.catalogue.currency, Money(amount))
}

/// A time as people read it.
pub fn time(ns: u64) -> String {
    words::duration(Duration::from_nanos(ns))
}

/// The shortest time as people read it that is no shorter than this: whoever takes it for a deadline has time enough.
pub fn time_enough(ns: u64) -> String {
    time(ns.checked_next_multiple_of(time_step(ns)).unwrap_or(ns))
}

/// The longest time as people read it that is no longer than this: nothing is said to be impossible that is not.
fn time_at_least(ns: u64) -> String {
    time(ns / time_step(ns) * time_step(ns))
}

/// What the last digit stands for of a time that is shown.
fn time_step(ns: u64) -> u64 {
    const MINUTE: u64 = 60_000_000_000;
    // What is shown of a time that is less than the second of each.
    let shown = [(1_000, 1_000_000), (1_000_000, MINUTE / 60), (100_000_000, MINUTE), (MINUTE / 60, 60 * MINUTE)];
    let step = shown.into_iter().find(|(_, limit)| ns < *limit);
    step.map_or(if ns < 24 * 60 * MINUTE { MINUTE } else { 60 * MINUTE }, |(step, _)| step)
}

/// An amount as people read it, rounded down: as [`time_at_least`].
fn money_at_least(case: &Case<'_>, amount: u64) -> String {
    money(case, amount / words::MONEY_SHOWN * words::MONEY_SHOWN)
}

/// A time as it can be typed, to the last digit.
fn typed(ns: u64) -> String {
    let (minutes, rest) = (ns / 60_000_000_000, ns % 60_000_000_000);
    let part = |count: u64, unit: &str| if count > 0 { format!("{count}{unit}") } else { String::new() };
    let whole = part(minutes / 60, "h") + &part(minutes % 60, "m");
    if rest > 0 || minutes == 0 { whole + &exact_seconds(rest) } else { whole }
}

fn percent(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}

/// Tells what was planned.
pub fn tell(case: &Case<'_>, planned: Option<&Planned>, frontier: Option<&Frontier>) {
    let stages = &case.layout.stages;
    tell!(
        "{}: {} in {}, {}",
        words::printable(case.flow.title()),
        words::count_many(stages.task_count() as u64, "task"),
        words::count_many(stages.len() as u64, "stage"),
        types_of_machines(case.catalogue.machines.len())
    );
    tell!("times {}", sources(case));
    case.taken.iter().for_each(|taken| tell!("{}", learnt(case, taken)));
    if let Some(planned) = planned {
        tell!("");
        tell_plan(case, planned);
    }
    if let Some(frontier) = frontier {
        tell!("");
        tell_frontier(case, planned, frontier);
    }
}

fn types_of_machines(count: usize) -> String {
    if count == 1 { "one type of machine".to_owned() } else { format!("{count} types of machines") }
}

/// From where times are known, counted.
fn sources(case: &Case<'_>) -> String {
    let mut counts = std::collections::BTreeMap::new();
    let known = case.tables.rows.iter().flat_map(|of| of.known.iter().flatten());
    known.for_each(|known| *counts.entry(known.source).or_insert(0u64) += 1);
    let parts: Vec<String> = counts.iter().map(|(source, count)| format!("{count} {}", source.word())).collect();
    if parts.is_empty() { "of nothing".to_owned() } else { parts.join(", ") }
}

/// So many machines of earlier runs are told by name.
const MOST_NAMES: usize = 3;
/// So much of what a machine is: a processor's name has up to sixty.
const MACHINE_LETTERS: usize = 100;

/// On which machines something was learnt of a type.
fn learnt(case: &Case<'_>, taken: &Taken) -> String {
    let tasks = words::count_many(taken.tasks, "task");
    let machine = words::cell(&case.catalogue.machines[taken.machine].name);
    if taken.is_label {
        return format!("learnt on {machine} from {tasks}, on machines of that name");
    }
    let has_name = |other: &Taken| other.is_label && other.machine == taken.machine;
    let which = if case.taken.iter().any(has_name) { " of other kinds" } else { "" };
    let shown = |name: &String| words::shorten(&words::printable(name), MACHINE_LETTERS);
    let names: Vec<String> = taken.names.iter().take(MOST_NAMES).map(shown).collect();
    let more = taken.names.len() - names.len();
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("learnt on {machine} from {tasks}{which}, on what is most like it: {}{more}", names.join("; "))
}

fn tell_plan(case: &Case<'_>, planned: &Planned) {
    let (makespan, cost) = (planned.makespan(), planned.cost());
    let budget =
        case.limits.budget.map(|budget| format!(", {} of the budget", percent(cost as f64 / budget.max(1) as f64)));
    let deadline = case
        .limits
        .deadline
        .map(|deadline| format!(", {} of the time there is", percent(makespan as f64 / deadline.max(1) as f64)));
    tell!("plan by {}", case.policy);
    tell!("  makespan  {:>14}{}", time_enough(makespan), deadline.unwrap_or_default());
    tell!("  cost      {:>14}{}", money(case, cost), budget.unwrap_or_default());
    if let Some(bound) = planned.bound {
        let (what, bound, reached, less, more) = match bound {
            Bound::Cost(bound) if bound == cost => (money(case, bound), bound, cost, "cheaper", "costs"),
            Bound::Cost(bound) => (money_at_least(case, bound), bound, cost, "cheaper", "costs"),
            Bound::Time(bound) if bound == makespan => (time_enough(bound), bound, makespan, "faster", "takes"),
            Bound::Time(bound) => (time_at_least(bound), bound, makespan, "faster", "takes"),
        };
        let gap = percent(1.0 - bound as f64 / reached.max(1) as f64);
        let is_search = case.policy.name == "optimal" && matches!(planned.decided, Decided::Types(_));
        let word = match planned.is_proven {
            true => "proven: no plan is better".to_owned(),
            false if bound == reached => format!("no plan is {less}"),
            false if is_search => format!("best so far, gap {gap}"),
            false if bound == 0 => "nothing better is ruled out".to_owned(),
            false => {
                let beyond = percent(reached as f64 / bound as f64 - 1.0);
                format!("no plan can be {less} than that; this one {more} {beyond} more")
            }
        };
        tell!("  bound     {what:>14}, {word}");
    }
    let (columns, rows) = match &planned.decided {
        Decided::Types(assigned) => (["tasks", "time", "cost"].as_slice(), rows_of_types(case, assigned)),
        Decided::Instances(schedule) => {
            (["tasks", "instances", "had for", "busy", "cost"].as_slice(), rows_of_instances(case, schedule))
        }
    };
    let names = case.catalogue.machines.iter().map(|machine| words::cell(&machine.name));
    let width = names.clone().map(|name| name.chars().count()).max().unwrap_or(0).max(7);
    let line = |name: &str, cells: &mut dyn Iterator<Item = String>| {
        let cells: String = cells.map(|cell| format!("  {cell:>14}")).collect();
        tell!("  {name:<width$}{cells}");
    };
    line("machine", &mut columns.iter().map(|column| (*column).to_owned()));
    // What is not used says nothing: a large catalogue would hide what is.
    let (used, unused): (Vec<_>, Vec<_>) = names.zip(rows).partition(|(_, cells)| cells.is_some());
    for (name, cells) in used {
        line(&name, &mut cells.into_iter().flatten());
    }
    if !unused.is_empty() {
        let names: Vec<String> = unused.iter().take(TOLD_UNUSED).map(|(name, _)| name.clone()).collect();
        let more = unused.len() - names.len();
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        tell!("  not used: {}{more}", names.join(", "));
    }
    if let Decided::Instances(schedule) = &planned.decided {
        let data = Schedule::charge_for_data(case.problem, &schedule.moved);
        if data > Money::ZERO {
            line("for moving data", &mut std::iter::once(format!("{:>62}", money(case, data.0))));
        }
    }
}

/// So many types that are not used are told.
const TOLD_UNUSED: usize = 8;

/// For each type that is used: how many tasks, how long they run, what that costs.
fn rows_of_types(case: &Case<'_>, assigned: &Assigned) -> Vec<Option<Vec<String>>> {
    let stages = &case.layout.stages;
    let mut rows = vec![(0u64, 0u64, 0u64); case.catalogue.machines.len()];
    for task in 0..stages.task_count() as u32 {
        let row = stages.row(&assigned.ranks, task);
        let (tasks, time, cost) = &mut rows[usize::from(row.machine)];
        (*tasks, *time, *cost) = (*tasks + 1, *time + row.time, *cost + row.price);
    }
    let cells =
        |(tasks, length, cost)| (tasks > 0).then(|| vec![words::thousands(tasks), time(length), money(case, cost)]);
    rows.into_iter().map(cells).collect()
}

/// For each type that is used: how many tasks, on how many instances, for how long these are had, how much of that their cores are busy, what they cost.
fn rows_of_instances(case: &Case<'_>, schedule: &Schedule) -> Vec<Option<Vec<String>>> {
    let row = |number: usize| {
        let machine = &case.catalogue.machines[number];
        let of_type = |instance: &&Instance| usize::from(instance.machine) == number;
        let instances = || schedule.instances.iter().filter(of_type);
        let had: u64 = instances().map(|instance| instance.until - instance.from).sum();
        let cost: Money =
            instances().map(|instance| machine.billing.charge(machine.price, instance.until - instance.from)).sum();
        let is_here = |(_, run): &(usize, &Run)| of_type(&&schedule.instances[run.instance as usize]);
        let runs = || schedule.runs.iter().enumerate().filter(is_here);
        let cores = |task| case.problem.need(task as u32, number as u16).cpus_milli as f64 / 1000.0;
        let ran: f64 = runs().map(|(task, run)| cores(task) * (run.end - run.begin) as f64).sum();
        let busy = if had == 0 { "–".to_owned() } else { percent(ran / had as f64 / f64::from(machine.cpus)) };
        let (tasks, count) = (runs().count() as u64, instances().count() as u64);
        (count > 0)
            .then(|| vec![words::thousands(tasks), words::thousands(count), time(had), busy, money(case, cost.0)])
    };
    (0..case.catalogue.machines.len()).map(row).collect()
}

/// So many plans of a curve are listed.
const LISTED: usize = 24;

/// Plans of a curve that are listed: the ends, the knee, what was planned, and some between, of which each looks faster than the one before.
fn listed(planned: Option<&Planned>, frontier: &Frontier) -> Vec<(usize, Point)> {
    let points = &frontier.points;
    let planned = points.iter().position(|point| is_planned(planned, point));
    let is_end = |at: usize| at == 0 || at + 1 == points.len() || Some(at) == frontier.knee;
    let mut shown = String::new();
    let mut places: Vec<usize> = Vec::new();
    for (at, point) in points.iter().enumerate() {
        let told = time_enough(point.makespan);
        if is_end(at) || told != shown {
            places.push(at);
            shown = told;
        }
    }
    let count = places.len();
    let some = |at: usize| places[at * (count - 1) / (LISTED.min(count).max(2) - 1)];
    let mut places: Vec<usize> = (0..LISTED.min(count)).map(some).chain(frontier.knee).chain(planned).collect();
    places.sort_unstable();
    places.dedup();
    places.into_iter().filter_map(|at| Some((at, *points.get(at)?))).collect()
}

/// Whether a plan is this one.
fn is_planned(planned: Option<&Planned>, point: &Point) -> bool {
    planned.is_some_and(|planned| planned.cost() == point.cost && planned.makespan() == point.makespan)
}

fn tell_frontier(case: &Case<'_>, planned: Option<&Planned>, frontier: &Frontier) {
    let exact = if frontier.is_exact { "no plan is better than any of these" } else { "as this planner finds them" };
    tell!("cost and makespan, {} by {}: {exact}", words::count(frontier.points.len() as u64, "plan"), case.policy);
    let points = listed(planned, frontier);
    let left_out = frontier.points.len() - points.len();
    let slowest = frontier.points.first().map_or(1, |point| point.makespan.max(1)) as f64;
    let last = frontier.points.len().saturating_sub(1);
    for (at, point) in points {
        let bar = "▇".repeat((point.makespan as f64 / slowest * 30.0).round() as usize);
        let marks = [
            (at == 0, "the least budget"),
            (Some(at) == frontier.knee, "knee"),
            (at == last, "the fastest"),
            (is_planned(planned, &point), "this plan"),
        ];
        let marks: Vec<&str> = marks.into_iter().filter(|(is, _)| *is).map(|(_, word)| word).collect();
        let word = if marks.is_empty() { String::new() } else { format!("  ◀ {}", marks.join(", ")) };
        tell!("  {:>14}  {:>14}  {bar}{word}", money(case, point.cost), time_enough(point.makespan));
    }
    if left_out > 0 {
        tell!("  and {left_out} between these: --json lists all of them");
    }
    if let Some(deadline) = case.limits.deadline {
        match frontier.least_cost(deadline) {
            Some(cost) => tell!("  the least for the deadline of {}: {}", time(deadline), money(case, cost)),
            None => tell!("  none keeps the deadline of {}", time(deadline)),
        }
    }
}

/// Why there is no plan, by how much, and limits with which there would be one. Whoever lost patience only knows what was found until then.
pub fn infeasible(case: &Case<'_>, why: &Infeasible, remedies: &[Limits], is_cut_short: bool) -> Failure {
    let by = case.policy.to_string();
    let message = match why {
        Infeasible::Budget { least } => {
            let short = least.saturating_sub(case.limits.budget.unwrap_or(0));
            let [short, least] = [short, *least].map(|amount| money(case, amount));
            match is_cut_short {
                false => format!("the budget is {short} too small: the cheapest plan that {by} finds costs {least}"),
                true => format!(
                    "{by} found no plan for the budget in time: the cheapest so far costs {least}, {short} more"
                ),
            }
        }
        Infeasible::Deadline { least } => {
            let late = least.saturating_sub(case.limits.deadline.unwrap_or(0));
            let (late, least) = (time_enough(late), time_enough(*least));
            match is_cut_short {
                false => format!("the deadline is {late} too early: the fastest plan that {by} finds takes {least}"),
                true => format!(
                    "{by} found no plan for the deadline in time: the fastest so far takes {least}, {late} more"
                ),
            }
        }
        Infeasible::Both { cost_in_time, time_for_budget } => format!(
            "{by} finds no plan that keeps both: done in time, it costs {}; for the budget, it takes {}",
            money(case, *cost_in_time),
            time_enough(*time_for_budget)
        ),
    };
    let options: Vec<String> = remedies.iter().map(|limits| changed(case, limits)).collect();
    let others = "other machines, or another --planner";
    let patience = if is_cut_short { "more --patience, " } else { "" };
    let remedy = match options.is_empty() {
        true => format!("try {patience}{others}"),
        false => {
            format!("give {patience}{}", if is_cut_short { "or " } else { "" }.to_owned() + &options.join(", or "))
        }
    };
    Failure::bad_input(message, remedy)
}

/// The options that have to be others than they are.
fn changed(case: &Case<'_>, limits: &Limits) -> String {
    let budget = limits.budget.filter(|_| limits.budget != case.limits.budget);
    let deadline = limits.deadline.filter(|_| limits.deadline != case.limits.deadline);
    let budget = budget.map(|budget| format!("--budget {} or more", Money(budget)));
    let deadline = deadline.map(|deadline| format!("--deadline {} or more", typed(deadline)));
    budget.into_iter().chain(deadline).collect::<Vec<_>>().join(" and ")
}

#[cfg(test)]
mod tests {
    use throng_core::workflow::quantity;

    use super::*;

    #[test]
    fn what_is_shown_is_enough_when_it_is_typed() {
        let mut ns = 1u64;
        while ns < 1_500_000_000_000_000_000 {
            for ns in [ns - 1, ns, ns + 1, ns * 3 / 2 + 1] {
                let shown = time_enough(ns);
                let read = quantity::duration(&shown).unwrap().as_nanos() as u64;
                assert!(read >= ns && read < 2 * ns + 1_000, "{ns} is shown as {shown}");
                let whole = ns / 1_000_000_000 * 1_000_000_000;
                assert_eq!(quantity::duration(&typed(whole)).unwrap().as_nanos() as u64, whole, "{}", typed(whole));
            }
            ns = ns * 7 / 5 + 1;
        }
        assert_eq!(
            (time_enough(1_366_400_000_000), typed(1_366_400_000_000)),
            ("22 min 47 s".into(), "22m46.4s".into())
        );
        assert_eq!((typed(7_200_000_000_000), typed(0)), ("2h".into(), "0s".into()));
    }
}
