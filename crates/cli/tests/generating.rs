//! `throng generate`: every shape, in either format, is the graph that it is said to be.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod sandbox;

use std::collections::BTreeMap;
use std::time::Duration;

use sandbox::*;
use throng_core::ids::ObjectId;
use throng_core::workflow::{Format, NoFiles, Workflow};

/// A small one of every shape: its options, and its tasks, edges, depth, width and files from outside.
const SMALL: [(&str, [u64; 5]); 29] = [
    ("bot --tasks 50", [50, 0, 1, 50, 0]),
    ("pipeline --tasks 25", [25, 22, 10, 3, 0]),
    ("pipeline --tasks 7 --degree 1", [7, 0, 1, 7, 0]),
    ("fan-out --tasks 115", [115, 114, 4, 100, 0]),
    ("fan-out --tasks 20 --degree 3", [20, 19, 4, 9, 0]),
    ("fan-out --tasks 1", [1, 0, 1, 1, 0]),
    ("fan-in --tasks 115", [115, 114, 4, 103, 0]),
    ("fan-in --tasks 20 --degree 3", [20, 19, 4, 13, 0]),
    ("all-pairs --a 4 --b 5", [20, 0, 1, 20, 9]),
    ("image-stacking --tasks 23 --files 10", [24, 23, 2, 23, 10]),
    ("image-stacking --tasks 20 --files 10 --no-stack", [20, 0, 1, 20, 10]),
    // With n volumes and s in the sample: 6 n + 2 s + 6 tasks, 9 n + 5 s + 3 edges.
    ("fmri --volumes 12", [82, 121, 12, 24, 25]),
    ("fmri --volumes 1", [14, 17, 12, 2, 3]),
    // 84 tasks for each molecule and one for all.
    ("moldyn --molecules 3", [253, 471, 8, 204, 4]),
    ("heterogeneous --tasks 40", [40, 0, 1, 40, 0]),
    ("random --layers 4 --width 10 --degree 3", [40, 90, 4, 10, 0]),
    ("montage --tasks 25", [25, 45, 9, 9, 9]),
    ("cybershake --tasks 30", [30, 52, 4, 14, 17]),
    ("ligo --tasks 30", [30, 35, 6, 7, 17]),
    ("sipht --tasks 30", [29, 33, 5, 21, 921]),
    ("epigenomics --tasks 46", [47, 54, 9, 10, 4]),
    ("dag1", [63, 96, 9, 13, 13]),
    ("dag1-v2", [113, 192, 9, 26, 13]),
    ("dag1-v3", [113, 205, 16, 25, 13]),
    ("dag1-v4", [113, 240, 16, 25, 13]),
    ("dag1-v5", [145, 224, 9, 50, 13]),
    ("dag1-v6", [145, 237, 16, 48, 13]),
    // A map task has an edge to the reduce task of its job, and one from each job that this depends on.
    ("mapreduce-sipht", [132, 506, 12, 62, 2]),
    ("mapreduce-ligo", [130, 199, 12, 45, 1]),
];

/// Options that change how a shape is written, but not what it is.
const WAYS: [&str; 4] = ["", "--means", "--estimates", "--means --estimates"];

fn generate(sandbox: &Sandbox, options: &str, file: &str) -> String {
    let mut arguments: Vec<&str> = ["generate"].into_iter().chain(options.split_whitespace()).collect();
    arguments.extend(["--output", file]);
    sandbox.throng(&arguments).expect_code(0);
    sandbox.read(file)
}

