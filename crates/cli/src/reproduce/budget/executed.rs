//! Figures 26 and 27: what the greedy planner computes for each budget, and what execution takes and costs.

use super::super::chart::{Chart, Line};
use super::super::section::{Section, Table, points};
use super::super::setting::Setting;
use super::Results;
use super::case::{BUDGETS, Case, Figures, LIGO, SIPHT, Way, label};

/// The planner of the thesis.
const PLANNER: &str = "greedy";
/// By how much execution was above what was computed, in the thesis, in seconds.
const PUBLISHED_ABOVE_S: f64 = 35.0;

/// Who plans instances; with less effort, if it has to be quick.
fn fit(setting: &Setting) -> &'static str {
    if setting.quick { "fit:schedules=400" } else { "fit" }
}

pub(super) fn sipht(setting: &Setting) -> Vec<Case> {
    cases(SIPHT, setting)
}

pub(super) fn ligo(setting: &Setting) -> Vec<Case> {
    cases(LIGO, setting)
}

fn cases(workflow: &'static str, setting: &Setting) -> Vec<Case> {
    let of_budget = |budget| {
        let ways = [Way::WithoutData, Way::WithData, Way::WithMachines, Way::OnInstances];
        let greedy = ways.map(|way| Case::new(workflow, PLANNER, budget, way));
        greedy.into_iter().chain([Case::new(workflow, fit(setting), budget, Way::OnInstances)])
    };
    (0..BUDGETS).flat_map(of_budget).collect()
}

pub(super) fn tell_sipht(setting: &Setting, results: &Results) -> Section {
    tell(SIPHT, "SIPHT: computed and executed", setting, results)
}

pub(super) fn tell_ligo(setting: &Setting, results: &Results) -> Section {
    tell(LIGO, "LIGO: computed and executed", setting, results)
}

fn tell(workflow: &'static str, title: &'static str, setting: &Setting, results: &Results) -> Section {
    let get = |planner, budget, way| *results.get(&label(workflow, planner, budget, way)).first();
    let rows = |way, planner| (0..BUDGETS).map(move |budget| get(planner, budget, way)).collect::<Vec<Figures>>();
    let ways = [Way::WithoutData, Way::WithData, Way::WithMachines, Way::OnInstances];
    let [plain, moved, alone, placed] = ways.map(|way| rows(way, PLANNER));
    let fitted = rows(Way::OnInstances, fit(setting));
    let mut times = Table::new(
        "Time by budget, in seconds: as computed, as executed, and by how much more that is",
        &[
            "budget",
            "computed",
            "executed",
            "more",
            "Throng: data planned",
            "executed",
            "more",
            "Throng: on instances",
            "executed",
            "more",
            "Throng: fit",
            "executed",
            "more",
        ],
    );
    let mut costs = Table::new(
        "Cost by budget: as computed, and of the time that tasks ran; on instances, of the time that machines were had",
        &[
            "budget",
            "computed",
            "executed",
            "Throng: data planned",
            "executed",
            "Throng: on instances",
            "executed",
            "Throng: fit",
            "executed",
        ],
    );
    for number in 0..BUDGETS as usize {
        let of_types = [plain[number], moved[number]];
        let of_instances = [placed[number], fitted[number]];
        let mut row = vec![dollars(plain[number].budget)];
        row.extend(of_types.iter().chain(&of_instances).flat_map(in_time));
        times.rows.push(row);
        let mut row = vec![dollars(plain[number].budget)];
        row.extend(of_types.iter().flat_map(|figures| in_money(figures, figures.cost_of_tasks)));
        row.extend(of_instances.iter().flat_map(|figures| in_money(figures, figures.cost_of_machines)));
        costs.rows.push(row);
    }
    let line = |name: &str, all: &[Figures], of: fn(&Figures) -> f64| {
        let planned = all.iter().filter(|figures| figures.is_planned);
        Line::ours(name, planned.map(|figures| (figures.budget, of(figures))).collect())
    };
    let chart = |title: &str, upwards, lines| Chart {
        title: title.to_owned(),
        across: "budget, in dollars",
        upwards,
        is_logarithmic: false,
        is_steep: false,
        lines,
    };
    let mean = |all: &[Figures]| {
        let above: Vec<f64> =
            all.iter().filter(|figures| figures.is_planned).map(|figures| figures.ran_s - figures.planned_s).collect();
        above.iter().sum::<f64>() / above.len().max(1) as f64
    };
    Section {
        title,
        about: "Figures 26 and 27 of the thesis: eight budgets at even distances, from one that is less than the least that the workflow can cost. Each is planned by the greedy \
                algorithm and executed on the cluster; the same with plans that count on data having to be brought, with the tasks of such plans on instances that are rented, and by fit."
            .to_owned(),
        tables: vec![times, costs],
        charts: vec![
            chart(
                "Time by budget",
                "seconds",
                vec![
                    line("computed", &plain, |figures| figures.planned_s),
                    line("executed", &plain, |figures| figures.ran_s),
                    line("Throng: data planned", &moved, |figures| figures.planned_s),
                    line("Throng: data planned, executed", &moved, |figures| figures.ran_s),
                    line("Throng: fit, executed", &fitted, |figures| figures.ran_s),
                ],
            ),
            chart(
                "Cost by budget",
                "dollars",
                vec![
                    line("computed", &plain, |figures| figures.planned_cost),
                    line("executed", &plain, |figures| figures.cost_of_tasks),
                    line("the budget", &plain, |figures| figures.budget),
                ],
            ),
        ],
        assumptions: points([
            "Every task takes 30 s on the slowest machine and reads and writes 64 MB for each file, as much as a block of Hadoop's file system holds; machines have cards of 1 Gbit/s. None of this is published.",
            "Tasks are charged for the time in their slots. Throng brings data before a task has a slot, so that this time has no transfers in it.",
            "Types have invented speeds of 1, 1.25, 1.5 and 1.6; in the thesis, the largest was no faster than the one before it.",
        ]),
        differences: points([
            "As in the thesis, time falls and cost rises in steps with the budget, what is computed stays below it, and the smallest budget is refused. Executed on instances, a run may cost some per cent more than it was planned to.",
        ])
        .into_iter()
        .chain([format!(
            "Execution is {:.0} s above what is computed without data, on average; {PUBLISHED_ABOVE_S:.0} s in the thesis, which names data as the reason. With data planned, {:.0} s remain, \
             and {:.1} s on a cluster that has a machine for every task: a plan of types does not know which tasks share a machine and its data, nor who has to send to several at once through one card, and \
             that counts for more than how few machines there are. When the same planner's tasks are put on instances, {:.1} s remain; of a plan by fit, {:.1} s.",
            mean(&plain),
            mean(&moved),
            mean(&alone),
            mean(&placed),
            mean(&fitted)
        )])
        .collect(),
    }
}

fn in_time(figures: &Figures) -> [String; 3] {
    if !figures.is_planned {
        return ["too little".to_owned(), String::new(), String::new()];
    }
    let seconds = |value: f64| format!("{value:.1}");
    [seconds(figures.planned_s), seconds(figures.ran_s), seconds(figures.ran_s - figures.planned_s)]
}

fn in_money(figures: &Figures, ran: f64) -> [String; 2] {
    if !figures.is_planned {
        return ["too little".to_owned(), String::new()];
    }
    [dollars(figures.planned_cost), dollars(ran)]
}

pub(super) fn dollars(amount: f64) -> String {
    format!("${amount:.4}")
}
