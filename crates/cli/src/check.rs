//! `throng check`: is it right, how large is it, and does anything look like a slip of the pen?

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::time::Duration;

use clap::Args;
use serde_json::json;
use throng_core::bound::LowerBound;
use throng_core::ids::{KindId, ObjectId, TaskId};
use throng_core::shape::{self, Shape, Warning};
use throng_core::workflow::{Workflow, wfformat};
use throng_runtime::host;

use crate::exit::{Code, Failure};
use crate::load::{FlowArguments, Loaded, load_leniently};
use crate::words;

/// What `throng check` takes.
#[derive(Args)]
#[command(after_help = "\
Example:
  throng check flow.yaml             its numbers, and what looks like a slip of the pen
  throng check flow.yaml --json      the same for a script
  throng check flow.yaml --strict    exit code 1 if there is any warning
  throng check montage.json          a trace in WfFormat: what ran, how long, and what is odd about it

Files that are read but neither made nor present are only warned of here: the data may be elsewhere.")]
pub struct Arguments {
    #[command(flatten)]
    source: FlowArguments,
    /// Let warnings count as failure
    #[arg(long)]
    strict: bool,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Code, Failure> {
    let missing = RefCell::new(BTreeSet::new());
    let loaded = load_leniently(&arguments.source, &missing)?;
    let flow = &loaded.flow;
    let shape = Shape::of(flow);
    let mut warnings: Vec<String> = Vec::new();
    let missing = missing.into_inner();
    if let Some(first) = missing.first() {
        let more = if missing.len() > 1 { format!(" and {} more are", missing.len() - 1) } else { " is".to_owned() };
        warnings.push(format!("`{}`{more} read, but not there, and no task makes it", words::printable(first)));
    }
    match &loaded.trace {
        // Nobody wrote it by hand, so nothing in it is a slip of the pen.
        Some(trace) => warnings.extend(trace.remarks.iter().map(|remark| words::printable(remark))),
        None => warnings.extend(shape::warnings(flow, &shape).iter().map(|warning| in_words(flow, warning))),
    }
    if arguments.json {
        tell!("{}", as_json(&loaded, &shape, &warnings));
    } else {
        tell_shape(flow, &shape);
        if let Some(trace) = &loaded.trace {
            tell_trace(flow, trace);
        }
        for warning in &warnings {
            tell!("warning: {warning}");
        }
    }
    Ok(if arguments.strict && !warnings.is_empty() { Code::TaskFailed } else { Code::Done })
}

/// Kinds that are listed; `--json` has them all.
const KINDS_SHOWN: usize = 20;

fn tell_shape(flow: &Workflow, shape: &Shape) {
    tell!("{}: {}", words::printable(flow.title()), words::count(shape.tasks, "task"));
    tell!("  kinds      {}", flow.kind_count());
    tell!("  files      {} made, {} from outside, {} read by nobody", shape.made, shape.outside, shape.unread);
    tell!("  edges      {}", shape.edges);
    tell!("  depth      {} in a row", words::count(shape.depth, "task"));
    tell!("  width      {} at most at the same depth, {} at the start", shape.width, shape.roots);
    if shape.estimated > 0 {
        let of = if shape.estimated < shape.tasks {
            format!(" (of the {} with an estimate)", words::count(shape.estimated, "task"))
        } else {
            String::new()
        };
        tell!("  work       {}{of}", words::seconds(shape.bound.work_ns as f64 / 1e9));
        let cores = host::resources().cpus_milli.max(1000) / 1000;
        let least = LowerBound { slots: cores as u32, ..shape.bound }.ns();
        let [critical, least] = [shape.bound.chain_ns, least].map(|ns| words::duration(Duration::from_nanos(ns)));
        tell!("  critical   {critical}; on {} at least {least}", words::count(cores, "core"));
    }
    let width = flow.kind_count().min(KINDS_SHOWN);
    let mut kinds: Vec<KindId> = (0..flow.kind_count()).map(KindId::at).collect();
    kinds.sort_by_key(|kind| std::cmp::Reverse(shape.kinds[kind.index()].tasks));
    for kind in &kinds[..width] {
        let own = &shape.kinds[kind.index()];
        let work = if own.estimated > 0 { format!(", {} of work", words::duration(own.work)) } else { String::new() };
        tell!("  {:>10} × {}{work}", own.tasks, words::printable(flow.kind_name(*kind)));
    }
    if kinds.len() > width {
        tell!("  … and {} kinds more (--json lists all)", kinds.len() - width);
    }
}

/// Says of a trace what was recorded besides.
fn tell_trace(flow: &Workflow, trace: &wfformat::About) {
    let took = trace.makespan_seconds.map(|seconds| format!("took {}", words::seconds(seconds)));
    let machines = (trace.machines > 0).then(|| format!("on {}", words::count(trace.machines as u64, "machine")));
    let moment = trace.executed_unix_ms.and_then(|ms| u64::try_from(ms).ok());
    let moment = moment.map(|ms| format!("on {}", words::moment(ms)));
    let system = trace.system.as_ref().map(|system| format!("by {}", words::printable(system)));
    let parts: Vec<String> = [took, machines, moment, system].into_iter().flatten().collect();
    tell!("  recorded   {}", if parts.is_empty() { "nothing of the run".to_owned() } else { parts.join(", ") });
    let sizes = (0..flow.object_count()).map(ObjectId::at).filter_map(|object| flow.declared_size(object));
    tell!("  data       {} in all files; WfFormat {}", words::bytes(sizes.fold(0, u64::saturating_add)), trace.version);
}

fn as_json(loaded: &Loaded, shape: &Shape, warnings: &[String]) -> serde_json::Value {
    let flow = &loaded.flow;
    let trace = loaded.trace.as_ref().map(|trace| {
        json!({
            "version": trace.version,
            "name": trace.name,
            "system": trace.system,
            "makespan_s": trace.makespan_seconds,
            "executed_at": trace.executed_at,
            "executed_unix_ms": trace.executed_unix_ms,
            "machines": trace.machines,
        })
    });
    let kinds = shape.kinds.iter().enumerate().map(|(number, kind)| {
        json!({
            "kind": flow.kind_name(KindId::at(number)),
            "tasks": kind.tasks,
            "estimated": kind.estimated,
            "work_s": kind.work.as_secs_f64(),
        })
    });
    let seconds = |ns: f64| (shape.estimated > 0).then_some(ns / 1e9);
    json!({
        "workflow": flow.title(),
        "tasks": shape.tasks,
        "objects": shape.made + shape.outside,
        "made": shape.made,
        "outside": shape.outside,
        "unread": shape.unread,
        "edges": shape.edges,
        "roots": shape.roots,
        "depth": shape.depth,
        "width": shape.width,
        "estimated": shape.estimated,
        "work_s": seconds(shape.bound.work_ns as f64),
        "critical_path_s": seconds(shape.bound.chain_ns as f64),
        "kinds": kinds.collect::<Vec<_>>(),
        "warnings": warnings,
        "trace": trace,
    })
}

fn in_words(flow: &Workflow, warning: &Warning) -> String {
    let name = |task: TaskId| words::printable(&flow.name(task));
    let template = |task: TaskId| words::printable(flow.template_name(flow.template(task)));
    match warning {
        Warning::PartlyRead { task, object, count } => {
            let file = words::printable(flow.object_name(*object));
            let more = if *count > 1 { format!(" ({count} such files)") } else { String::new() };
            format!("nobody reads `{file}`, though other outputs of `{}` are read{more}", name(*task))
        }
        Warning::TempUnread { object, count } => {
            let file = words::printable(flow.object_name(*object));
            let more = if *count > 1 { format!(" and {} others", count - 1) } else { String::new() };
            format!("`{file}`{more} is temporary, but nobody reads it, so it is never deleted")
        }
        Warning::AllToAll { reader, maker, references } => format!(
            "every `{}` reads everything that `{}` makes ({references} references): let a task between them gather it",
            template(*reader),
            template(*maker)
        ),
        Warning::ManyInputs { task, count } => {
            format!("`{}` reads {count} files: gathering in steps would be quicker", name(*task))
        }
        Warning::LongCommand { task, bytes } => format!(
            "the command of `{}` has {}, more than the system takes: let it read a list of files, or a pattern",
            name(*task),
            words::bytes(*bytes)
        ),
        Warning::AllAlike { task, count } => format!(
            "the {count} tasks of `{}` all do the same: does its command lack a name of its `foreach`?",
            template(*task)
        ),
        Warning::NoEstimate { kinds } => {
            let shown: Vec<String> = kinds.iter().take(5).map(|kind| words::printable(flow.kind_name(*kind))).collect();
            let more = if kinds.len() > 5 { format!(" and {} more", kinds.len() - 5) } else { String::new() };
            format!("no `estimate` of time for {}{more}", shown.join(", "))
        }
    }
}
