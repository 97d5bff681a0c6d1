//! From the name of an order to the order: what all nodes have in common is worked out once.

use std::sync::Arc;

use super::{Order, aware, batched, critical_path, fifo, gcs, heft, largest, lifo, og, ps, random};
use crate::ids::{ClassId, TaskId};
use crate::locality::{
    Brought, EXACT_UP_TO, Items, Knowledge, Method, Metric, Precedence, SERIAL_STEPS, Search, serial_order,
};
use crate::node::ReadyTask;
use crate::policy::{BadPolicy, Policy};
use crate::workflow::Workflow;

/// The names that [`by_name`] knows, the default first.
pub const NAMES: [&str; 10] =
    ["aware", "fifo", "lifo", "largest", "critical-path", "random", "heft", "ps", "og", "gcs"];

/// Where an order is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seat {
    /// For orders that throw dice.
    pub seed: u64,
    /// How many tasks may be under way at once.
    pub units: usize,
    /// Whether all tasks come to this node.
    pub is_alone: bool,
    /// How much room the node has for data.
    pub cache_bytes: u64,
    /// How much room all nodes together have for it.
    pub room_bytes: u64,
    /// How fast data comes, about.
    pub bytes_per_second: u64,
    /// Whether what nobody needs any more is the first to go.
    pub drops_unneeded: bool,
    /// Whether one task runs after the other, so that nobody ever waits for another.
    pub is_serial: bool,
}

/// What data comes at if nobody knows: a disk, or an ordinary network.
const USUAL_BYTES_PER_SECOND: u64 = 100_000_000;

impl Seat {
    /// A node that is alone and has room for everything.
    pub fn roomy(units: usize) -> Seat {
        let bytes_per_second = USUAL_BYTES_PER_SECOND;
        Seat {
            seed: 1,
            units,
            is_alone: true,
            cache_bytes: u64::MAX,
            room_bytes: u64::MAX,
            bytes_per_second,
            drops_unneeded: true,
            is_serial: units == 1,
        }
    }
}

/// What an order needs to know of a workflow beforehand.
#[derive(Clone, Debug)]
enum Needs {
    Nothing,
    Steps(Arc<Vec<u32>>),
    Ranks(Arc<Vec<u64>>),
    Places(Arc<Vec<u32>>),
    Items(Arc<Items>, Metric, Search),
    Aware(aware::Needs),
}

/// Makes orders of one name: what they have in common is worked out once, however many nodes there are.
#[derive(Clone, Debug)]
pub struct Maker {
    name: &'static str,
    known: Arc<Knowledge>,
    needs: Needs,
    /// How many tasks are chosen at a time.
    batch: usize,
}

impl Maker {
    /// For the order with a name.
    pub fn new(policy: &Policy, known: &Arc<Knowledge>) -> Result<Maker, BadPolicy> {
        let flow = known.flow();
        let name = NAMES.into_iter().find(|name| *name == policy.name);
        let name = name.ok_or_else(|| policy.unknown("order", &NAMES))?;
        let needs = match name {
            "critical-path" => Needs::Steps(Arc::new(critical_path::steps_to_end(flow))),
            // Of tasks that have nothing to do with each other there is nothing to be aware of, and lines are smaller.
            "aware" if known.has_data() || flow.edge_count() > 0 => Needs::Aware(aware::Needs::of(known)),
            "heft" => {
                Needs::Ranks(Arc::new(heft::ranks(flow.as_ref(), flow.task_count(), |task| read_bytes(known, task))))
            }
            "ps" => Needs::Places(Arc::new(places(&serial_by(policy, known)?))),
            "og" => {
                policy.takes(&["metric", "batch"])?;
                Needs::Items(known.items().clone(), metric(policy)?, Search { swaps: false, steps: 0 })
            }
            "gcs" => {
                policy.takes(&["metric", "steps", "batch"])?;
                let search = Search { swaps: true, steps: policy.whole("steps", gcs::GCS_STEPS)? };
                Needs::Items(known.items().clone(), metric(policy)?, search)
            }
            _ => Needs::Nothing,
        };
        if !matches!(name, "ps" | "og" | "gcs") {
            policy.takes(&["batch"])?;
        }
        let batch = policy.count("batch", 1)? as usize;
        Ok(Maker { name, known: known.clone(), needs, batch })
    }

