//! The main thread's part of a run: timers, wishes to stop, and getting what happened onto the disk.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use thiserror::Error;
use throng_core::ids::{DemandId, KindId, ObjectId, TaskId};
use throng_core::ledger::Ledger;
use throng_core::node::{CacheTally, Event, Node};
use throng_core::past::Past;
use throng_core::stale::{Made, Memory, Reason, Verdict, inputs_seen};
use throng_core::temp::Temps;
use throng_core::time::Time;
use throng_core::trace::{self, Entry};
use throng_core::workflow::Workflow;

use crate::clock::Clock;
use crate::containers;
use crate::fence::Fences;
use crate::files::Workplace;
use crate::host;
use crate::host::kills::Kills;
use crate::keeper::Keeper;
use crate::log::PackedLog;
use crate::meter::Metering;
use crate::node_loop::{Core, Shared, Slot, with_paths};
use crate::objects::Objects;
use crate::process::{Orphans, SlotTable};
use crate::progress::{KindProgress, Notice, Progress, kinds};
use crate::run::Verify;
use crate::slot::BaseEnvironment;
use crate::state::{RunDirectory, RunEnd, StateDirectory, StateError, io_error};
use crate::store::journal::{Pending, Syncer};
use crate::store::learnt::{self, KindPast, Shelf};
use crate::store::{Journal, JournalError, Recorded};
use crate::tier::Tier;
use crate::tier::bringing::Bringing;

/// What has happened is written out at least this often, so that a killed engine has forgotten no more.
pub(crate) const WRITE_INTERVAL: Duration = Duration::from_millis(10);
/// And is on the disk, for the case that the power fails, not much later.
const SYNC_INTERVAL: Duration = Duration::from_millis(100);
/// With nothing to wait for, the main thread still looks this often: a lost wake-up must not be the end.
const IDLE_INTERVAL: Duration = Duration::from_millis(500);

/// What went wrong with the run itself, as opposed to its tasks.
#[derive(Debug, Error)]
pub enum EngineError {
    /// The state could not be written.
    #[error("{0}")]
    GaveUp(String),
    /// The state directory.
    #[error(transparent)]
    State(#[from] StateError),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A bug: tasks are left, but nothing runs and nothing will.
    #[error("the run has stalled with {0} tasks left; please report this")]
    Stalled(u64),
}

/// Everything that an engine is made of.
pub struct Parts {
    /// The workflow.
    pub flow: Arc<Workflow>,
    /// Its node.
    pub node: Node,
    /// Its records.
    pub ledger: Ledger,
    /// What is to be deleted when its last reader is done.
    pub temps: Temps,
    /// What can be deleted at once.
    pub unneeded: Vec<ObjectId>,
    /// What is to become of each task; empty if all run for the first time.
    pub verdicts: Vec<Verdict>,
    /// What earlier runs did.
    pub recorded: Recorded,
    /// What is known of each object.
    pub objects: Objects,
    /// Where tasks run.
    pub workplace: Workplace,
    /// Room into which inputs are brought.
    pub(crate) tier: Option<Tier>,
    /// Where completions go.
    pub journal: Journal,
    /// The state directory.
    pub state: StateDirectory,
    /// The directory of this run.
    pub directory: RunDirectory,
    /// By what processes of tasks can be told.
    pub mark: String,
    /// By what files are told apart.
    pub verify: Verify,
    /// Whether tasks are held to the memory that they say they need.
    pub holds_to_memory: bool,
    /// Whether the order goes by the size of what tasks read.
    pub uses_sizes: bool,
    /// The run's clock.
    pub clock: Clock,
    /// How many slots there are.
    pub slots: u32,
    /// What is known of kinds of tasks from earlier runs.
    pub learnt: Vec<KindPast>,
    /// Where what this run learns is kept.
    pub shelf: Shelf,
}

/// A handle by which others watch and stop a run.
#[derive(Clone)]
pub struct Engine {
    shared: Arc<Shared>,
}

impl Engine {
    /// How far the run has come.
    pub fn progress(&self) -> Progress {
        self.shared.progress()
    }

    /// Failures that nobody has been told of yet.
    pub fn take_notices(&self) -> Vec<Notice> {
        std::mem::take(&mut self.shared.lock().notices)
    }

