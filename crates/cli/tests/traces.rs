//! Traces in WfFormat: checked, simulated, drawn, replayed and written. With `THRONG_TRACES`, the folder of published traces,
//! each of those as well.

#![allow(clippy::unwrap_used, reason = "a test may panic")]
#![allow(clippy::print_stderr, reason = "whoever runs it wants to know what was skipped, and how long it took")]

mod sandbox;
mod wfformat;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sandbox::Sandbox;
use serde_json::{Value, json};
use wfformat::broken_rules;

/// Two tasks behind one, with a file that is changed in place, and a name that begins with a slash.
fn small() -> String {
    json!({ "name": "small", "schemaVersion": "1.5", "runtimeSystem": { "name": "dice", "version": "6" }, "workflow": {
        "specification": {
            "tasks": [
                { "name": "left", "id": "left_1", "parents": ["top_0"], "children": [], "inputFiles": ["/w/mid"], "outputFiles": ["l"] },
                { "name": "top", "id": "top_0", "parents": [], "children": ["left_1", "right_2"], "inputFiles": ["src"], "outputFiles": ["/w/mid"] },
                { "name": "right", "id": "right_2", "parents": ["top_0"], "children": [], "inputFiles": ["/w/mid", "r"], "outputFiles": ["r"] },
            ],
            "files": [{ "id": "src", "sizeInBytes": 1000 }, { "id": "/w/mid", "sizeInBytes": 600_000 },
                      { "id": "l", "sizeInBytes": 0 }, { "id": "r", "sizeInBytes": 50 }] },
        "execution": { "makespanInSeconds": 12, "executedAt": "03-23-21T05:57:32Z", "tasks": [
            { "id": "top_0", "runtimeInSeconds": 5.0, "command": { "program": "top" }, "coreCount": 64 },
            { "id": "left_1", "runtimeInSeconds": 0 },
            { "id": "right_2", "runtimeInSeconds": 7.5 }] } } })
    .to_string()
}

#[test]
fn checked_simulated_and_drawn() {
    let sandbox = Sandbox::new();
    // Recognised by what is in it, whatever it is called.
    sandbox.write("some.trace", &small());
    let check = sandbox.throng(&["check", "some.trace", "--json"]).expect_code(0);
    assert_eq!((check.number("tasks"), check.number("edges"), check.number("made")), (3, 2, 3));
    assert_eq!(check.json()["critical_path_s"], 12.5);
    assert_eq!(check.json()["trace"]["executed_unix_ms"], 1_616_479_052_000u64);
    assert_eq!(check.json()["warnings"], json!([]));
    let words = sandbox.throng(&["check", "some.trace"]).expect_code(0).stdout;
    assert!(words.contains("recorded   took 12.0 s, on 2021-03-23 05:57:32 UTC, by dice 6"), "{words}");
    // What was recorded is what it takes.
    let simulated =
        sandbox.throng(&["simulate", "some.trace", "--nodes", "1", "--cores", "64", "--json"]).expect_code(0);
    let makespan = simulated.json()["result"]["makespan_ns"].as_f64().unwrap() / 1e9;
    assert!((12.5..12.6).contains(&makespan), "{makespan}");
    let dot = sandbox.throng(&["graph", "some.trace"]).expect_code(0).stdout;
    assert!(dot.contains("top_0"), "{dot}");
    assert!(!sandbox.exists(".throng"), "looking writes nothing");
}

