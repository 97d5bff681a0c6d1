//! One run of a workflow on this machine, from what is recorded to how it ended.

mod beginning;
mod outlook;

use std::path::PathBuf;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use thiserror::Error;
use throng_core::policy::{BadPolicy, Policy};
use throng_core::stale::Wish;
use throng_core::workflow::{Demand, Pool, Resources, Workflow};

use crate::clock::Clock;
use crate::driver::{Driver, Engine, EngineError};
use crate::state::{About, ExpectedData, Lock, NodeSetup, RunDirectory, RunEnd, StateError};
use crate::store::JournalError;
use crate::store::learnt::Shelf;
use crate::tier::{self, Clearing, TierError};

pub use beginning::make_node;
pub use outlook::Outlook;

/// By what files are told apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Verify {
    /// By size and time of modification.
    #[default]
    Modified,
    /// By reading them.
    Content,
}

/// How to run.
#[derive(Clone, Debug)]
pub struct Options {
    /// The directory that the workflow's paths start from.
    pub directory: PathBuf,
    /// The directory that the state belongs to: the same, unless the paths start from somewhere in the state itself.
    pub home: PathBuf,
    /// The file that the workflow was read from, for the record.
    pub file: PathBuf,
    /// The state directory.
    pub state: PathBuf,
    /// Which ready task is next.
    pub order: Policy,
    /// What may run at once.
    pub pack: Policy,
    /// How many tasks may run at once.
    pub width: u32,
    /// Cores and memory to give.
    pub resources: Resources,
    /// What else there is to give, by name.
    pub pools: Vec<Pool>,
    /// The text of the workflow, for the record.
    pub definition: String,
    /// How long a task that is asked to end may take.
    pub grace: Duration,
    /// Start nothing more after a failure.
    pub fail_fast: bool,
    /// By what files are told apart.
    pub verify: Verify,
    /// Whether tasks are held to the memory that they say they need, where the system can do that.
    pub holds_to_memory: bool,
    /// Forget all records first.
    pub fresh: bool,
    /// What is wanted.
    pub wish: Wish,
    /// The type of machine that this one is said to be.
    pub machine_type: Option<String>,
    /// The run's clock, which started when the command did.
    pub clock: Clock,
    /// Room into which inputs are brought from slow storage.
    pub tier: Option<tier::Options>,
}

/// Why there was no run, or not to the end.
#[derive(Debug, Error)]
pub enum RunError {
    /// The state directory.
    #[error(transparent)]
    State(#[from] StateError),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A policy.
    #[error(transparent)]
    Policy(#[from] BadPolicy),
    /// A task that cannot run here.
    #[error("task `{task}` can never run here: it asks for {asks}, and the run has {has}")]
    NeverFits {
        /// The task.
        task: String,
        /// What it asks for.
        asks: String,
        /// What there is.
        has: String,
    },
    /// A task whose container nobody can run.
    #[error("task `{task}` runs in a container, but there is no {} here", wanted.join(" or "))]
    NoContainers {
        /// The task.
        task: String,
        /// Programs that would do.
        wanted: Vec<String>,
    },
    /// The memory tier.
    #[error(transparent)]
    Tier(#[from] TierError),
    /// A process of an earlier engine that does not end.
    #[error("process group {0}, left over from a run that was killed, does not end")]
    Leftover(i32),
    /// While running.
    #[error(transparent)]
    Engine(#[from] EngineError),
}

/// A run that is ready to go.
pub struct Run {
    driver: Driver,
    directory: RunDirectory,
    about: About,
    damaged_bytes: u64,
    lost_learnt: Option<String>,
    clearing: Option<Clearing>,
    flow: Arc<Workflow>,
    lock: Arc<Lock>,
    /// Where what is learnt is kept.
    shelf: Shelf,
}

impl Run {
    /// The run's number.
    pub fn number(&self) -> u64 {
        self.directory.number
    }

    /// Bytes of the journal that were damaged and had to be left out.
    pub fn damaged_bytes(&self) -> u64 {
        self.damaged_bytes
    }

    /// What is wrong with what earlier runs have learnt, if that cannot be read.
    pub fn lost_learnt(&self) -> Option<&str> {
        self.lost_learnt.as_deref()
    }

    /// A handle by which others can watch and stop the run.
    pub fn engine(&self) -> Engine {
        self.driver.engine()
    }

    /// Runs everything; returns when nothing is left to do.
    pub fn execute(mut self) -> Result<RunEnd, RunError> {
        let engine = self.driver.engine();
        let end = self.driver.execute();
        drop(self.clearing.take());
        // Whatever else has gone wrong then went wrong because of that.
        self.lock.check_place()?;
        let mut end = end?;
        if let Some(data) = end.data.as_mut().filter(|_| end.done == end.total) {
            data.expected = expect(self.flow.clone(), self.about.node.clone());
        }
        end.not_kept = self.shelf.keep(engine.pasts()).err().map(|error| error.to_string());
        self.about.end = Some(end.clone());
        self.directory.write_about(&self.about).map_err(EngineError::State)?;
        Ok(end)
    }
}

/// Nobody waits longer than this at the end of a run to hear what was to be expected of it.
const EXPECTING_PATIENCE: Duration = Duration::from_secs(1);

/// What had to be brought, by prediction, if that is soon worked out.
fn expect(flow: Arc<Workflow>, setup: NodeSetup) -> Option<ExpectedData> {
    let (sender, answer) = mpsc::channel();
    let work = move || sender.send(tier::plan::expected(&flow, &setup));
    // Whoever is not done in time ends with the program.
    std::thread::Builder::new().name("predictor".to_owned()).spawn(work).ok()?;
    answer.recv_timeout(EXPECTING_PATIENCE).ok().flatten()
}

/// What is asked for, or what there is, in words.
pub fn demand_in_words(demand: &Demand<'_>) -> String {
    let cpus = demand.cpus_milli as f64 / 1000.0;
    let mut parts = vec![format!("{cpus} {}", if cpus == 1.0 { "core" } else { "cores" })];
    match demand.memory_bytes {
        0 => {}
        bytes if bytes >= 1_000_000_000 => parts.push(format!("{:.1} GB of memory", bytes as f64 / 1e9)),
        bytes => parts.push(format!("{:.1} MB of memory", bytes as f64 / 1e6)),
    }
    parts.extend(demand.named.iter().map(|(name, amount)| format!("{} of `{name}`", *amount as f64 / 1000.0)));
    match parts.pop() {
        Some(last) if !parts.is_empty() => format!("{} and {last}", parts.join(", ")),
        last => last.unwrap_or_default(),
    }
}
