//! How long a decision takes: 100,000 tasks are ready, there are 1,000,000 items, and up to 20 tasks read an item.
//!
//! Two graphs. In `scattered` every task reads items from anywhere; in `clustered` from the neighbourhood of its own number, so that
//! tasks share data as they do in real workflows. Each decision takes a task, starts it, and puts another ready task in its place.
//! With `aware`, it also decides what leaves a cache of 1,000 items, and is told of all that comes and goes.
//!
//! ```sh
//! cargo run --release -p throng-core --example decisions            # tasks that read 2, 5 and 20 items
//! cargo run --release -p throng-core --example decisions -- 5
//! ```

#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_macros,
    clippy::disallowed_types,
    reason = "only core itself is without clocks and output; this program is built beside it"
)]

use std::sync::Arc;
use std::time::Instant;

use throng_core::evict::{self, Evict};
use throng_core::ids::{ClassId, TaskId};
use throng_core::locality::{Items, ItemsBuilder, Metric};
use throng_core::node::ReadyTask;
use throng_core::order::{Order, Seat, aware, og};
use throng_core::rng::Rng;

const ITEMS: u64 = 1_000_000;
const READY: usize = 100_000;
const READERS: usize = 20;
const CACHE: usize = 1000;
const DECISIONS: usize = 100_000;

fn graph(is_clustered: bool, reads: u64, seed: u64) -> (Arc<Items>, usize) {
    let mut rng = Rng::new(seed);
    let mut builder = ItemsBuilder::default();
    (0..ITEMS).for_each(|_| {
        builder.item(1 + rng.below(1_000_000));
    });
    let mut readers = vec![0; ITEMS as usize];
    // The first tasks make the items, ten each; the others read.
    let makers = (ITEMS / 10) as usize;
    for maker in 0..makers as u32 {
        builder.task(Vec::new(), (maker * 10..maker * 10 + 10).collect());
    }
    let tasks = READY + DECISIONS;
    for task in 0..tasks as u64 {
        let near = task * (ITEMS - 200) / tasks as u64;
        let mut inputs = Vec::new();
        while inputs.len() < reads as usize {
            let item = if is_clustered { near + rng.below(200) } else { rng.below(ITEMS) };
            if readers[item as usize] < READERS {
                readers[item as usize] += 1;
                inputs.push(item as u32);
            }
        }
        builder.task(inputs, Vec::new());
    }
    (Arc::new(builder.build()), makers)
}

fn ready(task: usize) -> ReadyTask {
    let task = TaskId(task as u32);
    ReadyTask::first(task, ClassId(0))
}

/// The time that this program has been on a processor, in microseconds: others on the machine do not count.
fn processor_time() -> f64 {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    text.split(' ').next().and_then(|first| first.parse::<f64>().ok()).unwrap_or(0.0) / 1000.0
}

/// Microseconds for a decision, on average and at most.
fn measure(order: &mut dyn Order, items: &Items, makers: usize, mut evict: Option<evict::Aware>) -> (f64, f64) {
    (0..makers).for_each(|maker| order.began(TaskId(maker as u32)));
    let mut next = makers;
    for _ in 0..READY {
        order.push(ready(next));
        next += 1;
    }
    let mut cached = 0;
    let mut is_here = vec![false; items.count()];
    let (before, mut most) = (processor_time(), 0.0f64);
    for _ in 0..DECISIONS {
        let begun = Instant::now();
        let Some(task) = order.pop(&|_| true) else { break };
        order.push(ready(next));
        if let Some(evict) = &mut evict {
            evict.started(task.task);
            for item in items.inputs(task.task) {
                if !std::mem::replace(&mut is_here[*item as usize], true) {
                    order.item(*item, true);
                    cached += 1;
                }
                evict.used(*item);
            }
            while cached > CACHE {
                let gone = evict.victims().next().unwrap_or(0);
                evict.gone(gone);
                cached -= 1;
                is_here[gone as usize] = false;
                order.item(gone, false);
            }
            evict.ready(TaskId(next as u32));
        }
        let took = begun.elapsed().as_secs_f64() * 1e6;
        most = most.max(took);
        next += 1;
    }
    ((processor_time() - before) / DECISIONS as f64, most)
}

fn main() {
    let only: Vec<u64> = std::env::args().skip(1).filter_map(|reads| reads.parse().ok()).collect();
    println!("{:<11} {:<6} {:<10} {:>10} {:>10}", "graph", "reads", "order", "mean µs", "most µs");
    for (graph_name, is_clustered) in [("scattered", false), ("clustered", true)] {
        for reads in [2, 5, 20].into_iter().filter(|reads| only.is_empty() || only.contains(reads)) {
            let (items, makers) = graph(is_clustered, reads, 1);
            let tasks = items.task_count() as u32;
            let together = aware::Together {
                items: items.clone(),
                places: Arc::new((0..tasks).collect()),
                ways: Arc::new((0..tasks).map(|task| (task % 7) as u8).collect()),
            };
            let seat = Seat { cache_bytes: CACHE as u64 * 500_000, ..Seat::roomy(8) };
            let tell = |name: &str, order: &mut dyn Order| {
                let evict = (name == "aware").then(|| evict::Aware::new(items.clone()));
                let (mean, most) = measure(order, &items, makers, evict);
                println!("{graph_name:<11} {reads:<6} {name:<10} {mean:>10.2} {most:>10.1}");
            };
            for metric in [Metric::Sd, Metric::Wsd, Metric::Tmb, Metric::Wtmb, Metric::Lru] {
                tell(&format!("og {metric}"), &mut og::order(items.clone(), metric));
            }
            tell("aware", &mut aware::tight(&together, &seat));
        }
    }
}
