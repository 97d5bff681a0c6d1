//! What there is to know about a task in a run, as data: the fields of `--json`.

use serde::Serialize;
use throng_core::stale::Reason;

/// Everything about a task in a run.
#[derive(Clone, Debug, Serialize)]
pub struct Account {
    /// The run.
    pub run: u64,
    /// The workflow's name.
    pub workflow: String,
    /// The task's name.
    pub task: String,
    /// Its kind.
    pub kind: String,
    /// `done`, `failed`, `interrupted`, `running` or `killed`.
    pub run_state: String,
    /// How far the recording goes.
    pub recorded_s: f64,
    /// What became of the task.
    pub end: End,
    /// Why it was, or was not, part of the run.
    pub why: Why,
    /// What it had to wait for before it could start; nothing if it waits for nobody.
    pub parents: Option<Parents>,
    /// What was tried.
    pub attempts: Vec<Attempt>,
    /// When and why the run stopped starting tasks, if it did.
    pub stopped: Option<Stopped>,
    /// Through which failure it was skipped.
    pub skipped: Option<Skipped>,
    /// Whether the end of the run hung on it.
    pub last_chain: Option<LastChain>,
}

/// What became of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum End {
    /// Nobody asked for it.
    NotPart,
    /// It did not have to run.
    UpToDate,
    /// It ran and succeeded.
    Done,
    /// It failed for good.
    Failed,
    /// One before it failed.
    Skipped,
    /// It is running, or was when the engine was killed.
    Running,
    /// It was stopped, or waits for another attempt.
    Interrupted,
    /// It was ready to start.
    Ready,
    /// It waited for others.
    Waiting,
}

/// Why a task was part of a run.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Why {
    /// The reason as the run noted it; nothing if the task did not have to run.
    #[serde(skip)]
    pub noted: Option<Reason>,
    /// The same in words.
    pub reason: String,
    /// It was looked at again when those before it were done, and the outcome of that.
    pub looked_again_s: Option<f64>,
    /// The last earlier run that did it.
    pub last_done: Option<LastTime>,
    /// A later run than that which tried and did not succeed.
    pub last_tried: Option<LastTime>,
    /// In which way it was written differently then.
    pub differences: Vec<Difference>,
    /// Inputs that are not what they were.
    pub inputs: Vec<InputChange>,
    /// Outputs that this is about.
    pub outputs: Vec<OutputChange>,
    /// Tasks of this run that need what it makes.
    pub needed_by: Vec<String>,
}

/// A time at which a task ran before.
#[derive(Clone, Debug, Serialize)]
pub struct LastTime {
    /// In which run.
    pub run: u64,
    /// When it ended, in milliseconds since 1970.
    pub ended_unix_ms: u64,
    /// How.
    pub outcome: String,
}

/// A part of a task's definition that has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// `command`, `environment`, `inputs`, `outputs`, `directory`, `streams` or `container`.
    pub what: &'static str,
    /// Lines that are not there any more.
    pub before: Vec<String>,
    /// Lines that were not there.
    pub now: Vec<String>,
}

/// An input that is not what it was.
#[derive(Clone, Debug, Serialize)]
pub struct InputChange {
    /// The file.
    pub file: String,
    /// When it was modified, as far as one can see now, in milliseconds since 1970.
    pub modified_unix_ms: Option<u64>,
    /// The task that made it again, and in which run.
    pub made_by: Option<String>,
    /// In which run.
    pub made_in_run: Option<u64>,
    /// It is not there now.
    pub is_gone: bool,
}

/// An output that this is about.
#[derive(Clone, Debug, Serialize)]
pub struct OutputChange {
    /// The file.
    pub file: String,
    /// Where what was there has been moved to.
    pub kept_as: Option<String>,
    /// It is not there now.
    pub is_gone: bool,
}

