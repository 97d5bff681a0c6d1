//! What is written, and every message for what cannot be.

use std::collections::BTreeSet;

use super::*;
use throng_core::workflow::{Format, NoFiles, Workflow};

fn options(given: &[(&'static str, &str)]) -> Options {
    let mut options = Options::default();
    options.seed = 1;
    for (name, text) in given {
        options.set(name, *text);
    }
    options
}

fn text(shape: &str, options: &Options, format: Format) -> String {
    let mut out = Vec::new();
    Shape::find(shape).unwrap().plan(options).unwrap().write(format, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn a_table_where_values_are_drawn() {
    let options = options(&[("tasks", "3"), ("times", "1s"), ("sizes", "0B..9B")]);
    assert_eq!(
        text("bot", &options, Format::Yaml),
        r#"# bot: independent tasks.
# throng generate bot --sizes 0B..9B --tasks 3 --times 1s --seed 1
name: bot
tasks:
  bot:
    sleep: 1s
    out: [{ path: "out/{t}", size: "{t.size}", optional: true }]
    foreach:
      t:
        - { i: 0, size: 4B }
        - { i: 1, size: 0B }
        - { i: 2, size: 0B }
"#
    );
    assert_eq!(
        text("bot", &options, Format::Json),
        r#"{
"name": "bot",
"defaults": {"kind": "bot"},
"tasks": {
"bot-0": {"sleep": "1s", "out": [{"path": "out/0", "size": "4B", "optional": true}]},
"bot-1": {"sleep": "1s", "out": [{"path": "out/1", "size": "0B", "optional": true}]},
"bot-2": {"sleep": "1s", "out": [{"path": "out/2", "size": "0B", "optional": true}]}
}
}
"#
    );
}

#[test]
fn ranges_where_tasks_are_alike() {
    let mut options = options(&[("tasks", "11"), ("degree", "3")]);
    (options.means, options.estimates) = (true, true);
    assert_eq!(
        text("fan-in", &options, Format::Yaml),
        r#"# fan-in: a tree of tasks, from its leaves to its root.
# throng generate fan-in --degree 3 --tasks 11 --means --estimates --seed 1
name: fan-in
defaults: { kind: fan-in }
tasks:
  level2-1:
    sleep: 50ms
    out: [{ path: "out/0.{k1}.{k2}", size: 5MB, optional: true }]
    estimate: { time: 50ms, out: 5MB }
    foreach: { k1: 0..1, k2: 0..2 }
  level2-2:
    sleep: 50ms
    out: [{ path: "out/0.2.{k2}", size: 5MB, optional: true }]
    estimate: { time: 50ms, out: 5MB }
    foreach: { k2: 0..0 }
  level1-1:
    sleep: 50ms
    in: ["out/0.{k1}.0", "out/0.{k1}.1", "out/0.{k1}.2"]
    out: [{ path: "out/0.{k1}", size: 5MB, optional: true }]
    estimate: { time: 50ms, out: 5MB }
    foreach: { k1: 0..1 }
  level1-2:
    sleep: 50ms
    in: ["out/0.{k1}.0"]
    out: [{ path: "out/0.{k1}", size: 5MB, optional: true }]
    estimate: { time: 50ms, out: 5MB }
    foreach: { k1: 2..2 }
  level0:
    sleep: 50ms
    in: [out/0.0, out/0.1, out/0.2]
    out: [{ path: out/0, size: 5MB, optional: true }]
    estimate: { time: 50ms, out: 5MB }
"#
    );
}

#[test]
fn every_shape_can_be_had_without_any_option() {
    let plain = [1000, 1000, 1000, 1000, 250_000, 111_701, 68, 841, 10_000, 1000];
    let applications = [1000, 1000, 1000, 968, 997, 63, 113, 113, 113, 145, 145, 132, 130];
    let found = SHAPES.iter().map(|shape| shape.plan(&Options::default()).unwrap().task_count());
    assert_eq!(found.collect::<Vec<_>>(), [plain.as_slice(), &applications].concat());
}

#[test]
fn every_shape_can_be_had_in_any_size() {
    let plain = [10_000, 10_000, 10_000, 10_000, 10_000, 10_001, 9996, 9997, 10_000, 10_000];
    let applications = [10_000, 10_000, 10_000, 9677, 9999];
    let have_tasks = SHAPES.iter().filter(|shape| shape.takes.iter().any(|known| known.name == "tasks"));
    let found = have_tasks.map(|shape| shape.plan(&options(&[("tasks", "10000")])).unwrap().task_count());
    assert_eq!(found.collect::<Vec<_>>(), [plain.as_slice(), &applications].concat());
}

#[test]
fn ten_million_tasks_are_a_few_lines() {
    for (shape, least) in
        [("bot", 10_000_000), ("pipeline", 10_000_000), ("fan-out", 10_000_000), ("fan-in", 10_000_000)]
    {
        let mut options = options(&[("tasks", "10000000")]);
        options.means = true;
        let plan = Shape::find(shape).unwrap().plan(&options).unwrap();
        assert_eq!(plan.task_count(), least);
        let text = text(shape, &options, Format::Yaml);
        assert!(text.lines().count() < 150, "{shape}: {} lines", text.lines().count());
    }
}

fn flow(shape: &str, given: &[(&'static str, &str)]) -> Workflow {
    Workflow::parse(&text(shape, &options(given), Format::Json), Format::Json, "x", &NoFiles).unwrap()
}

/// Pairs of what a task reads and what it makes.
fn edges(flow: &Workflow) -> BTreeSet<(String, String)> {
    let name = |object| flow.object_name(object).to_owned();
    let of_task = |task| flow.inputs(task).map(move |input| (name(input), name(flow.outputs(task).next().unwrap())));
    flow.tasks().flat_map(of_task).collect()
}

#[test]
fn trees_are_numbered_as_published_and_one_is_the_reverse_of_the_other() {
    for (tasks, degree) in [("1000", "10"), ("115", "10"), ("31", "2"), ("77", "4"), ("2", "3")] {
        let given = [("tasks", tasks), ("degree", degree)];
        let (out, inwards) = (flow("fan-out", &given), flow("fan-in", &given));
        for task in out.tasks().skip(1) {
            let parents: Vec<u32> = out.inputs(task).map(|object| out.producer(object).unwrap().0).collect();
            assert_eq!(parents, [(task.0 - 1) / degree.parse::<u32>().unwrap()]);
        }
        let reversed: BTreeSet<_> = edges(&out).into_iter().map(|(from, to)| (to, from)).collect();
        assert_eq!(edges(&inwards), reversed, "{tasks} {degree}");
        assert_eq!(inwards.children(inwards.tasks().last().unwrap()).len(), 0, "the last is the root");
    }
}

#[test]
fn times_and_sizes_do_not_depend_on_each_other() {
    let times = |sizes| {
        let flow = flow("bot", &[("tasks", "50"), ("sizes", sizes)]);
        flow.tasks().map(|task| flow.sleep_time(task)).collect::<Vec<_>>()
    };
    assert_eq!(times("1MB"), times("1MB..9MB"));
}

#[test]
fn every_message() {
    let cases: [(&str, &[(&str, &str)]); 21] = [
        ("bot", &[("volumes", "3")]),
        ("bot", &[("tasks", "0")]),
        ("bot", &[("tasks", "many")]),
        ("bot", &[("tasks", "200000001")]),
        ("bot", &[("times", "soon")]),
        ("bot", &[("times", "1s..10ms")]),
        ("bot", &[("sizes", "1..")]),
        ("fan-out", &[("degree", "1")]),
        ("all-pairs", &[("a", "100000"), ("b", "100000")]),
        ("fan-in", &[("degree", "10001")]),
        ("image-stacking", &[("locality", "7")]),
        ("image-stacking", &[("files", "7")]),
        ("random", &[("tasks", "7"), ("width", "8")]),
        ("image-stacking", &[("tasks", "7"), ("files", "8")]),
        ("random", &[("layers", "10000"), ("width", "20000"), ("degree", "1000")]),
        ("montage", &[("tasks", "14")]),
        ("sipht", &[("times", "later")]),
        ("dag1", &[("total", "1B")]),
        ("dag1-v6", &[("tasks", "145")]),
        ("mapreduce-sipht", &[("typed", ""), ("times", "1s")]),
        ("mapreduce-ligo", &[("input-size", "2000000GB")]),
    ];
    let mut report = String::new();
    for (shape, given) in cases {
        let given: Vec<(&'static str, &str)> = given
            .iter()
            .map(|(name, text)| {
                let known = SHAPES.iter().flat_map(|shape| shape.takes).find(|known| known.name == *name);
                (known.unwrap().name, *text)
            })
            .collect();
        let wrong = Shape::find(shape).unwrap().plan(&options(&given)).unwrap_err();
        report.push_str(&format!("{shape} {given:?}\n    {}; {}\n", wrong.message, wrong.remedy));
    }
    insta::assert_snapshot!(report);
}
