//! How a run stands at a moment, as data: what is shown, and the fields of `--json`.

use serde::Serialize;
use throng_core::time::Time;
use throng_runtime::recording::time_now;
use throng_runtime::state::About;

use super::board::Board;
use super::machine::Load;
use crate::words;

/// How a run stands.
#[derive(Clone, Debug, Serialize)]
pub struct Snapshot {
    /// The run.
    pub run: u64,
    /// The workflow's name.
    pub workflow: String,
    /// `running`, `done`, `failed`, `interrupted` or `killed`.
    pub state: String,
    /// Whether it has been asked to stop.
    pub is_stopping: bool,
    /// How long it has been going on, or took.
    pub elapsed_s: f64,
    /// How long it will still take at the present rate; nothing if nobody knows.
    pub left_s: Option<f64>,
    /// Tasks that end per second now.
    pub rate_now: f64,
    /// Tasks that ended per second since the first started.
    pub rate_mean: f64,
    /// Tasks of the run.
    pub total: u64,
    /// Done in this run.
    pub done: u64,
    /// Did not have to run.
    pub up_to_date: u64,
    /// Failed for good.
    pub failed: u64,
    /// Behind those.
    pub skipped: u64,
    /// Wait for their next attempt.
    pub put_off: u64,
    /// Were stopped because memory was short, and wait for it.
    pub for_memory: u64,
    /// How many tasks may run at once.
    pub slots: u32,
    /// What runs, the longest first.
    pub running: Vec<RunningTask>,
    /// By kind, in the order of the workflow.
    pub kinds: Vec<Kind>,
    /// The last failures, the latest first.
    pub failures: Vec<FailedAttempt>,
    /// How busy the machine is.
    pub machine: Load,
}

/// A task that runs.
#[derive(Clone, Debug, Serialize)]
pub struct RunningTask {
    /// In which slot.
    pub slot: u32,
    /// Which task.
    pub task: String,
    /// Which attempt.
    pub attempt: u16,
    /// For how long.
    pub for_s: f64,
}

/// How the tasks of a kind stand.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Kind {
    /// Its name.
    pub kind: String,
    /// Tasks of the run.
    pub total: u64,
    /// Done in this run.
    pub done: u64,
    /// Did not have to run.
    pub up_to_date: u64,
    /// Run now.
    pub running: u64,
    /// How many at once have been found best, if that is learnt, and why.
    pub at_once: Option<u32>,
    /// Why.
    pub why: Option<String>,
    /// Failed for good.
    pub failed: u64,
    /// Behind those.
    pub skipped: u64,
    /// Tasks that end per second now.
    pub rate_now: f64,
    /// How long one takes, from its start in a slot to its end; nothing if none is done.
    pub mean_s: Option<f64>,
}

impl Kind {
    /// How long its tasks will take at this rate; nothing if none is left or none ends.
    fn left_s(&self) -> Option<f64> {
        let open = self.total.saturating_sub(self.settled());
        (open > 0 && self.rate_now > 0.0).then(|| open as f64 / self.rate_now)
    }

    /// Tasks about which everything is known.
    pub fn settled(&self) -> u64 {
        self.done + self.up_to_date + self.failed + self.skipped
    }
}

/// An attempt that did not succeed.
#[derive(Clone, Debug, Serialize)]
pub struct FailedAttempt {
    /// Which task.
    pub task: String,
    /// When, from the beginning of the run.
    pub at_s: f64,
    /// How.
    pub outcome: String,
    /// Which attempt.
    pub attempt: u16,
    /// Whether it will be tried again.
    pub is_tried_again: bool,
}

impl Snapshot {
    /// How a run stands now.
    pub fn take(board: &Board, about: &About, state: &str, machine: Load) -> Snapshot {
        let now = now(board, about, state);
        let since = board.first_start.unwrap_or(now);
        let is_running = state == "running";
        let rate = |recent: &super::rate::Recent| if is_running { recent.per_second(now, since) } else { 0.0 };
        let kinds: Vec<Kind> = (board.kinds.iter())
            .filter(|kind| kind.progress.total > 0)
            .map(|kind| Kind {
                kind: kind.progress.name.clone(),
                total: kind.progress.total,
                done: kind.progress.done,
                up_to_date: kind.progress.up_to_date,
                running: if is_running { kind.progress.running } else { 0 },
                at_once: kind.progress.width,
                why: kind.progress.why.map(words::why_width),
                failed: kind.progress.failed,
                skipped: kind.progress.skipped,
                rate_now: rate(&kind.recent),
                mean_s: (kind.progress.done > 0).then(|| kind.done_ns as f64 / kind.progress.done as f64 / 1e9),
            })
            .collect();
        let sum = |field: fn(&Kind) -> u64| kinds.iter().map(field).sum::<u64>();
        let (total, done, failed) = (sum(|kind| kind.total), sum(|kind| kind.done), sum(|kind| kind.failed));
        let open = total.saturating_sub(sum(Kind::settled));
        let last_end = if is_running { now } else { board.last };
        let busy_s = last_end.since(since).as_secs_f64();
        let (rate_now, settled_per_s) = (rate(&board.recent), rate(&board.settled));
        Snapshot {
            run: about.run,
            workflow: about.workflow.clone(),
            state: state.to_owned(),
            is_stopping: is_running && board.is_stopping,
            elapsed_s: about.end.as_ref().map_or(now.as_secs_f64(), |end| end.seconds),
            // At least as long as the slowest kind takes.
            left_s: (settled_per_s > 0.0 && open > 0)
                .then(|| kinds.iter().filter_map(Kind::left_s).fold(open as f64 / settled_per_s, f64::max)),
            rate_now,
            rate_mean: if busy_s > 0.0 { (done + failed) as f64 / busy_s } else { 0.0 },
            total,
            done,
            up_to_date: sum(|kind| kind.up_to_date),
            failed,
            skipped: sum(|kind| kind.skipped),
            put_off: if is_running { board.put_off } else { 0 },
            for_memory: if is_running { board.for_memory.len() as u64 } else { 0 },
            slots: about.node.width,
            running: running(board, now, !is_running),
            kinds,
            failures: failures(board),
            machine,
        }
    }
}

fn running(board: &Board, now: Time, is_over: bool) -> Vec<RunningTask> {
    let mut running: Vec<RunningTask> = (board.running.iter())
        .filter(|_| !is_over)
        .map(|(slot, running)| RunningTask {
            slot: slot.0,
            task: board.flow.name(running.task),
            attempt: running.attempt,
            for_s: now.since(running.since).as_secs_f64(),
        })
        .collect();
    running.sort_by(|left, right| right.for_s.total_cmp(&left.for_s));
    running
}

fn failures(board: &Board) -> Vec<FailedAttempt> {
    let latest_first = board.failures.iter().rev();
    latest_first
        .map(|failure| FailedAttempt {
            task: board.flow.name(failure.task),
            at_s: failure.at.as_secs_f64(),
            outcome: words::outcome(failure.outcome),
            attempt: failure.attempt,
            is_tried_again: !failure.is_final,
        })
        .collect()
}

/// The time by the run's own clock. It began before the start was noted: the first entry, which was written right
/// after that, tells by how much.
fn now(board: &Board, about: &About, state: &str) -> Time {
    if state != "running" {
        return board.last;
    }
    time_now(about, board.first.unwrap_or(Time::START)).max(board.last)
}
