//! Bad input: exit code 2, one clear message that says where and what to do, nothing written, whatever it is.

mod sandbox;

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use sandbox::*;

/// Runs a workflow that is wrong, and expects these words about it, a remedy, and nothing written.
#[track_caller]
fn refused(sandbox: &Sandbox, arguments: &[&str], words: &[&str]) -> String {
    let before = sandbox.files().len();
    let stderr = sandbox.run(arguments).expect_code(2).stderr;
    for word in words.iter().chain(&["help: "]) {
        assert!(stderr.contains(word), "no {word:?} in:\n{stderr}");
    }
    assert!(!stderr.contains("panicked"), "{stderr}");
    assert!(!sandbox.exists(".throng") && sandbox.files().len() == before, "something was written");
    stderr
}

/// The same for the text of a workflow, with a place in it.
#[track_caller]
fn bad(flow: &str, place: &str, words: &[&str]) {
    let sandbox = Sandbox::with_flow(flow);
    let place = format!("--> flow.yaml:{place}\n");
    let stderr = refused(&sandbox, &[], &[&[place.as_str()], words].concat());
    assert_eq!(stderr.matches("error: ").count(), 1, "one message is enough:\n{stderr}");
}

// Keys.

#[test]
fn an_unknown_key_is_told_with_the_nearest() {
    bad("tasks:\n  a:\n    run: x\n    tiemout: 3\n", "4:5", &["`tiemout` in task `a`", "did you mean `timeout`?"]);
    bad("tasks: { a: { run: x, threads: 3 } }", "1:23", &["did you mean `cpus`?"]);
    bad("parms: { a: 1 }\ntasks: { a: { run: x } }", "1:1", &["did you mean `params`?"]);
    bad("defaults: { retry: 1 }\ntasks: { a: { run: x } }", "1:13", &["did you mean `retries`?"]);
    bad("tasks: { a: { run: x, out: { path: o, tmp: true } } }", "1:39", &["did you mean `temp`?"]);
    bad("tasks: { a: { run: x, estimate: { tim: 3 } } }", "1:35", &["did you mean `time`?"]);
    bad("include: { fil: x }\ntasks: { a: { run: x } }", "1:12", &["did you mean `file`?"]);
    bad("tasks: { a: { run: x, zzzzzzzzzz: 3 } }", "1:23", &["known keys are run, exec"]);
}

#[test]
fn a_key_that_stands_twice_is_told_with_both_places() {
    bad("tasks:\n  a:\n    run: x\n    cpus: 1\n    cpus: 2\n", "5:5", &["`cpus` is here twice", "the first is here"]);
    bad("tasks: { a: { run: x, env: { A: 1, A: 2 } } }", "1:36", &["`A` is here twice"]);
    bad("tasks: { a: { run: x } }\ntasks: { b: { run: x } }", "2:1", &["`tasks` is here twice"]);
    bad("params: { a: 1, a: 2 }\ntasks: { t: { run: x } }", "1:17", &["`a` is here twice"]);
    bad("tasks: { t: { run: x, foreach: { a: 1..2, a: 3..4 } } }", "1:43", &["`a` is here twice"]);
}

