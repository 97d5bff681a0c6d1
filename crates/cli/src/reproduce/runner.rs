//! Runs the cases of all experiments on all cores, without holding more in memory than a machine has.
//!
//! A workflow is read when the first case needs it and let go with the last one. Large cases wait for each other: what is under way never
//! has more tasks together than [`TASKS_AT_ONCE`], unless a single case alone has more.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use throng_core::workflow::{Format, NoFiles, Workflow};
use throng_sim::generate::{Options, Plan, Shape};
use throng_sim::{Cluster, Outcome, World};

use super::repeated::Repeated;
use crate::exit::Failure;
use crate::simulate::progress::Bar;

/// Tasks under way at once: each takes 100 bytes in a bag and 150 where it reads a file, so this is less than a gigabyte.
const TASKS_AT_ONCE: u64 = 5_000_000;
/// Points of a curve of busy slots that are kept: as many as can be seen.
const CURVE_POINTS: usize = 300;

/// How to come by a workflow.
#[derive(Clone, Debug, PartialEq)]
pub enum Recipe {
    /// A benchmark workflow.
    Shape {
        /// Its shape.
        name: &'static str,
        /// Options of the shape, as they would be typed.
        options: Vec<(&'static str, String)>,
        /// Where drawing begins.
        seed: u64,
        /// Whether lengths and sizes are drawn by the simulator instead of being written down.
        means: bool,
        /// Whether nodes know how long tasks take.
        estimates: bool,
    },
    /// Text, and how many tasks it stands for.
    Text(String, u64),
}

impl Recipe {
    fn plan(&self) -> Option<Plan> {
        let Recipe::Shape { name, options: given, seed, means, estimates } = self else { return None };
        let mut options = Options::default();
        (options.seed, options.means, options.estimates) = (*seed, *means, *estimates);
        given.iter().for_each(|(name, text)| options.set(name, text));
        let shape = Shape::find(name).expect("experiments name shapes that there are");
        Some(shape.plan(&options).expect("experiments set options that a shape takes"))
    }

    fn task_count(&self) -> u64 {
        match self {
            Recipe::Text(_, count) => *count,
            Recipe::Shape { .. } => self.plan().map_or(0, |plan| plan.task_count()),
        }
    }

    fn workflow(&self) -> Arc<Workflow> {
        let written = self.plan().map(|plan| {
            let mut bytes = Vec::new();
            plan.write(Format::Yaml, &mut bytes).expect("memory can be written");
            String::from_utf8(bytes).expect("a plan is written as text")
        });
        let text = match self {
            Recipe::Text(text, _) => text.as_str(),
            Recipe::Shape { .. } => written.as_deref().unwrap_or_default(),
        };
        match Workflow::parse(text, Format::Yaml, "experiment", &NoFiles) {
            Ok(flow) => Arc::new(flow),
            Err(problems) => panic!("an experiment's workflow is wrong: {problems:?}"),
        }
    }
}

/// A run to simulate.
pub struct Case {
    /// By what it is found again.
    pub label: String,
    /// What runs.
    pub recipe: Recipe,
    /// Where.
    pub cluster: Cluster,
    /// Whether somebody wants to see how many slots were busy when.
    pub wants_curve: bool,
}

/// What came out of an experiment's cases.
pub struct Results {
    runs: Vec<(String, Cluster, Outcome)>,
}

impl Results {
    /// The run of this label, with every seed. Everybody asks only for what he has ordered.
    pub fn get(&self, label: &str) -> Repeated<'_> {
        let runs = self.runs.iter().filter(|(known, _, _)| known == label).map(|(_, _, outcome)| outcome);
        let runs: Vec<&Outcome> = runs.collect();
        assert!(!runs.is_empty(), "no run is called `{label}`");
        Repeated { runs }
    }

    /// All runs, in the order of their cases.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Cluster, &Outcome)> {
        self.runs.iter().map(|(label, cluster, outcome)| (label.as_str(), cluster, outcome))
    }

    /// Whether every run came to its end.
    pub fn is_whole(&self) -> bool {
        self.runs.iter().all(|(_, _, outcome)| outcome.stuck.is_none() && outcome.not_done == 0)
    }
}

/// A workflow that several cases share.
struct Shared {
    recipe: Recipe,
    tasks: u64,
    flow: Mutex<Option<Arc<Workflow>>>,
    users: AtomicUsize,
}

/// How many tasks are under way.
#[derive(Default)]
struct Room {
    taken: Mutex<u64>,
    freed: Condvar,
}

impl Room {
    fn enter(&self, tasks: u64) {
        let mut taken = locked(&self.taken);
        while *taken > 0 && *taken + tasks > TASKS_AT_ONCE {
            taken = self.freed.wait(taken).unwrap_or_else(PoisonError::into_inner);
        }
        *taken += tasks;
    }

