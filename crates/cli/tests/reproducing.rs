//! `throng reproduce`: a folder with a page and figures, the same for the same seed.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod sandbox;

use sandbox::{Output, Sandbox};
use serde_json::Value;

fn reproduce(sandbox: &Sandbox, arguments: &[&str]) -> Output {
    let all: Vec<&str> = ["reproduce", "matrix", "--quick"].iter().chain(arguments).copied().collect();
    sandbox.throng(&all)
}

fn reproduce_mpdis(sandbox: &Sandbox, arguments: &[&str]) -> Output {
    let all: Vec<&str> = ["reproduce", "mpdis", "--quick"].iter().chain(arguments).copied().collect();
    sandbox.throng(&all)
}

/// The figure of a run.
fn figure(results: &Value, run: &str, key: &str) -> f64 {
    let experiments = results["experiments"].as_array().unwrap();
    let mut runs = experiments.iter().flat_map(|experiment| experiment["runs"].as_array().unwrap());
    let found = runs.find(|found| found["run"] == run).unwrap_or_else(|| panic!("no run {run}"));
    found["result"][key].as_f64().unwrap()
}

#[test]
fn a_folder_with_a_page_and_figures() {
    let sandbox = Sandbox::new();
    let only = ["--only", "image-stacking,no-op", "--seeds", "1", "--output", "out/matrix"];
    let output = reproduce(&sandbox, &only).expect_code(0);
    assert_eq!(output.stderr, "wrote out/matrix/index.html: open it in a browser\n");
    let page = sandbox.read("out/matrix/index.html");
    for expected in [
        "<section id=\"image-stacking\">",
        "<section id=\"no-op\">",
        "<caption>Use of 200 cores at locality 30 [QUICK: smaller than published]</caption>",
        "<td class=\"published\">75 %</td>",
        "<td class=\"published\">67k/s</td>",
        "<tr class=\"own\"><th scope=\"row\">Throng (fair, aware)</th>",
        "<th scope=\"col\" class=\"own\">Throng (fair, aware)</th>",
        "not part of the reproduction",
        "What the paper leaves open",
        "Where this differs",
        "prefers-color-scheme:dark",
        "@media print",
        "<svg ",
        "Quick version",
    ] {
        assert!(page.contains(expected), "no {expected}");
    }
    assert!(!page.contains("<section id=\"all-pairs\">"), "only what was asked for");
    assert!(!page.contains("http") && !page.contains("NaN"), "nothing from elsewhere, and only numbers");
    assert!(
        output.stdout.contains("Tasks that do nothing\n====") && output.stdout.contains("near 158 ms"),
        "{output:?}"
    );

    let results: Value = serde_json::from_str(&sandbox.read("out/matrix/results.json")).unwrap();
    assert_eq!((&results["of"], &results["quick"], &results["seed"]), (&"matrix".into(), &true.into(), &1.into()));
    let names: Vec<_> = results["experiments"].as_array().unwrap().iter().map(|one| one["name"].clone()).collect();
    assert_eq!(names, ["image-stacking", "no-op"]);
    for key in ["title", "about", "tables", "charts", "assumptions", "differences", "runs"] {
        assert!(!results["experiments"][0][key].is_null(), "no {key}");
    }

    // Evenly spread images leave few without work; whoever reads from a file system of 1 GB/s waits for it.
    let spread = figure(&results, "MATRIX, images spread, 200 cores, locality 30", "utilisation");
    let scattered = figure(&results, "MATRIX, images scattered, 200 cores, locality 30", "utilisation");
    assert!(spread > 0.8 && scattered < spread - 0.2, "{spread} {scattered}");
    let uncached = figure(&results, "shared file system, 2 MB, 128 cores", "core_ns_per_task") / 1e6;
    assert!((256.0..270.0).contains(&uncached), "{uncached}");
    // The task that gathers fetches 10 kB from each of the others, while they wait: 80 µs for each on 200 cores.
    let gathering = figure(&results, "MATRIX, images spread, 200 cores, locality 1, gathering", "core_ns_per_task");
    let without = figure(&results, "MATRIX, images spread, 200 cores, locality 1", "core_ns_per_task");
    assert!(((gathering - without) / 1e6 - 16.0).abs() < 8.0, "{gathering} {without}");
    let stolen = figure(&results, "MATRIX, 1ms, 64 nodes", "tasks_per_s");
    assert!((100_000.0..128_000.0).contains(&stolen), "64 × 2 cores do at most 128,000 tasks of 1 ms: {stolen}");
}

