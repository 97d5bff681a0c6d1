//! A task that nobody wants any more, and whatever waits for it.

use super::scene::{ANN, BOB, Scene, same};
use super::{Open, Outcome, list_cases};
use crate::ids::NodeId;
use crate::store::{Answer, Closed, Phase, Verb, Verdict};

list_cases![
    a_task_is_cancelled_wherever_it_stands,
    only_who_cancelled_hears_so_again,
    what_has_a_verdict_is_not_cancelled,
    a_late_result_of_a_cancelled_task_is_refused,
    a_cancelled_task_takes_its_subtree_with_it,
    a_cancelled_task_is_not_done_again,
];

const LINE: &str = "tasks: { a: { run: x }, b: { run: x, after: a }, c: { run: x, after: b } }";

fn cancelled(scene: &mut Scene, task: &str, holder: Option<NodeId>) -> Outcome {
    let task = scene.task(task);
    let answer = scene.ask(Verb::Cancel { task, by: BOB })?;
    same(answer, Answer::Cancelled { generation: 0, holder }, "the answer to a cancellation")
}

fn a_task_is_cancelled_wherever_it_stands(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, LINE)?;
    // One that waits, and one that is ready.
    cancelled(&mut scene, "c", None)?;
    cancelled(&mut scene, "a", Some(ANN.node))?;
    for task in ["a", "c"] {
        scene.holds(BOB, task, Phase::Settled)?;
        same(scene.verdict(task), Some((Phase::Settled, Verdict::Cancelled)), "what became of it")?;
    }
    // And one that runs.
    let mut scene = Scene::open(open, LINE)?;
    scene.start("a", ANN, 4)?;
    cancelled(&mut scene, "a", Some(ANN.node))?;
    scene.holds_nothing_of(ANN, "a")
}

fn only_who_cancelled_hears_so_again(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, LINE)?;
    cancelled(&mut scene, "a", Some(ANN.node))?;
    let task = scene.task("a");
    scene.refused(Verb::Cancel { task, by: ANN })?;
    cancelled(&mut scene, "a", Some(ANN.node))?;
    scene.deliver("a", BOB)?;
    scene.refused(Verb::Cancel { task, by: BOB })
}

fn what_has_a_verdict_is_not_cancelled(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, LINE)?;
    let task = scene.task("a");
    scene.settle("a", ANN, Verdict::Done)?;
    scene.refused(Verb::Cancel { task, by: ANN })?;
    scene.close("a", "b", ANN, Closed::Ready)?;
    scene.deliver("a", ANN)?;
    scene.refused(Verb::Cancel { task, by: BOB })?;
    same(scene.verdict("a"), Some((Phase::Delivered, Verdict::Done)), "what became of it")
}

fn a_late_result_of_a_cancelled_task_is_refused(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, LINE)?;
    scene.start("a", ANN, 1)?;
    let task = scene.task("a");
    scene.ask(Verb::Cancel { task, by: BOB })?;
    scene.refused(scene.settling("a", ANN, 0, Verdict::Done))?;
    scene.refused(Verb::Start { task, owner: ANN, generation: 0, attempt: 2 })?;
    scene.refused(Verb::HandOver { task, from: ANN, to: BOB, tenure: 0 })?;
    same(scene.verdict("a"), Some((Phase::Settled, Verdict::Cancelled)), "what became of it")
}

fn a_cancelled_task_takes_its_subtree_with_it(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, LINE)?;
    cancelled(&mut scene, "a", Some(ANN.node))?;
    for (parent, child, verdict) in [("a", "b", Verdict::Cancelled), ("b", "c", Verdict::Skipped)] {
        let heard = scene.heard(scene.closing(parent, child, 0, verdict, BOB))?;
        same(heard.closed, Closed::Skipped, "the answer of what waits for it")?;
        scene.deliver(parent, BOB)?;
    }
    same(scene.verdict("c"), Some((Phase::Settled, Verdict::Skipped)), "what became of the last")?;
    scene.deliver("c", BOB)
}

fn a_cancelled_task_is_not_done_again(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, LINE)?;
    cancelled(&mut scene, "b", None)?;
    scene.settle("a", ANN, Verdict::Done)?;
    scene.close("a", "b", ANN, Closed::Behind)?;
    scene.holds_nothing_of(ANN, "b")?;
    same(scene.verdict("b"), Some((Phase::Settled, Verdict::Cancelled)), "what became of it")
}