    fn leave(&self, tasks: u64) {
        *locked(&self.taken) -= tasks;
        self.freed.notify_all();
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs the cases of several experiments.
pub fn run(experiments: Vec<Vec<Case>>) -> Result<Vec<Results>, Failure> {
    let mut workflows: Vec<Shared> = Vec::new();
    let mut jobs: Vec<(usize, Case)> = Vec::new();
    let lengths: Vec<usize> = experiments.iter().map(Vec::len).collect();
    for case in experiments.into_iter().flatten() {
        let at = workflows.iter().position(|known| known.recipe == case.recipe).unwrap_or_else(|| {
            let (recipe, tasks) = (case.recipe.clone(), case.recipe.task_count());
            workflows.push(Shared { recipe, tasks, flow: Mutex::new(None), users: AtomicUsize::new(0) });
            workflows.len() - 1
        });
        *workflows[at].users.get_mut() += 1;
        jobs.push((at, case));
    }
    // Cases of one workflow run one after the other, so that few workflows are in memory.
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|job| jobs[*job].0);
    let done: Vec<Mutex<Option<Result<Outcome, Failure>>>> = jobs.iter().map(|_| Mutex::new(None)).collect();
    let (next, room) = (AtomicUsize::new(0), Room::default());
    let bar = Bar::new(jobs.len() as u64, "runs");
    let threads = std::thread::available_parallelism().map_or(1, |cores| cores.get()).min(jobs.len());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(job) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let (at, case) = &jobs[*job];
                    *locked(&done[*job]) = Some(simulate(&workflows[*at], case, &room));
                    if let Some(bar) = &bar {
                        bar.add_one();
                    }
                }
            });
        }
    });
    let mut outcomes = jobs.into_iter().zip(done).map(|((_, case), done)| {
        let outcome = done.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((case.label, case.cluster, outcome.expect("every case was taken by some thread")?))
    });
    let of_experiment = |length: &usize| {
        let runs = outcomes.by_ref().take(*length).collect::<Result<_, Failure>>()?;
        Ok(Results { runs })
    };
    lengths.iter().map(of_experiment).collect()
}

fn simulate(shared: &Shared, case: &Case, room: &Room) -> Result<Outcome, Failure> {
    room.enter(shared.tasks);
    let flow = locked(&shared.flow).get_or_insert_with(|| shared.recipe.workflow()).clone();
    let world = World::new(flow, case.cluster.clone());
    let world = world.map_err(|error| Failure::internal(error, "this is a bug in an experiment: please report it"))?;
    let mut outcome = if case.wants_curve { world.with_curve() } else { world }.run();
    outcome.busy_curve = thinned(&outcome.busy_curve, outcome.makespan);
    if shared.users.fetch_sub(1, Ordering::Relaxed) == 1 {
        *locked(&shared.flow) = None;
    }
    room.leave(shared.tasks);
    Ok(outcome)
}

/// The mean of a curve in each of [`CURVE_POINTS`] parts of its time.
fn thinned(curve: &[(Duration, u32)], length: Duration) -> Vec<(Duration, u32)> {
    if curve.is_empty() || length.is_zero() {
        return Vec::new();
    }
    let step = length.as_secs_f64() / CURVE_POINTS as f64;
    let mut sums = vec![0.0; CURVE_POINTS];
    let ends = curve.iter().skip(1).map(|(time, _)| *time).chain([length]);
    for ((from, busy), to) in curve.iter().zip(ends) {
        let (from, to) = (from.as_secs_f64(), to.min(length).as_secs_f64());
        for (part, sum) in sums.iter_mut().enumerate().skip((from / step) as usize) {
            let (begin, end) = (part as f64 * step, (part + 1) as f64 * step);
            if begin >= to {
                break;
            }
            *sum += f64::from(*busy) * (end.min(to) - begin.max(from)).max(0.0);
        }
    }
    let point = |(part, sum): (usize, &f64)| (Duration::from_secs_f64(part as f64 * step), (sum / step).round() as u32);
    sums.iter().enumerate().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thinned_curve_has_the_same_area() {
        let second = Duration::from_secs;
        let curve = [(second(0), 100), (second(15), 40), (second(20), 0)];
        let thin = thinned(&curve, second(30));
        let area: f64 = thin.iter().map(|(_, busy)| f64::from(*busy) * 30.0 / CURVE_POINTS as f64).sum();
        assert!((area - 1700.0).abs() < 1.0, "{area}");
        assert_eq!((thin[0].1, thin[199].1, thin[299].1), (100, 40, 0));
        assert!(thinned(&[], second(1)).is_empty());
    }

    #[test]
    fn a_case_that_is_too_large_runs_alone() {
        let room = Room::default();
        room.enter(TASKS_AT_ONCE * 3);
        room.leave(TASKS_AT_ONCE * 3);
        room.enter(1);
        assert_eq!(*locked(&room.taken), 1);
    }
}
