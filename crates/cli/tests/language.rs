//! The workflow language on real processes: what tasks a text means, and what their commands see.

mod sandbox;

use sandbox::*;

/// What tasks have appended to a file, sorted: they run in any order.
#[track_caller]
fn sorted(sandbox: &Sandbox, file: &str) -> Vec<String> {
    let mut lines: Vec<String> = sandbox.read(file).lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Runs a workflow whose tasks append to `told`; returns what they said, sorted.
#[track_caller]
fn told(flow: &str) -> Vec<String> {
    told_with(flow, &[])
}

#[track_caller]
fn told_with(flow: &str, arguments: &[&str]) -> Vec<String> {
    let sandbox = Sandbox::with_flow(flow);
    sandbox.run(arguments).expect_code(0);
    sorted(&sandbox, "told")
}

/// A task over something that says the names and values of its tasks.
fn over(foreach: &str, what: &str) -> String {
    format!("tasks: {{ t: {{ foreach: {{ {foreach} }}, run: 'echo {{task}} {what} >> told' }} }}")
}

// What `foreach` runs over.

#[test]
fn a_glob_leaves_out_what_except_matches() {
    let sandbox = Sandbox::with_flow(&over("f: { glob: 'd/*', except: ['d/*.md', d/b.txt] }", "{f}"));
    for file in ["d/a.txt", "d/b.txt", "d/c.md", "d/.hidden", "e.txt"] {
        sandbox.write(file, "");
    }
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sorted(&sandbox, "told"), ["t:d/a.txt d/a.txt"]);
}

#[test]
fn two_stars_look_into_every_directory() {
    let sandbox = Sandbox::with_flow(&over("f: '**/*.txt'", "{f}"));
    for file in ["a.txt", "d/b.txt", "d/e/c.txt"] {
        sandbox.write(file, "");
    }
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sorted(&sandbox, "told"), ["t:a.txt a.txt", "t:d/b.txt d/b.txt", "t:d/e/c.txt d/e/c.txt"]);
}

#[test]
fn a_range_may_have_a_step_and_ends_at_or_before_its_last_number() {
    assert_eq!(told(&over("i: 1..10 by 4", "{i}")), ["t:1 1", "t:5 5", "t:9 9"]);
    assert_eq!(told(&over("i: -3..3 by 3", "{i}")), ["t:-3 -3", "t:0 0", "t:3 3"]);
}

#[test]
fn decimals_are_exact() {
    let all = ["t:0.0 0.0", "t:0.1 0.1", "t:0.2 0.2", "t:0.3 0.3"];
    assert_eq!(told(&over("x: 0..0.3 by 0.1", "{x}")), all);
    assert_eq!(told(&over("x: -0.5..0.5 by 0.5", "{x}")), ["t:-0.5 -0.5", "t:0.0 0.0", "t:0.5 0.5"]);
}

#[test]
fn the_values_of_a_list_are_what_was_written() {
    assert_eq!(
        told(&over("x: [1.10, 007, yes, ~, 'a b']", "{x}")),
        ["t:007 007", "t:1.10 1.10", "t:a b a b", "t:yes yes", "t:~ ~"]
    );
}

#[test]
fn records_have_columns_and_are_named_by_the_first() {
    let flow =
        over("s: [{ id: a, file: x/one.gz, n: 3 }, { n: 4, file: two.gz, id: b }]", "{s} {s.file.stem} {s.n:02}");
    assert_eq!(told(&flow), ["t:a a one 03", "t:b b two 04"]);
}

#[test]
fn lines_of_a_file_are_values_and_empty_ones_are_none() {
    let sandbox = Sandbox::with_flow(&over("x: { lines: list.txt }", "{x}"));
    sandbox.write("list.txt", "one\r\n\ntwo words\n$(touch pwned)\nla{s}t");
    sandbox.run(&[]).expect_code(0);
    let said = ["t:$(touch pwned) $(touch pwned)", "t:la{s}t la{s}t", "t:one one", "t:two words two words"];
    assert_eq!(sorted(&sandbox, "told"), said);
    assert!(!sandbox.exists("pwned"));
}

#[test]
fn rows_of_a_csv_file_are_tasks_with_quoted_commas_and_line_ends() {
    let sandbox = Sandbox::with_flow(&over("r: { csv: t.csv }", "{r.note} {r.n}"));
    sandbox.write("t.csv", "\u{feff}id,note,n\r\na,\"x, y\",1\r\nb,\"say \"\"hi\"\"\",2\r\n");
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sorted(&sandbox, "told"), ["t:a x, y 1", "t:b say \"hi\" 2"]);
}

