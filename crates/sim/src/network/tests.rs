use throng_core::rng::Rng;

use super::*;

const CARD: u64 = 100;

/// A network in which each node sends and receives 100 bytes a second, with flows that are named by numbers.
fn network(nodes: u32, shared: u64, core: Option<u64>) -> Network<u32> {
    Network::new(nodes, &Capacities { card: &|_| CARD, disk: Some(10), shared, core })
}

fn peers(from: u32, to: u32) -> Route {
    Route::Peers { from: NodeId(from), to: NodeId(to), is_on_disk: false }
}

fn seconds(seconds: f64) -> Time {
    Time((seconds * 1e9) as u64)
}

/// When each flow ends, in seconds, by its number.
fn ends(network: &mut Network<u32>, mut now: Time) -> Vec<(u32, f64)> {
    let mut ends = Vec::new();
    while let Some(time) = network.next_end(now) {
        now = time;
        while let Some(flow) = network.take_ended(now) {
            ends.push((flow, (now.as_secs_f64() * 1000.0).round() / 1000.0));
        }
    }
    assert!(network.is_idle());
    ends.sort_by_key(|(flow, _)| *flow);
    ends
}

#[test]
fn flows_share_a_card_and_speed_up_when_others_end() {
    let mut network = network(4, 1000, None);
    network.begin(Time::START, peers(0, 1), 100, 0);
    network.begin(Time::START, peers(0, 2), 300, 1);
    assert_eq!(ends(&mut network, Time::START), [(0, 2.0), (1, 4.0)]);
}

#[test]
fn what_one_side_cannot_use_goes_to_others() {
    let mut network = network(12, 1000, None);
    // Node 1 receives from ten others, and so takes little of what node 0 can send.
    for sender in 2..11 {
        network.begin(Time::START, peers(sender, 1), 10_000, sender);
    }
    network.begin(Time::START, peers(0, 1), 10_000, 0);
    network.begin(Time::START, peers(0, 11), 900, 1);
    let ends = ends(&mut network, Time::START);
    assert_eq!((ends[1], ends[0].0), ((1, 10.0), 0), "node 11 gets nine tenths of what node 0 sends: {ends:?}");
}

#[test]
fn what_begins_later_gets_its_share_at_once() {
    let mut network = network(4, 1000, None);
    network.begin(Time::START, peers(0, 1), 300, 0);
    network.begin(seconds(1.0), peers(2, 1), 100, 1);
    assert_eq!(ends(&mut network, seconds(1.0)), [(0, 4.0), (1, 3.0)]);
}

#[test]
fn a_narrow_core_slows_all_flows_that_run_not_only_those_of_the_same_nodes() {
    let mut network = network(8, 1000, Some(200));
    network.begin(Time::START, peers(0, 1), 300, 0);
    network.begin(seconds(1.0), peers(2, 3), 300, 1);
    // From now on there are four flows where two have room.
    network.begin(seconds(2.0), peers(4, 5), 50, 2);
    network.begin(seconds(2.0), peers(6, 7), 50, 3);
    assert_eq!(ends(&mut network, seconds(2.0)), [(0, 3.5), (1, 4.5), (2, 3.0), (3, 3.0)]);
}

#[test]
fn the_shared_file_system_is_shared() {
    let mut network = network(40, 200, None);
    for node in 0..40 {
        network.begin(Time::START, Route::Shared { to: NodeId(node) }, 50, node);
    }
    assert!(ends(&mut network, Time::START).into_iter().all(|(_, end)| end == 10.0));
}

#[test]
fn what_the_file_system_cannot_deliver_is_left_to_peers() {
    let mut network = network(70, 100, None);
    for node in 0..64 {
        network.begin(Time::START, Route::Shared { to: NodeId(node) }, 1000, node);
    }
    network.begin(Time::START, peers(65, 0), 850, 100);
    let (_, end) = ends(&mut network, Time::START).into_iter().find(|(flow, _)| *flow == 100).unwrap();
    assert!(end < 11.0, "{end}");
}

#[test]
fn a_disk_limits_what_is_sent_from_it_and_what_is_read_there() {
    let mut network = network(3, 1000, None);
    network.begin(Time::START, Route::Peers { from: NodeId(0), to: NodeId(1), is_on_disk: true }, 50, 0);
    network.begin(Time::START, Route::Disk { node: NodeId(0) }, 50, 1);
    network.begin(Time::START, peers(0, 2), 95, 2);
    assert_eq!(ends(&mut network, Time::START), [(0, 10.0), (1, 10.0), (2, 1.0)]);
}

