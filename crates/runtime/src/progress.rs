//! What a run tells those who watch it.

use std::time::Duration;

use throng_core::ledger::Tally;
use throng_core::pack::Why;
use throng_core::stale::Verdict;
use throng_core::trace::Outcome;
use throng_core::workflow::Workflow;

/// How far the tasks of one kind have come.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KindProgress {
    /// How many may run at once, if that is learnt.
    pub width: Option<u32>,
    /// Why it is as many, if that has changed in this run.
    pub why: Option<Why>,
    /// How often that has changed in this run.
    pub changes: u32,
    /// The kind's name.
    pub name: String,
    /// Tasks of this kind in the run.
    pub total: u64,
    /// Those running now.
    pub running: u64,
    /// Those done in this run.
    pub done: u64,
    /// Those that did not have to run.
    pub up_to_date: u64,
    /// Those that failed for good.
    pub failed: u64,
    /// Those skipped because one before them failed.
    pub skipped: u64,
}

impl KindProgress {
    /// Tasks about which everything is known.
    pub fn settled(&self) -> u64 {
        self.done + self.up_to_date + self.failed + self.skipped
    }
}

/// Tasks that wait for something else than a slot.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// Their data is being brought.
    pub for_data: usize,
    /// They were stopped because memory was short.
    pub for_memory: usize,
}

/// How far a run has come.
#[derive(Clone, Debug)]
pub struct Progress {
    /// Since the command began.
    pub elapsed: Duration,
    /// Since the first task started.
    pub running_for: Duration,
    /// By state.
    pub tally: Tally,
    /// By kind.
    pub kinds: Vec<KindProgress>,
    /// Attempts under way.
    pub running: usize,
    /// Tasks that wait for something else than a slot.
    pub waiting: Waiting,
    /// Whether nothing new will start.
    pub stopping: bool,
    /// Whether somebody has asked for that.
    pub asked_to_stop: bool,
}

/// An attempt that did not succeed, for a person to hear of at once.
#[derive(Clone, Debug)]
pub struct Notice {
    /// The task.
    pub task: String,
    /// Which attempt it was, from one.
    pub attempt: u16,
    /// How many there may be.
    pub attempts_allowed: u32,
    /// How it ended.
    pub outcome: Outcome,
    /// What else there is to say about it.
    pub remark: Option<String>,
    /// The last lines it printed.
    pub tail: String,
    /// The file that these lines are in, if not the log.
    pub tail_file: Option<std::path::PathBuf>,
    /// When it will be tried again; never, if the task has failed for good.
    pub retry_in: Option<Duration>,
    /// How long it took.
    pub seconds: f64,
}

/// The kinds of a run before anything has happened.
pub(crate) fn kinds(flow: &Workflow, verdicts: &[Verdict]) -> Vec<KindProgress> {
    let mut kinds: Vec<KindProgress> = (0..flow.kind_count())
        .map(|kind| flow.kind_name(throng_core::ids::KindId::at(kind)).to_owned())
        .map(|name| KindProgress { name, ..KindProgress::default() })
        .collect();
    for task in flow.tasks() {
        let kind = &mut kinds[flow.kind(task).index()];
        match verdicts.get(task.index()) {
            Some(Verdict::Outside) => continue,
            Some(Verdict::UpToDate | Verdict::Adopted) => kind.up_to_date += 1,
            Some(Verdict::Maybe | Verdict::Run(_)) | None => {}
        }
        kind.total += 1;
    }
    kinds
}
