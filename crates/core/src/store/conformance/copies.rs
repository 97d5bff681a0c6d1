//! Where objects lie, and that the last copy of one that somebody needs stays.

use super::scene::{ANN, BOB, CID, STRANGER, Scene, reborn, same};
use super::{Open, Outcome, list_cases};
use crate::ids::NodeId;
use crate::store::{Owner, PLACES_TOLD, SHARED_BY_ALL, Verb, Verdict};

list_cases![
    what_was_made_lies_with_its_maker,
    what_failed_has_made_nothing,
    an_asker_is_not_sent_to_himself,
    different_askers_are_sent_to_different_copies,
    an_asker_is_told_of_few_copies,
    a_copy_counts_once,
    the_last_copy_stays_while_somebody_needs_it,
    the_last_copy_of_a_result_stays,
    copies_of_the_dead_do_not_count,
    somebody_without_a_copy_may_drop_it,
    what_is_missing_is_forgotten,
    what_is_missing_in_one_life_is_not_in_the_next,
    what_lies_where_all_can_read_it_is_found_there,
    a_copy_of_what_all_can_read_may_go,
];

const CHAIN: &str = "tasks: { make: { run: x, out: [o, r] }, read: { run: x, in: [o, e] } }";

fn made(open: &mut Open<'_>) -> Result<Scene, String> {
    let mut scene = Scene::open_with(open, CHAIN, &[ANN], &[("e", 5, None)])?;
    scene.settle("make", ANN, Verdict::Done)?;
    Ok(scene)
}

fn copy(scene: &mut Scene, object: &str, owner: Owner) -> Outcome {
    let object = scene.object(object);
    scene.done(Verb::Copied { object, owner })
}

fn dropping(scene: &Scene, object: &str, owner: Owner) -> Verb {
    Verb::Drop { object: scene.object(object), owner, dead: [].into() }
}

fn what_was_made_lies_with_its_maker(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, CHAIN)?;
    same(scene.places("o", STRANGER)?, (0, vec![]), "what nobody has made")?;
    scene.settle("make", ANN, Verdict::Done)?;
    same(scene.places("o", STRANGER)?, (10, vec![ANN.node]), "what Ann has made")
}

fn what_failed_has_made_nothing(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, CHAIN)?;
    scene.settle("make", ANN, Verdict::Failed)?;
    same(scene.places("o", STRANGER)?, (0, vec![]), "what a task left that failed")
}

fn an_asker_is_not_sent_to_himself(open: &mut Open<'_>) -> Outcome {
    let mut scene = made(open)?;
    same(scene.places("o", ANN.node)?, (10, vec![]), "what others have")?;
    copy(&mut scene, "o", BOB)?;
    same(scene.places("o", ANN.node)?.1, vec![BOB.node], "what others have")?;
    same(scene.places("o", BOB.node)?.1, vec![ANN.node], "what others have")
}

fn different_askers_are_sent_to_different_copies(open: &mut Open<'_>) -> Outcome {
    let mut scene = made(open)?;
    copy(&mut scene, "o", BOB)?;
    copy(&mut scene, "o", CID)?;
    let mut first = Vec::new();
    for asker in 30..33 {
        let (_, places) = scene.places("o", NodeId(asker))?;
        first.push(places[0]);
        same(places.len(), 3, "how many places are told")?;
    }
    first.sort();
    same(first, vec![ANN.node, BOB.node, CID.node], "where three askers are sent first")
}

fn an_asker_is_told_of_few_copies(open: &mut Open<'_>) -> Outcome {
    let mut scene = made(open)?;
    for node in 20..40 {
        copy(&mut scene, "o", Owner { node: NodeId(node), boot: 1 })?;
    }
    let (_, mut places) = scene.places("o", STRANGER)?;
    same(places.len(), PLACES_TOLD, "how many places are told")?;
    places.sort();
    places.dedup();
    same(places.len(), PLACES_TOLD, "how many different places are told")
}

fn a_copy_counts_once(open: &mut Open<'_>) -> Outcome {
    let mut scene = made(open)?;
    copy(&mut scene, "o", ANN)?;
    same(scene.places("o", STRANGER)?.1, vec![ANN.node], "where it is")?;
    scene.refused(dropping(&scene, "o", ANN))
}

