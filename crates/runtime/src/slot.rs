//! One slot: prepares an attempt, runs its process, and looks at what it left.
//!
//! Everything here happens outside the lock around the node, on the slot's own thread.

mod environment;
mod launch;
mod memory;
mod replay;
mod streams;

use std::collections::HashMap;
use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::time::Duration;

use throng_core::fingerprint::Stamp;
use throng_core::ids::{DemandId, ObjectId, SlotId, TaskId};
use throng_core::node::{End, KillReason};
use throng_core::stale::{InputsSeen, Made, Memory, inputs_seen, version_of_output, why_kept};
use throng_core::time::Time;
use throng_core::trace::{Attempt, Outcome, Usage};
use throng_core::workflow::{Action, Conditions, Workflow};

use crate::containers;
use crate::fence::Fence;
use crate::node_loop::Shared;
use crate::process::{self, Exit, Launcher, group_is_alive, signal_group};
use crate::run::Verify;
use crate::tier::settle;
use crate::took;
pub use environment::BaseEnvironment;
pub(crate) use environment::{holding, no_gpus};
use streams::Streams;

/// An attempt to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// At which task.
    pub task: TaskId,
    /// Which attempt.
    pub attempt: u16,
    /// In which of the ways that would do.
    pub demand: DemandId,
}

impl Job {
    /// Under what conditions it runs.
    pub fn conditions(self) -> Conditions {
        Conditions { attempt: self.attempt, demand: self.demand }
    }
}

/// What came of an attempt.
#[derive(Clone, Debug)]
pub struct AttemptResult {
    /// For the trace.
    pub attempt: Attempt,
    /// What the task read.
    pub inputs: InputsSeen,
    /// What it made, if it succeeded.
    pub made: Vec<Made>,
    /// The most that all its processes were seen to hold together; nothing if nobody has looked.
    pub held_bytes: u64,
    /// Something that a person should know beyond the outcome, such as which file is missing.
    pub remark: Option<String>,
    /// The last lines that it printed, if it did not succeed.
    pub tail: String,
    /// The file that these lines are in, if not the log.
    pub tail_file: Option<PathBuf>,
}

impl AttemptResult {
    /// An attempt that has just begun and might end at once, with nothing read and nothing made.
    pub fn without_process(job: Job, slot: SlotId, now: Time) -> Self {
        let attempt = Attempt {
            task: job.task,
            attempt: job.attempt,
            slot,
            staged: now,
            started: now,
            ended: now,
            outcome: Outcome::Done,
            usage: Usage::default(),
            log: (0, 0),
        };
        AttemptResult {
            attempt,
            inputs: InputsSeen::default(),
            made: Vec::new(),
            held_bytes: 0,
            remark: None,
            tail: String::new(),
            tail_file: None,
        }
    }

    /// An attempt that did not come to be.
    pub fn not_started(job: Job, slot: SlotId, now: Time, error: &io::Error) -> Self {
        let mut result = AttemptResult::without_process(job, slot, now);
        result.attempt.outcome = Outcome::NotStarted(error.raw_os_error().unwrap_or(0));
        result
    }

    /// The end as the node understands it.
    pub fn end(&self) -> End {
        match self.attempt.outcome {
            Outcome::Done => End::Done,
            Outcome::TimedOut | Outcome::Cancelled | Outcome::MadeRoom | Outcome::TooLarge => End::Killed,
            Outcome::OutOfMemory => End::OutOfMemory,
            Outcome::Exited(code) => End::Failed { code: code as u8 },
            Outcome::Signalled(signal) => End::Failed { code: 128 + signal as u8 },
            _ => End::Failed { code: 0 },
        }
    }
}

/// What is running in a slot, for whoever has to end it.
#[derive(Debug, Default)]
pub struct Target {
    inner: Mutex<TargetState>,
}

#[derive(Debug, Default)]
struct TargetState {
    group: Option<i32>,
    told: Option<Told>,
    /// The most that it was seen to hold.
    held_bytes: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Told {
    hard: bool,
    why: KillReason,
}

impl Target {
    fn lock(&self) -> std::sync::MutexGuard<'_, TargetState> {
        self.inner.lock().expect("no thread panics while it holds this")
    }

    /// Asks or forces what runs here to end; what has not started yet will not get far.
    pub fn kill(&self, hard: bool, why: KillReason) {
        let mut state = self.lock();
        state.told = Some(Told { hard, why });
        if let Some(group) = state.group {
            process::signal_task(group, signal_for(hard));
        }
    }

