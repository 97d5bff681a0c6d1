//! `throng simulate`: figures that can be worked out by hand, and everything that can be asked of a simulated run.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod sandbox;

use sandbox::{Output, Sandbox};
use serde_json::Value;

/// Four tasks of one second, without data.
const BAG: &str = "tasks: { nap: { foreach: { i: 1..4 }, sleep: 1s } }";

/// One task that reads 125 MB, which take a second at 1 Gbit/s.
const READER: &str = "tasks: { read: { sleep: 1s, in: [{ path: big.dat, size: 125MB }] } }";

fn simulate(sandbox: &Sandbox, arguments: &[&str]) -> Output {
    let all: Vec<&str> = ["simulate", "flow.yaml"].iter().chain(arguments).copied().collect();
    sandbox.throng(&all)
}

fn result(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    let all: Vec<&str> = arguments.iter().chain(&["--json"]).copied().collect();
    simulate(sandbox, &all).expect_code(0).json()["result"].clone()
}

/// Asserts that a time is this long, or as much longer as messages take.
#[track_caller]
fn assert_seconds(figures: &Value, key: &str, seconds: f64) {
    let found = figures[key].as_f64().unwrap() / 1e9;
    assert!((seconds..seconds + 0.01).contains(&found), "{key} is {found}, not {seconds}: {figures}");
}

#[test]
fn four_seconds_of_work_on_two_cores() {
    let figures = result(&Sandbox::with_flow(BAG), &["--nodes", "2", "--cores", "1"]);
    assert_seconds(&figures, "makespan_ns", 2.0);
    assert_eq!(figures["bound_ns"], 2_000_000_000u64);
    // Two tasks for each core: one of them waits for half of what the other takes.
    assert_eq!(figures["analytic_ns"], 1_500_000_000u64);
    assert_eq!((&figures["done"], &figures["not_done"], &figures["slots"]), (&4.into(), &0.into(), &2.into()));
    assert_eq!((&figures["work_ns"], &figures["busy_ns"]), (&4_000_000_000u64.into(), &4_000_000_000u64.into()));
    assert!(figures["efficiency"].as_f64().unwrap() > 0.99);
    assert_eq!(figures["stuck"], Value::Null);
}

#[test]
fn a_chain_stays_with_its_data() {
    let step = |name: &str, input: &str| {
        format!("  {name}: {{ sleep: 1s, {input} out: [{{ path: {name}.dat, size: 125MB }}] }}\n")
    };
    let text = format!("tasks:\n{}{}{}", step("a", ""), step("b", "in: a.dat,"), step("c", "in: b.dat,"));
    let figures = result(&Sandbox::with_flow(&text), &["--nodes", "3", "--cores", "2"]);
    assert_seconds(&figures, "makespan_ns", 3.0);
    assert_seconds(&figures, "analytic_ns", 3.0);
    assert_eq!(figures["bound_chain_ns"], 3_000_000_000u64);
    assert_eq!((&figures["moved_bytes"], &figures["cache_misses"]), (&0.into(), &0.into()));
}

#[test]
fn a_transfer_takes_what_its_bytes_take() {
    let sandbox = Sandbox::with_flow(READER);
    let far = ["--nodes", "2", "--cores", "1", "--inputs", "node=1", "--place", "mlb"];
    let figures = result(&sandbox, &far);
    assert_seconds(&figures, "makespan_ns", 2.0);
    assert_eq!((&figures["moved_bytes"], &figures["moves"]), (&125_000_000.into(), &1.into()));
    for (more, seconds) in [
        (["--bandwidth", "500Mbit/s"], 3.0),
        (["--bandwidth", "1250MB"], 1.1),
        (["--core-bandwidth", "62.5MB/s"], 3.0),
        (["--inputs", "everywhere"], 1.0),
        (["--place", "mdl"], 1.0),
    ] {
        // What is given last counts, so that one thing differs at a time.
        let far = far.chunks(2).filter(|pair| pair[0] != more[0]).flatten().copied();
        let all: Vec<&str> = far.chain(more).collect();
        assert_seconds(&result(&sandbox, &all), "makespan_ns", seconds);
    }
    let shared = ["--nodes", "1", "--inputs", "shared", "--shared-bandwidth", "50MB", "--bandwidth", "10Gbit"];
    assert_seconds(&result(&sandbox, &shared), "makespan_ns", 3.5);
}

#[test]
fn sizes_are_those_of_files_that_are_there() {
    let sandbox = Sandbox::with_flow("tasks: { read: { sleep: 1s, in: [here.dat, gone.dat, also.dat] } }");
    sandbox.write("here.dat", &"x".repeat(1000));
    let arguments = ["--nodes", "2", "--cores", "1", "--inputs", "node=1", "--place", "mlb", "--json"];
    let output = simulate(&sandbox, &arguments).expect_code(0);
    assert_eq!(output.json()["result"]["moved_bytes"], 1000);
    let expected = "warning: 2 inputs from outside with neither a size nor a file, such as `gone.dat`: counted as empty; \
                    declare it with `in: [{ path: FILE, size: 12MB }]`\n";
    assert_eq!(output.stderr, expected);
    assert_eq!(output.json()["warnings"].as_array().unwrap().len(), 1);
    assert!(!sandbox.exists(".throng"), "simulating leaves nothing behind");
}

