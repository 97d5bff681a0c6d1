//! One run of a workflow on this machine, from what is recorded to how it ended.

use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use thiserror::Error;
use throng_core::fingerprint::Stamp;
use throng_core::ids::{DemandId, ObjectId, TaskId};
use throng_core::ledger::{Ledger, Standing};
use throng_core::locality::Knowledge;
use throng_core::node::{Limits, Node, Policies};
use throng_core::pack::Capacity;
use throng_core::policy::{BadPolicy, Policy};
use throng_core::pools::Pools;
use throng_core::stale::{self, InputsSeen, Known, Reason, Verdict, Wish};
use throng_core::temp::Temps;
use throng_core::workflow::{CONTAINER_RUNNERS, Demand, Pool, Resources, Workflow};
use throng_core::{evict, order, pack};

use crate::clock::Clock;
use crate::containers;
use crate::driver::{Driver, Engine, EngineError, Parts};
use crate::files::Workplace;
use crate::host;
use crate::objects::Objects;
use crate::process::leftover;
use crate::state::{
    About, ExpectedData, Lock, NodeSetup, PoolSetup, RunDirectory, RunEnd, StateDirectory, StateError, io_error,
    write_whole,
};
use crate::store::journal::{self, Pending, UNFINISHED};
use crate::store::{Journal, JournalError, Recorded};
use crate::tier::plan::Plan;
use crate::tier::{self, Clearing, DirectoryLock, Tier, TierError};

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
    /// Forget all records first.
    pub fresh: bool,
    /// What is wanted.
    pub wish: Wish,
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

/// What is known before anything runs. Making one changes nothing.
pub struct Outlook {
    flow: Arc<Workflow>,
    options: Options,
    recorded: Recorded,
    verdicts: Vec<Verdict>,
    known: Vec<Known>,
    plan: Option<Plan>,
}

impl Outlook {
    /// Looks at what is recorded and at the files, and judges every task.
    pub fn new(flow: Arc<Workflow>, options: Options) -> Result<Outlook, RunError> {
        order::check(&options.order)?;
        let state = StateDirectory::new(&options.state);
        let mut recorded = match Recorded::read(&state.journal(), &flow) {
            Err(JournalError::Version { .. }) if options.fresh => Recorded::default(),
            other => other?,
        };
        if options.fresh {
            let wanted = stale::wanted(&flow, &options.wish.all_targets());
            recorded.forget(|task| wanted[task.index()]);
        }
        let place = Workplace::open(&options.directory, PathBuf::new(), PathBuf::new())
            .map_err(io_error("open", &options.directory))?;
        let plan = match &options.tier {
            Some(wanted) => {
                evict::check(&wanted.evict)?;
                Some(Plan::new(&flow, &place, wanted)?)
            }
            None => None,
        };
        let flow = match &plan {
            Some(plan) => {
                let mut flow = Arc::unwrap_or_clone(flow);
                flow.learn_sizes(plan.sizes());
                Arc::new(flow)
            }
            None => flow,
        };
        let known = look(&flow, &recorded, &place, &options, plan.as_ref());
        let nothing_known = recorded.is_empty() && !options.wish.adopt && options.wish.targets.is_empty();
        let verdicts = if nothing_known {
            Vec::new()
        } else {
            let known = |object: ObjectId| known.get(object.index()).copied().unwrap_or_default();
            stale::judge(&flow, &options.wish, |task| recorded.memory(task), known)
        };
        let outlook = Outlook { flow, options, recorded, verdicts, known, plan };
        outlook.check_fit()?;
        outlook.check_containers()?;
        if let Some(plan) = &outlook.plan {
            plan.check_fit(&outlook.flow, |task| outlook.may_run(task))?;
        }
        Ok(outlook)
    }

    /// What is to become of a task.
    pub fn verdict(&self, task: TaskId) -> Verdict {
        // Nothing on record and nothing asked for in particular: no array of ten million is needed to say so.
        self.verdicts.get(task.index()).copied().unwrap_or(Verdict::Run(Reason::NeverDone))
    }