#[test]
fn what_throng_does_by_itself_stands_beside_what_was_published() {
    let sandbox = Sandbox::new();
    let only = ["--only", "all-pairs,benchmarks", "--seeds", "1", "--json"];
    let results = reproduce(&sandbox, &only).expect_code(0).json();
    for experiment in results["experiments"].as_array().unwrap() {
        let runs = experiment["runs"].as_array().unwrap();
        for run in runs {
            let (place, order) = (run["cluster"]["place"].as_str().unwrap(), run["cluster"]["order"].as_str().unwrap());
            let is_own = run["run"].as_str().unwrap().contains("Throng (fair, aware)");
            assert_eq!(is_own, place == "fair", "{}", run["run"]);
            let is_shuffled = run["run"].as_str().unwrap().contains("random order");
            assert_eq!(
                order,
                if is_own {
                    "aware"
                } else if is_shuffled {
                    "random"
                } else {
                    "largest"
                }
            );
        }
        assert!(runs.iter().any(|run| run["cluster"]["place"] == "fair"), "{}", experiment["name"]);
        for table in experiment["tables"].as_array().unwrap() {
            let caption = table["caption"].as_str().unwrap();
            assert!(caption.contains("[QUICK: smaller than published]"), "{caption}");
            // What is not in the paper comes last.
            let names = |names: &mut dyn Iterator<Item = &str>| names.map(|name| name.starts_with("Throng")).collect();
            let rows = table["rows"].as_array().unwrap();
            let columns: Vec<bool> =
                names(&mut table["columns"].as_array().unwrap().iter().map(|cell| cell.as_str().unwrap()));
            let rows: Vec<bool> = names(&mut rows.iter().map(|row| row[0].as_str().unwrap()));
            assert!(columns.is_sorted() && rows.is_sorted(), "{caption}");
            assert!(columns.contains(&true) || rows.contains(&true), "{caption}");
        }
    }
}

#[test]
fn several_seeds_are_told_with_their_spread() {
    let sandbox = Sandbox::new();
    let only = ["--only", "no-op", "--seed", "7"];
    let three = reproduce(&sandbox, &only).expect_code(0);
    assert!(three.stdout.contains("[mean of 3 seeds, ± the farthest]"), "three is what is quick: {three:?}");
    let two = reproduce(&sandbox, &[&only[..], &["--seeds", "2", "--json"]].concat()).expect_code(0).json();
    assert_eq!((&two["seed"], &two["seeds"]), (&7.into(), &2.into()));
    let runs = two["experiments"][0]["runs"].as_array().unwrap();
    let found = runs.iter().filter(|run| run["run"] == "Sparrow (sampled), 1ms, 64 nodes");
    let found: Vec<_> =
        found.map(|run| (&run["cluster"]["seed"], run["result"]["tasks_per_s"].as_f64().unwrap())).collect();
    assert_eq!([found[0].0, found[1].0], [7, 8]);
    assert_ne!(found[0].1, found[1].1, "chance decides who is asked");
    let table = two["experiments"][0]["tables"][0].to_string();
    assert!(table.contains("/s ±"), "{table}");
}

#[test]
fn the_same_seed_gives_the_same_files() {
    let sandbox = Sandbox::new();
    let files = |seed: &str| {
        let output = reproduce(&sandbox, &["--only", "no-op", "--seeds", "1", "--seed", seed, "--json"]).expect_code(0);
        assert_eq!(output.stdout, sandbox.read("reproduced-matrix/results.json"));
        (output.stdout, sandbox.read("reproduced-matrix/index.html"))
    };
    let first = files("7");
    assert_eq!(files("7"), first);
    assert_ne!(files("8"), first);
}

#[test]
fn what_cannot_be_is_told_at_once() {
    let sandbox = Sandbox::new();
    let output = reproduce(&sandbox, &["--only", "no-op,all-trees"]).expect_code(2);
    assert!(output.stderr.contains("there is no experiment `all-trees`"), "{output:?}");
    assert!(output.stderr.contains("choose among image-stacking, all-pairs, benchmarks"), "{output:?}");
    sandbox.write("taken", "a file");
    let output = reproduce(&sandbox, &["--only", "no-op", "--output", "taken"]).expect_code(2);
    assert!(output.stderr.contains("cannot write taken"), "{output:?}");
    let output = reproduce(&sandbox, &["--seeds", "0"]).expect_code(2);
    assert!(output.stderr.contains("--seeds"), "{output:?}");
}

