//! What is written keeps the rules of the format, and reads back as the same graph.

use serde_json::Value;
use throng_core::ids::ObjectId;
use throng_core::rng::Rng;
use throng_core::workflow::{Format, NoFiles, Reading, Request, Workflow};

use super::document::{Document, Execution};
use super::passed_on::PassedOn;
use super::rules::broken_rules;
use super::sizes::Sizes;
use super::*;

fn read(text: &str) -> Reading {
    let request = Request::new(text, Format::Yaml, "x");
    Workflow::read(&request, &NoFiles).unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

/// Writes a workflow, checks the rules, and reads it back.
fn there_and_back(text: &str, version: Version) -> (Workflow, String) {
    let Reading { flow, trace, .. } = read(text);
    let sizes = Sizes::expected(&flow, std::path::Path::new("/nowhere"));
    let passed_on = trace.map(|_| PassedOn::read(text).unwrap());
    let document = Document::new(&flow, version, &sizes, passed_on.as_ref().map(Execution::PassedOn));
    let mut written = Vec::new();
    document.write(&mut written).unwrap();
    let written = String::from_utf8(written).unwrap();
    let value: Value = serde_json::from_str(&written).unwrap_or_else(|error| panic!("{error}\n{written}"));
    assert_eq!(broken_rules(&value), Vec::<String>::new(), "{written}");
    assert_eq!(value["schemaVersion"], version.text());
    (read(&written).flow, written)
}

/// All that makes up a graph, by name.
fn graph(flow: &Workflow) -> Vec<String> {
    let files = |objects: Vec<ObjectId>| -> Vec<String> {
        objects.iter().map(|object| format!("{} {:?}", flow.file_id(*object), flow.declared_size(*object))).collect()
    };
    flow.tasks()
        .map(|task| {
            format!(
                "{} ({}): {:?} -> {:?}, then {:?}",
                flow.name(task),
                flow.kind_name(flow.kind(task)),
                files(flow.inputs(task).collect()),
                files(flow.outputs(task).collect()),
                flow.children(task).map(|child| flow.name(child)).collect::<Vec<_>>(),
            )
        })
        .collect()
}

#[test]
fn a_workflow_there_and_back() {
    let text = "tasks:\n  a: { foreach: { x: [1, 'b c', 'd,e', '#20', 'ä/ü'], y: 1..2 }, run: 'x {x} {out}', \
                in: [{ path: /etc/hosts, size: 3 }, { path: 'data/in put', size: 7 }], out: [{ path: 'o/{x}-{y}', size: 12 }] }\n  \
                b: { run: 'cat {in} | wc', in: { all: a }, stdout: all.txt, estimate: { out: 5 } }\n  \
                c: { sleep: 2.5, after: b, kind: wait }\n  d: { noop: true, after: [c, 'a:1,2'] }\n";
    let flow = read(text).flow;
    for version in [Version::V15, Version::V16] {
        let (back, written) = there_and_back(text, version);
        // A native workflow has sizes of what it expects in all; the files have them one by one.
        let expected = |line: String| line.replace("all.txt None", "all.txt Some(5)");
        assert_eq!(graph(&back), graph(&flow).into_iter().map(expected).collect::<Vec<_>>());
        assert!(!written.contains("\"execution\""));
        assert_eq!(written.contains("\"metrics\""), version == Version::V16);
    }
}

/// A name that is hard to write, or not.
fn name(rng: &mut Rng, number: usize) -> String {
    let odd = ["", " ", "#20", "#", ":", "/", "//", "%", "%v0", "ä", "..", "\\n", "{x}", ",", "-"];
    let at = |rng: &mut Rng| odd[(rng.unit() * odd.len() as f64) as usize];
    format!("{}{}{number}{}", at(rng), at(rng), at(rng))
}

/// A trace with all oddities that are allowed.
fn random_trace(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let mut below = |limit: usize| (rng.unit() * limit as f64) as usize;
    let (count, files) = (1 + below(12), 1 + below(12));
    let mut rng = Rng::new(seed ^ 0xF11E);
    let tasks: Vec<String> = (0..count).map(|number| name(&mut rng, number)).collect();
    let names: Vec<String> = (0..files).map(|number| name(&mut rng, number)).collect();
    let mut below = |limit: usize| (rng.unit() * limit as f64) as usize;
    // A file is made by one task, and perhaps changed by the next but one, which is then behind it.
    let makers: Vec<Option<usize>> =
        (0..files).map(|_| Some(below(count + 2)).filter(|maker| *maker < count)).collect();
    let changers: Vec<Option<usize>> = makers
        .iter()
        .map(|maker| maker.map(|maker| maker + 1 + below(3)).filter(|changer| *changer < count && changer % 2 == 0))
        .collect();
    let mut entries = Vec::new();
    for own in 0..count {
        let mut parents: std::collections::BTreeSet<usize> = (0..own).filter(|_| below(6) == 0).collect();
        let (mut inputs, mut outputs) = (Vec::new(), Vec::new());
        for file in 0..files {
            if makers[file] == Some(own) {
                outputs.push(names[file].as_str());
                if below(4) == 0 && changers[file].is_none() {
                    inputs.push(names[file].as_str());
                }
            } else if changers[file] == Some(own) {
                parents.extend(makers[file]);
                outputs.push(&names[file]);
                inputs.push(&names[file]);
            } else if changers[file].or(makers[file]).is_none_or(|writer| writer < own) && below(4) == 0 {
                inputs.push(&names[file]);
            }
        }
        let parents: Vec<&str> = parents.into_iter().map(|parent| tasks[parent].as_str()).collect();
        entries.push(serde_json::json!({ "name": "n", "id": tasks[own], "category": format!("kind {}", own % 3),
            "parents": parents, "children": [], "inputFiles": inputs, "outputFiles": outputs }));
    }
    let files: Vec<Value> = names
        .iter()
        .enumerate()
        .map(|(number, id)| serde_json::json!({ "id": id, "sizeInBytes": number * 10 }))
        .collect();
    let measured: Vec<Value> = tasks
        .iter()
        .enumerate()
        .map(|(number, id)| serde_json::json!({ "id": id, "runtimeInSeconds": number as f64 / 4.0, "coreCount": 1 + number % 2 }))
        .collect();
    serde_json::json!({ "name": "random", "schemaVersion": "1.6", "runtimeSystem": { "name": "dice", "version": "6" }, "workflow": {
        "specification": { "tasks": entries, "files": files },
        "execution": { "makespanInSeconds": 3, "executedAt": "2024-01-01T00:00:00Z", "tasks": measured } } })
    .to_string()
}

#[test]
fn traces_there_and_back() {
    for seed in 0..500 {
        let text = random_trace(seed);
        let flow = read(&text).flow;
        let version = if seed % 2 == 0 { Version::V15 } else { Version::V16 };
        let (back, written) = there_and_back(&text, version);
        assert_eq!(graph(&back), graph(&flow), "seed {seed}\n{text}\n{written}");
        for task in flow.tasks() {
            assert_eq!(back.estimated_time(task), flow.estimated_time(task), "seed {seed}");
            assert_eq!(back.demand(back.first_demand(task)), flow.demand(flow.first_demand(task)), "seed {seed}");
        }
        // Once more, from what was written.
        let (again, _) = there_and_back(&written, Version::V16);
        assert_eq!(graph(&again), graph(&flow), "seed {seed}");
    }
}

#[test]
fn a_trace_stays_what_it_was() {
    let text = r#"{"name":"bread","author":{"name":"A","email":"a@example.org"},"schemaVersion":"1.5","runtimeSystem":{"name":"oven","version":"1.0"},
        "workflow":{"specification":{"tasks":[{"name":"knead dough","id":"knead#1","parents":[],"children":[]}]},
        "execution":{"makespanInSeconds":2,"executedAt":"12-20-20T21:10:21Z","machines":[],
        "tasks":[{"id":"knead#1","runtimeInSeconds":0.1,"avgCPU":120.5,"energyInKWh":0.1,"readBytes":7}]}}}"#;
    let (_, written) = there_and_back(text, Version::V16);
    let value: Value = serde_json::from_str(&written).unwrap();
    assert_eq!(value["runtimeSystem"]["name"], "oven");
    assert_eq!(value["author"]["name"], "A");
    assert_eq!(value["workflow"]["specification"]["tasks"][0]["name"], "knead dough");
    let execution = &value["workflow"]["execution"];
    assert_eq!(execution["executedAt"], "12-20-20T21:10:21Z");
    assert_eq!(execution["tasks"][0]["energyInKWh"], 0.1);
    assert_eq!(execution["metrics"]["totalNumBytesRead"], 7);
}