#[test]
fn what_nobody_says_is_told() {
    let text = "tasks: { a: { run: 'true', out: a.dat }, b: { run: 'true', in: a.dat } }";
    let sandbox = Sandbox::with_flow(text);
    let output = simulate(&sandbox, &["--json"]).expect_code(0);
    assert!(output.stderr.contains("2 tasks without an estimate, such as `a`: counted as 1.0 s"), "{output:?}");
    assert!(output.stderr.contains("1 file that tasks pass on without a size, such as `a.dat`"), "{output:?}");
    assert_seconds(&output.json()["result"], "makespan_ns", 2.0);
    assert!(!sandbox.exists("a.dat"), "nothing has run");
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let text = "tasks:
  make: { foreach: { i: 1..60 }, sleep: 90ms, in: [{ path: 'raw/{i}', size: 3MB }], out: [{ path: 'm/{i}', size: 4MB }] }
  join: { foreach: { i: 1..30 }, sleep: 50ms, in: ['m/{i}', 'm/60'] }
";
    let sandbox = Sandbox::with_flow(text);
    let with = |seed: &str| {
        let vary = ["--vary-time", "0.5", "--vary-size", "0.5", "--cores", "2", "--json", "--seed", seed];
        simulate(&sandbox, &vary).expect_code(0).stdout
    };
    assert_eq!(with("7"), with("7"));
    assert_ne!(with("7"), with("8"));
}

#[test]
fn every_policy_runs() {
    let text = "tasks:
  make: { foreach: { i: 1..40 }, sleep: 20ms, in: [{ path: 'raw/{i}', size: 3MB }], out: [{ path: 'm/{i}', size: 4MB }] }
  join: { foreach: { i: 1..20 }, sleep: 10ms, in: ['m/{i}', 'm/40'] }
";
    let sandbox = Sandbox::with_flow(text);
    for place in
        ["fair", "adaptive", "flds:t=0.5,tt=10s", "mdl", "mlb", "rlds", "random", "central", "sampled", "queue"]
    {
        for inputs in ["spread", "shared", "everywhere"] {
            let figures = result(&sandbox, &["--place", place, "--inputs", inputs, "--submit", "one", "--cores", "2"]);
            assert_eq!(figures["done"], 60, "{place}, {inputs}");
            assert!(figures["makespan_ns"].as_u64() >= figures["bound_ns"].as_u64(), "{place}, {inputs}");
        }
    }
    for order in ["fifo", "lifo", "largest", "critical-path"] {
        assert_eq!(result(&sandbox, &["--order", order, "--pack", "fixed"])["done"], 60, "{order}");
    }
}

#[test]
fn bad_input_is_told_in_one_message() {
    let sandbox = Sandbox::with_flow("tasks: { a: { sleep: 1s, cpus: 4, memory: 2GB } }");
    for (arguments, expected) in [
        (vec!["--place", "best"], "there is no place policy `best`; known are fair, adaptive, flds"),
        (vec!["--order", "best"], "there is no order policy `best`"),
        (vec!["--pack", "best"], "there is no pack policy `best`"),
        (vec!["--place", "flds:z=1"], "the policy `flds` has no parameter `z`"),
        (vec!["--place", "flds:z"], "`z` is not of the form key=value"),
        (vec!["--nodes", "0"], "0 is not in 1..=1000000"),
        (vec!["--bandwidth", "1Gb"], "`1Gb` may mean bits or bytes: write 1Gbit or 1GB"),
        (vec!["--bandwidth", "0"], "`0` is 0 bytes a second, too little to get anywhere: write a unit, such as 1Gbit"),
        (vec!["--latency", "5 parsecs"], "unknown unit of time `parsecs`"),
        (vec!["--inputs", "nowhere"], "write spread, scattered, shared, everywhere or node=K"),
        (vec!["--inputs", "node=4"], "there is no node 4, only 4 nodes"),
        (vec!["--submit", "two"], "write spread or one"),
        (vec!["--vary-time", "2"], "write a number from 0 to 1"),
        (
            vec!["--cores", "2"],
            "task `a` can never run on such a cluster: it asks for 4 cores and 2.0 GB of memory, and a node has 2 cores",
        ),
        (vec!["--memory", "1GB"], "and a node has 8 cores and 1.0 GB of memory"),
    ] {
        let output = simulate(&sandbox, &arguments).expect_code(2);
        assert!(output.stderr.contains(expected), "{arguments:?}: {}", output.stderr);
        assert_eq!(output.stderr.matches("error").count(), 1, "{}", output.stderr);
        assert_eq!(output.stdout, "", "{arguments:?}");
    }
    sandbox.throng(&["simulate", "none.yaml"]).expect_code(2);
}

#[test]
fn data_that_never_fit_are_told() {
    let sandbox = Sandbox::with_flow(READER);
    let output = simulate(&sandbox, &["--cache", "100MB", "--inputs", "shared"]).expect_code(1);
    assert!(output.stdout.contains("0  done; 1 failed\n"), "{output:?}");
}