    /// The group of what runs here.
    pub(crate) fn group(&self) -> Option<i32> {
        self.lock().group
    }

    /// Notes what a group was seen to hold, if it still runs here.
    pub(crate) fn saw_held(&self, group: i32, bytes: u64) {
        let mut state = self.lock();
        if state.group == Some(group) {
            state.held_bytes = state.held_bytes.max(bytes);
        }
    }

    fn told(&self) -> Option<Told> {
        self.lock().told
    }

    /// Begins a new attempt.
    pub fn reset(&self) {
        *self.lock() = TargetState::default();
    }
}

fn signal_for(hard: bool) -> i32 {
    if hard { libc::SIGKILL } else { libc::SIGTERM }
}

/// What to say of an attempt that was told to end.
pub fn remark_on_kill(flow: &Workflow, task: TaskId, why: KillReason) -> Option<String> {
    match why {
        KillReason::Timeout => {
            flow.timeout(task).map(|timeout| format!("it took longer than its `timeout` of {timeout:?}"))
        }
        KillReason::Stop => None,
        KillReason::Memory => Some("memory was short: it runs again when there is room for it".to_owned()),
        KillReason::TooLarge => Some("it held all the memory that there is for tasks, or more, though nothing else ran; `--memory` says how much that is".to_owned()),
    }
}

/// Output shown with a failure at once; the rest is in the log.
const TAIL_LINES: usize = 5;

/// How often a slot looks whether the rest of a group that was told to end has done so.
const GROUP_POLL: Duration = Duration::from_millis(5);

/// Runs attempts, one after the other.
pub struct SlotRunner<'a> {
    shared: &'a Shared,
    slot: SlotId,
    scratch: File,
    launcher: Launcher,
    programs: HashMap<(String, String), CString>,
    /// Whether the attempt has got so far that what lies where its outputs belong is its own.
    has_made_room: bool,
    /// What holds the attempt to the memory that it says it needs.
    fence: Option<Fence<'a>>,
}

/// Why an attempt did not get as far as a process, or not well past it.
struct Trouble {
    outcome: Outcome,
    remark: String,
}

impl Trouble {
    fn files(what: &str, path: &str, error: &io::Error) -> Self {
        Trouble {
            outcome: Outcome::FilesFailed(error.raw_os_error().unwrap_or(0)),
            remark: format!("cannot {what} `{path}`: {error}"),
        }
    }
}

impl<'a> SlotRunner<'a> {
    /// Prepares a slot.
    pub fn new(shared: &'a Shared, slot: SlotId) -> io::Result<Self> {
        let scratch = open_scratch(shared, slot)?;
        Ok(SlotRunner {
            shared,
            slot,
            scratch,
            launcher: Launcher::default(),
            programs: HashMap::new(),
            has_made_room: false,
            fence: None,
        })
    }

    /// Makes an attempt.
    pub fn run(&mut self, job: Job) -> AttemptResult {
        let mut result = AttemptResult::without_process(job, self.slot, self.shared.clock.now());
        self.has_made_room = false;
        if let Err(trouble) = self.try_run(job, &mut result) {
            result.attempt.outcome = trouble.outcome;
            result.remark = Some(trouble.remark).filter(|remark| !remark.is_empty());
        }
        // Before there was room for its outputs, what lies there is of an earlier run, or somebody's own.
        if result.attempt.outcome != Outcome::Done && self.has_made_room {
            let [_, _, stderr] = self.shared.flow.streams(job.task);
            // There may be no such file yet, and nothing in it.
            let complaints = stderr.as_ref().and_then(|file| streams::last_lines(self.shared, file, TAIL_LINES).ok());
            let complaints = complaints.filter(|tail| !tail.is_empty());
            let file = stderr.filter(|_| complaints.is_some());
            result.tail = complaints.unwrap_or_else(|| {
                let tail = self.shared.log.tail(result.attempt.log, TAIL_LINES);
                tail.unwrap_or_else(|error| format!("(the log cannot be read: {error})"))
            });
            self.set_outputs_aside(job.task, file.as_deref(), &mut result);
        }
        self.fence = None;
        // Only now: whoever finds this cell filled has to see to the outputs as well.
        self.shared.table.cell(self.slot.index()).clear();
        result
    }

