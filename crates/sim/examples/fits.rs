//! `fit` beside every other planner with its tasks put on instances by the same packer, all of it executed in simulation: figures of benches/RESULTS.md, "Plans".
//!
//! ```sh
//! cargo run --release -p throng-sim --example fits            # minutes; a part of a name chooses workflows
//! ```
//!
//! The workflows are the thesis's and a Montage, the machines the thesis's 81 nodes with invented speeds, charged by the hour or by the second. Limits lie between what the
//! cheapest and the fastest of all plans cost and take. A planner of types is asked for plans for 17 budgets, each of which is packed in 9 ways, with a second look at each, and in a tenth for each deadline; for each limit, the best of them counts.

use std::cell::Cell;
use std::time::{Duration, Instant};

use throng_core::plan::catalogue::{Catalogue, read_machines};
use throng_core::plan::file::PlanFile;
use throng_core::plan::fit::Search;
use throng_core::plan::frontier::Point;
use throng_core::plan::instances::Schedule;
use throng_core::plan::planner::{Decided, Limits, Plan, Planned, by_name};
use throng_core::plan::prepared::Prepared;
use throng_core::plan::rented::guesses;
use throng_core::policy::Policy;
use throng_core::workflow::{Format, NoFiles, Workflow};
use throng_sim::generate::mapreduce::MACHINES;
use throng_sim::generate::{Options, Shape};
use throng_sim::planned::carry_out;

const OTHERS: [&str; 13] = [
    "optimal",
    "greedy-stage",
    "greedy",
    "cheapest",
    "fastest",
    "progress",
    "loss",
    "gain",
    "critical-greedy",
    "ggb",
    "b-rate",
    "b-swap",
    "ic-pcp",
];

/// A name, a shape and its options.
type Chosen = (&'static str, &'static str, &'static [(&'static str, &'static str)]);

/// Workflows. Tasks of the thesis's pass 20 MB on, which brings some 35 s of transfers along the longest way.
const WORKFLOWS: [Chosen; 5] = [
    ("sipht, equal", "mapreduce-sipht", &[("sizes", "20MB"), ("input-size", "64MB")]),
    ("sipht, typed", "mapreduce-sipht", &[("typed", ""), ("sizes", "20MB"), ("input-size", "64MB")]),
    ("ligo, equal", "mapreduce-ligo", &[("sizes", "20MB"), ("input-size", "64MB")]),
    ("ligo, typed", "mapreduce-ligo", &[("typed", ""), ("sizes", "20MB"), ("input-size", "64MB")]),
    ("montage, 1000", "montage", &[("tasks", "1000")]),
];

/// How long a planner may take, for all of its plans.
const PATIENCE: Duration = Duration::from_secs(60);
/// Limits lie at these parts of the way from one end to the other.
const PARTS: [f64; 4] = [0.1, 0.3, 0.6, 0.9];

fn main() {
    let chosen = std::env::args().nth(1).unwrap_or_default();
    for (name, shape, options) in WORKFLOWS.iter().filter(|(name, ..)| name.contains(&chosen)) {
        for billing in ["hour", "second"] {
            let catalogue = MACHINES.replace("machines:", &format!("billing: {billing}\nmachines:"));
            let catalogue = catalogue.replace("count:", "start: 60s, count:");
            let catalogue = read_machines(&catalogue, "machines.yaml").expect("it is a catalogue");
            Case::new(shape, options, &catalogue).compare(&format!("{name}, by the {billing}"));
        }
    }
}

struct Case<'a> {
    flow: Workflow,
    catalogue: &'a Catalogue,
    prepared: Prepared<'a>,
}

/// What a plan says, and what came of it: cost in money, makespan in seconds.
#[derive(Clone, Copy)]
struct Figures {
    planned: (f64, f64),
    ran: (f64, f64),
}

