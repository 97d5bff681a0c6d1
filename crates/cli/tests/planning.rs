//! `throng plan`, as somebody sees it.

mod sandbox;

use sandbox::Sandbox;

const FLOW: &str = "tasks:\n  cut: { run: 'true', foreach: { i: 1..4 }, out: 'c{i}', estimate: { time: 60s } }\n  \
                    join: { run: 'true', in: [{ all: cut }], out: j, estimate: { time: 120s } }\n";
const MACHINES: &str = "machines:\n  small: { price: 0.60 }\n  large: { price: 1.80, speed: 2 }\n";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("flow.yaml", FLOW);
    sandbox.write("machines.yaml", MACHINES);
    sandbox
}

#[test]
fn for_a_budget_for_a_deadline_and_neither() {
    let sandbox = sandbox();
    let plan = |more: &[&str]| {
        let arguments = [&["plan", "flow.yaml", "--machines", "machines.yaml"], more].concat();
        sandbox.throng(&arguments).expect_code(0).stdout
    };
    // Cheapest: 4 · 60 s + 120 s for 0.01 a minute each: 0.06, and 180 s. `join` on the large one saves 60 s for 0.01.
    let said = plan(&["--budget", "0.07", "--planner", "optimal"]);
    assert!(said.contains("5 tasks in 2 stages, 2 types of machines"), "{said}");
    assert!(said.contains("2 min 00 s") && said.contains("$0.0700, 100.0 % of the budget"), "{said}");
    assert!(said.contains("proven: no plan is better"), "{said}");
    let said = plan(&["--deadline", "100s", "--explain", "--planner", "greedy-stage"]);
    assert!(said.contains("1 min 30 s") && said.contains("more money brings nothing"), "{said}");
    let said = plan(&["--planner", "optimal"]);
    assert!(said.contains("3 plans by optimal: no plan is better") && said.contains("◀ knee"), "{said}");
    let json: serde_json::Value = serde_json::from_str(&plan(&["--budget", "0.07", "--json"])).unwrap();
    assert_eq!((&json["plan"]["cost"], &json["plan"]["makespan_ns"]), (&"0.07".into(), &120_000_000_000u64.into()));
    assert_eq!((&json["plan"]["tasks"]["join"], &json["plan"]["tasks"]["cut:3"]), (&"large".into(), &"small".into()));
    assert_eq!(json["times"][0]["source"], "derived");
}

#[test]
fn every_planner_keeps_the_budget() {
    let sandbox = sandbox();
    for planner in [
        "greedy",
        "greedy-stage",
        "optimal",
        "cheapest",
        "loss",
        "loss:weights=makespan",
        "loss:weights=again",
        "gain",
        "gain:weights=makespan",
        "gain:weights=again",
        "critical-greedy",
        "ggb",
        "b-rate",
        "b-swap",
        "ic-pcp",
        "fit",
    ] {
        let arguments =
            ["plan", "flow.yaml", "--machines", "machines.yaml", "--budget", "0.09", "--planner", planner, "--json"];
        let said = sandbox.throng(&arguments).expect_code(0).stdout;
        let json: serde_json::Value = serde_json::from_str(&said).unwrap();
        let cost: f64 = json["plan"]["cost"].as_str().unwrap().parse().unwrap();
        assert!((0.06..=0.09).contains(&cost), "{planner}: {said}");
    }
}

#[test]
fn a_plan_is_a_file_and_a_picture() {
    let sandbox = sandbox();
    let arguments = ["plan", "flow.yaml", "--machines", "machines.yaml", "--budget", "0.07", "--out", "plan.yaml"];
    sandbox.throng(&[&arguments[..], &["--plot", "curve.svg", "--planner", "greedy-stage"]].concat()).expect_code(0);
    let plan = sandbox.read("plan.yaml");
    assert!(plan.starts_with("throng-plan: 1\nworkflow: flow\nplanner: greedy-stage\nbudget: 0.07\n"), "{plan}");
    assert!(plan.ends_with("makespan: 120s\ncost: 0.07\nbound: 120s\ntasks:\n  cut: small\n  join: large\n"), "{plan}");
    assert!(sandbox.read("curve.svg").contains("knee"));
    let here = sandbox.throng(&[&arguments[..6], &["--out", "-", "--planner", "greedy-stage"]].concat()).expect_code(0);
    assert_eq!(here.stdout, plan);
}

