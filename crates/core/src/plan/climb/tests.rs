//! Climbs against the algorithm as it is written down, which goes through everything at every step.

use super::Step;
use crate::plan::greedy::greedy;
use crate::plan::greedy_stage::greedy_stage;
use crate::plan::stages::Stages;
use crate::plan::table::{Row, Table};
use crate::rng::Rng;

/// Stages as climbs may meet them: few or many, some that gather or spread more than are gone through one by one, in layers or anyhow, with times that
/// are nothing, equal, or all different.
fn to_climb(seed: u64) -> Stages {
    let mut rng = Rng::new(seed);
    let count = 2 + rng.below(if seed.is_multiple_of(3) { 90 } else { 12 }) as u32;
    let longest = [3, 8, 1_000_000][rng.below(3) as usize];
    let table = |rng: &mut Rng| {
        // Mostly more money is more speed, by little or by much.
        let (mut time, mut price) = (rng.below(longest), rng.below(3));
        let machines = 1 + rng.below(8) as u16;
        let row = |machine| {
            let row = Row { time, price, machine };
            (time, price) = (time - rng.below(time + 1) / 2, price + 1 + rng.below(longest));
            row
        };
        Table::of((0..machines).map(row).collect::<Vec<_>>()).unwrap()
    };
    let tables: Vec<Table> = (0..1 + rng.below(40)).map(|_| table(&mut rng)).collect();
    let most_tasks = 1 + rng.below(3);
    let tasks: Vec<Vec<u32>> = (0..count)
        .map(|_| (0..rng.below(most_tasks + 1)).map(|_| rng.below(tables.len() as u64) as u32).collect())
        .collect();
    let mut edges = Vec::new();
    let (kind, width, hub) = (rng.below(4), 1 + rng.below(8) as u32, rng.below(count.into()) as u32);
    for to in 1..count {
        match kind {
            // Anyhow.
            0 => edges.extend((0..rng.below(4)).map(|_| (rng.below(to.into()) as u32, to))),
            // In layers.
            1 => edges.extend((0..1 + rng.below(3)).filter_map(|_| {
                let from = (to / width).checked_sub(1)? * width + rng.below(width.into()) as u32;
                Some((from, to))
            })),
            // Around one for which almost all wait, or which waits for them.
            2 => {
                let (first, last) = (to.min(hub), to.max(hub));
                edges.extend((first < last && rng.below(20) > 0).then_some((first, last)));
                edges.extend((rng.below(3) == 0).then(|| (rng.below(to.into()) as u32, to)));
            }
            // In a few rows.
            _ => edges.extend((to >= width).then(|| (to - width, to))),
        }
    }
    Stages::new(tables, tasks, edges).unwrap()
}

/// A step of a climb: the stage, and then the makespan and the cost.
type Told = (u32, u64, u64);

/// Wylie's algorithm as it is written down: every step goes through everything. Whole stages are raised, or single tasks.
fn climb_slowly(stages: &Stages, budget: u64, by_stages: bool) -> (Vec<Told>, Vec<u8>, Vec<u8>) {
    let (mut ranks, mut told) = (stages.cheapest(), Vec::new());
    let figures = |ranks: &Vec<u8>| (stages.makespan(ranks), stages.cost(ranks));
    let mut best = (figures(&ranks), ranks.clone());
    loop {
        let critical = stages.graph().critical(&stages.times(&ranks)).0;
        let mut chosen: Option<(u128, u128, u32, Vec<u32>)> = None;
        for stage in critical {
            let time = stages.time(&ranks, stage);
            let mut raised: Vec<u32> =
                stages.tasks(stage).filter(|task| stages.row(&ranks, *task).time == time).collect();
            raised.truncate(if by_stages { usize::MAX } else { 1 });
            if raised.is_empty() || raised.iter().any(|task| ranks[*task as usize] == stages.table(*task).fastest()) {
                continue;
            }
            let mut then = ranks.clone();
            raised.iter().for_each(|task| then[*task as usize] += 1);
            let (gain, price) = (time - stages.time(&then, stage), stages.cost(&then) - stages.cost(&ranks));
            let [gain, price_now] = [gain, price].map(u128::from);
            let is_better = chosen.as_ref().is_none_or(|best| gain * best.1 > best.0 * price_now);
            if price <= budget - stages.cost(&ranks) && is_better {
                chosen = Some((gain, price_now, stage, raised));
            }
        }
        let Some((_, _, stage, raised)) = chosen else { return (told, ranks, best.1) };
        raised.iter().for_each(|task| ranks[*task as usize] += 1);
        let now = figures(&ranks);
        told.push((stage, now.0, now.1));
        if now < best.0 {
            best = (now, ranks.clone());
        }
    }
}

#[test]
fn climbs_take_the_steps_that_are_written_down() {
    let mut steps = 0;
    for seed in 1..=600 {
        let stages = to_climb(seed);
        let [least, most] = [stages.cheapest(), stages.fastest()].map(|ranks| stages.cost(&ranks));
        for (budget, by_stages) in [10, 2, 1].iter().flat_map(|part| {
            let budget = least + (most - least) / part;
            [(budget, false), (budget, true)]
        }) {
            let mut told = Vec::new();
            let tell = |step: &Step<'_>| {
                told.push((step.stage, step.makespan, step.cost));
                true
            };
            let climb = if by_stages { greedy_stage(&stages, budget, tell) } else { greedy(&stages, budget, tell) };
            let (slowly, last, best) = climb_slowly(&stages, budget, by_stages);
            steps += slowly.len();
            assert_eq!(told, slowly, "seed {seed}, budget {budget}, by stages: {by_stages}");
            assert_eq!((climb.last.ranks, climb.best.ranks), (last, best), "seed {seed}, budget {budget}");
        }
    }
    assert!(steps > 20_000, "hardly a step was taken: {steps}");
}
