#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::sync::Arc;

use throng_core::workflow::{Format, NoFiles};
use throng_sim::{Cluster, World};

use super::super::tracing::{Tracing, account};
use super::*;

fn drawn(text: &str, nodes: u32, cores: u32) -> String {
    let flow = Arc::new(Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap());
    let cluster = Cluster::new(nodes, cores);
    let tracing = Tracing::new();
    let outcome = World::new(flow.clone(), cluster.clone()).unwrap().with_recorder(tracing.recorder()).run();
    let account = account(&flow, &cluster, &tracing.bytes());
    svg(&Plot {
        title: "A <run> & more".to_owned(),
        subtitle: ["in words".to_owned(), "by chance".to_owned()],
        flow: &flow,
        account: &account,
        cluster: &cluster,
        length_ns: outcome.makespan.as_nanos() as u64,
        bound_ns: outcome.bound_ns(),
    })
}

#[test]
fn few_attempts_are_drawn_one_by_one() {
    let picture = drawn("tasks: { a: { foreach: { i: 1..4 }, sleep: 1s }, b: { sleep: 2s } }", 2, 2);
    assert_eq!(picture.matches("class=\"stint ").count(), 5);
    assert!(picture.contains("A &lt;run&gt; &amp; more") && picture.contains("lower bound"));
    assert!(picture.contains("<title>a:1, slot 0.0: "), "{picture}");
    assert!(picture.contains("time, seconds"));
}

#[test]
fn many_attempts_and_slots_make_few_shapes() {
    let picture =
        drawn("tasks: { a: { foreach: { i: 1..20000 }, sleep: 1s }, b: { foreach: { i: 1..9 }, sleep: 5s } }", 50, 8);
    assert!(!picture.contains("class=\"stint "));
    assert!(picture.matches("h-").count() < 10_000 && picture.len() < 400_000, "{} bytes", picture.len());
}

#[test]
fn a_run_that_takes_no_time_is_drawn_all_the_same() {
    let picture = drawn("tasks: { a: { noop: true } }", 1, 1);
    assert!(picture.ends_with("</svg>\n") && !picture.contains("NaN") && !picture.contains("inf"), "{picture}");
}