#[test]
fn a_task_may_have_times_of_its_own() {
    let sandbox = sandbox();
    let trim = "trim: { kind: cut, run: trim, estimate: { time: 80s } }";
    sandbox.write(
        "each.yaml",
        &format!("tasks: {{ cut: {{ foreach: {{ i: 1..3 }}, run: 'cut {{i}}', estimate: {{ time: 60s }} }}, {trim} }}"),
    );
    sandbox.write("times.yaml", "times: { 'cut:2': { small: { time: 10m, spread: 3s } }, 'cut:9': { small: 1s } }");
    let plan = ["plan", "each.yaml", "--machines", "machines.yaml", "--times", "times.yaml", "--planner", "cheapest"];
    let said = sandbox.throng(&[&plan[..], &["--explain"]].concat()).expect_code(0);
    assert!(said.stderr.contains("there are times for `cut:9`, and no task has that name"), "{}", said.stderr);
    let told = said.stdout.split("how long tasks take:\n").nth(1).unwrap();
    let lines: Vec<String> =
        told.lines().take(4).map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    let expected = [
        "cut small 1 min 00 s to 1 min 20 s derived",
        "cut large 30.0 s to 40.0 s derived",
        "cut:2 small 10 min 00 s ± 3.0 s given",
        "cut:2 large 5 min 00 s ± 1.5 s derived",
    ];
    assert_eq!(lines, expected, "{told}");
    let json: serde_json::Value =
        serde_json::from_str(&sandbox.throng(&[&plan[..], &["--json"]].concat()).expect_code(0).stdout).unwrap();
    assert_eq!((&json["times"][2]["task"], &json["times"][0]["task"]), (&"cut:2".into(), &serde_json::Value::Null));
}

#[test]
fn programs_are_told_what_could_be_as_well() {
    let sandbox = sandbox();
    let ask = |limits: &[&str]| {
        let arguments = [&["plan", "flow.yaml", "--machines", "machines.yaml", "--json"], limits].concat();
        let said = sandbox.throng(&arguments).expect_code(2).stdout;
        let json: serde_json::Value = serde_json::from_str(&said).unwrap();
        assert!(json["plan"].is_null(), "{said}");
        json["infeasible"].clone()
    };
    let limits =
        |budget: Option<&str>, deadline: Option<u64>| serde_json::json!({ "budget": budget, "deadline_ns": deadline });
    let (minute, minute_and_half) = (60_000_000_000, 90_000_000_000);
    let too_little = ask(&["--budget", "0.05"]);
    assert_eq!(too_little["least_cost"], "0.06");
    assert_eq!(too_little["feasible_limits"], serde_json::json!([limits(Some("0.06"), None)]));
    let too_early = ask(&["--deadline", "1m"]);
    assert_eq!(too_early["least_makespan_ns"], minute_and_half);
    assert_eq!(too_early["feasible_limits"], serde_json::json!([limits(None, Some(minute_and_half))]));
    let both = ask(&["--deadline", "90s", "--budget", "0.07"]);
    assert_eq!(
        (&both["least_cost_in_time"], &both["least_makespan_for_budget_ns"]),
        (&"0.09".into(), &(2 * minute).into())
    );
    let either = [limits(Some("0.09"), Some(minute_and_half)), limits(Some("0.07"), Some(2 * minute))];
    assert_eq!(both["feasible_limits"], serde_json::json!(either));
}

