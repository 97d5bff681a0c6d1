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

    fn read(&self, path: &str) -> Result<String, String> {
        let text = match path {
            "groups.csv" => "sample,group\ns1,a\ns2,b\ns3,a\n",
            "list.txt" => "one\n\ntwo words\n",
            "samples.csv" => "sample,file,lane\nS1,r/a.fq,1\nS2,\"r/b,c.fq\",2\n",
            "qc/qc.yaml" => {
                "params: { depth: 3 }\ndefaults: { cpus: 2 }\ninclude: more.yaml\n\
                 tasks: { a: { run: 'qc {depth}', out: qc.txt }, b: { noop: true, after: a } }"
            }
            "qc/more.yaml" => "tasks: { c: { noop: true, after: [a, main] } }",
            "loop.yaml" => "include: loop.yaml\ntasks: {}",
            _ => return Err("No such file or directory".to_owned()),
        };
        Ok(text.to_owned())
    }
}

fn action(flow: &Workflow, task: u32) -> Action {
    let task = TaskId(task);
    flow.action(task, Conditions { attempt: 1, demand: flow.first_demand(task) })
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
        action(&flow, 0),
        Action::Program(["convert", "p/a.jpg", "-resize", "20%", "small/a.jpg"].map(str::to_owned).to_vec())
    );
    assert_eq!(
        action(&flow, 2),
        Action::Shell {
            shell: ["/bin/sh", "-ec"].map(str::to_owned).to_vec(),
            text: "montage small/*.jpg sheet.png".to_owned()
        }
    );
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
        "tasks: { a: { foreach: { r: { csv: none.csv } }, run: x } }",
        "tasks: { a: { foreach: { r: { csv: samples.csv, key: nope } }, run: x } }",
        "tasks: { a: { foreach: { r: { csv: samples.csv } }, run: 'x {r.files}' } }",
        "tasks: { a: { foreach: { r: { lines: list.txt, key: x } }, run: x } }",
        "tasks: { a: { foreach: { r: { cvs: x } }, run: x } }",
        "tasks: { a: { foreach: { zip: { x: 1..3, y: [a, b] } }, run: x } }",
        "tasks: { a: { foreach: { zip: { x: [1, 1], y: [a, a] } }, run: x } }",
        "tasks: { a: { foreach: { x: 0..1 by 0 }, run: x } }",
        "tasks: { a: { foreach: { x: 1..0 by 0.1 }, run: x } }",
        "tasks: { a: { foreach: { x: [a, { b: 1 }] }, run: x } }",
        "tasks: { a: { foreach: { in: 1..2 }, run: x } }",
        "tasks: { a: { foreach: { x: [a] }, run: 'x {x:04}' } }",
        "tasks: { a: { foreach: { x: 1..2 }, run: 'x {x:4}' } }",
        "tasks: { a: { run: 'x {in}' } }",
        "tasks: { a: { run: 'x {in.1}', in: p/a.jpg } }",
        "tasks: { a: { run: 'x {in.refs}', in: { ref: p/a.jpg } } }",
        "tasks: { a: { run: x, out: '{task}.txt' } }",
        "tasks: { a: { run: 'cat <<E\n{in}\nE', in: p/a.jpg } }",
        "tasks: { a: { run: 'print({x})', shell: python3, foreach: { x: ['a b'] } } }",
        "tasks: { a: { run: x, gpus: none } }",
        "tasks: { a: { run: x, memory: 3 } }",
        "tasks: { a: { run: x, memory: 2GB * tries } }",
        "tasks: { a: { run: x, resources: [] } }",
        "tasks: { a: { run: x, resources: { 'a b': 1 } } }",
        "tasks: { a: { run: x, retries: { times: 2, codes: [0] } } }",
        "tasks: { a: { run: x, estimate: { tiem: 2s } } }",
        "tasks: { a: { run: x, shell: 'bash | tee' } }",
        "tasks: { a: { run: x, container: { with: podman } } }",
        "tasks: { a: { run: x, container: { image: a, with: lxc } } }",
        "tasks: { a: { run: x, out: [{ path: o, tmp: true }] } }",
        "tasks: { a: { run: x, out: [{ path: o, size: lots }] } }",
        "tasks: { a: { run: x, out: [{ path: o, size: -1 }] } }",
        "tasks: { a: { run: x, out: [{ path: o, size: }] } }",
        "tasks: { a: { run: x, out: [{ path: o, size: [1] }] } }",
        "tasks: { a: { run: x, out: [{ path: o, size: '{s}' }] } }",
        "tasks: { a: { foreach: { s: [1MB, 2 apples, 3 pears] }, run: 'x {s}', out: [{ path: 'o{s}', size: '{s}' }] } }",
        "tasks: { a: { run: x, in: [{ path: p/a.jpg, size: 1MB }] }, b: { run: x, in: [{ path: ./p/a.jpg, size: 2MB }] } }",
        "tasks: { a: { run: x, out: [{ path: o, size: 1MB }] }, b: { run: x, in: { path: o, size: 1MiB } } }",
        "tasks: { a: { run: x, out: d }, b: { run: x, in: [{ path: d/part, size: 1MB }] } }",
        "tasks: { a: { run: x, out: d }, b: { run: x, in: [{ all: a, size: 1MB }] } }",
        "tasks: { a: { run: x, out: d }, b: { run: x, in: [{ all: a, path: d }] } }",
        "tasks: { a: { run: x, in: [{ size: 1MB }] } }",
        "tasks: { a: { run: x, in: [{ path: p/a.jpg, temp: true }] } }",
        "tasks: { a: { run: x, in: [{ al: b }] } }",
        "tasks: { a: { run: x, temp: maybe } }",
        "tasks: { a: { run: x, checkpoint: true } }",
        "tasks: { a: { run: x, stdout: ../o } }",
        "params: { n: }\ntasks: { a: { run: x } }",
        "params: { in: 1 }\ntasks: { a: { run: x } }",
        "params: { n: 3 }\ntasks: { a: { run: 'x {m}' } }",
        "params: { n: 3 }\ntasks: { a: { run: x, cpus: '{m}' } }",
        "params: { n: [1, 2] }\ntasks: { a: { run: 'x {n}' } }",
        "params: { n: 3 }\ntasks: { a: { foreach: { n: 1..2 }, run: x } }",
        "params: { n: 3 }\ntasks: { a: { run: x, when: '{n}' } }",
        "tasks: { a: { run: x } }\nparams: { n: 3 }",
        "defaults: { run: x }\ntasks: { a: { run: x } }",
        "defaults: [x]\ntasks: { a: { run: x } }",
        "include: nowhere.yaml\ntasks: { a: { run: x } }",
        "include: loop.yaml\ntasks: { a: { run: x } }",
        "include: { prefix: a }\ntasks: { a: { run: x } }",
        "include: { file: qc/qc.yaml, params: { dept: 9 }, prefix: qc }\ntasks: { main: { run: x } }",
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
    "b": {"exec": ["cat", "{{x}}"], "in": [{"all": "a"}, {"path": "p/a.jpg", "size": "12MB"}], "after": ["c", "a:1,p"], "kind": "k"},
    "c": {"sleep": "3ms"}, "d": {"noop": true, "out": [{"path": "z", "size": 40}]}}}"#;

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
                    action(&flow, task.0);
                    flow.definition_hash(task);
                    prop_assert_eq!(flow.sleep_time(task).is_some(), matches!(action(&flow, task.0), Action::Sleep(_)));
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

