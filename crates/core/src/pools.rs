//! What a node has besides cores and memory, and who holds it: GPUs, licences, anything with a name.
//!
//! These are reserved whatever the pack policy is, since nobody can learn that a licence may be used twice. Where
//! units have ids, a task is told which ones it got: whole units first, and the rest of its share from a unit that is
//! already divided, so that whole ones stay whole.

use std::collections::BTreeMap;

use crate::ids::DemandId;
use crate::workflow::{Pool, Workflow};

/// The thousandths that one unit has.
const UNIT: u64 = 1000;

/// What an attempt holds while it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Grant {
    /// Of each pool that it holds something of: the pool, the unit (zero in pools without ids), and thousandths.
    parts: Vec<(usize, usize, u64)>,
}

/// The pools of a node.
#[derive(Clone, Debug, Default)]
pub struct Pools {
    pools: Vec<Pool>,
    /// What is free, by pool and unit; pools without ids are one big unit.
    free: Vec<Vec<u64>>,
    /// What demands ask for, as pools and thousandths; nothing for those that can never be met, and no entry for the many that ask for
    /// cores and memory only.
    requests: BTreeMap<DemandId, Option<Vec<(usize, u64)>>>,
}

impl Pools {
    /// Pools with nothing taken out, for the demands of a workflow.
    pub fn new(pools: Vec<Pool>, flow: &Workflow) -> Pools {
        let free = pools
            .iter()
            .map(|pool| if pool.ids.is_empty() { vec![pool.amount_milli] } else { vec![UNIT; pool.ids.len()] })
            .collect();
        let find = |(name, amount): (&str, u64)| Some((pools.iter().position(|pool| pool.name == name)?, amount));
        let demands = (0..flow.demand_count()).map(DemandId::at);
        let named = demands.map(|demand| (demand, flow.demand(demand).named)).filter(|(_, named)| !named.is_empty());
        let requests = named.map(|(demand, named)| (demand, named.into_iter().map(find).collect())).collect();
        Pools { pools, free, requests }
    }

    /// What a demand asks for, unless it can never be met.
    fn request(&self, demand: DemandId) -> Option<&[(usize, u64)]> {
        self.requests.get(&demand).map_or(Some(&[]), |request| request.as_deref())
    }

    /// Whether a demand can be met now.
    pub fn can_meet(&self, demand: DemandId) -> bool {
        let fits = |(pool, amount): &(usize, u64)| self.choose(*pool, *amount).is_some();
        self.request(demand).is_some_and(|parts| parts.iter().all(fits))
    }

    /// Whether a demand could be met if nothing else ran.
    pub fn could_ever_meet(&self, demand: DemandId) -> bool {
        let fits = |(pool, amount): &(usize, u64)| *amount <= self.pools[*pool].amount_milli;
        self.request(demand).is_some_and(|parts| parts.iter().all(fits))
    }

    /// Takes what a demand asks for, which has to be there.
    pub fn take(&mut self, demand: DemandId) -> Grant {
        let mut grant = Grant::default();
        let request = self.request(demand).expect("what is taken can be met").to_vec();
        for (pool, amount) in request {
            for (unit, part) in self.choose(pool, amount).expect("what is taken can be met") {
                self.free[pool][unit] -= part;
                grant.parts.push((pool, unit, part));
            }
        }
        grant
    }

    /// Takes back what an attempt held.
    pub fn give_back(&mut self, grant: &Grant) {
        for (pool, unit, part) in &grant.parts {
            self.free[*pool][*unit] += part;
        }
    }

    /// What an attempt holds, for people and programs: each pool's name, the ids that it got, and thousandths.
    pub fn describe<'a>(&'a self, grant: &Grant) -> Vec<(&'a str, Vec<&'a str>, u64)> {
        let mut told: Vec<(&str, Vec<&str>, u64)> = Vec::new();
        for (pool, unit, part) in &grant.parts {
            let Pool { name, ids, .. } = &self.pools[*pool];
            let id = ids.get(*unit).map(String::as_str);
            match told.last_mut().filter(|(last, ..)| last == name) {
                Some((_, units, amount)) => {
                    units.extend(id);
                    *amount += part;
                }
                None => told.push((name, id.into_iter().collect(), *part)),
            }
        }
        told
    }

    /// The units to take an amount from, if there are enough.
    fn choose(&self, pool: usize, amount: u64) -> Option<Vec<(usize, u64)>> {
        let free = &self.free[pool];
        if self.pools[pool].ids.is_empty() {
            return (free[0] >= amount).then(|| vec![(0, amount)]);
        }
        let (whole, rest) = ((amount / UNIT) as usize, amount % UNIT);
        let mut units: Vec<(usize, u64)> =
            (0..free.len()).filter(|unit| free[*unit] == UNIT).take(whole).map(|unit| (unit, UNIT)).collect();
        if units.len() < whole {
            return None;
        }
        if rest > 0 {
            // The fullest unit that still has room.
            let is_taken = |unit: &usize| units.iter().any(|(taken, _)| taken == unit);
            let candidates = (0..free.len()).filter(|unit| free[*unit] >= rest && !is_taken(unit));
            units.push((candidates.min_by_key(|unit| (free[*unit], *unit))?, rest));
        }
        Some(units)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workflow::{Format, NoFiles};

    const FLOW: &str = "tasks: { a: { noop: true, gpus: 1 }, b: { noop: true, gpus: 0.5 }, \
                        c: { noop: true, resources: { license: 2 } }, d: { noop: true, gpus: 1.5 }, \
                        e: { noop: true, resources: { unheard: 1 } } }";

    fn pools() -> Pools {
        let flow = Workflow::parse(FLOW, Format::Yaml, "x", &NoFiles).unwrap();
        let ids = ["g0", "g1"].map(str::to_owned).to_vec();
        Pools::new(vec![Pool::with_ids("gpus", ids), Pool::of("license", 3000)], &flow)
    }

    fn ids(pools: &Pools, grant: &Grant) -> Vec<String> {
        pools.describe(grant).iter().flat_map(|(_, ids, _)| ids.iter().map(|id| (*id).to_owned())).collect()
    }

    #[test]
    fn halves_share_a_unit_and_wholes_stay_whole() {
        let mut pools = pools();
        let [half, other] = [pools.take(DemandId(1)), pools.take(DemandId(1))];
        assert_eq!((ids(&pools, &half), ids(&pools, &other)), (vec!["g0".to_owned()], vec!["g0".to_owned()]));
        let whole = pools.take(DemandId(0));
        assert_eq!(ids(&pools, &whole), ["g1"]);
        assert!(!pools.can_meet(DemandId(1)));
        pools.give_back(&half);
        assert!(pools.can_meet(DemandId(1)) && !pools.can_meet(DemandId(0)) && !pools.can_meet(DemandId(3)));
        pools.give_back(&whole);
        let more = pools.take(DemandId(3));
        assert_eq!(ids(&pools, &more), ["g1", "g0"]);
    }

    #[test]
    fn amounts_without_ids() {
        let mut pools = pools();
        let grant = pools.take(DemandId(2));
        assert_eq!(pools.describe(&grant), [("license", vec![], 2000)]);
        assert!(!pools.can_meet(DemandId(2)) && pools.could_ever_meet(DemandId(2)));
        pools.give_back(&grant);
        assert!(pools.can_meet(DemandId(2)));
    }

    #[test]
    fn what_nobody_has_can_never_be_met() {
        assert!(!pools().could_ever_meet(DemandId(4)) && !pools().can_meet(DemandId(4)));
    }
}