const TWO_STEPS: &str = "name: steps
tasks:
  cut:  { foreach: { i: 1..12 }, sleep: 2s, in: [{ path: 'raw/{i}', size: 25MB }], out: [{ path: 'cut/{i}', size: 8MB }] }
  join: { sleep: 5s, in: [{ all: cut }] }
";

#[test]
fn options_are_compared_in_a_table() {
    let sandbox = Sandbox::with_flow(TWO_STEPS);
    let vary = ["--vary-time", "0.3", "--seeds", "1..3", "--cores", "1"];
    let compare = |more: &[&str]| simulate(&sandbox, &[&vary[..], more].concat()).expect_code(0);
    let output = compare(&["--compare", "nodes=1,3", "--compare", "place=mdl,flds:t=0.5,tt=10s"]);
    let lines: Vec<Vec<&str>> = output.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(output.stdout.lines().next(), Some("steps: 13 tasks simulated 12 times, 3 seeds for each row"));
    assert_eq!(lines[2][..3], ["nodes", "place", "makespan"]);
    let rows: Vec<&[&str]> = lines[3..].iter().map(|row| &row[..2]).collect();
    assert_eq!(rows, [["1", "mdl"], ["1", "flds:t=0.5,tt=10s"], ["3", "mdl"], ["3", "flds:t=0.5,tt=10s"]]);
    assert_eq!(output.stdout.matches("<- best").count(), 1);
    assert!(lines[5].contains(&"best") || lines[6].contains(&"best"), "{}", output.stdout);
    assert_eq!(compare(&["--compare", "nodes=1,3", "place=mdl,flds:t=0.5,tt=10s"]).stdout, output.stdout);
}

#[test]
fn a_comparison_as_json_is_what_single_runs_say() {
    let sandbox = Sandbox::with_flow(TWO_STEPS);
    let output = simulate(&sandbox, &["--vary-time", "0.3", "--seeds", "4,9", "--compare", "cores=1,2", "--json"]);
    let json = output.expect_code(0).json();
    assert_eq!((&json["compared"], &json["seeds"]), (&serde_json::json!(["cores"]), &serde_json::json!([4, 9])));
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 2);
    let single = result(&sandbox, &["--vary-time", "0.3", "--seed", "9", "--cores", "2"]);
    let mut compared = rows[1]["runs"][1].clone();
    assert_eq!(compared.as_object_mut().unwrap().remove("seed"), Some(9.into()));
    assert_eq!(compared, single);
    let mean = rows[1]["makespan_ns"]["mean"].as_f64().unwrap();
    let both = |at: usize| rows[1]["runs"][at]["makespan_ns"].as_f64().unwrap();
    assert_eq!(mean, (both(0) + both(1)) / 2.0);
}

#[test]
fn comparisons_that_make_no_sense_are_refused() {
    let sandbox = Sandbox::with_flow(TWO_STEPS);
    for (arguments, expected) in [
        (vec!["--compare", "colour=red"], "`colour` cannot be compared: choose among place, order"),
        (vec!["--compare", "place"], "write OPTION=VALUE,VALUE"),
        (vec!["--compare", "place=mdl", "place=flds"], "`place` is compared twice"),
        (vec!["--compare", "place=mdl,best"], "there is no place policy `best`"),
        (vec!["--compare", "nodes=2,many"], "nodes=many: `many` is not a whole number"),
        (vec!["--compare", "nodes=2", "--seeds", "1..200000"], "write 1..5 or 1,2,7"),
        (vec!["--compare", "nodes=2,3", "--seeds", "1..99999"], "more than 100,000 runs"),
        (vec!["--seeds", "1..5"], "--compare"),
        (vec!["--compare", "nodes=2", "--record"], "cannot be used with"),
    ] {
        let output = simulate(&sandbox, &arguments).expect_code(2);
        assert!(output.stderr.contains(expected), "{arguments:?}: {}", output.stderr);
        assert_eq!(output.stdout, "", "{arguments:?}");
    }
}

#[test]
fn a_picture_is_drawn() {
    let sandbox = Sandbox::with_flow(TWO_STEPS);
    let output = simulate(&sandbox, &["--plot", "busy.svg"]).expect_code(0);
    assert_eq!(output.stderr, "wrote busy.svg: open it in a browser\n");
    let picture = sandbox.read("busy.svg");
    assert!(picture.starts_with("<svg ") && picture.contains("steps: 13 tasks simulated on 4 nodes with 8 cores each"));
    assert_eq!(picture.matches("class=\"stint ").count(), 13);
    assert_eq!(simulate(&sandbox, &["--plot", "-"]).expect_code(0).stdout, picture);
}

