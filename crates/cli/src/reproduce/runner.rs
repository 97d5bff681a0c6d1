//! Runs the cases of all experiments on all cores, without holding more in memory than a machine has.
//!
//! A workflow is read when the first case needs it and let go with the last one. Large cases wait for each other: what is under way never
//! has more tasks together than [`TASKS_AT_ONCE`], unless a single case alone has more.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use throng_core::workflow::{Format, NoFiles, Workflow};
use throng_sim::generate::{Options, Plan, Shape};

use super::repeated::{Ending, Repeated};
use crate::exit::Failure;
use crate::simulate::progress::Bar;

/// Tasks under way at once: each takes 100 bytes in a bag and 150 where it reads a file, so this is less than a gigabyte.
const TASKS_AT_ONCE: u64 = 5_000_000;

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

/// One run of an experiment.
pub trait Job: Sync + Send {
    /// What comes out of it.
    type Outcome: Ending + Send;
    /// By what it is found again.
    fn label(&self) -> &str;
    /// What runs.
    fn recipe(&self) -> &Recipe;
    /// Runs it.
    fn run(&self, flow: &Arc<Workflow>) -> Result<Self::Outcome, Failure>;
    /// The run and its figures, for programs.
    fn as_json(&self, outcome: &Self::Outcome) -> Value;
}

/// What came out of an experiment's runs.
pub struct Results<J: Job> {
    runs: Vec<(J, J::Outcome)>,
}

impl<J: Job> Results<J> {
    /// The run of this label, with every seed. Everybody asks only for what he has ordered.
    pub fn get(&self, label: &str) -> Repeated<'_, J::Outcome> {
        let runs: Vec<_> =
            self.runs.iter().filter(|(job, _)| job.label() == label).map(|(_, outcome)| outcome).collect();
        assert!(!runs.is_empty(), "no run is called `{label}`");
        Repeated { runs }
    }

    /// All runs, in the order in which they were asked for.
    pub fn iter(&self) -> impl Iterator<Item = &(J, J::Outcome)> {
        self.runs.iter()
    }

    /// Whether every run came to its end.
    pub fn is_whole(&self) -> bool {
        self.runs.iter().all(|(_, outcome)| outcome.is_whole())
    }
}

/// A workflow that several cases share.
struct Shared {
    recipe: Recipe,
    tasks: u64,
    flow: Mutex<Option<Arc<Workflow>>>,
    users: AtomicUsize,
}

/// What came out of a run, as soon as something has.
type Done<J> = Mutex<Option<Result<<J as Job>::Outcome, Failure>>>;

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
pub fn run<J: Job>(experiments: Vec<Vec<J>>) -> Result<Vec<Results<J>>, Failure> {
    let mut workflows: Vec<Shared> = Vec::new();
    let mut jobs: Vec<(usize, J)> = Vec::new();
    let lengths: Vec<usize> = experiments.iter().map(Vec::len).collect();
    for case in experiments.into_iter().flatten() {
        let at = workflows.iter().position(|known| known.recipe == *case.recipe()).unwrap_or_else(|| {
            let (recipe, tasks) = (case.recipe().clone(), case.recipe().task_count());
            workflows.push(Shared { recipe, tasks, flow: Mutex::new(None), users: AtomicUsize::new(0) });
            workflows.len() - 1
        });
        *workflows[at].users.get_mut() += 1;
        jobs.push((at, case));
    }
    // Cases of one workflow run one after the other, so that few workflows are in memory.
    let mut order: Vec<usize> = (0..jobs.len()).collect();
    order.sort_by_key(|job| jobs[*job].0);
    let done: Vec<Done<J>> = jobs.iter().map(|_| Mutex::new(None)).collect();
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
        Ok((case, outcome.expect("every case was taken by some thread")?))
    });
    let of_experiment = |length: &usize| {
        let runs = outcomes.by_ref().take(*length).collect::<Result<_, Failure>>()?;
        Ok(Results { runs })
    };
    lengths.iter().map(of_experiment).collect()
}

fn simulate<J: Job>(shared: &Shared, case: &J, room: &Room) -> Result<J::Outcome, Failure> {
    room.enter(shared.tasks);
    let flow = locked(&shared.flow).get_or_insert_with(|| shared.recipe.workflow()).clone();
    let outcome = case.run(&flow);
    if shared.users.fetch_sub(1, Ordering::Relaxed) == 1 {
        *locked(&shared.flow) = None;
    }
    room.leave(shared.tasks);
    outcome
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_that_is_too_large_runs_alone() {
        let room = Room::default();
        room.enter(TASKS_AT_ONCE * 3);
        room.leave(TASKS_AT_ONCE * 3);
        room.enter(1);
        assert_eq!(*locked(&room.taken), 1);
    }
}
