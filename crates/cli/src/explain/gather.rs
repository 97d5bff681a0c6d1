//! Gathers the facts: one look through the trace, one at the edges, and as many earlier runs as are needed.

use throng_core::ids::TaskId;
use throng_core::node::{Command, Event};
use throng_core::stale::Reason;
use throng_core::time::Time;
use throng_core::trace::{self, Entry, Outcome};
use throng_core::workflow::Workflow;
use throng_runtime::log;
use throng_runtime::recording::Recording;
use throng_runtime::state::{RunDirectory, StateDirectory};

use super::chain::{self, NEVER, Ways};
use super::facts::{Account, Attempt, AttemptResult, End, LastChain, LastParent, Parents, Skipped, Stopped};
use super::slots::Slots;
use super::why::{self, Noted};
use crate::words;

/// Lines shown of what a failed attempt printed: the last ones say what went wrong.
const TAIL_LINES: usize = 5;
/// Failures that are looked at to find the one through which a task was skipped.
const FAILURES_TRIED: usize = 100;
/// Names of parents that are still open.
const OPEN_NAMED: usize = 5;

/// What is asked about, and where the answer is.
#[derive(Clone, Copy)]
pub struct Scene<'a> {
    /// The state directory.
    pub state: &'a StateDirectory,
    /// The run.
    pub run: &'a RunDirectory,
    /// Its recording.
    pub recording: &'a Recording,
    /// The task.
    pub task: TaskId,
}

/// Everything about a task in a run.
pub fn account(scene: &Scene<'_>, run_state: String) -> Account {
    let Scene { recording, task, .. } = *scene;
    let flow = &recording.flow;
    let story = Story::read(scene);
    let is_part = story.is_part();
    let was_done = |task: TaskId| story.had_start[task.index()] && story.done_ns[task.index()] != NEVER;
    let had_to_run = |task: TaskId| !story.has_verdicts || story.is_pending[task.index()];
    // A run that begins with nothing on record does not say of each task that it has not been done.
    let reason = story.reason.or((!story.has_verdicts).then_some(Reason::NeverDone));
    let noted = Noted { reason, is_part, was_done: &was_done, had_to_run: &had_to_run };
    let mut why = why::why(scene, &noted);
    why.looked_again_s = story.reason.and(story.up_to_date).map(Time::as_secs_f64);
    let ways = Ways::new(flow, task, &story.done_ns);
    let is_over = recording.about.end.is_some();
    Account {
        run: scene.run.number,
        workflow: recording.about.workflow.clone(),
        task: flow.name(task),
        kind: flow.kind_name(flow.kind(task)).to_owned(),
        recorded_s: story.last.as_secs_f64(),
        end: story.end(is_part),
        why,
        parents: (is_part && story.up_to_date.is_none_or(|_| story.reason.is_some()))
            .then(|| story.parents(scene, &ways))
            .flatten(),
        stopped: story.stopped(scene),
        skipped: story.skipped(scene),
        last_chain: (is_over && story.attempts.iter().any(|attempt| attempt.result.is_some()))
            .then(|| story.last_chain(scene, &ways))
            .flatten(),
        attempts: story.attempts,
        run_state,
    }
}

/// What the trace says.
struct Story {
    has_verdicts: bool,
    reason: Option<Reason>,
    up_to_date: Option<Time>,
    was_mentioned: bool,
    first: Time,
    last: Time,
    /// When each task was done or found to be up to date.
    done_ns: Vec<u64>,
    had_start: Vec<bool>,
    is_pending: Vec<bool>,
    ready: Option<Time>,
    /// How often what it reads was lost.
    lost_inputs: u64,
    attempts: Vec<Attempt>,
    /// Whether the last of them was stopped because memory was short.
    was_stopped: bool,
    last_outcome: Option<Outcome>,
    is_failed: bool,
    is_done: bool,
    /// The failure through which the task was skipped.
    skipped_by: Option<(TaskId, u16, Time)>,
    stop: Option<Time>,
    first_failure: Option<(TaskId, Time)>,
    /// How long the last parent ran, looked up later.
    last_attempts: Vec<(TaskId, trace::Attempt)>,
    last_done: Option<TaskId>,
}

