//! What a simulated run would have cost on rented machines.

use std::time::Duration;

use throng_core::plan::Money;
use throng_core::plan::catalogue::{Catalogue, for_bytes};

use crate::cluster::Cluster;
use crate::outcome::Outcome;
use throng_core::ids::NodeId;

/// What was paid for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bill {
    /// For each type: how many machines were had, for how long in all, and what they cost.
    pub machines: Vec<(u32, Duration, Money)>,
    /// What moving data cost.
    pub data: Money,
}

impl Bill {
    /// Of a run that was held to a plan; `out_bytes` leave in the end.
    pub fn of(outcome: &Outcome, cluster: &Cluster, catalogue: &Catalogue, out_bytes: u64) -> Bill {
        let mut machines = vec![(0, Duration::ZERO, Money::ZERO); catalogue.machines.len()];
        for (node, rented) in outcome.rented.iter().enumerate() {
            let Some((from, until)) = rented else { continue };
            let number = cluster.type_of(NodeId(node as u32));
            let (machine, had) = (&catalogue.machines[number], until.saturating_sub(*from));
            let charge = machine.billing.charge(machine.price, u64::try_from(had.as_nanos()).unwrap_or(u64::MAX));
            let (count, time, cost) = &mut machines[number];
            (*count, *time, *cost) = (*count + 1, time.saturating_add(had), *cost + charge);
        }
        let prices = &catalogue.transfer;
        let between = outcome.moved_bytes.saturating_sub(outcome.brought_bytes);
        let data = for_bytes(prices.into, outcome.brought_bytes)
            + for_bytes(prices.between, between)
            + for_bytes(prices.out, out_bytes);
        Bill { machines, data }
    }

    /// All of it.
    pub fn total(&self) -> Money {
        self.machines.iter().map(|(_, _, cost)| *cost).sum::<Money>() + self.data
    }
}
