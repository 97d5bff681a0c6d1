//! What can be asked of `throng plan` besides limits: for what is charged, how long is searched, and where things are written.

mod sandbox;

use sandbox::Sandbox;

const FLOW: &str = "tasks:\n  cut: { run: 'true', foreach: { i: 1..4 }, out: [{ path: 'c{i}', size: 100MB }], estimate: { time: 60s } }\n  \
                    join: { run: 'true', in: [{ all: cut }], out: j, estimate: { time: 120s } }\n";
const MACHINES: &str = "machines:\n  small: { price: 0.60, bandwidth: 10MB }\n  large: { price: 4.80, cpus: 4, speed: 2, bandwidth: 10MB }\n";

fn sandbox() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write("flow.yaml", FLOW);
    sandbox.write("machines.yaml", MACHINES);
    sandbox
}

fn plan<'a>(more: &[&'a str]) -> Vec<&'a str> {
    [&["plan", "flow.yaml", "--machines", "machines.yaml"], more].concat()
}

#[test]
fn a_task_is_charged_for_a_machine_or_for_its_share() {
    let sandbox = sandbox();
    let cost = |more: &[&str]| {
        let arguments = plan(&[&["--planner", "fastest", "--no-transfers", "--json", "--budget", "9"], more].concat());
        sandbox.throng(&arguments).expect_code(0).json()["plan"]["cost"].as_str().unwrap().to_owned()
    };
    // Three minutes of the large one; a task uses one core of four.
    assert_eq!((cost(&[]), cost(&["--charge", "share"])), ("0.24".to_owned(), "0.06".to_owned()));
    let said = sandbox.throng(&plan(&["--charge", "core"])).expect_code(2).stderr;
    assert!(said.contains("write machine or share"), "{said}");
    // Instances are charged as they are, whatever tasks use of them.
    let said = sandbox.throng(&plan(&["--charge", "share", "--budget", "9"])).expect_code(0).stderr;
    assert!(said.contains("--charge does not count for instances"), "{said}");
}

#[test]
fn data_counts_unless_it_is_not_wanted() {
    let sandbox = sandbox();
    let makespan = |more: &[&str]| {
        let arguments = plan(&[&["--planner", "cheapest", "--json", "--budget", "9"], more].concat());
        sandbox.throng(&arguments).expect_code(0).json()["plan"]["makespan_ns"].as_u64().unwrap() / 1_000_000_000
    };
    assert_eq!((makespan(&[]), makespan(&["--no-transfers"])), (220, 180));
}

#[test]
fn a_curve_has_as_many_points_as_are_wanted() {
    let sandbox = sandbox();
    let points = |more: &[&str]| {
        let arguments = plan(&[&["--planner", "greedy", "--no-transfers", "--json"], more].concat());
        sandbox.throng(&arguments).expect_code(0).json()["frontier"]["points"].as_array().unwrap().len()
    };
    assert_eq!((points(&["--points", "1"]), points(&["--points", "200"])), (2, 3));
    sandbox.throng(&plan(&["--points", "0"])).expect_code(2);
}

#[test]
fn who_has_no_patience_is_told_what_that_means() {
    let sandbox = sandbox();
    for planner in ["fit", "greedy", "optimal"] {
        let hasty = ["--patience", "0s", "--deadline", "5m", "--json", "--planner", planner];
        let ran = sandbox.throng(&plan(&hasty)).expect_code(0);
        assert!(ran.json()["plan"]["makespan_ns"].as_u64().unwrap() <= 300_000_000_000, "{planner}: {ran:?}");
    }
    // Who searches says that it could search on, also if it has found nothing.
    for (limits, code) in [(["--deadline", "5m"], 0), (["--deadline", "30s"], 2)] {
        let hasty = [&["--patience", "0s", "--planner", "fit"], &limits[..]].concat();
        let told = sandbox.throng(&plan(&hasty)).expect_code(code).stderr;
        assert!(told.contains("not all was tried within --patience"), "{told}");
        let json = sandbox.throng(&plan(&[&hasty[..], &["--json"]].concat())).expect_code(code).json();
        assert_eq!(json["is_cut_short"], true, "{json}");
    }
    let json = sandbox.throng(&plan(&["--deadline", "5m", "--json"])).expect_code(0).json();
    assert_eq!(json["is_cut_short"], false, "{json}");
}

#[test]
fn nothing_that_is_read_is_written_over() {
    let sandbox = sandbox();
    sandbox.write("part.yaml", "tasks: { more: { run: 'true', estimate: { time: 1s } } }");
    sandbox.write("flow.yaml", &format!("include: [part.yaml]\nparams: {{ n: 1 }}\n{FLOW}"));
    sandbox.write("params.yaml", "n: 2");
    sandbox.write("times.yaml", "times: { cut: { small: 60s } }");
    sandbox.throng(&["run", "flow.yaml"]);
    sandbox.throng(&["export", "flow.yaml", "--run", "last", "--output", "trace.json"]).expect_code(0);
    let files = ["flow.yaml", "machines.yaml", "part.yaml", "params.yaml", "times.yaml", "trace.json"];
    let before = files.map(|file| sandbox.read(file));
    let all =
        plan(&["--params", "params.yaml", "--times", "times.yaml", "--learn-from", "trace.json", "--budget", "9"]);
    std::os::unix::fs::symlink("times.yaml", sandbox.path().join("link.yaml")).unwrap();
    for file in files.into_iter().chain(["./part.yaml", "link.yaml"]) {
        for option in ["--out", "--plot"] {
            let said = sandbox.throng(&[&all[..], &[option, file]].concat()).expect_code(2).stderr;
            assert!(said.contains(&format!("{option} would write over {file}, which is read")), "{said}");
        }
    }
    assert_eq!(files.map(|file| sandbox.read(file)), before);
    for (one, other) in [("both", "./both"), ("both", "both")] {
        let said = sandbox.throng(&plan(&["--budget", "9", "--out", one, "--plot", other])).expect_code(2).stderr;
        assert!(said.contains("--out and --plot name the same file"), "{said}");
    }
    sandbox.throng(&[&all[..], &["--out", "plan.yaml", "--plot", "curve.svg"]].concat()).expect_code(0);
}