    fn try_run(&mut self, job: Job, result: &mut AttemptResult) -> Result<(), Trouble> {
        let shared = self.shared;
        self.look_at_inputs(job, result)?;
        let old_contents: Vec<u64> =
            shared.flow.outputs(job.task).map(|object| self.old_content(job.task, object)).collect();
        if shared.recorded.memory(job.task) != Memory::None {
            shared.note_unfinished(job.task, &old_contents);
        }
        self.make_room(job.task)?;
        self.has_made_room = true;
        result.attempt.staged = shared.clock.now();
        result.attempt.started = result.attempt.staged;
        match shared.flow.action(job.task, job.conditions()) {
            Action::Program(words) => self.run_process(job, words, result)?,
            Action::Shell { shell, text } => {
                let words = self.shell_words(shell, text)?;
                self.run_process(job, words, result)?;
            }
            Action::Noop => {}
            Action::Sleep(length) => self.sleep(job, length)?,
            Action::Replay { length, spins } => self.replay(job, length, spins, result)?,
            // Nobody begins such a run; if somebody did, it would be no harm.
            Action::Recorded => {}
        }
        if shared.flow.is_builtin(job.task) {
            result.attempt.ended = shared.clock.now();
        }
        self.check_copies(job.task)?;
        self.look_at_outputs(job.task, &old_contents, result)
    }

    /// Who has read something else than what was brought has made something else than it should have.
    fn check_copies(&self, task: TaskId) -> Result<(), Trouble> {
        let Some(tier) = &self.shared.tier else { return Ok(()) };
        match self.shared.flow.inputs(task).find(|object| !tier.is_unchanged(*object)) {
            None => Ok(()),
            Some(object) => {
                let name = self.shared.flow.object_name(object);
                let remark = format!(
                    "the copy of its input `{name}` in the memory tier was changed or taken away while it ran; inputs are to be read only"
                );
                Err(Trouble { outcome: Outcome::FilesFailed(0), remark })
            }
        }
    }

    fn look_at_inputs(&self, job: Job, result: &mut AttemptResult) -> Result<(), Trouble> {
        let flow = &self.shared.flow;
        let mut seen = Vec::with_capacity(flow.inputs(job.task).len());
        for object in flow.inputs(job.task) {
            let made = self.look_at_input(object);
            if made.is_err() {
                // Whatever went wrong may be that it was told to end.
                self.told_to_end(job)?;
            }
            seen.push(made?);
        }
        result.inputs = inputs_seen(seen.into_iter().map(|made| (made.version, made.content)));
        Ok(())
    }

    /// Makes the directories of outputs, and takes away what lies where they will be.
    fn make_room(&self, task: TaskId) -> Result<(), Trouble> {
        for object in self.shared.flow.outputs(task) {
            let name = self.shared.flow.object_name(object);
            let place = &self.shared.workplace;
            place.make_parent(name).map_err(|error| Trouble::files("make the directory of", name, &error))?;
            self.clear_output(object)?;
        }
        Ok(())
    }

    fn look_at_input(&self, object: ObjectId) -> Result<Made, Trouble> {
        let shared = self.shared;
        let name = shared.flow.object_name(object);
        let is_from_outside = shared.flow.producer(object).is_none();
        let goes_on = || shared.target(self.slot).told().is_none();
        let brought = shared.tier.as_ref().and_then(|tier| tier.look(&shared.workplace, name, object, &goes_on));
        if let Some(brought) = brought {
            let failed = |(error, remark)| Trouble { outcome: Outcome::FilesFailed(error), remark };
            return Ok(self.now_known(object, brought.map_err(failed)?));
        }
        let found = if is_from_outside { shared.workplace.stamp_of_source(name) } else { shared.workplace.stamp(name) };
        let found = found.map_err(|error| Trouble::files("look at the input", name, &error))?;
        if !found.is_present() && !shared.flow.is_optional(object) {
            let gone = io::Error::from_raw_os_error(libc::ENOENT);
            return Err(Trouble::files("find the input", name, &gone));
        }
        Ok(self.now_known(object, found))
    }

    /// What is known of an object that lies there like this.
    fn now_known(&self, object: ObjectId, found: Stamp) -> Made {
        let shared = self.shared;
        let known = shared.objects.get(object);
        if known.stamp == found && known.version.0 != 0 {
            return known;
        }
        let name = shared.flow.object_name(object);
        let content = if shared.verify == Verify::Content { shared.workplace.content(name) } else { 0 };
        let made = Made { stamp: found, version: found.version(), content, is_adopted: false };
        if shared.flow.producer(object).is_none() {
            shared.objects.set(object, made);
        }
        made
    }