    /// Bytes of the journal that were damaged and had to be left out.
    pub fn damaged_bytes(&self) -> u64 {
        self.recorded.found.damaged_bytes
    }

    fn capacity(&self) -> Capacity {
        Capacity { width: self.options.width, resources: self.options.resources }
    }

    fn check_fit(&self) -> Result<(), RunError> {
        let options = &self.options;
        let pack = pack::by_name(&options.pack, self.capacity(), &self.flow)?;
        let pools = Pools::new(options.pools.clone(), &self.flow);
        let can_run = |demand: DemandId| pack.could_ever_admit(demand) && pools.could_ever_meet(demand);
        let fits: Vec<bool> = (0..self.flow.class_count())
            .map(|class| self.flow.alternatives(throng_core::ids::ClassId::at(class)).any(can_run))
            .collect();
        if fits.iter().all(|fits| *fits) {
            return Ok(());
        }
        let misfit = self.flow.tasks().find(|task| self.may_run(*task) && !fits[self.flow.class(*task, 1).index()]);
        let Some(task) = misfit else { return Ok(()) };
        let alternatives = self.flow.alternatives(self.flow.class(task, 1)).map(|demand| self.flow.demand(demand));
        let Resources { cpus_milli, memory_bytes } = options.resources;
        let named = options.pools.iter().map(|pool| (pool.name.as_str(), pool.amount_milli)).collect();
        Err(RunError::NeverFits {
            task: self.flow.name(task),
            asks: alternatives.map(|demand| demand_in_words(&demand)).collect::<Vec<_>>().join(", or "),
            has: demand_in_words(&Demand { cpus_milli, memory_bytes, named }),
        })
    }

    fn may_run(&self, task: TaskId) -> bool {
        matches!(self.verdict(task), Verdict::Run(_) | Verdict::Maybe)
    }

    /// Nothing starts if a task that may run could not, because nobody can run its container.
    fn check_containers(&self) -> Result<(), RunError> {
        if !self.flow.has_containers() {
            return Ok(());
        }
        let path = std::env::var_os("PATH").unwrap_or_default();
        let is_there = |runner: &str| std::env::split_paths(&path).any(|directory| directory.join(runner).is_file());
        let any_is_there = CONTAINER_RUNNERS.iter().any(|runner| is_there(runner));
        for task in self.flow.tasks().filter(|task| self.may_run(*task)) {
            let Some(container) = self.flow.container(task) else { continue };
            let wanted = match container.with {
                Some(with) if !is_there(&with) => vec![with],
                None if !any_is_there => CONTAINER_RUNNERS.map(str::to_owned).to_vec(),
                _ => continue,
            };
            return Err(RunError::NoContainers { task: self.flow.name(task), wanted });
        }
        Ok(())
    }

    /// Takes the lock, ends what an earlier engine left running, looks around, and sets everything up.
    pub fn begin(flow: Arc<Workflow>, options: Options) -> Result<Run, RunError> {
        let state = StateDirectory::new(&options.state);
        let links = match options.tier.as_ref().map(|_| tier::lock(&options.directory)) {
            // Most often it is a run with the same state, and that is what to say.
            Some(Err(TierError::Shared(_))) if state.path().exists() => {
                drop(state.lock()?);
                tier::lock(&options.directory)?
            }
            Some(lock) => lock?,
            None => None,
        };
        // Where nothing is yet, nothing is made before it is certain that the run can begin; otherwise the
        // lock comes first, because what another engine is still writing cannot be judged.
        let is_new = !state.path().exists();
        let early = if is_new { Some(Outlook::new(flow.clone(), options.clone())?) } else { None };
        let lock = state.lock()?;
        // Another engine may have come and gone between the two.
        let early = early.filter(|_| ![state.journal(), state.slots(), state.tier()].iter().any(|left| left.exists()));
        match early {
            Some(outlook) => outlook.set_up(state, lock, links),
            None => Outlook::begin_after(flow, options, (state, lock), links),
        }
    }

