//! What parents made is folded into the record of a child: all that Place has to know.

use super::scene::{ANN, BOB, CID, Scene, same};
use super::{Open, Outcome, list_cases};
use crate::ids::NodeId;
use crate::store::{Answer, Closed, Inputs, Owner, Verb, Verdict};

list_cases![
    what_parents_made_is_added_up,
    of_equally_large_ones_the_lowest_number_counts,
    what_is_closed_again_is_not_added_again,
    what_is_made_again_may_lie_elsewhere,
    what_lies_with_a_node_counts_from_the_beginning,
    what_all_can_read_does_not_count,
    a_claimer_hears_of_the_inputs,
];

const JOIN: &str = "tasks: { a: { run: x, out: o }, b: { run: x, out: p }, c: { run: x, in: [o, p] } }";

/// A parent closes, and says how large the object is that it made, and where it lies.
fn news(scene: &Scene, parent: &str, generation: u16, closer: Owner, object: &str, bytes: u64) -> Verb {
    let mut verb = scene.closing(parent, "c", generation, Verdict::Done, closer);
    if let Verb::Close { news, .. } = &mut verb {
        let largest = Some(scene.object(object));
        *news = Inputs { total_bytes: bytes, largest_bytes: bytes, largest, at: Some(closer.node) };
    }
    verb
}

fn wanted(scene: &Scene, total_bytes: u64, largest: &str, largest_bytes: u64, at: NodeId) -> Inputs {
    Inputs { total_bytes, largest_bytes, largest: Some(scene.object(largest)), at: Some(at) }
}

fn what_parents_made_is_added_up(open: &mut Open<'_>) -> Outcome {
    for (o, p, largest, largest_bytes, at) in [(30, 40, "p", 40, BOB), (50, 40, "o", 50, ANN), (0, 7, "p", 7, BOB)] {
        let mut scene = Scene::open_with(open, JOIN, &[ANN, BOB], &[])?;
        let heard = scene.heard(news(&scene, "a", 0, ANN, "o", o))?;
        same(
            (heard.closed, heard.inputs),
            (Closed::Open, Inputs::default()),
            "what a closer hears who is not the last",
        )?;
        let heard = scene.heard(news(&scene, "b", 0, BOB, "p", p))?;
        let inputs = wanted(&scene, o + p, largest, largest_bytes, at.node);
        same((heard.closed, heard.inputs), (Closed::Ready, inputs), "what the last closer hears")?;
        same(scene.holding("c", BOB).map(|holding| holding.inputs), Some(inputs), "what the owner can see")?;
    }
    Ok(())
}

fn of_equally_large_ones_the_lowest_number_counts(open: &mut Open<'_>) -> Outcome {
    for first_is_a in [true, false] {
        let mut scene = Scene::open_with(open, JOIN, &[ANN, BOB], &[])?;
        let mut closes = [news(&scene, "a", 0, ANN, "o", 8), news(&scene, "b", 0, BOB, "p", 8)];
        if !first_is_a {
            closes.reverse();
        }
        let [first, second] = closes;
        scene.heard(first)?;
        let lowest = if scene.object("o") < scene.object("p") { ("o", ANN) } else { ("p", BOB) };
        let inputs = wanted(&scene, 16, lowest.0, 8, lowest.1.node);
        same(scene.heard(second)?.inputs, inputs, "the largest of two equal ones")?;
    }
    Ok(())
}

/// A child whose inputs have all come, the larger one from Bob.
fn ready(open: &mut Open<'_>) -> Result<Scene, String> {
    let mut scene = Scene::open_with(open, JOIN, &[ANN, BOB], &[])?;
    scene.heard(news(&scene, "a", 0, ANN, "o", 3))?;
    scene.heard(news(&scene, "b", 0, BOB, "p", 4))?;
    Ok(scene)
}

fn wait_again(scene: &mut Scene, position: u32) -> Outcome {
    let task = scene.task("c");
    scene.done(Verb::Await { task, owner: BOB, generation: 0, position, needs: 1 })
}

fn what_is_closed_again_is_not_added_again(open: &mut Open<'_>) -> Outcome {
    let mut scene = ready(open)?;
    wait_again(&mut scene, 0)?;
    let heard = scene.heard(news(&scene, "a", 1, CID, "o", 3))?;
    let inputs = wanted(&scene, 7, "p", 4, BOB.node);
    same((heard.closed, heard.inputs), (Closed::Ready, inputs), "what is known when a lost one has come")
}

fn what_is_made_again_may_lie_elsewhere(open: &mut Open<'_>) -> Outcome {
    let mut scene = ready(open)?;
    wait_again(&mut scene, 1)?;
    let heard = scene.heard(news(&scene, "b", 1, CID, "p", 4))?;
    let inputs = wanted(&scene, 7, "p", 4, CID.node);
    same((heard.closed, heard.inputs), (Closed::Ready, inputs), "what is known when the largest was made again")
}

fn what_lies_with_a_node_counts_from_the_beginning(open: &mut Open<'_>) -> Outcome {
    let text = "tasks: { a: { run: x, out: o, in: e }, c: { run: x, in: [o, e] } }";
    let mut scene = Scene::open_with(open, text, &[ANN], &[("e", 50, Some(CID))])?;
    let inputs = wanted(&scene, 50, "e", 50, CID.node);
    same(scene.holding("a", ANN).map(|holding| holding.inputs), Some(inputs), "what a first task reads")?;
    let heard = scene.heard(news(&scene, "a", 0, ANN, "o", 20))?;
    same(heard.inputs, wanted(&scene, 70, "e", 50, CID.node), "what a later task reads")
}

fn what_all_can_read_does_not_count(open: &mut Open<'_>) -> Outcome {
    let text = "tasks: { a: { run: x, in: e } }";
    let mut scene = Scene::open_with(open, text, &[ANN], &[("e", 50, None)])?;
    same(scene.holding("a", ANN).map(|holding| holding.inputs), Some(Inputs::default()), "what a task reads")
}

fn a_claimer_hears_of_the_inputs(open: &mut Open<'_>) -> Outcome {
    let mut scene = ready(open)?;
    let inputs = wanted(&scene, 7, "p", 4, BOB.node);
    let held = scene.claim(&[BOB], CID)?;
    let task = scene.task("c");
    let held = held.into_iter().find(|holding| holding.task == task).map(|holding| holding.inputs);
    same(held, Some(inputs), "what a claimer hears")?;
    let answer = scene.ask(Verb::Reopen { task, generation: 0, by: ANN })?;
    same(matches!(answer, Answer::Reopened { inputs: told, .. } if told == inputs), true, "that a reopening tells it")
}
