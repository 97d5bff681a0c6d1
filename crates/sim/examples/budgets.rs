//! How far planners are from the best plan on the workflows of Wylie's thesis, and how long proving it takes: figures of benches/RESULTS.md, "Plans".
//!
//! ```sh
//! cargo run --release -p throng-sim --example budgets
//! ```
//!
//! Either workflow, with equal tasks and with typed ones, for eight budgets at equal distances: the first is less than the least that the workflow can cost, the last more than
//! everything on the fastest machines costs. The machines are the thesis's, as many as anyone could wish and paid for as long as tasks run; their speeds are invented. `fit` is left out: it rents whole
//! instances, whose costs are others.

use std::time::{Duration, Instant};

use throng_core::plan::catalogue::{Catalogue, read_machines};
use throng_core::plan::planner::{Planned, by_name};
use throng_core::plan::prepared::Prepared;
use throng_core::plan::stages::Stages;
use throng_core::policy::Policy;
use throng_core::workflow::{Format, NoFiles, Workflow};
use throng_sim::generate::mapreduce::MACHINES;
use throng_sim::generate::{Options, Shape};

/// Whoever is held against the best plan.
const PLANNERS: [&str; 16] = [
    "greedy-stage",
    "greedy",
    "critical-greedy",
    "ggb",
    "loss",
    "loss:weights=makespan",
    "loss:weights=again",
    "gain",
    "gain:weights=makespan",
    "gain:weights=again",
    "b-rate",
    "b-swap",
    "ic-pcp",
    "cheapest",
    "fastest",
    "progress",
];
/// Those who do not mind the budget.
const SPENDERS: [&str; 2] = ["fastest", "progress"];

const BUDGETS: u64 = 8;
/// What `optimal` may take; it should take less than half of it.
const PATIENCE: Duration = Duration::from_secs(120);

fn main() {
    let catalogue = read_machines(MACHINES, "machines.yaml").expect("it is a catalogue");
    for shape in ["mapreduce-sipht", "mapreduce-ligo"] {
        for is_typed in [false, true] {
            let case = Case::new(shape, is_typed, &catalogue);
            let (stages, times) = (&case.0.layout.stages, if is_typed { "typed" } else { "equal" });
            println!("{shape}, {times} times: {} tasks in {} stages\n", stages.task_count(), stages.len());
            case.table();
        }
    }
}

/// A workflow, ready to be planned.
struct Case<'a>(Prepared<'a>);

impl<'a> Case<'a> {
    fn new(shape: &str, is_typed: bool, catalogue: &'a Catalogue) -> Case<'a> {
        let mut options = Options::default();
        if is_typed {
            options.set("typed", "");
        }
        let mut text = Vec::new();
        let plan = Shape::find(shape).expect("there is such a shape").plan(&options).expect("these are its options");
        plan.write(Format::Json, &mut text).expect("memory takes it");
        let text = String::from_utf8(text).expect("it is text");
        let flow = Workflow::parse(&text, Format::Json, shape, &NoFiles).expect("it is a workflow");
        Case(
            Prepared::by_speed(&flow, catalogue, false)
                .expect("every task sleeps for some time, which is its estimate"),
        )
    }

    fn table(&self) {
        let (budgets, least) = budgets(&self.0.layout.stages);
        let row = |name: &str, cells: Vec<String>| println!("| {name} | {} |", cells.join(" | "));
        row("budget, $", budgets.iter().map(|budget| dollars(*budget)).collect());
        println!("|---{}|", "|---".repeat(budgets.len()));
        let plan = |name: &str, budget: u64| (budget >= least).then(|| self.planned(name, budget));
        let best: Vec<Option<(f64, Planned)>> = budgets.iter().map(|budget| plan("optimal", *budget)).collect();
        let of_best = |of: &dyn Fn(&(f64, Planned)) -> String| -> Vec<String> {
            best.iter().map(|best| best.as_ref().map_or("too little".to_owned(), of)).collect()
        };
        row("seconds taken", of_best(&|(seconds, _)| format!("{seconds:.3}")));
        row("proven", of_best(&|(_, best)| if best.is_proven { "yes" } else { "no" }.to_owned()));
        row("makespan, s", of_best(&|(_, best)| format!("{:.1}", best.makespan() as f64 / 1e9)));
        row("cost, $", of_best(&|(_, best)| dollars(best.cost())));
        for name in PLANNERS {
            let apart = |(best, budget): (&Option<(f64, Planned)>, &u64)| {
                let ((_, best), (_, own)) = (best.as_ref()?, plan(name, *budget)?);
                if own.cost() > *budget {
                    assert!(SPENDERS.contains(&name), "{name} spends more than {budget}: {}", own.cost());
                    return Some("too dear".to_owned());
                }
                let apart = own.makespan() as f64 / best.makespan() as f64 - 1.0;
                assert!(apart >= 0.0 || !best.is_proven, "{name} is better than the best for {budget}");
                Some(format!("{:.1} %", apart * 100.0))
            };
            let cells = best.iter().zip(&budgets).map(|pair| apart(pair).unwrap_or_default());
            row(&format!("`{name}`"), cells.collect());
        }
        println!();
    }

    /// What a planner finds for a budget that is enough for the cheapest plan, and after how many seconds.
    fn planned(&self, name: &str, budget: u64) -> (f64, Planned) {
        let policy: Policy = name.parse().expect("it is a policy");
        let planner = by_name(&policy).expect("there is such a planner");
        let begun = Instant::now();
        let may_go_on = || begun.elapsed() < PATIENCE;
        let planned = planner.for_budget(&self.0.asked(&may_go_on), budget);
        assert!(name != "optimal" || planned.cost() <= budget, "the best plan costs {} of {budget}", planned.cost());
        (begun.elapsed().as_secs_f64(), planned)
    }
}

/// The budgets, and the least that the workflow can cost: half a step below the least up to half a step above the most.
fn budgets(stages: &Stages) -> (Vec<u64>, u64) {
    let [least, most] = [stages.cheapest(), stages.fastest()].map(|ranks| stages.cost(&ranks));
    let step = (most - least) / (BUDGETS - 2);
    ((0..BUDGETS).map(|number| least - step / 2 + number * step).collect(), least)
}

/// Money is counted in millionths of a millionth.
fn dollars(money: u64) -> String {
    format!("{:.4}", money as f64 / 1e12)
}