#[test]
fn a_recorded_simulation_is_reported_and_never_counts_as_done() {
    let sandbox = Sandbox::with_flow(
        "tasks:
  make: { foreach: { i: 1..6 }, run: 'echo x > {out}', out: 'm/{i}', estimate: { time: 2s, out: 25MB } }
  join: { run: 'cat {in} > {out}', in: [{ all: make }], out: all.txt, estimate: { time: 1s } }
",
    );
    let output = simulate(&sandbox, &["--nodes", "2", "--cores", "2", "--seed", "5", "--record"]).expect_code(0);
    assert_eq!(output.stderr, "recorded as run 1, marked as simulated: see `throng report 1`\n");
    assert!(!sandbox.exists(".throng/journal"), "nothing is done");

    let runs = sandbox.throng(&["runs"]).expect_code(0).stdout;
    assert!(runs.contains("simulated    flow  7 done"), "{runs}");
    let status = sandbox.throng(&["status"]).expect_code(0).stdout;
    assert!(status.contains("run 1 of flow (flow.yaml): simulated\n"), "{status}");
    assert!(
        status.contains("2 nodes with 2 cores each, modelled") && status.contains("seed 5: nothing was"),
        "{status}"
    );
    let task = sandbox.throng(&["status", "1", "join"]).expect_code(0).stdout;
    assert!(task.starts_with("join in simulated run 1:"), "{task}");
    let why = sandbox.throng(&["explain", "1", "join"]).expect_code(0).stdout;
    assert!(why.starts_with("join in simulated run 1 of flow: done"), "{why}");
    let logs = sandbox.throng(&["logs", "1", "join"]).expect_code(0).stderr;
    assert_eq!(logs, "run 1 was only simulated: nothing was printed\n");

    let report = sandbox.throng(&["report", "--json"]).expect_code(0).json();
    assert_eq!((&report["state"], &report["simulated"]["nodes"]), (&"simulated".into(), &2.into()));
    assert_eq!((&report["totals"]["done"], &report["time"]["slots"]), (&7.into(), &4.into()));
    let parts: f64 = report["parts"].as_object().unwrap().values().map(|part| part.as_f64().unwrap()).sum();
    let slot_time = 4.0 * report["time"]["makespan_s"].as_f64().unwrap();
    assert!((parts - slot_time).abs() < 1e-6, "every slot's every moment is in one part: {parts}, {slot_time}");
    assert_eq!((&report["parts"]["compute"], &report["parts"]["engine"]), (&13.0.into(), &0.0.into()));
    sandbox.throng(&["report", "--out", "page.html"]).expect_code(0);
    assert!(sandbox.read("page.html").contains("<title>flow, simulated run 1</title>"));

    let run = sandbox.run(&[]).expect_code(0);
    assert_eq!((run.number("run"), run.number("done"), run.number("up_to_date")), (2, 7, 0));
    simulate(&sandbox, &["--record"]).expect_code(0);
    assert_eq!(sandbox.run(&[]).expect_code(0).number("up_to_date"), 7);
    // What a real run printed is not thrown away for a simulated one.
    simulate(&sandbox, &["--record"]).expect_code(0);
    sandbox.throng(&["clean", "flow.yaml", "--runs"]).expect_code(0);
    let runs = sandbox.throng(&["runs"]).expect_code(0).stdout;
    assert!(runs.contains("   4  ") && runs.lines().count() == 1, "{runs}");
}

#[test]
fn a_record_of_nodes_that_learn_tells_what_one_of_them_learnt() {
    let sandbox = Sandbox::with_flow("tasks: { t: { foreach: { i: 1..600 }, run: x, estimate: { time: 2s } } }");
    let record = |nodes: &str| {
        let learn = ["--nodes", nodes, "--cores", "2", "--pack", "learn", "--load", "needs:cpu=0.1", "--record"];
        simulate(&sandbox, &learn).expect_code(0);
        let learning = sandbox.throng(&["report", "--json"]).expect_code(0).json()["learning"].clone();
        let status = sandbox.throng(&["status"]).expect_code(0).stdout;
        (learning, status, sandbox.throng(&["status", "--json"]).expect_code(0).json())
    };
    let (learning, status, figures) = record("3");
    let last = learning["changes"].as_array().and_then(|changes| changes.last()).unwrap()["width"].as_u64().unwrap();
    assert!(status.contains("3 nodes with 2 cores each"), "{status}");
    assert!(status.contains(&format!("at once   t {last} (node 0 of 3)\n")), "{status}");
    assert_eq!((&learning["node"], &figures["at_once_on_node"]), (&0.into(), &0.into()));
    // Each node has more slots than cores, and they are named by their node all the same.
    sandbox.throng(&["report", "--perfetto", "run.json"]).expect_code(0);
    let trace: Value = serde_json::from_str(&sandbox.read("run.json")).unwrap();
    let names = trace["traceEvents"].as_array().unwrap().iter().filter(|event| event["name"] == "thread_name");
    let names: Vec<&str> = names.filter_map(|event| event["args"]["name"].as_str()).collect();
    let of_node = |node: &str| names.iter().filter(|name| name.starts_with(&format!("slot {node}."))).count();
    assert!(["0", "1", "2"].map(of_node).iter().all(|slots| *slots > 2), "{names:?}");
    assert_eq!(["0", "1", "2"].map(of_node).iter().sum::<usize>(), names.len(), "{names:?}");

    let (learning, status, figures) = record("1");
    assert!(status.contains("at once   t ") && !status.contains("(node "), "{status}");
    assert_eq!((&learning["node"], &figures["at_once_on_node"]), (&Value::Null, &Value::Null));
}

