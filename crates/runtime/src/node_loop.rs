//! The loop that drives a node: events in, commands carried out.
//!
//! There is no thread that the others have to ask. Whoever has an event (a slot's thread whose process has
//! ended, the main thread with a timer) takes the lock, drives the node until nothing is left to do, and
//! goes on with whatever fell to it: a slot that ends a task normally starts the next one itself, without
//! a switch of threads between. Processes run, and files are looked at, outside the lock.
//!
//! ```text
//!   slot thread:  run process ─▶ lock ─▶ Finished ─▶ drive ─▶ (own next job) ─▶ unlock ─▶ run process …
//!   main thread:  wait ─▶ lock ─▶ timers, sleepers, stop ─▶ drive ─▶ unlock ─▶ write journal and trace …
//! ```
//!
//! The main thread's part is in [`crate::driver`], a slot's part in [`crate::slot`].

use std::collections::{BTreeSet, VecDeque};
use std::fs::File;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};

use throng_core::ids::{ObjectId, SlotId, TaskId};
use throng_core::ledger::Ledger;
use throng_core::node::{Command, End, Event, KillReason, Node};
use throng_core::pack::Change;
use throng_core::past::Past;
use throng_core::stale::{InputsSeen, Made, Memory, Verdict, inputs_seen};
use throng_core::temp::Temps;
use throng_core::time::Time;
use throng_core::trace::{self, Entry};
use throng_core::workflow::{Action, Workflow};

use crate::clock::Clock;
use crate::driver::WRITE_INTERVAL;
use crate::fence::Fences;
use crate::files::Workplace;
use crate::host::kills::Kills;
use crate::log::PackedLog;
use crate::objects::Objects;
use crate::process::{Orphans, SlotTable};
use crate::progress::{KindProgress, Notice, Progress, Waiting};
use crate::run::Verify;
use crate::slot::{self, AttemptResult, BaseEnvironment, Job, SlotRunner, Target};
use crate::store::Recorded;
use crate::store::journal::{PathKey, Pending, UNFINISHED};
use crate::tier::Tier;
use crate::tier::bringing::Work;
use crate::took::{slept, spent, took};

/// How many events one holder of the lock handles before it lets others have it: a few milliseconds' worth. Tasks
/// becoming ready cost little and are all taken in at once, so that the order chooses among all of them.
const EVENTS_AT_A_TIME: usize = 4096;
/// Notices that wait to be shown; if a million tasks fail, nobody reads more.
const NOTICES_LIMIT: usize = 1000;

/// What all threads of an engine share.
pub struct Shared {
    pub(crate) flow: Arc<Workflow>,
    pub(crate) clock: Clock,
    pub(crate) workplace: Workplace,
    /// Room into which inputs are brought.
    pub(crate) tier: Option<Tier>,
    pub(crate) objects: Objects,
    pub(crate) recorded: Recorded,
    pub(crate) verdicts: Vec<Verdict>,
    pub(crate) verify: Verify,
    /// Whether the order goes by the size of what tasks read.
    pub(crate) uses_sizes: bool,
    pub(crate) log: PackedLog,
    pub(crate) scratch_directory: PathBuf,
    pub(crate) table: SlotTable,
    pub(crate) environment: BaseEnvironment,
    /// Whether any task asks for GPUs.
    pub(crate) grants_gpus: bool,
    /// How the names of containers begin.
    pub(crate) container_prefix: String,
    /// What tasks read: nothing.
    pub(crate) null: File,
    pub(crate) orphans: Orphans,
    /// How many files a task may open: as many as if the engine had not asked for more.
    pub(crate) tasks_files_limit: libc::rlimit,
    pub(crate) boot: u64,
    /// What holds tasks to the memory that they say they need.
    pub(crate) fences: Fences,
    /// Whom the kernel has killed for want of memory, and whether that matters because what tasks need is learnt.
    pub(crate) kills: Kills,
    pub(crate) learns_memory: bool,
    /// Whether memory may run out soon, where it is learnt: then it is to be known in which attempt the kernel has killed somebody.
    pub(crate) may_run_out: AtomicBool,
    /// The most memory that the engine has held, looked at now and then.
    pub(crate) own_peak_bytes: AtomicU64,
    pub(crate) slots: Vec<Slot>,
    pub(crate) core: Mutex<Core>,
    pub(crate) main_wake: Condvar,
    /// How often somebody asked to stop.
    pub(crate) stops_asked: AtomicU32,
}

