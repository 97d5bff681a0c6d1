//! Tables of a report as CSV, one line per row: for spreadsheets and scripts.

use std::fmt::Display;
use std::io::{self, Write};

use clap::ValueEnum;
use throng_core::account::{Account, Fate, KindAccount, Part, Stint};
use throng_core::time::Time;
use throng_core::workflow::Workflow;

use super::Report;
use super::figures::{because_word, fate_word, outcome_word, part_word, seconds};

/// The tables there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Table {
    /// Every task of the run, with its last attempt
    Tasks,
    /// Every attempt
    Attempts,
    /// Every kind
    Kinds,
    /// Where the time of all slots went
    Parts,
    /// Where it went, over time
    Utilisation,
    /// What led to the end of the last task
    Path,
}

/// Writes one table.
pub fn write(report: &Report, table: Table, out: &mut dyn Write) -> io::Result<()> {
    let (flow, account) = (&*report.recording.flow, &report.account);
    match table {
        Table::Tasks => tasks(flow, account, out),
        Table::Attempts => attempts(flow, account, out),
        Table::Kinds => kinds(account, out),
        Table::Parts => parts(account, out),
        Table::Utilisation => utilisation(account, out),
        Table::Path => path(flow, account, out),
    }
}

const USED: &str = "user_s,system_s,peak_memory_bytes,peak_is_bound,read_bytes,written_bytes,printed_bytes";

fn tasks(flow: &Workflow, account: &Account, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "task,kind,state,slot,attempts,ready_s,started_s,ended_s,outcome,{USED}")?;
    for (task, own) in flow.tasks().zip(&account.tasks).filter(|(_, own)| own.fate != Fate::Outside) {
        let last = account.last_stint(task);
        let (name, kind) = (quoted(&flow.name(task)), quoted(flow.kind_name(flow.kind(task))));
        let ready = own.ready.map(time).unwrap_or_default();
        let Some(stint) = last else {
            writeln!(out, "{name},{kind},{},,0,{ready},,,,,,,,,,", fate_word(own.fate))?;
            continue;
        };
        let (slot, attempts) = (stint.slot.0, stint.attempt);
        let (started, ended, outcome) = (time(stint.started), time(stint.ended), quoted(&outcome_word(stint)));
        let state = fate_word(own.fate);
        writeln!(out, "{name},{kind},{state},{slot},{attempts},{ready},{started},{ended},{outcome},{}", used(stint))?;
    }
    Ok(())
}

fn attempts(flow: &Workflow, account: &Account, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "task,kind,attempt,slot,ready_s,chosen_s,staged_s,started_s,ended_s,free_s,outcome,{USED}")?;
    for stint in &account.stints {
        let (name, kind) = (quoted(&flow.name(stint.task)), quoted(flow.kind_name(flow.kind(stint.task))));
        write!(out, "{name},{kind},{},{}", stint.attempt, stint.slot.0)?;
        for moment in [stint.ready, stint.decided, stint.staged, stint.started, stint.ended, stint.finished] {
            write!(out, ",{}", time(moment))?;
        }
        writeln!(out, ",{},{}", quoted(&outcome_word(stint)), used(stint))?;
    }
    Ok(())
}

fn used(stint: &Stint) -> String {
    let usage = &stint.usage;
    format!(
        "{},{},{},{},{},{},{}",
        usage.user_us as f64 / 1e6,
        usage.system_us as f64 / 1e6,
        usage.peak_memory_bytes,
        usage.peak_is_bound,
        usage.read_bytes(),
        usage.written_bytes(),
        stint.printed_bytes
    )
}

