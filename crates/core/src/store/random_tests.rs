//! What must hold whatever some nodes ask of a store, in whatever order, and however often.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;
use crate::kin::Kin;
use crate::time::Time;
use crate::workflow::{Format, NoFiles, Workflow};

const FLOW: &str = "tasks:
  a: { run: x, out: [o, p] }
  b: { run: x, out: q }
  c: { run: x, in: [o, q], out: r }
  d: { run: x, in: [p, e], after: c }
  f: { run: x, in: r, out: s }
";
const TASKS: u32 = 5;

/// A verb as it is drawn: what it speaks of is looked up when its turn comes, so that it is often true.
#[derive(Clone, Debug)]
struct Draw {
    what: usize,
    task: u32,
    owner: Owner,
    other: Owner,
    object: Index,
    position: Index,
    verdict: Verdict,
    /// Whether it speaks for the real owner, generation and tenure.
    is_true: bool,
    off: u16,
    times: usize,
    seconds: u64,
}

fn owner() -> impl Strategy<Value = Owner> {
    (0..3u32, 1..3u32).prop_map(|(node, boot)| Owner { node: NodeId(node), boot })
}

fn draw() -> impl Strategy<Value = Draw> {
    let verdict = select(vec![Verdict::Done, Verdict::Done, Verdict::Done, Verdict::Failed]);
    let first = (0..VERBS, 0..TASKS, owner(), owner(), any::<Index>(), any::<Index>());
    let second = (verdict, prop::bool::weighted(0.8), 0..3u16, 1..4usize, 0..4u64);
    (first, second).prop_map(
        |((what, task, owner, other, object, position), (verdict, is_true, off, times, seconds))| Draw {
            what,
            task,
            owner,
            other,
            object,
            position,
            verdict,
            is_true,
            off,
            times,
            seconds,
        },
    )
}

/// How many branches [`verb`] has.
const VERBS: usize = 22;

fn verb(memory: &Memory, flow: &Workflow, kin: &Kin, draw: &Draw) -> Verb {
    let task = TaskId(draw.task);
    let record = memory.record(task);
    let generation = if draw.is_true { record.generation } else { draw.off };
    let tenure = if draw.is_true { record.tenure } else { draw.off };
    let owner = if draw.is_true && record.owner != Owner::NOBODY { record.owner } else { draw.owner };
    let object = ObjectId::at(draw.object.index(flow.object_count()));
    let parents = flow.parent_count(task);
    let position = if parents == 0 { 0 } else { draw.position.index(parents as usize) as u32 };
    let bucket = draw.task;
    match draw.what {
        0 | 1 => Verb::Start { task, owner, generation, attempt: draw.off },
        2 | 3 => {
            let outputs = flow.outputs(task).map(|object| (object, 10)).collect();
            Verb::Settle { task, owner, generation, verdict: draw.verdict, outputs }
        }
        4..=6 if parents > 0 => {
            // Only what is settled tells its children, and it says what became of it.
            let parent = flow.tasks().find(|parent| kin.position(flow, *parent, task) == Some(position)).unwrap();
            let parent = memory.record(parent);
            let verdict = if parent.phase >= Phase::Settled { parent.verdict } else { Verdict::Done };
            let (generation, closer, news) = (parent.generation, draw.owner, Inputs::default());
            Verb::Close { child: task, position, generation, verdict, closer, news }
        }
        4 => Verb::Release { object, reader: task, generation },
        5 => Verb::Retain { object, reader: task, generation: draw.off },
        6 | 7 => Verb::Deliver { task, owner, generation },
        8 | 9 => Verb::HandOver { task, from: owner, to: draw.other, tenure },
        10 => Verb::Verify { task, owner, tenure },
        11 if parents > 0 => Verb::Await { task, owner, generation, position, needs: draw.off },
        11 => Verb::Settled { bucket },
        12 => Verb::Reopen { task, generation, by: draw.other },
        13 => Verb::Cancel { task, by: draw.other },
        14 => Verb::Locate { object, by: draw.owner.node },
        15 => Verb::Copied { object, owner: draw.owner },
        16 => Verb::Drop { object, owner: draw.owner, dead: [draw.other].into() },
        17 => Verb::Missing { object, owner: draw.owner },
        // Nobody claims his own life.
        18 if draw.owner.node != draw.other.node || draw.owner.boot < draw.other.boot => {
            Verb::Claim { bucket, dead: [draw.owner].into(), by: draw.other }
        }
        18 => Verb::Owned { bucket, owner: draw.owner },
        19 => Verb::Join { owner: draw.owner },
        20 => Verb::Renew { owner: draw.owner, seen: draw.off.into() },
        _ => Verb::Bury { dead: draw.owner, by: draw.other },
    }
}

