//! Sizes, lengths and speeds that nobody has: a run ends with an answer, whatever is written down.

use std::sync::Arc;
use std::time::Duration;

use throng_core::workflow::{Format, NoFiles, Workflow};
use throng_sim::faults::{Cancel, Crash, Crashes, FOREVER, FullDisk, Slow};
use throng_sim::{Cluster, Inputs, MachineType, Outcome, World};

/// Eight tasks, each of which reads and writes as much as can be written down, and one that reads all of it.
fn exabytes() -> String {
    let make =
        "{ foreach: { i: 1..4 }, sleep: 1s, in: [{ path: 'x{i}', size: 1e18 }], out: [{ path: 'o{i}', size: 1e18 }] }";
    format!(
        "tasks:\n  make: {make}\n  all: {{ sleep: 1s, in: [o1, o2, o3, o4], out: [{{ path: end, size: 1e18 }}] }}\n"
    )
}

/// Four tasks that take a century each, one after the other.
const CENTURIES: &str = "tasks:
  a: { sleep: 36500d, estimate: { time: 36500d } }
  b: { sleep: 36500d, after: a }
  c: { sleep: 36500d, after: b }
  d: { sleep: 36500d, after: c }
";

/// Under a policy that asks for nothing while there is nothing to do: others ask every few seconds, for centuries.
fn run(text: &str, cluster: Cluster) -> Outcome {
    let flow = Workflow::parse(text, Format::Yaml, "absurd", &NoFiles).expect("a good workflow");
    let cluster = Cluster { place: "random".parse().expect("a known policy"), ..cluster };
    World::new(Arc::new(flow), cluster).expect("good policies").run()
}

fn one_byte_a_second() -> Cluster {
    let mut cluster = Cluster::new(3, 2);
    (cluster.bandwidth, cluster.shared_bandwidth, cluster.core_bandwidth) = (1, 1, Some(1));
    cluster.cache_bytes = u64::MAX;
    cluster
}

fn assert_endless(outcome: &Outcome) {
    let stuck = outcome.stuck.as_deref().unwrap_or("it ended");
    assert!(stuck.contains("584 years"), "{stuck}");
}

#[test]
fn exabytes_at_one_byte_a_second() {
    for inputs in [Inputs::Spread, Inputs::Shared, Inputs::Node(0)] {
        assert_endless(&run(&exabytes(), Cluster { inputs, ..one_byte_a_second() }));
    }
}

#[test]
fn exabytes_through_a_disk_of_one_byte_a_second() {
    for memory_tier_bytes in [0, u64::MAX] {
        let disk_bandwidth = Some(1);
        let outcome = run(&exabytes(), Cluster { disk_bandwidth, memory_tier_bytes, ..one_byte_a_second() });
        assert_endless(&outcome);
    }
}

/// What fits no node fails, however large it is.
#[test]
fn exabytes_without_room() {
    let outcome = run(&exabytes(), Cluster { cache_bytes: 1_000_000, inputs: Inputs::Shared, ..one_byte_a_second() });
    assert_eq!((outcome.stuck, outcome.done, outcome.failed, outcome.skipped), (None, 0, 4, 1));
}

#[test]
fn centuries() {
    let outcome = run(CENTURIES, Cluster::new(2, 1));
    assert_eq!(outcome.stuck, None);
    assert_eq!((outcome.done, outcome.makespan.as_secs() / (100 * 365 * 86400)), (4, 4));
}

/// A run is not stuck because its only task takes long.
#[test]
fn a_day_for_one_task() {
    let outcome = run("tasks: { a: { sleep: 1d, timeout: 12h, retries: 1 }, b: { sleep: 1d } }", Cluster::new(1, 1));
    assert_eq!((outcome.stuck, outcome.done, outcome.failed, outcome.failed_attempts), (None, 1, 1, 2));
}

#[test]
fn centuries_on_cores_that_hardly_move() {
    for speed in [1e-300, 1e-9, 0.001] {
        let machine = MachineType { count: 2, cores: 1, memory_bytes: 1, speed, bandwidth: 1 };
        assert_endless(&run(CENTURIES, Cluster::new(1, 1).of_types(vec![machine])));
    }
}

/// Faults that last for ever, come after the end of time, or slow things down beyond all numbers.
#[test]
fn faults_without_end() {
    let mut cluster = Cluster::new(2, 1);
    cluster.variation.time = 1e300;
    cluster.faults.slow.push(Slow { node: 0, from: Duration::ZERO, until: FOREVER, factor: f64::INFINITY });
    cluster.faults.slow.push(Slow { node: 1, from: Duration::ZERO, until: FOREVER, factor: 1e300 });
    assert_endless(&run(CENTURIES, cluster.clone()));
    cluster.faults.crashes.push(Crash { node: 0, at: FOREVER, back_after: Some(FOREVER) });
    cluster.faults.crashes_by_chance.push(Crashes { every: FOREVER, back_after: Some(FOREVER) });
    cluster.faults.full_disks.push(FullDisk { node: 0, from: FOREVER, until: FOREVER });
    cluster.faults.cancels.push(Cancel { task: 0, node: 7, at: FOREVER });
    cluster.faults.late = (1.0, FOREVER);
    cluster.faults.lost = 0.5;
    // Leases are renewed every two seconds: 584 years of that take too long to wait for.
    let crash = Crash { node: 1, at: Duration::from_secs(1), back_after: None };
    cluster.faults.crashes.extend([crash, Crash { node: 0, ..crash }]);
    let outcome = run("tasks: { a: { sleep: 9s }, b: { sleep: 9s } }", cluster);
    assert!(outcome.stuck.is_some_and(|reason| reason.contains("all nodes are dead")));
}

/// Whoever waits for each other across a network that takes a century has all the time there is.
#[test]
fn a_century_for_a_message() {
    let century = Duration::from_secs(100 * 365 * 86400);
    let text = "tasks: { a: { foreach: { i: 1..9 }, sleep: 1s, out: 'o{i}' }, b: { sleep: 1s, in: [o1, o9] } }";
    for latency in [century, Duration::MAX] {
        let mut cluster = Cluster::new(2, 1);
        (cluster.latency, cluster.store_latency) = (latency, latency);
        assert!(run(text, cluster).stuck.is_some());
    }
}
