//! What tasks ask for, told apart once: tasks that ask for the same are of one class.

use std::collections::BTreeMap;

use super::super::Span;
use super::super::demand::{FlatDemand, NamedAmount};
use super::super::spec::{Demand, TaskSpec};
use super::Builder;

/// With more attempts than this, memory grows no further: it has long exceeded any machine.
const GROWTH_LIMIT: u32 = 64;
const DEFAULT_CPUS_MILLI: u32 = 1000;

/// One way to run: memory, cores if somebody has said how many, and names with amounts.
type Way = (u64, Option<u32>, Vec<(u32, u32)>);

/// The classes so far, by what they ask for in each attempt.
#[derive(Default)]
pub(super) struct Classes {
    by_ways: BTreeMap<Vec<Vec<Way>>, (u32, u32)>,
    /// What the task before asked for: a million in a row may ask for the same.
    last: Option<(Demand, u32, (u32, u32))>,
}

impl Builder<'_> {
    /// The first class of a task, and how many follow it for further attempts.
    pub(super) fn add_classes(&mut self, spec: &TaskSpec) -> (u32, u32) {
        if let Some((demand, retries, classes)) = &self.classes.last
            && spec.alternatives.is_empty()
            && *demand == spec.demand
            && *retries == spec.retries.times
        {
            return *classes;
        }
        let only = [Demand::default()];
        let alternatives = if spec.alternatives.is_empty() { &only[..] } else { &spec.alternatives };
        let merged: Vec<Demand> = alternatives.iter().map(|own| merge(own, &spec.demand)).collect();
        let grows = merged.iter().any(|demand| demand.memory.is_some_and(|memory| memory.grows));
        let attempts = if grows { (spec.retries.times + 1).min(GROWTH_LIMIT) } else { 1 };
        let ways: Vec<Vec<Way>> = (1..=u64::from(attempts))
            .map(|attempt| merged.iter().map(|demand| self.way(demand, attempt)).collect())
            .collect();
        let classes = match self.classes.by_ways.get(&ways) {
            Some(classes) => *classes,
            None => {
                let classes = (self.flow.demands.classes.len() as u32, attempts);
                ways.iter().for_each(|alternatives| self.push_class(alternatives));
                self.classes.by_ways.insert(ways, classes);
                classes
            }
        };
        if spec.alternatives.is_empty() {
            self.classes.last = Some((spec.demand.clone(), spec.retries.times, classes));
        }
        classes
    }

    fn way(&mut self, demand: &Demand, attempt: u64) -> Way {
        let memory =
            demand.memory.map_or(0, |memory| memory.bytes.saturating_mul(if memory.grows { attempt } else { 1 }));
        let named = demand.named.iter().map(|(name, amount)| (self.strings.add(name).0, *amount)).collect();
        (memory, demand.cpus_milli, named)
    }

    fn push_class(&mut self, alternatives: &[Way]) {
        let demands = &mut self.flow.demands;
        demands.classes.push(Span { start: demands.demands.len() as u32, count: alternatives.len() as u32 });
        for (memory_bytes, cpus_milli, named) in alternatives {
            let span = Span { start: demands.named.len() as u32, count: named.len() as u32 };
            demands.named.extend(
                named.iter().map(|(name, amount_milli)| NamedAmount { name: *name, amount_milli: *amount_milli }),
            );
            demands.demands.push(FlatDemand {
                memory_bytes: *memory_bytes,
                cpus_milli: cpus_milli.unwrap_or(DEFAULT_CPUS_MILLI),
                says_cpus: cpus_milli.is_some().into(),
                named: span,
            });
        }
    }
}

/// An alternative, with what the task says apart from it.
fn merge(own: &Demand, base: &Demand) -> Demand {
    let mut named = own.named.clone();
    for (name, amount) in &base.named {
        if !named.iter().any(|(known, _)| known == name) {
            named.push((name.clone(), *amount));
        }
    }
    named.sort();
    Demand { cpus_milli: own.cpus_milli.or(base.cpus_milli), memory: own.memory.or(base.memory), named }
}