    /// The same for a trace: the files that it has from outside are made by `prepare`, when nobody else can be using them.
    pub fn begin_replay<E: From<RunError>>(
        flow: Arc<Workflow>,
        options: Options,
        prepare: impl FnOnce(&Workflow, &Path) -> Result<(), E>,
    ) -> Result<Run, E> {
        let state = StateDirectory::new(&options.state);
        let lock = state.lock().map_err(RunError::from)?;
        prepare(&flow, &options.directory)?;
        Ok(Outlook::begin_after(flow, options, (state, lock), None)?)
    }

    /// Goes on where somebody else may have been before.
    fn begin_after(
        flow: Arc<Workflow>,
        options: Options,
        (state, lock): (StateDirectory, Lock),
        links: Option<DirectoryLock>,
    ) -> Result<Run, RunError> {
        state.check_home(&options.home)?;
        clear_up(&state, &flow, &options.directory)?;
        Outlook::new(flow, options)?.set_up(state, lock, links)
    }

    fn set_up(mut self, state: StateDirectory, lock: Lock, links: Option<DirectoryLock>) -> Result<Run, RunError> {
        let mark = run_mark(&state);
        state.set_home(&self.options.home)?;
        let setup = self.node_setup();
        let place = self.options.directory.clone();
        let clearing = self.plan.is_some().then(|| Clearing { state: state.clone(), directory: place.clone() });
        let tier = match self.plan.take() {
            Some(plan) => Some(Tier::make(plan, (&state, &place), links)?),
            None => None,
        };
        let journal = self.open_journal(&state)?;
        let directory = state.make_run()?;
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let about = About {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            run: directory.number,
            workflow: self.flow.title().to_owned(),
            file: self.options.file.display().to_string(),
            started_unix_ms: started.as_millis() as u64,
            node: setup.clone(),
            host: host::describe(),
            simulated: None,
            end: None,
        };
        directory.write_about(&about)?;
        write_whole(&directory.definition(), self.options.definition.as_bytes())?;
        let node = make_node(&self.flow, &setup)?;
        let damaged_bytes = self.damaged_bytes();
        let Outlook { flow, options, recorded, verdicts, known, plan: _ } = self;
        let (aside, kept) = (state.aside(directory.number), state.kept(directory.number));
        let workplace =
            Workplace::open(&options.directory, aside, kept).map_err(io_error("open", &options.directory))?;
        let objects = Objects::new(flow.object_count());
        for (number, known) in known.iter().enumerate() {
            objects.set(ObjectId::at(number), known.current());
        }
        drop(known);
        let standing = |task: TaskId| match verdicts.get(task.index()) {
            Some(Verdict::Outside) => Standing::Outside,
            Some(Verdict::UpToDate | Verdict::Adopted) => Standing::UpToDate,
            Some(Verdict::Maybe | Verdict::Run(_)) | None => Standing::Pending,
        };
        let ledger = Ledger::new(&flow, standing);
        let verdict = |task: TaskId| verdicts.get(task.index()).copied().unwrap_or(Verdict::Run(Reason::NeverDone));
        let is_adopted = |object| recorded.made(object).is_some_and(|made| made.is_adopted);
        let (temps, unneeded) = Temps::new(&flow, verdict, is_adopted, &options.wish.targets);
        let driver = Driver::new(Parts {
            flow: flow.clone(),
            node,
            ledger,
            temps,
            unneeded,
            verdicts,
            recorded,
            objects,
            workplace,
            tier,
            journal,
            state,
            directory: directory.clone(),
            mark,
            verify: options.verify,
            uses_sizes: order::uses_sizes(&options.order),
            clock: options.clock,
            slots: options.width,
        })?;
        Ok(Run { driver, directory, about, damaged_bytes, clearing, flow, _lock: lock })
    }

