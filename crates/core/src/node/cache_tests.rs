//! A node that brings what its tasks read: event in, exact commands out.

use super::tests::{node_for, ready, start, step};
use super::*;
use crate::ids::ObjectId;

/// Tasks with a file of their own from outside, and one that reads two of them.
const FLOW: &str =
    "tasks: { a: { run: x, in: e }, b: { run: x, in: f }, c: { run: x, in: g }, d: { run: x, in: [e, f] } }";

/// A node with its workflow, on which everything is checked after each step.
struct Bench {
    flow: Arc<Workflow>,
    node: Node,
}

impl Bench {
    fn new(text: &str, slots: u32, capacity: u64, window: usize) -> Bench {
        let (flow, node) = node_for(text, slots, "fifo");
        Bench { flow, node: node.with_cache(Keeping::new(capacity, window)) }
    }

    fn step(&mut self, events: &[Event]) -> Vec<Command> {
        let commands = step(&mut self.node, 0, events);
        self.node.check().unwrap();
        commands
    }

    fn ready(&mut self, tasks: &[u32]) -> Vec<Command> {
        let events: Vec<Event> = tasks.iter().map(|task| ready(&self.flow, *task)).collect();
        self.step(&events)
    }

    fn object(&self, name: &str) -> ObjectId {
        (0..self.flow.object_count()).map(ObjectId::at).find(|object| self.flow.object_name(*object) == name).unwrap()
    }

    fn locate(&self, name: &str) -> Command {
        Command::Locate { object: self.object(name) }
    }

    fn fetch(&self, name: &str, bytes: u64) -> Command {
        Command::Fetch { object: self.object(name), bytes }
    }

    fn located(&mut self, name: &str, bytes: u64) -> Vec<Command> {
        self.step(&[Event::Located { object: self.object(name), bytes: Some(bytes) }])
    }

    fn not_found(&mut self, name: &str) -> Vec<Command> {
        self.step(&[Event::Located { object: self.object(name), bytes: None }])
    }

    fn fetched(&mut self, name: &str) -> Vec<Command> {
        self.step(&[Event::Fetched { object: self.object(name) }])
    }

    fn done(&mut self, slot: u32) -> Vec<Command> {
        self.step(&[Event::Finished { slot: SlotId(slot), end: End::Done }])
    }

    fn dropped(&mut self, name: &str, is_gone: bool) -> Vec<Command> {
        self.step(&[Event::Dropped { object: self.object(name), is_gone }])
    }

    /// A task that reads one object runs in a slot.
    fn running(&mut self, task: u32, name: &str, bytes: u64, slot: u32) {
        self.ready(&[task]);
        self.located(name, bytes);
        assert_eq!(self.fetched(name), [start(task, 1, slot)]);
    }
}

const fn complete(task: u32) -> Command {
    Command::Complete { task: TaskId(task), attempt: 1 }
}

#[test]
fn what_a_task_reads_is_fetched_before_it_has_a_slot() {
    let mut bench = Bench::new(FLOW, 1, 100, 2);
    assert_eq!(bench.ready(&[0]), [bench.locate("e")]);
    assert_eq!(bench.located("e", 10), [bench.fetch("e", 10)]);
    assert_eq!(bench.node.running(), 0);
    assert_eq!(bench.fetched("e"), [start(0, 1, 0)]);
    // The next one's comes while the first computes.
    assert_eq!(bench.ready(&[1]), [bench.locate("f")]);
    assert_eq!(bench.located("f", 10), [bench.fetch("f", 10)]);
    assert_eq!(bench.fetched("f"), []);
    assert_eq!(bench.done(0), [complete(0), start(1, 1, 0)]);
    assert_eq!(bench.node.cache_tally().misses, 2);
}

