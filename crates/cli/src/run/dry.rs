//! `--dry-run`: what would run, and why.

use serde::Serialize;
use throng_core::stale::{Reason, Verdict};
use throng_core::workflow::Workflow;
use throng_runtime::run::Outlook;

use super::print_json;
use crate::words;

/// Names shown of tasks that would run; `--json` has them all.
const SHOWN: usize = 50;

#[derive(Serialize)]
struct DryRun {
    total: u64,
    would_run: u64,
    maybe: u64,
    up_to_date: u64,
    adopted: u64,
    tasks: Vec<DryTask>,
}

#[derive(Serialize)]
struct DryTask {
    task: String,
    why: &'static str,
}

/// Says what would run.
pub fn tell_outlook(flow: &Workflow, outlook: &Outlook, json: bool) {
    let mut dry = DryRun { total: 0, would_run: 0, maybe: 0, up_to_date: 0, adopted: 0, tasks: Vec::new() };
    for task in flow.tasks() {
        let (number, why) = match outlook.verdict(task) {
            Verdict::Outside => continue,
            Verdict::UpToDate => (&mut dry.up_to_date, None),
            Verdict::Adopted => (&mut dry.adopted, Some("its files are there and are taken over")),
            Verdict::Maybe => (&mut dry.maybe, Some(Reason::ParentRuns.words())),
            Verdict::Run(reason) => (&mut dry.would_run, Some(reason.words())),
        };
        *number += 1;
        dry.total += 1;
        if let Some(why) = why.filter(|_| json || dry.tasks.len() < SHOWN) {
            let name = flow.name(task);
            dry.tasks.push(DryTask { task: if json { name } else { words::printable(&name) }, why });
        }
    }
    if json {
        return print_json(&dry);
    }
    let width = dry.tasks.iter().map(|task| task.task.chars().count()).max().unwrap_or(0).min(40);
    for task in &dry.tasks {
        tell!("{:width$}  {}", task.task, task.why);
    }
    let listed = dry.tasks.len() as u64;
    let hidden = dry.would_run + dry.maybe + dry.adopted - listed;
    if hidden > 0 {
        tell!("… and {hidden} more (--json lists all)");
    }
    let maybe = if dry.maybe > 0 { format!(", {} might", dry.maybe) } else { String::new() };
    let adopted = if dry.adopted > 0 { format!(", {} would be taken over", dry.adopted) } else { String::new() };
    tell!(
        "{} of {} would run{maybe}{adopted}, {} up to date",
        dry.would_run,
        words::count(dry.total, "task"),
        dry.up_to_date
    );
}