    fn open_journal(&self, state: &StateDirectory) -> Result<Journal, RunError> {
        let path = state.journal();
        let kept = |name: &str| path.with_file_name(format!("journal.{name}"));
        if self.damaged_bytes() > 0 {
            std::fs::copy(&path, kept("damaged")).map_err(io_error("copy", &path))?;
        }
        if self.options.fresh {
            // What is there but could not be read is another version's, or none.
            let is_foreign =
                self.recorded.found.whole_bytes == 0 && std::fs::metadata(&path).is_ok_and(|found| found.len() > 0);
            if is_foreign {
                std::fs::rename(&path, kept("before-fresh")).map_err(io_error("set aside", &path))?;
            }
            let mut journal = Journal::open(&path, self.recorded.found.whole_bytes)?;
            // Now, so that the next run goes on with this one if it does not come to its end.
            journal.write(&self.recorded.unfinished_frames(&self.flow))?;
            return Ok(journal);
        }
        if !self.recorded.is_worth_compacting() {
            return Ok(Journal::open(&path, self.recorded.found.whole_bytes)?);
        }
        let draft = kept("draft");
        let _ = std::fs::remove_file(&draft);
        let mut compacted = Journal::open(&draft, 0)?;
        compacted.write(&self.recorded.compacted(&self.flow))?;
        compacted.syncer()?.sync()?;
        std::fs::rename(&draft, &path).map_err(io_error("replace", &path))?;
        let found = journal::read(&path, |_| ())?;
        Ok(Journal::open(&path, found.whole_bytes)?)
    }

    fn node_setup(&self) -> NodeSetup {
        let options = &self.options;
        NodeSetup {
            place: "here".to_owned(),
            order: options.order.to_string(),
            pack: options.pack.to_string(),
            width: options.width,
            cpus_milli: options.resources.cpus_milli,
            memory_bytes: options.resources.memory_bytes,
            grace_ms: options.grace.as_millis() as u64,
            fail_fast: options.fail_fast,
            pools: options.pools.iter().map(pool_setup).collect(),
            tier: self.plan.as_ref().map(|plan| plan.setup(options.width)),
        }
    }
}

fn pool_setup(pool: &Pool) -> PoolSetup {
    PoolSetup { name: pool.name.clone(), ids: pool.ids.clone(), amount_milli: pool.amount_milli }
}

/// Makes the node that a setup describes.
pub fn make_node(flow: &Arc<Workflow>, setup: &NodeSetup) -> Result<Node, BadPolicy> {
    let resources = Resources { cpus_milli: setup.cpus_milli, memory_bytes: setup.memory_bytes };
    let (order, pack): (Policy, Policy) = (setup.order.parse()?, setup.pack.parse()?);
    let known = Knowledge::of(flow, &tier::plan::brought(setup.tier.as_ref()));
    let (orders, seat) = (order::Maker::new(&order, &known)?, tier::plan::seat(setup.tier.as_ref(), setup.width));
    let policies = Policies {
        local: orders.make(seat),
        shared: orders.make(seat),
        pack: pack::by_name(&pack, Capacity { width: setup.width, resources }, flow)?,
    };
    let grace = Duration::from_millis(setup.grace_ms);
    let limits = Limits { slots: setup.width, grace, fail_fast: setup.fail_fast };
    let pool = |PoolSetup { name, ids, amount_milli }: PoolSetup| Pool { name, ids, amount_milli };
    let pools = Pools::new(setup.pools.iter().cloned().map(pool).collect(), flow);
    let node = Node::new(flow.clone(), limits, policies, pools);
    match &setup.tier {
        Some(tier) => tier::plan::furnish(node, &known, tier, setup.width),
        None => Ok(node),
    }
}

/// A run that is ready to go.
pub struct Run {
    driver: Driver,
    directory: RunDirectory,
    about: About,
    damaged_bytes: u64,
    clearing: Option<Clearing>,
    flow: Arc<Workflow>,
    _lock: Lock,
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

    /// A handle by which others can watch and stop the run.
    pub fn engine(&self) -> Engine {
        self.driver.engine()
    }

