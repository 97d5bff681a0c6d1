//! Leases: who is alive, who is not, and who sees to what the dead have left.

use std::time::Duration;

use super::scene::{ANN, BOB, CID, Scene, reborn, same};
use super::{Open, Outcome, list_cases};
use crate::store::{Answer, LEASE, Membership, Owner, Standing, Verb};

list_cases![
    whoever_joins_is_seen_by_the_others,
    nobody_hears_twice_what_he_knows,
    a_lease_that_is_renewed_goes_on,
    a_lease_that_ran_out_is_noticed_by_the_next_renewal,
    only_one_is_told_to_claim,
    whoever_ran_out_is_refused,
    when_the_claimer_dies_the_next_one_is_told,
    nobody_is_told_of_the_buried,
    only_the_claimer_buries,
    somebody_who_comes_back_makes_his_earlier_life_dead,
    an_earlier_life_cannot_come_back,
    a_life_that_is_over_cannot_join_again,
    whoever_joins_twice_has_one_lease,
    a_stranger_has_no_lease,
];

const ONE: &str = "tasks: { a: { run: x } }";
const STEP: Duration = Duration::from_secs(2);

fn join_all(open: &mut Open<'_>, owners: &[Owner]) -> Result<Scene, String> {
    let mut scene = Scene::open(open, ONE)?;
    for owner in owners {
        scene.done(Verb::Join { owner: *owner })?;
    }
    Ok(scene)
}

#[track_caller]
fn renew(scene: &mut Scene, owner: Owner, seen: u64) -> Result<Membership, String> {
    match scene.ask(Verb::Renew { owner, seen })? {
        Answer::Members(members) => Ok(members),
        other => Err(format!("a renewal was answered by {other:?}")),
    }
}

/// Lets time pass in steps, while only these renew; the last thing that each of them heard.
fn live_on(scene: &mut Scene, alive: &[Owner], length: Duration) -> Result<Vec<Membership>, String> {
    let mut heard = Vec::new();
    let mut left = length;
    while !left.is_zero() {
        let step = left.min(STEP);
        scene.pass(step);
        left -= step;
        heard = alive.iter().map(|owner| renew(scene, *owner, 0)).collect::<Result<_, _>>()?;
    }
    Ok(heard)
}

fn whoever_joins_is_seen_by_the_others(open: &mut Open<'_>) -> Outcome {
    let mut scene = join_all(open, &[ANN, BOB])?;
    let members = renew(&mut scene, ANN, 0)?;
    let wanted = [(ANN, Standing::Alive), (BOB, Standing::Alive)];
    same(members.changes.to_vec(), wanted.to_vec(), "who is there")?;
    same((members.dead.len(), members.losses), (0, 0), "who is dead, and how much was lost")
}

fn nobody_hears_twice_what_he_knows(open: &mut Open<'_>) -> Outcome {
    let mut scene = join_all(open, &[ANN, BOB])?;
    let members = renew(&mut scene, ANN, 0)?;
    same(renew(&mut scene, ANN, members.seen)?.changes.to_vec(), vec![], "what is new")?;
    scene.done(Verb::Join { owner: CID })?;
    let later = renew(&mut scene, ANN, members.seen)?;
    same(later.changes.to_vec(), vec![(CID, Standing::Alive)], "what is new")?;
    same(later.seen > members.seen, true, "that what one knows grows")
}

fn a_lease_that_is_renewed_goes_on(open: &mut Open<'_>) -> Outcome {
    let mut scene = join_all(open, &[ANN, BOB])?;
    for members in live_on(&mut scene, &[ANN, BOB], LEASE * 3)? {
        same(members.dead.to_vec(), vec![], "who is dead")?;
        same(members.changes.iter().all(|(_, standing)| *standing == Standing::Alive), true, "that all are alive")?;
    }
    Ok(())
}

fn a_lease_that_ran_out_is_noticed_by_the_next_renewal(open: &mut Open<'_>) -> Outcome {
    let mut scene = join_all(open, &[ANN, BOB])?;
    let heard = live_on(&mut scene, &[ANN], LEASE - Duration::from_nanos(1))?;
    same(heard[0].dead.to_vec(), vec![], "who is dead just before the end")?;
    scene.pass(Duration::from_nanos(1));
    let members = renew(&mut scene, ANN, heard[0].seen)?;
    same(members.changes.to_vec(), vec![(BOB, Standing::Gone)], "what is new")?;
    same(members.dead.to_vec(), vec![BOB], "whose tasks have to be claimed")
}

fn only_one_is_told_to_claim(open: &mut Open<'_>) -> Outcome {
    let mut scene = join_all(open, &[ANN, BOB, CID])?;
    let heard = live_on(&mut scene, &[CID, ANN], LEASE)?;
    same(heard[0].dead.to_vec(), vec![BOB], "what the first to renew has to see to")?;
    same(heard[1].dead.to_vec(), vec![], "what the second has to see to")?;
    same(heard[1].changes.contains(&(BOB, Standing::Gone)), true, "that the second knows all the same")?;
    // It is told until it is done.
    same(live_on(&mut scene, &[ANN, CID], LEASE)?[1].dead.to_vec(), vec![BOB], "what is still to be seen to")
}

