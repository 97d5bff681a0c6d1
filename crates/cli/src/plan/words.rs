//! A plan in words, for people.

use std::time::Duration;

use throng_core::plan::Money;
use throng_core::plan::frontier::{Frontier, Point};
use throng_core::plan::optimal::next_choices;
use throng_core::plan::planner::{Infeasible, Limits, Planned};

use super::Case;
use crate::exit::Failure;
use crate::words;

/// An amount as people read it: four digits behind the point, rounded up.
pub fn money(case: &Case<'_>, amount: u64) -> String {
    const SHOWN: u64 = 100_000_000;
    let (currency, parts) = (&case.catalogue.currency, amount.div_ceil(SHOWN));
    let shown = format!("{}.{:04}", parts / 10_000, parts % 10_000);
    if currency == "$" { format!("${shown}") } else { format!("{shown} {}", words::printable(currency)) }
}

/// A time as people read it.
pub fn time(ns: u64) -> String {
    words::duration(Duration::from_nanos(ns))
}

fn percent(part: f64) -> String {
    format!("{:.1} %", part * 100.0)
}

/// Tells what was planned.
pub fn tell(case: &Case<'_>, planned: Option<&Planned>, frontier: Option<&Frontier>, explain: bool) {
    let stages = &case.layout.stages;
    tell!(
        "{}: {} in {}, {}",
        words::printable(case.flow.title()),
        words::count_many(stages.task_count() as u64, "task"),
        words::count_many(stages.len() as u64, "stage"),
        types_of_machines(case.catalogue.machines.len())
    );
    tell!("times {}", sources(case));
    if let Some(planned) = planned {
        tell!("");
        tell_plan(case, planned);
        if explain {
            tell!("");
            tell_why(case, planned);
        }
    }
    if let Some(frontier) = frontier {
        tell!("");
        tell_frontier(case, frontier);
    }
}

fn types_of_machines(count: usize) -> String {
    if count == 1 { "one type of machine".to_owned() } else { format!("{count} types of machines") }
}

/// From where times are known, counted.
fn sources(case: &Case<'_>) -> String {
    let mut counts = std::collections::BTreeMap::new();
    let known = case.tables.rows.iter().flat_map(|(_, known)| known.iter().flatten());
    known.for_each(|known| *counts.entry(known.source).or_insert(0u64) += 1);
    let parts: Vec<String> = counts.iter().map(|(source, count)| format!("{count} {}", source.word())).collect();
    if parts.is_empty() { "of nothing".to_owned() } else { parts.join(", ") }
}

fn tell_plan(case: &Case<'_>, planned: &Planned) {
    let (assigned, stages) = (&planned.assigned, &case.layout.stages);
    let budget = case
        .limits
        .budget
        .map(|budget| format!(", {} of the budget", percent(assigned.cost as f64 / budget.max(1) as f64)));
    let deadline = case.limits.deadline.map(|deadline| {
        format!(", {} of the time there is", percent(assigned.makespan as f64 / deadline.max(1) as f64))
    });
    tell!("plan by {}", case.policy);
    tell!("  makespan  {:>14}{}", time(assigned.makespan), deadline.unwrap_or_default());
    tell!("  cost      {:>14}{}", money(case, assigned.cost), budget.unwrap_or_default());
    if let Some(bound) = planned.bound {
        let is_cost = matches!(case.limits, Limits { budget: None, deadline: Some(_) });
        let (what, reached) =
            if is_cost { (money(case, bound), assigned.cost) } else { (time(bound), assigned.makespan) };
        let gap = 1.0 - bound as f64 / reached.max(1) as f64;
        let word = if planned.is_proven {
            "proven: no plan is better".to_owned()
        } else {
            format!("best so far, gap {}", percent(gap))
        };
        tell!("  bound     {what:>14}, {word}");
    }
    let mut rows = vec![(0u64, 0u64, 0u64); case.catalogue.machines.len()];
    for task in 0..stages.task_count() as u32 {
        let row = stages.row(&assigned.ranks, task);
        let (tasks, time, cost) = &mut rows[usize::from(row.machine)];
        (*tasks, *time, *cost) = (*tasks + 1, *time + row.time, *cost + row.price);
    }
    let names = case.catalogue.machines.iter().map(|machine| words::printable(&machine.name));
    let width = names.clone().map(|name| name.chars().count()).max().unwrap_or(0).max(7);
    tell!("  {:<width$}  {:>9}  {:>14}  {:>14}", "machine", "tasks", "time", "cost");
    for (name, (tasks, machine_time, cost)) in names.zip(rows) {
        let (tasks, length, cost) = (words::thousands(tasks), time(machine_time), money(case, cost));
        tell!("  {name:<width$}  {tasks:>9}  {length:>14}  {cost:>14}");
    }
}

