//! Requests about orders that are kind to a cache.
//!
//! An instance becomes items and a model, and orders of the engine run it on the machine of [`throng_core::predict`]. What waits for whom
//! and how large things are reaches them in the same way as from a workflow.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value, json};
use throng_core::evict::Lru;
use throng_core::ids::{ClassId, TaskId};
use throng_core::locality::{
    EXACT_UP_TO, Items, ItemsBuilder, Method, Metric, Recency, Search, Situation, scores, serial_order,
};
use throng_core::node::ReadyTask;
use throng_core::order::{self, Order};
use throng_core::predict::{self, Choice, Chooser, FixedLists, Follower, InOrder, Machine, Model, ModelBuilder};

use super::request::{Request, small, text};

/// The answer to a request of this part; `None` if there is no such operation.
pub fn answer(op: &str, request: &Request) -> Option<Result<Value, String>> {
    Some(match op {
        "stream" => stream(request),
        "metric" => metric(request),
        "sdis" => sdis(request),
        "schedule" => schedule(request),
        _ => return None,
    })
}

/// An instance as the engine sees it.
struct Instance {
    model: Model,
    /// For each task what is read from it to an end: what B2 ranks by.
    ranks: Vec<u64>,
    /// For each item the task that makes it.
    makers: Vec<u32>,
    machine: Machine,
}

impl Instance {
    fn of(request: &Request) -> Result<Instance, String> {
        let instance = Request::of(request.get("instance").ok_or("bad request: `instance` is missing")?)?;
        let tasks = instance.list("tasks")?.iter().map(Request::of).collect::<Result<Vec<_>, _>>()?;
        let pair = |edge: &Value| match edge.as_array().map(Vec::as_slice) {
            Some([from, to]) => Ok((small(from)?, small(to)?)),
            _ => Err(format!("bad request: {edge} is not an edge")),
        };
        let edges = instance.list("edges")?.iter().map(pair).collect::<Result<Vec<_>, String>>()?;
        if let Some((from, to)) = edges.iter().find(|(from, to)| (*from).max(*to) as usize >= tasks.len()) {
            return Err(format!("bad request: [{from}, {to}] joins tasks that are not there"));
        }
        let numbers = |name: &str| tasks.iter().map(|task| task.whole_or(name, 0)).collect::<Result<Vec<u64>, _>>();
        let sizes = numbers("size")?;
        let makers: Vec<u32> = edges.iter().map(|(from, _)| *from).collect::<BTreeSet<_>>().into_iter().collect();
        let mut builder = ItemsBuilder::default();
        let items: BTreeMap<u32, u32> =
            makers.iter().map(|task| (*task, builder.item(sizes[*task as usize]))).collect();
        for task in 0..tasks.len() as u32 {
            let parents = edges.iter().filter(|(_, to)| *to == task).map(|(from, _)| items[from]).collect();
            builder.task(parents, items.get(&task).copied().into_iter().collect());
        }
        let (compute, outside, all_loads) = (numbers("compute")?, numbers("ext")?, numbers("load")?);
        let load = makers.iter().map(|task| all_loads[*task as usize]).collect();
        let as_tasks = |(from, to): &(u32, u32)| (TaskId(*from), TaskId(*to));
        let edges = edges.iter().map(as_tasks).collect();
        let model = ModelBuilder { items: Arc::new(builder.build()), edges, compute, outside, load }.build();
        let units = instance.whole_or("pus", 1)? as usize;
        let machine = Machine { units, cache: instance.whole_or("cache", u64::MAX)? };
        let outside_bytes = numbers("ext_size")?;
        let ranks = order::heft::ranks(&model, outside_bytes.len(), |task| {
            let items = model.items().inputs(task).iter().map(|item| model.items().weight(*item));
            outside_bytes[task.index()] + items.sum::<u64>()
        });
        Ok(Instance { model, ranks, makers, machine })
    }

    fn items(&self) -> &Arc<Items> {
        self.model.items()
    }
}

fn metric_of(request: &Request) -> Result<Metric, String> {
    let name = request.get("metric").map_or(Ok("sd"), text)?;
    name.parse().map_err(|()| format!("bad request: there is no metric `{name}`"))
}