fn whoever_ran_out_is_refused(open: &mut Open<'_>) -> Outcome {
    let mut scene = join_all(open, &[ANN])?;
    scene.pass(LEASE);
    scene.refused(Verb::Renew { owner: ANN, seen: 0 })?;
    scene.pass(STEP);
    scene.refused(Verb::Renew { owner: ANN, seen: 0 })
}

fn when_the_claimer_dies_the_next_one_is_told(open: &mut Open<'_>) -> Outcome {
    let mut scene = join_all(open, &[ANN, BOB, CID])?;
    let heard = live_on(&mut scene, &[ANN, CID], LEASE)?;
    same(heard[0].dead.to_vec(), vec![BOB], "what Ann has to see to")?;
    let heard = live_on(&mut scene, &[CID], LEASE)?;
    same(heard[0].dead.to_vec(), vec![ANN, BOB], "what Cid has to see to once Ann is dead, too")
}

fn nobody_is_told_of_the_buried(open: &mut Open<'_>) -> Outcome {
    let mut scene = join_all(open, &[ANN, BOB, CID])?;
    live_on(&mut scene, &[ANN, CID], LEASE)?;
    scene.done(Verb::Bury { dead: BOB, by: ANN })?;
    same(renew(&mut scene, ANN, 0)?.dead.to_vec(), vec![], "what Ann has to see to")?;
    let heard = live_on(&mut scene, &[CID], LEASE)?;
    same(heard[0].dead.to_vec(), vec![ANN], "what Cid has to see to once Ann is dead, too")
}

fn only_the_claimer_buries(open: &mut Open<'_>) -> Outcome {
    let mut scene = join_all(open, &[ANN, BOB, CID])?;
    live_on(&mut scene, &[ANN, CID], LEASE)?;
    scene.refused(Verb::Bury { dead: BOB, by: CID })?;
    same(renew(&mut scene, ANN, 0)?.dead.to_vec(), vec![BOB], "what Ann has to see to")?;
    scene.done(Verb::Bury { dead: BOB, by: ANN })?;
    // Then it is so, whoever asks.
    scene.done(Verb::Bury { dead: BOB, by: CID })
}

fn somebody_who_comes_back_makes_his_earlier_life_dead(open: &mut Open<'_>) -> Outcome {
    let mut scene = join_all(open, &[ANN, BOB])?;
    let seen = renew(&mut scene, ANN, 0)?.seen;
    scene.done(Verb::Join { owner: reborn(BOB) })?;
    let members = renew(&mut scene, ANN, seen)?;
    same(members.changes.to_vec(), vec![(reborn(BOB), Standing::Alive)], "what is new")?;
    same(members.dead.to_vec(), vec![BOB], "whose tasks have to be claimed")?;
    scene.done(Verb::Bury { dead: BOB, by: ANN })?;
    renew(&mut scene, reborn(BOB), 0)?;
    // After its lease has run out, it is dead once only.
    let mut scene = join_all(open, &[ANN, BOB])?;
    live_on(&mut scene, &[ANN], LEASE)?;
    scene.done(Verb::Join { owner: reborn(BOB) })?;
    same(renew(&mut scene, ANN, 0)?.dead.to_vec(), vec![BOB], "whose tasks have to be claimed")
}

fn an_earlier_life_cannot_come_back(open: &mut Open<'_>) -> Outcome {
    let mut scene = join_all(open, &[ANN, BOB, reborn(BOB)])?;
    scene.refused(Verb::Join { owner: BOB })?;
    scene.refused(Verb::Renew { owner: BOB, seen: 0 })?;
    renew(&mut scene, reborn(BOB), 0).map(drop)
}

fn a_life_that_is_over_cannot_join_again(open: &mut Open<'_>) -> Outcome {
    // Whether or not anybody has noticed that its lease has run out.
    for others in [&[][..], &[ANN]] {
        let mut scene = join_all(open, &[ANN, BOB])?;
        scene.pass(LEASE / 2);
        for owner in others {
            renew(&mut scene, *owner, 0)?;
        }
        scene.pass(LEASE / 2);
        for owner in others {
            same(renew(&mut scene, *owner, 0)?.dead.to_vec(), vec![BOB], "whose tasks have to be claimed")?;
        }
        scene.refused(Verb::Join { owner: BOB })?;
        scene.refused(Verb::Renew { owner: BOB, seen: 0 })?;
        scene.done(Verb::Join { owner: reborn(BOB) })?;
    }
    Ok(())
}

fn whoever_joins_twice_has_one_lease(open: &mut Open<'_>) -> Outcome {
    let mut scene = join_all(open, &[ANN])?;
    let seen = renew(&mut scene, ANN, 0)?.seen;
    scene.done(Verb::Join { owner: ANN })?;
    let members = renew(&mut scene, ANN, seen)?;
    same((members.changes.to_vec(), members.dead.to_vec()), (vec![], vec![]), "what is new")
}

fn a_stranger_has_no_lease(open: &mut Open<'_>) -> Outcome {
    let mut scene = join_all(open, &[ANN])?;
    scene.refused(Verb::Renew { owner: CID, seen: 0 })?;
    scene.refused(Verb::Renew { owner: reborn(ANN), seen: 0 })
}
