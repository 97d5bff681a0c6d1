//! Orders by the names that people know them by.

use std::sync::Arc;

use super::{Chooser, Follower, InOrder, Machine, Model, Outcome, run};
use crate::evict::{Aware, Evict, Lru};
use crate::ids::{ClassId, TaskId};
use crate::node::ReadyTask;
use crate::order::{Maker, Seat, serial_by};
use crate::policy::{BadPolicy, Policy};
use crate::workflow::Workflow;

/// The ways to evict that [`by_name`] knows.
pub const EVICTIONS: [&str; 2] = ["lru", "aware"];

/// Runs a workflow in the order of a policy, with the eviction of this name. The model is [`Model::of`] the same workflow.
///
/// On this machine a unit that follows `ps` waits for the task that is next, and `aware` is the one of its two that minds the cache.
pub fn by_name(
    policy: &Policy,
    eviction: &str,
    flow: &Arc<Workflow>,
    model: &Model,
    machine: Machine,
    seed: u64,
) -> Result<Outcome, BadPolicy> {
    let evict: Box<dyn Evict> = match eviction {
        "lru" => Box::new(Lru::default()),
        "aware" => Box::new(Aware::new(model.items().clone())),
        other => {
            let (name, known) = (other.to_owned(), EVICTIONS.join(", "));
            return Err(BadPolicy::Unknown { decision: "eviction", name, known });
        }
    };
    let mut chooser: Box<dyn Chooser + '_> = match policy.name.as_str() {
        "ps" => Box::new(Follower::new(serial_by(policy, flow)?)),
        _ => {
            // Whatever there is, it has no room: so the cache counts.
            let seat = Seat {
                seed,
                cache_bytes: machine.cache,
                room_bytes: 0,
                bytes_per_second: model.bytes_per_second(),
                ..Seat::roomy(machine.units)
            };
            Box::new(InOrder::new(Maker::new(policy, flow)?.make(seat), |task| as_ready(flow, task)))
        }
    };
    Ok(run(model, machine, chooser.as_mut(), evict))
}

/// Every task fits into every unit, so that all are of one class.
fn as_ready(flow: &Workflow, task: TaskId) -> ReadyTask {
    let sizes = flow.inputs(task).filter_map(|object| flow.declared_size(object));
    ReadyTask {
        task,
        class: ClassId(0),
        priority: flow.priority(task),
        attempt: 1,
        excused: 0,
        generation: 0,
        input_bytes: sizes.fold(0, u64::saturating_add),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::order;
    use crate::workflow::{Format, NoFiles};

    const GIGABYTE: u64 = 1_000_000_000;

    /// Pipes of two tasks: whoever reads what was just made finds it.
    fn pipes() -> Arc<Workflow> {
        let text = "
tasks:
  make: { foreach: { i: 1..20 }, sleep: 1s, out: [{ path: 'm/{i}', size: 1GB }] }
  use: { foreach: { i: 1..20 }, sleep: 1s, in: ['m/{i}'], out: ['u/{i}'] }
";
        Arc::new(Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap())
    }

    fn misses(name: &str, eviction: &str) -> u64 {
        let flow = pipes();
        let (model, machine) = (Model::of(&flow, GIGABYTE), Machine { units: 2, cache: 3 * GIGABYTE });
        let outcome = by_name(&name.parse().unwrap(), eviction, &flow, &model, machine, 1).unwrap();
        assert_eq!(outcome.tasks.len(), flow.task_count(), "{name} ends");
        outcome.misses
    }

    #[test]
    fn every_order_runs_everything() {
        for name in order::NAMES {
            for eviction in EVICTIONS {
                misses(name, eviction);
            }
        }
    }

    #[test]
    fn orders_that_mind_the_cache_find_what_was_made() {
        for name in ["ps:metric=sd", "gcs", "aware", "lifo"] {
            assert_eq!(misses(name, "lru"), 0, "{name}");
        }
        for name in ["fifo", "og", "og:metric=wtmb"] {
            // What is only made lies between no two uses, so that greed sees nothing wrong in making all of it first.
            assert_eq!(misses(name, "lru"), 20, "{name}");
        }
        assert!(misses("random", "lru") > 5);
        assert!(misses("fifo", "aware") < 20);
    }

    #[test]
    fn what_is_not_there_is_named() {
        let flow = pipes();
        let (model, machine) = (Model::of(&flow, GIGABYTE), Machine { units: 1, cache: 0 });
        let told = |name: &str, eviction| {
            let policy = name.parse().unwrap();
            by_name(&policy, eviction, &flow, &model, machine, 1).unwrap_err().to_string()
        };
        assert_eq!(told("og", "fifo"), "there is no eviction policy `fifo`; known are lru, aware");
        assert!(told("best", "lru").contains("no order policy `best`"));
        assert!(told("ps:metric=far", "lru").contains("one of sd, tmb"));
        assert!(told("ps:far=1", "lru").contains("known are metric, steps, batch"));
    }
}