#[test]
fn replayed_resumed_and_cleaned() {
    let sandbox = Sandbox::new();
    sandbox.write("t.json", &small());
    sandbox.write("src", "mine");
    let refused = sandbox.throng(&["run", "t.json"]).expect_code(2).stderr;
    assert!(
        refused.contains("`t` is a trace of a run that is over") && refused.contains("throng run t.json --replay 0.01"),
        "{refused}"
    );
    let dry = sandbox.throng(&["run", "t.json", "--replay", "0.01", "--dry-run"]).expect_code(0).stdout;
    assert!(dry.contains("3 of 3 tasks would run"), "{dry}");
    assert!(!sandbox.exists(".throng"));

    let begun = Instant::now();
    let replay = ["run", "t.json", "--replay", "0.02", "--replay-sizes", "0.5", "--json"];
    assert_eq!(sandbox.throng(&replay).expect_code(0).number("done"), 3);
    assert!(begun.elapsed() > Duration::from_millis(250), "it took its time");
    let size = |name: &str| sandbox.file(&format!(".throng/replay/t/{name}")).metadata().unwrap().len();
    assert_eq!(["src", "%/w/mid", "l", "r", "r%v0"].map(size), [500, 300_000, 0, 25, 25]);
    assert_eq!(sandbox.read("src"), "mine", "nobody's files are touched");
    assert!(!sandbox.exists(".throng/kept"));

    // What is done is done; what is lost is made again; another factor is another replay.
    assert_eq!(sandbox.throng(&replay).expect_code(0).number("up_to_date"), 3);
    std::fs::remove_file(sandbox.file(".throng/replay/t/l")).unwrap();
    assert_eq!(sandbox.throng(&replay).expect_code(0).number("done"), 1);
    let spin = ["run", "t.json", "--replay", "0.001", "--replay-with", "spin", "--json"];
    assert_eq!(sandbox.throng(&spin).expect_code(0).number("done"), 3);
    assert_eq!(size("%/w/mid"), 600);
    let why = sandbox.throng(&["explain", "last", "top_0"]).expect_code(0).stdout;
    assert!(why.contains("its command, environment or list of files has changed"), "{why}");

    // A workflow beside it has the same state, and neither disturbs the other.
    sandbox.write("flow.yaml", "tasks: { a: { run: 'cp {in} {out}', in: src, out: l } }");
    assert_eq!(sandbox.throng(&["run", "flow.yaml", "--json"]).expect_code(0).number("done"), 1);
    assert_eq!(sandbox.throng(&spin).expect_code(0).number("up_to_date"), 3);
    assert_eq!(sandbox.read("l"), "mine");
    sandbox.throng(&["clean", "t.json"]).expect_code(0);
    assert!(!sandbox.exists(".throng/replay/t") && sandbox.exists("l"));
    assert_eq!(sandbox.throng(&spin).expect_code(0).number("done"), 3);
}

#[test]
fn what_cannot_be_replayed() {
    let sandbox = Sandbox::with_flow("tasks: { a: { run: 'true' } }");
    sandbox.write("t.json", &small().replace("600000", "900000000000000000"));
    let words = |arguments: &[&str]| sandbox.throng(arguments).expect_code(2).stderr;
    let no_room = words(&["run", "t.json", "--replay", "1"]);
    assert!(
        no_room.contains("the files of this replay need 900000000.0 GB more")
            && no_room.contains("--replay-sizes 0.001"),
        "{no_room}"
    );
    assert!(!sandbox.exists(".throng"), "nothing has begun");
    sandbox.write("long.json", &small().replace("7.5", "1e6"));
    let century = words(&["run", "long.json", "--replay", "1e6"]);
    assert!(century.contains("to replay the task `right_2` would take longer than a century"), "{century}");
    assert!(century.contains("give --replay at most 3153"), "{century}");
    let order = words(&["run", "long.json", "--replay", "0.01", "--replay-sizes", "0.01", "--order", "best"]);
    assert!(order.contains("no order policy `best`") && !sandbox.exists(".throng"), "{order}");
    let native = words(&["run", "flow.yaml", "--replay", "0.1"]);
    assert!(native.contains("--replay is for traces in WfFormat, and `flow` is a workflow"), "{native}");
    for wrong in ["-1", "nan", "inf", "fast"] {
        assert!(words(&["run", "t.json", "--replay", wrong]).contains("write a number from 0 to 1000000"), "{wrong}");
    }
    let old = words(&["run", "t.json", "--replay-sizes", "1"]);
    assert!(old.contains("--replay <FACTOR>"), "{old}");
    sandbox.write("old.json", &small().replace("\"1.5\"", "\"1.4\""));
    let old = words(&["check", "old.json"]);
    assert!(
        old.contains("this is a trace in WfFormat 1.4, and Throng reads 1.5 and 1.6") && old.contains("old.json:1:"),
        "{old}"
    );
}