/// What took real time is different each time.
fn masked(text: &str) -> String {
    let (kept, _) = text.split_once("  simulated in").unwrap_or_else(|| panic!("no times in {text}"));
    format!("{kept}  simulated in …\n")
}

#[test]
fn what_people_read() {
    let sandbox = Sandbox::with_flow(
        "name: survey
tasks:
  cut:  { foreach: { i: 1..200 }, sleep: 2s, in: [{ path: 'raw/{i}', size: 40MB }], out: [{ path: 'cut/{i}', size: 8MB }] }
  join: { sleep: 5s, in: [{ all: cut }] }
",
    );
    let output = simulate(&sandbox, &["--nodes", "5", "--cores", "4"]).expect_code(0);
    assert_eq!(output.stderr, "");
    insta::assert_snapshot!(masked(&output.stdout));
}

/// Twelve tasks of ten seconds and one that reads what they made.
const CUTS: &str = "name: cuts
tasks:
  cut:  { foreach: { i: 1..12 }, sleep: 10s, retries: 9, out: [{ path: 'cut/{i}', size: 8MB }] }
  join: { sleep: 5s, in: [{ all: cut }], out: [{ path: all, size: 1MB }] }
";

#[test]
fn what_dies_is_done_by_others() {
    let sandbox = Sandbox::with_flow(CUTS);
    let cluster = ["--nodes", "3", "--cores", "2"];
    let with = |more: &[&str]| result(&sandbox, &[&cluster[..], more].concat());
    let peace = with(&[]);
    let figures = with(&["--fault", "crash:node=1,at=15s"]);
    assert_eq!((&figures["done"], &figures["not_done"]), (&13.into(), &0.into()), "{figures}");
    let faults = &figures["faults"];
    assert_eq!((&faults["crashes"], &faults["killed_attempts"]), (&1.into(), &2.into()), "{figures}");
    assert_eq!((&faults["failed_attempts"], &faults["lost_messages"]), (&0.into(), &0.into()), "{figures}");
    // Two attempts were half done, and two that were done have to be done again.
    let lost = faults["lost_ns"].as_f64().unwrap();
    assert!((29.9e9..30.1e9).contains(&lost), "{figures}");
    assert_eq!(figures["reopened"], 2, "{figures}");
    // The others step in after 25 seconds and are done after 35; then it turns out what was lost, and both are made again at once.
    let makespan = figures["makespan_ns"].as_f64().unwrap();
    assert!((45e9..55e9).contains(&makespan), "{figures}");
    assert!(figures["claimed"].as_u64().unwrap() >= 2, "{figures}");

    let lost = READER.replace("1s", "60s");
    let output =
        simulate(&Sandbox::with_flow(&lost), &["--nodes", "2", "--fault", "crash:node=0,at=9s", "--inputs", "node=0"]);
    let output = output.expect_code(1).stdout;
    assert!(output.contains("inputs lost              1  files from outside"), "{output}");
    assert!(output.contains("0  done; 1 failed\n") && output.contains("lower bound              -"), "{output}");

    let slow = with(&["--fault", "slow:node=0,factor=3,from=5s"]);
    assert!(slow["makespan_ns"].as_u64() > peace["makespan_ns"].as_u64() && slow["faults"]["lost_ns"] == 0, "{slow}");
    let failing = with(&["--fault", "failing:share=0.3"]);
    assert!(failing["faults"]["failed_attempts"].as_u64().unwrap() > 0 && failing["not_done"] == 0, "{failing}");
    let lost = with(&["--fault", "lost:share=0.2", "--fault", "late:share=0.2,most=1s"]);
    assert!(lost["faults"]["lost_messages"].as_u64().unwrap() > 0 && lost["not_done"] == 0, "{lost}");
    let cut_off = with(&["--fault", "partition:first=2,from=5s,until=18s"]);
    assert_eq!((&cut_off["not_done"], &cut_off["faults"]["restarts"]), (&0.into(), &1.into()), "{cut_off}");
    let drained = with(&["--fault", "drain:node=1,at=5s", "--fault", "drain:node=2,at=5s"]);
    assert_eq!((&drained["not_done"], &drained["faults"]["lost_ns"]), (&0.into(), &0.into()), "{drained}");
    let failover = with(&["--fault", "failover:at=11s,shard=1,behind=2s", "--fault", "full-disk:node=2,until=30s"]);
    assert_eq!(failover["not_done"], 0, "{failover}");
}

#[test]
fn crashes_by_chance_follow_from_the_seed_alone() {
    let sandbox = Sandbox::with_flow("tasks: { nap: { foreach: { i: 1..400 }, sleep: 10s } }");
    let with = |more: &[&str]| {
        let all = [&["--nodes", "10", "--cores", "4", "--fault", "crashes:every=10m,back=30s"], more].concat();
        result(&sandbox, &all)
    };
    let figures = with(&["--seed", "3"]);
    assert_eq!(figures["not_done"], 0, "{figures}");
    assert!((1..=12).contains(&figures["faults"]["crashes"].as_u64().unwrap()), "{figures}");
    assert_eq!(with(&["--seed", "3"]), figures);
    assert_ne!(with(&["--seed", "4"])["faults"], figures["faults"]);
}

