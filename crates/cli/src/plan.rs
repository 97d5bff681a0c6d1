//! `throng plan`: what a run would take and cost on machines that can be rented, and which plan is best for some money or by some time.
//!
//! ```text
//!   workflow ─┐
//!   machines ─┼▶ tables ──▶ stages ──▶ planner ──▶ words | figures (JSON) | a file | a picture of the curve
//!   times ────┘
//! ```

mod figures;
pub mod known;
mod learnt;
mod patience;
mod picture;
mod places;
mod read;
mod why;
mod words;

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, value_parser};
use throng_core::plan::Money;
use throng_core::plan::bound::bound;
use throng_core::plan::catalogue::Catalogue;
use throng_core::plan::estimates::Tables;
use throng_core::plan::file::{PlanFile, exact_seconds};
use throng_core::plan::frontier::{Frontier, Point};
use throng_core::plan::instances::Problem;
use throng_core::plan::layout::Layout;
use throng_core::plan::planner::{self, Bound, Limits, Plan, Planned};
use throng_core::plan::prepared::Prepared;
use throng_core::plan::remedy::remedies;
use throng_core::plan::rented::Rented;
use throng_core::policy::Policy;
use throng_core::workflow::{Workflow, quantity};

use self::learnt::Taken;
use self::patience::Patience;
use self::places::Places;
pub use self::read::{MachineArguments, Read, read_with};
use crate::exit::{Code, Failure};
use crate::load::{FlowArguments, load_leniently};
use crate::report::write_to;
use crate::simulate::sizes::Found;

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

Exit code 2 says that no plan keeps the limits; it is told by how much, and what would, with --json also as `infeasible`.";

/// What `throng plan` takes.
#[derive(Args)]
#[command(after_help = HELP)]
pub struct Arguments {
    #[command(flatten)]
    source: FlowArguments,
    #[command(flatten)]
    machines: MachineArguments,
    /// The most that the run may cost
    #[arg(long, value_name = "MONEY", value_parser = Money::parse, allow_negative_numbers = true)]
    budget: Option<Money>,
    /// The longest that it may take, such as 90s or 1h30m
    #[arg(long, value_name = "TIME", value_parser = quantity::duration)]
    deadline: Option<Duration>,
    /// Who plans: fit (instances that are rented, with all that is known of them), or for types of machines only: optimal, greedy-stage, greedy, cheapest, fastest, progress, loss, gain, critical-greedy, ggb, b-rate, b-swap or ic-pcp
    #[arg(long, default_value = "fit", value_name = "PLANNER", value_parser = policy)]
    planner: Policy,
    /// Put the tasks of a planner of types on instances, as fit does: as many as can be had, charged as they are
    #[arg(long)]
    instances: bool,
    /// Show the curve of cost and makespan, also if there is a limit
    #[arg(long)]
    frontier: bool,
    /// With how many budgets the curve of a planner is found; fit, optimal and --instances know theirs without
    #[arg(long, default_value_t = 24, value_name = "N", value_parser = value_parser!(u64).range(1..=1000))]
    points: u64,
    /// Draw the curve as SVG; `-` is standard output
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Say why: how long tasks are thought to take, the longest way through the workflow, and where more money would go; without a limit, of the fastest plan
    #[arg(long)]
    explain: bool,
    /// Write the plan to a file; `-` is standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// For what a planner of types charges a task while it runs: a whole machine, or its share of the cores
    #[arg(long, default_value = "machine", value_name = "machine|share", value_parser = charge)]
    charge: Charge,
    /// Count on data being wherever it is needed
    #[arg(long)]
    no_transfers: bool,
    /// How long a search may take before the best plan so far is taken
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
    taken: &'a [Taken],
    layout: &'a Layout,
    problem: &'a Problem<'a>,
    policy: &'a Policy,
    limits: Limits,
}

/// The planner with a name, and with its tasks on instances, if that is wanted.
pub fn planner(policy: &Policy, instances: bool) -> Box<dyn Plan> {
    let planner = planner::by_name(policy).expect("its name has been read");
    if instances && !planner::rents(policy) { Box::new(Rented(planner)) } else { planner }
}