    /// The hash of what a task made before and is about to make again, if somebody reads it and would like to know
    /// whether it changes; zero if that cannot be told.
    fn old_content(&self, task: TaskId, object: ObjectId) -> u64 {
        let shared = self.shared;
        let Some(recorded) = shared.recorded.made(object) else { return 0 };
        // An attempt before this one may have taken it away already: what was known of it then is still known.
        let known = shared.objects.get(object);
        if recorded.version != known.version {
            return 0;
        }
        let name = shared.flow.object_name(object);
        let is_there = shared.workplace.stamp(name).is_ok_and(|found| found == recorded.stamp);
        if known.content != 0 || !is_there || shared.flow.children(task).len() == 0 {
            return known.content;
        }
        let content = shared.workplace.content(name);
        shared.objects.set(object, Made { content, ..known });
        content
    }

    /// Takes away what lies where an output will be: deletes what Throng made, keeps what it did not.
    fn clear_output(&self, object: ObjectId) -> Result<(), Trouble> {
        let shared = self.shared;
        let name = shared.flow.object_name(object);
        let found = shared.workplace.stamp(name).unwrap_or(Stamp::ABSENT);
        let cleared = match why_kept(shared.recorded.made(object), found) {
            None => shared.workplace.remove(name, found),
            Some(_) => shared.workplace.keep(name).map(|_| ()),
        };
        cleared.map_err(|error| Trouble::files("clear the place of", name, &error))
    }

    /// Waits out a built-in `sleep` that has files to look after; others are timers of the main thread.
    fn sleep(&self, job: Job, length: Duration) -> Result<(), Trouble> {
        self.sleep_until(job, self.shared.clock.now() + length)
    }

    fn run_process(&mut self, job: Job, words: Vec<String>, result: &mut AttemptResult) -> Result<(), Trouble> {
        let target = self.shared.target(self.slot);
        if let Some(told) = target.told() {
            return Err(self.ended_by_us(job, told));
        }
        let streams = Streams::open(self.shared, job.task)?;
        result.attempt.started = self.shared.clock.now();
        let pid = self.launch(job, words, &streams)?;
        drop(streams);
        {
            let mut state = target.lock();
            state.group = Some(pid);
            if let Some(told) = state.told {
                process::signal_task(pid, signal_for(told.hard));
            }
        }
        let broken = |error: io::Error| Trouble {
            outcome: Outcome::NotStarted(error.raw_os_error().unwrap_or(0)),
            remark: format!("cannot wait for process {pid}: {error}"),
        };
        if let Err(error) = process::wait_for_end(pid) {
            target.lock().group = None;
            return Err(broken(error));
        }
        while self.is_being_told_kindly() && group_is_alive(pid) {
            std::thread::sleep(GROUP_POLL);
        }
        // Whatever the task has left behind in its group ends with it. Its number is still taken, so this
        // cannot reach anybody else.
        signal_group(pid, libc::SIGKILL);
        let told = {
            let mut state = target.lock();
            state.group = None;
            result.held_bytes = state.held_bytes;
            state.told
        };
        let (exit, usage) = process::reap(pid, self.shared.own_peak_bytes.load(Ordering::Relaxed)).map_err(broken)?;
        result.attempt.ended = self.shared.clock.now();
        result.attempt.usage = took::with_held(usage, result.held_bytes);
        self.keep_output(result)?;
        if self.shared.orphans.are_there() {
            // One of them may go on printing, and must not do so in the next task's name.
            self.scratch = open_scratch(self.shared, self.slot)
                .map_err(|error| Trouble::files("renew", "the scratch file", &error))?;
        }
        // A container may outlive the program that was to look after it.
        let is_cut_off = told.is_some() || matches!(exit, Exit::Signal(_));
        if is_cut_off && self.shared.flow.container(job.task).is_some() {
            containers::remove(&self.container_name());
        }
        if let Some(told) = told {
            return Err(self.ended_by_us(job, told));
        }
        let outcome = match exit {
            Exit::Code(0) if !self.has_lost_a_part() => return Ok(()),
            // Who goes on after that, as a shell does, has not made what it should.
            Exit::Code(0) => Outcome::Signalled(libc::SIGKILL),
            Exit::Code(code) => Outcome::Exited(code),
            Exit::Signal(signal) => Outcome::Signalled(signal),
        };
        Err(self.ended_in_vain(job, exit, outcome))
    }