impl Story {
    fn read(scene: &Scene<'_>) -> Story {
        let Scene { recording, task, .. } = *scene;
        let flow = &recording.flow;
        let count = flow.task_count();
        let mut story = Story {
            has_verdicts: false,
            reason: None,
            up_to_date: None,
            was_mentioned: false,
            first: Time::START,
            last: Time::START,
            done_ns: vec![NEVER; count],
            had_start: vec![false; count],
            is_pending: vec![false; count],
            ready: None,
            lost_inputs: 0,
            attempts: Vec::new(),
            was_stopped: false,
            last_outcome: None,
            is_failed: false,
            is_done: false,
            skipped_by: None,
            stop: None,
            first_failure: None,
            last_attempts: Vec::new(),
            last_done: None,
        };
        let mut slots = Slots::new(flow, &recording.about.node, task);
        let learner = crate::status::learner(&recording.about);
        let mut failures = Vec::new();
        let mut retry_at: Option<Time> = None;
        let mut is_first = true;
        for (now, entry) in recording.entries() {
            if std::mem::take(&mut is_first) {
                story.first = now;
            }
            story.last = now;
            // The node takes a task up again by itself when its back-off is over.
            if let Some(at) = retry_at.filter(|at| now >= *at) {
                slots.begin(at);
                retry_at = None;
            }
            match entry {
                Entry::Pending(subject, reason) => {
                    story.has_verdicts = true;
                    story.is_pending[subject.index()] = true;
                    if subject == task {
                        story.reason = Some(reason);
                    }
                }
                Entry::UpToDate(subject) => {
                    story.has_verdicts = true;
                    story.done_ns[subject.index()] = now.0;
                    if subject == task {
                        story.up_to_date = Some(now);
                    }
                }
                Entry::Event(Event::Ready(ready)) if ready.task == task => {
                    story.was_mentioned = true;
                    story.ready.get_or_insert(now);
                    slots.begin(now);
                }
                Entry::Event(Event::Finished { slot, .. }) => slots.finish(now, slot),
                Entry::Event(Event::Stop) => drop(story.stop.get_or_insert(now)),
                // What one of several nodes has learnt says nothing of the one that ran the task.
                Entry::Command(Command::Width(change)) if learner.is_none() => slots.width(&change),
                Entry::Command(Command::Start { task: subject, attempt, slot }) => {
                    story.had_start[subject.index()] = true;
                    if subject == task {
                        story.started(&mut slots, now, attempt, slot.0);
                    }
                    slots.start(now, slot, subject, attempt);
                }
                Entry::Attempt(attempt) => {
                    if attempt.task == task {
                        story.last_outcome = Some(attempt.outcome);
                        story.ended(scene, &attempt);
                    }
                    if attempt.outcome != Outcome::Done || flow.children(attempt.task).any(|child| child == task) {
                        story.last_attempts.push((attempt.task, attempt));
                    }
                }
                Entry::Command(Command::Complete { task: subject, .. }) => {
                    story.done_ns[subject.index()] = now.0;
                    story.last_done = Some(subject);
                    if subject == task {
                        (story.is_done, story.is_failed) = (true, false);
                        story.completed(now);
                    }
                }
                Entry::Command(Command::Fail { task: subject, attempt }) => {
                    failures.push((subject, attempt, now));
                    story.first_failure.get_or_insert((subject, now));
                    story.last_done = Some(subject);
                    if subject == task {
                        (story.is_done, story.is_failed) = (false, true);
                    }
                }
                Entry::Command(Command::Interrupt { task: subject, retry_at: at, .. }) if subject == task => {
                    let outcome = story.last_outcome;
                    story.was_stopped = outcome.is_some_and(|outcome| outcome.waits_for_memory(now, at));
                    retry_at = at;
                }
                Entry::Skipped(subject) if subject == task => {
                    story.skipped_by = culprit(flow, task, &failures);
                    (story.is_done, story.is_failed) = (false, false);
                }
                Entry::Event(Event::Fetched { object }) if flow.inputs(task).any(|input| input == object) => {
                    slots.came(now);
                }
                Entry::Command(Command::Lost { task: subject, .. }) if subject == task => {
                    story.lost_inputs += 1;
                    slots.end(now);
                }
                _ => {}
            }
        }
        if let Some((ready, mut queue)) = slots.end(story.last) {
            queue.is_for_memory = story.was_stopped;
            let number = story.attempts.last().map_or(1, |last| last.attempt + 1);
            let back_off_s = story.back_off(ready);
            let ready_s = ready.as_secs_f64();
            let attempt =
                Attempt { attempt: number, back_off_s, ready_s, queue, started_s: None, slot: None, result: None };
            story.attempts.push(attempt);
        }
        story
    }

