//! Whoever claims the tasks of the dead goes on where they stopped.

use super::scene::{ANN, BOB, CID, STRANGER, Scene, reborn, same};
use super::{Open, Outcome, list_cases};
use crate::store::{Answer, Closed, DEATHS_ALLOWED, Holding, Inputs, Owner, Phase, Tries, Verb, Verdict};

list_cases![
    a_ready_task_is_claimed_as_it_is,
    a_running_task_is_claimed_as_ready,
    a_task_that_takes_too_many_nodes_with_it_is_put_aside,
    a_settled_task_is_claimed_and_delivered_by_another,
    a_delivered_task_is_not_claimed,
    a_task_that_waits_for_lost_data_is_claimed_as_ready,
    a_wide_task_that_waits_for_lost_data_is_claimed_as_ready,
    a_claim_reaches_all_lives_up_to_the_one_named,
    a_claim_of_several_nodes_leaves_the_living_alone,
    a_claim_answers_with_all_that_the_claimer_has,
    a_late_result_of_the_dead_is_refused,
    a_claim_looks_at_one_bucket_only,
    a_claim_names_what_the_dead_gave_to_others,
    copies_die_with_their_node,
    a_result_that_died_with_its_node_is_named,
];

const ONE: &str = "tasks: { a: { run: x } }";
const CHAIN: &str = "tasks: { make: { run: x, out: o }, read: { run: x, in: o } }";

fn only(held: Vec<Holding>) -> Result<Holding, String> {
    match <[Holding; 1]>::try_from(held) {
        Ok([holding]) => Ok(holding),
        Err(held) => Err(format!("one task should be held, and these are: {held:?}")),
    }
}

fn a_ready_task_is_claimed_as_it_is(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, ONE)?;
    let held = only(scene.claim(&[ANN], BOB)?)?;
    same((held.phase, held.generation, held.tries.last, held.tenure), (Phase::Ready, 0, 0, 1), "what was claimed")?;
    scene.holds_nothing_of(ANN, "a")?;
    scene.holds(BOB, "a", Phase::Ready)
}

fn a_running_task_is_claimed_as_ready(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, ONE)?;
    scene.start("a", ANN, 2)?;
    let held = only(scene.claim(&[ANN], BOB)?)?;
    // The attempt that its node took with it does not count.
    same((held.phase, held.tries, held.tenure), (Phase::Ready, Tries { last: 2, excused: 1 }, 1), "what was claimed")
}

fn a_task_that_takes_too_many_nodes_with_it_is_put_aside(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, ONE)?;
    let mut owner = ANN;
    for death in 1..=DEATHS_ALLOWED {
        scene.start("a", owner, u16::from(death))?;
        let held = only(scene.claim(&[owner], reborn(owner))?)?;
        let is_last = death == DEATHS_ALLOWED;
        same(held.phase, if is_last { Phase::Settled } else { Phase::Ready }, "how far it has come")?;
        owner = reborn(owner);
    }
    same(scene.verdict("a"), Some((Phase::Settled, Verdict::Quarantined)), "what became of it")?;
    scene.deliver("a", owner)?;
    // Deaths of nodes that had not begun it do not count.
    let mut scene = Scene::open(open, ONE)?;
    let mut owner = ANN;
    for _ in 0..=DEATHS_ALLOWED {
        same(only(scene.claim(&[owner], reborn(owner))?)?.phase, Phase::Ready, "how far it has come")?;
        owner = reborn(owner);
    }
    Ok(())
}

fn a_settled_task_is_claimed_and_delivered_by_another(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, CHAIN)?;
    scene.settle("make", ANN, Verdict::Done)?;
    let held = only(scene.claim(&[ANN], BOB)?)?;
    same((held.phase, held.verdict), (Phase::Settled, Verdict::Done), "what was claimed")?;
    same(held.outputs.to_vec(), vec![(scene.object("o"), 10)], "what it made")?;
    let task = scene.task("make");
    scene.refused(Verb::Deliver { task, owner: ANN, generation: 0 })?;
    scene.close("make", "read", BOB, Closed::Ready)?;
    scene.deliver("make", BOB)?;
    scene.holds(BOB, "read", Phase::Ready)
}

