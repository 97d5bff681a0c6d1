//! Members that are to be had until some time: whom they ask for an object, and to whom they send those who ask them.

use super::*;

/// A member until its 50th second, with others that go before it, with it and after it. It asks for an object that all of them have.
fn asked(closes: &[u64], bytes: u64) -> Vec<u32> {
    let text = "tasks: { a: { run: x, in: e } }";
    let cluster = Cluster::new(text, Plan { nodes: 4, closes, ..STEALING });
    let object = cluster.object("e");
    let mut member = cluster.members.into_iter().flatten().next().unwrap();
    let mut out = Vec::new();
    member.located(Time(30 * SECOND), object, bytes, 0, [1, 2, 3].map(NodeId).into(), &mut out);
    member.fetch(object, &mut out);
    for node in [1, 2, 3].map(NodeId) {
        member.fetch_failed(Time(31 * SECOND), object, Source::Node(node), false, &mut out);
    }
    let from = |command: &Command| match command {
        Command::Fetch { from: Source::Node(node), .. } => Some(node.0),
        _ => None,
    };
    out.iter().filter_map(from).collect()
}

#[test]
fn those_are_asked_first_that_are_still_there_when_all_of_it_has_come() {
    // A second for each million bytes: 1 is there until second 40.
    let closes = [50, 40, 50, 60];
    assert_eq!(asked(&closes, 10_000_000), [1, 2, 3], "it would be sent just in time");
    assert_eq!(asked(&closes, 10_000_001), [2, 3, 1]);
    assert_eq!(asked(&closes, 20_000_001), [3, 1, 2]);
    assert_eq!(asked(&closes, 90_000_000), [1, 2, 3], "all are too late, and asked all the same");
    assert_eq!(asked(&[], 90_000_000), [1, 2, 3], "nothing is planned");
}

/// Whom a member sends those to that want an object of it, while it sends others something: its 50th second is its last.
fn redirected(closes: &[u64], has_got_it: u32) -> Vec<(u32, u32)> {
    let text = "tasks: { a: { run: x, in: e }, b: { run: x, in: f } }";
    let cluster = Cluster::new(text, Plan { nodes: 8, closes, ..STEALING });
    let (object, other) = (cluster.object("e"), cluster.object("f"));
    let mut member = cluster.members.into_iter().flatten().next().unwrap();
    let mut out = Vec::new();
    member.wanted(object, NodeId(has_got_it), true, &mut out);
    (0..3).for_each(|_| member.wanted(other, NodeId(7), true, &mut out));
    // Two wait when the first has got it; the last comes then.
    [4, 5].into_iter().for_each(|node| member.wanted(object, NodeId(node), true, &mut out));
    member.sent(object, NodeId(has_got_it), true, &mut out);
    (0..2).for_each(|_| member.wanted(object, NodeId(6), true, &mut out));
    let redirect = |command: &Command| match command {
        Command::Redirect { to, holder, .. } => Some((to.0, holder.0)),
        _ => None,
    };
    out.iter().filter_map(redirect).collect()
}

#[test]
fn nobody_is_sent_to_a_node_that_is_given_back_earlier() {
    let closes = [50, 49, 50, 60, 90, 90, 90, 90];
    assert_eq!(redirected(&closes, 1), []);
    assert_eq!(redirected(&closes, 2), [(4, 2), (6, 2), (6, 2)]);
    assert_eq!(redirected(&closes, 3), [(4, 3), (6, 3), (6, 3)]);
    assert_eq!(redirected(&[], 1), [(4, 1), (6, 1), (6, 1)], "nothing is planned");
}
