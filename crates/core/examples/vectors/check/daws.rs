//! Requests about data-aware work stealing and the analytic bound.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::{Value, json};
use throng_core::bound::{Analytic, Case, Cost, Edge, Parents, queue_wait};
use throng_core::ids::{NodeId, TaskId};
use throng_core::place::adapt::{Adapt, Config, Window};
use throng_core::place::daws::{self, Choice, Inputs, Terms, Variant};
use throng_core::rng::Rng;

use super::bench;
use super::request::{Request, number, small, text, whole};

/// The answer to a request of this part; `None` if there is no such operation.
pub fn answer(op: &str, request: &Request) -> Option<Result<Value, String>> {
    Some(match op {
        "decide" => decide(request),
        "flds" => flds(request),
        "neighbours" => neighbours(request),
        "steal" => steal(request),
        "adapt" => adapt(request),
        "qwait" => qwait(request),
        "bound" => bound(request),
        "bench" => bench::answer(request),
        _ => return None,
    })
}

fn decide(request: &Request) -> Result<Value, String> {
    let (sizes, places) = (request.list("data_size")?, request.list("parent_list")?);
    let cached = request.get("cached").and_then(Value::as_array);
    if sizes.len() != places.len() {
        return Err("bad request: `data_size` and `parent_list` differ in length".to_owned());
    }
    let mut inputs = Inputs::default();
    for (at, (size, place)) in sizes.iter().zip(places).enumerate() {
        let holder = if place.is_null() { None } else { Some(NodeId(small(place)?)) };
        let is_cached = cached.and_then(|cached| cached.get(at)).and_then(Value::as_bool).unwrap_or(false);
        inputs.add(whole(size)?, holder, is_cached);
    }
    let terms = Terms {
        threshold: request.limit("t")?,
        bytes_per_second: request.limit("net_band")?,
        length_seconds: request.number_or("est_task_length", daws::UNKNOWN_LENGTH.as_secs_f64())?,
    };
    Ok(match daws::decide(NodeId(request.small("id")?), &inputs, &terms) {
        Choice::Shared => json!({"queue": "S"}),
        Choice::Local => json!({"queue": "L"}),
        Choice::Push(to) => json!({"queue": "push", "to": to.0}),
    })
}

fn flds(request: &Request) -> Result<Value, String> {
    let sizes = request.get("lready").map(|_| request.list("lready")).transpose()?.unwrap_or_default();
    let sizes = sizes.iter().map(number).collect::<Result<Vec<f64>, _>>()?;
    let length = request.whole_or("length", sizes.len() as u64)? as usize;
    let finished = request.whole("finished")?;
    let elapsed_us = request.number("elapsed_us")?;
    let horizon_us = request.limit("tt_us")?;
    let horizon = horizon_us.is_finite().then(|| duration(horizon_us * 1e3));
    let surplus = daws::surplus(length, finished, duration(elapsed_us * 1e3), horizon);
    let mut queue: Vec<usize> = (0..sizes.len()).collect();
    queue.sort_by(|a, b| sizes[*b].total_cmp(&sizes[*a]));
    let moved = &queue[queue.len().saturating_sub(surplus)..];
    let run_time = if finished > 0 { length as f64 * elapsed_us / finished as f64 / 1e6 } else { f64::INFINITY };
    Ok(json!({"move": surplus, "moved": moved, "est_run_time": run_time}))
}

fn neighbours(request: &Request) -> Result<Value, String> {
    Ok(json!({"k": daws::neighbour_count(request.small("n")?)}))
}

fn steal(request: &Request) -> Result<Value, String> {
    let lengths = request.list("sready_len")?.iter().map(whole).collect::<Result<Vec<u64>, _>>()?;
    let me = NodeId(request.small("id")?);
    if me.index() >= lengths.len() {
        return Err("bad request: `id` is none of the nodes".to_owned());
    }
    let polled = daws::polled(&mut Rng::new(request.whole("seed")?), me, lengths.len() as u32);
    let victim = daws::victim(polled.iter().map(|node| (*node, lengths[node.index()] as usize)));
    Ok(json!({
        "polled": polled.iter().map(|node| node.0).collect::<Vec<_>>(),
        "victim": victim.map(|(node, _)| node.0),
        "count": victim.map_or(0, |(_, length)| daws::share(length)),
    }))
}