fn parse(text: &str, format: Format) -> Workflow {
    Workflow::parse(text, format, "x", &NoFiles).unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

#[test]
fn every_shape_has_its_numbers_in_both_formats() {
    let sandbox = Sandbox::new();
    for (options, numbers) in SMALL {
        for file in ["flow.yaml", "flow.json"] {
            generate(&sandbox, options, file);
            let checked = sandbox.throng(&["check", file, "--json"]).expect_code(0);
            let found = ["tasks", "edges", "depth", "width", "outside"].map(|key| checked.number(key));
            assert_eq!(found, numbers, "{options}, {file}");
            assert_eq!(checked.json()["workflow"], options.split(' ').next().unwrap());
            assert_eq!(checked.number("estimated"), 0, "a scheduler has to learn");
        }
    }
}

#[test]
fn localities_are_those_that_were_published() {
    let sandbox = Sandbox::new();
    for (locality, tasks, files) in [
        ("1", 111_700, 111_700),
        ("1.38", 154_345, 111_699),
        ("2", 97_999, 49_000),
        ("3", 88_857, 29_620),
        ("4", 76_575, 19_145),
        ("5", 60_590, 12_120),
        ("10", 46_480, 4_650),
        ("20", 40_460, 2_025),
        ("30", 23_695, 790),
    ] {
        let flow = generate(&sandbox, &format!("image-stacking --locality {locality}"), "flow.yaml");
        let flow = parse(&flow, Format::Yaml);
        assert_eq!((flow.task_count(), flow.object_count()), (tasks + 1, tasks + 1 + files), "{locality}");
    }
}

/// A task as both formats have to have it: its kind, its time, what it reads and writes with sizes, and estimates.
type Told = (String, Option<Duration>, Vec<(String, Option<u64>)>, Vec<(String, Option<u64>)>, [Option<u64>; 2]);

fn told(flow: &Workflow) -> Vec<Told> {
    let file = |object: ObjectId| (flow.object_name(object).to_owned(), flow.declared_size(object));
    let mut told: Vec<Told> = flow
        .tasks()
        .map(|task| {
            let mut inputs: Vec<_> = flow.inputs(task).map(file).collect();
            inputs.sort();
            let time = flow.estimated_time(task).map(|time| time.as_nanos() as u64);
            (
                flow.kind_name(flow.kind(task)).to_owned(),
                flow.sleep_time(task),
                inputs,
                flow.outputs(task).map(file).collect(),
                [time, flow.estimated_output_bytes(task)],
            )
        })
        .collect();
    told.sort();
    told
}

#[test]
fn both_formats_are_the_same_graph() {
    let sandbox = Sandbox::new();
    for (options, _) in SMALL {
        for way in WAYS {
            let options = format!("{options} {way} --seed 7");
            let yaml = parse(&generate(&sandbox, &options, "flow.yaml"), Format::Yaml);
            let json = parse(&generate(&sandbox, &options, "flow.json"), Format::Json);
            assert_eq!(told(&yaml), told(&json), "{options}");
            let is_known = |flow: &Workflow| {
                flow.tasks().all(|task| {
                    let time = flow.estimated_time(task);
                    (time.is_none() || time == flow.sleep_time(task)) && time.is_some() == way.contains("estimates")
                })
            };
            assert!(is_known(&json), "{options}");
        }
    }
}

#[test]
fn a_seed_gives_the_same_bytes_and_another_seed_others() {
    let sandbox = Sandbox::new();
    for (options, _) in SMALL {
        for file in ["flow.yaml", "flow.json"] {
            let drawn = |seed: u64| generate(&sandbox, &format!("{options} --seed {seed}"), file);
            assert_eq!(drawn(7), drawn(7), "{options}");
            let is_fixed =
                ["all-pairs", "image-stacking", "dag1", "mapreduce"].iter().any(|shape| options.starts_with(shape));
            let [one, other] = [drawn(7), drawn(8)].map(|text| text.replace("--seed 8", "--seed 7"));
            assert_eq!(one == other, is_fixed, "{options}");
        }
    }
}

#[test]
fn what_is_drawn_stays_within_its_ends_and_is_no_part_of_names() {
    let sandbox = Sandbox::new();
    let text = generate(&sandbox, "bot --tasks 500 --times 2ms..30ms --sizes 1kB..5kB", "flow.yaml");
    let flow = parse(&text, Format::Yaml);
    let (mut times, mut sizes) = (BTreeMap::new(), BTreeMap::new());
    for task in flow.tasks() {
        assert_eq!(flow.name(task), format!("bot:{}", task.0));
        *times.entry(flow.sleep_time(task).unwrap()).or_insert(0) += 1;
        *sizes.entry(flow.declared_size(flow.outputs(task).next().unwrap()).unwrap()).or_insert(0) += 1;
    }
    let (least, most) = (times.keys().next().unwrap(), times.keys().last().unwrap());
    assert!(*least >= Duration::from_millis(2) && *most <= Duration::from_millis(30), "{least:?} {most:?}");
    assert!(times.len() > 400 && sizes.len() > 400);
    assert!(*sizes.keys().next().unwrap() >= 1000 && *sizes.keys().last().unwrap() <= 5000);
}

#[test]
fn means_are_a_few_lines_for_any_number_of_tasks() {
    let sandbox = Sandbox::new();
    let text = generate(&sandbox, "pipeline --tasks 200000 --means", "flow.yaml");
    assert!(text.lines().count() < 60, "{text}");
    let flow = parse(&text, Format::Yaml);
    assert_eq!(flow.task_count(), 200_000);
    let mean = |task| flow.sleep_time(task) == Some(Duration::from_millis(50));
    assert!(flow.tasks().all(mean));
    assert_eq!(flow.declared_size(ObjectId(0)), Some(5_000_000));
}

#[test]
fn what_sleeps_can_be_run_though_it_writes_nothing() {
    let sandbox = Sandbox::new();
    for options in
        ["bot --tasks 40 --times 0ms..2ms", "pipeline --tasks 40 --times 1ms", "fan-in --tasks 40 --times 1ms"]
    {
        generate(&sandbox, options, "flow.yaml");
        let result = sandbox.run(&[]).expect_code(0);
        assert_eq!((result.number("done"), result.number("failed")), (40, 0), "{options}");
        assert_eq!(sandbox.run(&[]).expect_code(0).number("up_to_date"), 40, "{options}");
    }
}

#[test]
fn applications_can_be_simulated_and_only_lack_their_files_from_outside() {
    let sandbox = Sandbox::new();
    for shape in ["montage --tasks 100", "cybershake --tasks 100", "ligo --tasks 100", "sipht --tasks 60"]
        .into_iter()
        .chain(["epigenomics --tasks 100", "dag1", "dag1-v2", "dag1-v3", "dag1-v4", "dag1-v5", "dag1-v6"])
        .chain(["mapreduce-sipht", "mapreduce-ligo --typed"])
    {
        generate(&sandbox, shape, "flow.yaml");
        let checked = sandbox.throng(&["check", "flow.yaml"]).expect_code(0);
        let told = format!("{}{}", checked.stdout, checked.stderr);
        let warnings: Vec<&str> = told.lines().filter(|line| line.contains("warning")).collect();
        assert!(matches!(warnings.as_slice(), [only] if only.contains("read, but not there")), "{told}");
        // A tensor of CyberShake does not fit into the room that a node has by default; all else does.
        let room = if shape.starts_with("cybershake") { "50GB" } else { "8GB" };
        let simulated = sandbox.throng(&["simulate", "flow.yaml", "--cache", room, "--json"]).expect_code(0);
        assert_eq!(simulated.json()["result"]["done"], checked_tasks(&sandbox), "{shape}");
    }
}

fn checked_tasks(sandbox: &Sandbox) -> u64 {
    sandbox.throng(&["check", "flow.yaml", "--json"]).expect_code(0).number("tasks")
}

#[test]
fn times_and_sizes_stand_for_those_of_all_types() {
    let sandbox = Sandbox::new();
    for shape in ["montage", "cybershake", "ligo", "sipht", "epigenomics"] {
        let text = generate(&sandbox, &format!("{shape} --tasks 46 --times 1ms..3ms --sizes 5kB"), "flow.yaml");
        let flow = parse(&text, Format::Yaml);
        for task in flow.tasks() {
            let time = flow.sleep_time(task).unwrap();
            assert!((Duration::from_millis(1)..=Duration::from_millis(3)).contains(&time), "{shape}");
            let is_wanted = |object| flow.declared_size(object) == Some(5000);
            // A corrected picture is as large as the projected one, so all are.
            assert!(flow.outputs(task).all(is_wanted), "{shape}: {}", flow.name(task));
        }
    }
}

#[test]
fn without_a_file_it_is_printed() {
    let sandbox = Sandbox::new();
    let printed = sandbox.throng(&["generate", "bot", "--tasks", "3"]).expect_code(0).stdout;
    assert_eq!(printed, generate(&sandbox, "bot --tasks 3", "flow.yml"));
    let json = sandbox.throng(&["generate", "bot", "--tasks", "3", "--format", "json"]).expect_code(0);
    assert_eq!(json.json()["tasks"].as_object().unwrap().len(), 3);
    let yaml = sandbox.throng(&["generate", "bot", "--tasks", "3", "--format", "yaml", "-o", "x.json"]).expect_code(0);
    assert!(yaml.stdout.is_empty() && sandbox.read("x.json") == printed);
}

#[test]
fn options_that_cannot_be_are_refused_and_nothing_is_written() {
    let sandbox = Sandbox::new();
    for (options, words) in [
        ("bot --volumes 3", "`--volumes` means nothing for `bot`"),
        ("bot --tasks 0", "`--tasks` cannot be `0`"),
        ("bot --tasks lots", "`--tasks` cannot be `lots`"),
        ("bot --times 5ms..1ms", "the smaller end first"),
        ("bot --sizes 5apples", "unknown unit"),
        ("fan-out --degree 1", "`--degree` cannot be `1`"),
        ("image-stacking --locality 7", "use one of 1, 1.38"),
        ("image-stacking --files 5", "belongs to `--tasks`"),
        ("all-pairs --a 1000000 --b 1000000", "at most 200000000"),
        ("montage --tasks 14", "`--tasks` cannot be `14`"),
        ("dag1 --tasks 63", "`dag1` takes --total"),
        ("dag1 --total much", "write an amount such as 120GB"),
    ] {
        let arguments: Vec<&str> =
            ["generate"].into_iter().chain(options.split(' ')).chain(["-o", "flow.yaml"]).collect();
        let result = sandbox.throng(&arguments).expect_code(2);
        assert!(result.stderr.contains(words) && result.stderr.contains("= help: "), "{options}: {}", result.stderr);
        assert!(!sandbox.exists("flow.yaml"), "{options}");
    }
    sandbox.throng(&["generate", "blob"]).expect_code(2);
    let result = sandbox.throng(&["generate", "bot", "-o", "no/such/place.yaml"]).expect_code(2);
    assert!(result.stderr.contains("cannot write no/such/place.yaml"), "{}", result.stderr);
}