/// How the threads reach a slot.
#[derive(Default)]
pub(crate) struct Slot {
    mailbox: Mutex<Mailbox>,
    filled: Condvar,
    target: Target,
    /// What its attempt has been granted, as variables of the environment.
    holdings: Mutex<Vec<(String, String)>>,
}

#[derive(Default)]
enum Mailbox {
    /// No task with a process has fallen to this slot yet.
    #[default]
    NoThread,
    Empty,
    Job(Job),
    Quit,
}

/// What the lock protects.
pub(crate) struct Core {
    pub(crate) node: Node,
    pub(crate) ledger: Ledger,
    pub(crate) events: VecDeque<Event>,
    commands: Vec<Command>,
    /// What runs in each slot.
    running: Vec<Option<Job>>,
    /// Until when what runs in each slot sleeps, if it is a timer and not a thread.
    sleeping: Vec<Option<Time>>,
    /// When what runs in each slot was begun.
    begun: Vec<Time>,
    /// What came of the attempt that has just ended in each slot.
    results: Vec<Option<AttemptResult>>,
    /// Built-in tasks that sleep, and until when.
    pub(crate) sleepers: BTreeSet<(Time, SlotId)>,
    pub(crate) journal: Pending,
    pub(crate) trace: trace::Writer,
    pub(crate) kinds: Vec<KindProgress>,
    /// What tasks of each kind took, in earlier runs and in this one.
    pub(crate) pasts: Vec<Past>,
    pub(crate) notices: Vec<Notice>,
    /// What tasks printed, where that is in the log, and that somebody wants to know.
    pub(crate) outputs: Option<Vec<(TaskId, (u64, u64))>>,
    pub(crate) temps: Temps,
    /// Temporary objects that can be deleted.
    pub(crate) unneeded: Vec<ObjectId>,
    /// How often the node has been told to stop.
    pub(crate) stops_told: u32,
    /// When the main thread will look by itself.
    pub(crate) main_wakes_at: Time,
    pub(crate) first_start: Option<Time>,
    pub(crate) last_end: Time,
    /// Why the run cannot go on.
    pub(crate) trouble: Option<String>,
    ready: Vec<TaskId>,
    skipped: Vec<TaskId>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl Core {
    pub(crate) fn new(node: Node, ledger: Ledger, slots: usize, kinds: Vec<KindProgress>) -> Self {
        Core {
            node,
            ledger,
            events: VecDeque::new(),
            commands: Vec::new(),
            running: vec![None; slots],
            sleeping: vec![None; slots],
            begun: vec![Time::START; slots],
            results: vec![None; slots],
            sleepers: BTreeSet::new(),
            journal: Pending::default(),
            trace: trace::Writer::new(),
            kinds,
            pasts: Vec::new(),
            notices: Vec::new(),
            outputs: None,
            temps: Temps::default(),
            unneeded: Vec::new(),
            stops_told: 0,
            main_wakes_at: Time::START,
            first_start: None,
            last_end: Time::START,
            trouble: None,
            ready: Vec::new(),
            skipped: Vec::new(),
            threads: Vec::new(),
        }
    }
}

impl Core {
    /// Stops the run because its state cannot be kept: nothing starts that could not be recorded.
    fn give_up(&mut self, why: String) {
        if self.trouble.is_none() {
            self.trouble = Some(why);
            self.events.push_back(Event::Stop);
        }
    }
}

impl Shared {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Core> {
        self.core.lock().expect("a thread that panics under the lock has aborted the run")
    }

    /// The slots in which a process runs, each with its group.
    pub(crate) fn groups(&self) -> impl Iterator<Item = (SlotId, i32)> {
        let slots = self.slots.iter().enumerate();
        slots.filter_map(|(at, slot)| Some((SlotId::at(at), slot.target.group()?)))
    }

    pub(crate) fn target(&self, slot: SlotId) -> &Target {
        &self.slots[slot.index()].target
    }