#[test]
fn what_is_cut_goes_and_the_rest_goes_on() {
    let mut network = network(60, 1000, None);
    for node in 1..50 {
        network.begin(Time::START, peers(0, node), 100, node);
    }
    network.begin(Time::START, peers(50, 1), 100, 50);
    network.begin(Time::START, Route::Shared { to: NodeId(49) }, 100, 51);
    let mut cut = network.cut(Time::START, NodeId(49));
    cut.sort_unstable();
    assert_eq!(cut, [49, 51]);
    let mut cut = network.cut(Time::START, NodeId(0));
    cut.sort_unstable();
    assert_eq!(cut, (1..49).collect::<Vec<_>>());
    assert_eq!(ends(&mut network, Time::START), [(50, 1.0)]);
}

/// Max-min fair rates of flows between nodes, as they are defined: all rise together until some side is full, and again.
fn max_min(flows: &[(u32, u32)], nodes: u32) -> f64 {
    let mut rates = vec![0.0; flows.len()];
    let mut is_fixed = vec![false; flows.len()];
    let sides = |(from, to): (u32, u32)| [from as usize, (nodes + to) as usize];
    loop {
        let mut free = vec![(CARD as f64, 0u32); 2 * nodes as usize];
        for (at, flow) in flows.iter().enumerate() {
            for side in sides(*flow) {
                free[side].0 -= rates[at];
                free[side].1 += u32::from(!is_fixed[at]);
            }
        }
        let steps = free.iter().filter(|(_, count)| *count > 0).map(|(free, count)| free / f64::from(*count));
        let Some(step) = steps.reduce(f64::min) else { return rates.iter().sum() };
        for (at, flow) in flows.iter().enumerate().filter(|(at, _)| !is_fixed[*at]).collect::<Vec<_>>() {
            rates[at] += step;
            let is_full = |side: usize| free[side].0 - step * f64::from(free[side].1) < 1e-9;
            is_fixed[at] = sides(*flow).into_iter().any(is_full);
        }
    }
}

#[test]
fn a_busy_network_carries_nearly_as_much_as_one_that_is_max_min_fair() {
    let mut rng = Rng::named(1, "network");
    let nodes = 20;
    let (mut fair, mut ours, mut plain) = (0.0, 0.0, 0.0);
    let mut network = network(nodes, 1000, None);
    let mut running: Vec<(u32, (u32, u32))> = Vec::new();
    let mut now = Time::START;
    for number in 0..4000 {
        let (from, to) = (rng.below(nodes.into()) as u32, rng.below(nodes.into()) as u32);
        let into = running.iter().filter(|(_, flow)| flow.1 == to).count();
        if from != to && into < throng_core::node::FETCHES_AT_ONCE {
            network.begin(now, peers(from, to), 50 + rng.below(500), number);
            running.push((number, (from, to)));
        }
        while running.len() > 100 {
            now = network.next_end(now).unwrap();
            while let Some(ended) = network.take_ended(now) {
                running.retain(|(flow, _)| *flow != ended);
            }
        }
        if number > 200 {
            let flows: Vec<(u32, u32)> = running.iter().map(|(_, flow)| *flow).collect();
            fair += max_min(&flows, nodes);
            ours += network.flows.used[usize::from(PEERS)] * 1e9;
            let out = |node| flows.iter().filter(|flow| flow.0 == node).count() as f64;
            let into = |node| flows.iter().filter(|flow| flow.1 == node).count() as f64;
            plain += flows.iter().map(|(from, to)| CARD as f64 / out(*from).max(into(*to))).sum::<f64>();
        }
        network.flows.check();
    }
    assert!(ours > 0.97 * fair, "{ours} of {fair}, and {plain} if each card were shared for itself");
    assert!(ours > plain);
}

#[test]
fn the_same_flows_end_at_the_same_times() {
    let run = || {
        let mut rng = Rng::named(7, "network");
        let mut network = network(9, 150, Some(300));
        for number in 0..500 {
            let (from, to) = (NodeId(rng.below(9) as u32), NodeId(rng.below(9) as u32));
            let route = match rng.below(4) {
                0 => Route::Shared { to },
                1 => Route::Disk { node: to },
                _ => Route::Peers { from, to, is_on_disk: rng.below(2) == 0 },
            };
            network.begin(seconds(f64::from(number) / 10.0), route, rng.below(200), number);
        }
        let ends = ends(&mut network, seconds(50.0));
        assert_eq!(ends.len(), 500);
        ends
    };
    assert_eq!(run(), run());
}
