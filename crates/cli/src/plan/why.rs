//! Why a plan is as it is: how long tasks are thought to take, what makes it as long as it is, and where more money would go.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use throng_core::ids::{KindId, TaskId};
use throng_core::plan::Money;
use throng_core::plan::catalogue::TaskTime;
use throng_core::plan::estimates::{Known, Source};
use throng_core::plan::file::instance_names;
use throng_core::plan::fit::{Effort, faster};
use throng_core::plan::instances::{Schedule, Waited};
use throng_core::plan::optimal::next_choices;
use throng_core::plan::planner::{Asked, Decided, Planned};
use throng_core::plan::stages::Assigned;

use super::Case;
use super::words::{money, time};
use crate::words;

/// So many stages and offers are told.
const TOLD: usize = 8;
/// So many times of a kind, or of a single task, on a machine are told.
const TOLD_TIMES: usize = 24;
/// So many faster plans are.
const TOLD_FASTER: usize = 4;

/// Tells why a plan is as it is; `rest` is called when nothing more is searched for.
pub fn tell(case: &Case<'_>, asked: &Asked<'_>, planned: &Planned, rest: impl FnOnce()) {
    tell!("");
    tell_times(case);
    tell!("");
    match &planned.decided {
        Decided::Types(assigned) => tell_longest_way(case, assigned),
        Decided::Instances(schedule) => {
            tell_chain(case, schedule);
            let effort = Effort::of_policy(case.policy).expect("its name has been read");
            let faster = faster(asked, schedule, effort, TOLD_FASTER);
            rest();
            tell_faster(case, schedule, &faster);
        }
    }
}

/// How long tasks of a kind, or a single one, take on a machine: from the shortest to the longest.
struct Span {
    least: TaskTime,
    most: TaskTime,
}

/// How long tasks take on each machine, and from where that is known.
fn tell_times(case: &Case<'_>) {
    type Of = (KindId, Option<TaskId>, usize, Source);
    let mut spans: BTreeMap<Of, Span> = BTreeMap::new();
    for of in &case.tables.rows {
        let known = of.known.iter().enumerate().filter_map(|(machine, known)| Some((machine, (*known)?)));
        for (machine, Known { time, source }) in known {
            let span = spans.entry((of.kind, of.task, machine, source)).or_insert(Span { least: time, most: time });
            span.least = span.least.min(time);
            span.most = span.most.max(time);
        }
    }
    let line = |((kind, task, machine, source), span): (&Of, &Span)| {
        let name = task.map_or_else(|| case.flow.kind_name(*kind).to_owned(), |task| case.flow.name(task));
        let machine = words::cell(&case.catalogue.machines[*machine].name);
        let [least, most] = [span.least, span.most].map(told);
        let times = if least == most { most } else { format!("{least} to {most}") };
        [words::cell(&name), machine, times, source.word().to_owned()]
    };
    let lines: Vec<[String; 4]> = spans.iter().take(TOLD_TIMES).map(line).collect();
    let width = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let [of_name, of_machine, of_time] = [0, 1, 2].map(width);
    tell!("how long tasks take:");
    for [name, machine, times, source] in &lines {
        tell!("  {name:<of_name$}  {machine:<of_machine$}  {times:>of_time$}  {source}");
    }
    if spans.len() > lines.len() {
        tell!("  and {} more: --json lists all of them", spans.len() - lines.len());
    }
}

fn told(of: TaskTime) -> String {
    let spread = if of.spread_ns > 0 { format!(" ± {}", time(of.spread_ns)) } else { String::new() };
    format!("{}{spread}", time(of.time_ns))
}

/// One of the longest ways, from its beginning, and what would make all of them shorter.
fn tell_longest_way(case: &Case<'_>, assigned: &Assigned) {
    let stages = &case.layout.stages;
    let times = stages.times(&assigned.ranks);
    let (way, others) = longest_way(case, assigned);
    let also = match others {
        0 => String::new(),
        others => format!(", and {} on others that are as long", words::count(others as u64, "stage")),
    };
    tell!("the longest way: {}{also}", words::count(way.len() as u64, "stage"));
    for stage in way.iter().take(TOLD) {
        tell!("  {:>14}  {}", time(times[*stage as usize]), stage_name(case, *stage));
    }
    if way.len() > TOLD {
        tell!("  and {} behind these", way.len() - TOLD);
    }
    let offers = next_choices(stages, &assigned.ranks);
    if !offers.is_empty() {
        tell!("where more money would go, the best first:");
        for offer in offers.iter().take(TOLD) {
            tell!("  {:>14}  saves {}: {}", money(case, offer.costs), time(offer.saves), stage_name(case, offer.stage));
        }
        return;
    }
    match others {
        0 => tell!("more money brings nothing: all of it is on the fastest machines"),
        _ => tell!("no stage alone makes it shorter: several ways are as long"),
    }
}

/// The stages of a longest way in their order, and how many more are on others.
fn longest_way(case: &Case<'_>, assigned: &Assigned) -> (Vec<u32>, usize) {
    let stages = &case.layout.stages;
    let times = stages.times(&assigned.ranks);
    let (critical, _) = stages.graph().critical(&times);
    let way = stages.graph().longest_way(&times);
    let others = critical.len() - way.len();
    (way, others)
}

