//! Drafts: what is tried, where a search begins, and what is beside a draft.

use super::super::instances::{Choice, Recipe, Schedule};

/// A way to make a schedule.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Draft {
    /// How tasks are put on instances.
    pub recipe: Recipe,
    /// Which planner's types they are held to, if any, by its number.
    pub guess: Option<u32>,
}

impl Draft {
    /// So many instances at most, everything as early as can be.
    pub(super) fn earliest(fleet: Vec<u32>) -> Draft {
        Draft { recipe: Recipe { fleet, choice: Choice::Earliest }, guess: None }
    }

    /// As cheap as can be by some time.
    pub(super) fn cheapest(fleet: Vec<u32>, target: u64, guess: Option<u32>) -> Draft {
        Draft { recipe: Recipe { fleet, choice: Choice::Cheapest { target } }, guess }
    }
}

/// Fleets to begin with: of one type each, and of all types, by halves.
pub(super) fn first_fleets(most: &[u32]) -> Vec<Vec<u32>> {
    let mut fleets = Vec::new();
    let halves = |count: u32| std::iter::successors(Some(count), |count| (*count > 1).then_some(count / 2));
    for (machine, count) in most.iter().enumerate() {
        for count in halves(*count).filter(|count| *count > 0) {
            let mut fleet = vec![0; most.len()];
            fleet[machine] = count;
            fleets.push(fleet);
        }
    }
    for divisor in halves(most.iter().copied().max().unwrap_or(1)) {
        fleets.push(most.iter().map(|count| count.div_ceil(divisor)).collect());
    }
    fleets
}

/// Times to aim at, as parts of some time, in hundredths.
pub(super) const TARGETS: [u64; 8] = [100, 106, 115, 130, 160, 200, 300, 500];

/// The same for all instances that there are, of which any may be used.
pub(super) const FINE_TARGETS: [u64; 22] =
    [100, 103, 106, 110, 115, 122, 130, 140, 150, 165, 180, 200, 225, 250, 300, 350, 400, 500, 650, 800, 1100, 1600];

/// How much earlier or later is tried beside a draft, in hundredths of what it takes.
const NUDGES: [u64; 7] = [70, 85, 93, 97, 100, 104, 115];

/// What is beside a draft that gave a schedule.
pub(super) fn beside(draft: &Draft, schedule: &Schedule, most: &[u32], deadline: Option<u64>) -> Vec<Draft> {
    let used = schedule.fleet(most.len());
    let with = |fleet: Vec<u32>| Draft { recipe: Recipe { fleet, choice: draft.recipe.choice }, guess: draft.guess };
    let changed = |change: &dyn Fn(&mut [u32])| {
        let mut fleet = used.clone();
        change(&mut fleet);
        let is_some = fleet.iter().any(|count| *count > 0);
        let is_possible = fleet.iter().zip(most).all(|(count, most)| count <= most);
        (is_some && is_possible && fleet != draft.recipe.fleet).then_some(fleet)
    };
    let mut fleets: Vec<Vec<u32>> = Vec::new();
    for machine in 0..most.len() {
        fleets.extend(changed(&|fleet| fleet[machine] += 1));
        fleets.extend(changed(&|fleet| fleet[machine] += 1 + fleet[machine] / 4));
        if used[machine] > 0 {
            fleets.extend(changed(&|fleet| fleet[machine] -= 1));
            fleets.extend(changed(&|fleet| fleet[machine] -= 1 + (fleet[machine] - 1) / 4));
            for other in (0..most.len()).filter(|other| *other != machine) {
                fleets.extend(changed(&|fleet| {
                    fleet[machine] -= 1;
                    fleet[other] += 1;
                }));
                fleets.extend(changed(&|fleet| fleet[other] += std::mem::take(&mut fleet[machine])));
            }
        }
    }
    let mut drafts: Vec<Draft> = fleets.into_iter().map(with).collect();
    drafts.push(Draft::earliest(used.clone()));
    let targets = NUDGES.iter().map(|part| part_of(schedule.makespan, *part)).chain(deadline);
    for target in targets {
        drafts.push(Draft::cheapest(used.clone(), target, draft.guess));
        drafts.push(Draft::cheapest(draft.recipe.fleet.clone(), target, draft.guess));
    }
    if draft.guess.is_some() {
        drafts.push(Draft { guess: None, ..draft.clone() });
    }
    drafts
}

/// So many hundredths of something.
pub(super) fn part_of(whole: u64, hundredths: u64) -> u64 {
    u64::try_from(u128::from(whole) * u128::from(hundredths) / 100).unwrap_or(u64::MAX)
}
