//! From an outlook to a run: the lock, what earlier engines have left, the journal, the node and whatever it needs.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use throng_core::headroom::Headroom;
use throng_core::ids::{ObjectId, TaskId};
use throng_core::ledger::{Ledger, Standing};
use throng_core::locality::Knowledge;
use throng_core::node::{Limits, Node, Policies};
use throng_core::pack::{Capacity, Kinds};
use throng_core::policy::{BadPolicy, Policy};
use throng_core::pools::Pools;
use throng_core::stale::{InputsSeen, Reason, Verdict};
use throng_core::temp::Temps;
use throng_core::workflow::{Pool, Resources, Workflow};
use throng_core::{order, pack};

use crate::containers;
use crate::driver::{Driver, Parts};
use crate::files::Workplace;
use crate::host;
use crate::objects::Objects;
use crate::process::{self, leftover};
use crate::state::{About, Lock, NodeSetup, PoolSetup, StateDirectory, io_error, write_whole};
use crate::store::Journal;
use crate::store::journal::{self, Pending, UNFINISHED};
use crate::store::learnt::{self, KindPast, Learnt, MachineType, Shelf};
use crate::tier::{self, Clearing, DirectoryLock, Tier, TierError};

use super::{Options, Outlook, Run, RunError};

impl Outlook {
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
        // As far as it can be told before there are any files, nothing is made for a run that cannot begin.
        state.check_home(&options.home).map_err(RunError::from)?;
        let directory = if options.directory.exists() { &options.directory } else { &options.home };
        Outlook::new(flow.clone(), Options { directory: directory.clone(), ..options.clone() })?;
        let lock = state.lock().map_err(RunError::from)?;
        state.check_home(&options.home).map_err(RunError::from)?;
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
        let host = host::describe(self.options.machine_type.as_deref());
        let machine = MachineType::of(&host);
        let (learnt, lost_learnt) = match Learnt::look(&state.learnt()) {
            Ok(learnt) => (learnt.unwrap_or_default().of(&machine.name, self.flow.title()).to_vec(), None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let setup = self.node_setup(&learnt);
        let place = self.options.directory.clone();
        // From here on there is something to take away again, so whoever wants to stop the run has to wait until it can be told.
        process::take_over_signals();
        let tier = match self.plan.take() {
            Some(plan) => Some(Tier::make(plan, (&state, &place), links).inspect_err(|_| {
                // What cannot be taken away now stays on the note, for the next run.
                let _ = tier::clear(&state, &place, std::iter::empty());
            })?),
            None => None,
        };
        let clearing = tier.as_ref().map(|tier| Clearing {
            state: state.clone(),
            directory: place.clone(),
            tier: tier.path().to_owned(),
        });
        let journal = self.open_journal(&state)?;
        let directory = state.make_run()?;
        let lock = Arc::new(lock);
        let (path, workflow) = (state.learnt(), self.flow.title().to_owned());
        let shelf = Shelf { path, machine, workflow, lock: lock.clone() };
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let about = About {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            run: directory.number,
            workflow: self.flow.title().to_owned(),
            file: self.options.file.display().to_string(),
            started_unix_ms: started.as_millis() as u64,
            node: setup.clone(),
            host,
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
            holds_to_memory: options.holds_to_memory,
            uses_sizes: order::uses_sizes(&options.order),
            clock: options.clock,
            slots: options.width,
            learnt,
            shelf: shelf.clone(),
        })?;
        Ok(Run { driver, shelf, directory, about, damaged_bytes, lost_learnt, clearing, flow, lock })
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

    fn node_setup(&self, learnt: &[KindPast]) -> NodeSetup {
        let options = &self.options;
        NodeSetup {
            place: "here".to_owned(),
            order: options.order.to_string(),
            pack: options.pack.to_string(),
            width: options.width,
            cpus_milli: options.resources.cpus_milli,
            memory_bytes: options.resources.memory_bytes,
            all_memory_bytes: host::resources().memory_bytes,
            grace_ms: options.grace.as_millis() as u64,
            fail_fast: options.fail_fast,
            pools: options.pools.iter().map(pool_setup).collect(),
            tier: self.plan.as_ref().map(|plan| plan.setup(options.width)),
            learnt: if pack::learns(&options.pack) { learnt.to_vec() } else { Vec::new() },
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
    let mut node = Node::new(flow.clone(), limits, policies, pools);
    if pack::learns(&pack) {
        let cores = (setup.cpus_milli / 1000) as u32;
        let mut headroom = Headroom::new(setup.memory_bytes, cores, setup.width, Kinds::new(flow));
        if setup.memory_bytes < setup.all_memory_bytes {
            headroom = headroom.of_more();
        }
        for (kind, past) in learnt::known(flow, &setup.learnt) {
            let past = past.past();
            headroom.recall(kind, &past);
            node.recall(kind, &past);
        }
        node = node.with_headroom(headroom);
    }
    match &setup.tier {
        Some(tier) => tier::plan::furnish(node, &known, tier, setup.width),
        None => Ok(node),
    }
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