    /// What the attempt in a slot has been granted, as variables of the environment.
    pub(crate) fn holdings(&self, slot: SlotId) -> Vec<(String, String)> {
        self.slots[slot.index()].holdings.lock().expect("no thread panics while it holds this").clone()
    }

    /// Stops the run because its state cannot be kept.
    pub(crate) fn give_up(&self, why: String) {
        self.lock().give_up(why);
        self.main_wake.notify_one();
    }

    pub(crate) fn progress(&self) -> Progress {
        let core = self.lock();
        let now = self.clock.now();
        Progress {
            elapsed: now.since(Time::START),
            running_for: now.since(core.first_start.unwrap_or(now)),
            tally: core.ledger.tally(),
            kinds: core.kinds.clone(),
            running: core.node.running(),
            waiting: Waiting { for_data: core.node.waiting_for_data(), for_memory: core.node.waiting_for_memory() },
            stopping: core.node.is_stopping(),
            asked_to_stop: core.stops_told > 0,
        }
    }

    /// Hands in everything that waits for the node; returns a job for the caller's own slot, if one fell to it.
    pub(crate) fn drive(self: &Arc<Self>, core: &mut Core, own_slot: Option<SlotId>) -> Option<Job> {
        let mut own_job = None;
        let mut handled = 0;
        loop {
            let now = self.clock.now();
            while let Some(event) = core.events.pop_front() {
                self.hand_in(core, now, event);
                handled += 1;
            }
            core.node.decide(now, &mut core.commands);
            // A node that has tasks staged may have changed its mind without a command: who replays it has to know.
            if self.tier.is_some() || !core.commands.is_empty() {
                core.trace.write(now, &Entry::Decide);
            }
            if core.commands.is_empty() {
                break;
            }
            for at in 0..core.commands.len() {
                let command = core.commands[at];
                core.trace.write(now, &Entry::Command(command));
                let Command::Start { task, attempt, slot } = command else {
                    self.see_to_data(core, command);
                    continue;
                };
                let conditions = core.node.conditions(slot).expect("it has just been started");
                let job = Job { task, attempt, demand: conditions.demand };
                if self.start(core, now, job, slot) {
                    if own_slot == Some(slot) {
                        own_job = Some(job);
                    } else {
                        self.hand_over(core, slot, job);
                    }
                }
            }
            core.commands.clear();
            if handled >= EVENTS_AT_A_TIME {
                self.main_wake.notify_one();
                break;
            }
        }
        // Whatever has happened wants to be written soon; the main thread may not know yet.
        let wanted = self.next_wake(core).unwrap_or(Time(u64::MAX)).min(self.clock.now() + WRITE_INTERVAL);
        if wanted < core.main_wakes_at || core.node.is_idle() {
            self.main_wake.notify_one();
        }
        own_job
    }

    /// When something will have to be done without an event from a process.
    pub(crate) fn next_wake(&self, core: &Core) -> Option<Time> {
        let sleeper = core.sleepers.first().map(|(time, _)| *time);
        [core.node.next_wake(), sleeper].into_iter().flatten().min()
    }

    fn hand_in(&self, core: &mut Core, now: Time, event: Event) {
        let mut result = None;
        if let Event::Finished { slot, .. } = event {
            let ended = core.running[slot.index()].take().expect("what has finished was running");
            core.kinds[self.flow.kind(ended.task).index()].running -= 1;
            core.last_end = now;
            result = core.results[slot.index()].take();
            if let Some(result) = &result {
                core.trace.write(now, &Entry::Attempt(result.attempt));
            }
            if core.node.measures_every().is_some() {
                let begun = core.begun[slot.index()];
                let spent = result.as_ref().map_or_else(|| slept(now.since(begun)), |result| spent(&result.attempt));
                let spent = Event::Spent { slot, spent };
                core.trace.write(now, &Entry::Event(spent));
                core.node.handle(now, spent, &mut core.commands);
            }
        }
        core.trace.write(now, &Entry::Event(event));
        core.node.handle(now, event, &mut core.commands);
        for at in 0..core.commands.len() {
            let command = core.commands[at];
            core.trace.write(now, &Entry::Command(command));
            if let (Command::Complete { task, .. } | Command::Fail { task, .. }, Some(outputs)) =
                (command, &mut core.outputs)
            {
                outputs.extend(result.as_ref().map(|result| (task, result.attempt.log)));
            }
            match command {
                Command::Complete { task, attempt } => self.complete(core, now, task, attempt, result.as_ref()),
                Command::Fail { task, attempt } => self.fail(core, now, task, attempt, result.as_ref()),
                Command::Interrupt { task, attempt, retry_at } => {
                    core.ledger.interrupt(task, attempt).expect("it was running");
                    if let (Some(retry_at), Some(result)) = (retry_at, &result) {
                        self.notice(core, result, Some(retry_at.since(now)));
                    }
                }
                Command::Kill { slot, hard, why } => self.kill(core, now, slot, hard, why),
                Command::Width(Change { kind, width, why }) => {
                    let kind = &mut core.kinds[kind.index()];
                    (kind.width, kind.why, kind.changes) = (Some(width), Some(why), kind.changes + 1);
                }
                Command::Start { .. } => unreachable!("tasks are only started by deciding"),
                Command::Locate { .. }
                | Command::Fetch { .. }
                | Command::Drop { .. }
                | Command::Evict { .. }
                | Command::Lost { .. }
                | Command::NeverFits { .. } => self.see_to_data(core, command),
            }
        }
        core.commands.clear();
    }

