//! The run as a trace in Chrome's JSON format, which ui.perfetto.dev and chrome://tracing open.
//!
//! The node is a process, its slots are threads, attempts are slices with the time of their process nested inside,
//! and how many slots were busy is a counter. Times are in microseconds.

use std::io::{self, Write};

use serde_json::{Value, json};
use throng_core::time::Time;

use super::Report;
use super::figures::outcome_word;

/// The only node of a run has this number.
const NODE: u32 = 1;

/// Writes the trace.
pub fn write(report: &Report, out: &mut dyn Write) -> io::Result<()> {
    let (flow, account) = (&report.recording.flow, &report.account);
    let host = &report.recording.about.host.name;
    let name = if host.is_empty() { "node" } else { host };
    write!(
        out,
        "{{\"displayTimeUnit\":\"ms\",\"traceEvents\":[\n{}",
        about("process_name", 0, json!({ "name": name }))
    )?;
    for slot in 0..account.slots {
        let own = match &report.recording.about.simulated {
            Some(simulation) => simulation.slot_name(slot),
            None => slot.to_string(),
        };
        let thread = about("thread_name", slot, json!({ "name": format!("slot {own}") }));
        let place = about("thread_sort_index", slot, json!({ "sort_index": slot }));
        write!(out, ",\n{thread},\n{place}")?;
    }
    for stint in &account.stints {
        let usage = &stint.usage;
        let slice = json!({
            "ph": "X",
            "pid": NODE,
            "tid": stint.slot.0,
            "ts": micros(stint.decided),
            "dur": micros(stint.finished) - micros(stint.decided),
            "name": flow.name(stint.task),
            "cat": flow.kind_name(flow.kind(stint.task)),
            "args": {
                "kind": flow.kind_name(flow.kind(stint.task)),
                "attempt": stint.attempt,
                "outcome": outcome_word(stint),
                "waited_us": stint.waited_ns() as f64 / 1e3,
                "user_us": usage.user_us,
                "system_us": usage.system_us,
                "peak_memory_bytes": usage.peak_memory_bytes,
            },
        });
        write!(out, ",\n{slice}")?;
        if stint.engine_ns() > 0 && stint.compute_ns() > 0 {
            let process = json!({
                "ph": "X",
                "pid": NODE,
                "tid": stint.slot.0,
                "ts": micros(stint.started),
                "dur": micros(stint.ended) - micros(stint.started),
                "name": "process",
                "cat": "process",
            });
            write!(out, ",\n{process}")?;
        }
    }
    for (time, busy) in busy_slots(report) {
        let counter =
            json!({ "ph": "C", "pid": NODE, "name": "busy slots", "ts": micros(time), "args": { "busy": busy } });
        write!(out, ",\n{counter}")?;
    }
    writeln!(out, "\n]}}")
}

fn about(what: &str, slot: u32, arguments: Value) -> Value {
    json!({ "ph": "M", "pid": NODE, "tid": slot, "name": what, "args": arguments })
}

fn micros(time: Time) -> f64 {
    time.0 as f64 / 1e3
}

/// How many slots were busy from when on, wherever that changes.
fn busy_slots(report: &Report) -> Vec<(Time, i64)> {
    let stints = report.account.stints.iter();
    let mut changes: Vec<(Time, i64)> = stints.flat_map(|stint| [(stint.decided, 1), (stint.finished, -1)]).collect();
    changes.sort_unstable_by_key(|(time, _)| *time);
    let mut counted: Vec<(Time, i64)> = Vec::new();
    let mut busy = 0;
    for same_time in changes.chunk_by(|one, other| one.0 == other.0) {
        busy += same_time.iter().map(|(_, change)| change).sum::<i64>();
        if counted.last().is_none_or(|(_, last)| *last != busy) {
            counted.push((same_time[0].0, busy));
        }
    }
    counted
}
