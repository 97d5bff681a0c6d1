//! Runs seeds of the swarm: `swarm FIRST LAST` on all cores, or one seed with all about it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc;

use throng_sim::swarm::{self, Case};

fn main() {
    let seeds: Vec<u64> = std::env::args().skip(1).filter_map(|text| text.parse().ok()).collect();
    let failed = match seeds[..] {
        [only] => u64::from(!tell_all(only)),
        [first, last] => run_many(first, last),
        _ => run_many(1, 300),
    };
    std::process::exit(i32::from(failed > 0));
}

/// Runs one seed and shows what it stands for and what came of it; says whether nothing was wrong.
fn tell_all(seed: u64) -> bool {
    let case = Case::draw(seed);
    println!("{}{:#?}", case.text, case.cluster);
    match swarm::try_seed(seed) {
        Ok(outcome) => println!("{outcome:#?}"),
        Err(told) => {
            println!("{told}");
            return false;
        }
    }
    true
}

/// Runs all seeds from one to another; tells of those that fail in their order, and says how many they are.
fn run_many(first: u64, last: u64) -> u64 {
    let (next, cores) = (AtomicU64::new(first), std::thread::available_parallelism().map_or(1, usize::from));
    let (sender, receiver) = mpsc::channel();
    let mut failed = 0;
    std::thread::scope(|scope| {
        for _ in 0..cores {
            let (sender, next) = (sender.clone(), &next);
            scope.spawn(move || {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if seed > last || sender.send((seed, swarm::try_seed(seed).err())).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let (mut waiting, mut expected) = (BTreeMap::new(), first);
        for (seed, told) in receiver {
            waiting.insert(seed, told);
            while let Some(told) = waiting.remove(&expected) {
                expected += 1;
                if let Some(told) = told {
                    failed += 1;
                    println!("{told}");
                }
            }
        }
    });
    println!("{} passed, {failed} failed", last + 1 - first - failed);
    failed
}
