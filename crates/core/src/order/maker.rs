//! From the name of an order to the order: what all nodes have in common is worked out once.

use std::sync::Arc;

use super::{Order, aware, batched, critical_path, fifo, gcs, heft, largest, lifo, og, planned, ps, random};
use crate::ids::{ClassId, TaskId};
use crate::locality::{
    Brought, EXACT_UP_TO, Knowledge, Method, Metric, Precedence, SERIAL_STEPS, Search, serial_order,
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

/// Which order, and what it needs to know of a workflow beforehand.
#[derive(Clone, Debug)]
enum Kind {
    Fifo,
    Lifo,
    Largest,
    Random,
    CriticalPath(Arc<Vec<u32>>),
    Heft(Arc<Vec<u64>>),
    Ps(Arc<Vec<u32>>),
    Og(Metric),
    Gcs(Metric, Search),
    Aware(aware::Needs),
    Planned(Arc<Vec<u64>>),
}

impl Kind {
    fn of(policy: &Policy, known: &Arc<Knowledge>) -> Result<Kind, BadPolicy> {
        let flow = known.flow();
        let parameters: &[&str] = match policy.name.as_str() {
            "ps" | "gcs" => &["metric", "steps", "batch"],
            "og" => &["metric", "batch"],
            _ => &["batch"],
        };
        if NAMES.contains(&policy.name.as_str()) {
            policy.takes(parameters)?;
        }
        Ok(match policy.name.as_str() {
            "aware" if known.has_data() || flow.edge_count() > 0 => Kind::Aware(aware::Needs::of(known)),
            // Of tasks that have nothing to do with each other there is nothing to be aware of, and lines are smaller.
            "aware" | "fifo" => Kind::Fifo,
            "lifo" => Kind::Lifo,
            "largest" => Kind::Largest,
            "random" => Kind::Random,
            "critical-path" => Kind::CriticalPath(Arc::new(critical_path::steps_to_end(flow))),
            "heft" => {
                let ranks = heft::ranks(flow.as_ref(), flow.task_count(), |task| read_bytes(known, task));
                Kind::Heft(Arc::new(ranks))
            }
            "ps" => Kind::Ps(Arc::new(places(&serial_by(policy, known)?))),
            "og" => Kind::Og(metric(policy)?),
            "gcs" => Kind::Gcs(metric(policy)?, Search { swaps: true, steps: policy.whole("steps", gcs::GCS_STEPS)? }),
            _ => return Err(policy.unknown("order", &NAMES)),
        })
    }
}

/// Makes orders of one name: what they have in common is worked out once, however many nodes there are.
#[derive(Clone, Debug)]
pub struct Maker {
    kind: Kind,
    known: Arc<Knowledge>,
    /// How many tasks are chosen at a time.
    batch: usize,
}

impl Maker {
    /// For the order with a name.
    pub fn new(policy: &Policy, known: &Arc<Knowledge>) -> Result<Maker, BadPolicy> {
        let batch = policy.count("batch", 1)? as usize;
        Ok(Maker { kind: Kind::of(policy, known)?, known: known.clone(), batch })
    }

    /// For tasks that have been planned to begin at these times: the first of them first.
    pub fn planned(begins: Arc<Vec<u64>>, known: &Arc<Knowledge>) -> Maker {
        Maker { kind: Kind::Planned(begins), known: known.clone(), batch: 1 }
    }

    /// An order with nothing in it.
    pub fn make(&self, seat: Seat) -> Box<dyn Order> {
        batched::order(self.make_single(seat), self.batch)
    }

    fn make_single(&self, seat: Seat) -> Box<dyn Order> {
        let items = || self.known.items().clone();
        match &self.kind {
            Kind::Fifo => Box::new(fifo::order()),
            Kind::Lifo => Box::new(lifo::order()),
            Kind::Largest => Box::new(largest::order()),
            Kind::Random => Box::new(random::order(seat.seed)),
            Kind::CriticalPath(steps) => Box::new(critical_path::order(steps.clone())),
            Kind::Heft(ranks) => Box::new(heft::order(ranks.clone())),
            Kind::Ps(places) => Box::new(ps::order(places.clone(), if seat.is_alone { seat.units } else { 0 })),
            Kind::Og(metric) => Box::new(og::order(items(), *metric)),
            Kind::Gcs(metric, search) => {
                Box::new(gcs::order(items(), self.known.flow().clone(), *metric, seat.units, *search))
            }
            Kind::Aware(needs) => aware::order(needs, seat),
            Kind::Planned(begins) => Box::new(planned::order(begins.clone())),
        }
    }
}

/// Whether there is an order with this name and these parameters.
pub fn check(policy: &Policy) -> Result<(), BadPolicy> {
    Maker::new(policy, &Knowledge::of(&Arc::default(), &Brought::All)).map(drop)
}

fn metric(policy: &Policy) -> Result<Metric, BadPolicy> {
    policy.value("metric", Metric::Wsd, "one of sd, tmb, wsd, wtmb, lru, wlru", |text| text.parse().ok())
}

/// The order of all tasks that `ps` follows.
pub(crate) fn serial_by(policy: &Policy, known: &Knowledge) -> Result<Vec<TaskId>, BadPolicy> {
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
    let as_ready = |task| ReadyTask::first(task, ClassId(0));
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