fn a_delivered_task_is_not_claimed(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, ONE)?;
    scene.settle("a", ANN, Verdict::Done)?;
    scene.deliver("a", ANN)?;
    same(scene.claim(&[ANN], BOB)?, Vec::new(), "what was claimed")?;
    same(scene.verdict("a"), Some((Phase::Delivered, Verdict::Done)), "what became of it")
}

fn a_task_that_waits_for_lost_data_is_claimed_as_ready(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, CHAIN)?;
    scene.finish("make", "read", ANN)?;
    let task = scene.task("read");
    scene.done(Verb::Await { task, owner: ANN, generation: 0, position: 0, needs: 1 })?;
    let held = only(scene.claim(&[ANN], BOB)?)?;
    same((held.task, held.phase), (task, Phase::Ready), "what was claimed")?;
    scene.start("read", BOB, 1)?;
    scene.settle("read", BOB, Verdict::Done)
}

fn a_wide_task_that_waits_for_lost_data_is_claimed_as_ready(open: &mut Open<'_>) -> Outcome {
    let text =
        "tasks: { p: { foreach: { i: 1..66 }, run: 'x {i}' }, c: { run: x, after: p }, d: { run: x, after: p } }";
    let mut scene = Scene::open(open, text)?;
    let children = [scene.task("c"), scene.task("d")];
    let close = |child, position, generation, closer| {
        let (verdict, news) = (Verdict::Done, Inputs::default());
        Verb::Close { child, position, generation, verdict, closer, news }
    };
    for position in 0..66 {
        for child in children {
            scene.once(&close(child, position, 0, ANN));
        }
    }
    let task = scene.task("c");
    scene.done(Verb::Await { task, owner: ANN, generation: 0, position: 65, needs: 1 })?;
    scene.done(Verb::Await { task, owner: ANN, generation: 0, position: 1, needs: 1 })?;
    scene.holds_nothing_of(ANN, "c")?;
    scene.claim(&[ANN], BOB)?;
    scene.holds(BOB, "c", Phase::Ready)?;
    scene.holds(BOB, "d", Phase::Ready)?;
    // It may wait again, for one parent only.
    scene.done(Verb::Await { task, owner: BOB, generation: 0, position: 65, needs: 1 })?;
    same(scene.heard(close(task, 65, 1, BOB))?.closed, Closed::Ready, "the close in a later generation")
}

fn a_claim_reaches_all_lives_up_to_the_one_named(open: &mut Open<'_>) -> Outcome {
    let text = "tasks: { a: { run: x }, b: { run: x }, c: { run: x } }";
    let third = reborn(reborn(ANN));
    let mut scene = Scene::open_with(open, text, &[ANN, reborn(ANN), third], &[])?;
    let held = scene.claim(&[reborn(ANN)], BOB)?;
    same(held.len(), 2, "how many were claimed")?;
    scene.holds(third, "c", Phase::Ready)?;
    scene.holds(BOB, "a", Phase::Ready)?;
    scene.holds(BOB, "b", Phase::Ready)
}

fn a_claim_of_several_nodes_leaves_the_living_alone(open: &mut Open<'_>) -> Outcome {
    let text = "tasks: { a: { run: x }, b: { run: x }, c: { run: x } }";
    let mut scene = Scene::open_with(open, text, &[ANN, BOB, CID], &[])?;
    scene.start("b", BOB, 1)?;
    let by = reborn(ANN);
    same(scene.claim(&[ANN, CID], by)?.len(), 2, "how many were claimed")?;
    scene.holds(BOB, "b", Phase::Running)?;
    scene.holds(by, "a", Phase::Ready)?;
    scene.holds(by, "c", Phase::Ready)
}

fn a_claim_answers_with_all_that_the_claimer_has(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, ONE)?;
    scene.hand_over("a", ANN, BOB, 0)?;
    let held = only(scene.claim(&[ANN], BOB)?)?;
    same((held.phase, held.tenure), (Phase::Ready, 1), "what the claimer had before")
}