#[test]
fn faults_that_cannot_be_are_told_in_one_message() {
    let sandbox = Sandbox::with_flow(BAG);
    for (faults, expected) in [
        (vec!["crash:node=4,at=1s"], "crash:node=4,at=1s: there is no node 4, only 4 nodes"),
        (vec!["partition:first=9,until=1s"], "there is no node 9, only 4 nodes"),
        (vec!["failover:shard=4,at=1s"], "the store has no machine 4, only 4 machines"),
        (vec!["lost:share=0.1", "lost:share=0.2"], "the fault `lost` is given twice"),
        (vec!["crash:node=1"], "the fault `crash` needs `at`: write crash:node=3,at=10s,back=5s"),
        (vec!["earthquake"], "there is no fault `earthquake`; known are crash, crashes"),
    ] {
        let arguments: Vec<&str> = faults.iter().flat_map(|fault| ["--fault", fault]).collect();
        let output = simulate(&sandbox, &arguments).expect_code(2);
        assert!(output.stderr.contains(expected), "{faults:?}: {}", output.stderr);
        assert_eq!(output.stderr.matches("error").count(), 1, "{}", output.stderr);
    }
}

#[test]
fn faults_are_compared() {
    let sandbox = Sandbox::with_flow(CUTS);
    let compare = ["--nodes", "3", "--cores", "2", "--compare", "fault=none,crash:node=1,at=15s,slow:node=0,factor=2"];
    let output = simulate(&sandbox, &compare).expect_code(0).stdout;
    let rows: Vec<&str> = output.lines().skip(3).filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(rows, ["none", "crash:node=1,at=15s", "slow:node=0,factor=2"], "{output}");
    assert!(output.lines().nth(3).unwrap().ends_with("<- best"), "{output}");
}

#[test]
fn a_run_that_cannot_end_says_why() {
    let sandbox = Sandbox::with_flow(CUTS);
    let stuck = ["--nodes", "2", "--cores", "2", "--fault", "crash:node=0,at=12s", "--fault", "crash:node=1,at=13s"];
    let output = simulate(&sandbox, &stuck).expect_code(1).stdout;
    assert!(output.contains("9 of 13 tasks have no verdict"), "{output}");
    assert!(output.contains("`cut:3` is with node 0, which is dead\n"), "{output}");
    assert!(output.contains("all nodes are dead: let some come back (`back=1m` in the fault)"), "{output}");
    let drained = ["--nodes", "2", "--cores", "2", "--fault", "drain:node=0,at=12s", "--fault", "drain:node=1,at=13s"];
    let output = simulate(&sandbox, &drained).expect_code(1).stdout;
    assert!(output.contains("5 of 13 tasks have no verdict"), "{output}");
    assert!(output.contains("which is to start nothing any more\n"), "{output}");
    assert!(
        output.contains("all nodes that are alive are to start nothing any more: let one of them go on"),
        "{output}"
    );
    // A day is not too long to wait for somebody who comes back.
    let back = ["--nodes", "1", "--cores", "2", "--fault", "crash:node=0,at=12s,back=1d", "--json"];
    let figures = simulate(&sandbox, &back).expect_code(0).json()["result"].clone();
    assert!(figures["makespan_ns"].as_f64().unwrap() > 86_400e9, "{figures}");
}

#[test]
fn a_record_of_broken_things_tells_the_truth() {
    let sandbox = Sandbox::with_flow(CUTS);
    let cluster = ["--nodes", "3", "--cores", "2", "--record"];
    simulate(&sandbox, &[&cluster[..], &["--fault", "crash:node=1,at=15s"]].concat()).expect_code(0);
    let report = sandbox.throng(&["report", "1", "--json"]).expect_code(0).json();
    let totals = &report["totals"];
    assert_eq!(
        (&totals["done"], &totals["failed"], &totals["running"]),
        (&13.into(), &0.into(), &0.into()),
        "{totals}"
    );
    // Twelve, two that died, two whose results died, and the join.
    assert_eq!((&totals["attempts"], &totals["retries"]), (&17.into(), &4.into()), "{totals}");
    assert_eq!(report["kinds"][0]["failures"][0]["outcome"], "its node died", "{report}");
    let in_vain = report["parts"]["in_vain"].as_f64().unwrap();
    assert!((9.9..10.1).contains(&in_vain), "{}", report["parts"]);
    let parts: f64 = report["parts"].as_object().unwrap().values().map(|part| part.as_f64().unwrap()).sum();
    let slot_time = 6.0 * report["time"]["makespan_s"].as_f64().unwrap();
    assert!((parts - slot_time).abs() < 1e-6, "{parts}, {slot_time}");
    let killed = (1..=12).map(|i| sandbox.throng(&["status", "1", &format!("cut:{i}")]).expect_code(0).stdout);
    let killed: Vec<String> = killed.filter(|text| text.contains("ended: its node died")).collect();
    assert_eq!(killed.len(), 2);
    assert!(killed[0].contains("ready for attempt 2") && killed[0].contains("attempt 2 chosen"), "{}", killed[0]);
    let why = sandbox.throng(&["explain", "1", "join"]).expect_code(0).stdout;
    assert!(why.contains("Something that it reads was lost"), "{why}");

    simulate(&sandbox, &[&cluster[..], &["--fault", "failing:share=0.5"]].concat()).expect_code(0);
    let report = sandbox.throng(&["report", "2", "--json"]).expect_code(0).json();
    let kind = &report["kinds"][0];
    assert_eq!(kind["failures"][0]["outcome"], "exit code 1", "{kind}");
    let (attempts, failed) = (kind["attempts"].as_u64().unwrap(), kind["failures"][0]["count"].as_u64().unwrap());
    assert!(failed > 0 && attempts == 12 + failed, "{kind}");
    let again = (1..=12).map(|i| sandbox.throng(&["status", "2", &format!("cut:{i}")]).expect_code(0).stdout);
    assert!(again.into_iter().any(|text| text.contains("to be tried again at 10.5")), "attempts wait before the next");
}