    fn back_off(&self, ready: Time) -> Option<f64> {
        let before = self.attempts.last()?;
        let ended_s = before.started_s? + before.result.as_ref()?.seconds;
        Some((ready.as_secs_f64() - ended_s).max(0.0))
    }

    fn started(&mut self, slots: &mut Slots<'_>, now: Time, attempt: u16, slot: u32) {
        let (ready, mut queue) = slots.end(now).unwrap_or_default();
        queue.is_for_memory = std::mem::take(&mut self.was_stopped);
        let back_off_s = self.back_off(ready);
        self.attempts.push(Attempt {
            attempt,
            back_off_s,
            ready_s: ready.as_secs_f64(),
            queue,
            started_s: Some(now.as_secs_f64()),
            slot: Some(slot),
            result: None,
        });
    }

    fn ended(&mut self, scene: &Scene<'_>, attempt: &trace::Attempt) {
        let Some(own) = self.attempts.last_mut() else { return };
        let flow = &scene.recording.flow;
        let seconds = attempt.ended.since(attempt.started).as_secs_f64();
        let has_process = !flow.is_builtin(scene.task);
        let usage = &attempt.usage;
        let core_seconds = usage.core_us() as f64 / 1e6;
        // Of several ways to run, the preferred one; which was taken is not on record.
        let way = flow.alternatives(flow.class(scene.task, attempt.attempt)).next();
        let asked = way.map_or(0, |demand| flow.demand(demand).memory_bytes);
        let is_done = attempt.outcome == Outcome::Done;
        own.result = Some(AttemptResult {
            outcome: words::outcome(attempt.outcome),
            is_done,
            seconds,
            cores: (has_process && seconds > 0.0).then(|| core_seconds / seconds),
            peak_memory_bytes: (has_process && usage.peak_memory_bytes > 0).then_some(usage.peak_memory_bytes),
            peak_is_bound: usage.peak_is_bound,
            asked_memory_bytes: (asked > 0).then_some(asked),
            tail: if is_done { Vec::new() } else { tail(scene.run, attempt) },
        });
    }

    /// A task without a process leaves no attempt in the trace.
    fn completed(&mut self, now: Time) {
        let Some(own) = self.attempts.last_mut().filter(|own| own.result.is_none()) else { return };
        let seconds = own.started_s.map_or(0.0, |started_s| now.as_secs_f64() - started_s);
        own.result = Some(AttemptResult {
            outcome: words::outcome(Outcome::Done),
            is_done: true,
            seconds,
            cores: None,
            peak_memory_bytes: None,
            peak_is_bound: false,
            asked_memory_bytes: None,
            tail: Vec::new(),
        });
    }

    fn is_part(&self) -> bool {
        !self.has_verdicts || self.reason.is_some() || self.up_to_date.is_some() || self.was_mentioned
    }

    fn end(&self, is_part: bool) -> End {
        if !is_part {
            return End::NotPart;
        }
        match self.attempts.last() {
            _ if self.is_done => End::Done,
            _ if self.is_failed => End::Failed,
            _ if self.skipped_by.is_some() => End::Skipped,
            _ if self.up_to_date.is_some() => End::UpToDate,
            Some(last) if last.result.is_some() => End::Interrupted,
            Some(last) if last.started_s.is_some() => End::Running,
            Some(_) => End::Ready,
            None => End::Waiting,
        }
    }