    /// Has done what the node wants of its tier. How large inputs are was found out before the run began.
    fn see_to_data(&self, core: &mut Core, command: Command) {
        let tier = self.tier.as_ref().expect("a node without a tier leaves files where they are");
        match command {
            Command::Locate { object } => {
                let bytes = Some(tier.bytes(object));
                core.events.push_back(Event::Located { object, bytes });
            }
            Command::Fetch { object, .. } => tier.line.ask(Work::Fetch(object)),
            Command::Drop { object } => tier.line.ask(Work::Drop(object)),
            other => unreachable!("what is needed is known, found and fits, so that nobody wants {other:?}"),
        }
    }

    /// Begins an attempt; returns whether a slot's thread has to make it.
    fn start(&self, core: &mut Core, now: Time, job: Job, slot: SlotId) -> bool {
        let Job { task, attempt, .. } = job;
        core.ledger.start(task, attempt).expect("a node starts only what is ready");
        core.kinds[self.flow.kind(task).index()].running += 1;
        core.running[slot.index()] = Some(job);
        core.begun[slot.index()] = now;
        core.first_start.get_or_insert(now);
        let has_files = self.flow.inputs(task).len() > 0 || self.flow.outputs(task).len() > 0;
        if !self.flow.is_timer(task) || has_files {
            self.target(slot).reset();
            let holdings = core.node.holdings(slot);
            let mut told: Vec<(String, String)> =
                holdings.iter().filter_map(|(name, ids, amount)| slot::holding(name, ids, *amount)).collect();
            // Where some tasks ask for GPUs, those that do not must not use them behind their backs.
            if self.grants_gpus && !holdings.iter().any(|(name, ..)| *name == "gpus") {
                told.push(slot::no_gpus());
            }
            *self.slots[slot.index()].holdings.lock().expect("no thread panics while it holds this") = told;
            return true;
        }
        match self.flow.action(task, job.conditions()) {
            Action::Noop => core.events.push_back(Event::Finished { slot, end: End::Done }),
            Action::Sleep(length) => {
                core.sleepers.insert((now + length, slot));
                core.sleeping[slot.index()] = Some(now + length);
            }
            Action::Program(_) | Action::Shell { .. } | Action::Replay { .. } | Action::Recorded => {
                unreachable!("no timer")
            }
        }
        false
    }

    fn hand_over(self: &Arc<Self>, core: &mut Core, slot: SlotId, job: Job) {
        let own = &self.slots[slot.index()];
        let mut mailbox = own.mailbox.lock().expect("no thread panics while it holds this");
        let is_new = matches!(*mailbox, Mailbox::NoThread);
        assert!(!matches!(*mailbox, Mailbox::Job(_)), "a slot gets one job at a time");
        *mailbox = Mailbox::Job(job);
        if is_new {
            let shared = self.clone();
            let thread = std::thread::Builder::new()
                .name(format!("slot {}", slot.0))
                .stack_size(512 * 1024)
                .spawn(move || shared.run_slot(slot));
            match thread {
                Ok(thread) => core.threads.push(thread),
                Err(error) => {
                    *mailbox = Mailbox::NoThread;
                    core.give_up(format!("cannot start a thread for slot {}: {error}", slot.0));
                    let result = AttemptResult::not_started(job, slot, self.clock.now(), &error);
                    core.events.push_back(Event::Finished { slot, end: result.end() });
                    core.results[slot.index()] = Some(result);
                }
            }
        } else {
            own.filled.notify_one();
        }
    }

