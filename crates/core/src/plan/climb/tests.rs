//! Climbs against the algorithm as it is written down, which goes through everything at every step.

use super::Step;
use crate::plan::critical_greedy::critical_greedy;
use crate::plan::ggb::ggb;
use crate::plan::greedy::greedy;
use crate::plan::greedy_stage::greedy_stage;
use crate::plan::optimal::{Choice, menu};
use crate::plan::stages::{Ranks, Stages};
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

/// Who climbs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Who {
    Greedy,
    GreedyStage,
    Ggb,
    CriticalGreedy,
}

/// What can be done about a stage: what it gains, by what that is divided, and how all tasks would be.
fn raised(stages: &Stages, ranks: &Ranks, stage: u32, budget: u64, who: Who) -> Option<(u128, u128, Ranks)> {
    let (time, cost) = (stages.time(ranks, stage), stages.cost(ranks));
    let mut then = ranks.clone();
    if who == Who::CriticalGreedy {
        // As fast as there is money for.
        let menu = menu(stages, stage);
        let in_time = |choice: &&Choice| {
            let mut then = ranks.clone();
            stages.tasks(stage).for_each(|task| then[task as usize] = stages.table(task).within(choice.time).unwrap());
            choice.time < time && stages.cost(&then) <= budget
        };
        let chosen = menu.iter().filter(in_time).min_by_key(|choice| choice.time)?;
        stages.tasks(stage).for_each(|task| then[task as usize] = stages.table(task).within(chosen.time).unwrap());
        return Some(((time - chosen.time).into(), 1, then));
    }
    let mut raised: Vec<u32> = stages.tasks(stage).filter(|task| stages.row(ranks, *task).time == time).collect();
    raised.truncate(if who == Who::GreedyStage { usize::MAX } else { 1 });
    if raised.is_empty() || raised.iter().any(|task| ranks[*task as usize] == stages.table(*task).fastest()) {
        return None;
    }
    raised.iter().for_each(|task| then[*task as usize] += 1);
    let (gain, price) = (time - stages.time(&then, stage), stages.cost(&then) - cost);
    (price <= budget - cost).then_some((gain.into(), price.into(), then))
}

/// A climb as it is written down: every step goes through everything.
fn climb_slowly(stages: &Stages, budget: u64, who: Who) -> (Vec<Told>, Ranks, Ranks) {
    let (mut ranks, mut told) = (stages.cheapest(), Vec::new());
    let figures = |ranks: &Ranks| (stages.makespan(ranks), stages.cost(ranks));
    let mut best = (figures(&ranks), ranks.clone());
    loop {
        let among = match who {
            Who::Ggb => (0..stages.len() as u32).collect(),
            _ => stages.graph().critical(&stages.times(&ranks)).0,
        };
        let mut chosen: Option<(u128, u128, u32, Ranks)> = None;
        for stage in among {
            let Some((gain, by, then)) = raised(stages, &ranks, stage, budget, who) else { continue };
            if chosen.as_ref().is_none_or(|best| gain * best.1 > best.0 * by) {
                chosen = Some((gain, by, stage, then));
            }
        }
        let Some((_, _, stage, then)) = chosen else { return (told, ranks, best.1) };
        ranks = then;
        let now = figures(&ranks);
        told.push((stage, now.0, now.1));
        if now < best.0 {
            best = (now, ranks.clone());
        }
    }
}

#[test]
fn climbs_take_the_steps_that_are_written_down() {
    for who in [Who::Greedy, Who::GreedyStage, Who::Ggb, Who::CriticalGreedy] {
        let mut steps = 0;
        for seed in 1..=600 {
            let stages = to_climb(seed);
            let [least, most] = [stages.cheapest(), stages.fastest()].map(|ranks| stages.cost(&ranks));
            for budget in [10, 2, 1].map(|part| least + (most - least) / part) {
                let mut told = Vec::new();
                let tell = |step: &Step<'_>| {
                    told.push((step.stage, step.makespan, step.cost));
                    true
                };
                let climb = match who {
                    Who::Greedy => greedy(&stages, budget, tell),
                    Who::GreedyStage => greedy_stage(&stages, budget, tell),
                    Who::Ggb => ggb(&stages, budget, tell),
                    Who::CriticalGreedy => critical_greedy(&stages, budget, tell),
                };
                let (slowly, last, best) = climb_slowly(&stages, budget, who);
                steps += slowly.len();
                assert_eq!(told, slowly, "seed {seed}, budget {budget}, {who:?}");
                assert_eq!((climb.last.ranks, climb.best.ranks), (last, best), "seed {seed}, budget {budget}, {who:?}");
            }
        }
        assert!(steps > 5_000, "hardly a step was taken by {who:?}: {steps}");
    }
}
