//! Many small runs in which everything may break: one seed draws the cluster, the workload, the policies, their
//! parameters and the faults (`draw`), and after every event it is checked that nothing is wrong (`check`).
//!
//! What is checked:
//! * each task's effects count once, and only if those of all its parents do;
//! * whoever starts a task owns it in the store at that instant, and no two nodes hold it;
//! * what was cancelled is not done, nor what waited for it; anything else is done, unless something that was drawn explains why not;
//! * nothing that could start on a node waits while it has a free slot;
//! * no node stays idle while another has tasks to share: it asks as often as its policy says, and not in vain for ever;
//! * what runs on a node asks for no more cores and memory than it has;
//! * bytes, reservations and pins of every cache add up;
//! * the last copy of an object that somebody needs is never deleted;
//! * every run ends, and none sooner than its lower bound says.

mod check;
mod draw;

use std::sync::Arc;

use throng_core::pack;
use throng_core::rng::Rng;
use throng_core::workflow::{Format, NoFiles, Workflow};

use crate::cluster::Cluster;
use crate::outcome::Outcome;
use crate::world::{Recorder, World};
use check::Inspection;

/// One run of the swarm.
pub struct Case {
    /// The workflow, as text.
    pub text: String,
    /// The cluster and its faults.
    pub cluster: Cluster,
    /// Whether all tasks ask for one core, so that any of them may start wherever a slot is free.
    is_uniform: bool,
    /// Whether some tasks may take longer than they are allowed to.
    has_short_timeouts: bool,
    /// The types of machines that a plan holds tasks to, in turn; none without a plan.
    held: Vec<u16>,
}

impl Case {
    /// Runs it; says what was wrong.
    pub fn run(&self) -> Result<Outcome, String> {
        self.run_recorded(None)
    }

    /// Runs it with somebody who is told all that a report tells.
    pub fn run_recorded(&self, recorder: Option<Recorder>) -> Result<Outcome, String> {
        let flow = Workflow::parse(&self.text, Format::Yaml, "swarm", &NoFiles);
        let mut flow = flow.map_err(|problems| format!("the drawn workflow is bad: {problems:?}"))?;
        if pack::learns(&self.cluster.pack) {
            flow.tell_kinds_apart();
        }
        if let Some(last) = self.held.len().checked_sub(1) {
            let mut rng = Rng::named(self.cluster.seed, "swarm's types");
            let types = flow.tasks().map(|_| self.held[rng.below(last as u64 + 1) as usize]).collect();
            flow.hold_to_types(types, self.cluster.types.len() as u16);
        }
        let flow = Arc::new(flow);
        let world = World::new(flow.clone(), self.cluster.clone()).map_err(|problem| problem.to_string())?;
        let mut world = world.with_checks();
        if let Some(recorder) = recorder {
            world = world.with_recorder(recorder);
        }
        let mut inspection = Inspection::new(self);
        let (world, outcome) = world.with_inspector(Box::new(move |world| inspection.inspect(world))).run_and_keep();
        if let Some(reason) = &outcome.stuck {
            return Err(format!("at {:.3} s: {reason}", world.now().as_secs_f64()));
        }
        self.judge(&flow, &world, &outcome)?;
        Ok(outcome)
    }
}

/// Runs a seed. What was wrong begins with the command that runs it again; a panic is as wrong as anything else.
pub fn try_seed(seed: u64) -> Result<Outcome, String> {
    let case = Case::draw(seed);
    let ended = std::panic::catch_unwind(|| case.run());
    let told = ended.unwrap_or_else(|_| Err("it panicked".to_owned()));
    let again = format!("cargo run --release -p throng-sim --example swarm -- {seed}");
    told.map_err(|reason| format!("{again}  # {}: {}", case.cluster.place, reason.replace('\n', "; ")))
}