#[test]
fn orders_on_a_shared_cache_beside_what_was_published() {
    let sandbox = Sandbox::new();
    let output = reproduce_mpdis(&sandbox, &["--seeds", "5", "--output", "out"]).expect_code(0);
    assert_eq!(output.stderr, "wrote out/index.html: open it in a browser\n");
    let page = sandbox.read("out/index.html");
    for expected in [
        "<h1>The simulations of MPDIS, reproduced</h1>",
        "<section id=\"threads\">",
        "<section id=\"pipelines\">",
        "<td class=\"published\">1.95×</td>",
        "<td class=\"published\">1741 GB</td>",
        "<td class=\"published\">4.5×</td>",
        "<tr class=\"own\"><th scope=\"row\">Throng (aware, informed)</th>",
        "seeds 1 to 5",
        "throng reproduce mpdis",
        "Quick version",
        "<svg ",
    ] {
        assert!(page.contains(expected), "no {expected}");
    }
    assert!(!page.contains("http") && !page.contains("NaN") && !page.contains("stuck"), "only numbers");

    let results: Value = serde_json::from_str(&sandbox.read("out/results.json")).unwrap();
    assert_eq!((&results["of"], &results["seeds"]), (&"mpdis".into(), &5.into()));
    // Chance is tried with every seed, everything else once.
    let runs = results["experiments"][1]["runs"].as_array().unwrap();
    let seeds = |run: &str| {
        runs.iter().filter(|found| found["run"] == run).map(|found| found["seed"].as_u64()).collect::<Vec<_>>()
    };
    assert_eq!(seeds("dag1, 480 GB, 8 units, B1: random"), [1, 2, 3, 4, 5].map(Some));
    assert_eq!(seeds("dag1, 480 GB, 8 units, OG (WSD)"), [None]);

    let time = |run: &str| figure(&results, run, "makespan_s");
    let loaded = |run: &str| figure(&results, run, "loaded_bytes") / 1e9;
    // Everything made has 22 GB at 120 GB, and so hardly leaves a cache of 20: the raw data and the computing are all there is.
    assert!((time("dag1, 120 GB, 1 unit, OG (WSD)") - 987.0).abs() < 4.0);
    assert!(loaded("dag1, 840 GB, 1 unit, OG (WSD)") < loaded("dag1, 840 GB, 1 unit, B2: HEFT"));
    assert!(loaded("dag1, 480 GB, 1 unit, Throng (aware, informed)") == 0.0);
    // Who is strict about one order waits.
    assert!(figure(&results, "dag1, 840 GB, 8 units, PS (WSD)", "idle_share") > 0.5);
    assert_eq!(figure(&results, "dag1, 840 GB, 1 unit, PS (WSD)", "idle_share"), 0.0);
    // Each of 30 pipes costs OG one load of its nine.
    assert_eq!(loaded("30 pipes, 1 unit, OG (WSD)"), 30.0);
    assert_eq!(loaded("30 pipes, 1 unit, B2: HEFT"), 270.0);
    assert_eq!(loaded("30 pipes, 1 unit, Throng (aware, LRU)"), 0.0);
    for run in results["experiments"].as_array().unwrap().iter().flat_map(|one| one["runs"].as_array().unwrap()) {
        let least = run["result"]["least_makespan_s"].as_f64().unwrap();
        assert!(run["result"]["makespan_s"].as_f64().unwrap() >= least && least > 0.0, "{run}");
    }
}

#[test]
fn the_seeds_of_a_shared_cache_are_those_that_are_asked_for() {
    let sandbox = Sandbox::new();
    let files = |seed: &str| {
        let only = ["--only", "pipelines", "--seeds", "1", "--seed", seed, "--json"];
        let output = reproduce_mpdis(&sandbox, &only).expect_code(0);
        assert_eq!(output.stdout, sandbox.read("reproduced-mpdis/results.json"));
        output.stdout
    };
    let first = files("7");
    assert_eq!(files("7"), first);
    assert_ne!(files("8"), first);
    let output = reproduce_mpdis(&sandbox, &["--only", "figures"]).expect_code(2);
    assert!(output.stderr.contains("choose among threads, data-sizes, traffic, versions, pipelines"), "{output:?}");
}

#[test]
fn budgets_are_planned_and_executed() {
    let sandbox = Sandbox::new();
    let output = sandbox.throng(&["reproduce", "budget", "--quick", "--json"]).expect_code(0).json();
    let names: Vec<_> =
        output["experiments"].as_array().unwrap().iter().map(|one| one["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["sipht", "ligo", "planners"]);
    let mut seen = 0;
    for run in output["experiments"].as_array().unwrap().iter().flat_map(|one| one["runs"].as_array().unwrap()) {
        let (name, result) = (run["run"].as_str().unwrap(), &run["result"]);
        let figure = |name: &str| result[name].as_f64().unwrap();
        if name.contains("budget 0") {
            assert!(result.is_null(), "{name}: {result}");
            continue;
        }
        if result.is_null() {
            assert!(name.contains("progress"), "{name}: whoever minds the budget has a plan");
            continue;
        }
        seen += 1;
        assert!(figure("planned_cost") <= run["budget"].as_f64().unwrap(), "{name}: {result}");
        let late = figure("makespan_s") / figure("planned_makespan_s") - 1.0;
        match name {
            name if name.contains("on instances") => assert!(late.abs() < 0.05, "{name}: {result}"),
            name if name.contains("data not planned") => assert!(late > 0.0, "{name}: {result}"),
            _ => {}
        }
    }
    assert!(seen > 100, "{seen}");
    assert!(sandbox.read("reproduced-budget/index.html").contains("Time by budget"));
}
