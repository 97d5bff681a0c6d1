//! A completion in three steps: the task is settled, its children are told, it is delivered.

use super::scene::{ANN, BOB, CID, Scene, same};
use super::{Open, Outcome, list_cases};
use crate::store::{Closed, Inputs, Phase, Verb, Verdict};

list_cases![
    one_child_is_ready_when_its_parent_closes,
    a_child_of_several_parents_waits_for_all_of_them,
    a_child_of_more_than_64_parents_waits_for_all_of_them,
    only_the_last_closer_hears_again_that_the_child_is_his,
    a_close_comes_to_nothing_once_the_child_has_gone_on,
    a_parent_that_fails_skips_the_child,
    a_skip_goes_through_a_subtree,
    a_start_that_went_missing_is_no_obstacle,
    a_verdict_is_not_changed,
    nothing_is_delivered_before_it_is_settled,
    nothing_starts_or_settles_before_its_parents_are_done,
    the_number_of_an_attempt_never_goes_back,
    the_wrong_owner_is_refused,
    the_wrong_life_of_the_owner_is_refused,
    the_wrong_generation_is_refused,
];

const CHAIN: &str = "tasks: { make: { run: x, out: o }, read: { run: x, in: o } }";
const JOIN: &str = "tasks: { a: { run: x }, b: { run: x }, c: { run: x }, d: { run: x, after: [a, b, c] } }";
const LINE: &str = "tasks: { a: { run: x }, b: { run: x, after: a }, c: { run: x, after: b } }";

fn one_child_is_ready_when_its_parent_closes(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, CHAIN)?;
    scene.holds(ANN, "make", Phase::Ready)?;
    scene.start("make", ANN, 1)?;
    scene.holds(ANN, "make", Phase::Running)?;
    scene.settle("make", ANN, Verdict::Done)?;
    scene.holds(ANN, "make", Phase::Settled)?;
    scene.holds_nothing_of(ANN, "read")?;
    let heard = scene.heard(scene.closing("make", "read", 0, Verdict::Done, ANN))?;
    same((heard.closed, heard.generation, heard.tries.last, heard.tenure), (Closed::Ready, 0, 0, 1), "the close")?;
    scene.holds(ANN, "read", Phase::Ready)?;
    scene.deliver("make", ANN)?;
    scene.holds_nothing_of(ANN, "make")?;
    same(scene.verdict("make"), Some((Phase::Delivered, Verdict::Done)), "what became of the task")
}

fn a_child_of_several_parents_waits_for_all_of_them(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open_with(open, JOIN, &[ANN, BOB, CID], &[])?;
    for (parent, owner) in [("a", ANN), ("b", BOB), ("c", CID)] {
        scene.settle(parent, owner, Verdict::Done)?;
    }
    scene.close("c", "d", CID, Closed::Open)?;
    scene.close("a", "d", ANN, Closed::Open)?;
    scene.close("c", "d", CID, Closed::Open)?;
    scene.close("b", "d", BOB, Closed::Ready)?;
    scene.holds(BOB, "d", Phase::Ready)?;
    scene.holds_nothing_of(ANN, "d")
}

fn a_child_of_more_than_64_parents_waits_for_all_of_them(open: &mut Open<'_>) -> Outcome {
    let text = "tasks: { p: { foreach: { i: 1..130 }, run: 'x {i}' }, c: { run: x, after: p } }";
    let mut scene = Scene::open(open, text)?;
    let child = scene.task("c");
    for step in 0..130 {
        // In an order that jumps about, and ends neither at the first nor at the last.
        let position = (step * 37 + 11) % 130;
        let (generation, verdict, closer, news) = (0, Verdict::Done, ANN, Inputs::default());
        let close = Verb::Close { child, position, generation, verdict, closer, news };
        let is_open = if step < 129 { Closed::Open } else { Closed::Ready };
        // Twice at the ends of words only: looking at everything takes long.
        if position % 64 == 0 || position % 64 == 63 || step == 129 {
            same(scene.heard(close)?.closed, is_open, "the answer to a close")?;
        } else {
            let answer = scene.once(&close);
            same(scene.once(&close), answer, "the answer of the second time")?;
        }
    }
    scene.holds(ANN, "c", Phase::Ready)
}

fn only_the_last_closer_hears_again_that_the_child_is_his(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open_with(open, JOIN, &[ANN, BOB, CID], &[])?;
    scene.close("a", "d", ANN, Closed::Open)?;
    scene.close("b", "d", BOB, Closed::Open)?;
    scene.close("c", "d", CID, Closed::Ready)?;
    scene.close("a", "d", ANN, Closed::Behind)?;
    scene.close("c", "d", ANN, Closed::Behind)?;
    scene.close("a", "d", CID, Closed::Behind)?;
    scene.close("c", "d", CID, Closed::Ready)?;
    scene.holds(CID, "d", Phase::Ready)
}

fn a_close_comes_to_nothing_once_the_child_has_gone_on(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, CHAIN)?;
    scene.finish("make", "read", ANN)?;
    scene.start("read", ANN, 1)?;
    scene.close("make", "read", ANN, Closed::Behind)?;
    scene.holds(ANN, "read", Phase::Running)?;
    scene.settle("read", ANN, Verdict::Done)?;
    scene.close("make", "read", ANN, Closed::Behind)?;
    scene.deliver("read", ANN)?;
    scene.close("make", "read", BOB, Closed::Behind)
}

