//! A few members, a store in memory, and a driver that carries everything over at once and in order.

use std::collections::VecDeque;

use super::*;
use crate::ids::SlotId;
use crate::node::Keeping;
use crate::node::{End, Limits, Policies, Times, Timetable};
use crate::order;
use crate::pack::Fixed;
use crate::place;
use crate::pools::Pools;
use crate::store::{Answer, Memory, Phase, Tries, Verdict};
use crate::workflow::{Format, NoFiles};

mod closes;
mod plans;

/// Two, three or four members, and what happens between them.
struct Cluster<'a> {
    plan: Plan<'a>,
    flow: Arc<Workflow>,
    memory: Memory,
    /// Dead ones are none.
    members: Vec<Option<Member>>,
    now: Time,
    events: VecDeque<(usize, Event)>,
    running: Vec<(usize, SlotId, TaskId)>,
    /// All attempts, as names of tasks and numbers of nodes.
    started: Vec<(String, usize)>,
    killed: Vec<String>,
    evicted: Vec<(usize, ObjectId)>,
    /// Members that have to begin a new life.
    restarted: Vec<usize>,
}

#[derive(Clone, Copy)]
struct Plan<'a> {
    nodes: u32,
    slots: u32,
    place: &'a str,
    has_leases: bool,
    /// Whether the members have the first tasks in turn, or the first member has all of them.
    is_spread: bool,
    capacity: u64,
    /// Objects from outside, their sizes, and the nodes that have them.
    brought: &'a [(&'a str, u64, u32)],
    /// For each task its node, and the seconds in which it is to begin and to have ended; empty if that is not planned.
    times: &'a [(u32, u64, u64)],
    /// For each node the second until which it is to be had; empty if that is not planned.
    closes: &'a [u64],
}

const STEALING: Plan<'_> = Plan {
    nodes: 2,
    slots: 1,
    place: "mlb",
    has_leases: false,
    is_spread: false,
    capacity: 1_000_000,
    brought: &[],
    times: &[],
    closes: &[],
};
const MORTAL: Plan<'_> = Plan { has_leases: true, ..STEALING };

fn owner(node: u32) -> Owner {
    Owner { node: NodeId(node), boot: 1 }
}

/// A member in one of its lives.
fn make_member(flow: &Arc<Workflow>, plan: Plan<'_>, me: Owner, now: Time) -> Member {
    let order = || order::by_name(&"fifo".parse().unwrap(), flow, 4).unwrap();
    let policies = Policies { local: order(), shared: order(), pack: Box::new(Fixed::new(plan.slots)) };
    let limits = Limits { slots: plan.slots, grace: Duration::from_secs(5), fail_fast: false };
    let mut inner = Node::new(flow.clone(), limits, policies, Pools::new(Vec::new(), flow));
    inner = inner.with_cache(Keeping::new(plan.capacity, 2));
    if !plan.times.is_empty() {
        let seconds = |of: fn(&(u32, u64, u64)) -> u64| Arc::new(plan.times.iter().map(|it| of(it) * SECOND).collect());
        let times = Times { begins: seconds(|(_, begin, _)| *begin), ends: seconds(|(.., end)| *end) };
        let own = flow.tasks().filter(|task| plan.times[task.index()].0 == me.node.0).map(|task| (task, 1));
        inner = inner.with_timetable(Timetable::new(times, own));
    }
    let setup = Setup {
        me,
        nodes: plan.nodes,
        bandwidth: 1_000_000,
        round_trip: Duration::ZERO,
        patience: Duration::from_secs(1),
        has_leases: plan.has_leases,
        seed: 1,
        abilities: Arc::default(),
        homes: Arc::new(plan.times.iter().map(|(home, ..)| *home).collect()),
        opens: Time::START,
        closes: Arc::new(plan.closes.iter().map(|second| Time(second * SECOND)).collect()),
    };
    let place = place::by_name(&plan.place.parse().unwrap()).unwrap();
    Member::new(flow.clone(), Arc::new(Kin::of(flow)), setup, inner, place, now)
}

const SECOND: u64 = 1_000_000_000;