#[test]
fn what_cannot_be_is_told_with_what_could() {
    let sandbox = sandbox();
    sandbox.write("timeless.yaml", "tasks: { x: { run: 'true' } }");
    sandbox.write("gpus.yaml", "tasks: { x: { run: 'true', gpus: 1, estimate: { time: 1s } } }");
    sandbox.write("odd.yaml", "machines: { small: { prize: 3 } }");
    sandbox.write("times.yaml", "times: { cut: { smal: 3s } }");
    for (arguments, messages) in [
        (
            vec!["flow.yaml", "--machines", "machines.yaml", "--budget", "0.05"],
            vec!["$0.0100 too small", "give --budget 0.06 or more"],
        ),
        (
            vec!["flow.yaml", "--machines", "machines.yaml", "--deadline", "1m"],
            vec!["30.0 s too early", "--deadline 1m30s or more"],
        ),
        (
            vec!["flow.yaml", "--machines", "machines.yaml", "--deadline", "90s", "--budget", "0.07"],
            vec![
                "keeps both",
                "it costs $0.0900",
                "it takes 2 min 00 s",
                "--budget 0.09 or more, or --deadline 2m or more",
            ],
        ),
        (
            vec!["flow.yaml", "--machines", "machines.yaml", "--planner", "fastest", "--budget", "0.05"],
            vec!["give --budget 0.09 or more"],
        ),
        (
            vec!["flow.yaml", "--machines", "machines.yaml", "--deadline", "1m", "--budget", "0.05"],
            vec!["give --budget 0.09 or more and --deadline 1m30s or more"],
        ),
        (vec!["gpus.yaml", "--machines", "machines.yaml"], vec!["ask for GPUs", "`x`", "only ask for cpus and memory"]),
        (
            vec!["flow.yaml", "--machines", "machines.yaml", "--out", "-", "--json"],
            vec!["--out and --json would both write to standard output"],
        ),
        (
            vec!["flow.yaml", "--machines", "machines.yaml", "--out", "./flow.yaml"],
            vec!["--out would write over ./flow.yaml"],
        ),
        (
            vec!["timeless.yaml", "--machines", "machines.yaml"],
            vec!["nobody knows how long", "`x`", "give them an `estimate`"],
        ),
        (vec!["flow.yaml", "--machines", "odd.yaml"], vec!["odd.yaml:1:22", "did you mean `price`?"]),
        (vec!["flow.yaml", "--machines", "none.yaml"], vec!["cannot read none.yaml"]),
        (
            vec!["flow.yaml", "--machines", "machines.yaml", "--times", "times.yaml"],
            vec!["machine `smal`", "did you mean `small`?"],
        ),
        (vec!["flow.yaml", "--machines", "machines.yaml", "--planner", "greed"], vec!["did you mean `greedy`?"]),
    ] {
        let said = sandbox.throng(&[&["plan"], &arguments[..]].concat()).expect_code(2).stderr;
        assert!(messages.iter().all(|message| said.contains(message)), "{arguments:?}: {said}");
    }
}

#[test]
fn what_no_planner_minds_is_told() {
    let sandbox = sandbox();
    let plan = |more: &[&str]| {
        let arguments = [&["plan", "flow.yaml", "--machines", "machines.yaml", "--budget", "9"], more].concat();
        sandbox.throng(&arguments).expect_code(0).stderr
    };
    assert_eq!(plan(&["--planner", "greedy"]), "");
    sandbox.write("machines.yaml", "billing: hour\nmachines: { small: { price: 0.60, count: 3 } }\n");
    let said = plan(&["--planner", "greedy"]);
    assert!(said.contains("planned without `count`, `billing`") && said.contains("--instances"), "{said}");
    assert_eq!((plan(&[]), plan(&["--planner", "greedy", "--instances"])), (String::new(), String::new()));
}