#[test]
fn a_key_of_several_columns_tells_rows_apart_and_comes_first() {
    let sandbox = Sandbox::with_flow(&over("r: { csv: t.csv, key: [sample, lane] }", "{r} {r.file}"));
    sandbox.write("t.csv", "file,sample,lane\nf1,a,1\nf2,a,2\nf3,b,1\n");
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sorted(&sandbox, "told"), ["t:a,1 a f1", "t:a,2 a f2", "t:b,1 b f3"]);
}

#[test]
fn a_tsv_file_may_have_no_header_and_its_quotes_are_letters() {
    let sandbox = Sandbox::with_flow(&over("r: { tsv: t.tsv, header: false }", "{r.1} {r.2}"));
    sandbox.write("t.tsv", "a\t\"x\nb\ty, z\n");
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sorted(&sandbox, "told"), ["t:a a \"x", "t:b b y, z"]);
}

#[test]
fn one_column_of_a_table_is_plain_values() {
    let sandbox = Sandbox::with_flow(&over("f: { csv: t.csv, column: file }", "{f} {f.name}"));
    sandbox.write("t.csv", "id,file\n1,d/a.gz\n2,d/b.gz\n");
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sorted(&sandbox, "told"), ["t:d/a.gz d/a.gz a.gz", "t:d/b.gz d/b.gz b.gz"]);
}

#[test]
fn several_names_make_every_combination() {
    assert_eq!(told(&over("x: [a, b], i: 1..2", "{x}{i}")), ["t:a,1 a1", "t:a,2 a2", "t:b,1 b1", "t:b,2 b2"]);
}

#[test]
fn zipped_names_move_together_and_multiply_with_others() {
    assert_eq!(told(&over("zip: { x: [a, b], y: [1, 1] }", "{x}{y}")), ["t:a,1 a1", "t:b,1 b1"]);
    assert_eq!(
        told(&over("zip: { x: [a, b], y: 1..2 }, z: [p, q]", "{x}{y}{z}")),
        ["t:a,1,p a1p", "t:a,1,q a1q", "t:b,2,p b2p", "t:b,2,q b2q"]
    );
    assert_eq!(
        told(&over("zip: [{ x: [a, b], y: 1..2 }, { u: [p], v: [q] }]", "{x}{y}{u}{v}")),
        ["t:a,1,p,q a1pq", "t:b,2,p,q b2pq"]
    );
}

#[test]
fn a_task_may_name_another_by_its_values() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           make: { foreach: { x: [a, b], i: 1..2 }, run: 'echo {x}{i} > {out}', out: 'm/{x}{i}' }
           read: { foreach: { x: [a, b] }, run: 'cat {in} > {out}', in: [{ all: 'make:{x},2' }], out: 'r/{x}' }",
    );
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sandbox.read("r/a") + &sandbox.read("r/b"), "a2\nb2\n");
}

// What stands in braces.

#[test]
fn fields_are_parts_of_a_path() {
    // The extension has its dot: `{f.stem}{f.ext}` is the name.
    let flow = over("f: [d/e/x.tar.gz, plain]", "{f.name} {f.stem} {f.dir} [{f.ext}]");
    assert_eq!(told(&flow), ["t:d/e/x.tar.gz x.tar.gz x.tar d/e [.gz]", "t:plain plain plain . []"]);
}

#[test]
fn numbers_are_written_as_asked_in_commands_and_in_paths() {
    let sandbox = Sandbox::with_flow(
        "tasks: { t: { foreach: { i: [7, 1.25, -3] }, run: 'echo {i:05} {i:.1} {i:07.2} > {out}', out: 'o/{i:04}' } }",
    );
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sandbox.read("o/0007"), "00007 7.0 0007.00\n");
    assert_eq!(sandbox.read("o/1.25"), "01.25 1.2 0001.25\n");
    assert_eq!(sandbox.read("o/-003"), "-0003 -3.0 -003.00\n");
}

#[test]
fn braces_are_doubled_and_shell_variables_need_that() {
    assert_eq!(told("tasks: { t: { run: 'X=1; echo ${{X}} {{a,b}} $X >> told' } }"), ["1 {a,b} 1"]);
}