fn stage_name(case: &Case<'_>, stage: u32) -> String {
    let stages = &case.layout.stages;
    let task = case.layout.tasks[stages.tasks(stage).start as usize];
    let others = stages.tasks(stage).len() - 1;
    let more = if others > 0 { format!(" and {others} beside it") } else { String::new() };
    format!("{}{more}", words::cell(&case.flow.name(task)))
}

/// The same for programs: what makes it as long as it is, and where more money would go.
pub fn figures(case: &Case<'_>, asked: &Asked<'_>, planned: &Planned) -> Value {
    let amount = |cost: u64| Money(cost).to_string();
    match &planned.decided {
        Decided::Types(assigned) => {
            let stages = &case.layout.stages;
            let times = stages.times(&assigned.ranks);
            let names = |stage: u32| -> Vec<String> {
                stages.tasks(stage).map(|task| case.flow.name(case.layout.tasks[task as usize])).collect()
            };
            let (way, _) = longest_way(case, assigned);
            let way = way.into_iter().map(|stage| json!({ "tasks": names(stage), "time_ns": times[stage as usize] }));
            let offers = next_choices(stages, &assigned.ranks).into_iter();
            let offers = offers.map(
                |offer| json!({ "tasks": names(offer.stage), "costs": amount(offer.costs), "saves_ns": offer.saves }),
            );
            json!({ "longest_way": way.collect::<Vec<_>>(), "more_money": offers.collect::<Vec<_>>() })
        }
        Decided::Instances(schedule) => {
            let names = instance_names(&schedule.instances, case.catalogue);
            let chain = schedule.chain(&case.problem.graph).into_iter().map(|link| {
                let run = schedule.runs[link.task as usize];
                let (waited_for, other, data_ns) = match link.waited {
                    Waited::ForNothing => ("nothing", None, 0),
                    Waited::ForMachine => ("instance", None, 0),
                    Waited::ForTask { task, data_ns } => ("task", Some(task), data_ns),
                    Waited::ForRoom { task } => ("room", Some(task), 0),
                };
                json!({
                    "task": case.flow.name(TaskId(link.task)),
                    "instance": names[run.instance as usize],
                    "from_ns": run.begin,
                    "until_ns": run.end,
                    "waited_for": waited_for,
                    "behind": other.map(|task| case.flow.name(TaskId(task))),
                    "data_ns": data_ns,
                })
            });
            let effort = Effort::of_policy(case.policy).expect("its name has been read");
            let faster = faster(asked, schedule, effort, TOLD_FASTER).into_iter().map(|better| {
                let fleet = better.fleet(case.catalogue.machines.len());
                let counts = case.catalogue.machines.iter().zip(fleet);
                let counts: serde_json::Map<String, Value> =
                    counts.map(|(machine, count)| (machine.name.clone(), count.into())).collect();
                json!({ "cost": amount(better.cost.0), "makespan_ns": better.makespan, "instances": counts })
            });
            json!({ "chain": chain.collect::<Vec<_>>(), "more_money": faster.collect::<Vec<_>>() })
        }
    }
}

/// What makes the run as long as it is: from the last task back, what each waited for.
fn tell_chain(case: &Case<'_>, schedule: &Schedule) {
    let names = instance_names(&schedule.instances, case.catalogue);
    let links = schedule.chain(&case.problem.graph);
    tell!("what makes it as long as it is, from the end:");
    for link in links.iter().take(TOLD) {
        let run = schedule.runs[link.task as usize];
        let why = match link.waited {
            Waited::ForNothing => "from the beginning".to_owned(),
            Waited::ForMachine => "when its instance was there".to_owned(),
            Waited::ForTask { task, data_ns: 0 } => format!("behind {}", name_of(case, task)),
            Waited::ForTask { task, data_ns } => {
                format!("behind {}, {} for its data", name_of(case, task), time(data_ns))
            }
            Waited::ForRoom { task } => format!("when {} left room", name_of(case, task)),
        };
        let (task, length) = (name_of(case, link.task), time(run.end - run.begin));
        tell!("  {length:>14}  {task} on {}, {why}", words::cell(&names[run.instance as usize]));
    }
    if links.len() > TOLD {
        tell!("  and {} before these", links.len() - TOLD);
    }
}

/// Where more money would go: which machines more, or instead of others.
fn tell_faster(case: &Case<'_>, schedule: &Schedule, faster: &[Schedule]) {
    if faster.is_empty() {
        tell!("more money brings nothing that was found");
        return;
    }
    tell!("where more money would go, the least first:");
    let types = case.catalogue.machines.len();
    let now = schedule.fleet(types);
    for better in faster {
        let changes = case.catalogue.machines.iter().zip(now.iter().zip(better.fleet(types)));
        let changes = changes.filter_map(|(machine, (now, then))| {
            let name = words::cell(&machine.name);
            match i64::from(then) - i64::from(*now) {
                0 => None,
                more if more > 0 => Some(format!("{more} more {name}")),
                fewer => Some(format!("{} fewer {name}", -fewer)),
            }
        });
        let changes: Vec<String> = changes.collect();
        let how = if changes.is_empty() { "the same machines for longer".to_owned() } else { changes.join(", ") };
        let (costs, saves) = (better.cost.0 - schedule.cost.0, schedule.makespan - better.makespan);
        tell!("  {:>14}  saves {}: {how}", money(case, costs), time(saves));
    }
}

fn name_of(case: &Case<'_>, task: u32) -> String {
    words::cell(&case.flow.name(TaskId(task)))
}
