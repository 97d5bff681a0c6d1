//! What tasks ask for and get: GPUs, things with names, memory that grows, and further attempts.

mod sandbox;

use std::collections::BTreeMap;

use sandbox::*;

#[track_caller]
fn sorted(sandbox: &Sandbox, file: &str) -> Vec<String> {
    let mut lines: Vec<String> = sandbox.read(file).lines().map(str::to_owned).collect();
    lines.sort();
    lines
}

/// Runs a workflow that fits, and returns what its tasks have appended to `told`, sorted.
#[track_caller]
fn told(flow: &str, arguments: &[&str]) -> Vec<String> {
    let sandbox = Sandbox::with_flow(flow);
    sandbox.run(arguments).expect_code(0);
    sorted(&sandbox, "told")
}

/// A command that notes when it begins and ends to hold an amount of something. Appending a line is one act, so
/// the order of the lines is one in which it may have happened.
fn holds(key: &str, amount: &str) -> String {
    format!("echo + {key} {amount} >> held; sleep 0.03; echo - {key} {amount} >> held")
}

/// The most that was ever held of each key at once.
#[track_caller]
fn most_held(sandbox: &Sandbox) -> BTreeMap<String, f64> {
    let (mut now, mut most) = (BTreeMap::<String, f64>::new(), BTreeMap::<String, f64>::new());
    for line in sandbox.read("held").lines() {
        let [sign, keys, amount] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("a torn line: {line}") };
        // Several ids come as one word.
        for key in keys.split(',') {
            let held = now.entry(key.to_owned()).or_default();
            *held += amount.parse::<f64>().expect("an amount") * if sign == "+" { 1.0 } else { -1.0 };
            let peak = most.entry(key.to_owned()).or_default();
            *peak = peak.max(*held);
        }
    }
    assert!(now.values().all(|held| held.abs() < 1e-9), "all was given back: {now:?}");
    most
}

/// Tasks that end only if all of them run at once; each has a demand of its own.
fn meeting(demands: &[&str]) -> String {
    let all: Vec<String> = (0..demands.len()).map(|number| format!("test -e here{number}")).collect();
    let wait = format!("until {}; do sleep 0.01; done", all.join(" && "));
    let task = |(number, demand): (usize, &&str)| {
        format!("  t{number}: {{ run: 'touch here{number}; {wait}', timeout: 20s, cpus: 0, {demand} }}\n")
    };
    format!("tasks:\n{}", demands.iter().enumerate().map(task).collect::<String>())
}

// Never more than there is, and not less.

#[test]
fn no_more_gpus_are_held_than_there_are_and_each_by_one_task() {
    let command = holds("$CUDA_VISIBLE_DEVICES", "1");
    let flow = format!("tasks: {{ t: {{ foreach: {{ i: 1..12 }}, run: '{command}', gpus: 1, cpus: 0 }} }}");
    let sandbox = Sandbox::with_flow(&flow);
    sandbox.run(&["--width", "8", "--resource", "gpus=[GPU-a,GPU-b]"]).expect_code(0);
    let most = most_held(&sandbox);
    assert_eq!(most.keys().collect::<Vec<_>>(), ["GPU-a", "GPU-b"]);
    assert!(most.values().all(|held| *held == 1.0), "{most:?}");
}

#[test]
fn halves_share_a_gpu_and_never_three_of_them() {
    let command = holds("$CUDA_VISIBLE_DEVICES", "0.5");
    let whole = holds("$CUDA_VISIBLE_DEVICES", "1");
    let sandbox = Sandbox::with_flow(&format!(
        "tasks:
           half: {{ foreach: {{ i: 1..12 }}, run: '{command}', gpus: 0.5, cpus: 0 }}
           whole: {{ foreach: {{ i: 1..4 }}, run: '{whole}', gpus: 1, cpus: 0 }}",
    ));
    sandbox.run(&["--width", "8", "--resource", "gpus=2"]).expect_code(0);
    let most = most_held(&sandbox);
    assert_eq!(most.keys().collect::<Vec<_>>(), ["0", "1"]);
    assert!(most.values().all(|held| *held <= 1.0), "{most:?}");
    // Both halves of one can be had at once.
    let sandbox = Sandbox::with_flow(&meeting(&["gpus: 0.5"; 2]));
    sandbox.run(&["--width", "2", "--resource", "gpus=1"]).expect_code(0);
}

