//! The two ends of what can be planned: everything on the cheapest machine, or everything on the fastest.
//!
//! What others are measured by: no plan costs less than the one or takes less time than the other. Neither minds a limit.

use super::planner::{Asked, Decided, Plan, Planned};

/// The planner.
#[derive(Clone, Copy, Debug)]
pub enum Extreme {
    /// Everything on the cheapest machine.
    Cheapest,
    /// Everything on the fastest machine.
    Fastest,
}

impl Plan for Extreme {
    fn for_budget(&self, asked: &Asked<'_>, _: u64) -> Planned {
        let stages = asked.stages();
        let ranks = match self {
            Extreme::Cheapest => stages.cheapest(),
            Extreme::Fastest => stages.fastest(),
        };
        Planned::unproven(Decided::Types(stages.figures(ranks)))
    }
}
