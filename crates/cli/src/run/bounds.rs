//! How good a run was: its makespan beside the lower bound and the analytic bound of the tasks that ran, by the times that they took.
//!
//! These times are in the trace, which is read back once the run is over. That must not be felt: a run of tasks so short that
//! reading would take more than a hundredth of its time goes without, and says where the figures are to be had.

use serde::Serialize;
use throng_core::account::Lengths;
use throng_core::workflow::Workflow;
use throng_runtime::following::Following;
use throng_runtime::recording::Recording;
use throng_runtime::state::{RunDirectory, RunEnd};

use crate::simulate::summary::{percent, seconds};

/// What a task and an edge cost at most: reading a task's entries of the trace, and going through the graph.
const TASK_SECONDS: f64 = 500e-9;
const EDGE_SECONDS: f64 = 50e-9;
/// This is too short for anybody to notice, whatever part of the run it is.
const UNNOTICED_SECONDS: f64 = 1e-3;
/// Otherwise it takes no more than this part of the run.
const MOST_OF_RUN: f64 = 0.01;

/// Both bounds, and what part of the makespan each is.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// No schedule is faster than this.
    bound_s: f64,
    bound_of_makespan: f64,
    /// What the literature expects, with data at hand.
    expected_s: f64,
    expected_of_makespan: f64,
}

/// The same for programs: the keys are always there.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Figures {
    bound_s: Option<f64>,
    bound_of_makespan: Option<f64>,
    expected_s: Option<f64>,
    expected_of_makespan: Option<f64>,
}

/// What there is to say.
#[derive(Clone, Copy, Debug)]
pub enum Judged {
    /// Nothing ran, or it took no time.
    Nothing,
    /// It would have taken too long to find out.
    TooShort,
    /// The bounds.
    Bounds(Bounds),
}

impl Judged {
    /// For programs.
    pub fn figures(&self) -> Figures {
        match self {
            Judged::Bounds(bounds) => bounds.figures(),
            Judged::Nothing | Judged::TooShort => Figures::default(),
        }
    }
}

impl Bounds {
    fn of(lengths: &Lengths, makespan_s: f64) -> Bounds {
        let (bound_s, expected_s) = (lengths.bound().ns() as f64 / 1e9, lengths.expected_seconds());
        Bounds {
            bound_s,
            bound_of_makespan: bound_s / makespan_s,
            expected_s,
            expected_of_makespan: expected_s / makespan_s,
        }
    }

    /// Of a run on record, if anything ran and took time.
    pub fn of_recording(recording: &Recording) -> Option<Bounds> {
        let makespan_s = recording.about.end.as_ref()?.makespan_s;
        let mut lengths = Lengths::new(&recording.flow, recording.about.node.width, recording.about.host.cores);
        recording.entries().for_each(|(time, entry)| lengths.take(time, &entry));
        (makespan_s > 0.0).then(|| Bounds::of(&lengths, makespan_s))
    }

    /// For programs.
    pub fn figures(&self) -> Figures {
        Figures {
            bound_s: Some(self.bound_s),
            bound_of_makespan: Some(self.bound_of_makespan),
            expected_s: Some(self.expected_s),
            expected_of_makespan: Some(self.expected_of_makespan),
        }
    }

    /// In the words of `throng simulate`.
    pub fn in_words(&self, makespan_s: f64) -> String {
        format!(
            "{}; lower bound {}, {} of the makespan; analytic bound {}, {}",
            seconds(makespan_s),
            seconds(self.bound_s),
            percent(self.bound_of_makespan),
            seconds(self.expected_s),
            percent(self.expected_of_makespan),
        )
    }
}

/// Holds a run that has just ended against its bounds, if that costs next to nothing.
pub fn judge(flow: &Workflow, run: &RunDirectory, end: &RunEnd) -> Judged {
    if end.makespan_s <= 0.0 || end.done + end.failed == 0 {
        return Judged::Nothing;
    }
    let cost = flow.task_count() as f64 * TASK_SECONDS + flow.edge_count() as f64 * EDGE_SECONDS;
    if cost > UNNOTICED_SECONDS.max(end.seconds * MOST_OF_RUN) {
        return Judged::TooShort;
    }
    // A record that cannot be read back is for `throng report` to complain about: the run itself went well.
    let Ok(about) = run.read_about() else { return Judged::Nothing };
    let mut lengths = Lengths::new(flow, about.node.width, about.host.cores);
    let read = Following::open(run).and_then(|mut trace| trace.look(|time, entry| lengths.take(time, &entry)));
    if read.is_ok() { Judged::Bounds(Bounds::of(&lengths, end.makespan_s)) } else { Judged::Nothing }
}
