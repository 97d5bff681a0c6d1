//! What a task made may be lost: its readers wait for it again, and it is done once more, in a later generation.

use super::scene::{ANN, BOB, CID, Scene, same};
use super::{Open, Outcome, list_cases};
use crate::store::{Answer, Closed, Owner, Phase, Reopened, Tries, Verb, Verdict};

list_cases![
    a_task_waits_again_until_its_parent_closes_in_a_later_generation,
    a_close_of_a_generation_even_later_will_do,
    a_task_that_waits_again_for_two_parents_needs_both,
    a_task_that_had_begun_may_wait_again,
    what_waits_again_is_nobodys_to_start,
    a_task_is_reopened_by_one_node_only,
    a_reopening_repeated_too_late_does_not_give_the_task_again,
    what_was_never_done_is_not_reopened,
    an_old_reopening_finds_the_later_generation,
    a_late_result_of_an_earlier_generation_is_refused,
    a_reopened_task_tells_its_children_again,
    a_reopened_task_that_fails_skips_the_waiter,
    a_reopened_task_that_fails_leaves_those_alone_that_do_not_wait,
    a_reopened_task_keeps_its_attempts,
    a_searcher_hears_of_the_generation,
    a_searcher_does_not_wait_for_more_than_what_is_being_made,
];

const CHAIN: &str = "tasks: { make: { run: x, out: o }, read: { run: x, in: o } }";
const FORK: &str = "tasks: { make: { run: x, out: o }, read: { run: x, in: o }, other: { run: x, in: o } }";

/// A chain whose first task is done, and whose second is ready with Ann.
fn chain(open: &mut Open<'_>) -> Result<Scene, String> {
    let mut scene = Scene::open(open, CHAIN)?;
    scene.finish("make", "read", ANN)?;
    Ok(scene)
}

fn await_make(scene: &mut Scene, task: &str, owner: Owner, needs: u16) -> Outcome {
    let (parent, task) = (scene.task("make"), scene.task(task));
    let position = scene.kin.position(&scene.flow, parent, task).unwrap_or_default();
    scene.done(Verb::Await { task, owner, generation: 0, position, needs })
}

#[track_caller]
fn reopen(scene: &mut Scene, generation: u16, by: Owner, wanted: Reopened) -> Outcome {
    let task = scene.task("make");
    match scene.ask(Verb::Reopen { task, generation, by })? {
        Answer::Reopened { reopened, .. } => same(reopened, wanted, "the answer to a reopening"),
        other => Err(format!("a reopening was answered by {other:?}")),
    }
}

fn a_task_waits_again_until_its_parent_closes_in_a_later_generation(open: &mut Open<'_>) -> Outcome {
    let mut scene = chain(open)?;
    await_make(&mut scene, "read", ANN, 1)?;
    scene.holds_nothing_of(ANN, "read")?;
    scene.close("make", "read", ANN, Closed::TooOld { needs: 1 })?;
    scene.close("make", "read", BOB, Closed::TooOld { needs: 1 })?;
    reopen(&mut scene, 0, BOB, Reopened::Yours)?;
    scene.holds(BOB, "make", Phase::Ready)?;
    scene.settle_again("make", BOB, 1, Verdict::Done)?;
    scene.close_again("make", "read", 1, BOB, Closed::Ready)?;
    scene.holds(BOB, "read", Phase::Ready)?;
    scene.start("read", BOB, 1)
}

fn a_close_of_a_generation_even_later_will_do(open: &mut Open<'_>) -> Outcome {
    let mut scene = chain(open)?;
    await_make(&mut scene, "read", ANN, 1)?;
    scene.close_again("make", "read", 3, BOB, Closed::Ready)?;
    // And what is lost again has to be later still.
    await_make(&mut scene, "read", BOB, 4)?;
    scene.close_again("make", "read", 3, BOB, Closed::TooOld { needs: 4 })?;
    scene.close_again("make", "read", 4, CID, Closed::Ready)?;
    scene.holds(CID, "read", Phase::Ready)
}

fn a_task_that_waits_again_for_two_parents_needs_both(open: &mut Open<'_>) -> Outcome {
    let text = "tasks: { a: { run: x, out: o }, b: { run: x, out: p }, c: { run: x, in: [o, p] } }";
    let mut scene = Scene::open(open, text)?;
    scene.close("a", "c", ANN, Closed::Open)?;
    scene.close("b", "c", ANN, Closed::Ready)?;
    let task = scene.task("c");
    for position in [0, 1] {
        scene.done(Verb::Await { task, owner: ANN, generation: 0, position, needs: 1 })?;
    }
    scene.close_again("b", "c", 1, BOB, Closed::Open)?;
    scene.close_again("b", "c", 1, CID, Closed::Open)?;
    scene.close_again("a", "c", 1, CID, Closed::Ready)?;
    scene.holds(CID, "c", Phase::Ready)
}

