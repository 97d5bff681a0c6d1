//! As many tasks as fit by what they ask for: cores and memory are reserved while a task runs.
//!
//! Safe when requests are honest. It loses when they are guesses: too large and cores idle, too small and
//! the machine runs out of memory. And a big task may wait long while small ones keep coming: nothing is saved up
//! for it.

use super::{Capacity, Pack};
use crate::ids::DemandId;
use crate::workflow::Resources;

/// Reserves what each demand asks for.
#[derive(Clone, Debug)]
pub struct Requests {
    capacity: Capacity,
    demands: Vec<Resources>,
    running: u32,
    reserved: Resources,
}

impl Requests {
    /// Reserves from this capacity.
    pub fn new(capacity: Capacity, demands: Vec<Resources>) -> Self {
        Requests { capacity, demands, running: 0, reserved: Resources { memory_bytes: 0, cpus_milli: 0 } }
    }
}

impl Pack for Requests {
    fn admits(&self, demand: DemandId) -> bool {
        let request = self.demands[demand.index()];
        let total = self.capacity.resources;
        self.running < self.capacity.width
            && self.reserved.cpus_milli.saturating_add(request.cpus_milli) <= total.cpus_milli
            && self.reserved.memory_bytes.saturating_add(request.memory_bytes) <= total.memory_bytes
    }

    fn started(&mut self, demand: DemandId) {
        let request = self.demands[demand.index()];
        self.running += 1;
        self.reserved.cpus_milli += request.cpus_milli;
        self.reserved.memory_bytes += request.memory_bytes;
    }

    fn ended(&mut self, demand: DemandId) {
        let request = self.demands[demand.index()];
        self.running -= 1;
        self.reserved.cpus_milli -= request.cpus_milli;
        self.reserved.memory_bytes -= request.memory_bytes;
    }

    fn could_ever_admit(&self, demand: DemandId) -> bool {
        let request = self.demands[demand.index()];
        let total = self.capacity.resources;
        self.capacity.width > 0 && request.cpus_milli <= total.cpus_milli && request.memory_bytes <= total.memory_bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_big_task_waits_and_a_small_one_does_not() {
        let capacity = Capacity { width: 8, resources: Resources { memory_bytes: 100, cpus_milli: 4000 } };
        let small = Resources { memory_bytes: 10, cpus_milli: 1000 };
        let big = Resources { memory_bytes: 95, cpus_milli: 1000 };
        let mut pack = Requests::new(capacity, vec![small, big]);
        pack.started(DemandId(0));
        assert!(pack.admits(DemandId(0)));
        assert!(!pack.admits(DemandId(1)));
        pack.ended(DemandId(0));
        assert!(pack.admits(DemandId(1)));
    }
}
