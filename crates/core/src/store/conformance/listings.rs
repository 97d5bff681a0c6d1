//! What somebody answers for, and what is settled, bucket by bucket.

use super::scene::{ANN, BOB, Scene, same};
use super::{Open, Outcome, list_cases};
use crate::ids::TaskId;
use crate::store::{Answer, BUCKETS, Phase, Verb, Verdict};

list_cases![
    a_bucket_lists_its_own_tasks_only,
    what_somebody_answers_for_is_listed,
    what_is_settled_is_listed_with_what_it_made,
];

fn listed(answer: Answer) -> Vec<(TaskId, Phase)> {
    match answer {
        Answer::Holdings { tasks, .. } | Answer::Settled(tasks) => {
            tasks.into_iter().map(|holding| (holding.task, holding.phase)).collect()
        }
        _ => Vec::new(),
    }
}

fn a_bucket_lists_its_own_tasks_only(open: &mut Open<'_>) -> Outcome {
    let text = "tasks: { t: { foreach: { i: 1..1030 }, run: 'x {i}' } }";
    let mut scene = Scene::open(open, text)?;
    for (bucket, tasks) in [(0, vec![0, BUCKETS]), (5, vec![5, BUCKETS + 5]), (6, vec![6]), (BUCKETS - 1, vec![1023])] {
        let wanted: Vec<_> = tasks.into_iter().map(|task| (TaskId(task), Phase::Ready)).collect();
        same(listed(scene.once(&Verb::Owned { bucket, owner: ANN })), wanted, "what Ann has in a bucket")?;
        same(listed(scene.once(&Verb::Owned { bucket, owner: BOB })), vec![], "what Bob has in a bucket")?;
        same(listed(scene.once(&Verb::Settled { bucket })), vec![], "what is settled in a bucket")?;
    }
    let claim = Verb::Claim { bucket: 5, dead: [ANN].into(), by: BOB };
    let wanted = vec![(TaskId(5), Phase::Ready), (TaskId(BUCKETS + 5), Phase::Ready)];
    same(listed(scene.once(&claim)), wanted, "what Bob has claimed")?;
    same(listed(scene.once(&Verb::Owned { bucket: 0, owner: BOB })), vec![], "what Bob has in another bucket")
}

fn what_somebody_answers_for_is_listed(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, "tasks: { a: { run: x }, b: { run: x, after: a } }")?;
    scene.holds_nothing_of(ANN, "b")?;
    scene.holds(ANN, "a", Phase::Ready)?;
    scene.start("a", ANN, 2)?;
    let held = scene.holding("a", ANN).map(|it| (it.phase, it.generation, it.tries.last, it.tenure, it.outputs.len()));
    same(held, Some((Phase::Running, 0, 2, 0, 0)), "what Ann holds of it")?;
    scene.settle("a", ANN, Verdict::Failed)?;
    let held = scene.holding("a", ANN).map(|it| (it.phase, it.verdict));
    same(held, Some((Phase::Settled, Verdict::Failed)), "what Ann holds of it")?;
    scene.deliver("a", ANN)?;
    scene.holds_nothing_of(ANN, "a")
}

fn what_is_settled_is_listed_with_what_it_made(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, "tasks: { a: { run: x, out: [o, p] }, b: { run: x, in: o } }")?;
    same(scene.verdict("a"), None, "what is settled at the beginning")?;
    scene.finish("a", "b", ANN)?;
    let bucket = crate::store::bucket(scene.task("a"));
    let Answer::Settled(tasks) = scene.ask(Verb::Settled { bucket })? else {
        return Err("the settled tasks were asked for, and not told".to_owned());
    };
    let told: Vec<_> = tasks.iter().map(|it| (it.task, it.phase, it.verdict, it.outputs.to_vec())).collect();
    let outputs = vec![(scene.object("o"), 10), (scene.object("p"), 10)];
    same(told, vec![(scene.task("a"), Phase::Delivered, Verdict::Done, outputs)], "what is settled")?;
    same(scene.verdict("b"), None, "what is settled of a ready task")
}
