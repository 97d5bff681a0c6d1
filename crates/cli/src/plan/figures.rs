//! A plan for programs. Money is written as text, to the last digit: a number with a point would not be exact.

use serde_json::{Value, json};
use throng_core::plan::Money;
use throng_core::plan::frontier::Frontier;
use throng_core::plan::planner::Planned;

use super::Case;

/// All of it.
pub fn figures(case: &Case<'_>, planned: Option<&Planned>, frontier: Option<&Frontier>) -> Value {
    json!({
        "workflow": case.flow.title(),
        "tasks": case.layout.stages.task_count(),
        "stages": case.layout.stages.len(),
        "currency": case.catalogue.currency,
        "planner": case.policy.to_string(),
        "budget": case.limits.budget.map(|budget| Money(budget).to_string()),
        "deadline_ns": case.limits.deadline,
        "times": times(case),
        "plan": planned.map(|planned| plan(case, planned)),
        "frontier": frontier.map(curve),
    })
}

/// What is known of each kind on each machine.
fn times(case: &Case<'_>) -> Vec<Value> {
    let mut rows = Vec::new();
    for (kind, known) in &case.tables.rows {
        for (machine, known) in case.catalogue.machines.iter().zip(known) {
            let Some(known) = known else { continue };
            rows.push(json!({
                "kind": case.flow.kind_name(*kind),
                "machine": machine.name,
                "time_ns": known.time.time_ns,
                "spread_ns": known.time.spread_ns,
                "price": machine.price.for_time(known.time.time_ns).to_string(),
                "source": known.source.word(),
            }));
        }
    }
    rows
}

fn plan(case: &Case<'_>, planned: &Planned) -> Value {
    let (stages, assigned) = (&case.layout.stages, &planned.assigned);
    let machine = |place: u32| &case.catalogue.machines[usize::from(stages.row(&assigned.ranks, place).machine)].name;
    let tasks: serde_json::Map<String, Value> = case
        .flow
        .tasks()
        .map(|task| (case.flow.name(task), Value::from(machine(case.layout.place_of[task.index()]).as_str())))
        .collect();
    json!({
        "makespan_ns": assigned.makespan,
        "cost": Money(assigned.cost).to_string(),
        "bound": planned.bound,
        "is_proven": planned.is_proven,
        "tasks": tasks,
    })
}

fn curve(frontier: &Frontier) -> Value {
    let point = |at: usize| {
        let point = frontier.points[at];
        json!({ "cost": Money(point.cost).to_string(), "makespan_ns": point.makespan, "is_knee": at == frontier.knee })
    };
    json!({
        "is_exact": frontier.is_exact,
        "points": (0..frontier.points.len()).map(point).collect::<Vec<_>>(),
    })
}
