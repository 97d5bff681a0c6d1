//! Every oddity of traces, and everything that is wrong with one, in small documents.

use std::time::Duration;

use super::super::{Action, Conditions, Format, NoFiles, Problems, Reading, Request};
use super::*;
use crate::ids::TaskId;

fn reading(text: &str, replay: Option<Replay>) -> Result<Reading, Problems> {
    let request = Request { replay, ..Request::new(text, Format::Yaml, "trace") };
    Workflow::read(&request, &NoFiles)
}

fn read(text: &str) -> Reading {
    reading(text, None).unwrap_or_else(|problems| panic!("{problems}\n{text}"))
}

/// What is wrong with a trace, in the words of its first message and its remedy.
fn wrong(text: &str) -> String {
    let problems = reading(text, None).expect_err(text);
    let problem = &problems.shown[0];
    format!("{}:{} {}; {}", problem.mark.line, problem.mark.column, problem.message, problem.remedy)
}

/// A trace of tasks and files, each as the insides of an object.
fn trace(tasks: &[&str], files: &[&str], rest: &str) -> String {
    let list = |entries: &[&str]| entries.iter().map(|entry| format!("\n  {{{entry}}}")).collect::<Vec<_>>().join(",");
    format!(
        r#"{{"name":"t","schemaVersion":"1.5","workflow":{{"specification":{{"tasks":[{}],
"files":[{}]}}{rest}}}}}"#,
        list(tasks),
        list(files)
    )
}

/// A task with its edges and files.
fn task(id: &str, parents: &str, children: &str, inputs: &str, outputs: &str) -> String {
    let list = |words: &str| words.split_whitespace().map(|word| format!("{word:?}")).collect::<Vec<_>>().join(",");
    format!(
        r#""name":{id:?},"id":{id:?},"parents":[{}],"children":[{}],"inputFiles":[{}],"outputFiles":[{}]"#,
        list(parents),
        list(children),
        list(inputs),
        list(outputs)
    )
}

fn of_tasks(tasks: &[String]) -> String {
    let without_files = trace(&tasks.iter().map(String::as_str).collect::<Vec<_>>(), &[], "");
    without_files.replace(",\n\"files\":[]", "")
}

/// Edges by name, in the order of the tasks.
fn edges(flow: &Workflow) -> Vec<String> {
    let of = |task: TaskId| flow.children(task).map(move |child| format!("{}>{}", flow.name(task), flow.name(child)));
    flow.tasks().flat_map(of).collect()
}

/// What tasks read and make, by name.
fn uses(flow: &Workflow) -> Vec<String> {
    let names = |objects: &mut dyn Iterator<Item = ObjectId>| {
        objects.map(|object| flow.object_name(object).to_owned()).collect::<Vec<_>>().join(" ")
    };
    let of =
        |task| format!("{}: {} > {}", flow.name(task), names(&mut flow.inputs(task)), names(&mut flow.outputs(task)));
    flow.tasks().map(of).collect()
}

const BREAD: &str = r#"{"name":"bread","schemaVersion":"1.5","createdAt":"2022-05-06T07:08:09+00:00",
 "runtimeSystem":{"name":"oven","version":"1.0"},
 "workflow":{"specification":{
   "tasks":[
    {"name":"bake","id":"bake_3","parents":["knead_1","heat_2"],"children":[],"inputFiles":["/dough","glow"],"outputFiles":["loaf"]},
    {"name":"knead","id":"knead_1","parents":[],"children":["bake_3"],"inputFiles":["flour"],"outputFiles":["/dough"]},
    {"name":"heat","id":"heat_2","parents":[],"children":["bake_3"],"inputFiles":[],"outputFiles":["glow"]}],
   "files":[{"id":"flour","sizeInBytes":91000},{"id":"/dough","sizeInBytes":140000},{"id":"glow","sizeInBytes":0},{"id":"loaf","sizeInBytes":120000}]},
  "execution":{"makespanInSeconds":1300.5,"executedAt":"20220506T070000+0000",
   "tasks":[
    {"id":"knead_1","runtimeInSeconds":440.75,"command":{"program":"/usr/bin/knead","arguments":["--by","hand"]},"coreCount":2,"memoryInBytes":9e15,"machines":["mill"]},
    {"id":"heat_2","runtimeInSeconds":0.0,"command":{"program":"heat fast\nand well","arguments":[]},"avgCPU":173.5},
    {"id":"bake_3","runtimeInSeconds":1800,"command":{"program":"bake"}}],
   "machines":[{"nodeName":"mill"}]}}}"#;

