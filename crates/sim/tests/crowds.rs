//! Nodes that learn how many tasks to run at once, on models of what tasks do to each other: as good as the best fixed number, and good
//! neighbours.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use throng_core::node::{Command, Event};
use throng_core::pack::Sample;
use throng_core::time::Time;
use throng_core::trace::Entry;
use throng_core::workflow::{Format, NoFiles, Workflow};
use throng_sim::crowd::{Crowd, Needs, NeedsOf, Neighbour, Remote};
use throng_sim::{Cluster, Outcome, World};

const CORES: u32 = 16;
const TASKS: u64 = 3000;

/// Tasks of about two seconds.
fn world(nodes: u32, crowd: &Crowd, pack: &str, width: Option<u32>) -> World {
    let text = format!(
        "tasks: {{ t: {{ foreach: {{ i: 1..{TASKS} }}, run: 'x {{i}}', cpus: 0.001, estimate: {{ time: 2s }} }} }}"
    );
    let mut flow = Workflow::parse(&text, Format::Yaml, "test", &NoFiles).expect("it is right");
    flow.tell_kinds_apart();
    let mut cluster = Cluster::new(nodes, CORES);
    (cluster.crowd, cluster.variation.time, cluster.seed) = (Some(crowd.clone()), 0.3, 1);
    (cluster.pack, cluster.width) = (pack.parse().expect("there is such a policy"), width);
    World::new(Arc::new(flow), cluster).expect("there is such a policy")
}

fn run(nodes: u32, crowd: &Crowd, pack: &str, width: Option<u32>) -> Outcome {
    let outcome = world(nodes, crowd, pack, width).with_curve().run();
    assert_eq!((outcome.done, &outcome.stuck), (TASKS, &None));
    outcome
}

/// What is recorded of a run, as far as somebody wants to know.
fn recorded<T: Send + 'static>(world: World, wanted: fn(&Entry) -> Option<T>) -> Vec<(Time, T)> {
    let entries = Arc::new(Mutex::new(Vec::new()));
    let into = entries.clone();
    let recorder = move |time: Time, entry: &Entry| {
        into.lock().expect("nobody panics").extend(wanted(entry).map(|wanted| (time, wanted)));
    };
    assert_eq!(world.with_recorder(Box::new(recorder)).run().done, TASKS);
    let mut entries = entries.lock().expect("nobody panics");
    std::mem::take(&mut *entries)
}

fn needs(needs: Needs) -> Crowd {
    Crowd { needs: vec![NeedsOf { kind: None, needs }], ..Crowd::default() }
}

#[test]
fn what_is_learnt_is_nearly_as_good_as_the_best_fixed_number() {
    let computing = |cores| Needs { cores, ..Needs::default() };
    let reading = Needs { cores: 0.05, remote: 0.0625, ..Needs::default() };
    let minutes = |count: u64| Duration::from_secs(60 * count);
    let serves = |from, serves| Remote { from: minutes(from), serves };
    let models = [
        ("cores", needs(computing(1.0)), 1.08),
        ("half of the cores", needs(computing(0.5)), 1.08),
        (
            "a network that stops at 60 %",
            Crowd { network_stops_at: 0.6, ..needs(Needs { network: 0.05, ..computing(0.02) }) },
            1.08,
        ),
        ("disks", needs(Needs { disk: 0.1, ..computing(0.1) }), 1.08),
        ("small tasks", needs(computing(0.008)), 1.08),
        ("thrashing beyond 24", Crowd { thrashing: Some((24, 0.1)), ..needs(computing(0.05)) }, 1.16),
        (
            "a shared file system that changes",
            Crowd { remote: vec![serves(0, 1.0), serves(2, 0.5), serves(6, 0.9)], ..needs(reading) },
            1.08,
        ),
    ];
    for (name, crowd, at_most) in models {
        let seconds = |pack: &str, width| run(1, &crowd, pack, width).makespan.as_secs_f64();
        let best =
            [8, 16, 24, 32, 64, 256].map(|width| seconds("fixed", Some(width))).into_iter().fold(f64::MAX, f64::min);
        let learnt = seconds("learn", None);
        assert!(learnt < best * at_most, "{name}: {learnt:.1} s, and {best:.1} s with the best fixed number");
    }
}