#[test]
fn no_more_tasks_than_the_window_wait_for_their_data() {
    let mut bench = Bench::new(FLOW, 1, 100, 1);
    assert_eq!(bench.ready(&[0, 1, 2]), [bench.locate("e")]);
    assert_eq!(bench.located("e", 10), [bench.fetch("e", 10)]);
    assert_eq!(bench.fetched("e"), [start(0, 1, 0), bench.locate("f")]);
    assert_eq!((bench.node.waiting(), bench.node.local_len()), (2, 1));
}

#[test]
fn what_is_here_is_neither_located_nor_fetched() {
    let mut bench = Bench::new(FLOW, 2, 100, 2);
    let (e, f) = (bench.object("e"), bench.object("f"));
    bench.step(&[Event::Kept { object: e, bytes: 10 }]);
    assert_eq!(bench.ready(&[3]), [bench.locate("f")]);
    // Two tasks that wait for one object have it brought once.
    assert_eq!(bench.ready(&[1]), []);
    assert_eq!(bench.located("f", 5), [bench.fetch("f", 5)]);
    assert_eq!(bench.step(&[Event::Fetched { object: f }]), [start(3, 1, 0), start(1, 1, 1)]);
    let tally = bench.node.cache_tally();
    assert_eq!((tally.hits, tally.misses, tally.hit_bytes, tally.miss_bytes), (2, 1, 15, 5));
    assert_eq!(bench.node.cache_room().0, 15);
}

#[test]
fn a_task_is_parked_until_there_is_room() {
    let mut bench = Bench::new(FLOW, 2, 15, 2);
    bench.running(0, "e", 10, 0);
    bench.ready(&[1]);
    assert_eq!(bench.located("f", 10), []);
    let taker = Taker { can_run: &|_| true, also_kept: true };
    assert_eq!((bench.node.shared_len(), bench.node.shared_with(&taker)), (0, 1));
    // What the first one read may go, if the store agrees.
    let drop_e = Command::Drop { object: bench.object("e") };
    assert_eq!(bench.done(0), [drop_e, complete(0)]);
    assert_eq!(bench.dropped("e", true), [bench.fetch("f", 10)]);
    assert_eq!(bench.fetched("f"), [start(1, 1, 0)]);
    assert_eq!(bench.node.cache_room(), (10, 15));
}

#[test]
fn a_node_full_of_what_must_stay_goes_on_beyond_its_room() {
    let mut bench = Bench::new(FLOW, 2, 15, 2);
    bench.running(0, "e", 10, 0);
    bench.ready(&[1]);
    bench.located("f", 10);
    bench.done(0);
    assert_eq!(bench.dropped("e", false), [bench.fetch("f", 10)]);
    assert_eq!(bench.node.cache_room(), (20, 15));
    assert_eq!(bench.fetched("f"), [start(1, 1, 0)]);
    // One at a time: as long as something runs, the next one waits.
    bench.ready(&[2]);
    assert_eq!(bench.located("g", 1), []);
    assert_eq!(bench.done(0).len(), 2);
}

#[test]
fn somebody_else_may_have_what_is_parked() {
    let mut bench = Bench::new(FLOW, 1, 15, 2);
    bench.running(0, "e", 10, 0);
    bench.ready(&[1]);
    bench.located("f", 10);
    let taker = Taker { can_run: &|_| true, also_kept: true };
    assert_eq!(bench.node.give(5, &Taker { also_kept: false, ..taker }), []);
    assert_eq!(bench.node.give(5, &Taker { can_run: &|_| false, ..taker }), []);
    let given: Vec<TaskId> = bench.node.give(5, &taker).into_iter().map(|ready| ready.task).collect();
    assert_eq!(given, [TaskId(1)]);
    assert_eq!(bench.done(0), [complete(0)]);
    assert!(bench.node.is_idle());
}

