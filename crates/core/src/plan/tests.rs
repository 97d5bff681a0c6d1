//! Planners against oracles that are too slow to be planners.

use super::b_rate::b_rate;
use super::b_swap::b_swap;
use super::critical_greedy::critical_greedy;
use super::exchange::{Weights, gain, loss};
use super::ggb::ggb;
use super::greedy::greedy;
use super::greedy_stage::greedy_stage;
use super::optimal;
use super::stages::{Assigned, Stages};
use super::table::{Row, Table};
use crate::rng::Rng;

mod heuristics;

/// A few stages of a few tasks, with small numbers, so that much is equal.
fn problem(seed: u64, in_a_row: bool) -> Stages {
    let mut rng = Rng::new(seed);
    let count = 1 + rng.below(5) as u32;
    let machines = 2 + rng.below(2) as u16;
    let (mut tables, mut tasks) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let of_stage = rng.below(4);
        let first = tables.len() as u32;
        for _ in 0..of_stage.max(1) {
            let (mut time, mut price) = (9 + rng.below(3), 1 + rng.below(2));
            let mut row = |machine| {
                let row = Row { time, price, machine };
                // Now and then a dearer machine is slower.
                (time, price) = (time + 1 - rng.below(4).min(time), price + 1 + rng.below(2));
                row
            };
            let rows: Vec<Row> = (0..machines).map(&mut row).collect();
            tables.push(Table::of(rows).unwrap());
        }
        let alike = rng.below(2) == 0;
        tasks.push((0..of_stage as u32).map(|task| if alike { first } else { first + task }).collect());
    }
    let pairs = (0..count).flat_map(|from| (from + 1..count).map(move |to| (from, to)));
    let edges = pairs.filter(|(from, to)| if in_a_row { from + 1 == *to } else { rng.below(3) == 0 }).collect();
    Stages::new(tables, tasks, edges).unwrap()
}

/// Every assignment there is, one after the other.
fn all(stages: &Stages) -> impl Iterator<Item = Assigned> + '_ {
    let mut next = Some(stages.cheapest());
    std::iter::from_fn(move || {
        let now = next.take()?;
        let mut ranks = now.clone();
        let raised = (0..ranks.len()).rev().find(|task| ranks[*task] < stages.table(*task as u32).fastest());
        if let Some(task) = raised {
            ranks[task] += 1;
            ranks[task + 1..].fill(0);
            next = Some(ranks);
        }
        Some(stages.figures(now))
    })
}

#[test]
fn the_optimum_is_the_best_of_all_assignments() {
    for seed in 1..=4000 {
        let stages = problem(seed, false);
        if stages.task_count() > 8 {
            continue;
        }
        let [least, most] = [stages.cheapest(), stages.fastest()].map(|ranks| stages.cost(&ranks));
        for budget in [least, least + (most - least) / 3, least + (most - least) * 2 / 3, most] {
            let affordable = all(&stages).filter(|assigned| assigned.cost <= budget);
            let best = affordable.min_by_key(|it| (it.makespan, it.cost, it.ranks.clone())).unwrap();
            let found = optimal::for_budget(&stages, budget, &mut || true).unwrap();
            assert_eq!((&found.assigned, found.is_proven), (&best, true), "seed {seed}, budget {budget}");
        }
        assert_eq!(optimal::for_budget(&stages, least.saturating_sub(1), &mut || true).is_none(), least > 0);
        let [fast, slow] = [stages.fastest(), stages.cheapest()].map(|ranks| stages.makespan(&ranks));
        for deadline in [fast, fast + (slow - fast) / 2, slow] {
            let in_time = all(&stages).filter(|assigned| assigned.makespan <= deadline);
            let best = in_time.map(|assigned| assigned.cost).min().unwrap();
            let found = optimal::for_deadline(&stages, deadline, &mut || true).unwrap();
            assert!(found.is_proven && found.assigned.makespan <= deadline, "seed {seed}, deadline {deadline}");
            assert_eq!(found.assigned.cost, best, "seed {seed}, deadline {deadline}");
        }
    }
}