impl<'a> Cluster<'a> {
    fn new(text: &str, plan: Plan<'a>) -> Cluster<'a> {
        let flow = Arc::new(Workflow::parse(text, Format::Yaml, "test", &NoFiles).unwrap());
        let kin = Arc::new(Kin::of(&flow));
        let first = |task: TaskId| match plan.times.get(task.index()) {
            Some((home, ..)) => *home,
            None if plan.is_spread => task.0 % plan.nodes,
            None => 0,
        };
        let memory = Memory::submit(flow.clone(), kin, |task| owner(first(task)));
        let member = |node: u32| Some(make_member(&flow, plan, owner(node), Time::START));
        let mut cluster = Cluster {
            plan,
            members: (0..plan.nodes).map(member).collect(),
            flow: flow.clone(),
            memory,
            now: Time::START,
            events: VecDeque::new(),
            running: Vec::new(),
            started: Vec::new(),
            killed: Vec::new(),
            evicted: Vec::new(),
            restarted: Vec::new(),
        };
        for (name, bytes, node) in plan.brought {
            let (object, bytes) = (cluster.object(name), *bytes);
            cluster.memory.bring(object, bytes, Some(owner(*node)));
            cluster.events.push_back((*node as usize, Event::Kept { object, bytes }));
        }
        if plan.has_leases {
            cluster.events.extend((0..plan.nodes as usize).map(|node| (node, Event::Join)));
        }
        for task in flow.tasks().filter(|task| flow.parent_count(*task) == 0) {
            let inputs = cluster.memory.inputs(task);
            let ready = cluster.member(0).ready_task(task, Tries::default(), 0, &inputs);
            cluster.events.push_back((first(task) as usize, Event::Ready(ready, inputs)));
        }
        cluster
    }

    /// Carries over all that is on its way; then the others look for work.
    fn begin(text: &str, plan: Plan<'a>) -> Cluster<'a> {
        let mut cluster = Cluster::new(text, plan);
        cluster.settle();
        for node in 1..plan.nodes as usize {
            cluster.tell(node, Event::Wake);
        }
        cluster
    }

    fn member(&self, node: usize) -> &Member {
        self.members[node].as_ref().unwrap()
    }

    fn task(&self, name: &str) -> TaskId {
        self.flow.tasks().find(|task| self.flow.name(*task) == name).unwrap()
    }

    fn object(&self, name: &str) -> ObjectId {
        (0..self.flow.object_count()).map(ObjectId::at).find(|object| self.flow.object_name(*object) == name).unwrap()
    }

    fn tell(&mut self, node: usize, event: Event) {
        self.events.push_back((node, event));
        self.settle();
    }

    /// Carries everything over until nothing is on its way.
    fn settle(&mut self) {
        let mut steps = 0;
        while let Some((node, event)) = self.events.pop_front() {
            steps += 1;
            assert!(steps < 100_000, "the members talk for ever");
            let Some(member) = &mut self.members[node] else { continue };
            let mut out = Vec::new();
            member.handle(self.now, event, &mut out);
            member.decide(self.now, &mut out);
            member.node().check().unwrap();
            for command in out {
                self.carry_out(node, command);
            }
        }
    }

    fn carry_out(&mut self, node: usize, command: Command) {
        match command {
            Command::Start { task, slot, .. } => {
                assert_eq!(self.memory.record(task).owner, self.member(node).me(), "{task:?} is somebody else's");
                self.running.push((node, slot, task));
                self.started.push((self.flow.name(task), node));
            }
            Command::Kill { slot, .. } => {
                let at = self.running.iter().position(|(on, used, _)| (*on, *used) == (node, slot)).unwrap();
                let (_, _, task) = self.running.remove(at);
                self.killed.push(self.flow.name(task));
                self.events.push_back((node, Event::Finished { slot, end: End::Killed, outputs: Vec::new() }));
            }
            Command::Fetch { object, from, .. } => {
                let Source::Node(from) = from else { panic!("nothing is shared here") };
                if let Some(source) = &self.members[from.index()] {
                    assert!(source.node().has_object(object), "{object:?} is not there");
                }
                let bytes = self.memory.bytes(object);
                self.events.push_back((node, Event::Fetched { object, bytes }));
            }
            Command::Evict { object } => self.evicted.push((node, object)),
            Command::Store { batch, verbs, wants_answers } => {
                let answers: Vec<Answer> = verbs.iter().map(|verb| self.memory.apply(self.now, verb)).collect();
                if wants_answers {
                    self.events.push_back((node, Event::Answered { batch, answers }));
                }
            }
            Command::Send { to, message } => {
                self.events.push_back((to.index(), Event::Message { from: NodeId(node as u32), message }));
            }
            Command::Width(_) => {}
            Command::Restart => self.restarted.push(node),
            Command::Serve { .. } | Command::Redirect { .. } => panic!("nobody asks for objects here"),
        }
    }

    fn end(&mut self, name: &str, end: End) {
        let task = self.task(name);
        let at = self.running.iter().position(|(.., running)| *running == task);
        let (node, slot, _) = self.running.remove(at.unwrap_or_else(|| panic!("{name} does not run")));
        let outputs = self.flow.outputs(task).map(|object| (object, 10)).collect();
        self.tell(node, Event::Finished { slot, end, outputs });
    }

    fn done(&mut self, name: &str) {
        self.end(name, End::Done);
    }

    /// A member is gone, with all that it ran.
    fn kill(&mut self, node: usize) {
        self.members[node] = None;
        self.running.retain(|(on, ..)| *on != node);
    }

    /// A member that was gone comes back, and remembers nothing.
    fn come_back(&mut self, node: usize, boot: u32) {
        let me = Owner { node: NodeId(node as u32), boot };
        self.members[node] = Some(make_member(&self.flow, self.plan, me, self.now));
        self.tell(node, Event::Join);
    }

    /// Lets time pass, and wakes whoever wants to be woken.
    fn pass(&mut self, length: Duration) {
        let end = self.now + length;
        loop {
            let wakes = self.members.iter().enumerate();
            let wakes = wakes.filter_map(|(node, member)| Some((member.as_ref()?.next_wake()?, node)));
            let Some((time, node)) = wakes.min().filter(|(time, _)| *time <= end) else { break };
            self.now = self.now.max(time) + Duration::from_nanos(u64::from(time <= self.now));
            self.tell(node, Event::Wake);
        }
        self.now = self.now.max(end);
    }

    /// Whatever runs succeeds, until all tasks have a verdict.
    fn run(&mut self) {
        for _ in 0..1000 {
            if self.memory.open_tasks() == 0 {
                return;
            }
            match self.running.first() {
                Some((.., task)) => self.done(&self.flow.name(*task)),
                None => self.pass(Duration::from_secs(1)),
            }
        }
        panic!("the run does not end");
    }

    fn verdict(&self, name: &str) -> Verdict {
        let record = self.memory.record(self.task(name));
        assert!(record.phase >= Phase::Settled, "{name} is {:?}", record.phase);
        record.verdict
    }

    fn all_done(&self) -> bool {
        self.flow.tasks().all(|task| self.verdict(&self.flow.name(task)) == Verdict::Done)
    }

    fn nodes_that_ran(&self, name: &str) -> Vec<usize> {
        self.started.iter().filter(|(task, _)| task == name).map(|(_, node)| *node).collect()
    }
}

#[test]
fn a_chain_goes_on_where_its_last_parent_ran() {
    let text = "tasks: { a: { run: x, out: o }, b: { run: x, out: p }, c: { run: x, in: [o, p] } }";
    let mut cluster = Cluster::begin(text, Plan { is_spread: true, ..STEALING });
    assert_eq!(cluster.started, [("a".to_owned(), 0), ("b".to_owned(), 1)]);
    cluster.done("a");
    cluster.done("b");
    // The second member closed last, and fetches what the first has made.
    assert_eq!(cluster.nodes_that_ran("c"), [1]);
    assert_eq!(cluster.member(1).tally.fetched_bytes, 10);
    cluster.done("c");
    assert!(cluster.all_done());
    // Nobody needs the files any more.
    let (o, p) = (cluster.object("o"), cluster.object("p"));
    cluster.evicted.sort();
    assert_eq!(cluster.evicted, [(0, o), (1, o), (1, p)]);
    assert!(cluster.members.iter().flatten().all(Member::is_idle));
}

#[test]
fn a_thief_gets_half() {
    let mut cluster = Cluster::begin("tasks: { t: { foreach: { i: 1..9 }, run: 'x {i}' } }", STEALING);
    // One runs, eight wait.
    assert_eq!(cluster.member(1).tally.stolen, 4);
    let held = |node: usize| cluster.flow.tasks().filter(|task| cluster.member(node).holds(*task)).count();
    assert_eq!((held(0), held(1)), (5, 4));
    cluster.run();
    assert!(cluster.all_done());
    assert_eq!(cluster.started.len(), 9);
}

#[test]
fn a_task_is_pushed_to_its_data() {
    let text = "tasks: { a: { run: x, out: o }, b: { run: x, in: [o, e] } }";
    let brought = [("e", 1000, 1)];
    let mut cluster = Cluster::begin(text, Plan { place: "mdl", brought: &brought, ..STEALING });
    cluster.done("a");
    assert_eq!(cluster.started, [("a".to_owned(), 0), ("b".to_owned(), 1)]);
    assert_eq!((cluster.member(0).tally.pushed, cluster.member(1).tally.fetched_bytes), (1, 10));
    cluster.done("b");
    assert!(cluster.all_done());
}

#[test]
fn a_member_that_drains_hands_over_all_that_has_not_begun() {
    let text = "tasks: { t: { foreach: { i: 1..5 }, run: 'x {i}' } }";
    let mut cluster = Cluster::new(text, STEALING);
    cluster.settle();
    cluster.tell(0, Event::Drain);
    let held: Vec<u32> =
        cluster.flow.tasks().filter(|task| cluster.member(0).holds(*task)).map(|task| task.0).collect();
    assert_eq!(held, [0]);
    cluster.run();
    assert!(cluster.all_done());
    assert_eq!(cluster.started.iter().filter(|(_, node)| *node == 0).count(), 1);
    assert!(cluster.member(0).is_idle());
}

#[test]
fn a_member_that_drains_hands_over_what_comes_later() {
    // A child of what still runs, and one that has to be tried again.
    for (text, end) in [
        ("tasks: { a: { run: x }, b: { run: x, after: a } }", End::Done),
        ("tasks: { a: { run: x, retries: 1 } }", End::Failed { code: 1 }),
    ] {
        let mut cluster = Cluster::new(text, Plan { place: "mdl", ..STEALING });
        cluster.settle();
        cluster.tell(0, Event::Drain);
        cluster.end("a", end);
        assert!(cluster.flow.tasks().all(|task| !cluster.member(0).holds(task)), "{text}");
        cluster.run();
        assert!(cluster.all_done());
        assert_eq!(cluster.started.iter().map(|(_, node)| *node).collect::<Vec<_>>(), [0, 1]);
    }
}

#[test]
fn when_all_drain_tasks_stay_where_they_are() {
    let text = "tasks: { t: { foreach: { i: 1..9 }, run: 'x {i}' } }";
    for place in ["mlb", "mdl", "random", "sampled", "queue", "central"] {
        let mut cluster = Cluster::begin(text, Plan { nodes: 3, place, is_spread: true, ..MORTAL });
        let begun = cluster.started.len();
        for node in 0..3 {
            cluster.tell(node, Event::Drain);
        }
        let before = cluster.flow.tasks().map(|task| cluster.memory.record(task).tenure).collect::<Vec<_>>();
        while let Some((_, _, task)) = cluster.running.first().copied() {
            let name = cluster.flow.name(task);
            cluster.done(&name);
        }
        cluster.pass(Duration::from_secs(100));
        assert_eq!(cluster.started.len(), begun, "{place}: whoever drains starts nothing");
        let after = cluster.flow.tasks().map(|task| cluster.memory.record(task).tenure).collect::<Vec<_>>();
        assert_eq!(after, before, "{place}: tasks do not go round");
        let open = cluster.flow.tasks().filter(|task| cluster.memory.record(*task).phase == Phase::Ready).count();
        assert_eq!(open, 9 - begun, "{place}");
    }
}

#[test]
fn a_life_that_is_over_begins_anew_instead_of_joining() {
    let mut cluster = Cluster::new("tasks: { a: { run: x } }", MORTAL);
    cluster.memory.apply(Time::START, &Verb::Join { owner: owner(0) });
    cluster.events.clear();
    cluster.now = Time::START + crate::store::LEASE;
    // Its question comes for the second time, after the others could have stepped in.
    cluster.tell(0, Event::Join);
    assert_eq!(cluster.restarted, [0]);
    assert!(cluster.started.is_empty() && !cluster.member(0).may_start(cluster.now));
}

#[test]
fn another_policy_holds_from_then_on() {
    let text = "tasks: { a: { run: x, in: e }, b: { foreach: { i: 1..6 }, run: 'x {i}', in: e, after: a } }";
    let brought = [("e", 1000, 0)];
    let mut cluster = Cluster::begin(text, Plan { place: "mdl", brought: &brought, ..STEALING });
    assert_eq!(cluster.member(0).place_name(), "mdl");
    for node in 0..2 {
        cluster.tell(node, Event::Place(place::by_name(&"mlb".parse().unwrap()).unwrap()));
    }
    assert_eq!(cluster.member(0).place_name(), "mlb");
    cluster.done("a");
    cluster.pass(Duration::from_secs(1));
    // With the first policy, all would have stayed where the file is.
    assert!(cluster.member(1).tally.stolen > 0);
    cluster.run();
    assert!(cluster.all_done());
}

#[test]
fn a_cancelled_task_is_ended_and_takes_its_subtree_with_it() {
    let text = "tasks: { a: { run: x }, b: { run: x, after: a }, c: { run: x, after: b }, d: { run: x } }";
    let mut cluster = Cluster::begin(text, STEALING);
    let task = cluster.task("a");
    cluster.tell(0, Event::Cancel(task));
    assert_eq!(cluster.killed, ["a"]);
    cluster.run();
    assert_eq!(
        ["a", "b", "c", "d"].map(|name| cluster.verdict(name)),
        [Verdict::Cancelled, Verdict::Skipped, Verdict::Skipped, Verdict::Done]
    );
    assert!(cluster.members.iter().flatten().all(Member::is_idle));
}

#[test]
fn a_task_that_runs_elsewhere_can_be_cancelled() {
    let text = "tasks: { a: { run: x }, b: { run: x, out: o }, c: { run: x, in: o } }";
    let mut cluster = Cluster::begin(text, Plan { is_spread: true, ..STEALING });
    assert_eq!(cluster.nodes_that_ran("b"), [1]);
    let task = cluster.task("b");
    cluster.tell(0, Event::Cancel(task));
    cluster.run();
    assert_eq!(cluster.killed, ["b"], "whoever runs it is told");
    cluster.running.clear();
    assert_eq!((cluster.verdict("b"), cluster.verdict("c")), (Verdict::Cancelled, Verdict::Skipped));
    assert_eq!(cluster.memory.places(cluster.object("o")).count(), 0);
}

#[test]
fn a_cancellation_that_meets_the_end_of_a_task_strands_nobody() {
    let mut cluster = Cluster::begin("tasks: { a: { run: x, out: o }, b: { run: x, in: o } }", STEALING);
    let (task, now) = (cluster.task("a"), cluster.now);
    let (_, slot, _) = cluster.running[0];
    let outputs = vec![(cluster.object("o"), 5)];
    let node = cluster.running[0].0;
    // Both reach the store in one question: it hears of the cancellation first.
    let member = cluster.members[node].as_mut().unwrap();
    let mut out = Vec::new();
    member.handle(now, Event::Cancel(task), &mut out);
    member.handle(now, Event::Finished { slot, end: End::Done, outputs }, &mut out);
    cluster.running.clear();
    cluster.tell(node, Event::Wake);
    cluster.run();
    assert_eq!((cluster.verdict("a"), cluster.verdict("b")), (Verdict::Cancelled, Verdict::Skipped));
}

#[test]
fn a_task_whose_memory_grows_beyond_all_nodes_asks_for_what_last_fitted() {
    let text = "tasks: { a: { run: x, memory: 6GB * attempt, retries: 3 } }";
    let cluster = Cluster::new(text, STEALING);
    let flow = cluster.flow.clone();
    let small = flow.class(TaskId(0), 1);
    let mut member = cluster.members.into_iter().flatten().next().unwrap();
    member.setup.abilities = Arc::new(Abilities::new(&[1, 1], flow.class_count(), |_, class| class == small));
    let ready = member.ready_task(TaskId(0), Tries { last: 2, excused: 1 }, 0, &Inputs::default());
    assert_eq!((ready.class, ready.attempt), (small, 3));
}

#[test]
fn the_tasks_of_a_dead_member_are_claimed() {
    let mut cluster = Cluster::begin("tasks: { t: { foreach: { i: 1..9 }, run: 'x {i}' } }", MORTAL);
    assert_eq!(cluster.member(1).tally.stolen, 4);
    cluster.kill(1);
    cluster.pass(Duration::from_secs(20));
    assert_eq!(cluster.member(0).tally.claimed, 4);
    cluster.run();
    assert!(cluster.all_done());
    // Only what was under way had to begin twice.
    assert_eq!(cluster.started.len(), 10);
}

#[test]
fn a_task_that_takes_its_nodes_with_it_is_put_aside() {
    let mut cluster = Cluster::begin("tasks: { a: { run: x }, b: { run: x, after: a } }", Plan { nodes: 4, ..MORTAL });
    for death in 1..=crate::store::DEATHS_ALLOWED {
        assert_eq!(cluster.started.len(), usize::from(death));
        let (node, ..) = cluster.running[0];
        cluster.kill(node);
        cluster.pass(Duration::from_secs(20));
    }
    assert_eq!((cluster.verdict("a"), cluster.verdict("b")), (Verdict::Quarantined, Verdict::Skipped));
    assert_eq!(cluster.memory.record(cluster.task("b")).phase, Phase::Delivered);
}

#[test]
fn data_that_died_with_its_node_is_made_again() {
    let text = "tasks: { a: { run: x, out: o }, hold: { run: x }, b: { run: x, in: o, after: hold } }";
    let mut cluster = Cluster::begin(text, Plan { is_spread: true, ..MORTAL });
    assert_eq!((cluster.nodes_that_ran("a"), cluster.nodes_that_ran("hold")), (vec![0], vec![1]));
    cluster.done("a");
    cluster.kill(0);
    cluster.pass(Duration::from_secs(20));
    cluster.done("hold");
    assert_eq!(cluster.nodes_that_ran("a"), [0, 1]);
    assert_eq!(cluster.member(1).tally.reopened, 1);
    cluster.run();
    assert!(cluster.all_done());
    assert_eq!(cluster.memory.record(cluster.task("a")).generation, 1);
    assert_eq!(cluster.nodes_that_ran("b"), [1]);
}

#[test]
fn a_result_that_died_with_its_node_is_made_again() {
    let text = "tasks: { a: { run: x, out: o }, hold: { run: x } }";
    let mut cluster = Cluster::begin(text, Plan { is_spread: true, ..MORTAL });
    cluster.done("a");
    cluster.kill(0);
    cluster.done("hold");
    assert_eq!(cluster.memory.open_tasks(), 0);
    cluster.pass(Duration::from_secs(20));
    assert_eq!(cluster.nodes_that_ran("a"), [0, 1]);
    cluster.run();
    assert_eq!(cluster.memory.places(cluster.object("o")).collect::<Vec<_>>(), [NodeId(1)]);
}

#[test]
fn what_was_to_go_and_is_made_here_meanwhile_is_not_deleted() {
    let text = "tasks: { a: { run: x, in: e }, b: { run: x, in: f } }";
    let brought = [("e", 10, 1), ("f", 10, 1)];
    let mut cluster = Cluster::new(text, Plan { capacity: 15, brought: &brought, ..STEALING });
    cluster.kill(1);
    cluster.settle();
    // Its end lets the file go that the first task has read; before the store has agreed, the file is made here.
    let object = cluster.object("e");
    let (node, slot, _) = cluster.running.remove(0);
    cluster.events.push_back((node, Event::Finished { slot, end: End::Done, outputs: Vec::new() }));
    cluster.events.push_back((node, Event::Kept { object, bytes: 10 }));
    cluster.settle();
    assert_eq!(cluster.evicted, []);
    assert!(cluster.member(0).node().has_object(object));
    cluster.run();
    assert!(cluster.all_done());
}