#[test]
fn what_runs_have_learnt_is_planned_with() {
    let sandbox = sandbox();
    sandbox.write("learnt.yaml", "tasks: { x: { run: 'sleep 0.2', foreach: { i: 1..3 } } }");
    sandbox.throng(&["run", "learnt.yaml"]).expect_code(0);
    let said = sandbox.throng(&["plan", "learnt.yaml", "--machines", "machines.yaml"]).expect_code(0).stdout;
    assert!(said.contains("1 learnt") && said.contains("from 3 tasks, on what is most like it: "), "{said}");
}

#[test]
fn a_name_that_a_machine_was_given_counts_more_than_what_it_is_like() {
    let sandbox = sandbox();
    sandbox.write("flow.yaml", "tasks: { x: { run: 'sleep 0.2', foreach: { i: 1..3 } } }");
    let times = |sandbox: &Sandbox, more: &[&str]| {
        let arguments = [&["plan", "flow.yaml", "--machines", "machines.yaml", "--json"], more].concat();
        sandbox.throng(&arguments).expect_code(0).json()
    };
    for (machine, other) in [("small", "large"), ("large", "small")] {
        sandbox.throng(&["run", "flow.yaml", "--fresh", "--machine-type", machine]).expect_code(0);
        let known = times(&sandbox, &[]);
        let row = |name: &str| {
            let rows = known["times"].as_array().unwrap();
            rows.iter().find(|row| row["machine"] == name).unwrap_or_else(|| panic!("{known}")).clone()
        };
        assert_eq!(row(machine)["source"], "learnt", "{known}");
        assert!(row(machine)["time_ns"].as_u64().unwrap() >= 200_000_000, "{known}");
        assert!(row(machine)["spread_ns"].as_u64().unwrap() > 0, "{known}");
        // The first time, one type has been seen; then both have.
        assert_eq!(row(other)["source"], if machine == "small" { "derived" } else { "learnt" }, "{known}");
    }
    let by_name = times(&sandbox, &[])["learnt"].clone();
    assert_eq!((by_name[0]["by"].as_str(), by_name[1]["by"].as_str()), (Some("name"), Some("name")), "{by_name}");
    // The same is known elsewhere, from the directory or from a trace.
    sandbox.throng(&["export", "flow.yaml", "--run", "last", "--output", "trace.json"]).expect_code(0);
    let elsewhere = Sandbox::new();
    for file in ["flow.yaml", "machines.yaml", "trace.json"] {
        std::fs::copy(sandbox.path().join(file), elsewhere.path().join(file)).unwrap();
    }
    let plan =
        |more: &[&str]| elsewhere.throng(&[&["plan", "flow.yaml", "--machines", "machines.yaml"], more].concat());
    assert!(plan(&[]).expect_code(2).stderr.contains("nobody knows how long"));
    let told = plan(&["--learn-from", &sandbox.path().display().to_string()]).expect_code(0).stdout;
    assert!(told.contains("times 2 learnt") && told.contains("learnt on large from 3 tasks"), "{told}");
    let told = plan(&["--learn-from", "trace.json"]).expect_code(0).stdout;
    assert!(told.contains("times 1 learnt, 1 derived") && told.contains("on what is most like it"), "{told}");
    let told = plan(&["--learn-from", "."]).expect_code(2).stderr;
    assert!(told.contains("nothing has been learnt in ."), "{told}");
    elsewhere.write("other.yaml", "tasks: { z: { run: 'true', estimate: { time: 1s } } }");
    let other = ["plan", "other.yaml", "--machines", "machines.yaml", "--learn-from", "trace.json"];
    assert!(elsewhere.throng(&other).expect_code(0).stderr.contains("warning: nothing is learnt from trace.json"));
}

/// Two machines by the hour, with a minute to start, and data of 10 s between tasks.
const RENTED: &str = "currency: EUR\nbilling: hour\nmachines:\n  \
                      one: { price: 0.10, cpus: 2, count: 3, start: 1m, bandwidth: 10MB }\n  \
                      two: { price: 0.30, cpus: 4, speed: 2, count: 1, start: 1m, bandwidth: 10MB }\n";