#[test]
fn halves_leave_whole_gpus_to_those_who_need_one() {
    let sandbox = Sandbox::with_flow(&meeting(&["gpus: 0.5", "gpus: 0.5", "gpus: 1"]));
    sandbox.run(&["--width", "3", "--resource", "gpus=2"]).expect_code(0);
}

#[test]
fn amounts_with_names_are_kept_to_whatever_the_pack_policy() {
    let [two, one] = ["2", "0.5"].map(|amount| holds("x", amount));
    let flow = format!(
        "tasks:
           two: {{ foreach: {{ i: 1..5 }}, run: '{two}', resources: {{ license: 2 }}, cpus: 0 }}
           half: {{ foreach: {{ i: 1..10 }}, run: '{one}', resources: {{ license: 0.5 }}, cpus: 0 }}",
    );
    for pack in ["requests", "fixed"] {
        let sandbox = Sandbox::with_flow(&flow);
        sandbox.run(&["--width", "8", "--resource", "license=3", "--pack", pack]).expect_code(0);
        assert!(most_held(&sandbox)["x"] <= 3.0);
    }
    let sandbox = Sandbox::with_flow(&meeting(&["resources: { license: 1.5 }"; 2]));
    sandbox.run(&["--width", "2", "--resource", "license=3"]).expect_code(0);
}

#[test]
fn memory_and_cores_that_are_asked_for_are_not_given_twice() {
    let command = holds("x", "{memory.mb}");
    let cores = holds("cores", "{cpus}");
    let sandbox = Sandbox::with_flow(&format!(
        "tasks:
           memory: {{ foreach: {{ i: 1..8 }}, run: '{command}', memory: 400MB, cpus: 0 }}
           cores: {{ foreach: {{ i: 1..8 }}, run: '{cores}', cpus: 1.5 }}",
    ));
    sandbox.run(&["--width", "4", "--memory", "1GB"]).expect_code(0);
    let most = most_held(&sandbox);
    assert!(most["x"] <= 1000.0 && most["cores"] <= 4.0, "{most:?}");
}

#[test]
fn what_a_failed_task_held_is_free_again() {
    let flow = "tasks: { t: { foreach: { i: 1..3 }, run: 'exit {i}', resources: { license: 1 } } }";
    let sandbox = Sandbox::with_flow(flow);
    assert_eq!(sandbox.run(&["--resource", "license=1"]).expect_code(1).number("failed"), 3);
}

// What a task sees.

#[test]
fn a_task_is_told_which_units_and_how_much_it_holds() {
    let flow = "tasks:
      ids: { run: 'echo port $THRONG_RESOURCE_PORT >> told', resources: { port: 2 } }
      amount: { run: 'echo license $THRONG_RESOURCE_LICENSE >> told', resources: { license: 0.5 } }
      gpus: { run: 'echo gpus $CUDA_VISIBLE_DEVICES {gpus} >> told', gpus: 1.5 }
      none: { run: 'echo none ${{THRONG_RESOURCE_PORT-unset}} {gpus} >> told' }";
    let arguments = ["--resource", "port=[81,80]", "--resource", "license=2", "--resource", "gpus=2"];
    assert_eq!(told(flow, &arguments), ["gpus 0,1 1.5", "license 0.5", "none unset 0", "port 81,80"]);
}

#[test]
fn what_the_engine_was_told_of_gpus_is_what_there_is() {
    let sandbox = Sandbox::with_flow("tasks: { t: { run: 'echo $CUDA_VISIBLE_DEVICES > told', gpus: 1, out: told } }");
    let mut command = sandbox.command(&["run", "flow.yaml"]);
    finish(command.env("CUDA_VISIBLE_DEVICES", "5").spawn().unwrap()).expect_code(0);
    assert_eq!(sandbox.read("told"), "5\n");
    let mut command = sandbox.command(&["run", "flow.yaml", "--fresh"]);
    finish(command.env("CUDA_VISIBLE_DEVICES", "-1").spawn().unwrap()).expect_code(2);
}

