//! Requests about Weasel: one measurement, the adaptation step by step, the same on a node that is made up, and who runs beside whom.

use serde_json::{Value, json};
use throng_core::pack::dominant::{Resource, Use, beside_each_other, dominant};
use throng_core::pack::usual::{BINS, usual};
use throng_core::pack::weasel::adaptation::{Adaptation, Config, Step, TASK_SHARE, Threshold};
use throng_core::rng::Rng;

use super::request::{Request, number, small, whole};

/// The answer to a request of this part; `None` if there is no such operation.
pub fn answer(op: &str, request: &Request) -> Option<Result<Value, String>> {
    Some(match op {
        "measure" => measure(request),
        "colocate" => colocate(request),
        "run" => run(request),
        "simulate" => simulate(request),
        _ => return None,
    })
}

fn measure(request: &Request) -> Result<Value, String> {
    let samples = request.list("samples")?.iter().map(number).collect::<Result<Vec<f64>, _>>()?;
    let (_, bins) = config(request, 1.0)?;
    let value = usual(&samples, bins).ok_or("bad request: there are no samples")?;
    Ok(json!({ "value": value }))
}

fn colocate(request: &Request) -> Result<Value, String> {
    let mut dominants = Vec::new();
    for queue in request.list("queues")? {
        let queue = Request::of(queue)?;
        let mut used = Use::default();
        for resource in Resource::ALL {
            used[resource as usize] = queue.number_or(resource.name(), 0.0)?;
        }
        dominants.push(dominant(&used));
    }
    let names: Vec<&str> = dominants.iter().map(|resource| resource.name()).collect();
    Ok(json!({ "dominant": names, "now": beside_each_other(&dominants) }))
}

/// The parameters, and into how many bins samples are sorted.
fn config(request: &Request, use_of_one: f64) -> Result<(Config, usize), String> {
    let usual = Config::usual(use_of_one);
    let Some(given) = request.get("config") else { return Ok((usual, BINS)) };
    let given = Request::of(given)?;
    let share = given.number_or("tc_scale", TASK_SHARE)?;
    let is_per_task = given.get("tc_mode").is_none_or(|mode| mode.as_str() == Some("per_task"));
    let least = match given.get("tc").filter(|tc| !tc.is_null()) {
        Some(tc) => number(tc)?,
        None => share * use_of_one,
    };
    let drift = match given.get("drift") {
        Some(Value::Null) => None,
        Some(drift) => Some(number(drift)?),
        None => usual.drift,
    };
    let config = Config {
        alpha: given.number_or("alpha", usual.alpha)?,
        threshold: Threshold { least, is_per_task },
        start_after: given.whole_or("start_after", usual.start_after.into())? as u32,
        least: given.whole_or("n_min", usual.least.into())? as u32,
        most: given.whole_or("n_max", usual.most.into())? as u32,
        window: given.whole_or("max_window", usual.window as u64)? as usize,
        drift,
    };
    Ok((config, given.whole_or("bins", BINS as u64)? as usize))
}

fn run(request: &Request) -> Result<Value, String> {
    let (config, _) = config(request, request.number_or("u1", 1.0)?)?;
    let mut adaptation = Adaptation::new(config);
    let mut steps = Vec::new();
    for pair in request.list("steps")? {
        let [tasks, measured] = pair.as_array().map(Vec::as_slice).unwrap_or_default() else {
            return Err(format!("bad request: {pair} is not a pair"));
        };
        steps.push(as_json(&adaptation.step(small(tasks)?, number(measured)?)));
    }
    let (good, bad): (Vec<u32>, Vec<u32>) = (adaptation.good().collect(), adaptation.bad().collect());
    Ok(json!({ "steps": steps, "good": good, "bad": bad }))
}