fn kinds(account: &Account, out: &mut dyn Write) -> io::Result<()> {
    type Cell = fn(&KindAccount) -> Box<dyn Display + '_>;
    let columns: [(&str, Cell); 32] = [
        ("kind", |kind| Box::new(quoted(&kind.name))),
        ("tasks", |kind| Box::new(kind.tasks)),
        ("done", |kind| Box::new(kind.done)),
        ("up_to_date", |kind| Box::new(kind.up_to_date)),
        ("failed", |kind| Box::new(kind.failed)),
        ("skipped", |kind| Box::new(kind.skipped)),
        ("running", |kind| Box::new(kind.running)),
        ("left", |kind| Box::new(kind.left)),
        ("attempts", |kind| Box::new(kind.attempts)),
        ("retries", |kind| Box::new(kind.retries)),
        ("failed_attempts", |kind| Box::new(kind.failures.iter().map(|(_, count)| count).sum::<u64>())),
        ("compute_s", |kind| Box::new(seconds(kind.compute_ns))),
        ("in_vain_s", |kind| Box::new(seconds(kind.in_vain_ns))),
        ("engine_s", |kind| Box::new(seconds(kind.engine_ns))),
        ("waited_s", |kind| Box::new(seconds(kind.waited_ns))),
        ("mean_s", |kind| Box::new(kind.time.mean_ns() / 1e9)),
        ("min_s", |kind| Box::new(seconds(kind.time.min_ns.into()))),
        ("quarter_s", |kind| Box::new(seconds(kind.time.quarter_ns.into()))),
        ("median_s", |kind| Box::new(seconds(kind.time.median_ns.into()))),
        ("three_quarters_s", |kind| Box::new(seconds(kind.time.three_quarters_ns.into()))),
        ("p95_s", |kind| Box::new(seconds(kind.time.p95_ns.into()))),
        ("max_s", |kind| Box::new(seconds(kind.time.max_ns.into()))),
        ("user_s", |kind| Box::new(kind.cpu_us.0 as f64 / 1e6)),
        ("system_s", |kind| Box::new(kind.cpu_us.1 as f64 / 1e6)),
        ("cpus_asked_most", |kind| Box::new(kind.cpus_milli.1 as f64 / 1e3)),
        ("memory_asked_most_bytes", |kind| Box::new(kind.memory.request_bytes.1)),
        ("peak_memory_bytes", |kind| Box::new(kind.memory.peak_bytes)),
        ("peak_is_bound", |kind| Box::new(kind.memory.peak_is_bound)),
        ("attempts_over_memory_asked", |kind| Box::new(kind.memory.over_request)),
        ("read_bytes", |kind| Box::new(kind.read_bytes)),
        ("written_bytes", |kind| Box::new(kind.written_bytes)),
        ("printed_bytes", |kind| Box::new(kind.printed_bytes)),
    ];
    writeln!(out, "{}", columns.map(|(name, _)| name).join(","))?;
    for kind in &account.kinds {
        writeln!(out, "{}", columns.map(|(_, cell)| cell(kind).to_string()).join(","))?;
    }
    Ok(())
}

fn parts(account: &Account, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "part,slot_s,share")?;
    let whole = account.parts.total().max(1) as f64;
    for part in Part::ALL {
        let spent = account.parts.of(part);
        writeln!(out, "{},{},{:.6}", part_word(part), seconds(spent), spent as f64 / whole)?;
    }
    Ok(())
}

fn utilisation(account: &Account, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "begin_s,end_s,{}", Part::ALL.map(|part| format!("{}_slot_s", part_word(part))).join(","))?;
    let bins = &account.utilisation;
    for (number, bin) in bins.bins.iter().enumerate() {
        let begin = bins.begin.0 + number as u64 * bins.bin_ns;
        let end = bins.end.0.min(begin + bins.bin_ns);
        let spent = bin.map(|ns| seconds(ns.into()).to_string()).join(",");
        writeln!(out, "{},{},{spent}", time(Time(begin)), time(Time(end)))?;
    }
    Ok(())
}

fn path(flow: &Workflow, account: &Account, out: &mut dyn Write) -> io::Result<()> {
    let times = "compute_s,in_vain_s,engine_s,pause_s,not_started_s";
    writeln!(out, "task,kind,attempt,slot,because,chosen_s,started_s,ended_s,free_s,{times}")?;
    for step in &account.path.steps {
        let stint = &account.stints[step.stint as usize];
        let (name, kind) = (quoted(&flow.name(stint.task)), quoted(flow.kind_name(flow.kind(stint.task))));
        write!(out, "{name},{kind},{},{},{}", stint.attempt, stint.slot.0, because_word(step.because))?;
        for moment in [stint.decided, stint.started, stint.ended, stint.finished] {
            write!(out, ",{}", time(moment))?;
        }
        let spent = &step.times;
        for ns in [spent.compute_ns, spent.in_vain_ns, spent.engine_ns, spent.pause_ns, spent.not_started_ns] {
            write!(out, ",{}", seconds(ns.into()))?;
        }
        writeln!(out)?;
    }
    Ok(())
}

fn time(time: Time) -> String {
    time.as_secs_f64().to_string()
}

/// A text as CSV has it: in quotation marks if it holds anything that would end the field.
fn quoted(text: &str) -> String {
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields() {
        assert_eq!(["a:1", "a:1,2", "say \"x\""].map(quoted), ["a:1", "\"a:1,2\"", "\"say \"\"x\"\"\""]);
    }
}