const MOVING: &str = "tasks:\n  cut: { run: 'true', foreach: { i: 1..8 }, out: [{ path: 'c{i}', size: 100MB }], estimate: { time: 600s } }\n  \
                      join: { run: 'true', in: [{ all: cut }], out: j, estimate: { time: 300s } }\n";

#[test]
fn instances_are_rented_and_a_simulated_run_holds_to_them() {
    let sandbox = Sandbox::new();
    sandbox.write("flow.yaml", MOVING);
    sandbox.write("machines.yaml", RENTED);
    let plan = |more: &[&str]| {
        let arguments = [&["plan", "flow.yaml", "--machines", "machines.yaml"], more].concat();
        sandbox.throng(&arguments).expect_code(0).stdout
    };
    // One machine of the first type: a minute, four times two tasks, and the last, with everything where it is: 46 minutes for an hour's price.
    let said = plan(&["--budget", "0.10", "--explain"]);
    assert!(said.contains("46 min 00 s") && said.contains("0.1000 EUR, 100.0 % of the budget"), "{said}");
    assert!(said.contains("join on one-1, behind cut:"), "{said}");
    assert!(said.contains("where more money would go, the least first:") && said.contains(" more "), "{said}");
    assert!(said.contains("  bound "), "{said}");
    // All of both: the fast one takes four at a time for 5 minutes each, and the others bring it what they made.
    for (limits, planner) in
        [(["--budget", "0.60"], "fit"), (["--deadline", "20m"], "fit"), (["--budget", "0.60"], "greedy")]
    {
        let said =
            plan(&[&limits[..], &["--planner", planner, "--instances", "--out", "plan.yaml", "--json"]].concat());
        let planned: serde_json::Value = serde_json::from_str(&said).unwrap();
        let arguments = ["simulate", "flow.yaml", "--plan", "plan.yaml", "--machines", "machines.yaml", "--json"];
        let said = sandbox.throng(&arguments).expect_code(0).stdout;
        let simulated: serde_json::Value = serde_json::from_str(&said).unwrap();
        assert_eq!(simulated["plan"]["cost"], planned["plan"]["cost"], "{limits:?} {planner}");
        let [ran, plan] =
            [&simulated["result"]["makespan_ns"], &planned["plan"]["makespan_ns"]].map(|ns| ns.as_f64().unwrap());
        assert!((ran / plan - 1.0).abs() < 0.05, "{limits:?} {planner}: planned {plan}, ran {ran}");
    }
    // A plan of types: tasks run on as many machines of their type as there are.
    plan(&["--budget", "0.60", "--planner", "optimal", "--out", "types.yaml"]);
    let arguments = ["simulate", "flow.yaml", "--plan", "types.yaml", "--machines", "machines.yaml"];
    let said = sandbox.throng(&arguments).expect_code(0).stdout;
    assert!(said.contains("cost ") && said.contains("× "), "{said}");
    for (arguments, message) in [
        (vec!["--plan", "types.yaml", "--machines", "2x4"], "these are only listed"),
        (vec!["--machines", "machines.yaml"], "what can be rented, and not what is"),
        (vec!["--plan", "machines.yaml", "--machines", "machines.yaml"], "unknown key `billing` in a plan"),
        (vec!["--plan", "types.yaml", "--machines", "machines.yaml", "--compare", "cache=1GB"], "for one cluster"),
    ] {
        let said = sandbox.throng(&[&["simulate", "flow.yaml"], &arguments[..]].concat()).expect_code(2).stderr;
        assert!(said.contains(message), "{arguments:?}: {said}");
    }
}

