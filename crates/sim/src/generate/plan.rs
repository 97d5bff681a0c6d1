//! A plan: the tasks of a workflow, ready to be written in either format.

use std::io::{self, Write};

use throng_core::workflow::Format;

use super::job::Job;
use super::options::{Options, TASKS_LIMIT, Wrong};
use super::source::Source;
use super::stage::{Read, Stage};
use super::{Shape, single, yaml};

/// References from tasks to files, together: what fits into a workflow.
const REFERENCES_LIMIT: u64 = 500_000_000;

/// What a workflow is made of.
#[derive(Debug)]
pub(super) enum Body {
    Stages(Vec<Stage>),
    Jobs(Vec<Job>),
}

/// A workflow that is ready to be written.
#[derive(Debug)]
pub struct Plan {
    pub(super) shape: &'static Shape,
    pub(super) body: Body,
    pub(super) estimates: bool,
    /// What was typed to make it.
    pub(super) command: String,
    seed: u64,
    means: bool,
}

impl Plan {
    pub(super) fn new(shape: &'static Shape, options: &Options, body: Body) -> Result<Plan, Wrong> {
        let plan = Plan {
            shape,
            body,
            estimates: options.estimates,
            command: format!("throng generate {}{}", shape.name, options.as_typed()),
            seed: options.seed,
            means: options.means,
        };
        for (what, count, most) in
            [("tasks", plan.task_count(), TASKS_LIMIT), ("references to files", plan.references(), REFERENCES_LIMIT)]
        {
            if count > most {
                return Err(Wrong::new(
                    format!("this `{}` would have {count} {what}", shape.name),
                    format!("ask for less: at most {most} fit into a workflow"),
                ));
            }
        }
        Ok(plan)
    }

    /// How many tasks there are.
    pub fn task_count(&self) -> u64 {
        match &self.body {
            Body::Stages(stages) => stages.iter().map(Stage::count).fold(0, u64::saturating_add),
            Body::Jobs(jobs) => jobs.len() as u64,
        }
    }

    fn references(&self) -> u64 {
        let stages = match &self.body {
            Body::Stages(stages) => stages,
            Body::Jobs(jobs) => return jobs.iter().map(|job| job.reads.len() as u64).sum(),
        };
        let of_stage = |stage: &Stage| {
            let each = stage.reads.iter().map(|read| match read {
                Read::File { .. } => 1,
                Read::All(name) => find(stages, name).count(),
            });
            stage.count().saturating_mul(each.sum())
        };
        stages.iter().map(of_stage).fold(0, u64::saturating_add)
    }

    /// Writes the workflow.
    pub fn write(&self, format: Format, out: &mut dyn Write) -> io::Result<()> {
        match format {
            Format::Yaml => yaml::write(self, out),
            Format::Json => single::write(self, out),
        }
    }

    /// Where this plan's random numbers come from; the same each time.
    pub(super) fn source(&self) -> Source {
        Source::new(self.seed, self.means)
    }

    /// Whether the tasks of a stage differ in time or size.
    pub(super) fn varies(&self, stage: &Stage) -> bool {
        !self.means && stage.varies()
    }

    /// The kind of all tasks, if they are all of one.
    pub(super) fn common_kind(&self) -> Option<&str> {
        match &self.body {
            Body::Stages(stages) => {
                let first = stages[0].kind.as_str();
                stages.iter().all(|stage| stage.kind == first).then_some(first)
            }
            Body::Jobs(_) => None,
        }
    }
}

/// The stage of this name.
pub(super) fn find<'a>(stages: &'a [Stage], name: &str) -> &'a Stage {
    stages.iter().find(|stage| stage.name == name).expect("stages read from stages of the same plan")
}
