//! All planners side by side: what each plans for the eight budgets, executed.

use super::super::section::{Section, Table, points};
use super::super::setting::Setting;
use super::Results;
use super::case::{BUDGETS, Case, LIGO, SIPHT, Way, label};
use super::executed::dollars;

/// Planners of the thesis, then those that it reviews.
const PLANNERS: [&str; 15] = [
    "optimal",
    "greedy",
    "progress",
    "cheapest",
    "fastest",
    "loss",
    "loss:weights=makespan",
    "loss:weights=again",
    "gain",
    "gain:weights=makespan",
    "gain:weights=again",
    "critical-greedy",
    "ggb",
    "b-rate",
    "b-swap",
];
/// For those that have to be quick.
const QUICK: [&str; 4] = ["optimal", "greedy", "progress", "loss"];
/// What is not in the thesis.
const OWN: [&str; 2] = ["greedy-stage", "ic-pcp"];

fn chosen(setting: &Setting) -> Vec<&'static str> {
    let published: &[&str] = if setting.quick { &QUICK } else { &PLANNERS };
    published.iter().chain(&OWN).copied().collect()
}

pub(super) fn cases(setting: &Setting) -> Vec<Case> {
    let mut cases = Vec::new();
    for workflow in [SIPHT, LIGO] {
        for budget in 0..BUDGETS {
            let of_planner = |planner: &&'static str| Case::new(workflow, planner, budget, Way::WithData);
            cases.extend(chosen(setting).iter().map(of_planner));
        }
    }
    cases
}

pub(super) fn tell(setting: &Setting, results: &Results) -> Section {
    Section {
        title: "All planners",
        about: "What each planner plans for each of the eight budgets, with data, and how long that takes when it is executed.".to_owned(),
        tables: [SIPHT, LIGO].into_iter().map(|workflow| table(setting, results, workflow)).collect(),
        charts: Vec::new(),
        assumptions: points(["Progress and fastest do not mind the budget: where they cost more, they have no plan."]),
        differences: points([
            "The thesis compares its greedy planner with none of these in execution, and with the optimum only on small graphs, since its search tries all assignments.",
        ]),
    }
}

fn table(setting: &Setting, results: &Results, workflow: &'static str) -> Table {
    let get = |planner: &str, budget| *results.get(&label(workflow, planner, budget, Way::WithData)).first();
    let head: Vec<String> = std::iter::once(workflow.to_owned())
        .chain((0..BUDGETS).map(|budget| dollars(get("optimal", budget).budget)))
        .collect();
    let mut table =
        Table::new("Executed time by budget, in seconds", &head.iter().map(String::as_str).collect::<Vec<_>>());
    for planner in chosen(setting) {
        let cell = |budget| {
            let figures = get(planner, budget);
            if figures.is_planned { format!("{:.1}", figures.ran_s) } else { "-".to_owned() }
        };
        let name = if OWN.contains(&planner) { format!("Throng: {planner}") } else { planner.to_owned() };
        table.rows.push(std::iter::once(name).chain((0..BUDGETS).map(cell)).collect());
    }
    table
}