/// So many stages and offers are told.
const TOLD: usize = 8;

fn tell_why(case: &Case<'_>, planned: &Planned) {
    let stages = &case.layout.stages;
    let times = stages.times(&planned.assigned.ranks);
    let (critical, _) = stages.graph().critical(&times);
    let name = |stage: u32| {
        let task = case.layout.tasks[stages.tasks(stage).start as usize];
        let others = stages.tasks(stage).len() - 1;
        let more = if others > 0 { format!(" and {others} beside it") } else { String::new() };
        format!("{}{more}", words::printable(&case.flow.name(task)))
    };
    tell!("the longest way: {}", words::count(critical.len() as u64, "stage"));
    let mut longest = critical.clone();
    longest.sort_by_key(|stage| (std::cmp::Reverse(times[*stage as usize]), *stage));
    for stage in longest.iter().take(TOLD) {
        tell!("  {:>14}  {}", time(times[*stage as usize]), name(*stage));
    }
    let mut offers = next_choices(stages, &planned.assigned.ranks, &critical);
    offers.sort_by(|one, other| {
        let worth = u128::from(other.saves) * u128::from(one.costs);
        worth.cmp(&(u128::from(one.saves) * u128::from(other.costs))).then(one.stage.cmp(&other.stage))
    });
    if offers.is_empty() {
        tell!("more money brings nothing: all of it is on the fastest machines");
        return;
    }
    tell!("where more money would go, the best first:");
    for offer in offers.iter().take(TOLD) {
        tell!("  {:>14}  saves {} of {}", money(case, offer.costs), time(offer.saves), name(offer.stage));
    }
}

/// So many plans of a curve are listed.
const LISTED: usize = 24;

/// Plans of a curve that are listed: the ends, the knee, and some between.
pub fn listed(frontier: &Frontier) -> Vec<(usize, Point)> {
    let count = frontier.points.len();
    let some = |at: usize| at * (count - 1) / (LISTED.min(count).max(2) - 1);
    let mut places: Vec<usize> = (0..LISTED.min(count)).map(some).chain([frontier.knee]).collect();
    places.sort_unstable();
    places.dedup();
    places.into_iter().filter_map(|at| Some((at, *frontier.points.get(at)?))).collect()
}

fn tell_frontier(case: &Case<'_>, frontier: &Frontier) {
    let exact = if frontier.is_exact { "no plan is better than any of these" } else { "as this planner finds them" };
    tell!("cost and makespan, {} by {}: {exact}", words::count(frontier.points.len() as u64, "plan"), case.policy);
    let points = listed(frontier);
    let slowest = frontier.points.first().map_or(1, |point| point.makespan.max(1)) as f64;
    let last = frontier.points.len().saturating_sub(1);
    for (at, point) in points {
        let bar = "▇".repeat((point.makespan as f64 / slowest * 30.0).round() as usize);
        let word = match at {
            at if at == frontier.knee && last > 0 => "  ◀ knee",
            0 => "  ◀ the least that it can cost",
            at if at == last => "  ◀ the fastest",
            _ => "",
        };
        tell!("  {:>14}  {:>14}  {bar}{word}", money(case, point.cost), time(point.makespan));
    }
    if let Some(deadline) = case.limits.deadline {
        match frontier.least_cost(deadline) {
            Some(cost) => tell!("  done within {} for {}", time(deadline), money(case, cost)),
            None => tell!("  not done within {}", time(deadline)),
        }
    }
}

/// Why there is no plan, by how much, and what would be one.
pub fn infeasible(case: &Case<'_>, why: &Infeasible) -> Failure {
    let by = case.policy.to_string();
    match why {
        Infeasible::Budget { least } => {
            let short = least.saturating_sub(case.limits.budget.unwrap_or(0));
            let message = format!(
                "the budget is {} too small: the least that {by} costs is {}",
                money(case, short),
                money(case, *least)
            );
            Failure::bad_input(message, format!("give --budget {} or more", Money(*least)))
        }
        Infeasible::Deadline { least } => {
            let late = least.saturating_sub(case.limits.deadline.unwrap_or(0));
            let message =
                format!("the deadline is {} too early: the fastest that {by} gets is {}", time(late), time(*least));
            Failure::bad_input(
                message,
                format!("give --deadline {} or more, or faster machines", super::exact_seconds(*least)),
            )
        }
        Infeasible::Both { cost_in_time, time_for_budget } => {
            let message = format!(
                "{by} finds no plan that keeps both: done in time, it costs {}; for the budget, it takes {}",
                money(case, *cost_in_time),
                time(*time_for_budget)
            );
            let remedy = format!(
                "give --budget {} or --deadline {}, or try --planner optimal",
                Money(*cost_in_time),
                super::exact_seconds(*time_for_budget)
            );
            Failure::bad_input(message, remedy)
        }
    }
}
