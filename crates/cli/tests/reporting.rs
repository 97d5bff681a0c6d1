//! Reports of real runs: figures that agree with each other, and the page in a real browser.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod browser;
mod sandbox;

use std::time::{Duration, Instant};

use browser::*;
use rustix::process::Signal;
use sandbox::*;
use serde_json::Value;

/// Four kinds, failures, a retry that helps, and tasks that are skipped.
const MIXED: &str = "
tasks:
  make: { foreach: { i: 1..20 }, run: 'sleep 0.01; echo {i} > out/{i}', out: ['out/{i}'] }
  flaky: { foreach: { i: 1..3 }, run: 'if [ ! -e tried{i} ]; then touch tried{i}; exit 7; fi', retries: 1 }
  bad: { run: 'echo printed; echo oh dear >&2; exit 3', memory: 5MB, stderr: complaints }
  behind: { foreach: { i: 1..4 }, noop: true, after: bad }
  gather: { run: cat out/* > all, in: [{ all: make }], out: all }
  nap: { foreach: { i: 1..5 }, sleep: 20ms }
";

fn mixed() -> Sandbox {
    let sandbox = Sandbox::with_flow(MIXED);
    sandbox.run(&["--quiet", "-w", "3"]).expect_code(1);
    sandbox
}

fn figures(sandbox: &Sandbox, run: &str) -> Value {
    sandbox.throng(&["report", run, "--json"]).expect_code(0).json()
}

fn csv(sandbox: &Sandbox, table: &str) -> Vec<String> {
    sandbox.throng(&["report", "--csv", table]).expect_code(0).stdout.lines().map(str::to_owned).collect()
}

#[track_caller]
fn assert_close(one: f64, other: f64) {
    assert!((one - other).abs() <= 1e-6 * one.abs().max(1e-3), "{one} is not {other}");
}

/// Checks what must hold for the figures of any run.
#[track_caller]
fn check_sums(figures: &Value) {
    let number =
        |pointer: &str| figures.pointer(pointer).and_then(Value::as_f64).unwrap_or_else(|| panic!("{pointer}"));
    let parts: f64 = figures["parts"].as_object().unwrap().values().map(|part| part.as_f64().unwrap()).sum();
    assert_close(parts, number("/time/slots") * number("/time/makespan_s"));
    assert_close(number("/path/times/total_s"), number("/time/makespan_s"));
    let names = ["done", "up_to_date", "failed", "skipped", "running", "left"];
    let settled: f64 = names.iter().map(|name| number(&format!("/totals/{name}"))).sum();
    assert_close(settled, number("/totals/tasks"));
    let kinds = figures["kinds"].as_array().unwrap();
    for name in names.iter().chain(&["tasks", "attempts", "retries"]) {
        let sum: f64 = kinds.iter().map(|kind| kind[name].as_f64().unwrap()).sum();
        assert_close(sum, number(&format!("/totals/{name}")));
    }
    assert!(number("/bound/bound_s") <= number("/time/makespan_s") + 1e-9, "{}", figures["bound"]);
}

#[test]
fn figures_agree_with_each_other() {
    let sandbox = mixed();
    let figures = figures(&sandbox, "last");
    check_sums(&figures);
    assert_eq!(figures["failed"][0]["printed"], "oh dear");
    let status = sandbox.throng(&["status", "--json"]).expect_code(0).json();
    for name in ["done", "failed", "skipped", "up_to_date"] {
        assert_eq!(figures["totals"][name], status["end"][name], "{name}");
    }
    assert_close(figures["time"]["makespan_s"].as_f64().unwrap(), status["end"]["makespan_s"].as_f64().unwrap());
    assert_eq!(figures["totals"]["retries"], 3);
    assert!(figures["host"]["cores"].as_u64().unwrap() > 0, "{}", figures["host"]);
    let kind =
        |name: &str| figures["kinds"].as_array().unwrap().iter().find(|kind| kind["name"] == name).unwrap().clone();
    assert_eq!(kind("flaky")["failures"][0]["outcome"], "exit code 7");
    assert_eq!(kind("flaky")["failures"][0]["count"], 3);
    assert_eq!(kind("bad")["memory_asked_bytes"][1], 5_000_000);
    assert!(kind("nap")["time"]["min_s"].as_f64().unwrap() >= 0.02);

    assert_eq!(csv(&sandbox, "tasks").len(), 1 + 34);
    assert_eq!(csv(&sandbox, "attempts").len() as u64, 1 + figures["totals"]["attempts"].as_u64().unwrap());
    assert_eq!(csv(&sandbox, "kinds").len(), 1 + 6);
    assert_eq!(csv(&sandbox, "path").len() as u64, 1 + figures["path"]["steps"].as_u64().unwrap());
    let parts = csv(&sandbox, "parts");
    let compute: f64 = parts[1].split(',').nth(1).unwrap().parse().unwrap();
    assert_close(compute, figures["parts"]["compute"].as_f64().unwrap());
    for table in ["tasks", "attempts", "kinds", "parts", "utilisation", "path"] {
        let lines = csv(&sandbox, table);
        let fields = lines[0].split(',').count();
        assert!(lines.iter().all(|line| line.split(',').count() == fields), "{lines:#?}");
    }
}

#[test]
fn a_trace_for_perfetto() {
    let sandbox = mixed();
    sandbox.throng(&["report", "--perfetto", "trace.json"]).expect_code(0);
    assert!(!sandbox.exists("report-1.html"));
    let trace: Value = serde_json::from_str(&sandbox.read("trace.json")).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let of = |phase: &str| events.iter().filter(|event| event["ph"] == phase).collect::<Vec<_>>();
    let slices = of("X").into_iter().filter(|slice| slice["cat"] != "process").count() as u64;
    assert_eq!(slices, figures(&sandbox, "last")["totals"]["attempts"].as_u64().unwrap());
    assert!(of("X").iter().all(|slice| slice["ts"].is_number() && slice["dur"].as_f64().unwrap() >= 0.0));
    assert_eq!(of("M").iter().filter(|event| event["name"] == "thread_name").count(), 3);
    let busy: Vec<i64> = of("C").iter().map(|event| event["args"]["busy"].as_i64().unwrap()).collect();
    assert_eq!((busy.iter().max(), busy.iter().min(), busy.last()), (Some(&3), Some(&0), Some(&0)));
}

#[test]
fn where_a_report_goes() {
    let sandbox = Sandbox::with_flow("tasks: { a: { run: 'true' } }");
    assert!(sandbox.throng(&["report"]).expect_code(2).stderr.contains("no Throng state"));
    sandbox.run(&["--quiet"]).expect_code(0);
    let said = sandbox.throng(&["report"]).expect_code(0);
    assert!(said.stderr.contains("wrote report-1.html") && said.stdout.is_empty(), "{said:?}");
    let page = sandbox.throng(&["report", "1", "--out", "-"]).expect_code(0).stdout;
    assert_eq!(page, sandbox.read("report-1.html"));
    assert!(!page.contains("http://") || page.matches("http://").count() == page.matches("http://www.w3.org/").count());
    assert!(!page.contains("https://"));
    // A run of a version that did not note the machine.
    let mut about: Value = serde_json::from_str(&sandbox.read(".throng/runs/1/about.json")).unwrap();
    about.as_object_mut().unwrap().remove("host").unwrap();
    sandbox.write(".throng/runs/1/about.json", &about.to_string());
    assert_eq!(figures(&sandbox, "1")["host"]["name"], "");
    assert!(sandbox.throng(&["report", "7"]).expect_code(2).stderr.contains("there is no run 7"));
    assert!(sandbox.throng(&["report", "--out", "no/such/place"]).expect_code(2).stderr.contains("cannot write"));
}

/// How many pixels of a canvas differ from the one in its upper left corner.
const PIXELS: &str = "
    const canvas = document.getElementById(NAME);
    const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
    let different = 0;
    for (let at = 0; at < pixels.length; at += 4) {
      if (pixels[at] !== pixels[0] || pixels[at + 1] !== pixels[1] || pixels[at + 2] !== pixels[2]) different++;
    }
    return different;";

fn drawn(browser: &Browser, canvas: &str) -> u64 {
    browser.js(&PIXELS.replace("NAME", &format!("'{canvas}'"))).as_u64().unwrap()
}

#[track_caller]
fn open(browser: &Browser, sandbox: &Sandbox, run: &str) {
    let name = format!("page-{run}.html");
    sandbox.throng(&["report", run, "--out", &name]).expect_code(0);
    browser.open(&sandbox.file(&name));
    assert_eq!(browser.complaints(), Vec::<String>::new());
    assert_eq!(browser.js("return document.body.dataset.ready"), "true");
    let loaded = browser.js("return performance.getEntriesByType('resource').length");
    assert_eq!(loaded, 0, "the page needs nothing but itself");
}

#[test]
fn the_page_in_a_browser() {
    let sandbox = mixed();
    let browser = Browser::start();
    browser.prefer_dark(false);
    open(&browser, &sandbox, "1");

    assert!(
        browser.text("#headline").starts_with("Failed: 34 tasks, 29 done, 1 failed, 4 skipped"),
        "{}",
        browser.text("#headline")
    );
    assert!(browser.text("#where-bar").contains("computing"), "{}", browser.text("#where-bar"));
    assert!(browser.text("#failed-table").contains("oh dear"), "what a failed task printed is on the page");
    for canvas in ["strips", "utilisation"] {
        assert!(drawn(&browser, canvas) > 2000, "{canvas} is not drawn");
    }
    assert_eq!(browser.js("return document.querySelectorAll('#graph:not([hidden]) svg .box').length"), 34);

    // A click on a kind filters what is shown; another one on all kinds takes that back.
    let rows = "return [...document.querySelectorAll('#slowest-table tbody tr')].filter(row => row.offsetParent).map(row => row.cells[0].innerText)";
    let shown = |browser: &Browser| browser.js(rows).as_array().unwrap().clone();
    let everything = shown(&browser);
    let picture = "return document.getElementById('strips').toDataURL()";
    let before = browser.js(picture);
    browser.click("#legend button[title=nap]");
    browser.js("return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
    let naps = shown(&browser);
    assert!(naps.len() == 5 && naps.iter().all(|name| name.as_str().unwrap().starts_with("nap:")), "{naps:?}");
    assert_ne!(browser.js(picture), before, "the timeline shows what is chosen");
    assert_eq!(
        browser.js("return document.querySelector('#legend button[title=nap]').getAttribute('aria-pressed')"),
        "true"
    );
    browser.click("#legend button.all");
    assert_eq!(shown(&browser), everything);

    // Titles sort.
    browser.click("#kinds-table thead th:nth-child(2) button");
    let first = "return document.querySelector('#kinds-table tbody tr').cells[0].innerText.trim()";
    assert_eq!(browser.js(first), "make");
    browser.click("#kinds-table thead th:nth-child(2) button");
    assert_ne!(browser.js(first), "make");
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn the_page_by_keyboard_and_in_the_dark() {
    let sandbox = mixed();
    let browser = Browser::start();
    browser.prefer_dark(true);
    open(&browser, &sandbox, "1");
    let ground = "return getComputedStyle(document.body).backgroundColor";
    assert_eq!(browser.js(ground), "rgb(20, 23, 26)");
    let graph = "return getComputedStyle(document.querySelector('#graph-picture text')).fill";
    assert_eq!(browser.js(graph), "rgb(230, 231, 228)");
    assert!(drawn(&browser, "strips") > 2000);

    let focus = "const at = document.activeElement; return at.id || at.title || at.innerText || at.tagName";
    let go_to = |wanted: &str| {
        for _ in 0..60 {
            browser.press(&[TAB]);
            if browser.js(focus) == wanted {
                return;
            }
        }
        panic!("{wanted} cannot be reached by keyboard");
    };
    go_to("theme");
    browser.press(&[ENTER]);
    assert_eq!(browser.js(ground), "rgb(252, 252, 250)");
    assert_eq!(browser.js(graph), "rgb(29, 33, 38)", "the graph follows the page");
    go_to("gather");
    browser.press(&[ENTER]);
    assert_eq!(browser.js("return document.body.classList.contains('filtered')"), true);
    go_to("strips");
    browser.press(&[RIGHT]);
    let first = browser.text("#details");
    assert!(first.contains("slot 0"), "{first}");
    browser.press(&[RIGHT]);
    assert_ne!(browser.text("#details"), first);
    // The axis of the timeline changes when zoomed.
    let before = browser.js("return document.getElementById('strips').toDataURL()");
    browser.press(&["+", "+"]);
    browser.js("return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
    assert_ne!(browser.js("return document.getElementById('strips').toDataURL()"), before);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn names_are_only_ever_text() {
    let evil = "</script><img src=x onerror=\"document.title='taken'\"><!--";
    let sandbox = Sandbox::new();
    let flow = serde_json::json!({ "name": evil, "tasks": {
        "t": { "foreach": { "x": [evil, "{{{{program}}}}"] }, "run": "exit 1", "kind": evil },
        "other": { "sleep": "10ms" },
    } });
    sandbox.write("flow.json", &flow.to_string());
    sandbox.throng(&["run", "flow.json", "--quiet"]).expect_code(1);
    sandbox.write(".throng/runs/1/definition", evil);
    let browser = Browser::start();
    open(&browser, &sandbox, "1");
    assert_eq!(browser.js("return document.images.length"), 0);
    assert_eq!(browser.js("return document.title"), format!("{evil}, run 1"));
    let names = "return [...document.querySelectorAll('#failed-table tbody tr:not([hidden])')].map(row => row.cells[0].innerText).sort()";
    let shown = browser.js(names);
    assert_eq!(shown[0], format!("t:{evil}"), "{shown}");
    assert_eq!(shown[1], "t:{{program}}", "{shown}");
    assert_eq!(browser.text("#definition"), evil);
    browser.press(&[TAB]);
    browser.js("document.getElementById('strips').focus()");
    browser.press(&[RIGHT, RIGHT]);
    assert_eq!(browser.js("return document.images.length"), 0);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

/// Whether a report of a run that has begun, perhaps only just, shows what is running.
fn shows_a_running_task(sandbox: &Sandbox, run: &str) -> bool {
    let output = sandbox.throng(&["report", run, "--json"]);
    output.code == 0 && output.json()["totals"]["running"] == 1
}

#[test]
fn runs_that_did_little_or_did_not_end() {
    let sandbox = Sandbox::with_flow(
        "tasks:
           one: { run: echo one > one, out: one }
           long: { run: 'touch started; until [ -e go ]; do sleep 0.01; done; echo long > long', out: long, in: one }
           last: { noop: true, after: long }",
    );
    let browser = Browser::start();
    let look = |run: &str, state: &str, headline: &str| {
        let figures = figures(&sandbox, run);
        check_sums(&figures);
        assert_eq!(figures["state"], state);
        open(&browser, &sandbox, run);
        assert!(browser.text("#headline").starts_with(headline), "{}", browser.text("#headline"));
        figures
    };
    // One task.
    sandbox.run(&["one", "--quiet"]).expect_code(0);
    assert_eq!(look("1", "done", "Done: 1 task, done, in")["totals"]["attempts"], 1);
    // Nothing to do.
    sandbox.run(&["one", "--quiet"]).expect_code(0);
    look("2", "done", "Done: 1 task, up to date. Nothing had to run.");
    // While it goes on, and stopped in the midst of it.
    let engine = sandbox.start(&["run", "flow.yaml", "--quiet"]);
    wait_until("the task", || sandbox.exists("started"));
    wait_until("its start in the trace", || shows_a_running_task(&sandbox, "3"));
    let going = look("3", "running", "Still running: 3 tasks, 1 up to date, 1 running, 1 left");
    assert_eq!(going["slowest"][0]["outcome"], "not ended");
    std::thread::sleep(Duration::from_millis(50));
    let later = figures(&sandbox, "3");
    let makespan = |figures: &Value| figures["time"]["makespan_s"].as_f64().unwrap();
    assert!(makespan(&later) > makespan(&going) + 0.04, "what runs goes on");
    signal(engine.id(), Signal::INT);
    finish(engine).expect_code(3);
    let stopped = look("3", "interrupted", "Interrupted: 3 tasks, 1 up to date, 2 left");
    assert_eq!(stopped["parts"]["compute"], 0.0);
    assert!(stopped["parts"]["in_vain"].as_f64().unwrap() > 0.0);
    // Killed.
    std::fs::remove_file(sandbox.file("started")).unwrap();
    let engine = sandbox.start(&["run", "flow.yaml", "--quiet"]);
    wait_until("the task", || sandbox.exists("started"));
    wait_until("its start in the trace", || shows_a_running_task(&sandbox, "4"));
    signal(engine.id(), Signal::KILL);
    finish(engine);
    look("4", "killed", "Killed: 3 tasks, 1 up to date, 1 running, 1 left");
    // To the end.
    sandbox.write("go", "");
    sandbox.run(&["--quiet"]).expect_code(0);
    look("5", "done", "Done: 3 tasks, 2 done, 1 up to date");
}

#[test]
fn a_damaged_trace_is_told_as_far_as_it_goes() {
    let sandbox = mixed();
    let path = sandbox.file(".throng/runs/1/trace");
    let whole = std::fs::read(&path).unwrap();
    let browser = Browser::start();
    let mut damaged = whole.clone();
    damaged[whole.len() / 2..].fill(0xff);
    std::fs::write(&path, &damaged).unwrap();
    let told = figures(&sandbox, "1");
    check_sums(&told);
    assert!(told["damage"].as_str().unwrap().contains("damaged at byte"), "{}", told["damage"]);
    open(&browser, &sandbox, "1");
    assert!(browser.text("#damage").contains("incomplete"), "{}", browser.text("#damage"));
    // Wherever single bytes are wrong, there is a report or a message.
    for at in (8..whole.len()).step_by(1 + whole.len() / 60) {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        std::fs::write(&path, &damaged).unwrap();
        let code = sandbox.throng(&["report", "--json"]).code;
        assert!(code == 0 || code == 2, "byte {at}: {code}");
    }
    // A record that has not begun.
    std::fs::write(&path, "").unwrap();
    let said = sandbox.throng(&["report"]).expect_code(2).stderr;
    assert!(said.contains("before it was written") && said.contains("throng runs"), "{said}");
}

#[test]
fn a_long_definition_is_cut() {
    let sandbox = Sandbox::with_flow("tasks: { a: { run: 'true' } }");
    sandbox.run(&["--quiet"]).expect_code(0);
    sandbox.write(".throng/runs/1/definition", &"tasks: and more\n".repeat(20_000));
    let browser = Browser::start();
    open(&browser, &sandbox, "1");
    assert!(browser.text("#definition-words").contains("too long"));
    assert_eq!(browser.js("return document.getElementById('definition').textContent.length"), 200_000);
}

/// The promise for large runs: a million tasks, made within 10 s, at most 10 MB, opened within 3 s.
#[test]
fn a_million_tasks() {
    let kinds = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"];
    let line = |(number, name): (usize, &&str)| {
        let after = if number == 0 { String::new() } else { format!(", after: '{}:{{i}}'", kinds[number - 1]) };
        format!("  {name}: {{ foreach: {{ i: 1..100000 }}, noop: true{after} }}\n")
    };
    let sandbox = Sandbox::with_flow(&format!("tasks:\n{}", kinds.iter().enumerate().map(line).collect::<String>()));
    sandbox.run(&["--quiet"]).expect_code(0);
    let begun = Instant::now();
    sandbox.throng(&["report", "--out", "page.html"]).expect_code(0);
    let made_in = begun.elapsed();
    let size = std::fs::metadata(sandbox.file("page.html")).unwrap().len();
    let browser = Browser::start();
    browser.open(&sandbox.file("page.html"));
    let drawn_ms = browser.js("return performance.getEntriesByName('throng-drawn')[0].startTime").as_f64().unwrap();
    let measured = format!("made in {made_in:?}, {size} bytes, drawn after {drawn_ms} ms");
    assert!(made_in < Duration::from_secs(10) && size <= 10_000_000 && drawn_ms <= 3000.0, "{measured}");
    assert!(drawn(&browser, "strips") > 2000);
    // The last attempt in the first slot can still be told by its name.
    browser.js("document.getElementById('strips').focus()");
    browser.press(&[RIGHT]);
    assert!(browser.text("#details").starts_with("a:1 · a · slot 0"), "{}", browser.text("#details"));
    assert_eq!(browser.complaints(), Vec::<String>::new());
}

#[test]
fn more_tasks_than_can_be_kept_one_by_one() {
    let sandbox = Sandbox::with_flow(
        "tasks: { a: { foreach: { i: 1..1300000 }, noop: true }, b: { foreach: { i: 1..200000 }, noop: true } }",
    );
    sandbox.run(&["--quiet", "-w", "300"]).expect_code(0);
    let browser = Browser::start();
    open(&browser, &sandbox, "1");
    assert!(std::fs::metadata(sandbox.file("page-1.html")).unwrap().len() <= 10_000_000);
    assert!(browser.text("#timeline-words").contains("only what filled each"), "{}", browser.text("#timeline-words"));
    let before = browser.js("return document.getElementById('strips').toDataURL()");
    assert!(drawn(&browser, "strips") > 2000);
    browser.click("#legend button[title=b]");
    browser.js("document.getElementById('strips').focus()");
    browser.press(&["+", RIGHT]);
    browser.js("return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))");
    assert_ne!(browser.js("return document.getElementById('strips').toDataURL()"), before);
    assert_eq!(browser.complaints(), Vec::<String>::new());
}
