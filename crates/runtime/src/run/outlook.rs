//! What would run, and why, found out before anything does.

use std::path::PathBuf;
use std::sync::Arc;

use throng_core::fingerprint::Stamp;
use throng_core::ids::{DemandId, ObjectId, TaskId};
use throng_core::pack::Capacity;
use throng_core::pools::Pools;
use throng_core::stale::{self, Known, Reason, Verdict};
use throng_core::workflow::{CONTAINER_RUNNERS, Demand, Resources, Workflow};
use throng_core::{evict, order, pack};

use crate::files::Workplace;
use crate::state::{StateDirectory, io_error};
use crate::store::{JournalError, Recorded};
use crate::tier::plan::Plan;

use super::{Options, RunError, Verify, demand_in_words};

/// What is known before anything runs. Making one changes nothing.
pub struct Outlook {
    pub(super) flow: Arc<Workflow>,
    pub(super) options: Options,
    pub(super) recorded: Recorded,
    pub(super) verdicts: Vec<Verdict>,
    pub(super) known: Vec<Known>,
    pub(super) plan: Option<Plan>,
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
        let flow = if pack::learns(&options.pack) {
            let mut flow = Arc::unwrap_or_clone(flow);
            flow.tell_kinds_apart();
            Arc::new(flow)
        } else {
            flow
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

    pub(super) fn capacity(&self) -> Capacity {
        Capacity { width: self.options.width, resources: self.options.resources }
    }

    pub(super) fn check_fit(&self) -> Result<(), RunError> {
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

    pub(super) fn may_run(&self, task: TaskId) -> bool {
        matches!(self.verdict(task), Verdict::Run(_) | Verdict::Maybe)
    }

    /// Nothing starts if a task that may run could not, because nobody can run its container.
    pub(super) fn check_containers(&self) -> Result<(), RunError> {
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
    let look_at_part = |(part, slots): (usize, &mut [Known])| {
        for (offset, slot) in slots.iter_mut().enumerate() {
            *slot = look_at(part * share + offset);
        }
    };
    std::thread::scope(|scope| {
        let mut parts = known.chunks_mut(share).enumerate();
        let own = parts.next();
        let look_at_part = &look_at_part;
        let threads: Vec<_> = parts.map(|part| scope.spawn(move || look_at_part(part))).collect();
        own.into_iter().for_each(look_at_part);
        // The end of the scope would not wait until they are gone, and a signal to stop the engine would find one that does not keep it back.
        threads.into_iter().for_each(|thread| thread.join().expect("looking at files does not panic"));
    });
    known
}
