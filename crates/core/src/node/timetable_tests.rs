//! A node that holds to a plan: event in, exact commands out; and which of those that are prepared is next, and when to look again.

use super::tests::{node_for, ready, start, step};
use super::*;
use crate::ids::ObjectId;

const SECOND: u64 = 1_000_000_000;

fn table(planned: &[(u64, u64)]) -> Timetable {
    let begins = Arc::new(planned.iter().map(|(begin, _)| begin * SECOND).collect());
    let ends = Arc::new(planned.iter().map(|(_, end)| end * SECOND).collect());
    Timetable::new(Times { begins, ends }, (0..planned.len() as u32).map(|task| (TaskId(task), 1)))
}

const LATE: &str = "tasks: { a: { run: x, in: e }, b: { run: x } }";

/// A node that waits for the data of the first task, which is to take a second, while the second, which is to take longer, could begin.
fn with_a_late_task(slots: u32) -> (Arc<Workflow>, Node) {
    let (flow, node) = node_for(LATE, slots, "fifo");
    let mut node = node.with_cache(Keeping::new(1000, 2)).with_timetable(table(&[(10, 11), (20, 90)]));
    let locate = Command::Locate { object: ObjectId(0) };
    assert_eq!(step(&mut node, 0, &[ready(&flow, 0), ready(&flow, 1)]), [locate]);
    let located = Event::Located { object: ObjectId(0), bytes: Some(5) };
    assert_eq!(step(&mut node, 1, &[located]), [Command::Fetch { object: ObjectId(0), bytes: 5 }]);
    assert_eq!(node.next_wake(), Some(Time(20 * SECOND)), "its time");
    (flow, node)
}

const FETCHED: Event = Event::Fetched { object: ObjectId(0) };
const FIRST_DONE: Event = Event::Finished { slot: SlotId(0), end: End::Done };

#[test]
fn a_task_waits_for_one_that_is_late_as_long_as_it_may_and_not_longer() {
    let (_, mut node) = with_a_late_task(1);
    assert_eq!(step(&mut node, 20, &[Event::Wake]), []);
    assert_eq!(node.next_wake(), Some(Time(90 * SECOND)), "by then it would have ended");
    assert_eq!(step(&mut node, 89, &[Event::Wake]), []);
    assert_eq!(step(&mut node, 90, &[Event::Wake]), [start(1, 1, 0)]);
    assert_eq!(step(&mut node, 91, &[FETCHED]), []);
    let complete = Command::Complete { task: TaskId(1), attempt: 1 };
    assert_eq!(step(&mut node, 160, &[FIRST_DONE]), [complete, start(0, 1, 0)]);
}

#[test]
fn a_task_that_is_late_begins_when_its_data_has_come_and_then_the_next() {
    let (_, mut node) = with_a_late_task(1);
    step(&mut node, 20, &[Event::Wake]);
    assert_eq!(step(&mut node, 30, &[FETCHED]), [start(0, 1, 0)]);
    assert_eq!(node.next_wake(), None, "with nothing free, whoever ends brings the next look");
    let complete = Command::Complete { task: TaskId(0), attempt: 1 };
    assert_eq!(step(&mut node, 31, &[FIRST_DONE]), [complete, start(1, 1, 0)]);
}

#[test]
fn where_there_is_room_for_both_nobody_waits_for_who_is_late() {
    let (_, mut node) = with_a_late_task(2);
    assert_eq!(step(&mut node, 19, &[Event::Wake]), []);
    assert_eq!(step(&mut node, 20, &[Event::Wake]), [start(1, 1, 0)]);
    assert_eq!(node.next_wake(), None);
    assert_eq!(step(&mut node, 30, &[FETCHED]), [start(0, 1, 1)]);
}

#[test]
fn who_is_ahead_of_the_plan_keeps_its_order() {
    let (flow, node) = node_for("tasks: { t: { foreach: { i: 1..3 }, run: 'x {i}' } }", 1, "fifo");
    let mut node = node.with_cache(Keeping::new(1000, 2)).with_timetable(table(&[(0, 10), (100, 110), (200, 210)]));
    assert_eq!(step(&mut node, 0, &[ready(&flow, 2), ready(&flow, 0)]), [start(0, 1, 0)]);
    let complete = Command::Complete { task: TaskId(0), attempt: 1 };
    assert_eq!(step(&mut node, 5, &[FIRST_DONE]), [complete]);
    assert_eq!(node.next_wake(), Some(Time(200 * SECOND)));
    assert_eq!(node.expected().collect::<Vec<_>>(), [TaskId(1), TaskId(2)]);
    node.expect_no_more(TaskId(1));
    assert_eq!(step(&mut node, 6, &[]), [start(2, 1, 0)]);
}