/// All that the store holds of tasks and objects.
fn contents(memory: &Memory, flow: &Workflow) -> impl PartialEq + std::fmt::Debug + use<> {
    let tasks: Vec<_> = flow.tasks().map(|task| (*memory.record(task), memory.inputs(task))).collect();
    let objects = (0..flow.object_count()).map(ObjectId::at);
    let objects: Vec<_> = objects
        .map(|object| (memory.bytes(object), memory.places(object).collect::<Vec<_>>(), memory.is_needed(object)))
        .collect();
    (tasks, objects, memory.open_tasks())
}

/// Whether a step is in the diagram of [`record`].
fn is_allowed(from: Phase, to: Phase, verb: &Verb) -> bool {
    match (from, to) {
        (from, to) if from == to => true,
        (Phase::Waiting, Phase::Ready) => matches!(verb, Verb::Close { .. } | Verb::Claim { .. }),
        (Phase::Waiting, Phase::Settled) => matches!(verb, Verb::Close { .. } | Verb::Cancel { .. }),
        (Phase::Ready | Phase::Running, Phase::Waiting) => matches!(verb, Verb::Await { .. }),
        (Phase::Ready, Phase::Running) => matches!(verb, Verb::Start { .. }),
        (Phase::Running, Phase::Ready) => matches!(verb, Verb::Claim { .. } | Verb::HandOver { .. }),
        (Phase::Ready, Phase::Settled) => matches!(verb, Verb::Settle { .. } | Verb::Cancel { .. }),
        (Phase::Running, Phase::Settled) => {
            matches!(verb, Verb::Settle { .. } | Verb::Cancel { .. } | Verb::Claim { .. })
        }
        (Phase::Settled, Phase::Delivered) => matches!(verb, Verb::Deliver { .. }),
        (Phase::Settled | Phase::Delivered, Phase::Ready) => matches!(verb, Verb::Reopen { .. }),
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn whatever_is_asked_a_store_stays_sound(draws in proptest::collection::vec(draw(), 1..120)) {
        let flow = Arc::new(Workflow::parse(FLOW, Format::Yaml, "test", &NoFiles).unwrap());
        let kin = Arc::new(Kin::of(&flow));
        let first = Owner { node: NodeId(0), boot: 1 };
        let mut memory = Memory::submit(flow.clone(), kin.clone(), |_| first);
        let mut now = Time::START;
        let mut done = BTreeSet::new();
        for draw in draws {
            now = Time(now.0 + draw.seconds * 1_000_000_000);
            let verb = verb(&memory, &flow, &kin, &draw);
            let before: Vec<Record> = flow.tasks().map(|task| *memory.record(task)).collect();
            let answer = memory.apply(now, &verb);
            let held = contents(&memory, &flow);
            for time in 1..draw.times {
                prop_assert_eq!(&memory.apply(now, &verb), &answer, "time {} of {:?}", time, &verb);
                prop_assert_eq!(&contents(&memory, &flow), &held, "after time {} of {:?}", time, &verb);
            }
            if answer == Answer::Refused {
                let same = flow.tasks().all(|task| *memory.record(task) == before[task.index()]);
                prop_assert!(same, "{:?} was refused, and has changed something", &verb);
            }
            for task in flow.tasks() {
                let (was, is) = (before[task.index()], memory.record(task));
                prop_assert!(is_allowed(was.phase, is.phase, &verb), "{:?} to {:?} by {:?}", was, is, &verb);
                let has_owner = is.owner != Owner::NOBODY;
                prop_assert!(has_owner || is.phase == Phase::Waiting, "nobody owns {:?}", is);
                prop_assert!(is.owner == was.owner || is.tenure != was.tenure, "{:?} has no tenure of its own", is);
                prop_assert!(is.open <= flow.parent_count(task));
                prop_assert_eq!(is.phase == Phase::Ready && is.open > 0, false, "{:?} is ready too early", is);
                let was_settled = was.phase >= Phase::Settled && was.generation == is.generation;
                if is.phase >= Phase::Settled && is.verdict == Verdict::Done && !was_settled {
                    prop_assert!(done.insert((task, is.generation)), "{:?} was done twice", is);
                }
                // In a bucket, a task is listed for one owner at most.
                let owners = [(0, 1), (0, 2), (1, 1), (1, 2), (2, 1), (2, 2)].map(|(node, boot)| Owner { node: NodeId(node), boot });
                let lists = owners.map(|owner| memory.apply(now, &Verb::Owned { bucket: bucket(task), owner }));
                let count = lists.iter().filter(|list| matches!(list, Answer::Holdings { tasks, .. } if !tasks.is_empty())).count();
                prop_assert!(count <= 1, "{} nodes own {:?}", count, task);
            }
            let open = flow.tasks().filter(|task| memory.record(*task).phase < Phase::Settled).count() as u64;
            prop_assert_eq!(memory.open_tasks(), open);
        }
    }
}