#[test]
fn workflows_with_plans_of_their_own_share_a_cluster() {
    let sandbox = Sandbox::new();
    for (name, file) in [("north", "n"), ("south", "s")] {
        sandbox.write(
            &format!("{name}.yaml"),
            &MOVING.replace("'c{i}'", &format!("'{file}{{i}}'")).replace("out: j", &format!("out: {file}")),
        );
    }
    sandbox.write("machines.yaml", RENTED);
    let both = "include: [{ file: north.yaml, prefix: north }, { file: south.yaml, prefix: south }]\ntasks: {}\n";
    sandbox.write("both.yaml", both);
    let plan = |flow: &str, more: &[&str]| {
        let [flow, out] = [format!("{flow}.yaml"), format!("{flow}.plan")];
        let arguments = [&["plan", &flow, "--machines", "machines.yaml", "--out", &out, "--json"], more].concat();
        sandbox.throng(&arguments).expect_code(0).json()
    };
    let simulate =
        |more: &[&str]| sandbox.throng(&[&["simulate", "both.yaml", "--machines", "machines.yaml"], more].concat());
    let plans = ["--plan", "north=north.plan", "--plan", "south=south.plan"];
    // Instances of their own: nobody is in the other's way.
    let planned = [plan("north", &["--budget", "0.10"]), plan("south", &["--deadline", "30m"])];
    let ran = simulate(&[&plans[..], &["--json"]].concat()).expect_code(0).json();
    assert_eq!(ran["plan"]["cost"], ran["plan"]["planned_cost"], "{ran}");
    for (part, planned) in ran["plan"]["parts"].as_array().unwrap().iter().zip(&planned) {
        assert_eq!(part["planned_cost"], planned["plan"]["cost"], "{ran}");
        assert_eq!(part["planned_makespan_ns"], planned["plan"]["makespan_ns"], "{ran}");
        let [ran, planned] = ["makespan_ns", "planned_makespan_ns"].map(|key| part[key].as_f64().unwrap());
        assert!((ran / planned - 1.0).abs() < 0.05, "planned {planned}, ran {ran}");
    }
    let told = simulate(&plans).expect_code(0).stdout;
    assert!(
        told.contains("  north        46 min 00.0 s  planned 46 min 00.0 s\n") && told.contains("  south "),
        "{told}"
    );
    // The one of the fast type is wanted by both.
    for flow in ["north", "south"] {
        plan(flow, &["--deadline", "15m"]);
    }
    let told = simulate(&plans).expect_code(2).stderr;
    assert!(told.contains("the plans rent") && told.contains("of `two` at the same time, and 1 can be had"), "{told}");
    // Only types: they queue for the machines, and what one of them takes longer than alone is told.
    for flow in ["north", "south"] {
        plan(flow, &["--planner", "fastest"]);
    }
    let ran = simulate(&[&plans[..], &["--json"]].concat()).expect_code(0).json();
    let ends = [0, 1].map(|part| ran["plan"]["parts"][part]["makespan_ns"].as_u64().unwrap());
    assert_eq!(ends.iter().max(), ran["result"]["makespan_ns"].as_u64().as_ref(), "{ran}");
    for (arguments, messages) in [
        (vec!["--plan", "north=north.plan"], ["no plan says anything of the task `south.cut:1`", "--plan PREFIX=FILE"]),
        (vec!["--plan", "nort=north.plan", "--plan", "south=south.plan"], ["no part", "did you mean `north`?"]),
        (vec!["--plan", "north=north.plan", "--plan", "north=north.plan"], ["two plans say", "for each prefix"]),
        (vec!["--plan", "north.plan"], ["the workflow has no task `cut`", "--plan north=FILE"]),
    ] {
        let told = simulate(&arguments).expect_code(2).stderr;
        assert!(messages.iter().all(|message| told.contains(message)), "{arguments:?}: {told}");
    }
}

