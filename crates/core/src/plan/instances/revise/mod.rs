//! A second look at a schedule, from its end: who can wait runs where and when it costs less.
//!
//! ```text
//!   schedule ──▶ from its end: each task to where it costs least to have it done just in time
//!      ▲                │
//!      │                ▼
//!      └─ if it is better ◀── from the beginning again: the same instances, as early as they are there
//! ```
//!
//! The packer puts tasks on instances from the beginning, and does not know yet who will read what they make, and where. So a task that could wait runs at once, on a machine that
//! then has to be kept until somebody reads what it made, or on one that is rented for tasks that nobody waits for. From the end it is known who reads what, and when.
//!
//! It loses nothing, but it finds only what single tasks can do one after the other: an instance is given up only if each of its tasks is better off elsewhere by itself.

mod back;
mod waiting;

use self::back::Back;
use super::packer::{Choice, Recipe};
use super::problem::Problem;
use super::schedule::Schedule;

/// Schedules for which more would have to be looked at than this are left as they are: a second look is to take no longer than the packer.
const MOST_LOOKS: usize = 2_000_000;
/// So often what came of it is looked at again: the last time hardly ever finds anything.
const ROUNDS: u32 = 4;
/// Instances are opened earlier than the way from the end says by these parts of the time that the run has, in 256ths, since what is sent may be in each other's way.
const EARLIER: [u64; 3] = [0, 2, 12];

/// What a second look has to keep to.
struct Given<'a> {
    problem: &'a Problem<'a>,
    /// How many instances of each type there may be.
    fleet: &'a [u32],
    /// On which type each task has to be, if that is decided.
    types: Option<&'a [u16]>,
    /// By when the run has to end.
    end: u64,
}

/// A second look at what the packer has made of a recipe: a schedule that is cheaper, or as cheap and faster, and ends as early as the recipe wants it, or as the schedule did. Nothing if
/// none is found. `looks` becomes more by how much was looked at.
pub fn revise(
    problem: &Problem<'_>,
    recipe: &Recipe,
    types: Option<&[u16]>,
    schedule: &Schedule,
    looks: &mut usize,
    may_go_on: &mut dyn FnMut() -> bool,
) -> Option<Schedule> {
    let early_enough = match recipe.choice {
        Choice::Earliest => 0,
        Choice::Cheapest { target } => target,
    };
    let given = Given { problem, fleet: &recipe.fleet, types, end: schedule.makespan.max(early_enough) };
    let mut best: Option<Schedule> = None;
    for _ in 0..ROUNDS {
        let schedule = best.as_ref().unwrap_or(schedule);
        let each = schedule.instances.len() + recipe.fleet.len() + EARLIER.len();
        let all = schedule.runs.len().saturating_mul(each).saturating_add(problem.graph.edge_count());
        if all > MOST_LOOKS || !may_go_on() {
            break;
        }
        *looks = looks.saturating_add(all);
        let Some(better) = better(&given, schedule) else { break };
        best = Some(better);
    }
    best
}

/// What a single way from the end and back makes of a schedule, if that is better.
fn better(given: &Given<'_>, schedule: &Schedule) -> Option<Schedule> {
    let back = Back::of(given, schedule)?;
    let again = EARLIER.map(|part| back.forward((u128::from(given.end) * u128::from(part) / 256) as u64));
    let merit = |schedule: &Schedule| (schedule.cost, schedule.makespan);
    let in_time = again.into_iter().filter(|other| other.makespan <= given.end);
    in_time.min_by_key(merit).filter(|other| merit(other) < merit(schedule))
}

#[cfg(test)]
mod tests;