#[test]
fn a_trace_becomes_a_workflow() {
    let Reading { flow, trace, .. } = read(BREAD);
    let about = trace.unwrap();
    assert_eq!(
        (about.version.as_str(), about.name.as_deref(), about.system.as_deref()),
        ("1.5", Some("bread"), Some("oven 1.0"))
    );
    assert_eq!((about.makespan_seconds, about.machines), (Some(1300.5), 1));
    assert_eq!(about.executed_unix_ms, Some(1_651_820_400_000));
    assert!(about.remarks.is_empty(), "{:?}", about.remarks);
    // Tasks are listed in no order; the file's name is the title; what begins with `/` stays inside.
    assert_eq!(flow.title(), "trace");
    assert_eq!(uses(&flow), ["bake_3: %/dough glow > loaf", "knead_1: flour > %/dough", "heat_2:  > glow"]);
    assert_eq!(edges(&flow), ["knead_1>bake_3", "heat_2>bake_3"]);
    let times: Vec<_> = flow.tasks().map(|task| flow.estimated_time(task).unwrap().as_secs_f64()).collect();
    assert_eq!(times, [1800.0, 440.75, 0.0]);
    let sizes: Vec<_> = (0..4).map(|object| flow.declared_size(ObjectId(object))).collect();
    assert_eq!(sizes, [Some(120_000), Some(140_000), Some(0), Some(91_000)]);
    assert_eq!(flow.file_id(ObjectId(1)), "/dough");
    let kinds: Vec<&str> = flow.tasks().map(|task| flow.kind_name(flow.kind(task))).collect();
    assert_eq!(kinds, ["bake", "knead", "heat"]);
    // Cores are asked for; memory that was used is not.
    let demand = |task| flow.demand(flow.first_demand(TaskId(task)));
    assert_eq!((demand(1).cpus_milli, demand(0).cpus_milli, demand(1).memory_bytes), (2000, 1000, 0));
    assert_eq!(flow.estimated_memory_bytes(TaskId(1)), Some(9_000_000_000_000_000));
    assert_eq!(flow.recorded_command(TaskId(1)).unwrap(), ["/usr/bin/knead", "--by", "hand"]);
    assert!(flow.is_trace());
    assert_eq!(flow.find("knead_1").unwrap(), [TaskId(1)]);
    let same = Workflow::from_bytes(&flow.to_bytes()).unwrap();
    assert_eq!(same.to_bytes(), flow.to_bytes());
}

#[test]
fn a_replay_takes_its_time_and_makes_its_files() {
    let replay = Replay { times: 0.01, sizes: 0.001, spins: true };
    let flow = reading(BREAD, Some(replay)).unwrap().flow;
    let conditions = |task| Conditions { attempt: 1, demand: flow.first_demand(task) };
    let action = |task| flow.action(TaskId(task), conditions(TaskId(task)));
    assert_eq!(action(1), Action::Replay { length: Duration::from_micros(4_407_500), spins: true });
    assert_eq!(action(2), Action::Replay { length: Duration::ZERO, spins: true });
    assert_eq!(flow.declared_size(ObjectId(1)), Some(140));
    assert_eq!(flow.estimated_time(TaskId(1)), Some(Duration::from_micros(4_407_500)));
    // One core each, whatever the task once had.
    assert_eq!(flow.class_count(), 1);
    assert_eq!(flow.recorded_command(TaskId(1)).unwrap(), ["/usr/bin/knead", "--by", "hand"]);
    // Another factor, for times or for sizes, is another task; how it was described else is not.
    let hash = |replay| reading(BREAD, Some(replay)).unwrap().flow.definition_hash(TaskId(1));
    let own = hash(replay);
    assert_eq!(own, hash(replay));
    for other in
        [Replay { times: 0.02, ..replay }, Replay { sizes: 0.002, ..replay }, Replay { spins: false, ..replay }]
    {
        assert_ne!(own, hash(other));
    }
    let flow = read(BREAD).flow;
    let conditions = Conditions { attempt: 1, demand: flow.first_demand(TaskId(0)) };
    assert_eq!(flow.action(TaskId(0), conditions), Action::Recorded);
}

