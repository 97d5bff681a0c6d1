//! `throng plan`: what a run would take and cost on machines that can be rented, and which plan is best for some money or by some time.
//!
//! ```text
//!   workflow ─┐
//!   machines ─┼▶ tables ──▶ stages ──▶ planner ──▶ words | figures (JSON) | a file | a picture of the curve
//!   times ────┘
//! ```

mod figures;
mod known;
mod picture;
mod words;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::{Args, value_parser};
use throng_core::plan::Money;
use throng_core::plan::catalogue::{Catalogue, Times, read_machines, read_times};
use throng_core::plan::estimates::{Estimates, Tables, Unknown};
use throng_core::plan::file::PlanFile;
use throng_core::plan::frontier::Frontier;
use throng_core::plan::layout::Layout;
use throng_core::plan::planner::{self, Limits, Planned, Planner};
use throng_core::policy::Policy;
use throng_core::workflow::{Problems, Workflow, quantity};

use crate::diagnostics;
use crate::exit::{Code, Failure};
use crate::load::{FlowArguments, load_leniently, read_file};
use crate::report::write_to;

const HELP: &str = "\
Example:
  throng plan flow.yaml --machines machines.yaml                    the curve: what more money brings
  throng plan flow.yaml --machines machines.yaml --budget 5         the fastest plan for 5 dollars
  throng plan flow.yaml --machines machines.yaml --deadline 2h      the cheapest that is done by then
  throng plan flow.yaml --machines m.yaml --budget 5 --out plan.yaml    keep it

A file of machines looks like this:
  machines:
    small: { cpus: 2, memory: 8GB, price: 0.10 }
    large: { cpus: 8, memory: 32GB, speed: 1.5, price: 0.45 }

Exit code 2 says that no plan keeps the limits; it is told by how much, and what would.";

/// What `throng plan` takes.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    #[command(flatten)]
    source: FlowArguments,
    /// The types of machines that can be had, and what they cost: YAML, JSON, or the thesis's machineTypes.xml
    #[arg(long, value_name = "FILE")]
    machines: PathBuf,
    /// How long tasks of each kind take on each machine: YAML, JSON, or the thesis's workflowTaskTimes.xml [default: what runs have learnt, or `estimate` and `speed`]
    #[arg(long, value_name = "FILE")]
    times: Option<PathBuf>,
    /// The most that the run may cost
    #[arg(long, value_name = "MONEY", value_parser = Money::parse)]
    budget: Option<Money>,
    /// The longest that it may take
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    deadline: Option<Duration>,
    /// Who plans: greedy-stage, optimal, greedy, cheapest, fastest, progress, loss, gain, critical-greedy, ggb, b-rate or b-swap
    #[arg(long, default_value = "greedy-stage", value_name = "PLANNER", value_parser = policy)]
    planner: Policy,
    /// Show the curve of cost and makespan, also if there is a limit
    #[arg(long)]
    frontier: bool,
    /// With how many budgets the curve is found
    #[arg(long, default_value_t = 24, value_name = "N", value_parser = value_parser!(u64).range(1..=1000))]
    points: u64,
    /// Draw the curve as SVG; `-` is standard output
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Say why: the longest way through the workflow, and where more money would go
    #[arg(long)]
    explain: bool,
    /// Write the plan to a file
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// For what a task is charged while it runs: a whole machine, or its share of the cores
    #[arg(long, default_value = "machine", value_name = "machine|share", value_parser = charge)]
    charge: Charge,
    /// How long `optimal` may search before it takes the best plan so far
    #[arg(long, default_value = "60s", value_name = "TIME", value_parser = quantity::duration)]
    patience: Duration,
    /// Print as JSON
    #[arg(long)]
    json: bool,
}

/// For what a task is charged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Charge {
    Machine,
    Share,
}

fn charge(text: &str) -> Result<Charge, String> {
    match text {
        "machine" => Ok(Charge::Machine),
        "share" => Ok(Charge::Share),
        _ => Err("write machine or share".to_owned()),
    }
}

fn policy(text: &str) -> Result<Policy, String> {
    let policy: Policy = text.parse().map_err(|error| format!("{error}"))?;
    planner::by_name(&policy).map_err(|error| error.to_string())?;
    Ok(policy)
}

/// What is planned, and with what.
pub struct Case<'a> {
    flow: &'a Workflow,
    catalogue: &'a Catalogue,
    tables: &'a Tables,
    layout: &'a Layout,
    policy: &'a Policy,
    limits: Limits,
}

