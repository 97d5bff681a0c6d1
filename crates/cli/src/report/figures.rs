//! The figures of a report as JSON: what `--json` prints, and what the page shows.
//!
//! Times are in seconds since the command began, sizes in bytes. See `docs/report.md` for what each figure means.

use serde_json::{Map, Value, json};
use throng_core::account::{
    Account, Because, Distribution, Fate, KindAccount, Learning, Part, PathTotals, Seen, Step, Stint, Utilisation,
};
use throng_core::ids::{KindId, TaskId};
use throng_core::pack::dominant::Resource;
use throng_core::time::Time;
use throng_core::workflow::Workflow;
use throng_runtime::recording::Recording;

use super::Report;
use crate::words;

/// Steps of the path that are listed: the longest.
const STEPS_LISTED: usize = 50;
/// Failed tasks that are listed: the first.
pub const FAILED_LISTED: usize = 50;

/// All figures of a report.
pub fn figures(report: &Report) -> Value {
    let Report { recording, account, .. } = report;
    let about = &recording.about;
    let flow = &recording.flow;
    json!({
        "run": about.run,
        "workflow": about.workflow,
        "file": about.file,
        "state": report.state,
        "damage": report.damage,
        "started_unix_ms": about.started_unix_ms,
        "version": about.version,
        "node": about.node,
        "simulated": about.simulated,
        "host": about.host,
        "totals": totals(report),
        "time": time(report),
        "bound": bound(account),
        "data": about.end.as_ref().and_then(|end| end.data.as_ref()),
        "learning": account.learning.as_ref().map(|learning| learning_figures(recording, account, learning)),
        "parts": parts(account),
        "utilisation": utilisation(&account.utilisation),
        "kinds": account.kinds.iter().map(kind_figures).collect::<Vec<_>>(),
        "path": path(flow, account),
        "slowest": account.slowest.iter().map(|number| stint(flow, account, *number)).collect::<Vec<_>>(),
        "failed": account.failed.iter().take(FAILED_LISTED).filter_map(|task| failed(report, *task)).collect::<Vec<_>>(),
    })
}

/// What was learnt: each change of a width with its reason, and what was used and done over time.
fn learning_figures(recording: &Recording, account: &Account, learning: &Learning) -> Value {
    let flow = &recording.flow;
    let changes = learning.changes.iter().map(|change| {
        json!({
            "at_s": at(change.at),
            "kind": flow.kind_name(change.kind),
            "width": change.width,
            "why": words::why_width(change.why),
        })
    });
    let part_s = seconds(account.period.length_ns().into()) / learning.seen.len().max(1) as f64;
    let used = |resource: Resource| -> Vec<Option<f64>> {
        let share = |seen: &Seen| (seen.samples > 0).then(|| (seen.used[resource as usize] * 1e4).round() / 1e4);
        learning.seen.iter().map(share).collect()
    };
    json!({
        "node": crate::status::learner(&recording.about).map(|(node, _)| node),
        "changes": changes.collect::<Vec<_>>(),
        "part_s": part_s,
        "used": Resource::ALL.into_iter().map(|resource| (resource.name().to_owned(), json!(used(resource)))).collect::<Map<_, _>>(),
        "ends": learning.seen.iter().map(|seen| seen.ends).collect::<Vec<_>>(),
        "made_room": learning.made_room,
    })
}

fn totals(report: &Report) -> Value {
    let totals = &report.account.totals;
    json!({
        "tasks": totals.tasks,
        "done": totals.done,
        "up_to_date": totals.up_to_date,
        "failed": totals.failed,
        "skipped": totals.skipped,
        "running": totals.running,
        "left": totals.left,
        "attempts": totals.attempts,
        "retries": totals.retries,
    })
}

fn time(report: &Report) -> Value {
    let period = &report.account.period;
    let makespan = seconds(period.length_ns().into());
    json!({
        "slots": report.account.slots,
        "begin_s": at(period.begin),
        "end_s": at(period.end),
        "makespan_s": makespan,
        "whole_s": report.recording.about.end.as_ref().map(|end| end.seconds),
        "tasks_per_s": if makespan > 0.0 { report.account.totals.done as f64 / makespan } else { 0.0 },
    })
}