#[track_caller]
fn exported(sandbox: &Sandbox, arguments: &[&str]) -> Value {
    let output = sandbox.throng(&[&["export"], arguments].concat()).expect_code(0);
    let document = output.json();
    assert_eq!(broken_rules(&document), Vec::<String>::new(), "{}", output.stdout);
    document
}

#[test]
fn a_run_is_written_and_read_back() {
    let sandbox = Sandbox::with_flow(
        "tasks:\n  make: { foreach: { x: [a, 'b c'] }, run: 'printf %s {x} > {out}', out: 'made/{x}', cpus: 0.5 }\n  \
         join: { exec: [sh, -c, 'cat made/* > all.txt', ''], in: { all: make }, out: all.txt }\n  \
         rest: { sleep: 20ms, after: join }\n",
    );
    assert!(exported(&sandbox, &["flow.yaml"])["workflow"].get("execution").is_none(), "nothing has run");
    sandbox.throng(&["run", "flow.yaml"]).expect_code(0);
    // Only one task in the second run: the others are told as they were in the first.
    sandbox.throng(&["run", "flow.yaml", "--rerun", "rest"]).expect_code(0);
    sandbox.throng(&["run", "flow.yaml"]).expect_code(0);
    let document = exported(&sandbox, &["flow.yaml", "--version", "1.6"]);
    assert_eq!(document["description"], "Run 2 of flow");
    let execution = &document["workflow"]["execution"];
    assert_eq!(execution["tasks"].as_array().unwrap().len(), 4);
    assert!(execution["makespanInSeconds"].as_f64().unwrap() >= 0.02);
    let of = |id: &str| execution["tasks"].as_array().unwrap().iter().find(|task| task["id"] == id).unwrap().clone();
    assert_eq!(of("make:b#20c").get("coreCount"), None, "half a core is none that the format knows");
    assert_eq!(of("join")["command"], json!({ "program": "sh", "arguments": ["-c", "cat made/* > all.txt"] }));
    assert_eq!(of("rest")["command"], json!({ "program": "sleep", "arguments": ["0.02"] }));
    assert!(of("rest")["runtimeInSeconds"].as_f64().unwrap() >= 0.02);
    assert!(of("join")["avgCPU"].is_number() && of("join")["machines"][0].is_string());
    let size = |id: &str| {
        let files = document["workflow"]["specification"]["files"].as_array().unwrap();
        files.iter().find(|file| file["id"] == id).unwrap()["sizeInBytes"].clone()
    };
    assert_eq!((size("made/b#20c"), size("all.txt")), (json!(3), json!(4)));
    assert_eq!(exported(&sandbox, &["flow.yaml", "--run", "1"])["description"], "Run 1 of flow");
    assert!(exported(&sandbox, &["flow.yaml", "--run", "none"])["workflow"].get("execution").is_none());

    // It can be checked, replayed, and what was replayed written once more.
    sandbox.throng(&["export", "flow.yaml", "-o", "out.json"]).expect_code(0);
    let check = sandbox.throng(&["check", "out.json", "--json", "--strict"]).expect_code(0).json();
    assert_eq!((&check["tasks"], &check["edges"]), (&json!(4), &json!(3)));
    let kinds: Vec<&Value> = check["kinds"].as_array().unwrap().iter().map(|kind| &kind["kind"]).collect();
    assert_eq!(kinds, ["make", "join", "rest"]);
    assert_eq!(sandbox.throng(&["run", "out.json", "--replay", "0.5", "--json"]).expect_code(0).number("done"), 4);
    let replayed = exported(&sandbox, &["out.json"]);
    assert_eq!(replayed["description"], "Run 4 of out, a replay of a trace");
    assert_eq!(replayed["workflow"]["execution"]["tasks"][0]["id"], "make#3Aa");
    let wrong = sandbox.throng(&["export", "out.json", "--run", "1"]).expect_code(2).stderr;
    assert!(wrong.contains("run 1 is of `flow`, not of `out`"), "{wrong}");
}

