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
    assert_eq!(asked(&closes, 20_000_001), [3, 2, 1], "whoever is there longer before the others");
    assert_eq!(asked(&closes, 90_000_000), [3, 2, 1], "all are gone too soon, and asked all the same");
    assert_eq!(asked(&[], 90_000_000), [1, 2, 3], "nothing is planned");
}

const AT_ONCE: Asking = Asking { may_redirect: true, due: Time::START };

/// Whom a member sends those to in its 30th second that want an object of it that takes ten seconds: its 50th is its last.
fn redirected(closes: &[u64], has_got_it: u32) -> Vec<(u32, u32)> {
    let text = "tasks: { a: { run: x, in: e }, b: { run: x, in: f } }";
    let cluster = Cluster::new(text, Plan { nodes: 8, closes, capacity: 20_000_000, ..STEALING });
    let (object, other) = (cluster.object("e"), cluster.object("f"));
    let mut member = cluster.members.into_iter().flatten().next().unwrap();
    let (now, mut out) = (Time(30 * SECOND), Vec::new());
    member.handle(now, Event::Kept { object, bytes: 10_000_000 }, &mut out);
    member.wanted(now, object, NodeId(has_got_it), AT_ONCE, &mut out);
    (0..3).for_each(|_| member.wanted(now, other, NodeId(7), AT_ONCE, &mut out));
    // Two wait when the first has got it; the last comes then.
    [4, 5].into_iter().for_each(|node| member.wanted(now, object, NodeId(node), AT_ONCE, &mut out));
    member.sent(now, object, NodeId(has_got_it), true, &mut out);
    (0..2).for_each(|_| member.wanted(now, object, NodeId(6), AT_ONCE, &mut out));
    let redirect = |command: &Command| match command {
        Command::Redirect { to, holder, .. } => Some((to.0, holder.0)),
        _ => None,
    };
    out.iter().filter_map(redirect).collect()
}

#[test]
fn nobody_is_sent_to_a_node_that_would_have_to_be_kept_for_it() {
    let closes = [50, 39, 40, 60, 90, 90, 90, 90];
    assert_eq!(redirected(&closes, 1), []);
    assert_eq!(redirected(&closes, 2), [(4, 2), (6, 2), (6, 2)]);
    assert_eq!(redirected(&closes, 3), [(4, 3), (6, 3), (6, 3)]);
    assert_eq!(redirected(&[], 1), [(4, 1), (6, 1), (6, 1)], "nothing is planned");
    let closes = [35, 39, 34, 34, 90, 90, 90, 90];
    assert_eq!(redirected(&closes, 1), [(4, 1), (6, 1), (6, 1)], "it is there for longer than whoever sends it there");
}

#[test]
fn whoever_needs_it_first_is_served_first() {
    let served = |closes: &[u64]| {
        let text = "tasks: { a: { run: x, in: e } }";
        let cluster = Cluster::new(text, Plan { nodes: 8, closes, ..STEALING });
        let object = cluster.object("e");
        let mut member = cluster.members.into_iter().flatten().next().unwrap();
        let mut out = Vec::new();
        let asking = |due| Asking { may_redirect: false, due: Time(due) };
        let wishes = [(1, 9), (2, 30), (3, 20), (4, 20), (5, 40), (6, 10)];
        wishes
            .into_iter()
            .for_each(|(node, due)| member.wanted(Time::START, object, NodeId(node), asking(due), &mut out));
        (1..=6).for_each(|node| member.sent(Time::START, object, NodeId(node), false, &mut out));
        let to = |command: &Command| if let Command::Serve { to, .. } = command { Some(to.0) } else { None };
        out.iter().filter_map(to).collect::<Vec<u32>>()
    };
    assert_eq!(served(&[90; 8]), [1, 6, 3, 4, 2, 5], "one at a time");
    assert_eq!(served(&[]), [1, 2, 3, 4, 6, 5], "four at a time");
}