fn a_task_that_had_begun_may_wait_again(open: &mut Open<'_>) -> Outcome {
    let mut scene = chain(open)?;
    scene.start("read", ANN, 1)?;
    await_make(&mut scene, "read", ANN, 1)?;
    scene.holds_nothing_of(ANN, "read")?;
    let heard = scene.heard(scene.closing("make", "read", 1, Verdict::Done, BOB))?;
    same((heard.closed, heard.tries.last), (Closed::Ready, 1), "the close in a later generation")
}

fn what_waits_again_is_nobodys_to_start(open: &mut Open<'_>) -> Outcome {
    let mut scene = chain(open)?;
    await_make(&mut scene, "read", ANN, 1)?;
    let task = scene.task("read");
    scene.refused(Verb::Start { task, owner: ANN, generation: 0, attempt: 1 })?;
    scene.refused(scene.settling("read", ANN, 0, Verdict::Done))?;
    scene.refused(Verb::HandOver { task, from: ANN, to: BOB, tenure: 1 })?;
    scene.refused(Verb::Verify { task, owner: ANN, tenure: 1 })
}

fn a_task_is_reopened_by_one_node_only(open: &mut Open<'_>) -> Outcome {
    let mut scene = chain(open)?;
    reopen(&mut scene, 0, BOB, Reopened::Yours)?;
    reopen(&mut scene, 0, CID, Reopened::Already { generation: 1, settled: None })?;
    reopen(&mut scene, 0, BOB, Reopened::Yours)?;
    scene.settle_again("make", BOB, 1, Verdict::Done)?;
    let settled = Some(Verdict::Done);
    reopen(&mut scene, 0, CID, Reopened::Already { generation: 1, settled })?;
    reopen(&mut scene, 1, CID, Reopened::Yours)?;
    scene.holds(CID, "make", Phase::Ready)?;
    same(scene.holding("make", CID).map(|holding| holding.generation), Some(2), "the generation")
}

fn a_reopening_repeated_too_late_does_not_give_the_task_again(open: &mut Open<'_>) -> Outcome {
    let mut scene = chain(open)?;
    reopen(&mut scene, 0, BOB, Reopened::Yours)?;
    let task = scene.task("make");
    scene.done(Verb::Start { task, owner: BOB, generation: 1, attempt: 2 })?;
    reopen(&mut scene, 0, BOB, Reopened::Already { generation: 1, settled: None })?;
    scene.holds(BOB, "make", Phase::Running)?;
    // Nor to somebody who was given it by another.
    let mut scene = chain(open)?;
    reopen(&mut scene, 0, BOB, Reopened::Yours)?;
    scene.hand_over("make", BOB, CID, 1)?;
    reopen(&mut scene, 0, BOB, Reopened::Already { generation: 1, settled: None })?;
    reopen(&mut scene, 0, CID, Reopened::Already { generation: 1, settled: None })
}

fn what_was_never_done_is_not_reopened(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, CHAIN)?;
    reopen(&mut scene, 0, BOB, Reopened::Already { generation: 0, settled: None })?;
    scene.holds(ANN, "make", Phase::Ready)?;
    scene.start("make", ANN, 1)?;
    reopen(&mut scene, 0, BOB, Reopened::Already { generation: 0, settled: None })?;
    scene.settle("make", ANN, Verdict::Failed)?;
    reopen(&mut scene, 0, BOB, Reopened::Already { generation: 0, settled: Some(Verdict::Failed) })
}

fn an_old_reopening_finds_the_later_generation(open: &mut Open<'_>) -> Outcome {
    let mut scene = chain(open)?;
    reopen(&mut scene, 0, BOB, Reopened::Yours)?;
    scene.settle_again("make", BOB, 1, Verdict::Done)?;
    reopen(&mut scene, 1, BOB, Reopened::Yours)?;
    reopen(&mut scene, 0, BOB, Reopened::Already { generation: 2, settled: None })?;
    scene.holds(BOB, "make", Phase::Ready)
}

fn a_late_result_of_an_earlier_generation_is_refused(open: &mut Open<'_>) -> Outcome {
    let mut scene = chain(open)?;
    reopen(&mut scene, 0, ANN, Reopened::Yours)?;
    let task = scene.task("make");
    scene.refused(scene.settling("make", ANN, 0, Verdict::Done))?;
    scene.refused(Verb::Deliver { task, owner: ANN, generation: 0 })?;
    scene.refused(Verb::Start { task, owner: ANN, generation: 0, attempt: 1 })?;
    scene.holds(ANN, "make", Phase::Ready)
}