#[test]
fn no_machine_has_more_cores_than_can_be_simulated() {
    let sandbox = sandbox();
    let machine = |element: &str, cpus: u32| {
        format!(
            "<machineTypes><machineType name='m'><{element}>{cpus}</{element}><chargeRate>1</chargeRate></machineType></machineTypes>"
        )
    };
    sandbox.write("wide.yaml", "machines: { m: { cpus: 4097, price: 1 } }\n");
    sandbox.write("wide.xml", &machine("numProcessors", 4097));
    for file in ["wide.yaml", "wide.xml"] {
        let said = sandbox.throng(&["plan", "flow.yaml", "--machines", file]).expect_code(2).stderr;
        assert!(said.contains("cannot be `4097`") && said.contains("a whole number from 1 to 4096"), "{said}");
    }
    // Each of them may be, and many of them may not.
    sandbox.write("many.yaml", "tasks: { x: { run: 'true', foreach: { i: 1..5000 }, estimate: { time: 1s } } }");
    sandbox.write("wide.xml", &machine("numProcessors", 4096));
    let plan = ["plan", "many.yaml", "--machines", "wide.xml", "--planner", "cheapest", "--out", "plan.yaml"];
    sandbox.throng(&plan).expect_code(0);
    let simulate = ["simulate", "many.yaml", "--machines", "wide.xml", "--plan", "plan.yaml"];
    let said = sandbox.throng(&simulate).expect_code(2).stderr;
    assert!(said.contains("more than 16,777,216 cores") && said.contains("a smaller `count`"), "{said}");
}

#[test]
fn files_in_which_there_is_nothing_are_refused() {
    let sandbox = sandbox();
    let with = |option: &'static str| vec!["plan", "flow.yaml", "--machines", "machines.yaml", option];
    let simulate = vec!["simulate", "flow.yaml", "--machines", "machines.yaml", "--plan"];
    for (nothing, text) in
        [("empty", &b""[..]), ("space", b" \n\t\n"), ("mark", b"\xef\xbb\xbf"), ("half", b"\xc3"), ("tick", b"\"")]
    {
        for ending in ["json", "yaml", "xml"] {
            let file = format!("{nothing}.{ending}");
            std::fs::write(sandbox.path().join(&file), text).unwrap();
            for arguments in
                [vec!["plan", "flow.yaml", "--machines"], with("--times"), with("--learn-from"), simulate.clone()]
            {
                let ran = sandbox.throng(&[&arguments[..], &[&file]].concat());
                assert!(ran.code == 2 && ran.stderr.contains("= help: "), "{arguments:?} {file}: {ran:?}");
            }
        }
    }
}

#[test]
fn names_longer_than_anybody_reads_are_shown_in_part() {
    let sandbox = Sandbox::new();
    let long = "x".repeat(70_000);
    sandbox.write(
        "flow.yaml",
        &format!("tasks: {{ {long}: {{ run: 'true', kind: {long}, estimate: {{ time: 60s }} }} }}"),
    );
    sandbox.write("machines.yaml", &format!("machines: {{ {long}: {{ price: 1 }} }}"));
    for planner in ["fit", "greedy"] {
        let plan =
            ["plan", "flow.yaml", "--machines", "machines.yaml", "--budget", "9", "--explain", "--planner", planner];
        let said = sandbox.throng(&[&plan[..], &["--out", "plan.yaml"]].concat()).expect_code(0).stdout;
        assert!(said.contains("xx…xx") && said.lines().all(|line| line.chars().count() < 200), "{said}");
        let simulate = ["simulate", "flow.yaml", "--machines", "machines.yaml", "--plan", "plan.yaml"];
        let said = sandbox.throng(&simulate).expect_code(0).stdout;
        assert!(said.contains("1 × xx") && said.lines().all(|line| line.chars().count() < 200), "{said}");
    }
}