/// The words with which an action starts a program, whatever reads them.
fn words(flow: &Workflow, task: u32) -> Vec<String> {
    match action(flow, task) {
        Action::Program(words) => words,
        Action::Shell { shell, text } => shell.into_iter().chain([text]).collect(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn tables_lines_and_zips() {
    let flow = parse(
        "tasks: { align: { foreach: { s: { csv: samples.csv } }, run: 'bwa {s} {s.file} {s.file.stem} {s.lane:03}' } }",
    )
    .unwrap();
    assert_eq!(names(&flow, flow.tasks()), ["align:S1", "align:S2"]);
    assert_eq!(words(&flow, 1), ["bwa", "S2", "r/b,c.fq", "b,c", "002"]);
    let keyed =
        parse("tasks: { t: { foreach: { s: { csv: samples.csv, key: [lane, sample] } }, run: 'x {s}' } }").unwrap();
    assert_eq!(names(&keyed, keyed.tasks()), ["t:1,S1", "t:2,S2"]);
    assert_eq!(keyed.find("t:2,S2"), Ok(vec![TaskId(1)]));
    assert!(keyed.find("t:2,S1").is_err());
    let column =
        parse("tasks: { t: { foreach: { s: { csv: samples.csv, column: file } }, run: 'x {s.name}' } }").unwrap();
    assert_eq!(words(&column, 0), ["x", "a.fq"]);
    let lines = parse("tasks: { t: { foreach: { l: { lines: list.txt } }, run: 'x {l}' } }").unwrap();
    assert_eq!(words(&lines, 1), ["x", "two words"]);
    let zipped = parse("tasks: { t: { foreach: { y: 1..2, zip: { a: [p, p], b: [q, r] } }, run: 'x {y} {a} {b}' } }");
    let zipped = zipped.unwrap();
    assert_eq!(names(&zipped, zipped.tasks()), ["t:1,p,q", "t:1,p,r", "t:2,p,q", "t:2,p,r"]);
    for (number, name) in names(&zipped, zipped.tasks()).iter().enumerate() {
        assert_eq!(zipped.find(name), Ok(vec![TaskId::at(number)]));
    }
    assert_eq!(zipped.find("t:2"), Ok(vec![TaskId(2), TaskId(3)]));
    assert_eq!(zipped.find("t:2,p"), Ok(vec![TaskId(2), TaskId(3)]), "rows that begin alike lie side by side here");
    let records = parse("tasks: { t: { foreach: { r: [{ n: a, v: 1 }, { v: 2, n: b }] }, run: 'x {r.v}' } }").unwrap();
    assert_eq!(
        (names(&records, records.tasks()), words(&records, 1)),
        (vec!["t:a".to_owned(), "t:b".to_owned()], vec!["x".to_owned(), "2".to_owned()])
    );
    let steps =
        parse("tasks: { t: { foreach: { i: 0..10 by 5, x: -0.5..0.5 by 0.5 }, run: 'x {i:02} {x}' } }").unwrap();
    assert_eq!(names(&steps, steps.tasks())[3..6], ["t:5,-0.5", "t:5,0.0", "t:5,0.5"]);
    assert_eq!(steps.find("t:10,0.0"), Ok(vec![TaskId(7)]));
}

#[test]
fn commands_name_their_files() {
    let flow = parse(
        "tasks: { make: { foreach: { i: 1..2 }, run: 'gen > {out}', out: 'd/{i} x.txt' }, \
                  sum: { run: 'cat {in.parts} {in.head} > {out.0} 2> {out.1.stem}', dir: work/here, \
                         in: { head: p/a.jpg, parts: [{ all: make }] }, out: [o/s, o/t.txt], uses: p/b.jpg }, \
                  list: { exec: [ls, '{in}', '-{in}'], in: [{ all: make }] } }",
    )
    .unwrap();
    assert_eq!(words(&flow, 1)[2], "gen > 'd/2 x.txt'");
    assert_eq!(words(&flow, 2)[2], "cat '../../d/1 x.txt' '../../d/2 x.txt' ../../p/a.jpg > ../../o/s 2> t");
    assert_eq!(words(&flow, 3), ["ls", "d/1 x.txt", "d/2 x.txt", "-d/1 x.txt d/2 x.txt"]);
    assert_eq!(flow.inputs(TaskId(2)).len(), 4);
    assert_eq!(flow.directory(TaskId(2)).as_deref(), Some("work/here"));
    let bytes = flow.to_bytes();
    assert_eq!(words(&Workflow::from_bytes(&bytes).unwrap(), 2), words(&flow, 2));
}

#[test]
fn a_name_without_quotes_is_not_taken_for_an_empty_group() {
    for key in ["in", "out", "uses"] {
        let problems =
            parse(&format!("tasks: {{ t: {{ foreach: {{ f: [a] }}, run: x, {key}: {{f}} }} }}")).unwrap_err();
        assert_eq!(problems.shown[0].message, format!("the name `f` in `{key}` has no files"));
        assert!(problems.shown[0].remedy.contains(&format!("`{key}: \"{{f}}\"`")), "{}", problems.shown[0].remedy);
    }
}

#[test]
fn a_part_of_a_directory_is_named_as_written_and_each_row_finds_its_own() {
    let flow = parse(
        "tasks: { make: { foreach: { i: [a, b] }, run: x, out: 'd/{i}' }, \
                  use: { foreach: { i: [a, b] }, run: 'x {in}', in: ['d/{i}/part', { all: 'make:{i}' }] } }",
    )
    .unwrap();
    assert_eq!(words(&flow, 3), ["x", "d/b/part", "d/b"]);
    assert_eq!(names(&flow, flow.children(TaskId(1))), ["use:b"]);
}

#[test]
fn groups_are_gathered_by_their_first_values() {
    let flow = parse(
        "tasks: { count: { foreach: { text: [dawn, noon], i: 1..3 }, run: 'x {out}', out: 'd/{text}.{i}' }, \
                  total: { foreach: { text: [dawn, noon] }, run: 'sum {in}', in: [{ all: 'count:{text}' }] } }",
    )
    .unwrap();
    assert_eq!(words(&flow, 7), ["sum", "d/noon.1", "d/noon.2", "d/noon.3"]);
    assert_eq!(names(&flow, flow.children(TaskId(0))), ["total:dawn"]);
}

#[test]
fn what_a_name_means_has_to_be_clear() {
    let text = "tasks: { a: { foreach: { s: [x, 'x,1', y], i: [1, 2] }, run: 'x {out}', out: 'o/{s}-{i}' }, \
                         b: { foreach: { s: [x, 'x,1', y] }, run: 'x {in}', in: [{ all: 'a:{s}' }] } }";
    let problems = parse(text).unwrap_err();
    assert_eq!(problems.shown.len(), 1, "{problems}");
    assert!(problems.shown[0].message.starts_with("`a:x,1` may mean more than one group"), "{problems}");
}

#[test]
fn groups_of_a_table() {
    let flow = parse(
        "tasks: { one: { foreach: { s: { csv: groups.csv, key: [group, sample] } }, run: 'x {out}', out: 'o/{s.sample}' }, \
                  sum: { foreach: { g: { csv: groups.csv, column: group } }, run: 'sum {in}', in: [{ all: 'one:{g}' }] } }",
    )
    .unwrap();
    assert_eq!(names(&flow, flow.tasks()), ["one:a,s1", "one:a,s3", "one:b,s2", "sum:a", "sum:b"]);
    assert_eq!(words(&flow, 3), ["sum", "o/s1", "o/s3"]);
}

#[test]
fn complaints_are_no_data() {
    let flow = parse(
        "tasks: { a: { foreach: { i: 1..2 }, run: 'x {out}', out: 'd/{i}', stderr: 'l/{i}', stdout: 's/{i}' }, \
                  b: { run: 'cat {in}', in: [{ all: a }] } }",
    )
    .unwrap();
    assert_eq!(words(&flow, 2), ["cat", "d/1", "s/1", "d/2", "s/2"]);
    assert_eq!(flow.inputs(TaskId(2)).len(), 4);
}

#[test]
fn parameters_and_conditions() {
    let text = "params: { n: 2, who: a b, cities: [Oslo, Rome], full: false }\n\
                tasks:\n  a: { foreach: { i: '1..{n}', c: '{cities}' }, run: 'hi {who} {c}', cpus: '{n}' }\n  \
                b: { run: x, when: '{full}', out: o }\n  c: { run: x, after: b, in: [{ all: b }] }";
    let read = |settings: &[(&str, &str)]| {
        let settings: Vec<(String, String)> =
            settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let request = Request { settings: &settings, ..Request::new(text, Format::Yaml, "x") };
        Workflow::read(&request, &NoFiles).map(|reading| reading.flow)
    };
    let flow = read(&[]).unwrap();
    assert_eq!(flow.task_count(), 5);
    assert_eq!(words(&flow, 0), ["hi", "a b", "Oslo"]);
    assert_eq!(flow.demand(flow.first_demand(TaskId(0))).cpus_milli, 2000);
    let flow = read(&[("n", "1"), ("cities", "[Bonn]"), ("full", "true"), ("who", "a: b # c")]).unwrap();
    assert_eq!(names(&flow, flow.tasks()), ["a:1,Bonn", "b", "c"]);
    assert_eq!(words(&flow, 0), ["hi", "a: b # c", "Bonn"]);
    let problem = read(&[("citys", "[Bonn]")]).unwrap_err();
    assert_eq!(problem.shown[0].message, "the workflow has no parameter `citys`");
    assert_eq!(problem.shown[0].remedy, "did you mean `cities`?");
}

#[test]
fn other_files_are_included_under_a_prefix() {
    let text =
        "include: { file: qc/qc.yaml, prefix: qc, params: { depth: 5 } }\ntasks: { main: { noop: true, after: qc.a } }";
    let flow = parse(text).unwrap();
    assert_eq!(names(&flow, flow.tasks()), ["qc.c", "qc.a", "qc.b", "main"]);
    assert_eq!(words(&flow, 1), ["qc", "5"]);
    assert_eq!(names(&flow, flow.children(TaskId(1))), ["qc.c", "qc.b", "main"]);
    assert_eq!(flow.demand(flow.first_demand(TaskId(1))).cpus_milli, 2000);
    assert_eq!(flow.demand(flow.first_demand(TaskId(3))).cpus_milli, 1000);
}

#[test]
fn resources_grow_and_have_alternatives() {
    let flow = parse(
        "tasks: { a: { run: 'x {memory.gb} {cpus} {gpus} {attempt}', memory: 2GB * attempt, retries: 2, \
                       resources: [{ gpus: 1 }, { cpus: 8 }] }, b: { run: x, gpus: 0.5, cpus: 0 } }",
    )
    .unwrap();
    let demands = |attempt| -> Vec<_> {
        flow.alternatives(flow.class(TaskId(0), attempt)).map(|demand| flow.demand(demand)).collect()
    };
    assert_eq!(demands(1)[0].named, [("gpus", 1000)]);
    assert_eq!((demands(1)[0].cpus_milli, demands(1)[1].cpus_milli), (1000, 8000));
    assert_eq!(demands(3)[1].memory_bytes, 6_000_000_000);
    assert_eq!(demands(9)[1].memory_bytes, 6_000_000_000);
    let second = flow.alternatives(flow.class(TaskId(0), 2)).nth(1).unwrap();
    let action = flow.action(TaskId(0), Conditions { attempt: 2, demand: second });
    assert_eq!(action, Action::Program(["x", "4", "8", "0", "2"].map(str::to_owned).to_vec()));
    let tuned = parse("tasks: { a: { run: 'x {memory.gb} {cpus} {gpus} {attempt}', memory: 9GB } }").unwrap();
    assert_eq!(flow.definition_hash(TaskId(0)), tuned.definition_hash(TaskId(0)));
}

#[test]
fn shells_are_used_only_where_they_matter() {
    let flow = parse(
        "defaults: { shell: bash -euo pipefail }\n\
         tasks: { a: { run: echo hi }, b: { run: 'a | b' }, c: { run: echo hi, shell: bash -l }, \
                  d: { run: 'print(1)', shell: python3 }, e: { run: 'print 1', shell: perl -w } }",
    )
    .unwrap();
    assert_eq!(words(&flow, 0), ["echo", "hi"]);
    assert_eq!(words(&flow, 1), ["bash", "-euo", "pipefail", "-c", "a | b"]);
    assert_eq!(words(&flow, 2), ["bash", "-l", "-c", "echo hi"]);
    assert_eq!(words(&flow, 3), ["python3", "-c", "print(1)"]);
    assert_eq!(words(&flow, 4), ["perl", "-w", "-e", "print 1"]);
}

#[test]
fn streams_are_inputs_and_outputs() {
    let flow = parse(
        "tasks: { a: { run: x, stdin: p/a.jpg, stdout: o, stderr: o }, b: { run: x, out: l, stdout: l, stderr: e } }",
    )
    .unwrap();
    assert_eq!((flow.inputs(TaskId(0)).len(), flow.outputs(TaskId(0)).len(), flow.outputs(TaskId(1)).len()), (1, 1, 2));
    assert!(flow.is_optional(ObjectId(2)) && !flow.is_optional(ObjectId(1)));
    assert_eq!(flow.streams(TaskId(1)), [None, Some("l".to_owned()), Some("e".to_owned())]);
}

#[test]
fn attempts_after_certain_codes_only() {
    let flow = parse("tasks: { a: { run: x, retries: { times: 2, codes: [75, 100..110] } }, b: { run: x } }").unwrap();
    let worth = |task, code| flow.is_worth_retrying(TaskId(task), code);
    assert!(worth(0, 75) && worth(0, 105) && !worth(0, 1) && !worth(0, 0) && worth(1, 0));
    assert_eq!(flow.retries(TaskId(0)), 2);
}

#[test]
fn every_key_of_the_list_is_read_and_its_example_is_right() {
    for key in keys::TASK {
        let action = if matches!(key.name, "run" | "exec" | "noop" | "sleep") { "" } else { "noop: true, " };
        let value = if key.form == keys::Form::Text {
            format!("'{}'", key.example.trim_matches('"'))
        } else {
            key.example.to_owned()
        };
        let more = if key.example.contains("{in}") { ", in: p/a.jpg, out: o" } else { "" };
        let more = if key.name == "foreach" { "" } else { more };
        let foreach =
            if key.example.contains("{img") && key.name != "foreach" { ", foreach: { img: ['p/a.jpg'] }" } else { "" };
        let foreach = if key.example.contains("{i}") { ", foreach: { i: 1..2 }" } else { foreach };
        let text = format!(
            "params: {{ mode: full }}\ntasks: {{ shrink: {{ run: x, out: s }}, check: {{ noop: true, foreach: {{ img: ['p/a.jpg'] }} }}, \
             t: {{ {action}{}: {value}{more}{foreach} }} }}",
            key.name
        );
        let read =
            Workflow::parse(&text, Format::Yaml, "x", &Files(vec!["p/a.jpg", "data/1.txt", "data/2.txt", "scripts"]));
        assert!(read.is_ok(), "{}: {}\n{text}", key.name, read.unwrap_err());
        if key.in_defaults {
            let text = format!(
                "defaults: {{ {}: {value} }}\ntasks: {{ t: {{ noop: true, foreach: {{ i: 1..2 }} }} }}",
                key.name
            );
            let read = Workflow::parse(&text, Format::Yaml, "x", &NoFiles);
            assert!(read.is_ok(), "{}: {}", key.name, read.unwrap_err());
        }
    }
}

#[test]
fn aliases_do_not_go_deeper_than_text_may() {
    let nested = |inside: &str| format!("{}{inside}{}", "[".repeat(40), "]".repeat(40));
    let text = format!("params:\n  a: &a {}\n  b: {}\ntasks: {{ t: {{ noop: true }} }}", nested("x"), nested("*a"));
    assert!(parse(&text).unwrap_err().shown[0].message.starts_with("nested more than"));
}

#[test]
fn a_parameter_does_not_stand_for_itself() {
    let shapes = ["{ a: \"{m}\" }", "[x, \"{m}\"]", "{ a: [\"{m}\", { b: \"{m}\" }] }"];
    for shape in shapes {
        for user in ["foreach: { i: \"{m}\" }, run: 'x {i}'", "run: x, env: \"{m}\"", "run: x, resources: \"{m}\""] {
            let text = format!("params: {{ m: {shape} }}\ntasks: {{ t: {{ {user} }} }}");
            assert!(!parse(&text).unwrap_err().shown.is_empty(), "{text}");
        }
    }
}
