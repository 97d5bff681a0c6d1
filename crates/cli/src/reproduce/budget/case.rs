//! A workflow that is planned for a budget, and executed on the modelled cluster of the thesis.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use throng_core::plan::catalogue::{Catalogue, read_machines};
use throng_core::plan::file::PlanFile;
use throng_core::plan::planner::{Limits, Plan, Planned, by_name, rents};
use throng_core::plan::prepared::Prepared;
use throng_core::plan::rented;
use throng_core::policy::Policy;
use throng_core::workflow::Workflow;
use throng_sim::generate::mapreduce::MACHINES;
use throng_sim::planned::carry_out;

use super::super::repeated::Ending;
use super::super::runner::{Job, Recipe};
use crate::exit::Failure;

/// How many budgets there are.
pub const BUDGETS: u64 = 8;
/// The machine type of which the thesis had 21, one of them the master, which runs no tasks.
const MASTER: &str = "m3.xlarge";
/// What `optimal` may take for a plan; it takes less than a second.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a plan counts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// As the thesis: data is wherever it is needed, and each task is charged for as long as it runs.
    WithoutData,
    /// Every task waits until all that it reads has been brought.
    WithData,
    /// The same plans, executed on a cluster that has a machine of its own for every task, as planners of types count on.
    WithMachines,
    /// Instances are rented, with all that is known of them.
    OnInstances,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Way::WithoutData => "data not planned",
            Way::WithData => "data planned",
            Way::WithMachines => "data planned, machines for all",
            Way::OnInstances => "on instances",
        }
    }
}

/// A run.
pub struct Case {
    label: String,
    recipe: Recipe,
    planner: &'static str,
    budget: u64,
    way: Way,
}

/// The workflows, by the names of their shapes.
pub const SIPHT: &str = "mapreduce-sipht";
/// The other one.
pub const LIGO: &str = "mapreduce-ligo";

/// What a run is called.
pub fn label(workflow: &str, planner: &str, budget: u64, way: Way) -> String {
    format!("{workflow}, {planner}, budget {budget}, {}", way.name())
}

impl Case {
    pub(super) fn new(workflow: &'static str, planner: &'static str, budget: u64, way: Way) -> Case {
        // As much as a block of Hadoop's file system holds: with it, bringing data takes about as long as the thesis found it to take.
        let options = vec![("sizes", "64MB".to_owned()), ("input-size", "64MB".to_owned())];
        let recipe = Recipe::Shape { name: workflow, options, seed: 1, means: false, estimates: false };
        Case { label: label(workflow, planner, budget, way), recipe, planner, budget, way }
    }
}

/// The workers of the thesis's cluster.
fn workers() -> Catalogue {
    let mut catalogue = read_machines(MACHINES, "machines.yaml").expect("it is a catalogue");
    let with_master = catalogue.machines.iter_mut().find(|machine| machine.name == MASTER);
    let count = with_master.and_then(|machine| machine.count.as_mut()).expect("the catalogue has this type");
    *count -= 1;
    catalogue
}

/// As many machines of each type as there are tasks.
fn for_all(catalogue: &Catalogue, flow: &Workflow) -> Catalogue {
    let mut all = catalogue.clone();
    all.machines.iter_mut().for_each(|machine| machine.count = Some(flow.task_count() as u32));
    all
}

impl Job for Case {
    type Outcome = Figures;

    fn label(&self) -> &str {
        &self.label
    }

    fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    fn run(&self, flow: &Arc<Workflow>) -> Result<Figures, Failure> {
        let catalogue = workers();
        // Budgets begin below the least of the thesis's own plans, in which data takes no time.
        let [plain, with_data] = [false, true].map(|moves| {
            Prepared::by_speed(flow, &catalogue, moves)
                .expect("all tasks have a time and fit, and wait for nobody in a circle")
        });
        let least = plain.layout.stages.cost(&plain.layout.stages.cheapest());
        // More than enough for everybody.
        let most = with_data.layout.stages.cost(&with_data.layout.stages.fastest());
        let step = (most - least) / (BUDGETS - 2);
        let budget = (least + self.budget * step).saturating_sub(step / 2);
        let mut figures = Figures { budget: money(budget), ..Figures::default() };
        let prepared = if self.way == Way::WithoutData { plain } else { with_data };
        let policy: Policy = self.planner.parse().expect("experiments name planners as they are written");
        let planner = by_name(&policy).map_err(|error| Failure::internal(error, "please report this bug"))?;
        let begun = Instant::now();
        let may_go_on = || begun.elapsed() < PATIENCE;
        let asked = prepared.asked(&may_go_on);
        let limits = Limits { budget: Some(budget), deadline: None };
        let planned = match self.way {
            Way::OnInstances if !rents(&policy) => rented::Rented(planner).plan(&asked, limits),
            _ => planner.plan(&asked, limits),
        };
        let Ok(planned) = planned else { return Ok(figures) };
        (figures.planned_s, figures.planned_cost) = (planned.makespan() as f64 / 1e9, money(planned.cost()));
        let cluster = if self.way == Way::WithMachines { for_all(&catalogue, flow) } else { catalogue.clone() };
        figures.carry_out(flow, &cluster, &prepared, &planned);
        Ok(figures)
    }

    fn as_json(&self, figures: &Figures) -> Value {
        json!({
            "run": self.label,
            "planner": self.planner,
            "plan": self.way.name(),
            "budget": figures.budget,
            "result": figures.is_planned.then(|| json!({
                "planned_makespan_s": figures.planned_s,
                "planned_cost": figures.planned_cost,
                "makespan_s": figures.ran_s,
                "cost_of_tasks": figures.cost_of_tasks,
                "cost_of_machines": figures.cost_of_machines,
            })),
        })
    }
}

impl Figures {
    fn carry_out(&mut self, flow: &Workflow, catalogue: &Catalogue, prepared: &Prepared<'_>, planned: &Planned) {
        let (plan, tables) = (PlanFile::of(planned, &prepared.layout), &prepared.tables);
        let cost = |(task, machine): (usize, &u16)| {
            let time = tables.rows[tables.table_of[task] as usize].known[usize::from(*machine)];
            catalogue.machines[usize::from(*machine)].price.for_time(time.map_or(0, |known| known.time.time_ns)).0
        };
        self.cost_of_tasks = money(plan.machine_of.iter().enumerate().map(cost).sum());
        let (outcome, bill) = carry_out(flow, &plan, catalogue, tables, 0);
        self.cost_of_machines = bill.total().about();
        self.ran_s = outcome.makespan.as_secs_f64();
        self.is_planned = true;
        self.is_stuck = outcome.stuck.is_some() || outcome.not_done > 0;
    }
}

fn money(amount: u64) -> f64 {
    throng_core::plan::Money(amount).about()
}

/// What was planned, and what came of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Figures {
    /// What there was to spend.
    pub budget: f64,
    /// Whether there was a plan for it.
    pub is_planned: bool,
    is_stuck: bool,
    /// How long the plan takes, and what it costs.
    pub planned_s: f64,
    pub planned_cost: f64,
    /// How long the run took.
    pub ran_s: f64,
    /// What its tasks cost, each for as long as it ran.
    pub cost_of_tasks: f64,
    /// What the machines cost, from when they were had until nobody had any use for them, by the second.
    pub cost_of_machines: f64,
}

impl Ending for Figures {
    fn is_stuck(&self) -> bool {
        self.is_stuck
    }
}