#[test]
fn a_value_of_the_wrong_type_is_told_with_the_right_one() {
    for (value, place, words) in [
        ("run: [x]", "1:20", "`run` is one text, not a list"),
        ("exec: x", "1:21", "`exec` needs a list, not a single value"),
        ("run: x, cpus: [1]", "1:29", "`cpus` needs a single value"),
        ("run: x, env: [A]", "1:28", "`env` needs a map, not a list"),
        ("run: x, in: [[a]]", "1:28", "`in` needs a single value"),
        ("run: x, in: [{ al: a }]", "1:30", "did you mean `all`?"),
        ("run: x, in: [{}]", "1:28", "`{ path: FILE, size: 12MB }`"),
        ("run: x, out: [{ path: o, size: lots }]", "1:46", "an amount such as 12MB"),
        ("run: x, out: { path: { a: b } }", "1:36", "`path` needs a single value"),
        ("run: x, temp: maybe", "1:29", "true or false"),
        ("run: x, retries: { times: often }", "1:41", "a whole number from 0 to 1000"),
        ("run: x, retries: { codes: [0] }", "1:42", "an exit code from 1 to 255"),
        ("run: x, retries: { codes: [256] }", "1:42", "an exit code from 1 to 255"),
        ("run: x, retries: { codes: [9..3] }", "1:42", "an exit code from 1 to 255"),
        ("run: x, timeout: soon", "1:32", "a time such as 90s"),
        ("run: x, shell: 'a | b'", "1:30", "a program and its options"),
        ("run: x, container: { image: i, with: docker }", "1:52", "one of apptainer"),
        ("run: x, resources: { 'a b': 1 }", "1:36", "letters, digits and `_`"),
        ("run: x, resources: { a: 0 }", "1:39", "a number from 0.001"),
        ("run: x, foreach: 3", "1:32", "`foreach` needs a name"),
        ("run: x, when: maybe", "1:29", "neither true nor false"),
        ("run: ''", "1:15", "`run` is empty"),
        ("cpus: 1", "1:10", "says nothing to do"),
        ("run: x, exec: [y]", "1:23", "both `run` and `exec`"),
    ] {
        bad(&format!("tasks: {{ a: {{ {value} }} }}"), place, &[words]);
    }
    let two = "tasks:\n  a: { run: x, out: [{ path: o, size: 1MB }] }\n  b: { run: x, in: [{ path: o, size: 2MB }] }\n";
    bad(two, "3:38", &["`o` is given two sizes, 1000000 and 2000000 bytes", "the first is here"]);
    bad("tasks: [a]", "1:8", &["`tasks` is a list, not a map"]);
    bad("- a\n", "1:1", &["a workflow is a map with the key `tasks`"]);
}

#[test]
fn numbers_beyond_reason_are_refused_wherever_they_stand() {
    for number in ["1e999", "-1", "99999999999999999999", "NaN", "inf", "-inf", ".nan", "0x10", "1_000", "½", "''"] {
        for key in ["cpus", "memory", "gpus", "retries", "timeout", "sleep"] {
            let action = if key == "sleep" { "" } else { "run: x, " };
            let sandbox = Sandbox::with_flow(&format!("tasks: {{ a: {{ {action}{key}: {number} }} }}"));
            refused(&sandbox, &["--dry-run"], &[&format!("`{key}`"), "--> flow.yaml:1:"]);
        }
    }
    for range in
        ["1..1e9", "NaN..3", "1..99999999999999999999", "3..1", "1..2 by 0", "1..2 by -1", "0..1 by 0.0000000001"]
    {
        let sandbox = Sandbox::with_flow(&format!("tasks: {{ a: {{ run: x, foreach: {{ i: {range} }} }} }}"));
        refused(&sandbox, &["--dry-run"], &["--> flow.yaml:1:37", range]);
    }
    for range in ["1..9223372036854775807", "-9223372036854775808..9223372036854775807", "0..99999999 by 0.001"] {
        let sandbox = Sandbox::with_flow(&format!("tasks: {{ a: {{ run: x, foreach: {{ i: {range} }} }} }}"));
        refused(&sandbox, &["--dry-run"], &["values", "--> flow.yaml:1:3"]);
    }
}

#[test]
fn a_range_that_ends_near_the_largest_number_is_one() {
    for range in ["0..9223372036854775807 by 9000000000000000000", "0..922337203685477580.0 by 900000000000000000.0"] {
        let sandbox = Sandbox::with_flow(&format!("tasks: {{ a: {{ noop: true, foreach: {{ i: {range} }} }} }}"));
        assert_eq!(sandbox.run(&[]).expect_code(0).number("done"), 2);
    }
}

