//! A simulated run that is held to a plan, or to the plans of several workflows that share the machines, and what it would have cost.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use throng_core::plan::Money;
use throng_core::plan::catalogue::Catalogue;
use throng_core::plan::file::PlanFile;
use throng_core::plan::joined::{Unjoinable, joined, prefixes};
use throng_core::spelling;
use throng_core::workflow::{Workflow, quantity};
use throng_sim::planned::node_counts;
use throng_sim::rent::Bill;
use throng_sim::{Cluster, Outcome};

use super::options::{ClusterArguments, check_planned};
use super::summary;
use crate::exit::Failure;
use crate::load::Loaded;
use crate::plan::{MachineArguments, Read, read_with};
use crate::words;

/// Where a plan is, and of which part of the workflow.
#[derive(Clone, Debug)]
pub struct PlanSource {
    prefix: Option<String>,
    file: PathBuf,
}

/// Reads `FILE` or `PREFIX=FILE`.
pub fn source(text: &str) -> Result<PlanSource, String> {
    let is_prefix = |prefix: &str| !prefix.is_empty() && !prefix.contains('/');
    Ok(match text.split_once('=').filter(|(prefix, _)| is_prefix(prefix) && !Path::new(text).exists()) {
        Some((prefix, file)) => PlanSource { prefix: Some(prefix.to_owned()), file: PathBuf::from(file) },
        None => PlanSource { prefix: None, file: PathBuf::from(text) },
    })
}

/// What a run is held to, and with what it is paid.
pub struct Planned {
    catalogue: Catalogue,
    parts: Vec<Part>,
    /// Whether instances are rented; otherwise plans only name types.
    rents: bool,
    /// What leaves in the end.
    out_bytes: u64,
}

/// A plan, of the whole workflow or of one that is included in it.
struct Part {
    prefix: Option<String>,
    /// What it expects.
    makespan: Option<Duration>,
    cost: Option<Money>,
}

impl Part {
    fn of(prefix: Option<String>, plan: &PlanFile) -> Part {
        let makespan = plan.said("makespan").and_then(|time| quantity::duration(time).ok());
        Part { prefix, makespan, cost: plan.said("cost").and_then(|cost| Money::parse(cost).ok()) }
    }

    /// When the last of its tasks was done.
    fn done_after(&self, flow: &Workflow, outcome: &Outcome) -> Duration {
        let Some(prefix) = self.prefix.as_ref().map(|prefix| format!("{prefix}.")) else { return outcome.makespan };
        let own = flow.tasks().filter(|task| flow.name(*task).starts_with(&prefix));
        own.filter_map(|task| outcome.ends[task.index()]).max().unwrap_or_default()
    }
}

/// Holds a cluster and a workflow to a plan, if there is one.
pub fn hold(
    arguments: &ClusterArguments,
    loaded: &Loaded,
    flow: &mut Workflow,
) -> Result<Option<(Cluster, Planned)>, Failure> {
    let file = arguments.machines.as_ref().and_then(|machines| machines.file());
    let machines = match (arguments.plan.is_empty(), file) {
        (false, Some(machines)) => machines,
        (true, None) => return Ok(None),
        (false, None) => {
            return Err(Failure::bad_input(
                "a plan is for machines that can be rented, and these are only listed",
                "give --machines the file that the plan was made with",
            ));
        }
        (true, Some(_)) => {
            return Err(Failure::bad_input(
                "a file of machines says what can be rented, and not what is",
                "give --plan a plan by `throng plan --out`, or list machines as 4x8,2x16@1.5",
            ));
        }
    };
    let files = MachineArguments {
        machines: machines.to_owned(),
        times: arguments.times.clone(),
        learn_from: arguments.learn_from.clone(),
    };
    let read = Read::of(flow, loaded, &files)?;
    let prepared = read.prepared(flow, false, true)?;
    let (out_bytes, tables) = (prepared.problem.leaving_bytes(), prepared.tables);
    let catalogue = read.catalogue;
    let (plan, parts) = read_plans(&arguments.plan, flow, &catalogue)?;
    let counts = node_counts(&plan, &catalogue);
    check_planned(catalogue.machines.iter().zip(counts.iter().copied()), arguments.width)?;
    let nodes = counts.iter().sum();
    let cluster = arguments.base(flow, nodes)?.held_to(&plan, &catalogue, &tables, flow);
    let rents = plan.rented.is_some();
    Ok(Some((cluster, Planned { catalogue, parts, rents, out_bytes })))
}