fn a_reopened_task_tells_its_children_again(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, FORK)?;
    scene.settle("make", ANN, Verdict::Done)?;
    scene.close("make", "read", ANN, Closed::Ready)?;
    scene.close("make", "other", ANN, Closed::Ready)?;
    scene.deliver("make", ANN)?;
    scene.start("other", ANN, 1)?;
    await_make(&mut scene, "read", ANN, 1)?;
    reopen(&mut scene, 0, BOB, Reopened::Yours)?;
    scene.settle_again("make", BOB, 1, Verdict::Done)?;
    scene.close_again("make", "read", 1, BOB, Closed::Ready)?;
    scene.close_again("make", "other", 1, BOB, Closed::Behind)?;
    let task = scene.task("make");
    scene.done(Verb::Deliver { task, owner: BOB, generation: 1 })?;
    scene.holds(ANN, "other", Phase::Running)?;
    scene.holds(BOB, "read", Phase::Ready)
}

fn a_reopened_task_that_fails_skips_the_waiter(open: &mut Open<'_>) -> Outcome {
    let mut scene = chain(open)?;
    await_make(&mut scene, "read", ANN, 1)?;
    reopen(&mut scene, 0, BOB, Reopened::Yours)?;
    scene.settle_again("make", BOB, 1, Verdict::Failed)?;
    let heard = scene.heard(scene.closing("make", "read", 1, Verdict::Failed, BOB))?;
    same(heard.closed, Closed::Skipped, "the close of what failed the second time")?;
    scene.holds(BOB, "read", Phase::Settled)?;
    reopen(&mut scene, 1, CID, Reopened::Already { generation: 1, settled: Some(Verdict::Failed) })?;
    scene.deliver("read", BOB)?;
    same(scene.verdict("read"), Some((Phase::Delivered, Verdict::Skipped)), "what became of the waiter")
}

fn a_reopened_task_that_fails_leaves_those_alone_that_do_not_wait(open: &mut Open<'_>) -> Outcome {
    let text = "tasks: { make: { run: x, out: o }, b: { run: x }, read: { run: x, in: o, after: b } }";
    let mut scene = Scene::open(open, text)?;
    scene.settle("make", ANN, Verdict::Done)?;
    scene.close("make", "read", ANN, Closed::Open)?;
    scene.deliver("make", ANN)?;
    reopen(&mut scene, 0, BOB, Reopened::Yours)?;
    scene.settle_again("make", BOB, 1, Verdict::Failed)?;
    let heard = scene.heard(scene.closing("make", "read", 1, Verdict::Failed, BOB))?;
    same(heard.closed, Closed::Open, "the close towards a child that has been told before")?;
    // It may have what it needs; if not, it finds out when it looks.
    scene.close("b", "read", ANN, Closed::Ready)
}

fn a_reopened_task_keeps_its_attempts(open: &mut Open<'_>) -> Outcome {
    let mut scene = Scene::open(open, CHAIN)?;
    scene.start("make", ANN, 3)?;
    scene.finish("make", "read", ANN)?;
    let task = scene.task("make");
    let answer = scene.ask(Verb::Reopen { task, generation: 0, by: BOB })?;
    let Answer::Reopened { reopened: Reopened::Yours, tries, tenure, .. } = answer else {
        return Err(format!("a reopening was answered by {answer:?}"));
    };
    // Those before are not held against it.
    same((tries, tenure), (Tries { last: 3, excused: 3 }, 1), "attempts and tenure of what is reopened")
}

fn a_searcher_does_not_wait_for_more_than_what_is_being_made(open: &mut Open<'_>) -> Outcome {
    let mut scene = chain(open)?;
    let (object, task) = (scene.object("o"), scene.task("make"));
    reopen(&mut scene, 0, BOB, Reopened::Yours)?;
    for attempt in [None, Some(2)] {
        if let Some(attempt) = attempt {
            scene.done(Verb::Start { task, owner: BOB, generation: 1, attempt })?;
        }
        let answer = scene.ask(Verb::Locate { object, by: CID.node })?;
        let Answer::Located { generation, .. } = answer else { return Err(format!("{answer:?}")) };
        same(generation, 0, "the generation whose work is lost")?;
    }
    await_make(&mut scene, "read", ANN, 1)?;
    scene.settle_again("make", BOB, 1, Verdict::Done)?;
    scene.close_again("make", "read", 1, BOB, Closed::Ready)
}

fn a_searcher_hears_of_the_generation(open: &mut Open<'_>) -> Outcome {
    let mut scene = chain(open)?;
    let object = scene.object("o");
    for wanted in [0, 1] {
        let answer = scene.ask(Verb::Locate { object, by: BOB.node })?;
        let Answer::Located { generation, .. } = answer else { return Err(format!("{answer:?}")) };
        same(generation, wanted, "the generation of the producer")?;
        reopen(&mut scene, wanted, BOB, Reopened::Yours)?;
        scene.settle_again("make", BOB, wanted + 1, Verdict::Done)?;
    }
    Ok(())
}
