//! Who still has to read an object: the last one to be done lets it go.

use super::scene::{ANN, BOB, Scene, same};
use super::{Open, Outcome, list_cases};
use crate::ids::NodeId;
use crate::store::{Answer, Closed, Verb, Verdict};

list_cases![
    the_last_reader_hears_who_has_copies,
    a_release_repeated_counts_once,
    somebody_who_does_not_read_it_releases_nothing,
    what_comes_from_outside_is_never_unneeded,
    a_reader_that_comes_back_keeps_it_needed,
    a_release_of_an_earlier_generation_comes_too_late,
    whoever_reopens_a_task_retains_its_inputs,
];

const FORK: &str = "tasks: { make: { run: x, out: o }, read: { run: x, in: [o, e] }, other: { run: x, in: o } }";

#[track_caller]
fn release(scene: &mut Scene, object: &str, reader: &str, unneeded: Option<&[NodeId]>) -> Outcome {
    release_in(scene, object, reader, 0, unneeded)
}

#[track_caller]
fn release_in(scene: &mut Scene, object: &str, reader: &str, generation: u16, unneeded: Option<&[NodeId]>) -> Outcome {
    let verb = Verb::Release { object: scene.object(object), reader: scene.task(reader), generation };
    let wanted = unneeded.map_or(Answer::Done, |places| Answer::Unneeded(places.into()));
    same(scene.ask(verb)?, wanted, "the answer to a release")
}

fn made(open: &mut Open<'_>) -> Result<Scene, String> {
    let mut scene = Scene::open_with(open, FORK, &[ANN], &[("e", 5, Some(ANN))])?;
    scene.settle("make", ANN, Verdict::Done)?;
    let object = scene.object("o");
    scene.done(Verb::Copied { object, owner: BOB })?;
    Ok(scene)
}

const BOTH: Option<&[NodeId]> = Some(&[ANN.node, BOB.node]);

fn the_last_reader_hears_who_has_copies(open: &mut Open<'_>) -> Outcome {
    let mut scene = made(open)?;
    release(&mut scene, "o", "read", None)?;
    release(&mut scene, "o", "other", BOTH)
}

fn a_release_repeated_counts_once(open: &mut Open<'_>) -> Outcome {
    let mut scene = made(open)?;
    for _ in 0..3 {
        release(&mut scene, "o", "other", None)?;
    }
    release(&mut scene, "o", "read", BOTH)?;
    // Whoever asks again hears it again, whichever was the last.
    release(&mut scene, "o", "other", BOTH)
}

fn somebody_who_does_not_read_it_releases_nothing(open: &mut Open<'_>) -> Outcome {
    let mut scene = made(open)?;
    release(&mut scene, "o", "make", None)?;
    release(&mut scene, "e", "other", None)?;
    release(&mut scene, "o", "read", None)?;
    release(&mut scene, "o", "other", BOTH)
}

fn what_comes_from_outside_is_never_unneeded(open: &mut Open<'_>) -> Outcome {
    let mut scene = made(open)?;
    release(&mut scene, "e", "read", None)
}

fn a_reader_that_comes_back_keeps_it_needed(open: &mut Open<'_>) -> Outcome {
    let mut scene = made(open)?;
    release(&mut scene, "o", "read", None)?;
    let (object, reader) = (scene.object("o"), scene.task("read"));
    scene.done(Verb::Retain { object, reader, generation: 1 })?;
    release(&mut scene, "o", "other", None)?;
    release_in(&mut scene, "o", "read", 1, BOTH)?;
    // One that comes late changes nothing.
    scene.done(Verb::Retain { object, reader, generation: 1 })?;
    release_in(&mut scene, "o", "read", 1, BOTH)?;
    // Nor does one that does not read it.
    let reader = scene.task("make");
    scene.done(Verb::Retain { object, reader, generation: 1 })?;
    release_in(&mut scene, "o", "read", 1, BOTH)
}

fn a_release_of_an_earlier_generation_comes_too_late(open: &mut Open<'_>) -> Outcome {
    let mut scene = made(open)?;
    release(&mut scene, "o", "other", None)?;
    let (object, reader) = (scene.object("o"), scene.task("read"));
    scene.done(Verb::Retain { object, reader, generation: 2 })?;
    release(&mut scene, "o", "read", None)?;
    release_in(&mut scene, "o", "read", 1, None)?;
    scene.refused(Verb::Drop { object, owner: ANN, dead: [BOB].into() })?;
    release_in(&mut scene, "o", "read", 2, BOTH)
}

fn whoever_reopens_a_task_retains_its_inputs(open: &mut Open<'_>) -> Outcome {
    let text = "tasks: { a: { run: x, out: o }, b: { run: x, in: o, out: p }, c: { run: x, in: p } }";
    let mut scene = Scene::open(open, text)?;
    scene.finish("a", "b", ANN)?;
    scene.settle("b", ANN, Verdict::Done)?;
    scene.close("b", "c", ANN, Closed::Ready)?;
    release(&mut scene, "o", "b", Some(&[ANN.node]))?;
    scene.deliver("b", ANN)?;
    let (task, object) = (scene.task("b"), scene.object("o"));
    scene.ask(Verb::Reopen { task, generation: 0, by: BOB })?;
    scene.done(Verb::Retain { object, reader: task, generation: 1 })?;
    scene.refused(Verb::Drop { object, owner: ANN, dead: [].into() })?;
    release_in(&mut scene, "o", "b", 1, Some(&[ANN.node]))?;
    scene.done(Verb::Drop { object, owner: ANN, dead: [].into() })
}
