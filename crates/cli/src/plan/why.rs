//! Why a plan is as it is: how long tasks are thought to take, what makes it as long as it is, and where more money would go.

use std::collections::BTreeMap;

use throng_core::ids::{KindId, TaskId};
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

fn tell_longest_way(case: &Case<'_>, assigned: &Assigned) {
    let stages = &case.layout.stages;
    let times = stages.times(&assigned.ranks);
    let (critical, _) = stages.graph().critical(&times);
    let name = |stage: u32| {
        let task = case.layout.tasks[stages.tasks(stage).start as usize];
        let others = stages.tasks(stage).len() - 1;
        let more = if others > 0 { format!(" and {others} beside it") } else { String::new() };
        format!("{}{more}", words::cell(&case.flow.name(task)))
    };
    tell!("the longest way: {}", words::count(critical.len() as u64, "stage"));
    let mut longest = critical.clone();
    longest.sort_by_key(|stage| (std::cmp::Reverse(times[*stage as usize]), *stage));
    for stage in longest.iter().take(TOLD) {
        tell!("  {:>14}  {}", time(times[*stage as usize]), name(*stage));
    }
    let mut offers = next_choices(stages, &assigned.ranks, &critical);
    offers.sort_by(|one, other| {
        let worth = u128::from(other.saves) * u128::from(one.costs);
        worth.cmp(&(u128::from(one.saves) * u128::from(other.costs))).then(one.stage.cmp(&other.stage))
    });
    if offers.is_empty() {
        tell!("more money brings nothing: all of it is on the fastest machines");
        return;
    }
    tell!("where more money would go, the best first:");
    for offer in offers.iter().take(TOLD) {
        tell!("  {:>14}  saves {} of {}", money(case, offer.costs), time(offer.saves), name(offer.stage));
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
