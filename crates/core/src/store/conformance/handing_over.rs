//! Tasks change hands by tenure, so that a wish which is repeated is told from one that comes too late.

use super::scene::{ANN, BOB, CID, Scene, reborn, same};
use super::{Open, Outcome, list_cases};
use crate::store::{Closed, Owner, Phase, Verb, Verdict};

list_cases![
    a_ready_task_goes_to_another_node,
    a_task_that_was_begun_is_ready_again_with_its_next_owner,
    a_task_that_came_back_is_not_given_away_by_an_old_wish,
    a_task_is_given_to_one_node_only,
    nobody_gives_what_is_not_his,
    what_waits_or_is_settled_is_not_handed_over,
    a_giver_can_take_back_from_a_dead_receiver,
    whoever_was_given_a_task_does_not_hear_of_it_by_a_close,
    verify_knows_owner_and_tenure,
];

const ONE: &str = "tasks: { a: { run: x } }";
const LINE: &str = "tasks: { a: { run: x }, b: { run: x, after: a } }";

fn wish(scene: &Scene, task: &str, from: Owner, to: Owner, tenure: u16) -> Verb {
    Verb::HandOver { task: scene.task(task), from, to, tenure }
}

fn a_ready_task_goes_to_another_node(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, ONE)?;
    scene.hand_over("a", ANN, BOB, 0)?;
    scene.holds_nothing_of(ANN, "a")?;
    scene.holds(BOB, "a", Phase::Ready)?;
    same(scene.holding("a", BOB).map(|holding| holding.tenure), Some(1), "the tenure")?;
    scene.refused(scene.settling("a", ANN, 0, Verdict::Done))?;
    scene.start("a", BOB, 1)?;
    // The receiver has begun; a giver who has not heard still hears that it was given.
    scene.hand_over("a", ANN, BOB, 0)?;
    scene.holds(BOB, "a", Phase::Running)?;
    scene.settle("a", BOB, Verdict::Done)
}

fn a_task_that_was_begun_is_ready_again_with_its_next_owner(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, ONE)?;
    scene.start("a", ANN, 3)?;
    scene.hand_over("a", ANN, BOB, 0)?;
    scene.holds(BOB, "a", Phase::Ready)?;
    same(scene.holding("a", BOB).map(|holding| holding.tries.last), Some(3), "the last attempt")
}

fn a_task_that_came_back_is_not_given_away_by_an_old_wish(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, ONE)?;
    scene.hand_over("a", ANN, BOB, 0)?;
    scene.hand_over("a", BOB, ANN, 1)?;
    scene.refused(wish(&scene, "a", ANN, BOB, 0))?;
    scene.holds(ANN, "a", Phase::Ready)?;
    scene.hand_over("a", ANN, BOB, 2)?;
    scene.refused(wish(&scene, "a", ANN, BOB, 0))?;
    scene.refused(wish(&scene, "a", BOB, ANN, 1))?;
    scene.holds(BOB, "a", Phase::Ready)
}

fn a_task_is_given_to_one_node_only(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, ONE)?;
    scene.hand_over("a", ANN, BOB, 0)?;
    scene.refused(wish(&scene, "a", ANN, CID, 0))?;
    scene.refused(wish(&scene, "a", ANN, CID, 1))?;
    scene.holds(BOB, "a", Phase::Ready)
}

fn nobody_gives_what_is_not_his(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, ONE)?;
    scene.refused(wish(&scene, "a", BOB, CID, 0))?;
    scene.refused(wish(&scene, "a", reborn(ANN), CID, 0))?;
    scene.refused(wish(&scene, "a", ANN, CID, 1))?;
    scene.holds(ANN, "a", Phase::Ready)
}

fn what_waits_or_is_settled_is_not_handed_over(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, LINE)?;
    scene.refused(wish(&scene, "b", ANN, BOB, 0))?;
    scene.refused(wish(&scene, "b", Owner::NOBODY, BOB, 0))?;
    scene.settle("a", ANN, Verdict::Done)?;
    scene.refused(wish(&scene, "a", ANN, BOB, 0))?;
    scene.close("a", "b", ANN, Closed::Ready)?;
    scene.deliver("a", ANN)?;
    scene.refused(wish(&scene, "a", ANN, BOB, 0))
}

fn a_giver_can_take_back_from_a_dead_receiver(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, ONE)?;
    scene.hand_over("a", ANN, BOB, 0)?;
    scene.hand_over("a", BOB, ANN, 1)?;
    scene.holds(ANN, "a", Phase::Ready)?;
    // Unless somebody has claimed it before.
    scene.hand_over("a", ANN, BOB, 2)?;
    scene.claim(&[BOB], CID)?;
    scene.refused(wish(&scene, "a", BOB, ANN, 3))?;
    scene.holds(CID, "a", Phase::Ready)
}

fn whoever_was_given_a_task_does_not_hear_of_it_by_a_close(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, LINE)?;
    scene.finish("a", "b", ANN)?;
    scene.hand_over("b", ANN, BOB, 1)?;
    scene.close("a", "b", ANN, Closed::Behind)?;
    scene.close("a", "b", BOB, Closed::Behind)?;
    scene.hand_over("b", BOB, ANN, 2)?;
    scene.close("a", "b", ANN, Closed::Behind)
}

fn verify_knows_owner_and_tenure(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, ONE)?;
    let task = scene.task("a");
    let verify = |owner, tenure| Verb::Verify { task, owner, tenure };
    scene.done(verify(ANN, 0))?;
    scene.start("a", ANN, 1)?;
    scene.done(verify(ANN, 0))?;
    for (owner, tenure) in [(ANN, 1), (BOB, 0), (reborn(ANN), 0)] {
        scene.refused(verify(owner, tenure))?;
    }
    scene.hand_over("a", ANN, BOB, 0)?;
    scene.refused(verify(ANN, 0))?;
    scene.done(verify(BOB, 1))?;
    scene.settle("a", BOB, Verdict::Done)?;
    scene.refused(verify(BOB, 1))
}