fn adapt(request: &Request) -> Result<Value, String> {
    let mut adapt = Adapt::new(config(request)?);
    let mut states = Vec::new();
    for event in request.list("events")? {
        let event = Request::of(event)?;
        let mut wait = None;
        match event.text("event")? {
            "moved" => adapt.moved(event.whole("count")? as usize),
            "steal_ok" => adapt.steal_succeeded(),
            "steal_fail" => wait = adapt.steal_failed(),
            "work_announced" => adapt.work_announced(),
            "window" => {
                let (moved, asked, idle) = (event.number("moved")?, event.number("asked")?, event.number("idle")?);
                adapt.window(&Window { moved, asked, idle });
            }
            other => return Err(format!("bad request: no event `{other}`")),
        }
        states.push(json!({
            "tt_ms": adapt.horizon_ns() / 1e6,
            "p_ms": milliseconds(adapt.pause()),
            "suspended": adapt.is_suspended(),
            "policy": NAMES.iter().find(|(_, variant)| *variant == adapt.variant()).map(|(name, _)| name),
            "wait_ms": wait.map(milliseconds),
        }));
    }
    Ok(json!({"states": states}))
}

const NAMES: [(&str, Variant); 4] =
    [("MLB", Variant::Mlb), ("MDL", Variant::Mdl), ("RLDS", Variant::Rlds), ("FLDS", Variant::Flds)];

/// The defaults with what the request overrides; the limits of the horizon do not follow its first value.
fn config(request: &Request) -> Result<Config, String> {
    let mut config = Config::default();
    let Some(overrides) = request.get("config").filter(|overrides| !overrides.is_null()) else { return Ok(config) };
    for (name, value) in Request::of(overrides)?.fields() {
        let length = || number(value).map(|ms| duration(ms * 1e6));
        match name {
            "tt0_ms" => config.horizon = length()?,
            "tt_min_ms" => config.horizon_least = length()?,
            "tt_max_ms" => config.horizon_most = length()?,
            "tt_wake_ms" => config.horizon_wake = length()?,
            "p0_ms" => config.pause = length()?,
            "cap_ms" => config.pause_cap = length()?,
            "hi" => config.moved_high = number(value)?,
            "mid" => config.moved_middle = number(value)?,
            "lo" => config.asked_low = number(value)?,
            "idle" => config.idle_high = number(value)?,
            "run" => config.windows_in_a_row = small(value)?,
            "dwell" => config.windows_to_stay = small(value)?,
            "policy" => {
                let named = NAMES.iter().find(|(name, _)| text(value).is_ok_and(|asked| asked == *name));
                config.variant = named.ok_or_else(|| format!("bad request: no policy {value}"))?.1;
            }
            other => return Err(format!("bad request: no setting `{other}`")),
        }
    }
    Ok(config)
}

fn qwait(request: &Request) -> Result<Value, String> {
    Ok(json!({"wait": queue_wait(request.number("k")?, request.number("l")?)}))
}

fn bound(request: &Request) -> Result<Value, String> {
    let wait = queue_wait(request.number_or("k", 1.0)?, request.number_or("l", 0.0)?);
    let (mut costs, mut outputs) = (Vec::new(), Vec::new());
    for task in request.list("tasks")? {
        let task = Request::of(task)?;
        outputs.push(task.number("out")?);
        costs.push(Cost {
            execution_seconds: task.number("exec")?,
            wait_seconds: task.get("qwait").filter(|own| !own.is_null()).map_or(Ok(wait), number)?,
            specification_bytes: task.number("spec")?,
        });
    }
    let mut edges = BTreeSet::new();
    for edge in request.list("edges")? {
        let ends = edge.as_array().map(Vec::as_slice).unwrap_or_default();
        let [parent, child] = ends else { return Err(format!("bad request: {edge} is not an edge")) };
        let (parent, child) = (TaskId(small(parent)?), TaskId(small(child)?));
        if parent.index().max(child.index()) >= costs.len() {
            return Err(format!("bad request: {edge} joins no two tasks"));
        }
        edges.insert((parent, child));
    }
    let edge = |(parent, child): (TaskId, TaskId)| Edge { parent, child, bytes: outputs[parent.index()] };
    let parents = Parents::of_edges(costs.len(), edges.into_iter().map(edge).collect());
    let parents = parents.map_err(|error| format!("bad request: {error}"))?;
    let cost = |task: TaskId| costs[task.index()];
    let bound = Analytic::of(parents.order(), request.limit("net_band")?, |task| parents.of(task), cost);
    let case = |case: &Case| match case {
        Case::Root => 0,
        Case::Away => 1,
        Case::Near => 2,
    };
    Ok(json!({
        "finish": bound.finish,
        "case": bound.case.iter().map(case).collect::<Vec<u8>>(),
        "timespan": bound.timespan,
        "throughput": bound.throughput(),
    }))
}

/// Infinite lengths become the longest one.
fn duration(nanoseconds: f64) -> Duration {
    if nanoseconds.is_finite() { Duration::from_nanos(nanoseconds.round() as u64) } else { Duration::MAX }
}

fn milliseconds(length: Duration) -> f64 {
    length.as_nanos() as f64 / 1e6
}