    fn parents(&self, scene: &Scene<'_>, ways: &Ways) -> Option<Parents> {
        if ways.parents.is_empty() {
            return None;
        }
        let flow = &scene.recording.flow;
        let open: Vec<TaskId> =
            ways.parents.iter().copied().filter(|parent| self.done_ns[parent.index()] == NEVER).collect();
        // Found up to date when its inputs were there, a task was never ready, but waited all the same.
        let ready = self.ready.or(self.up_to_date);
        let last = ways.last_parent(scene.task).map(|parent| {
            let attempt = self.last_attempts.iter().rev().find(|(task, _)| *task == parent).map(|(_, attempt)| attempt);
            LastParent {
                task: flow.name(parent),
                done_s: Time(self.done_ns[parent.index()]).as_secs_f64(),
                ran_s: attempt.map(|attempt| attempt.ended.since(attempt.started).as_secs_f64()),
                is_up_to_date: !self.had_start[parent.index()],
            }
        });
        Some(Parents {
            count: ways.parents.len() as u64,
            ran: ways.parents.iter().filter(|parent| self.had_start[parent.index()]).count() as u64,
            open: open.len() as u64,
            open_names: open.iter().take(OPEN_NAMED).map(|parent| flow.name(*parent)).collect(),
            lost_inputs: self.lost_inputs,
            waited_s: ready.map(|ready| ready.since(self.first).as_secs_f64()),
            last,
        })
    }

    fn stopped(&self, scene: &Scene<'_>) -> Option<Stopped> {
        if let Some(at) = self.stop {
            return Some(Stopped { at_s: at.as_secs_f64(), failed_task: None });
        }
        let (task, at) = self.first_failure.filter(|_| scene.recording.about.node.fail_fast)?;
        Some(Stopped { at_s: at.as_secs_f64(), failed_task: Some(scene.recording.flow.name(task)) })
    }

    fn skipped(&self, scene: &Scene<'_>) -> Option<Skipped> {
        let (culprit, number, at) = self.skipped_by?;
        let flow = &scene.recording.flow;
        let attempt = self.last_attempts.iter().rev().find(|(task, _)| *task == culprit).map(|(_, attempt)| attempt);
        Some(Skipped {
            chain: chain::between(flow, culprit, scene.task).into_iter().map(|task| flow.name(task)).collect(),
            outcome: attempt.map_or_else(|| "failed".to_owned(), |attempt| words::outcome(attempt.outcome)),
            attempt: number,
            failed_s: at.as_secs_f64(),
            tail: attempt.map(|attempt| tail(scene.run, attempt)).unwrap_or_default(),
        })
    }

    fn last_chain(&self, scene: &Scene<'_>, ways: &Ways) -> Option<LastChain> {
        let last = self.last_done?;
        // What was up to date from the beginning kept nobody waiting.
        let chain = ways.chain_to(last, |task| self.done_ns[task.index()] > self.first.0);
        Some(LastChain {
            length: chain.len() as u64,
            place: chain.iter().position(|task| *task == scene.task).map(|at| at as u64 + 1),
            last_task: scene.recording.flow.name(last),
        })
    }
}

/// The failure through which a task is skipped: the latest of one before it. On one node that is the latest of all; among many, others
/// may have failed since.
fn culprit(flow: &Workflow, task: TaskId, failures: &[(TaskId, u16, Time)]) -> Option<(TaskId, u16, Time)> {
    let leads_here = |failure: &&(TaskId, u16, Time)| !chain::between(flow, failure.0, task).is_empty();
    failures.iter().rev().take(FAILURES_TRIED).find(leads_here).or(failures.last()).copied()
}

/// The last lines that an attempt printed.
fn tail(run: &RunDirectory, attempt: &trace::Attempt) -> Vec<String> {
    // What cannot be read any more is not worth an error: the account stands without it.
    let lines = log::last_lines(&run.log(), attempt.log, TAIL_LINES).unwrap_or_default();
    lines.lines().map(str::to_owned).collect()
}