// Names and values.

#[test]
fn a_foreach_over_nothing_is_told() {
    let sandbox = Sandbox::with_flow("");
    sandbox.write("empty", "\n \n");
    sandbox.write("head.csv", "a,b\n");
    for (foreach, words) in [
        ("{}", "`foreach` is empty"),
        ("{ i: [] }", "`i` runs over an empty list"),
        ("{ i: 'none/*' }", "no file matches `none/*`"),
        ("{ i: { glob: 'e*', except: '*y' } }", "no file matches `e*`"),
        ("{ i: { lines: empty } }", "`empty` has no lines"),
        ("{ i: { csv: head.csv } }", "`head.csv` has no rows"),
        ("{ i: { csv: empty } }", "`empty` has no rows"),
        ("{ zip: {} }", "`zip` is empty"),
        ("{ i: { lines: none } }", "`none` cannot be read"),
    ] {
        sandbox.write("flow.yaml", &format!("tasks: {{ a: {{ run: x, foreach: {foreach} }} }}"));
        refused(&sandbox, &[], &[words, "--> flow.yaml:1:"]);
    }
}

#[test]
fn an_unknown_name_or_field_is_told_with_those_there_are() {
    bad("tasks: { a: { foreach: { img: [x] }, run: 'x {imgg}' } }", "1:46", &["`{imgg}`", "did you mean `{img}`?"]);
    bad("tasks: { a: { foreach: { i: [x] }, run: 'x {i.size}' } }", "1:44", &["name, stem, dir, ext"]);
    bad("tasks: { a: { foreach: { i: [{ p: 1 }] }, run: 'x {i.q}' } }", "1:51", &["its columns are p"]);
    bad("tasks: { a: { run: 'x {in.1}', in: flow.yaml } }", "1:23", &["`in` has 1 entry"]);
    bad("tasks: { a: { run: 'x {out.b}', out: { o: f } } }", "1:23", &["known names are o"]);
    bad("tasks: { a: { run: 'x {memory.pb}' } }", "1:23", &["kb, mb, gb"]);
    bad("tasks: { a: { run: x, out: '{attempt}' } }", "1:29", &["cannot stand here"]);
    bad("tasks: { a: { foreach: { i: [x] }, run: 'x {i:04}' } }", "1:41", &["not a number"]);
    bad("tasks: { a: { run: 'x { y' } }", "1:23", &["a brace without its partner"]);
}

#[test]
fn two_tasks_that_could_not_be_told_apart_are_refused() {
    let sandbox = Sandbox::with_flow("tasks: { a: { run: x, foreach: { r: { csv: t.csv } } } }");
    sandbox.write("t.csv", "a,b\n1,x\n1,y\n");
    refused(&sandbox, &[], &["two rows of `r` are called `1`", "key: [sample, lane]", "--> flow.yaml:1:44"]);
    bad("tasks: { a: { run: x, foreach: { i: [p, q, p] } } }", "1:44", &["the value `p` twice"]);
    bad("tasks: { a: { run: x, foreach: { x: ['1,2', '1'], y: ['3', '2,3'] } } }", "1:10", &["`a:1,2,3`"]);
}

#[test]
fn a_table_that_is_none_is_told_with_its_line() {
    let sandbox = Sandbox::with_flow("tasks: { a: { run: x, foreach: { r: { csv: t.csv } } } }");
    sandbox.write("t.csv", "a,b\n1,x\n2\n");
    refused(&sandbox, &[], &["line 3 of `t.csv` has 1 values"]);
    sandbox.write("t.csv", "a,a\n1,x\n");
    refused(&sandbox, &[], &["two columns named `a`"]);
}

// Places.

