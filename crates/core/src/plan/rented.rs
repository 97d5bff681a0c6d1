//! A planner of types, with its tasks put on instances: what such a plan really costs.
//!
//! Planners of types count on as many machines as anyone could wish and pay for each task by itself. What they plan is then put on instances by the same packer
//! that `fit` uses. Their own costs say little about what instances cost, so they are asked for plans for many budgets, and the one whose
//! instances keep the limits best is taken.

use super::fit::{packed, packed_curve};
use super::frontier::Curve;
use super::planner::{Asked, Decided, Infeasible, Limits, Plan, Planned};

/// With so many budgets a planner is asked, from the cheapest of its plans to the fastest.
pub(super) const BUDGETS: u64 = 16;

/// The planner.
pub struct Rented(pub Box<dyn Plan>);

impl Plan for Rented {
    fn for_budget(&self, asked: &Asked<'_>, budget: u64) -> Planned {
        let limits = Limits { budget: Some(budget), deadline: None };
        self.plan(asked, limits).unwrap_or_else(|_| self.0.for_budget(asked, budget))
    }

    fn plan(&self, asked: &Asked<'_>, limits: Limits) -> Result<Planned, Infeasible> {
        let guesses = guesses(self.0.as_ref(), asked, BUDGETS);
        let schedule = packed(asked.problem, &guesses, limits, &mut || (asked.may_go_on)())?;
        Ok(Planned::unproven(Decided::Instances(schedule)))
    }

    fn instead(&self, asked: &Asked<'_>) -> Option<&'static str> {
        self.0.instead(asked)
    }

    fn curve(&self, asked: &Asked<'_>) -> Option<Curve> {
        let guesses = guesses(self.0.as_ref(), asked, BUDGETS);
        Some(packed_curve(asked.problem, &guesses, &mut || (asked.may_go_on)()))
    }
}

/// Which type each task of the workflow would have, by a planner's plans for budgets from the least to the most that anything costs.
pub fn guesses(planner: &dyn Plan, asked: &Asked<'_>, budgets: u64) -> Vec<Vec<u16>> {
    let stages = asked.stages();
    let [least, most] = [stages.cheapest(), stages.fastest()].map(|ranks| stages.cost(&ranks));
    let budgets =
        (0..=budgets).map(|at| least + (u128::from(most - least) * u128::from(at) / u128::from(budgets)) as u64);
    let mut guesses: Vec<Vec<u16>> = Vec::new();
    for budget in budgets {
        if !guesses.is_empty() && !(asked.may_go_on)() {
            break;
        }
        guesses.push(planner.for_budget(asked, budget).machine_of(asked.layout));
    }
    guesses.sort_unstable();
    guesses.dedup();
    guesses
}