#[test]
fn the_workflow_may_say_otherwise_what_a_task_sees() {
    let flow = "tasks: { t: { run: 'echo $CUDA_VISIBLE_DEVICES >> told', gpus: 1, env: { CUDA_VISIBLE_DEVICES: x } } }";
    assert_eq!(told(flow, &["--resource", "gpus=1"]), ["x"]);
}

// Alternatives.

#[test]
fn the_first_alternative_that_there_is_is_taken() {
    let flow = "tasks: { t: { run: 'echo {gpus} {cpus} {memory.mb} >> told', memory: 2MB,
                              resources: [{ gpus: 1 }, { cpus: 2, memory: 3MB }] } }";
    assert_eq!(told(flow, &["--width", "2", "--resource", "gpus=1"]), ["1 1 2"]);
    assert_eq!(told(flow, &["--width", "2"]), ["0 2 3"]);
}

#[test]
fn an_alternative_is_taken_while_the_first_is_held() {
    let sandbox = Sandbox::with_flow(&meeting(&["resources: [{ gpus: 1 }, { license: 1 }]"; 2]));
    sandbox.run(&["--width", "2", "--resource", "gpus=1", "--resource", "license=1"]).expect_code(0);
}

#[test]
fn a_task_may_do_without_what_the_defaults_ask_for() {
    let flow = "defaults: { gpus: 1 }\ntasks: { t: { run: 'echo {gpus} >> told', gpus: 0 } }";
    assert_eq!(told(flow, &[]), ["0"]);
}

// What never fits.

#[test]
fn what_can_never_run_is_told_before_anything_is_written() {
    for (demand, words) in [
        ("cpus: 3", "asks for 3 cores"),
        ("memory: 5GB", "5.0 GB of memory"),
        ("gpus: 1", "1 of `gpus`"),
        ("gpus: 3", "3 of `gpus`"),
        ("resources: { license: 2.5 }", "2.5 of `license`"),
        ("resources: { licence: 1 }", "1 of `licence`"),
        ("resources: [{ gpus: 9 }, { cpus: 9 }]", "9 of `gpus`, or 9 cores"),
    ] {
        let sandbox = Sandbox::with_flow(&format!(
            "tasks: {{ fits: {{ run: touch made, out: made }}, big: {{ run: x, {demand} }} }}"
        ));
        let gpus = if demand == "gpus: 1" { "gpus=0" } else { "gpus=2" };
        let there = ["--width", "2", "--memory", "4GB", "--resource", gpus, "--resource", "license=2"];
        let result = sandbox.run(&there).expect_code(2);
        assert!(result.stderr.contains("task `big` can never run here"), "{}", result.stderr);
        assert!(result.stderr.contains(words) && result.stderr.contains("= help: "), "{}", result.stderr);
        assert!(!sandbox.exists(".throng") && !sandbox.exists("made"));
    }
}

#[test]
fn the_words_that_go_on_say_again_what_there_is() {
    let sandbox =
        Sandbox::with_flow("tasks: { t: { run: exit 1, gpus: 1, resources: { license: 0.5 }, memory: 2MB } }");
    let there = ["--resource", "gpus=[a,b]", "--resource", "license=1.5", "--memory", "3MB"];
    let result = sandbox.run(&there).expect_code(1);
    let words = result.stderr.split('`').find(|words| words.starts_with("throng run ")).expect("the words");
    assert_eq!(words, "throng run flow.yaml --memory 3000000 --resource 'gpus=[a,b]' --resource license=1.5");
}

#[test]
fn what_is_up_to_date_need_not_fit() {
    let sandbox = Sandbox::with_flow("tasks: { t: { run: touch made, out: made, gpus: 1 } }");
    sandbox.run(&["--resource", "gpus=1"]).expect_code(0);
    assert_eq!(sandbox.run(&[]).expect_code(0).number("up_to_date"), 1);
}

