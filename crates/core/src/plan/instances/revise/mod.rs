//! A second look at a schedule, from its end: who can wait runs where and when it costs less.
//!
//! ```text
//!   schedule ──▶ from its end: each task to where it costs least to have it done just in time
//!      ▲                │
//!      │                ▼
//!      └─ if it costs less ◀── from the beginning again: the same instances, as early as they are there
//! ```
//!
//! The packer puts tasks on instances from the beginning, and does not know yet who will read what they make, and where. So a task that could wait runs at once, on a machine that
//! then has to be kept until somebody reads what it made, or on one that is rented for tasks that nobody waits for. From the end it is known who reads what, and when.
//!
//! It loses nothing, but it finds only what single tasks can do one after the other: an instance is given up only if each of its tasks is better off elsewhere by itself.

mod back;

use self::back::{Back, Fed};
use super::problem::Problem;
use super::schedule::Schedule;

/// With more places to look at than this, it is left: it is to take no longer than the packer.
const MOST_LOOKS: usize = 2_000_000;
/// So often what came of it is looked at again: the third time hardly ever finds anything.
const ROUNDS: u32 = 4;
/// Machines are there earlier than their first task needs them by these parts of the run, in 256ths: data may be in each other's way.
const EARLIER: [u64; 3] = [0, 2, 12];

/// A schedule that costs less and is done by the same time, or by a later one that is early enough; or the same. `fleet` says how many instances of each type there may be,
/// `types`, if it is there, on which type each task has to be. `looks` becomes more by how many places were looked at.
pub(super) fn revised(
    problem: &Problem<'_>,
    mut schedule: Schedule,
    fleet: &[u32],
    types: Option<&[u16]>,
    early_enough: u64,
    looks: &mut usize,
) -> Schedule {
    let end = schedule.makespan.max(early_enough);
    let fed = Fed::of(problem);
    for _ in 0..ROUNDS {
        let places = schedule.runs.len().saturating_mul(schedule.instances.len() + fleet.len());
        if places > MOST_LOOKS {
            return schedule;
        }
        *looks = looks.saturating_add(places);
        let Some(back) = Back::of(problem, &schedule, &fed, fleet, types, end) else { return schedule };
        let again = EARLIER.map(|part| back.forward((u128::from(end) * u128::from(part) / 256) as u64));
        let is_better = |other: &Schedule| other.cost < schedule.cost && other.makespan <= end;
        let best = again.into_iter().filter(is_better).min_by_key(|other| (other.cost, other.makespan));
        let Some(better) = best else { return schedule };
        schedule = better;
    }
    schedule
}

#[cfg(test)]
mod tests;