#[test]
fn a_problem_inside_a_long_command_points_at_its_line() {
    bad("tasks:\n  a:\n    run: |\n      echo one\n      echo two {thre} \n      echo four\n", "5:16", &["`{thre}`"]);
    bad("tasks:\n  a:\n    run: >-\n      echo one\n      echo two }\n", "5:16", &["without its partner"]);
    let command = "tasks:\n  a:\n    in: flow.yaml\n    run: |\n      echo\n      cat <<E\n      {in}\n      E\n";
    bad(command, "7:7", &["cannot be written safely"]);
}

#[test]
fn a_problem_in_an_included_file_names_that_file_from_where_one_is() {
    let sandbox = Sandbox::new();
    sandbox.write("project/flow.yaml", "include: { file: parts/qc.yaml, prefix: qc }\ntasks: { a: { run: x } }\n");
    let problems = [
        ("tasks:\n  b:\n    run: x\n    inn: y\n", "4:5", "did you mean `in`?"),
        ("tasks:\n  b:\n    run: |\n      one\n      two {x}\n", "5:11", "`{x}`"),
        ("tasks:\n  b: { run: x, in: none }\n", "2:20", "`none` is not there"),
        ("tasks:\n  b: { run: x\n", "3:1", "not valid YAML"),
        ("params: { n: }\ntasks: { b: { run: x } }", "1:11", "--set qc.n=VALUE"),
        ("include: nowhere.yaml\n", "1:10", "`parts/nowhere.yaml` cannot be included"),
        ("tasks: { b: { run: x, foreach: { i: [] } } }", "1:34", "empty list"),
        ("tasks: { b: { run: x, after: c } }", "1:30", "no task named `c`"),
    ];
    for (text, place, words) in problems {
        sandbox.write("project/parts/qc.yaml", text);
        sandbox.write("elsewhere/x", "");
        for (here, flow, file) in [
            ("project", "flow.yaml", "parts/qc.yaml"),
            ("elsewhere", "../project/flow.yaml", "../project/parts/qc.yaml"),
        ] {
            let child = sandbox.command(&["run", flow]).current_dir(sandbox.file(here)).spawn().unwrap();
            let stderr = finish(child).expect_code(2).stderr;
            let place = format!("--> {file}:{place}\n");
            assert!(stderr.contains(&place) && stderr.contains(words), "no {place:?} or {words:?} in:\n{stderr}");
        }
    }
    assert!(!sandbox.exists("project/.throng"));
}

#[test]
fn of_many_mistakes_ten_are_shown_and_the_rest_counted() {
    let sandbox = Sandbox::new();
    let mut text = String::from("tasks:\n");
    (0..50_000).for_each(|i| text.push_str(&format!("  t{i}: {{ rum: x }}\n")));
    sandbox.write("flow.yaml", &text);
    let stderr = refused(&sandbox, &[], &["flow.yaml:2:", "flow.yaml:11:", "and 49990 more"]);
    assert_eq!(stderr.matches("error: ").count(), 10);
    sandbox.write("flow.yaml", "tasks: { a: { foreach: { i: 1..100000 }, run: x, in: 'none{i}' } }");
    let stderr = refused(&sandbox, &[], &["`none1` is not there", "and 99990 more"]);
    assert_eq!(stderr.matches("error: ").count(), 10);
}

// Parameters and other files.