    /// The life of a slot's thread.
    fn run_slot(self: Arc<Self>, slot: SlotId) {
        let mut runner = SlotRunner::new(&self, slot);
        let mut next = None;
        loop {
            let Some(job) = next.take().or_else(|| self.slots[slot.index()].wait()) else { return };
            let result = match &mut runner {
                Ok(runner) => runner.run(job),
                Err(error) => {
                    self.give_up(format!("cannot prepare slot {}: {error}", slot.0));
                    AttemptResult::not_started(job, slot, self.clock.now(), error)
                }
            };
            let mut core = self.lock();
            core.events.push_back(Event::Finished { slot, end: result.end() });
            core.results[slot.index()] = Some(result);
            next = self.drive(&mut core, Some(slot));
        }
    }

    fn complete(&self, core: &mut Core, now: Time, task: TaskId, attempt: u16, result: Option<&AttemptResult>) {
        let none = (inputs_seen(std::iter::empty()), [].as_slice());
        let (inputs, made): (InputsSeen, &[Made]) = result.map_or(none, |result| (result.inputs, &result.made));
        for (object, made) in self.flow.outputs(task).zip(made) {
            self.objects.set(object, *made);
        }
        let outputs: Vec<(PathKey, Made)> = with_paths(&self.flow, task, made.iter().copied());
        core.journal.add(task.0, self.flow.name_key(task), self.flow.definition_hash(task), inputs, &outputs);
        core.ledger.complete(&self.flow, task, attempt, &mut core.ready).expect("it was running");
        core.temps.reader_done(&self.flow, task, &mut core.unneeded);
        let kind = self.flow.kind(task).index();
        core.kinds[kind].done += 1;
        if let Some(result) = result {
            core.pasts[kind].add(&took(result));
        }
        self.make_ready(core, now);
    }

    /// Takes back that a task is done, because it is about to be done again. What it made is remembered, so
    /// that equal bytes are still recognised if the engine does not live to see them.
    pub(crate) fn note_unfinished(&self, task: TaskId, old_contents: &[u64]) {
        let outputs = self.flow.outputs(task).zip(old_contents);
        let made: Vec<(PathKey, Made)> = outputs
            .filter_map(|(object, content)| {
                let made = Made { content: *content, ..self.recorded.made(object)? };
                Some((PathKey::of(self.flow.object_name(object)), made))
            })
            .collect();
        let key = self.flow.name_key(task);
        self.lock().journal.add(task.0, key, UNFINISHED, InputsSeen::default(), &made);
        self.main_wake.notify_one();
    }

    /// Passes on tasks that have become ready, unless a second look shows that they need not run.
    pub(crate) fn make_ready(&self, core: &mut Core, now: Time) {
        let mut at = 0;
        while let Some(&task) = core.ready.get(at) {
            at += 1;
            if self.verdicts.get(task.index()) == Some(&Verdict::Maybe) && self.still_stands(task) {
                core.trace.write(now, &Entry::UpToDate(task));
                let found = core.ledger.found_up_to_date(&self.flow, task, &mut core.ready);
                found.expect("it has just become ready");
                core.temps.reader_done(&self.flow, task, &mut core.unneeded);
                core.kinds[self.flow.kind(task).index()].up_to_date += 1;
            } else {
                let sizes = self.flow.inputs(task).map(|object| self.objects.get(object).stamp.size);
                let input_bytes = if self.uses_sizes { sizes.sum() } else { 0 };
                core.events.push_back(Event::Ready(core.ledger.ready_task(&self.flow, task, input_bytes)));
            }
        }
        core.ready.clear();
    }

    /// Makes the tasks ready that wait for nobody.
    pub(crate) fn submit(&self, core: &mut Core, now: Time) {
        core.ready = core.ledger.roots().collect();
        self.make_ready(core, now);
    }