#[test]
fn what_is_given_away_keeps_nobody_waiting() {
    let (flow, node) = node_for("tasks: { t: { foreach: { i: 1..4 }, run: 'x {i}' } }", 1, "fifo");
    let mut node = node.with_cache(Keeping::new(1000, 2));
    node = node.with_timetable(table(&[(0, 10), (10, 20), (20, 30), (30, 40)]));
    let mut out = Vec::new();
    (1..4).for_each(|task| node.handle(Time::START, ready(&flow, task), &mut out));
    assert_eq!(node.take_queued().len(), 3);
    assert_eq!(node.expected().collect::<Vec<_>>(), [TaskId(0)]);
    assert_eq!(step(&mut node, 0, &[ready(&flow, 2), ready(&flow, 3)]), []);
    node.forget(Time::START, TaskId(2), &mut out);
    assert_eq!(node.expected().collect::<Vec<_>>(), [0, 3].map(TaskId));
    assert!(node.give_staged(TaskId(3), &mut out).is_some());
    assert_eq!(node.expected().collect::<Vec<_>>(), [TaskId(0)]);
}

/// Tasks that are all prepared but for the first.
fn prepared(planned: &[(u64, u64)]) -> (Stage, Timetable) {
    let text = format!("tasks: {{ t: {{ foreach: {{ i: 1..{} }}, run: 'x {{i}}', in: e }} }}", planned.len());
    let (flow, _) = node_for(&text, 1, "fifo");
    let (mut stage, table, mut out) = (Stage::new(Keeping::new(1000, 9), &flow), table(planned), Vec::new());
    stage.keep_order(table.begins());
    stage.keep(&flow, ObjectId(0), 1, &mut out);
    for task in flow.tasks().skip(1).collect::<Vec<_>>().into_iter().rev() {
        stage.admit(&flow, ReadyTask::first(task, flow.class(task, 1)), false, 0, &mut out);
    }
    assert_eq!((out, stage.waiting_for_data()), (Vec::new(), 0));
    (stage, table)
}

const PLANNED: [(u64, u64); 4] = [(10, 11), (20, 70), (30, 60), (40, 80)];

#[test]
fn the_next_is_the_first_of_those_whose_time_or_turn_has_come() {
    let next = |now: u64, cores, is_struck, refused: &[u32]| {
        let (mut stage, mut table) = prepared(&PLANNED);
        if is_struck {
            table.strike(TaskId(0));
        }
        let admits = |ready: &ReadyTask| !refused.contains(&ready.task.0);
        Some(stage.next_of(&table, Time(now * SECOND), cores, admits)?.0.task.0)
    };
    assert_eq!(next(19, 4, false, &[]), None, "neither time nor turn");
    assert_eq!(next(20, 4, false, &[]), Some(1), "its time");
    assert_eq!(next(20, 1, false, &[]), None, "room is kept for the first");
    assert_eq!(next(0, 1, true, &[]), Some(1), "its turn");
    assert_eq!(next(0, 4, true, &[1]), None, "the turn of one that does not fit is nobody else's");
    assert_eq!(next(30, 2, true, &[1]), Some(2), "what does not fit is passed by who fits and is in time");
    assert_eq!(next(30, 1, true, &[1]), None, "but has its room kept");
    assert_eq!(next(60, 1, false, &[]), Some(2), "whose patience is at an end goes before who has more");
    assert_eq!(next(70, 1, false, &[]), Some(1));
    assert_eq!(next(50, 4, false, &[1, 2]), Some(3));
    assert_eq!(next(50, 3, false, &[1, 2]), None, "it would take the room of three that are late");
}

#[test]
fn who_is_handed_out_is_prepared_no_more() {
    let (mut stage, table) = prepared(&PLANNED);
    let handed_out = |stage: &mut Stage| stage.next_of(&table, Time(100 * SECOND), 1, |_| true).map(|it| it.0.task.0);
    assert_eq!([(); 4].map(|()| handed_out(&mut stage)), [Some(1), Some(2), Some(3), None]);
    assert_eq!(stage.len(), 0);
}

#[test]
fn the_next_look_is_at_the_next_time_or_end_of_patience() {
    let (mut stage, table) = prepared(&PLANNED);
    let due = |stage: &Stage, now: u64| stage.next_due(&table, Time(now * SECOND)).map(|time| time.0 / SECOND);
    assert_eq!(due(&stage, 0), Some(20), "nobody is in time");
    assert_eq!(due(&stage, 20), Some(30), "the next is sooner than patience ends");
    assert_eq!(due(&stage, 40), Some(60), "patience, and not of the first who is late");
    assert_eq!(
        [60, 70].map(|now| due(&stage, now)),
        [Some(70), Some(80)],
        "whose patience is at an end waits for room"
    );
    assert_eq!(due(&stage, 80), None);
    while stage.next_of(&table, Time(100 * SECOND), 1, |_| true).is_some() {}
    assert_eq!(due(&stage, 0), None, "nobody is prepared");
}
