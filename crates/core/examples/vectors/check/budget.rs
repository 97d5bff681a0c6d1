//! Requests about plans: critical paths, tables, plans for a budget, and the progress-based plan.

use serde_json::{Value, json};
use throng_core::plan::graph::Graph;
use throng_core::plan::greedy::greedy;
use throng_core::plan::greedy_stage::greedy_stage;
use throng_core::plan::optimal;
use throng_core::plan::progress::{Job, Priority, Slots, progress};
use throng_core::plan::stages::{Assigned, Stages};
use throng_core::plan::table::{Row, Table};
use throng_core::plan::{Climbed, Step};

use super::request::{Request, small, whole};

/// The answer to a request of this part; `None` if there is no such operation.
pub fn answer(op: &str, request: &Request) -> Option<Result<Value, String>> {
    Some(match op {
        "critical" => critical(request),
        "frontier" => frontier(request),
        "optimal" => best(request),
        "greedy" => climbed(request, false),
        "greedy_stage" => climbed(request, true),
        "progress" => progressed(request),
        _ => return None,
    })
}

fn table(task: &Value) -> Result<Table, String> {
    let task = Request::of(task)?;
    let numbers = |name| task.list(name)?.iter().map(whole).collect::<Result<Vec<u64>, String>>();
    let rows = numbers("t")?.into_iter().zip(numbers("p")?).enumerate();
    let rows = rows.map(|(machine, (time, price))| Row { time, price, machine: machine as u16 });
    Table::of(rows).ok_or_else(|| "bad request: a task without machines".to_owned())
}

fn edges(instance: &Request) -> Result<Vec<(u32, u32)>, String> {
    let edge = |edge: &Value| match edge.as_array().map(Vec::as_slice) {
        Some([from, to]) => Ok((small(from)?, small(to)?)),
        _ => Err(format!("bad request: {edge} is not an edge")),
    };
    instance.list("edges")?.iter().map(edge).collect()
}

fn instance<'a>(request: &Request<'a>) -> Result<Request<'a>, String> {
    Request::of(request.get("instance").ok_or("bad request: `instance` is missing")?)
}

/// The stages, and the budget.
fn stages(request: &Request) -> Result<(Stages, u64), String> {
    let instance = instance(request)?;
    let (mut tables, mut tasks) = (Vec::new(), Vec::new());
    for stage in instance.list("stages")? {
        let mut of_stage = Vec::new();
        for task in Request::of(stage)?.list("tasks")? {
            of_stage.push(tables.len() as u32);
            tables.push(table(task)?);
        }
        tasks.push(of_stage);
    }
    let stages = Stages::new(tables, tasks, edges(&instance)?).map_err(|error| format!("bad request: {error}"))?;
    Ok((stages, instance.whole_or("budget", u64::MAX)?))
}

fn critical(request: &Request) -> Result<Value, String> {
    let (stages, _) = stages(request)?;
    let ranks = stages.cheapest();
    let (critical, makespan) = stages.graph().critical(&stages.times(&ranks));
    Ok(json!({ "makespan": makespan, "critical": critical, "cost": stages.cost(&ranks) }))
}

fn frontier(request: &Request) -> Result<Value, String> {
    let table = table(request.get("task").ok_or("bad request: `task` is missing")?)?;
    let rows: Vec<_> = table.rows().iter().map(|row| json!([row.time, row.price, row.machine])).collect();
    Ok(json!({ "rows": rows }))
}

fn as_json(stages: &Stages, assigned: &Assigned) -> Value {
    let machine = |task| stages.row(&assigned.ranks, task).machine;
    let of_stage = |stage| stages.tasks(stage).map(machine).collect::<Vec<u16>>();
    let machines: Vec<Vec<u16>> = (0..stages.len() as u32).map(of_stage).collect();
    json!({ "makespan": assigned.makespan, "cost": assigned.cost, "machine": machines })
}

fn best(request: &Request) -> Result<Value, String> {
    let (stages, budget) = stages(request)?;
    let Some(best) = optimal::for_budget(&stages, budget, &mut || true) else {
        return Ok(json!({ "feasible": false }));
    };
    let mut answer = as_json(&stages, &best.assigned);
    answer["feasible"] = true.into();
    Ok(answer)
}

fn lowest_terms((over, under): (u64, u64)) -> (u64, u64) {
    let (mut one, mut other) = (over, under);
    while other > 0 {
        (one, other) = (other, one % other);
    }
    (over / one.max(1), under / one.max(1))
}

fn climbed(request: &Request, by_stages: bool) -> Result<Value, String> {
    let (stages, budget) = stages(request)?;
    if stages.cost(&stages.cheapest()) > budget {
        return Ok(json!({ "feasible": false }));
    }
    let mut steps = Vec::new();
    let mut told = |step: &Step<'_>| {
        let first = stages.tasks(step.stage).start;
        let mut tasks: Vec<u32> = step.raised.iter().map(|raised| raised.task - first).collect();
        tasks.sort_unstable();
        let (over, under) = lowest_terms(step.offer.worth);
        let machine = stages.table(step.raised[0].task).row(step.raised[0].to).machine;
        steps.push(json!({
            "stage": step.stage, "task": tasks[0], "tasks": tasks, "machine": machine, "utility": [over, under],
            "makespan": step.makespan, "cost": step.cost,
        }));
        true
    };
    let Climbed { last, best } =
        if by_stages { greedy_stage(&stages, budget, &mut told) } else { greedy(&stages, budget, &mut told) };
    let (last, best) = (as_json(&stages, &last), as_json(&stages, &best));
    Ok(json!({ "feasible": true, "final": last, "best": best, "steps": steps }))
}

fn progressed(request: &Request) -> Result<Value, String> {
    let instance = instance(request)?;
    let (mut jobs, mut cost) = (Vec::new(), 0);
    for job in instance.list("jobs")? {
        let job = Request::of(job)?;
        let mut tasks = |count: &str, of: &str| -> Result<Vec<u64>, String> {
            let count = job.whole(count)?;
            if count == 0 {
                return Ok(Vec::new());
            }
            let table = table(job.get(of).ok_or("bad request: a job without tables")?)?;
            let row = table.row(table.fastest());
            cost += count * row.price;
            Ok(vec![row.time; count as usize])
        };
        let (maps, reduces) = (tasks("maps", "map")?, tasks("reds", "red")?);
        jobs.push(Job { maps, reduces });
    }
    let graph = Graph::new(jobs.len(), edges(&instance)?).ok_or("bad request: jobs wait for each other in a circle")?;
    let slots = Slots { map: instance.whole("map_slots")?, reduce: instance.whole("red_slots")? };
    let by = match instance.get("level").and_then(Value::as_str) {
        Some("entry") => Priority::EntryLevel,
        _ => Priority::Level,
    };
    let plan = progress(&graph, &jobs, slots, by);
    let phase = |is_reduce| if is_reduce { "red" } else { "map" };
    let starts: Vec<_> =
        plan.starts.iter().map(|start| json!([start.at, start.job, phase(start.is_reduce), start.tasks])).collect();
    Ok(json!({
        "makespan": plan.makespan,
        "cost": cost,
        "level": plan.priorities,
        "plan": starts,
        "finish": plan.ends,
        "requirement": plan.required,
        "within_budget": cost <= instance.whole_or("budget", u64::MAX)?,
        "within_deadline": plan.makespan <= instance.whole_or("deadline", u64::MAX)?,
    }))
}