    /// An order with nothing in it.
    pub fn make(&self, seat: Seat) -> Box<dyn Order> {
        batched::order(self.make_single(seat), self.batch)
    }

    fn make_single(&self, seat: Seat) -> Box<dyn Order> {
        match (self.name, &self.needs) {
            ("lifo", _) => Box::new(lifo::order()),
            ("largest", _) => Box::new(largest::order()),
            ("random", _) => Box::new(random::order(seat.seed)),
            ("critical-path", Needs::Steps(steps)) => Box::new(critical_path::order(steps.clone())),
            ("heft", Needs::Ranks(ranks)) => Box::new(heft::order(ranks.clone())),
            ("ps", Needs::Places(places)) => {
                Box::new(ps::order(places.clone(), if seat.is_alone { seat.units } else { 0 }))
            }
            ("og", Needs::Items(items, metric, _)) => Box::new(og::order(items.clone(), *metric)),
            ("gcs", Needs::Items(items, metric, search)) => {
                Box::new(gcs::order(items.clone(), self.known.flow().clone(), *metric, seat.units, *search))
            }
            ("aware", Needs::Aware(needs)) => aware::order(needs, seat),
            _ => Box::new(fifo::order()),
        }
    }
}

fn metric(policy: &Policy) -> Result<Metric, BadPolicy> {
    policy.value("metric", Metric::Wsd, "one of sd, tmb, wsd, wtmb, lru, wlru", |text| text.parse().ok())
}

/// The order of all tasks that `ps` follows.
pub(crate) fn serial_by(policy: &Policy, known: &Knowledge) -> Result<Vec<TaskId>, BadPolicy> {
    policy.takes(&["metric", "steps", "batch"])?;
    let (metric, steps) = (metric(policy)?, policy.whole("steps", SERIAL_STEPS)?);
    let flow = known.flow();
    let method = if flow.task_count() <= EXACT_UP_TO { Method::Exact } else { Method::Heuristic { steps } };
    let serial = serial_order(known.items(), flow.as_ref(), metric, method);
    Ok(serial.map_or_else(|| greedily(known, metric), |serial| serial.order))
}

/// All tasks, one after the other, as `og` chooses them: for workflows in which there is no time to look for better.
fn greedily(known: &Knowledge, metric: Metric) -> Vec<TaskId> {
    let flow = known.flow();
    let mut greedy = og::order(known.items().clone(), metric);
    let as_ready = |task| ReadyTask {
        task,
        class: ClassId(0),
        priority: 0,
        attempt: 1,
        excused: 0,
        generation: 0,
        input_bytes: 0,
    };
    let mut open: Vec<u32> = flow.tasks().map(|task| flow.parent_count(task)).collect();
    flow.tasks().filter(|task| open[task.index()] == 0).for_each(|task| greedy.push(as_ready(task)));
    let mut order = Vec::with_capacity(flow.task_count());
    while let Some(ready) = greedy.pop(&|_| true) {
        order.push(ready.task);
        for child in flow.children(ready.task) {
            open[child.index()] -= 1;
            if open[child.index()] == 0 {
                greedy.push(as_ready(child));
            }
        }
    }
    order
}

/// What has to be brought for a task if nothing is here.
fn read_bytes(known: &Knowledge, task: TaskId) -> u64 {
    let sizes = known.inputs(task).map(|object| known.flow().expected_size(object).unwrap_or(0));
    sizes.fold(0, u64::saturating_add)
}

/// Which each task is in an order of all.
fn places(order: &[TaskId]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    order.iter().enumerate().for_each(|(at, task)| places[task.index()] = at as u32);
    places
}

impl Precedence for Workflow {
    fn children(&self, task: TaskId) -> Vec<TaskId> {
        Workflow::children(self, task).collect()
    }

    fn parent_count(&self, task: TaskId) -> u32 {
        Workflow::parent_count(self, task)
    }
}

/// The order with a name, for a node that is alone.
pub fn by_name(policy: &Policy, flow: &Arc<Workflow>, units: usize) -> Result<Box<dyn Order>, BadPolicy> {
    Ok(Maker::new(policy, &Knowledge::of(flow, &Brought::All))?.make(Seat::roomy(units)))
}

/// Whether an order goes by the size of what tasks read, so that somebody has to look at files that are there.
pub fn uses_sizes(policy: &Policy) -> bool {
    policy.name == "largest"
}