#[test]
fn a_noisy_neighbour_is_not_pushed_aside_by_a_crowd() {
    let minutes = |count: u64| Duration::from_secs(60 * count);
    let others = Neighbour { node: None, cores: 16.0, from: minutes(2), until: minutes(4) };
    let crowd = Crowd { neighbours: vec![others], ..needs(Needs { cores: 1.0, ..Needs::default() }) };
    let seconds = |pack: &str, width| run(1, &crowd, pack, width).makespan.as_secs_f64();
    let (learnt, crowded, cores) = (seconds("learn", None), seconds("fixed", Some(64)), seconds("fixed", Some(CORES)));
    assert!((learnt / cores - 1.0).abs() < 0.02, "{learnt:.1} s, and {cores:.1} s with as many as there are cores");
    // With more of them one could have had more of the cores, at the expense of others.
    assert!(crowded < cores * 0.95, "{crowded:.1} s, and {cores:.1} s with as many as there are cores");
}

/// Each of many could have more of what all share by wanting more of it than the others, until nobody else gets anything.
#[test]
fn nodes_on_one_file_system_do_not_outbid_each_other() {
    const NODES: u32 = 8;
    // It serves as many tasks at full speed as two nodes have cores.
    let all = Crowd {
        remote: vec![Remote { from: Duration::ZERO, serves: 2.0 }],
        ..needs(Needs { cores: 0.05, remote: 0.0625, ..Needs::default() })
    };
    let (fixed, learnt) = (run(NODES, &all, "fixed", Some(CORES)), run(NODES, &all, "learn", None));
    let (seconds, least) = (learnt.makespan.as_secs_f64(), fixed.makespan.as_secs_f64());
    assert!(seconds < least * 1.03, "{seconds:.1} s instead of {least:.1} s");
    let spans = learnt.busy_curve.windows(2).map(|pair| (pair[1].0 - pair[0].0).as_secs_f64() * f64::from(pair[0].1));
    let (mean, cores) = (spans.sum::<f64>() / seconds, f64::from(NODES * CORES));
    let most = learnt.busy_curve.iter().map(|(_, busy)| *busy).max().map_or(0.0, f64::from);
    assert!(mean < cores * 2.5 && most < cores * 4.0, "{mean:.0} at once, {most} at most, on {cores} cores");
}

#[test]
fn a_node_is_told_what_strangers_use_of_its_cores() {
    let seconds = Duration::from_secs;
    let others = |cores, from, until| Neighbour { node: None, cores, from: seconds(from), until: seconds(until) };
    let neighbours = vec![others(4.0, 0, 10), others(8.0, 20, 30)];
    let crowd = Crowd { neighbours, ..needs(Needs { cores: 1.0, ..Needs::default() }) };
    // All cores are busy with eight tasks and eight strangers, and nobody waits.
    let sample = |entry: &Entry| match entry {
        Entry::Event(Event::Measured(sample)) => Some(*sample),
        _ => None,
    };
    let samples = recorded(world(1, &crowd, "learn:most=8", None), sample);
    let share = |sample: &Sample| (f64::from(sample.strangers) / 1e4).round();
    let at = |second| samples.iter().find(|(time, _)| *time > Time::START + seconds(second)).map(|(_, one)| share(one));
    assert_eq!([5, 15, 25, 35].map(at), [25.0, 0.0, 50.0, 0.0].map(Some));
    // Twice as many tasks leave them less.
    let samples = recorded(world(1, &crowd, "learn:most=16", None), sample);
    let least = samples.iter().map(|(_, sample)| share(sample)).filter(|share| *share > 0.0).fold(f64::MAX, f64::min);
    assert!(least < 25.0, "{least} %");
}

/// Nodes learn about the same at about the same time: what each of several says would be recorded several times.
#[test]
fn of_several_nodes_that_learn_one_is_recorded() {
    let widths =
        recorded(world(4, &needs(Needs { cores: 0.1, ..Needs::default() }), "learn", None), |entry| match entry {
            Entry::Command(Command::Width(change)) => Some(change.width),
            _ => None,
        });
    assert!(!widths.is_empty());
    assert!(widths.windows(2).all(|pair| pair[0].1 != pair[1].1), "{widths:?}");
}