#[test]
fn a_task_whose_input_is_lost_is_given_up() {
    let mut bench = Bench::new(FLOW, 1, 100, 2);
    let lost = |task, object| Command::Lost { task: TaskId(task), object };
    let (e, f) = (bench.object("e"), bench.object("f"));
    bench.ready(&[0]);
    assert_eq!(bench.not_found("e"), [lost(0, e)]);
    // One that is not where it was said to be is looked for once more.
    bench.ready(&[3]);
    bench.located("e", 10);
    assert_eq!(bench.located("f", 10), [bench.fetch("e", 10), bench.fetch("f", 10)]);
    assert_eq!(bench.step(&[Event::FetchFailed { object: f }]), [bench.locate("f")]);
    assert_eq!(bench.located("f", 10), [bench.fetch("f", 10)]);
    assert_eq!(bench.step(&[Event::FetchFailed { object: f }]), [bench.locate("f")]);
    assert_eq!(bench.not_found("f"), [lost(3, f)]);
    assert!(bench.node.is_idle());
    // What was on its way comes all the same, and may stay.
    bench.fetched("e");
    assert_eq!(bench.node.cache_room().0, 10);
    assert_eq!(bench.ready(&[0]), [start(0, 1, 0)]);
}

#[test]
fn what_never_fits_is_not_waited_for() {
    let mut bench = Bench::new(FLOW, 1, 15, 2);
    bench.ready(&[0, 3]);
    assert_eq!(bench.located("e", 16), [Command::NeverFits { task: TaskId(0), needed_bytes: 16 }]);
    assert_eq!(bench.located("f", 1), [Command::NeverFits { task: TaskId(3), needed_bytes: 17 }]);
    assert!(bench.node.is_idle());
    // What it will write counts as well.
    let mut bench = Bench::new("tasks: { a: { run: x, in: e, out: o, estimate: { out: 10B } } }", 1, 15, 2);
    bench.ready(&[0]);
    assert_eq!(bench.located("e", 6), [Command::NeverFits { task: TaskId(0), needed_bytes: 16 }]);
}

#[test]
fn room_for_what_a_task_will_write_is_held_while_it_runs() {
    let text = "tasks: { a: { run: x, in: e, out: o, estimate: { out: 10B } }, b: { run: x, in: f } }";
    let mut bench = Bench::new(text, 2, 20, 2);
    bench.running(0, "e", 5, 0);
    assert_eq!(bench.node.cache_room(), (15, 20));
    bench.ready(&[1]);
    assert_eq!(bench.located("f", 6), []);
    assert_eq!(bench.done(0), [bench.fetch("f", 6), complete(0)]);
    assert_eq!(bench.node.cache_room(), (11, 20));
}

#[test]
fn what_nobody_needs_is_deleted_as_soon_as_nobody_reads_it() {
    let mut bench = Bench::new(FLOW, 1, 100, 2);
    let (e, f) = (bench.object("e"), bench.object("f"));
    bench.step(&[Event::Kept { object: f, bytes: 10 }]);
    assert_eq!(bench.step(&[Event::Unneeded { object: f }]), [Command::Evict { object: f }]);
    assert_eq!(bench.step(&[Event::Unneeded { object: f }]), []);
    bench.running(0, "e", 10, 0);
    assert_eq!(bench.step(&[Event::Unneeded { object: e }]), []);
    assert_eq!(bench.done(0), [Command::Evict { object: e }, complete(0)]);
    assert_eq!(bench.node.cache_room().0, 0);
}

#[test]
fn what_nobody_needs_makes_room_for_the_parked() {
    let mut bench = Bench::new(FLOW, 2, 15, 2);
    bench.running(1, "f", 2, 0);
    let e = bench.object("e");
    bench.step(&[Event::Kept { object: e, bytes: 10 }]);
    bench.ready(&[2]);
    assert_eq!(bench.located("g", 10), []);
    assert_eq!(bench.step(&[Event::Unneeded { object: e }]), [Command::Evict { object: e }, bench.fetch("g", 10)]);
}

