//! The workflow as a whole: what is accepted, what it becomes, and every message for what is not.

use proptest::prelude::*;

use super::*;

struct Files(Vec<&'static str>);

impl Surroundings for Files {
    fn glob(&self, _: &str) -> Result<Vec<String>, String> {
        Ok(self.0.iter().map(|name| (*name).to_owned()).collect())
    }

    fn exists(&self, path: &str) -> bool {
        self.0.contains(&path)
    }
}

fn parse(text: &str) -> Result<Workflow, Problems> {
    Workflow::parse(text, Format::Yaml, "test", &Files(vec!["p/a.jpg", "p/b.jpg"]))
}

const THUMBNAILS: &str = r#"
name: thumbnails
tasks:
  shrink:
    foreach: { img: "p/*.jpg" }
    run: convert {img} -resize 20% small/{img.name}
    in: ["{img}"]
    out: ["small/{img.name}"]
    memory: 300MB
  sheet:
    run: montage small/*.jpg sheet.png
    in: [{ all: shrink }]
    out: [sheet.png]
"#;

fn names(flow: &Workflow, tasks: impl Iterator<Item = TaskId>) -> Vec<String> {
    tasks.map(|task| flow.name(task)).collect()
}

#[test]
fn a_workflow_from_yaml() {
    let flow = parse(THUMBNAILS).unwrap();
    assert_eq!(names(&flow, flow.tasks()), ["shrink:p/a.jpg", "shrink:p/b.jpg", "sheet"]);
    assert_eq!(
        flow.action(TaskId(0)),
        Action::Program(["convert", "p/a.jpg", "-resize", "20%", "small/a.jpg"].map(str::to_owned).to_vec())
    );
    assert_eq!(flow.action(TaskId(2)), Action::Shell("montage small/*.jpg sheet.png".to_owned()));
    assert_eq!(names(&flow, flow.children(TaskId(0))), ["sheet"]);
    assert_eq!(flow.parent_count(TaskId(2)), 2);
    assert_eq!(flow.find("small/b.jpg"), Ok(vec![TaskId(1)]));
    assert_eq!(flow.find("shrink:p/b.jpg"), Ok(vec![TaskId(1)]));
    assert_eq!(flow.find("shrnk").unwrap_err().nearest.as_deref(), Some("shrink"));
}

#[test]
fn json_says_the_same() {
    let json = r#"{"name": "thumbnails", "tasks": {
        "shrink": {"foreach": {"img": "p/*.jpg"}, "run": "convert {img} -resize 20% small/{img.name}",
                   "in": ["{img}"], "out": ["small/{img.name}"], "memory": "300MB"},
        "sheet": {"run": "montage small/*.jpg sheet.png", "in": [{"all": "shrink"}], "out": "sheet.png"}}}"#;
    let from_json = Workflow::parse(json, Format::Json, "x", &Files(vec!["p/a.jpg", "p/b.jpg"])).unwrap();
    assert_eq!(from_json.to_bytes(), parse(THUMBNAILS).unwrap().to_bytes());
}

#[test]
fn a_workflow_survives_its_file() {
    let flow = parse(THUMBNAILS).unwrap();
    let bytes = flow.to_bytes();
    assert_eq!(Workflow::from_bytes(&bytes).unwrap().to_bytes(), bytes);
    let mut damaged = bytes.clone();
    damaged[100] ^= 1;
    assert_eq!(Workflow::from_bytes(&damaged).unwrap_err(), BadFile::Damaged);
    assert_eq!(Workflow::from_bytes(&bytes[..bytes.len() / 2]).unwrap_err(), BadFile::Damaged);
}

#[test]
fn several_names_make_a_product() {
    let flow = parse(
        "tasks: { t: { foreach: { a: [x, y], b: 1..2 }, run: 'echo {a} {b}' }, u: { noop: true, after: 't:y,1' } }",
    )
    .unwrap();
    assert_eq!(names(&flow, flow.tasks()), ["t:x,1", "t:x,2", "t:y,1", "t:y,2", "u"]);
    assert_eq!(names(&flow, flow.children(TaskId(2))), ["u"]);
}

#[test]
fn what_a_task_is_known_by_holds_no_number() {
    let one = parse("tasks: { a: { run: x }, t: { foreach: { i: 1..3 }, run: 'echo {i}' } }").unwrap();
    let two = parse("tasks: { t: { foreach: { i: 2..3 }, run: 'echo {i}' } }").unwrap();
    let (task_one, task_two) = (one.find("t:2").unwrap()[0], two.find("t:2").unwrap()[0]);
    assert_ne!(task_one, task_two);
    assert_eq!(one.name_key(task_one), two.name_key(task_two));
    assert_eq!(one.definition_hash(task_one), two.definition_hash(task_two));
    assert_ne!(one.definition_hash(task_one), one.definition_hash(TaskId(3)));
}

#[test]
fn many_names_become_kinds_by_program() {
    let tasks: String = (0..100).map(|i| format!("  t{i}: {{ exec: [/bin/true, '{i}'] }}\n")).collect();
    let flow = parse(&format!("tasks:\n{tasks}")).unwrap();
    assert_eq!(flow.kind_count(), 1);
    assert_eq!(flow.kind_name(KindId(0)), "true");
}

#[test]
fn every_message() {
    let cases = [
        "tasks: { a: { run: x, outt: y } }",
        "taskz: {}",
        "tasks: { a: { run: x } }\nfoo: 1",
        "tasks: { a: { run: x, out: f }, b: { run: x, out: ./f } }",
        "tasks: { a: { run: x, in: f, out: g }, b: { run: x, in: g, out: f } }",
        "tasks: { a: { run: x, after: a } }",
        "tasks: { a: { run: 'x {i}' } }",
        "tasks: { a: { foreach: { i: 1..2 }, run: 'x {j}' } }",
        "tasks: { a: { foreach: { i: 1..2 }, run: 'x {i.size}' } }",
        "tasks: { a: { run: x, in: missing.txt } }",
        "tasks: { a: { run: x, out: ../f } }",
        "tasks: { a: { run: x, out: /etc/f } }",
        "tasks: { a: { run: x }, a: { run: y } }",
        "tasks: { a: { foreach: { i: [x, x] }, run: '{i}' } }",
        "tasks: { a: { run: x, cpus: -1 } }",
        "tasks: { a: { run: x, retries: 99999999999 } }",
        "tasks: { a: { run: x, memory: lots } }",
        "tasks: { a: { run: x, timeout: 0s } }",
        "tasks: { a: { run: x, priority: high } }",
        "tasks: { a: { foreach: { i: 9..1 }, run: x } }",
        "tasks: { a: { foreach: { i: 1..99999999999 }, run: x } }",
        "tasks: { a: { foreach: 1..3, run: x } }",
        "tasks: { a: { run: x, exec: [y] } }",
        "tasks: { a: { cpus: 1 } }",
        "tasks: { a: x }",
        "tasks: [a]",
        "[1, 2]",
        "",
        "tasks: { a: { run: x, after: b } }",
        "tasks: { long_name: { noop: true }, b: { run: x, in: [{ all: long_nam }] } }",
        "tasks: { c: { noop: true }, b: { run: x, in: [{ all: c }] } }",
        "tasks: { a: { run: [x] } }",
        "tasks: { a: { sleep: soon } }",
        "tasks: { a b: { run: x } }",
        "tasks:\n  a:\n    run: x\n   out: y",
        "tasks: { a: { run: x, run: y } }",
        "a: &a [1]\nb: [*b]",
    ];
    let mut report = String::new();
    for text in cases {
        let problems = parse(text).expect_err(text);
        report.push_str(&format!("{text}\n    {}\n", problems.to_string().trim_end().replace('\n', "\n    ")));
    }
    insta::assert_snapshot!(report);
}

#[test]
fn messages_for_json() {
    let cases = [
        "{",
        "{\"tasks\": {\"a\": {\"run\": \"x}}}",
        "{\"tasks\": {}} x",
        "{'tasks': 1}",
        "[]",
        "{\"tasks\": {\"a\": {\"cpus\": 01x}}}",
        "{\"tasks\": {\"a\": {\"run\": \"\\q\"}}}",
    ];
    let mut report = String::new();
    for text in cases {
        let problems = Workflow::parse(text, Format::Json, "test", &NoFiles).expect_err(text);
        report.push_str(&format!("{text}\n    {}\n", problems.to_string().trim_end()));
    }
    insta::assert_snapshot!(report);
}

#[test]
fn a_million_errors_are_counted_not_listed() {
    let text = "tasks: { a: { foreach: { i: 1..100000 }, run: x, in: 'missing{i}' } }";
    let problems = parse(text).unwrap_err();
    assert_eq!((problems.shown.len(), problems.hidden), (10, 99_990));
}

#[test]
fn hostile_nesting_is_refused() {
    let deep = format!("tasks: {{ a: {{ run: {}x{} }} }}", "[".repeat(10_000), "]".repeat(10_000));
    assert!(parse(&deep).is_err());
    let deep = format!("{{\"tasks\": {{\"a\": {{\"run\": {}{} }} }} }}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(Workflow::parse(&deep, Format::Json, "x", &NoFiles).is_err());
    let mut bomb = "x0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
    for level in 1..10 {
        let aliases = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("x{level}: &a{level} [{aliases}]\n"));
    }
    assert!(parse(&bomb).is_err());
}

#[test]
fn a_listed_task_takes_at_most_a_hundred_bytes_beyond_its_own_strings() {
    let count = 10_000;
    let entries: Vec<String> = (0..count)
        .map(|i| {
            let before = if i % 10 == 0 { "common".to_owned() } else { format!("out/{}", i - 1) };
            format!(
                "\"task{i}\": {{\"exec\": [\"touch\", \"out/{i}\"], \"in\": [\"{before}\"], \"out\": [\"out/{i}\"]}}"
            )
        })
        .collect();
    let text = format!("{{\"tasks\": {{{}}}}}", entries.join(","));
    let flow = Workflow::parse(&text, Format::Json, "x", &NoFiles).unwrap();
    let strings = flow.strings.bytes.len() + flow.objects.bytes.len();
    let beyond = (flow.to_bytes().len() - strings) as f64 / f64::from(count);
    assert!(beyond <= 100.0, "{beyond} bytes");
    let foreach = "tasks: { t: { foreach: { i: 1..10000 }, exec: [touch, 'out/{i}'], in: common, out: 'out/{i}' } }";
    let flow = Workflow::parse(foreach, Format::Yaml, "x", &NoFiles).unwrap();
    let strings = flow.strings.bytes.len() + flow.objects.bytes.len();
    let beyond = (flow.to_bytes().len() - strings) as f64 / f64::from(count);
    assert!(beyond <= 40.0, "{beyond} bytes");
}

/// A workflow that uses everything, to be cut and changed at random.
const SEED: &str = r#"{"name": "x", "tasks": {"a": {"foreach": {"i": "1..3", "j": ["p", "q"]}, "run": "echo {i} {j.stem} > o/{i}{j}",
    "out": ["o/{i}{j}"], "cpus": 1.5, "memory": "2GB", "retries": 3, "timeout": "5m", "priority": -2, "env": {"A": "{i}"}},
    "b": {"exec": ["cat", "{{x}}"], "in": [{"all": "a"}, "p/a.jpg"], "after": ["c", "a:1,p"], "kind": "k"},
    "c": {"sleep": "3ms"}, "d": {"noop": true, "out": "z"}}}"#;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    /// Whatever is done to the text, reading it ends with a workflow or a message, in either format.
    #[test]
    fn a_changed_text_never_breaks_the_reader(
        cuts in proptest::collection::vec((any::<proptest::sample::Index>(), 0..12usize, "[\\PC\n\t{}\\[\\]:,\"'&*#0-9]{0,4}"), 1..4)
    ) {
        let mut text: Vec<char> = SEED.chars().collect();
        for (at, length, insert) in cuts {
            let at = at.index(text.len());
            let end = (at + length).min(text.len());
            text.splice(at..end, insert.chars());
        }
        let text: String = text.into_iter().collect();
        for format in [Format::Yaml, Format::Json] {
            if let Ok(flow) = Workflow::parse(&text, format, "x", &NoFiles) {
                for task in flow.tasks() {
                    flow.action(task);
                    flow.definition_hash(task);
                    let name = flow.name(task);
                    prop_assert!(flow.find(&name).is_ok());
                }
                let bytes = flow.to_bytes();
                prop_assert_eq!(Workflow::from_bytes(&bytes).unwrap().to_bytes(), bytes);
            }
        }
    }
}

#[test]
fn the_text_that_is_changed_is_itself_right() {
    for format in [Format::Yaml, Format::Json] {
        assert_eq!(Workflow::parse(SEED, format, "x", &NoFiles).unwrap().task_count(), 9);
    }
}