#[test]
fn a_record_says_what_failed_and_what_was_skipped_for_it() {
    let sandbox = Sandbox::with_flow(
        "tasks:
  make: { foreach: { i: 1..4 }, sleep: 1s, out: 'm/{i}' }
  read: { foreach: { i: 1..4 }, sleep: 1s, in: 'm/{i}', out: 'r/{i}' }
  late: { foreach: { i: 1..4 }, sleep: 30s, timeout: 10s, in: 'r/{i}' }
",
    );
    let arguments = ["--nodes", "2", "--cores", "2", "--fault", "failing:share=0.4", "--record", "--json"];
    let figures = simulate(&sandbox, &arguments).expect_code(1).json()["result"].clone();
    let (failed, skipped) = (figures["failed"].as_u64().unwrap(), figures["skipped"].as_u64().unwrap());
    assert!(failed > 0 && skipped > 0 && failed + skipped == figures["not_done"].as_u64().unwrap(), "{figures}");
    let totals = sandbox.throng(&["report", "--json"]).expect_code(0).json()["totals"].clone();
    assert_eq!((&totals["failed"], &totals["skipped"]), (&figures["failed"], &figures["skipped"]), "{totals}");
    let status = sandbox.throng(&["status"]).expect_code(0).stdout;
    assert!(status.contains(&format!("{failed} failed, {skipped} skipped, 0 left")), "{status}");
    let of = |task: &str| sandbox.throng(&["explain", "1", task]).expect_code(0).stdout;
    let (mut late, mut blamed) = (0, 0);
    for i in 1..=4 {
        let text = of(&format!("late:{i}"));
        late += u32::from(text.contains("timed out"));
        if text.starts_with(&format!("late:{i} in simulated run 1 of flow: skipped")) {
            blamed += 1;
            assert!(text.contains(&format!("read:{i}")) || text.contains(&format!("make:{i}")), "{text}");
        }
    }
    assert!(late > 0 && blamed > 0, "{late}, {blamed}");
}

#[test]
fn faster_machines_take_less_time_and_the_bound_knows_it() {
    let one = "tasks: { nap: { sleep: 1s } }";
    let figures = result(&Sandbox::with_flow(one), &["--machines", "1x1@2"]);
    assert_seconds(&figures, "makespan_ns", 0.5);
    assert!((figures["bound_of_makespan"].as_f64().unwrap() - 1.0).abs() < 0.01, "{figures}");
    let sandbox = Sandbox::with_flow(BAG);
    let all = simulate(&sandbox, &["--machines", "1x1,1x1@3", "--json"]).expect_code(0).json();
    let (cluster, figures) = (&all["cluster"], &all["result"]);
    assert_eq!(
        (&cluster["nodes"], &cluster["cores"], &cluster["machines"][1]["speed"]),
        (&2.into(), &Value::Null, &3.0.into())
    );
    // Four seconds of work for cores of 1 + 3 times the ordinary speed; alone, none of them takes less than a third.
    assert!((figures["bound_share_ns"].as_f64().unwrap() / 1e9 - 1.0).abs() < 1e-6, "{figures}");
    assert!((figures["bound_chain_ns"].as_f64().unwrap() * 3.0 / 1e9 - 1.0).abs() < 1e-6, "{figures}");
    assert_eq!((&figures["work_ns"], &figures["slots"]), (&4_000_000_000u64.into(), &2.into()));
    assert!(figures["bound_of_makespan"].as_f64().unwrap() <= 1.0, "{figures}");
    let told = simulate(&sandbox, &["--machines", "1x1,1x1@3"]).expect_code(0);
    assert!(told.stdout.contains("simulated on 2 nodes: 1 with 1 core, 1 with 1 core of speed 3\n"), "{}", told.stdout);
    let compared = simulate(&sandbox, &["--compare", "machines=1x1+1x1@3,2x1"]).expect_code(0);
    assert!(compared.stdout.contains("1x1+1x1@3") && compared.stdout.contains("2x1 "), "{}", compared.stdout);
    let recorded = simulate(&sandbox, &["--machines", "1x2,1x1@3", "--record"]).expect_code(0);
    assert!(recorded.stderr.contains("recorded as run 1"), "{}", recorded.stderr);
    let status = sandbox.throng(&["status"]).expect_code(0);
    assert!(status.stdout.contains("2 nodes of 2 types, modelled"), "{}", status.stdout);
}