fn tasks_of(list: &[Value]) -> Result<Vec<TaskId>, String> {
    list.iter().map(|task| small(task).map(TaskId)).collect()
}

fn stream(request: &Request) -> Result<Value, String> {
    // Every name is an item that comes from outside, every access a task that reads it.
    let names = request.list("access")?.iter().map(Value::to_string).collect::<Vec<_>>();
    let distinct: Vec<&String> = names.iter().collect::<BTreeSet<_>>().into_iter().collect();
    let mut builder = ItemsBuilder::default();
    let numbers: BTreeMap<&String, u32> = distinct.into_iter().map(|name| (name, builder.item(1))).collect();
    names.iter().for_each(|name| builder.task(vec![numbers[name]], Vec::new()));
    let items = Arc::new(builder.build());
    let total = |metric| {
        let mut recency = Recency::new(items.clone(), metric);
        (0..names.len()).for_each(|at| recency.start(TaskId::at(at)));
        recency.total() as i64
    };
    Ok(json!({"sd": total(Metric::Sd), "tmb": total(Metric::Tmb)}))
}

fn metric(request: &Request) -> Result<Value, String> {
    let instance = Instance::of(request)?;
    let order = tasks_of(request.list("order")?)?;
    let mut answer = Map::new();
    for (name, metric) in Metric::NAMES {
        let mut recency = Recency::new(instance.items().clone(), metric);
        order.iter().for_each(|task| recency.start(*task));
        answer.insert(name.to_owned(), json!(recency.total() as i64));
    }
    let mut recency = Recency::new(instance.items().clone(), Metric::Sd);
    let mut gaps: BTreeMap<u32, Vec<i64>> = BTreeMap::new();
    for task in &order {
        for item in instance.items().inputs(*task) {
            if let Some(distance) = recency.distance(*item) {
                gaps.entry(instance.makers[*item as usize]).or_default().push(distance);
            }
        }
        recency.start(*task);
    }
    let gaps: Map<String, Value> = gaps.into_iter().map(|(item, gaps)| (item.to_string(), json!(gaps))).collect();
    answer.insert("gaps".to_owned(), gaps.into());
    Ok(answer.into())
}

fn method(request: &Request, tasks: usize) -> Result<Method, String> {
    let exact_up_to = request.whole_or("exact_upto", EXACT_UP_TO as u64)? as usize;
    let is_forced = request.get("method").and_then(Value::as_str) == Some("heuristic");
    Ok(if tasks <= exact_up_to && !is_forced { Method::Exact } else { Method::Heuristic { steps: u64::MAX } })
}

/// Nothing here has a limit of time.
const NO_TIME: &str = "there was no time to find an order";

fn sdis(request: &Request) -> Result<Value, String> {
    let instance = Instance::of(request)?;
    let method = method(request, instance.items().task_count())?;
    let serial = serial_order(instance.items(), &instance.model, metric_of(request)?, method).ok_or(NO_TIME)?;
    let order: Vec<u32> = serial.order.iter().map(|task| task.0).collect();
    Ok(json!({"order": order, "cost": serial.cost as i64}))
}

fn as_ready(task: TaskId) -> ReadyTask {
    ReadyTask::first(task, ClassId(0))
}

