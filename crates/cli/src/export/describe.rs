//! Single things as WfFormat has them: a command, a machine, a moment.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};
use throng_core::ids::TaskId;
use throng_core::workflow::{Action, Conditions, Workflow};

use super::measured::Run;
use crate::words;

/// The fewest tasks at the same distance from the beginning.
pub fn least_width(flow: &Workflow) -> u64 {
    let mut level = vec![0usize; flow.task_count()];
    let mut widths: Vec<u64> = Vec::new();
    for task in flow.topological() {
        let own = level[task.index()];
        widths.resize(widths.len().max(own + 1), 0);
        widths[own] += 1;
        flow.children(task).for_each(|child| level[child.index()] = level[child.index()].max(own + 1));
    }
    widths.into_iter().min().unwrap_or(0)
}

/// The command of a task, as a program and its arguments; a script is a program without any.
pub fn command(flow: &Workflow, task: TaskId) -> Value {
    let conditions = Conditions { attempt: 1, demand: flow.first_demand(task) };
    let words = match flow.action(task, conditions) {
        Action::Program(words) => words,
        Action::Shell { text, .. } => vec![text],
        Action::Noop => vec!["noop".to_owned()],
        Action::Sleep(length) => vec!["sleep".to_owned(), length.as_secs_f64().to_string()],
        Action::Replay { .. } | Action::Recorded => flow.recorded_command(task).unwrap_or_default(),
    };
    let mut words = words.into_iter();
    let program = words.next().filter(|program| !program.is_empty()).unwrap_or_else(|| "unknown".to_owned());
    // The format has no empty arguments.
    json!({ "program": program, "arguments": words.filter(|word| !word.is_empty()).collect::<Vec<_>>() })
}

/// A machine, as far as it is known.
pub fn machine(name: &str, run: &Run) -> Value {
    let host = &run.about.host;
    let mut machine = json!({ "nodeName": name, "system": "linux" });
    // Of machines of earlier runs, only the name is known.
    if host.name != name {
        return machine;
    }
    machine["architecture"] = json!(std::env::consts::ARCH);
    if !host.kernel.is_empty() {
        machine["release"] = json!(host.kernel);
    }
    if host.memory_bytes > 0 {
        machine["memoryInBytes"] = json!(host.memory_bytes);
    }
    let mut cpu = Map::new();
    if host.cores > 0 {
        cpu.insert("coreCount".to_owned(), json!(host.cores));
    }
    if let Some(khz) = host.clock_khz {
        cpu.insert("speedInMHz".to_owned(), json!(khz / 1000));
    }
    if !host.cpu.is_empty() {
        cpu.insert("vendor".to_owned(), json!(host.cpu));
    }
    machine["cpu"] = Value::Object(cpu);
    machine
}

/// Now, in milliseconds since 1970.
pub fn now_unix_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis() as u64
}

/// A moment as ISO 8601 has it.
pub fn iso(unix_ms: u64) -> String {
    let text = words::moment(unix_ms);
    format!("{}.{:03}Z", text.trim_end_matches(" UTC").replace(' ', "T"), unix_ms % 1000)
}