    /// Asks to be told what tasks print, from now on.
    pub fn collect_outputs(&self) {
        self.shared.lock().outputs.get_or_insert_default();
    }

    /// What tasks have printed that nobody has been told of yet, as places in the log.
    pub fn take_outputs(&self) -> Vec<(TaskId, (u64, u64))> {
        self.shared.lock().outputs.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Copies what a task has printed.
    pub fn copy_output(&self, (start, length): (u64, u64), out: &mut dyn Write) -> std::io::Result<()> {
        self.shared.log.copy(start, length, out)
    }

    /// The workflow.
    pub fn flow(&self) -> &Workflow {
        &self.shared.flow
    }

    /// What is known by now of each kind of which a task has ended well in this run.
    pub fn pasts(&self) -> Vec<KindPast> {
        let core = self.shared.lock();
        let kinds = core.pasts.iter().zip(&core.kinds).enumerate().filter(|(_, (_, kind))| kind.done > 0);
        let learnt = |(at, (past, kind)): (usize, (&Past, &KindProgress))| {
            KindPast::new(&kind.name, &past.with(core.node.found(KindId::at(at))))
        };
        kinds.map(learnt).collect()
    }

    /// How many tasks have been done.
    pub(crate) fn done(&self) -> u64 {
        self.shared.lock().ledger.tally().done
    }

    /// Stops the run because its state cannot be kept.
    pub(crate) fn give_up(&self, why: String) {
        self.shared.give_up(why);
    }

    /// Whether nothing more will happen to a task.
    pub fn is_settled(&self, task: TaskId) -> bool {
        self.shared.lock().ledger.record(task).state.is_settled()
    }

    /// How many files were in the way of outputs and have been moved to where nothing is deleted.
    pub fn kept_files(&self) -> u64 {
        self.shared.workplace.kept_files()
    }

    /// Asks the run to stop: the first time kindly, after that at once.
    pub fn stop(&self) {
        self.shared.stops_asked.fetch_add(1, Ordering::Relaxed);
        // Without the lock the main thread could just be about to sleep and miss this.
        drop(self.shared.lock());
        self.shared.main_wake.notify_one();
    }
}

/// A run's main thread, before it runs.
pub struct Driver {
    shared: Arc<Shared>,
    directory: RunDirectory,
    shelf: Shelf,
    journal: Journal,
    trace: File,
    /// Bytes that could not be written yet.
    unwritten_frames: Vec<u8>,
    unwritten_trace: Vec<u8>,
    /// Temporary objects that wait to be deleted.
    deleting: Sender<Vec<ObjectId>>,
    to_delete: Option<Receiver<Vec<ObjectId>>>,
}

impl Driver {
    /// Puts an engine together.
    pub fn new(parts: Parts) -> Result<Driver, EngineError> {
        let scratch_directory = parts.state.scratch();
        std::fs::create_dir_all(&scratch_directory).map_err(io_error("make", &scratch_directory))?;
        let directory = parts.directory.clone();
        let log = PackedLog::create(&directory.log()).map_err(io_error("make", &directory.log()))?;
        let trace = File::create_new(directory.trace()).map_err(io_error("make", &directory.trace()))?;
        let null = File::open("/dev/null").map_err(io_error("open", Path::new("/dev/null")))?;
        let tasks_files_limit = host::allow_many_files();
        let slots = parts.slots as usize;
        let table_path = parts.state.slots();
        let table = SlotTable::create(&table_path, slots).map_err(io_error("make", &table_path))?;
        let kinds = kinds(&parts.flow, &parts.verdicts);
        let grants_gpus = parts.flow.asks_for("gpus");
        let (first_entries, first_records) = note_verdicts(&parts);
        let mut core = Core::new(parts.node, parts.ledger, slots, kinds);
        core.temps = parts.temps;
        core.unneeded = parts.unneeded;
        core.trace = first_entries;
        core.journal = first_records;
        core.pasts = pasts(&parts.flow, &parts.learnt);
        if core.node.measures_every().is_some() {
            let known = core.kinds.iter_mut().zip(&core.pasts);
            known.for_each(|(kind, past)| kind.width = past.width);
        }
        let mut demands = (0..parts.flow.demand_count()).map(|demand| parts.flow.demand(DemandId::at(demand)));
        let learns_memory = core.node.learnt_memory_bytes().is_some();
        let is_fenced = learns_memory || demands.any(|demand| demand.memory_bytes > 0);
        let fences = Fences::new(parts.holds_to_memory && is_fenced);
        let shared = Arc::new(Shared {
            flow: parts.flow,
            clock: parts.clock,
            workplace: parts.workplace,
            tier: parts.tier,
            objects: parts.objects,
            recorded: parts.recorded,
            verdicts: parts.verdicts,
            verify: parts.verify,
            uses_sizes: parts.uses_sizes,
            log,
            scratch_directory,
            table,
            environment: BaseEnvironment::new(&parts.mark),
            container_prefix: containers::prefix(&parts.mark),
            grants_gpus,
            null,
            tasks_files_limit,
            orphans: Orphans::adopt(),
            boot: host::boot_id(),
            fences,
            kills: Kills::new(),
            learns_memory,
            may_run_out: AtomicBool::new(learns_memory),
            own_peak_bytes: AtomicU64::new(host::own_peak_bytes()),
            slots: std::iter::repeat_with(Slot::default).take(slots).collect(),
            core: Mutex::new(core),
            main_wake: Condvar::new(),
            stops_asked: AtomicU32::new(0),
        });
        let (deleting, to_delete) = channel();
        Ok(Driver {
            shared,
            directory,
            shelf: parts.shelf,
            journal: parts.journal,
            trace,
            unwritten_frames: Vec::new(),
            unwritten_trace: Vec::new(),
            deleting,
            to_delete: Some(to_delete),
        })
    }