impl Case<'_> {
    fn planner(&self) -> Planner {
        planner::by_name(self.policy).expect("its name has been read")
    }

    /// How many tasks can run at once, on all machines that can be had.
    fn slots(&self) -> u64 {
        let of_type = |count: Option<u32>, cpus: u32| count.map(|count| u64::from(count) * u64::from(cpus));
        let counts = self.catalogue.machines.iter().map(|machine| of_type(machine.count, machine.cpus));
        counts.sum::<Option<u64>>().unwrap_or(u64::MAX)
    }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Code, Failure> {
    let missing = RefCell::new(BTreeSet::new());
    let loaded = load_leniently(&arguments.source, &missing)?;
    let flow = &loaded.flow;
    let catalogue = read_with(&arguments.machines, read_machines)?;
    let given = arguments.times.as_deref().map_or(Ok(Times::default()), |file| read_with(file, read_times))?;
    known::check(flow, &catalogue, &given)?;
    known::warn_of_what_is_not_minded(&catalogue);
    let learnt = known::learnt(&loaded, &catalogue);
    let charges_share = arguments.charge == Charge::Share;
    let estimates = Estimates { catalogue: &catalogue, given: &given, learnt: &learnt, charges_share };
    let tables = Tables::of(flow, &estimates).map_err(|unknown| refuse(&unknown))?;
    let layout = Layout::of(flow, tables.tables.clone(), |task| tables.table_of[task.index()])
        .map_err(|error| Failure::bad_input(error, "see the times of `throng plan --json`"))?;
    let deadline = arguments.deadline.map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    let limits = Limits { budget: arguments.budget.map(|money| money.0), deadline };
    let case =
        Case { flow, catalogue: &catalogue, tables: &tables, layout: &layout, policy: &arguments.planner, limits };
    let begun = Instant::now();
    let mut may_go_on = || begun.elapsed() < arguments.patience;
    let is_limited = limits != Limits::default() || arguments.out.is_some();
    let planned = match is_limited {
        true => Some(case.planner().plan(&layout.stages, limits, case.slots(), &mut may_go_on)),
        false => None,
    };
    let planned = planned.transpose().map_err(|infeasible| words::infeasible(&case, &infeasible))?;
    let wants_frontier = arguments.frontier || arguments.plot.is_some() || !is_limited;
    let frontier = wants_frontier
        .then(|| Frontier::of(&layout.stages, case.planner(), arguments.points, case.slots(), &mut may_go_on));
    if let (Some(file), Some(planned)) = (&arguments.out, &planned) {
        let text = plan_file(&case, planned).write(flow, &catalogue);
        write_to(Some(file), |out| out.write_all(text.as_bytes()))?;
    }
    let draws_here = arguments.plot.as_deref() == Some(Path::new("-"));
    if let (Some(file), Some(frontier)) = (&arguments.plot, &frontier) {
        let svg = picture::svg(&case, frontier);
        write_to((!draws_here).then_some(file.as_path()), |out| out.write_all(svg.as_bytes()))?;
    }
    if arguments.json {
        tell!("{}", figures::figures(&case, planned.as_ref(), frontier.as_ref()));
    } else if !draws_here {
        words::tell(&case, planned.as_ref(), frontier.as_ref(), arguments.explain);
    }
    for file in [&arguments.out, &arguments.plot].into_iter().flatten().filter(|file| *file != Path::new("-")) {
        note!("wrote {}", file.display());
    }
    Ok(Code::Done)
}

fn plan_file(case: &Case<'_>, planned: &Planned) -> PlanFile {
    let Layout { stages, place_of, .. } = case.layout;
    let machine_of = place_of.iter().map(|place| stages.row(&planned.assigned.ranks, *place).machine).collect();
    let mut head = vec![("workflow", case.flow.title().to_owned()), ("planner", case.policy.to_string())];
    head.extend(case.limits.budget.map(|budget| ("budget", Money(budget).to_string())));
    head.extend(case.limits.deadline.map(|deadline| ("deadline", exact_seconds(deadline))));
    head.push(("makespan", exact_seconds(planned.assigned.makespan)));
    head.push(("cost", Money(planned.assigned.cost).to_string()));
    PlanFile { head: head.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(), machine_of }
}

/// Seconds to the last digit.
fn exact_seconds(ns: u64) -> String {
    let text = format!("{}.{:09}", ns / 1_000_000_000, ns % 1_000_000_000);
    format!("{}s", text.trim_end_matches('0').trim_end_matches('.'))
}

fn read_with<T>(file: &Path, read: impl Fn(&str, &str) -> Result<T, Problems>) -> Result<T, Failure> {
    let text = read_file(file, "give the path of a file that is there: see `throng plan --help`")?;
    read(&text, &file.display().to_string())
        .map_err(|problems| Failure::rendered(diagnostics::render(&problems, file, &text)))
}

fn refuse(unknown: &Unknown) -> Failure {
    let listed = |kinds: &[String]| {
        let shown: Vec<String> =
            kinds.iter().take(5).map(|kind| format!("`{}`", crate::words::printable(kind))).collect();
        let more = kinds.len().saturating_sub(shown.len());
        if more > 0 { format!("{} and {more} more", shown.join(", ")) } else { shown.join(", ") }
    };
    if !unknown.too_large.is_empty() {
        let message = format!("no machine has what tasks of these kinds ask for: {}", listed(&unknown.too_large));
        return Failure::bad_input(message, "add a type of machine with more cpus and memory");
    }
    let message = format!("nobody knows how long tasks of these kinds take: {}", listed(&unknown.timeless));
    Failure::bad_input(
        message,
        "give them an `estimate`, write a file for --times, or run the workflow once: `throng run` learns it",
    )
}
