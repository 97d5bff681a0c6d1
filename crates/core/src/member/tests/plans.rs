//! Members that hold to a plan: what they wait for, and what they tell each other so that nobody waits in vain.

use super::*;

const PLANNED: Plan<'_> = Plan { place: "partitioned", ..STEALING };
const THREE: &str = "tasks: { a: { run: x }, b: { run: x, after: a }, c: { run: x } }";

impl Cluster<'_> {
    fn expected(&self, node: usize) -> Vec<String> {
        self.member(node).node().expected().map(|task| self.flow.name(task)).collect()
    }
}

#[test]
fn what_will_not_run_keeps_nobody_waiting() {
    // The second task would be the first of its node, and is skipped or cancelled by the other one.
    let times = [(1, 0, 10), (0, 10, 20), (0, 500, 510)];
    let plan = Plan { times: &times, ..PLANNED };
    for is_cancelled in [false, true] {
        let mut cluster = Cluster::new(THREE, plan);
        cluster.settle();
        assert_eq!(cluster.started, [("a".to_owned(), 1)], "the third waits for the second, which would be before it");
        if is_cancelled {
            let task = cluster.task("b");
            cluster.tell(1, Event::Cancel(task));
        } else {
            cluster.end("a", End::Failed { code: 1 });
        }
        assert_eq!(cluster.nodes_that_ran("c"), [0], "{is_cancelled}");
        cluster.run();
        assert!(cluster.expected(0).is_empty());
    }
}

#[test]
fn what_fails_here_takes_those_with_it_that_were_to_run_here() {
    let times = [(0, 0, 10), (0, 10, 20), (0, 500, 510)];
    let mut cluster = Cluster::new(THREE, Plan { nodes: 1, times: &times, ..PLANNED });
    cluster.settle();
    cluster.end("a", End::Failed { code: 1 });
    assert_eq!(cluster.nodes_that_ran("c"), [0]);
}

#[test]
fn a_task_that_is_tried_again_does_not_wait_for_its_time() {
    let text = "tasks: { a: { run: x, retries: 1 }, b: { run: x } }";
    let times = [(0, 100, 110), (0, 500, 510)];
    let mut cluster = Cluster::new(text, Plan { nodes: 1, times: &times, ..PLANNED });
    cluster.settle();
    cluster.end("a", End::Failed { code: 1 });
    assert_eq!(cluster.nodes_that_ran("b"), [0], "nobody else is here");
    cluster.pass(Duration::from_secs(5));
    cluster.done("b");
    assert_eq!(cluster.nodes_that_ran("a"), [0, 0]);
}

const ROW: &str = "tasks: { a: { run: x }, hold: { run: x }, b: { run: x }, c: { run: x, after: hold } }";

#[test]
fn who_has_come_back_learns_what_is_over_and_what_others_have() {
    // Of the first node's tasks, one is over when it dies; the other node takes the next, which runs until the node is back.
    let times = [(0, 0, 10), (1, 0, 10), (0, 10, 20), (0, 500, 510)];
    let mut cluster = Cluster::new(ROW, Plan { times: &times, slots: 2, place: "partitioned", ..MORTAL });
    cluster.settle();
    cluster.done("a");
    assert_eq!(cluster.expected(0), ["c"]);
    cluster.kill(0);
    cluster.pass(Duration::from_secs(20));
    assert_eq!(cluster.nodes_that_ran("b"), [0, 1]);
    cluster.come_back(0, 2);
    assert_eq!(cluster.expected(0), ["b", "c"], "the store has said what is over");
    cluster.pass(Duration::from_secs(3));
    assert_eq!(cluster.expected(0), ["c"], "and the other node what it has");
    cluster.done("hold");
    assert_eq!(cluster.nodes_that_ran("c"), [0], "long before its time");
}

#[test]
fn what_others_have_ended_before_they_have_heard_of_a_new_life_is_told() {
    let times = [(0, 0, 10), (1, 0, 10), (0, 10, 20), (0, 500, 510)];
    let mut cluster = Cluster::new(ROW, Plan { times: &times, slots: 2, place: "partitioned", ..MORTAL });
    cluster.settle();
    cluster.done("a");
    cluster.kill(0);
    cluster.pass(Duration::from_secs(20));
    cluster.come_back(0, 2);
    cluster.done("b");
    assert_eq!(cluster.expected(0), ["c"]);
}

#[test]
fn a_task_that_has_come_is_waited_for_whatever_was_said_before() {
    let times = [(0, 10, 20), (0, 500, 510)];
    let text = "tasks: { a: { run: x, in: e }, b: { run: x } }";
    let brought = [("e", 10, 1)];
    let mut cluster = Cluster::new(text, Plan { times: &times, brought: &brought, ..PLANNED });
    cluster.settle();
    let (task, now) = (cluster.task("b"), cluster.now);
    let member = cluster.members[0].as_mut().unwrap();
    member.handle(now, Event::Message { from: NodeId(1), message: Message::Elsewhere(vec![task]) }, &mut Vec::new());
    assert_eq!(cluster.expected(0), ["b"]);
}

#[test]
fn without_times_nobody_is_told() {
    let mut cluster = Cluster::new(THREE, STEALING);
    cluster.settle();
    cluster.end("a", End::Failed { code: 1 });
    assert!(cluster.members.iter().flatten().all(|member| member.elsewhere.is_empty()));
    let task = cluster.task("b");
    let member = cluster.members[1].as_mut().unwrap();
    // Workflows are also parted without a plan.
    member.setup.homes = Arc::new(vec![0; 3]);
    member.note_elsewhere(task);
    assert!(member.elsewhere.is_empty());
}