    /// Whether the inputs of a task, now that they are there, are what it read before.
    fn still_stands(&self, task: TaskId) -> bool {
        let Memory::Same(seen) = self.recorded.memory(task) else { return false };
        seen.same_as(inputs_seen(self.flow.inputs(task).map(|object| {
            let known = self.objects.get(object);
            (known.version, known.content)
        })))
    }

    fn fail(&self, core: &mut Core, now: Time, task: TaskId, attempt: u16, result: Option<&AttemptResult>) {
        core.skipped.clear();
        core.ledger.fail(&self.flow, task, attempt, &mut core.skipped).expect("it was running");
        core.kinds[self.flow.kind(task).index()].failed += 1;
        for at in 0..core.skipped.len() {
            let skipped = core.skipped[at];
            core.trace.write(now, &Entry::Skipped(skipped));
            core.kinds[self.flow.kind(skipped).index()].skipped += 1;
        }
        if let Some(result) = result {
            self.notice(core, result, None);
        }
    }

    fn notice(&self, core: &mut Core, result: &AttemptResult, retry_in: Option<std::time::Duration>) {
        // Of what is tried again, nobody needs to hear everything; of what has failed for good, a few times more.
        if core.notices.len() >= if retry_in.is_some() { NOTICES_LIMIT } else { 2 * NOTICES_LIMIT } {
            return;
        }
        let attempt = &result.attempt;
        core.notices.push(Notice {
            task: self.flow.name(attempt.task),
            attempt: attempt.attempt,
            attempts_allowed: self.flow.retries(attempt.task) + 1,
            outcome: attempt.outcome,
            remark: result.remark.clone(),
            tail: result.tail.clone(),
            tail_file: result.tail_file.clone(),
            retry_in,
            seconds: attempt.ended.since(attempt.started).as_secs_f64(),
        });
    }

    fn kill(&self, core: &mut Core, now: Time, slot: SlotId, hard: bool, why: KillReason) {
        match core.sleeping[slot.index()].take() {
            Some(until) => {
                core.sleepers.remove(&(until, slot));
                let job = core.running[slot.index()].expect("a sleeper is running");
                let mut result = AttemptResult::without_process(job, slot, core.begun[slot.index()]);
                result.attempt.ended = now;
                result.attempt.outcome = why.into();
                result.remark = slot::remark_on_kill(&self.flow, job.task, why);
                core.results[slot.index()] = Some(result);
                core.events.push_back(Event::Finished { slot, end: End::Killed });
            }
            None => self.target(slot).kill(hard, why),
        }
    }

    /// Ends the sleep of tasks whose time has come.
    pub(crate) fn wake_sleepers(&self, core: &mut Core, now: Time) {
        while let Some(&(_, slot)) = core.sleepers.first().filter(|(time, _)| *time <= now) {
            core.sleepers.pop_first();
            core.sleeping[slot.index()] = None;
            core.events.push_back(Event::Finished { slot, end: End::Done });
        }
    }

    /// Ends all slots' threads.
    pub(crate) fn dismiss_slots(&self) {
        for slot in &self.slots {
            *slot.mailbox.lock().expect("no thread panics while it holds this") = Mailbox::Quit;
            slot.filled.notify_one();
        }
        let threads = std::mem::take(&mut self.lock().threads);
        for thread in threads {
            thread.join().expect("a slot's thread does not panic");
        }
    }
}

/// Outputs of a task as a record has them.
pub(crate) fn with_paths(flow: &Workflow, task: TaskId, made: impl Iterator<Item = Made>) -> Vec<(PathKey, Made)> {
    flow.outputs(task).map(|object| PathKey::of(flow.object_name(object))).zip(made).collect()
}

impl Slot {
    /// Waits for a job; nothing means that there will be none.
    fn wait(&self) -> Option<Job> {
        let mut mailbox = self.mailbox.lock().expect("no thread panics while it holds this");
        loop {
            match *mailbox {
                Mailbox::Job(job) => {
                    *mailbox = Mailbox::Empty;
                    return Some(job);
                }
                Mailbox::Quit => return None,
                Mailbox::NoThread | Mailbox::Empty => {
                    mailbox = self.filled.wait(mailbox).expect("no thread panics while it holds this");
                }
            }
        }
    }
}