fn as_json(step: &Step) -> Value {
    let Some(contention) = step.contention else {
        return json!({ "u": step.used, "dir": 0, "next": step.next });
    };
    json!({
        "u": step.used,
        "dir": if contention { -1 } else { 1 },
        "contention": contention,
        "same_dir": step.same_direction,
        "inc": step.increase,
        "next": step.next,
    })
}

/// A node that is made up.
struct Model {
    use_of_one: f64,
    /// From which interval on there is how much.
    capacity: Vec<(u64, f64)>,
    noise: f64,
    thrash: f64,
    samples: u64,
    busy: f64,
}

impl Model {
    fn of(model: &Request) -> Result<Model, String> {
        let capacity = match model.get("cap") {
            Some(Value::Array(steps)) => {
                let pair = |step: &Value| match step.as_array().map(Vec::as_slice) {
                    Some([from, capacity]) => Ok((whole(from)?, number(capacity)?)),
                    _ => Err(format!("bad request: {step} is not a pair")),
                };
                steps.iter().map(pair).collect::<Result<_, _>>()?
            }
            _ => vec![(0, model.number("cap")?)],
        };
        Ok(Model {
            use_of_one: model.number("u1")?,
            capacity,
            noise: model.number_or("noise", 0.0)?,
            thrash: model.number_or("thrash", 0.0)?,
            samples: model.whole_or("samples", 10)?,
            busy: model.number_or("busy", 0.7)?,
        })
    }

    /// What so many tasks use.
    fn used(&self, interval: u64, tasks: u32) -> f64 {
        let capacity = self.capacity.iter().rev().find(|(from, _)| *from <= interval).map_or(0.0, |(_, there)| *there);
        let wanted = f64::from(tasks) * self.use_of_one;
        (wanted.min(capacity) - self.thrash * (wanted - capacity).max(0.0)).max(0.0)
    }

    fn samples(&self, used: f64, rng: &mut Rng) -> Vec<f64> {
        let busy = self.busy * self.samples as f64;
        let level = |at| if (at as f64) < busy { used } else { 0.4 * used };
        (0..self.samples).map(|at| (level(at) + self.noise * (2.0 * rng.unit() - 1.0)).max(0.0)).collect()
    }
}

fn simulate(request: &Request) -> Result<Value, String> {
    let fields = request.get("model").ok_or("bad request: `model` is missing")?;
    let model = Model::of(&Request::of(fields)?)?;
    let (config, bins) = config(request, model.use_of_one)?;
    let mut adaptation = Adaptation::new(config);
    let mut rng = Rng::new(request.whole_or("seed", 1)?);
    let mut tasks = request.whole_or("start", 1)? as u32;
    let (mut trace, mut seen) = (Vec::new(), Vec::new());
    for interval in 0..request.whole("intervals")? {
        let used = model.used(interval, tasks);
        let measured = usual(&model.samples(used, &mut rng), bins).unwrap_or(0.0);
        trace.push(json!([interval, tasks, measured]));
        seen.push((tasks, used));
        tasks = adaptation.step(tasks, measured).next;
    }
    let mut segments = Vec::new();
    for segment in request.get("segments").and_then(Value::as_array).into_iter().flatten() {
        let [from, to] = segment.as_array().map(Vec::as_slice).unwrap_or_default() else {
            return Err(format!("bad request: {segment} is not a pair"));
        };
        let (from, to) = (whole(from)?, whole(to)?);
        let part = seen.get(from as usize..(to as usize).min(seen.len())).unwrap_or_default();
        let mean = |of: &dyn Fn(&(u32, f64)) -> f64| part.iter().map(of).sum::<f64>() / part.len() as f64;
        segments.push(json!({
            "from": from,
            "to": to,
            "mean_n": mean(&|(tasks, _)| f64::from(*tasks)),
            "min_n": part.iter().map(|(tasks, _)| *tasks).min(),
            "max_n": part.iter().map(|(tasks, _)| *tasks).max(),
            "mean_true": mean(&|(_, used)| *used),
        }));
    }
    Ok(json!({ "segments": segments, "trace": trace }))
}