impl<'a> Case<'a> {
    fn new(shape: &str, given: &[(&'static str, &str)], catalogue: &'a Catalogue) -> Case<'a> {
        let mut options = Options::default();
        given.iter().for_each(|(name, text)| options.set(name, *text));
        let mut text = Vec::new();
        let plan = Shape::find(shape).expect("there is such a shape").plan(&options).expect("these are its options");
        plan.write(Format::Json, &mut text).expect("memory takes it");
        let text = String::from_utf8(text).expect("it is text");
        let flow = Workflow::parse(&text, Format::Json, shape, &NoFiles).expect("it is a workflow");
        let prepared =
            Prepared::by_speed(&flow, catalogue, true).expect("every task sleeps for some time, which is its estimate");
        Case { flow, catalogue, prepared }
    }

    fn compare(&self, title: &str) {
        let begun = Cell::new(Instant::now());
        // `optimal` may not come to an end on a Montage.
        let may_go_on = || begun.get().elapsed() < PATIENCE;
        let asked = self.prepared.asked(&may_go_on);
        let named =
            |name: &str| -> Box<dyn Plan> { by_name(&name.parse::<Policy>().expect("a policy")).expect("known") };
        let all_guesses: Vec<Vec<Vec<u16>>> = OTHERS
            .iter()
            .map(|name| {
                begun.set(Instant::now());
                guesses(named(name).as_ref(), &asked, 16)
            })
            .collect();
        let others: Vec<Search<'_>> = all_guesses
            .iter()
            .map(|guesses| {
                let mut search = Search::new(&self.prepared.problem, guesses);
                search.pack_guesses(None, &mut || true);
                search
            })
            .collect();
        let entries = || others.iter().flat_map(|search| search.entries());
        let cheapest = entries().min_by_key(|entry| (entry.cost, entry.makespan)).expect("there are plans");
        let fastest = entries().min_by_key(|entry| (entry.makespan, entry.cost)).expect("there are plans");
        let between = |from: u64, to: u64, part: f64| from + ((to.saturating_sub(from)) as f64 * part) as u64;
        let budgets = PARTS.map(|part| between(cheapest.cost, fastest.cost, part));
        let deadlines = PARTS.map(|part| between(fastest.makespan, cheapest.makespan, part));
        println!(
            "\n{title}: from ${:.3} and {:.0} s to ${:.3} and {:.0} s",
            cheapest.cost as f64 / 1e12,
            cheapest.makespan as f64 / 1e9,
            fastest.cost as f64 / 1e12,
            fastest.makespan as f64 / 1e9
        );
        let limits: Vec<Limits> = (budgets.iter().map(|budget| Limits { budget: Some(*budget), deadline: None }))
            .chain(deadlines.iter().map(|deadline| Limits { budget: None, deadline: Some(*deadline) }))
            .collect();
        let fit = named("fit");
        let mut own = Vec::new();
        print!("fit, seconds to plan:");
        for limits in &limits {
            begun.set(Instant::now());
            let planned = fit.plan(&asked, *limits).ok();
            print!(" {:.1}", begun.get().elapsed().as_secs_f64());
            own.push(planned.map(|planned| match planned.decided {
                Decided::Instances(schedule) => self.execute(&schedule),
                Decided::Types(_) => unreachable!("fit rents"),
            }));
        }
        println!();
        tell_behind(&fit.curve(&asked).expect("it has a curve").points, &limits, &own);
        let told = |limits: &Limits, figures: &Option<Figures>| match figures {
            None => "-".to_owned(),
            Some(figures) if limits.budget.is_some() => format!("{:.0} s", figures.ran.1),
            Some(figures) => format!("${:.3}", figures.ran.0),
        };
        let heads: Vec<String> = limits
            .iter()
            .map(|limits| match limits {
                Limits { budget: Some(budget), .. } => format!("${:.3}", *budget as f64 / 1e12),
                Limits { deadline, .. } => format!("{:.0} s", deadline.unwrap_or(0) as f64 / 1e9),
            })
            .collect();
        println!("| | {} | gain | planned and ran |\n|---{}|---|---|", heads.join(" | "), "|---".repeat(heads.len()));
        let row = |name: &str, figures: &[Option<Figures>]| {
            let cells: Vec<String> =
                limits.iter().zip(figures).map(|(limits, figures)| told(limits, figures)).collect();
            let gains: Vec<f64> = limits
                .iter()
                .zip(own.iter().zip(figures))
                .filter_map(|(limits, (own, other))| {
                    let (own, other) = (own.as_ref()?, other.as_ref()?);
                    Some(match limits.budget {
                        Some(_) => 1.0 - own.ran.1 / other.ran.1,
                        None => 1.0 - own.ran.0 / other.ran.0,
                    })
                })
                .collect();
            let mean = gains.iter().sum::<f64>() / gains.len().max(1) as f64;
            let worst = gains.iter().copied().fold(f64::INFINITY, f64::min);
            let apart = |part: fn((f64, f64)) -> f64| {
                let each =
                    figures.iter().flatten().map(|figures| (part(figures.ran) / part(figures.planned) - 1.0).abs());
                each.fold(0.0, f64::max) * 100.0
            };
            println!(
                "| {name} | {} | {:.1} %, at worst {:.1} % | {:.1} % of time, {:.1} % of money |",
                cells.join(" | "),
                mean * 100.0,
                worst * 100.0,
                apart(|(_, time)| time),
                apart(|(cost, _)| cost)
            );
        };
        row("fit", &own);
        for (name, search) in OTHERS.iter().zip(&others) {
            let best = |limits: &Limits| {
                let mut search = search.clone();
                search.pack_guesses(limits.deadline, &mut || true);
                search.best_for(*limits).ok().map(|schedule| self.execute(&schedule))
            };
            row(name, &limits.iter().map(best).collect::<Vec<_>>());
        }
    }

    fn execute(&self, schedule: &Schedule) -> Figures {
        assert_eq!(schedule.fault(&self.prepared.problem), None);
        let planned = Planned::unproven(Decided::Instances(schedule.clone()));
        let plan = PlanFile::of(&planned, &self.prepared.layout);
        let out_bytes = schedule.moved.out_bytes;
        let (outcome, bill) = carry_out(&self.flow, &plan, self.catalogue, &self.prepared.tables, out_bytes);
        assert!(outcome.stuck.is_none() && outcome.not_done == 0, "{:?}", outcome.stuck);
        Figures {
            planned: (schedule.cost.about(), schedule.makespan as f64 / 1e9),
            ran: (bill.total().about(), outcome.makespan.as_secs_f64()),
        }
    }
}

/// How much worse the curve is than what was planned for limits.
fn tell_behind(points: &[Point], limits: &[Limits], own: &[Option<Figures>]) {
    let behind = limits.iter().zip(own).filter_map(|(limits, own)| {
        let (cost, time) = own.as_ref()?.planned;
        let kept = points.iter().filter(|point| limits.keeps(point.cost, point.makespan));
        let ratio = match limits.budget {
            Some(_) => kept.map(|point| point.makespan).min()? as f64 / 1e9 / time,
            None => kept.map(|point| point.cost).min()? as f64 / 1e12 / cost,
        };
        Some(ratio * 100.0 - 100.0)
    });
    let behind: Vec<f64> = behind.collect();
    let mean = behind.iter().sum::<f64>() / behind.len() as f64;
    println!(
        "its curve is behind by {mean:.1} %, at worst {:.1} %, for {} limits",
        behind.iter().copied().fold(0.0, f64::max),
        behind.len()
    );
}