    /// A handle for others.
    pub fn engine(&self) -> Engine {
        Engine { shared: self.shared.clone() }
    }

    /// Runs everything; returns when nothing is left to do.
    pub fn execute(mut self) -> Result<RunEnd, EngineError> {
        let shared = self.shared.clone();
        let keeper = Keeper::start(self.engine(), self.directory.workflow(), self.shelf.clone());
        let keeper = keeper.map_err(|error| EngineError::GaveUp(format!("cannot start a thread: {error}")))?;
        let syncing = Syncing::start(self.journal.syncer()?, shared.clone())?;
        let to_delete = self.to_delete.take().expect("a run is executed once");
        let deleter = start_thread("deleter", {
            let shared = shared.clone();
            move || to_delete.iter().flatten().for_each(|object| delete(&shared, object))
        })?;
        let bringing = Bringing::start(&shared);
        let bringing = bringing.map_err(|error| EngineError::GaveUp(format!("cannot start a thread: {error}")))?;
        let metering = Metering::start(&shared);
        let metering = metering.map_err(|error| EngineError::GaveUp(format!("cannot start a thread: {error}")))?;
        {
            let mut core = shared.lock();
            shared.submit(&mut core, shared.clock.now());
        }
        self.turn(&syncing);
        if let Some(metering) = metering {
            metering.finish();
        }
        shared.dismiss_slots();
        shared.fences.end();
        bringing.finish();
        keeper.finish();
        self.write(&syncing);
        syncing.finish();
        drop(self.deleting);
        deleter.join().expect("deleting files does not panic");
        let core = shared.lock();
        if let Some(trouble) = &core.trouble {
            return Err(EngineError::GaveUp(trouble.clone()));
        }
        let tally = core.ledger.tally();
        if tally.open > 0 && !core.node.is_stopping() {
            return Err(EngineError::Stalled(tally.open));
        }
        let makespan_s = core.last_end.since(core.first_start.unwrap_or(core.last_end)).as_secs_f64();
        let state = match tally {
            _ if core.stops_told > 0 && tally.open > 0 => "interrupted",
            _ if tally.failed > 0 => "failed",
            _ => "done",
        };
        Ok(RunEnd {
            state: state.to_owned(),
            total: tally.total(),
            done: tally.done,
            up_to_date: tally.up_to_date,
            failed: tally.failed,
            skipped: tally.skipped,
            seconds: shared.clock.now().as_secs_f64(),
            makespan_s,
            tasks_per_s: if makespan_s > 0.0 { tally.done as f64 / makespan_s } else { 0.0 },
            data: shared.tier.as_ref().map(|tier| {
                let CacheTally { hits, misses, .. } = core.node.cache_tally();
                tier.end(hits, misses)
            }),
            not_kept: None,
        })
    }