#[test]
fn parameters_that_are_not_there_or_have_no_value_are_told() {
    let sandbox = Sandbox::with_flow("params: { size: 3, mode: }\ntasks: { a: { run: 'x {size} {mode}' } }");
    refused(&sandbox, &[], &["--> flow.yaml:1:20", "`mode` has no value", "--set mode=VALUE"]);
    refused(&sandbox, &["--set", "mode=a", "--set", "siez=4"], &["no parameter `siez`", "did you mean `size`?"]);
    sandbox.write("p.yaml", "mode: a\nsiez: 4\n");
    refused(&sandbox, &["--params", "p.yaml"], &["--> p.yaml:2:1", "did you mean `size`?"]);
    sandbox.write("p.yaml", "mode: a\nmode: b\n");
    refused(&sandbox, &["--params", "p.yaml"], &["--> p.yaml:2:1", "`mode` is here twice"]);
    sandbox.write("p.json", "{ \"mode\": }");
    refused(&sandbox, &["--params", "p.json"], &["--> p.json:1:11"]);
    refused(&sandbox, &["--params", "none.yaml"], &["none.yaml"]);
    refused(&sandbox, &["--set", "mode=a", "--set", "size=[1, 2]"], &["`size` is a list"]);
    bad("params: { i: 1 }\ntasks: { a: { run: x, foreach: { i: 1..2 } } }", "2:34", &["is a parameter as well"]);
    bad("params: { task: 1 }\ntasks: { a: { run: x } }", "1:11", &["`task` cannot be the name of a parameter"]);
    bad("tasks: { a: { run: x } }\nparams: { n: 1 }", "2:1", &["move it above `tasks`"]);
    let sandbox = Sandbox::with_flow("tasks: { a: { run: x } }");
    let result = sandbox.run(&["--set", "novalue"]).expect_code(2);
    assert!(result.stderr.contains("NAME=VALUE"), "{}", result.stderr);
}

#[test]
fn files_that_include_each_other_in_a_circle_or_too_often_are_told_once_and_soon() {
    let sandbox = Sandbox::with_flow("include: other.yaml\ntasks: { a: { run: x } }");
    sandbox.write("other.yaml", "include: { file: flow.yaml, prefix: p }\n");
    let stderr = refused(&sandbox, &[], &["includes itself", ".yaml:1:"]);
    assert_eq!(stderr.matches("error: ").count(), 1, "{stderr}");
    // Sixteen files, each of which includes the next ten times.
    for number in 1..=15 {
        let next = format!("{}.yaml", number + 1);
        sandbox.write(&format!("{number}.yaml"), &format!("include: [{}]\n", [next.as_str(); 10].join(", ")));
    }
    sandbox.write("16.yaml", "params: { x: 1 }\n");
    sandbox.write("flow.yaml", "include: 1.yaml\ntasks: { a: { run: x } }");
    let stderr = refused(&sandbox, &[], &["more than 10000 files are included", ".yaml:1:"]);
    assert_eq!(stderr.matches("error: ").count(), 1, "{stderr}");
}

#[test]
fn an_include_that_cannot_be_read_is_told() {
    let sandbox = Sandbox::with_flow("include: [some, none]\ntasks: { a: { run: x } }");
    sandbox.write("some", "");
    refused(&sandbox, &[], &["--> some:1:1"]);
    sandbox.write("some", "params: { a: 1 }");
    refused(&sandbox, &[], &["--> flow.yaml:1:17", "`none` cannot be included: No such file"]);
    std::fs::create_dir(sandbox.file("none")).unwrap();
    refused(&sandbox, &[], &["--> flow.yaml:1:17", "`none` cannot be included: Is a directory"]);
    std::fs::remove_dir(sandbox.file("none")).unwrap();
    sandbox.write("none", "tasks: { a: { run: y } }");
    refused(&sandbox, &[], &["two tasks named `a`", "prefix"]);
}

// Hostile files.

/// Everything below this is soon, also on a busy machine.
const SOON: Duration = Duration::from_secs(5);
/// Little enough that nobody's machine minds, and more than the program needs for anything small.
const LITTLE_KB: u64 = 200_000;

/// Like [`refused`], in little time and little memory.
#[track_caller]
fn refused_soon(sandbox: &Sandbox, arguments: &[&str], words: &[&str]) {
    let started = Instant::now();
    let limited = format!("ulimit -v {LITTLE_KB}; exec \"$@\"");
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", &limited, "sh", env!("CARGO_BIN_EXE_throng"), "run", "flow.yaml"]).args(arguments);
    let child = shell.current_dir(sandbox.path()).stderr(Stdio::piped()).spawn().expect("a shell");
    let stderr = finish(child).expect_code(2).stderr;
    for word in words.iter().chain(&["help: "]) {
        assert!(stderr.contains(word), "no {word:?} in:\n{stderr}");
    }
    assert!(stderr.len() < 20_000 && started.elapsed() < SOON, "{:?}", started.elapsed());
    assert!(!sandbox.exists(".throng"));
}