/// The trace with something else in the place of this.
#[track_caller]
fn changed(this: &str, other: &str) -> String {
    assert!(BREAD.contains(this), "{this} is not in it");
    BREAD.replace(this, other)
}

#[test]
fn versions_and_what_is_optional() {
    for text in [
        changed("\"1.5\"", "\"1.6\""),
        changed("\"1.5\"", "1.5"),
        changed("\"execution\":", "\"other\":"),
        changed("\"machines\":[{\"nodeName\":\"mill\"}]", "\"metrics\":{}"),
        of_tasks(&[task("a", "", "", "x", "y")]),
        of_tasks(&[r#""name":"a","id":"a","parents":[],"children":[],"unknown":{"deep":[1,{}]}"#.to_owned()]),
    ] {
        assert!(read(&text).flow.task_count() > 0);
    }
    let without_execution = read(&changed("\"execution\":", "\"other\":"));
    assert_eq!(without_execution.flow.estimated_time(TaskId(0)), None);
    assert_eq!(without_execution.trace.unwrap().remarks, ["3 tasks of which nothing was measured, such as `bake_3`"]);
    let without_files = read(&of_tasks(&[task("a", "", "", "x", "y")]));
    assert_eq!(without_files.flow.declared_size(ObjectId(0)), None);
    assert!(without_files.trace.unwrap().remarks[0].contains("2 files without a size, such as `"));
}

#[test]
fn other_versions_are_named() {
    for version in ["1.4", "1.3", "0.2"] {
        let message = wrong(&format!(r#"{{"name":"x","schemaVersion":"{version}","workflow":{{"tasks":[3]}}}}"#));
        assert!(
            message.contains(&format!("WfFormat {version}, and Throng reads 1.5 and 1.6; bring it to version 1.5")),
            "{message}"
        );
    }
    assert!(
        wrong(&BREAD.replace("\"1.5\"", "\"2.0\""))
            .contains("WfFormat 2.0, and Throng reads 1.5 and 1.6; export it as")
    );
    assert!(wrong(&BREAD.replace("\"schemaVersion\":\"1.5\",", "")).contains("does not say its `schemaVersion`"));
    assert!(wrong(&BREAD.replace("\"1.5\"", "[]")).contains("`schemaVersion` is a list, not text"));
}

#[test]
fn edges_are_the_union_of_both_sides_and_of_files() {
    let text = of_tasks(&[task("a", "", "b", "", "f"), task("b", "", "", "", ""), task("c", "b", "", "f", "")]);
    let Reading { flow, trace, .. } = read(&text);
    assert_eq!(edges(&flow), ["a>b", "a>c", "b>c"]);
    let remarks = trace.unwrap().remarks;
    assert_eq!(remarks[0], "2 dependencies in `parents` or `children` alone, such as b → c: it counts all the same");
    assert!(
        remarks.iter().any(|remark| remark
            .contains("1 file read from a task that is not declared a parent, such as `c` reads `f` of `a`")),
        "{remarks:?}"
    );
    // Of tasks that have only one of the fields, the other side is not missed.
    let parents_only = of_tasks(&[
        r#""name":"a","id":"a","parents":[]"#.to_owned(),
        r#""name":"b","id":"b","parents":["a"]"#.to_owned(),
    ]);
    let Reading { flow, trace, .. } = read(&parents_only);
    assert_eq!(edges(&flow), ["a>b"]);
    assert_eq!(trace.unwrap().remarks[0], "2 tasks without `children`, such as `a`: `parents` alone tells");
}

#[test]
fn several_components_repeated_names_and_colons() {
    let text = of_tasks(&[
        r#""name":"P:Q (1)","id":"P:Q_1","parents":[],"children":[]"#.to_owned(),
        r#""name":"P:Q (2)","id":"P:Q_2","parents":[],"children":[]"#.to_owned(),
        r#""name":"R","id":"{x}, y","parents":[],"children":[]"#.to_owned(),
    ]);
    let flow = read(&text).flow;
    assert_eq!(flow.edge_count(), 0);
    let kinds: Vec<&str> = flow.tasks().map(|task| flow.kind_name(flow.kind(task))).collect();
    assert_eq!(kinds, ["P:Q", "P:Q", "R"]);
    for task in flow.tasks() {
        assert_eq!(flow.find(&flow.name(task)).unwrap(), [task]);
    }
}

#[test]
fn benchmarks_have_their_types_in_the_names() {
    let with = |programs: [&str; 3]| {
        let tasks = ["split_001", "work_002", "work_003"].map(|id| task(id, "", "", "", ""));
        let measured: Vec<String> = ["split_001", "work_002", "work_003"]
            .iter()
            .zip(programs)
            .map(|(id, program)| format!(r#"{{"id":{id:?},"runtimeInSeconds":1,"command":{{"program":{program:?}}}}}"#))
            .collect();
        let rest = format!(r#","execution":{{"tasks":[{}]}}"#, measured.join(","));
        let text = trace(&tasks.iter().map(String::as_str).collect::<Vec<_>>(), &[], &rest);
        let flow = read(&text).flow;
        flow.tasks().map(|task| flow.kind_name(flow.kind(task)).to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(with(["wfbench", "wfbench", "wfbench"]), ["split", "work", "work"]);
    assert_eq!(with(["cut", "/opt/grind", "grind"]), ["cut", "grind", "grind"]);
    assert_eq!(with(["-", "grind", "grind"]), ["split", "grind", "grind"]);
}

#[test]
fn a_file_that_is_read_and_written_is_no_dependency_on_oneself() {
    // From outside, changed in place, and read by one that comes after.
    let text = of_tasks(&[task("patch", "", "use", "f", "f"), task("use", "patch", "", "f", "g")]);
    let Reading { flow, trace, .. } = read(&text);
    assert_eq!(uses(&flow), ["patch: f%v0 > f", "use: f > g"]);
    assert_eq!(flow.file_id(ObjectId(2)), "f");
    assert_eq!(edges(&flow), ["patch>use"]);
    assert_eq!(trace.unwrap().remarks.len(), 2, "sizes and measures only");
    // Made, changed twice, read in between, and read at the end by one that is only indirectly behind it.
    let text = of_tasks(&[
        task("end", "last", "", "f", ""),
        task("last", "two", "end", "", ""),
        task("two", "one look", "last", "f", "f"),
        task("look", "one", "two", "f", ""),
        task("one", "make", "two look", "f", "f"),
        task("make", "", "one", "", "f"),
    ]);
    assert_eq!(
        uses(&read(&text).flow),
        ["end: f > ", "last:  > ", "two: f%v2 > f", "look: f%v2 > ", "one: f%v1 > f%v2", "make:  > f%v1"]
    );
    // One that comes before all of them reads what was there first.
    let text = of_tasks(&[task("look", "", "patch", "f", ""), task("patch", "look", "", "f", "f")]);
    assert_eq!(uses(&read(&text).flow), ["look: f%v0 > ", "patch: f%v0 > f"]);
}

#[test]
fn paths_of_files_do_not_get_in_each_others_way() {
    let text = of_tasks(&[task("a", "", "", "../up ./here", "d d/x d/x/y"), task("b", "", "", "/d d//x", "d/")]);
    let flow = read(&text).flow;
    assert_eq!(uses(&flow), ["a: %2E%2E/up %2E/here > d% d/x% d/x/y", "b: %/d d/%/x > d/%%"]);
    let ids: Vec<String> = (0..flow.object_count()).map(|object| flow.file_id(ObjectId::at(object))).collect();
    assert_eq!(ids, ["d", "d/x", "d/x/y", "d/", "../up", "./here", "/d", "d//x"]);
    // The same file twice is the same file.
    let text = of_tasks(&[task("a", "", "", "x x", "y y")]);
    assert_eq!(uses(&read(&text).flow), ["a: x > y"]);
}

#[test]
fn what_throng_wrote_gets_its_names_back() {
    let own = of_tasks(&[task("a#20b", "", "", "x#2C", "y")])
        .replace("\"name\":\"t\"", r##""name":"t","runtimeSystem":{"name":"Throng","version":"0"}"##);
    assert_eq!(uses(&read(&own).flow), ["a b: x, > y"]);
    let foreign = own.replace("Throng", "Pegasus");
    assert_eq!(uses(&read(&foreign).flow), ["a#20b: x#2C > y"]);
    let doubled = own.replace("[\"y\"]", "[\"x,\"]");
    assert!(wrong(&doubled).contains("the ids of two files both stand for `x,`"));
}

#[test]
fn what_is_wrong_is_told_with_its_place() {
    let tasks = |tasks: &[String]| of_tasks(tasks);
    for (text, expected) in [
        (
            tasks(&[task("a", "b", "", "", ""), task("b", "a", "", "", "")]),
            "2:20 these tasks wait for each other in a circle: a → b → a; each arrow",
        ),
        (tasks(&[task("a", "", "", "y", "x"), task("b", "", "", "x", "y")]), "in a circle: a → b → a"),
        (tasks(&[task("a", "a", "", "", "")]), "the task `a` is its own parent; take it out"),
        (
            tasks(&[task("one", "", "", "", ""), task("b", "onee", "", "", "")]),
            "`parents` of the task `b` names `onee`, and no task has that id; did you mean `one`?",
        ),
        (
            tasks(&[task("a", "", "zzzzzzzz", "", "")]),
            "`children` of the task `a` names `zzzzzzzz`, and no task has that id; write the id",
        ),
        (
            tasks(&[task("a", "", "", "", ""), task("a", "", "", "", "")]),
            "3:20 two tasks have the id `a`; give each an id of its own",
        ),
        (
            tasks(&[task("a", "", "", "", "x"), task("b", "", "", "", "x")]),
            "`x` is made by two tasks, `a` and `b`; give each task",
        ),
        (tasks(&[task("a", "", "", "x", "x"), task("b", "", "", "x", "x")]), "`x` is made by two tasks, `a` and `b`"),
        (tasks(&[task("a", "", "b", "", "x"), task("b", "a", "", "", "x")]), "`x` is made by two tasks, `a` and `b`"),
        (
            trace(&[&task("a", "", "", "x", "")], &[r#""id":"y","sizeInBytes":1"#], ""),
            "the file `x` is not among the `files` of the specification; add it there",
        ),
        (
            trace(&[&task("a", "", "", "", "")], &[r#""id":"y","sizeInBytes":1"#, r#""id":"y","sizeInBytes":1"#], ""),
            "two files have the id `y`",
        ),
        (
            trace(&[&task("a", "", "", "", "")], &[r#""id":"y""#], ""),
            "the file `y` has no `sizeInBytes`; add the field",
        ),
        (
            trace(&[&task("a", "", "", "", "")], &[r#""id":"y","sizeInBytes":-1"#], ""),
            "`sizeInBytes` of the file `y` cannot be -1; write a number from zero up",
        ),
        (
            trace(&[&task("a", "", "", "", "")], &[r#""id":"y","sizeInBytes":0.5"#], ""),
            "`sizeInBytes` of the file `y` cannot be 0.5; write a whole number",
        ),
        (
            trace(&[&task("a", "", "", "", "")], &[r#""id":"y","sizeInBytes":"1""#], ""),
            "`sizeInBytes` of the file `y` is text, not a number",
        ),
        (trace(&[&task("a", "", "", "", "")], &[r#""sizeInBytes":1"#], ""), "a file of the specification has no `id`"),
        (trace(&[r#""name":"a""#], &[], ""), "a task of the specification has no `id`"),
        (trace(&[r#""id":"","parents":[]"#], &[], ""), "a task of the specification has an empty id"),
        (trace(&[r#""id":"a\u0000","parents":[]"#], &[], ""), "has an id with a NUL character in it"),
        (trace(&[r#""id":7,"parents":[]"#], &[], ""), "`id` of a task of the specification is a number, not text"),
        (trace(&[r#""name":"a","id":"a""#], &[], ""), "the task `a` has no `parents`"),
        (
            trace(&[r#""name":"a","id":"a","parents":"b""#], &[], ""),
            "`parents` of the task `a` is text, not a list; write a list of ids",
        ),
        (
            trace(&[r#""name":"a","id":"a","parents":[{}]"#], &[], ""),
            "`parents` of the task `a` holds an object, not the id of something",
        ),
        (trace(&[], &[], ""), "`tasks` of the specification is empty"),
        (
            trace(&[&task("a", "", "", "", "")], &[], r#","execution":{"tasks":[{"id":"b","runtimeInSeconds":1}]}"#),
            "the execution names `b`, and no task has that id",
        ),
        (
            trace(&[&task("a", "", "", "", "")], &[], r#","execution":{"tasks":[{"id":"a"}]}"#),
            "the execution of the task `a` has no `runtimeInSeconds`",
        ),
        (
            trace(&[&task("a", "", "", "", "")], &[], r#","execution":{"tasks":[{"id":"a","runtimeInSeconds":-2}]}"#),
            "cannot be -2",
        ),
        (
            trace(&[&task("a", "", "", "", "")], &[], r#","execution":{"tasks":[{"id":"a","runtimeInSeconds":1e99}]}"#),
            "longer than a century",
        ),
        (
            trace(
                &[&task("a", "", "", "", "")],
                &[],
                r#","execution":{"tasks":[{"id":"a","runtimeInSeconds":1},{"id":"a","runtimeInSeconds":1}]}"#,
            ),
            "two tasks of the execution have the id `a`",
        ),
        (trace(&[&task("a", "", "", "", "")], &[], r#","execution":[]"#), "`execution` is a list, not an object"),
        (r#"{"schemaVersion":"1.5"}"#.to_owned(), "1:1 the trace has no `workflow`"),
        (r#"{"schemaVersion":"1.5","workflow":{}}"#.to_owned(), "`workflow` has no `specification`"),
        (r#"{"schemaVersion":"1.5","workflow":{"specification":{}}}"#.to_owned(), "`specification` has no `tasks`"),
        (
            r#"{"schemaVersion":"1.5","workflow":{"specification":{"tasks":{}}}}"#.to_owned(),
            "`tasks` of the specification is an object, not a list",
        ),
        (r#"{"schemaVersion":"1.5","workflow":3}"#.to_owned(), "`workflow` is a number, not an object"),
        (r#"{"schemaVersion":"1.5","workflow":{"#.to_owned(), "this is not valid JSON"),
    ] {
        let message = wrong(&text);
        assert!(message.contains(expected), "{message}\nis not: {expected}\n{text}");
    }
}

#[test]
fn all_that_is_wrong_is_told_at_once() {
    let text = of_tasks(&[task("a", "p", "q", "", ""), task("b", "r", "", "", "")]);
    assert_eq!(reading(&text, None).unwrap_err().shown.len(), 3);
}

#[test]
fn odd_but_harmless() {
    let text = trace(
        &[r#""id":"a","parents":[],"children":[]"#],
        &[],
        r#","execution":{"executedAt":"noon","tasks":[{"id":"a","runtimeInSeconds":1}]}"#,
    );
    assert_eq!(
        read(&text.replace("\"name\":\"t\",", "")).trace.unwrap().remarks,
        [
            "1 task without a `name`, such as `a`",
            "the trace has no `name`",
            "`execution` has no `makespanInSeconds`",
            "`executedAt` is `noon`, which is no moment"
        ]
    );
}

#[test]
fn a_trace_has_no_parameters_and_is_not_included() {
    let settings = [("n".to_owned(), "1".to_owned())];
    let request = Request { settings: &settings, ..Request::new(BREAD, Format::Json, "x") };
    let problems = Workflow::read(&request, &NoFiles).unwrap_err();
    assert_eq!(problems.shown[0].message, "a trace has no parameters, and `n` is given");

    struct Including;
    impl super::super::Surroundings for Including {
        fn glob(&self, _: &str) -> Result<Vec<String>, String> {
            Ok(Vec::new())
        }
        fn exists(&self, _: &str) -> bool {
            true
        }
        fn read(&self, _: &str) -> Result<String, String> {
            Ok(BREAD.to_owned())
        }
    }
    let problems = Workflow::parse("include: bread.json\ntasks: {}", Format::Yaml, "x", &Including).unwrap_err();
    assert_eq!(problems.shown[0].message, "`bread.json` is a trace of a run, which cannot be included");
}

#[test]
fn a_damaged_document_is_refused_or_holds_together() {
    for at in 0..BREAD.len() {
        for (length, put) in [(1, ""), (0, "\""), (1, "{"), (1, "]"), (1, "9"), (3, "null"), (40, "")] {
            let end = (at + length).min(BREAD.len());
            let text = format!("{}{put}{}", &BREAD[..at], &BREAD[end..]);
            let Ok(Reading { flow, .. }) = reading(&text, None) else { continue };
            assert_eq!(flow.topological().len(), flow.task_count());
            assert_eq!(Workflow::from_bytes(&flow.to_bytes()).unwrap().to_bytes(), flow.to_bytes());
        }
    }
}
