//! How fast tasks get on that share a machine.

use super::{Crowd, Needs};

/// What all tasks of a node want together.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Demand {
    /// How many there are.
    pub tasks: u32,
    /// The cores that each task of a group wants, and how many tasks it has.
    pub cores: Vec<(f64, u32)>,
    /// Of the network, the shared file system included.
    pub network: f64,
    /// Of the disks.
    pub disk: f64,
    /// Of the shared file system.
    pub remote: f64,
}

impl Demand {
    /// Of tasks with these needs, so many of each.
    pub fn of<'needs>(tasks: impl IntoIterator<Item = (&'needs Needs, u32)>) -> Demand {
        let mut demand = Demand::default();
        for (needs, count) in tasks {
            let times = f64::from(count);
            demand.tasks += count;
            demand.cores.push((needs.cores, count));
            demand.network += times * (needs.network + needs.remote);
            demand.disk += times * needs.disk;
            demand.remote += times * needs.remote;
        }
        demand
    }
}

/// Which part of what it wants everybody gets of each thing.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Paces {
    /// Cores.
    pub cores: f64,
    /// The network.
    pub network: f64,
    /// The disks.
    pub disk: f64,
    /// The shared file system.
    pub remote: f64,
    /// What is left where there are too many.
    pub thrashing: f64,
}

fn share(has: f64, wanted: f64) -> f64 {
    if wanted > has { has / wanted } else { 1.0 }
}

/// How fast a task gets on that needs so many cores and gets this part of what it wants: who computes for a part of its time waits for a core
/// in that part only.
fn pace_of_cores(needs: f64, share: f64) -> f64 {
    let computing = needs.min(1.0);
    1.0 / (1.0 - computing + computing / share)
}

/// The part of the cores that it wants that everybody gets, so that all are busy and no more than that.
fn share_of_cores(wanted: &[(f64, u32)], cores: f64, strangers: f64) -> f64 {
    let used = |share: f64| -> f64 {
        let tasks = wanted.iter().map(|(needs, count)| f64::from(*count) * needs * pace_of_cores(*needs, share));
        tasks.sum::<f64>() + strangers * share
    };
    if used(1.0) <= cores {
        return 1.0;
    }
    let (mut low, mut high) = (1e-9, 1.0);
    for _ in 0..50 {
        let middle = (low + high) / 2.0;
        if used(middle) > cores { high = middle } else { low = middle }
    }
    low
}

impl Paces {
    /// On a node with so many cores, of which strangers want some, beside a file system that gives everybody a part of what he wants.
    pub fn new(crowd: &Crowd, demand: &Demand, cores: f64, strangers: f64, remote: f64) -> Paces {
        let thrashing = crowd
            .thrashing
            .map_or(1.0, |(beyond, by)| 1.0 / (1.0 + by * f64::from(demand.tasks.saturating_sub(beyond))));
        Paces {
            cores: share_of_cores(&demand.cores, cores, strangers),
            network: share(crowd.network_stops_at, demand.network),
            disk: share(1.0, demand.disk),
            remote,
            thrashing,
        }
    }

    /// How fast a task gets on: one is as fast as alone.
    pub fn of(&self, needs: &Needs) -> f64 {
        let mut pace = pace_of_cores(needs.cores, self.cores);
        for (wants, share) in
            [(needs.network + needs.remote, self.network), (needs.disk, self.disk), (needs.remote, self.remote)]
        {
            pace = if wants > 0.0 { pace.min(share) } else { pace };
        }
        pace * self.thrashing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(crowd: &Crowd, needs: Needs, tasks: u32, strangers: f64) -> f64 {
        let paces = Paces::new(crowd, &Demand::of([(&needs, tasks)]), 4.0, strangers, 1.0);
        f64::from(tasks) * paces.of(&needs)
    }

    #[test]
    fn what_comes_out_of_a_node() {
        let computes = Needs { cores: 1.0, ..Needs::default() };
        let crowd = Crowd::default();
        let thousandths = |pace: f64| (pace * 1000.0).round() / 1000.0;
        assert_eq!([2, 4, 8].map(|tasks| thousandths(pace(&crowd, computes, tasks, 0.0))), [2.0, 4.0, 4.0]);
        assert_eq!(thousandths(pace(&crowd, computes, 4, 4.0)), 2.0);
        let waits = Needs { cores: 0.1, ..Needs::default() };
        assert_eq!(pace(&crowd, waits, 40, 0.0), 40.0);
        // All cores are busy.
        assert_eq!(thousandths(pace(&crowd, waits, 400, 0.0)), 40.0);
        let reads = Needs { network: 0.05, ..Needs::default() };
        let stops = Crowd { network_stops_at: 0.6, ..Crowd::default() };
        assert_eq!([6, 12, 24].map(|tasks| pace(&stops, reads, tasks, 0.0).round()), [6.0, 12.0, 12.0]);
        let thrashes = Crowd { thrashing: Some((10, 0.1)), ..Crowd::default() };
        assert_eq!([10, 20].map(|tasks| pace(&thrashes, waits, tasks, 0.0)), [10.0, 10.0]);
    }
}