fn bound(account: &Account) -> Value {
    let bound = &account.bound;
    json!({
        "bound_s": seconds(bound.ns().into()),
        "work_s": seconds(bound.work_ns),
        "share_s": seconds(bound.share_ns().into()),
        "chain_s": seconds(bound.chain_ns.into()),
        "cores_s": seconds(bound.cores_ns.into()),
        "above": account.above_bound(),
        "of_makespan": account.of_bound(),
        "expected_s": account.expected_seconds,
        "expected_of_makespan": account.of_expected(),
    })
}

/// The word for a part in JSON and CSV.
pub fn part_word(part: Part) -> &'static str {
    match part {
        Part::Compute => "compute",
        Part::InVain => "in_vain",
        Part::Engine => "engine",
        Part::NotStarted => "not_started",
        Part::Pause => "pause",
        Part::Inputs => "inputs",
        Part::Stopping => "stopping",
        Part::Tail => "tail",
    }
}

fn parts(account: &Account) -> Value {
    let parts = Part::ALL.map(|part| (part_word(part).to_owned(), json!(seconds(account.parts.of(part)))));
    Value::Object(Map::from_iter(parts))
}

/// For each part, how many slots were in it on average in each bin.
fn utilisation(utilisation: &Utilisation) -> Value {
    let bin_length = |number: usize| {
        let begin = utilisation.begin.0 + number as u64 * utilisation.bin_ns;
        utilisation.bin_ns.min(utilisation.end.0 - begin)
    };
    let slots = |part: Part| -> Value {
        let bins = utilisation.bins.iter().enumerate();
        bins.map(|(number, bin)| rounded(bin[part as usize] as f64 / bin_length(number) as f64)).collect()
    };
    json!({
        "begin_s": at(utilisation.begin),
        "bin_s": seconds(utilisation.bin_ns.into()),
        "slots": Map::from_iter(Part::ALL.map(|part| (part_word(part).to_owned(), slots(part)))),
    })
}

fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// What one kind did and used.
fn kind_figures(kind: &KindAccount) -> Value {
    let failures: Vec<Value> = kind
        .failures
        .iter()
        .map(|(outcome, count)| json!({ "outcome": words::outcome(*outcome), "count": count }))
        .collect();
    json!({
        "name": kind.name,
        "tasks": kind.tasks,
        "done": kind.done,
        "up_to_date": kind.up_to_date,
        "failed": kind.failed,
        "skipped": kind.skipped,
        "running": kind.running,
        "left": kind.left,
        "attempts": kind.attempts,
        "retries": kind.retries,
        "time": distribution(&kind.time),
        "compute_s": seconds(kind.compute_ns),
        "in_vain_s": seconds(kind.in_vain_ns),
        "engine_s": seconds(kind.engine_ns),
        "waited_s": seconds(kind.waited_ns),
        "user_s": kind.cpu_us.0 as f64 / 1e6,
        "system_s": kind.cpu_us.1 as f64 / 1e6,
        "cpus_asked": [kind.cpus_milli.0 as f64 / 1e3, kind.cpus_milli.1 as f64 / 1e3],
        "memory_asked_bytes": [kind.memory.request_bytes.0, kind.memory.request_bytes.1],
        "peak_memory_bytes": kind.memory.peak_bytes,
        "peak_is_bound": kind.memory.peak_is_bound,
        "attempts_over_memory_asked": kind.memory.over_request,
        "read_bytes": kind.read_bytes,
        "written_bytes": kind.written_bytes,
        "printed_bytes": kind.printed_bytes,
        "failures": failures,
    })
}

fn distribution(time: &Distribution) -> Value {
    let steps: Vec<Value> =
        time.histogram.iter().map(|(begin, count)| json!([seconds((*begin).into()), count])).collect();
    json!({
        "count": time.count,
        "total_s": seconds(time.total_ns),
        "mean_s": time.mean_ns() / 1e9,
        "min_s": seconds(time.min_ns.into()),
        "quarter_s": seconds(time.quarter_ns.into()),
        "median_s": seconds(time.median_ns.into()),
        "three_quarters_s": seconds(time.three_quarters_ns.into()),
        "p95_s": seconds(time.p95_ns.into()),
        "max_s": seconds(time.max_ns.into()),
        "histogram": steps,
    })
}

/// The word for what a step had waited for.
pub fn because_word(because: Because) -> &'static str {
    match because {
        Because::First => "first",
        Because::Inputs => "inputs",
        Because::Slot => "slot",
        Because::Retry => "retry",
    }
}