/// Wang and Shi's dynamic program for stages in a row: the least time of the first stages for every amount of money.
fn in_a_row(stages: &Stages, budget: u64) -> Option<u64> {
    let mut least: Vec<Option<u64>> = vec![Some(0); budget as usize + 1];
    for stage in 0..stages.len() as u32 {
        let menu = optimal::menu(stages, stage);
        least = (0..=budget)
            .map(|money| {
                let with = |choice: &optimal::Choice| {
                    let rest = money.checked_sub(choice.cost)?;
                    Some(least[rest as usize]? + choice.time)
                };
                menu.iter().filter_map(with).min()
            })
            .collect();
    }
    least[budget as usize]
}

#[test]
fn on_rows_the_optimum_is_that_of_the_dynamic_program() {
    for seed in 1..=300 {
        let stages = problem(seed, true);
        let most = stages.cost(&stages.fastest());
        for budget in [most / 4, most / 2, most * 3 / 4, most] {
            let found = optimal::for_budget(&stages, budget, &mut || true).map(|best| best.assigned.makespan);
            assert_eq!(found, in_a_row(&stages, budget), "seed {seed}, budget {budget}");
        }
    }
}

#[test]
fn nobody_spends_more_than_there_is_or_beats_the_optimum() {
    let planners: [fn(&Stages, u64) -> Assigned; 12] = [
        |stages, budget| greedy(stages, budget, |_| true).best,
        |stages, budget| greedy(stages, budget, |_| true).last,
        |stages, budget| greedy_stage(stages, budget, |_| true).best,
        |stages, budget| critical_greedy(stages, budget, |_| true).best,
        |stages, budget| ggb(stages, budget, |_| true).best,
        |stages, budget| loss(stages, budget, Weights::Once, &|| true),
        |stages, budget| loss(stages, budget, Weights::Makespan, &|| true),
        |stages, budget| loss(stages, budget, Weights::Again, &|| true),
        |stages, budget| gain(stages, budget, Weights::Once, &|| true),
        |stages, budget| gain(stages, budget, Weights::Again, &|| true),
        b_rate,
        |stages, budget| b_swap(stages, budget, &|| true),
    ];
    for seed in 1..=300 {
        let stages = problem(seed, seed % 4 == 0);
        let [least, most] = [stages.cheapest(), stages.fastest()].map(|ranks| stages.cost(&ranks));
        for budget in [least, least + (most - least) / 2, most] {
            let best = optimal::for_budget(&stages, budget, &mut || true).unwrap().assigned;
            for (number, planner) in planners.iter().enumerate() {
                let planned = planner(&stages, budget);
                assert_eq!(planned, stages.figures(planned.ranks.clone()), "seed {seed}, planner {number}");
                let is_fine = planned.cost <= budget && planned.makespan >= best.makespan;
                assert!(is_fine, "seed {seed}, planner {number}: {planned:?} against {best:?} for {budget}");
            }
        }
    }
}

/// LOSS3 (down) and GAIN3 (up) as they are written down: after each exchange, all of them are looked at anew.
fn exchanged_slowly(stages: &Stages, budget: u64, is_up: bool) -> Assigned {
    let mut ranks = if is_up { stages.cheapest() } else { stages.fastest() };
    loop {
        let cost = stages.cost(&ranks);
        let mut best: Option<(f64, u32, u8)> = None;
        for task in 0..stages.task_count() as u32 {
            let (table, now) = (stages.table(task), ranks[task as usize]);
            let onwards = if is_up { now + 1..table.fastest() + 1 } else { 0..now };
            for to in onwards {
                let (before, after) = (table.row(now), table.row(to));
                let weight = before.time.abs_diff(after.time) as f64 / before.price.abs_diff(after.price) as f64;
                let weight = if is_up { weight } else { -weight };
                let is_affordable = !is_up || after.price - before.price <= budget - cost;
                if is_affordable && best.is_none_or(|(known, ..)| weight > known) {
                    best = Some((weight, task, to));
                }
            }
        }
        match best.filter(|_| is_up || cost > budget) {
            Some((_, task, to)) => ranks[task as usize] = to,
            None => return stages.figures(ranks),
        }
    }
}

