//! Made-up problems: one seed draws stages, tables and a budget.

use throng_core::plan::stages::Stages;
use throng_core::plan::table::{Row, Table};
use throng_core::rng::Rng;

/// So many types of machines.
pub const MACHINES: u16 = 4;

/// A task's table: faster machines cost more for the same work, and now and then one is no faster.
pub fn table(rng: &mut Rng, machines: u16) -> Table {
    let work = 1_000 + rng.below(100_000);
    let (mut speed, mut rate) = (1.0, 1.0 + rng.unit());
    let rows = (0..machines).map(|machine| {
        let row = Row {
            time: ((work as f64 / speed) as u64).max(1),
            price: ((work as f64 / speed * rate) as u64).max(1),
            machine,
        };
        let faster = if rng.unit() < 0.1 { 0.95 } else { 1.1 + rng.unit() * 0.9 };
        speed *= faster;
        rate *= faster * (1.05 + rng.unit() * 0.6);
        row
    });
    Table::of(rows.collect::<Vec<_>>()).expect("there are machines")
}

/// A problem of up to so many stages, and a budget between the cheapest and the fastest plan. Tasks of a stage are alike if the seed is even.
pub fn instance(seed: u64, most_stages: u64) -> (Stages, u64) {
    let mut rng = Rng::new(seed);
    let count = 2 + rng.below(most_stages - 1) as u32;
    let (mut tables, mut tasks) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let of_stage = 1 + rng.below(5);
        let first = tables.len() as u32;
        tables.push(table(&mut rng, MACHINES));
        tasks.push(if seed.is_multiple_of(2) {
            vec![first; of_stage as usize]
        } else {
            tables.extend((1..of_stage).map(|_| table(&mut rng, MACHINES)));
            (first..tables.len() as u32).collect()
        });
    }
    let dense = 0.1 + 0.5 * rng.unit();
    let edges = (0..count).flat_map(|from| (from + 1..count).map(move |to| (from, to)));
    let edges = edges.filter(|_| rng.unit() < dense).collect();
    let stages = Stages::new(tables, tasks, edges).expect("edges lead forward");
    let [least, most] = [stages.cheapest(), stages.fastest()].map(|ranks| stages.cost(&ranks));
    let budget = least + rng.below(most - least + 1);
    (stages, budget)
}