#[test]
fn an_enormous_file_is_refused_at_once_wherever_it_stands() {
    for bytes in [5_000_000_000, 3_000_000_000] {
        let sandbox = Sandbox::new();
        let make = |name: &str| std::fs::File::create(sandbox.file(name)).unwrap().set_len(bytes).unwrap();
        make("flow.yaml");
        let why = if bytes > 4_000_000_000 { "more than 4 GB" } else { "not UTF-8 text" };
        refused_soon(&sandbox, &[], &["flow.yaml", why]);
        std::fs::remove_file(sandbox.file("flow.yaml")).unwrap();
        make("big");
        for (flow, place) in [
            ("include: big\ntasks: { a: { run: x } }", "--> flow.yaml:1:10"),
            ("tasks: { a: { run: x, foreach: { i: { lines: big } } } }", "--> flow.yaml:1:46"),
            ("tasks: { a: { run: x, foreach: { i: { csv: big } } } }", "--> flow.yaml:1:44"),
        ] {
            sandbox.write("flow.yaml", flow);
            refused_soon(&sandbox, &[], &[place, "`big`", why]);
        }
        sandbox.write("flow.yaml", "tasks: { a: { run: x } }");
        refused_soon(&sandbox, &["--params", "big"], &["big", why]);
    }
}

#[test]
fn a_file_that_never_ends_is_refused() {
    let sandbox = Sandbox::with_flow("tasks: { a: { run: x, foreach: { i: { lines: /dev/zero } } } }");
    refused_soon(&sandbox, &[], &["`/dev/zero` cannot be read"]);
}

#[test]
fn what_is_no_utf_8_is_told_with_its_place() {
    let sandbox = Sandbox::new();
    let not_text = b"# caf\xc3\xa9\ntasks: { a: { run: \xff } }\n";
    std::fs::write(sandbox.file("flow.yaml"), not_text).unwrap();
    refused(&sandbox, &[], &["flow.yaml:2:20", "UTF-8"]);
    std::fs::write(sandbox.file("bad"), not_text).unwrap();
    for flow in [
        "include: bad\ntasks: { a: { run: x } }",
        "tasks: { a: { run: x, foreach: { i: { lines: bad } } } }",
        "tasks: { a: { run: x, foreach: { i: { csv: bad } } } }",
    ] {
        sandbox.write("flow.yaml", flow);
        refused(&sandbox, &[], &["--> flow.yaml:1:", "line 2, column 20 is not UTF-8 text"]);
    }
    // As some editors save what they call Unicode.
    let utf_16: Vec<u8> = "tasks: { a: { run: x } }".encode_utf16().flat_map(u16::to_le_bytes).collect();
    std::fs::write(sandbox.file("flow.yaml"), utf_16).unwrap();
    refused(&sandbox, &[], &["flow.yaml:1:", "save it as UTF-8"]);
}

#[test]
fn deep_nesting_is_refused() {
    for (open, close) in [("[", "]"), ("{ a: ", "}"), ("\n- ", "")] {
        for depth in [70, 100_000] {
            let value = format!("{}x{}", open.repeat(depth), close.repeat(depth));
            let value = if open == "\n- " { "- ".repeat(depth) + "x" } else { value };
            let sandbox = Sandbox::with_flow(&format!("tasks:\n  a:\n    env:\n      {value}\n"));
            // Deeper still, it may be the reader of YAML that gives up, in its own words.
            refused_soon(&sandbox, &[], &["flow.yaml:4:", if depth == 70 { "levels deep" } else { "error: " }]);
        }
    }
    let sandbox = Sandbox::with_flow("tasks: { a: { run: x } }");
    sandbox.write("deep.json", &format!("{{ \"a\": {}", "[".repeat(100_000)));
    refused_soon(&sandbox, &["--params", "deep.json"], &["deep.json:1:", "levels deep"]);
}