#[test]
fn exchanges_that_are_weighed_again_are_those_that_are_written_down() {
    for seed in 1..=300 {
        let stages = problem(seed, seed % 4 == 0);
        let [least, most] = [stages.cheapest(), stages.fastest()].map(|ranks| stages.cost(&ranks));
        for part in 0..=4 {
            let budget = least + (most - least) * part / 4;
            assert_eq!(
                loss(&stages, budget, Weights::Again, &|| true),
                exchanged_slowly(&stages, budget, false),
                "seed {seed}"
            );
            assert_eq!(
                gain(&stages, budget, Weights::Again, &|| true),
                exchanged_slowly(&stages, budget, true),
                "seed {seed}"
            );
        }
    }
}

#[test]
fn what_can_be_chosen_for_a_stage_is_what_the_tasks_can_do_together() {
    for seed in 1..=300 {
        let stages = problem(seed, false);
        for stage in 0..stages.len() as u32 {
            let rows = stages.tasks(stage).flat_map(|task| stages.table(task).rows().iter().map(|row| row.time));
            let mut times: Vec<u64> = rows.collect();
            times.sort_unstable_by(|one, other| other.cmp(one));
            times.dedup();
            let together = |time: &u64| {
                let rank = |task| stages.table(task).within(*time).map(|rank| stages.table(task).row(rank));
                let rows: Vec<Row> = stages.tasks(stage).map(rank).collect::<Option<_>>()?;
                let is_used = rows.iter().any(|row| row.time == *time);
                is_used.then(|| optimal::Choice { time: *time, cost: rows.iter().map(|row| row.price).sum() })
            };
            let mut expected: Vec<optimal::Choice> = times.iter().filter_map(together).collect();
            if times.is_empty() {
                expected.push(optimal::Choice { time: 0, cost: 0 });
            }
            assert_eq!(optimal::menu(&stages, stage), expected, "seed {seed}, stage {stage}");
        }
    }
}

#[test]
fn a_search_that_has_no_time_says_so_and_has_a_plan_all_the_same() {
    // An N, which cannot be put together.
    let table = |time: u64, price: u64| {
        Table::of((0..4u64).map(|at| Row { time: time - 2 * at, price: price + 3 * at, machine: at as u16 })).unwrap()
    };
    let tables = vec![table(10, 3), table(12, 2), table(11, 4), table(9, 5)];
    let stages = Stages::new(tables, (0..4).map(|at| vec![at]), vec![(0, 2), (0, 3), (1, 3)]).unwrap();
    let budget = stages.cost(&stages.cheapest()) + 12;
    let best = optimal::for_budget(&stages, budget, &mut || true).unwrap();
    let hasty = optimal::for_budget(&stages, budget, &mut || false).unwrap();
    assert!(best.is_proven && !hasty.is_proven);
    assert!(hasty.assigned.makespan >= best.assigned.makespan && hasty.bound <= best.assigned.makespan);
    assert!(hasty.assigned.cost <= budget);
}

#[test]
fn a_deadline_is_kept_by_partial_critical_paths() {
    for seed in 1..=300 {
        let stages = problem(seed, seed % 4 == 0);
        let fastest = stages.makespan(&stages.fastest());
        let slowest = stages.makespan(&stages.cheapest());
        for part in 0..=4 {
            let deadline = fastest + (slowest.saturating_sub(fastest)) * part / 4;
            for patience in [true, false] {
                let planned = super::ic_pcp::ic_pcp(&stages, deadline, &|| patience);
                assert!(planned.makespan <= deadline, "seed {seed}: {} in {deadline}", planned.makespan);
            }
        }
    }
}

#[test]
fn of_plans_that_are_as_fast_none_is_taken_that_costs_more() {
    // 0 → 1, and 2 beside them, which has to be fast: that the first could be slow if the second were fast costs more than there is.
    let table = |rows: [(u64, u64); 2]| {
        let row = |(machine, (time, price)): (usize, (u64, u64))| Row { time, price, machine: machine as u16 };
        Table::of(rows.into_iter().enumerate().map(row)).unwrap()
    };
    let tables = vec![table([(6, 1), (4, 3)]), table([(6, 1), (4, 7)]), table([(20, 1), (10, 5)])];
    let stages = Stages::new(tables, (0..3).map(|at| vec![at]), vec![(0, 1)]).unwrap();
    let best = optimal::for_budget(&stages, 9, &mut || true).unwrap();
    assert_eq!(best.assigned, Assigned { makespan: 10, cost: 9, ranks: vec![1, 0, 1] });
    assert!(best.is_proven);
}