#[test]
fn raw_values_are_code_and_others_are_data() {
    let flow = "tasks: { t: { foreach: { x: ['-n; echo b'] }, run: 'echo {x} >> told; echo a {x:raw} >> told' } }";
    assert_eq!(told(flow), ["-n; echo b", "b"]);
}

#[test]
fn commands_see_their_files_quoted_numbered_and_by_name() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           make: { foreach: { i: 1..2 }, run: 'echo {i} > {out}', out: 'made {i}' }
           read:
             in: { ref: 'a b', parts: [{ all: make }] }
             out: { one: 'o ne', two: deep/two.txt }
             run: |
               printf '<%s>' {in} > {out.one}
               printf '<%s>' {in.0} {in.ref} {in.parts} {in.parts.name} '{out.two.dir}' \"{out.1.stem}\" > {out.two}",
    );
    sandbox.write("a b", "");
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sandbox.read("o ne"), "<a b><made 1><made 2>");
    assert_eq!(sandbox.read("deep/two.txt"), "<a b><a b><made 1><made 2><made 1><made 2><deep><two>");
}

#[test]
fn exec_gets_a_word_for_each_file() {
    let sandbox = Sandbox::with_flow(
        "tasks: { t: { exec: [printf, '<%s>', '{in}', 'x{in.1}', '{out.name}'], in: [a, 'b c'], stdout: d/o, out: d/o } }",
    );
    sandbox.write("a", "");
    sandbox.write("b c", "");
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sandbox.read("d/o"), "<a><b c><xb c><o>");
}

#[test]
fn a_file_is_never_taken_for_an_option() {
    let flow = "tasks:
      shell: { foreach: { f: '*.txt' }, run: 'cat {in} > {out}', in: '{f}', out: '-o/{f.name}' }
      exec: { exec: [cat, '{in}'], in: { all: shell }, stdout: all }";
    let sandbox = Sandbox::with_flow(flow);
    sandbox.write("--version.txt", "one\n");
    sandbox.write("-n.txt", "two\n");
    sandbox.run(&[]).expect_code(0);
    assert_eq!((sandbox.read("-o/-n.txt").as_str(), sandbox.read("all").as_str()), ("two\n", "one\ntwo\n"));
}

#[test]
fn commands_and_environments_know_what_they_may_use() {
    let flow = "tasks:
      t:
        foreach: { x: [a] }
        run: 'echo {cpus} {memory} {memory.mb} {memory.gb} {memory.gib} {attempt} {task} {gpus} $ROOM >> told'
        env: { ROOM: '{memory.mib}MiB for {task}' }
        cpus: 0.5
        memory: 3.2GB";
    let said = "0.5 3200000000 3200 3 2 1 t:a 0 3051MiB for t:a";
    assert_eq!(told_with(flow, &["--memory", "4GB"]), [said]);
}

#[test]
fn tuning_what_a_task_may_use_does_not_make_it_stale() {
    let flow = |cpus: &str| format!("tasks: {{ t: {{ run: 'echo {{cpus}} > {{out}}', out: o, cpus: {cpus} }} }}");
    let sandbox = Sandbox::with_flow(&flow("1"));
    sandbox.run(&[]).expect_code(0);
    sandbox.write("flow.yaml", &flow("0.5"));
    assert_eq!(sandbox.run(&[]).expect_code(0).number("up_to_date"), 1);
}

#[test]
fn a_file_named_twice_is_still_named_twice_in_the_command() {
    let sandbox = Sandbox::with_flow("tasks: { t: { run: 'echo {in} {in.1} > {out}', in: [a, a], out: o } }");
    sandbox.write("a", "");
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sandbox.read("o"), "a a a\n");
}

// Parameters.

const PARAMS: &str = "params: { size: 20, who: ann, cities: [Oslo, Rome], full: false }
tasks:
  t: { foreach: { c: '{cities}' }, run: 'echo {c} {size} {who} >> told', cpus: '0.{size}' }
  rest: { when: '{full}', run: echo rest >> told }
  most: { when: '{who} != ann', run: echo not ann >> told }";

#[test]
fn parameters_have_the_values_of_the_file() {
    assert_eq!(told(PARAMS), ["Oslo 20 ann", "Rome 20 ann"]);
}