#[test]
fn aliases_that_stand_for_more_than_anybody_means_are_refused() {
    let mut bomb = String::from("params:\n  a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n");
    for level in 1..12 {
        let many = vec![format!("*a{}", level - 1); 10].join(", ");
        bomb.push_str(&format!("  a{level}: &a{level} [{many}]\n"));
    }
    refused_soon(&Sandbox::with_flow(&(bomb + "tasks: { a: { run: x } }\n")), &[], &["flow.yaml:", "aliases expand"]);
    let circle = "params: { a: &a [*a] }\ntasks: { a: { run: x } }\n";
    refused_soon(&Sandbox::with_flow(circle), &[], &["flow.yaml:1:18", "refers to itself"]);
}

#[test]
fn text_that_nobody_would_write_is_refused_and_not_believed() {
    let long = "x".repeat(1_000_000);
    for flow in [
        format!("tasks: {{ a: {{ run: x, {long}: 1 }} }}"),
        format!("tasks: {{ a: {{ run: 'x {{{long}}}' }} }}"),
        format!("tasks: {{ {long}: {{ rum: x }} }}"),
        format!("tasks: {{ a: {{ run: x, after: {long} }} }}"),
        format!("tasks: {{ a: {{ run: x, cpus: {long} }} }}"),
        "tasks: { a: { run: \"x\\0y\" } }".to_owned(),
        "tasks: { a: { run: x, out: \"a\\0b\" } }".to_owned(),
        "\u{0}".to_owned(),
        "%YAML 9.9\n---\n".to_owned(),
        "tasks: {".to_owned(),
        "? [a]\n: b\n".to_owned(),
        "tasks: { a: { run: x } }\n---\ntasks: { b: { run: x } }\n".to_owned(),
    ] {
        let sandbox = Sandbox::with_flow(&flow);
        let result = sandbox.run(&["--dry-run"]).expect_code(2);
        let shown: String = result.stderr.chars().take(200).collect();
        assert!(result.stderr.contains("flow.yaml:") && result.stderr.contains("help: "), "{shown}");
        assert!(!sandbox.exists(".throng"), "{shown}");
    }
}

#[test]
fn files_that_the_workflow_is_read_from_are_no_outputs() {
    let sandbox = Sandbox::with_flow(
        "include: more.yaml\ntasks:\n  a: { run: x, out: more.yaml }\n  b: { foreach: { r: { csv: rows.csv, column: n } }, run: 'x {r}', out: ./rows.csv }\n",
    );
    sandbox.write("more.yaml", "tasks: { c: { noop: true } }");
    sandbox.write("rows.csv", "n\n1\n");
    refused(
        &sandbox,
        &[],
        &["`more.yaml` cannot be an output: it is what the workflow itself is read from", "`rows.csv` cannot be"],
    );
}

#[test]
fn names_of_files_that_are_no_text_are_told() {
    use std::os::unix::ffi::OsStrExt;
    let sandbox = Sandbox::with_flow("tasks: { a: { foreach: { f: 'd/*.txt' }, run: 'echo {f}' } }");
    std::fs::create_dir(sandbox.file("d")).unwrap();
    let strange = sandbox.file("d").join(std::ffi::OsStr::from_bytes(b"b\xff.txt"));
    std::fs::write(&strange, "").unwrap();
    let output = sandbox.throng(&["run", "flow.yaml"]).expect_code(2);
    assert!(output.stderr.contains("is not UTF-8") && output.stderr.contains("--> flow.yaml:1:"), "{}", output.stderr);
    std::fs::remove_file(strange).unwrap();
}