#[test]
fn a_disk_that_shrinks_and_grows_again_parks_and_goes_on() {
    let mut bench = Bench::new(FLOW, 1, 20, 2);
    bench.step(&[Event::Capacity { bytes: 5 }]);
    bench.ready(&[0]);
    // It would fit if all were well: it waits, and is not forced.
    assert_eq!(bench.located("e", 10), []);
    assert_eq!(bench.node.cache_room(), (0, 5));
    assert_eq!(bench.step(&[Event::Capacity { bytes: 20 }]), [bench.fetch("e", 10)]);
    assert_eq!(bench.fetched("e"), [start(0, 1, 0)]);
}

#[test]
fn what_was_asked_to_go_and_is_made_here_meanwhile_stays() {
    let mut bench = Bench::new(FLOW, 2, 15, 2);
    bench.running(0, "e", 10, 0);
    bench.ready(&[1]);
    bench.located("f", 10);
    bench.done(0);
    let e = bench.object("e");
    bench.step(&[Event::Kept { object: e, bytes: 10 }]);
    bench.dropped("e", true);
    assert!(bench.node.has_object(e));
}

#[test]
fn what_is_on_its_way_for_a_task_that_is_forgotten_is_not_fetched_twice() {
    let mut bench = Bench::new(FLOW, 1, 100, 2);
    bench.ready(&[0]);
    assert_eq!(bench.located("e", 10), [bench.fetch("e", 10)]);
    bench.node.forget(Time::START, TaskId(0), &mut Vec::new());
    assert_eq!(bench.ready(&[3]), [bench.locate("f")]);
    assert_eq!(bench.located("f", 10), [bench.fetch("f", 10)]);
    assert_eq!(bench.fetched("f"), []);
    assert_eq!(bench.fetched("e"), [start(3, 1, 0)]);
}

#[test]
fn only_so_many_objects_are_fetched_at_a_time_and_tasks_take_turns() {
    let most = FETCHES_AT_ONCE;
    let files: Vec<String> = (0..most + 3).map(|number| format!("f{number:02}")).collect();
    let text = format!("tasks: {{ gather: {{ run: x, in: [{}] }}, a: {{ run: x, in: e }} }}", files.join(", "));
    let mut bench = Bench::new(&text, 1, 1000, 2);
    let fetches =
        |bench: &Bench, names: &[String]| -> Vec<Command> { names.iter().map(|name| bench.fetch(name, 1)).collect() };
    bench.ready(&[0]);
    let commands: Vec<Command> = files.iter().flat_map(|file| bench.located(file, 1)).collect();
    assert_eq!(commands, fetches(&bench, &files[..most]));
    bench.ready(&[1]);
    assert_eq!(bench.located("e", 1), []);
    assert_eq!(bench.fetched("f00"), [bench.fetch(&files[most], 1)]);
    assert_eq!(bench.fetched("f01"), [bench.fetch("e", 1)], "it does not wait for all that the other one reads");
    assert_eq!(bench.fetched("f02"), [bench.fetch(&files[most + 1], 1)]);
    // What fails makes room, and stands in line again when it has been found.
    let failed = bench.step(&[Event::FetchFailed { object: bench.object("f03") }]);
    assert_eq!(failed, [bench.fetch(&files[most + 2], 1), bench.locate("f03")]);
    assert_eq!(bench.located("f03", 1), []);
    assert_eq!(bench.fetched("e"), [bench.fetch("f03", 1), start(1, 1, 0)]);
}

#[test]
fn what_stands_in_line_for_nobody_is_not_fetched() {
    let files: Vec<String> = (0..=FETCHES_AT_ONCE).map(|number| format!("f{number:02}")).collect();
    let text = format!("tasks: {{ gather: {{ run: x, in: [{}] }} }}", files.join(", "));
    let mut bench = Bench::new(&text, 1, 1000, 2);
    bench.ready(&[0]);
    files.iter().for_each(|file| drop(bench.located(file, 1)));
    bench.node.forget(Time::START, TaskId(0), &mut Vec::new());
    assert_eq!(bench.fetched("f00"), []);
    assert_eq!(bench.node.cache_room().0, FETCHES_AT_ONCE as u64, "no room is kept for it");
}