    /// Runs everything; returns when nothing is left to do.
    pub fn execute(mut self) -> Result<RunEnd, RunError> {
        let end = self.driver.execute();
        drop(self.clearing.take());
        let mut end = end?;
        if let Some(data) = end.data.as_mut().filter(|_| end.done == end.total) {
            data.expected = expect(self.flow.clone(), self.about.node.clone());
        }
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

/// Looks at every file that matters; nothing if nothing is recorded and nothing is to be adopted. What is brought has been looked at in
/// the storage, and links that a killed run has left count as nothing.
fn look(flow: &Workflow, recorded: &Recorded, place: &Workplace, options: &Options, plan: Option<&Plan>) -> Vec<Known> {
    let is_curious = !recorded.is_empty() || options.wish.adopt || order::uses_sizes(&options.order);
    if !is_curious && plan.is_none() {
        return Vec::new();
    }
    let content = options.verify == Verify::Content;
    let look_at = |number: usize| {
        let object = ObjectId::at(number);
        let name = flow.object_name(object);
        if let (Some(plan), Some(found)) = (plan, plan.and_then(|plan| plan.found(object))) {
            let found_content = if content && found.is_present() { plan.content(name) } else { 0 };
            return Known { made: recorded.made(object), found, found_content };
        }
        let is_left = number >= flow.made_count() && place.tier_at(name).is_some();
        if !is_curious || is_left {
            return Known { made: recorded.made(object), ..Known::default() };
        }
        // What cannot be looked at counts as absent; the task that needs it will say why.
        let found = place.stamp(name).unwrap_or(Stamp::ABSENT);
        let found_content = if content && found.is_present() { place.content(name) } else { 0 };
        Known { made: recorded.made(object), found, found_content }
    };
    let mut known = vec![Known::default(); flow.object_count()];
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get()).min(16);
    // Fewer files than this are looked at sooner than a thread is started.
    let share = known.len().div_ceil(threads).max(4096);
    std::thread::scope(|scope| {
        for (part, slots) in known.chunks_mut(share).enumerate() {
            let look_at = &look_at;
            scope.spawn(move || {
                for (offset, slot) in slots.iter_mut().enumerate() {
                    *slot = look_at(part * share + offset);
                }
            });
        }
    });
    known
}

/// Ends what an engine that was killed has left running, and sets aside what those tasks had begun to make.
fn clear_up(state: &StateDirectory, flow: &Workflow, directory: &Path) -> Result<(), RunError> {
    let mark = run_mark(state);
    let unfinished = leftover::end_leftovers(&state.slots(), &mark).map_err(RunError::Leftover)?;
    if state.tier().exists() {
        let inputs = (flow.made_count()..flow.object_count()).map(|number| flow.object_name(ObjectId::at(number)));
        tier::clear(state, directory, inputs)?;
    }
    if unfinished.is_empty() {
        return Ok(());
    }
    // Perhaps of a workflow that this one knows nothing of.
    containers::remove_all(&containers::prefix(&mark));
    let run = state.runs()?.last().copied().unwrap_or(0);
    let place = Workplace::open(directory, state.aside(run), state.kept(run)).map_err(io_error("open", directory))?;
    let (mut own, mut foreign) = (Vec::new(), unfinished);
    own.extend(flow.tasks().filter(|task| foreign.remove(&flow.name_key(*task))));
    for task in own {
        for object in flow.outputs(task) {
            let name = flow.object_name(object);
            place.set_aside(name).map_err(io_error("set aside", &directory.join(name)))?;
        }
    }
    // Tasks of another workflow that uses this directory: its next run has to know.
    if !foreign.is_empty() {
        let mut pending = Pending::default();
        for key in foreign {
            pending.add(u32::MAX, key, UNFINISHED, InputsSeen::default(), &[]);
        }
        let found = journal::read(&state.journal(), |_| ())?;
        Journal::open(&state.journal(), found.whole_bytes)?.write(&pending.take())?;
    }
    // Once seen to, it must not be seen to again.
    std::fs::remove_file(state.slots()).map_err(io_error("delete", &state.slots()))?;
    Ok(())
}

/// By what processes of tasks of a state directory can be told.
fn run_mark(state: &StateDirectory) -> String {
    let path = std::fs::canonicalize(state.path()).unwrap_or_else(|_| state.path().to_owned());
    path.display().to_string()
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