#[test]
fn names_cannot_move_the_cursor() {
    let sandbox = sandbox();
    // Red, a carriage return, and a new line, in names of machines and kinds.
    let odd = r"\e[31m\r\nok\x9b";
    sandbox.write("odd.yaml", &format!("currency: \"{odd}\"\nmachines: {{ \"{odd}\": {{ price: 1 }} }}"));
    sandbox.write("flow.yaml", &format!("name: \"{odd}\"\ntasks: {{ x: {{ run: 'sleep 0.1', kind: x }} }}"));
    sandbox.write("kind.yaml", &format!("times: {{ \"{odd}\": {{ \"{odd}\": 1s }}, x: {{ \"{odd}\": 1s }} }}"));
    sandbox
        .write("machine.yaml", &format!("times: {{ x: {{ \"{odd}!\": 1s, \"zzzzzzzzzzzzzzzzzzzzzzzzzzz\": 1s }} }}"));
    sandbox.write("far.yaml", "times: { x: { zzzzzzzzzzzzzzzzzzzzzzzzzzz: 1s } }");
    sandbox.write("key.yaml", &format!("machines: {{ \"{odd}\": {{ \"{odd}\": 1 }} }}"));
    sandbox.write("odd.plan", &format!("throng-plan: 1\ntasks: {{ x: \"{odd}?\" }}"));
    sandbox.throng(&["run", "flow.yaml"]).expect_code(0);
    let mut learnt: serde_json::Value = serde_json::from_str(&sandbox.read(".throng/learnt.json")).unwrap();
    learnt["known"][0]["machine"] = "\u{1b}[31m\r\nok".into();
    sandbox.write(".throng/learnt.json", &learnt.to_string());
    let plan =
        |more: &[&'static str]| [&["plan", "flow.yaml", "--machines", "odd.yaml", "--budget", "9"], more].concat();
    for (code, arguments, told) in [
        (0, plan(&["--explain", "--out", "plan.yaml"]), "what is most like it"),
        (
            0,
            plan(&["--times", "kind.yaml", "--planner", "greedy", "--explain"]),
            "no task has that name or is of that kind",
        ),
        (2, plan(&["--times", "machine.yaml"]), "did you mean"),
        (2, plan(&["--times", "far.yaml"]), "the machines are"),
        (2, vec!["plan", "flow.yaml", "--machines", "key.yaml"], "unknown key"),
        (0, vec!["simulate", "flow.yaml", "--machines", "odd.yaml", "--plan", "plan.yaml"], "1 × "),
        (2, vec!["simulate", "flow.yaml", "--machines", "odd.yaml", "--plan", "odd.plan"], "odd.plan"),
    ] {
        let ran = sandbox.throng(&arguments).expect_code(code);
        let said = ran.stdout + &ran.stderr;
        assert!(said.contains(told), "{arguments:?}: {said}");
        assert!(!said.chars().any(|letter| letter.is_control() && letter != '\n'), "{arguments:?}: {said:?}");
        assert!(!said.lines().any(|line| line.starts_with("ok")), "{arguments:?}: {said:?}");
    }
}

#[test]
fn a_machine_that_gets_a_name_is_still_one_machine() {
    let sandbox = sandbox();
    sandbox.write("flow.yaml", "tasks: { x: { run: 'sleep 0.1', foreach: { i: 1..3 } } }");
    let run = |more: &[&str]| sandbox.throng(&[&["run", "flow.yaml", "--fresh"], more].concat()).expect_code(0);
    let plan = || sandbox.throng(&["plan", "flow.yaml", "--machines", "machines.yaml"]).expect_code(0);
    run(&[]);
    run(&["--machine-type", "large"]);
    // Some machines tell how fast they run now, and that changes.
    let mut learnt: serde_json::Value = serde_json::from_str(&sandbox.read(".throng/learnt.json")).unwrap();
    learnt["known"].as_array_mut().unwrap().iter_mut().for_each(|known| known["clock_khz"] = 2_000_000.into());
    sandbox.write(".throng/learnt.json", &learnt.to_string());
    let said = plan();
    assert!(said.stdout.contains("learnt on large from 3 tasks, on machines of that name\n"), "{said:?}");
    assert!(!said.stdout.contains("most like") && said.stderr.is_empty(), "{said:?}");
    run(&["--machine-type", "smal"]);
    let said = plan();
    assert!(
        said.stderr.contains("tasks have run on `smal`") && said.stderr.contains("did you mean `small`?"),
        "{said:?}"
    );
}