    /// Goes round until the run is over.
    fn turn(&mut self, syncing: &Syncing) {
        let shared = self.shared.clone();
        let mut written_at = Time::START;
        let mut wrote_last_time = false;
        loop {
            shared.orphans.reap();
            let mut core = shared.lock();
            let now = shared.clock.now();
            self.gather(&mut core, now);
            let own = shared.drive(&mut core, None);
            assert!(own.is_none(), "the main thread has no slot");
            let has_backlog = !core.events.is_empty();
            if core.node.is_idle() && !has_backlog && core.sleepers.is_empty() {
                return;
            }
            let now = shared.clock.now();
            let is_dirty = !core.unneeded.is_empty()
                || !core.journal.is_empty()
                || core.trace.pending() > 0
                || self.has_unwritten();
            let write_at = written_at + WRITE_INTERVAL;
            if is_dirty && now >= write_at {
                drop(core);
                self.write(syncing);
                written_at = shared.clock.now();
                wrote_last_time = true;
                continue;
            }
            if has_backlog {
                continue;
            }
            // Where something has just been written, there will be more: nobody has to say so.
            let look_at = if is_dirty || wrote_last_time { write_at.max(now) } else { now + IDLE_INTERVAL };
            wrote_last_time = false;
            let wake_at = look_at.min(shared.next_wake(&core).unwrap_or(look_at));
            core.main_wakes_at = wake_at;
            let wait = wake_at.since(now);
            if !wait.is_zero() {
                let woken = shared.main_wake.wait_timeout(core, wait);
                core = woken.expect("a thread that panics under the lock has aborted the run").0;
            }
            // While the main thread works, nobody needs to wake it.
            core.main_wakes_at = Time::START;
        }
    }

    /// Turns wishes and the time into events.
    fn gather(&self, core: &mut Core, now: Time) {
        let asked = self.shared.stops_asked.load(Ordering::Relaxed);
        while core.stops_told < asked {
            core.stops_told += 1;
            core.events.push_back(Event::Stop);
        }
        self.shared.wake_sleepers(core, now);
        if core.node.next_wake().is_some_and(|time| time <= now) {
            core.events.push_back(Event::Wake);
        }
    }

    fn has_unwritten(&self) -> bool {
        !self.unwritten_frames.is_empty() || !self.unwritten_trace.is_empty()
    }