#[test]
fn nonsense_about_what_there_is_is_refused() {
    // The same unit twice would be given to two tasks at once.
    let nonsense = [
        "gpus=[0,1,0]",
        "gpus=1.5",
        "license",
        "=3",
        "license=-1",
        "license=many",
        "license=NaN",
        "license=inf",
        "gpus=[]",
        "cpus=3",
    ];
    for wrong in nonsense {
        let sandbox = Sandbox::with_flow("tasks: { t: { noop: true } }");
        sandbox.run(&["--resource", wrong]).expect_code(2);
        assert!(!sandbox.exists(".throng"), "{wrong}");
    }
    let sandbox = Sandbox::with_flow("tasks: { t: { noop: true } }");
    sandbox.run(&["--resource", "license=1", "--resource", "license=2"]).expect_code(2);
}

// Further attempts.

/// How many attempts are made at a task that fails in a way; `retries` is what the workflow says about them.
#[track_caller]
fn attempts(retries: &str, fails: &str) -> usize {
    let sandbox = Sandbox::with_flow(&format!("tasks: {{ t: {{ {fails}, retries: {retries} }} }}"));
    sandbox.run(&[]).expect_code(1);
    let status = sandbox.throng(&["status", "1", "t", "--json"]).expect_code(0).json();
    status["history"].as_array().expect("a history").iter().filter(|entry| entry["outcome"].is_string()).count()
}

#[test]
fn only_the_codes_that_are_given_are_worth_another_attempt() {
    assert_eq!(attempts("{ times: 1, codes: [75, 100..110] }", "run: 'exit 75'"), 2);
    assert_eq!(attempts("{ times: 1, codes: [75, 100..110] }", "run: 'exit 110'"), 2);
    assert_eq!(attempts("{ times: 1, codes: [75, 100..110] }", "run: 'exit 111'"), 1);
    assert_eq!(attempts("{ codes: 3 }", "run: 'exit 3'"), 2);
}

#[test]
fn a_signal_counts_as_128_and_its_number() {
    assert_eq!(attempts("{ times: 1, codes: [137] }", "run: 'kill -9 $$'"), 2);
    assert_eq!(attempts("{ times: 1, codes: [9] }", "run: 'kill -9 $$'"), 1);
}

#[test]
fn a_timeout_counts_as_124_however_the_task_takes_it() {
    assert_eq!(attempts("{ times: 1, codes: [124] }", "run: sleep 30, timeout: 50ms"), 2);
    assert_eq!(attempts("{ times: 1, codes: [143] }", "run: sleep 30, timeout: 50ms"), 1);
}

#[test]
fn a_missing_output_has_no_code() {
    let flow = |retries| format!("tasks: {{ t: {{ run: echo x >> tries, out: o, retries: {retries} }} }}");
    for (retries, attempts) in [("{ times: 1, codes: [1..255] }", 1), ("1", 2)] {
        let sandbox = Sandbox::with_flow(&flow(retries));
        sandbox.run(&[]).expect_code(1);
        assert_eq!(sandbox.read("tries").lines().count(), attempts);
    }
}

#[test]
fn memory_grows_with_each_attempt_but_never_beyond_the_machine() {
    let flow = "tasks: { t: { run: 'echo {attempt} {memory.mb} >> told; test {attempt} = 3', memory: 400MB * attempt,
                              retries: 2 } }";
    assert_eq!(told(flow, &["--memory", "2GB"]), ["1 400", "2 800", "3 1200"]);
    assert_eq!(told(flow, &["--memory", "1GB"]), ["1 400", "2 800", "3 800"]);
}

#[test]
fn grown_memory_is_reserved_too() {
    let flow = "tasks:
      grows: { run: 'echo + x {memory.mb} >> held; sleep 0.03; echo - x {memory.mb} >> held; test {attempt} = 2',
               foreach: { i: 1..4 }, memory: 300MB*attempt, retries: 1, cpus: 0 }";
    let sandbox = Sandbox::with_flow(flow);
    sandbox.run(&["--width", "8", "--memory", "1GB"]).expect_code(0);
    assert!(most_held(&sandbox)["x"] <= 1000.0);
    assert!(sandbox.read("held").contains("+ x 600"));
}