#[test]
fn a_parameter_set_on_the_command_line_counts_most() {
    let sandbox = Sandbox::with_flow(PARAMS);
    sandbox.write("some.yaml", "size: 30\nwho: bob\n");
    sandbox.write("more.json", r#"{ "who": "cas", "cities": ["Bonn"] }"#);
    let set = ["--params", "some.yaml", "--params", "more.json", "--set", "size=40", "--set", "full=true"];
    sandbox.run(&set).expect_code(0);
    assert_eq!(sorted(&sandbox, "told"), ["Bonn 40 cas", "not ann", "rest"]);
}

#[test]
fn a_parameter_is_data_wherever_it_comes_from() {
    let all = "who=x; touch pwned # $(touch pwned)";
    let sandbox = Sandbox::with_flow(PARAMS);
    sandbox.run(&["--set", all, "--set", "cities=[a b]"]).expect_code(0);
    assert_eq!(sorted(&sandbox, "told"), ["a b 20 x; touch pwned # $(touch pwned)", "not ann"]);
    assert!(!sandbox.exists("pwned"));
}

#[test]
fn another_value_makes_the_tasks_stale_that_use_it_and_no_others() {
    let sandbox = Sandbox::with_flow(
        "params: { size: 20, other: 1 }
tasks:
  a: { run: 'echo {size} > {out}', out: a }
  b: { run: 'echo {other} > {out}', out: b }",
    );
    sandbox.run(&[]).expect_code(0);
    let result = sandbox.run(&["--set", "size=30"]).expect_code(0);
    assert_eq!((result.number("done"), result.number("up_to_date")), (1, 1));
    assert_eq!(sandbox.read("a"), "30\n");
}

#[test]
fn a_list_may_stand_in_a_list_of_files() {
    let sandbox = Sandbox::with_flow(
        "params: { files: [x, y] }
tasks: { t: { run: 'cat {in} > {out}', in: [first, '{files}'], out: o } }",
    );
    for file in ["first", "x", "y"] {
        sandbox.write(file, file);
    }
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sandbox.read("o"), "firstxy");
}

#[test]
fn a_task_left_out_is_no_mistake_for_those_that_wait_for_it() {
    let flow = "params: { check: false }
tasks:
  check: { when: '{check}', run: echo checked >> told; touch ok, out: ok }
  use: { after: check, in: [{ all: check }], run: echo used >> told }";
    assert_eq!(told(flow), ["used"]);
    assert_eq!(told_with(flow, &["--set", "check=yes"]), ["checked", "used"]);
}

#[test]
fn what_a_task_left_out_says_is_still_checked_but_its_files_need_not_be_there() {
    let flow = "params: { on: false }\ntasks: { a: { run: echo a >> told }, b: { when: '{on}', run: x, in: none } }";
    assert_eq!(told(flow), ["a"]);
    let sandbox = Sandbox::with_flow("params: { on: false }\ntasks: { b: { when: '{on}', run: x, inn: none } }");
    sandbox.run(&[]).expect_code(2);
}

// Several files.

#[test]
fn tasks_of_an_included_file_have_its_prefix_and_its_own_parameters() {
    let sandbox = Sandbox::with_flow(
        "include:
  - { file: parts/qc.yaml, prefix: qc, params: { depth: 5 } }
  - { file: parts/qc.yaml, prefix: late, params: { depth: 4 } }
tasks:
  all: { run: 'cat {in} > {out}', in: [{ all: qc.make }, { all: late.sum }], out: all }",
    );
    // Names are meant within their own file; paths are the workflow's.
    sandbox.write(
        "parts/qc.yaml",
        "params: { depth: 1, who: qc }
tasks:
  make: { foreach: { i: 1..2 }, run: 'echo {task} {depth} {who} > {out}', out: 'o/{who}{depth}{i}' }
  sum: { run: 'cat {in} > {out}', in: [{ all: make }], out: 'o/{who}{depth}' }",
    );
    sandbox.run(&["--set", "late.who=me", "--set", "late.depth=9"]).expect_code(0);
    assert_eq!(sandbox.read("all"), "qc.make:1 5 qc\nqc.make:2 5 qc\nlate.make:1 9 me\nlate.make:2 9 me\n");
}