fn read_plans(
    sources: &[PlanSource],
    flow: &Workflow,
    catalogue: &Catalogue,
) -> Result<(PlanFile, Vec<Part>), Failure> {
    let (mut plans, mut parts) = (Vec::new(), Vec::new());
    for PlanSource { prefix, file } in sources {
        if let Some(prefix) = prefix {
            check_prefix(prefix, flow)?;
        }
        let plan = read_with(file, |text, name| PlanFile::read_part(text, name, flow, prefix.as_deref(), catalogue))?;
        warn_of_another_workflow(&plan, prefix.as_deref(), file, flow);
        parts.push(Part::of(prefix.clone(), &plan));
        plans.push(plan);
    }
    let whole = joined(flow, catalogue, &plans).map_err(|error| {
        let remedy = match error {
            Unjoinable::Unplanned(_) => {
                "give a plan for each workflow that is included: --plan PREFIX=FILE, several times"
            }
            Unjoinable::Twice(_) => "give one plan for each prefix, or one for all of it",
            Unjoinable::Mixed => "make all of them with the same kind of planner, or with --instances",
            Unjoinable::Early { .. } => "change when they begin (`from`), or make the plan anew with `throng plan`",
            Unjoinable::TooMany { .. } if plans.len() == 1 => {
                "make the plan anew with `throng plan`, or rent fewer of them at a time"
            }
            Unjoinable::TooMany { .. } => "plan them together, or one of them with fewer machines in its file",
        };
        Failure::bad_input(error, remedy)
    })?;
    Ok((whole, parts))
}

/// A plan says for which workflow it was made; how one is called that is included is not known any more.
fn warn_of_another_workflow(plan: &PlanFile, prefix: Option<&str>, file: &Path, flow: &Workflow) {
    let said = plan.said("workflow").filter(|said| prefix.is_none() && *said != flow.title());
    if let Some(said) = said {
        let (file, said, own) = (file.display(), words::printable(said), words::printable(flow.title()));
        note!("warning: the plan {file} was made for the workflow `{said}`, and this one is `{own}`");
    }
}

fn check_prefix(prefix: &str, flow: &Workflow) -> Result<(), Failure> {
    let known = prefixes(flow);
    if known.contains(prefix) {
        return Ok(());
    }
    let remedy = match spelling::nearest(prefix, known.iter().copied()) {
        Some(nearest) => format!("did you mean `{}`?", words::cell(nearest)),
        None if known.is_empty() => "leave it out: nothing is included in this workflow under a prefix".to_owned(),
        None => format!("its parts are {}", known.into_iter().map(words::cell).collect::<Vec<_>>().join(", ")),
    };
    Err(Failure::bad_input(format!("the workflow has no part `{}`", words::printable(prefix)), remedy))
}

impl Planned {
    fn bill(&self, cluster: &Cluster, outcome: &Outcome) -> Bill {
        Bill::of(outcome, cluster, &self.catalogue, self.out_bytes)
    }

    /// What all plans together expect to pay.
    fn cost(&self) -> Option<Money> {
        self.parts.iter().map(|part| part.cost).sum()
    }

    /// Tells what it cost, beside what was planned.
    pub fn tell(&self, flow: &Workflow, cluster: &Cluster, outcome: &Outcome) {
        let bill = self.bill(cluster, outcome);
        let money = |amount| words::money(&self.catalogue.currency, amount);
        let planned = |said: Option<String>| said.map_or_else(String::new, |said| format!("planned {said}"));
        for part in &self.parts {
            let name = part.prefix.as_ref().map_or("by plan".into(), |prefix| words::cell(prefix));
            let told = planned(part.makespan.map(summary::time));
            tell!("{}", summary::row(&name, &summary::time(part.done_after(flow, outcome)), &told));
        }
        let expected = planned(self.cost().map(money));
        // A plan of types pays for tasks, a run for machines: whoever sees twice the cost wants to know why.
        let why = if self.rents || expected.is_empty() { "" } else { ", for tasks alone: here machines are paid for" };
        tell!("{}", summary::row("cost", &money(bill.total()), &format!("{expected}{why}")));
        for (machine, (count, time, cost)) in self.catalogue.machines.iter().zip(&bill.machines) {
            if *count > 0 {
                let told = format!("{count} × {} for {}", words::cell(&machine.name), words::duration(*time));
                tell!("{}", summary::row("", &money(*cost), &told));
            }
        }
        if bill.data > Money::ZERO {
            tell!("{}", summary::row("", &money(bill.data), "for moving data"));
        }
    }

    /// The same for programs.
    pub fn figures(&self, flow: &Workflow, cluster: &Cluster, outcome: &Outcome) -> Value {
        let bill = self.bill(cluster, outcome);
        let machines = self.catalogue.machines.iter().zip(&bill.machines);
        let machines = machines.map(|(machine, (count, time, cost))| {
            json!({ "type": machine.name, "count": count, "time_ns": time.as_nanos() as u64, "cost": cost.to_string() })
        });
        let ns = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let part = |part: &Part| {
            json!({
                "prefix": part.prefix,
                "makespan_ns": ns(part.done_after(flow, outcome)),
                "planned_makespan_ns": part.makespan.map(ns),
                "planned_cost": part.cost.map(|cost| cost.to_string()),
            })
        };
        json!({
            "cost": bill.total().to_string(),
            "data_cost": bill.data.to_string(),
            "machines": machines.collect::<Vec<_>>(),
            "planned_cost": self.cost().map(|cost| cost.to_string()),
            "parts": self.parts.iter().map(part).collect::<Vec<_>>(),
        })
    }
}