/// The folder of published traces, if there is one.
fn published() -> Vec<PathBuf> {
    let Some(folder) = std::env::var_os("THRONG_TRACES") else { return Vec::new() };
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|ending| ending == "json") && !file.ends_with("index.json"));
    files.sort();
    assert!(!files.is_empty(), "no traces in {}", folder.display());
    files
}

/// A build for tests is an order of magnitude slower, and the machine may be busy.
const CHECK_LIMIT: Duration = if cfg!(debug_assertions) { Duration::from_secs(10) } else { Duration::from_secs(1) };

#[test]
fn published_traces() {
    let files = published();
    if files.is_empty() {
        eprintln!("skipped: THRONG_TRACES names no folder of published traces");
        return;
    }
    // What others have worked out of them, if it is there.
    let index = std::fs::read_to_string(files[0].with_file_name("index.json")).ok();
    let index: Value = index.map_or(Value::Null, |text| serde_json::from_str(&text).unwrap());
    let expected = |name: &str| {
        let instances = index["instances"].as_array().into_iter().flatten();
        instances.into_iter().find(|instance| instance["name"] == name).cloned()
    };
    let sandbox = Sandbox::new();
    for file in &files {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let path = file.to_str().unwrap();
        let begun = Instant::now();
        let check = sandbox.throng(&["check", path, "--json"]).expect_code(0).json();
        let took = begun.elapsed();
        assert!(took < CHECK_LIMIT, "{name}: {took:?}");
        if let Some(expected) = expected(name) {
            for (own, theirs) in [
                ("tasks", "tasks"),
                ("edges", "edges"),
                ("depth", "levels"),
                ("width", "max_level_width"),
                ("roots", "roots"),
                ("outside", "external_input_files"),
            ] {
                assert_eq!(check[own], expected[theirs], "{name}: {own}");
            }
            for (own, theirs) in [("work_s", "sum_runtime_s"), ("critical_path_s", "critical_path_s")] {
                let (own, theirs) = (check[own].as_f64().unwrap(), expected[theirs].as_f64().unwrap());
                assert!((own - theirs).abs() <= 0.001 * theirs.max(1.0), "{name}: {own} and {theirs}");
            }
        }
        assert_eq!(check["warnings"], json!([]), "{name}");
        assert!(check["kinds"].as_array().unwrap().len() <= 64, "{name}");
        let simulated = sandbox.throng(&["simulate", path, "--json"]).expect_code(0).json();
        let makespan = simulated["result"]["makespan_ns"].as_f64().unwrap() / 1e9;
        assert!(makespan >= check["critical_path_s"].as_f64().unwrap(), "{name}");
        sandbox.throng(&["graph", path, "--format", "svg"]).expect_code(0);
        let document = exported(&sandbox, &[path, "--version", "1.6"]);
        let original: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        assert_eq!(
            document["workflow"]["execution"]["makespanInSeconds"],
            original["workflow"]["execution"]["makespanInSeconds"]
        );
        sandbox.write("again.json", &document.to_string());
        let again = sandbox.throng(&["check", "again.json", "--json"]).expect_code(0).json();
        for key in
            ["tasks", "edges", "depth", "width", "made", "outside", "unread", "work_s", "critical_path_s", "kinds"]
        {
            assert_eq!(again[key], check[key], "{name}: {key}");
        }
        eprintln!("{name}: {} tasks checked in {took:?}", check["tasks"]);
    }
    let smallest = files.iter().min_by_key(|file| file.metadata().unwrap().len()).unwrap();
    let arguments =
        ["run", smallest.to_str().unwrap(), "--state", "state", "--replay", "0.001", "--width", "8", "--json"];
    let run = sandbox.throng(&arguments).expect_code(0);
    assert_eq!(run.number("done"), run.number("total"));
    assert_eq!(sandbox.throng(&arguments).expect_code(0).number("done"), 0);
    let state = ["--state", "state", "--version", "1.6"];
    exported(&sandbox, &[&[smallest.to_str().unwrap()], &state[..]].concat());
}