/// Runs the command.
pub fn run(arguments: &Arguments) -> Result<Code, Failure> {
    let places = Places::of(arguments)?;
    let missing = RefCell::new(BTreeSet::new());
    let mut loaded = load_leniently(&arguments.source, &missing)?;
    places.spare(arguments, &loaded)?;
    if !arguments.no_transfers {
        Found::learn(&mut loaded.flow, &loaded.directory, loaded.storage.as_deref());
    }
    let rents = arguments.instances || planner::rents(&arguments.planner);
    let read = Read::of(&loaded.flow, &loaded, &arguments.machines)?;
    let (flow, Read { catalogue, taken, .. }) = (&loaded.flow, &read);
    let prepared = read.prepared(flow, arguments.charge == Charge::Share, !arguments.no_transfers)?;
    let Prepared { tables, layout, problem, .. } = &prepared;
    if !rents {
        known::warn_of_what_is_not_minded(catalogue);
    } else if arguments.charge == Charge::Share {
        note!("warning: --charge does not count for instances, which are charged as they are rented");
    }
    let deadline = arguments.deadline.map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX));
    let limits = Limits { budget: arguments.budget.map(|money| money.0), deadline };
    let case = Case { flow, catalogue, tables, taken, layout, problem, policy: &arguments.planner, limits };
    let patience = Patience::new(arguments.patience);
    let may_go_on = || patience.may_go_on();
    let asked = prepared.asked(&may_go_on);
    let planner = planner(&arguments.planner, arguments.instances);
    if let Some(other) = planner.instead(&asked) {
        note!("warning: so many tasks would take {} too long: {other} plans instead", case.policy);
    }
    let wants_plan = limits != Limits::default() || arguments.out.is_some() || arguments.explain;
    let planned = wants_plan.then(|| planner.plan(&asked, limits));
    let mut planned = planned.transpose().map_err(|why| {
        let is_cut_short = patience.is_over();
        patience.again();
        let remedies = remedies(planner.as_ref(), &asked, limits, &why);
        patience.rest();
        if arguments.json {
            let mut told = figures::infeasible(&case, &why, &remedies);
            told["is_cut_short"] = is_cut_short.into();
            tell!("{told}");
        }
        patience.tell();
        words::infeasible(&case, &why, &remedies, is_cut_short)
    })?;
    if let Some(planned) = planned.as_mut().filter(|planned| planned.bound.is_none()) {
        planned.bound = bound(&asked, limits, planned);
    }
    let wants_frontier = arguments.frontier || arguments.plot.is_some() || !wants_plan;
    patience.again();
    let mut frontier = wants_frontier.then(|| Frontier::of(&asked, planner.as_ref(), arguments.points));
    if let (Some(frontier), Some(planned)) = (&mut frontier, &planned) {
        frontier.include(Point { cost: planned.cost(), makespan: planned.makespan() });
    }
    patience.rest();
    if let (Some(place), Some(planned)) = (&places.out, &planned) {
        let text = plan_file(&case, planned, planner.instead(&asked)).write(flow, catalogue);
        write_to(place.file(), |out| out.write_all(text.as_bytes()))?;
    }
    if let (Some(place), Some(frontier)) = (&places.plot, &frontier) {
        let svg = picture::svg(&case, planned.as_ref(), frontier);
        write_to(place.file(), |out| out.write_all(svg.as_bytes()))?;
    }
    if arguments.json {
        let mut told = figures::figures(&case, planned.as_ref(), frontier.as_ref());
        told["instead"] = planner.instead(&asked).into();
        if let Some(planned) = planned.as_ref().filter(|_| arguments.explain) {
            patience.again();
            told["why"] = why::figures(&case, &asked, planned);
            patience.rest();
        }
        told["is_cut_short"] = patience.is_over().into();
        tell!("{told}");
    } else if !places.take_standard_output() {
        words::tell(&case, planned.as_ref(), frontier.as_ref());
        if let Some(planned) = planned.as_ref().filter(|_| arguments.explain) {
            patience.again();
            why::tell(&case, &asked, planned, || patience.rest());
        }
    }
    patience.tell();
    places.written().for_each(|file| note!("wrote {}", file.display()));
    Ok(Code::Done)
}

/// The file of a plan, which may be by another planner than was asked for.
fn plan_file(case: &Case<'_>, planned: &Planned, instead: Option<&str>) -> PlanFile {
    let by = instead.map_or_else(|| case.policy.to_string(), |other| format!("{other} instead of {}", case.policy));
    let mut head = vec![("workflow", case.flow.title().to_owned()), ("planner", by)];
    head.extend(case.limits.budget.map(|budget| ("budget", Money(budget).to_string())));
    head.extend(case.limits.deadline.map(|deadline| ("deadline", exact_seconds(deadline))));
    head.push(("makespan", exact_seconds(planned.makespan())));
    head.push(("cost", Money(planned.cost()).to_string()));
    let written = |bound| match bound {
        Bound::Cost(cost) => Money(cost).to_string(),
        Bound::Time(time) => exact_seconds(time),
    };
    head.extend(planned.bound.map(|bound| ("bound", written(bound))));
    let head = head.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    PlanFile { head, ..PlanFile::of(planned, case.layout) }
}
