//! Drafts: what is tried, where a search begins, and what is beside a draft.

use super::super::instances::{Choice, Recipe};

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

/// What is beside a draft, and not the draft itself, if its schedule uses so many instances of each type and takes so long.
pub(super) fn beside(draft: &Draft, used: &[u32], makespan: u64, most: &[u32], deadline: Option<u64>) -> Vec<Draft> {
    let with = |fleet: Vec<u32>| Draft { recipe: Recipe { fleet, ..draft.recipe.clone() }, guess: draft.guess };
    let changed = |change: &dyn Fn(&mut [u32])| {
        let mut fleet = used.to_vec();
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
    drafts.push(Draft::earliest(used.to_vec()));
    let targets = NUDGES.iter().map(|part| part_of(makespan, *part)).chain(deadline);
    for target in targets {
        drafts.push(Draft::cheapest(used.to_vec(), target, draft.guess));
        drafts.push(Draft::cheapest(draft.recipe.fleet.clone(), target, draft.guess));
    }
    if draft.guess.is_some() {
        drafts.push(Draft { guess: None, ..draft.clone() });
    }
    drafts.retain(|other| other != draft);
    drafts
}

/// So many hundredths of something.
pub(super) fn part_of(whole: u64, hundredths: u64) -> u64 {
    u64::try_from(u128::from(whole) * u128::from(hundredths) / 100).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rng::Rng;

    /// The fleets of those that are like a draft but for their fleet.
    fn fleets(beside: &[Draft], draft: &Draft) -> Vec<Vec<u32>> {
        let but_for_fleet = |draft: &Draft| (draft.recipe.choice, draft.guess);
        let like = |other: &&Draft| but_for_fleet(other) == but_for_fleet(draft);
        beside.iter().filter(like).map(|other| other.recipe.fleet.clone()).collect()
    }

    #[test]
    fn one_machine_more_one_less_and_one_exchanged() {
        let draft = Draft::earliest(vec![5, 5]);
        let beside = beside(&draft, &[5, 4], 100, &[9, 9], None);
        let all = [
            // More and fewer of the first, one or a few at a time, and others for them, one or all.
            [6, 4],
            [7, 4],
            [4, 4],
            [3, 4],
            [4, 5],
            [0, 9],
            // The same of the second; one more of it is where it came from.
            [5, 6],
            [5, 3],
            [5, 3],
            [6, 3],
            [9, 0],
            // As many as were used.
            [5, 4],
        ];
        assert_eq!(fleets(&beside, &draft), all);
    }

    #[test]
    fn no_more_than_can_be_had_and_no_fleet_without_machines() {
        let draft = Draft::earliest(vec![1, 0]);
        assert_eq!(fleets(&beside(&draft, &[1, 0], 100, &[1, 1], None), &draft), [[0, 1], [0, 1], [1, 1], [1, 1]]);
        assert_eq!(fleets(&beside(&draft, &[1, 0], 100, &[1, 0], None), &draft), [[0; 2]; 0]);
    }

    #[test]
    fn sooner_and_later_with_and_without_what_was_not_used() {
        let draft = Draft::cheapest(vec![2, 1], 1000, Some(3));
        let beside = beside(&draft, &[1, 1], 1000, &[2, 1], Some(1234));
        let targets = |fleet: &[u32]| {
            let of_fleet = beside.iter().filter(|other| other.recipe.fleet == fleet && other.guess == Some(3));
            let mut targets: Vec<u64> = of_fleet
                .filter_map(|other| match other.recipe.choice {
                    Choice::Cheapest { target } => Some(target),
                    Choice::Earliest => None,
                })
                .collect();
            targets.sort_unstable();
            targets
        };
        assert_eq!(targets(&[1, 1]), [700, 850, 930, 970, 1000, 1040, 1150, 1234]);
        assert_eq!(targets(&[2, 1]), [700, 850, 930, 970, 1040, 1150, 1234], "at 1000 is where it came from");
        assert!(beside.contains(&Draft::earliest(vec![1, 1])));
        assert!(beside.contains(&Draft { guess: None, ..draft }), "any types instead of a planner's");
    }

    #[test]
    fn whatever_is_drawn() {
        for seed in 1..=500 {
            let mut rng = Rng::new(seed);
            let mut upto = |most: u32| rng.below(u64::from(most) + 1) as u32;
            let most: Vec<u32> = (0..3).map(|_| upto(6)).collect();
            let fleet: Vec<u32> = most.iter().map(|most| upto(*most)).collect();
            let used: Vec<u32> = fleet.iter().map(|count| upto(*count)).collect();
            if used.iter().all(|count| *count == 0) {
                continue;
            }
            let guess = [None, Some(1)][upto(1) as usize];
            let draft = [Draft::earliest(fleet.clone()), Draft::cheapest(fleet, 100, guess)][upto(1) as usize].clone();
            let beside = beside(&draft, &used, 100, &most, [None, Some(100)][upto(1) as usize]);
            for other in &beside {
                let Recipe { fleet, .. } = &other.recipe;
                assert!(fleet.iter().zip(&most).all(|(count, most)| count <= most), "seed {seed}: {other:?}");
                assert!(fleet.iter().any(|count| *count > 0), "seed {seed}: {other:?}");
                assert_ne!(other, &draft, "seed {seed}");
            }
            let is_there = |fleet: &[u32]| {
                let is_possible = fleet.iter().zip(&most).all(|(count, most)| count <= most);
                let is_other = fleet != draft.recipe.fleet && fleet.iter().any(|count| *count > 0);
                !is_possible || !is_other || fleets(&beside, &draft).iter().any(|other| other == fleet)
            };
            for machine in 0..3 {
                let changed = |change: &dyn Fn(&mut [u32])| {
                    let mut fleet = used.clone();
                    change(&mut fleet);
                    fleet
                };
                assert!(is_there(&changed(&|fleet| fleet[machine] += 1)), "seed {seed}: one {machine} more");
                if used[machine] > 0 {
                    assert!(is_there(&changed(&|fleet| fleet[machine] -= 1)), "seed {seed}: one {machine} less");
                    for other in 0..3 {
                        let exchanged = changed(&|fleet| {
                            fleet[machine] -= 1;
                            fleet[other] += 1;
                        });
                        assert!(is_there(&exchanged), "seed {seed}: one {machine} for one {other}");
                    }
                }
            }
        }
    }
}