#[test]
fn a_file_included_without_a_prefix_shares_its_parameters() {
    let sandbox = Sandbox::with_flow(
        "include: a/settings.yaml\nparams: { size: 7 }\ntasks: { t: { run: 'echo {size} {colour} >> told' } }",
    );
    sandbox.write(
        "a/settings.yaml",
        "include: b/more.json\nparams: { size: 1 }\ntasks: { u: { run: 'echo u{size} >> told' } }",
    );
    sandbox.write("a/b/more.json", r#"{ "params": { "colour": "red" } }"#);
    sandbox.run(&["--set", "colour=blue"]).expect_code(0);
    assert_eq!(sorted(&sandbox, "told"), ["7 blue", "u7"]);
}

#[test]
fn a_change_in_an_included_file_is_seen() {
    let sandbox = Sandbox::with_flow("include: part.yaml\ntasks: { b: { run: echo b > b, out: b } }");
    sandbox.write("part.yaml", "tasks: { a: { run: echo 1 > a, out: a } }");
    sandbox.run(&[]).expect_code(0);
    sandbox.write("part.yaml", "tasks: { a: { run: echo 2 > a, out: a } }");
    let result = sandbox.run(&[]).expect_code(0);
    assert_eq!((result.number("done"), result.number("up_to_date")), (1, 1));
    assert_eq!(sandbox.read("a"), "2\n");
}

#[test]
fn defaults_hold_for_the_tasks_of_their_file_that_say_nothing_else() {
    let sandbox = Sandbox::with_flow(
        "defaults: { env: { A: '1', B: '{who}' }, cpus: 0.5, dir: sub }
params: { who: ann }
include: other.yaml
tasks:
  plain: { run: 'echo {task} $A $B {cpus} $(basename $PWD) >> ../told' }
  own: { run: 'echo {task} $A $B {cpus} $(basename $PWD) >> ../told', env: { A: '2' }, cpus: 0.25 }",
    );
    sandbox.write("other.yaml", "tasks: { other: { run: 'echo {task} $A$B {cpus} >> told' } }");
    sandbox.run(&[]).expect_code(0);
    assert_eq!(sorted(&sandbox, "told"), ["other 1", "own 2 ann 0.25 sub", "plain 1 ann 0.5 sub"]);
}

/// Every way in which a command may hold a value, with values that try to become something else.
#[test]
fn values_stay_values_in_every_shell() {
    let values = [
        "$(touch pwned)",
        "`touch pwned`",
        "';touch pwned;#",
        "\\';touch pwned;#",
        "a[$(touch pwned)]",
        "(touch pwned)",
        "*",
        "1",
        "-n",
    ];
    let right = [
        "printf '%s\\n' {x}",
        "printf '%s\\n' \"{x}\"",
        "printf '%s\\n' '{x}'",
        "printf '%s\\n' {x}>&1",
        "V=; printf '%s\\n' $V{x}",
        "V=; printf '%s\\n' \"$V{x}\"",
        "true \\\n# it's a comment\nprintf '%s\\n' {x}",
        "printf '%s\\n' \"$(printf %s \"{x}\")\"",
        "case x in x) printf '%s\\n' {x};; esac",
    ];
    for shell in ["sh", "bash"] {
        let mut tasks = String::new();
        for (number, run) in right.iter().enumerate() {
            // A list of texts that YAML takes as they are.
            let run = serde_json::to_string(run).unwrap();
            let list = serde_json::to_string(&values).unwrap();
            tasks += &format!("  t{number}: {{ foreach: {{ x: {list} }}, run: {run}, shell: {shell} -e }}\n");
        }
        let sandbox = Sandbox::with_flow(&format!("tasks:\n{tasks}"));
        sandbox.run(&["--quiet"]).expect_code(0);
        assert!(!sandbox.exists("pwned"), "{shell}");
        for (number, run) in right.iter().enumerate() {
            for value in values {
                let printed = sandbox.throng(&["logs", "1", &format!("t{number}:{value}")]).expect_code(0).stdout;
                assert_eq!(printed, format!("{value}\n"), "{shell}: {run}");
            }
        }
    }
    let wrong = [
        "echo ${x}",
        "echo \"${x}\"",
        "echo $'{x}'",
        "(( y = {x} ))",
        "echo $[ {x} ]",
        "a[{x}]=1",
        "[[ {x} -gt 3 ]]",
        "cat <<E\n{x}\nE",
    ];
    for run in wrong {
        let run = serde_json::to_string(run).unwrap();
        let sandbox = Sandbox::with_flow(&format!(
            "tasks: {{ a: {{ foreach: {{ x: ['$(touch pwned)'] }}, run: {run}, shell: bash }} }}"
        ));
        sandbox.run(&[]).expect_code(2);
        assert!(!sandbox.exists("pwned"), "{run}");
    }
    let sandbox =
        Sandbox::with_flow("tasks: { a: { foreach: { x: ['qx/touch pwned/'] }, run: 'print {x}', shell: perl } }");
    sandbox.run(&[]).expect_code(2);
}