    fn is_being_told_kindly(&self) -> bool {
        self.shared.target(self.slot).told().is_some_and(|told| !told.hard)
    }

    fn told_to_end(&self, job: Job) -> Result<(), Trouble> {
        match self.shared.target(self.slot).told() {
            Some(told) => Err(self.ended_by_us(job, told)),
            None => Ok(()),
        }
    }

    fn ended_by_us(&self, job: Job, told: Told) -> Trouble {
        let remark = remark_on_kill(&self.shared.flow, job.task, told.why).unwrap_or_default();
        Trouble { outcome: told.why.into(), remark }
    }

    /// Moves what the task printed into the packed log.
    fn keep_output(&self, result: &mut AttemptResult) -> Result<(), Trouble> {
        let keep = || {
            let length = self.scratch.metadata()?.len();
            if length == 0 {
                return Ok((0, 0));
            }
            let place = self.shared.log.append(&self.scratch, length)?;
            self.scratch.set_len(0)?;
            Ok(place)
        };
        match keep() {
            Ok(place) => {
                result.attempt.log = place;
                Ok(())
            }
            Err(error) => {
                self.shared.give_up(format!("cannot keep what tasks print: {error}"));
                Err(Trouble::files("keep", "the output", &error))
            }
        }
    }

    fn look_at_outputs(&self, task: TaskId, old_contents: &[u64], result: &mut AttemptResult) -> Result<(), Trouble> {
        let shared = self.shared;
        let mut missing: Vec<&str> = Vec::new();
        for (object, old_content) in shared.flow.outputs(task).zip(old_contents) {
            let name = shared.flow.object_name(object);
            if shared.tier.is_some() {
                settle(&shared.workplace.path(name))
                    .map_err(|error| Trouble::files("put a file in the place of a link at", name, &error))?;
            }
            let found =
                shared.workplace.stamp(name).map_err(|error| Trouble::files("look at the output", name, &error))?;
            if !found.is_present() && !shared.flow.is_optional(object) {
                missing.push(name);
                continue;
            }
            let is_wanted = shared.verify == Verify::Content || *old_content != 0;
            let content = if is_wanted && found.is_present() { shared.workplace.content(name) } else { 0 };
            let version = version_of_output(shared.recorded.made(object), *old_content, found, content);
            result.made.push(Made { stamp: found, version, content, is_adopted: false });
        }
        match missing.as_slice() {
            [] => Ok(()),
            [first, rest @ ..] => Err(Trouble {
                outcome: Outcome::OutputsMissing(missing.len() as u32),
                remark: match rest.len() {
                    0 => format!("it ended well, but did not make `{first}`"),
                    more => format!("it ended well, but did not make `{first}` and {more} more"),
                },
            }),
        }
    }

    /// What an unsuccessful attempt has made must not look finished. The file with its complaints is told of.
    fn set_outputs_aside(&self, task: TaskId, complaints: Option<&str>, result: &mut AttemptResult) {
        for object in self.shared.flow.outputs(task) {
            let name = self.shared.flow.object_name(object);
            match self.shared.workplace.set_aside(name) {
                Ok(place) if complaints == Some(name) => result.tail_file = place,
                Ok(_) => {}
                Err(error) => {
                    result.remark.get_or_insert_with(|| format!("cannot set `{name}` aside: {error}"));
                }
            }
        }
        result.made.clear();
    }
}

/// Makes a slot's scratch file anew; whoever still has the one before keeps that.
fn open_scratch(shared: &Shared, slot: SlotId) -> io::Result<File> {
    let path = shared.scratch_directory.join(slot.0.to_string());
    match std::fs::remove_file(&path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new().read(true).append(true).create_new(true).open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_held_is_that_of_the_group_that_runs() {
        let target = Target::default();
        target.saw_held(7, 100);
        assert_eq!(target.lock().held_bytes, 0, "nothing runs yet");
        target.lock().group = Some(7);
        [200, 300, 100].into_iter().for_each(|bytes| target.saw_held(7, bytes));
        target.saw_held(6, 900);
        assert_eq!(target.lock().held_bytes, 300);
        target.reset();
        assert_eq!(target.lock().held_bytes, 0);
    }
}