#[test]
fn rules_can_be_broken() {
    let right: Value = serde_json::from_str(&random_trace(3)).unwrap();
    let breaks = |change: fn(&mut Value), expected: &str| {
        let (_, written) = there_and_back(&right.to_string(), Version::V16);
        let mut value: Value = serde_json::from_str(&written).unwrap();
        change(&mut value);
        let broken = broken_rules(&value);
        assert!(broken.iter().any(|rule| rule.contains(expected)), "{broken:?} is not {expected}");
    };
    breaks(|value| value["schemaVersion"] = "1.4".into(), "schemaVersion");
    breaks(|value| value["workflow"]["specification"]["tasks"][0]["id"] = "a b".into(), "letters");
    breaks(|value| value["workflow"]["specification"]["tasks"][0]["name"] = "".into(), "name of a task");
    breaks(|value| value["workflow"]["specification"]["files"][0]["sizeInBytes"] = (-1).into(), "size");
    breaks(|value| value["workflow"]["specification"]["metrics"]["numberOfTasks"] = 77.into(), "numberOfTasks");
    breaks(|value| value["workflow"]["execution"]["tasks"] = serde_json::json!([]), "empty");
    breaks(|value| value["workflow"]["execution"]["tasks"][0]["coreCount"] = 0.into(), "coreCount");
}