fn path(flow: &Workflow, account: &Account) -> Value {
    let steps = &account.path.steps;
    let count = |because: Because| steps.iter().filter(|step| step.because == because).count();
    let mut by_kind: Vec<(u64, PathTotals)> = vec![Default::default(); flow.kind_count()];
    for step in steps {
        let (count, times) = &mut by_kind[flow.kind(account.stints[step.stint as usize].task).index()];
        *count += 1;
        *times += step.times;
    }
    let by_kind: Vec<Value> = by_kind
        .iter()
        .enumerate()
        .filter(|(_, (count, _))| *count > 0)
        .map(|(kind, (count, times))| {
            let mut value = path_times(times);
            value.insert("kind".to_owned(), json!(flow.kind_name(KindId::at(kind))));
            value.insert("steps".to_owned(), json!(count));
            Value::Object(value)
        })
        .collect();
    let mut longest: Vec<usize> = (0..steps.len()).collect();
    longest.sort_by_key(|number| std::cmp::Reverse(steps[*number].times.total_ns()));
    longest.truncate(STEPS_LISTED);
    longest.sort_unstable();
    json!({
        "steps": steps.len(),
        "after_inputs": count(Because::Inputs),
        "after_slot": count(Because::Slot),
        "after_retry": count(Because::Retry),
        "times": path_times(&account.path.totals),
        "kinds": by_kind,
        "longest": longest.iter().map(|number| path_step(flow, account, *number, &steps[*number])).collect::<Vec<_>>(),
    })
}

fn path_times(times: &PathTotals) -> Map<String, Value> {
    let times = [
        ("total_s", times.total_ns()),
        ("compute_s", times.compute_ns),
        ("in_vain_s", times.in_vain_ns),
        ("engine_s", times.engine_ns),
        ("pause_s", times.pause_ns),
        ("not_started_s", times.not_started_ns),
    ];
    Map::from_iter(times.map(|(name, time)| (name.to_owned(), json!(seconds(time.into())))))
}

fn path_step(flow: &Workflow, account: &Account, number: usize, step: &Step) -> Value {
    let mut value = path_times(&step.times);
    value.insert("step".to_owned(), json!(number + 1));
    value.insert("because".to_owned(), json!(because_word(step.because)));
    if let Value::Object(of_stint) = stint(flow, account, step.stint) {
        value.extend(of_stint);
    }
    Value::Object(value)
}

/// One attempt.
fn stint(flow: &Workflow, account: &Account, number: u32) -> Value {
    let stint: &Stint = &account.stints[number as usize];
    json!({
        "task": flow.name(stint.task),
        "kind": flow.kind_name(flow.kind(stint.task)),
        "attempt": stint.attempt,
        "slot": stint.slot.0,
        "ready_s": at(stint.ready),
        "chosen_s": at(stint.decided),
        "started_s": at(stint.started),
        "ended_s": at(stint.ended),
        "ran_s": seconds(stint.compute_ns().into()),
        "outcome": outcome_word(stint),
        "user_s": stint.usage.user_us as f64 / 1e6,
        "system_s": stint.usage.system_us as f64 / 1e6,
        "peak_memory_bytes": stint.usage.peak_memory_bytes,
        "peak_is_bound": stint.usage.peak_is_bound,
    })
}

fn failed(report: &Report, task: TaskId) -> Option<Value> {
    let Report { recording, account, printed, .. } = report;
    let number = account.tasks[task.index()].last_stint?;
    let mut figures = stint(&recording.flow, account, number);
    figures["printed"] = json!(printed.get(&task));
    Some(figures)
}

/// How an attempt ended.
pub fn outcome_word(stint: &Stint) -> String {
    stint.outcome.map_or("not ended".to_owned(), words::outcome)
}

/// Where a task stands.
pub fn fate_word(fate: Fate) -> &'static str {
    match fate {
        Fate::Outside => "not asked for",
        Fate::Waiting => "waiting",
        Fate::Ready => "ready",
        Fate::Running => "running",
        Fate::Pausing => "to be tried again",
        Fate::Interrupted => "interrupted",
        Fate::Done => "done",
        Fate::UpToDate => "up to date",
        Fate::Failed => "failed",
        Fate::Skipped => "skipped",
    }
}

/// Nanoseconds as seconds.
pub fn seconds(ns: u128) -> f64 {
    ns as f64 / 1e9
}

fn at(time: Time) -> f64 {
    time.as_secs_f64()
}