    /// Writes out what has happened: the trace first, so that what the journal calls done can be explained. If only the
    /// trace cannot be written, the journal still is: what is done matters more than why.
    fn write(&mut self, syncing: &Syncing) {
        let unneeded = {
            let mut core = self.shared.lock();
            core.trace.take(&mut self.unwritten_trace);
            self.unwritten_frames.append(&mut core.journal.take());
            std::mem::take(&mut core.unneeded)
        };
        self.shared.own_peak_bytes.store(host::own_peak_bytes(), Ordering::Relaxed);
        // What could not be written stays and is tried again, so a full disk that is cleared in time costs nothing.
        while !self.unwritten_trace.is_empty() {
            match self.trace.write(&self.unwritten_trace) {
                Ok(length) => drop(self.unwritten_trace.drain(..length)),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.shared.give_up(format!("cannot write {}: {error}", self.directory.trace().display()));
                    break;
                }
            }
        }
        if !self.unwritten_frames.is_empty() {
            match self.journal.write(&self.unwritten_frames) {
                Ok(()) => {
                    self.unwritten_frames.clear();
                    syncing.ask();
                }
                Err(error) => return self.shared.give_up(error.to_string()),
            }
        }
        if !unneeded.is_empty() {
            // Nobody else waits for it: a directory may be large.
            self.deleting.send(unneeded).expect("it takes everything until the run is over");
        }
    }
}

/// Puts into the trace why each task is part of the run, and into the journal what is taken over.
fn note_verdicts(parts: &Parts) -> (trace::Writer, Pending) {
    let (mut entries, mut records) = (trace::Writer::new(), Pending::default());
    let Parts { flow, objects, verdicts, recorded, .. } = parts;
    let now = parts.clock.now();
    let is_by_content = parts.verify == Verify::Content;
    let known = |task| {
        let get = |object: ObjectId| objects.get(object);
        let inputs = inputs_seen(flow.inputs(task).map(get).map(|made| (made.version, made.content)));
        let is_adopted = |object| recorded.made(object).is_some_and(|made| made.is_adopted);
        let made = flow.outputs(task).map(|object| Made { is_adopted: is_adopted(object), ..get(object) });
        (inputs, with_paths(flow, task, made))
    };
    for (task, verdict) in flow.tasks().zip(verdicts) {
        match verdict {
            Verdict::Outside => {}
            Verdict::UpToDate => {
                entries.write(now, &Entry::UpToDate(task));
                // Contents that have been read now need not be doubted next time.
                let (inputs, made) = known(task);
                if is_by_content && recorded.memory(task) != Memory::Same(inputs) {
                    records.add(task.0, flow.name_key(task), flow.definition_hash(task), inputs, &made);
                }
            }
            Verdict::Maybe => entries.write(now, &Entry::Pending(task, Reason::ParentRuns)),
            Verdict::Run(reason) => entries.write(now, &Entry::Pending(task, *reason)),
            Verdict::Adopted => {
                entries.write(now, &Entry::UpToDate(task));
                let (inputs, mut made) = known(task);
                made.iter_mut().for_each(|(_, made)| made.is_adopted = true);
                records.add(task.0, flow.name_key(task), flow.definition_hash(task), inputs, &made);
            }
        }
    }
    (entries, records)
}

/// What is known of each kind of a workflow.
fn pasts(flow: &Workflow, learnt: &[KindPast]) -> Vec<Past> {
    let mut pasts = vec![Past::default(); flow.kind_count()];
    learnt::known(flow, learnt).into_iter().for_each(|(kind, past)| pasts[kind.index()] = past.past());
    pasts
}

/// Deletes a temporary file, now that it is on record that its readers are done.
fn delete(shared: &Shared, object: ObjectId) {
    let name = shared.flow.object_name(object);
    // One that cannot be deleted is no worse than one that was not marked.
    let _ = shared.workplace.remove_temp(name, shared.objects.get(object).stamp);
}

fn start_thread(name: &str, work: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>, EngineError> {
    let started = std::thread::Builder::new().name(name.to_owned()).spawn(work);
    started.map_err(|error| EngineError::GaveUp(format!("cannot start a thread: {error}")))
}

/// The thread that makes the journal durable, so that nobody else waits for the disk.
struct Syncing {
    request: Arc<SyncRequest>,
    thread: JoinHandle<()>,
}

#[derive(Default)]
struct SyncRequest {
    state: Mutex<SyncState>,
    changed: Condvar,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct SyncState {
    is_dirty: bool,
    is_over: bool,
}

impl Syncing {
    fn start(syncer: Syncer, shared: Arc<Shared>) -> Result<Syncing, EngineError> {
        let request = Arc::new(SyncRequest::default());
        let thread = start_thread("syncer", {
            let request = request.clone();
            move || {
                while request.wait() {
                    if let Err(error) = syncer.sync() {
                        shared.give_up(error.to_string());
                    }
                    request.rest();
                }
            }
        })?;
        Ok(Syncing { request, thread })
    }

    fn ask(&self) {
        self.request.change(|state| state.is_dirty = true);
    }

    /// Waits until everything is durable.
    fn finish(self) {
        self.request.change(|state| state.is_over = true);
        self.thread.join().expect("syncing does not panic");
    }
}

impl SyncRequest {
    fn change(&self, change: impl FnOnce(&mut SyncState)) {
        change(&mut self.state.lock().expect("no thread panics while it holds this"));
        self.changed.notify_one();
    }

    /// Waits for something to make durable; false when there will be nothing more.
    fn wait(&self) -> bool {
        let state = self.state.lock().expect("no thread panics while it holds this");
        let mut state = self
            .changed
            .wait_while(state, |state| !state.is_dirty && !state.is_over)
            .expect("no thread panics while it holds this");
        std::mem::take(&mut state.is_dirty)
    }

    /// Lets more gather before the next time, unless it is the last.
    fn rest(&self) {
        let state = self.state.lock().expect("no thread panics while it holds this");
        let rested = self.changed.wait_timeout_while(state, SYNC_INTERVAL, |state| !state.is_over);
        drop(rested.expect("no thread panics while it holds this"));
    }
}
