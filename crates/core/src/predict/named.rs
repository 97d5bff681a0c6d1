//! Orders by the names that people know them by.

use std::sync::Arc;

use super::{Chooser, Follower, InOrder, Machine, Model, Outcome, run};
use crate::evict::{self, Aware, Evict, Lru};
use crate::ids::{ClassId, TaskId};
use crate::locality::Knowledge;
use crate::node::ReadyTask;
use crate::order::{self, Maker, Seat, serial_by};
use crate::policy::{BadPolicy, Policy};

/// Runs a workflow in the order of a policy, with the eviction of another. The model is [`Model::of`] the same workflow.
///
/// On this machine a unit that follows `ps` waits for the task that is next, and `aware` is the one of its two that minds the cache.
pub fn by_name(
    policy: &Policy,
    eviction: &Policy,
    known: &Arc<Knowledge>,
    model: &Model,
    machine: Machine,
    seed: u64,
) -> Result<Outcome, BadPolicy> {
    order::check(policy)?;
    evict::check(eviction)?;
    let drops_unneeded = evict::drops_unneeded(eviction);
    let evict: Box<dyn Evict> =
        if drops_unneeded { Box::new(Aware::new(model.items().clone())) } else { Box::new(Lru::default()) };
    let mut chooser: Box<dyn Chooser + '_> = match policy.name.as_str() {
        "ps" => Box::new(Follower::new(serial_by(policy, known)?)),
        _ => {
            // Whatever there is, it has no room: so the cache counts.
            let seat = Seat {
                seed,
                cache_bytes: machine.cache,
                room_bytes: 0,
                bytes_per_second: model.bytes_per_second(),
                drops_unneeded,
                ..Seat::roomy(machine.units)
            };
            Box::new(InOrder::new(Maker::new(policy, known)?.make(seat), |task| as_ready(known, task)))
        }
    };
    Ok(run(model, machine, chooser.as_mut(), evict))
}

/// What will have to be brought, and how much that is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expected {
    /// How often something is not there.
    pub misses: u64,
    /// How much is brought.
    pub bytes: u64,
}

/// What is to be expected of an order and an eviction on a machine whose storage delivers so many bytes a second.
pub fn expect(
    policy: &Policy,
    eviction: &Policy,
    known: &Arc<Knowledge>,
    bytes_per_second: u64,
    machine: Machine,
    seed: u64,
) -> Result<Expected, BadPolicy> {
    let model = Model::of(known, bytes_per_second);
    let outcome = by_name(policy, eviction, known, &model, machine, seed)?;
    let mut expected =
        Expected { misses: outcome.misses, bytes: u64::try_from(outcome.missed_bytes).unwrap_or(u64::MAX) };
    // What one task alone reads from outside always has to be brought.
    for object in known.flow().tasks().flat_map(|task| known.inputs(task)) {
        if known.items().of_object(object).is_none() {
            expected.misses += 1;
            expected.bytes = expected.bytes.saturating_add(known.flow().expected_size(object).unwrap_or(0));
        }
    }
    Ok(expected)
}

/// Every task fits into every unit, so that all are of one class.
fn as_ready(known: &Knowledge, task: TaskId) -> ReadyTask {
    let flow = known.flow();
    let sizes = known.inputs(task).filter_map(|object| flow.expected_size(object));
    ReadyTask {
        priority: flow.priority(task),
        input_bytes: sizes.fold(0, u64::saturating_add),
        ..ReadyTask::first(task, ClassId(0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locality::Brought;
    use crate::order;
    use crate::workflow::{Format, NoFiles, Workflow};

    const GIGABYTE: u64 = 1_000_000_000;

    /// Pipes of two tasks: whoever reads what was just made finds it.
    fn pipes() -> Arc<Knowledge> {
        let text = "
tasks:
  make: { foreach: { i: 1..20 }, sleep: 1s, out: [{ path: 'm/{i}', size: 1GB }] }
  use: { foreach: { i: 1..20 }, sleep: 1s, in: ['m/{i}'], out: ['u/{i}'] }
";
        let flow = Workflow::parse(text, Format::Yaml, "x", &NoFiles).unwrap();
        Knowledge::of(&Arc::new(flow), &Brought::All)
    }

    fn misses(name: &str, eviction: &str) -> u64 {
        let known = pipes();
        let (model, machine) = (Model::of(&known, GIGABYTE), Machine { units: 2, cache: 3 * GIGABYTE });
        let (order, evict) = (name.parse().unwrap(), eviction.parse().unwrap());
        let outcome = by_name(&order, &evict, &known, &model, machine, 1).unwrap();
        assert_eq!(outcome.tasks.len(), known.flow().task_count(), "{name} ends");
        let expected = expect(&order, &evict, &known, GIGABYTE, machine, 1).unwrap();
        assert_eq!(expected, Expected { misses: outcome.misses, bytes: outcome.misses * GIGABYTE });
        outcome.misses
    }

    #[test]
    fn every_order_runs_everything() {
        for name in order::NAMES {
            for eviction in evict::NAMES {
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
        let known = pipes();
        let (model, machine) = (Model::of(&known, GIGABYTE), Machine { units: 1, cache: 0 });
        let told = |name: &str, eviction: &str| {
            let (policy, eviction) = (name.parse().unwrap(), eviction.parse().unwrap());
            by_name(&policy, &eviction, &known, &model, machine, 1).unwrap_err().to_string()
        };
        assert_eq!(told("og", "fifo"), "there is no eviction policy `fifo`; known are aware, lru");
        assert!(told("best", "lru").contains("no order policy `best`"));
        assert!(told("ps:metric=far", "lru").contains("one of sd, tmb"));
        assert!(told("ps:far=1", "lru").contains("known are metric, steps, batch"));
    }
}