/// What a task waited for.
#[derive(Clone, Debug, Serialize)]
pub struct Parents {
    /// How many tasks come before it.
    pub count: u64,
    /// How many of them ran in this run.
    pub ran: u64,
    /// How many were not done when the recording ends.
    pub open: u64,
    /// Some of those.
    pub open_names: Vec<String>,
    /// How often something of what they had made was lost, and had to be made again.
    pub lost_inputs: u64,
    /// How long it waited, from the beginning of the run.
    pub waited_s: Option<f64>,
    /// The one that was done last.
    pub last: Option<LastParent>,
}

/// The parent that was done last.
#[derive(Clone, Debug, Serialize)]
pub struct LastParent {
    /// Its name.
    pub task: String,
    /// When it was done.
    pub done_s: f64,
    /// How long its process ran, if it had one.
    pub ran_s: Option<f64>,
    /// It did not have to run, which was found out then.
    pub is_up_to_date: bool,
}

/// One attempt.
#[derive(Clone, Debug, Serialize)]
pub struct Attempt {
    /// Which, from one.
    pub attempt: u16,
    /// How long it was put off after the attempt before.
    pub back_off_s: Option<f64>,
    /// When it could have started.
    pub ready_s: f64,
    /// What it waited for then.
    pub queue: Queue,
    /// When it was given a slot.
    pub started_s: Option<f64>,
    /// Which.
    pub slot: Option<u32>,
    /// How it went, if it has ended.
    pub result: Option<AttemptResult>,
}

/// How an attempt went.
#[derive(Clone, Debug, Serialize)]
pub struct AttemptResult {
    /// In words.
    pub outcome: String,
    /// Whether it succeeded.
    pub is_done: bool,
    /// How long its process ran.
    pub seconds: f64,
    /// How much of a core it used; nothing if there was no process.
    pub cores: Option<f64>,
    /// The most memory it held.
    pub peak_memory_bytes: Option<u64>,
    /// Whether that is only an upper bound.
    pub peak_is_bound: bool,
    /// What it had asked for.
    pub asked_memory_bytes: Option<u64>,
    /// The last lines it printed, if it did not succeed.
    pub tail: Vec<String>,
}

/// Waiting for a slot.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Queue {
    /// How long.
    pub seconds: f64,
    /// Until when in that time inputs were on their way from a storage.
    pub inputs_came_s: f64,
    /// How many slots there are.
    pub slots: u32,
    /// How many tasks were started meanwhile.
    pub started_meanwhile: u64,
    /// Which kinds held the slots, as shares of all slots over that time; the largest first.
    pub held_by: Vec<Holder>,
    /// How long a slot was free, but what the task asks for was not.
    pub did_not_fit_s: f64,
    /// What was missing then: `cores`, `memory`, or what else the workflow names.
    pub lacking: Vec<String>,
    /// Whether it had been stopped because memory was short, and waited for that.
    pub is_for_memory: bool,
    /// How many of its kind were worth running at once, if that is learnt; nothing if that was not known yet.
    pub at_once: Option<u32>,
    /// How many of its kind ran, on average.
    pub of_its_kind: f64,
}

/// A kind that held slots.
#[derive(Clone, Debug, Serialize)]
pub struct Holder {
    /// The kind.
    pub kind: String,
    /// Of all slots over that time.
    pub share: f64,
}

/// When and why a run stopped starting tasks.
#[derive(Clone, Debug, Serialize)]
pub struct Stopped {
    /// When.
    pub at_s: f64,
    /// Because of this task's failure, with `--fail-fast`; nothing if somebody asked for it.
    pub failed_task: Option<String>,
}

/// How a failure reached a task.
#[derive(Clone, Debug, Serialize)]
pub struct Skipped {
    /// From the task that failed to the one in question.
    pub chain: Vec<String>,
    /// How the first one failed.
    pub outcome: String,
    /// In which attempt.
    pub attempt: u16,
    /// When.
    pub failed_s: f64,
    /// What it printed last.
    pub tail: Vec<String>,
}

/// The tasks that the end of the run hung on: the last that was done, the last that it waited for, and so on.
#[derive(Clone, Debug, Serialize)]
pub struct LastChain {
    /// How many tasks it has.
    pub length: u64,
    /// Which of them the task is, from one; nothing if it is none.
    pub place: Option<u64>,
    /// The last one.
    pub last_task: String,
}