fn schedule(request: &Request) -> Result<Value, String> {
    let instance = Instance::of(request)?;
    let (metric, units) = (metric_of(request)?, instance.machine.units);
    let swaps = request.get("swaps").and_then(Value::as_bool).unwrap_or(true);
    let search = Search { swaps, steps: u64::MAX };
    let items = instance.items();
    let graph = || Arc::new(instance.model.clone());
    let (mut decisions, mut serial) = (Vec::new(), Vec::new());
    let run =
        |chooser: &mut dyn Chooser| predict::run(&instance.model, instance.machine, chooser, Box::new(Lru::default()));
    let in_order = |order: Box<dyn Order>| run(&mut InOrder::new(order, as_ready));
    let outcome = match request.text("alg")? {
        "fixed" => {
            let list = |list: &Value| tasks_of(list.as_array().ok_or("bad request: a list of tasks is missing")?);
            run(&mut FixedLists::new(request.list("lists")?.iter().map(list).collect::<Result<_, _>>()?))
        }
        "ps" => {
            serial = match request.get("serial") {
                Some(_) => tasks_of(request.list("serial")?)?,
                None => {
                    let method = method(request, items.task_count())?;
                    serial_order(items, &instance.model, metric, method).ok_or(NO_TIME)?.order
                }
            };
            run(&mut Follower::new(serial.clone()))
        }
        "og" => in_order(Box::new(order::og::order(items.clone(), metric))),
        "gcs" => {
            let order = Box::new(order::gcs::order(items.clone(), graph(), metric, units, search));
            let mut watched = Watched::new(&instance.model, order, metric, units, search);
            let outcome = run(&mut watched);
            decisions = watched.decisions;
            outcome
        }
        "b1" => in_order(Box::new(order::random::order(request.whole_or("seed", 1)?))),
        "b2" => in_order(Box::new(order::heft::order(Arc::new(instance.ranks.clone())))),
        other => return Err(format!("bad request: there is no algorithm `{other}`")),
    };
    let name = |item: &u32| instance.makers[*item as usize];
    let tasks = outcome.tasks.iter().map(|ran| {
        let missed: Vec<u32> = ran.missed.iter().map(name).collect();
        json!({"task": ran.task.0, "pu": ran.unit, "start": ran.start, "end": ran.end, "miss": missed})
    });
    let order: Vec<u32> = outcome.tasks.iter().map(|ran| ran.task.0).collect();
    let serial: Vec<u32> = serial.iter().map(|task| task.0).collect();
    Ok(json!({
        "makespan": outcome.makespan,
        "misses": outcome.misses,
        "io": outcome.missed_bytes as u64,
        "idle": outcome.idle as u64,
        "order": order,
        "tasks": tasks.collect::<Vec<_>>(),
        "decisions": decisions,
        "serial": serial,
    }))
}

/// An order whose every choice is held against the scores that it should have gone by.
struct Watched<'a> {
    model: &'a Model,
    order: Box<dyn Order>,
    recency: Recency,
    open: Vec<u32>,
    running: Vec<TaskId>,
    units: usize,
    search: Search,
    decisions: Vec<Value>,
}

impl<'a> Watched<'a> {
    fn new(model: &'a Model, order: Box<dyn Order>, metric: Metric, units: usize, search: Search) -> Watched<'a> {
        let open = model.tasks().map(|task| model.parent_count(task)).collect();
        let recency = Recency::new(model.items().clone(), metric);
        Watched { model, order, recency, open, running: Vec::new(), units, search, decisions: Vec::new() }
    }
}

impl Chooser for Watched<'_> {
    fn ready(&mut self, task: TaskId) {
        self.order.push(as_ready(task));
    }

    fn choose(&mut self, now: u64, ready: &BTreeSet<TaskId>) -> Choice {
        let Some(picked) = self.order.pop(&|_| true) else { return Choice::Nothing };
        let ready = ready.iter().copied().collect();
        let (recency, running) = (&self.recency, self.running.clone());
        let situation = Situation { recency, open: &self.open, ready, running, units: self.units };
        let scores = scores(&situation, self.model, self.search).unwrap_or_default();
        let best = scores.iter().min_by_key(|(task, score)| (*score, *task)).map(|(task, _)| task.0);
        let told = scores.iter().map(|(task, score)| (task.0.to_string(), json!(*score as i64)));
        let pick = if best == Some(picked.task.0) { json!(picked.task.0) } else { json!("not the best") };
        self.decisions.push(json!({"time": now, "scores": told.collect::<Map<_, _>>(), "pick": pick}));
        Choice::Start(picked.task)
    }

    fn started(&mut self, task: TaskId) {
        self.recency.start(task);
        self.running.push(task);
    }

    fn ended(&mut self, task: TaskId) {
        self.order.ended(task);
        self.running.retain(|running| *running != task);
        self.model.children(task).iter().for_each(|child| self.open[child.index()] -= 1);
    }
}
