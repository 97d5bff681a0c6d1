//! The workflows against the numbers of the program that the thesis ran, and what a planner makes of them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use throng_core::plan::catalogue::{Times, read_machines, read_times};
use throng_core::plan::estimates::{Estimates, Source, Tables};
use throng_core::plan::layout::Layout;
use throng_core::workflow::{Format, NoFiles, Workflow};

use super::super::{Options, Shape};
use super::{Job, MACHINES, ligo, sipht};

fn text(shape: &str, given: &[(&'static str, &str)], format: Format) -> String {
    let mut options = Options::default();
    given.iter().for_each(|(name, text)| options.set(name, *text));
    let mut out = Vec::new();
    Shape::find(shape).unwrap().plan(&options).unwrap().write(format, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn flow(shape: &str, given: &[(&'static str, &str)]) -> Workflow {
    Workflow::parse(&text(shape, given, Format::Yaml), Format::Yaml, "x", &NoFiles).unwrap()
}

/// How many jobs there are at each depth, and how many parts that have nothing to do with each other.
fn structure(jobs: &[Job]) -> (Vec<usize>, Vec<usize>) {
    let (mut depth, mut part) = (BTreeMap::new(), BTreeMap::new());
    for (number, job) in jobs.iter().enumerate() {
        depth.insert(&job.name, job.after.iter().map(|before| depth[before] + 1).max().unwrap_or(0));
        part.insert(&job.name, number);
        let joined: BTreeSet<usize> = job.after.iter().map(|before| part[before]).collect();
        part.values_mut().filter(|own| joined.contains(*own)).for_each(|own| *own = number);
    }
    let counted = |of: &BTreeMap<&String, usize>| {
        let mut counts = BTreeMap::new();
        of.values().for_each(|own| *counts.entry(*own).or_insert(0) += 1);
        counts.into_values().collect()
    };
    (counted(&depth), counted(&part))
}

#[test]
fn jobs_are_those_of_the_thesis() {
    let numbers = |jobs: &[Job]| {
        let dependencies: usize = jobs.iter().map(|job| job.after.len()).sum();
        (jobs.len(), jobs.iter().map(|job| job.maps).sum::<u64>(), dependencies)
    };
    assert_eq!(numbers(&sipht::jobs()), (31, 101, 35));
    assert_eq!(structure(&sipht::jobs()), (vec![22, 2, 4, 1, 1, 1], vec![31]));
    assert_eq!(numbers(&ligo::jobs()), (40, 90, 45));
    assert_eq!(structure(&ligo::jobs()), (vec![9, 9, 2, 9, 9, 2], vec![22, 18]));
}

/// The stages that a planner sees, each by the kinds of its tasks, how many there are, and those of whom it waits for.
fn stages(flow: &Workflow, given: &Times) -> (BTreeMap<String, (usize, BTreeSet<String>)>, Tables) {
    let catalogue = read_machines(MACHINES, "machines.yaml").unwrap();
    let estimates =
        Estimates { catalogue: &catalogue, given, learnt: &Times::default(), charges_share: false, moves: false };
    let tables = Tables::of(flow, &estimates).unwrap();
    let layout = Layout::of(flow, tables.tables.clone(), |task| tables.table_of[task.index()]).unwrap();
    let kind = |stage: u32| {
        let of_task = |task: u32| flow.kind_name(flow.kind(layout.tasks[task as usize]));
        let kinds: BTreeSet<&str> = layout.stages.tasks(stage).map(of_task).collect();
        kinds.into_iter().collect::<Vec<_>>().join(" and ")
    };
    let of_stage = |stage: u32| {
        let parents = layout.stages.graph().parents(stage).iter().map(|parent| kind(*parent));
        (kind(stage), (layout.stages.tasks(stage).len(), parents.collect()))
    };
    ((0..layout.stages.len() as u32).map(of_stage).collect(), tables)
}

#[test]
fn a_planner_sees_a_map_stage_and_a_reduce_stage_of_every_job_and_nothing_else() {
    for (shape, jobs, count) in [("mapreduce-sipht", sipht::jobs(), 62), ("mapreduce-ligo", ligo::jobs(), 80)] {
        let mut expected = BTreeMap::new();
        for job in &jobs {
            let before = job.after.iter().map(|before| format!("{before}.reduce")).collect();
            expected.insert(format!("{}.map", job.name), (job.maps as usize, before));
            expected.insert(format!("{}.reduce", job.name), (1, BTreeSet::from([format!("{}.map", job.name)])));
        }
        assert_eq!(expected.len(), count, "no two jobs of the same parents and children become one");
        assert_eq!(stages(&flow(shape, &[]), &Times::default()).0, expected, "{shape}");
        assert_eq!(stages(&flow(shape, &[("typed", "")]), &Times::default()).0, expected, "{shape}");
    }
}

#[test]
fn times_of_the_thesis_are_found_by_their_jobs() {
    let of_job = |job: &Job| {
        let machine = r#"<machineType name="m3.medium" mapExecTime="31s" redExecTime="29s"/>"#;
        format!("<job name=\"{}\">{machine}</job>", job.name)
    };
    let text = format!("<times>{}</times>", ligo::jobs().iter().map(of_job).collect::<String>());
    let (_, tables) = stages(&flow("mapreduce-ligo", &[]), &read_times(&text, "workflowTaskTimes.xml").unwrap());
    assert_eq!(tables.rows.len(), 80);
    for of in &tables.rows {
        let medium = of.known[0].unwrap();
        assert!(medium.source == Source::Given && [31, 29].contains(&(medium.time.time_ns / 1_000_000_000)));
    }
}

#[test]
fn entries_read_from_outside_and_patsers_something_else() {
    let flow = flow("mapreduce-sipht", &[("sizes", "3MB"), ("input-size", "64MB")]);
    let mut readers = BTreeMap::new();
    for task in flow.tasks() {
        let kind = flow.kind_name(flow.kind(task));
        for input in flow.inputs(task).filter(|input| flow.producer(*input).is_none()) {
            assert_eq!(flow.declared_size(input), Some(64_000_000));
            assert_eq!(kind.starts_with("patser-"), flow.object_name(input) == "input/patser", "{kind}");
            *readers.entry(flow.object_name(input).to_owned()).or_insert(0) += 1;
        }
        assert!(flow.outputs(task).all(|output| flow.declared_size(output) == Some(3_000_000)), "{kind}");
    }
    assert_eq!(readers, BTreeMap::from([("input/patser".to_owned(), 54), ("input/workflow".to_owned(), 8)]));
}

/// The times of a kind's tasks, in milliseconds.
fn times_ms(flow: &Workflow, kind: &str) -> BTreeSet<u64> {
    let of_kind = flow.tasks().filter(|task| flow.kind_name(flow.kind(*task)) == kind);
    of_kind.map(|task| flow.sleep_time(task).unwrap().as_millis() as u64).collect()
}

#[test]
fn all_tasks_take_as_long_as_is_said_or_as_their_type() {
    for (given, seconds) in [(None, 30), (Some(("times", "7s")), 7)] {
        let flow = flow("mapreduce-ligo", given.as_slice());
        assert!(flow.tasks().all(|task| flow.sleep_time(task) == Some(Duration::from_secs(seconds))));
    }
    let (sipht, ligo) = (flow("mapreduce-sipht", &[("typed", "")]), flow("mapreduce-ligo", &[("typed", "")]));
    for (flow, job, map_ms, reduce_ms) in [
        (&sipht, "blast", 2_350_580, 235_058),
        (&sipht, "blast-qrna", 1_412_090, 141_209),
        (&sipht, "patser-18", 1_270, 1_000),
        (&sipht, "patser-concat", 1_000, 1_000),
        (&sipht, "last-transfer", 1_000, 1_000),
        (&ligo, "tmpItBank-9", 18_140, 1_814),
        (&ligo, "inspiral-b-1", 460_210, 46_021),
        (&ligo, "thinca-a-2", 5_370, 1_000),
    ] {
        assert_eq!(times_ms(flow, &format!("{job}.map")), BTreeSet::from([map_ms]), "{job}");
        assert_eq!(times_ms(flow, &format!("{job}.reduce")), BTreeSet::from([reduce_ms]), "{job}");
    }
}

#[test]
fn the_text_begins_like_this_and_is_always_the_same() {
    let sipht = text("mapreduce-sipht", &[], Format::Yaml);
    assert!(
        sipht.starts_with(
            "# mapreduce-sipht: the search for small RNAs as 31 MapReduce jobs.\n\
             # throng generate mapreduce-sipht --seed 0\n\
             name: mapreduce-sipht\ntasks:\n  \
               patser-1-map:\n    \
                 kind: patser-1.map\n    \
                 sleep: 30s\n    \
                 in: [{ path: input/patser, size: 1kB }]\n    \
                 out: [{ path: \"mapped/patser-1/{i}\", size: 1kB, optional: true }]\n    \
                 foreach: { i: 0..2 }\n  \
               patser-1-reduce:\n    \
                 kind: patser-1.reduce\n    \
                 sleep: 30s\n    \
                 in: [{ all: patser-1-map }]\n    \
                 out: [{ path: reduced/patser-1, size: 1kB, optional: true }]\n"
        ),
        "{sipht}"
    );
    for format in [Format::Yaml, Format::Json] {
        assert_eq!(text("mapreduce-sipht", &[], format), text("mapreduce-sipht", &[], format));
    }
}

#[test]
fn the_manual_shows_these_machines() {
    let manual = include_str!("../../../../../docs/plan.md");
    assert!(manual.contains(MACHINES), "docs/plan.md has to show what the machines are");
    let machines = read_machines(MACHINES, "machines.yaml").unwrap().machines;
    let shown = machines.iter().map(|machine| (machine.cpus, machine.speed, machine.count.unwrap()));
    assert_eq!(shown.collect::<Vec<_>>(), [(1, 1.0, 30), (2, 1.25, 25), (4, 1.5, 21), (8, 1.6, 5)]);
}
