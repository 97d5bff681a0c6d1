//! A plan for programs. Money is written as text, to the last digit: a number with a point would not be exact.

use serde_json::{Value, json};
use throng_core::ids::TaskId;
use throng_core::plan::Money;
use throng_core::plan::file::instance_names;
use throng_core::plan::frontier::Frontier;
use throng_core::plan::instances::{Instance, Schedule};
use throng_core::plan::planner::{Bound, Decided, Infeasible, Limits, Planned};

use super::Case;
use super::learnt::Taken;

/// Why there is no plan, and limits with which there would be one.
pub fn infeasible(case: &Case<'_>, why: &Infeasible, remedies: &[Limits]) -> Value {
    let money = |amount: u64| Money(amount).to_string();
    let mut told = figures(case, None, None);
    told["infeasible"] = match *why {
        Infeasible::Budget { least } => json!({ "least_cost": money(least) }),
        Infeasible::Deadline { least } => json!({ "least_makespan_ns": least }),
        Infeasible::Both { cost_in_time, time_for_budget } => {
            json!({ "least_cost_in_time": money(cost_in_time), "least_makespan_for_budget_ns": time_for_budget })
        }
    };
    let remedy = |limits: &Limits| json!({ "budget": limits.budget.map(money), "deadline_ns": limits.deadline });
    told["infeasible"]["feasible_limits"] = remedies.iter().map(remedy).collect();
    told
}

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
        "learnt": case.taken.iter().map(|taken| learnt(case, taken)).collect::<Vec<_>>(),
        "plan": planned.map(|planned| plan(case, planned)),
        "frontier": frontier.map(curve),
    })
}

/// Machines of earlier runs, and for what they were taken.
fn learnt(case: &Case<'_>, taken: &Taken) -> Value {
    json!({
        "machines": taken.names,
        "taken_for": case.catalogue.machines[taken.machine].name,
        "by": if taken.is_label { "name" } else { "attributes" },
        "tasks": taken.tasks,
    })
}

/// What is known of each kind on each machine.
fn times(case: &Case<'_>) -> Vec<Value> {
    let mut rows = Vec::new();
    for of in &case.tables.rows {
        for (machine, known) in case.catalogue.machines.iter().zip(&of.known) {
            let Some(known) = known else { continue };
            rows.push(json!({
                "kind": case.flow.kind_name(of.kind),
                "task": of.task.map(|task| case.flow.name(task)),
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
    let machine_of = planned.machine_of(case.layout);
    let machine = |task: TaskId| case.catalogue.machines[usize::from(machine_of[task.index()])].name.as_str();
    let tasks: serde_json::Map<String, Value> =
        case.flow.tasks().map(|task| (case.flow.name(task), Value::from(machine(task)))).collect();
    let mut told = json!({
        "makespan_ns": planned.makespan(),
        "cost": Money(planned.cost()).to_string(),
        "bound_ns": planned.bound.and_then(|bound| if let Bound::Time(ns) = bound { Some(ns) } else { None }),
        "bound_cost": planned.bound.and_then(|bound| if let Bound::Cost(cost) = bound { Some(Money(cost).to_string()) } else { None }),
        "is_proven": planned.is_proven,
        "tasks": tasks,
    });
    if let Decided::Instances(schedule) = &planned.decided {
        let names = instance_names(&schedule.instances, case.catalogue);
        let instance = |(name, instance): (&String, &Instance)| {
            let machine = &case.catalogue.machines[usize::from(instance.machine)];
            json!({
                "name": name,
                "type": machine.name,
                "from_ns": instance.from,
                "until_ns": instance.until,
                "cost": machine.billing.charge(machine.price, instance.until - instance.from).to_string(),
            })
        };
        told["data_cost"] = Schedule::charge_for_data(case.problem, &schedule.moved).to_string().into();
        told["instances"] = names.iter().zip(&schedule.instances).map(instance).collect();
        let run = |task: TaskId| {
            let run = schedule.runs[task.index()];
            json!({ "instance": names[run.instance as usize], "from_ns": run.begin, "until_ns": run.end })
        };
        let runs: serde_json::Map<String, Value> =
            case.flow.tasks().map(|task| (case.flow.name(task), run(task))).collect();
        told["runs"] = Value::Object(runs);
    }
    told
}

fn curve(frontier: &Frontier) -> Value {
    let point = |at: usize| {
        let point = frontier.points[at];
        json!({ "cost": Money(point.cost).to_string(), "makespan_ns": point.makespan, "is_knee": frontier.knee == Some(at) })
    };
    json!({
        "is_exact": frontier.is_exact,
        "points": (0..frontier.points.len()).map(point).collect::<Vec<_>>(),
    })
}