fn a_late_result_of_the_dead_is_refused(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, CHAIN)?;
    scene.start("make", ANN, 1)?;
    scene.claim(&[ANN], BOB)?;
    let task = scene.task("make");
    scene.refused(scene.settling("make", ANN, 0, Verdict::Done))?;
    scene.refused(Verb::Start { task, owner: ANN, generation: 0, attempt: 2 })?;
    scene.refused(Verb::HandOver { task, from: ANN, to: CID, tenure: 0 })?;
    scene.holds(BOB, "make", Phase::Ready)?;
    same(scene.places("o", STRANGER)?, (0, vec![]), "where the output is that does not count")
}

fn a_claim_looks_at_one_bucket_only(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, "tasks: { a: { run: x }, b: { run: x } }")?;
    let (dead, by) = ([ANN].into(), BOB);
    let bucket = crate::store::bucket(scene.task("b"));
    scene.ask(Verb::Claim { bucket, dead, by })?;
    scene.holds(ANN, "a", Phase::Ready)?;
    scene.holds(BOB, "b", Phase::Ready)
}

fn a_claim_names_what_the_dead_gave_to_others(open: &mut Open<'_>) -> Outcome {
    let text = "tasks: { a: { run: x }, b: { run: x }, c: { run: x } }";
    let mut scene = Scene::open(open, text)?;
    for (task, to) in [("a", CID), ("b", CID), ("c", BOB)] {
        scene.hand_over(task, ANN, to, 0)?;
    }
    // Whoever has begun knows.
    scene.start("b", CID, 1)?;
    let claimed = scene.claim_all(&[ANN], BOB)?;
    let given: Vec<_> = claimed.given.iter().map(|(owner, held)| (*owner, held.task, held.tenure)).collect();
    same(given, vec![(CID, scene.task("a"), 1)], "what the dead gave to others")?;
    same(only(claimed.tasks)?.task, scene.task("c"), "what the claimer was given")?;
    scene.holds(CID, "a", Phase::Ready)
}

fn copies_die_with_their_node(open: &mut Open<'_>) -> Outcome {
    let text = "tasks: { make: { run: x, out: o }, read: { run: x, in: [o, e] } }";
    let mut scene = Scene::open_with(open, text, &[ANN], &[("e", 5, Some(ANN))])?;
    scene.settle("make", ANN, Verdict::Done)?;
    for object in ["o", "e"] {
        let object = scene.object(object);
        scene.done(Verb::Copied { object, owner: BOB })?;
        scene.done(Verb::Copied { object, owner: reborn(CID) })?;
    }
    scene.claim(&[ANN, CID], BOB)?;
    for (object, bytes) in [("o", 10), ("e", 5)] {
        let (size, mut places) = scene.places(object, STRANGER)?;
        places.sort();
        same((size, places), (bytes, vec![BOB.node, CID.node]), "where it is after a death")?;
    }
    let third = Owner { node: crate::ids::NodeId(5), boot: 1 };
    scene.claim(&[BOB, reborn(CID)], third)?;
    same(scene.places("o", STRANGER)?.1, vec![], "where it is after all have died")?;
    same(scene.places("e", STRANGER)?.1, vec![], "where it is after all have died")
}

fn a_result_that_died_with_its_node_is_named(open: &mut Open<'_>) -> Outcome {
    let text = "tasks: { a: { run: x, out: [o, r, s] }, b: { run: x, in: o, out: t }, c: { run: x, out: u } }";
    let mut scene = Scene::open(open, text)?;
    scene.settle("a", ANN, Verdict::Done)?;
    scene.settle("c", ANN, Verdict::Done)?;
    scene.close("a", "b", ANN, Closed::Ready)?;
    scene.deliver("a", ANN)?;
    let object = scene.object("u");
    scene.done(Verb::Copied { object, owner: CID })?;
    // Two results of one task are lost with it once; what another node has, what somebody reads and what was not made is not.
    let lost = scene.claim_all(&[ANN], BOB)?.lost;
    same(lost, vec![(scene.task("a"), 0)], "what was lost")?;
    let Answer::Reopened { .. } = scene.ask(Verb::Reopen { task: scene.task("a"), generation: 0, by: BOB })? else {
        return Err("a reopening was not answered as such".to_owned());
    };
    let lost = scene.claim_all(&[ANN], BOB)?.lost;
    same(lost, vec![], "what was lost once it is made again")
}