fn a_parent_that_fails_skips_the_child(open: &mut Open<'_>) -> Outcome {
    for verdict in [Verdict::Failed, Verdict::Skipped, Verdict::Cancelled, Verdict::Quarantined] {
        let mut scene = Scene::open_with(open, JOIN, &[ANN, BOB, CID], &[])?;
        scene.close("a", "d", ANN, Closed::Open)?;
        let heard = scene.heard(scene.closing("b", "d", 0, verdict, BOB))?;
        same((heard.closed, heard.tenure), (Closed::Skipped, 1), "the close of what did not succeed")?;
        scene.holds(BOB, "d", Phase::Settled)?;
        // Who comes later finds it settled.
        let heard = scene.heard(scene.closing("c", "d", 0, verdict, CID))?;
        same(heard.closed, Closed::Behind, "the close after a skip")?;
        scene.close("c", "d", CID, Closed::Behind)?;
        scene.deliver("d", BOB)?;
        same(scene.verdict("d"), Some((Phase::Delivered, Verdict::Skipped)), "what became of the child")?;
    }
    Ok(())
}

fn a_skip_goes_through_a_subtree(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, LINE)?;
    scene.start("a", ANN, 1)?;
    scene.settle("a", ANN, Verdict::Failed)?;
    for (parent, child, verdict) in [("a", "b", Verdict::Failed), ("b", "c", Verdict::Skipped)] {
        let heard = scene.heard(scene.closing(parent, child, 0, verdict, ANN))?;
        same(heard.closed, Closed::Skipped, "the close of what did not succeed")?;
        scene.deliver(parent, ANN)?;
    }
    scene.deliver("c", ANN)?;
    for task in ["b", "c"] {
        same(scene.verdict(task), Some((Phase::Delivered, Verdict::Skipped)), "what became of a task behind it")?;
    }
    same(scene.verdict("a"), Some((Phase::Delivered, Verdict::Failed)), "what became of the task that failed")
}

fn a_start_that_went_missing_is_no_obstacle(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, CHAIN)?;
    scene.settle("make", ANN, Verdict::Done)?;
    let task = scene.task("make");
    scene.refused(Verb::Start { task, owner: ANN, generation: 0, attempt: 1 })?;
    scene.holds(ANN, "make", Phase::Settled)
}

fn a_verdict_is_not_changed(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, CHAIN)?;
    scene.settle("make", ANN, Verdict::Done)?;
    scene.refused(scene.settling("make", ANN, 0, Verdict::Failed))?;
    scene.deliver("make", ANN)?;
    scene.refused(scene.settling("make", ANN, 0, Verdict::Failed))?;
    scene.settle("make", ANN, Verdict::Done)?;
    same(scene.verdict("make"), Some((Phase::Delivered, Verdict::Done)), "what became of the task")
}

fn nothing_is_delivered_before_it_is_settled(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, CHAIN)?;
    let task = scene.task("make");
    scene.refused(Verb::Deliver { task, owner: ANN, generation: 0 })?;
    scene.start("make", ANN, 1)?;
    scene.refused(Verb::Deliver { task, owner: ANN, generation: 0 })?;
    scene.holds(ANN, "make", Phase::Running)
}

fn nothing_starts_or_settles_before_its_parents_are_done(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, CHAIN)?;
    let task = scene.task("read");
    for owner in [ANN, crate::store::Owner::NOBODY] {
        scene.refused(Verb::Start { task, owner, generation: 0, attempt: 1 })?;
        scene.refused(scene.settling("read", owner, 0, Verdict::Done))?;
    }
    scene.finish("make", "read", ANN)
}

fn the_number_of_an_attempt_never_goes_back(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, CHAIN)?;
    scene.start("make", ANN, 2)?;
    scene.start("make", ANN, 1)?;
    same(scene.holding("make", ANN).map(|holding| holding.tries.last), Some(2), "the last attempt")
}

/// All that only the owner of a task may say.
fn owners_verbs(scene: &Scene, task: &str, owner: crate::store::Owner, generation: u16) -> Vec<Verb> {
    let id = scene.task(task);
    vec![
        Verb::Start { task: id, owner, generation, attempt: 7 },
        scene.settling(task, owner, generation, Verdict::Done),
        scene.settling(task, owner, generation, Verdict::Failed),
        Verb::Deliver { task: id, owner, generation },
        Verb::Await { task: id, owner, generation, position: 0, needs: 1 },
    ]
}

/// Says all of that for a ready, a running, a settled and a delivered task.
fn all_refused(open: &mut Open<'_>, owner: crate::store::Owner, generation: u16) -> Outcome {
    let mut scene = Scene::open(open, LINE)?;
    scene.finish("a", "b", ANN)?;
    let steps: [fn(&mut Scene) -> Outcome; 4] = [
        |_| Ok(()),
        |scene| scene.start("b", ANN, 1),
        |scene| scene.settle("b", ANN, Verdict::Done),
        |scene| scene.deliver("b", ANN),
    ];
    for step in steps {
        step(&mut scene)?;
        for verb in owners_verbs(&scene, "b", owner, generation) {
            scene.refused(verb)?;
        }
    }
    same(scene.verdict("b"), Some((Phase::Delivered, Verdict::Done)), "what became of the task")
}

fn the_wrong_owner_is_refused(open: &mut Open<'_>) -> Outcome {
    all_refused(open, BOB, 0)
}

fn the_wrong_life_of_the_owner_is_refused(open: &mut Open<'_>) -> Outcome {
    all_refused(open, super::scene::reborn(ANN), 0)
}

fn the_wrong_generation_is_refused(open: &mut Open<'_>) -> Outcome {
    all_refused(open, ANN, 1)
}
