//! A workflow on machines that can be had, ready to be planned: tables, stages, and what there is to schedule, which all planners are told.

use super::catalogue::{Catalogue, Times};
use super::estimates::{Estimates, Tables, Unknown};
use super::fit::Explored;
use super::instances::Problem;
use super::layout::Layout;
use super::planner::Asked;
use super::stages::BadStages;
use crate::workflow::Workflow;

/// Why nothing can be planned.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unplannable {
    /// Of some tasks nobody knows how long they take, or where they could run.
    Unknown(Unknown),
    /// Their times and prices are no such thing.
    Stages(BadStages),
}

/// All that is worked out before anything is planned.
#[derive(Clone, Debug)]
pub struct Prepared<'a> {
    /// How long tasks take on each type.
    pub tables: Tables,
    /// The tasks in stages.
    pub layout: Layout,
    /// The tasks as they are to be put on instances.
    pub problem: Problem<'a>,
    /// What was found out about it on the way to earlier plans.
    explored: Explored,
}

impl<'a> Prepared<'a> {
    /// From what is known beforehand.
    pub fn of(flow: &Workflow, estimates: &Estimates<'a, '_>) -> Result<Prepared<'a>, Unplannable> {
        let tables = Tables::of(flow, estimates).map_err(Unplannable::Unknown)?;
        let layout = Layout::of(flow, tables.tables.clone(), |task| tables.table_of[task.index()]);
        let layout = layout.map_err(Unplannable::Stages)?;
        let problem = Problem::of(flow, estimates.catalogue, &tables, estimates.moves);
        Ok(Prepared { tables, layout, problem, explored: Explored::default() })
    }

    /// From estimates and speeds alone.
    pub fn by_speed(flow: &Workflow, catalogue: &'a Catalogue, moves: bool) -> Result<Prepared<'a>, Unplannable> {
        let nothing = Times::default();
        let estimates = Estimates { catalogue, given: &nothing, learnt: &nothing, charges_share: false, moves };
        Prepared::of(flow, &estimates)
    }

    /// What a planner is asked.
    pub fn asked<'p>(&'p self, may_go_on: &'p dyn Fn() -> bool) -> Asked<'p> {
        let slots = self.problem.catalogue.slots();
        Asked { layout: &self.layout, problem: &self.problem, explored: &self.explored, slots, may_go_on }
    }
}

/// Asks something about a workflow on machines, both as people write them: for tests.
#[cfg(test)]
pub(super) fn with<T>(flow: &str, machines: &str, moves: bool, ask: impl FnOnce(&Asked<'_>) -> T) -> T {
    with_all(flow, machines, moves, &|| true, ask)
}

/// The same of somebody who may lose patience.
#[cfg(test)]
pub(super) fn with_patience<T>(
    flow: &str,
    machines: &str,
    may_go_on: &dyn Fn() -> bool,
    ask: impl FnOnce(&Asked<'_>) -> T,
) -> T {
    with_all(flow, machines, true, may_go_on, ask)
}

#[cfg(test)]
fn with_all<T>(
    flow: &str,
    machines: &str,
    moves: bool,
    may_go_on: &dyn Fn() -> bool,
    ask: impl FnOnce(&Asked<'_>) -> T,
) -> T {
    use super::catalogue::read_machines;
    use crate::workflow::{Format, NoFiles};
    let flow = Workflow::parse(flow, Format::Yaml, "f", &NoFiles).unwrap();
    let catalogue = read_machines(machines, "m.yaml").unwrap();
    let prepared = Prepared::by_speed(&flow, &catalogue, moves).unwrap();
    ask(&prepared.asked(may_go_on))
}