#[test]
fn what_is_not_in_memory_is_read_from_disk_by_the_task_itself() {
    let two = "tasks: { read: { foreach: { i: 1..2 }, sleep: 1s, in: [{ path: big.dat, size: 125MB }] } }";
    let sandbox = Sandbox::with_flow(two);
    let with = |more: &[&str]| {
        let options = ["--nodes", "1", "--cores", "1"].iter().chain(more).copied().collect::<Vec<_>>();
        result(&sandbox, &options)
    };
    assert_seconds(&with(&[]), "makespan_ns", 2.0);
    // Read once, and from memory after that; or each time, if there is no memory for it.
    let figures = with(&["--disk-bandwidth", "125MB"]);
    assert_seconds(&figures, "makespan_ns", 3.0);
    assert_eq!((&figures["disk_read_bytes"], &figures["disk_written_bytes"]), (&125_000_000.into(), &0.into()));
    let figures = with(&["--disk-bandwidth", "125MB", "--memory-tier", "100MB"]);
    assert_seconds(&figures, "makespan_ns", 4.0);
    assert_eq!(figures["useful_ns"], 2_000_000_000u64, "reading is no work that counts");
    let told = simulate(&sandbox, &["--disk-bandwidth", "125MB", "--nodes", "1"]).expect_code(0);
    assert!(told.stdout.contains("125.0 MB/s disks behind 4.0 GB of memory, seed 1"), "{}", told.stdout);
    assert!(
        told.stdout.contains("utilisation         25.0 %"),
        "the second waits for the first to read: {}",
        told.stdout
    );
    assert!(told.stdout.contains("  disks             125.0 MB  read from disks; 0 B written"), "{}", told.stdout);
}

#[test]
fn what_is_written_goes_to_disk_only_to_make_room() {
    let flow = "tasks: { make: { foreach: { i: 1..3 }, sleep: 1s, out: [{ path: \"out/{i}\", size: 125MB }] } }";
    let sandbox = Sandbox::with_flow(flow);
    let with = |tier: &str| {
        let disk = ["--nodes", "1", "--cores", "1", "--disk-bandwidth", "125MB", "--memory-tier", tier];
        result(&sandbox, &disk)
    };
    assert_seconds(&with("400MB"), "makespan_ns", 3.0);
    let figures = with("300MB");
    assert_seconds(&figures, "makespan_ns", 4.0);
    assert_eq!(figures["disk_written_bytes"], 125_000_000);
    assert_seconds(&with("1MB"), "makespan_ns", 6.0);
}

#[test]
fn tasks_run_only_where_they_fit_whatever_the_policy() {
    let text =
        "tasks: { big: { foreach: { i: 1..6 }, sleep: 10s, cpus: 4 }, small: { foreach: { i: 1..8 }, sleep: 10s } }";
    let sandbox = Sandbox::with_flow(text);
    for place in ["fair", "mlb", "flds", "adaptive", "random", "sampled", "queue", "central"] {
        for submit in ["one", "spread"] {
            let arguments = ["--machines", "4x2,3x4", "--place", place, "--submit", submit];
            let figures = result(&sandbox, &arguments);
            assert_eq!(figures["done"], 14, "{place}, {submit}: {figures}");
            // Six times all cores of one of three machines.
            let seconds = figures["makespan_ns"].as_f64().unwrap() / 1e9;
            assert!((20.0..61.0).contains(&seconds), "{place}, {submit}: {seconds}");
        }
    }
}

#[test]
fn machines_and_memory_that_cannot_be() {
    let sandbox = Sandbox::with_flow("tasks: { big: { sleep: 1s, cpus: 4 } }");
    for (arguments, words) in [
        (&["--machines", "4x"][..], "is not COUNTxCORES[@SPEED][/MEMORY]"),
        (&["--machines", "4x8", "--nodes", "4"], "cannot be used with"),
        (&["--memory-tier", "1GB"], "--disk-bandwidth"),
        (&["--disk-bandwidth", "1GB", "--memory-tier", "9GB"], "make --memory-tier smaller"),
        (&["--machines", "4x3,1x2"], "it asks for 4 cores, and a node has 3 cores"),
        (&["--machines", "4x8", "--compare", "nodes=1,2"], "--machines says it already"),
        (&["--machines", "2x8", "--inputs", "node=2"], "there is no node 2"),
    ] {
        let output = simulate(&sandbox, arguments).expect_code(2);
        assert!(output.stderr.contains(words), "{arguments:?}: {}", output.stderr);
    }
}