#[test]
fn a_task_goes_on_beyond_the_room_only_with_all_that_it_reads() {
    let text = "tasks: { a: { run: x, in: e }, b: { run: x, in: [e, g] }, c: { run: x, in: f } }";
    let mut bench = Bench::new(text, 1, 100, 2);
    bench.step(&[Event::Kept { object: bench.object("f"), bytes: 92 }]);
    bench.ready(&[0]);
    assert_eq!(bench.located("e", 5), [bench.fetch("e", 5)]);
    // The second counts on what comes for the first, and there is no room for the rest.
    assert_eq!(bench.ready(&[1]), [bench.locate("g")]);
    assert_eq!(bench.located("g", 10), []);
    bench.step(&[Event::FetchFailed { object: bench.object("e") }]);
    let lost = Command::Lost { task: TaskId(0), object: bench.object("e") };
    assert_eq!(bench.not_found("e"), [lost, bench.locate("e")]);
}

#[test]
fn what_is_about_to_leave_is_not_counted_twice() {
    let mut bench = Bench::new(FLOW, 1, 10, 2);
    bench.running(0, "e", 5, 0);
    bench.done(0);
    bench.running(1, "f", 5, 0);
    bench.done(0);
    bench.ready(&[2]);
    let (e, f) = (bench.object("e"), bench.object("f"));
    assert_eq!(bench.located("g", 10), [Command::Drop { object: e }, Command::Drop { object: f }]);
    // It reads what is about to go: all of it fits, only not now.
    assert_eq!(bench.ready(&[3]), [bench.locate("e"), bench.locate("f")]);
    assert_eq!(bench.located("e", 5), []);
    assert_eq!(bench.located("f", 5), []);
    assert_eq!(bench.dropped("e", true), []);
    assert_eq!(bench.dropped("f", true), [bench.fetch("g", 10)]);
}

/// Some read what is brought, one what lies in its place, and one what another makes.
const MIXED: &str = "tasks: { a: { run: x, in: e }, b: { run: x, in: f }, c: { run: x, in: g }, d: { run: x, in: h, out: o, estimate: \
                     { out: 1GB } }, z: { run: x, in: o } }";

fn for_outside(slots: u32, capacity: u64, window: usize) -> Bench {
    let (flow, node) = node_for(MIXED, slots, "fifo");
    let bench = Bench { flow, node };
    let [e, g] = ["e", "g"].map(|name| bench.object(name).0);
    let brought = Brought::Outside(Arc::from([(e, g + 1)]));
    let node = bench.node.with_cache(Keeping { brought, ..Keeping::new(capacity, window) });
    Bench { node, ..bench }
}

#[test]
fn tasks_for_which_nothing_is_brought_do_not_wait_behind_others() {
    let mut bench = for_outside(1, 10, 1);
    // The window is full, and the slot is free; what it makes takes no room here.
    assert_eq!(bench.ready(&[0, 1, 3]), [bench.locate("e"), start(3, 1, 0)]);
    assert_eq!(bench.located("e", 10), [bench.fetch("e", 10)]);
    assert_eq!(bench.fetched("e"), []);
    // They take turns with those whose data has come.
    assert_eq!(bench.ready(&[4]), []);
    assert_eq!(bench.done(0), [complete(3), start(0, 1, 0), bench.locate("f")]);
    assert_eq!(bench.done(0), [complete(0), start(4, 1, 0)]);
    let CacheTally { hits, misses, .. } = bench.node.cache_tally();
    assert_eq!((hits, misses), (0, 1));
}

#[test]
fn whose_turn_it_is_does_not_keep_others_from_running() {
    let mut bench = for_outside(1, 100, 2);
    bench.running(0, "e", 1, 0);
    bench.ready(&[1]);
    bench.located("f", 1);
    bench.fetched("f");
    // It would be the turn of one that waits apart, but there is none.
    assert_eq!(bench.done(0), [complete(0), start(1, 1, 0)]);
    assert!(bench.node.local_len() + bench.node.shared_len() == 0);
}