fn the_last_copy_stays_while_somebody_needs_it(open: &mut Open<'_>) -> Outcome {
    let mut scene = made(open)?;
    scene.refused(dropping(&scene, "o", ANN))?;
    copy(&mut scene, "o", BOB)?;
    scene.done(dropping(&scene, "o", ANN))?;
    same(scene.places("o", STRANGER)?, (10, vec![BOB.node]), "where it is")?;
    scene.refused(dropping(&scene, "o", BOB))?;
    let (object, reader) = (scene.object("o"), scene.task("read"));
    scene.ask(Verb::Release { object, reader, generation: 0 })?;
    scene.done(dropping(&scene, "o", BOB))?;
    same(scene.places("o", STRANGER)?, (10, vec![]), "where it is")
}

fn the_last_copy_of_a_result_stays(open: &mut Open<'_>) -> Outcome {
    let mut scene = made(open)?;
    scene.refused(dropping(&scene, "r", ANN))?;
    copy(&mut scene, "r", BOB)?;
    scene.done(dropping(&scene, "r", ANN))?;
    scene.refused(dropping(&scene, "r", BOB))
}

fn copies_of_the_dead_do_not_count(open: &mut Open<'_>) -> Outcome {
    let mut scene = made(open)?;
    copy(&mut scene, "o", BOB)?;
    let object = scene.object("o");
    scene.refused(Verb::Drop { object, owner: ANN, dead: [BOB].into() })?;
    // Nor those of lives before the last that is known to be over.
    scene.refused(Verb::Drop { object, owner: ANN, dead: [reborn(BOB)].into() })?;
    copy(&mut scene, "o", reborn(BOB))?;
    scene.done(Verb::Drop { object, owner: ANN, dead: [BOB, CID].into() })?;
    same(scene.places("o", STRANGER)?.1, vec![BOB.node, BOB.node], "where it is")
}

fn somebody_without_a_copy_may_drop_it(open: &mut Open<'_>) -> Outcome {
    let mut scene = made(open)?;
    scene.done(dropping(&scene, "o", BOB))?;
    // An earlier or later life has none either.
    scene.done(dropping(&scene, "o", reborn(ANN)))?;
    same(scene.places("o", STRANGER)?.1, vec![ANN.node], "where it is")
}

fn what_is_missing_is_forgotten(open: &mut Open<'_>) -> Outcome {
    let mut scene = made(open)?;
    copy(&mut scene, "o", BOB)?;
    let object = scene.object("o");
    scene.done(Verb::Missing { object, owner: ANN })?;
    same(scene.places("o", STRANGER)?.1, vec![BOB.node], "where it is")?;
    // The last one, too: it is not there.
    scene.done(Verb::Missing { object, owner: BOB })?;
    same(scene.places("o", STRANGER)?.1, vec![], "where it is")
}

fn what_is_missing_in_one_life_is_not_in_the_next(open: &mut Open<'_>) -> Outcome {
    let mut scene = made(open)?;
    copy(&mut scene, "o", reborn(BOB))?;
    let object = scene.object("o");
    scene.done(Verb::Missing { object, owner: BOB })?;
    scene.done(Verb::Missing { object, owner: reborn(ANN) })?;
    same(scene.places("o", STRANGER)?.1, vec![BOB.node], "where it is")
}

fn what_lies_where_all_can_read_it_is_found_there(open: &mut Open<'_>) -> Outcome {
    let mut scene = made(open)?;
    same(scene.places("e", STRANGER)?, (5, vec![SHARED_BY_ALL]), "where it is")?;
    scene.claim(&[ANN], BOB)?;
    same(scene.places("e", STRANGER)?, (5, vec![SHARED_BY_ALL]), "where it is after a death")
}

fn a_copy_of_what_all_can_read_may_go(open: &mut Open<'_>) -> Outcome {
    let mut scene = made(open)?;
    copy(&mut scene, "e", ANN)?;
    scene.done(dropping(&scene, "e", ANN))?;
    same(scene.places("e", STRANGER)?, (5, vec![SHARED_BY_ALL]), "where it is")
}
